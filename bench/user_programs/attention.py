"""Attention in its many forms."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.registry import program

SUMS = "gradients by f32 sums over the sequence"


@program(
    3072,
    970,
    lambda n, r: (r.normal(2, n, 128), *(r.normal(128, 128, scale=0.1) for _ in range(3))),
)
def sliding_window(x, wq, wk, wv):
    """Causal attention over a window, by a mask."""
    b, t, d = x.shape
    heads = 4

    def project(w):
        return (x @ w).reshape(b, t, heads, d // heads)

    s = jnp.einsum("bqhd,bkhd->bhqk", project(wq), project(wk)) / math.sqrt(d // heads)
    i = jnp.arange(t)
    mask = (i[:, None] >= i[None]) & (i[:, None] - i[None] < 256)
    p = jax.nn.softmax(jnp.where(mask, s, -1e30), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", p, project(wv)).reshape(b, t, d)


@program(
    1536,
    486,
    lambda n, r: (r.normal(2, n, 8, 32), r.normal(2, n, 2, 32), r.normal(2, n, 2, 32)),
    tolerance=3e-4,
    why=SUMS,
)
def grouped_alibi_grad(q, k, v):
    """Gradients of grouped-query attention with ALiBi and capped logits."""

    def loss(q, k, v):
        b, t, heads, d = q.shape
        groups = k.shape[2]
        grouped = q.reshape(b, t, groups, heads // groups, d)
        s = jnp.einsum("btgrd,bsgd->bgrts", grouped, k) / math.sqrt(d)
        slopes = 2.0 ** (-8 * jnp.arange(1, heads + 1) / heads).reshape(groups, heads // groups)
        i = jnp.arange(t)
        s = s - slopes[None, :, :, None, None] * (i[:, None] - i[None])
        s = 30 * jnp.tanh(s / 30)
        s = jnp.where(i[:, None] >= i[None], s, jnp.finfo(s.dtype).min)
        out = jnp.einsum("bgrts,bsgd->btgrd", jax.nn.softmax(s, -1), v)
        return (out**2).mean()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@program(
    2048,
    648,
    lambda n, r: (
        r.normal(8, n, 32, scale=0.3),
        r.normal(8, n, 32),
        r.normal(8, n, 32),
        r.normal(64, 8),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def t5_bias_grad(q, k, v, table):
    """Attention with T5's bias of buckets, gradients in the table and the queries."""

    def loss(table, q):
        t = q.shape[1]
        offset = jnp.arange(t)[None] - jnp.arange(t)[:, None]
        n = jnp.abs(offset)
        far = jnp.log(jnp.maximum(n, 1) / 16) / math.log(128 / 16) * 16
        far = jnp.minimum(16 + far.astype(jnp.int32), 31)
        bucket = jnp.where(n < 16, n, far) + (offset > 0) * 32
        bias = table[bucket]
        s = jnp.einsum("hqd,hkd->hqk", q, k) + bias.transpose(2, 0, 1)
        out = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(s, -1), v)
        return (out * out).mean()

    return jax.value_and_grad(loss, (0, 1))(table, q)


@program(
    4096,
    410,
    lambda n, r: (
        r.normal(8, 512, 4, 32),
        r.normal(8, n, 4, 32),
        r.normal(8, n, 4, 32),
        100 + r.integers(n - 100, 8),
    ),
)
def cross_attention(q, k, v, lengths):
    """Cross-attention over padded keys, softmax by hand; also the mean weights."""
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    s = 50 * jnp.tanh(s / 50)
    mask = jnp.arange(k.shape[1])[None] < lengths[:, None]
    s = jnp.where(mask[:, None, None], s, -jnp.inf)
    most = lax.stop_gradient(s.max(-1, keepdims=True))
    p = jnp.exp(s - most)
    p = p / p.sum(-1, keepdims=True)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v), p.mean((1, 2))


