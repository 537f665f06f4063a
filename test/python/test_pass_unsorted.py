"""Rows that are sorted, computed with and put back: mixtures of experts at a tenth of stock's
temporaries, in one loop over the rows as they came."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weir
from held import a_tenth, reported_bytes
from running import HONEST

N, D, E = 2000, 64, 8


def inputs():
    r = np.random.default_rng(0)
    shapes = [(N, D), (D, E), (E, D, D), (E, D, D)]
    return [(r.standard_normal(s) / s[-1] ** 0.5).astype(np.float32) for s in shapes]


def experts(rows, ids, w, v):
    sizes = jnp.bincount(ids, length=E)
    return lax.ragged_dot(jax.nn.gelu(lax.ragged_dot(rows, w, sizes)), v, sizes)


def put(x, gate, w, v):
    ids = jnp.argmax(x @ gate, 1)
    order = jnp.argsort(ids)
    y = jnp.zeros_like(x).at[order].set(experts(x[order], ids, w, v))
    return (y**2).mean(0)


def read_back(x, gate, w, v):
    ids = jnp.argmax(x @ gate, 1)
    order = jnp.argsort(ids)
    y = experts(x[order], ids, w, v)[jnp.argsort(order)]
    return (y**2).mean(0)


def two_each(x, gate, w, v, k=2):
    """The sum of two experts' rows, by their weights."""
    weights, ids = lax.top_k(jax.nn.softmax(x @ gate), k)
    order = jnp.argsort(ids.ravel())
    y = experts(x[order // k], ids.ravel(), w, v) * weights.ravel()[order][:, None]
    return (jnp.zeros_like(x).at[order // k].add(y) ** 2).mean(0)


def repeated(x, gate, w, v, k=2):
    weights, ids = lax.top_k(jax.nn.softmax(x @ gate), k)
    order = jnp.argsort(ids.ravel())
    y = experts(jnp.repeat(x, k, 0)[order], ids.ravel(), w, v)
    y = jnp.zeros((N * k, D), x.dtype).at[order].set(y).reshape(N, k, D)
    return (jnp.einsum("nkd,nk->nd", y, weights) ** 2).mean(0)


def put_grad(x, gate, w, v):
    return jax.grad(lambda w, v: put(x, gate, w, v).sum(), (0, 1))(w, v)


@pytest.mark.parametrize("f", [put, read_back, two_each, repeated, put_grad], ids=lambda f: f.__name__)
def test_a_tenth_is_held_in_one_loop(f):
    arguments = inputs()
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)
    limit = a_tenth(stock)
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    plan = weir.last_report()
    assert plan.outcome == "rewritten"
    assert reported_bytes(limited) <= limit
    assert len(plan.loops) == 1
    got, want = limited(*arguments), stock(*arguments)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-6 * float(jnp.abs(w).max()))
