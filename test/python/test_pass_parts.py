"""Tables that are parts of one array, read at places that are data: gathers read the array,
gradients are added up in it. The same as stock XLA and the reference evaluator, with places beyond
the ends and negative ones; hash grids hold at a tenth of their temporaries."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import running

sys.path.insert(0, str(running.ROOT / "bench"))
from user_programs.learning import hash_grid_loss  # noqa: E402

PASSES = "--pass=inline,simplify,cse,dce,through-pad,dce,through-gather,dce,scatters,dce"
K, N, C = 3, 11, 2
TABLE = 16_000

READS = {
    "a table": lambda t, i, mode: t[1].at[i].get(mode=mode),
    "rows of a table": lambda t, i, mode: t[2, 4:9].at[i].get(mode=mode),
    "the last rows": lambda t, i, mode: t[0, 3:].at[i].get(mode=mode),
    "layers": lambda t, i, mode: t[1:].at[i % 4, i].get(mode=mode),
    "elements": lambda t, i, mode: t[1, 2:8].at[i, i % 3].get(mode=mode),
}


def data(dtype, places):
    dice = np.random.default_rng(0)
    i = np.array([0, -1, 4, 5, 6, 3, -5, -6, 10, 11, 2, 40, -40]).astype(places)
    return dice.normal(size=(K, N, C)).astype(dtype), i


def check(f, inputs, folder):
    return running.check_passes(f, inputs, folder, PASSES)


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("places", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("read", READS)
def test_reads_and_gradients(read, places, mode, tmp_path):
    t, i = data(np.float32, places)
    if mode == "promise_in_bounds":
        i = i % 3

    def f(t, i):
        def loss(t):
            once, twice = (READS[read](t, j, mode) for j in (i, i[::-1]))
            return (once * twice * once).sum() + (t[i % K, i % N] ** 2).sum()

        return READS[read](t, i, mode), jax.grad(loss)(t)

    rewritten = check(f, (t, i), tmp_path)
    assert "stablehlo.pad" not in rewritten


@pytest.mark.parametrize("scale", [1.0, np.nan])
def test_what_is_beyond_a_part_is_not_its_neighbours(scale, tmp_path):
    """Rows around the part stay zero, whatever lies there."""
    t, i = data(np.float64, np.int32)

    def f(t, i, u):
        def add(low, high):
            part = jnp.zeros((high - low, C)).at[i].add(u, mode="drop", wrap_negative_indices=False)
            return jnp.pad(part, ((low, N - high), (0, 0)))

        return add(2, 7) + add(3, 9) + add(0, N)

    check(f, (t, i, scale * np.ones((len(i), C))), tmp_path)


GRIDS = {
    "tables": ((6, TABLE, 2), lambda t: t),
    "rows": ((6 * TABLE, 2), lambda t: [t[k * TABLE : (k + 1) * TABLE] for k in range(6)]),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_hash_grids_hold_a_tenth(grid):
    shape, tables_of = GRIDS[grid]
    dice = np.random.default_rng(0)
    arguments = [dice.random(s).astype(np.float32) for s in [shape, (4000, 3), (12, 16)]]
    gradient = jax.grad(lambda t, x, w: hash_grid_loss(tables_of(t), x, w))
    held.check_a_tenth(gradient, *arguments)
