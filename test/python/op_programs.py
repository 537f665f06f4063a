"""A program or more for each operation of jax.numpy, lax, random, linalg, nn, special and fft: alone, between others,
mapped, as a gradient, of each element type. They are lowered for shapes of about a MB, never run.
"""

import functools

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

DTYPES = ("float32", "float64", "bfloat16", "float16", "int8", "int32", "bool", "complex64")
FORMS = ("alone", "between", "beside", "twice", "mapped", "gradient")
N, M = 500, 520
MATRIX, VECTOR, LONG = (N, M), (M,), (N * M,)
SQUARE, SQUARES = (N, N), (20, 64, 64)
IMAGES = (8, 56, 60, 8)
BATCH = 3  # of what is mapped


class Given:
    """An argument: its shape; its element type if it is not the program's."""

    def __init__(self, *shape, dtype=None):
        self.shape, self.dtype = shape, dtype


def places(*shape):
    return Given(*shape, dtype="int32")


KEY = Given(2, dtype="uint32")
OPS = {}  # name: (function, Givens)


def add(name, f, *shapes):
    OPS[name] = f, [s if isinstance(s, Given) else Given(*s) for s in shapes]


def add_all(module, names, *shapes, **named):
    for name in names.split():
        f = getattr(module, name)
        add(f"{module.__name__.removeprefix('jax.')}.{name}", functools.partial(f, **named), *shapes)


def along(axis, f):
    return lambda *x: f(*x, axis=axis)


