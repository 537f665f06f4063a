"""Loops whose trips read parts of a large value that was made before: the parts are made in the
trip, in every way that the value can be made, and nobody holds it.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
N, M, D = 61, 53, 3
ARGUMENTS = (RNG.normal(size=(N, D)), RNG.normal(size=(M, D)), np.arange(7) * 13 - 20)
THRESHOLD = 8 * N * D * 2  # more than parts take, less than any whole matrix, also of bool


def distances(x, y):
    return jnp.sum((x[:, None] - y) ** 2, -1)


def over_rows(make):
    """A scan over the rows of what `make` makes. It sorts them: nothing is parallel in a row."""

    def f(x, y, at):
        step = lambda s, row: (jnp.sort(jnp.minimum(s, row), 0) + 0.1, jnp.sum(row))
        return lax.scan(step, jnp.zeros(make(x, y).shape[1:]), make(x, y))

    return f


def at_places(read):
    """Medians of parts at each of the places, of which some lie outside."""

    def f(x, y, at):
        d = jnp.sin(distances(x, y))
        step = lambda i, s: s * 0.7 + jnp.median(read(d, at[i]))
        return lax.fori_loop(0, at.size, step, jnp.zeros(()))

    return f


def part(d, start, sizes):
    return lax.dynamic_slice(d, start, sizes)


def farthest(x, y, at):
    d = distances(x, x)

    def step(s, _):
        near = jnp.minimum(s[0], d[s[1]])
        return (near, jnp.argmax(near)), s[1]

    return lax.scan(step, (jnp.full(N, jnp.inf), 5), None, length=9)[1]


def suppressed(x, y, at):
    near = jnp.exp(-distances(x, x)) > 0.5

    def step(i, keep):
        return jnp.where(keep[i], keep & ~(near[i] & (jnp.arange(N) > i)), keep)

    return lax.fori_loop(0, N, step, jnp.ones(N, bool))


def read_as_a_whole_too(x, y, at):
    d = jnp.cos(distances(x, x))
    step = lambda v, row: (d @ v / N + row, row[0])
    return lax.scan(step, jnp.ones(N), d)


def loop_in_loop(x, y, at):
    d = jnp.cos(distances(x, y))

    def rows(i, s):
        return lax.fori_loop(0, 4, lambda j, s: s + d[(i * j) % N] * jnp.sum(d[:, i + j]), s)

    return lax.fori_loop(0, 5, rows, jnp.zeros(M))


def made_in_a_loop(x, y, at):
    def outer(s, scale):
        step = lambda s, row: (jnp.sort(s) + row * scale, None)
        return lax.scan(step, s, distances(x * scale, y))

    return lax.scan(outer, jnp.zeros(M), jnp.arange(3.0))[0]


def edges(x, y):
    """Rows that are padded, put together, moved and left out."""
    d = jnp.concatenate([distances(x, y), jnp.tanh(distances(y, y))])[::-1]
    return jnp.pad(d[3:-2], ((1, 2), (0, 0)), constant_values=7.0)


def counted(x, y):
    i, j = jnp.arange(N)[:, None], jnp.arange(M)
    return jnp.where(i >= j, jnp.exp(-0.1 * (i - j)) * (x @ y.T), i + 0.5)


def wide(z):
    return jnp.tanh(z @ jnp.arange(-13.0, 14).reshape(D, 9) / 9)


def beside_sums(make):
    """Rows of a product in data's order, beside the sums of all rows, whose loop has a factor whole."""

    def f(x, y, at):
        d = make(x, y)
        step = lambda i, s: jnp.sort(s) * 0.5 + d[jnp.argmax(s)]
        return lax.fori_loop(0, 9, step, jnp.zeros(d.shape[1])), jnp.sum(d, 1)

    return f


