"""States of scans whose next state lies where the state does, slice by slice (src/ir/in_place.h):
XLA's own report stays under limits that have no room for both beside each other.
"""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import weir
from test_libraries import reported_bytes
from test_split_donated import assert_close, normal

ROWS = (20_000, 20_011)  # the last slice begins before the others end, or does not


def limited(function, arguments, share):
    """(what stock gives, what comes out, the bytes that XLA reports, the limit: arguments, results
    and a share of the arguments).
    """
    stock = jax.jit(function).lower(*arguments).compile()
    m = stock.memory_analysis()
    limit = m.output_size_in_bytes + int((1 + share) * m.argument_size_in_bytes)
    with weir.limit(limit):
        made = jax.jit(function).lower(*arguments).compile()
    want, got = (jax.tree.leaves(run(*arguments)) for run in (stock, made))
    return want, got, reported_bytes(made), limit


def swarm(x, v):
    """Particles that see each other by their means alone."""

    def step(state, _):
        x, v = state
        v = 0.99 * v - 0.05 * (x - x.mean(0)) * jnp.exp(-(jnp.tanh(x).mean(0) ** 2))
        return (x + 0.05 * v, v), jnp.sum(v**2)

    return lax.scan(step, (x, v), None, length=7)


def particles_in_cells(x, v):
    """Their field is made of how many are in each cell: positions and speeds are vectors."""
    cells = 64

    def step(_, state):
        x, v = state
        place = 32 + 10 * jnp.clip(x, -3, 3)
        cell = place.astype(jnp.int32)
        share = place - cell
        density = jnp.zeros(cells).at[cell].add(1 - share).at[cell + 1].add(share) / len(x)
        field = jnp.cumsum(density) - 0.5
        v = v - 0.02 * (field[cell] * (1 - share) + field[cell + 1] * share)
        return x + 0.05 * v, v

    return lax.fori_loop(0, 7, step, (x, v))


def layer(x, w):
    """A product of each row, and what all rows have in common."""

    def step(_, x):
        g = jnp.tanh(x @ w)
        return x + 0.1 * (g - g.mean(0)) * jax.nn.sigmoid(jnp.sum(x) * 1e-3)

    return (lax.fori_loop(0, 7, step, x),)


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize(
    "function, shapes",
    [
        (swarm, lambda n: [(5 * n, 3), (5 * n, 3)]),
        (particles_in_cells, lambda n: [(n,), (n,)]),
        (layer, lambda n: [(n // 4, 64), (64, 64)]),
    ],
)
def test_a_state_is_written_slice_by_slice(function, shapes, n):
    want, got, reported, limit = limited(function, [0.3 * normal(*s) for s in shapes(n)], 0.2)
    assert reported <= limit
    assert_close(got, want)


def swapped(x, v):
    step = lambda _, s: (0.9 * s[1] - 0.1 * s[0].mean(), s[0] * s[0].max())  # noqa: E731
    return lax.fori_loop(0, 7, step, (x, v))


def before_and_now(x, v):
    step = lambda _, s: (s[0] / (1 + jnp.mean(s[0] ** 2)) + s[1], s[0])  # noqa: E731
    return lax.fori_loop(0, 7, step, (x, v))


@pytest.mark.parametrize("function", [swapped, before_and_now])
@pytest.mark.parametrize("n", ROWS)
def test_states_that_change_places(function, n):
    want, got, reported, limit = limited(function, [0.3 * normal(n, 3), 0.3 * normal(n, 3)], 1.1)
    assert reported <= limit
    assert_close(got, want)