# ---- element by element ----
add_all(
    jnp,
    """abs acos acosh angle asin asinh atan atanh bitwise_count cbrt ceil conj cos cosh deg2rad exp exp2 expm1 floor frexp
    i0 imag invert isfinite isinf isnan isneginf log log10 log1p log2 logical_not modf nan_to_num negative positive rad2deg real
    reciprocal rint round sign signbit sin sinc sinh spacing sqrt square tan tanh trunc""",
    MATRIX,
)
add_all(
    jnp,
    """add arctan2 bitwise_and bitwise_xor copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd greater
    heaviside hypot isclose lcm ldexp left_shift logaddexp logaddexp2 logical_and maximum minimum mod multiply nextafter power
    remainder right_shift subtract""",
    MATRIX,
    MATRIX,
)
add_all(lax, "erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e rsqrt clz population_count logistic", MATRIX)
add_all(lax, "igamma igammac polygamma zeta random_gamma_grad rem shift_right_logical", MATRIX, MATRIX)
add_all(
    jax.nn,
    "celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus sparse_plus squareplus",
    MATRIX,
)
add_all(jax.nn, "softmax log_softmax logsumexp standardize glu", MATRIX)
add_all(
    jsp.special,
    "dawsn entr erfcx exp1 expi fresnel gamma i0 i0e i1 i1e log_ndtr ndtri sici spence factorial gammasgn",
    MATRIX,
)
add_all(jsp.special, "beta betaln comb kl_div rel_entr xlogy xlog1py poch", MATRIX, MATRIX)
add("betainc", jsp.special.betainc, (100, 130), (100, 130), (100, 130))
add("hyp1f1", jsp.special.hyp1f1, (50, 52), (50, 52), (50, 52))
add("clip", lambda x: jnp.clip(x, 0, 1), MATRIX)
add("clamp", lax.clamp, MATRIX, MATRIX, MATRIX)
add("where", lambda x, y: jnp.where(x > y, x, y), MATRIX, MATRIX)
add("select_n", lambda i, *x: lax.select_n(i % 4, *x), places(*MATRIX), MATRIX, MATRIX, MATRIX, MATRIX)
add("integer_pow", lambda x: lax.integer_pow(x, 5), MATRIX)
add("reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), MATRIX)
add("complex", lax.complex, MATRIX, MATRIX)
add("bitcast", lambda x: lax.bitcast_convert_type(x, "uint8"), MATRIX)
for _dtype in DTYPES:
    add(f"convert {_dtype}", lambda x, d=_dtype: x.astype(d), MATRIX)
add("outer", jnp.outer, (N,), VECTOR)
add("row and column", lambda x, r, c: x * r + c[:, None], MATRIX, VECTOR, (N,))
add("polyval", lambda x, y: jnp.polyval(x, y), (6,), MATRIX)
add("piecewise", lambda x: jnp.piecewise(x, [x < 0, x > 1], [0, 1, lambda v: v * v]), MATRIX)

# ---- reductions ----
REDUCTIONS = """all any argmax argmin average count_nonzero max mean median min nanargmax nanmax nanmean nanmedian nanprod nanstd
nansum nanvar prod ptp std sum var"""
for _axis in (0, 1, None):
    add_all(jnp, REDUCTIONS, MATRIX, axis=_axis)
    for _name in REDUCTIONS.split():
        OPS[f"{_name} {_axis}"] = OPS.pop(f"numpy.{_name}")
for _name in ("sum", "max", "all", "mean", "argmax"):
    add(f"{_name} of three", along(1, getattr(jnp, _name)), (80, 50, 70))
    add(f"{_name} of outer", lambda x, y, f=getattr(jnp, _name): f(x[:, None] * y, 1), (N,), VECTOR)
    add(f"{_name} kept", lambda x, f=getattr(jnp, _name): f(x, 1, keepdims=True) * x, MATRIX)
    add(f"{_name} of few", along(1, getattr(jnp, _name)), (N * M // 16, 16))
for _name in ("bitwise_and", "bitwise_or", "logical_xor"):
    add(f"{_name} reduced", getattr(jnp, _name).reduce, MATRIX)
add("nanmax over rows", lambda x: jnp.nanmax(x * 2, 1), MATRIX)
add("quantile", lambda x: jnp.quantile(x, 0.3, axis=1), MATRIX)
add("norm", lambda x: jnp.linalg.norm(x, axis=1), MATRIX)
add("norm inf", lambda x: jnp.linalg.norm(x, jnp.inf, axis=1), MATRIX)
add("cov", jnp.cov, (50, M))
add("corrcoef", jnp.corrcoef, (50, M))
add("trace", jnp.trace, SQUARE)
add("reduce own", lambda x: lax.reduce(x, x.dtype.type(0), lambda a, b: a + b - a * b, (1,)), MATRIX)
add("reduce pair", lambda x, y: lax.reduce((x, y), (x.dtype.type(0), y.dtype.type(0)), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (1,)), MATRIX, MATRIX)
for _name in ("sum", "max"):
    for _axis in (0, 1):
        add(f"segment {_name} {_axis}", lambda x, i, n=_name: getattr(jax.ops, f"segment_{n}")(x, i, 50), MATRIX, places(N))
WINDOW = ((1, 3, 3, 1), (1, 1, 1, 1), "SAME")
STRIDES = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
for _name, _at in (("same", WINDOW), ("strided", STRIDES)):
    add(f"window sum {_name}", lambda x, a=_at: lax.reduce_window(x, x.dtype.type(0), lax.add, *a), IMAGES)
    add(f"window max {_name}", lambda x, a=_at: lax.reduce_window(x, x.dtype.type(-99 if x.dtype.kind != 'b' else 0), lax.max, *a), IMAGES)

# ---- along an axis, in order ----
for _axis in (0, 1):
    for _name in "cumsum cumprod cummax cummin cumlogsumexp".split():
        add(f"{_name} {_axis}", lambda x, f=getattr(lax, _name), a=_axis: f(x, a), MATRIX)
    add(f"cumsum back {_axis}", lambda x, a=_axis: lax.cumsum(x, a, reverse=True), MATRIX)
    add(f"sort {_axis}", along(_axis, jnp.sort), MATRIX)
    add(f"argsort {_axis}", along(_axis, jnp.argsort), MATRIX)
    add(f"sort pairs {_axis}", lambda x, y, a=_axis: lax.sort((x, y), dimension=a), MATRIX, MATRIX)
    add(f"diff {_axis}", lambda x, a=_axis: jnp.diff(x, axis=a), MATRIX)
    add(f"gradient {_axis}", lambda x, a=_axis: jnp.gradient(x, axis=a), MATRIX)
    add(f"associative_scan {_axis}", lambda x, a=_axis: lax.associative_scan(jnp.maximum, x, axis=a), MATRIX)
    add(f"apply_along_axis {_axis}", lambda x, a=_axis: jnp.apply_along_axis(lambda v: v - v.sum(), a, x), MATRIX)
    add(f"apply_along_axis sort {_axis}", lambda x, a=_axis: jnp.apply_along_axis(lambda v: jnp.sort(v)[:9], a, x), MATRIX)
    add(f"partition {_axis}", lambda x, a=_axis: jnp.partition(x, 20, axis=a), MATRIX)
    add(f"trapezoid {_axis}", lambda x, a=_axis: jnp.trapezoid(x, axis=a), MATRIX)
    add(f"unwrap {_axis}", lambda x, a=_axis: jnp.unwrap(x, axis=a), MATRIX)
add("top_k", lambda x: lax.top_k(x, 9), MATRIX)
add("approx_max_k", lambda x: lax.approx_max_k(x, 9), MATRIX)
add("lexsort", lambda x, y: jnp.lexsort((x, y)), LONG, LONG)
add("unique", lambda x: jnp.unique(x, size=50), LONG)
add("nonzero", lambda x: jnp.nonzero(x, size=50), MATRIX)
add("searchsorted", jnp.searchsorted, (1000,), LONG)
add("searchsorted all", lambda x, y: jnp.searchsorted(x, y, method="compare_all"), VECTOR, (N,))
add("digitize", jnp.digitize, LONG, (30,))
add("interp", jnp.interp, LONG, (1000,), (1000,))
add("histogram", lambda x: jnp.histogram(x, 40)[0], LONG)
add("bincount", lambda i: jnp.bincount(i, length=50), places(N * M))
add("isin", jnp.isin, VECTOR, (N,))
add("mode", lambda x: jsp.stats.mode(x, axis=1), (60, 64))
add("rankdata", lambda x: jsp.stats.rankdata(x, axis=1), (100, 100))

# ---- moved ----
add("transpose", lambda x: x.T, MATRIX)
add("transpose three", lambda x: x.transpose(2, 0, 1), (80, 50, 70))
add("swapaxes", lambda x: x.swapaxes(0, 1), (80, 50, 70))
add("ravel turned", lambda x: x.T.ravel(), MATRIX)
add("reshape", lambda x: x.reshape(M, N), MATRIX)
add("rev", lambda x: jnp.flip(x, 1), MATRIX)
add("rot90", jnp.rot90, MATRIX)
for _axis in (0, 1):
    add(f"roll {_axis}", lambda x, a=_axis: jnp.roll(x, 7, a), MATRIX)
    add(f"concatenate {_axis}", lambda x, y, a=_axis: jnp.concatenate([x, y], a), MATRIX, MATRIX)
    add(f"stack {_axis}", lambda x, y, a=_axis: jnp.stack([x, y], a), MATRIX, MATRIX)
    add(f"repeat {_axis}", lambda x, a=_axis: jnp.repeat(x, 3, a), MATRIX)
    add(f"take {_axis}", lambda x, i, a=_axis: jnp.take(x, i, a), MATRIX, places(300))
    add(f"take fill {_axis}", lambda x, i, a=_axis: jnp.take(x, i, a, mode="fill"), MATRIX, places(300))
    add(f"take_along_axis {_axis}", lambda x, i, a=_axis: jnp.take_along_axis(x, i, a), MATRIX, places(N, M))
    add(f"pad {_axis}", lambda x, a=_axis: jnp.pad(x, [(3 * (a == 0), 0), (5 * (a == 1), 0)]), MATRIX)
    add(f"insert {_axis}", lambda x, a=_axis: jnp.insert(x, 3, 1, a), MATRIX)
    add(f"delete {_axis}", lambda x, a=_axis: jnp.delete(x, 3, a), MATRIX)
    add(f"dynamic_slice {_axis}", lambda x, i, a=_axis: lax.dynamic_slice_in_dim(x, i, 300, a), MATRIX, places())
    add(f"dynamic_update_slice {_axis}", lambda x, y, i, a=_axis: lax.dynamic_update_slice_in_dim(x, y[:200, :200], i, a), MATRIX, MATRIX, places())
    add(f"split {_axis}", lambda x, a=_axis: jnp.split(x, 2, a), MATRIX)
for _mode in ("edge", "reflect", "wrap", "symmetric", "mean", "linear_ramp"):
    add(f"pad {_mode}", lambda x, m=_mode: jnp.pad(x, 4, m), MATRIX)
add("pad inside", lambda x: lax.pad(x, x.dtype.type(0), [(1, 2, 1), (0, 0, 2)]), MATRIX)
add("slice strided", lambda x: x[::2, 1::3], MATRIX)
add("tile", lambda x: jnp.tile(x, (2, 3)), (200, 210))
add("kron", jnp.kron, (20, 21), (25, 26))
add("tril", jnp.tril, SQUARE)
add("diag", jnp.diag, SQUARE)
add("diagflat", jnp.diag, (N,))
add("meshgrid", jnp.meshgrid, (N,), VECTOR)
add("vander", lambda x: jnp.vander(x, 100), (2000,))
add("one_hot", lambda i: jax.nn.one_hot(i, M), places(N))
add("take pairs", lambda x, i, j: x[i, j], MATRIX, places(50_000), places(50_000))
add("gather rows of three", lambda x, i: x[i], (80, 50, 70), places(60, 2))
add("gather middle", lambda x, i: x[:, i], (80, 50, 70), places(40))
add("neighbours", lambda x, i: x[i].sum(1), (N, 64), places(N, 8))
add("choose", lambda i, x, y: jnp.choose(i % 2, [x, y]), places(*MATRIX), MATRIX, MATRIX)
add("packbits", lambda x: jnp.packbits(x > 0, axis=1), MATRIX)
for _how in ("add", "set", "multiply", "min", "max"):
    add(f"at rows {_how}", lambda x, y, i, h=_how: getattr(x.at[i], h)(y), MATRIX, MATRIX, places(N))
    add(f"at columns {_how}", lambda x, y, i, h=_how: getattr(x.at[:, i], h)(y), MATRIX, MATRIX, places(M))
    add(f"at pairs {_how}", lambda x, y, i, h=_how: getattr(x.at[i, i], h)(y), MATRIX, (N,), places(N))
    add(f"at rows {_how} itself", lambda x, i, h=_how: getattr(x.at[i], h)(x), MATRIX, places(N))
    add(f"at a row {_how}", lambda x, y, i, h=_how: getattr(x.at[i], h)(y), MATRIX, VECTOR, places())
    add(f"into zeros {_how}", lambda y, i, h=_how: getattr(jnp.zeros((700, M), y.dtype).at[i], h)(y), MATRIX, places(N))
add("at slice add", lambda x, y: x.at[10:210].add(y), MATRIX, (200, M))
add("at diagonal", lambda x: x.at[jnp.arange(N), jnp.arange(N)].add(1), SQUARE)
add("put_along_axis", lambda x, i, y: jnp.put_along_axis(x, i, y, 1, inplace=False), MATRIX, places(N, 9), (N, 9))

# ---- products ----
for _a in ("mk", "km"):
    for _b in ("kn", "nk"):
        for _c in ("mn", "nm"):
            add(f"{_a},{_b}->{_c}", lambda x, y, e=f"{_a},{_b}->{_c}": jnp.einsum(e, x, y), *((300, 500) if s[0] in "mn" else (500, 300) for s in (_a, _b)))
for _e in "bmk,bkn->bmn bmk,bnk->bmn bkm,bkn->bmn bmk,bkn->bnm mbk,bkn->bmn mbk,nbk->bmn mkb,knb->mnb bmk,kn->bmn bmk,bk->bm bmk,bmk->bm bmk,bmk->b bmk,bnk->mn bmk,bk->m".split():
    _sizes = {"b": 8, "m": 130, "n": 140, "k": 100}
    add(_e, lambda x, y, e=_e: jnp.einsum(e, x, y), *([_sizes[c] for c in part] for part in _e.split("->")[0].split(",")))
add("matvec", jnp.matmul, MATRIX, VECTOR)
add("vecmat", jnp.matmul, (N,), MATRIX)
add("vdot", jnp.vdot, LONG, LONG)
add("gram", lambda x: x @ x.T, (N, 30))
add("gram of columns", lambda x: x.T @ x, MATRIX)
add("tensordot", lambda x, y: jnp.tensordot(x, y, 2), (50, 80, 60), (80, 60, 70))
add("small products", jnp.matmul, (9000, 4, 7), (9000, 7, 4))
add("tall product", jnp.matmul, (20_000, 8), (8, 8))
add("wide product", jnp.matmul, (8, 20_000), (20_000, 8))
add("quadratic", lambda x, a: jnp.einsum("ni,ij,nj->n", x, a, x), (3000, 64), (64, 64))
add("multi_dot", lambda *x: jnp.linalg.multi_dot(x), MATRIX, (M, 300), (300, 40))
add("wider result", lambda x, y: lax.dot(x, y, preferred_element_type="float32"), (300, 500), (500, 320))
add("wider integers", lambda x, y: lax.dot(x, y, preferred_element_type="int32"), (300, 500), (500, 320))
add("vmap outer max", lambda x, y: jax.vmap(lambda a, b: jnp.outer(a, b).max(1))(x, y), (10, 200), (10, 210))
add("vmap outer all", lambda x, y: jax.vmap(lambda a, b: (jnp.outer(a, b) > 0).all(1))(x, y), (10, 200), (10, 210))
add("distances", lambda x, y: jnp.exp(-((x[:, None] - y) ** 2).sum(-1)), (N, 3), (M, 3))
add("attention", lambda q, k, v: jax.nn.softmax(q @ k.T / 8, -1) @ v, (N, 64), (M, 64), (M, 64))
add("attention over columns", lambda q, k, v: jax.nn.softmax(q @ k.T / 8, 0) @ v, (N, 64), (M, 64), (M, 64))
add("attention of heads", lambda q, k, v: jax.nn.dot_product_attention(q, k, v), *((2, 200, 4, 16),) * 3)
add("layers", lambda x, w, v: jnp.tanh(x @ w) @ v, (N, 30), (30, M), (M, 10))
add("layer norm", lambda x, s: jax.nn.standardize(x, -1) * s, MATRIX, VECTOR)
add("ragged_dot", lambda x, w, n: lax.ragged_dot(x, w, n), (N, 64), (5, 64, 70), places(5))

# ---- convolutions ----
CONV = ("NHWC", "HWIO", "NHWC")
KERNEL = (3, 3, 8, 8)
for _name, _named in {
    "same": {},
    "strided": {"window_strides": (2, 2)},
    "valid": {"padding": "VALID"},
    "dilated": {"rhs_dilation": (2, 2)},
    "transposed": {"lhs_dilation": (2, 2), "padding": ((1, 2), (1, 2))},
}.items():
    _named = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": CONV} | _named
    add(f"conv {_name}", functools.partial(lax.conv_general_dilated, **_named), IMAGES, KERNEL)
add("conv nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), (8, 8, 56, 60), (8, 8, 3, 3))
add("conv groups", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CONV, feature_group_count=4), IMAGES, (3, 3, 2, 8))
add("conv depthwise", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CONV, feature_group_count=8), IMAGES, (3, 3, 1, 8))
add("conv batch groups", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CONV, batch_group_count=4), IMAGES, KERNEL)
add("conv 1x1", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=CONV), IMAGES, (1, 1, 8, 16))
add("conv of lines", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), (8, 3000, 8), (5, 8, 8))
add("conv of volumes", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), (2, 20, 24, 28, 8), (3, 3, 3, 8, 8))
add("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME"), (8, 8, 26, 30))
add("convolve", lambda x, y: jnp.convolve(x, y), LONG, (31,))
add("correlate", lambda x, y: jnp.correlate(x, y), LONG, (31,))
add("convolve2d", lambda x, y: jsp.signal.convolve2d(x, y, "same"), MATRIX, (5, 5))
add("fftconvolve", lambda x, y: jsp.signal.fftconvolve(x, y, "same"), MATRIX, (50, 50))
for _how in ("nearest", "linear", "cubic"):
    add(f"resize {_how}", lambda x, h=_how: jax.image.resize(x, (8, 80, 90, 8), h), IMAGES)
