"""Random regions for tiles: functions of two index sets with everything between them elementwise.

A seed stands for one function of x[n, d], y[m, d], u[n], v[m], w[m, p] in f32 or f64 and a few results: sums,
products, extremes and statistics of n x m values, and sometimes the values themselves.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EXTENTS = [2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 129, 1025, 1500]
SMALL = [1, 2, 3, 5, 8, 9, 20]


class Region:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.dtype = self.dice.choice([np.float32, np.float64])
        self.n, self.m = self.dice.choice(EXTENTS[3:]), self.dice.choice(EXTENTS)
        self.d, self.p = self.dice.choice(SMALL), self.dice.choice(SMALL)
        self.steps = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(2, 7))]
        self.ends = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(1, 3))]
        self.numbers = np.random.default_rng(seed)

    def inputs(self):
        shapes = [(self.n, self.d), (self.m, self.d), (self.n,), (self.m,), (self.m, self.p)]
        return [self.numbers.normal(size=shape).astype(self.dtype) for shape in shapes]

    def function(self, x, y, u, v, w):
        values = [self.start(x, y, u, v)]
        for number in self.steps:
            values.append(self.step(random.Random(number), values, x, y, u, v))
        value = values[-1]
        return [self.end(random.Random(number), value, u, v, w) for number in self.ends]

    def labels(self, u):
        """Of columns, one a row; some out of bounds, some negative."""
        return jnp.floor(u * self.m / 2).astype(jnp.int32)

    def picked(self, a, dice, u):
        mode = dice.choice(["clip", "fill"])
        return jnp.take_along_axis(a, self.labels(u)[:, None], axis=1, mode=mode)[:, 0]

    def start(self, x, y, u, v):
        kind = self.dice.randrange(5)
        if kind == 0:
            return x @ y.T
        if kind == 1:
            return -0.5 * jnp.sum((x[:, None] - y[None]) ** 2, -1)
        if kind == 2:
            return jnp.max(jnp.abs(x[:, None] - y[None]), -1)
        if kind == 3:
            return u[:, None] * v[None]
        return jnp.sum(x * x, -1)[:, None] + jnp.sum(y * y, -1)[None] - 2 * x @ y.T

    def step(self, dice, values, x, y, u, v):
        a = values[-1]
        shape = a.shape
        rows, columns = (lax.broadcasted_iota(jnp.int32, shape, axis) for axis in (0, 1))
        choices = [
            lambda: jnp.exp(-jnp.abs(a)),
            lambda: jnp.tanh(a),
            lambda: jnp.log1p(a * a),
            lambda: lax.rsqrt(1 + a * a),
            lambda: jnp.sin(a) + jnp.cos(dice.choice(values)),
            lambda: jnp.where(rows >= columns, a, dice.choice([0.0, 1.5])),
            lambda: jnp.where(a > dice.choice(values), a, dice.choice(values) * 0.5),
            lambda: jnp.clip(a, -1, 2),
            lambda: jnp.maximum(a, u[:, None]) - jnp.minimum(dice.choice(values), v[None]),
            lambda: a * dice.choice(values),
            lambda: a / (2 + jnp.abs(dice.choice(values))),
            lambda: jnp.floor(a * 4) + lax.round(dice.choice(values)) * 0.25,
            lambda: (jnp.int32(7) * rows + columns * (columns % 3) - rows // 2).astype(a.dtype) * 0.01
            + a,
            lambda: jnp.sqrt(jnp.abs(a)) * jnp.sign(dice.choice(values)),
            lambda: lax.logistic(a),
            lambda: jnp.where(jnp.isfinite(a) & ~(rows == columns), a, 0.25),
            lambda: lax.erf(a) + lax.expm1(-jnp.abs(a)),
            lambda: a - jnp.max(a, axis=1, keepdims=True),
            lambda: a / (1 + jnp.sum(jnp.abs(a), axis=1, keepdims=True)),
            lambda: jnp.logaddexp(a, v[None]),
            lambda: a.at[jnp.arange(self.n), self.labels(u)].add(u),
        ]
        return dice.choice(choices)()

    def end(self, dice, a, u, v, w):
        choices = [
            lambda: a @ v,
            lambda: a @ w,
            lambda: jnp.sum(a, axis=1),
            lambda: jnp.max(a, axis=1) - jnp.min(a, axis=1),
            lambda: jnp.prod(1 + 1e-3 * jnp.tanh(a), axis=1),
            lambda: jax.nn.softmax(a, axis=1) @ w,
            lambda: jax.scipy.special.logsumexp(a, axis=1),
            lambda: jnp.any(a > 1, axis=1),
            lambda: jnp.all(a < 1.07, axis=0),
            lambda: jnp.linalg.norm(a, axis=1),
            lambda: jnp.sum((a > v) * jnp.arange(self.m, dtype=jnp.int32), axis=1),
            lambda: self.picked(a, dice, u) + jnp.sum(a, axis=1),
            lambda: jnp.sum((a > 0.3).astype(jnp.int32), axis=1),
            lambda: jnp.sum(a, axis=0),
            lambda: a.T @ jnp.ones((self.n,), a.dtype),
            lambda: a,
        ]
        return dice.choice(choices)()
