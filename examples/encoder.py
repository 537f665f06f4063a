"""A transformer encoder, forward: self-attention and feed-forward layers, in single precision.

At the default size the scores of one layer have 64 x 8 x 1,000 x 1,000 entries: 2 GB, and the
hidden layers 0.5 GB.
    python examples/encoder.py --batch 4 --sequence 250
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

HEADS = 8

sizes = dict(batch=64, sequence=1000, width=512, hidden=2048, layers=2)


def make_inputs(batch, sequence, width, hidden, layers, seed=0):
    rng = np.random.default_rng(seed)

    def weights(*shape):
        return rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(shape[0]))

    params = [
        {
            "qkv": weights(width, 3 * width),
            "out": weights(width, width),
            "w1": weights(width, hidden),
            "b1": np.zeros(hidden, np.float32),
            "w2": weights(hidden, width),
            "b2": np.zeros(width, np.float32),
            "scale1": np.ones(width, np.float32),
            "bias1": np.zeros(width, np.float32),
            "scale2": np.ones(width, np.float32),
            "bias2": np.zeros(width, np.float32),
        }
        for _ in range(layers)
    ]
    return params, rng.standard_normal((batch, sequence, width), dtype=np.float32)


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def self_attention(p, x):
    b, s, d = x.shape
    q, k, v = jnp.moveaxis((x @ p["qkv"]).reshape(b, s, 3, HEADS, d // HEADS), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(d // HEADS).astype(x.dtype)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)
    return out.reshape(b, s, d) @ p["out"]


def layer(p, x):
    x = layer_norm(x + self_attention(p, x), p["scale1"], p["bias1"])
    hidden = jax.nn.relu(x @ p["w1"] + p["b1"])
    return layer_norm(x + hidden @ p["w2"] + p["b2"], p["scale2"], p["bias2"])


@jax.jit
def run(params, x):
    for p in params:
        x = layer(p, x)
    return x


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    out = jax.block_until_ready(run(*inputs))
    print(
        "out[0,0,:4] =",
        np.asarray(out[0, 0, :4]),
        " |out| = %.7g" % np.linalg.norm(out),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
