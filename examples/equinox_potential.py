"""Equinox: training steps of a potential between particles, fitted to forces, in single precision.

Each pair's energy is a small network's of its distance, and the forces are the gradient of the sum.
At the default size the network's layers have 3,000 x 3,000 x 32 entries: 1.2 GB each, several times
over in the gradient of that gradient.
    WEIR_MEMORY_LIMIT=200MB python examples/equinox_potential.py
    python examples/equinox_potential.py --particles 300
"""

import argparse

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

sizes = dict(particles=3000, width=32)


class Potential(eqx.Module):
    pair: eqx.nn.MLP

    def __init__(self, width, key):
        self.pair = eqx.nn.MLP(1, "scalar", width, 2, activation=jnp.tanh, key=key)

    def __call__(self, x):
        """The energy of particles at x (n x 3)"""
        squares = jnp.square(x[:, None] - x[None]).sum(-1)
        of_pair = jax.vmap(jax.vmap(lambda s: self.pair(s[None])))
        return of_pair(jnp.log1p(squares)).sum() / (2 * len(x))


def loss(model, x, forces):
    return jnp.square(-jax.grad(model)(x) - forces).sum(-1).mean()


def make_step(optimizer):
    @eqx.filter_jit(donate="all-except-first")
    def step(data, model, state):
        """(loss, model, state); what is donated is updated in place."""
        value, gradient = eqx.filter_value_and_grad(loss)(model, *data)
        updates, state = optimizer.update(gradient, state, eqx.filter(model, eqx.is_inexact_array))
        return value, eqx.apply_updates(model, updates), state

    return step


def make_data(particles):
    """Places, and the forces of soft springs to all others."""
    x = np.random.default_rng(0).standard_normal((particles, 3), dtype=np.float32)
    apart = x[:, None] - x[None]
    return x, -(apart / (1 + np.square(apart).sum(-1, keepdims=True))).mean(1)


def train(particles, width, steps=3):
    """The losses of the steps, and the weights."""
    model, optimizer = Potential(width, jax.random.key(0)), optax.adam(1e-2, eps=1e-4)
    step, state = make_step(optimizer), optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    data, losses = make_data(particles), []
    for _ in range(steps):
        value, model, state = step(data, model, state)
        losses.append(float(value))
    return losses, jax.tree.leaves(eqx.filter(model, eqx.is_array))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    losses, _ = train(**vars(parser.parse_args()))
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()