add("map_coordinates", lambda x, i, j: jsp.ndimage.map_coordinates(x, [i, j], 1), MATRIX, LONG, LONG)

# ---- transforms, factorisations ----
add_all(jnp.fft, "fft ifft rfft irfft hfft ihfft", MATRIX)
add_all(jnp.fft, "fft2 ifft2 rfft2 irfft2 fftn fftshift", MATRIX)
add("fft 0", along(0, jnp.fft.fft), MATRIX)
add("stft", lambda x: jsp.signal.stft(x)[2], LONG)
for _name, _shape in (("one", SQUARE), ("many", SQUARES)):
    add_all(jnp.linalg, "cholesky det eigh eigvalsh inv pinv qr slogdet svd svdvals", _shape)
    add_all(jnp.linalg, "solve", _shape, _shape)
    add_all(jax.scipy.linalg, "lu lu_factor expm", _shape)
    add_all(lax.linalg, "tridiagonal hessenberg", _shape)
    for _n in list(OPS):
        if _n.startswith(("numpy.linalg.", "scipy.linalg.", "lax.linalg.")) and " " not in _n:
            OPS[f"{_n} {_name}"] = OPS.pop(_n)
    add(f"solve vector {_name}", lambda a, b: jnp.linalg.solve(a, b[..., None]), _shape, _shape[:-1])
    for _lower in (True, False):
        for _left in (True, False):
            add(f"triangular_solve {_name} {_lower} {_left}", functools.partial(lax.linalg.triangular_solve, left_side=_left, lower=_lower), _shape, _shape)
    add(f"cho_solve {_name}", lambda a, b: jsp.linalg.cho_solve((a, True), b), _shape, _shape)
