"""Random programs that update fields step by step, each place of what is beside it: fields of one to
three dimensions, of numbers or integers, with borders of every kind; in a scan, a fori_loop or one
while in another; some of calls that stay calls. What is next may lie where the fields do
(src/split/halo.h).

A seed stands for one function of its fields, in 64 bits. Steps are bounded, so that rounding does not
grow over time.
"""

import random
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

mixed = jax.jit(lambda x, y: x - y)  # a call in the text


class Fields:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.body = self.dice.randrange(1 << 30)
        self.steps = self.dice.choice([1, 2, 3, 5])
        self.shape = self.dice.choice([(40, 7), (31, 9), (53, 4), (24, 5, 3), (7, 36), (97,), (3, 29, 4)])
        self.axis = max(range(len(self.shape)), key=lambda d: self.shape[d])
        self.n = self.dice.choice([1, 1, 2, 3])
        self.is_whole = self.dice.random() < 0.2  # integers
        self.way = self.dice.choice(["scan", "fori", "while", "nested", "unrolled"])
        is_mixed = random.Random(seed + 5).random() < 0.2
        self.is_mixed = is_mixed and len(self.shape) > 1 and not self.is_whole
        self.is_wave = self.is_mixed and seed % 3 == 1  # of complex numbers

    def inputs(self):
        if self.is_whole:
            return [self.numbers.integers(0, 50, self.shape) for _ in range(self.n)]
        return [self.numbers.normal(size=self.shape) for _ in range(self.n)]

    # ---- what is beside a place ----
    def along(self, dice):
        return self.axis if dice.random() < 0.75 else dice.randrange(len(self.shape))

    def beside(self, dice, x):
        """x at an offset along one dimension, of the same shape."""
        axis, by = self.along(dice), dice.choice([1, 1, 1, -1, -1, 2, -3])
        n, by = x.shape[axis], by if abs(by) < x.shape[axis] else 1
        part = lambda a, first, last: lax.slice_in_dim(a, first, last, axis=axis)  # noqa: E731
        far = abs(by)
        pads = [(far, far) if d == axis else (0, 0) for d in range(x.ndim)]
        padded = lambda mode: part(jnp.pad(x, pads, mode=mode), far + by, far + by + n)  # noqa: E731
        ways = [
            lambda: jnp.roll(x, by, axis),
            lambda: jnp.roll(x, by, axis),
            lambda: padded("edge"),
            lambda: padded("constant"),
            lambda: padded("wrap"),
            lambda: padded("reflect") if far < n else padded("edge"),
            lambda: jnp.take(x, (jnp.arange(n) + by) % n, axis=axis),
            lambda: x,
        ]
        return dice.choice(ways)()

    def bounded(self, x):
        return x % 50 if self.is_whole else jnp.tanh(x)

    def stencil(self, dice, fields):
        terms = [self.beside(dice, dice.choice(fields)) for _ in range(dice.randint(1, 4))]
        whole = sum(terms)
        if self.is_whole:
            more = [lambda: jnp.where(whole > 3 * terms[0], terms[0] + 1, whole), lambda: whole * terms[-1]]
        else:
            more = [lambda: jnp.sin(whole) * terms[0], lambda: whole - jnp.mean(terms[-1])]
        return dice.choice([lambda: whole, lambda: whole, *more])()

    def inner(self, dice, x, fields):
        """Inner places alone are written, or the ends after the others."""
        new = self.bounded(self.stencil(dice, [x, *fields]))
        inside = lambda a: lax.slice_in_dim(a, 1, a.shape[self.axis] - 1, axis=self.axis)  # noqa: E731
        at = tuple(slice(1, -1) if d == self.axis else slice(None) for d in range(x.ndim))
        first, last = ((slice(None),) * self.axis + (i,) for i in (0, -1))
        ways = [
            lambda: x.at[at].set(inside(new)),
            lambda: x.at[at].add(inside(new) - inside(x)),
            lambda: new.at[first].set(x[last]),
            lambda: x.at[at].set(inside(new)).at[first].set(new[last]),
            lambda: self.bordered(x.at[at].set(inside(new))),
            lambda: self.bordered(new),
            lambda: self.added_up(mixed(x, fields[0]), new),
        ]
        return dice.choice(ways)()

    def bordered(self, x):
        """The ends along each dimension are what is beside them."""
        for d in range(x.ndim):
            first, second, last, before = ((slice(None),) * d + (i,) for i in (0, 1, -1, -2))
            x = x.at[first].set(x[second]).at[last].set(x[before])
        return x

    def added_up(self, x, new):
        """More than the field is, at places that several have in common."""
        n = x.shape[0]
        places = (jnp.arange(n)[:, None] * 3 + jnp.arange(4)) % n
        parts = jnp.arange(4).reshape((1, 4) + (1,) * (x.ndim - 1)).astype(x.dtype)
        return x.at[places].add(self.bounded(parts * new[:, None]))

    def mixed_along(self, dice, x, axis):
        """Each place of all others along the axis: by a product, or by sums that go there and back."""
        n = x.shape[axis]
        w = jnp.sin(jnp.arange(n * n).reshape(n, n) % 11) / n
        rows = jnp.moveaxis(x, axis, 0)
        back = lambda s: s.reshape(rows.shape)  # noqa: E731

        def there_and_back(rows):
            def step(c, r):
                c = 0.5 * c + r
                return c, c

            there = lax.scan(step, jnp.zeros_like(rows[0]), rows)[1]
            return lax.scan(step, jnp.zeros_like(rows[0]), there, reverse=True)[1] / 4

        ways = [
            lambda: back(w @ rows.reshape(n, -1)),
            lambda: there_and_back(rows),
            lambda: rows[::-1] - jnp.max(rows, 0),
        ]
        return jnp.moveaxis(self.bounded(dice.choice(ways)()), 0, axis)

    def dispersed(self, dice, x):
        """In the frequencies of all axes, or of the last two."""
        axes = tuple(range(x.ndim)) if dice.random() < 0.7 else (-2, -1)
        k = sum(jnp.meshgrid(*(jnp.fft.fftfreq(n) ** 2 for n in x.shape), indexing="ij"))
        return jnp.fft.ifftn(jnp.fft.fftn(x, axes=axes) * jnp.exp(-(1 + 2j) * k), axes=axes)

    def waved(self, dice, x):
        """Of complex numbers, each place by its own alone and by all others."""
        x = dice.choice([lambda: x, lambda: x * jnp.exp(0.2j * jnp.abs(x) ** 2)])()
        x = self.dispersed(dice, x)
        return dice.choice([lambda: x, lambda: x / (1 + 0.1 * jnp.abs(x))])()

    def along_axes(self, dice, x):
        """One axis after the other."""
        if self.is_wave:
            return self.waved(dice, x)
        if dice.random() < 0.2:
            x = self.bounded(self.dispersed(dice, x).real)
        for axis in dice.sample(range(x.ndim), min(x.ndim, dice.choice([2, 2, 3]))):
            if dice.random() < 0.2:
                x = self.bounded(self.stencil(dice, [x]))
            x = self.mixed_along(dice, x, axis)
        return x

    def sum_in_a_branch(self, x):
        first = x.ravel()[0]
        return lax.cond(first.real > 0, lambda: jnp.sum(x), lambda: first)

    # ---- one step ----
    def step(self, fields):
        """What is next of each, made of all as they were or as they are already. And what is kept of the
        step, often of the fields before it.
        """
        dice = random.Random(self.body)
        if self.is_mixed:
            now = [self.along_axes(dice, x) for x in fields]
            kept = jnp.sum if dice.random() < 0.7 else self.sum_in_a_branch
            return tuple(now), kept(now[-1]).real
        if dice.random() < 0.1:
            fields = [self.bordered(x) for x in fields]
        old, now = list(fields), list(fields)
        for i in range(self.n):
            seen = dice.choice([old, now])
            if dice.random() < 0.25:
                now[i] = self.inner(dice, now[i], seen)
            else:
                new = self.bounded(self.stencil(dice, seen))
                now[i] = new if self.is_whole else 0.5 * dice.choice([old, seen])[i] + 0.5 * new
        if dice.random() < 0.15:
            now = now[1:] + now[:1]
        if dice.random() < 0.2:
            now = now[:1] + old[:-1]  # as they were, one step ago and more
        if dice.random() < 0.1:  # nothing is large but what is next
            mix = (lambda x, y: x ^ y) if self.is_whole else (lambda x, y: 0.6 * x - 0.4 * y)
            now = [mix(x, y) for x, y in zip(old, old[1:] + old[:1])]
        kept = [
            lambda: jnp.sum(now[-1]),
            lambda: jnp.sum(old[0]),
            lambda: jnp.max(old[-1] - now[0]),
            lambda: old[0].ravel()[5],
            lambda: lax.cond(now[0].ravel()[2] > 0, lambda: jnp.sum(old[0]), lambda: old[-1].ravel()[1]),
            lambda: jnp.cumsum(old[0], self.axis).ravel()[::7],
        ]
        return tuple(now), dice.choice(kept)()

    def function(self, *fields):
        if not self.is_wave:
            return self.run(fields)
        of = jax.tree.leaves(self.run(tuple(x * jnp.exp(0.3j * x) for x in fields)))
        return [part for x in of for part in (x.real, x.imag)]

    def run(self, fields):
        once = lambda fields: self.step(fields)[0]  # noqa: E731
        loop = lambda n, fields, **how: lax.fori_loop(0, n, lambda _, s: once(s), fields, **how)  # noqa: E731
        if self.way == "scan":
            return lax.scan(lambda s, _: self.step(s), fields, None, length=self.steps)
        if self.way == "nested":
            return lax.fori_loop(0, 2, lambda _, s: loop(self.steps, once(s)), fields)
        if self.way == "while":
            done = lambda s: (s[0] < self.steps) & (jnp.sum(s[1][0]).real < 1e9)  # noqa: E731
            return lax.while_loop(done, lambda s: (s[0] + 1, once(s[1])), (0, fields))[1]
        return loop(self.steps, fields, **({"unroll": 3} if self.way == "unrolled" else {}))

    def largest_bytes(self):
        return 8 * int(np.prod(self.shape))

    def text(self):
        with jax.enable_x64(True):
            text = jax.jit(self.function, keep_unused=True).lower(*self.inputs()).as_text()
        if self.body % 3:
            return text
        return re.sub(r"( call @[^ (]*\([^)]*\)) :", r"\1 {no_inline} :", text)
