"""The sum of x with one entry replaced, for each entry: a vmap over x.at[i].set(7).sum().

Single precision. At the default size the replaced copies of x are 100,000 x 100,000: 40 GB.
    python examples/p4_vmap_set.py --n 10000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(n=100_000)


def make_inputs(n, seed=0):
    return (np.random.default_rng(seed).standard_normal(n, dtype=np.float32),)


@jax.jit
def run(x):
    return jax.vmap(lambda i: x.at[i].set(7.0).sum())(jnp.arange(x.shape[0]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    sums = jax.block_until_ready(run(*inputs))
    print(
        "sums[:4] =", np.asarray(sums[:4]), " %.2f s with compilation" % (time.perf_counter() - t0)
    )


if __name__ == "__main__":
    main()