CASES = {
    "farthest": farthest,
    "suppressed": suppressed,
    "rows": over_rows(distances),
    "rows of a product": over_rows(lambda x, y: jnp.exp(x @ y.T)),
    "rows of a product of computed factors": over_rows(lambda x, y: wide(x) @ wide(y).T),
    "rows of two factors, and sums": beside_sums(lambda x, y: jnp.cos(wide(x) @ wide(y).T)),
    "rows of a factor's product with itself": beside_sums(lambda x, y: wide(x) @ wide(x).T),
    "rows of a transpose": over_rows(lambda x, y: jnp.abs(y @ x.T).T),
    "rows backwards": over_rows(lambda x, y: distances(x, y)[::-1] + 1),
    "rows that are counted": over_rows(counted),
    "rows of an edge": over_rows(edges),
    "groups of rows": over_rows(lambda x, y: distances(x[:60], y).reshape(30, 2 * M) * 2),
    "flat slabs": over_rows(lambda x, y: (x[:, None] * y).reshape(N, -1)),
    "rows of rows' sums": over_rows(lambda x, y: jnp.cumsum(distances(x, y), 1)),
    "rows of sums of rows": over_rows(lambda x, y: jnp.cumsum(x[:, :1] * y[:, 0], 0)),
    "rows of maxima": over_rows(
        lambda x, y: jnp.tanh(lax.cummax(x[:, :1] - y[:, 0], axis=0, reverse=True)[2:])
    ),
    "rows of sums of a product": over_rows(lambda x, y: jnp.cumsum(x @ y.T, 0)),
    "rows of products of rows": over_rows(lambda x, y: lax.cumprod(jnp.cos(x[:, :1] * y[:, 0]))),
    "two rows of sums": at_places(lambda d, i: part(lax.cumsum(d), (i, 0), (2, M))),
    "columns": at_places(lambda d, i: part(d, (0, i), (N, 1))),
    "two rows": at_places(lambda d, i: part(d, (i, 0), (2, M))),
    "blocks": at_places(lambda d, i: part(d, (i, i - 4), (5, 2))),
    "elements": at_places(lambda d, i: part(d, (i, i), (1, 1))),
    "rows and columns": at_places(
        lambda d, i: part(d, (i, 0), (1, M)) * part(d, (0, i), (N, 1))[:M].T
    ),
    "unsigned": at_places(lambda d, i: part(d, (i.astype(jnp.uint8), jnp.uint8(0)), (1, M))),
    "beyond i64": at_places(lambda d, i: part(d, (i.astype(jnp.uint64), jnp.uint64(0)), (1, M))),
    "read as a whole too": read_as_a_whole_too,
    "loop in loop": loop_in_loop,
    "made in a loop": made_in_a_loop,
}


LEFT_WHOLE = {"beyond i64", "read as a whole too"}
SLICED_TOO = {name for name in CASES if "factor" in name}  # factors and sums have loops of their own
SUMMED = {"rows of sums of rows", "rows of maxima"}  # what is summed is made where it is read
NOT_SUMMED = {"rows of sums of a product", "rows of products of rows", "two rows of sums"}


def program(name, folder):
    with jax.enable_x64(True):
        text = jax.jit(CASES[name], keep_unused=True).lower(*ARGUMENTS).as_text()
    (folder / "p.mlir").write_text(text)
    return text


def agree(got, want):
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_same_results(name, tmp_path):
    text = program(name, tmp_path)
    rewritten = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", THRESHOLD)
    evaluate = running.Evaluator(tmp_path, ARGUMENTS)
    agree(evaluate(rewritten), evaluate(text))
    agree(running.Xla(rewritten)(*ARGUMENTS), running.Xla(text)(*ARGUMENTS))


@pytest.mark.parametrize("name", sorted(set(CASES) - LEFT_WHOLE - SUMMED - NOT_SUMMED))
def test_parts_alone(name, tmp_path):
    """Nothing is as large as the value, and no loop goes over it."""
    text = program(name, tmp_path)
    rewritten = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", THRESHOLD)
    for whole in (f"{N}x{M}x", f"{N}x{N}x", f"{M}x{N}x", f"{N}x{M * D}x"):
        assert f"tensor<{whole}" not in rewritten, whole
    if name not in SLICED_TOO:
        assert rewritten.count("stablehlo.while") == text.count("stablehlo.while")


@pytest.mark.parametrize("name", sorted(SUMMED | NOT_SUMMED))
def test_one_element_of_each_prefix_sum_is_a_sum(name, tmp_path):
    """Of what is no elementwise op of what is there, of products, of several elements it is not."""
    program(name, tmp_path)
    rewritten = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", THRESHOLD)
    assert ("reduce_window" in rewritten) == (name in NOT_SUMMED)
