"""Functions of single numbers in kernels: values of rows, without columns."""

import ctypes
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernel_running
import running
from weir import _library

folder = kernel_running.folder  # skips where there is no LLVM
EVEN = "cbrt cos expm1 log1p sin tan cosh sinh".split()


def by_libmvec(name, dtype):
    suffix = {np.float32: "4v_{}f", np.float64: "2v_{}"}[dtype].format(name)
    try:
        return hasattr(ctypes.CDLL("libmvec.so.1"), "_ZGVbN" + suffix)
    except OSError:
        return False


def of_means(name, x, y):
    means = jnp.exp(-((x[:, None] - y[None]) ** 2)).mean(1)
    return (getattr(jnp, name)(means)[:, None] * y[None]).sum(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name, is_even", [(name, True) for name in EVEN] + [("log", False)])
def test_of_a_number_alone(folder, monkeypatch, tmp_path, name, is_even, dtype):
    """By libmvec what that takes as long for whatever the number is. With log it does not."""
    if not by_libmvec(name, dtype):
        pytest.skip("this libmvec lacks it")
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    monkeypatch.setenv("WEIR_CACHE_DIR", "off")
    _library.read_environment()
    inputs = [np.random.default_rng(0).uniform(0, 3, n).astype(dtype) for n in (500, 100)]
    with jax.enable_x64(dtype == np.float64):
        text = running.lowered(lambda x, y: of_means(name, x, y), *inputs)
        program = kernel_running.tiled(text, folder, "--tensor-size-threshold", "4kB")
        assert kernel_running.count(program) >= 1
        kernel_running.check_results(text, program, inputs)
    code = "".join(path.read_text() for path in tmp_path.glob("*.ll"))
    short = {np.float32: "<4 x float>", np.float64: "<2 x double>"}[dtype]
    assert bool(re.search(f"call {short} %", code)) == is_even


@running.in_this_process
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tanh_has_the_bits_of_xlas(dtype, folder):
    """So that as many activations are 1. XLA has fused multiply-adds here; without, a kernel
    rounds otherwise.
    """
    x, y = np.linspace(-25, 25, 500).astype(dtype), np.linspace(0.5, 1, 100).astype(dtype)
    with jax.enable_x64(dtype == np.float64):
        text = running.lowered(lambda x, y: jnp.tanh(x[:, None] * y).max(0), x, y)
        program = kernel_running.tiled(text, folder, "--tensor-size-threshold", "4kB")
    assert kernel_running.count(program) == 1
    got, want = (running.Xla(p, as_users=True)(x, y)[0] for p in (program, text))
    if running.machine().startswith("x86-64-v2"):
        np.testing.assert_array_max_ulp(got, want, 4)
    else:
        assert np.array_equal(got, want)
