"""Tiles against the reference evaluator, on random regions; no XLA. With a build that has
AddressSanitizer (WEIR_ASAN_BUILD, as `make test` has it) every load and store of a kernel is
checked, in buffers that end where their arrays end.
"""

import os
import re

import jax.numpy as jnp
import numpy as np
import pytest

import running
from running import lowered
from random_gathers import Gathers
from random_regions import Chains, Region
from random_tables import Tables
from random_whiles import Whiles
from kernel_running import CHECKED_BUILD, FIRST, as_tiles, check_regions, count, difference, folder, no_leaks, tiled  # noqa: F401

REGIONS, BATCH = 30, 5


def evaluator(path, inputs):
    path.mkdir()
    return running.Evaluator(path, inputs, of_kernels=CHECKED_BUILD)


@pytest.mark.parametrize("kind", [Region, Gathers, Whiles, Chains, Tables])
@pytest.mark.parametrize("first", range(FIRST, FIRST + REGIONS, BATCH))
def test_random_regions(first, kind, folder, tmp_path):  # noqa: F811
    def problem(region):
        inputs, text, program = as_tiles(region, folder)
        if not count(program):
            return None, 0
        run = evaluator(tmp_path / str(len(list(tmp_path.iterdir()))), inputs)
        problems = [difference(w, g) for w, g in zip(run(text), run(program), strict=True)]
        return next((p for p in problems if p), None), count(program)

    check_regions(problem, kind, range(first, first + BATCH))


def outside_of_strings(text, old, new):
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(p if p.startswith('"') else p.replace(old, new) for p in parts)


def test_checks_are_seen(folder, tmp_path):  # noqa: F811
    """A kernel that reads one element more than its buffer has."""
    if "WEIR_ASAN_BUILD" not in os.environ:
        pytest.skip("no build with AddressSanitizer")
    x, y = np.ones(300, np.float32), np.ones(1001, np.float32)
    text = lowered(lambda x, y: jnp.exp(x[:, None] * y).sum(1), x, y)
    program = tiled(text, folder, "--tensor-size-threshold", "64kB")
    assert count(program) == 1
    evaluator(tmp_path / "whole", [x, y])(program)
    short = outside_of_strings(program, "1001xf32", "1000xf32")
    with pytest.raises(AssertionError, match="AddressSanitizer: heap-buffer-overflow"):
        evaluator(tmp_path / "short", [x, y[:-1]])(short)
