"""What is known of the corpus in the reference evaluator (test/ref)."""

# What the evaluator refuses, and in which words.
REFUSED = {
    "cc_lapack_geev": "@lapack_sgeev_ffi has no reference evaluator",
}
# Cases whose golden results differ by more than their own tolerance from what the program says: (rtol, atol).
LOOSER = {
    "p_bf16_mlp": (2e-2, 2e-2),        # XLA drops the roundings to bf16 between fused ops ("excess precision")
    "s_attention_bf16": (2e-2, 2e-2),  # the same
    "p_kmeans_full": (8e-5, 1e-6),     # the last result is the distance moved, which has come to zero but for rounding
}


def loosened(case):
    """The case, with the tolerances of LOOSER."""
    for spec in case.meta["outputs"] if case.name in LOOSER else []:
        if spec["rtol"] or spec["atol"]:
            spec["rtol"], spec["atol"] = LOOSER[case.name]
    return case
