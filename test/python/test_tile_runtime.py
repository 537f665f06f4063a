"""Kernels and the process: object code kept on disk, progress, Ctrl-C."""

import os
import pathlib
import subprocess
import sys

import pytest

import test_tile

folder = test_tile.folder  # skips where there is no LLVM
ROOT = pathlib.Path(__file__).resolve().parents[2]
MATVEC = """
import jax, jax.numpy as jnp, numpy as np
def f(x, v):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ v
x = np.random.default_rng(0).normal(size=(2003, 3)).astype("f4")
print(np.asarray(jax.jit(f)(x, x[:, 0])).tobytes().hex())
"""


def script(text, **settings):
    """What the script prints in a process of its own, with tiles."""
    settings = {"WEIR_TILE": "on", "WEIR_MEMORY_LIMIT": "4MB"} | settings
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")} | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_object_code_is_kept_and_survives_damage(folder, tmp_path):
    here = {"WEIR_CACHE_DIR": str(tmp_path / "a" / "cache")}
    first = script(MATVEC, **here)
    (kept,) = pathlib.Path(here["WEIR_CACHE_DIR"]).iterdir()
    written = kept.read_bytes()
    assert script(MATVEC, **here) == first
    kept.write_bytes(written[: len(written) // 2])
    assert script(MATVEC, **here) == first
    assert kept.read_bytes() == written


@pytest.mark.parametrize("where", ["off", "", "/dev/null/none"])
def test_runs_without_a_folder(folder, where):
    assert script(MATVEC, WEIR_CACHE_DIR=where)
