"""What XLA takes out of a program by a mask, a multiplication with numbers, is out of it in loops and
kernels, too: infinities and NaN there are zeros.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
from random_masks import Masks
from weir import _hook

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_stock  # noqa: E402

pytestmark = running.in_this_process
N = 200
POINTS, OTHERS = np.random.default_rng(0).normal(size=(2, N, 3)).astype(np.float32)


def distances(r):
    d = r[:, None] - r[None]
    return d, jnp.sqrt((d * d).sum(-1)), jnp.arange(len(r))[:, None] != jnp.arange(len(r))


def forces(r):
    d, length, others = distances(r)
    return jnp.einsum("ij,ijk->ik", 1 / length**3 * others, d)


def potentials(r):
    _, length, others = distances(r)
    return jnp.einsum("ij,ij->i", 1 / length, others.astype(r.dtype))


def potentials_and_counts(r):
    """The mask is read as numbers by others, too."""
    _, length, others = distances(r)
    mask = others.astype(r.dtype)
    return (jnp.log(length) * mask).sum(1), mask @ r, mask.sum(0)


def entropy(q, k):
    """Of causal attention: 0 log 0 in front of the mask."""
    causal = jnp.tri(N, dtype=bool)
    p = jax.nn.softmax(jnp.where(causal, q @ k.T, -jnp.inf))
    return -(p * jnp.log(p) * causal).sum(1)


def attention(q, k):
    causal = jnp.tri(N, dtype=bool)
    return jax.grad(lambda q: jnp.sum(jnp.tanh(jax.nn.softmax(jnp.where(causal, q @ k.T, -jnp.inf)) @ k)))(q)


def padded_loss(q, k):
    """log(0) where nothing is, and in rows that are padding."""
    p = jax.nn.relu(q @ k.T)
    return (jnp.log(p) * (p > 0)).sum(1) * (jnp.arange(N) < 150)


USERS = {
    f.__name__: (f, x)
    for f, *x in [
        (forces, POINTS),
        (potentials, POINTS),
        (potentials_and_counts, POINTS),
        (entropy, POINTS, OTHERS),
        (attention, POINTS, OTHERS),
        (padded_loss, POINTS, OTHERS),
    ]
}


@pytest.mark.parametrize("tile", ["on", "off"])
@pytest.mark.parametrize("name", USERS)
def test_what_users_mask(name, tile, tmp_path):
    f, inputs = USERS[name]
    path = tmp_path / "program.mlir"
    _hook.register_calls()
    path.write_text(jax.jit(f).lower(*inputs).as_text())
    program = running.opt(path, "--tensor-size-threshold", "40kB", "--tile", tile)
    assert "stablehlo.while" in program or running.has_kernels(program)
    want = running.results(path.read_text(), inputs)
    for w, g in zip(want, running.results(program, inputs), strict=True):
        assert np.isfinite(w).all()
        np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-4 * np.abs(w).max())


PARTS = {
    "columns": lambda x, m: (x[:, 3:-1] * m[:, 3:-1]).sum(1),
    "sums of columns": lambda x, m: (x[:, 3:-1] * m[:, 3:-1]).sum(0),
    "some rows": lambda x, m: (x[np.arange(0, 96, 3)] * m[np.arange(0, 96, 3)]).sum(1),
    "some columns": lambda x, m: (x[:, np.arange(0, 96, 3)] * m[:, np.arange(0, 96, 3)]).sum(1),
    "all": lambda x, m: (x * m).sum(1),
    "across": lambda x, m: jnp.einsum("ij,ji->i", m, x.T),
    "across, right": lambda x, m: jnp.einsum("ij,ji->i", x, m.T),
}


@pytest.mark.parametrize("tile", ["on", "off"])
@pytest.mark.parametrize("name", PARTS)
def test_stock_says_which_products_select(name, tile, tmp_path):
    """What is multiplied with a part of a mask, or with one that XLA transposes, has NaN in both."""

    def f(u):
        x, m = 1 / (u[:, None] - u), (u[:, None] != u).astype(u.dtype)
        return PARTS[name](x, m), m.sum(0), m @ u

    inputs = [np.arange(96, dtype=np.float32) / 8]
    path = tmp_path / "program.mlir"
    _hook.register_calls()
    path.write_text(jax.jit(f).lower(*inputs).as_text())
    program = running.opt(path, "--tensor-size-threshold", "9kB", "--tile", tile)
    assert "stablehlo.while" in program or running.has_kernels(program)
    want, got = (running.results(text, inputs)[0] for text in (path.read_text(), program))
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))


@pytest.mark.parametrize("seed", range(24))
def test_random_masks(seed):
    found, changed = fuzz_stock.failures("Masks", seed)
    assert changed and not found


@pytest.mark.parametrize("seed", [9, 14])
def test_multiplied_masks_are_found(seed, monkeypatch):
    """By way of whole numbers, XLA multiplies."""
    program = Masks(seed)
    program.choices["converted"] = "whole"
    text = fuzz_stock.text_of(program)
    monkeypatch.setattr(running, "opt", lambda *_, **__: text)
    assert len(fuzz_stock.failures("Masks", seed)[0]) == len(program.ways)
