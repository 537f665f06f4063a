"""Counts of all pairs of values of each two of ten columns: 100 bincounts, written out one by one.

At the default size each pair needs a temporary of 4 MB or more. They are independent of one
another: nothing but the order of the program decides how many of the 100 are there at once.
    python examples/p7_bincounts.py --n 100000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

LEVELS = 16

sizes = dict(n=1_000_000, columns=10)


def make_inputs(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(0, LEVELS, n, dtype=np.int32) for _ in range(columns))


@jax.jit
def run(*columns):
    return [jnp.bincount(a * LEVELS + b, length=LEVELS**2) for a in columns for b in columns]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    counts = jax.block_until_ready(run(*inputs))
    print(
        "pairs (0, 1):",
        np.asarray(counts[1][:8]),
        "... of %d tables" % len(counts),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
