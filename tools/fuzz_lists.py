"""Rewrites random programs of a kind, and compares results with the evaluator's.

    python tools/fuzz_lists.py --count 1000 [--first SEED] [--no-xla]
                               [--kind Places|Prefixes|Strips|Halvings|Windows|Rolled|Borders|Sorts|Rows|Buckets|Parts|Columns|Grams|Solves|
                                      Selves|Contrasts|Layers|ImageLayers|Chains|Elements|Trips]
                               [--build DIR] [--keep DIR]

A seed of a kind stands for one program (test/python/random_lists.py, random_grams.py,
random_layers.py, random_chains.py, random_elements.py, random_trips.py) and the ways: passes alone, under thresholds and limits, as
kernels and without, with a pass left out, for a GPU or a TPU. Where the program as it came is another on stock XLA than in the evaluator,
XLA is not asked. Exits 1 if one failed.
"""

import os
import pathlib
import random
import re
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
if __name__ == "__main__":
    os.environ["XLA_AS_USERS"] = "1"  # running.py compiles as users do, not quickly
import campaign  # noqa: E402
import random_chains  # noqa: E402
import random_elements  # noqa: E402
import random_grams  # noqa: E402
import random_layers  # noqa: E402
import random_lists  # noqa: E402
import random_trips  # noqa: E402
import running  # noqa: E402

PASSES = "--pass=inline,simplify,cse,dce,inverse,dce,unsorted,dce,permuted,dce,columns,dce,listed,dce,ranges,"
PASSES += "counted,blocks,dce,through-slice,dce,through-gather,dce,scatters,dce"
ELEMENTS = "--pass=inline,simplify,cse,ranges,dce,off-diagonal,diagonal,dce,through-gather,simplify,dce"
PARTS = "--pass=inline,simplify,cse,dce,through-pad,dce,through-gather,dce,windows,scatters,dce"
ALGEBRA = "--pass=inline,simplify,fold-transpose,cse,dce,distribute,gram,dce,solve,dce"
LISTS = ("Places", "Prefixes", "Strips", "Halvings", "Windows", "Rolled", "Borders", "Sorts", "Rows", "Buckets", "Parts", "Columns")
PRODUCTS = ("Grams", "Solves", "Selves", "Contrasts")
KINDS = {kind: getattr(random_lists, kind) for kind in LISTS}
KINDS |= {kind: getattr(random_grams, kind) for kind in PRODUCTS}
KINDS |= {"Layers": random_layers.Layers, "ImageLayers": random_layers.ImageLayers}
KINDS |= {"Chains": random_chains.Chains, "Elements": random_elements.Elements, "Trips": random_trips.Trips}
XLA_TOO = ("split", "device", "limit, kernels", "limit 1")
ROUNDING = {4: 2e-5, 8: 1e-10}  # of the largest, by bytes of the type


def limits_of(dice, path, own):
    """Under limits alone cuts have room: a part of the temporaries, by estimate."""
    said = running.run_opt(path, "--memory-limit", 1, "--search-ops", 1).stderr
    temporaries = int(re.search(r"set it to (\d+) bytes", said)[1]) - own
    limits = [own + int(temporaries * dice.uniform(low, 1.6 * low)) for low in (0.07, 0.2, 0.4, 0.6)]
    ways = [(f"limit {i}", ["--memory-limit", limit]) for i, limit in enumerate(limits)]
    return [*ways, ("kernels", ["--memory-limit", dice.choice(limits[:3]), "--tile", "on"])]