def topk_inputs(n, r):
    """In no row are the 32nd and the 33rd logit closer than f32 tells apart."""
    k, q = r.normal(n, 64), r.normal(4 * n // 5, 64)
    return q, k, r.normal(n, 64)


@program(10_000, 3160, topk_inputs)
def topk_attention(q, k, v):
    """Attention to the 32 largest logits."""
    s = q @ k.T / 8
    least = lax.top_k(s, 32)[0][:, -1:]
    return jax.nn.softmax(jnp.where(s >= least, s, -jnp.inf), -1) @ v


def vision_inputs(n, r):
    d = 96

    def block():
        return dict(
            g1=r.array(np.ones(d)),
            g2=r.array(np.ones(d)),
            qkv=r.normal(d, 3 * d, scale=0.1),
            o=r.normal(d, d, scale=0.1),
            w1=r.normal(d, 4 * d, scale=0.1),
            w2=r.normal(4 * d, d, scale=0.05),
        )

    parameters = dict(
        patch=r.normal(8, 8, 3, d, scale=0.1),
        position=r.normal(256, d, scale=0.1),
        blocks=[block(), block()],
        head=r.normal(d, 10, scale=0.1),
    )
    return r.normal(n, 128, 128, 3), parameters, r.integers(10, n)


@program(16, 2, vision_inputs, tolerance=3e-4, why=SUMS)
def vision_transformer_grad(images, parameters, labels):
    """A small vision transformer: loss and gradient of all parameters."""

    def normalised(x, gain):
        mean = x.mean(-1, keepdims=True)
        variance = x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-6) * gain

    def attended(x, block):
        b, t, d = x.shape

        def heads(a):
            return a.reshape(b, t, 4, d // 4).transpose(0, 2, 1, 3)

        q, k, v = jnp.split(normalised(x, block["g1"]) @ block["qkv"], 3, -1)
        s = heads(q) @ heads(k).swapaxes(-1, -2) / math.sqrt(d // 4)
        out = jax.nn.softmax(s, -1) @ heads(v)
        return out.transpose(0, 2, 1, 3).reshape(b, t, d) @ block["o"]

    def loss(p):
        layout = ("NHWC", "HWIO", "NHWC")
        x = lax.conv_general_dilated(images, p["patch"], (8, 8), "VALID", dimension_numbers=layout)
        x = x.reshape(x.shape[0], -1, x.shape[-1]) + p["position"]
        for block in p["blocks"]:
            x = x + attended(x, block)
            x = x + jax.nn.gelu(normalised(x, block["g2"]) @ block["w1"]) @ block["w2"]
        scores = jax.nn.log_softmax(x.mean(1) @ p["head"])
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    return jax.value_and_grad(loss)(parameters)


@program(
    3500,
    1100,
    lambda n, r: (
        r.normal(n, 32),
        r.bools(0.01, n, n) | np.eye(n, dtype=bool),
        r.normal(32, 4, 8, scale=0.2),
        r.normal(4, 8),
        r.normal(4, 8),
    ),
    tolerance=3e-4,
    why="gradients by f32 sums over the graph",
)
def graph_attention_grad(x, adjacent, w, a1, a2):
    """A graph attention layer over a dense adjacency matrix, with gradients."""

    def loss(w, a1, a2):
        h = jnp.einsum("nf,fhd->hnd", x, w)
        logits = (h @ a1[..., None]) + (h @ a2[..., None]).swapaxes(1, 2)
        logits = jnp.where(adjacent, jax.nn.leaky_relu(logits, 0.2), -1e9)
        out = jax.nn.elu(jax.nn.softmax(logits, -1) @ h)
        return (out**2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(w, a1, a2)


@program(
    2048,
    648,
    lambda n, r: tuple(jnp.asarray(r.normal(4, n, 64), jnp.bfloat16) for _ in range(3)),
    tolerance=2e-2,
    why="bf16",
)
def bf16_attention_grad(q, k, v):
    """Gradients of causal attention in bf16, logits in f32."""

    def loss(q, k, v):
        s = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32) * 0.125
        i = jnp.arange(s.shape[-1])
        s = jnp.where(i[:, None] >= i, s, -1e30)
        p = jax.nn.softmax(s, -1).astype(jnp.bfloat16)
        return (jnp.einsum("hqk,hkd->hqd", p, v).astype(jnp.float32) ** 2).mean()

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@program(
    5000,
    1580,
    lambda n, r: (
        r.normal(n, 64, scale=0.5),
        r.normal(3, 64, 192, scale=0.1),
        r.normal(64, scale=0.1),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def checkpointed_layers(x, weights, readout):
    """The gradient through a scan over checkpointed attention layers."""

    def loss(weights):
        @jax.checkpoint
        def layer(h, w):
            q, k, v = jnp.split(h @ w, 3, -1)
            a = jax.nn.softmax(q @ k.T / 8, -1)
            return h + a @ v, jnp.sum(a * a)

        h, spread = lax.scan(layer, x, weights)
        return (h @ readout).sum() + spread.sum() * 1e-3

    return jax.value_and_grad(loss)(weights)


@program(2048, 648, lambda n, r: [r.normal(4, n, 32) for _ in range(3)], tolerance=3e-4, why=SUMS)
def dropout_grad(q, k, v):
    """Attention with dropout on its weights, with gradient."""

    def loss(q):
        p = jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) / 6, -1)
        keep = jax.random.bernoulli(jax.random.key(0), 0.9, p.shape)
        p = jnp.where(keep, p / 0.9, 0)
        return (jnp.einsum("hqk,hkd->hqd", p, v) ** 2).mean()

    return jax.value_and_grad(loss)(q)


@program(
    3000,
    950,
    lambda n, r: (r.normal(4, n, 32, scale=0.3), r.normal(4, n, 32, scale=0.3), r.normal(4, n, 32)),
)
def retention(q, k, v):
    """RetNet's parallel form: decay in place of softmax."""
    i = jnp.arange(q.shape[1])
    rate = 1 - 2.0 ** (-5 - jnp.arange(q.shape[0], dtype=jnp.float32))
    lag = i[:, None] - i
    decay = jnp.where(lag >= 0, rate[:, None, None] ** lag, 0)
    decay = decay / jnp.sqrt(decay.sum(-1, keepdims=True))
    s = jnp.einsum("hqd,hkd->hqk", q, k) * decay
    s = s / jnp.maximum(jnp.abs(s.sum(-1, keepdims=True)), 1)
    return s @ v


@program(
    16_384,
    1638,
    lambda n, r: (
        r.normal(16, n, 32),
        r.normal(16, 128, 32),
        *(r.normal(32, 32, scale=0.2) for _ in range(3)),
    ),
    tolerance=3e-4,
    why="three rounds over f32 sums of the sequence",
)
def slot_attention(x, slots, wk, wv, wq):
    """Three rounds of slot attention."""
    k = x @ wk
    v = x @ wv
    for _ in range(3):
        s = jnp.einsum("bnd,bsd->bns", k, slots @ wq) / 6
        a = jax.nn.softmax(s, -1) + 1e-8
        w = a / a.sum(1, keepdims=True)
        slots = slots + jnp.tanh(jnp.einsum("bns,bnd->bsd", w, v))
    return slots


@program(512, 160, lambda n, r: (r.normal(2, n, n, 32), r.normal(32, 96, scale=0.2)))
def shifted_windows(x, wqkv):
    """Swin's attention in shifted windows of 16 x 16."""
    b, h, w, c = x.shape
    side = 16
    y = jnp.roll(x, (-8, -8), (1, 2))
    y = y.reshape(b, h // side, side, w // side, side, c)
    y = y.transpose(0, 1, 3, 2, 4, 5).reshape(-1, side * side, c)
    q, k, v = jnp.split(y @ wqkv, 3, -1)
    a = jax.nn.softmax(q @ k.swapaxes(1, 2) / 6, -1) @ v
    a = a.reshape(b, h // side, w // side, side, side, c)
    a = a.transpose(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
    return x + jnp.roll(a, (8, 8), (1, 2))


@program(
    12_000,
    3800,
    lambda n, r: (r.normal(5 * n // 12, 64, scale=0.2), r.normal(n, 64, scale=0.2)),
    tolerance=1e-3,
    why="six iterations that sharpen, so differences grow",
)
def hopfield(q, stored):
    """A modern Hopfield network until it converges."""

    def step(state):
        q, i, _ = state
        new = jax.nn.softmax(8.0 * q @ stored.T, axis=-1) @ stored
        return new, i + 1, jnp.abs(new - q).max()

    start = (q, 0, jnp.float32(jnp.inf))
    q, i, _ = lax.while_loop(lambda s: (s[2] > 1e-3) & (s[1] < 6), step, start)
    return q, i


@program(64, 36, lambda n, r: (r.normal(2, n, n, 64, scale=0.3), r.normal(2, n, n, 64, scale=0.3)))
def correlation_volume(f1, f2):
    """RAFT's volume of all pairs of pixels: a pooled maximum and expected positions."""
    c = jnp.einsum("bhwc,bijc->bhwij", f1, f2) / 8
    window = (1, 1, 1, 4, 4)
    pooled = lax.reduce_window(c, 0.0, lax.add, window, window, "VALID") / 16
    w = jax.nn.softmax(c.reshape(*c.shape[:3], -1), -1)
    height, width = f2.shape[1:3]
    grid = jnp.meshgrid(jnp.arange(height), jnp.arange(width), indexing="ij")
    position = jnp.stack(grid, -1).reshape(-1, 2).astype(jnp.float32)
    return w @ position, pooled.max((-1, -2))


@program(192, 62, lambda n, r: (r.normal(n, n, 32), r.normal(n, n, 32)))
def shift_costs_grad(a, b):
    """Costs of 81 shifts for each pixel, as flow networks have them: the expected shift, with gradient."""
    p = jnp.pad(b, ((4, 4), (4, 4), (0, 0)))
    shifts = [(i, j) for i in range(9) for j in range(9)]

    def loss(a):
        costs = [(a * lax.dynamic_slice(p, (i, j, 0), a.shape)).mean(-1) for i, j in shifts]
        w = jax.nn.softmax(5 * jnp.stack(costs, -1), -1)
        return jnp.mean(jnp.abs(w @ jnp.array(shifts, a.dtype)))

    return jax.value_and_grad(loss)(a)


@program(
    3000,
    950,
    lambda n, r: (*(r.normal(4, n, 16) for _ in range(4)), r.normal(4, n, 32), r.array(0.3)),
)
def differential_attention(q1, q2, k1, k2, v, share):
    """The difference of two causal softmaxes, normalised."""
    seen = jnp.tril(jnp.ones((q1.shape[1], k1.shape[1]), bool))

    def weights(q, k):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) / math.sqrt(q.shape[-1])
        return jax.nn.softmax(jnp.where(seen, scores, -1e30), -1)

    out = jnp.einsum("hqk,hkd->hqd", weights(q1, k1) - share * weights(q2, k2), v)
    return out / jnp.sqrt((out * out).mean(-1, keepdims=True) + 1e-5)


@program(
    2500,
    800,
    lambda n, r: (*(r.normal(n, 6, 16) for _ in range(3)), r.normal(6, 6), r.normal(6, 6)),
    tolerance=3e-4,
    why=SUMS,
)
def talking_heads_grad(q, k, v, before, after):
    """Heads mixed before and after the softmax, with gradients."""

    def loss(q, k, v, before, after):
        scores = jnp.einsum("hqk,hg->gqk", jnp.einsum("qhd,khd->hqk", q, k) / 4, before)
        weights = jnp.einsum("gqk,gh->hqk", jax.nn.softmax(scores, -1), after)
        return (jnp.einsum("hqk,khd->qhd", weights, v) ** 2).sum()

    return jax.grad(loss, (0, 1, 2, 3, 4))(q, k, v, before, after)


@program(40_000, 4000, lambda n, r: (r.normal(32, 64), r.normal(4, 32), r.normal(3000, 32), r.integers(3000, 2, n)))
def edge_attention_grad(w, a, x, edges):
    """A graph attention layer over a list of edges, softmax by segments, with gradients."""
    source, target = edges

    def loss(w, a):
        h = (x @ w).reshape(len(x), 4, 16)
        both = jnp.concatenate([h[source], h[target]], -1)
        logits = jax.nn.leaky_relu((both * a).sum(-1))
        weights = jnp.exp(logits - jax.ops.segment_max(logits, target, len(x))[target])
        weights /= jax.ops.segment_sum(weights, target, len(x))[target]
        return (jax.ops.segment_sum(weights[..., None] * h[source], target, len(x)) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1))(w, a)
