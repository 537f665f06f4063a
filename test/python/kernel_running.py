"""Programs with their loops as kernels: made by `weir opt`, run, and compared with stock XLA's results."""

import os
import pathlib
import zlib

import jax
import numpy as np
import pytest

import running
from running import lowered
from weir import _hook

SIZE_SHARE = 6  # slices of a sixth of the large tensor
FIRST = 5000  # seed of regions in the evaluator, others than those on XLA
# Whose kernels check every load and store, where such a build is given.
CHECKED_BUILD = pathlib.Path(os.environ.get("WEIR_ASAN_BUILD", running.BUILD))


def tiled(text, folder, *arguments):
    """The program with its loops as kernels."""
    return running.rewritten(text, folder, *arguments, "--tile", "on")


def count(text):
    return text.count('call_target_name = "weir_tile"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tile")
    probe = lowered(lambda x: jax.numpy.exp(x[:, None] * x[None]).sum(1), np.ones(64, np.float32))
    if not count(tiled(probe, folder, "--tensor-size-threshold", "4kB")):
        pytest.skip("no LLVM library on this machine")
    _hook.register_calls()
    return folder


@pytest.fixture(scope="module")
def halves(folder):
    """Whether kernels have f16: not on processors without F16C."""
    text = lowered(lambda x: jax.numpy.exp(x[:, None] * x[None]).sum(1), np.ones(64, np.float16))
    return bool(count(tiled(text, folder, "--tensor-size-threshold", "4kB")))


@pytest.fixture(autouse=True)
def no_leaks(monkeypatch):
    """Helpers of the last kernel may still be ending when the leak checker looks at threads."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


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


def check_results(text, program, inputs):
    for want, got in zip(running.results(text, inputs), running.results(program, inputs), strict=True):
        assert not difference(want, got)


def check_memory(compiled, limit):
    """By XLA's report, of a program with kernels."""
    assert 'custom_call_target="weir_tile"' in compiled.as_text()
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    assert held + memory.temp_size_in_bytes <= limit


def width_of(text):
    """Vectors as wide as one of this processor's levels has them, by the program; where a whole run is
    for a machine that one's."""
    levels = () if "WEIR_MACHINE" in os.environ else running.levels()
    return ("--machine", levels[zlib.crc32(text.encode()) % len(levels)]) if levels else ()


def as_tiles(region, folder):
    """(inputs as .npy has them, the program, the program with tiles)."""
    inputs = region.inputs()
    text = lowered(region.function, *inputs)
    threshold = max(64, region.large * np.dtype(region.dtype).itemsize // SIZE_SHARE)
    stored = [x.view(np.uint16) if x.dtype == running.BF16 else x for x in jax.tree.leaves(inputs)]
    return stored, text, tiled(text, folder, "--tensor-size-threshold", threshold, *width_of(text))


def check_regions(problem_of, kind, seeds):
    """problem_of(kind(seed)) for all of them."""
    problems, tiles = [], 0
    for seed in seeds:
        problem, n = problem_of(kind(seed))
        tiles += n
        if problem:
            problems.append(f"seed {seed}: {problem}")
    assert not problems, "\n".join(problems)
    assert tiles >= len(seeds) // 3, "too few regions are tiles"
