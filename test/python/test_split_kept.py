"""What is there as a whole anyway is read by later loops (src/split/kept.h): the gradient of an
exact Gaussian process as TensorFlow writes it, with the inverse of the factor as a matrix of its
own.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import solve_triangular

import running


def gradient(x, y):
    """Of y^T K^-1 y / 2 + log |K| / 2, K = exp(x x^T) + n I, in the matrix K: its product with y
    and its sum with dK.
    """
    n = len(x)
    k = jnp.exp(x @ x.T) + n * jnp.eye(n)
    factor = jnp.linalg.cholesky(k)
    white = solve_triangular(factor, y, lower=True)
    weights = solve_triangular(factor, white, lower=True, trans="T")
    slope = jnp.diag(1.0 / jnp.diagonal(factor)) - jnp.tril(jnp.outer(weights, white))
    inverse = solve_triangular(factor, jnp.eye(n), lower=True)
    middle = jnp.tril(factor.T @ slope)
    middle = middle - 0.5 * jnp.diag(jnp.diagonal(middle))
    g = inverse.T @ middle @ inverse
    g = 0.5 * (g + g.T)
    return g @ y, jnp.sum(g * jnp.exp(x @ x.T)), white


def lowered(n, folder):
    dice = np.random.default_rng(0)
    inputs = dice.normal(size=(n, 2)) / 2, dice.normal(size=n)
    with jax.enable_x64():
        text = jax.jit(gradient).lower(*inputs).as_text()
        wanted = jax.jit(gradient)(*inputs)
    program = folder / "program.mlir"
    program.write_text(text)
    return inputs, program, wanted


@pytest.mark.parametrize("slices", [13, 40, 60])
def test_slices(slices, tmp_path):
    n = 120
    inputs, program, wanted = lowered(n, tmp_path)
    sizes = [f"--tensor-size-threshold={n * n * 4}", f"--tensor-split-size={n * slices * 8}"]
    rewritten = running.opt(program, *sizes)
    assert rewritten.count("stablehlo.while") > 5
    running.check_f64(running.Xla(rewritten)(*inputs), wanted)
    running.check_f64(running.Evaluator(tmp_path, inputs)(rewritten), wanted)


def test_nothing_is_solved_anew(tmp_path):
    n = 300
    inputs, program, wanted = lowered(n, tmp_path)
    rewritten = running.opt(program, f"--memory-limit={int(4.1 * n * n * 8)}")
    solves = [text.count("lapack_dtrsm_ffi") for text in (program.read_text(), rewritten)]
    assert solves == [3, 3]
    running.check_f64(running.Xla(rewritten)(*inputs), wanted)
