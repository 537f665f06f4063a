"""The distance pass on what JAX writes, forwards and backwards: the same results in the reference
evaluator and on stock XLA, no tensor of differences left, accuracy measured where it could suffer,
and what it leaves alone."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import running

PASSES = "inline,simplify,cse,distance,cse,dce"
N, M, D = 37, 41, 12
SIZES = rf"({N}|{M}|{D})"
LARGE = re.compile(rf"(?<![0-9]){SIZES}x{SIZES}x{SIZES}x[a-z]")  # three dimensions longer than 1
DICE = np.random.default_rng(5)
X, Y = DICE.standard_normal((N, D)), DICE.standard_normal((M, D))
SCALE = np.abs(DICE.standard_normal(D)) + 0.5
BATCH = DICE.standard_normal((3, N, D)), DICE.standard_normal((3, M, D))
LAST = DICE.standard_normal((N, D, 3)), DICE.standard_normal((M, D, 3))


def diff(x, y):
    return x[:, None] - y[None]


def se(x, y):
    return jnp.exp(-0.5 * (diff(x, y) ** 2).sum(-1))


def ard(x, y, scale):
    return jnp.exp(-0.5 * ((diff(x, y) / scale) ** 2).sum(-1))


def rows(f):
    return lambda x, y: jax.vmap(lambda a: jax.vmap(lambda b: f(a, b))(y))(x)


FORWARD = {
    "multiply": (lambda x, y: (diff(x, y) ** 2).sum(-1), X, Y),
    "power": (lambda x, y: (diff(x, y) ** 2.0).sum(-1), X, Y),
    "square": (lambda x, y: jnp.square(diff(x, y)).sum(-1), X, Y),
    "abs": (lambda x, y: (jnp.abs(diff(x, y)) ** 2).sum(-1), X, Y),
    "abs2": (lambda x, y: jnp.real(jnp.abs(-diff(x, y)) ** 2).sum(-1), X, Y),
    "einsum": (lambda x, y: jnp.einsum("nmd,nmd->nm", diff(x, y), diff(x, y)), X, Y),
    "swapped": (lambda x, y: ((y[None] - x[:, None]) ** 2).sum(-1), X, Y),
    "negated": (lambda x, y: ((x[:, None] + -y[None]) ** 2).sum(-1), X, Y),
    "sum": (lambda x, y: ((x[:, None] + y[None]) ** 2).sum(-1), X, Y),
    "transposed": (lambda x, y: (diff(x, y) ** 2).sum(-1).T, X, Y),
    "columns": (lambda x, y: ((x.T[:, :, None] - y.T[:, None]) ** 2).sum(0), X, Y),
    "middle": (lambda x, y: ((x[:, :, None] - y.T[None]) ** 2).sum(1), X, Y),
    "reshaped": (lambda x, y: ((x.reshape(N, 1, D) - y.reshape(1, M, D)) ** 2).sum(-1), X, Y),
    "vmap": (rows(lambda a, b: jnp.sum((a - b) ** 2)), X, Y),
    "vmap_dot": (rows(lambda a, b: jnp.dot(a - b, a - b)), X, Y),
    "self": (lambda x: (diff(x, x) ** 2).sum(-1), X),
    "scaled": (lambda x, y, s: ((diff(x, y) / s) ** 2).sum(-1), X, Y, SCALE),
    "scaled_before": (lambda x, y, s: (diff(x / s, y / s) ** 2).sum(-1), X, Y, SCALE),
    "twice": (lambda x, y, s: ((s * diff(x, y) * 0.5) ** 2).sum(-1), X, Y, SCALE),
    "init": (lambda x, y: jax.lax.reduce(diff(x, y) ** 2, x.dtype.type(3), jax.lax.add, (2,)), X, Y),
    "batch": (lambda x, y: ((x[:, :, None] - y[:, None]) ** 2).sum(-1), *BATCH),
    "batch_last": (lambda x, y: ((x[:, None] - y[None]) ** 2).sum(2), *LAST),
    "far": (lambda x, y: (diff(x, y) ** 2).sum(-1), X + 1e6, Y + 1e6),
    "kernel": (lambda x, y: se(x, y) @ y, X, Y),
    "in_a_loop": (
        lambda x, y: jax.lax.fori_loop(0, 2, lambda i, z: z + se(z, y) @ y[:, :D], x),
        X,
        Y,
    ),
}
BACKWARD = {
    "kernel": (jax.grad(lambda x, y: se(x, y).sum(), (0, 1)), X, Y),
    "power": (
        jax.grad(lambda x, y: jnp.exp(-(diff(x, y) ** 2.0).sum(-1)).sum(), (0, 1)),
        X,
        Y,
    ),
    "square": (
        jax.grad(lambda x, y: jnp.exp(-jnp.square(diff(x, y)).sum(-1)).sum(), (0, 1)),
        X,
        Y,
    ),
    "dot": (
        jax.grad(lambda x, y: jnp.exp(-rows(lambda a, b: jnp.dot(a - b, a - b))(x, y)).sum(), 0),
        X,
        Y,
    ),
    "vmap": (
        jax.grad(lambda x, y: jnp.exp(-rows(lambda a, b: ((a - b) ** 2).sum())(x, y)).sum(), (0, 1)),
        X,
        Y,
    ),
    "lengthscales": (
        jax.value_and_grad(lambda x, y, s: ard(x, y, s).sum(), (0, 1, 2)),
        X,
        Y,
        SCALE,
    ),
    "matvec": (
        jax.grad(lambda x, y, v: (ard(x, y, jnp.float32(2)) @ v).sum() ** 2, (0, 1, 2)),
        X,
        Y,
        DICE.standard_normal((M, 3)),
    ),
    "self": (jax.grad(lambda x: se(x, x).sum()), X),
    "batch": (
        jax.grad(lambda x, y: jnp.exp(-((x[:, :, None] - y[:, None]) ** 2).sum(-1)).sum(), (0, 1)),
        *BATCH,
    ),
}
# Only where f64 stands behind them.
NEAR_ZERO = {
    "norm": (lambda x, y: jnp.linalg.norm(diff(x, y), axis=-1), X, Y),
    "norm_gradient": (
        jax.grad(lambda x, y: jnp.linalg.norm(diff(x, y), axis=-1).sum(), (0, 1)),
        X,
        Y,
    ),
    "inverse": (lambda x, y: 1 / (diff(x, y) ** 2).sum(-1), X, Y),
    "logarithm": (lambda x, y: jnp.log((diff(x, y) ** 2).sum(-1)), X, Y),
    "nearest": (lambda x, y: jnp.sqrt((diff(x, y) ** 2).sum(-1).min(0)), X, Y),
}
LEFT_ALONE = {
    "cube": (lambda x, y: (diff(x, y) ** 3).sum(-1), X, Y),
    "fourth": (lambda x, y: (diff(x, y) ** 4).sum(-1), X, Y),
    "power_1.5": (lambda x, y: (jnp.abs(diff(x, y)) ** 1.5).sum(-1), X, Y),
    "power_-2": (lambda x, y: (diff(x, y) ** -2.0).sum(-1), X, Y),
    "power_of_argument": (lambda x, y, p: (jnp.abs(diff(x, y)) ** p).sum(-1), X, Y, np.float64(2)),
    "max": (lambda x, y: (diff(x, y) ** 2).max(-1), X, Y),
    "min": (lambda x, y: (diff(x, y) ** 2).min(-1), X, Y),
    "product": (lambda x, y: (diff(x, y) ** 2).prod(-1), X, Y),
    "manhattan": (lambda x, y: jnp.abs(diff(x, y)).sum(-1), X, Y),
    "no_square": (lambda x, y: diff(x, y).sum(-1), X, Y),
    "over_points": (lambda x, y: (diff(x, y) ** 2).sum((1, 2)), X, Y),
    "weighted_by_pairs": (lambda x, y, w: ((diff(x, y) * w) ** 2).sum(-1), X, Y, DICE.random((N, M, 1))),
    "not_points": (lambda x, y: ((x[:, None] * y[None]) ** 2).sum(-1), X, Y),
    "few_dimensions": (lambda x, y: (diff(x, y) ** 2).sum(-1), X[:, :3], Y[:, :3]),
    "two_kinds": (lambda x, y: (diff(x, y) * diff(x * 2, y)).sum(-1), X, Y),
    "half": (
        lambda x, y: (diff(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)) ** 2).sum(-1).astype(x.dtype),
        X,
        Y,
    ),
    "widened": (lambda x, y: (diff(x, y).astype(jnp.float32) ** 2).sum(-1, dtype=np.float64), X, Y),
    "integers": (lambda x, y: (diff(x, y) ** 2).sum(-1), (X * 9).astype(int), (Y * 9).astype(int)),
    "complex": (lambda x, y: (diff(x + 1j, y * 1j) ** 2).sum(-1).real, X, Y),
    "complex_norm": (lambda x, y: (jnp.abs(diff(x + 1j, y * 1j)) ** 2).sum(-1), X, Y),
}
MEMORY_SCHEDULER = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
both = pytest.mark.parametrize("dtype", [np.float32, np.float64])
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}


def cast(arrays, dtype):
    return [a.astype(dtype) if np.asarray(a).dtype.kind == "f" else a for a in arrays]


def texts(f, arrays, tmp_path, *arguments):
    with jax.enable_x64(True):
        text = jax.jit(f).lower(*arrays).as_text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    return (
        text,
        running.opt(path, f"--pass={PASSES}", *arguments),
        running.opt(path, f"--pass={PASSES.replace('distance,', '')}", *arguments),
    )


def compare(f, arrays, tmp_path, tolerance):
    text, rewritten, without = texts(f, arrays, tmp_path)
    assert rewritten != without
    evaluate = running.Evaluator(tmp_path, arrays)
    wanted, found = evaluate(text), evaluate(rewritten)
    compiled = running.Xla(rewritten)(*arrays)
    for want, got, xla in zip(wanted, found, compiled, strict=True):
        assert want.dtype == got.dtype == xla.dtype and want.shape == got.shape == xla.shape
        assert np.abs(got - want).max() <= tolerance * np.abs(want).max()
        assert np.abs(xla - want).max() <= tolerance * np.abs(want).max()
    return rewritten, without


@both
@pytest.mark.parametrize("name", FORWARD)
def test_distances(name, dtype, tmp_path):
    f, *arrays = FORWARD[name]
    rewritten, without = compare(f, cast(arrays, dtype), tmp_path, TOLERANCE[dtype])
    if not name.startswith("batch"):
        assert LARGE.search(without) and not LARGE.search(rewritten)


@both
@pytest.mark.parametrize("name", BACKWARD)
def test_gradients(name, dtype, tmp_path):
    f, *arrays = BACKWARD[name]
    rewritten, without = compare(f, cast(arrays, dtype), tmp_path, TOLERANCE[dtype])
    assert LARGE.search(without) and not LARGE.search(rewritten)


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_f32_near_zero(name, tmp_path):
    f, *arrays = NEAR_ZERO[name]
    compare(f, cast(arrays, np.float32), tmp_path, 2e-6)


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_f64_near_zero_is_left_alone(name, tmp_path):
    f, *arrays = NEAR_ZERO[name]
    _, rewritten, without = texts(f, arrays, tmp_path)
    assert rewritten == without


@both
@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name, dtype, tmp_path):
    if name == "widened" and dtype is np.float32:
        pytest.skip("the reduction is the program's own f32 to f64")
    f, *arrays = LEFT_ALONE[name]
    _, rewritten, without = texts(f, cast(arrays, dtype), tmp_path)
    assert rewritten == without


@pytest.mark.parametrize("arguments", [["--memory-limit", "1GB"], ["--tensor-size-threshold", "1MB"]])
def test_small_tensors_are_left_alone(arguments, tmp_path):
    f, *arrays = FORWARD["multiply"]
    _, rewritten, without = texts(f, arrays, tmp_path, *arguments)
    assert rewritten == without


# ---- accuracy ----
def exact(x, y):
    return ((x[:, None].astype(np.longdouble) - y[None].astype(np.longdouble)) ** 2).sum(-1)


def measured(x, y, tmp_path):
    _, rewritten, _ = texts(FORWARD["multiply"][0], [x, y], tmp_path)
    return running.Xla(rewritten)(x, y)[0]


def spread(x, y):
    """|x - c|^2 + |y - c|^2 with c at most half a mean deviation from the mean of the smaller set."""
    small = (x if len(x) <= len(y) else y).astype(np.longdouble)
    c = small.mean(0) + np.abs(small - small.mean(0)).mean(0) / 2
    return ((x - c) ** 2).sum(-1)[:, None] + ((y - c) ** 2).sum(-1)[None]


@both
@pytest.mark.parametrize("offset", [0, 1e3, 1e6])
@pytest.mark.parametrize("width", [D, 100, 784])
def test_error_bound(width, offset, dtype, tmp_path):
    """As documented: (4 + sqrt(d)) roundings of f64 of the spread, and one of the result's type."""
    dice = np.random.default_rng(width)
    x, y = ((dice.standard_normal((n, width)) + offset).astype(dtype) for n in (50, 60))
    y[:20] = x[:20]
    y[20:40] = (x[20:40] * (1 + 1e-5)).astype(dtype)
    want, got = exact(x, y), measured(x, y, tmp_path)
    bound = (4 + width**0.5) * np.finfo(np.float64).eps * spread(x, y) + np.finfo(dtype).eps * want
    assert (np.abs(got - want) <= bound).all()
    assert (got >= 0).all()


