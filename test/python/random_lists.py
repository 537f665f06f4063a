"""Random programs of lists of places, prefix sums, halvings, windows, tori, sorts and tables.

A seed stands for one function and its inputs: `Places`, what is read at and written to the places
where a mask is set, or of two; `Prefixes`, prefix sums from both ends, of each other, and differences of them;
`Strips`, the same over rows so wide that a few make a slice;
`Halvings`, associative scans and other functions that take every second element and put what they
make of them together again; `Windows`, windows of an axis that is rolled by a part of a window;
`Rolled`, neighbours on a torus, many of one field and several times over; `Sorts`, what is made of
sorted elements, from either end, by one key or two, with what is moved along; `Rows`, tables that
are read and written at places of which the entries' own indices name some dimensions; `Buckets`, rows
that are sorted, computed with, and put or read back; `Parts`, points and windows of arrays and of parts
of them, read and added up at places of which many lie beyond an end; `Columns`, tensors with a few
columns that are read one by one. All but `Sorts` have gradients. Numbers are small multiples of 1/8 in 32 or 64 bits, so that many sums are
exact; `largest` is the size of the large tensors in bytes.
"""

import math
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EXTENTS = [1, 2, 3, 5, 7, 16, 17, 33, 61]
FLOATS = [np.float32, np.float64]
DTYPES = [*FLOATS, *FLOATS, np.int32, np.int8, np.uint8]


class Program:
    terms = 1  # about what sums add up, or the root of how many: smaller results may be off by more
    rounding = 0  # of values between that have 16 bits; 0: there are none

    def __init__(self, seed):
        self.seed, self.dice = seed, random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.wide = self.dice.random() < 0.5  # whether indices have 64 bits
        self.body = self.dice.randrange(1 << 30)

    def eighths(self, *shape, dtype=None):
        """Of an integer type: whole numbers."""
        dtype = np.dtype(dtype or self.dtype)
        if dtype.kind == "f":
            return (self.numbers.integers(-16, 17, shape) / 8).astype(dtype)
        return self.numbers.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)

    def text(self):
        with jax.enable_x64(self.wide or self.dtype == np.float64):
            call = lambda *a: self.function(*a)  # noqa: E731
            lowered = jax.jit(call, keep_unused=True).lower(*self.inputs())
        return lowered.as_text()

    def differentiated(self, dice, f, arguments):
        """f, its gradient, or its directional derivative; f has one number as its result."""
        kind = dice.randrange(5) if self.dtype in FLOATS else 0
        if kind == 0:
            return [f(*arguments)]
        if kind == 1:
            along = tuple(jnp.ones_like(a) for a in arguments)
            return list(jax.jvp(f, arguments, along))
        return jax.tree.leaves(jax.value_and_grad(f, tuple(range(len(arguments))))(*arguments))

    def whole_or_differentiated(self, share, arguments):
        """The value as it is, in that share of all programs."""
        dice = random.Random(self.body + 1)
        if dice.random() < share:
            return [self.value(*arguments, whole=True)]
        return self.differentiated(dice, self.value, arguments)


