"""Random programs for GPUs and TPUs: what their XLA fuses, pads, converts and lays out anew.

A seed stands for one function of a few arrays. It begins with a large matrix, or a batch of them,
passes it through one to four steps and ends with something small, or with all of it. Extents are
seldom multiples of 8 or 128. Nothing runs: the programs are lowered for shapes.
"""

import random

import jax
import jax.numpy as jnp
from jax import lax

LARGEST = 40_000_000  # elements of a value
GROUPED_FROM = 12_000  # seeds below stay the programs that the documents name
SPECIAL_FROM = 15_000  # likewise


class Programs:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.dtype = self.dice.choice([jnp.float32, jnp.float32, jnp.bfloat16])
        self.arguments = []  # (shape, dtype)
        self.elements = self.dice.choice([300_000, 3_000_000, 12_000_000, LARGEST])
        self.seed = self.dice.randrange(1 << 30)
        begins = [self.kernel, self.kernel, self.batches, self.layers, self.table]
        begin = self.dice.choice(begins + [self.groups] * (seed >= GROUPED_FROM))
        self.begin = begin.__name__
        self.has_special = seed >= SPECIAL_FROM
        self.has_gradient = self.dice.random() < 0.3

    def shapes(self):
        """Of the function's arguments, which become known as it is traced."""
        if not self.arguments:
            jax.eval_shape(lambda: self._run(None))
        return [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in self.arguments]

    def function(self):
        """Its results are tuples, its gradients lists."""
        floats = [i for i, x in enumerate(self.shapes()) if jnp.issubdtype(x.dtype, jnp.floating)]

        def loss(*arguments):
            results = self._run(arguments)
            return sum(jnp.sum(x.astype(jnp.float32)) for x in results)

        if self.has_gradient:
            return jax.grad(loss, argnums=floats)
        return lambda *arguments: self._run(arguments)

    def _run(self, arguments):
        """arguments: None where they are not known yet."""
        self._given = None if arguments is None else iter(arguments)
        dice = random.Random(self.seed)
        x = getattr(self, self.begin)(dice)
        for _ in range(dice.randrange(1, 4)):
            x = self.step(dice, x)
        return self.end(dice, x)

    # ---- arguments ----
    def argument(self, shape, dtype=None):
        shape, dtype = tuple(map(int, shape)), jnp.dtype(dtype or self.dtype)
        if self._given is not None:
            return next(self._given)
        self.arguments.append((shape, dtype))
        return jnp.zeros(shape, dtype)

    def places(self, count, below):
        """Indices below a number."""
        return self.argument((count,), jnp.int32) % below

    # ---- beginnings ----
    def pair(self, dice, elements):
        """Extents whose product is about that."""
        n = dice.choice([97, 300, 1000, 1003, 2048, 3001, 5000])
        return max(2, elements // n) + dice.choice([0, 1, 3]), n

    def kernel(self, dice):
        """A matrix of kernel values between points."""
        n, m = self.pair(dice, self.elements)
        d = dice.choice([1, 2, 3, 8, 10, 30])
        x, y = self.argument((n, d)), self.argument((m, d))
        if dice.random() < 0.5:
            far = jnp.sum(x**2, 1)[:, None] + jnp.sum(y**2, 1)[None] - 2 * x @ y.T
        else:
            far = jnp.sum((x[:, None] - y[None]) ** 2, -1)
        far = jnp.maximum(far, 0)
        if dice.random() < 0.5:
            return jnp.exp(-0.5 * far)
        r = jnp.sqrt(3 * far + 1e-6)
        return (1 + r) * jnp.exp(-r)

    def batches(self, dice):
        """Scores of attention, or products of another kind with batches."""
        b, h = dice.choice([1, 2, 3, 8]), dice.choice([1, 4, 7])
        side = max(4, int((self.elements / (b * h)) ** 0.5)) + dice.choice([0, 1])
        d = dice.choice([8, 24, 64, 100])
        if dice.random() < 0.5:
            q, k = (self.argument((b, h, side, d)) for _ in range(2))
            return jnp.einsum("bhqd,bhkd->bhqk", q, k)
        q, k = (self.argument((b, side, h, d)) for _ in range(2))
        return jnp.einsum("bqhd,bkhd->bhqk", q, k)

    def layers(self, dice):
        """Hidden units."""
        n, m = self.pair(dice, self.elements)
        d = dice.choice([5, 32, 64, 200])
        x = self.argument((n, d)) @ self.argument((d, m)) + self.argument((m,))
        return dice.choice([jnp.tanh, jax.nn.relu, jax.nn.gelu])(x)

    def groups(self, dice):
        """Hidden units of rows in groups, of as many experts."""
        n, m = self.pair(dice, self.elements // 10)
        count, d = dice.choice([2, 5, 8, 31]), dice.choice([5, 64, 200])
        x, w = self.argument((n, d)), self.argument((count, d, m))
        return jnp.tanh(lax.ragged_dot(x, w, self.argument((count,), jnp.int32)))

    def table(self, dice):
        """An argument, as it comes."""
        return self.argument(self.pair(dice, self.elements))

    # ---- steps: of a large array, most of them one as large ----
    def step(self, dice, x):
        steps = [
            self.elementwise, self.elementwise, self.softmax, self.centred, self.moved,
            self.narrowed, self.product, self.gathered, self.scanned, self.looped, self.scattered,
            self.sorted, self.summed_up, self.twice,
        ]  # fmt: skip
        more = [self.special, self.quotient, self.set_in_itself] * self.has_special
        return dice.choice(steps + more)(dice, x)

    def special(self, dice, x):
        """What XLA expands."""
        of_ones = [jnp.arcsin, jnp.arctanh, lax.erf_inv]
        others = [jnp.arcsinh, jnp.sinh, jnp.cosh, lax.erfc, lax.bessel_i1e, lax.lgamma, lax.digamma]
        f = dice.choice(of_ones + others)
        return f(jnp.tanh(x) * 0.9) if f in of_ones else f(x)

    def quotient(self, dice, x):
        return dice.choice([x / jnp.sqrt(x * x + 1), x / jnp.exp(jnp.tanh(x)), 1 / jnp.cosh(x)])

    def set_in_itself(self, dice, x):
        places = self.places(x.shape[-2], x.shape[-2])
        return x.at[..., places, :].set(x)

    def elementwise(self, dice, x):
        return dice.choice([
            lambda: jnp.tanh(x) * 0.5 + x,
            lambda: jnp.where(x > 0.1, x, jnp.exp(x) - 1),
            lambda: x * self.argument(x.shape[-1:]),
            lambda: x + self.argument(x.shape[-2:-1])[:, None],
            lambda: jnp.log1p(jnp.exp(-jnp.abs(x))),
        ])()  # fmt: skip

    def softmax(self, dice, x):
        return jax.nn.softmax(x, dice.choice([-1, -1, -2]))

    def centred(self, dice, x):
        axis = dice.choice([-1, -2])
        return (x - jnp.mean(x, axis, keepdims=True)) / jnp.sqrt(
            jnp.var(x, axis, keepdims=True) + 1e-3
        )

    def moved(self, dice, x):
        way = dice.randrange(3)
        if way == 0:
            return jnp.swapaxes(x, -1, -2)
        if way == 1 and x.ndim > 2:
            return jnp.moveaxis(x, 1, 2)
        return jnp.concatenate([x[..., 1:], x[..., :1]], -1) * x

    def narrowed(self, dice, x):
        return x.astype(jnp.bfloat16 if x.dtype == jnp.float32 else jnp.float32)

    def weights(self, dice, x, least=5):
        return self.argument((x.shape[-1], dice.choice([least, 16, 60, 300])), x.dtype)

    def product(self, dice, x):
        way = dice.randrange(3)
        if way == 0 and x.shape[-1] <= 3001:
            return x @ self.argument((x.shape[-1],) * 2, x.dtype)
        if way == 1 and min(x.shape[-2:]) <= 3001 and x.ndim == 2:
            return x.T @ x if x.shape[0] > x.shape[1] else x @ x.T
        w = self.weights(dice, x)
        return jnp.tanh(x @ w) @ w.T

    def gathered(self, dice, x):
        way, axis = dice.randrange(2), dice.choice([-1, -2])
        count = x.shape[axis] // dice.choice([1, 3])
        places = self.places(max(count, 1), x.shape[axis])
        taken = jnp.take(x, places, axis)
        if way == 0 or taken.shape != x.shape:
            return taken
        return taken - x

    def scattered(self, dice, x):
        flat = x.reshape(-1, x.shape[-1])
        axis = dice.choice([0, 1])
        count = max(1, flat.shape[axis] // dice.choice([2, 50]))
        places = self.places(count, flat.shape[axis])
        part = lax.slice_in_dim(flat, 0, count, axis=axis)
        if axis:
            return flat.at[:, places].add(part).reshape(x.shape)
        return flat.at[places].add(part).reshape(x.shape)

    def sorted(self, dice, x):
        if x.size > 4_000_000:
            return jnp.maximum(x, 0.1)
        values = lax.top_k(x, min(x.shape[-1], dice.choice([3, 10])))[0]
        if self.seed % 4:
            return values
        return jnp.where(x < values[..., -1:], 0, x)  # the k-th largest alone is read

    def summed_up(self, dice, x):
        if x.size > 4_000_000:
            return x * jnp.sum(x, -1, keepdims=True)
        return jnp.cumsum(x, dice.choice([x.ndim - 1, x.ndim - 2]))

    def twice(self, dice, x):
        """Something that several things read."""
        row = jnp.max(x, -1, keepdims=True)
        return jnp.exp(x - row) / (1 + jnp.sum(jnp.abs(x), -2, keepdims=True))

    def scanned(self, dice, x):
        """A state that each row, or column, changes; its states may be stacked."""
        rows = x.reshape(-1, x.shape[-1])
        if dice.random() < 0.3:
            rows = rows.T
        count = dice.choice([4, 10, 25])
        block = max(1, rows.shape[0] // count)
        blocks = rows[: block * count].reshape(count, block, rows.shape[1])
        w = self.argument((rows.shape[1], 40), x.dtype)
        stacks = dice.random() < 0.5

        def step(state, part):
            new = state * 0.5 + jnp.tanh(part @ w)
            return new, (new @ w.T if stacks else jnp.sum(new))

        first = jnp.zeros((block, 40), x.dtype)
        last, parts = lax.scan(step, first, blocks)
        return parts.reshape(-1, rows.shape[1]) if stacks else last @ w.T * jnp.sum(parts)

    def looped(self, dice, x):
        """A loop that reads all of it, or a window of it, in each trip."""
        flat, way = x.reshape(-1, x.shape[-1]), dice.randrange(4)
        v = self.argument((flat.shape[1], dice.choice([1, 7, 64])), x.dtype)
        if way == 0:  # multiplies
            body = lambda _, v: jnp.tanh(flat.T @ (flat @ v) * 1e-3)  # noqa: E731
            return flat @ lax.fori_loop(0, 5, body, v) @ v.T
        width = max(1, flat.shape[1] // 9)

        def window(i, total):
            part = lax.dynamic_slice_in_dim(flat, i * width, width, 1)
            return total + part if way == 1 else total + jnp.exp(part) @ (v[:width] @ v[:width].T)

        if way < 3:
            total = jnp.zeros((flat.shape[0], width), x.dtype)
            return lax.fori_loop(0, 9, window, total)

        def write(i, out):
            part = jnp.tanh(flat @ v) @ v[:width].T
            return lax.dynamic_update_slice_in_dim(out, part, i * width, 1)

        return lax.fori_loop(0, 9, write, flat)

    # ---- ends ----
    def end(self, dice, x):
        return dice.choice([
            lambda: (x @ self.weights(dice, x, 1),),
            lambda: (jnp.sum(x, -1), jnp.max(x, -2)),
            lambda: (jnp.sum(x.astype(jnp.float32) ** 2),),
            lambda: (x,),
            lambda: (jax.nn.logsumexp(x, -1), jnp.argmax(x, -1)),
            lambda: (jnp.swapaxes(x, -1, -2) @ self.argument((x.shape[-2], 20), x.dtype),),
        ])()  # fmt: skip
