"""Random regions for kernels that multiply what they make with a table that is computed, too.

A seed stands for one function of x[n, 5], w[5, k], s[p], f[k] in f32 or f64 and v[k, p] of any type:
what is made of x and w, in one of several roles (ROLES), times a table made of v, s and f (TABLES).
"""

import random

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

N, K = [50, 203, 411], [100, 203, 331, 517, 1031]
P = [9, 11, 16, 17, 31, 32, 33, 40, 63, 64, 65, 129]
BF16 = ml_dtypes.bfloat16
TYPES = [  # of all but v, of v
    (np.float32, np.int8),
    (np.float32, np.uint8),
    (np.float32, np.int64),
    (np.float32, np.bool_),
    (np.float32, np.float16),
    (np.float32, BF16),
    (np.float32, np.float32),
    (np.float32, np.float64),
    (np.float64, np.float32),
    (np.float64, np.int32),
]


def along(v, axis):
    return lax.broadcasted_iota(jnp.int32, v.shape, axis)


def narrow(dtype):
    """A product that is rounded to 16 bits."""
    return lambda v, s, f: (v.astype(dtype) * s.astype(dtype)).astype(s.dtype)


def scaled(function):
    """What moves the elements of v, times s."""
    return lambda v, s, f: function(v.astype(s.dtype)) * s


def of_integers(function):
    return lambda v, s, f: function(v.astype(jnp.int32), along(v, 1)).astype(s.dtype)


