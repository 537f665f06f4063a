"""The reference evaluator against XLA CPU (SciPy and ml_dtypes where they are closer to the truth), on random attributes and on edge values: what the corpus does not reach."""
import itertools
import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import scipy.special
from jax import lax

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release")) / "tools/weir_eval"
CPU = jax.devices("cpu")[0]
x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
F8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e4m3fnuz,
      ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e3m4, ml_dtypes.float8_e4m3, ml_dtypes.float8_e8m0fnu]
ROUGH = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 2e-5, np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 2e-2,
         np.dtype(np.complex64): 2e-5, np.dtype(np.complex128): 1e-11}
# XLA flushes subnormals to zero, the evaluator keeps them.
FLUSHED = {np.dtype(np.float64): 2.3e-308, np.dtype(np.float32): 2.4e-38, np.dtype(ml_dtypes.bfloat16): 1.2e-38}


def raw(array):
    """What .npy can hold."""
    array = np.asarray(array)
    return array if array.dtype.kind in "biufc" and array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def evaluate(function, args, folder):
    """(by XLA, by weir) of the flat results of function(*args)."""
    with x64(True), jax.default_device(CPU):
        jitted = jax.jit(lambda *a: jax.tree.leaves(function(*a)))
        (folder / "program.mlir").write_text(jitted.lower(*args).as_text())
        want = [np.asarray(x) for x in jitted(*args)]
    for i, array in enumerate(args):
        np.save(folder / f"{i}.npy", raw(array))
    out = folder / "out"
    out.mkdir()
    done = subprocess.run([TOOL, folder / "program.mlir", *(folder / f"{i}.npy" for i in range(len(args))), out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    got = [np.load(out / f"{i}.npy") for i in range(len(want))]
    return want, [g if g.dtype == w.dtype else g.view(w.dtype) for g, w in zip(got, want)]


def same(function, args, folder, scale=1.0):
    """Integers and booleans exactly; floats within the element type's rounding, times `scale`, of the largest finite result."""
    for i, (want, got) in enumerate(zip(*evaluate(function, args, folder))):
        assert got.shape == want.shape
        if want.dtype.kind in "biu" and want.dtype.isbuiltin == 1:
            np.testing.assert_array_equal(got, want, err_msg=f"result {i}")
            continue
        want_dtype = want.dtype
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        rtol = ROUGH.get(want.dtype, 0) * scale
        want, got = want.astype(wide), got.astype(wide)
        size = np.abs(want[np.isfinite(want)]).max(initial=0)
        atol = max(rtol * size if size < 1e4 else 0, FLUSHED.get(want_dtype, 0))
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"result {i}")


# ---- element types ----
def float_edges(dtype):
    info = jnp.finfo(dtype)
    edges = [0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 127.5, 255.5, 1e3, -1e3, np.inf, -np.inf, np.nan]
    return np.array([*edges, info.max, info.min, info.tiny], np.float64).astype(dtype)


def int_edges(dtype):
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 63, 64, 100, -1, -2, -5, -8, -100, info.min, info.max, info.max - 1, info.max // 2 + 1]
    return np.array(sorted({e for e in edges if info.min <= e <= info.max}), dtype)


@pytest.mark.parametrize("source", [*FLOATS, *INTS, np.bool_, np.complex64, np.complex128], ids=lambda d: np.dtype(d).name)
def test_convert(source, tmp_path):
    if source in INTS:
        x = np.concatenate([int_edges(source), np.random.RandomState(0).randint(0, 2**31, 100).astype(source)])
    elif source == np.bool_:
        x = np.array([False, True])
    else:
        x = float_edges(np.float64 if source == np.complex128 else np.float32 if source == np.complex64 else source).astype(source)
        with np.errstate(over="ignore"):
            x = np.concatenate([x, (np.random.RandomState(1).randn(200) * 10.0 ** np.random.RandomState(2).randint(-3, 9, 200)).astype(source)])
    targets = [t for t in [*FLOATS, *INTS, np.bool_, np.complex64, np.complex128] if source not in (np.complex64, np.complex128) or np.dtype(t).kind == "c"]
    same(lambda v: [v.astype(t) for t in targets], [x], tmp_path, scale=0)


@pytest.mark.parametrize("small", F8, ids=lambda d: np.dtype(d).name)
def test_small_floats(small, tmp_path):
    """Every pattern of the type widened; every bf16 and many f32 narrowed, the halves between two numbers among them."""
    patterns = np.arange(256, dtype=np.uint8).view(small)
    bf16 = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
    numbers = np.sort(patterns.astype(np.float32)[np.isfinite(patterns.astype(np.float32))])
    with np.errstate(over="ignore"):
        halves = (numbers[:-1].astype(np.float64) + numbers[1:]) / 2
        f32 = np.concatenate([f(halves.astype(np.float32)) for f in (lambda h: h, lambda h: np.nextafter(h, np.inf), lambda h: np.nextafter(h, -np.inf))])
    if small == ml_dtypes.float8_e8m0fnu:  # ml_dtypes rounds f32's subnormals up
        with np.errstate(invalid="ignore"):
            bf16, f32 = (v[~((np.abs(v.astype(np.float64)) < 2.0**-126) & (v != 0))] for v in (bf16, f32))
    _, got = evaluate(lambda a, b, c: [a.astype(jnp.float32), b.astype(small), c.astype(small)], [patterns, bf16, f32], tmp_path)
    with np.errstate(all="ignore"):  # the truth is ml_dtypes: XLA rounds twice in versions before 0.8
        want = [patterns.astype(np.float32), bf16.astype(np.float32).astype(small), f32.astype(small)]
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g.astype(np.float32), w.astype(np.float32))


