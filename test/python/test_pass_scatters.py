"""Gradients of tables that are read at many places have one buffer each: hash grids hold a tenth of
stock's temporaries."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
import weir
from test_libraries import reported_bytes
from test_pass_permuted import HONEST
from test_split_sorts import a_tenth

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
