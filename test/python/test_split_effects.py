"""Programs that call Python while they run, as JAX's hook splits them: each call is made as often as in stock JAX,
with the same numbers, ordered ones in order (tools/fuzz_effects.py). More ways, by the evaluator: test_split_random_scans.py.
"""

import sys

import jax
import numpy as np
import pytest

import running

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_effects  # noqa: E402
import random_effects  # noqa: E402


@pytest.fixture
def settings(monkeypatch):
    """As they were, afterwards."""
    monkeypatch.setenv("WEIR_TILE", "auto")
    yield
    jax.config.update("jax_enable_x64", False)


def test_calls_are_as_in_stock(settings):
    problems, changed = [], 0
    for kind in fuzz_effects.KINDS:
        found, n = fuzz_effects.failures(5, kind)
        problems += [f"{kind}, {way}: {problem}" for way, problem in found]
        changed += n
    assert not problems, "\n".join(problems)
    assert changed > 3, "too little is split"


CALLS = [(0, True, np.ones(1)), (1, True, np.zeros(1)), (2, False, np.ones(2)), (2, False, np.zeros(2))]


@pytest.mark.parametrize(
    "got, same",
    [
        (CALLS, True),
        (CALLS[:2] + CALLS[:1:-1], True),  # others than ordered ones come in any order
        ([CALLS[1], CALLS[0], *CALLS[2:]], False),
        (CALLS[:-1], False),
        ([*CALLS, CALLS[-1]], False),
        ([*CALLS[:-1], (2, False, np.full(2, 1e-3))], False),
    ],
)
def test_calls_that_differ_are_seen(got, same):
    assert (random_effects.calls_apart(got, CALLS) is None) == same
