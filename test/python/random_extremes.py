"""Random programs of extremes and what is compared with them, as gradients do.

A seed stands for one `function` of `inputs`, the `ways` to rewrite it (arguments of `weir opt`), and
how far off results may be: `rounding` of `scales`.
"""

import jax
import jax.numpy as jnp
import numpy as np

import running


def split_above(threshold, tiles=("on", "off")):
    """With kernels and without."""
    return [["--tensor-size-threshold", threshold, "--tile", tile] for tile in tiles]


class Extremes:
    """The gradient of extremes, over one of its dimensions, of what a product of batches makes, drawn
    at random: which of the others a loop goes over, and what is a kernel's rows, is left to weir."""

    ways, rounding = split_above("400kB"), 1e-4

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        sizes = dict(zip("bij", dice.permutation([dice.integers(2, 24), 100, 400]), strict=True))
        sizes["d"] = int(dice.choice([2, 8, 16, 24, 64, 100]))
        left, right = ("".join(dice.permutation(list(k))) for k in ("bid", dice.choice(["jd", "bjd"])))
        self.spec = f"{left},{right}->{''.join(dice.permutation(list('bij')))}"
        self.axis, self.is_least = int(dice.integers(3)), bool(dice.integers(2))
        self.between = dice.choice(["nothing", "bias", "log", "scale", "weights", "others"])
        self.inputs = [
            dice.standard_normal([int(sizes[k]) for k in side]).astype(np.float32)
            for side in (left, right)
        ]
        self.function = jax.value_and_grad(self.value, (0, 1))

    def value(self, x, y):
        between = {
            "nothing": lambda k: k,
            "bias": lambda k: k + jnp.arange(k.shape[-1]) % 7 / 8,
            "log": lambda k: jnp.log1p(k * k),
            "scale": lambda k: jnp.tanh(k / 9) * 3 + k,
            # less the largest of a few: of what was multiplied, and of the product itself
            "weights": lambda k: k + jax.nn.log_softmax(x.ravel()[: k.shape[-1]]),
            "others": lambda k: k * 0.7 + jax.nn.log_softmax(k[0, 0]),
        }
        k = between[self.between](jnp.einsum(self.spec, x, y))
        return jnp.mean((k.min if self.is_least else k.max)(self.axis) ** 2)

    def scales(self, want):
        """A gradient may be small beside the value."""
        return [max(np.abs(w).max() for w in want)] * len(want)


class ExtremesOfWindows:
    """The gradient of extremes of a sum of windows of what all pairs make, drawn at random. What is
    compared may be in another loop than the extreme, and is then made again for other windows.
    """

    rounding = 1e-3

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        self.n, self.m = (int(s) for s in dice.integers(90, 400, 2))
        self.of = dice.choice(["distances", "product", "sines"])
        self.windows = [(*dice.integers(0, 9, 2), *dice.normal(size=1)) for _ in range(seed % 3 + 2)]
        self.axis, self.ends = int(dice.integers(2)), dice.permutation(5)[: dice.integers(1, 4)]
        self.ways = split_above(int(dice.choice([1000, 3000, 5000, 20000, 100000])))
        self.inputs = [dice.standard_normal((s, 3)).astype(np.float32) for s in (self.n, self.m)]
        self.function = jax.grad(self.value, (0, 1))

    def value(self, x, y):
        pairs = {
            "distances": lambda: jnp.exp(-jnp.sum((x[:, None] - y) ** 2, -1)),
            "product": lambda: x @ y.T,
            "sines": lambda: jnp.sin(x[:, :1] * y[:, 0]),
        }
        k = pairs[self.of]()
        n, m = self.n - 8, self.m - 8
        w = sum(k[i : i + n, j : j + m] * c for i, j, c in self.windows)
        largest = w.max(self.axis)
        ends = [
            lambda: jnp.sin(largest).sum(),
            lambda: jax.nn.logsumexp(largest),
            lambda: (largest[1:] * largest[:-1]).sum(),
            lambda: jnp.sin(k[::2, ::3].sum(0)).sum(),
            lambda: (w.min(1 - self.axis) ** 2).sum(),
        ]
        return jnp.sin(largest).sum() + sum(ends[e]() for e in self.ends)

    def scales(self, want):
        """A gradient may be small beside the value."""
        return [max(np.abs(w).max() for w in want)] * len(want)


def labels(s, at):
    """One in a row is 1, and no iota says so."""
    return jnp.zeros_like(s).at[jnp.arange(len(s)), at].set(1)


