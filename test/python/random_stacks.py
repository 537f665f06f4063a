"""Random programs that put shifted parts of one tensor side by side.

A seed stands for one `function` of `inputs`, the `ways` to rewrite it (arguments of `weir opt`), and
how far off results may be: `rounding` of `scales`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PASSES = "--pass=inline,simplify,stacks,dce"


class Shifts:
    """Windows of a padded tensor at places drawn at random, what is made of each, and gradients."""

    ways, rounding = [[PASSES], ["--tensor-size-threshold", 300]], 2e-5

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        rank = int(dice.integers(1, 4))
        self.x = dice.standard_normal(dice.integers(3, 14, rank)).astype(np.float32)
        self.pads = [(int(a), int(b)) for a, b in dice.integers(0, 3, (rank, 2))]
        self.mode = str(dice.choice(["constant", "reflect", "wrap", "edge"]))
        shape = [n + a + b for n, (a, b) in zip(self.x.shape, self.pads, strict=True)]
        self.size = [int(dice.integers(1, n + 1)) for n in shape]
        room = [n - s + 1 for n, s in zip(shape, self.size, strict=True)]
        self.places = [[int(dice.integers(r)) for r in room] for _ in range(dice.integers(4, 40))]
        self.centred = seed % 5 == 0  # and so many that their sum is one over what is in memory
        self.axis = int(dice.integers(rank + 1))
        self.least = bool(dice.integers(2))
        if self.centred:  # parts that are there twice tie, and stock XLA may round one and not the other
            self.places, self.least = self.places * (1 + 70 // len(self.places)), False
        self.inputs, self.function = [self.x], jax.value_and_grad(self.value)

    def window(self, at):
        return tuple(slice(a, a + s) for a, s in zip(at, self.size, strict=True))

    def value(self, x):
        p = jnp.pad(x, self.pads, mode=self.mode)
        y = jnp.stack([p[self.window(at)] for at in self.places], self.axis)
        if self.centred:
            y = y - y.mean(self.axis, keepdims=True)
        y = jnp.sin(y * jnp.arange(1, 1 + y.shape[-1], dtype=x.dtype))
        return jnp.sum((y.min(self.axis) if self.least else y.sum(self.axis)) ** 2) + jnp.sum(x)

    def scales(self, want):
        return [max(10, np.abs(w).max()) for w in want]


class Volumes(Shifts):
    """What windows of a computed tensor come to with another tensor, each summed before they are put side
    by side: more windows than a loop makes. Some are slices at constants, which may lie beyond the ends.
    """

    ways = [["--tensor-size-threshold", 200], ["--tensor-size-threshold", 40]]

    def __init__(self, seed):
        super().__init__(seed)
        dice = np.random.default_rng(seed + 1)
        self.places = self.places[:14]
        self.dynamic = dice.integers(2, size=len(self.places))
        self.far = dice.choice([0, 0, 5, -100], size=len(self.places))
        self.inputs.append(dice.standard_normal(self.size).astype(np.float32))
        self.function = jax.value_and_grad(self.value, (0, 1))

    def part(self, p, k):
        at = self.places[k]
        if not self.dynamic[k]:
            return p[self.window(at)]
        return lax.dynamic_slice(p, [a + int(self.far[k]) for a in at], self.size)

    def value(self, x, a):
        p = jnp.pad(jnp.tanh(x), self.pads, mode=self.mode)
        costs = [jnp.sum(a * self.part(p, k), -1) for k in range(len(self.places))]
        y = jnp.stack(costs, min(self.axis, a.ndim - 1))
        y = jnp.exp(-jnp.abs(y)) if self.least else jnp.cos(y)
        return jnp.sum(y.sum(min(self.axis, a.ndim - 1)) ** 2)
