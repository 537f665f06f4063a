"""Random programs of scans whose inputs are made for all steps at once, and whose outputs are read
so: gated recurrences, their gradients and a few second derivatives.

A seed stands for one function of weights, a sequence and a list of tokens, in 64 bits. Steps are
contractions, so that rounding does not grow over time.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Sequences:
    def __init__(self, seed):
        self.dice = dice = random.Random(seed)
        self.steps = dice.choice([1, 2, 7, 23, 48, 61, 97, 120, 150])
        self.n, self.m = dice.choice([1, 3, 8, 17]), dice.choice([2, 5, 8])
        self.batch = dice.choice([(), (), (), (2,)])
        self.body = dice.randrange(1 << 30)
        self.numbers = np.random.default_rng(seed)

    def inputs(self):
        normal = lambda *shape: self.numbers.normal(size=shape)  # noqa: E731
        tokens = self.numbers.integers(0, 7, (self.steps, *self.batch)).astype(np.int32)
        return [
            normal(self.m, self.n) / self.m**0.5,
            normal(self.n, self.n) / (2 * self.n**0.5),
            normal(self.n),
            normal(7, self.n),
            normal(self.steps, *self.batch, self.m),
            tokens,
        ]

    # ---- for all steps at once ----
    def given(self, dice, w, u, b, table, x, tokens):
        """[steps, .., n]"""
        moved = lambda v, k: jnp.concatenate([jnp.zeros_like(v[:k]), v[: len(v) - k]])  # noqa: E731
        choices = [
            lambda: x @ w,
            lambda: jnp.tanh(x @ w + b),
            lambda: jax.nn.sigmoid(x @ (w * b)),
            lambda: table[tokens],
            lambda: jnp.sin(table)[tokens] * (x @ w),
            lambda: jnp.tanh(x[..., :1]) * b,
            lambda: (x @ w)[::-1],
            lambda: x @ w + 0.5 * moved(x, 1) @ jnp.sin(w),
            lambda: jnp.tanh(x @ w) @ u,
            lambda: x @ w - jnp.mean(x @ w, 0),
            lambda: jnp.cumsum(jnp.tanh(x @ w), 0) / len(x),
            lambda: jnp.cos(x @ w + jnp.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1))),
            lambda: jnp.moveaxis(jnp.tanh(jnp.einsum("t...m,mn->n...t", x, w)), (0, -1), (-1, 0)),
        ]
        return dice.choice(choices)()

    # ---- one step ----
    def step(self, dice, h, a, z, i, u, b):
        choices = [
            lambda: jax.nn.sigmoid(a) * h + z,
            lambda: 0.9 * h * jax.nn.sigmoid(a) + (1 - jax.nn.sigmoid(a)) * jnp.tanh(z),
            lambda: jnp.tanh(h @ u + a) + 0.1 * z,
            lambda: 0.5 * h + jnp.sin(a) + 0.01 * i * b,
            lambda: jnp.where(a > b, 0.5 * h, z),
            lambda: jnp.tanh(a),  # of no state
            lambda: 0.7 * jnp.roll(h, 1, -1) + 0.1 * a * z,
            lambda: lax.cond(i % 3 == 1, lambda: 0.5 * h * jnp.sin(a), lambda: jnp.tanh(h + z)),
            lambda: lax.fori_loop(0, 2, lambda _, h: 0.5 * h + jnp.tanh(a), h) + 0.1 * z,
        ]
        return dice.choice(choices)()

    def output(self, dice, before, h, a):
        choices = [
            lambda: h,
            lambda: h,
            lambda: (h, before),
            lambda: jnp.sum(h, -1),
            lambda: h[..., None, :] * a[..., None],
            lambda: None,
        ]
        return dice.choice(choices)()

    def scan(self, number, a, z, u, b):
        """The last state, and what is stacked. Some count their steps, sum up, keep a matrix, flags or
        a key, hand states on from carry to carry, begin anew every few steps, are unrolled, keep
        nothing for their gradients, or run until a bound that is data."""
        dice = random.Random(number)
        reverse, kind, way = dice.random() < 0.3, dice.randrange(1 << 30), dice.random()
        first = dice.choice([0 * a[0], a[0], jnp.tanh(b) + 0 * a[0]])

        def step(carry, given):
            (h, total, i, past, other), (a, z) = carry, given
            inside = random.Random(kind)
            z, other = self.with_other(z, h, other)
            new = self.step(inside, past[0] if past else h, a, z, i, u, b)
            ys = self.output(inside, past[0] if past else h, new, a)
            if total is not None:
                total = 0.9 * total + (new.reshape(-1, self.n).T @ z.reshape(-1, self.n))
            return (new, total, i + 1, (*past[1:], h)[: len(past)], other), ys

        total = 0 * u if way < 0.2 else None
        past = (first, 0.5 * first)[: dice.choice([0, 0, 0, 1, 2])]
        if way > 0.95:  # is left alone
            steps = jnp.minimum(len(a), jnp.int32(3 + jnp.abs(b[0])))
            body = lambda i, h: 0.5 * h + a[i] * z[i]  # noqa: E731
            return lax.stop_gradient(lax.fori_loop(0, steps, body, first)), None
        if way > 0.9:
            return lax.stop_gradient(self.anew(dice.choice([2, 5, 8]), first, a, z))
        flags, key = jnp.zeros(a.shape[1:], bool), jax.random.PRNGKey(number % 97)
        other = {0: flags, 1: key, 2: jnp.zeros(a.shape[1:], jnp.int8)}.get(dice.randrange(8))
        step = jax.checkpoint(step) if dice.random() < 0.1 else step
        unroll = dice.choice([1] * 7 + [2, 5])
        first = first, total, 0, past, other
        (h, total, *_), ys = lax.scan(step, first, (a, z), reverse=reverse, unroll=unroll)
        return h if total is None else h @ (0.1 * total), ys

    def with_other(self, z, h, other):
        """What a step adds of a state that is no float, and that state's next."""
        if other is None:
            return z, other
        if other.dtype == bool:
            return jnp.where(other, z, 0.5 * z), other ^ (z > 0.3)
        if other.dtype == jnp.int8:
            return z * (1 + 0.1 * other), (other + (z > 0)).astype(jnp.int8) % 5
        key, now = jax.random.split(other)
        return z + 0.1 * jax.random.uniform(now, h.shape, h.dtype), key

    def anew(self, period, first, a, z):
        def body(carry):
            i, h, ys = carry
            h = 0.5 * lax.select(lax.rem(i, period) == 0, first, h) + a[i] * z[i]
            return i + 1, h, lax.dynamic_update_index_in_dim(ys, h, i, 0)

        return lax.while_loop(lambda carry: carry[0] < len(a), body, (0, first, 0 * a))[1:]

    # ---- what is made of what is stacked ----
    def read(self, dice, y, u, b):
        rest = tuple(range(1, y.ndim))
        choices = [
            lambda: jnp.mean(jnp.sin(y)),
            lambda: jnp.mean((y @ u) ** 2) if y.shape[-1:] == b.shape else jnp.mean(y**2),
            lambda: jnp.mean(jnp.tanh(y), 0).sum(),
            lambda: jnp.sum(jax.nn.softmax(y, 0) * y),
            lambda: jnp.max(y, 0).sum(),
            lambda: y[-1].sum() + y[0].sum(),
            lambda: jnp.mean((y[1:] - y[:-1]) ** 2) if len(y) > 1 else y.sum(),
            lambda: jnp.sum(jnp.cumsum(jnp.sum(y, rest)) / len(y)),
            lambda: jnp.sum(y[:: max(1, len(y) // 3)]),
            lambda: jnp.var(y),
        ]
        return dice.choice(choices)()

    def value(self, w, u, b, table, x, tokens):
        dice = random.Random(self.body)
        total, results = 0.0, []
        make = lambda: self.given(dice, w, u, b, table, x, tokens)  # noqa: E731
        layers, z = dice.choice([1, 1, 2, 2]), None
        for _ in range(layers):
            a = make()
            z = make() if z is None or dice.random() < 0.3 else z
            h, ys = self.scan(dice.randrange(1 << 30), a, z, u, b)
            total = total + jnp.sum(jnp.tanh(h))
            for y in jax.tree.leaves(ys):
                total = total + self.read(dice, y, u, b)
                if y.shape == a.shape:
                    z = jnp.tanh(y @ u) if dice.random() < 0.5 else y * jax.nn.sigmoid(a)
            results += [h, ys] if dice.random() < 0.3 else [h]
        if dice.random() < 0.3:
            results.append(jnp.tanh(z) @ u)
        return total, results

    def function(self, *arguments):
        dice = random.Random(self.body + 1)
        if dice.random() < 0.4:
            return jax.tree.leaves(self.value(*arguments))
        if dice.random() < 0.1:
            value = lambda w: self.value(w, *arguments[1:])[0]  # noqa: E731
            return jax.jvp(jax.grad(value), arguments[:1], arguments[:1])
        number = dice.choice([(0, 1), (0, 1, 2, 3), (0,), (0, 1, 4)])
        return jax.tree.leaves(jax.value_and_grad(self.value, number, has_aux=True)(*arguments))

    def largest_bytes(self):
        """Of what the steps may keep."""
        return self.steps * 8 * int(np.prod(self.batch, dtype=int)) * max(self.n, self.m)

    def text(self):
        with jax.enable_x64(True):
            call = lambda *a: self.function(*a)  # noqa: E731
            lowered = jax.jit(call, keep_unused=True).lower(*self.inputs())
        return lowered.as_text()


class Directions(Sequences):
    """Layers of cells with several states and gates, as LSTMs and GRUs: forward, backward, both side by
    side or one after the other; over sequences of lengths of their own."""

    def lstm(self, h, s, z):
        i, f, g, o = jnp.split(z, 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(s), s

    def gru(self, h, s, z):
        r, k, n, more = jnp.split(z, 4, -1)
        r, k = jax.nn.sigmoid(r), jax.nn.sigmoid(k)
        h = (1 - k) * jnp.tanh(n + r * more) + k * h
        return h, 0.5 * s + h

    def minimal(self, h, s, z):
        f, g, o, more = jnp.split(z, 4, -1)
        return jax.nn.sigmoid(f) * h + jnp.tanh(g), jnp.sin(o) * more  # a state that nobody needs

    def cell(self, dice, x, wide, u, reverse, mask):
        """Its states at the end, and all that it puts out: [steps, .., n]"""
        cell, inside = dice.choice([self.lstm, self.lstm, self.gru, self.minimal]), dice.random() < 0.4
        narrow = jnp.concatenate([u, jnp.sin(u), 0.5 * u.T, jnp.cos(u) - 1], 1)
        outs = dice.choice([lambda h, s: h, lambda h, s: (h, s), lambda h, s: (h, jnp.sum(s, -1))])

        def step(state, given):
            z, on = given
            h, s = state
            new = cell(h, s, (z @ wide if inside else z) + h @ narrow)
            if on is not None:
                new = [jnp.where(on[..., None], *both) for both in zip(new, state)]
            return tuple(new), outs(*new)

        first = jnp.zeros((*x.shape[1:-1], self.n))
        given = x if inside else x @ wide
        return lax.scan(step, (first, first + 0.1), (given, mask), reverse=reverse)

    def flipped(self, x, lengths):
        """Each sequence from its own end on, as where packed ones are read backwards."""
        places = (jnp.arange(len(x))[::-1, None] + lengths) % len(x)
        return jnp.take_along_axis(x, places.reshape(*places.shape[: x.ndim - 1], 1), 0)

    def masks(self, dice, tokens):
        """[steps, ..]: which steps count; None: all do."""
        lengths = 1 + jnp.cumsum(tokens, 0)[len(tokens) // 2] % len(tokens)
        choices = [lambda: None, lambda: None, lambda: tokens > 1]
        choices += [lambda: jnp.arange(len(tokens)).reshape(-1, *[1] * lengths.ndim) < lengths]
        return dice.choice(choices)(), lengths

    def layer(self, dice, x, u, w, tokens):
        """What it puts out, and its states at the end."""
        mask, lengths = self.masks(dice, tokens)
        base = jnp.concatenate([w, jnp.sin(2 * w), jnp.cos(w) - 1, -w], 1)
        way, number = dice.choice(["both"] * 4 + ["forward", "backward", "turns", "flips"]), dice.randrange(1 << 30)
        same = dice.random() < 0.5  # cells of one kind

        def cell(x, k, reverse):
            wide = base if x.shape[-1] == len(w) else jnp.tanh(jnp.resize(base, (x.shape[-1], 4 * self.n)))
            return self.cell(random.Random(number + (0 if same else k)), x, wide, u, reverse, mask)

        if way == "turns":
            ends, y = cell(x, 0, False)
            more, ys = cell(jax.tree.leaves(y)[0], 1, True)
            return jax.tree.leaves(ys), jax.tree.leaves((ends, more))
        if way == "flips" and x.ndim == 3:
            turned, y = cell(self.flipped(x, lengths), 1, False)
            y = self.flipped(jax.tree.leaves(y)[0], lengths)
            ends, ys = cell(x, 0, False)
            return [y, *jax.tree.leaves(ys)], jax.tree.leaves((ends, turned))
        each = [cell(x, k, k > 0) for k in {"forward": [0], "backward": [1]}.get(way, [0, 1])]
        return jax.tree.leaves([ys for _, ys in each]), jax.tree.leaves([ends for ends, _ in each])

    def joined(self, dice, ys):
        """What the next layer reads."""
        wide = [y for y in ys if y.shape[-1:] == (self.n,) and y.ndim == 2 + len(self.batch)]
        choices = [lambda: jnp.concatenate(wide, -1), lambda: sum(wide), lambda: jnp.tanh(wide[-1]) * wide[0]]
        return dice.choice(choices)()

    def value(self, w, u, b, table, x, tokens):
        dice = random.Random(self.body)
        total, results = 0.0, []
        x = dice.choice([lambda: x, lambda: jnp.tanh(x), lambda: table[tokens][..., :1] * x])()
        for k in range(dice.choice([1, 1, 1, 2])):
            ys, ends = self.layer(dice, x, u, w, tokens)
            joint = x = self.joined(dice, ys)
            reads = dice.choice(["joint", "joint", "each", "ends"])
            if reads == "joint":
                total = total + self.read(dice, joint, u, b)
            if reads == "each":
                total = total + sum(self.read(dice, y, u, b) for y in ys)
            if reads == "ends" or dice.random() < 0.3:
                total = total + sum(jnp.sum(jnp.tanh(e)) for e in ends)
            results += [joint] if dice.random() < 0.2 else ends if dice.random() < 0.3 else []
        return total, results
