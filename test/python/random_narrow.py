"""Random regions of 16-bit floats: every value between is one of the type that the program states.

A seed stands for one function of x[n, d], y[m, d], u[n], v[m], w[m, p] in f16 or bf16, of ops whose results
are the nearest of the exact ones; so results are known to the bit, but for sums of many. The numbers
overflow when multiplied, vanish, lie beside representable ones. Products of x and y are exact in f32.
"""

import random

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

EXTENTS = [3, 7, 15, 16, 17, 33, 64, 100, 129, 310]
TYPES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
# The largest exponents of inputs: their products overflow, sometimes; and they are subnormal.
SPREAD = {TYPES[0]: (8, 13), TYPES[1]: (20, 66)}
AWKWARD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]


class Narrow:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.dtype = self.dice.choice(TYPES)
        self.other = TYPES[self.dtype == TYPES[0]]
        self.n, self.m = self.dice.choice(EXTENTS), self.dice.choice(EXTENTS[2:])
        self.d, self.p = self.dice.choice([1, 3, 8, 12]), self.dice.choice([1, 3, 9])
        self.kind = self.dice.randrange(7)
        self.steps = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(1, 6))]
        self.ends = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(1, 3))]
        self.numbers = np.random.default_rng(seed)
        self.spread = self.dice.choice(SPREAD[self.dtype])
        self.exact = []  # of each result, once the function was traced

    @property
    def large(self):
        return self.n * self.m

    def vector(self, n):
        exponents = self.numbers.uniform(-self.spread, self.spread, n)
        x = self.numbers.choice([-1, 1], n) * 2.0**exponents
        awkward = self.numbers.random(n) < 0.03
        x[awkward] = self.numbers.choice(AWKWARD, awkward.sum())
        return x.astype(self.dtype)

    def matrix(self, *shape):
        return (self.numbers.integers(-8, 9, shape) / 4).astype(self.dtype)

    def inputs(self):
        n, m, d = self.n, self.m, self.d
        return [self.matrix(n, d), self.matrix(m, d), self.vector(n), self.vector(m), self.vector(m * self.p).reshape(m, -1)]

    def function(self, x, y, u, v, w):
        self.exact = []
        values = [self.start(x, y, u, v)]
        for number in self.steps:
            values.append(self.step(random.Random(number), values, u, v))
        results = []
        for number in self.ends:
            made, exact = self.end(random.Random(number), values, u, w)
            results += made
            self.exact += [exact] * len(made)
        return results

    def start(self, x, y, u, v):
        kind = self.kind
        if kind == 0:
            return x @ y.T
        if kind == 1:
            s = (x.astype(jnp.float32) * 1.0009765625).astype(self.other)
            dims = ((1,), (1,)), ((), ())
            return lax.dot_general(s, y.astype(self.other), dims, preferred_element_type=jnp.float32).astype(self.dtype)
        if kind == 2:
            return u[:, None] + v[None]
        if kind == 3:
            return u[:, None] / v[None]
        if kind == 4:
            return jnp.max(x[:, None] * y[None] - u[:, None, None], -1)
        return u[:, None] * v[None]

    def step(self, dice, values, u, v):
        a, b = values[-1], dice.choice(values)
        wide, scalar = jnp.float32, lambda x: jnp.asarray(x, self.dtype)
        choices = [
            lambda: a + b,
            lambda: a - v[None],
            lambda: a * b,
            lambda: a * scalar(dice.choice([0.1, 3.0, 300.0, 1e-4])),
            lambda: a / scalar(dice.choice([3.0, 7.0, 1e-3])),
            lambda: (a + scalar(1)) - scalar(1),
            lambda: jnp.where(jnp.isfinite(a), a, b),
            lambda: jnp.where(jnp.isinf(a * scalar(2)), u[:, None], a),
            lambda: jnp.where(a > b, a * a, -b),
            lambda: jnp.clip(a, -3, 1000),
            lambda: jnp.maximum(a, u[:, None]) + scalar(1.5),
            lambda: jnp.floor(a * scalar(4)) + lax.round(b),
            lambda: a.astype(self.other).astype(self.dtype),
            lambda: (a.astype(wide) * b.astype(wide)).astype(self.dtype),
            lambda: a.astype(wide).astype(self.other).astype(wide).astype(self.dtype),
            lambda: a.astype(jnp.int32).astype(self.dtype),
            lambda: a.astype(dice.choice([jnp.int8, jnp.uint8, jnp.int16])).astype(self.dtype) + b,
            lambda: lax.broadcasted_iota(jnp.int32, a.shape, 1).astype(self.dtype) * scalar(37.5) + a,
            lambda: (a.astype(jnp.float64) / 3).astype(wide).astype(self.dtype),
            lambda: jnp.abs(a) - jnp.max(a, axis=1, keepdims=True),
            lambda: a + jnp.min(a, axis=0, keepdims=True),
        ]
        return dice.choice(choices)()

    def end(self, dice, values, u, w):
        """(results, whether they are known to the bit)."""
        a, b = values[-1], dice.choice(values)
        wide = jnp.float32
        size, half = jnp.abs(a), jnp.abs(w)
        choices = [
            lambda: ([a], True),
            lambda: ([jnp.isinf(a).sum(1), jnp.isfinite(a).all()], True),
            lambda: ([jnp.isfinite(a + a).all(0)], True),
            lambda: ([jnp.max(a, 1), jnp.min(a, 0)], True),
            lambda: ([jnp.argmax(a, 1), jnp.argmin(-a, 1)], True),
            lambda: (list(lax.top_k(jnp.where(jnp.isnan(a), 2, a), 3)), True),
            lambda: ([a.astype(jnp.int32).max(1), (a == b).sum(0)], True),
            lambda: ([a.astype(self.other).astype(wide).max(1)], True),
            lambda: ([(a > u[:, None]).sum(1), (jnp.asarray(1, a.dtype) / a == 0).sum(0)], True),
            lambda: ([jnp.sum(size, 1), jnp.sum(size.astype(wide), 0)], False),
            lambda: ([size @ half], False),
            lambda: ([lax.dot(size, half, preferred_element_type=wide)], False),
            lambda: ([lax.reduce(size, jnp.asarray(0, a.dtype), lax.add, (1,))], False),
            lambda: ([jnp.sum(size.astype(self.other), 1), jnp.mean(size, 0)], False),
        ]
        return dice.choice(choices)()
