"""Factors and triangular solves of matrices that lie row by row (src/pass/by_rows.c)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running
import weir
from running import HONEST
from held import reported_bytes

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-13, np.complex64: 2e-5, np.complex128: 1e-13}


def definite(shape, dtype, seed=0):
    dice = np.random.default_rng(seed)
    a = dice.normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        a = a + 1j * dice.normal(size=shape)
    return (a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def passed(f, inputs, folder):
    with jax.enable_x64():
        text = jax.jit(f).lower(*inputs).as_text()
    program = folder / "program.mlir"
    program.write_text(text)
    return text, running.opt(program, "--pass=inline,by-rows,dce")


def check(f, inputs, folder, dtype, is_turned=True):
    text, rewritten = passed(f, inputs, folder)
    assert ("dense<[1, 0]>" in rewritten) == is_turned
    (want,), (got,) = running.Xla(text)(*inputs), running.Xla(rewritten)(*inputs)
    (slow,) = running.Evaluator(folder, inputs)(rewritten)
    for x in got, slow:
        np.testing.assert_allclose(x, want, rtol=0, atol=TOLERANCE[dtype] * np.abs(want).max())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [2, 7, 40])
def test_factors(n, upper, dtype, tmp_path):
    a = definite((n, n), dtype)
    check(lambda a: jnp.linalg.cholesky(a, upper=upper), (a,), tmp_path, dtype)


def test_batches_and_failures(tmp_path):
    a = definite((3, 5, 5), np.float64)
    a[1] = -a[1]  # no factor: all NaN
    text, rewritten = passed(jnp.linalg.cholesky, (a,), tmp_path)
    assert "dense<[2, 1, 0]>" in rewritten and "dense<[1, 2, 0]>" not in rewritten
    (want,), (got,) = running.Xla(text)(a), running.Xla(rewritten)(a)
    assert np.isnan(want[1][np.tri(5) == 1]).all()
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("transposed", ["", "T", "C"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_solves(left, lower, transposed, unit, dtype, tmp_path):
    """Every way to ask; what a solve must not look at is NaN."""
    n, k = 9, 4
    a = definite((n, n), dtype)
    a = np.where((np.tri(n) == 1) if lower else (np.tri(n).T == 1), a, np.nan).astype(dtype)
    b = np.random.default_rng(1).normal(size=(n, k) if left else (k, n)).astype(dtype)

    def solved(a, b):
        return lax.linalg.triangular_solve(
            a,
            b,
            left_side=left,
            lower=lower,
            transpose_a=bool(transposed),
            conjugate_a=transposed == "C",
            unit_diagonal=unit,
        )

    conjugates = transposed == "C" and dtype == np.complex128
    check(solved, (a, b), tmp_path, dtype, is_turned=not conjugates)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_solves_with_transposes(batch, left, lower, transposed, dtype, tmp_path):
    """Row by row a matrix lies as its transpose does column by column: that is not made."""
    n, k = 9, 4
    a = definite((*batch, n, n), dtype)
    b = np.random.default_rng(1).normal(size=(*batch, *((n, k) if left else (k, n)))).astype(dtype)

    def solved(a, b):
        a = a.swapaxes(-1, -2)
        return lax.linalg.triangular_solve(a, b, left_side=left, lower=lower, transpose_a=transposed)

    text, rewritten = passed(solved, (a, b), tmp_path)
    turned = f"stablehlo.transpose\"(%arg0) <{{permutation = array<i64: {'0, 2, 1' if batch else '1, 0'}>"
    assert "stablehlo.transpose" in text and turned not in rewritten
    (want,), (got,) = running.Xla(text)(a, b), running.Xla(rewritten)(a, b)
    (slow,) = running.Evaluator(tmp_path, (a, b))(rewritten)
    for x in got, slow:
        np.testing.assert_allclose(x, want, rtol=0, atol=TOLERANCE[dtype] * np.abs(want).max())


def test_other_transposes_stay(tmp_path):
    a, b = definite((5, 5, 5), np.float64), np.ones((5, 5, 2))
    f = lambda a, b: lax.linalg.triangular_solve(a.transpose(2, 1, 0), b, left_side=True, lower=True)  # noqa: E731
    text, rewritten = passed(f, (a, b), tmp_path)
    assert "permutation = array<i64: 2, 1, 0>" in rewritten
    np.testing.assert_allclose(running.Xla(rewritten)(a, b)[0], running.Xla(text)(a, b)[0], atol=1e-12)


def test_others_are_left_alone(tmp_path):
    """What LU leaves is column by column: a solve that reads it has no copy."""
    a, b = definite((6, 6), np.float32), np.ones((6, 2), np.float32)
    _, rewritten = passed(jnp.linalg.solve, (a, b), tmp_path)
    assert "getrf" in rewritten and "dense<[1, 0]>" not in rewritten


# ---- what it is for ----
def product(x):
    squares = (x * x).sum(1)
    return squares[:, None] + squares[None] - 2 * x @ x.T


def product_from_zero(x):
    return jnp.maximum(product(x), 0)


def differences(x):
    return ((x[:, None] - x[None]) ** 2).sum(-1)


def loss(distances):
    """The negative log marginal likelihood of a Gaussian process."""

    def f(theta, x, y):
        length, scale, noise = jnp.exp(theta)
        k = scale * jnp.exp(-0.5 * distances(x / length)) + noise * jnp.eye(len(y))
        factor = jnp.linalg.cholesky(k)
        weights = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ weights + jnp.log(jnp.diagonal(factor)).sum()

    return jax.value_and_grad(f)


def value(distances):
    """Without its gradient."""

    def f(theta, x, y):
        k = jnp.exp(-distances(x)) + jnp.exp(theta[2]) * jnp.eye(len(y))
        factor = jnp.linalg.cholesky(k)
        weights = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ weights + jnp.log(jnp.diagonal(factor)).sum()

    return f


def weights(distances):
    """Through scipy's solve, which factors the transpose."""

    def f(theta, x, y):
        k = jnp.exp(-distances(x)) + jnp.exp(theta[2]) * jnp.eye(len(y))
        return jax.scipy.linalg.solve(k, y, assume_a="pos")

    return f


@pytest.mark.parametrize(
    "f, share, least",
    [
        (loss(product), 3.3, 5),
        (loss(differences), 3.3, 5),
        (loss(product), 2.4, 5),
        (loss(differences), 2.4, 5),
        (loss(product_from_zero), 2.4, 5),
        (value(product), 1.3, 2),
        (value(differences), 1.2, 2),
        (weights(product), 1.3, 2),
    ],
)
def test_exact_gaussian_process(f, share, least):
    """Loops write over what they read: the factor lies where K did, the second solve where the first."""
    n = 300
    dice = np.random.default_rng(2)
    inputs = (
        jnp.array([0.1, -0.2, -1.0], jnp.float32),
        jnp.asarray(dice.normal(size=(n, 3)), jnp.float32),
        jnp.asarray(dice.normal(size=n), jnp.float32),
    )
    want = jax.jit(f)(*inputs)
    matrix = 4 * n * n
    stock = jax.jit(f).lower(*inputs).compile(compiler_options=HONEST)
    assert reported_bytes(stock) > least * matrix
    with weir.limit(int(share * matrix)):
        compiled = jax.jit(lambda *a: f(*a)).lower(*inputs).compile()
    assert reported_bytes(compiled) <= share * matrix
    for got, wanted in zip(jax.tree.leaves(compiled(*inputs)), jax.tree.leaves(want)):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-2)
