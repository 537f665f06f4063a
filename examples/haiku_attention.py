"""Haiku: training steps of a classifier of long sequences, with dropout and batch statistics, in
single precision.

At the default size the scores of one layer have 4 x 4 x 4,000 x 4,000 entries: 1 GB, several times
over in a step.
    WEIR_MEMORY_LIMIT=300MB python examples/haiku_attention.py
    python examples/haiku_attention.py --length 500
"""

import argparse

import haiku as hk
import jax
import numpy as np
import optax

sizes = dict(rows=4, length=4000, width=64, layers=2)
HEADS, CLASSES = 4, 10


def make_model(width, layers):
    def block(x, is_training):
        attention = hk.MultiHeadAttention(
            HEADS, width // HEADS, w_init=hk.initializers.VarianceScaling()
        )
        x = x + hk.dropout(hk.next_rng_key(), 0.1 if is_training else 0.0, attention(x, x, x))
        x = hk.BatchNorm(True, True, 0.9)(x, is_training)
        return x + hk.nets.MLP([4 * width, width], activation=jax.nn.gelu)(x)

    def forward(x, is_training):
        x = hk.Linear(width)(x)
        for _ in range(layers):
            x = block(x, is_training)
        return hk.Linear(CLASSES)(x.mean(1))

    return hk.transform_with_state(forward)


def make_step(model, optimizer):
    def loss(weights, statistics, key, x, y):
        logits, statistics = model.apply(weights, statistics, key, x, True)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), statistics

    def step(weights, statistics, state, key, x, y):
        """(loss, weights, statistics, state); what is donated is updated in place."""
        gradient_of = jax.value_and_grad(loss, has_aux=True)
        (value, statistics), gradient = gradient_of(weights, statistics, key, x, y)
        updates, state = optimizer.update(gradient, state, weights)
        return value, optax.apply_updates(weights, updates), statistics, state

    return jax.jit(step, donate_argnums=(0, 1, 2))


def train(rows, length, width, layers, steps=3):
    """The losses of the steps, and the weights."""
    x = np.random.default_rng(0).standard_normal((rows, length, 8), dtype=np.float32)
    y, model, optimizer = np.arange(rows) % CLASSES, make_model(width, layers), optax.adam(1e-3, eps=1e-4)
    init = jax.jit(model.init, static_argnums=2)
    weights, statistics = init(jax.random.key(0), x, True)
    step, state, losses = make_step(model, optimizer), optimizer.init(weights), []
    for key in jax.random.split(jax.random.key(1), steps):
        value, weights, statistics, state = step(weights, statistics, state, key, x, y)
        losses.append(float(value))
    return losses, jax.tree.leaves(weights)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    losses, _ = train(**vars(parser.parse_args()))
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()
