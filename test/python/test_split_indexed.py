"""Gather and scatter in loops over a dimension that their indices name: each trip reads or writes
what lies in its slice. Results to the bit, also where indices are out of range."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
N = 10007
X, V = RNG.normal(size=N), RNG.normal(size=(N, 3))
IN_RANGE = RNG.integers(0, N, size=50)
ANYWHERE = RNG.integers(-2 * N, 3 * N, size=50)  # a third of them in range
UPDATES, ROWS = RNG.normal(size=50), RNG.normal(size=(50, 3))
PAIRS = np.stack([ANYWHERE, RNG.integers(-2, 6, size=50)], 1)


def large(x):
    """A tensor of the program's own."""
    return jnp.sin(x)


def read(x, i, mode):
    """One index at a time; out of range: the nearest (clip), NaN (fill)."""
    return large(x).at[i].get(mode=mode, wrap_negative_indices=False)


def read_pairs(v, pairs):
    numbers = lax.GatherDimensionNumbers((), (0, 1), (0, 1))
    return lax.gather(large(v), pairs, numbers, (1, 1), mode="clip")


def read_directly(x, i):
    """Without JAX's conversion of the indices."""
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    return lax.gather(large(x), i[:, None], numbers, (1,), mode="clip")


def write(x, i, u, how):
    """Sums of what was written, so that nothing large is a result."""
    y = getattr(large(x).at[i], how)(u, mode="drop", wrap_negative_indices=False)
    return jnp.max(y, 0), jnp.min(y, 0), jnp.sort(y, 0)[:0]


def write_pairs(v, pairs, u):
    y = large(v).at[pairs[:, 0], pairs[:, 1]].set(
        u, mode="drop", wrap_negative_indices=False, unique_indices=False
    )
    return jnp.max(y, 0), jnp.min(y, 0)


def swap(x, i, j):
    """One element at a time, of a slice of an argument, not of something computed."""
    x = x.at[i].set(x[j]).at[j].set(x[i])
    return jnp.max(jnp.sin(x)), jnp.min(jnp.sin(x)), jnp.sum(x.astype(int))


def columns(v, i):
    """A batch dimension beside the one that is named."""
    return jnp.take_along_axis(large(v), i, 0)


def diagonal(v):
    """Both dimensions named."""
    k = large(v[:400, :1] * v[:400, 1])
    k = k.at[jnp.arange(400), jnp.arange(400)].set(-jnp.inf)
    return jnp.max(k, 0), jnp.max(k, 1)


def cross_entropy(w, h, labels):
    def loss(w, h):
        scores = jax.nn.log_softmax(h @ w.T)
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    return jax.value_and_grad(loss, (0, 1))(w, h)


# ---- a matrix of updates as one list ----
S = RNG.uniform(0.2, 3, size=211)
SEGMENTS = RNG.integers(-3, 12, size=211)  # some out of range


def matrix(x):
    """Whole numbers, whose sums are exact."""
    return jnp.round(100 * jnp.sin(x[:, None] * x))


def segments(s):
    return 2 * s[:, None] + s


def sum_of_pairs(x, s):
    return jax.ops.segment_sum(matrix(x).ravel(), segments(s).ravel(), 30)


def sum_of_pairs_by_columns(x, s):
    return jax.ops.segment_sum(matrix(x).T.ravel(), segments(s).ravel(), 30)


def maximum_of_pairs(x, s):
    return jax.ops.segment_max(matrix(x).ravel(), segments(s).ravel(), 30)


def last_of_pairs(x, s):
    return jnp.zeros(30).at[segments(s).ravel()].set(matrix(x).ravel(), mode="drop")


def sum_of_rows(x, s):
    rows = (matrix(x)[..., None] * jnp.arange(3.0)).reshape(-1, 3)
    return jnp.zeros((30, 3)).at[segments(s).ravel()].add(rows, mode="drop")


def sum_at_pairs(x, s):
    """Each index has two parts."""
    at = jnp.broadcast_to(s[:, None], (s.size, s.size)).ravel(), segments(s).ravel()
    return jnp.zeros((7, 30)).at[at].add(matrix(x).ravel(), mode="drop")


def one_upon_the_other(first, second, other):
    """What is scattered into what was; `other` makes the second places of the first result."""

    def f(x, s):
        at, m = segments(s).ravel(), matrix(x).ravel()
        y = getattr(jnp.zeros(30).at[at], first)(m, mode="drop")
        return getattr(y.at[other(at, y)], second)(2 * m + 1, mode="drop")

    return f