add("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], MATRIX, (N, 3))
add("matrix_power", lambda x: jnp.linalg.matrix_power(x, 5), SQUARE)
add("toeplitz", jsp.linalg.toeplitz, (N,))
add("block_diag", jsp.linalg.block_diag, (200, 200), (300, 300))
add("tridiagonal_solve", lambda a, b, c, d: lax.linalg.tridiagonal_solve(a, b, c, d), (N,), (N,), (N,), (N, 300))

# ---- random numbers ----
RANDOM = """bernoulli:.3 beta:2.,3. binomial:10,.3 bits: cauchy: chisquare:3. double_sided_maxwell:0.,1. exponential:
f:2.,3. gamma:2. generalized_normal:1.5 geometric:.3 gumbel: laplace: loggamma:2. logistic: lognormal: maxwell: normal: pareto:2. poisson:3.
rademacher: rayleigh:1. t:3. triangular:0.,.5,1. truncated_normal:-1.,1. uniform: wald:1. weibull_min:1.,2."""
for _entry in RANDOM.split():
    _name, _, _given = _entry.partition(":")
    _args = tuple(map(float, filter(None, _given.split(","))))
    add(f"random.{_name}", lambda k, f=getattr(jax.random, _name), a=_args: f(k, *a, shape=MATRIX), KEY)
    if _name in ("normal", "uniform", "exponential", "gumbel", "truncated_normal", "bits", "gamma", "laplace", "cauchy"):
        for _dtype in ("float32", "bfloat16", "float16") if _name != "bits" else ("uint8", "uint16", "uint64"):
            add(f"random.{_name} {_dtype}", lambda k, f=getattr(jax.random, _name), a=_args, d=_dtype: f(k, *a, shape=MATRIX, dtype=d), KEY)
add("random.ball", lambda k: jax.random.ball(k, 3, shape=(N, 100)), KEY)
add("random.dirichlet", lambda k, a: jax.random.dirichlet(k, a, shape=(N,)), KEY, (100,))
add("random.randint", lambda k: jax.random.randint(k, MATRIX, 0, 1000), KEY)
add("random.permutation", lambda k, x: jax.random.permutation(k, x), KEY, LONG)
add("random.permutation rows", lambda k, x: jax.random.permutation(k, x), KEY, MATRIX)
add("random.choice", lambda k, x: jax.random.choice(k, x, (30_000,)), KEY, LONG)
add("random.choice no", lambda k, x: jax.random.choice(k, x, (30_000,), replace=False), KEY, LONG)
add("random.categorical", lambda k, x: jax.random.categorical(k, x), KEY, MATRIX)
add("random.multivariate_normal", lambda k, m, c: jax.random.multivariate_normal(k, m, c, (200,)), KEY, (300,), (300, 300))
add("random.orthogonal", lambda k: jax.random.orthogonal(k, 200), KEY)
add("random.multinomial", lambda k, p: jax.random.multinomial(k, 100.0, p, shape=(N, 50)), KEY, (50,))
add("random.split", lambda k: jax.random.split(k, 100_000), KEY)
add("random.keys", lambda k: jax.vmap(jax.random.normal)(jax.random.split(k, 100_000)), KEY)
add("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0), KEY, MATRIX)

# ---- loops ----
add("scan", lambda c, x: lax.scan(lambda c, r: (jnp.sin(c) + r, c * 2), c, x), VECTOR, MATRIX)
add("scan product", lambda c, x, w: lax.scan(lambda c, r: (jnp.tanh(c @ w + r), c), c, x)[0], (30, 64), (40, 30, 64), (64, 64))
add("fori", lambda x: lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) + x, x), MATRIX)
add("while", lambda x: lax.while_loop(lambda c: c.sum() > 1, lambda c: c / 2, x), MATRIX)
add("map", lambda x: lax.map(lambda r: jnp.sort(r)[::-1], x), MATRIX)
add("map in batches", lambda x: lax.map(lambda r: jnp.cumsum(r), x, batch_size=100), MATRIX)
add("cond", lambda x, i: lax.cond(i > 0, jnp.sin, lambda x: x.T.T * 2, x), MATRIX, places())
add("switch", lambda x, i: lax.switch(i, [jnp.sin, lambda x: jnp.sort(x), lambda x: x], x), MATRIX, places())


