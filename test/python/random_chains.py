"""Random chains of matrices, each of which needs the one before as a whole: loops that write over
what they read.

A seed stands for one function of x[n, d], y[n, d], a factor l[n, n], in f32, f64, complex numbers,
between its arguments and its results in 16-bit floats, or of integers and truth values (signed and
unsigned, whose arithmetic wraps: exact). Its stages make all rows, or all columns, of a matrix from
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

    # In place of stages that a type does not have.
    EXACT = {"solve": "sort", "softmax": "both", "centre": "both", "product": "mask"}  # of integers
    COMPLEX = {"solve": "cumsum", "sort": "turn", "softmax": "centre", "both": "centre"}
    NARROW = {"solve": "sort"}
    TYPES = [np.float32, np.float64, np.int32, np.int16, np.uint8, np.uint32, np.bool_, np.complex64]
    NARROW_TYPES = (None, None, jnp.bfloat16, jnp.float16)  # of f32 between arguments and results

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([*self.TYPES[:2], *self.TYPES]))
        self.narrow = self.dice.choice(self.NARROW_TYPES) if self.dtype == np.float32 else None
        self.is_exact = self.dtype.kind in "iub"
        self.instead = self.EXACT if self.is_exact else self.COMPLEX if self.dtype.kind == "c" else {}
        self.instead = self.NARROW if self.narrow else self.instead
        self.n = self.dice.choice(self.ROWS)
        self.d = self.dice.choice([*self.COLUMNS, self.n])
        self.choices = []
        for i in range(self.dice.choice([3, 4, 5, 7])):
            name = self.dice.choice(self.WHOLE if i % 2 == 0 else self.STAGES)
            name = self.instead.get(name, name)
            axis = (i // 2 + (self.dice.random() < 0.2)) % 2
            self.choices.append((name, axis, self.dice.choice(self.ROLES)))
        n, d = self.n, self.d
        near = np.eye(n) * 2 + np.tril(self.numbers.normal(size=(n, n)), -1) / n
        shapes = [(n, d), (n, d), (d, d)]
        self.data = [self.made(shape) for shape in shapes]
        self.data.append(near.astype(self.dtype))
        self.largest = n * d * (2 if self.narrow else self.dtype.itemsize)
        self.rounding = 1e-4 if self.dtype in (np.float32, np.complex64) else 1e-10
        self.rounding = 0.1 if self.narrow else self.rounding

    def made(self, shape):
        x = self.numbers.normal(size=shape) * (1 + 4 * self.is_exact)
        if self.dtype.kind == "c":
            return (x + 1j * self.numbers.normal(size=shape)).astype(self.dtype)
        return x > 0 if self.dtype == bool else x.astype(np.int64 if self.is_exact else self.dtype).astype(self.dtype)

    def inputs(self):
        return self.data

    def share(self, x, n):
        return x if self.is_exact else x / n

    def stage(self, name, axis, x, beside, small, factor):
        """Of shape [n, d], as x."""
        across = {
            "sort": lambda: jnp.sort(x, axis=axis),
            "cumsum": lambda: self.share(self.prefix(x, axis), x.shape[axis]),
            "softmax": lambda: jax.nn.softmax(x, axis=axis),
            "centre": lambda: x - x.mean(axis, keepdims=True),
            "solve": lambda: solve_triangular(factor, x, lower=True, trans=axis),
            "mask": lambda: jnp.where(jnp.tri(*x.shape, dtype=bool), x, beside),
            "product": lambda: self.bounded(x @ small),
            "both": lambda: self.less(x, x.max(1, keepdims=True) * x.min(0, keepdims=True)),
            "turn": lambda: self.share(x + x.T, 2) if x.shape[0] == x.shape[1] else x[::-1],
            "scale": lambda: self.scaled(x, beside),
        }
        return across[name]()

    def prefix(self, x, axis):
        """Of truth values: of how many the number is odd."""
        if x.dtype != bool:
            return jnp.cumsum(x, axis=axis, dtype=x.dtype)
        return jnp.cumsum(x, axis=axis, dtype=jnp.int32) % 2 == 1

    def less(self, x, y):
        return x ^ y if x.dtype == bool else x - y

    def scaled(self, x, beside):
        if x.dtype == bool:
            return x ^ beside
        return (x if self.is_exact else self.bounded(x)) * beside

    def bounded(self, x):
        return x / (1 + jnp.abs(x)) if self.dtype.kind == "c" else jnp.sin(x)

    def begun(self, x, beside):
        if x.dtype == bool:
            return x | beside
        return x * x.dtype.type(3) + beside if self.is_exact else self.bounded(x * 0.3) + 1

    def function(self, x, beside, small, factor):
        if self.narrow:
            x, beside, small = (a.astype(self.narrow) for a in (x, beside, small))
        return [r.astype(self.dtype) for r in self.stages(self.begun(x, beside), beside, small, factor)]

    def stages(self, x, beside, small, factor):
        results = []
        for name, axis, role in self.choices:
            before, x = x, self.stage(name, axis, x, beside, small, factor)
            if role == "again":
                x = x + self.share(before, 2)
            elif role == "result":
                results.append(x)
            elif role == "reduced":
                results.append((x * before).sum(axis, dtype=x.dtype))
        last = x.sum(1, dtype=x.dtype) if self.dtype.kind == "c" else jnp.sort(x, axis=0)[0]
        return [*results, x.sum(0, dtype=x.dtype), last]
