"""Lists of the places where a mask is set: pairs above the diagonal, near pairs, what is read at and
written to them. Under arguments, results and a tenth of stock's temporaries; and lists that are
longer or shorter than what the mask sets, against stock, to rounding or to the bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import running

N = 401


def points():
    return np.random.default_rng(0).standard_normal((N, 3)).astype(np.float32)


def distances(x):
    return jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-12)


def above(x):
    """What scipy's pdist gives."""
    c = distances(x)[jnp.triu_indices(len(x), 1)]
    return c.mean(), c.max(), c.min()


def below(x):
    c = distances(x)[jnp.tril_indices(len(x), -1)]
    return jnp.exp(-c).sum(), (c < 1).sum()


def returned(x):
    return distances(x)[jnp.triu_indices(len(x), 1)]


def of_points(x):
    i, j = jnp.triu_indices(len(x), 1)
    return jnp.exp(-jnp.linalg.norm(x[i] - x[j], axis=-1)).sum()


def gradient(x):
    i, j = jnp.triu_indices(len(x), 1)
    return jax.value_and_grad(lambda x: jnp.exp(-distances(x)[i, j]).sum())(x)


def gradient_of_points(x):
    i, j = jnp.triu_indices(len(x), 1)
    return jax.grad(lambda x: jnp.exp(-((x[i] - x[j]) ** 2).sum(-1)).sum())(x)


def correlations(x):
    """Of 401 rows, each of 3 numbers and their products."""
    c = jnp.corrcoef(jnp.concatenate([x, x[:, :1] * x, jnp.sin(x)], 1))
    return jnp.abs(c[jnp.triu_indices(len(x), 1)]).mean()


def near(x, size=20_000):
    """Fewer pairs than that are near, so the list ends in pairs (0, 0)."""
    d = distances(x)
    i, j = jnp.nonzero(jnp.tril(d < 0.5, -1), size=size, fill_value=0)
    return d[i, j].sum(), (i != j).sum()


def too_many(x):
    """More pairs than the list has: the first."""
    d = distances(x)
    i, j = jnp.nonzero(d < 2, size=30_000, fill_value=0)
    return d[i, j].max(), (i + j).max()