class Ranks:
    """Which elements of what all pairs make equal those that are read or selected of it, row by row or
    column by column, at places that are data, on the diagonal or the largest: ranks of the right ones,
    hits, recall. Functions and others' elements come between. Half of the inputs are eighths, whose
    products are exact and often the same: elements are counted there that are no less."""

    rounding = 1e-4
    by_element = [
        lambda s: s,
        lambda s: s,
        lambda s: jnp.tanh(s / 8),  # nearer to 1 several are the same, by whose tanh?
        jnp.exp,
        lambda s: jax.nn.sigmoid(s / 8),
        lambda s: jnp.clip(s, -1, 0.5),
        lambda s: jnp.log1p(s * s),
    ]
    over = [
        *by_element,
        jax.nn.softmax,
        jax.nn.log_softmax,
        lambda s: jax.nn.softmax(s, 0),
        lambda s: jax.nn.log_softmax(s, 0),
        lambda s: s * jax.lax.rsqrt((s * s).sum(1, keepdims=True)),
        lambda s: jnp.exp((s - s.mean(1, keepdims=True)) / 20),
        lambda s: s / s.std(0),
        lambda s: s - jnp.sin(s.max(0)),
        lambda s: s + jax.nn.log_softmax(s[0]),
        lambda s: s * 0.7 - jnp.sin(s.max()),
        lambda s: s * 0.7 + jax.nn.log_softmax(jnp.sin(jnp.arange(len(s)) * s[0, 0])),
    ]
    reads = [
        lambda s, at: jnp.diagonal(s),
        lambda s, at: s[jnp.arange(len(s)), at],
        lambda s, at: jnp.take_along_axis(s, at[:, None], 1)[:, 0],
        lambda s, at: jnp.take_along_axis(s, at[:, None], 1, mode="clip")[:, 0],
        lambda s, at: jax.vmap(lambda row, i: row[i])(s, at),
        # of what s is moved, cut or changed to, and in two steps
        lambda s, at: s.ravel()[jnp.arange(len(s)) * len(s) + at],
        lambda s, at: s.T[at, jnp.arange(len(s))],
        lambda s, at: -(-s)[jnp.arange(len(s)), at],
        lambda s, at: jnp.maximum(s, 0)[jnp.arange(len(s)), at],
        lambda s, at: s[:, :100][jnp.arange(len(s)), at % 100],
        lambda s, at: jnp.pad(jnp.diagonal(s[:100, :100]), (0, len(s) - 100)),
        lambda s, at: jnp.diagonal(s)[jnp.sort(at)],
        lambda s, at: s[:, at][jnp.arange(len(s)), at],
        # by a mask
        lambda s, at: jnp.einsum("ii->i", s),
        lambda s, at: jnp.where(jnp.arange(len(s)) == at[:, None], s, 0).sum(1),
        # by a mask that is data, and the largest of those
        lambda s, at: jnp.where(labels(s, at) > 0, s, 0).sum(1),
        lambda s, at: (s * labels(s, at)).sum(1),
        lambda s, at: jnp.full(len(s), jnp.where(labels(s, at) > 0, s, 0).sum(1).max()),
        lambda s, at: jnp.full(len(s), jnp.einsum("ij,ij->i", s, labels(s, at)).max()),
        # the largest, in a scan, too
        lambda s, at: jax.lax.map(jnp.max, s),
        lambda s, at: jax.lax.scan(lambda most, row: (jnp.maximum(most, row), None), s[0], s)[0],
        lambda s, at: jax.lax.cond(at[0] >= 0, lambda s: s.max(1), lambda s: s.min(0), s),
        lambda s, at: s[10:100].max(0),
        lambda s, at: s.max(0),
        lambda s, at: s.max(1),
        lambda s, at: jnp.where(jnp.arange(len(s)) == at[:, None], -jnp.inf, s).max(1),
        lambda s, at: s[jnp.arange(len(s)), s.argmax(1)],
        lambda s, at: s[s.argmax(0), jnp.arange(len(s))],
        lambda s, at: jax.lax.top_k(s, 5)[0][:, -1],
        lambda s, at: jnp.sort(s, 1)[:, -3],
    ]
    after = [
        lambda t, some: t,
        lambda t, some: t,
        lambda t, some: t + some,
        lambda t, some: t - some,
        lambda t, some: t * (1 + some),
        lambda t, some: jnp.where(some == 0, t, 0),
        lambda t, some: jnp.clip(t, -2, 3),
    ]

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        n, d = int(dice.integers(200, 500)), int(dice.choice([3, 16, 64, 100, 600]))
        one_of = lambda choices: choices[dice.integers(len(choices))]  # noqa: E731
        self.of, self.turned = dice.choice(["product", "distances"]), dice.integers(2, size=2)
        self.read, self.with_loss = one_of(self.reads), bool(dice.integers(2))
        self.f, self.change, self.axis = one_of(self.over), one_of(self.after), int(dice.integers(2))
        threshold = int(dice.choice([20_000, 60_000, 200_000]))
        level = ["--machine", str(one_of(running.levels() or [running.machine()]))]
        self.ways = [[*way, *level] for way in split_above(threshold, ("on", "off", "auto"))]
        is_rounded = dice.integers(2)
        self.counts = not is_rounded and self.f in self.by_element
        if is_rounded:
            self.inputs = [dice.standard_normal((n, d)).astype(np.float32) / d**0.25 for _ in range(2)]
        else:
            self.inputs = [dice.integers(-6, 7, (n, d)).astype(np.float32) / 8 for _ in range(2)]
        self.inputs.append(dice.integers(0, n, n).astype(np.int32))
        self.inputs.append((dice.integers(0, 4, n) == 3).astype(np.float32) / 8)

    def function(self, x, y, at, some):
        pairs = {
            "product": lambda: x @ y.T,
            "distances": lambda: -jnp.sum((x[:, None] - y) ** 2, -1),
        }
        s = pairs[self.of]()
        s = self.f(s.T if self.turned[0] else s)
        s = s.T if self.turned[1] else s
        t = self.change(self.read(s, at), some)
        beside = jnp.expand_dims(t, self.axis)
        found = [(s == beside).any(1).astype(int), (s >= beside).any(1).astype(int)]
        found += [(s >= beside).sum(0), (s >= beside).sum(1)] * self.counts
        return [*found, jax.nn.logsumexp(s, 1) - t] if self.with_loss else found

    def scales(self, want):
        return [max(1, np.abs(w).max()) for w in want]


