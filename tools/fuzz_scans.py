"""Splits random scans and their gradients, steps of fields, and recurrences over sequences, in several
ways and compares results with the evaluator's.

    python tools/fuzz_scans.py --count 1000 [--first SEED] [--kind scan] [--no-xla] [--build DIR]
        [--keep DIR]

A seed stands for one program (test/python/random_scans.py, random_fields.py,
random_sequences.py) and the ways. Steps may be unstable: where
stock XLA differs from the evaluator as well, results may differ ten times as much as it does. Exits 1
if one failed.
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
import random_effects  # noqa: E402
import random_fields  # noqa: E402
import random_scans  # noqa: E402
import random_sequences  # noqa: E402
import running  # noqa: E402


KINDS = {
    "scan": random_scans.Scans,
    "field": random_fields.Fields,
    "sequence": random_sequences.Sequences,
    "direction": random_sequences.Directions,
}
PLAIN = list(KINDS.values())
KINDS["calls"] = lambda seed: random_effects.Effects(PLAIN[seed % len(PLAIN)](seed), seed)


def ways_of(seed, largest, own):
    """Names and arguments of `weir opt`."""
    dice = random.Random(seed + 1)
    threshold = max(8, int(largest * dice.choice([0.9, 0.5, 0.2, 0.05])))
    split = ["--tensor-size-threshold", threshold]
    return [
        ("split", split),
        ("checkpoints alone", [*split, "--tensor-split-size", max(1, threshold // 3)]),
        ("slices alone", [*split, "--skip", "checkpoint"]),
        ("limit", ["--memory-limit", own + int(largest * dice.uniform(0.1, 2))]),
        ("least", ["--memory-limit"]),
        ("written", ["--pass", "inline,materialise"]),  # whatever the room
    ]


def least_limit(path, own):
    """The smallest limit that weir finds: what only its slowest ways hold."""
    done = running.run_opt(path, "--memory-limit", own + 1)
    found = re.search(r"set it to (\d+) bytes", done.stderr)
    return int(found[1]) if found else own + 1


OF_STOCK = 10  # times what stock is off by may be the effect of rounding in another order


def largest_apart(x, y):
    return np.abs(x.astype(float) - y).max(initial=0)


def difference(got, want, stock=None):
    """Beyond rounding; with stock's results, beyond what rounding does to these, too."""
    for i, (x, y) in enumerate(zip(got, want, strict=True)):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"result {i}: {x.dtype}{x.shape}, expected {y.dtype}{y.shape}"
        if np.allclose(x, y, rtol=1e-7, atol=1e-8 * (1 + np.abs(y).max(initial=0))):
            continue
        if stock is None or not largest_apart(x, y) <= OF_STOCK * largest_apart(stock[i], y):
            return f"result {i}: off by {largest_apart(x, y)}"
    return None


def problem_of(split, text, inputs, evaluate, want, calls, use_xla):
    """What is wrong with the results of the split program, or with its calls of Python, by the evaluator and
    by XLA. A program that stock XLA does
    not optimise and then computes otherwise hangs on roundings (a maximum and who is equal to it): it proves nothing."""
    quickly = lambda program, **named: running.Xla(program, **named)(*inputs)  # noqa: E731
    got = evaluate(split)
    if problem := random_effects.calls_apart(evaluate.calls, calls):
        return problem
    if difference(got, want) and (problem := difference(got, want, quickly(text) if use_xla else None)):
        return problem
    hangs = not use_xla or not difference(quickly(split), want) or difference(quickly(text), want)
    return None if hangs else difference(quickly(split, as_users=True), want, quickly(text, as_users=True))


def failures(seed, use_xla=True, kind="scan"):
    """(way, what is wrong) for every way that fails; how many ways changed the program."""
    program, found, changed = KINDS[kind](seed), [], 0
    inputs, text = program.inputs(), program.text()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        evaluate = running.Evaluator(folder, inputs)
        want, calls = evaluate(text), evaluate.calls
        use_xla &= not calls  # which in tools/fuzz_effects.py it runs
        if any(np.isnan(x).any() for x in want if x.dtype.kind == "f"):
            return [], 0  # a logarithm of the state: the next steps are all NaN
        largest = program.largest_bytes()
        own = sum(x.nbytes for x in inputs) + sum(x.nbytes for x in want)
        for way, arguments in ways_of(seed, largest, own):
            try:
                if way == "least":
                    more = random.Random(seed + 2).choice([1, 1, 1.1, 1.3])
                    arguments = [*arguments, int(more * least_limit(path, own))]
                split = running.opt(path, *arguments, refused=text)
                changed += split != text
                problem = problem_of(split, text, inputs, evaluate, want, calls, use_xla) if split != text else None
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                found.append((way, problem))
    return found, changed


def main():
    args = campaign.options(__doc__, 200, list(KINDS), beside_xla=True)
    return campaign.run(
        args,
        args.kind or list(KINDS),
        lambda kind, seed: failures(seed, not args.no_xla, kind),
        lambda kind, seed: KINDS[kind](seed).text(),
    )


if __name__ == "__main__":
    sys.exit(main())
