"""Gradients of tables that are read at many places have one buffer each: hash grids hold a tenth of
stock's temporaries."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import running
import weir
from held import a_tenth, reported_bytes
from running import HONEST

sys.path.insert(0, str(running.ROOT / "bench"))
from user_programs.learning import hash_grid_grad  # noqa: E402


@pytest.mark.parametrize("points, levels", [(4000, 6), (5003, 3)])
def test_a_hash_grid_holds_a_tenth(points, levels):
    r = np.random.default_rng(0)
    normal = lambda *shape: r.standard_normal(shape).astype(np.float32)  # noqa: E731
    tables = [normal(4 * points, 2) for _ in range(levels)]
    arguments = tables, r.random((points, 3)).astype(np.float32), normal(2 * levels, 16)
    stock = jax.jit(hash_grid_grad).lower(*arguments).compile(compiler_options=HONEST)
    limit = a_tenth(stock)
    with weir.limit(limit):
        limited = jax.jit(hash_grid_grad).lower(*arguments).compile()
    assert reported_bytes(limited) <= limit
    got, want = limited(*arguments), stock(*arguments)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-6 * float(jnp.abs(w).max()))


def corners(f):
    """Of each point's cell: where, and how much of the corner the point has."""
    for i, j, k in np.ndindex(2, 2, 2):
        x, y, z = f[..., 0], f[..., 1], f[..., 2]
        yield (i, j, k), (x if i else 1 - x) * (y if j else 1 - y) * (z if k else 1 - z)


def render(grid, origin, direction):
    """Colours of rays through a grid of densities and colours, read between eight corners."""
    t = jnp.linspace(0.0, 1.0, 48)[:, None]
    p = jnp.clip((origin[:, None] + t * direction[:, None]) * 23, 0, 22.999)
    cell = jnp.floor(p).astype(int)
    at = lambda c: grid[tuple(cell[..., d] + c[d] for d in range(3))]  # noqa: E731
    seen = sum(w[..., None] * at(c) for c, w in corners(p - cell))
    clear = jnp.exp(-jax.nn.softplus(seen[..., 3]) / 48)
    behind = jnp.cumprod(jnp.pad(clear[:, :-1], ((0, 0), (1, 0)), constant_values=1), 1)
    return jnp.sum((behind * (1 - clear))[..., None] * jax.nn.sigmoid(seen[..., :3]), 1)


@pytest.mark.parametrize("tile", ["off", "auto", "on"])
def test_a_grid_that_rays_read_between_corners(tile, monkeypatch):
    """Its eight gradients are added up in one loop, in one buffer."""
    monkeypatch.setenv("WEIR_TILE", tile)
    r = np.random.default_rng(1)
    rays = [r.random((509, 3)), 0.3 * r.standard_normal((509, 3)), r.random((509, 3))]

    def gradient(grid, origin, direction, seen):
        loss = lambda grid: jnp.mean((render(grid, origin, direction) - seen) ** 2)  # noqa: E731
        return jax.value_and_grad(loss)(grid)

    grid = r.standard_normal((24, 24, 24, 4)).astype(np.float32)
    held.check_a_tenth(gradient, grid, *(x.astype(np.float32) for x in rays))
