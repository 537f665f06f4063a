"""Sums over running statistics: softmax, logsumexp and attention over the split dimension come out
as one loop, with XLA's results of the unsplit program: also where rows are masked, wholly or in
their first slices, and where sums come to 0.

With the streaming pass left out, the same programs take a loop per statistic.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.nn import log_softmax, logsumexp, softmax

import running

RNG = np.random.default_rng(0)
X, V = RNG.normal(size=10007) * 5, RNG.normal(size=(10007, 3))
Q, K = RNG.normal(size=(3, 2, 8)), RNG.normal(size=(3, 5003, 8))
VALUES = RNG.normal(size=(3, 5003, 4))
INF = np.inf


def attention(q, k, v):
    return jnp.einsum("bqk,bkd->bqd", softmax(jnp.einsum("bqd,bkd->bqk", q, k), -1), v)


def masked_attention(seen, fill=-INF):
    """seen(key positions): those that are not masked."""

    def f(q, k, v):
        scores = jnp.einsum("bqd,bkd->bqk", q, k)
        scores = jnp.where(seen(jnp.arange(k.shape[1])), scores, fill)
        return jnp.einsum("bqk,bkd->bqd", softmax(scores, -1), v)

    return f


def weighted(x, v):
    """Of 2 x, which is no argument: its maximum is a running one, too."""
    return softmax(2 * x) @ v


def logsumexp_twice(x):
    return logsumexp(2 * x)


def one_row_masked(q, k, v):
    """The second query sees nothing; JAX's softmax makes NaN of it."""
    scores = jnp.einsum("bqd,bkd->bqk", q, k)
    scores = jnp.where(jnp.arange(2)[:, None] == 1, -jnp.inf, scores)
    return jnp.einsum("bqk,bkd->bqd", softmax(scores, -1), v)


def normalised(w, v):
    """No exponential: a weighted mean, whose weights may come to 0."""
    return (w / w.sum()) @ v


def added_to_weights(w, v):
    """What is divided by the sum is not a part of it."""
    weights = jnp.outer(v[:2, 1] ** 2, w)
    return ((weights + 1e9 * v[:, 0]) / weights.sum(1)[:, None]).sum(1)


def times_sum(w, v):
    weights = jnp.outer(v[:2, 1] ** 2, w)
    return (weights * weights.sum(1)[:, None]) @ v


def variance(x):
    return ((x - x.mean()) ** 2).sum()


def ends_of(x):
    """Weights that cancel: their sum is 0 in every slice of even length, and in all."""
    return np.where(np.arange(len(x)) % 2, 1.0, -1.0)


FIRST_MASKED = X.copy()
FIRST_MASKED[:7000] = -INF
HUGE = X * 200  # exp() of it overflows unless the maximum is taken off
TINY_FIRST = np.where(np.arange(10007) < 9000, 1e-305, 1.0)
HUGE_FIRST = np.zeros(10007)
HUGE_FIRST[:10], HUGE_FIRST[5000:5010] = 1e160, -1e160

CASES = {  # name: function, arguments, while ops of the split program
    "softmax times values": (weighted, (X, V), 1),
    "logsumexp": (logsumexp_twice, (X,), 1),
    "logsumexp of columns": (lambda x, v: logsumexp(x[:, None] * v, axis=0), (X, V), 1),
    "logsumexp, max and sum": (
        lambda x, v: (logsumexp(x[:, None] * v, axis=0), jnp.max(x), jnp.sum(x)),
        (X, V),
        1,
    ),
    "overflowing": (weighted, (HUGE, V), 1),
    "first slices masked": (weighted, (FIRST_MASKED, V), 1),
    "logsumexp, first slices masked": (logsumexp_twice, (FIRST_MASKED,), 1),
    "logsumexp, all masked": (logsumexp_twice, (np.full(10007, -INF),), 1),
    "logsumexp, one infinity": (logsumexp_twice, (np.where(np.arange(10007) == 5000, INF, X),), 1),
    "softmax, all masked": (weighted, (np.full(10007, -INF), V), 1),
    "softmax, a NaN": (
        weighted,
        (np.where(np.arange(10007) == 9000, np.nan, X), V),
        1,
    ),
    "decode attention": (attention, (Q, K, VALUES), 1),
    "attention, first keys masked": (masked_attention(lambda j: j > 4000), (Q, K, VALUES), 1),
    "attention, last keys masked": (masked_attention(lambda j: j < 900), (Q, K, VALUES), 1),
    "attention, masked by a large number": (
        masked_attention(lambda j: j > 4000, -1e30),
        (Q, K, VALUES),
        1,
    ),
    "attention, a row masked": (one_row_masked, (Q, K, VALUES), 1),
    "weighted mean": (normalised, (np.abs(X), V), 1),
    "weights that come to 0": (normalised, (ends_of(X[:-1]), V[:-1]), 1),
    "weights that are 0": (normalised, (np.zeros(10007), V), 1),
    "a sum that is tiny at first": (added_to_weights, (TINY_FIRST, V), 1),
    "a sum that is tiny": (normalised, (1e-290 * np.abs(X), V), 1),
    "a sum that is huge": (normalised, (1e290 * np.abs(X), V), 1),
    "a sum that is infinite": (normalised, (np.full(10007, 1e307), V), 1),
    "a sum that is huge on the way": (times_sum, (HUGE_FIRST, V), 1),
}


