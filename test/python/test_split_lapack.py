"""Batches of small matrices under a tenth of stock's temporaries: every routine of JAX's linear
algebra on CPU is sliced along its batch, values and gradients. XLA's report is the judge, results
are stock's: to the bit what LAPACK does, but fusions around it may round otherwise.
"""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest
from jax import lax

import weir
from running import HONEST
from held import reported_bytes

BATCH, N = 4001, 6  # a prime: the last slice overlaps
PROGRAMS, VALUE_ONLY = {}, set()
F32, F64, C128 = jnp.float32, jnp.float64, jnp.complex128


def definite(w):
    """Symmetric, with eigenvalues far apart."""
    return jnp.outer(w, w.conj()) + jnp.diag(jnp.arange(4, 4 * N + 4, 4).astype(w.dtype))


def general(w):
    return jnp.outer(w, jnp.sin(w)) / 4 + jnp.diag(jnp.arange(2, 2 * N + 2, 2).astype(w.dtype))


def value(f):
    PROGRAMS[f.__name__] = f
    VALUE_ONLY.add(f.__name__)
    return f


def and_gradient(f):
    PROGRAMS[f.__name__] = f
    return f


def size(x):
    return jnp.sum(jnp.abs(x) ** 2)


@and_gradient
def cholesky(w):
    return jnp.linalg.cholesky(definite(w))[-1, -1].real


@and_gradient
def lu(w):
    return size(jsl.lu_factor(general(w))[0])


@value
def permuted_lu(w):
    p, lower, upper = jsl.lu(general(w))
    return size(p @ lower + upper)


@and_gradient
def solve(w):
    return size(jnp.linalg.solve(general(w), w))


@and_gradient
def solve_many(w):
    return size(jnp.linalg.solve(general(w), definite(w)))


@and_gradient
def inv(w):
    return size(jnp.linalg.inv(general(w)))


@and_gradient
def det(w):
    return jnp.linalg.det(general(w) / N).real


@and_gradient
def slogdet(w):
    return jnp.linalg.slogdet(general(w))[1].real


@and_gradient
def qr(w):
    q, r = jnp.linalg.qr(general(w))
    return size(r) + size(q[:, 0] + r[:, 1])


@value
def pivoted_qr(w):
    _, r, p = jsl.qr(general(w)[:, :4], pivoting=True, mode="economic")
    return size(r) + jnp.sum(p)


@and_gradient
def svd(w):
    u, s, vt = jnp.linalg.svd(general(w), full_matrices=False)
    return jnp.sum(s) + size(u @ vt)


@and_gradient
def svdvals(w):
    return jnp.linalg.svd(general(w), compute_uv=False)[0]


@and_gradient
def eigh(w):
    values, vectors = jnp.linalg.eigh(definite(w))
    return values[0] + size(vectors[0, :2])


@and_gradient
def eigvalsh(w):
    return jnp.linalg.eigvalsh(definite(w))[0]


@value
def eig(w):
    values, vectors = jnp.linalg.eig(general(w))
    return size(values) + size(vectors[0])


@and_gradient
def eigvals(w):
    return size(jnp.linalg.eigvals(general(w)))


@value
def schur(w):
    return size(jsl.schur(general(w))[0])


@value
def hessenberg(w):
    return size(jsl.hessenberg(general(w)))


@value
def tridiagonal(w):
    return size(lax.linalg.tridiagonal(definite(w))[1])


@and_gradient
def lstsq(w):
    return size(jnp.linalg.lstsq(general(w)[:, :3], w)[0])


@and_gradient
def pinv(w):
    return size(jnp.linalg.pinv(general(w)[:, :3]))


@and_gradient
def cho_solve(w):
    return size(jsl.cho_solve(jsl.cho_factor(definite(w)), w))


@and_gradient
def triangular(w):
    return size(jsl.solve_triangular(definite(w), w, lower=True))


@and_gradient
def triangular_many(w):
    return size(jsl.solve_triangular(definite(w), general(w), trans=1))


@and_gradient
def expm(w):
    return size(jsl.expm(general(w) / 8))


@and_gradient
def tridiagonal_solve(w):
    return size(lax.linalg.tridiagonal_solve(w * 0.1, w + 9, w * 0.2, definite(w)))


