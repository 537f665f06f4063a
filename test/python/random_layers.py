"""Random nets of many layers, each of which waits for numbers of the whole batch.

A seed stands for a function of x[n, f] and weights, in f32 or f64: layers that are normalised by
means and variances, largest values or norms over the rows, or, some of them, not at all; with
residuals, long ones too, and narrow and wide widths; their values or gradients.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np

from random_lists import Program


class Layers(Program):
    rounding = 1e-8
    terms = 0.1

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(np.float64)
        self.n, self.f = self.dice.choice([24, 40, 61]), self.dice.choice([2, 3, 4])
        self.width = self.f * self.dice.choice([1, 2, 3])
        self.count = self.dice.choice([10, 20, 28])
        f, wide = self.f, self.width
        shapes = [(self.n, f), (self.count, f, wide), (self.count, wide, f), (self.count, 2, wide)]
        self.data = [self.numbers.normal(size=s) / s[-2] ** 0.5 for s in shapes]
        self.largest = 4 * self.n * f * 8

    def inputs(self):
        return self.data

    def normalised(self, dice, z, c):
        two_pass = lambda z: (z - z.mean(0)) * jax.lax.rsqrt(z.var(0) + 0.1)  # noqa: E731
        moments = lambda z: (z - z.mean(0)) / jnp.sqrt((z * z).mean(0) - z.mean(0) ** 2 + 0.1)  # noqa: E731
        norm = lambda z: z / jnp.sqrt((z * z).mean() + 0.1)  # noqa: E731
        by_largest = lambda z: z / (1 + jnp.max(jnp.abs(z), 0))  # noqa: E731
        softmax = lambda z: z.shape[0] * jax.nn.softmax(z, 0) * z  # noqa: E731
        ways = [two_pass, two_pass, moments, moments, norm, by_largest, softmax, lambda z: z]
        return dice.choice(ways)(z) * (1 + c[0] / 4) + c[1] / 4

    def net(self, x, up, down, scales):
        dice, h, before = random.Random(self.body), x, []
        own = dice.random() < 0.5  # whether layers differ in more than their weights
        for i in range(self.count):
            layer = dice if own else random.Random(self.body + 1)
            before.append(h)
            z = self.normalised(layer, h @ up[i], scales[i])
            z = layer.choice([jnp.tanh, jax.nn.relu, jnp.sin])(z) @ down[i]
            h = (z + h) / 2 if layer.random() < 0.6 else z
            if dice.random() < 0.15:
                h = h + dice.choice(before) / 2
        return h

    def loss(self, *given):
        h = self.net(*given)
        return jnp.mean(jnp.cos(h) * h)

    def function(self, *given):
        dice = random.Random(self.body + 2)
        wanted = dice.choice([(1, 2, 3), (1, 2, 3), (0,), (2, 3)])
        if dice.random() < 0.15:
            return [self.net(*given).sum(0)]
        return jax.tree.leaves(jax.value_and_grad(self.loss, wanted)(*given))
