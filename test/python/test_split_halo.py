"""One large image, split along its height or width: strips that overlap, forward and backward.

Under arguments, results and a tenth of stock's temporaries, by XLA's report; and what strips by hand
hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from held import reported_bytes

import held
import running
import weir

N = 256
RNG = np.random.default_rng(0)


def numbers(*shape, scale=1.0):
    return (scale * RNG.standard_normal(shape)).astype(np.float32)


def conv(x, k, stride=1, pad="SAME", **how):
    return lax.conv_general_dilated(
        x, k, (stride,) * (x.ndim - 2), pad, dimension_numbers=("NHWC", "HWIO", "NHWC"), **how
    )


def pool(x, kind=lax.max, init=-jnp.inf):
    return lax.reduce_window(x, init, kind, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


IMAGE, FIRST = numbers(1, N, N, 1), numbers(3, 3, 1, 8, scale=0.3)
MIDDLE, WIDE = numbers(3, 3, 8, 8, scale=0.1), numbers(3, 3, 16, 8, scale=0.1)
LAST = numbers(3, 3, 8, 1, scale=0.1)


def chain(x, a, b, c):
    h = jax.nn.relu(conv(x, a) + 0.1)
    h = pool(jax.nn.relu(conv(h, b, 2)))
    return conv(h, c)


def valid(x, a, b, c):
    h = jax.nn.relu(conv(x, a, pad="VALID"))
    return conv(jax.nn.relu(conv(h, b, pad="VALID", rhs_dilation=(3, 3))), c, pad="VALID")


def depthwise(x, a, b, c):
    h = conv(jax.nn.relu(conv(x, a)), b[:, :, :1], feature_group_count=8)
    return conv(jax.nn.relu(h), c)


def residuals(x, a, b, c):
    h = jax.nn.relu(conv(x, a))
    for _ in range(3):
        h = h + conv(jax.nn.relu(conv(h, b)), b)
    return conv(h, c)


def normalised(x, a, b, c):
    """Statistics over all of the image: one loop for them, another that makes it again."""
    h = conv(x, a)
    h = (h - h.mean((0, 1, 2))) / jnp.sqrt(h.var((0, 1, 2)) + 1e-5)
    return conv(jax.nn.relu(h), c)


def unet(x, a, b, wide, c):
    h = jax.nn.relu(conv(x, a))
    low = jax.nn.relu(conv(h, b, 2))
    up = jnp.repeat(jnp.repeat(low, 2, 1), 2, 2)
    return conv(jax.nn.relu(conv(jnp.concatenate([h, up], -1), wide)), c)


def unet_transposed(x, a, b, wide, c):
    h = jax.nn.relu(conv(x, a))
    low = jax.nn.relu(conv(h, b, 2))
    up = lax.conv_transpose(low, b, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return conv(jax.nn.relu(conv(jnp.concatenate([h, up], -1), wide)), c)


def layers(x, a, b, c):
    return conv(jax.nn.relu(conv(jax.nn.relu(conv(x, a)), b)), c)


def averaged(x, a, b, c):
    h = pool(jax.nn.relu(conv(x, a) + 0.1), lax.add, 0.0) / 4
    return conv(jax.nn.relu(conv(h, b)), c)


def step(f):
    """Loss and gradients of all kernels."""

    def loss(x, *kernels):
        return jnp.mean(f(x, *kernels) ** 2)

    return lambda *args: jax.value_and_grad(loss, tuple(range(1, len(args))))(*args)


def pixels(f):
    return jax.grad(lambda x, *kernels: jnp.mean(f(x, *kernels) ** 2))


def channels_first(x, a, b):
    h = lax.conv_general_dilated(x, a, (1, 1), "SAME")
    return lax.conv_general_dilated(jax.nn.relu(h), b, (1, 1), "SAME")


def signal(x, a, b):
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"))
    h = jax.nn.relu(lax.conv_general_dilated(x, a, (1,), "SAME", **how))
    return lax.conv_general_dilated(h, b, (1,), "SAME", rhs_dilation=(4,), **how)


def causal(x, a, b):
    """Windows that end where they stand, as WaveNet's; what is added to them is not moved."""
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"))
    h = lax.conv_general_dilated(x, a, (1,), [(6, 0)], **how)
    for apart in (1, 2, 4, 8, 16):
        made = lax.conv_general_dilated(h, b, (1,), [(2 * apart, 0)], rhs_dilation=(apart,), **how)
        h = h + jax.nn.gelu(made)
    return jnp.mean(h**2)


def gated(x, a, b, c):
    """As WaveNet is trained: what comes next, by gates, residuals and skips."""
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"))
    h, skip = lax.conv_general_dilated(x, a, (1,), [(1, 0)], **how), 0
    for apart in (1, 2, 4, 8, 16, 32):
        made = lax.conv_general_dilated(h, b, (1,), [(apart, 0)], rhs_dilation=(apart,), **how)
        made = jnp.tanh(made[..., :8]) * jax.nn.sigmoid(made[..., 8:])
        h, skip = h + made, skip + made
    return (jax.nn.relu(skip) @ c)[:, :-1] - x[:, 1:]


