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

    @property
    def large(self):
        return self.n * self.m

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
        kind = self.dice.randrange(8)
        if kind == 0:
            return x @ y.T
        if kind == 1:
            return -0.5 * jnp.sum((x[:, None] - y[None]) ** 2, -1)
        if kind == 2:
            return jnp.max(jnp.abs(x[:, None] - y[None]), -1)
        if kind == 3:
            return u[:, None] * v[None]
        if kind == 4:
            return jnp.sum(x * x, -1)[:, None] + jnp.sum(y * y, -1)[None] - 2 * x @ y.T
        if kind == 5:  # coordinates one by one
            t = jnp.sin(x[:, None] - y[None])
            return jnp.sum(t[..., ::2] ** 2, -1) + t[..., self.d // 2] * t[..., -1]
        if kind == 6:  # rotated halves
            half = self.d // 2
            turned = [jnp.concatenate([-z[:, half:], z[:, :half]], 1) for z in (x, y)]
            return turned[0] @ turned[1].T - 0.5 * u[:, None]
        return self.padded(x[:, None] * y[None], self.dice)

    def padded(self, t, dice):
        """A sum over the last axis, which is padded, with gaps; some padding is negative."""
        low, high, gap = dice.randint(-1, 2), dice.randint(0, 2), dice.randint(0, 1)
        edges = [(0, 0, 0)] * (t.ndim - 1) + [(max(low, 1 - t.shape[-1]), high, gap)]
        padded = lax.pad(t, jnp.asarray(0.3, t.dtype), edges)
        return jnp.sum(padded * jnp.cos(jnp.arange(padded.shape[-1], dtype=t.dtype)), -1)

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
            lambda: a / dice.choice([8.0, 3.0, -0.7]),
            lambda: jnp.floor(a * 4) + lax.round(dice.choice(values)) * 0.25,
            lambda: (jnp.int32(7) * rows + columns * (columns % 3) - rows // 2).astype(a.dtype) * 0.01
            + a,
            lambda: jnp.sqrt(0.01 + jnp.abs(a)) * jnp.sign(dice.choice(values)),
            lambda: lax.logistic(a),
            lambda: jnp.where(jnp.isfinite(a) & ~(rows == columns), a, 0.25),
            lambda: lax.erf(a) + lax.expm1(-jnp.abs(a)),
            lambda: a - jnp.max(a, axis=1, keepdims=True),
            lambda: a / (1 + jnp.sum(jnp.abs(a), axis=1, keepdims=True)),
            lambda: jnp.logaddexp(a, v[None]),
            lambda: a.at[jnp.arange(self.n), self.labels(u)].add(u),
            lambda: self.stacked(a, dice.choice(values), dice),
        ]
        return dice.choice(choices)()

    def stacked(self, a, b, dice):
        t = jnp.tanh(jnp.stack([a, b, a * 0.5], -1))
        if dice.randrange(2):
            return self.padded(t, dice)
        t = jnp.concatenate([t[..., 1:], t[..., :1] * 2], -1)
        return t[..., 0] - jnp.max(t[..., 1:], -1)

    def end(self, dice, a, u, v, w):
        choices = [
            lambda: a @ v,
            lambda: a @ w,
            lambda: jnp.sum(a, axis=1),
            lambda: jnp.concatenate([(a @ v)[:, None], a @ w, jnp.tanh(a @ w)[:, 1:]], 1),
            lambda: lax.pad(a @ w, jnp.asarray(1, a.dtype), [(0, 0, 0), (2, 1, 1)]),
            lambda: jnp.pad((a.T @ u)[:, None], ((0, 0), (1, 0))) + (a.T @ a[:, :2])[:, 1:],
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


class Chains(Region):
    """Values times a matrix of many columns, a function of that, and a second product or a sum: of a
    row of values all are needed before anything is made of them. The rows' own points are computed,
    and are large enough to be made inside, too."""

    def __init__(self, seed):
        super().__init__(seed)
        self.m, self.k = self.dice.choice([64, 100, 129]), self.dice.choice([17, 33, 64, 100, 130])
        self.n, self.d = self.dice.choice([64, 600, 1500]), self.dice.choice([2, 5, 8, 8, 9, 20])

    @property
    def large(self):
        return self.n * self.d

    def inputs(self):
        shapes = [(self.m, self.k), (self.k, self.m)]
        matrices = [self.numbers.normal(size=shape).astype(self.dtype) * 0.2 for shape in shapes]
        return [*super().inputs(), *matrices]

    def function(self, x, y, u, v, w, before, after):
        dice = self.dice = random.Random(self.steps[0])  # the same function each time it is traced
        x = x / (1 + jnp.abs(y[:1]))
        a = self.start(x, y, u, v)
        a = dice.choice([jnp.tanh, lambda a: jnp.exp(-jnp.abs(a)), jnp.sin])(a)
        hidden = a @ before
        hidden = dice.choice(
            [jnp.tanh, lambda h: jnp.exp(-h * h), lambda h: jnp.maximum(h, 0), jnp.cos]
        )(hidden)
        back = lambda: jnp.tanh(hidden @ after) * a  # noqa: E731
        ends = [
            lambda: jnp.sum(hidden, axis=1),
            lambda: back() @ w,
            lambda: jnp.sum(back(), axis=1),
            lambda: jnp.sum(back(), axis=0),
            lambda: back().T @ x,
            lambda: jnp.sum(a, axis=0),
            lambda: hidden @ (after @ w),
        ]
        return [end() for end in dice.sample(ends, dice.randint(1, 3))]
