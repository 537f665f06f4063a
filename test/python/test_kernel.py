"""Tiles: regions as kernels give what stock XLA gives, for any extents and any covered ops."""

import concurrent.futures
import math
import os
import platform
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
from running import lowered
from kernel_running import as_tiles, check_memory, check_regions, check_results, count, difference, folder, halves, tiled  # noqa: F401
from random_gathers import Gathers
from random_regions import Chains, Region
from random_tables import WideTables
from random_whiles import Whiles
from weir import _library

REGIONS, BATCH = {Region: 120, Gathers: 100, Whiles: 80, Chains: 60, WideTables: 100}, 20


def problem_of(region, folder):
    """(what is wrong, tiles in the program)."""
    inputs, text, program = as_tiles(region, folder)
    if not count(program):
        return None, 0
    want, got = running.results(text, inputs), running.results(program, inputs)
    problems = [difference(w, g) for w, g in zip(want, got, strict=True)]
    return next((p for p in problems if p), None), count(program)


@pytest.mark.parametrize("kind, first", [(k, i) for k, n in REGIONS.items() for i in range(0, n, BATCH)])
def test_random_regions(kind, first, folder):
    def problem(region):
        return problem_of(region, folder)

    check_regions(problem, kind, range(first, first + BATCH))


# ---- every op, with the values that are easily got wrong ----
REALS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 3.5, -2.5, 1e-30, 1e30, 88.7, -87.3, 700.0, -708.0, 1000.0]
REALS += [-1000.0, np.inf, -np.inf, np.nan, 0.3, -7.25, 1e-8, 12345.678]
WHOLE = [0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 64, 100, -128, 127, 2**31 - 1, -(2**31)]
UNARY = {
    "abs cbrt ceil cos exp expm1 floor is_finite log log1p logistic neg round rsqrt sign sin sqrt tan tanh"
    " acos acosh asin asinh atan atanh cosh sinh square erf erfc": REALS,
    "abs neg sign bitwise_not population_count clz": WHOLE,
}
BINARY = {
    "add sub mul div max min pow rem atan2 eq ne lt le gt ge": REALS,
    "add sub mul div max min rem bitwise_and bitwise_or bitwise_xor shift_left"
    " shift_right_arithmetic shift_right_logical eq ne lt le gt ge": WHOLE,
}
# Functions of the C library where XLA has its own: a few units in the last place apart.
ULPS = 16
XLA_IS_OFF = {"sinh": 400, "cosh": 400}  # by that many, for large arguments in f64
TOGETHER = 8  # ops in a program


def picked(ops):
    """Each op of x, y on an n x m tensor, of which each row's column `pick` is the result."""

    def function(x, y, pick, zeros):
        columns = jax.lax.broadcasted_iota(np.int32, (x.shape[0], zeros.shape[0]), 1)
        there = columns >= zeros.astype(np.int32)  # all are, which nothing but the data says
        arguments = [jax.numpy.where(there, v[:, None], zeros) for v in (x, y)]
        results = []
        for op in ops:
            value = op(*arguments)
            value = value.astype(np.int32) if value.dtype == bool else value
            value = jax.numpy.where(columns == pick[:, None], value, 0)
            results.append(jax.numpy.sum(value, axis=1, dtype=value.dtype))
        return results

    return function


def close(want, got, ulps):
    if want.dtype.kind != "f":
        return want == got
    small = np.finfo(want.dtype).tiny
    want, got = (np.where(np.abs(a) < small, 0, a) for a in (want, got))
    with np.errstate(all="ignore"):
        apart = np.abs(want - got) <= ulps * np.finfo(want.dtype).eps * np.abs(want)
    return apart | (want == got) | (np.isnan(want) & np.isnan(got))


def run_picked(ops, x, y, folder):
    """(stock results, results by kernels, kernels in the program)."""
    pick = np.random.default_rng(1).integers(0, 300, len(x)).astype(np.int32)
    inputs = [x, y, pick, np.zeros(300, x.dtype)]
    text = lowered(picked(ops), *inputs)
    threshold = len(x) * 300 * max(4, x.itemsize) // 4
    program = tiled(text, folder, "--tensor-size-threshold", threshold)
    return running.results(text, inputs), running.results(program, inputs), count(program)


def op_named(name, arity):
    op = getattr(jax.lax, name)
    return op if arity == 2 else lambda a, _: op(a)