def stress(x):
    """Of distances that are known, one for each pair: a list beside the list."""
    i, j = jnp.triu_indices(len(x), 1)
    known = jnp.arange(len(x) * (len(x) - 1) // 2) * 1e-5
    return ((distances(x)[i, j] - known) ** 2).sum()


def weights(x):
    """A network of pairs: the gradients of its weights are products that sum over the list."""
    i, j = jnp.triu_indices(len(x), 1)
    w, v = jnp.sin(jnp.arange(96.0)).reshape(6, 16), jnp.cos(jnp.arange(16.0))
    f = lambda x, w, v: (jnp.tanh(jnp.concatenate([x[i], x[j]], 1) @ w) @ v).sum()  # noqa: E731
    return jax.value_and_grad(f, (0, 1, 2))(x, w, v)


def histogram(x):
    """Which bin a distance falls into takes a while of a few trips."""
    d = distances(x)[jnp.triu_indices(len(x), 1)]
    return jnp.histogram(d, 16, (0.0, 3.0))[0]


def variogram(x):
    """Differences of values at points, added up by how far these are from each other."""
    i, j = jnp.triu_indices(len(x), 1)
    z, d = jnp.sin(9 * x[:, 0]), jnp.sqrt(((x[i] - x[j]) ** 2).sum(1))
    at = jnp.digitize(d, jnp.linspace(0, 1, 16))
    return jax.ops.segment_sum((z[i] - z[j]) ** 2, at, 17), jnp.bincount(at, length=17)


HELD = [above, below, returned, of_points, gradient, gradient_of_points, correlations, near]
HELD += [too_many, stress, weights, histogram, variogram]


@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_a_tenth_of_the_temporaries_does(f):
    held.check_a_tenth(f, points())


# ---- every length, every kind of reader: through the evaluator ----
VALUES = np.random.default_rng(1).integers(-9, 9, (7, 5)).astype(np.float64)


def list_of(x, size):
    return jnp.nonzero(x > 0, size=size, fill_value=3)


def read(x, size):
    i, j = list_of(x, size)
    y = (x * x)[i, j]
    return y, y.sum(), y.max(), y.min(initial=5), (y > 4).any(), (y > 0).all()


def weighed(x, size):
    i, j = list_of(x, size)
    w = jnp.arange(size) % 3
    return ((x * x)[i, j] * w).sum(), ((x + 1)[i, j] - jnp.ones(5)[jnp.arange(size) % 5]).sum()


def written(x, size):
    i, j = list_of(x, size)
    zeros = jnp.zeros_like(x)
    return zeros.at[i, j].add(2.0), zeros.at[i, j].add(jnp.arange(size) * 1.0), zeros.at[i].add(1.0)


def put(x, size):
    i, j = list_of(x, size)
    return jnp.full_like(x, -1).at[i, j].set(jnp.arange(size) * 1.0), x.at[j, i].max(7.0, mode="drop")


def rows(x, size):
    i, j = list_of(x, size)
    r = x[i] * 2 + x[j]
    return r, r.sum(0), r.sum(1), r.T @ jnp.ones(size), jnp.zeros((7, 5)).at[j].add(r)


def binned(x, size):
    i, j = list_of(x, size)
    bins = jnp.searchsorted(jnp.asarray([-4.0, 0.0, 2.0, 3.5, 7.0]), x[i, j])
    steps = jax.lax.fori_loop(0, 3, lambda t, v: jnp.where(v > t, v - 1, v + t), (x * x)[i, j])
    return jnp.bincount(bins, length=6), jnp.zeros(6).at[bins].max(steps), (steps * jnp.arange(size)).sum()


def chosen(x, size):
    """The mask is what a while of a few trips makes, as long as the list may be."""
    is_positive = lambda t: (x.ravel() > t).astype(int)  # noqa: E731
    mask = jax.lax.fori_loop(0, 3, lambda t, m: is_positive(t) * (1 - m), jnp.zeros(x.size, int))
    (i,) = jnp.nonzero(mask, size=size)
    c = jax.lax.fori_loop(0, 3, lambda t, v: jnp.where(v > t, v - 1, v + t), x.ravel()[i])
    return c.max(), (c * jnp.arange(size)).sum(), mask.sum()


def multiplied(x, size):
    """Entries with entries, with numbers of their own and with what is alike for all of them; parts
    of them beside the list; what they are where the mask is not set would be NaN."""
    i, j = list_of(x, size)
    r = x[i] / jnp.maximum(x[i, j], 0)[:, None]
    own = (jnp.arange(3 * size) % 5.0).reshape(size, 3)
    return r.T @ r, own.T @ r, r[:, 1:4:2].T @ jnp.pad(x[j], ((0, 0), (1, 0))), jnp.ones(size) @ r


def complex_products(x, size):
    """These have the list put together, and are as they were."""
    i, j = list_of(x, size)
    r = jax.lax.complex(x[i], x[j])
    return jnp.real(r.T @ r), r.real.sum(0)


def without_fill(x, size):
    (i,) = jnp.nonzero(x.ravel() > 0, size=size)
    return i, x.ravel()[i], jnp.sort(x.ravel()[i])


@pytest.mark.parametrize("size", [9, 16, 35])
@pytest.mark.parametrize("f", [read, weighed, written, put, rows, binned, chosen, multiplied, complex_products, without_fill])
def test_any_length(f, size, tmp_path):
    assert 9 < (VALUES > 0).sum() < 35
    passes = "--pass=inline,simplify,cse,dce,listed,ranges,counted,dce"
    text, rewritten = running.rewrite(lambda x: f(x, size), (VALUES,), tmp_path, passes)
    assert rewritten.count("reduce_window(") + rewritten.count("reduce_window\"") == 1, "the list is gone"
    evaluate = running.Evaluator(tmp_path, (VALUES,))
    for got, want in zip(evaluate(rewritten), evaluate(text), strict=True):
        np.testing.assert_array_equal(got, want)


def test_whiles_that_read_no_entries_stay(tmp_path):
    def beside(x):
        (i,) = jnp.nonzero(x > 0, size=x.size)
        return x[i].sum(), jax.lax.fori_loop(0, 3, lambda t, v: jnp.sin(v), x)

    text, rewritten = running.rewrite(beside, (VALUES.ravel(),), tmp_path, "--pass=inline,dce,listed,dce")
    assert rewritten != text and rewritten.count("stablehlo.while") == 1


def test_no_more_is_written_than_members_may_be_made_of_each_other(tmp_path):
    def of_many_loops(x):
        (i,) = jnp.nonzero(x > 0, size=x.size)
        c = x[i]
        for k in range(50):
            c = jax.lax.fori_loop(0, 20, lambda t, v: jnp.where(v > k, v - 1, v + k), c)  # noqa: B023
        return c.sum()

    _, rewritten = running.rewrite(of_many_loops, (VALUES.ravel(),), tmp_path, "--pass=inline,dce,listed,dce")
    assert 0 < rewritten.count("stablehlo.while") < 50
    assert rewritten.count("stablehlo.select") < 1000


def test_more_entries_behind_the_last_than_16_bits_count(tmp_path):
    """What they add up to is 0, and not 0 times an infinite number of them."""
    y = np.zeros(70_001, np.float16)
    y[[1, 5]] = 1

    def added(y):
        (i,) = jnp.nonzero(y > 0, size=70_000, fill_value=2)
        return jnp.zeros_like(y).at[i].add((y * 0)[i] + y[i])

    passes = "--pass=inline,simplify,cse,dce,listed,ranges,counted,dce"
    text, rewritten = running.rewrite(added, (y,), tmp_path, passes)
    assert rewritten != text and "f16" in rewritten
    got, want = (running.Xla(t)(y) for t in (rewritten, text))
    np.testing.assert_array_equal(got, want)
