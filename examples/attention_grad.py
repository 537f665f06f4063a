"""Softmax attention, forward and backward: a loss and its gradients, in single precision.

At the default size the scores have 8 x 8,192 x 8,192 entries: 2.1 GB, and the backward pass wants
several arrays like it.
    python examples/attention_grad.py --sequence 2048
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(batch=1, heads=8, sequence=8192, width=64)


def make_inputs(batch, heads, sequence, width, seed=0):
    rng = np.random.default_rng(seed)
    shape = (batch, heads, sequence, width)
    return tuple(rng.standard_normal(shape, dtype=np.float32) for _ in range(4))


def attention(query, key, value):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / jnp.sqrt(query.shape[-1])
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), value)


def loss(query, key, value, target):
    return 0.5 * jnp.sum((attention(query, key, value) - target) ** 2)


@jax.jit
def run(query, key, value, target):
    return jax.value_and_grad(loss, argnums=(0, 1, 2))(query, key, value, target)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in sizes.items():
        ap.add_argument("--" + name, type=int, default=default)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, gradients = jax.block_until_ready(run(*inputs))
    print(
        "loss %.8g" % value,
        " |gradients| =",
        ["%.6g" % np.linalg.norm(g) for g in gradients],
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
