"""Tiles that keep lists: top-k and what becomes one, argmin, argmax. The same bits as stock XLA, in its
order of ties, NaNs and zeros, whichever dimension the split pass slices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
from running import lowered
from kernel_running import count, folder, tiled  # noqa: F401 (a fixture)

SPECIAL = [0.0, -0.0, 1, 1, -1, 2.5, -2.5, np.nan, -np.nan, np.inf, -np.inf, 1e-30, -3, 7, 8, 9]
FEW, MANY = 37, 700  # rows, columns
TYPES = [np.float32, np.float64, np.int32, np.uint64, np.int8]


def numbers(dtype, size, seed, kind):
    dice = np.random.default_rng(seed)
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        wide = dice.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        return wide if kind == "plain" else dice.choice(np.array([0, 1, 2, info.min, info.max], dtype), size)
    if kind == "plain":
        return dice.normal(size=size).astype(dtype)
    return dice.choice(np.array(SPECIAL if kind == "special" else SPECIAL[:6]), size).astype(dtype)


def matrix(a, b):
    """An element of a or of b at each place, to the bit."""
    rows, columns = (jax.lax.broadcasted_iota(np.int32, (a.shape[0], b.shape[0]), i) for i in (0, 1))
    return jnp.where((rows * 7 + columns * 3) % 5 < 2, a[:, None], b[None])


def bits(x):
    """NaNs as they are where the program only moves them; the payload of made ones is nobody's."""
    return x.view(f"u{x.itemsize}") if x.dtype.kind == "f" else x


def check(function, inputs, folder, threshold, *arguments):  # noqa: F811
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", threshold, *arguments)
    assert count(program), "no kernel"
    want, got = running.results(text, inputs), running.results(program, inputs)
    for w, g in zip(want, got, strict=True):
        assert w.dtype == g.dtype and np.array_equal(bits(w), bits(g))


def thresholds(dtype):
    """Slices of rows; slices of columns, which stream."""
    row = MANY * np.dtype(dtype).itemsize
    return row * FEW // 3, row * FEW // 18 + 64


@pytest.mark.parametrize("kind", ["plain", "special"])
@pytest.mark.parametrize("dtype", TYPES)
def test_top_k(dtype, kind, folder):  # noqa: F811
    a, b = numbers(dtype, FEW, 1, kind), numbers(dtype, MANY, 2, kind)
    for k in (1, 10, 150):
        check(lambda a, b: jax.lax.top_k(matrix(a, b), k), (a, b), folder, thresholds(dtype)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("kind", ["plain", "special"])
def test_streamed_top_k(dtype, kind, folder):  # noqa: F811
    """More rows than columns in a slice: what is carried from trip to trip is not seen by the tile."""
    a, b = numbers(dtype, 400, 1, kind), numbers(dtype, 3001, 2, kind)
    for k in (1, 10):
        for threshold in (400 * 40 * a.itemsize, 400 * 60 * a.itemsize):
            text = "--tensor-split-size", threshold
            check(lambda a, b: jax.lax.top_k(matrix(a, b), k), (a, b), folder, threshold, *text)


@pytest.mark.parametrize("dtype", [*TYPES[2:], np.int16, np.uint32])
@pytest.mark.parametrize("k", [3, 40])
def test_nothing_but_the_least_and_the_largest_integer(dtype, k, folder):  # noqa: F811
    """What is as small as an empty place of the list is still taken, in its order."""
    info = np.iinfo(dtype)
    a = np.full(300, info.min, dtype)
    b = np.where(np.arange(40) % 11, info.min, info.max).astype(dtype)
    check(lambda a, b: jax.lax.top_k(matrix(a, b), k), (a, b), folder, 40 * 100 * a.itemsize)
    check(lambda a: jax.lax.top_k(matrix(a, a[:40]), k), (a,), folder, 40 * 100 * a.itemsize)


def test_whole_rows(folder):  # noqa: F811
    """k is the extent: a sort."""
    a, b = numbers(np.float32, 300, 1, "special"), numbers(np.float32, 40, 2, "special")
    check(lambda a, b: jax.lax.top_k(matrix(a, b), 40), (a, b), folder, 16000)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("kind", ["plain", "special", "ties"])
def test_arg(dtype, kind, folder):  # noqa: F811
    a, b = numbers(dtype, FEW, 1, kind), numbers(dtype, MANY, 2, kind)
    for op in (jnp.argmin, jnp.argmax):
        for axis in (0, 1):
            for threshold in thresholds(dtype):
                check(lambda a, b: [op(matrix(a, b), axis)], (a, b), folder, threshold)


def neighbours(name, x, y, k):
    squares = jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)[None] - 2 * x @ y.T
    norms = [a / jnp.linalg.norm(a, axis=1, keepdims=True) for a in (x, y)]
    difference = x[:, None] - y[None]
    if name == "expanded":
        return jax.lax.top_k(-squares, k)
    if name == "broadcast":
        return jax.lax.top_k(-jnp.sum(difference**2, -1), k)
    if name == "root":
        return jax.lax.top_k(-jnp.sqrt(jnp.maximum(squares, 0)), k)
    if name == "cosine":
        return jax.lax.top_k(norms[0] @ norms[1].T, k)
    if name == "l1":
        return jax.lax.top_k(-jnp.sum(jnp.abs(difference), -1), k)
    if name == "sort":
        return [jnp.sort(jnp.sum(jnp.abs(difference), -1), axis=1)[:, :k]]
    return [jnp.argsort(jnp.sum(difference**2, -1), axis=1)[:, :k]]


