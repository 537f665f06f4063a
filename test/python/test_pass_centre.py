"""Centring matrices and sums of products: HSIC, CKA, kernel PCA as users write them, with matrices
I - 1/n that are never multiplied with; results as of the program as it came.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

N = 400
RNG = np.random.default_rng(0)
X, Y, V = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2)), RNG.normal(size=N)


def kernel(x):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1))


def centring():
    return jnp.eye(N) - jnp.ones((N, N)) / N


def hsic(x, y):
    h = centring()
    return jnp.trace(kernel(x) @ h @ kernel(y) @ h) / (N - 1) ** 2


def hsic_of_centred(x, y):
    h = jnp.eye(N) - 1 / N
    return jnp.sum((h @ kernel(x) @ h) * kernel(y))


def alignment(x, y):
    """CKA."""
    h = centring()
    a, b = h @ kernel(x) @ h, h @ kernel(y) @ h
    return jnp.sum(a * b) / jnp.sqrt(jnp.sum(a * a) * jnp.sum(b * b))


def principal_component(x, v):
    """A step of the power method for kernel PCA."""
    h = centring()
    return h @ (kernel(x) @ (h @ v))


def hsic_gradient(x, y):
    return jax.grad(hsic)(x, y)


def identities(x, v):
    return jnp.eye(N) @ kernel(x) @ (2 * jnp.eye(N) + 1) @ v


def total_similarity(x, y):
    """All elements of a product: two sums and one small product."""
    return jnp.sum(kernel(x) @ kernel(y)), (kernel(x) @ kernel(y)).mean(0)


CASES = {
    "HSIC": (hsic, (X, Y)),
    "HSIC of a centred matrix": (hsic_of_centred, (X, Y)),
    "CKA": (alignment, (X, Y)),
    "kernel PCA": (principal_component, (X, V)),
    "gradient of HSIC": (hsic_gradient, (X, Y)),
    "identities": (identities, (X, V)),
    "sums of a product": (total_similarity, (X, Y)),
}


@pytest.mark.parametrize("name", CASES)
def test_no_product_of_matrices(name, tmp_path):
    """Under a tenth of one matrix; no product is left whose result is a tile of one."""
    f, arguments = CASES[name]
    text, rewritten = running.rewrite(f, arguments, tmp_path, "--memory-limit", "150kB")
    results = [
        line.rsplit("->", 1)[1] for line in rewritten.splitlines() if "stablehlo.dot_general" in line
    ]
    assert all(result.count("x") <= 1 for result in results), results
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-11 * np.abs(y).max())


def test_without_the_pass_products_stay(tmp_path):
    f, arguments = CASES["HSIC"]
    options = ["--memory-limit", "3MB", "--skip", "centre"]
    _, rewritten = running.rewrite(f, arguments, tmp_path, *options)
    assert rewritten.count('"stablehlo.dot_general"') >= 2


def eye(dtype):
    return jnp.eye(N, dtype=dtype)


CONVERTED = {
    "rounded to bf16": lambda: (eye(jnp.float32) - 1 / 3).astype(jnp.bfloat16),
    "made in bf16": lambda: eye(jnp.bfloat16) * jnp.bfloat16(0.3) - jnp.bfloat16(1 / 3),
    "infinite in f16": lambda: (eye(jnp.float32) * 70000).astype(jnp.float16),
    "cut to integers": lambda: (eye(jnp.float32) * 1.7).astype(jnp.int32),
    "wrapped": lambda: (eye(jnp.int32) * 200).astype(jnp.int8),
    "divided as integers": lambda: (eye(jnp.int32) * 7 + 1) // 2,
    "or": lambda: eye(jnp.bool) | (eye(jnp.bool) + eye(jnp.bool)),
    "true": lambda: (eye(jnp.float32) * 3).astype(jnp.bool),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_conversions_happen(name, tmp_path):
    """The numbers of a matrix are those of each type on their way."""

    def product(x):
        return CONVERTED[name]().astype(jnp.float32) @ x.astype(jnp.float32)

    x = np.round(RNG.normal(size=(N, 4)) * 8) + 9
    text, rewritten = running.rewrite(product, (x,), tmp_path, "--memory-limit", "150kB")
    run = running.Evaluator(tmp_path, [x])
    (want,), (got,) = run(text), run(rewritten)
    np.testing.assert_allclose(got, want, rtol=1e-5)
