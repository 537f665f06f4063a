"""Tiles of 16-bit floats: read and stored as such, computed in f32, and each op's result rounded to what the
program says it is. So results of single ops are known to the bit."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import running
from running import lowered, numbers, stored
from random_narrow import Narrow
from kernel_running import CHECKED_BUILD, check_regions, count, folder, halves, no_leaks, tiled  # noqa: F401 (fixtures)

DTYPES = {"bf16": (ml_dtypes.bfloat16, 2.0**-8), "f16": (np.float16, 2.0**-11)}
ROUNDINGS = 4
REGIONS, BATCH = 160, 10
FUNCTIONS = {
    name: getattr(lax, name)
    for name in "exp expm1 log log1p tanh logistic sin sqrt rsqrt cbrt erf floor round abs neg".split()
}
FUNCTIONS["square"] = lambda x: x * x
FUNCTIONS["integers"] = lambda x: x.astype(jnp.int32).astype(x.dtype)
FUNCTIONS["small integers"] = lambda x: x.astype(jnp.int8).astype(x.dtype)


def attention(x, y, u, w):
    return jax.nn.softmax(x @ y.T / 4, axis=-1) @ w


def masked(x, y, u, w):
    s = jnp.where(jnp.arange(x.shape[0])[:, None] >= jnp.arange(y.shape[0]), x @ y.T / 4, -jnp.inf)
    return jax.nn.softmax(s, axis=-1) @ w


def gradient(x, y, u, w):
    def loss(x, y, w):
        return (attention(x, y, u, w).astype(jnp.float32) ** 2).sum()

    return jax.grad(loss, (0, 1, 2))(x, y, w)


def gaussian(x, y, u, w):
    return jnp.exp(-jnp.sum((x[:, None] - y[None]) ** 2, -1) / 8) @ w


def logits(x, y, u, w):
    """As a cross-entropy has them: products in f32."""
    s = jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
    return jax.nn.logsumexp(s, axis=1)


def elementwise(x, y, u, w):
    a = jnp.tanh(u[:, None] - y[None, :, 0]) * jnp.where(u[:, None] > 0, 0.5, u[:, None])
    return a, jnp.max(a, axis=1), jnp.sum(a > 0.25, axis=0)


def sums(x, y, u, w):
    s = jnp.abs(u[:, None] * y[None, :, 0])
    return jnp.sum(s, axis=1), jnp.sum(s, axis=0), jnp.min(s, axis=1)


PROGRAMS = [attention, masked, gradient, gaussian, logits, elementwise, sums]


def data(dtype, n=203, m=310, d=16):
    dice = np.random.default_rng(3)
    shapes = [(n, d), (m, d), (n,), (m, 2 * d)]
    return [dice.normal(size=shape).astype(dtype) for shape in shapes]


def floats(values):
    return [np.asarray(v, np.float64) for v in values]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", PROGRAMS)
def test_as_stated(function, dtype, folder, covered, tmp_path):  # noqa: F811
    """As test/ref, which rounds each op's result; another order of a sum may turn a last bit of one of them."""
    kind, epsilon = DTYPES[dtype]
    inputs = data(kind)
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", 60_000)
    covered(program, kind)
    assert "stablehlo.while" not in program
    types = [r.dtype for r in jax.tree.leaves(jax.eval_shape(function, *inputs))]
    run = running.Evaluator(tmp_path, stored(inputs))
    for want, got in zip(*(floats(run.numbers(t, types)) for t in (text, program)), strict=True):
        assert np.abs(got - want).max() <= ROUNDINGS * epsilon * np.abs(want).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding(dtype, folder, covered):  # noqa: F811
    """What is stored is rounded to nearest even, NaNs and infinities stay."""
    kind, _ = DTYPES[dtype]
    x = [1, 1.00390625, 1.01171875, 65504, 1e38, -1e38, np.inf, -np.inf, np.nan, -0.0, 1e-30, 6e-8]
    x = np.array(x * 30, np.float32)
    y = np.where(np.arange(64) % 2, 1, -1).astype(np.float32)

    def product(x, y):
        return (x[:, None] * y[None]).astype(kind)

    text = lowered(product, x, y)
    program = tiled(text, folder, "--tensor-size-threshold", 10_000)
    covered(program, kind)
    (want,), (got,) = running.results(text, [x, y]), running.results(program, [x, y])
    want, got = (a.view(kind) if dtype == "bf16" else a for a in (want, got))
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.asarray(want, np.float32))
    zero = np.asarray(want, np.float32) == 0
    assert np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.fixture
