"""Prefix sums of which others depend from the other end, in blocks: gradients of what is made of a
prefix sum. Under arguments, results and a tenth of stock's temporaries; and every kind and length
through the evaluator."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held
import running



def line():
    """100,003 is a prime: no blocks are as long as each other without padding."""
    return np.random.default_rng(0).standard_normal(100_003).astype(np.float32) * 0.01


def loss(x):
    return jnp.sum(jnp.sin(jnp.cumsum(x)))


def gradient(x):
    return jax.grad(loss)(x)


def value_and_gradient(x):
    return jax.value_and_grad(lambda x: loss(jnp.tanh(x)))(x)


@pytest.mark.parametrize("f", [gradient, value_and_gradient], ids=lambda f: f.__name__)
def test_a_tenth_of_the_temporaries_does(f):
    held.check_a_tenth(f, line())


PREFIXES = {"add": lax.cumsum, "max": lax.cummax, "min": lax.cummin, "multiply": lax.cumprod}


@pytest.mark.parametrize("n", [64, 97, 101, 143, 1000])
@pytest.mark.parametrize("kind", PREFIXES)
@pytest.mark.parametrize("reverse", [False, True])
def test_any_length(kind, n, reverse, tmp_path):
    """Whole numbers, so that every order gives the same: powers of two for products."""

    def f(x):
        s = PREFIXES[kind](x, axis=1, reverse=reverse)
        return s, PREFIXES[kind](jnp.abs(s) + (kind != "multiply"), axis=1, reverse=not reverse)

    dice = np.random.default_rng(n)
    x = dice.integers(-5, 5, (3, n)) if kind != "multiply" else np.where(dice.random((3, n)) < 0.1, 2, 1)
    x = x.astype(np.float64)
    text, rewritten = running.rewrite(f, (x,), tmp_path, "--pass=inline,simplify,blocks,dce")
    assert rewritten.count('"stablehlo.reduce_window"') == 2 * text.count("reduce_window")
    evaluate = running.Evaluator(tmp_path, (x,))
    for got, want in zip(evaluate(rewritten), evaluate(text), strict=True):
        np.testing.assert_array_equal(got, want)
