"""Sparse Gaussian process regression: Titsias' bound and its gradients, in double precision.

Gradients with respect to the inducing points, the lengthscales, the signal variance and the noise
variance. At the default size K(z, x) has 500 x 200,000 entries: 0.8 GB, and there are several like
it.
    python examples/p3_sgpr.py --n 20000 --d 8 --m 100
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

jax.config.update("jax_enable_x64", True)

sizes = dict(n=200_000, d=8, m=500)


def make_inputs(n, d, m, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = np.sin(x @ rng.standard_normal(d)) + 0.3 * rng.standard_normal(n)
    params = {
        "inducing": x[rng.choice(n, m, replace=False)] + 0.01 * rng.standard_normal((m, d)),
        "lengthscales": np.linspace(1.0, 2.0, d),
        "variance": np.float64(1.2),
        "noise": np.float64(0.1),
    }
    return params, x, y


def squared_distance(x, y):
    xx = jnp.sum(x * x, axis=1)
    yy = jnp.sum(y * y, axis=1)
    return xx[:, None] + yy[None, :] - 2.0 * x @ y.T


def se_kernel(params, x, y):
    scaled = squared_distance(x / params["lengthscales"], y / params["lengthscales"])
    return params["variance"] * jnp.exp(-0.5 * scaled)


def bound(params, x, y, jitter=1e-6):
    n, m = x.shape[0], params["inducing"].shape[0]
    sigma2 = params["noise"]
    sigma = jnp.sqrt(sigma2)
    kuu = se_kernel(params, params["inducing"], params["inducing"]) + jitter * jnp.eye(m)
    kuf = se_kernel(params, params["inducing"], x)
    chol = jnp.linalg.cholesky(kuu)
    a = solve_triangular(chol, kuf, lower=True) / sigma
    aat = a @ a.T
    b = aat + jnp.eye(m)
    chol_b = jnp.linalg.cholesky(b)
    c = solve_triangular(chol_b, a @ y, lower=True) / sigma
    half_logdet = jnp.sum(jnp.log(jnp.diag(chol_b))) + 0.5 * n * jnp.log(sigma2)
    trace = n * params["variance"] / sigma2 - jnp.trace(aat)
    quadratic = jnp.sum(y * y) / sigma2 - jnp.sum(c * c)
    return -0.5 * n * jnp.log(2.0 * jnp.pi) - half_logdet - 0.5 * quadratic - 0.5 * trace


@jax.jit
def run(params, x, y):
    return jax.value_and_grad(bound)(params, x, y)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, gradient = jax.block_until_ready(run(*inputs))
    print(
        "bound %.10g" % value,
        " d/dnoise %.6g" % gradient["noise"],
        " d/dvariance %.6g" % gradient["variance"],
        " d/dlengthscales",
        gradient["lengthscales"][:3],
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
