"""Programs that no single factor brings under the limit: what a loop reads whole is made anew in
each of its trips, by slices of a second factor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import running
import weir

RNG = np.random.default_rng(0)
A, B, C = (RNG.normal(size=(n, 3)) for n in (1003, 1200, 900))
MB = 1_000_000


def two_kernels(a, b, c):
    """Both sides of the product are computed; the sum over slices of b would be held twice."""
    return jnp.exp(a @ b.T / 4) @ jnp.cos(b @ c.T)


def gram(a, b):
    """The same tensor on both sides."""
    k = jnp.exp(a @ b.T / 4)
    return k @ k.T


def three_kernels(a, b, c):
    return jnp.sum(jnp.exp(a @ b.T / 4) @ jnp.cos(b @ c.T) * jnp.sin(a @ c.T))


def gram_and_a_sum(a, b):
    """What the product reads twice is read a third time, by rows."""
    k = jnp.exp(a @ b.T / 4)
    return (k @ k.T).max(1), k.sum(1)


def masked(a, b):
    """And once more, masked; columns are summed."""
    k = jnp.exp(a @ a.T / 4)
    return (jnp.tril(k) @ k).max(1), k.sum(0), k.max(1)


CASES = {  # name: function, arguments, limit: results and a little more
    "two kernels": (two_kernels, (A, B, C), 8 * MB),
    "gram": (gram, (A, B), 9 * MB),
    "gram and a sum": (gram_and_a_sum, (A, B), 1 * MB),
    "masked": (masked, (A, B), 1 * MB),
    "three kernels": (three_kernels, (A, B, C), 1 * MB),
}


@pytest.mark.parametrize("name", CASES)
def test_held(name, tmp_path):
    f, arguments, limit = CASES[name]
    text, rewritten = running.rewrite(f, arguments, tmp_path, "--memory-limit", limit)
    xla = running.Xla(rewritten)
    assert xla.report_bytes() <= limit < running.Xla(text).report_bytes()
    for x, y in zip(xla(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12 * np.abs(y).max())


def jacobian(p, x):
    """Of a network by its parameters, flat: a row per point."""

    def network(p, x):
        for w in p[:-1]:
            x = jnp.tanh(x @ w)
        return (x @ p[-1])[..., 0]

    parts = jax.vmap(jax.grad(network), (None, 0))(p, x)
    return jnp.concatenate([part.reshape(len(x), -1) for part in parts], 1)


def test_what_loops_make_anew_is_sliced_by_rows_where_columns_would_keep_it(tmp_path):
    """15 rows of the Jacobian are few for products. But its columns can't be made one by one: loops
    over these would read it as a whole, and single rows would be all that fits.
    """
    p = [RNG.normal(size=s).astype(np.float32) / 4 for s in ((10, 32), (32, 32), (32, 1))]
    x = RNG.normal(size=(300, 10)).astype(np.float32)

    def kernel(p, x):
        j = jacobian(p, x)
        k = j @ j.T
        return jnp.sum((k @ x) ** 2), jnp.trace(k)

    plan = weir.plan(kernel, p, x, limit="365kB")
    assert plan.outcome == "rewritten" and plan.peak_after_bytes <= 365_000
    assert plan.flops_after < 1.5 * plan.flops_before
    with weir.limit("365kB"):
        found = jax.jit(kernel)(p, x)
    for got, want in zip(found, kernel(p, x)):
        np.testing.assert_allclose(got, want, rtol=1e-4)


def association(g, y):
    """Each column of y against all columns of g; for each, its statistics are sorted."""
    x = g.astype(jnp.float32)
    x = x - x.mean(0)
    t = (x.T @ (y - y.mean(0))) / jnp.sqrt((x**2).sum(0))[:, None]
    return jnp.median(t * t, 0), (jnp.abs(t) > 2).sum(1)


def test_what_is_sorted_whole_goes_before_what_it_is_made_of():
    """The largest value is x, and a loop over its columns would put all of t out. Loops over y's
    columns come first, and make x anew.
    """
    g = RNG.integers(0, 3, (100, 4000)).astype(np.int8)
    y = RNG.normal(size=(100, 60)).astype(np.float32)
    held.check_a_tenth(association, g, y)
