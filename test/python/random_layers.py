"""Random nets of many layers, each of which waits for numbers of the whole batch.

A seed stands for a function of a batch x and weights in f64. `Layers`: x[n, f], products. Layers are
normalised by means and variances, largest values or norms over the rows, or, some of them, not at
all; with residuals, long ones too, and narrow and wide widths. `ImageLayers`: convolutions with
strides, holes, padding and groups, and pooling; norms of batches, groups, layers and single images.
Their values or gradients. By the seed (not by the dice, so that seeds stay what they were): layers
that hand on other types (NARROW), weights that are cut from larger ones (STORED), layers that are made again
for gradients, and values that are stretched of small ones, read by layers and by what is returned
beside.
"""

import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from random_lists import Program

NARROW = {
    "bf16": lambda z: z + z.astype(jnp.bfloat16).astype(z.dtype) / 4,
    "f16": lambda z: jnp.sin(z.astype(np.float16)).astype(z.dtype),
    "f32": lambda z: jnp.tanh(z.astype(np.float32)).astype(z.dtype) + z,
    "integers": lambda z: z + jnp.round(8 * z).astype(np.int32) / 8,
    "bytes": lambda z: z + jnp.clip(jnp.round(8 * z), -99, 99).astype(np.int8) / 8,
    "complex": lambda z: jnp.abs((z + 1j * jnp.sin(z)) * jnp.exp(1j * z) + 2),
    "predicates": lambda z: jnp.where((z > 0.3) ^ (jnp.sin(3 * z) > 0), z, z / 4),
}


def flat_parts(p, shape):
    size = p.size // shape[0]
    return [p[i * size : (i + 1) * size].reshape(shape[1:]) for i in range(shape[0])]


STORED = {  # how a stack of weights is given, and cut into those of each layer
    "stack": (lambda w: w, lambda w, shape: [w[i] for i in range(shape[0])]),
    "unstacked": (lambda w: w, lambda w, shape: jnp.unstack(w)),
    "rows": (lambda w: np.concatenate(w, 0), lambda w, shape: jnp.split(w, shape[0], 0)),
    "columns": (lambda w: np.concatenate(w, -1), lambda w, shape: jnp.split(w, shape[0], -1)),
    "vector": (np.ravel, flat_parts),
}