@pytest.mark.parametrize("source", [ml_dtypes.bfloat16, np.float16], ids=lambda d: np.dtype(d).name)
def test_half_floats_widen(source, tmp_path):
    same(lambda v: v.astype(jnp.float32) * 2, [np.arange(65536, dtype=np.uint16).view(source)], tmp_path, scale=0)


@pytest.mark.parametrize("target", [ml_dtypes.bfloat16, np.float16], ids=lambda d: np.dtype(d).name)
def test_half_floats_narrow(target, tmp_path):
    rng = np.random.RandomState(3)
    x = np.concatenate([rng.randn(2000) * 10.0 ** rng.randint(-4, 5, 2000), 1 + np.arange(4096) / 65536]).astype(np.float32)
    same(lambda v: v.astype(target), [x], tmp_path, scale=0)


# ---- elementwise ----
@pytest.mark.parametrize("dtype", INTS, ids=lambda d: np.dtype(d).name)
def test_int_ops(dtype, tmp_path):
    edges = int_edges(dtype)
    x, y = (np.array(v, dtype) for v in zip(*itertools.product(edges, edges)))
    binary = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor,
              lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical, lax.eq, lax.lt, lax.ge]
    unary = [lax.bitwise_not, lax.population_count, lax.clz, lax.sign, lax.abs if np.dtype(dtype).kind == "i" else lax.sign]
    same(lambda a, b: [f(a, b) for f in binary] + [f(a) for f in unary] + [lax.clamp(dtype(3), a, b)], [x, y], tmp_path)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_float_ops(dtype, tmp_path):
    edges = float_edges(dtype)
    x, y = (np.array(v, dtype) for v in zip(*itertools.product(edges, edges)))
    binary = [lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min, lax.eq, lax.ne, lax.lt, lax.ge, lax.atan2]
    unary = [lax.neg, lax.sign, lax.floor, lax.ceil, lax.abs, lax.is_finite, lax.sqrt, lax.cbrt, lax.exp, lax.expm1, lax.log, lax.log1p, lax.tanh,
             lax.logistic, lambda v: lax.round(v, lax.RoundingMethod.AWAY_FROM_ZERO), lambda v: lax.round(v, lax.RoundingMethod.TO_NEAREST_EVEN)]
    same(lambda a, b: [f(a, b) for f in binary] + [f(a) for f in unary] + [lax.clamp(a, b, -a)], [x, y], tmp_path)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_power_and_remainder(dtype, tmp_path):
    x, y = (np.array(v, dtype) for v in zip(*itertools.product([0, -0.0, 1, -1, 0.5, 2, -2, 3.5, 10, np.inf, -np.inf, np.nan], repeat=2)))
    same(lambda a, b: [lax.pow(a, b), lax.rem(a, b), lax.nextafter(a, b), lax.integer_pow(a, 3), lax.rsqrt(a)], [x, y], tmp_path)


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (3, 1), (4, 3), (8, 23), (11, 5)])
def test_reduce_precision(bits, tmp_path):
    rng = np.random.RandomState(4)
    x = (rng.randn(500) * 10.0 ** rng.randint(-8, 8, 500)).astype(np.float32)
    x = np.concatenate([x, float_edges(np.float32)[:18], 1 + np.arange(64, dtype=np.float32) / 64])
    same(lambda v: lax.reduce_precision(v, *bits), [x], tmp_path, scale=0)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: np.dtype(d).name)