@value
def sqrtm(w):
    return size(jsl.sqrtm(general(w)))


@and_gradient
def normal_density(w):
    """With the log of a determinant from a Cholesky factor."""
    factor = jnp.linalg.cholesky(definite(w))
    z = jsl.solve_triangular(factor, w, lower=True)
    return size(z) + 2 * jnp.sum(jnp.log(jnp.diag(factor).real))


def vectors(dtype, *batch):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((*batch, N))
    if np.issubdtype(dtype, np.complexfloating):
        w = w + 1j * rng.standard_normal((*batch, N))
    return w.astype(dtype)


def stock_of(lowered):
    """With options that make XLA's report see all, where XLA has them."""
    try:
        return lowered.compile(compiler_options=HONEST)
    except jax.errors.JaxRuntimeError:
        return lowered.compile()


def results_of(lowered, arguments):
    """Of stock XLA, one op after the other: two batched triangular solves at once can wait for each
    other for ever where XLA has two threads.
    """
    in_order = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    return lowered.compile(compiler_options=in_order)(*arguments)


def held(f, arguments, tolerance):
    """f under its arguments, results and a tenth of stock's temporaries; weir's report."""
    lowered = jax.jit(f).lower(*arguments)
    stock = stock_of(lowered)
    m = stock.memory_analysis()
    limit = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 10
    assert limit < reported_bytes(stock) / 1.5
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    report = weir.last_report()
    assert reported_bytes(limited) <= limit
    assert report.outcome == "rewritten" and report.loops
    leaves = [jax.tree.leaves(r) for r in (results_of(lowered, arguments), limited(*arguments))]
    for want, got in zip(*leaves, strict=True):
        compare(np.asarray(want), np.asarray(got), tolerance)
    return report


def compare(want, got, tolerance):
    assert np.array_equal(np.isfinite(want), np.isfinite(got))
    want, got = np.nan_to_num(want, posinf=0, neginf=0), np.nan_to_num(got, posinf=0, neginf=0)
    assert np.abs(got - want).max() <= tolerance * np.abs(want).max()


def batched(name, gradient=True):
    f = PROGRAMS[name]
    return jax.vmap(jax.value_and_grad(f) if gradient and name not in VALUE_ONLY else f)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tenth_of_the_temporaries_does(name):
    held(batched(name), [vectors(F32, BATCH)], 3e-5)


@pytest.mark.parametrize("name", ["solve", "qr", "eigh", "expm"])
def test_f64(name):
    with jax.enable_x64(True):
        held(batched(name), [vectors(F64, BATCH)], 1e-12)


@pytest.mark.parametrize("name", ["cholesky", "lu", "qr", "svd", "eigvalsh", "eig", "schur"])
def test_complex(name):
    with jax.enable_x64(True):
        held(batched(name, gradient=False), [vectors(C128, BATCH)], 1e-12)


def test_two_batch_dimensions():
    f = jax.vmap(batched("cho_solve"))
    held(f, [vectors(F32, 7, 571)], 3e-5)


@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
def test_one_matrix_under_two_vmaps(gradient):
    """Each vmap puts its dimension behind the others among the right-hand sides: the sequences, which
    can be sliced where the steps of one cannot, would come last."""

    def forward(log_likelihood):
        def step(state, x):
            state = jnp.logaddexp(state, state[::-1] - 1) + x
            return state, state

        return lax.scan(step, jnp.zeros(3, F32), log_likelihood)[1]

    def smoothed(means, scale, y):
        def log_likelihood(v):
            return jax.vmap(lambda m: -size(jsl.solve_triangular(scale, v - m, lower=True)))(means)

        states = jax.vmap(lambda sequence: forward(jax.vmap(log_likelihood)(sequence)))(y)
        return jnp.mean(jax.nn.softmax(states), 0)

    def loss(*arguments):
        return size(smoothed(*arguments))

    scale = np.tril(general(vectors(F32))).astype(F32)
    held(jax.grad(loss) if gradient else smoothed, [vectors(F32, 3), scale, vectors(F32, 64, 61)], 3e-5)


