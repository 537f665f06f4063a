"""Tiles of 16-bit floats: read and stored as such, f32 in between. They differ from the same program
in f32 by the rounding of results."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import running
from test_tile import count, folder, lowered, tiled  # noqa: F401 (a fixture)

DTYPES = {"bf16": (ml_dtypes.bfloat16, 2.0**-8), "f16": (np.float16, 2.0**-11)}
ROUNDINGS = 6


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


def run(text, inputs):
    results = running.Xla(text)(*inputs)
    return floats(r.view(ml_dtypes.bfloat16) if r.dtype == np.uint16 else r for r in results)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", PROGRAMS)
def test_as_f32(function, dtype, folder):  # noqa: F811
    kind, epsilon = DTYPES[dtype]
    inputs = data(kind)
    stored = [x.view(np.uint16) if dtype == "bf16" else x for x in inputs]
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", 60_000)
    assert count(program) and "stablehlo.while" not in program
    exact = floats(jax.tree.leaves(jax.jit(function)(*[x.astype(np.float32) for x in inputs])))
    for want, got in zip(exact, run(program, stored), strict=True):
        if function is elementwise and want.ndim == 1 and want.shape[0] != inputs[0].shape[0]:
            assert np.abs(got - want).max() <= 3  # counts, where a rounding may decide
            continue
        scale = np.abs(want).max()
        assert np.abs(got - want).max() <= ROUNDINGS * epsilon * scale


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding(dtype, folder):  # noqa: F811
    """What is stored is rounded to nearest even, NaNs and infinities stay."""
    kind, _ = DTYPES[dtype]
    x = [1, 1.00390625, 1.01171875, 65504, 1e38, -1e38, np.inf, -np.inf, np.nan, -0.0, 1e-30, 6e-8]
    x = np.array(x * 30, np.float32)
    y = np.where(np.arange(64) % 2, 1, -1).astype(np.float32)

    def product(x, y):
        return (x[:, None] * y[None]).astype(kind)

    text = lowered(product, x, y)
    program = tiled(text, folder, "--tensor-size-threshold", 10_000)
    assert count(program)
    (want,), (got,) = running.Xla(text)(x, y), running.Xla(program)(x, y)
    want, got = (a.view(kind) if dtype == "bf16" else a for a in (want, got))
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.asarray(want, np.float32))
    zero = np.asarray(want, np.float32) == 0
    assert np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


LEFT_ALONE = {
    "top_k": lambda x, y: jax.lax.top_k(x[:, None] * y[None], 3),
    "argmax": lambda x, y: jnp.argmax(x[:, None] * y[None], 1),
    "to integers": lambda x, y: (x[:, None] * y[None]).astype(jnp.int32).sum(1),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_left_alone(case, folder):  # noqa: F811
    x, y = (np.arange(n).astype(ml_dtypes.bfloat16) for n in (100, 400))
    text = lowered(LEFT_ALONE[case], x, y)
    assert not count(tiled(text, folder, "--tensor-size-threshold", 30_000))
