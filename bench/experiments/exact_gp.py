"""How many n x n matrices does an exact Gaussian process hold? Stock XLA, and weir under the smallest
of a few limits that it holds.

    python bench/experiments/exact_gp.py [--n 2000]

Per program: temporaries by XLA's report in matrices of n x n numbers (f32), stock and under weir;
the limit, in the same; CPU time beside stock's, in turn, the least of three runs; the largest
difference of results, relative.
"""

import argparse
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jax.scipy.stats import multivariate_normal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import HONEST, least_cpu  # noqa: E402
from needs import needs_of  # noqa: E402

import weir  # noqa: E402

NOISE = 1e-1
LIMITS = [1.1, 1.2, 1.35, 1.5, 1.75, 2.1, 2.2, 2.35, 2.5, 2.75, 3.1, 3.5, 4.1, 5.1, 6.1]  # n x n


def by_differences(x, z, theta):
    return theta[0] * jnp.exp(-(((x[:, None] - z[None]) * theta[1]) ** 2).sum(-1))


def by_product(x, z, theta):
    x, z = x * theta[1], z * theta[1]
    square = (x * x).sum(1)[:, None] + (z * z).sum(1) - 2 * x @ z.T
    return theta[0] * jnp.exp(-jnp.maximum(square, 0))


def likelihood(kernel, theta, x, y):
    factor = jnp.linalg.cholesky(kernel(x, x, theta) + NOISE * jnp.eye(len(x), dtype=x.dtype))
    return 0.5 * y @ cho_solve((factor, True), y) + jnp.log(jnp.diag(factor)).sum()


def posterior(theta, x, y):
    """Mean and variance at a tenth as many points."""
    new = x[::10] + 0.01
    factor = jnp.linalg.cholesky(by_product(x, x, theta) + NOISE * jnp.eye(len(x), dtype=x.dtype))
    cross = by_product(x, new, theta)
    half = solve_triangular(factor, cross, lower=True)
    return cross.T @ cho_solve((factor, True), y), theta[0] - (half * half).sum(0)


def density(theta, x, y):
    covariance = by_product(x, x, theta) + NOISE * jnp.eye(len(x), dtype=x.dtype)
    return multivariate_normal.logpdf(y, jnp.zeros_like(y), covariance)


def student_t(theta, x, y):
    factor = jnp.linalg.cholesky(by_product(x, x, theta) + NOISE * jnp.eye(len(x), dtype=x.dtype))
    far = y @ cho_solve((factor, True), y)
    return 0.5 * (5 + len(x)) * jnp.log1p(far / 3) + jnp.log(jnp.diag(factor)).sum()


def left_out(theta, x, y):
    """The squared errors of leave-one-out, by the inverse."""
    eye = jnp.eye(len(x), dtype=x.dtype)
    factor = jnp.linalg.cholesky(by_product(x, x, theta) + NOISE * eye)
    inverse = cho_solve((factor, True), eye)
    return ((inverse @ y / jnp.diag(inverse)) ** 2).sum()


def two_outputs(theta, x, y):
    """Coregionalisation: the Kronecker product of a 2 x 2 matrix and K of half of the points."""
    half = x[: len(x) // 2]
    covariance = jnp.kron(jnp.array([[1.0, 0.3], [0.3, 1.0]], x.dtype), by_product(half, half, theta))
    factor = jnp.linalg.cholesky(covariance + NOISE * jnp.eye(len(covariance), dtype=x.dtype))
    return cho_solve((factor, True), y[: len(covariance)])


def classifier(theta, x, y):
    """Laplace's approximation: Newton's steps, with B = I + W^1/2 K W^1/2."""
    k, signs = by_product(x, x, theta), jnp.where(y > 0, 1.0, -1.0)

    def step(f, _):
        p = jax.nn.sigmoid(f * signs)
        root = jnp.sqrt(p * (1 - p))
        factor = jnp.linalg.cholesky(jnp.eye(len(x), dtype=x.dtype) + root[:, None] * k * root)
        b = root**2 * f + (1 - p) * signs
        return k @ (b - root * cho_solve((factor, True), root * (k @ b))), None

    return jax.lax.scan(step, jnp.zeros(len(x), x.dtype), None, length=5)[0]


PROGRAMS = {
    "likelihood": lambda *a: likelihood(by_product, *a),
    "likelihood, differences": lambda *a: likelihood(by_differences, *a),
    "density of a normal": density,
    "posterior": posterior,
    "Student's t": student_t,
    "leave one out": left_out,
    "two outputs": two_outputs,
    "classifier, Laplace": classifier,
    "gradient, product": jax.value_and_grad(lambda *a: likelihood(by_product, *a)),
    "gradient, differences": jax.value_and_grad(lambda *a: likelihood(by_differences, *a)),
}


def held(function, arguments, matrix):
    """(the limit in matrices, the program) of the first limit that holds; None: none does."""
    for limit in LIMITS:
        try:
            with weir.limit(int(limit * matrix)):
                return limit, jax.jit(lambda *a: function(*a)).lower(*arguments).compile()
        except jax.errors.JaxRuntimeError as refusal:
            assert "RESOURCE_EXHAUSTED: weir" in str(refusal), refusal
    return None


def difference(got, want):
    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(want))
    return max(float(jnp.abs(g - w).max() / jnp.abs(w).max()) for g, w in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=2000)
    n = parser.parse_args().n
    dice = np.random.default_rng(0)
    x = dice.normal(size=(n, 3)).astype(np.float32)
    arguments = jnp.array([1.0, 0.7], jnp.float32), jnp.asarray(x), jnp.asarray(np.sin(x.sum(1)))
    matrix = 4 * n * n
    print(f"{'program':23} {'stock':>6} {'limit':>6} {'weir':>6} {'CPU':>5} difference")
    for name, function in PROGRAMS.items():
        stock = jax.jit(function).lower(*arguments).compile(HONEST)
        limit, program = held(function, arguments, matrix) or (None, stock)
        times = [[least_cpu(lambda c=c: jax.block_until_ready(c(*arguments)), 1) for c in (stock, program)] for _ in range(3)]
        before, after = (min(t[k][0] for t in times) for k in (0, 1))
        off = difference(times[-1][1][1], times[-1][0][1])
        temporaries = [needs_of(c)[2] / matrix for c in (stock, program)]
        print(
            f"{name:23} {temporaries[0]:6.2f} {limit or float('nan'):6.2f} {temporaries[1]:6.2f} "
            f"{after / before:5.2f} {off:.0e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
