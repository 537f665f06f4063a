"""Softmax attention, forward, in single precision.

At the default size the scores have 8 x 16,384 x 16,384 entries: 8.6 GB.
    python examples/p5_attention.py --sequence 2048
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(batch=1, heads=8, sequence=16_384, width=64)


def make_inputs(batch, heads, sequence, width, seed=0):
    rng = np.random.default_rng(seed)
    shape = (batch, heads, sequence, width)
    return tuple(rng.standard_normal(shape, dtype=np.float32) for _ in range(3))


@jax.jit
def run(query, key, value):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / jnp.sqrt(query.shape[-1])
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), value)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in sizes.items():
        ap.add_argument("--" + name, type=int, default=default)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    out = jax.block_until_ready(run(*inputs))
    print(
        "out[0,0,0,:4] =",
        np.asarray(out[0, 0, 0, :4]),
        " |out| = %.7g" % np.linalg.norm(out),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
