"""Branches in loops, and chains of them: all are made and one is selected (src/pass/if_convert.c), so that
what they hand on is made in slices. Memory under a limit, results against stock."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weir
from held import check_a_tenth, reported_bytes
from running import HONEST

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=300).astype(np.float32), RNG.normal(size=400).astype(np.float32)
FLAGS = np.arange(10) % 3 == 0


def scan_of_cond(x, y, flags):
    def step(k, flag):
        return lax.cond(flag, lambda k: jnp.tanh(k * 1.5), lambda k: k * 0.9 + x[:, None], k), None

    return lax.scan(step, jnp.cos(x[:, None] * y), flags)[0].sum(1)


def scan_of_switch(x, y, flags):
    """With statistics of rows in a branch; indices out of range are the last branch's."""
    branches = [lambda k: jnp.tanh(k * 1.5), lambda k: jax.nn.softmax(k, 1), lambda k: k * 0.9 + x[:, None]]

    def step(k, i):
        k = lax.switch(i, branches, k)
        return k, k.sum(0)

    k, sums = lax.scan(step, jnp.cos(x[:, None] * y), jnp.arange(-2, 8))
    return k.max(1), sums


def one_in_the_other(x, y, flags):
    def step(i, k):
        inner = lambda k: lax.cond(i > 4, lambda k: k + 1, jnp.sin, k)  # noqa: E731
        return lax.cond(flags[i], inner, lambda k: k * 0.9 + x[:, None], k)

    return lax.fori_loop(0, 10, step, jnp.cos(x[:, None] * y)).sum(1)


def not_a_number(x, y, flags):
    """The branch that is not taken comes to NaN and infinities."""

    def step(k, flag):
        return lax.cond(flag, lambda k: k * 0.5, lambda k: jnp.where(flag, jnp.log(-k * k) / 0, k), k), None

    return lax.scan(step, jnp.cos(x[:, None] * y), flags)[0].sum(1)


def while_of_unknown_trips(x, y, flags):
    def step(s):
        i, k = s
        return i + 1, lax.cond(i % 3 == 0, lambda: k * 0.5, lambda: k - 0.1 * x[:, None])

    return lax.while_loop(lambda s: s[0] < flags.sum(), step, (0, jnp.cos(x[:, None] * y)))[1].sum(1)


def gradient(x, y, flags):
    return jax.grad(lambda x, y: jnp.sum(scan_of_cond(x, y, flags) ** 2), (0, 1))(x, y)


def gradient_of_a_chain(x, y, flags):
    def loss(x, y):
        k = jnp.cos(x[:, None] * y)
        for flag in flags:
            k = lax.cond(flag, jnp.cos, lambda h: jnp.tanh(h - y), k)
        return jnp.sum(k.sum(1) ** 2)

    return jax.grad(loss, (0, 1))(x, y)


PROGRAMS = [
    scan_of_cond,
    scan_of_switch,
    one_in_the_other,
    not_a_number,
    while_of_unknown_trips,
    gradient,
    gradient_of_a_chain,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_tenth_holds(f):
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(jax.jit(f)(X, Y, FLAGS)))
    check_a_tenth(f, X, Y, FLAGS, rtol=2e-5, atol=2e-5)


def test_what_fits_is_left_as_it_is():
    """A branch that is not taken is not computed where that is not needed."""
    stock = jax.jit(scan_of_cond).lower(X, Y, FLAGS).compile(compiler_options=HONEST)
    with weir.limit(reported_bytes(stock) + 1000):
        limited = jax.jit(scan_of_cond).lower(X, Y, FLAGS).compile()
    assert "conditional" in limited.as_text()