# Dimensions, rows, columns, elements in a slice.
SHAPES = [(3, 50, 1500, 10500), (20, 300, 700, 28500), (33, 97, 411, 27500)]
NAMES = ["expanded", "broadcast", "root", "cosine", "l1", "argsort", "sort"]


@pytest.mark.parametrize("machine", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", NAMES)
def test_auto_takes_neighbours(name, machine, tmp_path):
    """At the sizes that people have; whether a kernel pays for fewer depends on the machine."""
    x, y = (jax.ShapeDtypeStruct((n, 33), np.float32) for n in (2_000, 20_000))
    (path := tmp_path / "neighbours.mlir").write_text(lowered(lambda x, y: neighbours(name, x, y, 5), x, y))
    assert count(running.opt(path, "--tensor-size-threshold", "8MB", "--tile", "auto", "--machine", machine))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_neighbours(name, dtype, folder):  # noqa: F811
    """What people write, over few and many dimensions. Distances to rounding, and the distance of each
    neighbour is what the program says it is."""
    dice = np.random.default_rng(3)
    for d, rows, columns, threshold in SHAPES:
        x, y = (dice.normal(size=(n, d)).astype(dtype) for n in (rows, columns))
        text = lowered(lambda x, y: neighbours(name, x, y, 5), x, y)
        for mode in ("on", "auto"):
            path = folder / "neighbours.mlir"
            path.write_text(text)
            program = running.opt(path, "--tensor-size-threshold", threshold * x.itemsize, "--tile", mode)
            assert count(program) or mode == "auto", f"no kernel for d = {d}"
        want, got = running.results(text, [x, y]), running.results(program, [x, y])
        for w, g in zip(want, got, strict=True):
            assert w.dtype == g.dtype
            if w.dtype.kind == "f":
                assert np.allclose(w, g, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-4)
            else:
                assert np.mean(w == g) > 0.999


@pytest.mark.parametrize("kind", ["plain", "special"])
@pytest.mark.parametrize("rows", [1, 2, 7, 13])
def test_few_rows(rows, kind, folder):  # noqa: F811
    """Too few for the threads: spans of columns with lists, numbers and pairs of their own."""
    a, b = numbers(np.float32, max(rows, 2), 1, kind), numbers(np.float32, 40001, 2, kind)

    def function(a, b):
        x = matrix(a, b)
        exact = jnp.where(jnp.isnan(x), 0, jnp.clip(jnp.round(x), -4, 4))
        return [*jax.lax.top_k(x, 5), jnp.argmax(x, 1), jnp.sum(exact, 1), jnp.max(exact, 1)]

    check(function, (a, b), folder, 40001 * 4 * max(rows, 2) // 2 + 9999)
