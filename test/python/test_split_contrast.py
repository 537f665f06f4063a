"""Losses over all pairs of rows hold a tenth of stock's temporaries, by sigmoid and by softmax over
rows and columns, with gradients of the rows or of the towers that make them, of a temperature and a
bias.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from held import check_a_tenth

ROWS, FEATURES, HIDDEN, WIDTH = 512, 64, 128, 32


def unit(z):
    return z / jnp.linalg.norm(z, axis=1, keepdims=True)


def sigmoid(x, y, t, bias):
    """SigLIP."""
    logits = t * x @ y.T + bias
    labels = 2 * jnp.eye(len(x)) - 1
    return -jnp.sum(jax.nn.log_sigmoid(labels * logits)) / len(x)


def sigmoid_of_units(x, y, t, bias):
    return sigmoid(unit(x), unit(y), jnp.exp(t), bias)


def sigmoid_of_16_bits(x, y, t, bias):
    pairs = jnp.einsum("id,jd->ij", *(unit(z).astype(jnp.bfloat16) for z in (x, y)))
    logits = jnp.exp(t) * pairs.astype(jnp.float32) + bias
    return -jax.nn.log_sigmoid((2 * jnp.eye(len(x)) - 1) * logits).sum() / len(x)


def of_logits(logits):
    """Rows and columns."""
    right = jnp.diagonal(logits)
    by_row, by_column = (jax.nn.logsumexp(logits, axis)[: len(right)] for axis in (1, 0))
    return ((by_row - right).mean() + (by_column - right).mean()) / 2


def both_ways(x, y, t, bias):
    """CLIP."""
    return of_logits(jnp.exp(t) * unit(x) @ unit(y).T)


def both_ways_masked(x, y, t, bias):
    """Rows of the same name are no negatives."""
    names = (jnp.arange(len(x)) * 7919) % (len(x) // 8)
    same = (names[:, None] == names) & ~jnp.eye(len(x), dtype=bool)
    return of_logits(jnp.where(same, -1e9, jnp.exp(t) * unit(x) @ unit(y).T))


def both_ways_among_more(x, y, t, bias):
    """Half of the second rows are negatives alone."""
    return of_logits(jnp.exp(t) * unit(x[: len(x) // 2]) @ unit(y).T)


def two_products(x, y, t, bias):
    by_row = jnp.exp(t) * unit(x) @ unit(y).T
    by_column = jnp.exp(t) * unit(y) @ unit(x).T
    losses = [jax.nn.logsumexp(k, 1) - jnp.diagonal(k) for k in (by_row, by_column)]
    return (losses[0].mean() + losses[1].mean()) / 2


def views(x, y, t, bias):
    """NT-Xent: two views of each row, all others are negatives."""
    z, n = unit(jnp.concatenate([x, y])), len(x)
    logits = jnp.where(jnp.eye(2 * n, dtype=bool), -1e9, z @ z.T * jnp.exp(t))
    right = jnp.concatenate([jnp.diagonal(logits, n), jnp.diagonal(logits, -n)])
    return (jax.nn.logsumexp(logits, 1) - right).mean()


LOSSES = [
    sigmoid,
    sigmoid_of_units,
    sigmoid_of_16_bits,
    both_ways,
    both_ways_masked,
    both_ways_among_more,
    two_products,
    views,
]


def made(*shapes):
    dice = np.random.default_rng(0)
    scaled = lambda shape: dice.standard_normal(shape) / (shape[0] ** 0.5 if shape[0] < ROWS else 1)  # noqa: E731
    return [scaled(shape).astype(np.float32) for shape in shapes]


def numbers():
    return np.float32(0.5), np.float32(-1)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda f: f.__name__)
def test_gradients_of_rows_are_held(loss):
    x, y = made((ROWS, WIDTH), (ROWS, WIDTH))
    exact = loss is not sigmoid_of_16_bits
    f = jax.value_and_grad(loss, (0, 1, 2, 3))
    check_a_tenth(f, x, y, *numbers(), rtol=2e-4 if exact else 2e-2, atol=2e-5 if exact else 1e-2)


@pytest.mark.parametrize("loss", [sigmoid_of_units, both_ways, views], ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_shared", [False, True], ids=["two", "one"])
def test_gradients_of_towers_are_held(loss, is_shared):
    layers = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, WIDTH)]

    def tower(x, a, b, c):
        return jax.nn.relu(x @ a + b) @ c

    def f(weights, t, bias, x, y):
        return loss(tower(x, *weights[:3]), tower(y, *weights[-3:]), t, bias)

    *weights, x, y = made(*layers * (1 if is_shared else 2), (ROWS, FEATURES), (ROWS, FEATURES))
    f = jax.value_and_grad(f, (0, 1, 2))
    check_a_tenth(f, weights, *numbers(), x, y, rtol=1e-3, atol=2e-5)
