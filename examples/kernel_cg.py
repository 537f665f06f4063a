"""Kernel ridge regression by conjugate gradients with a Nystroem preconditioner.

The solver is jax.scipy.sparse.linalg.cg; its loop multiplies by the kernel matrix, in double
precision. At the default size that has 20,000 x 20,000 entries: 3.2 GB.
    python examples/kernel_cg.py --n 4000
"""

import argparse
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular
from jax.scipy.sparse.linalg import cg

jax.config.update("jax_enable_x64", True)

sizes = dict(n=20_000, d=8, m=200, steps=10)


def make_inputs(n, d, m, steps, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return x, np.sin(x.sum(axis=1)) + 0.1 * rng.standard_normal(n), x[:m], steps


def se_kernel(x, y, lengthscale=2.0):
    squared = jnp.sum(x * x, axis=1)[:, None] + jnp.sum(y * y, axis=1)[None, :] - 2.0 * x @ y.T
    return jnp.exp(-0.5 * squared / lengthscale**2)


def nystroem_inverse(x, z, noise):
    """r -> (Kxz Kzz^-1 Kzx + noise)^-1 r by Woodbury's identity."""
    m = z.shape[0]
    chol = jnp.linalg.cholesky(se_kernel(z, z) + 1e-6 * jnp.eye(m))
    low_rank = solve_triangular(chol, se_kernel(z, x), lower=True)
    inner = cho_factor(noise * jnp.eye(m) + low_rank @ low_rank.T, lower=True)
    return lambda r: (r - low_rank.T @ cho_solve(inner, low_rank @ r)) / noise


@functools.partial(jax.jit, static_argnums=3)
def run(x, y, z, steps, noise=0.1):
    kernel = se_kernel(x, x)
    inverse = nystroem_inverse(x, z, noise)
    return cg(lambda v: kernel @ v + noise * v, y, tol=0.0, maxiter=steps, M=inverse)[0]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    x, y, z, steps = make_inputs(**vars(ap.parse_args()))
    t0 = time.perf_counter()
    weights = jax.block_until_ready(run(*jax.device_put((x, y, z)), steps))
    print(
        "weights[:4] =",
        np.asarray(weights[:4]),
        " |weights| = %.8g" % np.linalg.norm(weights),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
