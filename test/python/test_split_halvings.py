"""What halves its elements, level by level, and puts them together again: associative scans and the
gradients of cumprod, cummax and cumlogsumexp, which JAX writes as such. One loop goes down to levels
that are small, another up again from these; under arguments, results and a tenth of stock's
temporaries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held


def line(n):
    return np.random.default_rng(0).standard_normal(n).astype(np.float32) * 0.01


def affine(a, b):
    return a[0] * b[0], b[0] * a[1] + b[1]


def recurrence(x):
    """h[i] = a[i] h[i - 1] + x[i]"""
    return jnp.sum(jnp.sin(lax.associative_scan(affine, (1 + x * 0.01, x))[1]))


def recurrence_gradient(x):
    return jax.grad(lambda x: recurrence(jnp.tanh(x)) / len(x))(x)


def product_gradient(x):
    return jax.grad(lambda x: jnp.sum(jnp.sin(jnp.cumprod(1 + x * 0.01))))(x)


def maximum_gradient(x):
    return jax.grad(lambda x: jnp.sum(jnp.sin(lax.cummax(x))))(x)


def logsumexp_gradient(x):
    return jax.grad(lambda x: jnp.sum(jnp.sin(lax.cumlogsumexp(x))))(x)


LENGTHS = {
    recurrence: 100_003,
    recurrence_gradient: 100_003,
    product_gradient: 65_536,
    maximum_gradient: 100_003,
    logsumexp_gradient: 100_003,
}


@pytest.mark.parametrize("f", LENGTHS, ids=lambda f: f.__name__)
def test_a_tenth_of_the_temporaries_does(f):
    held.check_a_tenth(f, line(LENGTHS[f]))