def next_place(at, y):
    return (at + 1) % 31


def sums_of_prefix_sums(x, s):
    """These have a carry of the type of the sum's; other sums go on with it."""
    m = matrix(x)
    at = [(0, k * segments(s) % x.size) for k in (1, 2, 3)]
    y = jnp.zeros((1, x.size)).at[at[0]].add(jnp.cumsum(m, 0))
    return y.at[at[1]].add(m).at[at[2]].add(2 * m)


EXACT = {
    "sums, then sums": (one_upon_the_other("add", "add", next_place), (S, SEGMENTS)),
    "maxima, then maxima": (one_upon_the_other("max", "max", next_place), (S, SEGMENTS)),
    "sums, then maxima": (one_upon_the_other("add", "max", next_place), (S, SEGMENTS)),
    "sums, then last ones": (one_upon_the_other("add", "set", next_place), (S, SEGMENTS)),
    "sums where sums are": (
        one_upon_the_other("add", "add", lambda at, y: at + (y.max() > 0).astype(int)),
        (S, SEGMENTS),
    ),
    "sums of prefix sums, then sums": (sums_of_prefix_sums, (S, SEGMENTS)),
    "sum of pairs": (sum_of_pairs, (S, SEGMENTS)),
    "sum of pairs by columns": (sum_of_pairs_by_columns, (S, SEGMENTS)),
    "maximum of pairs": (maximum_of_pairs, (S, SEGMENTS)),
    "last of pairs": (last_of_pairs, (S, SEGMENTS)),
    "sum of rows": (sum_of_rows, (S, SEGMENTS)),
    "sum at pairs": (sum_at_pairs, (S, SEGMENTS)),
    "read, clipped": (lambda x, i: read(x, i, "clip"), (X, ANYWHERE)),
    "read, filled": (lambda x, i: read(x, i, "fill"), (X, ANYWHERE)),
    "read at i8": (read_directly, (X, IN_RANGE.astype(np.int8))),
    "read at ui32": (read_directly, (X, ANYWHERE.astype(np.uint32))),
    "read at ui64": (read_directly, (X, ANYWHERE.astype(np.uint64))),
    "read rows": (lambda v, i: read(v, i, "clip"), (V, ANYWHERE)),
    "read pairs": (read_pairs, (V, PAIRS)),
    "read in columns": (columns, (V, RNG.integers(0, N, size=(4, 3)))),
    "add": (lambda x, i, u: write(x, i, u, "add"), (X, ANYWHERE, UPDATES)),
    "add twice": (lambda x, i, u: write(x, i, u, "add"), (X, IN_RANGE // 900, UPDATES)),
    "set": (lambda x, i, u: write(x, i, u, "set"), (X, ANYWHERE, UPDATES)),
    "maximum of rows": (lambda v, i, u: write(v, i, u, "max"), (V, ANYWHERE, ROWS)),
    "set pairs": (write_pairs, (V, PAIRS, UPDATES)),
    "swap": (swap, (np.arange(N) * 1.0, 3, N - 2)),
    "swap in columns": (
        lambda v, i, j: jnp.max(jnp.sin(v.at[i, 1].set(v[j, 2])), 0),
        (np.arange(3 * N).reshape(N, 3) * 1.0, N - 2, 3),
    ),
    "diagonal": (diagonal, (V,)),
}


def split(f, arguments, folder):
    sizes = ["--tensor-size-threshold", "8KiB", "--tensor-split-size", "2000"]
    return running.rewrite(f, arguments, folder, *sizes, "--skip=through-gather")


@pytest.mark.parametrize("name", EXACT)
def test_to_the_bit(name, tmp_path):
    f, arguments = EXACT[name]
    text, rewritten = split(f, arguments, tmp_path)
    assert ("stablehlo.while" in rewritten) == ("ui64" not in name), "ui64 may be beyond counting"
    assert "211x211x" not in rewritten
    found, expected = (running.Xla(t)(*arguments) for t in (rewritten, text))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def test_cross_entropy_over_the_vocabulary(tmp_path):
    """Forward and backward in loops over the vocabulary: scores are never a tensor."""
    w, h, labels = RNG.normal(size=(5003, 3)), RNG.normal(size=(7, 3)), IN_RANGE[:7] % 5003
    text, rewritten = split(cross_entropy, (w, h, labels), tmp_path)
    assert "tensor<7x5003xf64>" in text and "tensor<7x5003x" not in rewritten
    found, expected = (running.Xla(t)(w, h, labels) for t in (rewritten, text))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12 * np.abs(y).max())