@both
@pytest.mark.parametrize("width", [D, 50, 333, 2000])
def test_equal_points_have_distance_0(width, dtype, tmp_path):
    x = (np.random.default_rng(width).standard_normal((64, width)) * 7 + 100).astype(dtype)
    got = measured(x, x.copy(), tmp_path)
    assert not got.diagonal().any() and (got + np.eye(64) > 0).all()


@both
@pytest.mark.parametrize("offset", [0, 12345678])
def test_whole_numbers_are_exact(offset, dtype, tmp_path):
    """Ties stay ties."""
    dice = np.random.default_rng(7)
    x, y = ((dice.integers(0, 256, (n, 50)) + (offset if dtype is np.float64 else 0)).astype(dtype) for n in (70, 80))
    x[:, 3] = y[:, 3] = 5
    np.testing.assert_array_equal(measured(x, y, tmp_path), exact(x, y).astype(dtype))


def test_f32_neighbours_are_told_apart(tmp_path):
    """Points one rounding of f32 apart have the distance that they have, to 10 %."""
    x = (1 + np.random.default_rng(0).random((40, D))).astype(np.float32)
    y = x.copy()
    y[:, 0] = np.nextafter(x[:, 0], np.float32(9))
    y[:, 1] = np.nextafter(x[:, 1], np.float32(9))
    want, got = exact(x, y).diagonal(), measured(x, y, tmp_path).diagonal()
    close = want > 1e-14 * spread(x, y).diagonal()
    assert (np.abs(got - want) <= np.maximum(0.1 * want, 2e-15 * spread(x, y).diagonal()))[close].all()


