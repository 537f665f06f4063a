"""Runs random programs that call Python while they run (test/python/random_effects.py) on XLA, as JAX's hook splits
them, and compares their calls and results with stock's.

    python tools/fuzz_effects.py --count 100 [--first SEED] [--kind scan] [--keep DIR]

Every call is made as often as in stock, with the same numbers, ordered ones in the same order, and none
while the program is compiled, though that may time it. `tools/fuzz_scans.py --kind calls` compares more
ways with the evaluator. Exits 1 if one failed.
"""

import os
import pathlib
import random
import sys

import jax
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
import campaign  # noqa: E402
import fuzz_scans  # noqa: E402
import random_effects  # noqa: E402
import running  # noqa: E402
import weir  # noqa: E402
from held import reported_bytes  # noqa: E402

REFUSED = "RESOURCE_EXHAUSTED: weir"
KINDS = {name: kind for name, kind in fuzz_scans.KINDS.items() if name != "calls"}


def compiled(program, options, inputs):
    program.heard.clear()
    lowered = jax.jit(program.function, keep_unused=True).lower(*inputs)
    code = lowered.compile(compiler_options=options | running.QUICK)
    assert not program.heard, "it ran while it was compiled"
    return code


def run(program, code, inputs):
    """Its calls, and its results."""
    results = [np.asarray(r) for r in code(*inputs)]
    jax.effects_barrier()
    return list(program.heard), results


def ways_of(seed, program, stock):
    """Names and options."""
    dice, m = random.Random(seed + 1), stock.memory_analysis()
    threshold = max(8, int(program.largest_bytes() * dice.choice([0.9, 0.5, 0.2, 0.05])))
    yield "threshold", {"weir_tensor_size_threshold": threshold}
    own = m.argument_size_in_bytes + m.output_size_in_bytes
    for share in (1.5, 3, 10):
        yield f"1/{share}", {"weir_memory_limit": own + int(m.temp_size_in_bytes / share)}


def problem_of(program, code, options, inputs, calls, want):
    limit = options.get("weir_memory_limit", np.inf)
    if reported_bytes(code) > limit:
        return f"{reported_bytes(code)} bytes, the limit is {limit}"
    got, results = run(program, code, inputs)
    return random_effects.calls_apart(got, calls) or fuzz_scans.difference(results, want)


def failures(seed, kind="scan"):
    """(way, what is wrong) for every way that fails; how many ways changed the program. Sets WEIR_TILE, and
    64 bits for all threads: calls come on XLA's.
    """
    jax.config.update("jax_enable_x64", True)
    os.environ["WEIR_TILE"] = random.Random(seed + 3).choice(["auto", "on", "off"])
    program, found, changed = random_effects.Effects(KINDS[kind](seed), seed), [], 0
    inputs = program.inputs()
    with weir.limit(None):
        stock = compiled(program, {}, inputs)
    calls, want = run(program, stock, inputs)
    if any(np.isnan(x).any() for x in want if x.dtype.kind == "f"):
        return [], 0
    for way, options in ways_of(seed, program, stock):
        before = weir.last_report()
        try:
            code = compiled(program, options, inputs)
            changed += weir.last_report() is not before
            problem = problem_of(program, code, options, inputs, calls, want)
        except Exception as error:
            problem = None if REFUSED in str(error) else f"{type(error).__name__}: {error}"
        if problem:
            found.append((way, problem))
    return found, changed


def main():
    args = campaign.options(__doc__, 100, list(KINDS))
    return campaign.run(
        args,
        args.kind or list(KINDS),
        lambda kind, seed: failures(seed, kind),
        lambda kind, seed: random_effects.Effects(KINDS[kind](seed), seed).text(),
    )


if __name__ == "__main__":
    sys.exit(main())
