"""Tiles: what is moved along the dimension that a loop slices. Joined, rolled, padded, cut, reversed and
partly updated rows and columns of values that only a loop's slices hold, as kernels with the slices
that a threshold asks for, and under a limit by the hook's own choice.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
from running import lowered
import weir
from kernel_running import count, difference, folder, tiled  # noqa: F401

N, M = 600, 250  # rows and columns of the large values


def outer(x, y):
    return jnp.sin(x[:, None] * y)


def other(x, y):
    return jnp.cos(x[:, None] + y)


def with_rows(k, rows, values, add=False):
    return k.at[rows].add(values) if add else k.at[rows].set(values)


def joined(x, y, at=300):
    return jnp.concatenate([outer(x[:at], y), other(x[at:], y)])


def interleaved(x, y):
    return jnp.stack([outer(x[:300], y), other(x[:300], y)], 1).reshape(N, M)


def softmax_of_joined(x, y):
    logits = joined(x, y)
    return jnp.exp(logits).max(1) / jnp.exp(logits).sum(1)


PROGRAMS = {
    "roll one back": lambda x, y: jnp.roll(outer(x, y), -1, 0).max(1),
    "roll some on": lambda x, y: jnp.roll(outer(x, y), 7, 0).max(1),
    "roll by slices": lambda x, y: jnp.roll(outer(x, y), 140, 0).sum(1),
    "fftshift": lambda x, y: jnp.fft.fftshift(outer(x, y), axes=0).sum(1),
    "joined": lambda x, y: joined(x, y).sum(1),
    "joined, product": lambda x, y: joined(x, y) @ y,
    "joined, largest": lambda x, y: joined(jnp.floor(3 * x), jnp.floor(4 * y), 400).max(1),
    "joined, which": lambda x, y: jnp.concatenate(
        [x[:400, None] * y, x[400:, None] + y]
    ).argmax(1),
    "joined columns": lambda x, y: jnp.concatenate([outer(x, y[:100]), other(x, y[100:])], 1).sum(0),
    "joined columns, over them": lambda x, y: jnp.concatenate(
        [outer(x, y[:100]), other(x, y[100:])], 1
    ).sum(1),
    "joined, down": lambda x, y: (joined(x, y) * y).sum(0),
    "three joined": lambda x, y: jnp.concatenate(
        [outer(x[:200], y), other(x[200:220], y), jnp.exp(-((x[220:, None] - y) ** 2))]
    ).sum(1),
    "one row appended": lambda x, y: jnp.log(
        jnp.exp(jnp.concatenate([outer(x[1:], y), 0 * outer(x[:1], y)])).sum(1)
    ),
    "shifted difference": lambda x, y: jnp.abs(jnp.roll(outer(x, y), -1, 0) - outer(x, y)).sum(1),
    "joined before": lambda x, y: outer(jnp.concatenate([x[300:], x[:300]]), y).sum(1),
    "softmax of joined": softmax_of_joined,
    "padded at the end": lambda x, y: jnp.pad(outer(x[:400], y), ((0, 200), (0, 0)), constant_values=3).max(1),
    "padded at both": lambda x, y: jnp.pad(outer(x[:400], y), ((80, 120), (0, 0)), constant_values=3).sum(1),
    "padded columns": lambda x, y: jnp.pad(outer(x, y[:200]), ((0, 0), (30, 20)), constant_values=2).sum(1),
    "rows": lambda x, y: outer(x, y)[140:540].max(1),
    "every third row": lambda x, y: outer(x, y)[5::3].sum(1),
    "rows set": lambda x, y: with_rows(outer(x, y), np.s_[200:500], 0.5).max(1),
    "first rows set": lambda x, y: with_rows(outer(x, y), np.s_[:500], 0.5).sum(1),
    "rows set, computed": lambda x, y: with_rows(outer(x, y), np.s_[20:320], other(x[:300], y)).sum(1),
    "rows added": lambda x, y: with_rows(outer(x, y), np.s_[10:590], 0.5, add=True).max(1),
    "reversed": lambda x, y: (outer(x, y)[::-1] * other(x, y)).sum(1),
    "where rows": lambda x, y: jnp.where(jnp.arange(N)[:, None] < 400, outer(x, y), 7).sum(1),
    "where a band": lambda x, y: jnp.where(
        jnp.abs(jnp.arange(N)[:, None] - 2 * jnp.arange(M)) < 40, outer(x, y), 0
    ).sum(1),
    "off the diagonal": lambda x, y: (outer(x, y) * (1 - jnp.eye(N, M, dtype=x.dtype))).sum(1),
    "by index": lambda x, y: (outer(x, y) * jnp.arange(N)[:, None]).sum(1) / N,
    "interleaved": lambda x, y: interleaved(x, y).sum(1),
    "repeated": lambda x, y: jnp.repeat(outer(x[:300], y), 2, 0).sum(1),
    "tiled": lambda x, y: jnp.tile(outer(x[:300], y), (2, 1)).sum(1),
    "shifted by a pad": lambda x, y: (jnp.pad(outer(x, y), ((1, 0), (0, 0)))[:-1] * outer(x, y)).sum(1),
    "differences": lambda x, y: jnp.diff(outer(x, y), axis=0).max(1),
    "running sums": lambda x, y: jnp.cumsum(outer(x, y), 0).max(1),
    "rolled both ways": lambda x, y: (
        (0 + jnp.roll(jnp.roll(joined(x, y), -1, 0), -1, 1) + jnp.roll(joined(x, y), -1, 0)) * 2
    ).sum(1),
}
# Loops of these are kernels; of others they may be.
KERNELS = {name for name in PROGRAMS if name.startswith(("roll ", "joined", "padded at", "where"))}
KERNELS -= {"joined columns", "joined columns, over them", "joined, down"}


def inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal(n).astype(np.float32) for n in (N, M)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_with_slices(name, folder):  # noqa: F811
    """Slices of two rows, and of a number that divides no part."""
    x, y = inputs()
    text = lowered(PROGRAMS[name], x, y)
    stock = running.results(text, [x, y])
    for rows in (2, 70) if name in KERNELS else (7,):
        program = tiled(text, folder, "--tensor-size-threshold", rows * M * 4)
        assert count(program) or name not in KERNELS
        for want, got in zip(stock, running.results(program, [x, y]), strict=True):
            assert not difference(want, got)


@pytest.mark.parametrize("name", PROGRAMS)
def test_under_a_limit(name, folder):  # noqa: F811
    x, y = inputs()
    want = np.asarray(jax.jit(PROGRAMS[name])(x, y))
    with weir.limit("250kB"):
        got = np.asarray(jax.jit(lambda x, y: PROGRAMS[name](x, y))(x, y))
    assert not difference(want, got)


STENCILS = [
    (np.int8, (30, 9)),
    (np.int8, (100, 30)),
    (np.int16, (30, 17)),
    (np.float32, (30, 9)),
    (np.float64, (30, 5)),
]


def stencil(x):
    west, east = jnp.roll(jnp.roll(x, -1, 0), -1, 1), jnp.roll(jnp.roll(x, -1, 0), 0, 1)
    return (0 + west + east) * 2


@pytest.mark.parametrize("dtype, shape", STENCILS)
def test_stencils(dtype, shape, folder):  # noqa: F811
    """Of whole numbers: to the bit. Slices of two rows and more."""
    x = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    text = lowered(stencil, x)
    for rows in (2, 3, shape[0] // 2):
        program = tiled(text, folder, "--tensor-size-threshold", rows * shape[1] * x.itemsize)
        (want,), (got,) = running.results(text, [x]), running.results(program, [x])
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_life(dtype, folder, monkeypatch):  # noqa: F811
    """Cells and their neighbours over generations, in a loop of the program's own."""
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "1000")
    monkeypatch.setenv("WEIR_TILE", "on")
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

    def step(x, _):
        k = sum(jnp.roll(jnp.roll(x, i, 0), j, 1) for i, j in around)
        return ((k == 3) | ((k == 2) & (x == 1))).astype(dtype), k.max()

    want = x = np.random.default_rng(0).integers(0, 2, (50, 50)).astype(dtype)
    for _ in range(3):
        k = sum(np.roll(np.roll(want, i, 0), j, 1) for i, j in around)
        want = ((k == 3) | ((k == 2) & (want == 1))).astype(dtype)
    got, _ = jax.jit(lambda x: jax.lax.scan(step, x, None, length=3))(x)
    np.testing.assert_array_equal(np.asarray(got), want)
