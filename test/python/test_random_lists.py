"""Random lists of places, prefix sums, halvings, windows, tori, sorts, tables and nets, rewritten in
several ways: results are the same.

Each seed is a program and the ways (tools/fuzz_lists.py, which has any number of them).
"""

import sys

import pytest

import running

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_lists  # noqa: E402

PROGRAMS = 3


@pytest.mark.parametrize("kind", fuzz_lists.KINDS)
def test_rewriting_changes_nothing(kind):
    problems, changed = [], 0
    for seed in range(PROGRAMS):
        found, n = fuzz_lists.failures(kind, seed, use_xla=seed == 0)
        problems += [f"{kind} {seed}, {way}: {problem}" for way, problem in found]
        changed += n
    assert not problems, "\n".join(problems)
    assert changed >= 2 * PROGRAMS, "too few programs have anything to rewrite"


def test_a_wrong_result_is_found(monkeypatch):
    opt = running.opt

    def wrong(program, *arguments, refused=None):
        return opt(program, *arguments, refused=refused).replace("0.000000e+00", "1.000000e+00")

    monkeypatch.setattr(running, "opt", wrong)
    assert any(fuzz_lists.failures("Prefixes", seed, use_xla=False)[0] for seed in range(4))


WRONG = [
    ("Windows", 1039),
    ("Rolled", 117),
    ("Halvings", 26),
    ("Halvings", 65),
    ("Buckets", 21),
    ("Layers", 50),
]


@pytest.mark.parametrize("kind, seed", WRONG)
def test_what_was_wrong_once(kind, seed):
    """Windows 1039: the denominator of a running softmax lay elsewhere than its numerator, and the
    trips did not go over all of it. Rolled 117: as a kernel its code had no end. Halvings 26: the
    middle of a window that is read backwards was taken for all of it; 65: a maximum and the
    comparison with it were made by different loops, one of them a kernel. Buckets 21: the same of the
    minimum of each segment (a scatter), whose gradient asks which rows are equal to it.
    Layers 50: a copy for the comparison, and a maximum from a loop (stock XLA is off by 1e-6 there).
    """
    found, changed = fuzz_lists.failures(kind, seed, use_xla=kind != "Layers")
    assert changed and not found