def differences(x, a, b):
    """Of what causal convolutions make, and between them."""
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"))
    h = lax.conv_general_dilated(x, a, (1,), [(6, 0)], **how)
    for _ in range(8):
        d = h - jnp.pad(h[:, :-1], ((0, 0), (1, 0), (0, 0)))
        h = jnp.tanh(lax.conv_general_dilated(d, b, (1,), [(4, 0)], rhs_dilation=(2,), **how))
    return h[:, 1:] - h[:, :-1]


def volume(x, a, b):
    how = dict(dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
    h = jax.nn.relu(lax.conv_general_dilated(x, a, (1, 1, 1), "SAME", **how))
    return lax.conv_general_dilated(h, b, (1, 1, 1), "SAME", **how)


def bilateral(mode):
    """Each pixel against those around it, of an image whose border is reflected or wrapped."""

    def f(x):
        wide, total, weights = jnp.pad(x, 2, mode=mode), 0, 0
        for i in range(5):
            for j in range(5):
                near = wide[i : i + len(x), j : j + len(x)]
                weight = jnp.exp(-((near - x) ** 2))
                total, weights = total + weight * near, weights + weight
        return total / weights

    return f


THREE, FOUR = (IMAGE, FIRST, MIDDLE, LAST), (IMAGE, FIRST, MIDDLE, WIDE, LAST)
PROGRAMS = {
    "chain": (chain, THREE),
    "valid": (valid, THREE),
    "depthwise": (depthwise, THREE),
    "residuals": (residuals, THREE),
    "normalised": (normalised, THREE),
    "unet": (unet, FOUR),
    "unet_transposed": (unet_transposed, FOUR),
    "step": (step(layers), THREE),
    "pixels": (pixels(layers), THREE),
    "step_max_pool": (step(chain), THREE),
    "step_average_pool": (step(averaged), THREE),
    "step_unet": (step(unet), FOUR),
    "channels_first": (channels_first, (numbers(1, 1, N, N), numbers(8, 1, 3, 3), numbers(1, 8, 3, 3))),
    "signal": (signal, (numbers(1, 100_003, 1), numbers(9, 1, 16), numbers(9, 16, 1))),
    "causal": (causal, (numbers(1, 8192, 4), numbers(7, 4, 8), numbers(3, 8, 8, scale=0.2))),
    "step_causal": (step(causal), (numbers(1, 8192, 4), numbers(7, 4, 8), numbers(3, 8, 8, scale=0.2))),
    "step_gated": (step(gated), (numbers(1, 16_387, 1), numbers(2, 1, 8), numbers(2, 8, 16, scale=0.2), numbers(8, 1))),
    "differences": (differences, (numbers(1, 8192, 4), numbers(7, 4, 8), numbers(3, 8, 8, scale=0.2))),
    "step_differences": (step(differences), (numbers(1, 8192, 4), numbers(7, 4, 8), numbers(3, 8, 8, scale=0.2))),
    **{f"bilateral_{mode}": (bilateral(mode), (numbers(300, 300),)) for mode in ("reflect", "symmetric", "wrap")},
    "volume": (volume, (numbers(1, 48, 48, 48, 1), numbers(3, 3, 3, 1, 8), numbers(3, 3, 3, 8, 1))),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tenth_of_the_temporaries_does(name):
    f, arguments = PROGRAMS[name]
    held.check_a_tenth(f, *arguments)


# ---- by hand ----
def two(x, a, b):
    return conv(jax.nn.relu(conv(x, a)), b)


def by_strips(x, a, b, rows=16, reach=2):
    """`two` in strips of the result: what is beyond the image is zero after the first layer, too."""
    n, width = x.shape[1:3]
    wide = jnp.pad(x, ((0, 0), (2 * reach, 2 * reach), (0, 0), (0, 0)))

    def strip(i):
        part = lax.dynamic_slice(wide, (0, i * rows, 0, 0), (1, rows + 4 * reach, width, 1))
        h = jax.nn.relu(conv(part, a, pad=((0, 0), (reach, reach))))
        at = i * rows - reach + jnp.arange(rows + 2 * reach)
        h = jnp.where(((at >= 0) & (at < n))[None, :, None, None], h, 0)
        return conv(h, b, pad=((0, 0), (reach, reach)))[0]

    return lax.map(strip, jnp.arange(n // rows)).reshape(x.shape)


def test_no_more_than_strips_by_hand():
    """`large_image` of bench/users.py, a quarter as wide."""
    args = (numbers(1, 512, 512, 1), numbers(5, 5, 1, 8), numbers(5, 5, 8, 1))
    hand = jax.jit(by_strips).lower(*args).compile(compiler_options=running.HONEST)
    with weir.limit(reported_bytes(hand)):
        limited = jax.jit(two).lower(*args).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= reported_bytes(hand)
    np.testing.assert_allclose(limited(*args), by_strips(*args), rtol=1e-5, atol=1e-4)


# ---- edges ----
def whole_numbers(*shape):
    return RNG.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("rows", [37, 64])
@pytest.mark.parametrize("split_bytes", [600, 2000, 9000])
def test_edges_to_the_bit(tmp_path, rows, split_bytes):
    """Ones under kernels of ones: what is padded between layers is zero, not what would be there."""

    def f(x, a, b):
        return two(x + 1, a, b) + 1

    args = whole_numbers(1, rows, 9, 1), whole_numbers(5, 5, 1, 3), whole_numbers(5, 5, 3, 1)
    text = jax.jit(f).lower(*args).as_text()
    (tmp_path / "program.mlir").write_text(text)
    sizes = ["--tensor-size-threshold", "2000", "--tensor-split-size", str(split_bytes)]
    split = running.opt(tmp_path / "program.mlir", *sizes)
    assert split.count('"stablehlo.while"') >= (split_bytes < 9000)
    np.testing.assert_array_equal(running.Evaluator(tmp_path, args)(split)[0], f(*args))


@pytest.mark.parametrize("kind, init", [(lax.add, 2), (lax.mul, 2), (lax.max, 2), (lax.min, -2)])
def test_what_windows_begin_with_counts_once(tmp_path, kind, init):
    """As XLA does it: elements of the padding count for nothing, whatever sums begin with."""

    def f(x, y):
        t = lax.reduce_window(x * y, np.float32(init), kind, (3, 3), (2, 1), "SAME")
        return t.sum(1)

    args = np.sign(whole_numbers(64, 1)), np.sign(whole_numbers(1, 33))
    (tmp_path / "program.mlir").write_text(jax.jit(f).lower(*args).as_text())
    sizes = ["--tensor-size-threshold", "2000", "--tensor-split-size", "600"]
    split = running.opt(tmp_path / "program.mlir", *sizes)
    assert '"stablehlo.while"' in split
    np.testing.assert_array_equal(running.Evaluator(tmp_path, args)(split)[0], f(*args))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_windows_that_are_reversed_over_one_row(tmp_path, dtype):
    """XLA forgets that a window is reversed where it covers its dimension, as in slices of one row."""
    program = f"""
func.func @main(%x: tensor<1x64x4x1x{dtype}>, %k: tensor<2x1x1x1x{dtype}>) -> tensor<1x63x4x1x{dtype}> {{
  %e = stablehlo.exponential %x : tensor<1x64x4x1x{dtype}>
  %y = stablehlo.convolution(%e, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{reverse = [true, false]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x64x4x1x{dtype}>, tensor<2x1x1x1x{dtype}>) -> tensor<1x63x4x1x{dtype}>
  return %y : tensor<1x63x4x1x{dtype}>
}}"""
    path, wide = tmp_path / "program.mlir", {"f32": np.float32, "f64": np.float64}[dtype]
    path.write_text(program)
    inputs = [np.linspace(-1, 1, 256).reshape(1, 64, 4, 1).astype(wide), np.array([1, 3], wide).reshape(2, 1, 1, 1)]
    row = 4 * np.dtype(wide).itemsize
    made = running.opt(path, "--tensor-size-threshold", 2 * row, "--tensor-split-size", row)
    assert "stablehlo.while" in made
    (want,), (got,) = running.Xla(program)(*inputs), running.Xla(made)(*inputs)
    np.testing.assert_allclose(got, want, rtol=1e-6)


# ---- what stays as it is ----
def test_a_batch_goes_first(tmp_path):
    """Where a batch can be cut nothing is made twice."""
    args = (numbers(16, 32, 32, 1), FIRST, MIDDLE, LAST)
    (tmp_path / "program.mlir").write_text(jax.jit(step(layers)).lower(*args).as_text())
    split = running.opt(tmp_path / "program.mlir", "--tensor-size-threshold", "100000")
    bodies = split[split.index('"stablehlo.while"') :]
    assert "x32x32x8xf32>" in bodies
    assert "tensor<16x32x32x8xf32>" not in bodies


def test_whole_numbers_in_a_step(tmp_path):
    """Gradients of kernels are sums over strips: exact on small integers."""

    def f(x, a, b):
        return jax.grad(lambda a, b: jnp.sum(conv(conv(x, a, 2), b) * x[:, ::2, ::2]), (0, 1))(a, b)

    args = whole_numbers(1, 41, 8, 1), whole_numbers(3, 3, 1, 2), whole_numbers(5, 5, 2, 1)
    (tmp_path / "program.mlir").write_text(jax.jit(f).lower(*args).as_text())
    split = running.opt(tmp_path / "program.mlir", "--tensor-size-threshold", "500")
    assert '"stablehlo.while"' in split
    for got, want in zip(running.Evaluator(tmp_path, args)(split), f(*args)):
        np.testing.assert_array_equal(got, want)