def matrices(*shape):
    rng = np.random.default_rng(4)
    return (rng.standard_normal((*shape, N, N)) + 8 * np.eye(N)).astype(F32)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: jnp.linalg.eigvals(a).real.max(-1),
        lambda a: jnp.linalg.inv(a) @ a.mT,
        lambda a: jnp.linalg.svd(jnp.linalg.inv(a), full_matrices=False)[0] @ a,
    ],
    ids=["argument", "argument and result", "two calls"],
)
def test_layouts_stay_inside_of_the_loop(f):
    """LAPACK's matrices are by columns: XLA must not copy the whole arguments or results to that."""
    held(f, [matrices(BATCH)], 3e-5)


def large_batch(f):
    """Of matrices that are products with a vector: what LAPACK is given is the same to the bit."""
    a = np.random.default_rng(1).standard_normal((40, N, N)).astype(F32)
    scales = 2.0 ** np.random.default_rng(2).integers(-3, 3, (100, 1, 1, 1)).astype(F32)
    return lambda a, s: f((a * s).reshape(-1, N, N)), [a, scales]


def test_to_the_bit():
    """Scaled by powers of 2, and no sums."""
    f, arguments = large_batch(lambda a: jnp.max(lax.linalg.lu(a)[0], (1, 2)))
    held(f, arguments, 0)


def test_failures_are_marked_per_matrix():
    """NaN where the Cholesky factor of a matrix does not exist: by `info` of its slice."""
    f, arguments = large_batch(lambda a: lax.linalg.cholesky(a, symmetrize_input=False)[:, -1, -1])
    arguments[0][::3] = np.eye(N)
    with np.errstate(invalid="ignore"):
        held(f, arguments, 0)
    failed = np.isnan(f(*arguments))
    assert failed.any() and not failed.all()


def diagonals(n, dtype=F32):
    """Of a matrix whose rows are dominated by the middle one."""
    rng = np.random.default_rng(5)
    lower, upper = (rng.random(n).astype(dtype) for _ in range(2))
    lower[0] = upper[-1] = 0
    return [lower, (4 + rng.random(n)).astype(dtype), upper]


def solved_columns(lower, middle, upper, b, scales):
    """The sums of 701 systems' solutions, all with one matrix."""
    rhs = jnp.sin(b[:, None] * scales).astype(lower.dtype)
    x = lax.linalg.tridiagonal_solve(lower, middle, upper, rhs)
    return jnp.sum(jnp.abs(x) ** 2, 0)


def right_sides(n=150):
    rng = np.random.default_rng(6)
    return [rng.standard_normal(n).astype(F32), rng.standard_normal(701).astype(F32)]


@pytest.mark.parametrize("dtype", [F32, jnp.complex64])
def test_systems_with_one_tridiagonal_matrix(dtype):
    held(solved_columns, diagonals(150, dtype) + right_sides(), 1e-6)


def test_gradients_of_such_systems():
    loss = jax.grad(lambda *a: jnp.mean(solved_columns(*a)), (0, 1, 2, 3))
    held(loss, diagonals(150) + right_sides(), 3e-5)


def test_steps_of_such_systems():
    """Crank and Nicolson's for many strikes: one matrix, a column for each strike."""

    def price(lower, middle, upper, strike):
        grid = jnp.linspace(0, 300, 200)

        def step(v, _):
            v = lax.linalg.tridiagonal_solve(lower, middle, upper, 4 * v[:, None])[:, 0]
            return jnp.maximum(v, strike - grid), None

        return lax.scan(step, jnp.maximum(strike - grid, 0), None, length=5)[0][100]

    strikes = np.linspace(80, 120, 701, dtype=F32)
    held(jax.vmap(price, (None, None, None, 0)), diagonals(200) + [strikes], 0)


def test_a_singular_matrix_fails_all_of_its_systems():
    arguments = [0 * d for d in diagonals(150)] + right_sides()
    held(solved_columns, arguments, 0)
    assert np.isnan(jax.jit(solved_columns)(*arguments)).all()


def test_one_matrix_is_no_batch():
    x = np.random.default_rng(3).standard_normal((400, 400)).astype(F32)
    with weir.limit(3 * x.nbytes), pytest.raises(jax.errors.JaxRuntimeError, match="set it to [0-9]+ bytes or more"):
        jax.jit(lambda x: jnp.sum(jnp.linalg.qr(jnp.sin(x))[0])).lower(x).compile()