def covered(halves):  # noqa: F811
    """Asserts that a program has kernels; skips where it can't."""

    def check(program, kind=np.float16):
        if kind == np.float16 and not halves:
            pytest.skip("kernels without f16 on this processor")
        assert count(program)

    return check


def unlike(want, got, exact):
    """None where they agree: to the bit, or as sums of positive numbers do."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    kind = ml_dtypes.finfo(want.dtype) if want.dtype.kind in "fV" else None
    w, g = (np.asarray(a, np.float64) for a in (want, got))
    same = (w == g) | (np.isnan(w) & np.isnan(g))
    if kind and not exact:
        bound = (1 + float(kind.eps)) * np.where(np.isfinite(w), np.abs(w), 0) + float(kind.smallest_subnormal)
        edge = np.isinf(w) & (g >= (1 - 1e-5) * float(kind.max))  # a last bit makes it infinite
        same |= (np.abs(g - w) <= (float(kind.eps) + 1e-5) * bound) | edge | (np.isinf(g) & (w >= float(kind.max)))
    return None if same.all() else f"{np.sum(~same)} of {same.size} differ: {g[~same][:3]}, expected {w[~same][:3]}"


@pytest.mark.parametrize("first", range(0, REGIONS, BATCH))
def test_random_regions(first, folder, halves, tmp_path):  # noqa: F811
    """Against test/ref, which rounds where the program says. Not in XLA: what it runs beside kernels it fuses, two
    roundings as one."""

    def problem(region):
        inputs = region.inputs()
        with jax.enable_x64(True):
            types = [r.dtype for r in jax.tree.leaves(jax.eval_shape(region.function, *inputs))]
        text = lowered(region.function, *inputs)
        program = tiled(text, folder, "--tensor-size-threshold", max(64, region.large * 2 // 6))
        if not count(program):
            return None, int(not halves)
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        run = running.Evaluator(place, stored(inputs), of_kernels=CHECKED_BUILD)
        want, got = (run.numbers(t, types) for t in (text, program))
        problems = list(map(unlike, want, got, region.exact))
        return next((p for p in problems if p), None), count(program)

    check_regions(problem, Narrow, range(first, first + BATCH))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number(name, dtype, folder, covered, tmp_path):  # noqa: F811
    """A function of every 16-bit float, in a kernel: the nearest, or its neighbour; what is not finite to the bit."""
    kind = DTYPES[dtype][0]
    x, y = np.arange(2**16, dtype=np.uint16).view(kind), np.ones(2, kind)
    operation = FUNCTIONS[name]
    inputs = [x, y]
    text = lowered(lambda x, y: jnp.max(operation(x[:, None] * y[None]), 1), *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", 60_000)
    covered(program, kind)
    run = running.Evaluator(tmp_path, stored(inputs))
    want, got = (numbers(run(t)[0], kind) for t in (text, program))
    w, g = (np.asarray(a, np.float64) for a in (want, got))
    finite = np.isfinite(w)
    np.testing.assert_array_equal(g[~finite], w[~finite])
    bits = [np.where(b & 0x8000, -(b & 0x7FFF).astype(np.int64), b) for b in (a.view(np.uint16).astype(np.int64) for a in (want, got))]
    tiny = np.abs(w) < 2.0**-126  # exp gives 0
    assert (np.abs(bits[0] - bits[1])[finite & ~tiny] <= 1).all()


def test_conversions_happen(folder, covered):  # noqa: F811
    """Each pair of types in a kernel: by way of f32, as XLA and test/ref."""
    x = np.random.default_rng(5).normal(size=301).astype(np.float32) * np.float32(3e4)
    y = np.array([1, -1, 1e-4, 3, 1e-38, 1e34], np.float32)
    kinds = [np.float16, ml_dtypes.bfloat16]

    def through(x, y):
        t = x[:, None] * y[None]
        for first in kinds:
            yield jnp.min(t.astype(first).astype(jnp.float32), 1)
            for second in kinds:
                yield jnp.max(t.astype(first).astype(second).astype(jnp.float32), 1)

    program = tiled(lowered(lambda x, y: list(through(x, y)), x, y), folder, "--tensor-size-threshold", 4000)
    covered(program)
    with np.errstate(over="ignore"):
        t = x[:, None] * y[None]
        want = []
        for first in kinds:
            want.append(t.astype(first).astype(np.float32).min(1))
            want += [t.astype(first).astype(second).astype(np.float32).max(1) for second in kinds]
    for w, g in zip(want, running.results(program, [x, y]), strict=True):
        np.testing.assert_array_equal(np.where(np.abs(w) < 2.0**-126, 0, w), np.where(np.abs(g) < 2.0**-126, 0, g))


def test_both_sides_of_a_product(folder):  # noqa: F811
    """Converted to bf16, the product in f32: no sum of one side goes in front of it in 16 bits, either."""
    x = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)

    def product(x):
        b = x.astype(jnp.bfloat16)
        return lax.dot(b, b.T, preferred_element_type=jnp.float32).sum(0)

    rounded = np.asarray(x.astype(ml_dtypes.bfloat16), np.float64)
    want = (rounded @ rounded.T).sum(0)
    for size in (2000, 4000):
        program = tiled(lowered(product, x), folder, "--tensor-size-threshold", size)
        assert count(program)
        (got,) = running.results(program, [x])
        assert np.abs(got - want).max() < 1e-4


@pytest.mark.parametrize("setting", [("--tensor-size-threshold", "100kB"), ("--memory-limit", "1MB")])
@pytest.mark.parametrize("tile", ["on", "off"])
@pytest.mark.parametrize("kind, scale", [(np.float16, 40), (ml_dtypes.bfloat16, 1)])
def test_sums_of_products(kind, scale, tile, setting, folder):  # noqa: F811
    """The sum over rows of a product in f32: the operand alone, summed in 16 bits, would overflow or lose digits."""
    dice = np.random.default_rng(0)
    x = (np.abs(dice.normal(size=(2000, 64))) * scale).astype(kind)
    y = (dice.normal(size=(500, 64)) / scale).astype(kind)

    def function(x, y):
        product = lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        return product.sum(0)

    path = folder / "sums.mlir"
    path.write_text(lowered(function, x, y))
    program = running.opt(path, *setting, "--tile", tile)
    (got,) = running.results(program, stored([x, y]))
    x, y = (np.asarray(z, np.float64) for z in (x, y))
    assert (np.abs(got - (x @ y.T).sum(0)) <= 1e-5 * (x @ np.abs(y).T).sum(0)).all()


def test_overflow(folder, covered):  # noqa: F811
    """What the checks of mixed precision look at."""
    x = (np.random.default_rng(1).standard_normal(500) * 300).astype(np.float16)

    def checks(x):
        k = x[:, None] * x[None]
        two, one = jnp.float16(2), jnp.float16(1)
        return jnp.isinf(k).sum(1), jnp.isfinite(k * two).all(), (one / k == 0).sum(), jnp.argmax(k, 1)

    program = tiled(lowered(checks, x), folder, "--tensor-size-threshold", 60_000)
    covered(program)
    with np.errstate(all="ignore"):
        k = x[:, None] * x[None]
        want = [np.isinf(k).sum(1), np.isfinite(k * np.float16(2)).all(), (np.float16(1) / k == 0).sum(), k.argmax(1)]
    for w, g in zip(want, running.results(program, [x]), strict=True):
        np.testing.assert_array_equal(w, g)


def test_subnormals(folder, covered):  # noqa: F811
    """Of f16 they are no subnormals of f32, which XLA's threads flush to zero."""
    dice = np.random.default_rng(2)
    x, y = ((dice.normal(size=n) * 2.0**-10).astype(np.float16) for n in (203, 310))
    program = tiled(lowered(lambda x, y: (x[:, None] * y[None]) * jnp.float16(3), x, y), folder, "--tensor-size-threshold", 9000)
    covered(program)
    want = (x[:, None] * y[None]) * np.float16(3)
    assert 0 < np.abs(want[want != 0]).min() < 2.0**-20
    np.testing.assert_array_equal(running.results(program, [x, y])[0], want)


LEFT_ALONE = {
    "counting": lambda x, y: (lax.broadcasted_iota(x.dtype, (100, 400), 1) * (x[:, None] + y[None])).sum(1),
    "reductions that compute": lambda x, y: lax.reduce(
        (x[:, None] * y[None], x[:, None] + y[None]), (x.dtype.type(0),) * 2,
        lambda a, b: (jnp.where(a[0] + b[1] > b[0], a[0], b[0]), jnp.maximum(a[1], b[1])), (1,)),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_left_alone(case, folder):  # noqa: F811
    x, y = (np.arange(n).astype(ml_dtypes.bfloat16) for n in (100, 400))
    text = lowered(LEFT_ALONE[case], x, y)
    assert not count(tiled(text, folder, "--tensor-size-threshold", 30_000))
