"""Programs that no single factor brings under the limit: what a loop reads whole is made anew in
each of its trips, by slices of a second factor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

RNG = np.random.default_rng(0)
A, B, C = (RNG.normal(size=(n, 3)) for n in (1003, 1200, 900))
MB = 1_000_000


def two_kernels(a, b, c):
    """Both sides of the product are computed; the sum over slices of b would be held twice."""
    return jnp.exp(a @ b.T / 4) @ jnp.cos(b @ c.T)


def gram(a, b):
    """The same tensor on both sides."""
    k = jnp.exp(a @ b.T / 4)
    return k @ k.T


def three_kernels(a, b, c):
    return jnp.sum(jnp.exp(a @ b.T / 4) @ jnp.cos(b @ c.T) * jnp.sin(a @ c.T))


CASES = {  # name: function, arguments, limit: results and a little more
    "two kernels": (two_kernels, (A, B, C), 8 * MB),
    "gram": (gram, (A, B), 9 * MB),
    "three kernels": (three_kernels, (A, B, C), 1 * MB),
}


@pytest.mark.parametrize("name", CASES)
def test_held(name, tmp_path):
    f, arguments, limit = CASES[name]
    text, rewritten = running.rewrite(f, arguments, tmp_path, "--memory-limit", limit)
    xla = running.Xla(rewritten)
    assert xla.report_bytes() <= limit < running.Xla(text).report_bytes()
    for x, y in zip(xla(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12 * np.abs(y).max())
