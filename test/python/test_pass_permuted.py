"""Arrays gathered in the order of their own sort, as JAX writes them: to the bit, and what unique
needs under a limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from running import HONEST
from held import assert_same_bits, reported_bytes

N = 100_003


def line():
    return np.random.default_rng(0).standard_normal(N).astype(np.float32) * 0.01


def points():
    return np.random.default_rng(0).random(701).astype(np.float32)


def keys(x):
    return jnp.round(jnp.sin(x * 1000) * 50)


def signs(x):
    """Zeros of both signs and NaNs, which compare equal and are not the same."""
    k = jnp.trunc(jnp.sin(x * 1000) * 2)
    return jnp.where(k > 1.5, jnp.nan, k)


def unique(x):
    return jnp.unique(keys(x).astype(jnp.int32), size=120)


def unique_floats(x):
    return jnp.unique(signs(x), size=20)


def unique_counts(x):
    return jnp.unique(keys(x).astype(jnp.int32), size=120, return_counts=True)


def unique_inverse(x):
    return jnp.unique(keys(x).astype(jnp.int32), size=120, return_inverse=True, return_index=True)


def unique_pairs(p):
    return jnp.unique(keys(p[:, None] - p).astype(jnp.int32), size=120)


def in_order(x):
    s = signs(x)
    return s[jnp.argsort(s)]


def from_the_largest(x):
    s = signs(x)
    return s[jnp.argsort(s, descending=True)]


def another(x):
    s = signs(x)
    return keys(x)[jnp.argsort(s)]


# What was found to hold: with the permutation, unique took 1.26 MB and unique_pairs 4.44 MB.
LIMITS = {unique: 930_000, unique_counts: 930_000, unique_pairs: 2_500_000}
LINE = [unique_floats, unique_inverse, in_order, from_the_largest, another]


@pytest.mark.parametrize("f", LIMITS, ids=lambda f: f.__name__)
def test_the_sort_is_held_and_little_else(f):
    x = points() if f is unique_pairs else line()
    stock = jax.jit(f).lower(x).compile(compiler_options=HONEST)
    with weir.limit(LIMITS[f]):
        limited = jax.jit(f).lower(x).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= LIMITS[f] < reported_bytes(stock)
    assert_same_bits(limited(x), stock(x))


@pytest.mark.parametrize("f", LINE, ids=lambda f: f.__name__)
def test_same_bits(f, monkeypatch):
    x = line()
    want = jax.jit(f).lower(x).compile(compiler_options=HONEST)(x)
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "50kB")
    got = jax.jit(f)(x)
    assert weir.last_report().outcome == "rewritten"
    assert_same_bits(got, want)
