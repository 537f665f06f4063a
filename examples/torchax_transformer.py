"""PyTorch on JAX (torchax): training steps of a transformer that guesses the next word, in single
precision: forward, backward and optimizer as one program.

At the default size the logits are 64 x 256 x 20,000: 1.3 GB, several times over in a step.
    WEIR_MEMORY_LIMIT=400MB python examples/torchax_transformer.py
    python examples/torchax_transformer.py --words 400 --length 64
"""

import argparse

import numpy as np
import optax
import torch
import torchax
import torchax.train
from torchax import interop

sizes = dict(rows=64, length=256, words=20_000, width=64)


class Transformer(torch.nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.block = torch.nn.TransformerEncoderLayer(width, 2, 4 * width, dropout=0.0, batch_first=True)
        self.out = torch.nn.Linear(width, words)

    def forward(self, x):
        return self.out(self.block(self.embed(x)))


def make_step(model, optimizer):
    """(weights, buffers, state, x, y) -> (loss, weights, state); what is donated is updated in place."""

    def call(weights, buffers, x):
        return torch.func.functional_call(model, {**weights, **buffers}, x)

    def loss(logits, y):
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())

    step = torchax.train.make_train_step(call, loss, optimizer)
    return interop.jax_jit(step, kwargs_for_jax_jit={"donate_argnums": (0, 2)})


def train(rows, length, words, width, steps=3):
    """The losses of the steps, and the weights."""
    torchax.enable_globally()
    torch.manual_seed(0)
    model, optimizer = Transformer(words, width).to("jax"), optax.adam(1e-3, eps=1e-4)
    weights, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    step, state = make_step(model, optimizer), interop.call_jax(optimizer.init, weights)
    x = torch.tensor(np.random.default_rng(0).integers(0, words, (rows, length))).to("jax")
    y, losses = torch.roll(x, -1, 1), []
    for _ in range(steps):
        loss, weights, state = step(weights, buffers, state, x, y)
        losses.append(loss.item())
    return losses, {name: w.cpu().detach().numpy() for name, w in weights.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    losses, _ = train(**vars(parser.parse_args()))
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()