def test_complex_ops(dtype, tmp_path):
    rng = np.random.RandomState(5)
    x, y = ((rng.randn(200) + 1j * rng.randn(200)).astype(dtype) for _ in range(2))
    unary = [lax.exp, lax.log, lax.sqrt, lax.rsqrt, lax.sin, lax.cos, lax.tan, lax.tanh, lax.expm1, lax.log1p, lax.sign, lax.abs, lax.neg, lax.conj,
             lax.real, lax.imag, lax.asin, lax.acos, lax.atan, lax.asinh, lax.acosh, lax.atanh, lax.sinh, lax.cosh, lax.square]
    same(lambda a, b: [f(a) for f in unary] + [lax.add(a, b), lax.sub(a, b), lax.mul(a, b), lax.div(a, b), lax.pow(a, b), lax.eq(a, b)],
         [x, y], tmp_path, scale=20)


# ---- special functions: SciPy is closer to the truth than XLA ----
SPECIAL = {
    "lgamma": (lax.lgamma, scipy.special.gammaln, np.concatenate([np.linspace(-8.3, 30, 400), [1e-10, 1e10]])),
    "digamma": (lax.digamma, scipy.special.psi, np.concatenate([np.linspace(-8.3, 30, 400), [0, -1, 1e10]])),
    "erf": (lax.erf, scipy.special.erf, np.linspace(-6, 6, 400)),
    "erfc": (lax.erfc, scipy.special.erfc, np.linspace(-6, 25, 400)),
    "erf_inv": (lax.erf_inv, scipy.special.erfinv, np.concatenate([np.linspace(-1, 1, 401), 1 - np.logspace(-15, -1, 50), np.logspace(-12, -1, 50), [2]])),
    "bessel_i1e": (lax.bessel_i1e, scipy.special.i1e, np.concatenate([np.linspace(-100, 100, 401), [1e-9, 39.9, 40.1, 1e5]])),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_unary(name, tmp_path):
    function, truth, x = SPECIAL[name]
    _, (got,) = evaluate(function, [x], tmp_path)
    want = np.where((x <= 0) & (x == np.floor(x)), np.nan, truth(x)) if name == "digamma" else truth(x)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["zeta", "polygamma"])
def test_special_binary(name, tmp_path):
    n, x = (np.array(v, np.float64) for v in zip(*itertools.product([1, 2, 3, 5, 10], [0.1, 0.5, 1, 1.5, 3, 9.9, 40, 1e4])))
    if name == "zeta":
        _, (got,) = evaluate(lax.zeta, [n + 1.25, x], tmp_path)
        want = scipy.special.zeta(n + 1.25, x)
    else:
        _, (got,) = evaluate(lax.polygamma, [n - 1, x], tmp_path)
        want = scipy.special.polygamma(n - 1, x)
    np.testing.assert_allclose(got, want, rtol=1e-12)


