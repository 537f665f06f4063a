"""Random regions for tiles with loops inside: what an element is iterated to.

A seed stands for one function of x[n], y[m], w[n, m], u[m, p] in f32 or f64: a few n x m values that are carried through
a while or two (which may be nested, count down, end when a counter that is carried says so, or row by row), beside values of rows and
of columns and what the counter names of two tables, and a few results.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EXTENTS = [2, 3, 7, 16, 17, 33, 64, 100, 129, 700]


class Whiles:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.dtype = self.dice.choice([np.float32, np.float64])
        self.n, self.m, self.p = self.dice.choice(EXTENTS[3:]), self.dice.choice(EXTENTS), self.dice.choice([1, 3, 12, 20])
        self.plan = self.dice.randrange(1 << 30)
        self.numbers = np.random.default_rng(seed)

    @property
    def large(self):
        return self.n * self.m

    def inputs(self):
        shapes = [(self.n,), (self.m,), (self.n, self.m), (self.m, self.p), (8,), (6, self.m)]
        return [self.numbers.normal(size=shape).astype(self.dtype) for shape in shapes]

    def better(self, dice, a, others):
        """One step; stays small."""
        b = dice.choice(others)
        choices = [
            lambda: jnp.tanh(a + b),
            lambda: a - (a * a * a - b) / (3 * a * a + 1),
            lambda: jnp.where(jnp.abs(a) < 2, a * a * 0.5 + b, a),
            lambda: 0.5 * (a + jnp.abs(b) / (1 + jnp.abs(a))),
            lambda: jnp.sin(a) + 0.25 * b,
            lambda: jnp.maximum(a * 0.5, b * 0.25),
        ]
        if dice.randrange(12) == 0:  # not element by element
            return jnp.tanh(a - jnp.mean(a, dice.randrange(2), keepdims=True))
        return dice.choice(choices)()

    def loop(self, dice, values, outside, deeper, tables=(), small=()):
        """The values after some steps, and what was counted on the way. small: are carried, too, of
        rows, of columns or single numbers; the others read them, not they the others."""
        trips, down = dice.randint(0, 9), dice.randrange(2)
        kinds = [dice.randrange(1 << 30) for _ in values]
        nested = deeper and dice.randrange(3) == 0
        stops = dice.randrange(3) == 0
        branches = dice.randrange(4) == 0

        def body(s):
            i, counted, *v = s
            v, little = v[: len(values)], v[len(values) :]
            less = [jnp.cos(t) * 0.9 + 0.1 * t for t in little]
            read = [*little] + [lax.dynamic_index_in_dim(t, i, keepdims=t.ndim > 1) for t in tables]
            new = [self.better(random.Random(k), a, [*v, *outside, *read]) for k, a in zip(kinds, v, strict=True)]
            if branches:
                new[0] = lax.cond(i % 3 == 1, lambda new, v: new, lambda new, v: 0.75 * v, new[0], v[0])
            if nested:
                inner = self.loop(random.Random(kinds[0]), new[:1], [*outside, *new[1:]], False, (), less)
                new, less = [inner[0], *new[1:]], inner[1 : 1 + len(less)]
            counted = counted + (jnp.abs(new[0]) < 1).astype(jnp.int32)
            return (i - 1 if down else i + 1, counted, *new, *less)

        def goes_on(s):
            more = s[0] > 0 if down else s[0] < trips
            return more & (s[0] != trips // 2) if stops and not down else more

        counted = jnp.zeros(values[0].shape, jnp.int32)
        _, counted, *after = lax.while_loop(goes_on, body, (trips if down else 0, counted, *values, *small))
        return [*after, counted.astype(values[0].dtype)]

    def until_small(self, a):
        """Rows that end one by one."""

        def row(v):
            goes_on = lambda s: (jnp.max(jnp.abs(s[0])) > 0.5) & (s[1] < 9)
            return lax.while_loop(goes_on, lambda s: (s[0] * 0.75, s[1] + 1), (v, 0))

        v, trips = self.until_unset(a) if self.n % 2 else jax.vmap(row)(a)
        return v + trips.astype(v.dtype)[:, None]

    def until_unset(self, a):
        """Rows that end one by one, each with a flag that goes on to the next trip."""
        goes = lambda v, trips: (jnp.max(jnp.abs(v), 1) > 0.5) & (trips < 9)  # noqa: E731

        def step(s):
            v, trips, go = s
            new, more = v * 0.75, trips + 1
            return jnp.where(go[:, None], new, v), jnp.where(go, more, trips), go & goes(new, more)

        trips = jnp.zeros(a.shape[0], jnp.int32)
        return lax.while_loop(lambda s: jnp.any(goes(s[0], s[1])), step, (a, trips, goes(a, trips)))[:2]

    def function(self, x, y, w, u, *tables):
        dice = random.Random(self.plan)
        tables = dice.choice([(), tables, tables])
        rows, columns = x[:, None], y[None]
        whole = [jnp.cos(rows * columns), rows - columns, w * 0.5][: dice.randint(1, 3)]
        if random.Random(self.plan + 1).randrange(8) == 0:
            whole[-1] = self.until_small(whole[-1])
        outside = [rows, columns, w, jnp.asarray(0.3, x.dtype), jnp.exp(-jnp.abs(rows - columns))]
        if dice.randrange(3) == 0:  # what is carried is of rows or columns alone
            small = self.loop(dice, [dice.choice([rows, columns])], [jnp.asarray(0.7, x.dtype)], False)
            whole, outside = [small[0] * rows + columns, *whole[:2]], [small[1], *outside]
        if dice.randrange(2):
            outside.append(jnp.sum(whole[0], 1, keepdims=True) / self.m)
        small = dice.choice([[], [], [rows], [columns], [rows, columns], [jnp.asarray(0.4, x.dtype), rows]])
        after = self.loop(dice, whole, outside, True, tables, small)
        iterated = after[len(whole) : -1]
        after = [*after[: len(whole)], after[-1]]
        if iterated and dice.randrange(2):
            after[0] = after[0] * jnp.cos(dice.choice(iterated))
        elif iterated:
            after[0] = after[0] - sum(iterated)
        if dice.randrange(3) == 0:
            after = self.loop(dice, after[:1], after[1:], False)
        a, b = after[0], after[-1]
        ends = [
            lambda: jnp.sum(a, 1),
            lambda: jnp.max(a + b, 1),
            lambda: a @ u,
            lambda: jnp.sum(a, 0),
            lambda: jnp.sum(jnp.tanh(a) * b, 1),
            lambda: a,
            lambda: jnp.min(a, 1),
            lambda: (a.T @ x, a @ y),
        ]
        return [dice.choice(ends)() for _ in range(dice.randint(1, 3))]
