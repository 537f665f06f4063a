"""Random programs that multiply infinities and NaN by masks, which XLA selects by in some forms.

A seed stands for one `function` of `inputs`, the `ways` to rewrite it (arguments of `weir opt`), and
how far off results may be: `rounding` of `scales`. Values of all pairs are infinite or NaN at few of
them, and masked there. What stock XLA leaves infinite or NaN is not judged: it multiplied.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import grad, lax

from random_extremes import split_above

ROUNDING = {"float64": 1e-10, "float32": 2e-4, "float16": 2e-2, "bfloat16": 6e-2}


class Masks:
    """Of points u, v, weights w, and a mask of pairs p; `choices` says what was drawn."""

    has_infinities = True
    VALUES = {
        "quotient": lambda d: 1 / d,
        "root": lambda d: lax.rsqrt(jnp.abs(d)),
        "logarithm": lambda d: jnp.log(jnp.abs(d)),
        "nan": lambda d: jnp.sin(d) / d,
        "cube": lambda d: d / jnp.abs(d) ** 3,
    }
    PLACES = ("compared", "operand", "transposed", "both", "counted", "rows", "columns")
    CONVERTED = {
        "once": lambda p, dtype: p.astype(dtype),
        "whole": lambda p, dtype: p.astype(np.int32).astype(dtype),
        "chosen": lambda p, dtype: jnp.where(p, jnp.ones(p.shape, dtype), jnp.zeros(p.shape, dtype)),
        "complement": lambda p, dtype: 1 - (~p).astype(dtype),
    }
    PRODUCTS = {
        "left": lambda x, m: m * x,
        "right": lambda x, m: x * m,
        "scaled": lambda x, m: (x * 2) * m,
        "twice": lambda x, m: (x * m) * m,
        "unit": lambda x, m: (x[None] * m[None])[0],
        "doubled": lambda x, m: (x * m) * 2,
    }
    READERS = ("rows", "columns", "largest", "product", "dot", "dot_left", "deep", "gradient", "scan", "statistic", "part")

    ACROSS = ("across", "across_right", "across_columns", "across_all", "across_deep")

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        self.dtype = np.dtype(dice.choice(["float64", "float64", "float32", "float32", "float32", "float16", "float16", "bfloat16"]))
        names = {"value": list(self.VALUES), "place": self.PLACES, "product": list(self.PRODUCTS)}
        names |= {"converted": ["once"] * 16 + list(self.CONVERTED), "reader": self.READERS}
        self.choices = {k: str(dice.choice(v)) for k, v in names.items()}
        if seed % 7 == 3:  # not by the dice: seeds stay what they were
            self.choices["reader"] = self.ACROSS[seed // 7 % len(self.ACROSS)]
        self.is_shared = bool(dice.integers(2))  # the converted mask has another reader
        self.rounding = ROUNDING[self.dtype.name]
        n, m = (int(s) for s in dice.choice([64, 100, 129, 257], 2))
        m = n if self.choices["place"] == "counted" else m
        u, v = np.arange(n) / 8, (np.arange(m) + 0.5) / 8
        at = dice.integers(m, size=3)
        v[at] = u[dice.integers(n, size=3)]
        u, v = (u, u) if self.choices["place"] == "counted" else (u, v)
        wide = np.float64 if self.dtype == np.float64 else np.float32
        inputs = (u, v, dice.standard_normal((m, 3)))
        self.inputs = [x.astype(wide) for x in inputs] + [(u[:, None] != v).T.copy()]
        self.ways = split_above(int(n * m * self.dtype.itemsize // dice.choice([2, 5])))

    def distances(self, u, v):
        """Zero where the mask is false."""
        shape = (len(u), len(v))
        if self.choices["place"] in ("rows", "columns"):
            axis = int(self.choices["place"] == "columns")
            middle = (u, v)[axis][len((u, v)[axis]) // 2]
            return lax.broadcast_in_dim((u, v)[axis] - middle, shape, (axis,))
        return u[:, None] - v[None]

    def mask(self, d, u, v, p):
        i, j = (lax.broadcasted_iota(np.int32, d.shape, axis) for axis in (0, 1))
        return {
            "compared": lambda: u[:, None] != v[None],
            "operand": lambda: lax.transpose(p, (1, 0)),
            "transposed": lambda: (v[:, None] != u[None]).T,
            "both": lambda: (u[:, None] != v[None]) & (i % 7 != j % 5),
            "counted": lambda: i != j,
            "rows": lambda: d != 0,
            "columns": lambda: d != 0,
        }[self.choices["place"]]()

    def masked(self, u, v, p):
        """The values, their mask as numbers, their product."""
        d = self.distances(u, v)
        x = self.VALUES[self.choices["value"]](d)
        mask = self.CONVERTED[self.choices["converted"]](self.mask(d, u, v, p), self.dtype)
        return x, mask, self.PRODUCTS[self.choices["product"]](x, mask)

    def masked_statistic(self, u, d):
        """Of all pairs what is largest in a row, masked by row: read again in all pairs, and the mask."""
        far = u - u[len(u) // 2]
        rows = self.VALUES[self.choices["value"]](lax.broadcast_in_dim(far, d.shape, (0,)) + 0 * d)
        mask = self.CONVERTED[self.choices["converted"]](far != 0, self.dtype)
        largest = self.PRODUCTS[self.choices["product"]](rows.max(1), mask)
        return (d * largest[:, None]).sum(0), mask

    def function(self, u, v, w, p):
        u, v, w = (a.astype(self.dtype) for a in (u, v, w))
        x, mask, y = self.masked(u, v, p)
        d = self.distances(u, v)
        read = {
            "rows": lambda: y.sum(1),
            "columns": lambda: y.sum(0),
            "largest": lambda: y.max(1),
            "product": lambda: y @ w,
            "dot": lambda: jnp.einsum("ij,ij->i", x, mask),
            "dot_left": lambda: jnp.einsum("ij,ij->j", mask, x),
            "across": lambda: jnp.einsum("ij,ji->i", mask, x.T),
            "across_right": lambda: jnp.einsum("ij,ji->i", x, mask.T),
            "across_columns": lambda: jnp.einsum("ij,ji->j", mask, x.T),
            "across_all": lambda: jnp.einsum("ij,ji->", mask, x.T),
            "across_deep": lambda: jnp.einsum("ij,kji->ik", mask, jnp.stack([x.T, 2 * x.T])),
            "deep": lambda: (y[:, :, None] * (d[:, :, None] + w[None])).sum(1),
            "gradient": lambda: grad(lambda w: jnp.tanh(y @ w).sum())(w),
            "scan": lambda: lax.scan(lambda s, a: (s + a[0] * a[1].sum(), a[1].max()), w[0, 0], (u, y))[1],
            "part": lambda: y[3:-9].sum(1),
            "statistic": lambda: self.masked_statistic(u, d),
        }[self.choices["reader"]]()
        beside = [mask.sum(0), mask @ w] if self.is_shared else []
        return [a.astype(jnp.promote_types(self.dtype, np.float32)) for a in (*jax.tree.leaves(read), *beside)]

    def scales(self, want):
        """Sums may be small beside their terms."""
        return [max(1, np.max(np.abs(w), initial=0, where=np.isfinite(w))) for w in want]
