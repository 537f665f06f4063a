"""Prefix sums along what is split, and what is made of them: compaction of masks, pairs that are
near, segments. Under arguments, results and a tenth of stock's temporaries; integers exactly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weir
from held import check_a_tenth, reported_bytes
from running import HONEST

N = 100_003  # a prime: the last slice overlaps the one before


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def line():
    return numbers(N) * 0.01


def cumsum(x):
    return jnp.sum(jnp.sin(jnp.cumsum(jnp.tanh(x))))


def from_the_end(x):
    return jnp.sum(jnp.sin(lax.cumsum(jnp.tanh(x), reverse=True)))


def extremes(x):
    return jnp.sum(lax.cummax(jnp.sin(x * 700))) - jnp.sum(lax.cummin(jnp.cos(x * 300)))


def products(x):
    return jnp.sum(lax.cumprod(1 + 1e-3 * jnp.sin(x)))


def logsumexp(x):
    return jnp.sum(lax.cumlogsumexp(jnp.cos(x * 50)))


def linear_grad(x):
    """The gradient of a prefix sum is one from the other end."""
    weights = jnp.sin(jnp.arange(len(x)) * 0.1)
    return jax.grad(lambda x: jnp.vdot(jnp.cumsum(jnp.tanh(x)), weights))(x)


def nonzero(x):
    return jnp.nonzero(jnp.sin(x * 1000) > 0.999, size=3000, fill_value=-1)


def where(x):
    return jnp.where(jnp.abs(x) > 0.03, size=2000)


def compacted(x):
    """Elements of a mask, put one after the other."""
    mask = jnp.tanh(x) > 0.02
    place = jnp.where(mask, jnp.cumsum(mask) - 1, 5000)
    return jnp.zeros(5000).at[place].set(jnp.sin(x), mode="drop")


def near_pairs(p):
    """Pairs of points nearer than a radius, as a list (jax-md's neighbours)."""
    return jnp.nonzero(jnp.abs(p[:, None] - p[None]) < 1e-5, size=4000, fill_value=-1)


def rows(m):
    return jnp.sin(jnp.cumsum(jnp.exp(m * 0.1), 0)).sum(1)


def columns(m):
    return jnp.sin(lax.cumsum(jnp.exp(m * 0.1), 1, reverse=True)).sum(0)


LINE = [cumsum, from_the_end, extremes, products, logsumexp, linear_grad, nonzero, where, compacted]
INPUTS = {f: line for f in LINE} | {
    near_pairs: lambda: np.random.default_rng(0).random(701).astype(np.float32),
    rows: lambda: numbers(401, 397),
    columns: lambda: numbers(401, 397),
}


@pytest.mark.parametrize("f", INPUTS, ids=lambda f: f.__name__)
def test_a_tenth_of_the_temporaries_does(f):
    check_a_tenth(f, INPUTS[f]())


# ---- prefix sums that are read at two places ----


def counts(x):
    """Integers, so that every order of additions gives the same."""
    return (jnp.sin(x * 1000) * 100).astype(jnp.int32)


def over(w, *, prefix=jnp.cumsum, of=counts):
    """What comes together over w elements, for each place."""

    def f(x):
        s = prefix(of(x))
        return jnp.sum(jnp.abs(s[w:] - s[: max(len(x) - w, 0)]) % 7)

    return f


def from_behind(a, axis=0):
    return lax.cumsum(a, axis, reverse=True)


def padded(x):
    s = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(counts(x))])
    return jnp.sum(jnp.abs(s[50:] - s[:-50]) % 7)


def rolled(x):
    s = jnp.cumsum(counts(x))
    return jnp.sum(jnp.abs(s - jnp.roll(s, 17)) % 7)


def second_differences(x):
    s = jnp.cumsum(counts(x))
    return jnp.sum(jnp.abs(s[2000:] - 2 * s[1000:-1000] + s[:-2000]) % 7)


def put_out(x):
    s = jnp.cumsum(counts(x))
    return (s[300:] - s[:-300]).astype(jnp.int8)


def run_starts(x):
    s = jnp.cumsum(jnp.sin(x * 1000) > 0.999)
    return jnp.sum(s[1:] != s[:-1])


def rows_over(m):
    s = jnp.cumsum(counts(m), 0)
    return (jnp.abs(s[7:] - s[:-7]) % 7).sum(1)


def columns_over(m):
    s = from_behind(counts(m), 1)
    return (jnp.abs(s[:, 70:] - s[:, :-70]) % 7).sum(0)


SHIFTED = {f"over_{w}": over(w) for w in (0, 1, 100, 20_000, N // 2, N - 1, N, N + 5)}
SHIFTED |= {f"from_behind_over_{w}": over(w, prefix=from_behind) for w in (1, 60_000)}
SHIFTED["largest"] = over(100, prefix=lax.cummax)
SHIFTED["smallest"] = over(100, prefix=lambda a: lax.cummin(a, reverse=True))
FUNCTIONS = [padded, rolled, second_differences, put_out, run_starts, rows_over, columns_over]
SHIFTED |= {f.__name__: f for f in FUNCTIONS}


@pytest.mark.parametrize("name", SHIFTED)
def test_reads_at_two_places(name):
    f = SHIFTED[name]
    x = numbers(401, 397) if "s_over" in name else line()
    stock = jax.jit(f).lower(x).compile(compiler_options=HONEST)
    m = stock.memory_analysis()
    held = m.argument_size_in_bytes + m.output_size_in_bytes
    limit = held + max(m.temp_size_in_bytes // 10, 50_000)
    with weir.limit(limit):
        limited = jax.jit(f).lower(x).compile()
    assert reported_bytes(limited) <= limit
    np.testing.assert_array_equal(limited(x), stock(x))


@pytest.mark.parametrize("prefix", [jnp.cumsum, from_behind], ids=["ahead", "from_behind"])
def test_near_reads_round_alike(prefix):
    """Two sums that round apart would drift: a thousandth here."""

    def f(x):
        s = prefix(jnp.tanh(x))
        return jnp.sum(s[1:] - s[:-1])

    x = line()
    with weir.limit(x.nbytes + 100_000):
        got = jax.jit(f)(x)
    assert weir.last_report().outcome == "rewritten"
    y = np.tanh(x.astype(np.float64))
    want = y[1:].sum() if prefix is jnp.cumsum else -y[:-1].sum()
    np.testing.assert_allclose(float(got), want, rtol=1e-5)


def test_sums_of_16_bits_are_carried_in_32():
    """400.5 in steps of 0.004, of which a carry of 8 bits would lose most."""

    def f(x):
        return jnp.max(jnp.cumsum(jnp.exp(x).astype(jnp.bfloat16)))

    x = jnp.full(N, np.log(0.004), jnp.float32)
    with weir.limit(x.nbytes + 60_000):
        got = jax.jit(f)(x)
    assert weir.last_report().outcome == "rewritten"
    assert abs(float(got) - 400.5) <= 2
