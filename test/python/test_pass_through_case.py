"""Branches that end with a broadcast (src/pass/through_case.c): checks of computed rows, each of which raises
by a callback, as equinox writes them for lineax, optimistix and diffrax. Memory under a limit, results
against stock, and that what fails still raises.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weir
from held import a_tenth, check_a_tenth
from running import HONEST

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 7)).astype(np.float32), RNG.normal(size=(400, 7)).astype(np.float32)


class Bad(Exception):
    pass


@jax.custom_jvp
def error_if(x, bad):
    """x; raises if any row under `vmap` is bad, whose callback returns no row's own."""

    def fail():
        def raises():
            raise Bad

        return jax.pure_callback(raises, jax.eval_shape(lambda: x))

    @jax.custom_batching.custom_vmap
    def any_of(bad):
        return bad

    @any_of.def_vmap
    def _(_, batched, bad):
        return jnp.any(bad) if batched[0] else bad, False

    return lax.cond(any_of(bad), fail, lambda: x)


@error_if.defjvp
def _(primals, tangents):
    return error_if(*primals), tangents[0]


def distances(x, y):
    def row(a):
        d = jnp.sqrt(((a - y) ** 2).sum(1) + 1)
        return error_if(d, ~jnp.isfinite(d).all())

    return jax.vmap(row)(x)


def sums(x, y):
    d = distances(x, y)
    return jnp.exp(-d).sum(1), d.max(0)


def twice(x, y):
    """A check of what was checked."""
    return jax.vmap(lambda d: error_if(jnp.exp(-d), d[0] < 0))(distances(x, y)).sum(1)


def in_a_scan(x, y):
    def step(carry, scale):
        return carry + jax.vmap(lambda d: error_if(jnp.exp(-scale * d), d[0] < 0))(distances(x, y)).sum(1), None

    return lax.scan(step, jnp.zeros(len(x)), jnp.arange(1.0, 4.0))[0]


def gradient(x, y):
    return jax.grad(lambda x, y: jnp.sum(sums(x, y)[0] ** 2), (0, 1))(x, y)


def gradient_of_solutions(x, y):
    """Of many tridiagonal systems, which the gradient solves once more."""

    def one(d, b):
        off = jnp.full_like(d, 0.1)
        s = lax.linalg.tridiagonal_solve(off.at[0].set(0), d, off.at[-1].set(0), b[:, None])[:, 0]
        return error_if(s, ~jnp.isfinite(s).all())

    return jax.grad(lambda d, b: jnp.sum(jax.vmap(one)(d, b) ** 2), (0, 1))(2 + x**2, y)


@pytest.mark.parametrize("f", [sums, twice, in_a_scan, gradient], ids=lambda f: f.__name__)
def test_a_tenth_holds(f):
    check_a_tenth(f, X, Y, rtol=2e-5, atol=2e-5)


def test_solutions_that_are_checked_hold_a_tenth():
    d, b = RNG.normal(size=(2, 2000, 20)).astype(np.float32)
    check_a_tenth(gradient_of_solutions, d, b)


def test_what_fails_raises():
    bad = X.copy()
    bad[250, 3] = np.nan
    stock = jax.jit(sums).lower(X, Y).compile(compiler_options=HONEST)
    with weir.limit(a_tenth(stock)):
        limited = jax.jit(sums).lower(X, Y).compile()
    jax.block_until_ready(limited(X, Y))
    with pytest.raises(jax.errors.JaxRuntimeError, match="Bad"):
        jax.block_until_ready(limited(bad, Y))