TABLES = {
    "converted": scaled(lambda t: t),
    "exponential": lambda v, s, f: jnp.exp(v.astype(s.dtype) * 0.01 * s),
    "selected": lambda v, s, f: jnp.where(v > 3, s, f[:, None]),
    "compared": lambda v, s, f: (v.astype(s.dtype) > s).astype(s.dtype) * f[:, None],
    "triangle": lambda v, s, f: jnp.where(along(v, 1) <= along(v, 0), v, 0).astype(s.dtype),
    "positions": lambda v, s, f: v.astype(s.dtype) + along(v, 1) * 0.5 - along(v, 0) * 0.25,
    "remainders": of_integers(lambda t, i: (t + i * 3) % 7),
    "quotients": of_integers(lambda t, i: t // (i + t - 2)),
    "int8": lambda v, s, f: (v.astype(jnp.int8) * jnp.int8(3)).astype(s.dtype) * s,
    "uint8": lambda v, s, f: (v.astype(jnp.uint8) >> 1).astype(s.dtype) * s,
    "int64": lambda v, s, f: (v.astype(jnp.int64) * 1234567 % 1000).astype(s.dtype) * s,
    "f16": narrow(jnp.float16),
    "bf16": narrow(jnp.bfloat16),
    "transposed": lambda v, s, f: v.T.reshape(v.shape).astype(s.dtype) + s,
    "vectors": lambda v, s, f: v.astype(s.dtype) * jnp.tanh(s) + jnp.exp(-f)[:, None],
    "padded": scaled(lambda t: jnp.pad(t, ((0, 0), (2, 3)))[:, 2:-3]),
    "moved": scaled(lambda t: jnp.pad(t[:, :-2], ((0, 0), (1, 1)))),
    "moved rows": scaled(lambda t: jnp.pad(t[2:], ((1, 1), (0, 0)))),
    "rolled": scaled(lambda t: jnp.concatenate([t[:, 3:], t[:, :3]], 1)),
    "reversed": scaled(lambda t: t[:, ::-1]),
    "reversed rows": scaled(lambda t: t[::-1]),
    "gathered": lambda v, s, f: v.astype(s.dtype) * s[(jnp.arange(v.shape[1]) * 7) % 5],
    "gathered rows": lambda v, s, f: v.astype(s.dtype) * f[v[:, 0].astype(jnp.int32)][:, None],
    "softmax": lambda v, s, f: jax.nn.softmax(v.astype(s.dtype) * s * 0.01, -1),
    "a few summed": lambda v, s, f: v.astype(s.dtype) - (f[:, None] * jnp.arange(6)).sum(1)[:, None] * s,
    "points summed": lambda v, s, f: v.astype(s.dtype)
    + jnp.tanh(f[:, None, None] * s[None, :, None] * jnp.arange(1, 9).astype(s.dtype)).sum(2),
    "largest of points": lambda v, s, f: v.astype(s.dtype)
    + (v.astype(s.dtype)[:, :, None] * jnp.arange(1, 41).astype(s.dtype)).max(2),
    "clamped": lambda v, s, f: jnp.clip(v.astype(s.dtype), -s * s, f[:, None] ** 2),
    "finite": lambda v, s, f: jnp.where(jnp.isfinite(jnp.log(v.astype(s.dtype))), v.astype(s.dtype), s),
    "a row's number": lambda v, s, f: jnp.broadcast_to(f[:, None] * 2, v.shape) + 0 * v.astype(s.dtype),
    "two vectors": lambda v, s, f: jnp.broadcast_to(s * 2, v.shape) + f[:, None],
    "one hot": lambda v, s, f: (along(v, 1) == jnp.argmax(v, 1)[:, None]).astype(s.dtype) * s,
    "iterated": lambda v, s, f: lax.fori_loop(0, 5, lambda _, a: a * 0.5 + s, v.astype(s.dtype)),
    "read twice": lambda v, s, f: v.astype(s.dtype) * (s + v.T.reshape(v.shape).astype(s.dtype)),
}


def near(x, w):
    return jnp.exp(-((x[:, None, :3] - w.T[None, :, :3]) ** 2).sum(-1))


def batched(make):
    """Three batches of rows, and one of tables where make says so: (v, s, f, table) to [3, k, p]."""

    def role(x, w, v, s, f, table):
        g = jnp.maximum(jnp.einsum("bnd,dk->bnk", jnp.stack([x, x * 2, x - 1]), w), 0)
        m = make(v, s, f, table)
        return [jnp.einsum("bnk,bkp->bnp" if m.ndim == 3 else "bnk,kp->bnp", g, m)]

    return role


def two_products(x, w, v, s, f, table):
    m = table(v, s, f)
    return [jnp.tanh(x @ w) @ m + jnp.maximum(x @ w, 0) @ (m * 2)]


def both_ways(x, w, v, s, f, table):
    g = jnp.tanh(x @ w)
    return [g @ table(v, s, f), g.T @ x]


ROLES = [
    lambda x, w, v, s, f, table: [jnp.maximum(x @ w, 0) @ table(v, s, f)],
    lambda x, w, v, s, f, table: [near(x, w) @ table(v, s, f)],
    lambda x, w, v, s, f, table: [jax.nn.softmax(x @ w, -1) @ table(v, s, f)],
    lambda x, w, v, s, f, table: [((jnp.tanh(x @ w) @ table(v, s, f)) ** 2).sum(1)],
    two_products,
    both_ways,
    batched(lambda v, s, f, table: table(v, s, f)),
    batched(lambda v, s, f, table: jax.vmap(lambda s: table(v, s, f))(jnp.stack([s, s + 1, s * 2]))),
    batched(lambda v, s, f, table: jax.vmap(lambda v: table(v, s, f))(jnp.stack([v, v[::-1], v]))),
]


class Tables:
    names = list(TABLES)

    def __init__(self, seed):
        dice = random.Random(seed)
        self.dtype, self.of_table = dice.choice(TYPES)
        self.role, self.name = dice.choice(ROLES), dice.choice(self.names)
        self.n, self.k, self.p = dice.choice(N), dice.choice(K), dice.choice(P)
        self.times, self.numbers = dice.choice([2, 3, 5]), np.random.default_rng(seed)

    @property
    def large(self):
        """A sixth of it, the slices, is below the smaller of the table and what it is multiplied with."""
        return self.times * min(self.p, self.n) * self.k

    def inputs(self):
        shapes = [(self.n, 5), (5, self.k), (self.p,), (self.k,)]
        reals = [self.numbers.normal(size=shape).astype(self.dtype) for shape in shapes]
        largest = 2 if self.of_table is np.bool_ else 100
        return [*reals, self.numbers.integers(0, largest, (self.k, self.p)).astype(self.of_table)]

    def function(self, x, w, s, f, v):
        return self.role(x, w, v, s, f, TABLES[self.name])


class WideTables(Tables):
    """Without products of 16 bits, whose rounding stock XLA leaves out here and there."""

    names = [name for name in TABLES if name not in ("f16", "bf16")]