@both
def test_infinite_points_and_nan(dtype, tmp_path):
    x, y = X.astype(dtype), Y.astype(dtype)
    x[3, 2], x[5, 0], y[7, 4], y[9, 1], y[11, 2] = np.inf, np.nan, -np.inf, np.nan, np.inf
    text, rewritten, _ = texts(FORWARD["multiply"][0], [x, y], tmp_path)
    (want,) = running.Evaluator(tmp_path, [x, y])(text)
    (got,) = running.Xla(rewritten)(x, y)
    assert np.isnan(want[3, 11]) and got[3, 11] == np.inf  # documented: two infinite points
    want[3, 11] = np.inf
    np.testing.assert_array_equal(np.isnan(want), np.isnan(got))
    np.testing.assert_array_equal(np.isinf(want), np.isinf(got))
    finite = np.isfinite(want)
    np.testing.assert_allclose(got[finite], want[finite], rtol=1e-6)


def test_f64_arithmetic_does_not_overflow_where_f32_does(tmp_path):
    x, y = (X * 1e19).astype(np.float32), (Y * 1e19).astype(np.float32)
    text, _, _ = texts(FORWARD["multiply"][0], [x, y], tmp_path)
    (want,) = running.Evaluator(tmp_path, [x, y])(text)
    got = measured(x, y, tmp_path)
    assert np.isinf(want).any()
    np.testing.assert_array_equal(np.isinf(want), np.isinf(got))


