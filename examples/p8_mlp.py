"""Batch inference with a wide two-layer network, 64 -> 4096 -> 10, in single precision.

At the default size the hidden layer has 1,000,000 x 4,096 entries: 16 GB.
    python examples/p8_mlp.py --n 20000
"""

import argparse
import time

import jax
import numpy as np

sizes = dict(n=1_000_000, d=64, hidden=4096, classes=10)


def make_inputs(n, d, hidden, classes, seed=0):
    rng = np.random.default_rng(seed)
    params = {
        "w1": rng.standard_normal((d, hidden), dtype=np.float32) / np.float32(np.sqrt(d)),
        "b1": rng.standard_normal(hidden, dtype=np.float32),
        "w2": rng.standard_normal((hidden, classes), dtype=np.float32)
        / np.float32(np.sqrt(hidden)),
        "b2": rng.standard_normal(classes, dtype=np.float32),
    }
    return params, rng.standard_normal((n, d), dtype=np.float32)


@jax.jit
def run(params, x):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    out = jax.block_until_ready(run(*inputs))
    classes = np.bincount(np.argmax(out, axis=1), minlength=out.shape[1])
    print("class counts", classes, " %.2f s with compilation" % (time.perf_counter() - t0))


if __name__ == "__main__":
    main()
