"""Squared-exponential kernel matrix times a vector, y = K(x, x) v, in double precision.

At the default size K has 100,003 x 100,003 entries: 80 GB.
    python examples/p1_kernel_matvec.py --n 10000 --d 10
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

sizes = dict(n=100_003, d=10)


def make_inputs(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def squared_distance(x, y):
    xx = jnp.sum(x * x, axis=1)
    yy = jnp.sum(y * y, axis=1)
    return jnp.maximum(xx[:, None] + yy[None, :] - 2.0 * x @ y.T, 0.0)


def se_kernel(x, y, variance=1.5, lengthscale=2.0):
    return variance * jnp.exp(-0.5 * squared_distance(x / lengthscale, y / lengthscale))


@jax.jit
def run(x, v):
    return se_kernel(x, x) @ v


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    y = jax.block_until_ready(run(*inputs))
    print(
        "y[:4] =",
        np.asarray(y[:4]),
        " |y| = %.10g" % np.linalg.norm(y),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
