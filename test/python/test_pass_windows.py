"""Windows that are added where data says, and gradients of windows that are read there: the matrix
that they are added to is made in slices. Holds at a tenth, with stock's results, starts beyond the
ends and negative ones included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held

N, COUNT, SIZES = 600, 60, (7, 11)


def windows(m, rows, columns, sizes):
    return jax.vmap(lambda i, j: lax.dynamic_slice(m, (i, j), sizes))(rows, columns)


def summed(h, at, u):
    """u's windows are dropped where they are not inside."""
    numbers = lax.ScatterDimensionNumbers(tuple(range(1, u.ndim)), (), tuple(range(at.shape[1])))
    return lax.scatter_add(h, at, u, numbers)


def read(x, w, at, u):
    return (windows(jnp.tanh(x @ w), at[:, 0], at[:, 1], SIZES) ** 2).sum()


def added(x, w, at, u):
    return (summed(jnp.tanh(x @ w), at, u) ** 2).sum(1)


def image(x, w, at, u):
    """Three channels, which are too few to slice."""
    h = jnp.tanh((x @ w)[..., None] * jnp.arange(1.0, 4.0))
    return (summed(h, at, jnp.stack([u, -u, u], -1)) ** 2).sum((1, 2))


def line(x, w, at, u):
    """Overlap and add, along one dimension."""
    h = jnp.sin(jnp.arange(N * N, dtype=np.float32))
    return (summed(h, at[:, :1] * at[:, 1:], u.reshape(COUNT, -1)) ** 2).sum()


PROGRAMS = {
    "gradient of reads": jax.grad(read, (0, 1)),
    "added": added,
    "gradient of added": jax.grad(lambda *a: added(*a).sum(), (0, 1, 3)),
    "image": image,
    "line": line,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_holds_a_tenth(program):
    dice = np.random.default_rng(0)
    normal = lambda *shape: dice.normal(size=shape).astype(np.float32)  # noqa: E731
    at = dice.integers(-20, N + 20, (COUNT, 2)).astype(np.int32)
    arguments = normal(N, 20), normal(20, N), at, normal(COUNT, *SIZES)
    held.check_a_tenth(PROGRAMS[program], *arguments)