def problems_of(names, values, arity, folder):
    x, y = (a.ravel() for a in np.meshgrid(values, values)) if arity == 2 else (values, values)
    stock, got, tiles = run_picked([op_named(n, arity) for n in names], x, y, folder)
    assert tiles, f"{names} are no kernel"
    for name, want, value in zip(names, stock, got, strict=True):
        good = close(want, value, XLA_IS_OFF.get(name, ULPS))
        if not good.all():
            i = int(np.argmin(good))
            yield f"{name}({x[i]}, {y[i]}) is {value[i]}, expected {want[i]}; {np.sum(~good)} differ"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint32, np.int8])
def test_ops(dtype, folder):
    kind, problems = np.dtype(dtype).kind, []
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for names, values in table.items():
            if (values is REALS) != (kind == "f"):
                continue
            names = [n for n in names.split() if kind != "u" or n not in ("neg", "abs", "sign")]
            for i in range(0, len(names), TOGETHER):
                with np.errstate(all="ignore"):
                    typed = np.array(values).astype(dtype)
                problems += problems_of(names[i : i + TOGETHER], typed, arity, folder)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_and_reciprocals_of_all_sizes(dtype, folder):
    """Within 2 ulp over the whole range of exponents, where estimates are refined."""
    info, dice = np.finfo(dtype), np.random.default_rng(3)
    exponents = np.arange(info.minexp, info.maxexp, max(1, info.maxexp // 100))
    x = np.ldexp(dice.uniform(1, 2, len(exponents)), exponents).astype(dtype)
    x = np.concatenate([x, -x[::20], [info.tiny, info.max, 0.0, -0.0, np.inf, -np.inf, np.nan]])
    ops = {"sqrt": jax.lax.sqrt, "rsqrt": jax.lax.rsqrt, "1/x": lambda a: 1 / a}
    wrapped = [lambda a, _, op=op: op(a) for op in ops.values()]
    stock, got, tiles = run_picked(wrapped, x.astype(dtype), x.astype(dtype), folder)
    assert tiles
    for name, want, value in zip(ops, stock, got, strict=True):
        good = close(want, value, 2)
        assert good.all(), f"{name}({x[~good]}) is {value[~good]}, expected {want[~good]}"


def of_all_sizes(dtype, dice, count):
    """Numbers of any exponent and sign, few and many of one size, and what is no number."""
    info = np.finfo(dtype)
    near = np.ldexp(dice.uniform(1, 2, count), dice.integers(-2, info.nmant + 2, count))
    far = np.ldexp(dice.uniform(1, 2, count // 4), dice.integers(info.minexp // 2, info.maxexp // 2, count // 4))
    whole = dice.integers(1, 50, count).astype(dtype)
    odd = [0.0, np.inf, np.nan, info.max, info.tiny, 1 - info.epsneg, 1 + info.eps]
    x = np.concatenate([near, far, whole, odd]).astype(dtype)
    return dice.permutation(np.concatenate([x, -x]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_are_exact(dtype, folder):
    """fmod's, whatever the quotient, and where it is rounded up to a whole number."""
    dice = np.random.default_rng(4)
    x, y = of_all_sizes(dtype, dice, 4000), of_all_sizes(dtype, dice, 4000)
    with np.errstate(over="ignore"):
        multiples = y * dice.integers(1, 1000, len(y)).astype(dtype)
    for a, b in ((x, y), (multiples, y), (x, np.ones_like(x))):
        _, (got,), tiles = run_picked([lambda a, b: jax.lax.rem(a, b)], a, b, folder)
        with np.errstate(all="ignore"):
            want = np.fmod(a, b)
        assert tiles
        good = close(want, got, 0)
        assert good.all(), f"rem({a[~good][:3]}, {b[~good][:3]}) is {got[~good][:3]}, expected {want[~good][:3]}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_is_accurate(dtype, folder):
    """Within 1.5 units in the last place of the true value over all exponents of the result."""
    info = np.finfo(dtype)
    low, high = np.log(info.tiny), np.log(info.max)
    x = np.random.default_rng(2).uniform(low, high, 20000).astype(dtype)
    _, (got,), tiles = run_picked([lambda a, _: jax.numpy.exp(a)], x, x, folder)
    assert tiles
    true = np.exp(x.astype(np.longdouble))
    error = np.abs(got.astype(np.longdouble) - true) / np.spacing(true.astype(dtype))
    assert error.max() < 1.5


ERROR_ULPS = {"erf": 6, "erfc": 5}
TANH_ULPS = {np.float32: 5.5, np.float64: 7}  # XLA's, whose bits it has: test_kernel_functions.py


def points_of(name, dtype):
    """Of all sizes and signs, and dense where the function bends."""
    dice, info = np.random.default_rng(5), np.finfo(dtype)
    small = np.exp(dice.uniform(np.log(info.tiny), 0, 4000))
    x = np.concatenate([small, dice.uniform(0, 9.1 if name == "erfc" else 22, 12000), dice.uniform(0, 1, 4000)])
    return np.concatenate([x, -x]).astype(dtype)


def true_values(name, x):
    if name == "tanh":
        return np.tanh(x.astype(np.longdouble))
    return np.array([getattr(math, name)(v) for v in x.astype(float)], np.longdouble)


def ulps_of(name, x, folder):
    _, (got,), tiles = run_picked([op_named(name, 1)], x, x, folder)
    assert tiles
    true = true_values(name, x)
    there = np.abs(true) >= np.finfo(x.dtype).tiny
    error = np.abs(got.astype(np.longdouble) - true) / np.spacing(np.abs(true).astype(x.dtype))
    return float(np.max(error[there]))


@pytest.mark.parametrize("level", [None, "x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("name, dtype", [("tanh", np.float32), ("tanh", np.float64), ("erf", np.float32), ("erfc", np.float32)])
def test_saturating_functions_are_accurate(name, dtype, level, folder, monkeypatch):
    """Without fused multiply-adds an erfc is as far off as XLA's, which is by 64."""
    if level and (running.EMULATED or platform.machine() != "x86_64"):
        pytest.skip("another processor's")
    if level:
        monkeypatch.setenv("WEIR_MACHINE", level)
    has_fma = not os.environ.get("WEIR_MACHINE", "").startswith("x86-64-v2")
    most = TANH_ULPS[dtype] if name == "tanh" else ERROR_ULPS[name] if has_fma or name != "erfc" else 90
    assert ulps_of(name, points_of(name, dtype), folder) < most


@pytest.mark.parametrize("name, ends", [("tanh", (-1, 1)), ("erf", (-1, 1)), ("erfc", (2, 0))])
def test_saturating_functions_at_their_ends(name, ends, folder):
    """Exact far away and of zeros of both signs, whose reciprocals tell them apart; of NaN NaN."""
    x = np.array([-np.inf, -3e38, -60, 60, 3e38, np.inf, 0.0, -0.0, np.nan], np.float32)
    zeros = [1, 1] if name == "erfc" else [0.0, -0.0]
    with np.errstate(divide="ignore"):
        want = 1 / np.array([ends[0]] * 3 + [ends[1]] * 3 + zeros, np.float32)
    _, (got,), tiles = run_picked([lambda a, b: 1 / op_named(name, 1)(a, b)], x, x, folder)
    assert tiles and np.isnan(got[-1]) and np.array_equal(got[:-1], want)


@running.in_this_process
def test_under_the_hook(folder, monkeypatch):
    """An unchanged program under a limit, from several threads at once, with other numbers of
    threads inside: always the same bits, and nobody waits for anybody for ever."""
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", "3MB")
    monkeypatch.setenv("WEIR_TILE", "on")

    @jax.jit
    def function(x, v):
        kernel = jax.numpy.exp(-0.5 * jax.numpy.sum((x[:, None] - x[None]) ** 2, -1))
        return kernel @ v, v @ (kernel @ v), jax.numpy.max(kernel * v[:, None], axis=0)

    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(1500, 3)).astype(np.float32), rng.normal(size=1500).astype(np.float32)
    compiled = function.lower(x, v).compile()
    assert "weir_tile" in compiled.as_text()
    memory = compiled.memory_analysis()
    assert memory.temp_size_in_bytes + memory.output_size_in_bytes < 3e6
    want = [np.asarray(a) for a in compiled(x, v)]
    kernel = np.exp(-0.5 * ((x[:, None].astype(float) - x[None]) ** 2).sum(-1))
    true = [kernel @ v, v @ (kernel @ v), (kernel * v[:, None]).max(0)]
    assert all(np.allclose(w, t, rtol=1e-3, atol=1e-3) for w, t in zip(want, true, strict=True))

    def run(_):
        return [np.asarray(a) for a in compiled(x, v)]

    for threads in ("1", "2", "1000"):
        monkeypatch.setenv("WEIR_NUM_THREADS", threads)
        _library.read_environment()
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            for got in pool.map(run, range(24), timeout=100):
                assert all(np.array_equal(w, g) for w, g in zip(want, got, strict=True))


@running.in_this_process
def test_a_body_from_elsewhere_is_an_error(folder):
    """Another format, a body that does not read, too little scratch: an error that says so."""
    text = lowered(lambda x: jax.numpy.exp(x[:, None] * x[None]).sum(1), np.ones(64, np.float32))
    program = tiled(text, folder, "--tensor-size-threshold", "4kB")
    cases = {
        program.replace("weir-tile 9:", "weir-tile 8:"): "a kernel of format 8",
        program.replace("weir-tile 9:", "something"): "a kernel of format 0",
        re.sub("weir-tile 9: [^ ]*", "weir-tile 9: aarch64", program): "a kernel made for aarch64",
        re.sub("weir-tile 9: [^ ]*", "weir-tile 9: zen", program): '"zen" is no machine',
        program.replace("22stablehlo.exponential", "22stablehlo.exponentiol"): "don't cover",
        program.replace("weir.yield", "weir.yi\\01"): "weir:",
    }
    for changed, message in cases.items():
        assert changed != program
        with pytest.raises(Exception, match=message):
            running.Xla(changed)(np.ones(64, np.float32))


def between(f):
    """Of two vectors' outer product."""
    return lambda u, v: f(u[:, None] * v[None])


REGIONS_PEOPLE_WRITE = {
    "norm": lambda u, v: jnp.linalg.norm(jnp.stack([u, -u], 1)[:, None] - v[None, :, None], axis=-1).sum(1),
    "norm 1": between(lambda a: jnp.linalg.norm(a, ord=1, axis=1)),
    "norm inf": between(lambda a: jnp.linalg.norm(a, ord=jnp.inf, axis=0)),
    "logaddexp": lambda u, v: jnp.logaddexp(u[:, None], v[None]).sum(1),
    "prod": between(lambda a: jnp.prod(1 + 1e-3 * a, axis=1)),
    "any": between(lambda a: jnp.any(a > 2, axis=1)),
    "all": between(lambda a: jnp.all(a < 4, axis=0)),
    "histogram": lambda u, v: jnp.sum(u[:, None] < v[None], axis=0),
    "integers": lambda u, v: jnp.max((u[:, None] * 9).astype(int) % (1 + (v[None] ** 2).astype(int)), 1),
    "variance": between(lambda a: jnp.var(a, axis=1)),
    "nansum": between(lambda a: jnp.nansum(jnp.log(a), axis=1)),
    "rows by index": lambda u, v: jnp.exp(u[(v[:150] ** 2).astype(int)][:, None] * v[None]).sum(1),
    "part of an input": lambda u, v: jnp.exp(u[3:-2, None] * v[None, ::-1]).sum(1),
    "tril": lambda u, v: jnp.tril(u[:, None] * v[None]).sum(1),
    "part of a value": between(lambda a: jnp.exp(a)[:, 5:250].sum(1)),
}
REGIONS_LEFT_ALONE = {
    "concatenate": lambda u, v: jnp.concatenate([u[:, None] * v, u[:, None] + v], 1).max(1),
    "pad": between(lambda a: jnp.pad(jnp.tanh(a), ((0, 0), (1, 2))).max(1)),
    "reverse": between(lambda a: (jnp.flip(jnp.tanh(a), 1) * a).sum(1)),
    "merged dimensions": between(lambda a: jnp.exp(a).reshape(200, 30, 10).sum(2).max(1)),
}


@pytest.mark.parametrize("case", REGIONS_PEOPLE_WRITE | REGIONS_LEFT_ALONE)
def test_what_people_write(case, folder):
    dice = np.random.default_rng(8)
    u, v = (dice.normal(size=n).astype(np.float32) for n in (200, 300))
    text = lowered((REGIONS_PEOPLE_WRITE | REGIONS_LEFT_ALONE)[case], u, v)
    program = tiled(text, folder, "--tensor-size-threshold", 50_000)
    assert bool(count(program)) == (case in REGIONS_PEOPLE_WRITE)
    for want, got in zip(running.results(text, [u, v]), running.results(program, [u, v]), strict=True):
        assert not difference(want, got)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def heads_in_a_loop(x, wqkv, wout):
    """Attention whose heads are cut out of the features: a loop over examples that is no kernel, and
    in it one over queries that is."""
    b, n, d = x.shape
    q, k, v = jnp.moveaxis((x @ wqkv).reshape(b, n, 3, 4, d // 4), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(b, n, d)
    return jnp.tanh(x + y @ wout)


def test_a_kernel_inside_a_loop(folder):
    inputs = [normal(6, 200, 64), normal(64, 192) / 8, normal(64, 64) / 8]
    text = lowered(heads_in_a_loop, *inputs)
    program = tiled(text, folder, "--memory-limit", "1.6MB")
    before, inside = program.split('"stablehlo.while"', 1)
    assert not count(before) and count(inside) == 1 and inside.count('"stablehlo.while"') == 0
    (want,), (got,) = running.results(text, inputs), running.results(program, inputs)
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_what_a_mask_takes_out_has_no_nan(dtype, side, folder, halves):
    """As in XLA, which selects; a factor that is a number is multiplied with."""
    if dtype == "float16" and not halves:
        pytest.skip("kernels without f16 on this processor")
    x = np.random.default_rng(1).permutation(np.linspace(-4, 4, 301)).astype(dtype)

    def function(x):
        d = x[:, None] - x[None]
        i = jax.numpy.arange(len(x))
        mask = i[:, None] != i[None]
        return ((mask * (1 / d)) if side == "left" else ((1 / d) * mask)).max(1)

    def by_number(x):
        d = x[:, None] - x[None]
        return ((1 / d) * jax.numpy.where(d != 0, 1, 0).astype(dtype)).max(1)

    with jax.enable_x64(dtype == "float64"):
        texts = [tiled(lowered(f, x), folder, "--tensor-size-threshold", "4kB") for f in (function, by_number)]
    assert all(map(count, texts))
    (got,), (nan,) = (running.results(text, [x]) for text in texts)
    d = x[:, None] - x[None] + np.diag(np.full(len(x), np.inf, x.dtype))
    np.testing.assert_allclose(got, (1 / d).max(1), rtol=2e-3 if dtype == "float16" else 1e-6)
    assert np.isnan(nan).all()


NEVER_NEGATIVE = {
    "squares": lambda d: d * d,
    "distance": lambda d: jax.numpy.sqrt((d * d)[..., None].sum(-1)),
    "abs": abs,
    "exp": jax.numpy.exp,
    "above zero": lambda d: jax.numpy.maximum(d, 0.0) + abs(d),
    "chosen": lambda d: jax.numpy.where(d > 1, d * d, 0.5),
}


@pytest.mark.parametrize("name", [*NEVER_NEGATIVE, "of all signs", "signed zeros"])
@pytest.mark.parametrize("extreme", ["min", "max"])
@pytest.mark.parametrize("special", [1.0, np.nan])
def test_extremes_to_the_bit(name, extreme, special, folder):
    """Of terms that are never negative, which take fewer operations, and of others: signs of zeros and
    NaN included, of rows and of columns."""
    of = NEVER_NEGATIVE.get(name, (lambda d: d) if name == "of all signs" else (lambda d: d * 0.0))
    x, y = (np.random.default_rng(s).normal(size=n).astype(np.float32) for s, n in ((1, 301), (2, 517)))
    x[::7], y[::5], x[3] = 0.0, -0.0, special

    def function(x, y):
        d = of(x[:, None] * y[None])
        return getattr(d, extreme)(0), getattr(d, extreme)(1)

    text = tiled(lowered(function, x, y), folder, "--tensor-size-threshold", "4kB")
    assert count(text)
    d = np.asarray(of(x[:, None] * y[None]))
    for axis, got in enumerate(running.results(text, [x, y])):
        want = getattr(np, extreme)(d, axis)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        zeros = (np.signbit(d) & (d == 0)).any(axis), (~np.signbit(d) & (d == 0)).any(axis)
        is_negative = zeros[0] if extreme == "min" else ~zeros[1]
        assert np.array_equal(np.signbit(got)[want == 0], is_negative[want == 0])


OF_NAN = {  # of what is NaN in column 5
    "relu": lambda d, y: jnp.maximum(d, 0),
    "bound below": lambda d, y: jnp.minimum(d, -0.0),
    "clip": lambda d, y: jnp.clip(d, -1, 1),
    "two values": lambda d, y: jnp.maximum(jnp.minimum(y * 2, d), d * 0.5),
    "never negative": lambda d, y: jnp.maximum(d, y * y),
}


def with_nan(shape, seed, at, sign, dtype):
    numbers = np.random.default_rng(seed).normal(size=shape)
    numbers[at] = np.copysign(np.nan, sign)
    return numbers.astype(dtype)


@pytest.mark.parametrize("level", running.levels())
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_extremes_keep_the_sign_of_nan(dtype, sign, level, folder):
    """As in XLA: of rows, of columns, whose terms may be negative or not."""
    dtype = jnp.dtype(dtype)
    x, y = with_nan(301, 1, 3, sign, dtype), with_nan(517, 2, 5, sign, dtype)

    def function(x, y):
        d = x[:, None] + y
        wide = jnp.where(d < -100, d * d, d)
        return [f(a, axis) for a in (d, wide) for f in (jnp.max, jnp.min) for axis in (0, 1)]

    text = tiled(lowered(function, x, y), folder, "--tensor-size-threshold", "4kB", "--machine", level)
    if dtype == "float16" and not count(text):
        pytest.skip("no F16C")
    assert count(text)
    for got in running.results(text, [x, y]):
        got = got.view(dtype)  # bits, where NumPy has no such type
        assert np.isnan(got).all()
        assert (np.signbit(got) == (sign < 0)).all()


@pytest.mark.parametrize("level", running.levels())
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_top_k_sees_the_sign_of_nan(dtype, sign, level, folder):
    """NaN is first in XLA's order, or last."""
    x, y = with_nan(301, 1, 3, 1, dtype), with_nan(517, 2, 5, sign, dtype)
    x[3] = 1
    for made in OF_NAN.values():
        text = lowered(lambda x, y, made=made: jax.lax.top_k(made(x[:, None] + y, y), 3)[1], x, y)
        program = tiled(text, folder, "--tensor-size-threshold", "4kB", "--machine", level)
        assert count(program)
        (got,) = running.results(program, [x, y])
        assert (got[:, 0] == 5).all() if sign > 0 else not (got == 5).any()


# ---- products with what is computed: tables of points ----
def scaled(w, s, first):
    return w.astype(s.dtype) * s


TABLES = {
    "of columns": lambda w, s, first: scaled(w, s, first),
    "by rows": lambda w, s, first: scaled(w, first[:, None], first),
    "of functions": lambda w, s, first: jnp.tanh(scaled(w, s, first)),
    "of functions of rows": lambda w, s, first: scaled(w, s, first) * jnp.exp(-first[:, None]),
    "of sums": lambda w, s, first: scaled(w, s, first) * (first[:, None] * jnp.arange(5)).sum(1)[:, None],
    "with a mask": lambda w, s, first: jnp.where(jnp.arange(w.shape[1]) < first[:, None] + 3, w, s),
    "never zero": lambda w, s, first: 1 / scaled(w, s, first),
    "transposed": lambda w, s, first: scaled(w.T.reshape(w.shape), s, first),
    "reversed": lambda w, s, first: (w.T * s[:, None]).T,
    "of sums of points": lambda w, s, first: scaled(w, s, first) - scaled(w, s, first).sum(1)[:, None],
    "softmax": lambda w, s, first: jax.nn.softmax(scaled(w, s, first), 1),
    "centred": lambda w, s, first: scaled(w, s, first) * (1 - s.mean()),
}


@pytest.mark.parametrize("points", [9, 16, 40, 129])
@pytest.mark.parametrize("made", TABLES)
def test_tables_of_points(made, points, folder):
    """relu(x W) V, where V is made of what lies row by row; no extent is a multiple of the tile."""
    random = np.random.default_rng(points)
    for real, kind in [(np.float32, np.int8), (np.float64, np.int32), (np.float32, np.int16)]:
        whole = random.integers(1, 100, (331, points)).astype(kind)
        inputs = [random.normal(size=s).astype(real) for s in [(203, 21), (21, 331), points, 331]]

        def program(x, w, s, first, v, made=TABLES[made]):
            return jnp.maximum(x @ w, 0) @ made(v, s, first)

        text = lowered(program, *inputs, whole)
        kernels = tiled(text, folder, "--tensor-size-threshold", 331 * points * np.dtype(real).itemsize // 2)
        assert count(kernels)
        check_results(text, kernels, [*inputs, whole])
