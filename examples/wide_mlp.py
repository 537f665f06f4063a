"""Full-batch training step of a network with one very wide hidden layer: loss and gradients, in
single precision.

At the default size the hidden layer has 50,000 x 100,000 entries: 20 GB.
    python examples/wide_mlp.py --n 2000 --hidden 10000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(n=50_000, d=32, hidden=100_000)


def make_inputs(n, d, hidden, seed=0):
    rng = np.random.default_rng(seed)
    params = {
        "w1": rng.standard_normal((d, hidden), dtype=np.float32) / np.float32(np.sqrt(d)),
        "b1": rng.standard_normal(hidden, dtype=np.float32),
        "w2": rng.standard_normal(hidden, dtype=np.float32) / np.float32(np.sqrt(hidden)),
        "b2": np.float32(0.1),
    }
    x = rng.standard_normal((n, d), dtype=np.float32)
    return params, x, np.sin(x.sum(axis=1))


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] + params["b2"] - y) ** 2)


@jax.jit
def run(params, x, y):
    return jax.value_and_grad(loss)(params, x, y)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, gradient = jax.block_until_ready(run(*inputs))
    print(
        "loss %.8g" % value,
        " |gradients| =",
        {k: "%.6g" % np.linalg.norm(g) for k, g in gradient.items()},
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
