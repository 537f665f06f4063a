"""Sums of one loop that are only added to each other have one carry: gradients of weights that layers
share. The same as stock XLA and the evaluator; what else is read of a sum keeps it apart."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held
import running

RNG = np.random.default_rng(0)
N, D = 203, 24
ARGUMENTS = RNG.normal(size=(N, D)), RNG.normal(size=(D, D)) / 5, RNG.normal(size=(D, D)) / 5
THRESHOLD = 4000  # a matrix of weights has 4608 bytes, what a layer makes of all rows 39 kB


def layers(x, a, b, count=5):
    z = jnp.zeros_like(x)
    for _ in range(count):
        z = jnp.tanh(z @ a + x @ b)
    return (z**2).sum()


def towers(x, a, b):
    made = [jnp.tanh(jnp.tanh(v @ a) @ b) for v in (x, x[::-1], 2 * x)]
    return (made[0] * made[1]).sum() + (made[2] ** 2).sum()


def steps(x, a, b):
    """A scan between layers: its own sums, added to theirs."""
    z = jnp.tanh(x @ a)
    z = lax.fori_loop(0, 3, lambda i, z: jnp.sin(z @ b), z)
    return (jnp.tanh(z @ a) @ b).sum()


def gradient(f):
    return jax.grad(f, (1, 2))


def products(x, a, b):
    """Of each pair of terms the factors are others."""
    y, z, w = jnp.sin(x @ a), jnp.cos(x @ b), jnp.tanh(x @ a)
    return (x.T @ y + (z.T @ w).T) + b, a - (y.T @ z + w.T @ x)


def read_twice(x, a, b):
    y, z = jnp.sin(x @ a), jnp.cos(x @ b)
    s = x.T @ y
    return s + z.T @ z, s


def doubled(x, a, b):
    s = x.T @ jnp.sin(x @ a)
    return s + s, b


def whole_numbers(x, a, b):
    y, z = (jnp.round(8 * f(x @ a)).astype(np.int64) for f in (jnp.sin, jnp.cos))
    return lax.dot(y.T, y) + lax.dot(z.T, z), b


def narrow(x, a, b):
    y, z = (jnp.sin(x @ w).astype(jnp.bfloat16) for w in (a, b))
    return (y.T @ y + z.T @ z).astype(np.float32)


JOINED = {f.__name__: f for f in (products, whole_numbers)} | {f.__name__: gradient(f) for f in (layers, towers, steps)}
APART = {f.__name__: f for f in (read_twice, doubled, narrow)}


def rewrite(f, folder):
    return running.rewrite(f, ARGUMENTS, folder, "--tensor-size-threshold", THRESHOLD, "--tile", "off", "--debug", 3)


@pytest.mark.parametrize("name", JOINED | APART)
def test_results(name, tmp_path):
    text, rewritten = rewrite((JOINED | APART)[name], tmp_path)
    want = running.Xla(text)(*ARGUMENTS)
    for got in (running.Xla(rewritten)(*ARGUMENTS), running.Evaluator(tmp_path, ARGUMENTS)(rewritten)):
        for g, w in zip(got, want, strict=True):
            tolerance = 2e-2 if name == "narrow" else 1e-12
            np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * np.abs(w).max())


@pytest.mark.parametrize("name", JOINED | APART)
def test_how_many_are_joined(name, tmp_path):
    program = tmp_path / "program.mlir"
    with jax.enable_x64(True):
        program.write_text(jax.jit((JOINED | APART)[name]).lower(*ARGUMENTS).as_text())
    done = running.run_opt(program, "--tensor-size-threshold", THRESHOLD, "--tile", "off", "--debug", 3)
    joined = sum(map(int, re.findall(r"(\d+) sums are carried with others", done.stderr)))
    assert bool(joined) == (name in JOINED), done.stderr


def test_shared_weights_hold_a_tenth():
    x, a, b = (v.astype(np.float32) for v in (RNG.normal(size=(4096, 128)), *RNG.normal(size=(2, 128, 128)) / 11))
    held.check_a_tenth(jax.grad(lambda x, a, b: layers(x, a, b, 12) / x.size, (1, 2)), x, a, b)