class ExtremesOfNan:
    """Extremes, their places and the largest few of what has NaN, infinities and zeros of both signs,
    of all types of floats. All other numbers are small and whole, so that nothing is rounded. Not the
    signs of NaN, of which stock XLA's hang on what it fuses."""

    rounding = 1e-6
    between = [
        lambda d, y: d,
        lambda d, y: jnp.maximum(d, 0),
        lambda d, y: jnp.minimum(y, d),
        lambda d, y: jnp.clip(d, -1, y),
        lambda d, y: jnp.maximum(d * 0, -0.0 * d),
        lambda d, y: jnp.maximum(d * d, y * y),
        lambda d, y: jnp.minimum(jnp.abs(d), jnp.abs(y)),
        lambda d, y: jnp.where(d > y, d, -y),
    ]
    ends = [
        lambda z, axis: z.max(axis),
        lambda z, axis: z.min(axis),
        lambda z, axis: jnp.argmax(z, axis),
        lambda z, axis: jnp.argmin(z, axis),
        lambda z, axis: (jnp.signbit(z) & ~jnp.isnan(z)).sum(axis),
        lambda z, axis: jax.lax.top_k(jnp.where(jnp.isnan(z), 2, z), 4)[1],
    ]

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        dtype = jnp.dtype(dice.choice(["float32", "float64", "float16", "bfloat16"]))
        self.special = dice.choice([np.nan, np.inf, -np.inf, 0.0], 2, replace=False)
        self.inputs = [self.vector(dice, n).astype(dtype) for n in (301, 517)]
        self.pairs, self.made = dice.integers(2), self.between[dice.integers(len(self.between))]
        self.read = [(self.ends[i], int(dice.integers(2))) for i in dice.permutation(len(self.ends))[:3]]
        levels = running.levels() or [running.machine()]
        level = ["--machine", str(dice.choice(levels))]
        self.ways = [[*way, *level] for way in split_above("8kB")]

    def vector(self, dice, n):
        x = dice.integers(-8, 9, n).astype(float)
        for number in self.special:
            x[dice.integers(0, n, 3)] = number
        return np.where(x == 0, dice.choice([0.0, -0.0], n), x)

    def function(self, x, y):
        z = self.made(x[:, None] + y if self.pairs else x[:, None] * y, y)
        return [part for end, axis in self.read for part in self.parts(end(z, axis))]

    @staticmethod
    def parts(found):
        """What an array comes to as numbers, and what is known of each beside."""
        if not jnp.issubdtype(found.dtype, jnp.floating):
            return [found]
        finite = jnp.where(jnp.isfinite(found), found, 0).astype(jnp.float32)
        is_nan = jnp.isnan(found)
        return [finite, is_nan.astype(int), (jnp.signbit(found) & ~is_nan).astype(int)]

    def scales(self, want):
        return [1] * len(want)
