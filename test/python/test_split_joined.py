"""Sums that are only added to each other, or are parts of one tensor, have one carry: gradients of weights that
layers share, and of such as are cut from a stack. The same as stock XLA and the evaluator; what else is read of a
sum keeps it apart."""

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


def stack(a, b):
    return jnp.stack([a, b.T, a + b, a * b])


def stacked(x, w):
    """Of each gradient a part, at another place; two layers share one."""
    for i in (0, 1, 2, 3, 1):
        x = jnp.tanh(x @ w[i])
    return (x**2).sum()


def columns(x, w):
    """Side by side, in a stack of such."""
    w = w.reshape(2, D, 2 * D)
    for i in (0, 1, 0):
        q, k = jnp.split(w[i], 2, 1)
        x = jnp.tanh(x @ q) * jnp.sin(x @ k) + x
    return (x**2).sum()


def flat(x, w):
    """Parts of one vector, of unequal sizes, some of them small."""
    p, at = w.ravel(), 0
    for rows in (D, D, D - 2):
        x = jnp.tanh(x[:, :rows] @ p[at : at + rows * D].reshape(rows, D) + p[at : at + D])
        at += rows * D
    return (x**2).sum()


def of_stack(f):
    return lambda x, a, b: (jax.grad(f, 1)(x, stack(a, b)), b)


def put_together(x, a, b):
    """Beside parts that are no sums, or whose sums others read."""
    y, z = jnp.sin(x @ a), jnp.cos(x @ b)
    s = x.T @ jnp.tanh(x @ b)
    beside = jnp.concatenate([a, x.T @ y, y.T @ z, s], 1)
    return beside + jnp.pad(z.T @ z, ((0, 0), (2 * D, D))), jnp.pad(x.T @ z, ((D, 3), (0, 0))), s


def beside(x, a, b):
    """What is put together has other parts, and nothing is added to it."""
    y, z = jnp.sin(x @ a), jnp.cos(x @ b)
    return jnp.concatenate([x.T @ y, a, y.T @ z], 0), b


def other_shapes(x, a, b):
    """Of parts, which keep their place in one shape only, and of wholes, which go on in others."""
    y, z = jnp.sin(x @ a), jnp.cos(x @ b)
    parts = jnp.concatenate([x.T @ y, y.T @ z], 1)
    wholes = jnp.hstack([y, z]).T @ x + jnp.hstack([z, x]).T @ y
    return (parts + wholes.reshape(D, 2 * D)).reshape(2, D * D), b


def slices_apart(x, a, b):
    """A small part of what is large: it would be carried for nothing."""
    return jnp.pad(x.T @ jnp.sin(x @ a), ((0, 9 * D), (0, 0))), b


JOINED = {f.__name__: f for f in (products, whole_numbers, put_together, beside, other_shapes)}
JOINED |= {f.__name__: gradient(f) for f in (layers, towers, steps)}
JOINED |= {f.__name__: of_stack(f) for f in (stacked, columns, flat)}
APART = {f.__name__: f for f in (read_twice, doubled, narrow, slices_apart)}


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


@pytest.mark.parametrize("way", ["indexed", "unstacked", "rematerialised", "columns", "indexed primes", "columns primes"])
def test_weights_that_are_cut_hold_a_tenth(way):
    """Their gradients are added to in place, block by block, and they are cut in each trip. Of primes a block is
    left over, behind a while of the others."""
    way, *primes = way.split()
    d, hidden = (97, 389) if primes else (96, 384)
    x = RNG.normal(size=(512, d)).astype(np.float32)
    up, down = (RNG.normal(size=(4, *s)).astype(np.float32) / s[0] ** 0.5 for s in ((d, hidden), (hidden, d)))
    layer = lambda z, a, b: z + jnp.tanh(z @ a) @ b  # noqa: E731
    if way == "rematerialised":
        layer = jax.checkpoint(layer)
    if way == "columns":
        up, down = np.concatenate(up, 1), np.concatenate(down, 1)

    def loss(up, down, x):
        parts = {"unstacked": jnp.unstack, "columns": lambda w: jnp.split(w, 4, 1)}.get(way, lambda w: [*w])
        for a, b in zip(parts(up), parts(down), strict=True):
            x = layer(x, a, b)
        return (x * x).mean()

    held.check_a_tenth(jax.grad(loss, (0, 1)), up, down, x)


def test_shared_weights_hold_a_tenth():
    x, a, b = (v.astype(np.float32) for v in (RNG.normal(size=(4096, 128)), *RNG.normal(size=(2, 128, 128)) / 11))
    held.check_a_tenth(jax.grad(lambda x, a, b: layers(x, a, b, 12) / x.size, (1, 2)), x, a, b)
