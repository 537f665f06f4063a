"""16-bit programs as people write them, split and with kernels: what overflows and what is rounded is as test/ref,
which rounds each op's result, has it without weir."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import running
from running import lowered, stored

N, M, D = 203, 310, 24
KINDS = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
SCALES = [1, 60]  # with the larger one products of two overflow f16, some
ROUNDINGS = 8


def softmax(x, y, w):
    return jax.nn.softmax(x @ y.T / 4, axis=-1) @ w


def masked_softmax(x, y, w):
    s = jnp.where(jnp.arange(N)[:, None] >= jnp.arange(M), x @ y.T, -jnp.inf)
    return jax.nn.softmax(s, axis=-1).max(1), jax.nn.logsumexp(s, axis=1)


def layer_norm(x, y, w):
    s = x @ y.T
    mean = jnp.mean(s, -1, keepdims=True)
    var = jnp.mean((s - mean) ** 2, -1, keepdims=True)
    return (s - mean) * lax.rsqrt(var + jnp.asarray(1e-5, s.dtype)) @ w


def sums(x, y, w):
    s = x @ y.T
    zero = jnp.asarray(0, s.dtype)
    return s.sum(1), s.sum(0, dtype=jnp.float32), lax.reduce(s, zero, lax.add, (0,)), (s * s).sum(), s.mean(1)


def finite(x, y, w):
    s = x @ y.T
    return jnp.isfinite(s).all(), jnp.isinf(s * s).sum(1), jnp.isnan(s - s).any(0), (jnp.asarray(1, s.dtype) / (s * s) == 0).sum()


def distances(x, y, w):
    return jnp.sum((x[:, None] - y[None]) ** 2, -1).min(1)


def expanded(x, y, w):
    return ((x * x).sum(1)[:, None] + (y * y).sum(1)[None] - 2 * (x @ y.T)).max(1)


def products(x, y, w):
    return (x @ y.T) @ w, jnp.trace(y @ y.T), jnp.diagonal(y @ y.T)


def two_products(x, y, w):
    return (x @ y.T + (x + x) @ y.T).max(1)


def sums_of_products(x, y, w):
    return lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32).sum(0), (x @ y.T).sum(0)


def centred(x, y, w):
    s = x @ y.T
    return (s - s.mean(0)).max(1), (s - s.mean(1, keepdims=True)).min(0)


def largest(x, y, w):
    s = x @ y.T
    return jnp.argmax(s, 1), lax.top_k(s, 4)[0], jnp.sort(s, 1)[:, :3], jnp.max(s) - jnp.min(s)


def conversions(x, y, w):
    s = lax.dot(x, y.T, preferred_element_type=jnp.float32)
    other = [k for k in KINDS.values() if k != x.dtype][0]
    return s.astype(x.dtype).astype(jnp.float32).max(1), s.astype(x.dtype).astype(other).min(0), s.astype(jnp.int8).sum(1)


def parts(x, y, w):
    s = x @ y.T
    return (s * s)[:, 5], (s[1:] - s[:-1]).max(1), jnp.pad(s * 2, ((1, 1), (0, 2))).sum(0), (s / 3)[::7].max(1)


def running_sum(x, y, w):
    return jnp.cumsum(x @ y.T, axis=1)[:, -1], jnp.std(x @ y.T, axis=0)


def training_step(x, y, w):
    """Master weights in f32, everything else in 16 bits; the loss is scaled, and the step skipped where a gradient
    is not finite."""
    half, scale = x.dtype, 2.0**8
    labels = jnp.sum(x, 1, dtype=jnp.float32)[:, None] > 0

    def loss(weights):
        h = jnp.maximum(x @ weights[0].astype(half), 0)
        out = jax.nn.sigmoid((h @ weights[1].astype(half)).astype(jnp.float32))
        return jnp.mean((out - labels) ** 2) * scale

    weights = [y.T.astype(jnp.float32) / 8, w.astype(jnp.float32)[:, :3] / 8]
    gradients = jax.grad(loss)(weights)
    ok = jnp.stack([jnp.isfinite(g).all() for g in gradients]).all()
    return [jnp.where(ok, w - 0.1 * g / scale, w) for w, g in zip(weights, gradients, strict=True)] + [ok]


def scan(x, y, w):
    """Sums over the batch in 16 bits, scaled down, added up in f32."""

    def step(carry, t):
        total, h = carry
        h = jnp.maximum(x @ w[:D] * jnp.asarray(6, x.dtype) + h * t, 0)
        g = (h.T @ h) * jnp.asarray(1 / 64, h.dtype)
        return (total + g.astype(jnp.float32), h), None

    first = jnp.zeros((D, D), jnp.float32), jnp.zeros((N, D), x.dtype)
    (total, h), _ = lax.scan(step, first, jnp.asarray([1, 2, 0.5], x.dtype))
    return jnp.isfinite(total).all(0), total, h.max(1)


PROGRAMS = [
    softmax, masked_softmax, layer_norm, sums, finite, distances, expanded, products, two_products, sums_of_products,
    centred, largest, conversions, parts, running_sum, training_step, scan,
]  # fmt: skip


def unlike(want, got):
    assert want.shape == got.shape and want.dtype == got.dtype
    w, g = (np.asarray(a, np.float64) for a in (want, got))
    if want.dtype.kind in "biu":
        return None if np.array_equal(w, g) else f"{np.sum(w != g)} of {w.size} differ"
    ends = ~np.isfinite(w) | ~np.isfinite(g)
    largest = np.max(np.abs(w), initial=0, where=np.isfinite(w))
    epsilon = 2.0**-8 if want.dtype == KINDS["bf16"] else 2.0**-10
    with np.errstate(invalid="ignore"):
        near = np.abs(w - g) <= ROUNDINGS * epsilon * largest
    same = np.where(ends, (w == g) | (np.isnan(w) & np.isnan(g)), near)
    return None if same.all() else f"{np.sum(~same)} of {same.size} differ: {g[~same][:3]}, expected {w[~same][:3]}"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_stated(program, kind, scale, tmp_path):
    dice = np.random.default_rng(4)
    inputs = [np.round(dice.normal(size=s) * 4) / 4 * k for s, k in (((N, D), scale), ((M, D), scale), ((M, D), 1))]
    inputs = [x.astype(KINDS[kind]) for x in inputs]
    with jax.enable_x64(True):
        types = [r.dtype for r in jax.tree.leaves(jax.eval_shape(program, *inputs))]
    text = lowered(program, *inputs)
    (tmp_path / "program.mlir").write_text(text)
    run = running.Evaluator(tmp_path, stored(inputs))
    want, problems = run.numbers(text, types), []
    for threshold, tile in ((3000, "off"), (30_000, "on")):
        split = running.opt(tmp_path / "program.mlir", "--tensor-size-threshold", threshold, "--tile", tile)
        found = map(unlike, want, run.numbers(split, types))
        problems += [f"{tile} {threshold} [{i}]: {p}" for i, p in enumerate(found) if p]
    assert not problems, "\n".join(problems)
