"""Random programs of matrices of which elements are read: diagonals, traces, one in each row, a few
anywhere.

A seed stands for one function and its inputs: products, differences of all pairs and the like, in
batches or not; what moves, cuts, merges and sums them; then the read. Numbers and `largest` are as in
random_lists.py.
"""

import jax.numpy as jnp
import numpy as np

from random_lists import FLOATS, Program, random


class Elements(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([*FLOATS, *FLOATS, np.int32]))
        n, m = self.dice.choice([5, 9, 12, 20]), self.dice.choice([5, 9, 12, 20])
        m, k = self.dice.choice([n, n, m]), self.dice.choice([1, 2, 3, 7])
        labels = self.numbers.integers(-2, m + 2, 4 * n).astype(np.int64 if self.wide else np.int32)
        self.data = [self.eighths(n, k), self.eighths(m, k), labels]
        self.largest = n * m * self.dtype.itemsize
        self.terms = 64 * n * k

    def inputs(self):
        return self.data

    def matrix(self, dice, x, y):
        """Of rows of x and of y, the last two dimensions."""
        i, j = jnp.arange(x.shape[0])[:, None], jnp.arange(y.shape[0])
        choices = [
            lambda: x @ y.T,
            lambda: x @ y.T,
            lambda: (x[:, None] - y[None]).sum(-1),
            lambda: jnp.einsum("ik,jk->kij", x, y),
            lambda: jnp.einsum("ik,cjk->cij", x, jnp.stack([y, -y])),
            lambda: x[:, :1] * y[:, 0] + (3 * i - j).astype(x.dtype),
            lambda: jnp.where(i > j, x[:, :1], y[:, 0] * 2),
        ]
        return dice.choice(choices)()

    def changed(self, dice, t):
        rows, columns = t.shape[-2:]
        first, step = dice.choice([0, 1, 2]), dice.choice([1, 1, 2])
        few = jnp.arange(1, 5, dtype=t.dtype).reshape(2, 2)
        merged = lambda z: z.reshape(*z.shape[:-4], z.shape[-4] * z.shape[-3], -1)  # noqa: E731
        choices = [
            lambda: jnp.abs(t) - 1,
            lambda: t * t[..., :1] + t[..., -1:, :],
            lambda: t.swapaxes(-1, -2),
            lambda: t[..., first::step, :],
            lambda: t[..., 1::2, first::step],
            lambda: jnp.moveaxis(t, 0, -1),
            lambda: merged(t[..., :, None, :, None] * few[:, None, :]),
            lambda: merged(few[:, None, :, None] + t[..., None, :, None, :]),
            lambda: (t[..., None] * jnp.ones(3, t.dtype)).sum(-1),
            lambda: jnp.einsum("...ij,jk->...ik", t, jnp.ones((columns, rows), t.dtype)),
        ]
        made = dice.choice(choices)() if min(rows, columns) > 3 else t
        return made if made.size < 20_000 else t

    def read(self, dice, t, labels):
        rows, columns = t.shape[-2:]
        if min(t.shape) == 0:
            return t
        offset = dice.choice([0, 0, 1, -1, 2, -2])
        one, two = dice.sample(range(t.ndim), 2)
        offset = offset if -t.shape[one] < offset < t.shape[two] else 0
        count = min(rows, columns)
        at = labels[:rows] if rows <= labels.size else jnp.zeros(rows, labels.dtype)
        choices = [
            lambda: jnp.diagonal(t, offset, one, two),
            lambda: jnp.trace(t, offset, one, two),
            lambda: jnp.einsum("...ii->...i", t[..., :count, :count]),
            lambda: t[..., jnp.arange(count), jnp.arange(count)],
            lambda: t[..., jnp.arange(rows), at],
            lambda: jnp.take_along_axis(t, at[(None,) * (t.ndim - 2)][..., None], -1),
            lambda: t[..., at[:3], at[1:4]],
        ]
        return dice.choice(choices)()

    def value(self, x, y, labels, whole=False):
        dice = random.Random(self.body)
        t = self.matrix(dice, x, y)
        for _ in range(dice.choice([0, 1, 2, 3])):
            t = self.changed(dice, t)
        z = self.read(dice, t, labels)
        return z if whole else jnp.sum(z)

    def function(self, x, y, labels):
        by_labels = lambda *a, **how: self.value(*a, labels, **how)  # noqa: E731
        if random.Random(self.body + 1).random() < 0.5:
            return [by_labels(x, y, whole=True)]
        return self.differentiated(random.Random(self.body + 1), by_labels, (x, y))