def ways_of(program, own, path):
    """Names and arguments of `weir opt`."""
    dice, largest = random.Random(f"{program.seed} {type(program)}"), program.largest
    threshold = max(8, int(largest * dice.choice([0.9, 0.5, 0.2, 0.05])))
    passes = ALGEBRA if type(program).__name__ in PRODUCTS else PASSES
    split = ["--tensor-size-threshold", threshold]
    finer = ["--tensor-split-size", max(1, threshold // dice.choice([2, 5, 30]))]
    skipped = dice.choice(["listed", "ranges", "counted", "blocks", "split", "through-gather"])
    if isinstance(program, random_lists.Sorts):
        skipped = dice.choice(["inverse", "permuted", "columns", "listed", "through-slice", "split"])
    if isinstance(program, random_lists.Buckets):
        skipped = dice.choice(["unsorted", "counted", "through-gather", "split"])
    if isinstance(program, random_lists.Parts):
        passes, skipped = PARTS, dice.choice(["through-pad", "through-gather", "windows", "scatters", "split"])
    if isinstance(program, random_lists.Columns):
        skipped = dice.choice(["columns", "columns", "through-slice", "split"])
    if isinstance(program, random_elements.Elements):
        passes, skipped = ELEMENTS, dice.choice(["diagonal", "through-gather", "split"])
    if passes is ALGEBRA:
        skipped = dice.choice(["gram", "solve", "distribute", "fold-transpose", "split"])
    limit = ["--memory-limit", own + int(largest * dice.uniform(0.05, 2))]
    if isinstance(program, random_layers.Layers):
        return [("split", split), ("finer", [*split, *finer]), *limits_of(dice, path, own)]
    return [
        ("passes", [passes]),
        ("split", split),
        ("finer", [*split, *finer]),
        ("device", [*split, *finer, "--platform", dice.choice(["cuda", "tpu"])]),
        ("kernels", [*split, "--tile", "on"]),
        ("skip", [*split, "--skip", skipped]),
        ("limit", limit),
        ("limit, kernels", [*limit, "--tile", dice.choice(["on", "auto"])]),
    ]


def difference(got, want, terms=1, rounding=0):
    """Integers to the bit, floats to rounding (at least the given one) of the largest, or of the
    terms that are summed.
    """
    if len(got) != len(want):
        return f"{len(got)} results, expected {len(want)}"
    for i, (x, y) in enumerate(zip(got, want)):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"result {i}: {x.dtype}{x.shape}, expected {y.dtype}{y.shape}"
        if y.dtype.kind not in "fc" and not np.array_equal(x, y):
            return f"result {i}: {np.sum(x != y)} of {x.size} differ"
        if y.dtype.kind in "fc":
            largest = np.abs(y[np.isfinite(y)]).max(initial=terms)
            share = max(rounding, ROUNDING[y.real.dtype.itemsize])
            near = np.isclose(x, y, 0, share * largest, equal_nan=True)
            if not near.all():
                return f"result {i}: {np.sum(~near)} of {x.size} off, by up to {np.abs(x - y).max()}"
    return None


def failures(kind, seed, use_xla=True):
    """(way, what is wrong) for every way that fails; how many ways changed the program."""
    program, found, changed = KINDS[kind](seed), [], 0
    inputs, text = program.inputs(), program.text()
    allowed = program.terms, program.rounding
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        evaluate = running.Evaluator(folder, inputs)
        want = evaluate(text)
        if use_xla and (stock := difference(running.Xla(text)(*inputs), want, *allowed)):
            use_xla, found = False, [("stock", stock)]
        seen = {text}
        own = sum(x.nbytes for x in [*inputs, *want])
        for way, arguments in ways_of(program, own, path):
            try:
                made = running.opt(path, *arguments, refused=text)
                changed += made != text
                problem = difference(evaluate(made), want, *allowed) if made not in seen else None
                on_xla = use_xla and made not in seen and way in XLA_TOO
                if not problem and on_xla and not running.has_kernels(made):
                    problem = difference(running.Xla(made)(*inputs), want, *allowed)
                seen.add(made)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                found.append((f"{way} ({' '.join(map(str, arguments))})", problem))
    return found, changed


def main():
    args = campaign.options(__doc__, 200, KINDS, beside_xla=True)
    return campaign.run(
        args,
        args.kind or KINDS,
        lambda kind, seed: failures(kind, seed, not args.no_xla),
        lambda kind, seed: KINDS[kind](seed).text(),
    )


if __name__ == "__main__":
    sys.exit(main())
