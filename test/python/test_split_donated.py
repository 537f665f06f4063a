"""Results of loops that lie over the argument which was donated to them (src/ir/in_place.h): XLA's
own report stays under limits that have no room for argument and result beside each other.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from held import assert_close, reported_bytes

ROWS = (700, 701, 704)  # the last slice begins before the others end, or does not
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def kernel(x):
    return jnp.exp(-jnp.sum((x[:, None] - x[None]) ** 2, -1))


def average(k, x, v):
    """A matrix's moving average, and a product with what is added."""
    return 0.9 * k + 0.1 * kernel(x), kernel(x) @ v


def momentum(w, m, x, y):
    """A step of a wide layer: the gradient is as large as what it changes."""

    def loss(w):
        return jnp.mean((jnp.tanh(x @ w) @ y) ** 2)

    m = 0.9 * m + jax.grad(loss)(w)
    return w - 0.1 * m, m


def limited(function, arguments, share, donated):
    """(what stock gives, what comes out, the bytes that XLA reports, the limit)."""
    jitted = jax.jit(function, donate_argnums=donated)
    stock = jitted.lower(*arguments).compile()
    m = stock.memory_analysis()
    limit = reported_bytes(stock) - m.temp_size_in_bytes + int(share * m.temp_size_in_bytes)
    with weir.limit(limit):
        made = jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
    want, got = (run(*map(jnp.asarray, arguments)) for run in (stock, made))
    return want, got, reported_bytes(made), limit


@pytest.mark.parametrize("n", ROWS)
def test_a_donated_matrix_is_written_slice_by_slice(n):
    arguments = normal(n, n), normal(n, 3), normal(n)
    want, got, reported, limit = limited(average, arguments, 0.2, (0,))
    assert reported <= limit
    assert_close(got, want)


def average_and_norms(k, x, v):
    """Others read the matrix, too, along both dimensions."""
    return *average(k, x, v), k.sum(1), jnp.linalg.norm(k, axis=0)


@pytest.mark.parametrize("n", ROWS)
def test_a_donated_matrix_is_written_once_all_have_read_it(n):
    arguments = normal(n, n), normal(n, 3), normal(n)
    want, got, reported, limit = limited(average_and_norms, arguments, 0.1, (0,))
    assert reported <= limit
    assert_close(got, want)


@pytest.mark.parametrize("n", ROWS)
def test_a_step_whose_gradient_is_as_large_as_its_parameters(n):
    arguments = 0.05 * normal(300, n), normal(300, n), normal(40, 300), normal(n, 2)
    want, got, reported, limit = limited(momentum, arguments, 0.4, (0, 1))
    assert reported <= limit
    assert_close(got, want)