class Places(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.n, self.m = self.dice.choice(EXTENTS), self.dice.choice(EXTENTS)
        self.dtype = np.dtype(self.dice.choice(DTYPES))
        self.square = self.dice.random() < 0.5
        if self.square:
            self.m = self.n
        self.largest = self.n * self.m * max(4, self.dtype.itemsize)
        self.data = [self.eighths(self.n), self.eighths(self.m), self.eighths(self.n, self.m)]
        self.data += [self.eighths(max(self.n, self.m), 3)]

    def inputs(self):
        return self.data

    # ---- the list ----
    def mask(self, dice, d, i, j):
        """n x m, of the matrix or of the places alone."""
        k = dice.choice([-3, -1, 0, 1, 2])
        choices = [
            lambda: d > self.dtype.type(1),
            lambda: d < self.dtype.type(2),
            lambda: jnp.tril(d < self.dtype.type(2), k),
            lambda: (i + j) % 3 == 0,
            lambda: i >= j + k,
            lambda: jnp.triu(jnp.ones(d.shape, bool), k),
            lambda: (d != 0) & (i != j),
            lambda: jnp.abs(i - j) <= 1,
        ]
        return dice.choice(choices)()

    def places(self, dice, d):
        """Two lists of integers, equally long; of one more or less than are set, too."""
        i, j = (lax.broadcasted_iota(np.int32, d.shape, axis) for axis in (0, 1))
        size = dice.choice([1, 2, max(1, d.size // 7), max(1, d.size // 2), d.size, d.size + 3])
        k = dice.choice([-2, -1, 0, 1, 3])
        fill = dice.choice([0, 0, -1, 1, d.shape[0] - 1, d.shape[0], (0, 1)])
        mask = self.mask(dice, d, i, j)
        pairs = lambda found: (found[:, 0], found[:, 1])  # noqa: E731
        flipped = lambda mask: lax.fori_loop(0, 2, lambda t, m: 1 - m, mask.astype(int))  # noqa: E731
        choices = [
            lambda: jnp.triu_indices(d.shape[0], k, d.shape[1]),
            lambda: jnp.tril_indices(d.shape[0], k, d.shape[1]),
            lambda: jnp.nonzero(mask, size=size),
            lambda: jnp.nonzero(mask, size=size, fill_value=fill),
            lambda: jnp.where(mask, size=size, fill_value=fill),
            lambda: pairs(jnp.argwhere(mask, size=size, fill_value=dice.choice([0, -1, 2]))),
            lambda: (jnp.flatnonzero(mask, size=size, fill_value=0),) * 2,
            lambda: (jnp.flatnonzero(flipped(mask), size=size, fill_value=0),) * 2,
        ]
        return dice.choice(choices)()

    # ---- what is read at it ----
    def read(self, dice, d, x, y, p, i, j):
        mode = dice.choice([None, "clip", "fill"])
        r, s = p[: d.shape[0]], p[: d.shape[1]]
        choices = [
            lambda: d.at[i, j].get(mode=mode),
            lambda: d[i, j],
            lambda: x[i] - y[j],
            lambda: x.at[i].get(mode=mode) * d[i, j],
            lambda: ((r[i] - s[j]) ** 2).sum(-1),
            lambda: d[i].sum(1) + y[j],
            lambda: d.ravel()[i * d.shape[1] + j],
            lambda: jax.vmap(lambda row, at: row[at], (0, None))(d, j).sum(0),
            lambda: jax.vmap(lambda row, at: row[at])(
                d[:2], jnp.stack([j, i % d.shape[1]])[: len(d)]
            ).sum(0),
        ]
        return dice.choice(choices)()

    def step(self, dice, c, i, j):
        count = jnp.arange(c.shape[0]) % 3
        one = self.dtype.type(1)
        choices = [
            lambda: c,
            lambda: c * c,
            lambda: c * count.astype(c.dtype),
            lambda: jnp.where(c > one, c, one),
            lambda: jnp.where(i == j, c, 2 * c),
            lambda: c + (i - j).astype(c.dtype),
            lambda: jnp.exp(-c * c).astype(c.dtype) if self.dtype in FLOATS else c + one,
            lambda: c[::-1],
            lambda: jnp.searchsorted(jnp.arange(-2, 3).astype(c.dtype), c).astype(c.dtype),
            lambda: jnp.searchsorted(jnp.sort(c[:3]), c, side="right").astype(c.dtype),
            lambda: lax.fori_loop(0, 3, lambda t, v: jnp.where(v > t.astype(v.dtype), v - one, v + one), c),
            lambda: lax.fori_loop(0, 2, lambda t, v: v[::-1] + c, c),
        ]
        return dice.choice(choices)()

    def end(self, dice, c, d, i, j):
        zeros = jnp.zeros_like(d)
        edges = jnp.arange(4).astype(c.dtype)
        choices = [
            lambda: c.sum(),
            lambda: c.sum(),
            lambda: c.max(initial=0),
            lambda: c.min(initial=9),
            lambda: c,
            lambda: (c > 1).sum(),
            lambda: ((c > 1).any(), (c < 4).all()),
            lambda: (i, j),
            lambda: jnp.sort(c),
            lambda: c[: max(1, len(c) // 2)],
            lambda: jnp.cumsum(c)[-1:],
            lambda: zeros.at[i, j].add(c),
            lambda: zeros.at[i, j].add(self.dtype.type(2)),
            lambda: zeros.at[i, j].max(c, mode="drop"),
            lambda: d.at[j, i].add(c, mode="drop"),
            lambda: zeros.at[i].add(c[:, None]),
            lambda: zeros[0].at[j].add(c),
            lambda: zeros[:, 0].at[i].min(c),
            lambda: jax.ops.segment_sum(c, i, d.shape[0]),
            lambda: jnp.argmax(jnp.append(c, self.dtype.type(0))),
            lambda: c @ jnp.ones_like(c),
            lambda: c @ (jnp.arange(len(c)) % 3).astype(c.dtype),
            lambda: d[i].T @ jnp.stack([c, c * c], 1)[:, dice.randrange(2) :],
            lambda: jnp.bincount(i, length=5),
            lambda: jnp.histogram(c, 5, (0, 4))[0],
            lambda: jax.ops.segment_sum(c, jnp.digitize(c, edges), 5),
            lambda: zeros[:, 0].at[jnp.digitize(c, edges)].max(c),
        ]
        return dice.choice(choices)()

    def matrix(self, dice, x, y, z):
        choices = [
            lambda: z,
            lambda: x[:, None] - y[None],
            lambda: (x[:, None] * y[None] + z) * z,
            lambda: jnp.maximum(x[:, None], y[None]),
            lambda: z + z[::-1],
        ]
        return dice.choice(choices)()

    def value(self, x, y, z, p, body=None):
        dice = random.Random(body or self.body)
        d = self.matrix(dice, x, y, z)
        i, j = self.places(dice, lax.stop_gradient(d))
        c = self.read(dice, d, x, y, p, i, j)
        for _ in range(dice.randrange(3)):
            c = self.step(dice, c, i, j)
        return c, d, i, j, dice

    def function(self, *arguments):
        dice = random.Random(self.body + 1)
        if dice.random() < 0.3 and self.dtype in FLOATS:
            return self.differentiated(dice, lambda *a: jnp.sum(self.value(*a)[0]), arguments)
        n, lists = dice.choice([1, 1, 2, 3]), dice.choice([1, 1, 2])
        results = []
        for body in range(self.body, self.body + lists):
            c, d, i, j, inside = self.value(*arguments, body)
            results += [self.end(inside, c, d, i, j) for _ in range(n)]
            results += [i, j] if lists > 1 else []
        return results


class Prefixes(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([*FLOATS, *FLOATS, np.int32]))
        self.n = self.dice.choice([1, 2, 16, 64, 97, 101, 143, 512, 1000, 1009])
        self.rows = self.dice.choice([None, None, 1, 3, 8])
        self.axis = self.dice.randrange(2) if self.rows else 0
        shape = [self.rows or 1, self.rows or 1]
        shape[self.axis] = self.n
        self.shape = tuple(shape) if self.rows else (self.n,)
        self.data = [self.eighths(*self.shape), self.eighths(*self.shape)]
        self.largest = self.data[0].nbytes

    def inputs(self):
        return self.data

    def prefix(self, dice, x):
        reverse = dice.random() < 0.5
        along = {"axis": self.axis, "reverse": reverse}
        summed = lambda: lax.cumsum(x, **along)  # noqa: E731
        zero = [(0, 0)] * x.ndim
        zero[self.axis] = (0, 1) if reverse else (1, 0)
        here = [slice(None)] * x.ndim
        here[self.axis] = slice(1, None) if reverse else slice(0, x.shape[self.axis])
        choices = [
            summed,
            summed,
            summed,
            lambda: summed() - x,
            lambda: jnp.pad(summed(), zero)[tuple(here)],
            lambda: lax.cummax(x, **along),
            lambda: lax.cummin(x, **along),
            lambda: lax.cumlogsumexp(x, **along) if self.dtype in FLOATS else summed(),
            lambda: lax.cumprod(1 + x * self.small, **along) if self.dtype in FLOATS else summed(),
            lambda: lax.associative_scan(jnp.add, x, reverse=reverse, axis=self.axis),
            lambda: jnp.cumsum(x, self.axis) + lax.cumsum(x, axis=self.axis, reverse=True),
        ]
        return dice.choice(choices)()

    @property
    def small(self):
        return self.dtype.type(1 / 64)

    def step(self, dice, x, y):
        real = self.dtype in FLOATS
        part = lambda a, b: lax.slice_in_dim(x, a, b, axis=self.axis)  # noqa: E731
        n = x.shape[self.axis]
        w = min(n, dice.choice([1, 2, 7]))
        fit = lambda z: lax.slice_in_dim(z, 0, n, axis=self.axis)  # noqa: E731
        choices = [
            lambda: x * self.small if real else x,
            lambda: jnp.sin(x) if real else x + 1,
            lambda: jnp.tanh(x) if real else -x,
            lambda: x * fit(y),
            lambda: fit(y) - x,
            lambda: jnp.roll(x, dice.choice([1, -1, n // 2]), self.axis),
            lambda: jnp.flip(x, self.axis),
            lambda: part(w, n) - part(0, n - w) if n > w else x,
            lambda: x - part(0, 1),
            lambda: self.one_by_one(x, dice.random() < 0.5, dice.choice([0, 0, 1])),
        ]
        return dice.choice(choices)()

    def one_by_one(self, x, reverse, first):
        """A scan that reads an element along the axis in each of its trips, where there are some."""
        rows = jnp.moveaxis(x, self.axis, 0)
        if len(rows) <= first or self.dtype not in FLOATS:
            return x
        trip = lambda c, row: (jnp.sin(c) + row, c * row * self.small)  # noqa: E731
        last, kept = lax.scan(trip, jnp.zeros_like(rows[0]), rows[first:], reverse=reverse)
        return x + last if self.axis == 0 else x + last[:, None] + kept[0][:, None]

    def end(self, dice, x):
        choices = [
            lambda: jnp.sum(x),
            lambda: jnp.sum(jnp.sin(x)) if self.dtype in FLOATS else jnp.max(x),
            lambda: jnp.max(x) + jnp.min(x),
            lambda: jnp.sum(x * x * self.small),
            lambda: jnp.sum(lax.slice_in_dim(x, 0, 1, axis=self.axis)),
        ]
        return dice.choice(choices)()

    def value(self, x, y, whole=False):
        dice = random.Random(self.body)
        z = self.prefix(dice, x)
        for _ in range(dice.randrange(4)):
            z = dice.choice([self.prefix(dice, z), self.step(dice, z, y)])
        return z if whole else self.end(dice, z)

    def function(self, *arguments):
        dice = random.Random(self.body + 1)
        if dice.random() < 0.3:
            z = self.value(*arguments, whole=True)
            return [z] if dice.random() < 0.5 else [z, self.end(dice, z)]
        return self.differentiated(dice, self.value, arguments)


class Strips(Prefixes):
    """Slices of 64 kB or more may be of 8 or 16 indices (machine_slices)."""

    EXTENTS, ROWS = [17, 33, 40], [1030, 2048, 2100]

    def __init__(self, seed):
        super().__init__(seed)
        n, rows, self.axis = self.dice.choice(self.EXTENTS), self.dice.choice(self.ROWS), 0
        self.data = [self.eighths(n, rows), self.eighths(n, rows)]
        self.largest = self.data[0].nbytes


class Windows(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice(FLOATS))
        self.side = self.dice.choice([1, 2, 3, 4, 8])
        self.count = self.dice.choice([1, 2, 3, 8, 17, 32])
        self.both = self.dice.random() < 0.4
        self.width, self.columns = self.dice.choice([(2, 3), (4, 2), (1, 5)])
        n, m = self.side * self.count, self.width * self.columns
        lead = self.dice.choice([(), (), (1,), (3,)])
        self.lead, self.c = len(lead), self.dice.choice([1, 3, 8])
        shape = (*lead, n, m, self.c) if self.both else (*lead, n, self.c)
        self.data = [self.eighths(*shape), self.eighths(*shape), self.eighths(self.c, self.c)]
        self.largest = self.data[0].nbytes

    def inputs(self):
        return self.data

    def parted(self, x):
        """windows x places x channels"""
        if not self.both:
            return x.reshape(-1, self.side, self.c)
        y = x.reshape(-1, self.count, self.side, self.columns, self.width, self.c)
        return y.transpose(0, 1, 3, 2, 4, 5).reshape(-1, self.side * self.width, self.c)

    def joined(self, y, shape):
        if not self.both:
            return y.reshape(shape)
        y = y.reshape(-1, self.count, self.columns, self.side, self.width, self.c)
        return y.transpose(0, 1, 3, 2, 4, 5).reshape(shape)

    def inside(self, dice, y, w):
        """Of each window by itself, of the same shape."""
        real = jnp.sin(y)
        choices = [
            lambda: jnp.sort(y, 1),
            lambda: y - jnp.mean(y, 1, keepdims=True),
            lambda: jax.nn.softmax(y, 1),
            lambda: real @ w,
            lambda: jax.nn.softmax(y @ y.swapaxes(1, 2) / 8, -1) @ y,
            lambda: jnp.max(y, 1, keepdims=True) * real,
            lambda: jnp.cumsum(y, 1) / 8,
            lambda: jnp.flip(y, 1),
            lambda: jnp.concatenate([y[:, 1:], y[:, :1]], 1) - y,
        ]
        return dice.choice(choices)()

    def beside(self, dice, y, w):
        """Each window and those beside it; of the same shape."""
        one, other = dice.choice([(1, -1), (1, 2), (-1, 3)])
        k = jnp.concatenate([jnp.roll(y, one, 0), y, jnp.roll(y, other, 0)], 1)
        choices = [
            lambda: y - jnp.mean(k, 1, keepdims=True),
            lambda: jax.nn.softmax(y @ w @ k.swapaxes(1, 2) / 8, -1) @ k,
            lambda: jnp.sort(k, 1)[:, 1 : 1 + y.shape[1]],
        ]
        return dice.choice(choices)()

    def shifts(self, dice):
        n, m = self.side * self.count, self.width * self.columns
        choices = [0, self.side // 2, -self.side // 2, 1, -1, n // 2 + 1, self.side, -n + 1]
        return (dice.choice(choices), dice.choice([0, self.width // 2, -1, m - 1]) * self.both)

    def layer(self, dice, x, w):
        axes = (self.lead, self.lead + self.both)
        down, right = self.shifts(dice)
        y = jnp.roll(x, (-down, -right), axes) if dice.random() < 0.9 else x
        y = self.parted(y)
        y = (self.inside if dice.random() < 0.8 else self.beside)(dice, y, w)
        y = self.joined(y, x.shape)
        back = dice.random()
        if back < 0.7:
            y = jnp.roll(y, (down, right), axes)
        elif back < 0.8:
            y = jnp.roll(y, (right, down - 1), axes)
        return y

    def end(self, dice, y, x):
        choices = [
            lambda: jnp.sum(y),
            lambda: jnp.sum(y * x),
            lambda: jnp.max(y + x),
            lambda: jnp.sum(y**2),
            lambda: jnp.sum(lax.slice_in_dim(y, 1, None, axis=self.lead)),
        ]
        return dice.choice(choices)()

    def value(self, x, y, w, whole=False):
        dice = random.Random(self.body)
        z = jnp.tanh(x) if dice.random() < 0.5 else x + y
        for _ in range(dice.choice([1, 1, 2])):
            z = self.layer(dice, z, w)
            z = z + x if dice.random() < 0.4 else z
        return z if whole else self.end(dice, z, y)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.3, arguments)


class Rolled(Program):
    """Fields on a torus: each step looks at neighbours along one to three axes."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice(FLOATS))
        axes = self.dice.choice([1, 2, 2, 3])
        shape = [self.dice.choice([5, 8, 17, 24]) for _ in range(axes)]
        self.axes, self.c = tuple(range(axes)), self.dice.choice([1, 2, 3])
        self.data = [self.eighths(*shape, self.c), self.eighths(*shape, self.c)]
        self.largest = self.data[0].nbytes

    def inputs(self):
        return self.data

    def step(self, dice, x, y):
        axes, far = self.axes, dice.choice([1, 1, 2])
        small = self.dtype.type(1 / 8)
        around = [jnp.roll(x, sign * far, axis) for axis in axes for sign in (1, -1)]

        def box():
            z = x
            for axis in axes:
                z = sum(jnp.roll(z, i, axis) for i in range(-far, far + 1)) * small
            return z

        def corners():
            shifts = [dice.choice([(1,), (-1,), (1, -1), (2, 0), (-1, 2, 1)]) for _ in range(4)]
            pairs = [list(zip(s, axes)) for s in shifts]
            return sum(jnp.roll(x, [s for s, _ in p], [a for _, a in p]) for p in pairs) - x

        def sweep():
            place = sum(lax.broadcasted_iota(np.int32, x.shape, axis) for axis in axes)
            odd = (place % 2 == 1) & (jnp.sin(x) < sum(around) * y)
            return jnp.where(odd, -x, x)

        def outer():
            g = jnp.stack([jnp.roll(x, 1, a) - jnp.roll(x, -1, a) for a in axes], -1)
            z = jnp.einsum("...i,...j->...ij", g, g)
            z = sum(jnp.roll(z, i, a) for i in (-1, 0, 1) for a in axes) * small
            return z.max(-1).min(-1)

        choices = [
            lambda: sum(around) * small,
            lambda: jnp.sin(jnp.stack(around)).max(0),
            lambda: jnp.tanh(sum(around) * y),
            box,
            corners,
            sweep,
            outer,
        ]
        return dice.choice(choices)()

    def value(self, x, y, whole=False):
        dice = random.Random(self.body)
        z = jnp.tanh(x) if dice.random() < 0.5 else x
        for _ in range(dice.choice([1, 2, 3])):
            z = self.step(dice, z, y)
        return z if whole else jnp.sum(jnp.sin(z) * y)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.5, arguments)


class Borders(Program):
    """Fields whose inner points, borders, crops, every s-th points or points of a list are written."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([*FLOATS, np.int32]))
        shape = [self.dice.choice([6, 9, 16, 25]) for _ in range(self.dice.choice([1, 2, 2, 3]))]
        self.data = [self.eighths(*shape), self.eighths(*shape)]
        self.largest = self.data[0].nbytes

    def inputs(self):
        return self.data

    def line(self, dice, n):
        """Some indices of n."""
        step = dice.choice([1, 1, 2, 2, 3])
        first = dice.choice([None, 0, 1, 1, 2, n // 2])
        last = dice.choice([None, None, -1, -2, n // 2 + 1])
        return dice.choice([slice(first, last, step), slice(1, -1), slice(None), dice.randrange(-n, n)])

    def place(self, dice, shape):
        return tuple(self.line(dice, n) for n in shape)

    def updated(self, dice, x, at, u):
        ref = x.at[at]
        u = u[at]
        ways = [ref.set, ref.set, ref.add, ref.multiply, ref.min, ref.max]
        return dice.choice(ways)(u) if u.size else x

    def neighbours(self, dice, x, y):
        """Inner points by those around them, then borders."""
        inner, axes = (slice(1, -1),) * x.ndim, range(x.ndim)
        moved = lambda axis, by: tuple(  # noqa: E731
            slice(1 + by, x.shape[a] - 1 + by) if a == axis else slice(1, -1) for a in axes
        )
        around = sum(x[moved(axis, by)] for axis in axes for by in (-1, 1)) * y[inner]
        z = dice.choice([x.at[inner].set(around), x.at[inner].add(around), jnp.zeros_like(x).at[inner].set(around)])
        for axis in axes:
            first, last = (slice(None),) * axis + (0,), (slice(None),) * axis + (-1,)
            if dice.random() < 0.5:
                z = z.at[first].set(z[(slice(None),) * axis + (1,)]).at[last].set(y[last])
        return z

    def padded(self, dice, x, y):
        z = jnp.pad(x, 1, mode=dice.choice(["edge", "wrap", "reflect", "constant"]))
        at = tuple(slice(dice.choice([0, 1, 2]), None) for _ in x.shape)
        cut = z[at]
        return cut[tuple(slice(0, n) for n in x.shape)] * y if min(cut.shape) and cut.shape >= x.shape else x

    def sweep(self, dice, x, y):
        """Alternate points by their neighbours."""
        for first in (0, 1):
            around = sum(jnp.roll(x, by, axis) for axis in range(x.ndim) for by in (-1, 1)) * y
            at = tuple(slice(first if a == 0 else dice.choice([0, 1]), None, 2) for a in range(x.ndim))
            x = x.at[at].set(around[at])
        return x

    def listed(self, dice, x, y):
        """At digits of 0, 1, 2, ..., in steps; each place once, or several times."""
        bases = [dice.choice([1, 2, (n + 1) // 2, n]) for n in x.shape]
        steps = [dice.randint(1, max(1, (n - 1) // max(1, base - 1))) for n, base in zip(x.shape, bases)]
        times, at = dice.choice([1, 1, 3]), [0] * x.ndim
        p, unit = jnp.arange(math.prod(bases) * times), dice.choice([1, times])
        for d in dice.sample(range(x.ndim), x.ndim):
            first = dice.randint(0, x.shape[d] - 1 - (bases[d] - 1) * steps[d])
            at[d] = p // unit % bases[d] * steps[d] + first
            unit *= bases[d]
        ref, u = x.at[tuple(at)], y[tuple(at)]
        return dice.choice([ref.add(u), ref.max(u), ref.set(u) if times == 1 else ref.add(u)])

    def step(self, dice, x, y):
        choices = [
            lambda: self.listed(dice, x, y),
            lambda: self.updated(dice, x, self.place(dice, x.shape), y),
            lambda: self.updated(dice, x, self.place(dice, x.shape), jnp.flip(x) * y),
            lambda: self.neighbours(dice, x, y),
            lambda: self.padded(dice, x, y),
            lambda: self.sweep(dice, x, y),
        ]
        return dice.choice(choices)()

    def value(self, x, y, whole=False):
        dice = random.Random(self.body)
        bend = jnp.sin if self.dtype.kind == "f" else jnp.abs
        z = bend(x) if dice.random() < 0.5 else x
        for _ in range(dice.choice([1, 2, 3])):
            z = self.step(dice, z, y)
        return z if whole else jnp.sum(bend(z) * y)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.5, arguments)


class Halvings(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice(FLOATS))
        self.n = self.dice.choice([2, 5, 16, 61, 64, 97, 128, 131, 255, 256, 500, 512, 1000])
        self.rows = self.dice.choice([None, None, 1, 3])
        self.axis = self.dice.randrange(2) if self.rows else 0
        self.both_ways = seed % 11 == 7  # by the seed, as below
        if self.both_ways:
            self.rows, self.axis, self.n = None, 0, self.dice.choice([255, 263, 271, 287])
        shape = [self.rows or 1, self.rows or 1]
        shape[self.axis] = self.n
        shape = tuple(shape) if self.rows else (self.n,)
        self.data = [self.eighths(*shape), self.eighths(*shape)]
        self.largest = self.data[0].nbytes
        if self.both_ways:
            self.largest *= self.n

    def inputs(self):
        return self.data

    def every(self, x, first, step=2, until=None):
        return lax.slice_in_dim(x, first, until or x.shape[self.axis], step, self.axis)

    def scanned(self, dice, x, y):
        """By a function of pairs or of single numbers that is associative."""
        along = {"axis": self.axis, "reverse": dice.random() < 0.3}
        small = self.dtype.type(1 / 64)
        affine = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])  # noqa: E731
        first = lambda a, b: (jnp.where(b[0] > 1, b[0], a[0]), a[1] + b[1])  # noqa: E731
        choices = [
            lambda: lax.associative_scan(affine, (1 + x * small, y), **along)[1],
            lambda: lax.associative_scan(affine, (jnp.tanh(x), y), **along)[dice.randrange(2)],
            lambda: lax.associative_scan(first, (x, y * small), **along)[dice.randrange(2)],
            lambda: lax.associative_scan(jnp.maximum, x - y, **along),
            lambda: lax.associative_scan(lambda a, b: a * b + a + b, x * small, **along),
            lambda: lax.cumprod(1 + x * small, **along),
            lambda: lax.cummax(x + y * small, **along),
            lambda: lax.cumlogsumexp(x, **along),
        ]
        chosen = dice.choice(choices)
        # By the seed, not by the dice: seeds that once failed stay what they were.
        return self.state(x, y, **along) if self.seed % 9 == 4 else chosen()

    def state(self, x, y, **along):
        """Of a linear system of two states, a matrix for each step (Kalman filters)."""
        step = jnp.stack([jnp.stack([x, y], -1), jnp.stack([y, -x], -1)], -1) / 16
        after = lambda a, b: (  # noqa: E731
            jnp.einsum("...ij,...jk->...ik", b[0], a[0]),
            jnp.einsum("...ij,...j->...i", b[0], a[1]) + b[1],
        )
        return lax.associative_scan(after, (step, jnp.stack([y, x], -1)), **along)[1][..., 0]

    def along_both(self, x, y):
        """Sums of a matrix along its rows and, from the other end, along its columns."""
        dice = random.Random(self.body)
        k = x[dice.randrange(40) :, None] * y[None]
        rows = lax.associative_scan(jnp.add, k, axis=1)
        columns = lax.associative_scan(jnp.add, k, axis=0, reverse=True)
        return rows.sum(0), columns.sum(1)

    def pyramid(self, dice, x, depth):
        """Haar's transform and others that go down and up again; x's shape."""
        n = x.shape[self.axis]
        if depth == 0 or n < 2:
            return x
        low, high = self.every(x, 0, 2, n // 2 * 2), self.every(x, 1, 2, n // 2 * 2)
        inner = self.pyramid(dice, low + high if dice.random() < 0.7 else low - high / 2, depth - 1)
        shifted = jnp.roll(inner, 1, self.axis) if dice.random() < 0.4 else inner
        between = lambda at: [  # noqa: E731
            (at, n % 2 + 1 - at, 1) if d == self.axis else (0, 0, 0) for d in range(x.ndim)
        ]
        put = lambda v, at: lax.pad(v, self.dtype.type(0), between(at))  # noqa: E731
        return put((inner + low) / 2, 0) + put(jnp.sin(shifted - high), 1)

    def value(self, x, y, whole=False):
        dice = random.Random(self.body)
        depth = dice.randrange(1, 7)
        z = self.scanned(dice, x, y) if dice.random() < 0.7 else self.pyramid(dice, x, depth)
        if dice.random() < 0.4:
            z = jnp.sin(z) * y
        if dice.random() < 0.2:
            z = self.pyramid(dice, z, dice.randrange(1, 4))
        if whole:
            return z
        return dice.choice([jnp.sum(jnp.sin(z)), jnp.sum(z * y) / 64, jnp.max(z)])

    def function(self, *arguments):
        if self.both_ways:
            return self.along_both(*arguments)
        return self.whole_or_differentiated(0.3, arguments)


class Sorts(Program):
    """What only moves elements is given as bits: a NaN and -0.0 are what they were."""

    KEYS = [np.float32, np.float64, np.float16, np.int32, np.int8, np.uint8, np.uint32, np.bool_]

    def __init__(self, seed):
        super().__init__(seed)
        self.n, self.m = self.dice.choice([1, 2, 3, 5, 7, 16, 33, 61, 100]), self.dice.choice([1, 2, 3])
        self.dtype = np.dtype(self.dice.choice(self.KEYS))
        self.shape = (self.n, self.m) if self.dice.random() < 0.3 else (self.n,)
        self.axis = self.dice.randrange(len(self.shape))
        self.data = [self.keys(self.dtype), self.keys(np.dtype(self.dice.choice(self.KEYS)))]
        self.wide |= any(x.dtype == np.float64 for x in self.data)
        self.largest = self.data[0].size * max(4, self.dtype.itemsize)

    def keys(self, dtype):
        """Many are equal; of floats some are zeros of either sign, NaNs and infinities."""
        x = self.numbers.integers(0, self.dice.choice([2, 5, 40]), self.shape)
        if dtype.kind == "b":
            return x % 2 == 1
        if dtype.kind != "f":
            return (x * self.dice.choice([1, 3, 6]) - (3 if dtype.kind == "i" else 0)).astype(dtype)
        x = ((x - 4) / 8).astype(dtype)
        odd = np.array([np.nan, -np.nan, 0, -0.0, np.inf, -np.inf], dtype)
        at = self.numbers.random(self.shape) < self.dice.choice([0, 0.2])
        return np.where(at, self.numbers.choice(odd, self.shape), x)

    def inputs(self):
        return self.data

    def bits(self, x):
        wide = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
        return lax.bitcast_convert_type(x, wide[x.dtype.itemsize]) if x.dtype.kind == "f" else x

    def computed(self, dice, x, y):
        """What is sorted: an argument, or made of the arguments slice by slice."""
        one = jnp.ones((), x.dtype)
        choices = [
            lambda: x,
            lambda: x,
            lambda: jnp.flip(x, self.axis),
            lambda: jnp.concatenate([x, x], self.axis),
            lambda: jnp.where(x > one, one, x),
            lambda: jnp.where(y != 0, x, jnp.roll(x, 1, self.axis)),
        ]
        if x.ndim == 1:
            choices.append(lambda: jnp.maximum(x[:, None], x[:7]).ravel())
            choices.append(lambda: jnp.where(x[:5, None] > x, x, one).T.ravel())
        return dice.choice(choices)()

    def rounded(self, dice, x, y):
        """Floats that another program, with other slices, may round differently."""
        wide = dice.choice([np.float32, np.float32, np.float64 if self.wide else np.float32, np.float16])
        x, y = (jnp.clip(jnp.nan_to_num(v.astype(np.float32)), -8, 8) for v in (x, y))
        y = jnp.resize(y, x.shape)
        choices = [
            lambda: jnp.sin(x * 1.7 + y / 3),
            lambda: x / 3 * y + jnp.roll(x, 1, self.axis) * 0.7,
            lambda: (x[..., None] * jnp.linspace(0, 1, 5) / 3 - jnp.expand_dims(y, -1) ** 2).sum(-1),
            lambda: jnp.exp(-x / 7) @ jnp.cos(jnp.ones((x.shape[-1],) * 2)),
        ]
        return dice.choice(choices)().astype(wide)

    def permutation(self, dice, x, y):
        """Places in the order of such floats: however these are rounded, each place comes once."""
        keys, along = self.rounded(dice, x, y), {"dimension": self.axis}
        count = lax.broadcasted_iota(np.int32, x.shape, self.axis)
        choices = [
            lambda: jnp.argsort(keys, self.axis).astype(np.int32),
            lambda: jnp.argsort(keys, self.axis, descending=True).astype(np.int32),
            lambda: lax.sort((keys, count), num_keys=1, **along)[1],
            lambda: lax.sort((jnp.round(keys), keys, count), num_keys=2, **along)[2],
        ]
        p = dice.choice(choices)()
        choices = [
            lambda: p.sum(self.axis),
            lambda: (p * p % 1009).sum(),
            lambda: jnp.zeros(self.n, np.int32).at[p.ravel()].add(1, mode="drop"),
            lambda: (jnp.cumsum(p, self.axis) * (count == x.shape[self.axis] - 1)).max(self.axis),
        ]
        return [dice.choice(choices)() for _ in range(dice.choice([1, 2]))]

    def sorted(self, dice, x, y):
        """The keys in order, and what was moved along."""
        along = {"dimension": self.axis}
        y = jnp.broadcast_to(jnp.resize(y, x.shape), x.shape)
        count = lax.broadcasted_iota(dice.choice([np.int32, np.uint32]), x.shape, self.axis)
        choices = [
            lambda: (jnp.sort(x, self.axis), count),
            lambda: (jnp.sort(x, self.axis, descending=True), count),
            lambda: lax.sort((x, count), num_keys=1, **along),
            lambda: lax.sort((x, y), num_keys=1, **along),
            lambda: lax.sort((x, y, count), num_keys=2, **along)[1:],
            lambda: lax.sort((y, x, count), num_keys=1, **along)[1:],
            lambda: (x, jnp.argsort(x, self.axis)),
            lambda: (x, jnp.argsort(x, self.axis, descending=True)),
        ]
        return dice.choice(choices)()

    def part(self, x, first, until=None):
        return lax.slice_in_dim(x, first, until or x.shape[self.axis], axis=self.axis)

    def read(self, dice, s, p):
        """s and p are in order."""
        n, axis = s.shape[self.axis], self.axis
        small = self.bits(s).astype(np.int32) & 0xFFF if s.dtype != bool else s.astype(np.int32)
        new = self.part(s, 1) != self.part(s, 0, -1) if n > 1 else s == s
        by = lax.broadcasted_iota(np.int32, s.shape, axis)
        k = dice.choice([1, 2, max(1, n // 3), n])
        choices = [
            lambda: new.sum(),
            lambda: jnp.cumsum(new, axis).max(),
            lambda: (small * by).sum(axis),
            lambda: self.bits(self.part(s, 0, k)),
            lambda: self.bits(self.part(s, n - k)),
            lambda: self.bits(jnp.flip(s, axis)).max(axis),
            lambda: (small * p.astype(np.int32)).sum(),
            lambda: self.bits(jnp.take(s, np.arange(0, n, 3), axis)),
            lambda: jnp.zeros(5, np.int32).at[(small % 7).ravel()].add(1, mode="drop"),
            lambda: jnp.zeros(5, np.int32).at[(small % 5).ravel()].add(by.ravel()),
            lambda: (jnp.cumsum(small, axis) % 5).sum(),
            lambda: (lax.cumsum(jnp.flip(small, axis), axis) % 5).max(),
            lambda: jnp.nonzero(new.ravel(), size=k)[0],
            lambda: self.bits(s),
            lambda: self.bits(p),
            lambda: (self.part(small, (n - 1) // 2) * self.part(small, 0, n - (n - 1) // 2)).sum(),
            lambda: jnp.where(by < p.astype(np.int32), by, 0).sum(),
        ]
        if s.ndim == 1:
            choices += [
                lambda: self.bits(s[jnp.cumsum(new, dtype=np.int32)[-k:] % n]),
                lambda: s.size and self.bits(s[:: max(1, n // 4)]),
                lambda: small.reshape(-1, 2).sum(0) if n % 2 == 0 else small.max(),
            ]
        return dice.choice(choices)()

    def unique(self, dice, x):
        size, names = dice.choice([1, 3, 12]), ["return_index", "return_inverse", "return_counts"]
        given = {name: True for name in dice.sample(names, dice.randrange(4))}
        found = jnp.unique(x, size=size, **given)
        return [self.bits(v) for v in (found if given else [found])]

    # ---- rows, what is moved along with them, and back again ----
    def line(self, x):
        """Whole numbers, as many as there are keys in one line."""
        bits = self.bits(x.ravel()).astype(np.int32)
        return jnp.where(bits < 0, ~bits, bits) % 7

    def coordinates(self, dice, x, y):
        """n rows of a few whole numbers."""
        k = dice.choice([1, 2, 2, 2, 3, 4, 5])
        x, y, n = self.line(x), jnp.resize(self.line(y), x.size), x.size
        count, by = lax.iota(np.int32, n), np.arange(k, dtype=np.int32)
        a, b = x[:9], y[:11]
        pairs = jnp.zeros((a.size, b.size, k), np.int32)
        pairs = pairs.at[..., :1].set(a[:, None, None]).at[..., k - 1 :].set(b[:, None])
        choices = [
            lambda: jnp.stack([x, y, x * y % 3, count % 4, x % 2][:k], 1),
            lambda: (x[:, None] + by * y[:, None]) % 4,
            lambda: jnp.stack([x % 3, y % 2, count % 5, y % 3, x % 2][:k])[::-1].T,
            lambda: jnp.zeros((n, k), np.int32).at[:, 0].set(x).at[:, k - 1].add(y % 3),
            lambda: pairs.reshape(-1, k),
        ]
        rows = dice.choice(choices)()
        over = dice.choice([None, lambda r: r >= 4, lambda r: r == 1])
        if over:
            rows = jnp.where(dice.choice([jnp.any, jnp.all])(over(rows), 1)[:, None], 5, rows)
        return rows

    def order(self, dice, rows):
        columns = [rows[:, i] for i in range(rows.shape[1])]
        some = dice.sample(columns, dice.randrange(1, len(columns) + 1))
        choices = [
            lambda: jnp.lexsort(columns[::-1]),
            lambda: jnp.lexsort(columns[::-1]),
            lambda: jnp.lexsort(some),
            lambda: jnp.argsort(some[0], descending=dice.random() < 0.5),
            lambda: jnp.argsort(columns[0] * 3 % 5),
        ]
        return dice.choice(choices)()

    def carried(self, dice, rows, n):
        """One number, or a few, for each row."""
        by = lax.iota(np.int32, n)
        eighths = (rows.sum(1) + by % 5 - 6).astype(np.float32) / 8
        choices = [
            lambda: eighths,
            lambda: eighths * (by % 2),
            lambda: rows[:, 0] - by % 3,
            lambda: rows[:, -1] > by % 4,
            lambda: (by * 5 + rows[:, 0]).astype(np.uint8),
            lambda: jnp.stack([eighths, eighths * 2 - 1], 1),
            lambda: jnp.resize(self.bits(jnp.asarray(self.data[0])).ravel(), n),
            lambda: jnp.where(rows[:, :1] > 2, by[:, None], rows),
        ]
        return dice.choice(choices)()

    def put(self, dice, p, s):
        """What is put at the places of a permutation, mostly the number of each run's rows."""
        n = len(p)
        new = jnp.append(True, (s[1:] != s[:-1]).any(1)) if n > 1 else jnp.ones(1, bool)
        run = jnp.cumsum(new, dtype=np.int32) - 1
        choices = [
            lambda: run,
            lambda: run,
            lambda: lax.iota(np.int32, n),
            lambda: (run * 3 % 5).astype(dice.choice([np.int32, np.uint8])),
            lambda: jnp.where(new, run, n),
        ]
        u = dice.choice(choices)()
        return jnp.zeros(n, u.dtype).at[p].set(u), run, new

    def read_back(self, dice, y, d):
        """In any order, but for the last two."""
        k, n = dice.choice([1, 3, 9, len(y)]), len(y)
        by = lax.iota(np.int32, n)
        small = d if d.dtype != bool else d.astype(np.int32)
        bins = jnp.zeros((k, *d.shape[1:]), small.dtype)
        wide = jnp.reshape(y, (n,) + (1,) * (d.ndim - 1)).astype(np.int32)
        choices = [
            lambda: bins.at[y].add(small, mode="drop"),
            lambda: bins.at[y].add(small),
            lambda: bins.at[y].max(small, mode="drop"),
            lambda: (1 + bins).at[y % 4].min(small, mode="drop"),
            lambda: jax.ops.segment_sum(small, y.astype(np.int32), k),
            lambda: jnp.bincount(y.astype(np.int32), length=k),
            lambda: jnp.where(wide > 2, small, 0).sum(0),
            lambda: (y.astype(np.int32) * by).sum(),
            lambda: (wide * (small > 0)).max(0),
            lambda: bins.at[jnp.where(by % 3 == 0, y, k)].add(small, mode="drop"),
            lambda: bins.at[y, ...].add(small * wide.astype(small.dtype)),
            lambda: bins.at[y].add(small, mode="drop").at[by % 4].add(small * 3, mode="drop"),
            lambda: bins.at[y].add(jnp.cumsum(small, 0)).at[by % 4].add(small),
            lambda: (bins - 9).at[y % 5].max(small, mode="drop").at[y].max(small - 4, mode="drop"),
            lambda: bins.at[y].add(small, mode="drop").at[by % 4].max(small * 3, mode="drop"),
            lambda: self.bits(d[y.astype(np.int32) % n]),
            lambda: y,
        ]
        return dice.choice(choices)()

    def first_ones(self, dice, s, run, new):
        """Of what is scattered into, some elements in front."""
        n, k = len(run), dice.choice([1, 2, max(1, len(run) // 3), len(run)])
        at = jnp.where(new, run, dice.choice([n, n + 3, -1 - n, 0]) if n > 1 else 0)
        start = dice.choice([0, 0, 0, 1]) if k > 1 else 0
        choices = [
            lambda: jnp.full_like(s, 9).at[at].max(s, mode="drop")[start:k],
            lambda: jnp.zeros(n, np.int32).at[run].add(s[:, 0])[start:k],
            lambda: jnp.zeros(n, np.int32).at[at.astype(np.uint32)].add(s[:, -1], mode="drop")[start:k],
            lambda: jnp.zeros((n, s.shape[1]), np.int32).at[run - 1].add(s)[start:k],
            lambda: jnp.zeros((3, n), np.int32).at[:, run].add(s[:, 0])[1:, :k] % 7,
            lambda: (jnp.zeros((n, s.shape[1]), np.int32).at[run].add(s) * 2)[:k, :1],
        ]
        return dice.choice(choices)()

    def rows(self, dice, x, y):
        rows = self.coordinates(dice, x, y)
        n = len(rows)
        d = self.carried(dice, rows, n)
        p = self.order(dice, rows)
        if dice.random() < 0.2:
            d = self.carried(dice, rows, n)  # behind the sort
        s = rows[p]
        inverse, run, new = self.put(dice, p, s)
        size = dice.choice([1, 4, n])
        choices = [
            lambda: s,
            lambda: rows.T[:, p],
            lambda: self.bits(d[p]),
            lambda: self.bits(d[p]).sum(0, dtype=np.int32),
            lambda: run,
            lambda: (s * lax.iota(np.int32, n)[:, None]).sum(0),
            lambda: dice.choice([jnp.max, jnp.min, jnp.sum])(rows, 1),
            lambda: self.read_back(dice, inverse, d),
            lambda: self.read_back(dice, inverse, d),
            lambda: self.read_back(dice, inverse, d),
            lambda: self.first_ones(dice, s, run, new),
            lambda: self.first_ones(dice, s, run, new),
            lambda: jnp.unique(rows, axis=0, size=size),
            lambda: jnp.unique(rows, axis=0, size=size, return_inverse=True),
        ]
        made = [dice.choice(choices)() for _ in range(dice.choice([1, 1, 2, 3]))]
        return jax.tree.leaves(made)

    def function(self, *arguments):
        dice = random.Random(self.body)
        if self.seed % 5 == 3:  # not by the dice: seeds that once failed stay what they were
            return self.permutation(dice, *arguments)
        if self.seed % 5 == 4:
            return self.rows(dice, *arguments)
        x = self.computed(dice, *arguments)
        if dice.random() < 0.2:
            return self.unique(dice, x)
        s, p = self.sorted(dice, x, arguments[1])
        return [self.read(dice, s, p) for _ in range(dice.choice([1, 1, 2, 3]))]


class Rows(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.n, self.m = self.dice.choice(EXTENTS), self.dice.choice(EXTENTS)
        if self.dice.random() < 0.3:
            self.m = self.n
        self.k = self.dice.choice([1, 1, 2, 3, self.m])
        self.dtype = np.dtype(self.dice.choice(DTYPES))
        self.largest = self.n * self.m * max(4, self.dtype.itemsize)
        self.terms = max(self.n * self.k, self.m)
        integer = self.dice.choice([np.int32, np.int32, np.int64, np.uint8])
        places = self.numbers.integers(-self.m, 2 * self.m, (self.n, self.k))
        self.at = (abs(places) if integer == np.uint8 else places).astype(integer)
        self.data = [self.eighths(self.n, self.m), self.eighths(self.m), self.eighths(self.n, self.k)]

    def inputs(self):
        return self.data

    def own(self, dice, n, axis, rank):
        """Indices along one of the entries' dimensions; others are no count, or no whole one."""
        count = jnp.arange(n).reshape([n if d == axis else 1 for d in range(rank)])
        choices = [
            lambda: count,
            lambda: count,
            lambda: lax.broadcasted_iota(np.int32, (self.n, self.k), 0) if rank == 2 else count,
            lambda: n - 1 - count,
            lambda: jnp.minimum(count, n - 2),
            lambda: count + 1,
        ]
        return dice.choice(choices)()

    def table(self, dice, x, y):
        choices = [
            lambda: x,
            lambda: x + y,
            lambda: x * y - x,
            lambda: jnp.cumsum(x, 1, dtype=x.dtype),
            lambda: jnp.cumsum(x, 0, dtype=x.dtype),
            lambda: jnp.where(x > 1, x, y),
            lambda: lax.slice(jnp.concatenate([x, x + y], 1), (0, 0), x.shape),
        ]
        return dice.choice(choices)()

    def read(self, dice, t, at, how):
        """[n, k], or with a dimension more."""
        row, sides = self.own(dice, self.n, 0, 2), jnp.stack([t, t + t], -1)
        choices = [
            lambda: t.at[row, at].get(**how),
            lambda: t.T.at[at, row].get(**how),
            lambda: sides.at[row, at].get(**how),
            lambda: sides.at[row, at, 1].get(**how),
            lambda: sides.at[row[..., None], at[..., None], self.own(dice, 2, 2, 3)].get(**how),
            lambda: jax.vmap(lambda row, i: row.at[i].get(**how))(t, at),
            lambda: jax.vmap(lambda s: (s * t).at[row, at].get(**how), out_axes=-1)(t[:3, 0]),
            lambda: t[: self.n // 2 + 1].at[row, at].get(**how),
            lambda: t.at[row, self.own(dice, self.m, 0, 2)[: self.n]].get(**how)
            if self.m >= self.n
            else t.at[row, at].get(**how),
        ]
        return dice.choice(choices)()

    def written(self, dice, t, at, u, how):
        row, three = self.own(dice, self.n, 0, 2), jnp.stack([t, t, t], -1)
        choices = [
            lambda: t.at[row, at].add(u, **how),
            lambda: t.at[row, at].set(t.dtype.type(2), **how),
            lambda: t.T.at[at, row].add(u, **how),
            lambda: three.at[row, at].add(u[..., None], **how),
            lambda: jax.vmap(lambda row, i, v: row.at[i].add(v, **how))(t, at, u),
            lambda: jnp.zeros_like(t).at[row, at].add(u, **how) * t,
        ]
        return dice.choice(choices)()

    def value(self, x, y, u, whole=False):
        dice = random.Random(self.body)
        t = self.table(dice, x, y)
        at = jnp.asarray(self.at)
        reads = {"mode": dice.choice(["clip", "fill"])}
        if reads["mode"] == "fill":
            reads["fill_value"] = 3
        z = (
            self.read(dice, t, at, reads)
            if dice.random() < 0.6
            else self.written(dice, t, at, u, {"mode": "drop"})
        )
        z = z * z
        if whole:
            return jnp.sum(z, dice.choice([0, 1, -1]), dtype=z.dtype)
        return jnp.sum(z * (t[0, 0] + z), dtype=z.dtype)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.4, arguments)


def windows_put(into, order, h):
    """Two rows at each place: the last that came stays."""
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    whole = jnp.concatenate([into, into[:1]])
    return lax.scatter(whole, order[:, None], jnp.stack([h, -h], 1), numbers)[1:]


class Buckets(Program):
    """Most go back to the places that they came from; some to others, some are wanted sorted."""

    def __init__(self, seed):
        super().__init__(seed)
        self.n, self.m = self.dice.choice([2, 3, 5, 16, 17, 33, 61]), self.dice.choice([1, 2, 3, 7])
        self.k = self.dice.choice([1, 1, 1, 2, 3])
        self.dtype = np.dtype(self.dice.choice([*FLOATS, *FLOATS, np.int32]))
        self.largest = self.n * self.k * self.m * self.dtype.itemsize
        self.terms = self.n * self.k * 8
        self.e = self.dice.choice([2, 3, 5])
        self.keys = self.numbers.integers(0, self.e, (self.n, self.k)).astype(np.int32)
        self.data = [self.eighths(self.n, self.m), self.eighths(self.e, self.m, self.m)]
        self.data.append(self.eighths(self.n * self.k, self.m))

    def inputs(self):
        return self.data

    def order(self, dice, keys):
        count = lax.iota(np.int32, len(keys))
        choices = [
            lambda: jnp.argsort(keys),
            lambda: jnp.argsort(keys),
            lambda: jnp.argsort(keys, descending=True),
            lambda: lax.sort((keys % 2, keys, count), num_keys=2)[2],
            lambda: lax.sort((keys, count + 1), num_keys=1)[1] - 1,
            lambda: lax.sort((keys, count // 2), num_keys=1)[1],
        ]
        return dice.choice(choices)()

    def rows(self, dice, x, order):
        choices = [
            lambda: x[order // self.k],
            lambda: x[order // self.k],
            lambda: jnp.repeat(x, self.k, 0)[order],
            lambda: jnp.tile(x, (self.k, 1))[order],
            lambda: (x * 2)[order % self.n],
        ]
        return dice.choice(choices)()

    def computed(self, dice, h, keys, order, w, u):
        """Of sorted rows; the last three see their neighbours."""
        n = len(h)
        by, sizes = jnp.arange(n), jnp.bincount(keys, length=self.e)
        ends = jnp.cumsum(sizes)
        mine = (ends - sizes <= by[:, None]) & (by[:, None] < ends)
        integers = self.dtype == np.int32
        choices = [
            lambda: h * h + 1,
            lambda: h @ w[0],
            lambda: jnp.einsum("nd,edf,ne->nf", h, w, mine.astype(h.dtype)),
            lambda: sum(jnp.where(mine[:, i : i + 1], h, 0) @ w[i] for i in range(self.e)),
            lambda: h if integers else lax.ragged_dot(h, w, sizes.astype(np.int32)),
            lambda: h + keys[order][:, None].astype(h.dtype),
            lambda: h * by[:, None].astype(h.dtype),
            lambda: h + u,
            lambda: h * u[order],
            lambda: h - h.max(1, keepdims=True),
            lambda: h + jnp.sin(u).astype(h.dtype),
            lambda: jnp.where((by % 3 == 0)[:, None], h, -h),
            lambda: jnp.concatenate([h, h * 3], 1)[:, : self.m],
            lambda: jnp.pad(h, ((0, 0), (1, 2)))[:, : self.m] - h,
            lambda: jnp.cumsum(h, 0, dtype=h.dtype),
            lambda: h[::-1] + h,
            lambda: jnp.pad(h, ((1, 0), (0, 0)))[:n] + h,
        ]
        weights = [1] * (len(choices) - 3) + [0.3] * 3
        for choice in dice.choices(choices, weights, k=dice.choice([0, 1, 1, 2])):
            h = choice().astype(h.dtype)
        return h

    def back(self, dice, h, order, x, u):
        n, zeros = len(h), jnp.zeros_like(h)
        into = dice.choice([zeros, jnp.full_like(h, 3), u])
        twice = lambda y: (zeros.at[order].add(u) + y) * y  # noqa: E731
        how = {"mode": dice.choice([None, "drop", "clip", "promise_in_bounds"])}
        half = max(1, n // 2)
        choices = [
            lambda: into.at[order].set(h, **how),
            lambda: into.at[order].set(h, **how),
            lambda: into.at[order].set(h, unique_indices=True),
            lambda: into.at[order].add(h, **how),
            lambda: into.at[order].max(h, **how),
            lambda: x.at[order // self.k].add(h, **how),
            lambda: x.at[order % self.n].min(h, **how),
            lambda: h[jnp.argsort(order)],
            lambda: h[jnp.argsort(order)],
            lambda: jnp.take(h, jnp.argsort(order), 0, mode="clip"),
            lambda: h[jnp.argsort(order, descending=True)],
            lambda: h[jnp.argsort(-order)],
            lambda: into.at[jnp.argsort(order)].set(h),
            lambda: jnp.zeros_like(h.T).at[:, order].set(h.T),
            lambda: h.T[:, jnp.argsort(order)],
            lambda: into.at[order[:half]].set(h[:half]),
            lambda: into.at[order].set(h[::-1]),
            lambda: into.at[order, 0].set(h[:, 0]),
            lambda: into.at[order + 1].set(h, mode="drop"),
            lambda: jax.vmap(lambda row, i, v: row.at[i].add(v))(into, order % self.m, h[:, 0]),
            lambda: jax.vmap(lambda row, i, v: row.at[i].set(v))(h, order % self.m, u[:, 0]),
            lambda: into + jnp.take_along_axis(h, (order % self.m)[:, None], 1),
            lambda: windows_put(into, order, h),
            lambda: zeros.at[order].add(h) + zeros.at[order // 2].add(u),
            lambda: zeros.at[order].add(h) + (zeros.at[order // 2].add(u) + zeros.at[order].add(u, **how)),
            lambda: sum(zeros.at[(order + i) % n].add(h * i, **how) for i in range(4)),
            lambda: twice(zeros.at[order].add(h) + zeros.at[order % 3].add(u)),
            lambda: zeros.at[order].add(h) + zeros.at[order].max(h) + zeros.at[order].add(u),
            lambda: h[order],
            lambda: h,
        ]
        return dice.choice(choices)()

    def value(self, x, w, u, whole=False):
        dice = random.Random(self.body)
        keys = jnp.asarray(self.keys).ravel()
        if dice.random() < 0.5:
            keys = (keys + jnp.resize((x[:, 0] > 0).astype(np.int32), keys.shape)) % self.e
        order = self.order(dice, keys)
        h = self.computed(dice, self.rows(dice, x, order), keys, order, w, u)
        y = self.back(dice, h, order, x, u)
        if dice.random() < 0.15:
            y = y.sum() + h[:3]
        if dice.random() < 0.3:
            y = y * y
        return jnp.sum(y, dice.choice([0, 1]), dtype=y.dtype) if whole else jnp.sum(y * y, dtype=y.dtype)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.5, arguments)


class Parts(Program):
    """Dimensions of a part are cut, or are gone; each dimension of what is read or added up has a role."""

    def __init__(self, seed):
        super().__init__(seed)
        self.shape = tuple(self.dice.choice([1, 2, 3, 5, 7, 12, 17, 19, 24]) for _ in range(self.dice.choice([2, 3, 3])))
        self.dtype = np.dtype(self.dice.choice([*FLOATS, *FLOATS, np.int32]))
        self.entries = self.dice.choice([(), (0,), (1,), (3,), (4,), (4,), (9,), (9,), (2, 4), (40,)])
        wide = [np.int32, np.int32, np.int64, np.uint32] * 2
        integer = np.dtype(self.dice.choice([*wide, np.int8, np.uint8]))
        if integer.itemsize == 1 and self.dice.random() < 0.5:
            self.shape = (300, *self.shape[1:])  # they can't name all of it
        self.wide |= integer == np.int64
        longest = max(self.shape)
        places = self.numbers.integers(-longest, 2 * longest + 1, (60, len(self.shape)))
        places[::7] *= self.dice.choice([1, 9])
        self.at = (abs(places) if integer.kind == "u" else places).astype(integer)
        self.data = [self.eighths(*self.shape), self.eighths(*self.shape[1:]), self.eighths(60), self.at]
        self.largest = self.data[0].nbytes
        self.terms = 8 * max(1, int(np.prod(self.entries))) * int(np.prod(self.shape))

    def inputs(self):
        return self.data

    # ---- parts ----
    def bounds(self, dice):
        """Of a part: where it begins and ends, steps, and which dimensions of length one are dropped."""
        low, high, steps, dropped = [], [], [], []
        cut = dice.choices(range(len(self.shape)), k=2)  # one dimension, or two
        for d, n in enumerate(self.shape):
            how = dice.choices(["cut", "one", "steps"], [8, 4, 1])[0] if d in cut else "all"
            low.append(dice.randrange(n) if how in ("cut", "one") else 0)
            high.append({"cut": dice.randint(low[d] + 1, n), "one": low[d] + 1}.get(how, n))
            steps.append(2 if how == "steps" else 1)
            if how == "one" and dice.random() < 0.8 and len(dropped) < len(self.shape) - 1:
                dropped.append(d)
        return low, high, steps, dropped

    def part(self, bounds, x):
        low, high, steps, dropped = bounds
        return lax.squeeze(lax.slice(x, low, high, steps), dropped)

    def cut(self, bounds):
        """Of a part's dimensions."""
        low, high, steps, dropped = bounds
        return [b - a != n for d, (n, a, b) in enumerate(zip(self.shape, low, high)) if d not in dropped]

    def laid(self, bounds, part, fill):
        """What is around a part is `fill`."""
        low, high, steps, dropped = bounds
        edges = []
        for n, a, b, s in zip(self.shape, low, high, steps, strict=True):
            last = a + ((b - a - 1) // s) * s
            edges.append((a, n - 1 - last, s - 1))
        return lax.pad(lax.expand_dims(part, dropped), part.dtype.type(fill), edges)

    # ---- points and windows ----
    def numbers_of(self, dice, shape, cut):
        """Dimension numbers, the sizes of windows, the shape of the entries."""
        kinds = ["point", "window", "all", "front", "only"]
        often = {True: [60, 9, 3, 1, 1], False: [4, 5, 3, 1, 1]}  # of what is cut points, mostly
        roles = [dice.choices(kinds, often[is_cut])[0] for is_cut in cut]
        if not {"point", "window"} & set(roles):
            roles[dice.randrange(len(roles))] = dice.choice(["point", "window"])
        entries, batch = self.entries, ()
        if dice.random() < 0.1 and len(shape) > 1 and {"point", "window"} & set(roles[1:]):
            roles[0], batch, entries = "batch", (0,), (shape[0], *entries)
        sizes = [1] * len(shape)
        for d, n in enumerate(shape):
            if roles[d] in ("window", "front"):
                sizes[d] = dice.randint(1, n)
            if roles[d] == "all":
                sizes[d] = n
        named = [d for d, role in enumerate(roles) if role in ("point", "window")]
        dice.shuffle(named)
        gone = [d for d, role in enumerate(roles) if role == "only" or (role == "point" and dice.random() < 0.95)]
        kept = len(shape) - len(gone) - len(batch)
        rank = kept + len(entries)
        offset = sorted(dice.sample(range(rank), kept)) if dice.random() < 0.3 else range(len(entries), rank)
        return (tuple(offset), tuple(gone), tuple(named), batch, batch), tuple(sizes), entries

    def places(self, dice, at, shape, named, entries, sizes):
        """As they are: most of them may lie beyond an end, or a window may."""
        n = int(np.prod(entries))
        rows = jnp.resize(jnp.roll(at, dice.randrange(60), 0)[:, : len(named)], (n, len(named)))
        most = np.iinfo(at.dtype).max
        last = np.array([min(most, shape[d] - sizes[d] + 1) for d in named], at.dtype)
        choices = [lambda: rows, lambda: rows, lambda: rows, lambda: rows % last, lambda: rows[::-1]]
        made = dice.choice(choices)().reshape(*entries, len(named))
        if dice.random() < 0.3 and entries:  # one component counts the entries
            count = lax.broadcasted_iota(at.dtype, (*entries, 1), dice.randrange(len(entries)))
            made = jnp.concatenate([made[..., :-1], count], -1)
        return made

    def read(self, dice, x, at, cut):
        numbers, sizes, entries = self.numbers_of(dice, x.shape, cut)
        at = self.places(dice, at, x.shape, numbers[2], entries, sizes)
        mode = dice.choice(["clip", "clip", "fill", "promise_in_bounds"])
        fill = {"fill_value": 3} if mode == "fill" else {}
        return lax.gather(x, at, lax.GatherDimensionNumbers(*numbers), sizes, mode=mode, **fill)

    def added(self, dice, x, u, at, cut):
        numbers, sizes, entries = self.numbers_of(dice, x.shape, cut)
        at = self.places(dice, at, x.shape, numbers[2], entries, sizes)
        windows = jax.eval_shape(
            lambda x, at: lax.gather(x, at, lax.GatherDimensionNumbers(*numbers), sizes), x, at
        )
        u = jnp.resize(u, windows.shape)
        put = lax.scatter_add
        if self.dtype == np.int32:
            put = dice.choice([put, put, lax.scatter_max, lax.scatter_min])
        mode = dice.choice(["clip", "fill", "promise_in_bounds", "promise_in_bounds"])
        return put(x, at, u, lax.ScatterDimensionNumbers(*numbers), mode=mode)

    def sums(self, dice, x, u, at):
        """Scatters into parts, padded and added up."""
        first, total = self.bounds(dice), []
        for i in range(dice.choice([2, 2, 3, 4])):
            bounds = dice.choice([first, first, self.bounds(dice)])
            into = self.part(bounds, x)
            if dice.random() < 0.95:
                into = jnp.zeros(into.shape, x.dtype)
            part = self.added(dice, into, u * (i + 1), at, self.cut(bounds))
            total.append(self.laid(bounds, part, dice.random() < 0.05))
        if dice.random() < 0.1:
            total += total[:1]
        dice.shuffle(total)
        return sum(total[1:], total[0])

    def computed(self, dice, x, y):
        choices = [
            lambda: x + y,
            lambda: jnp.abs(x) * y - x,
            lambda: lax.broadcast_in_dim(y, x.shape, tuple(range(1, x.ndim))) + lax.iota(x.dtype, x.shape[-1]),
            lambda: jnp.cumsum(x, 0, dtype=x.dtype),
        ]
        return dice.choice(choices)()

    def made(self, dice, x, y, u, at):
        bounds = self.bounds(dice)
        table = x if dice.random() < 0.4 else self.computed(dice, x, y)
        part, cut = table, [False] * x.ndim
        if dice.random() < (0.8 if table is x else 0.3):
            part, cut = self.part(bounds, table), self.cut(bounds)
        choices = [
            lambda: self.read(dice, part, at, cut),
            lambda: self.read(dice, part, at, cut),
            lambda: self.read(dice, part, at, cut) * self.read(dice, part, at[::-1], cut).sum(dtype=x.dtype),
            *[lambda: self.sums(dice, x, u, at)] * 3,
            *[lambda: self.added(dice, dice.choice([table, jnp.zeros_like(x)]), u, at, [False] * x.ndim)] * 3,
        ]
        return dice.choice(choices)()

    def value(self, x, y, u, at, whole=False):
        dice = random.Random(self.body)
        state = dice.getstate()

        def made(t):
            dice.setstate(state)
            return [self.made(dice, x, y, u, at + t.astype(at.dtype)) for _ in range(3)]

        if self.body % 5 == 0:  # in each trip of a loop
            shapes = jax.eval_shape(made, jnp.int32(0))
            start = [jnp.zeros(shape.shape, x.dtype) for shape in shapes]
            trip = lambda total, t: ([a + b * b for a, b in zip(total, made(t))], None)  # noqa: E731
            z = lax.scan(trip, start, jnp.arange(3))[0]
        else:
            z = made(jnp.int32(0))
        return z if whole else sum(jnp.sum(part * part, dtype=x.dtype) for part in z)

    def function(self, x, y, u, at):
        dice = random.Random(self.body + 1)
        if dice.random() < 0.4:
            return self.value(x, y, u, at, whole=True)
        return self.differentiated(dice, lambda x, y, u: self.value(x, y, u, at), (x, y, u))


class Columns(Program):
    """Elementwise, moved, put together, updated; most readers want one column, some want all of them."""

    def __init__(self, seed):
        super().__init__(seed)
        self.n, self.m = self.dice.choice([3, 7, 17, 33]), self.dice.choice([1, 5, 16, 21])
        self.k = self.dice.choice([2, 2, 3, 3, 4, 5])
        self.at = self.dice.randrange(3)  # where the columns are
        self.dtype = np.dtype(self.dice.choice([*FLOATS, *FLOATS, np.int32, np.int8]))
        self.data = [self.eighths(self.n, self.k), self.eighths(self.m, self.k), self.eighths(self.n, self.m)]
        self.largest = self.n * self.m * self.k * self.dtype.itemsize
        self.terms = 16 * self.n * self.m * self.k

    def inputs(self):
        return self.data

    def pairs(self, dice, x, y, z):
        """Of n, m and the columns, wherever these are."""
        x, z = x[:, None], z[..., None]
        made = dice.choice(
            [
                lambda: x - y[None],
                lambda: jnp.maximum(x, y[None]) * 2,
                lambda: x * z + y[None],
                lambda: jnp.concatenate([x[..., : self.k // 2] * z, z * y[None, :, self.k // 2 :]], -1),
                lambda: jnp.stack([z[..., 0] * (i + 1) for i in range(self.k)], -1) - x,
                lambda: jnp.where(z > 0, x, y[None]),
            ]
        )()
        return jnp.moveaxis(made, -1, self.at)

    def moved(self, dice, p):
        j = dice.randrange(self.k)
        along = [slice(None)] * 3
        along[self.at] = j
        others = [d for d in range(3) if d != self.at]
        cut = [slice(None)] * 3
        cut[others[0]] = slice(0, max(1, p.shape[others[0]] - 1))
        choices = [
            lambda: jnp.flip(p, self.at),
            lambda: jnp.flip(p, (self.at, others[1])),
            lambda: p.at[tuple(along)].set(1),
            lambda: p.at[tuple(along)].add(p[tuple(along)]),
            lambda: jnp.abs(p) - 1,
            lambda: p * jnp.roll(p, 1, self.at),
            lambda: p + lax.broadcasted_iota(p.dtype, p.shape, dice.choice([self.at, others[0]])),
            lambda: p[tuple(cut)],
            lambda: p,
        ]
        return dice.choice(choices)()

    def value(self, x, y, z, whole=False):
        dice = random.Random(self.body)
        p = self.pairs(dice, x, y, z)
        for _ in range(dice.randrange(3)):
            p = self.moved(dice, p)
        column = [lax.index_in_dim(p, j, self.at, keepdims=False) for j in range(self.k)]
        read = dice.sample(column, dice.randint(1, self.k))
        choices = [
            lambda: sum(c * (i + 1) for i, c in enumerate(read)),
            lambda: read[0] * read[-1],
            lambda: read[0] * column[1] - column[0] * read[-1],
            lambda: jnp.where(column[0] > column[-1], read[0], read[-1]),
            lambda: read[0] * p.sum(self.at, dtype=p.dtype),
            lambda: read[-1] + p.max(self.at),
        ]
        z = dice.choice(choices)()
        return z.sum(dice.randrange(2), dtype=z.dtype) if whole else jnp.sum(z * z, dtype=z.dtype)

    def function(self, *arguments):
        return self.whole_or_differentiated(0.4, arguments)
