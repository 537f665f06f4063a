"""Unrolled steps each of which reads a statistic of the one before: a stage each, which makes all
steps before it again. A few are split; of many the loops would be the square of the steps."""

import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import running

X = np.random.default_rng(0).normal(size=1000)


def steps(count):
    def f(x):
        for _ in range(count):
            x = jnp.sin(x * lax.rsqrt(jnp.sum(x * x)))
        return jnp.sum(x)

    return f


def split(count, folder):
    return running.rewrite(steps(count), [X], folder, "--tensor-size-threshold", 1000)


def test_few_steps(tmp_path):
    text, program = split(8, tmp_path)
    assert program.count("stablehlo.while") >= 8
    want, got = running.Xla(text)(X), running.Xla(program)(X)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-10)


def test_many_steps_are_left(tmp_path):
    text, program = split(80, tmp_path)
    assert len(program.splitlines()) < 2 * len(text.splitlines())


def lstm(w, u, x):
    h = c = jnp.zeros((64, 256))
    total = 0.0
    for t in range(x.shape[1]):
        i, f, g, o = jnp.split(x[:, t] @ w + h @ u, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        total += h.sum()
    return total


def test_what_was_refused_is_known(tmp_path):
    """A region that repeats too much is grown from one of its values, not from each of thousands."""
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in ((256, 1024), (256, 1024), (64, 28, 256))]
    program = tmp_path / "lstm.mlir"
    program.write_text(jax.jit(jax.grad(lstm, (0, 1))).lower(*shapes).as_text())
    done = subprocess.run(
        [running.BUILD / "weir", "opt", program, "--tensor-size-threshold", "40kB", "--debug", "4"],
        capture_output=True,
        text=True,
        timeout=running.SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < done.stderr.count("repeats too much") < 500
