"""Slices, pads, parts, reverses and rolls along the dimension that is split: every value has its own
window of a trip. Results to the bit, also where windows reach beyond the ends."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
N = 10007  # a prime: the last slice overlaps
X, Y = RNG.normal(size=N), RNG.normal(size=N)
V, W = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 3))
SIDE = RNG.normal(size=500)
ANYWHERE = RNG.integers(-N, 2 * N, size=50)
UPDATES = 5 * RNG.normal(size=50)
# carries, and the splats that they begin with, are no tensors of a trip
LARGE = re.compile(
    r'"stablehlo\.(?!constant|while|dynamic_update_slice|broadcast_in_dim[^\n]*array<i64>})'
    r"[^\n]*-> tensor<(\d+)"
)


def large(x):
    """A tensor of the program's own."""
    return jnp.sin(x)


def ends(y):
    """What is exact in any order."""
    return jnp.max(y, 0), jnp.min(y, 0)


def square(x):
    return large(x[:, None] * x)


def pairs(x):
    """With ties."""
    return jnp.round(2 * square(x)).ravel()


def part(v, i, sizes):
    return (lax.dynamic_slice(large(v), (i, 0 * i), sizes), *ends(large(v)))


def update(v, u, i):
    return ends(lax.dynamic_update_slice(large(v), u, (i, 0 * i + 1)))


def stencil(x):
    y = large(x)
    return ends((jnp.roll(y, 1, 0) + y) + jnp.roll(y, -1, 0))


def products(x):
    """Backwards, a slice is a pad."""
    return ends(jax.grad(lambda x: jnp.sum((large(x)[1:] * large(x)[:-1]) ** 2))(x))


def next_token(x, y):
    """Scores of all positions but the last against all labels but the first."""
    return ends(jax.nn.log_softmax(square(x) + 1)[:-1] * y[1:, None])


def windows(x, shift, side=8):
    """Each window sorted by itself, moved back: local attention in shifted windows."""
    y = (jnp.roll(x, -shift, 0) if shift else x).reshape(-1, side, *x.shape[1:])
    y = jnp.sort(y, 1).reshape(x.shape)
    return jnp.roll(y, shift, 0) if shift else y


def with_neighbours(x, side):
    """Blocks, each beside the one before and the one after."""
    b = x.reshape(-1, side)
    return jnp.sort(jnp.concatenate([jnp.roll(b, 1, 0), b, jnp.roll(b, -1, 0)], 1), 1)[:, ::7]


