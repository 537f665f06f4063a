"""Inner points, borders, blocks and every second point that are written (`x.at[1:-1].set`), with
gradients: under arguments, results and a tenth of stock's temporaries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def neighbours(u):
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]


def put(u):
    return u.at[1:-1, 1:-1].set(u[1:-1, 1:-1] + 0.1 * neighbours(u))


def added(u):
    return u.at[1:-1, 1:-1].add(0.1 * neighbours(u))


def within_zeros(u):
    return jnp.zeros_like(u).at[1:-1, 1:-1].set(neighbours(u))


def no_flux(u):
    """Borders are what is beside them."""
    u = put(u)
    u = u.at[0].set(u[1]).at[-1].set(u[-2])
    return u.at[:, 0].set(u[:, 1]).at[:, -1].set(u[:, -2])


def alternate(u):
    return u.at[1::2, ::2].set(0.5 * u[::2, 1::2])


@pytest.mark.parametrize("step", [put, added, within_zeros, no_flux, alternate], ids=lambda f: f.__name__)
@pytest.mark.parametrize("differentiate", [False, True], ids=["value", "gradient"])
def test_a_tenth_of_the_temporaries_does(step, differentiate):
    def rows(x, w):
        return (step(jnp.tanh(x @ w)) ** 2).sum(1)

    def gradient(x, w):
        return jax.grad(lambda w: rows(x, w).sum())(w)

    held.check_a_tenth(gradient if differentiate else rows, numbers(400, 50), 0.1 * numbers(50, 400))


def test_a_matrix_of_blocks():
    def rows(a, b):
        p, q, n = jnp.tanh(a @ a.T), jnp.sin(a @ b.T), len(a)
        m = jnp.zeros((2 * n, 2 * n)).at[:n, :n].set(p).at[:n, n:].set(q)
        return m.at[n:, :n].set(q.T).at[n:, n:].set(p).sum(1)

    held.check_a_tenth(rows, numbers(300, 20), numbers(300, 20))
