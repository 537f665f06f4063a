"""Convolutions that Eigen has not the types for, by whoever computes them: plain loops of stock XLA
without YNN say what is right. As they are, in a scan, and in slices under a limit. Compiled as users do,
for without optimisations stock XLA itself has NaNs in gradients of such scans."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import weir
from held import check_a_tenth
from running import HONEST

NUMBERS = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def convolution_of(rng):
    """A convolution and its operands: two spatial dimensions and many features most of the time,
    which YNN takes, else what it leaves."""
    n, dtype = int(rng.choice([2, 2, 2, 2, 1, 3])), rng.choice([np.float64, np.float64, np.int8, ml_dtypes.float8_e4m3fn])
    inside, out = (int(rng.choice([3, 17, 24])) for _ in range(2))
    groups = int(rng.choice([1, 1, 1, inside, 3]))
    groups = groups if inside % groups == 0 else 1
    out = groups * max(1, out // groups)
    size = [int(s) for s in rng.integers(4, 12, n)]
    taps = [int(s) for s in rng.integers(1, 4, n)]
    settings = dict(
        window_strides=[int(s) for s in rng.choice([1, 1, 2], n)],
        padding=[tuple(int(p) for p in rng.integers(-1, 3, 2)) for _ in range(n)],
        lhs_dilation=[int(s) for s in rng.choice([1, 1, 1, 2], n)],
        rhs_dilation=[int(s) for s in rng.choice([1, 1, 2], n)],
        dimension_numbers=NUMBERS[n],
        feature_group_count=groups,
        preferred_element_type=np.int32 if dtype == np.int8 else np.float64,
    )
    shapes = (48, *size, inside), (*taps, inside // groups, out)
    draw = rng.integers if dtype == np.int8 else rng.normal
    x, k = (draw(*((-9, 10) if dtype == np.int8 else (0, 1)), s).astype(dtype) for s in shapes)
    convolve = lambda x, k: lax.conv_general_dilated(x, k, **settings)  # noqa: E731
    return (convolve, x, k) if jax.eval_shape(convolve, x, k).size else convolution_of(rng)


def program_of(rng, convolve, x, k):
    """Forward, or with gradients of both operands, in a scan or not; what is large is summed."""
    made = jax.eval_shape(convolve, x, k)
    weights = rng.normal(size=made.shape[1:])

    def loss(x, k):
        z = jnp.sin(jnp.arange(4.0)[:, None, None] + convolve(x, k).reshape(48, -1)[None] * weights.ravel())
        return (z.max(0) ** 2).sum(1)

    if x.dtype.itemsize == 1:
        return loss
    gradients = jax.grad(lambda x, k: loss(jnp.sin(3 * x), k).sum(), (0, 1))
    stepped = lambda x, k: lax.scan(lambda c, i: (c + gradients(x * i, k)[1], None), k, jnp.arange(2.0))[0]  # noqa: E731
    return [loss, lambda x, k: gradients(x, k)[1], stepped][int(rng.integers(3))]


@pytest.mark.parametrize("seed", range(16))
def test_by_whom(seed, as_users):
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        convolve, x, k = convolution_of(rng)
        program = program_of(rng, convolve, x, k)
        lowered = jax.jit(program).lower(x, k)
        stock = lowered.compile(compiler_options=HONEST)
        want, m = stock(x, k), stock.memory_analysis()
        held = m.argument_size_in_bytes + m.output_size_in_bytes
        for share in (0.9, 0.4):
            with weir.limit(held + int(share * m.temp_size_in_bytes)):
                got = jax.jit(lambda x, k: program(x, k))(x, k)
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


@pytest.mark.parametrize("name", [n for n in sorted(vars(ml_dtypes)) if n.startswith("float8")])
def test_strips_of_floats_of_a_byte(name, as_users):
    """Beyond the ends of a signal there are zeros of its type."""
    rng, dtype = np.random.default_rng(0), getattr(ml_dtypes, name)
    x, k = (np.abs(rng.normal(size=s)).astype(dtype) for s in [(1, 400, 4), (3, 4, 8)])

    def f(x, k):
        y = lax.conv_general_dilated(x, k, (1,), [(1, 2)], None, None, NUMBERS[1], preferred_element_type=np.float32)
        return jnp.abs(y[:, :, None] * jnp.arange(1.0, 99.0, dtype=np.float32)[:, None]).max(-1)

    check_a_tenth(f, x, k)
