"""Random chains of matrices, each of which needs the one before as a whole: loops that write over
what they read.

A seed stands for one function of x[n, d], y[n, d], a factor l[n, n], in f32, f64, or of integers
(i32, i16, whose arithmetic wraps: exact). Its stages make all rows, or all columns, of a matrix from
the last one: sorts, prefix sums, softmax, sums over the
other dimension, triangular solves, masks, products with a small matrix; one that needs all of its
matrix along one dimension is mostly followed by one along the other. Some stages are read again by
a later one, are results as well, read their matrix along both dimensions, turn it, or are reduced.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from random_lists import Program


class Chains(Program):
    ROWS, COLUMNS = [13, 17, 20, 33], [7, 11, 15, 20]
    WHOLE = ("sort", "sort", "sort", "solve", "turn", "cumsum")
    STAGES = ("softmax", "centre", "mask", "product", "both", "scale", "scale", "scale", *WHOLE)
    ROLES = ("next", "next", "next", "next", "next", "next", "again", "result", "reduced")

    EXACT = {"solve": "sort", "softmax": "both", "centre": "both", "product": "mask"}  # of integers

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([np.float32, np.float32, np.float64, np.float64, np.int32, np.int16]))
        self.n = self.dice.choice(self.ROWS)
        self.d = self.dice.choice([*self.COLUMNS, self.n])
        self.choices = []
        for i in range(self.dice.choice([3, 4, 5, 7])):
            name = self.dice.choice(self.WHOLE if i % 2 == 0 else self.STAGES)
            name = self.EXACT.get(name, name) if self.dtype.kind == "i" else name
            axis = (i // 2 + (self.dice.random() < 0.2)) % 2
            self.choices.append((name, axis, self.dice.choice(self.ROLES)))
        n, d = self.n, self.d
        near = np.eye(n) * 2 + np.tril(self.numbers.normal(size=(n, n)), -1) / n
        shapes = [(n, d), (n, d), (d, d)]
        is_exact = self.dtype.kind == "i"
        self.data = [(self.numbers.normal(size=shape) * (1 + 4 * is_exact)).astype(self.dtype) for shape in shapes]
        self.data.append(near.astype(self.dtype))
        self.largest = n * d * self.dtype.itemsize
        self.rounding = 1e-4 if self.dtype == np.float32 else 1e-10

    def inputs(self):
        return self.data

    def share(self, x, n):
        return x if self.dtype.kind == "i" else x / n

    def stage(self, name, axis, x, beside, small, factor):
        """Of shape [n, d], as x."""
        across = {
            "sort": lambda: jnp.sort(x, axis=axis),
            "cumsum": lambda: self.share(jnp.cumsum(x, axis=axis, dtype=x.dtype), x.shape[axis]),
            "softmax": lambda: jax.nn.softmax(x, axis=axis),
            "centre": lambda: x - x.mean(axis, keepdims=True),
            "solve": lambda: solve_triangular(factor, x, lower=True, trans=axis),
            "mask": lambda: jnp.where(jnp.tri(*x.shape, dtype=bool), x, beside),
            "product": lambda: jnp.tanh(x @ small),
            "both": lambda: x - x.max(1, keepdims=True) * x.min(0, keepdims=True),
            "turn": lambda: self.share(x + x.T, 2) if x.shape[0] == x.shape[1] else x[::-1],
            "scale": lambda: (x if self.dtype.kind == "i" else jnp.sin(x)) * beside,
        }
        return across[name]()

    def function(self, x, beside, small, factor):
        results = []
        x = x * 3 + beside if self.dtype.kind == "i" else jnp.exp(x * 0.3)
        for name, axis, role in self.choices:
            before, x = x, self.stage(name, axis, x, beside, small, factor)
            if role == "again":
                x = x + self.share(before, 2)
            elif role == "result":
                results.append(x)
            elif role == "reduced":
                results.append((x * before).sum(axis, dtype=x.dtype))
        return [*results, x.sum(0, dtype=x.dtype), jnp.sort(x, axis=0)[0]]
