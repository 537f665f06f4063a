"""Random programs in which a product over a long dimension follows from another one.

A seed stands for functions of x[d, n], z[e, n], small matrices, vectors and a number, in f32 or
f64: sums of scaled and turned terms that are multiplied with x or z once more, and products of x
and z that are results themselves.
"""

import random

import jax.numpy as jnp
import numpy as np

LONG, SHORT = [40, 64, 90], [1, 2, 3, 5]
TERMS = 3


class Grams:
    def __init__(self, seed):
        dice = random.Random(seed)
        self.dtype = dice.choice([np.float32, np.float64])
        self.n, self.d, self.e = dice.choice(LONG), *dice.sample(SHORT, 2)
        self.choices = [dice.randrange(1 << 30) for _ in range(4)]
        self.numbers = np.random.default_rng(seed)

    def inputs(self):
        d, e, n = self.d, self.e, self.n
        shapes = [(d, n), (e, n), (d, d), (d, e), (e, d), (n,), (d,), ()]
        made = [self.numbers.normal(size=shape).astype(self.dtype) for shape in shapes]
        return made[:-1] + [np.asarray(1.5, self.dtype)]

    def function(self, x, z, dd, de, ed, y, c, s):
        dice = random.Random(self.choices[0])
        out = [self.scaled(dice, x, s) @ self.scaled(dice, x, s).T]
        if dice.random() < 0.7:
            out.append(self.product(dice, self.scaled(dice, z, s), x))
        for number in self.choices[1:]:
            dice = random.Random(number)
            terms = [self.term(dice, x, z, dd, de, ed, y, c, s) for _ in range(dice.randint(1, TERMS))]
            right = self.scaled(dice, dice.choice([x, x, z]), s)
            total = self.summed(dice, terms)
            if right.shape == x.shape and dice.random() < 0.4:
                out.append((self.scaled(dice, total, s) * right).sum())
            out.append(self.product(dice, total, right))
        return [*out, z, dd, de, ed, y, c, s]

    @staticmethod
    def scaled(dice, v, s):
        return dice.choice([lambda: v, lambda: v / s, lambda: s * v, lambda: -v, lambda: -v / s])()

    @staticmethod
    def product(dice, a, b):
        """a b^T, or b a^T, as rows or as columns."""
        if dice.random() < 0.5:
            a, b = b, a
        return a @ b.T if dice.random() < 0.5 else jnp.einsum("ji,jk->ik", a.T, b.T)

    def term(self, dice, x, z, dd, de, ed, y, c, s):
        """[d, n]"""
        made = dice.choice(
            [
                lambda: dd @ x,
                lambda: dd.T @ self.scaled(dice, x, s),
                lambda: de @ z,
                lambda: (self.scaled(dice, z, s).T @ ed).T,
                lambda: jnp.tensordot(c, y, axes=0),
                lambda: self.scaled(dice, x, s),
                lambda: jnp.sin(x),
            ]
        )()
        return self.scaled(dice, made, s)

    @staticmethod
    def summed(dice, terms):
        total = terms[0]
        for t in terms[1:]:
            total = total + t if dice.random() < 0.6 else total - t
        return total
