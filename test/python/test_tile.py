"""Tiles: regions as kernels give what stock XLA gives, for any extents and any covered ops."""

import jax
import numpy as np
import pytest

import random_regions
import running
from weir import _hook

REGIONS, BATCH = 120, 20
SIZE_SHARE = 6  # slices of a sixth of the large tensor


def lowered(function, *inputs):
    with jax.enable_x64(True):
        return jax.jit(function, keep_unused=True).lower(*inputs).as_text()


def tiled(text, folder, *arguments):
    """The program with its loops as tiles."""
    path = folder / "program.mlir"
    path.write_text(text)
    return running.opt(path, *arguments, "--tile", "on")


def count(text):
    return text.count('call_target_name = "weir_tile"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tile")
    probe = lowered(lambda x: jax.numpy.exp(x[:, None] * x[None]).sum(1), np.ones(64, np.float32))
    if not count(tiled(probe, folder, "--tensor-size-threshold", "4kB")):
        pytest.skip("no LLVM library on this machine")
    _hook._register_tiles()
    return folder


def difference(want, got):
    """None where they agree up to rounding of a long sum; masks and counts exactly."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        return None if np.array_equal(want, got) else "differs"
    tolerance = 2e-4 if want.dtype == np.float32 else 1e-11
    scale = np.max(np.abs(want), initial=1, where=np.isfinite(want))
    same = np.isclose(got / scale, want / scale, rtol=tolerance, atol=tolerance, equal_nan=True)
    return None if same.all() else f"{np.sum(~same)} of {same.size} differ: {got[~same][:3]}, expected {want[~same][:3]}"


def problem_of(seed, folder):
    """(what is wrong, tiles in the program)."""
    region = random_regions.Region(seed)
    inputs = region.inputs()
    text = lowered(region.function, *inputs)
    threshold = max(64, region.n * region.m * inputs[0].itemsize // SIZE_SHARE)
    program = tiled(text, folder, "--tensor-size-threshold", threshold)
    if not count(program):
        return None, 0
    want, got = running.Xla(text)(*inputs), running.Xla(program)(*inputs)
    problems = [difference(w, g) for w, g in zip(want, got, strict=True)]
    return next((p for p in problems if p), None), count(program)


@pytest.mark.parametrize("first", range(0, REGIONS, BATCH))
def test_random_regions(first, folder):
    problems, tiles = [], 0
    for seed in range(first, first + BATCH):
        problem, n = problem_of(seed, folder)
        tiles += n
        if problem:
            problems.append(f"seed {seed}: {problem}")
    assert not problems, "\n".join(problems)
    assert tiles >= BATCH // 3, "too few regions are tiles"
