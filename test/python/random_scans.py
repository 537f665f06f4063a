"""Random programs of scans and their gradients: what loops keep of every step, sum and pass on.

A seed stands for one function of weights, a state, inputs of every step and a vector, in 64 bits.
Steps are contractions, so that rounding does not grow over time.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Scans:
    def __init__(self, seed, shares=0.25, swarms=0.12):
        """How often a state has a part that all rows share; how often a row's next state is made of
        itself and of statistics of all rows alone, so that it may lie where the state does.
        """
        self.dice = random.Random(seed)
        self.shares = shares
        self.steps = self.dice.choice([3, 2, 1, 7, 12, 16, 23, 37, 61, 120])
        self.batch = self.dice.choice([1, 2, 5, 8, 13])
        self.n, self.m = self.dice.choice([1, 3, 6, 17]), self.dice.choice([2, 5, 8])
        self.body = self.dice.randrange(1 << 30)
        self.numbers = np.random.default_rng(seed)
        self.shape = self.dice.choice([(self.batch, self.n), (self.batch, self.n), (self.n,)])
        self.is_field = self.dice.random() < 0.25
        if self.is_field:  # whose only way may be segments in segments
            self.steps = self.dice.choice([5, 12, 20, 29, 61])
            self.n, self.m = 17, 1
            self.shape = (self.dice.choice([24, 31, 40]), self.n)
        other = random.Random(seed + 5)
        self.is_swarm = not self.is_field and other.random() < swarms
        if self.is_swarm:
            self.steps = other.choice([3, 5, 12])
            self.shape = other.choice([(24, 3), (31, 3), (40, 5), (101,)])
            self.n = self.shape[-1]

    def inputs(self):
        normal = self.numbers.normal
        lead = self.shape[:-1]
        return [
            normal(size=(self.n, self.n)) / (2 * self.n**0.5),
            normal(size=(self.m, self.n)) / (2 * self.m**0.5),
            normal(size=self.shape),
            normal(size=(self.steps, *lead, self.m)),
            normal(size=self.n),
        ]

    # ---- one step ----
    def state(self, dice, h, x, w, u, b, shared):
        """The next state, of the same shape and bounded. shared: a matrix made of b."""
        batched = h.ndim == 2
        if self.is_swarm:
            return self.swarm(dice, h, b) + 0.1 * jnp.tanh(x @ u)
        if self.is_field:
            new = self.stencil(dice, self.stencil(dice, h, b), b)
            return dice.choice(
                [
                    lambda: 0.9 * jnp.sin(new) + 0.1 * jnp.tanh(x @ u),
                    lambda: new / (1 + 0.1 * self.stencil(dice, h, b) ** 2),
                    lambda: new + 0.1 * jnp.tanh(jnp.roll(h, 2, 0) * jnp.mean(x)),
                ]
            )()
        choices = [
            lambda: jnp.tanh(h @ w + x @ u + b),
            lambda: 0.5 * h + 0.3 * jnp.sin(x @ u) * b,
            lambda: jax.nn.sigmoid(x @ u) * jnp.tanh(h @ w) + 0.2 * h,
            lambda: jnp.where(h > b, 0.7 * h, jnp.cos(x @ u)),
            lambda: 0.6 * jnp.roll(h, 1, -1) + 0.2 * jnp.tanh(x @ u),
            lambda: jnp.tanh(h @ w).at[..., 0].multiply(0.5),
            lambda: 0.5 * h[..., ::-1] + jnp.tanh(jnp.take(b, jnp.argmax(h, -1))[..., None]) * 0.1,
            lambda: lax.fori_loop(0, 3, lambda _, g: jnp.tanh(g @ w) + 0.1 * b, h),
            lambda: jax.checkpoint(lambda g: jnp.tanh(jnp.sin(g @ w) + x @ u))(h),
            lambda: 0.5 * (h - (jnp.mean(h, 0) if batched else jnp.mean(h))) + 0.1 * b,
            lambda: jnp.tanh(h @ shared + x @ u),
            lambda: 0.5 * (h @ jax.nn.softmax(shared, 1)) + 0.1 * jnp.sin(x @ u),
            lambda: jnp.tanh(jax.nn.logsumexp(h[..., None] - shared, -1) * 0.3),
            lambda: lax.cond(jnp.sum(x) > 0, lambda: jnp.tanh(h + b), lambda: 0.7 * h),
            lambda: lax.cond(h.ravel()[0] > 0, lambda h: jnp.tanh(h @ w + x @ u), lambda h: h, h),
            lambda: self.one_of(dice, h, x, w, u, b),
            lambda: self.one_of_all(dice, h, x, w, u, b),
            lambda: self.stencil(dice, h, b) + 0.1 * jnp.sin(x @ u),
            lambda: jnp.tanh(self.stencil(dice, h, b)),
            lambda: self.stencil(dice, h, b) / (1 + 0.1 * h**2),
            lambda: h * 0.5
            + 0.1 * (jnp.outer(h, b) @ b / (1 + b @ b) if not batched else (h.T @ h @ b) * 0.01),
        ]
        return dice.choice(choices)()

    def swarm(self, dice, h, b):
        """Of each row and statistics of all."""
        choices = [
            lambda: 0.8 * h + 0.1 * jnp.sin(h - jnp.mean(h, 0)),
            lambda: h / (1 + 0.1 * jnp.mean(h * h)) + 0.05 * b,
            lambda: jnp.where(h > jnp.mean(h), 0.7 * h, 0.8 * h + 0.1 * b),
            lambda: 0.5 * h + 0.3 * jax.nn.softmax(h, 0) * b,
            lambda: 0.7 * h - 0.1 * (h - jnp.max(h, 0)) * jnp.exp(-jnp.sum(h * h) / h.size),
        ]
        return dice.choice(choices)()

    def stencil(self, dice, h, b):
        """Of each place and its neighbours along one or two dimensions, no more than the largest."""
        axis = dice.choice([-1, 0])
        n = h.shape[axis]
        part = lambda a, low, high: lax.slice_in_dim(a, low, max(low, high), axis=axis)  # noqa: E731
        wide = [(1, 1) if d == axis % h.ndim else (0, 0) for d in range(h.ndim)]

        def padded(mode):
            p = jnp.pad(h, wide, mode=mode)
            return h + 0.2 * (part(p, 2, n + 2) + part(p, 0, n) - 2 * h)

        def inside():
            if n < 3:
                return 0.5 * h
            at = 0.2 * (part(h, 2, n) + part(h, 0, n - 2) - 2 * part(h, 1, n - 1))
            return h.at[(slice(None),) * (axis % h.ndim) + (slice(1, -1),)].add(at)

        def variation():
            d = jnp.roll(h, -1, axis) - h
            flow = d / jnp.sqrt(d * d + 0.5)
            return h + 0.2 * (flow - jnp.roll(flow, 1, axis))

        def apart():
            """Two fields, one beside the other, that act on each other."""
            v, w = part(h, 0, n // 2), part(h, n // 2, 2 * (n // 2))
            both = [0.8 * v + 0.1 * jnp.sin(v * w), 0.7 * w - 0.1 * jnp.roll(v, 1, axis)]
            return jnp.concatenate([*both, part(h, 2 * (n // 2), n)], axis)

        choices = [
            lambda: 0.4 * h + 0.3 * (jnp.roll(h, 1, axis) + jnp.roll(h, -1, axis)),
            lambda: sum(jnp.roll(h, s, d) for s in (1, -1) for d in range(h.ndim)) / (2.2 * h.ndim),
            lambda: padded("edge"),
            lambda: padded("wrap") * 0.9 + 0.1 * b,
            lambda: padded("constant"),
            inside,
            variation,
            apart,
            lambda: 0.9 * jnp.concatenate([part(h, n - 1, n), part(h, 0, n - 1)], axis),
        ]
        return dice.choice(choices)()

    def one_of(self, dice, h, x, w, u, b):
        """Of a few next states the one that the input names: out of range the first or the last."""
        choices = [
            lambda h: 0.5 * h + 0.1 * b,
            lambda h: jnp.tanh(h @ w),
            lambda h: lax.cond(jnp.max(x) > 1, jnp.sin, lambda h: 0.9 * h, h),
            lambda h: h,
            lambda h: lax.fori_loop(0, 2, lambda i, g: jnp.cos(g) * b, h),
            lambda h: jnp.log(h) * 0.1 if dice.randrange(4) == 0 else 0.2 * jnp.sin(x @ u) * b,
        ]
        branches = dice.sample(choices, dice.randint(2, 4))
        return lax.switch(jnp.floor(2 * x.ravel()[0]).astype(jnp.int32), branches, h)

    def one_of_all(self, dice, h, x, w, u, b):
        """The same where no row decides: all rows may be cut where the branches are."""
        choices = [
            lambda h: jnp.tanh(h @ w + x @ u),
            lambda h: 0.5 * h + 0.1 * self.until_small(h),
            lambda h: h,
            lambda h: jnp.zeros_like(h),
            lambda h: lax.fori_loop(0, 2, lambda _, g: jnp.tanh(g @ w) + 0.1 * b, h),
            lambda h: lax.cond(b[-1] > w[0, 0], lambda h: jnp.sin(h) * b, self.until_small, h),
        ]
        branches = dice.sample(choices, dice.randint(2, 3))
        return lax.switch(jnp.floor(3 * (b[0] + w[0, 0])).astype(jnp.int32), branches, h)

    def until_small(self, h):
        """Each row until it is small; not a function that has a gradient."""
        goes_on = lambda s: (jnp.max(jnp.abs(s[0])) > 0.3) & (s[1] < 6)  # noqa: E731
        step = lambda s: (0.6 * s[0], s[1] + 1)  # noqa: E731
        row = lambda v: lax.while_loop(goes_on, step, (v, 0))[0]  # noqa: E731
        if h.ndim == 2 and self.steps % 2:
            return self.until_unset(lax.stop_gradient(h))
        return (jax.vmap(row) if h.ndim == 2 else row)(lax.stop_gradient(h))

    def until_unset(self, h):
        """The same, with a flag of each row that goes on to the next trip."""
        goes = lambda h, count: (jnp.max(jnp.abs(h), 1) > 0.3) & (count < 6)  # noqa: E731

        def step(s):
            h, count, go = s
            new, more = 0.6 * h, count + 1
            kept = jnp.where(go[:, None], new, h), jnp.where(go, more, count)
            return *kept, go & goes(new, more)

        count = jnp.zeros(h.shape[0], jnp.int32)
        return lax.while_loop(lambda s: jnp.any(goes(s[0], s[1])), step, (h, count, goes(h, count)))[0]

    def invariant(self, dice, h, first, w, b, shared):
        """What the steps do not change (first: the state before them), in each role that it may have.
        As the state, or one of its rows."""
        eye = jnp.eye(self.n)
        top = lambda v: jnp.argmax(v.ravel()) % self.n  # noqa: E731
        least = lax.stop_gradient(jnp.min(jnp.sin(b)))
        row = lax.stop_gradient(h).reshape(-1, self.n)[0]
        choices = [
            lambda: jnp.tanh(jnp.sin(b) ** 3),
            lambda: jnp.cos(jnp.sin(first)),
            lambda: jnp.where(h > 0, jnp.cos(first), 0.1) * jnp.exp(-first),
            lambda: jnp.sum(jnp.exp(w), 0),
            lambda: (shared @ (shared @ w))[0],
            lambda: first @ jnp.sin(w),
            lambda: jnp.sort(jnp.sin(first), -1),
            lambda: jnp.linalg.cholesky(shared @ shared.T + eye) @ b,
            lambda: jnp.sin(shared)[top(h)],  # read in parts
            lambda: jnp.sin(b).at[top(h)].set(1.0),  # written over
            lambda: lax.fori_loop(0, 3, lambda _, g: 0.5 * g + jnp.sin(b), jnp.cos(b) + 0 * h),
            lambda: lax.fori_loop(0, 3, lambda _, g: jnp.tanh(g * jnp.cos(first)), h),
            lambda: lax.fori_loop(0, 4, lambda _, g: 0.5 * g + jnp.cos(jnp.sin(h)), h),
            lambda: lax.fori_loop(0, 2, lambda i, g: g * jnp.exp(w[i % self.n] * jnp.sin(h)), b + h),
            lambda: lax.while_loop(lambda g: jnp.min(jnp.sin(g)) > least, lambda g: g - 0.3, row),
            lambda: lax.cond(h.ravel()[0] > 0, lambda: jnp.sin(first), lambda: first),
            lambda: jnp.interp(h, jnp.sort(b), jnp.sin(b)),  # a while inside
            lambda: jnp.interp(first, jnp.sort(b), jnp.sin(b)) * h,
        ]
        return dice.choice(choices)()

    def common(self, dice, c, h, x, w):
        """The next of a state that all rows share, [n, n] and bounded: of itself alone, or not."""
        eye = jnp.eye(self.n)
        choices = [
            lambda: jnp.tanh(0.3 * (c @ w @ c.T) + eye),
            lambda: 0.5 * jnp.linalg.cholesky(0.1 * (c @ c.T) + eye),
            lambda: lax.fori_loop(0, 3, lambda _, g: jnp.tanh(g @ w + c), c),
            lambda: lax.cond(c[0, 0] > 0.5, lambda: jnp.tanh(c @ c), lambda: 0.6 * c + eye),
            lambda: jnp.sort(jnp.sin(c), 0) + 0.1 * eye,
            lambda: 0.7 * c + 0.1 * eye,  # as quickly made as read
            lambda: jnp.tanh(c @ c + 0.1 * jnp.mean(h)),  # not alone
            lambda: jnp.tanh(c @ w + 0.1 * jnp.sum(x)),
        ]
        return dice.choice(choices)()

    def of_common(self, dice, h, c, new):
        """What the rows make of it: of what a step begins with, or ends with, or of what it makes."""
        solved = lambda: jnp.linalg.solve(c @ c.T + jnp.eye(self.n), c)  # noqa: E731
        choices = [
            lambda: h @ c,
            lambda: h @ new,
            lambda: h @ solved() + jnp.sum(jnp.log(1 + jnp.diag(new) ** 2)),
            lambda: h + new[0],
            lambda: h * jnp.max(c @ new),
            lambda: h @ c.T @ new,
        ]
        return 0.05 * jnp.tanh(dice.choice(choices)())

    def extra(self, dice, e, h, x):
        """A second carry: a sum over the batch, a count, a statistic."""
        choices = [
            lambda: e + jnp.sum(h.reshape(-1, self.n), 0),
            lambda: 0.9 * e - jnp.mean(h.reshape(-1, self.n) ** 2, 0),
            lambda: e + jnp.sum(h > 0) * 0.01,
            lambda: jnp.maximum(e, jnp.max(h)),
            lambda: e + h.reshape(-1, self.n)[0] * jnp.sum(x),
            lambda: e,
            lambda: 0.5 * e + 0.1 * jnp.sum(jnp.tanh(h.reshape(-1, self.n)), 0) ** 2,
        ]
        return dice.choice(choices)()

    def of_nothing(self, dice, x, u, b):
        """What a step adds for inputs that have no features: of all rows, or of each."""
        none = jnp.zeros((self.steps, 0))
        return dice.choice([lambda: none[0] @ u[:0] + b, lambda: x[..., :0] @ u[:0] + b])()

    def part(self, dice, wide, n):
        """Rows of what is outside of the steps, which has twice as many: each step takes the same."""
        choices = [
            lambda: wide[:n],
            lambda: wide[1 : n + 1],
            lambda: wide[n:][::-1],
            lambda: wide[::2],
            lambda: wide[::-1][1 : n + 1],
            lambda: wide[:n] * wide[n:],
            lambda: jnp.sin(wide[n - 1 : 2 * n - 1]) + wide[n:],
            lambda: lax.fori_loop(0, 3, lambda _, g: 0.5 * g + wide[1 : n + 1], wide[:n]),
        ]
        return dice.choice(choices)()

    def output(self, dice, h, x):
        choices = [
            lambda: None,
            lambda: None,
            lambda: h,
            lambda: jnp.sum(h * h),
            lambda: jnp.sum(h.reshape(-1, self.n), 0),
            lambda: (jnp.argmax(h, -1), x),
            lambda: jnp.tanh(h[..., None] * x[..., None, :]),
        ]
        return dice.choice(choices)()

    def layer(self, number, w, u, h, xs, b, shared, reads_extra):
        dice = random.Random(number)
        reverse, kind = dice.random() < 0.3, dice.randrange(1 << 30)
        starts, is_wave = dice.choice([0.0, 1.0]), dice.random() < 0.2
        at_first, wide = h, jnp.concatenate([h, jnp.cos(h)])
        shares = random.Random(kind + 7).random() < self.shares
        ws = None  # of each step, layers of a net
        if random.Random(kind + 11).random() < 0.15:
            ws = w * jnp.linspace(0.5, 1, len(xs), dtype=w.dtype).reshape(-1, *(1 for _ in w.shape))

        def step(carry, inputs):
            h, e, before, c = carry
            x, own = inputs
            return layer(h, e, before, c, x, w if own is None else own)

        def layer(h, e, before, c, x, w):
            inside = random.Random(kind)
            new = self.state(inside, h, x, w, u, b, shared)
            if random.Random(kind + 1).random() < 0.2:
                new = new + 0.1 * self.until_small(new)
            if random.Random(kind + 3).random() < 0.4:
                inner = random.Random(kind + 4)
                new = new + 0.05 * jnp.tanh(self.invariant(inner, h, at_first, w, b, shared))
            if random.Random(kind + 5).random() < 0.2:
                new = new + 0.05 * self.of_nothing(random.Random(kind + 6), x, u, b)
            if random.Random(kind + 12).random() < 0.25:
                new = new + 0.05 * self.part(random.Random(kind + 13), wide, len(h))
            if reads_extra:
                new = new + 0.05 * jnp.tanh(e)
            if is_wave and self.is_swarm:
                new, before = 0.6 * new + 0.3 * before, 0.5 * before + 0.2 * new
            elif is_wave:
                new = 0.6 * new - 0.3 * self.stencil(random.Random(kind + 2), before, b)
                before = h
            if shares:
                common = random.Random(kind + 8)
                after = self.common(common, c, h, x, w)
                new = new + self.of_common(common, h, c, after)
                c = after
            ys = self.output(inside, h, x)
            if shares and random.Random(kind + 9).random() < 0.3:
                ys = (ys, c)
            return (new, self.extra(inside, e, new, x), before, c), ys

        matrix = jnp.eye(self.n) + 0.1 * w if shares else None
        first = (h, jnp.full(self.n, starts), 0.5 * h if is_wave else None, matrix)
        (h, e, _, c), ys = lax.scan(step, first, (xs, ws), reverse=reverse)
        if shares and random.Random(kind + 10).random() < 0.5:
            e = e + 0.1 * jnp.sum(c, 0)
        return h, e, ys

    # ---- the program ----
    def value(self, w, u, h, xs, b):
        dice = random.Random(self.body)
        total, results = 0.0, []
        shared = jnp.exp(-((b[:, None] - b) ** 2)) / self.n
        for _ in range(dice.choice([1, 1, 2])):
            number = dice.randrange(1 << 30)
            h, e, ys = self.layer(number, w, u, h, xs, b, shared, dice.random() < 0.15)
            for y in jax.tree.leaves(ys):
                if jnp.issubdtype(y.dtype, jnp.floating):
                    total = total + jnp.mean(jnp.sin(y))
            results.append(ys)
            total = total + jnp.sum(jnp.tanh(e))
            if dice.random() < 0.3:
                xs = jnp.sin(xs) * 0.5
        return total + jnp.sum(h * jnp.cos(b)), results if dice.random() < 0.3 else None

    def function(self, *arguments):
        dice = random.Random(self.body + 1)
        kind = dice.randrange(6)
        if self.is_swarm and dice.random() < 0.6:
            kind = 0
        loss = lambda *a: self.value(*a)[0]  # noqa: E731
        if kind == 0:
            return jax.tree.leaves(self.value(*arguments))
        if kind == 1:
            w, *rest = arguments
            step = lambda _, w: w - 0.01 * jax.grad(loss)(w, *rest)  # noqa: E731
            return [lax.fori_loop(0, 2, step, w)]
        if kind == 2:
            along = tuple(jnp.ones_like(a) for a in arguments[:2])
            directional = lambda h: jax.jvp(  # noqa: E731
                lambda w, u: loss(w, u, h, *arguments[3:]), arguments[:2], along
            )[1]
            return [jax.grad(directional)(arguments[2])]
        number = dice.choice([(0, 1, 2), (0, 1, 2, 3, 4), (2,), (1, 4)])
        return jax.tree.leaves(jax.value_and_grad(self.value, number, has_aux=True)(*arguments))

    def largest_bytes(self):
        """Of what the steps may keep."""
        return self.steps * 8 * int(np.prod(self.shape)) * max(1, self.m // 2)

    def text(self):
        with jax.enable_x64(True):
            call = lambda *a: self.function(*a)  # noqa: E731
            lowered = jax.jit(call, keep_unused=True).lower(*self.inputs())
        return lowered.as_text()
