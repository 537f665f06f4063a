"""Sorts in ascending slices: what users write holds a tenth of stock's temporaries, to the bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import sparse

import weir
from held import a_tenth, assert_same_bits, reported_bytes
from running import HONEST

N = 100_003
KEYS = np.random.default_rng(0).integers(0, 40_000, N).astype(np.int32)
POINTS = np.random.default_rng(1).random(300).astype(np.float32)


def unique(x):
    return jnp.unique(x, size=2000)


def unique_counts(x):
    return jnp.unique(x, size=2000, return_counts=True)


def unique_index(x):
    return jnp.unique(x, size=2000, return_index=True)


def unique_inverse(x):
    return jnp.unique(x, size=2000, return_inverse=True)


def distinct(x):
    s = jnp.sort(x)
    return 1 + jnp.sum(s[1:] != s[:-1])


def gini(x):
    s = jnp.sort(jnp.abs(x).astype(jnp.float32))
    return jnp.vdot(s, jnp.arange(len(s), dtype=jnp.float32)) / s.sum()


def from_the_largest(x):
    s = jnp.sort(x, descending=True)
    return jnp.sum(jnp.cumsum(s % 7) % 3)


def in_order_of(x):
    """What is moved along, by two keys."""
    _, _, p = lax.sort((x % 10, x, lax.iota(np.int32, len(x))), num_keys=2)
    return jnp.sum((p[1:] > p[:-1]) * lax.iota(np.int32, len(x) - 1))


def distances(p):
    """Of a source that is made anew in each pass."""
    d = jnp.sort(jnp.abs(p[:, None] - p).ravel())
    return jnp.max(d[1:] - d[:-1])


def coordinates(n, entries, seed):
    """A matrix of n by n with so many entries."""
    dice = np.random.default_rng(seed)
    at = np.sort(dice.choice(n * n, entries, replace=False))
    data, places = dice.normal(size=entries).astype(np.float32), np.stack([at // n, at % n], 1)
    return sparse.BCOO((data, places.astype(np.int32)), shape=(n, n))


def multiplied(a):
    """All pairs of entries, sorted by where they go."""
    return a @ a.T


def sums_by_row(a):
    """Through an inverse permutation, of rows that are sorted by two columns."""
    rows = jnp.concatenate([a.indices * 3 % 11, a.indices * 7 % 5])
    p = jnp.lexsort((rows[:, 1], rows[:, 0]))
    s, n = rows[p], len(rows)
    new = jnp.append(True, (s[1:] != s[:-1]).any(1))
    group = jnp.zeros(n, np.int32).at[p].set(jnp.cumsum(new) - 1)
    return jnp.zeros(60).at[group].add(jnp.sin(jnp.resize(a.data, n))), s[:4]


PROGRAMS = [unique, unique_counts, unique_index, unique_inverse]
PROGRAMS += [distinct, gini, from_the_largest, in_order_of, distances, multiplied, sums_by_row]
INPUTS = {
    distances: POINTS,
    multiplied: coordinates(100, 150, 0),
    sums_by_row: coordinates(1000, 30_000, 1),
}


def compiled(f, x, limit):
    with weir.limit(limit):
        limited = jax.jit(f).lower(x).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= limit
    return limited


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_tenth_is_held(f):
    x = INPUTS.get(f, KEYS)
    stock = jax.jit(f).lower(x).compile(compiler_options=HONEST)
    got, want = compiled(f, x, a_tenth(stock))(x), stock(x)
    if f is gini:
        return np.testing.assert_allclose(got, want, rtol=1e-5)
    if f not in [multiplied, sums_by_row]:
        return assert_same_bits(got, want)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-5 if g.dtype == np.float32 else 0, atol=1e-5)


def test_a_limit_that_holds_otherwise_sorts_once():
    """It takes many times as long: where a way without is there, that is taken."""
    stock = jax.jit(unique).lower(KEYS).compile(compiler_options=HONEST)
    limited = compiled(unique, KEYS, 930_000)
    assert f"s32[{N}]{{0}} sort(" in limited.as_text()
    assert_same_bits(limited(KEYS), stock(KEYS))
