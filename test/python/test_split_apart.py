"""Loops of one stage that share nothing large are made apart, and what a loop would only copy is
made outside (src/split/apart.h): a variational Gaussian process with the factor of its covariance
packed as a vector, value and gradient as GPflow's VGP has them in TensorFlow.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import solve_triangular

import running


def filled(p, n):
    """The lower triangle, from its elements as TensorFlow Probability packs them."""
    return jnp.tril(jnp.concatenate([p[n:], p[::-1]]).reshape(n, n))


def packed(g, n):
    """The gradient of filled."""
    flat, shorter = g.reshape(-1), n * (n - 1) // 2
    return jnp.pad(flat[:shorter], (n, 0)) + flat[shorter:][::-1]


def step(x, y, mean, p):
    """Of q = N(L m, L Q Q^T L^T), K = L L^T: the value; the gradients in m, in p and, contracted
    with x, in K.
    """
    n = len(x)
    k = jnp.exp(x @ x.T) + n * jnp.eye(n)
    factor, q = jnp.linalg.cholesky(k), filled(p, n)
    white = factor @ q
    variances, means = jnp.sum(white**2, 1), factor @ mean
    diagonal = jnp.diagonal(q)
    prior = jnp.sum(mean**2) + jnp.sum(q**2) - jnp.sum(jnp.log(diagonal**2))
    value = jnp.sum(jnp.log(1 + variances) + (y - means) ** 2) + 0.5 * prior
    by_mean = 2 * (means - y)
    by_white = white * (2 / (1 + variances))[:, None]
    by_factor = jnp.outer(by_mean, mean) + by_white @ q.T
    by_q = jnp.tril(factor.T @ by_white) + q - jnp.diag(1 / diagonal)
    middle = factor.T @ by_factor
    middle = jnp.where(jnp.eye(n, dtype=bool), 0.5 * jnp.diagonal(middle), middle)
    inverse = solve_triangular(factor, jnp.eye(n), lower=True)
    g = inverse.T @ jnp.tril(middle) @ inverse
    g = 0.5 * (g + g.T) * jnp.exp(x @ x.T)
    return value, mean + factor.T @ by_mean, packed(by_q, n), g @ x, jnp.sum(g)


def lowered(n, folder):
    dice = np.random.default_rng(0)
    x, y, mean = dice.normal(size=(n, 2)) / 2, dice.normal(size=n), dice.normal(size=n)
    inputs = x, y, mean, 1 + dice.random(n * (n + 1) // 2)
    with jax.enable_x64():
        text = jax.jit(step).lower(*inputs).as_text()
        wanted = jax.jit(step)(*inputs)
    program = folder / "program.mlir"
    program.write_text(text)
    return inputs, program, wanted


@pytest.mark.parametrize("n, slices", [(60, 7), (61, 20), (60, 30)])
def test_slices(n, slices, tmp_path):
    inputs, program, wanted = lowered(n, tmp_path)
    sizes = [f"--tensor-size-threshold={n * n * 2}", f"--tensor-split-size={n * slices * 8}"]
    rewritten = running.opt(program, *sizes)
    assert rewritten.count("stablehlo.while") > 5
    running.check_f64(running.Xla(rewritten)(*inputs), wanted)
    running.check_f64(running.Evaluator(tmp_path, inputs)(rewritten), wanted)


def test_few_matrices(tmp_path):
    """Arguments, results, the factor, the one of two matrices and its gradient."""
    n = 300
    inputs, program, wanted = lowered(n, tmp_path)
    limit = int(5.6 * n * n * 8)
    ordered = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    rewritten = running.opt(program, f"--memory-limit={limit}")
    compiled = running.Xla(rewritten, running.OPTIONS | ordered)
    assert compiled.report_bytes() <= limit
    running.check_f64(compiled(*inputs), wanted)
