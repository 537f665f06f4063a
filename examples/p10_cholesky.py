"""The Cholesky factor of a covariance matrix, in double precision: no loop divides it.

At the default size the matrix has 8,192 x 8,192 entries: 537 MB, and so has its factor.
    python examples/p10_cholesky.py --n 1000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

sizes = dict(n=8192)


def make_inputs(n):
    """Brownian motion's covariance min(s, t), with noise."""
    t = np.arange(1, n + 1) / n
    return (np.minimum(t[:, None], t[None, :]) + 0.1 * np.eye(n),)


@jax.jit
def run(covariance):
    return jnp.linalg.cholesky(covariance)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    factor = jax.block_until_ready(run(*inputs))
    print(
        "log determinant %.10g" % (2.0 * np.sum(np.log(np.diagonal(factor)))),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
