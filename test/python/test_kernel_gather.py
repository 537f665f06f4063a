"""Tiles: gathers inside of a region, as people write them: results as stock XLA's, and memory
under the limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from running import lowered
from kernel_running import check_memory, check_results, count, difference, folder, halves, tiled  # noqa: F401

N, M, K, D = 1100, 403, 20, 24


def data():
    dice = np.random.default_rng(5)
    return {
        "x": dice.normal(size=(N, D)).astype(np.float32),
        "y": dice.normal(size=(M, D)).astype(np.float32),
        "w": dice.normal(size=(M, K)).astype(np.float32),
        "i": dice.integers(0, N, (M, K)).astype(np.int32),
        "table": dice.normal(size=(M, N)).astype(np.float32),
    }


def neighbour_sums(a):
    return jnp.sum(a["x"][a["i"]] * a["w"][..., None], 1), jnp.max(jnp.tanh(a["x"][a["i"]]), 1)


def distances(a):
    d = jnp.sqrt(jnp.sum((a["y"][:, None] - a["x"][a["i"]]) ** 2, -1))
    return d, jnp.argmin(d, 1)


def attention(a):
    """Over chosen keys."""
    keys = a["x"][a["i"]]
    p = jax.nn.softmax(jnp.einsum("md,mkd->mk", a["y"], keys) / 5, -1)
    return jnp.einsum("mk,mkd->md", p, jnp.sin(keys))


def local_kernels(a):
    """As Vecchia's approximation has them: a covariance of the neighbours of each."""
    near = a["x"][a["i"]][..., :3]
    return jnp.exp(-jnp.sum((near[:, :, None] - near[:, None]) ** 2, -1) / 2)


def bags(a):
    """Of embeddings in half precision, some missing."""
    words = jnp.take(a["x"].astype(jnp.float16), a["i"], axis=0).astype(jnp.float32)
    return jnp.sum(jnp.where((a["w"] > 0)[..., None], words, 0), 1)


def along(a):
    return jnp.sum(jnp.take_along_axis(a["table"], a["i"], 1) ** 2 * a["w"], 1)


def same_places(a):
    """The same for all rows; columns lie a row apart in the table."""
    places = jnp.broadcast_to(a["i"][0], a["i"].shape)
    return jnp.sum(jnp.exp(-(jnp.take_along_axis(a["table"], places, 1) ** 2)), 0)


def labels(a):
    """Rows of another table for each row."""
    own = jnp.take(a["x"], a["i"][:, 0], axis=0)
    return jax.nn.logsumexp(own @ a["x"].T, axis=1)


def images(a):
    """Pixels of an image at places that are two numbers each."""
    image = a["table"][:400, :400]
    values = image[a["i"] % 400, (a["i"] * 7 + 3) % 400]
    return jnp.sum(jnp.abs(values[:, :, None] - a["w"][:, None]), -1)


PROGRAMS = [neighbour_sums, distances, attention, local_kernels, bags, along, same_places, labels, images]
OUTSIDE = [labels, images]  # what is gathered is small there: made before the kernel


def is_inside(program):
    return any("stablehlo.gather" in line for line in program.splitlines() if "weir-tile" in line)


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function, folder, halves):  # noqa: F811
    inputs = data()
    if function is bags and not halves:
        pytest.skip("kernels without f16 on this processor")
    text = lowered(function, inputs)
    program = tiled(text, folder, "--tensor-size-threshold", "30kB" if function in (along, same_places) else "150kB")
    assert count(program) and is_inside(program) == (function not in OUTSIDE)
    check_results(text, program, jax.tree.leaves(inputs))


def test_under_a_limit(folder):  # noqa: F811
    dice = np.random.default_rng(1)
    x, y = (dice.normal(size=(9_000, 60)).astype(np.float32) for _ in range(2))
    i = dice.integers(-9_000, 9_000, (9_000, 30)).astype(np.int32)
    limit = 8_000_000
    lowered_ = jax.jit(lambda x, y, i: jnp.sum((y[:, None] - x[i]) ** 2, -1)).lower(x, y, i)
    with weir.limit(limit):
        compiled = lowered_.compile()
    check_memory(compiled, limit)
    want = [np.sum((y[j] - x[i[j]]) ** 2, -1) for j in range(0, 9_000, 1000)]
    assert not difference(np.array(want), np.asarray(compiled(x, y, i))[::1000])
