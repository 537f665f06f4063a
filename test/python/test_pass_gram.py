"""The gram pass on what JAX writes: fewer products over the long dimension, and the numbers in the
reference evaluator and on stock XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import solve_triangular

import running
from random_grams import Grams

PASSES = ["--pass", "inline,simplify,fold-transpose,cse,dce,distribute,gram,dce"]
RNG = np.random.default_rng(0)
ROUNDING = {4: 2e-5, 8: 1e-11}


def assert_same(text, rewritten, evaluate):
    for x, y in zip(evaluate(rewritten), evaluate(text), strict=True):
        bound = ROUNDING[y.dtype.itemsize] * max(1, np.abs(y).max())
        np.testing.assert_allclose(x, y, rtol=0, atol=bound)


def whitened(x, y, k):
    """As a sparse Gaussian process has it, x being a cross-covariance."""
    a = solve_triangular(jnp.linalg.cholesky(k), x, lower=True) / 0.3
    b = a @ a.T + jnp.eye(len(k))
    return jnp.linalg.slogdet(b)[1] - y @ (a.T @ jnp.linalg.solve(b, a @ y))


def test_gradient_of_a_bound(tmp_path):
    m, n = 6, 300
    root = RNG.normal(size=(m, m))
    arguments = RNG.normal(size=(m, n)), RNG.normal(size=n), root @ root.T + np.eye(m)
    text, rewritten = running.rewrite(jax.grad(whitened, (0, 2)), arguments, tmp_path, *PASSES)
    both = f"(tensor<{m}x{n}xf64>, tensor<{m}x{n}xf64>)"
    assert sum("dot_general" in line and both in line for line in rewritten.splitlines()) == 1
    assert_same(text, rewritten, lambda t: running.Xla(t)(*arguments))


@pytest.mark.parametrize("first", [0, 20, 40])
def test_random_programs(first, tmp_path):
    changed = 0
    for seed in range(first, first + 20):
        program, folder = Grams(seed), tmp_path / str(seed)
        folder.mkdir()
        arguments = program.inputs()
        text, rewritten = running.rewrite(program.function, arguments, folder, *PASSES)
        without = running.opt(folder / "program.mlir", *PASSES, "--skip", "gram")
        changed += rewritten != without
        assert_same(text, rewritten, running.Evaluator(folder, arguments))
        if seed % 10 == 0:
            assert_same(text, rewritten, lambda t: running.Xla(t)(*arguments))
    assert changed >= 10, "too few programs have anything to rewrite"