def windows_of_both(v):
    """Windows along both dimensions, as Swin has them; products along the last."""
    n, m, c = v.shape
    y = jnp.roll(v, (-3, 2), (0, 1)).reshape(n // 8, 8, m // 4, 4, c).transpose(0, 2, 1, 3, 4)
    y = jnp.sort(y.reshape(-1, 32, c), 1).reshape(n // 8, m // 4, 8, 4, c)
    return ends(jnp.roll(y.transpose(0, 2, 1, 3, 4).reshape(n, m, c), (3, -2), (0, 1)) * v)


def in_steps(x):
    """In a loop of the program's own, within one trip."""
    return ends(lax.fori_loop(0, 3, lambda _, y: jnp.cos(y), large(x))[5:-2])


EXACT = {
    "a slice": (lambda x: ends(large(x)[123:7001]), (X,)),
    "an element": (lambda x: (large(x)[77], *ends(large(x))), (X,)),
    "the ends": (lambda x: (large(x)[:3], large(x)[-2:], *ends(large(x))), (V,)),
    "differences": (lambda x: ends(large(x)[1:] - large(x)[:-1]), (X,)),
    "differences of differences": (lambda x: ends(jnp.diff(large(x), 2)), (X,)),
    "differences of rows": (lambda x: ends(jnp.diff(square(x), axis=0)), (SIDE,)),
    "two tensors": (lambda v, w: ends(jnp.concatenate([large(v), jnp.cos(w)])), (V, W)),
    "small parts": (lambda v, w: ends(jnp.concatenate([v[:2], large(v), w[:7], w])), (V, W)),
    "pad": (lambda x: ends(jnp.pad(large(x), (5, 700), constant_values=9)), (X,)),
    "pad and cut": (lambda x: ends(lax.pad(large(x), 9.0, [(-3, 700, 0)])), (X,)),
    "cut at the end": (lambda x: ends(lax.pad(large(x), 9.0, [(30, -700, 0)])), (X,)),
    "pad all around": (lambda v: ends(lax.pad(large(v), 9.0, [(1, 2, 0), (3, 4, 0)])), (V,)),
    "roll": (lambda x: ends(jnp.roll(large(x), 3) * x), (X,)),
    "roll far": (lambda x: ends(jnp.roll(large(x), -4003) * large(x)), (X,)),
    "stencil": (stencil, (V,)),
    "flip": (lambda x: ends(jnp.flip(large(x)) * large(x)), (X,)),
    "flip of a slice": (lambda v: ends(jnp.flip(large(v), 0)[3:] * large(v)[:-3]), (V,)),
    "argmax of a slice": (lambda x: jnp.argmax(large(x)[7:] * x[:-7]), (X,)),
    "iota": (lambda x: ends(jnp.where(jnp.arange(N - 1) % 3 == 0, large(x)[1:], 0)), (X,)),
    "lower triangle, flipped": (lambda x: ends(jnp.tril(square(x))[::-1]), (SIDE,)),
    "with its transpose": (lambda x: ends((square(x) - square(x).T)[1:] - square(x)[:-1]), (SIDE,)),
    "an element somewhere": (lambda x, i: (large(x)[i], *ends(large(x))), (X, np.int32(777))),
    "a part": (lambda v, i: part(v, i, (400, 2)), (V, np.int32(9900))),
    "a large part": (lambda v, i: part(v, i, (5000, 3)), (V, np.int8(-7))),
    "update": (update, (V, 5 * RNG.normal(size=(300, 2)), np.int32(9900))),
    "update in front": (update, (V, 5 * RNG.normal(size=(300, 2)), np.int32(-N))),
    "update of one": (update, (V, 5 * RNG.normal(size=(1, 1)), np.uint16(5000))),
    "backwards": (products, (X,)),
    "next token": (next_token, (SIDE, SIDE)),
    "read at": (lambda x, i: large(x)[5:].at[i].get(mode="clip"), (X, ANYWHERE)),
    "flipped, read at": (lambda x, i: jnp.flip(large(x)).at[i].get(mode="clip"), (X, ANYWHERE)),
    "write at": (lambda x, i, u: ends(large(x)[5:].at[i].set(u)), (X, ANYWHERE, UPDATES)),
    "flipped, write at": (
        lambda x, i, u: ends(x * large(x)[::-1].at[i].add(u)),
        (X, ANYWHERE, UPDATES),
    ),
    "largest of a slice": (lambda x: lax.top_k(large(x)[5:], 7), (X,)),
    "largest of all pairs": (lambda x: lax.top_k(pairs(x), 20), (SIDE[:331],)),
    "more than a row of all pairs": (lambda x: lax.top_k(pairs(x), 300), (SIDE[:97],)),
    "largest pair": (lambda x: jnp.argmax(pairs(x)), (SIDE[:331],)),
    "steps": (in_steps, (X,)),
    "windows": (lambda x: ends(windows(large(x), 0) * x), (X[:8008],)),
    "shifted windows": (lambda x: ends(windows(large(x), 3) * x), (X[:8008],)),
    "windows shifted back": (lambda x: ends(windows(large(x), -5) * x), (X[:8008],)),
    "windows shifted by more": (lambda x: ends(windows(large(x), 4001) * x), (X[:8008],)),
    "windows of a slice": (lambda x: ends(jnp.sort(large(x)[5:8013].reshape(-1, 8), 1)), (X,)),
    "windows of what is padded": (
        lambda x: ends(jnp.sort(jnp.pad(large(x), (3, 2)).reshape(-1, 4), 1)),
        (X,),
    ),
    "windows of a flip": (
        lambda x: ends(windows(jnp.flip(large(x))[3:8011], 2) * x[:8008]),
        (X,),
    ),
    "a slice of windows": (lambda x: ends(windows(large(x), 3)[5:8001] * x[5:8001]), (X[:8008],)),
    "windows of two": (
        lambda x, y: ends(windows(jnp.concatenate([large(x)[:803], y[:7205]]), 3)),
        (X, Y),
    ),
    "windows of an iota": (
        lambda x: ends(windows(jnp.roll(jnp.arange(8008.0), 3) * large(x), 0)),
        (X[:8008],),
    ),
    "neighbours": (lambda x: ends(with_neighbours(large(x), 8)), (X[:8008],)),
    "windows along both": (windows_of_both, (RNG.normal(size=(200, 12, 4)),)),
}
REORDERED = {
    "sum of a slice": (lambda x: large(x)[5:-77].sum(), (X,)),
    "sum of a flip": (lambda x: (jnp.flip(large(x)) * x).sum(), (X,)),
    "sum of shifted windows": (lambda x: (windows(large(x), 3) * x).sum(), (X[:8008],)),
    "product": (lambda v, w: large(v)[2:].T @ w[:-2], (V, W)),
    "mean of what is padded": (lambda x, y: jnp.mean(jnp.pad(large(x), (3, 9)) ** 2), (X, Y)),
    "sums at": (lambda v, i: jnp.zeros((8, 3)).at[i].add(large(v)[2:]), (V, np.arange(N - 2) % 11)),
    "autocovariance": (lambda x: jnp.sum((large(x)[9:] - x.mean()) * large(x)[:-9]), (X,)),
}


def split(f, arguments, folder):
    sizes = ["--tensor-size-threshold", "8KiB", "--tensor-split-size", "2000"]
    return running.rewrite(f, arguments, folder, *sizes)


@pytest.mark.parametrize("name", EXACT | REORDERED)
def test_results(name, tmp_path):
    """Of the long dimension only carries, which are written in place, have more than a slice."""
    f, arguments = (EXACT | REORDERED)[name]
    text, rewritten = split(f, arguments, tmp_path)
    length = max(int(n) for n in LARGE.findall(rewritten))
    assert length < (5001 if name == "a large part" else 1000)
    found, expected = (running.Xla(t, as_users=True)(*arguments) for t in (rewritten, text))
    for x, y in zip(found, expected, strict=True):
        if name in EXACT:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)
