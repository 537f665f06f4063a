"""Flax NNX: training steps of a transformer that guesses the next word, in single precision.

At the default size the logits are 64 x 256 x 20,000: 1.3 GB, several times over in a step.
    WEIR_MEMORY_LIMIT=400MB python examples/nnx_transformer.py
    python examples/nnx_transformer.py --words 400 --length 64
"""

import argparse

import jax
import numpy as np
import optax
from flax import nnx

sizes = dict(rows=64, length=256, words=20_000, width=64)


class Transformer(nnx.Module):
    def __init__(self, words, width, rngs):
        self.embed = nnx.Embed(words, width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs)
        self.norm, self.drop = nnx.LayerNorm(width, rngs=rngs), nnx.Dropout(0.1, rngs=rngs)
        self.hidden = nnx.Linear(width, 4 * width, rngs=rngs)
        self.back = nnx.Linear(4 * width, width, rngs=rngs)
        self.out = nnx.Linear(width, words, rngs=rngs)

    def __call__(self, x):
        x = self.embed(x)
        x = self.norm(x + self.drop(self.attention(x, mask=nnx.make_causal_mask(x[..., 0]))))
        return self.out(x + self.back(nnx.gelu(self.hidden(x))))


def loss(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@nnx.jit(donate_argnums=(0, 1))
def step(model, optimizer, x, y):
    """The loss; model and optimizer are updated in place."""
    value, gradient = nnx.value_and_grad(loss)(model, x, y)
    optimizer.update(model, gradient)
    return value


def train(rows, length, words, width, steps=3):
    """The losses of the steps, and the weights."""
    model = Transformer(words, width, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3, eps=1e-4), wrt=nnx.Param)
    x = np.random.default_rng(0).integers(0, words, (rows, length))
    losses = [float(step(model, optimizer, x, np.roll(x, -1, axis=1))) for _ in range(steps)]
    return losses, jax.tree.leaves(nnx.state(model, nnx.Param))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    losses, _ = train(**vars(parser.parse_args()))
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()