class Layers(Program):
    rounding = 1e-8
    terms = 0.1

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(np.float64)
        self.has_primes = seed % 11 == 6
        self.begin()
        self.narrow = list(NARROW)[seed // 3 % len(NARROW)] if seed % 3 == 2 else None
        self.has_stretched = seed % 5 == 3
        self.n_own = 2 if seed % 7 == 4 else self.count  # layers with weights of their own
        self.is_made_again = seed % 4 == 3
        stored, self.cut = STORED[list(STORED)[seed // 2 % len(STORED)] if seed % 2 else "stack"]
        self.shapes = [w.shape for w in self.data[1:]]
        self.data[1:] = map(stored, self.data[1:])

    def begin(self):
        self.n, self.f = self.dice.choice([24, 40, 61]), self.dice.choice([2, 3, 4])
        self.width = self.f * self.dice.choice([1, 2, 3])
        if self.has_primes:
            self.f, self.width = 13, 37  # blocks are left over
        self.count = self.dice.choice([10, 20, 28])
        f, wide = self.f, self.width
        shapes = [(self.n, f), (self.count, f, wide), (self.count, wide, f), (self.count, 2, wide)]
        self.data = [self.numbers.normal(size=s) / s[-2] ** 0.5 for s in shapes]
        self.largest = 4 * self.n * f * 8

    def inputs(self):
        return self.data

    def normalised(self, dice, z, c):
        two_pass = lambda z: (z - z.mean(0)) * jax.lax.rsqrt(z.var(0) + 0.1)  # noqa: E731
        moments = lambda z: (z - z.mean(0)) / jnp.sqrt((z * z).mean(0) - z.mean(0) ** 2 + 0.1)  # noqa: E731
        norm = lambda z: z / jnp.sqrt((z * z).mean() + 0.1)  # noqa: E731
        by_largest = lambda z: z / (1 + jnp.max(jnp.abs(z), 0))  # noqa: E731
        softmax = lambda z: z.shape[0] * jax.nn.softmax(z, 0) * z  # noqa: E731
        ways = [two_pass, two_pass, moments, moments, norm, by_largest, softmax, lambda z: z]
        return dice.choice(ways)(z) * (1 + c[0] / 4) + c[1] / 4

    def layer(self, dice, i, h, up, down, scales):
        z = self.normalised(dice, h @ up[i], scales[i])
        z = dice.choice([jnp.tanh, jax.nn.relu, jnp.sin])(z) @ down[i]
        return (z + h) / 2 if dice.random() < 0.6 else z

    def stretched(self, x, scales):
        """As large as x, of a few numbers."""
        few = jnp.sin(lax.slice_in_dim(scales.ravel(), 0, x.shape[-1]))
        return jnp.cos(jnp.broadcast_to(few, x.shape))

    def net(self, x, *stored):
        dice, h, before = random.Random(self.body), x, []
        weights = [self.cut(w, shape) for w, shape in zip(stored, self.shapes, strict=True)]
        own = dice.random() < 0.5  # whether layers differ in more than their weights
        for i in range(self.count):
            layer = dice if own else random.Random(self.body + 1)
            before.append(h)
            made = functools.partial(self.layer, layer, i % self.n_own)
            h = (jax.checkpoint(made) if self.is_made_again else made)(h, *weights)
            if dice.random() < 0.15:
                h = h + dice.choice([b for b in before if b.shape == h.shape] or [h]) / 2
            h = NARROW[self.narrow](h) if self.narrow and i % 2 else h
            if self.has_stretched and h.shape == x.shape:
                h = h * self.stretched(x, stored[-1])
        return h

    def loss(self, *given):
        h = self.net(*given)
        return jnp.mean(jnp.cos(h) * h)

    def beside(self, x, *weights):
        """What needs no loop: moved, and computed of such."""
        if not self.has_stretched:
            return []
        turned = lax.fori_loop(0, 2, lambda i, z: (z[::-1] + z[:1]) / 2, x)  # in no loop over rows
        made = [x.reshape(-1), turned * self.stretched(x, weights[-1])]
        return made[self.seed % 2 :]

    def function(self, *given):
        dice = random.Random(self.body + 2)
        wanted = dice.choice([(1, 2, 3), (1, 2, 3), (0,), (2, 3)])
        if dice.random() < 0.15:
            return [self.net(*given).sum(0), *self.beside(*given)]
        made = jax.tree.leaves(jax.value_and_grad(self.loss, wanted)(*given))
        return [*made, *self.beside(*given)]


class ImageLayers(Layers):
    def begin(self):
        dice = self.dice
        self.n, self.f = dice.choice([40, 61, 96]), dice.choice([2, 2, 4])
        self.space = dice.choice([(4,), (7,), (12,), (4, 4), (5, 3), (6, 6)])
        self.wide, self.count = self.f * dice.choice([1, 2]), dice.choice([4, 7, 10])
        self.taps = (3,) * len(self.space)
        self.dims = ("NHWC"[:1] + "HW"[: len(self.space)] + "C", "HW"[: len(self.space)] + "IO")
        f, wide, one = self.f, self.wide, (1,) * len(self.space)
        weights = [(*self.taps, f, f), (*one, f, wide), (*self.taps, 1, wide), (*one, wide, f)]
        shapes = [(self.n, *self.space, f), *((self.count, *s) for s in weights), (self.count, 2, wide)]
        scale = lambda s: np.prod(s[1:-1]) ** 0.5 if len(s) > 3 else 1  # noqa: E731
        self.data = [self.numbers.normal(size=s) / scale(s) for s in shapes]
        self.data[0] = self.numbers.normal(size=shapes[0])
        self.largest = 4 * self.data[0].nbytes

    def convolved(self, z, w, strides=1, padding="SAME", apart=1, groups=1, holes=1):
        k, dims = len(self.space), (self.dims[0], self.dims[1], self.dims[0])
        return lax.conv_general_dilated(
            z, w, (strides,) * k, padding, (holes,) * k, (apart,) * k, dims, groups
        )  # fmt: skip

    def normalised(self, dice, z, c):
        c, space = c[:, : z.shape[-1]], tuple(range(1, z.ndim - 1))
        batch, features = (0, *space), z.ndim - 1

        def over(axes, z):
            return (z - z.mean(axes, keepdims=True)) * lax.rsqrt(z.var(axes, keepdims=True) + 0.1)

        def moments(z):
            m = z.mean(batch)
            return (z - m) / jnp.sqrt((z * z).mean(batch) - m * m + 0.1)

        def groups(z):
            parted = z.reshape(*z.shape[:-1], 2, -1)
            return over((*space, features + 1), parted).reshape(z.shape)

        ways = [
            lambda z: over(batch, z),
            lambda z: over(batch, z),
            lambda z: over(batch, z),
            moments,
            moments,
            lambda z: over((*space, features), z),
            lambda z: over((features,), z),
            lambda z: over(space, z),
            groups,
            lambda z: z / (1 + jnp.abs(z).max(batch)),
            lambda z: over((0,), z),
            lambda z: z,
        ]
        return dice.choice(ways)(z) * (1 + c[0] / 4) + c[1] / 4

    def pooled(self, dice, z, strides=1):
        window, by = (1, *(2 for _ in self.space), 1), (1, *(strides for _ in self.space), 1)
        padding = "SAME" if strides == 1 else dice.choice(["SAME", "VALID"])
        if dice.random() < 0.5:
            return lax.reduce_window(z, -jnp.inf, lax.max, window, by, padding)
        return lax.reduce_window(z, 0.0, lax.add, window, by, padding) / 2 ** len(self.space)

    def smaller(self, dice, h, w):
        """By a stride, or where the windows fit; as it is, once it is small."""
        if min(h.shape[1:-1]) < 4:
            return h
        ways = [
            lambda: self.convolved(h, w, strides=2),
            lambda: self.convolved(h, w, padding="VALID"),
            lambda: self.convolved(h, w, strides=2, padding=[(0, 2)] * len(self.space)),
            lambda: self.pooled(dice, h, 2),
        ]
        return dice.choice(ways)()

    def layer(self, dice, i, h, same, wide, deep, narrow, scales):
        act = dice.choice([jnp.tanh, jax.nn.relu, jnp.sin])
        norm = lambda z: self.normalised(dice, z, scales[i])  # noqa: E731
        around = [(dice.randrange(3), 0) for _ in self.space]
        around = [(low, 2 - low) for low, _ in around]

        def bottleneck():
            z = act(norm(self.convolved(h, wide[i])))
            z = act(norm(self.convolved(z, deep[i], groups=self.wide)))
            return norm(self.convolved(z, narrow[i]))

        ways = [
            lambda: act(norm(self.convolved(h, same[i]))),
            lambda: norm(self.convolved(act(norm(h)), same[i], padding=around)),
            lambda: act(norm(self.convolved(h, same[i], apart=2))),
            lambda: norm(self.convolved(h, same[i][..., : self.f // 2, :], groups=2)),
            lambda: self.pooled(dice, norm(self.convolved(h, same[i]))),
            bottleneck,
            bottleneck,
            lambda: act(norm(self.smaller(dice, h, same[i]))),
            lambda: norm(self.convolved(self.convolved(h, same[i], strides=2), same[i], holes=2, padding=[(1, 2)] * len(self.space))),
        ]
        z = dice.choice(ways)()
        return (z + h) / 2 if z.shape == h.shape and dice.random() < 0.6 else z

    def function(self, *given):
        dice = random.Random(self.body + 2)
        wanted = dice.choice([(1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (0,), (1, 5), (2, 3, 4)])
        if dice.random() < 0.15:
            return [self.net(*given).sum(0), *self.beside(*given)]
        made = jax.tree.leaves(jax.value_and_grad(self.loss, wanted)(*given))
        return [*made, *self.beside(*given)]