@both
def test_nearest_neighbours(dtype, tmp_path):
    def knn(x, y):
        return jax.lax.top_k(-(diff(x, y) ** 2).sum(-1), 5)

    dice = np.random.default_rng(1)
    x, y = (dice.standard_normal((n, 20)).astype(dtype) for n in (50, 300))
    text, rewritten, without = texts(knn, [x, y], tmp_path)
    assert rewritten != without
    want, got = running.Xla(text)(x, y), running.Xla(rewritten)(x, y)
    np.testing.assert_array_equal(want[1], got[1])
    np.testing.assert_allclose(got[0], want[0], rtol=1e-6 if dtype is np.float32 else 1e-13)


def test_under_a_limit(tmp_path):
    """The differences are gone, and what is left is split as any product."""
    f, *_ = BACKWARD["lengthscales"]
    dice = np.random.default_rng(2)
    arrays = [dice.standard_normal((n, 16)) for n in (900, 1000)] + [np.ones(16)]
    text, limited = running.rewrite(f, arrays, tmp_path, "--memory-limit", "2MB")
    assert "900x1000x" not in limited
    program = running.Xla(limited, {**running.OPTIONS, **MEMORY_SCHEDULER})
    assert program.report_bytes() <= 2_000_000
    for want, got in zip(running.Xla(text)(*arrays), program(*arrays), strict=True):
        assert np.abs(got - want).max() <= 1e-10 * np.abs(want).max()


def test_above_a_threshold_nothing_needs_a_loop(tmp_path):
    """The differences are the only tensor above it: the program without them is what runs."""
    f, *arrays = FORWARD["multiply"]
    text, rewritten = running.rewrite(f, arrays, tmp_path, "--tensor-size-threshold", N * M * D * 8 - 1)
    assert LARGE.search(text) and not LARGE.search(rewritten) and "while" not in rewritten
