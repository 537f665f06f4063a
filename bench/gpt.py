"""A GPT's training step, its layers written out one after the other: what programs with many ops
look like. Only shapes: nothing is allocated.
"""

import jax
import jax.numpy as jnp

WIDTH, HEADS, VOCABULARY = 384, 6, 8192
RATE, DECAY, BETA1, BETA2 = 3e-4, 0.1, 0.9, 0.95


def layer_shapes():
    d = WIDTH
    return {
        "norm1": (d,),
        "qkv": (d, 3 * d),
        "out": (d, d),
        "norm2": (d,),
        "up": (d, 4 * d),
        "down": (4 * d, d),
    }


def shapes(layers, length):
    return {
        "tokens": (VOCABULARY, WIDTH),
        "positions": (length, WIDTH),
        "layers": [layer_shapes() for _ in range(layers)],
        "norm": (WIDTH,),
    }


def normalised(x, scale):
    centred = x - x.mean(-1, keepdims=True)
    return scale * centred * jax.lax.rsqrt(centred.var(-1, keepdims=True) + 1e-5)


def attention(x, p):
    batch, length, _ = x.shape
    q, k, v = jnp.moveaxis((x @ p["qkv"]).reshape(batch, length, 3, HEADS, -1), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    seen = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["out"]


def loss(p, tokens):
    x = p["tokens"][tokens[:, :-1]] + p["positions"]
    for layer in p["layers"]:
        x = x + attention(normalised(x, layer["norm1"]), layer)
        x = x + jax.nn.gelu(normalised(x, layer["norm2"]) @ layer["up"]) @ layer["down"]
    logits = normalised(x, p["norm"]) @ p["tokens"].T
    found = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], 2)
    return -found.mean()


def updated(p, m, v, g, t):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g**2
    step = m / (1 - BETA1**t) / (jnp.sqrt(v / (1 - BETA2**t)) + 1e-8)
    return p - RATE * (step + DECAY * p), m, v


def step(state, tokens):
    """A step of AdamW: the state is (parameters, first and second moments, count)."""
    p, m, v, t = state
    value, gradient = jax.value_and_grad(loss)(p, tokens)
    leaves, tree = jax.tree.flatten(p)
    moved = map(updated, leaves, *map(jax.tree.leaves, (m, v, gradient)), [t + 1] * len(leaves))
    p, m, v = (jax.tree.unflatten(tree, part) for part in zip(*moved))
    return (p, m, v, t + 1), value


def arguments(layers, batch, length):
    floats = jax.tree.map(
        lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32),
        shapes(layers, length),
        is_leaf=lambda x: isinstance(x, tuple),
    )
    count = jax.ShapeDtypeStruct((), jnp.float32)
    return (floats,) * 3 + (count,), jax.ShapeDtypeStruct((batch, length + 1), jnp.int32)


def lowered(layers, batch=32, length=256):
    return jax.jit(step, donate_argnums=0).lower(*arguments(layers, batch, length))
