"""Random loops whose trips read parts of large values that were made before.

A seed stands for one function of x[n, d], y[m, d], w[d, k] and of places: values of all pairs of
rows, products of factors that are computed, some of them of one factor on both sides, some so small
beside the value that they may stay. Trips of a scan, a fori_loop or a while that stops read rows,
columns, blocks and elements of them, at places that are counted, given or found on the way, of which
some lie beyond an end. Others read the values as a whole, and the factors.
"""

import random

import jax.numpy as jnp
import numpy as np
from jax import lax

from random_lists import FLOATS, Program


class Trips(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice(FLOATS))
        self.n, self.m = self.dice.choice([7, 17, 33, 61]), self.dice.choice([5, 16, 21, 40])
        self.d, self.k = self.dice.choice([1, 3, 6]), self.dice.choice([2, 5, 12, 30])
        self.trips = self.dice.choice([1, 4, 9])
        places = self.numbers.integers(-9, self.n + 9, self.trips).astype(np.int64 if self.wide else np.int32)
        self.data = [self.eighths(self.n, self.d), self.eighths(self.m, self.d), self.eighths(self.d, self.k), places]
        self.largest = self.n * self.m * self.dtype.itemsize
        self.terms = 8 * self.n * self.m

    def inputs(self):
        return self.data

    def factor(self, dice, x, w):
        """Of rows."""
        choices = [
            lambda: jnp.tanh(x @ w),
            lambda: x @ w - jnp.mean(x @ w, 0),
            lambda: jnp.sin(x[:, :1] * w[:1]),
            lambda: jnp.where(x[:, :1] > 0, x @ w, w[0]),
            lambda: jnp.roll(jnp.cos(x @ w), 1, 0),
        ]
        return dice.choice(choices)()

    def pairs(self, dice, x, y, w):
        """The factors, and what is made of both."""
        a = self.factor(dice, x, w)
        b = a if dice.random() < 0.5 else self.factor(dice, y, w)
        product = (b @ a.T).T if dice.random() < 0.3 else a @ b.T
        rows, columns = a[:, 0][:, None], b[:, -1]
        choices = [
            lambda: product,
            lambda: jnp.tanh(product) - rows,
            lambda: jnp.where(rows > columns, product, 0.5),
            lambda: jnp.abs(product * columns)[::-1],
            lambda: product + jnp.tanh(a) @ jnp.cos(b).T,
            lambda: (product > rows) & (columns > 0),
        ]
        return a, b, dice.choice(choices)()

    def part(self, dice, v, at):
        """Numbers, of as many columns as v has."""
        n, m = v.shape
        h = min(3, n)
        index = jnp.asarray(at, self.data[-1].dtype)
        choices = [
            lambda: lax.dynamic_index_in_dim(v, index, 0, False),
            lambda: lax.dynamic_slice_in_dim(v, index, h, 0)[-1],
            lambda: lax.dynamic_slice(v, (index, index * 0), (1, m))[0],
            lambda: v[index],
            lambda: jnp.sum(lax.dynamic_index_in_dim(v, index, 1, False).astype(self.dtype)) + jnp.zeros(m, self.dtype),
            lambda: lax.dynamic_slice(v, (index, index - 2), (h, 1))[0] * jnp.ones(m, self.dtype),
        ]
        return dice.choice(choices)().astype(self.dtype)

    def trip(self, number, v, s, at):
        """Rows are sorted, so that nothing is parallel in them."""
        dice = random.Random(number)
        new = 0.5 * jnp.sort(s) + self.part(dice, v, at)
        return new if dice.random() < 0.7 else jnp.where(new[0] > 0, new, jnp.flip(s))

    def loop(self, dice, v, places):
        number, first = dice.randrange(1 << 30), jnp.zeros(v.shape[1], self.dtype)
        one = lambda s, at: self.trip(number, v, s, at)  # noqa: E731
        found = lambda s: jnp.argmax(s).astype(places.dtype)  # noqa: E731
        until = lambda s: lax.while_loop(  # noqa: E731
            lambda c: (c[0] < self.trips) & (c[1][0] < 5), lambda c: (c[0] + 1, one(c[1], c[0])), (0, s)
        )
        choices = [
            lambda: lax.scan(lambda s, at: (one(s, at), s[0]), first, places),
            lambda: lax.fori_loop(0, self.trips, lambda i, s: one(s, i), first),
            lambda: lax.fori_loop(0, self.trips, lambda i, s: one(s, found(s)), first),
            lambda: lax.fori_loop(0, 2, lambda j, s: lax.fori_loop(0, 3, lambda i, s: one(s, i * j), s), first),
            lambda: until(first),
        ]
        return dice.choice(choices)()

    def function(self, x, y, w, places):
        dice = random.Random(self.body)
        a, b, v = self.pairs(dice, x, y, w)
        others = [
            lambda: v.sum(1, dtype=self.dtype),
            lambda: v.astype(self.dtype).max(0),
            lambda: v.astype(self.dtype) @ b,
            lambda: a.sum(0),
            lambda: b,
        ]
        results = [self.loop(dice, v, places)]
        results += [dice.choice(others)() for _ in range(dice.choice([0, 0, 1, 2]))]
        return results
