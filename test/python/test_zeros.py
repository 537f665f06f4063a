"""Zeros of both signs, to the bit: extremes inside of kernels (the larger of +0 and -0 is +0, in any
order), and sums of -0.0 that begin with -0.0, in slices and in kernels."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running
from running import lowered
from kernel_running import count, folder, tiled  # noqa: F401

N, M = 40, 70


def zeros(shape, dtype, share, seed=0):
    """-0.0, so many of them +0.0 or, one in five of these, NaN."""
    dice = np.random.default_rng(seed)
    x = np.full(shape, -0.0, dtype)
    x[dice.random(shape) < share] = 0.0
    x[dice.random(shape) < share / 5] = np.nan
    return x


def bits(a):
    return np.where(np.isnan(a), 1, np.signbit(a).astype(int) * 2)


def between(x, y):
    """x of rows and y of columns as N x M values that no fold sees through."""
    return [jnp.where(jnp.arange(M)[None] >= 0, x[:, None], 1), jnp.where(jnp.arange(N)[:, None] >= 0, y, 1)]


def reduced(op, start, axis, outward):
    def function(x, y):
        a, b = between(x, y)
        chosen = jnp.where(outward, a, b)
        return lax.reduce(chosen, jnp.asarray(start, x.dtype), op, (axis,))

    return function


def picked_sign(op):
    """Of each row, how many elements are +0 and how many -0: 1 / them, in bits."""

    def function(x, y):
        v = op(*between(x, y))
        below = (jnp.full_like(v, 1) / v < 0).astype(jnp.int32)
        above = (jnp.full_like(v, 1) / v > 0).astype(jnp.int32)
        return below.sum(1), above.sum(1)

    return function


PAIRS = {
    "max": jnp.maximum,
    "min": jnp.minimum,
    "max of 0": lambda a, b: lax.max(a, jnp.zeros_like(b)),
    "0 or larger": lambda a, b: lax.max(jnp.zeros_like(a), b),
    "max of -0": lambda a, b: lax.max(a, -jnp.zeros_like(b)),
    "min of 0": lambda a, b: lax.min(a, jnp.zeros_like(b)),
    "min of -0": lambda a, b: lax.min(jnp.full_like(a, -0.0), b),
    "clamp": lambda a, b: lax.clamp(jnp.full_like(a, -0.0), b, jnp.maximum(a, b)),
    "clamp by zeros": lambda a, b: lax.clamp(jnp.zeros_like(a), a, jnp.full_like(a, -0.0)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, dtype, folder):  # noqa: F811
    x, y = zeros(N, dtype, 0.5), zeros(M, dtype, 0.5, 1)
    text = lowered(picked_sign(PAIRS[name]), x, y)
    program = tiled(text, folder, "--tensor-size-threshold", N * M)
    assert count(program)
    for want, got in zip(running.Xla(text)(x, y), running.Xla(program)(x, y), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("share", [0, 0.02, 1])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op, start", [(lax.max, -np.inf), (lax.min, np.inf), (lax.max, -0.0), (lax.min, 0.0)])
def test_extremes(op, start, axis, share, folder, tmp_path):  # noqa: F811
    """Of all elements, as they stand and the other way round."""
    for dtype in (np.float32, np.float64):
        for turned in (False, True):
            x, y = zeros(N, dtype, share), zeros(M, dtype, share, 1)
            if turned:
                x, y = x[::-1].copy(), y[::-1].copy()
            text = lowered(reduced(op, start, axis, axis == 1), x, y)
            program = tiled(text, folder, "--tensor-size-threshold", N * M)
            assert count(program)
            within = tmp_path / f"{np.dtype(dtype)}{turned}"
            within.mkdir()
            (want,), (got,) = running.Evaluator(within, [x, y])(text), running.Xla(program)(x, y)
            np.testing.assert_array_equal(bits(got), bits(want))

def softmax_sum(a, m):
    return jnp.exp(a - m).sum(1)


# What becomes of the extreme m of the rows of a: shown is the sign of a zero, hidden it is not.
SHOWN = {
    "itself": lambda a, m: m[:, 0],
    "over it": lambda a, m: (1 / m)[:, 0],
    "over a sum": lambda a, m: 1 / (m[:, 0] - m[:, 0].max() * 2),
    "with an exponential": lambda a, m: (softmax_sum(a, m), m[:, 0]),
    "its difference": lambda a, m: jnp.where(1 / (a - m) < 0, 1, 0).sum(1),
    "its maximum": lambda a, m: 1 / jnp.maximum(a, m).max(1),
    "its root": lambda a, m: 1 / jnp.sqrt(m[:, 0]),
    "its angle": lambda a, m: jnp.arctan2(m[:, 0], -1.0),
    "a choice": lambda a, m: 1 / jnp.where(a > 5, a, m).min(1),
}
HIDDEN = {
    "softmax": softmax_sum,
    "logsumexp": lambda a, m: jnp.log(softmax_sum(a, jnp.where(jnp.isfinite(m), m, 0))),
    "compared": lambda a, m: (a == m).sum(1),
    "size": lambda a, m: 1 / abs(m[:, 0]),
    "scaled": lambda a, m: jnp.exp(jnp.maximum(a * 2.0, -m) / 3 + m).sum(1),
    "summed": lambda a, m: jnp.exp(-(m[:, 0] + a.max(1))),
}


@pytest.mark.parametrize("extreme", ["max", "min"])
@pytest.mark.parametrize("name", [*SHOWN, *HIDDEN])
def test_readers_of_extremes(name, extreme, folder, tmp_path):  # noqa: F811
    """A zero's sign is right where a reader shows it. NaN is NaN for all."""

    def function(x, y):
        of_rows, of_columns = between(x, y)
        a = jnp.where(jnp.arange(M) % 2 == 0, of_rows, of_columns)
        a = jnp.where(jnp.arange(N)[:, None] % 7 == 6, a + 3, a)
        return (SHOWN | HIDDEN)[name](a, getattr(a, extreme)(1, keepdims=True))

    sign = 1 if extreme == "max" else -1  # few zeros are the extreme ones
    for share in (0, 0.02, 1):
        x, y = sign * zeros(N, np.float32, share), sign * zeros(M, np.float32, share, 1)
        text = lowered(function, x, y)
        program = tiled(text, folder, "--tensor-size-threshold", N * M)
        assert count(program)
        within = tmp_path / str(share)
        within.mkdir()
        wants, gots = running.Evaluator(within, [x, y])(text), running.Xla(program)(x, y)
        for want, got in zip(wants, gots, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
            np.testing.assert_array_equal(bits(got), bits(want))


SUM = """
func.func @main(%x: tensor<50x30x{t}>, %y: tensor<50x30x{t}>, %s: tensor<{t}>) -> tensor<30x{t}> {{
  %a = stablehlo.maximum %x, %y : tensor<50x30x{t}>
  %r = stablehlo.reduce(%a init: {init}) applies stablehlo.add across dimensions = [0] : (tensor<50x30x{t}>, tensor<{t}>) -> tensor<30x{t}>
  return %r : tensor<30x{t}>
}}
"""
NEGATIVE = "  %z = stablehlo.constant dense<-0.0> : tensor<{t}>\n"


@pytest.mark.parametrize("init", ["%s", "%z"])
@pytest.mark.parametrize("tile", ["on", "off"])
@pytest.mark.parametrize("rows", [7, 10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_sums_that_begin_with_negative_zero(dtype, rows, tile, init, tmp_path):
    """Slices that end where the extent ends, and not."""
    t = f"f{8 * np.dtype(dtype).itemsize}"
    text = SUM.format(t=t, init=init).replace("  %r =", NEGATIVE.format(t=t) + "  %r =", 1)
    x = np.full((50, 30), -0.0, dtype)
    x[3, 5] = 0.0
    inputs = [x, x.copy(), np.asarray(-0.0, dtype)]
    path = tmp_path / "sum.mlir"
    path.write_text(text)
    size = rows * 30 * x.itemsize
    program = running.opt(path, "--tensor-size-threshold", size, "--tile", tile)
    assert "while" in program or count(program)
    (got,) = running.Xla(program)(*inputs)
    assert np.signbit(got).sum() == 29 and not np.signbit(got[5])