# ---- forms ----
def changed(x):
    """As it comes out of something element by element."""
    kind = jnp.dtype(x.dtype)
    if kind == bool:
        return ~x
    if jnp.issubdtype(kind, jnp.floating):
        return jnp.sin(x) + x
    return x * 3 + x


def is_given(given):
    return given.dtype is None


def alone(f, given):
    return f


def between(f, given):
    def g(*x):
        return jax.tree.map(changed, f(*(changed(v) if is_given(s) else v for v, s in zip(x, given))))

    return g


def beside(f, given):
    """Others read what it reads, and what it makes."""

    def g(*x):
        x = [changed(v) if is_given(s) else v for v, s in zip(x, given)]
        made = f(*x)
        return jax.tree.map(changed, made), [v.sum(-1) for v in [*x, *jax.tree.leaves(made)] if v.ndim]

    return g


def twice(f, given):
    """Two read it, element by element."""
    return lambda *x: jax.tree.map(lambda v: (changed(v), jnp.where(v != 0, v, 1)), f(*x))


def mapped(f, given):
    return jax.vmap(f)


def gradient(f, given):
    floats = [i for i, s in enumerate(given) if is_given(s)]
    if not floats:
        return None

    def loss(*x):
        leaves = [v for v in jax.tree.leaves(f(*x)) if jnp.issubdtype(v.dtype, jnp.inexact)]
        if not leaves:
            raise TypeError("nothing to differentiate")
        return sum((v * v).real.sum().astype("float32") for v in leaves)

    return jax.grad(loss, argnums=floats)


def cells():
    return [(name, dtype, form) for name in OPS for dtype in DTYPES for form in FORMS]


def lowered(name, dtype, form):
    """Its text; None where there is no such program."""
    f, given = OPS[name]
    if dtype != "float32" and not any(map(is_given, given)):
        return None
    made = globals()[form](f, given)
    if made is None:
        return None
    first = (BATCH,) if form == "mapped" else ()
    with jax.enable_x64(True):
        try:
            shapes = [jax.ShapeDtypeStruct((*first, *s.shape), s.dtype or dtype) for s in given]
            return jax.jit(made).lower(*shapes).as_text()
        except Exception:  # JAX's: no such op of that type
            return None
