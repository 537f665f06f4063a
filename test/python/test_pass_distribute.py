"""A . X + B . X as one product: fewer flops, results as before to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

RNG = np.random.default_rng(0)
A, G, H = RNG.normal(size=(7, 400)), RNG.normal(size=(7, 7)), RNG.normal(size=(7, 7))
BATCH = RNG.normal(size=(3, 50, 7))


def gram_gradient(a, g):
    """JAX writes g a + g^T a."""
    return jax.grad(lambda a: jnp.sum(jnp.sin(a @ a.T) * g))(a)


def three(a, g, h):
    return g @ a + jnp.cos(a) + (h @ a + g.T @ a)


def right(x, g, h):
    return x @ g + jnp.einsum("bij,kj->bik", x, h)


@pytest.mark.parametrize(
    "f, arguments, products",
    [(gram_gradient, (A, G), (3, 2)), (three, (A, G, H), (3, 1)), (right, (BATCH, G, H), (2, 1))],
    ids=["gradient of a gram matrix", "three terms", "common side on the left"],
)
def test_one_product(f, arguments, products, tmp_path):
    options = ["--pass", "fold-transpose,distribute,dce"]
    text, rewritten = running.rewrite(f, arguments, tmp_path, *options)
    assert (text.count("dot_general"), rewritten.count('.dot_general"')) == products
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13 * np.abs(y).max())
