"""Triangular matrices with many right-hand sides as products (src/pass/solve.c)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import cho_solve, solve_triangular

import running
import weir


def triangle(n, dtype, lower, seed=0, batch=()):
    """Well conditioned; what the solve must not look at is NaN."""
    dice = np.random.default_rng(seed)
    a = dice.normal(size=(*batch, n, n)) / n + np.eye(n) * dice.uniform(1, 2, (*batch, 1, n))
    a = np.where(np.tri(n) == 1, a, np.nan)
    return (a if lower else a.swapaxes(-1, -2)).astype(dtype)


def passed(f, inputs, folder, *arguments):
    with jax.enable_x64():
        text = jax.jit(f).lower(*inputs).as_text()
    program = folder / "program.mlir"
    program.write_text(text)
    return text, running.opt(program, *arguments)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    "batch, n, k",
    [((), 2, 9), ((), 64, 300), ((), 129, 520), ((), 300, 1201), ((), 700, 2800), ((5,), 8, 33), ((2, 3), 3, 12), ((2,), 150, 601)],
)
def test_solves(batch, n, k, lower, trans, unit, tmp_path):
    dtype = np.float64 if (n + lower + trans) % 2 else np.float32
    a = triangle(n, dtype, lower, batch=batch)
    b = np.random.default_rng(1).normal(size=(*batch, n, k)).astype(dtype)

    def f(a, b):
        return solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit)

    text, rewritten = passed(f, (a, b), tmp_path, "--pass=inline,solve,dce")
    assert "lapack" in text and "lapack" not in rewritten
    (want,), (got,) = running.Xla(text)(a, b), running.Xla(rewritten)(a, b)
    assert np.isfinite(got).all()
    tolerance = 1e-13 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())
    if n < 200:
        (slow,) = running.Evaluator(tmp_path, (a, b))(rewritten)
        np.testing.assert_allclose(slow, want, rtol=0, atol=tolerance * np.abs(want).max())


@pytest.mark.parametrize("seed", range(12))
def test_products_are_not_solved_for(seed, tmp_path):
    """Sums of products in front of long factors, at random; one of them may be read by others."""
    dice = np.random.default_rng(seed)
    n, k, r, dtype = 64 + 16 * (seed % 3), 330, int(dice.integers(1, 60)), (np.float32, np.float64)[seed % 2]
    lower, trans, kinds = seed % 3 > 0, seed // 2 % 2, dice.integers(0, 5, dice.integers(1, 4))
    shapes = (n, r), (r, k), (r, n), (n,), (k,)
    a, rest = triangle(n, dtype, lower), [dice.normal(size=s).astype(dtype) for s in shapes]

    def f(a, m, x, t, c, y):
        terms = [m @ x, -(t.T @ x), jnp.tensordot(c, y, 0), (m @ x) / 3, 2 * jnp.tensordot(c, y, 0)]
        b = terms[kinds[0]]
        for i in kinds[1:]:
            b = b + terms[i] if i % 2 else b - terms[i]
        return solve_triangular(a, b, lower=lower, trans=trans), m, x, t, c, y

    text, rewritten = passed(f, (a, *rest), tmp_path, "--pass=inline,solve,dce")
    assert "lapack" in rewritten or r * len(kinds) > n
    want, got = running.Xla(text)(a, *rest)[0], running.Xla(rewritten)(a, *rest)[0]
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


def normals(x, means, factors):
    """Log densities at x of a mixture: each normal has a triangle of its own."""
    centred = (x - means[:, None]).swapaxes(1, 2)
    white = solve_triangular(factors, centred, lower=True)
    return jax.nn.logsumexp(-0.5 * (white**2).sum(1) - jnp.log(jnp.diagonal(factors, axis1=1, axis2=2)).sum(1)[:, None], 0).sum()


def test_a_mixture_of_normals_calls_no_library_in_its_loops():
    dice = np.random.default_rng(0)
    x, means = dice.normal(size=(5003, 4)).astype(np.float32), dice.normal(size=(20, 4)).astype(np.float32)
    factors = np.nan_to_num(triangle(4, np.float32, True, batch=(20,)))
    want = jax.jit(jax.grad(normals, (0, 1, 2)))(x, means, factors)
    weir.initialize()
    with weir.limit(2 * x.nbytes + 1_000_000):
        compiled = jax.jit(lambda *a: jax.grad(normals, (0, 1, 2))(*a)).lower(x, means, factors).compile()
    assert weir.last_report().outcome == "rewritten"
    bodies = compiled.as_text().split("ENTRY")[0]
    assert "trsm" not in bodies
    for w, g in zip(want, compiled(x, means, factors), strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=1e-4 * np.abs(w).max())


@pytest.mark.parametrize("batch, n, k", [((), 130, 3000), ((2,), 128, 3000), ((4,), 200, 3000), ((64,), 64, 256)])
def test_limits_that_solves_hold_are_held(batch, n, k):
    """What is solved in slices of columns, or one by one, needs little more than what it is called with."""
    a, b = (np.ones((*batch, *s), np.float32) for s in ((n, n), (n, k)))
    weir.initialize()
    with weir.limit(a.nbytes + b.nbytes * 51 // 50 + 60_000):
        jax.jit(lambda a, b: jnp.exp(-(solve_triangular(a, 2 * jnp.sin(b), lower=True) ** 2)).sum(-1)).lower(a, b).compile()
    assert weir.last_report().outcome == "rewritten"


def kernel(x, y):
    return jnp.exp(-0.5 * ((x[:, None] - y[None]) ** 2).sum(-1))


def variances(x, z):
    """Of a Gaussian process at x, given z."""
    chol = jnp.linalg.cholesky(kernel(z, z) + 1e-6 * jnp.eye(len(z)))
    k = kernel(z, x)
    return 1 - (solve_triangular(chol, k, lower=True) ** 2).sum(0), (k * cho_solve((chol, True), k)).sum(0)


def test_ill_conditioned_kernel_matrix_under_a_limit():
    """Condition 1e8: as far from LAPACK's solution as that itself is from the exact one."""
    dice = np.random.default_rng(0)
    x, z = dice.normal(size=(20_000, 2)), dice.normal(size=(200, 2))
    with jax.enable_x64():
        want = jax.jit(variances)(x, z)
        weir.initialize()
        with weir.limit(x.nbytes + z.nbytes + 2 * 8 * len(x) + 8_000_000):
            got = jax.jit(lambda x, z: variances(x, z))(x, z)
    report = weir.last_report()
    assert report.outcome == "rewritten"
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=2e-9)
