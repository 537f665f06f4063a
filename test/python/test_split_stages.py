"""Unrolled steps each of which reads a statistic of the one before: a stage each, which makes all
steps before it again. A few are split; of many the loops would be the square of the steps."""

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