# ---- structure: attributes at random ----
@pytest.mark.parametrize("seed", range(4))
def test_convolution(seed, tmp_path):
    rng = np.random.RandomState(seed)
    args, functions = [], []
    for _ in range(6):
        n = rng.randint(1, 4)
        feature_groups, batch_groups = rng.choice([1, 1, 2, 3]), 1
        if feature_groups == 1:
            batch_groups = rng.choice([1, 1, 2])
        per_group, out = rng.randint(1, 4), rng.randint(1, 3) * feature_groups * batch_groups
        spatial, kernel = rng.randint(4, 8, n), rng.randint(1, 4, n)
        orders = [tuple(rng.permutation(n + 2)) for _ in range(3)]
        sizes = [[batch_groups * rng.randint(1, 3), per_group * feature_groups, *spatial], [out, per_group, *kernel]]
        for order, size in zip(orders, sizes):
            shape = np.zeros(n + 2, int)
            shape[list(order)] = size
            args.append(rng.randn(*shape).astype(np.float32))
        settings = dict(window_strides=tuple(rng.randint(1, 3, n)), padding=[tuple(rng.randint(-1, 3, 2)) for _ in range(n)],
                        lhs_dilation=tuple(rng.randint(1, 3, n)), rhs_dilation=tuple(rng.randint(1, 3, n)),
                        feature_group_count=int(feature_groups), batch_group_count=int(batch_groups),
                        dimension_numbers=lax.ConvDimensionNumbers(*orders))
        settings = jax.tree.map(lambda v: int(v) if isinstance(v, np.integer) else v, settings)
        functions.append(lambda a, b, settings=settings: lax.conv_general_dilated(a, b, **settings))
    same(lambda *a: [f(a[2 * i], a[2 * i + 1]) for i, f in enumerate(functions)], args, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_windows(seed, tmp_path):
    rng = np.random.RandomState(seed)
    shape = tuple(rng.randint(3, 7, 3))
    window, strides, base, dilation = (tuple(int(v) for v in rng.randint(1, high, 3)) for high in (4, 3, 3, 3))
    padding = tuple(tuple(int(v) for v in rng.randint(0, 3, 2)) for _ in range(3))
    x = rng.randn(*shape)
    def windows(v):
        for init, f in ((0.0, lax.add), (-np.inf, lax.max), (np.inf, lax.min), (-np.inf, jnp.logaddexp)):
            yield lax.reduce_window(v, init, f, window, strides, padding, base, dilation)
        yield jax.grad(lambda u: jnp.sum(jnp.sin(lax.reduce_window(u, -np.inf, lax.max, window, strides, padding))))(v)
    same(lambda v: list(windows(v)), [x], tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_dot_general(seed, tmp_path):
    rng = np.random.RandomState(seed)
    dtypes = [np.float32, np.float64, ml_dtypes.bfloat16, np.int32, np.uint8, np.complex64]
    args, numbers = [], []
    for dtype in dtypes:
        n_batch, n_contract, n_left, n_right = rng.randint(0, 3, 4)
        common, left, right = rng.randint(1, 5, n_batch + n_contract), rng.randint(1, 4, n_left), rng.randint(1, 4, n_right)
        sides = []
        for own in (left, right):
            order = rng.permutation(len(common) + len(own))
            shape = np.zeros(len(order), int)
            shape[order] = [*common, *own]
            sides.append([int(v) for v in order[:len(common)]])
            args.append(np.asarray(rng.randn(*shape) * 4).astype(dtype) if dtype != np.uint8 else np.asarray(rng.randint(0, 255, shape)).astype(dtype))
        numbers.append((tuple(tuple(side[n_batch:]) for side in sides), tuple(tuple(side[:n_batch]) for side in sides)))
    same(lambda *a: [lax.dot_general(a[2 * i], a[2 * i + 1], n) for i, n in enumerate(numbers)], args, tmp_path)


@pytest.mark.parametrize("seed", range(8))
def test_gather_scatter(seed, tmp_path):
    """Windows along some operand dimensions at random places, also out of bounds."""
    rng = np.random.RandomState(seed)
    rank, n_batch = rng.randint(1, 4), rng.randint(0, 3)
    shape = rng.randint(2, 6, rank)
    indexed = rng.permutation(rank)[:rng.randint(1, rank + 1)]
    sizes = np.array([rng.randint(1, s + 1) for s in shape])
    collapsed = tuple(int(d) for d in sorted(indexed) if rng.rand() < 0.5)
    sizes[list(collapsed)] = 1
    batch = rng.randint(1, 4, n_batch)
    n_window = rank - len(collapsed)
    offset = tuple(int(d) for d in sorted(rng.permutation(n_batch + n_window)[:n_window]))
    indices = rng.randint(-2, 7, (*batch, len(indexed))).astype(rng.choice([np.int32, np.int64]))
    start_map = tuple(int(d) for d in indexed)
    gather = lax.GatherDimensionNumbers(offset_dims=offset, collapsed_slice_dims=collapsed, start_index_map=start_map)
    scatter = lax.ScatterDimensionNumbers(update_window_dims=offset, inserted_window_dims=collapsed, scatter_dims_to_operand_dims=start_map)
    x = rng.randn(*shape)
    update_shape, windows, batches = np.zeros(n_batch + n_window, int), [s for d, s in enumerate(sizes) if d not in collapsed], list(batch)
    for d in range(n_batch + n_window):
        update_shape[d] = windows.pop(0) if d in offset else batches.pop(0)
    updates = rng.randn(*update_shape)
    modes = [lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP, lax.GatherScatterMode.PROMISE_IN_BOUNDS]
    def both(v, i, u):
        for mode in modes:
            yield lax.gather(v, i, gather, tuple(int(s) for s in sizes), mode=mode)
            for f in (lax.scatter_add, lax.scatter_max, lax.scatter_mul):
                yield f(v, i, u, scatter, mode=mode)
    same(lambda v, i, u: list(both(v, i, u)), [x, indices, updates], tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_movement(seed, tmp_path):
    rng = np.random.RandomState(seed)
    shape = tuple(int(v) for v in rng.randint(1, 6, 3))
    x = rng.randn(*shape).astype(np.float32)
    start = tuple(int(rng.randint(0, s)) for s in shape)
    limit = tuple(int(rng.randint(a, s + 1)) for a, s in zip(start, shape))
    strides = tuple(int(v) for v in rng.randint(1, 3, 3))
    sizes = tuple(int(rng.randint(1, s + 1)) for s in shape)
    padding = [(int(rng.randint(-2, 3)), int(rng.randint(-1, 3)), int(rng.randint(0, 3))) for _ in range(3)]
    padding = [p if s + p[0] + p[1] + (s - 1) * p[2] >= 0 else (0, 0, 0) for p, s in zip(padding, shape)]
    at = rng.randint(-3, 7, 3).astype(np.int32)
    def moves(v, w, i):
        yield lax.slice(v, start, limit, strides)
        yield lax.pad(v, np.float32(7), padding)
        yield lax.dynamic_slice(v, tuple(i), sizes)
        yield lax.dynamic_update_slice(v, w, tuple(i))
        yield lax.rev(v, (0, 2))
        yield lax.transpose(v, tuple(int(d) for d in np.random.RandomState(seed).permutation(3)))
        yield lax.concatenate([v, v * 2, v], seed % 3)
        yield lax.reshape(v, (v.size,))
        yield lax.broadcast_in_dim(v, (2, *shape[:1], 3, *shape[1:]), (1, 3, 4))
        yield lax.bitcast_convert_type(v, np.uint8)
        yield lax.bitcast_convert_type(lax.bitcast_convert_type(v, np.uint16), np.float32)
        yield lax.broadcasted_iota(np.int16, shape, seed % 3)
    update = rng.randn(*sizes).astype(np.float32)
    same(lambda v, w, i: list(moves(v, w, i)), [x, update, at], tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_sort(seed, tmp_path):
    rng = np.random.RandomState(seed)
    x = rng.randn(4, 9, 3).astype(rng.choice([np.float32, np.float64]))
    x[rng.rand(*x.shape) < 0.2] = np.nan
    x[rng.rand(*x.shape) < 0.1] = -0.0
    x[rng.rand(*x.shape) < 0.1] = 0.0
    k, payload = rng.randint(0, 4, x.shape), np.arange(x.size).reshape(x.shape)
    same(lambda a, b, c: [lax.sort(a, dimension=seed % 3), *lax.sort((b, a, c), dimension=1, num_keys=2), *lax.sort((b, c), dimension=0, num_keys=1),
                          *lax.top_k(a, 2), jnp.argmax(a, 1), jnp.argmin(b, 0)], [x, k, payload], tmp_path)


@pytest.mark.parametrize("dims", [(7,), (8,), (4, 6), (3, 5, 2)])
def test_fft(dims, tmp_path):
    rng = np.random.RandomState(len(dims))
    z = rng.randn(2, *dims) + 1j * rng.randn(2, *dims)
    axes = tuple(range(1, len(dims) + 1))
    same(lambda c, r: [jnp.fft.fftn(c, axes=axes), jnp.fft.ifftn(c, axes=axes), jnp.fft.rfftn(r, axes=axes), jnp.fft.irfftn(c, axes=axes),
                       jnp.fft.irfftn(c, s=dims, axes=axes)], [z, rng.randn(2, *dims)], tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128], ids=lambda d: np.dtype(d).name)
def test_linear_algebra(dtype, tmp_path):
    rng = np.random.RandomState(8)
    def matrix(*shape):
        return (rng.randn(*shape) + (1j * rng.randn(*shape) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    a, tall, b = matrix(2, 5, 5), matrix(2, 6, 4), matrix(2, 5, 3)
    positive = a @ np.conj(np.swapaxes(a, 1, 2)) + np.eye(5, dtype=dtype)
    def answers(a, tall, b, p):
        yield jnp.linalg.cholesky(p)
        yield jax.lax.linalg.lu(a)
        yield jax.lax.linalg.lu(tall)[1:]
        yield jnp.linalg.qr(tall)
        yield jnp.linalg.qr(tall, mode="complete")
        yield jnp.linalg.solve(a, b)
        for left, lower, transpose, conjugate, unit in itertools.product([False, True], [False, True], [False, True], [False, True], [False, True]):
            rhs = b if left else jnp.swapaxes(b, 1, 2)
            yield jax.lax.linalg.triangular_solve(a, rhs, left_side=left, lower=lower, transpose_a=transpose, conjugate_a=conjugate, unit_diagonal=unit)
        yield jnp.linalg.svd(tall, compute_uv=False)
        yield jnp.linalg.eigvalsh(p)
        u, s, vt = jnp.linalg.svd(tall, full_matrices=False)
        yield (u * s[:, None, :].astype(u.dtype)) @ vt
        u, s, vt = jnp.linalg.svd(jnp.swapaxes(tall, 1, 2), full_matrices=True)
        yield jnp.conj(jnp.swapaxes(u, 1, 2)) @ u, jnp.conj(jnp.swapaxes(vt, 1, 2)) @ vt
        w, v = jnp.linalg.eigh(p)
        yield (v * w[:, None, :].astype(v.dtype)) @ jnp.conj(jnp.swapaxes(v, 1, 2))
    same(lambda *m: list(answers(*m)), [a, tall, b, positive], tmp_path, scale=100)


@pytest.mark.parametrize("algorithm", ["threefry", "philox"])
def test_random_bits(algorithm, tmp_path):
    """Bit for bit, over shapes and widths."""
    shapes = [(), (5,), (3, 5), (3, 4), (2, 3, 7)]
    which = lax.RandomAlgorithm.RNG_THREE_FRY if algorithm == "threefry" else lax.RandomAlgorithm.RNG_PHILOX
    key = np.array([0x123456789ABCDEF0, 2**64 - 3], np.uint64)
    same(lambda k: [lax.rng_bit_generator(k, shape, dtype, which) for shape in shapes for dtype in (np.uint8, np.uint16, np.uint32, np.uint64)], [key], tmp_path)


def test_control_flow(tmp_path):
    def f(x, i):
        total, trips = lax.while_loop(lambda c: c[0].sum() < 100, lambda c: (c[0] * 1.5, c[1] + 1), (x, 0))
        branches = [lax.switch(i + d, [lambda v: v, lambda v: v * 2, lambda v: -v], x) for d in (-2, 0, 1, 9)]
        carry, ys = lax.scan(lambda c, row: (c + row, c * row), x[0], x)
        return total, trips, branches, carry, ys, lax.cond(i > 0, lambda v: v + 1, lambda v: v - 1, x)
    same(f, [np.abs(np.random.RandomState(0).randn(4, 3)) + 0.1, np.int32(1)], tmp_path)
