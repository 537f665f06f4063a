"""Random regions for tiles in which elements or rows of tables are gathered.

A seed stands for one function of tables and indices (of any integer type, some out of bounds) in f32 or f64:
m x k places, of each an element or a row of d, what elementwise ops make of them, and a few results.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np

EXTENTS = [2, 3, 7, 16, 17, 33, 64, 100, 129]
ROWS = [40, 100, 129, 333, 1025]
DEEP = [1, 2, 3, 8, 9, 16, 20, 33, 64, 70]
INTEGERS = [np.int8, np.int16, np.int32, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
MODES = ["clip", "fill", "promise_in_bounds"]


class Gathers:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.dtype = self.dice.choice([np.float32, np.float64])
        self.n, self.m = self.dice.choice(EXTENTS + [1025, 3000]), self.dice.choice(ROWS)
        self.k, self.d = self.dice.choice(EXTENTS), self.dice.choice(DEEP)
        self.integer = self.dice.choice(INTEGERS)
        self.mode = self.dice.choice(MODES)
        self.kind = self.dice.randrange(9)
        self.steps = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(1, 4))]
        self.ends = [self.dice.randrange(1 << 30) for _ in range(self.dice.randint(1, 3))]
        self.numbers = np.random.default_rng(seed)

    @property
    def large(self):
        return self.m * self.k * (self.d if self.kind < 6 else 1)

    def indices(self, n, *shape):
        """A tenth of them out of bounds, as far as the type goes; where that is promised, none."""
        limits = np.iinfo(self.integer)
        inside = self.numbers.integers(0, min(n - 1, limits.max), size=shape, endpoint=True)
        if self.mode == "promise_in_bounds":
            return inside.astype(self.integer)
        ends = np.array([limits.min, limits.max, max(limits.min, -1), min(limits.max, n)], self.integer)
        far = self.numbers.choice(ends, size=shape)
        return np.where(self.numbers.random(shape) < 0.1, far, inside.astype(self.integer))

    def inputs(self):
        n, m, k, d = self.n, self.m, self.k, self.d
        shapes = {
            "x": (n, d),
            "t": (d, n),
            "z": (n, 5, d),
            "f": (m, min(n, 300)),
            "y": (m, d),
            "w": (m, k),
        }
        inputs = {name: self.numbers.normal(size=shape).astype(self.dtype) for name, shape in shapes.items()}
        inputs["h"] = self.numbers.normal(size=(n, d)).astype(np.float16)
        inputs["c"] = self.numbers.integers(-100, 100, size=(n, d)).astype(np.int16)
        inputs["b"] = self.numbers.random((n,)) < 0.5
        places = {"i": self.indices(n, m, k), "j": self.indices(5, m, k), "l": self.indices(min(n, 300), m, k)}
        return [inputs | places | {"r": self.indices(n, m), "s": self.indices(n, k)}]

    def how(self, table):
        """Not filled with NaN: stock XLA's exp of a constant NaN is 0."""
        fill = None if table.dtype == bool else table.dtype.type(7)
        return {"mode": self.mode, "fill_value": fill if self.mode == "fill" else None}

    def taken(self, table, index, axis=0):
        how = {} if self.mode == "promise_in_bounds" else self.how(table)
        return jnp.take(table, index, axis=axis, **how)

    def start(self, a):
        if self.kind in (0, 1):
            return self.taken(a["x"], a["i"])
        if self.kind == 2:
            return jnp.moveaxis(self.taken(a["t"], a["i"], axis=1), 0, -1)
        if self.kind == 3:
            i, j = (a[name] if self.integer(0).itemsize > 2 else a[name].astype(np.int32) for name in "ij")
            return a["z"].at[i, j].get(**self.how(a["z"]))
        if self.kind == 4:
            return self.taken(a["h"], a["i"]).astype(self.dtype) + self.taken(a["c"], a["i"]).astype(self.dtype)
        if self.kind == 5:
            return self.taken(a["x"], a["r"])[:, None] - self.taken(a["x"], a["s"])[None]
        if self.kind == 6:
            return jnp.take_along_axis(a["f"], a["l"], 1, **self.how(a["f"]))[..., None]
        if self.kind == 7:
            return self.taken(a["x"][:, 0], a["i"])[..., None]
        picked = self.taken(a["b"], a["s"])[None] & (a["w"] > 0)
        return jnp.where(picked, self.taken(a["x"][:, -1], a["r"])[:, None], a["w"])[..., None]

    def step(self, dice, t, a):
        y = a["y"][:, None, :] if t.shape[-1] > 1 else a["y"][:, None, :1]
        choices = [
            lambda: t - y,
            lambda: t * a["w"][..., None],
            lambda: jnp.tanh(t),
            lambda: jnp.where(t > y, t, 0.5),
            lambda: jnp.exp(-jnp.abs(t)),
            lambda: t * t,
            lambda: jnp.maximum(t, self.taken(a["x"][:, 0], a["i"])[..., None]),
        ]
        return dice.choice(choices)()

    def end(self, dice, t, a):
        choices = [
            lambda: jnp.sum(t, 1),
            lambda: jnp.max(t, 1),
            lambda: jnp.sum(t, -1),
            lambda: jnp.sum(t, (1, 2)),
            lambda: jnp.sum(t, 0),
            lambda: jnp.sqrt(jnp.sum(t * t, -1)),
            lambda: jnp.einsum("mk,mkd->md", a["w"], t),
            lambda: jnp.einsum("mk,mkd->md", jax.nn.softmax(jnp.sum(t, -1), -1), t),
            lambda: jnp.argmax(jnp.sum(t, -1), -1),
            lambda: jax.nn.logsumexp(t, axis=1),
            lambda: jnp.sum((t > 0).astype(jnp.int32), -1),
        ]
        return dice.choice(choices)()

    def function(self, arrays):
        t = self.start(arrays)
        for number in self.steps:
            t = self.step(random.Random(number), t, arrays)
        return [self.end(random.Random(number), t, arrays) for number in self.ends]