def split(f, arguments, folder, *more):
    """(text unsplit, text split): slices so small that those of the arguments are no tensors
    above the threshold, which would be split once more."""
    sizes = ["--tensor-size-threshold", "4KiB", "--tensor-split-size", "512"]
    return running.rewrite(f, arguments, folder, *sizes, *more)


def assert_close(found, expected):
    assert len(found) == len(expected)
    for x, y in zip(found, expected):
        with np.errstate(invalid="ignore"):
            largest = np.abs(y[np.isfinite(y)]).max(initial=1e-300)
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12 * largest)


def grows_with_maximum(x):
    """exp(max - x^2): a running maximum that becomes infinite after smaller ones makes NaN."""
    return jnp.exp(jnp.max(2 * x) - (2 * x) ** 2).sum()


def grows_with_minimum(x):
    return jnp.exp((2 * x) ** 2 * 0 - jnp.min(2 * x)).sum()


CASES |= {
    "grows with a maximum": (grows_with_maximum, (X,), 2),
    "grows with a maximum, at last infinite": (grows_with_maximum, (np.append(X, INF),), 2),
    "grows with a minimum": (grows_with_minimum, (X,), 2),
}


def rows_of_columns(x, y):
    """Each row's sum sees all the columns' sums, not one."""
    k = jnp.exp(-x[:, None] * y)
    c = k / k.sum(0)
    return (c / c.sum(1)[:, None]).sum(0)


def gram_of_columns(x, y):
    k = jnp.exp(-x[:, None] * y)
    c = k / k.sum(0)
    return c.T @ (c @ y)


def largest_of_columns(x, y):
    k = x[:, None] * y
    e = jnp.exp(k - k.max(0))
    return (e / e.sum(1)[:, None]).sum(0)


def transposed_sums(x, y):
    k = jnp.exp(-x[:, None, None] * y[:, None] * (1 + y))
    s = k.sum(0)
    return (k / s / s.T).sum(0)


def transposed_maxima(x, y):
    k = x[:, None, None] * y[:, None] * (1 + y)
    m = k.max(0)
    return jnp.exp(k - m - m.T).sum(0)


@pytest.mark.parametrize(
    "f",
    [rows_of_columns, gram_of_columns, largest_of_columns, transposed_sums, transposed_maxima],
    ids=lambda f: f.__name__,
)
def test_what_sees_several_values_of_a_statistic(f, tmp_path):
    """A sum over what the statistic varies along, or with the statistic in two places."""
    arguments = (np.abs(X[:1501]) / 5, np.abs(X[:12]))
    text, rewritten = split(f, arguments, tmp_path)
    assert rewritten.count("stablehlo.while") > 0
    assert_close(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments))


@pytest.mark.parametrize("name", CASES)
def test_loops(name, tmp_path):
    f, arguments, loops = CASES[name]
    text, rewritten = split(f, arguments, tmp_path)
    assert rewritten.count("stablehlo.while") == loops
    assert_close(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments))


@pytest.mark.parametrize("name", ["softmax times values", "decode attention"])
def test_without_streaming_a_loop_for_each_statistic(name, tmp_path):
    f, arguments, _ = CASES[name]
    text, rewritten = split(f, arguments, tmp_path, "--skip", "stream")
    assert rewritten.count("stablehlo.while") == 3
    assert_close(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments))


@pytest.mark.parametrize(
    "f, arguments",
    [
        (variance, (X,)),
        (lambda x: log_softmax(x)[:5], (X,)),
        (
            lambda q, k, v: jax.grad(lambda *a: attention(*a).sum(), (0, 1, 2))(q, k, v),
            (Q, K, VALUES),
        ),
    ],
    ids=["variance", "log-softmax, put out", "gradient of attention"],
)
def test_what_is_no_product_takes_its_stages(f, arguments, tmp_path):
    """Sums that are not a product with a power of the statistic are made in a later loop."""
    text, rewritten = split(f, arguments, tmp_path)
    assert rewritten.count("stablehlo.while") >= 1
    assert_close(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments))


def rotated(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[-2])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    c, s = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def biased_attention(q, k, v):
    """Rotary, with slopes: f32, from the scores on f64."""
    i = jnp.arange(q.shape[-2])
    scores = jnp.einsum("bhid,bhjd->bhij", rotated(q), rotated(k)) / np.sqrt(32)
    scores -= (2.0 ** -jnp.arange(1, 5))[:, None, None] * jnp.abs(i[:, None] - i)
    return jnp.sum(jnp.tanh(softmax(scores, -1) @ v) ** 2)


def test_a_running_sum_of_what_another_dimension_has_made(tmp_path):
    """Gradients of scores along both dimensions: what the loop over the one could put out, but does
    not, is made again where sums over the other run."""
    arguments = [RNG.normal(size=(2, 4, 200, 32)).astype(np.float32) for _ in range(3)]
    f = jax.value_and_grad(biased_attention, (0, 1, 2))
    text, rewritten = running.rewrite(f, arguments, tmp_path, "--memory-limit", "2292863")
    assert rewritten.count("stablehlo.while") >= 2
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5 * np.abs(y).max())
