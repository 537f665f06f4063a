"""Random scans and their gradients, and steps of fields, split in several ways: the results are what they were.

Each seed is a program and the ways (tools/fuzz_scans.py, which has any number of them).
"""

import sys

import pytest

import running

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_scans  # noqa: E402

PROGRAMS, BATCH = 24, 6


@pytest.mark.parametrize("kind", fuzz_scans.KINDS)
@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_splitting_changes_nothing(first, kind):
    problems, changed = [], 0
    for seed in range(first, first + BATCH):
        found, n = fuzz_scans.failures(seed, kind=kind)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
        changed += n
    assert not problems, "\n".join(problems)
    assert changed >= BATCH, "too few programs have anything to split"


def test_a_wrong_result_is_found(monkeypatch):
    op, other = "stablehlo.tanh", "stablehlo.sine"
    opt = running.opt

    def wrong(program, *arguments, refused=None):
        return opt(program, *arguments, refused=refused).replace(op, other)

    monkeypatch.setattr(running, "opt", wrong)
    assert any(fuzz_scans.failures(seed, use_xla=False)[0] for seed in range(4))
