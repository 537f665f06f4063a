"""Random programs of products over a long dimension that follow from others, and of triangular
solves for what is such a product.

A seed stands for functions of x[d, n], z[e, n], small matrices, vectors and a number, in f32 or
f64. `Grams`: sums of scaled and turned terms that are multiplied with x or z once more, and products
of x and z that are results themselves. `Solves`: such sums as right-hand sides of a triangular
matrix with many rows, which are read by products, by sums of squares, and whole. Of some `Grams`, x
is so large or so small that only x / s can be multiplied; in others x is far from 0, and what it
differs by from its mean, or from a matrix beside it, is multiplied with x.

`Selves`: products of a matrix of all pairs with itself, masked or turned, of which rows or columns
are reduced, and beside them other readers of the matrix; gradients of some. `Contrasts`: gradients of
losses over all pairs of rows, by softmax or by sigmoid, with respect to the rows, to what they are
made by, to a temperature and a bias.
"""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from random_lists import Program

TERMS = 3
EXTREME = {4: [1e-25, 1e22], 8: [1e-190, 1e180]}  # by bytes of the type
FAR = 1000


class Grams(Program):
    LONG, ROWS, OTHERS = [40, 64, 90], [1, 2, 3, 5], [1, 2, 3, 5]
    SIZES = ["plain", "plain", "extreme", "far"]

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([np.float32, np.float64]))
        self.n, self.d = self.dice.choice(self.LONG), self.dice.choice(self.ROWS)
        self.e = self.dice.choice([e for e in self.OTHERS if e != self.d])
        self.choices = [self.dice.randrange(1 << 30) for _ in range(4)]
        d, e, n = self.d, self.e, self.n
        shapes = [(d, n), (e, n), (d, d), (d, e), (e, d), (n,), (d,)]
        self.data = [self.numbers.normal(size=shape).astype(self.dtype) for shape in shapes]
        self.size = self.dice.choice(self.SIZES)
        number, beside = 1.5, np.zeros_like(self.data[0])
        if self.size == "extreme":
            number = self.dice.choice(EXTREME[self.dtype.itemsize])
            self.data[0] *= number
        if self.size == "far":
            self.data[0] += FAR
            self.terms = FAR
            beside = self.data[0] + self.numbers.normal(size=(d, n)).astype(self.dtype) / 16
        self.data += [np.asarray(number, self.dtype), beside]
        self.largest = self.data[0].nbytes

    def inputs(self):
        return self.data

    def function(self, x, z, dd, de, ed, y, c, s, beside):
        dice, given = random.Random(self.choices[0]), (s, beside)
        if self.size == "extreme":
            x, s = x / s, jnp.asarray(1.5, self.dtype)
        out = [self.scaled(dice, x, s) @ self.scaled(dice, x, s).T]
        if dice.random() < 0.7:
            out.append(self.product(dice, self.scaled(dice, z, s), x))
        if self.size == "far":
            differences = x - beside, x - jnp.tensordot(x.mean(1), jnp.ones_like(y), axes=0)
            out += [beside @ x.T, x.sum(1), *(self.product(dice, v, x) for v in differences)]
        for number in self.choices[1:]:
            dice = random.Random(number)
            total = self.total(dice, x, z, dd, de, ed, y, c, s)
            right = self.scaled(dice, dice.choice([x, x, z]), s)
            if right.shape == x.shape and dice.random() < 0.4:
                out.append((self.scaled(dice, total, s) * right).sum())
            out.append(self.product(dice, total, right))
        return [*out, z, dd, de, ed, y, c, *given]

    @staticmethod
    def scaled(dice, v, s):
        return dice.choice([lambda: v, lambda: v / s, lambda: s * v, lambda: -v, lambda: -v / s])()

    @staticmethod
    def product(dice, a, b):
        """a b^T, or b a^T, as rows or as columns."""
        if dice.random() < 0.5:
            a, b = b, a
        return a @ b.T if dice.random() < 0.5 else jnp.einsum("ji,jk->ik", a.T, b.T)

    def total(self, dice, x, z, dd, de, ed, y, c, s):
        """[d, n]"""
        total = self.term(dice, x, z, dd, de, ed, y, c, s)
        for _ in range(dice.randrange(TERMS)):
            t = self.term(dice, x, z, dd, de, ed, y, c, s)
            total = total + t if dice.random() < 0.6 else total - t
        return total

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


class Solves(Grams):
    LONG, ROWS, OTHERS = [260, 300, 523], [64, 65], [1, 2, 7, 40]
    SIZES, terms = ["plain"], 10

    def __init__(self, seed):
        super().__init__(seed)
        small = self.numbers.normal(size=(self.d, self.d)) / self.d
        self.data[2] = (small + np.diag(self.numbers.uniform(1, 2, self.d))).astype(self.dtype)

    def function(self, x, z, dd, de, ed, y, c, s, beside):
        out = []
        for number in self.choices[1:]:
            dice = random.Random(number)
            total = self.total(dice, x, z, dd, de, ed, y, c, s)
            way = {name: dice.random() < 0.5 for name in ("trans", "lower", "unit_diagonal")}
            solved = solve_triangular(dd, total, **way)
            out.append(self.end(dice, solved, x, z, y, s))
            if dice.random() < 0.3:
                out.append(self.end(dice, dice.choice([total, solved]), x, z, y, s))
        return [*out, x, z, dd, de, ed, y, c, s, beside]

    def end(self, dice, v, x, z, y, s):
        return dice.choice(
            [
                lambda: self.product(dice, v, self.scaled(dice, x, s)),
                lambda: v @ v.T,
                lambda: self.product(dice, v, z),
                lambda: v @ y,
                lambda: (v * v).sum(0),
                lambda: jnp.sum(jnp.sin(v) * x),
                lambda: self.scaled(dice, v, s),
            ]
        )()


class Selves(Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([np.float32, np.float64]))
        self.n = self.dice.choice([17, 40, 61, 90])
        self.terms = self.n
        self.data = [self.numbers.normal(size=self.n).astype(self.dtype) for _ in range(3)]
        self.largest = self.n * self.n * self.dtype.itemsize

    def inputs(self):
        return self.data

    def function(self, x, y, w):
        dice = random.Random(self.body)
        if dice.random() < 0.8:
            return jax.tree.leaves(self.value(x, y, w))
        loss = lambda *a: sum(jnp.sum(r * r) / self.n for r in self.value(*a))  # noqa: E731
        return jax.tree.leaves(jax.value_and_grad(loss, (0, 1))(x, y, w))

    def value(self, x, y, w):
        dice = random.Random(self.body + 1)
        pairs = x[:, None] - y
        k = dice.choice([lambda: jnp.exp(-pairs * pairs), lambda: jnp.cos(pairs), lambda: jnp.tanh(pairs)])()
        k = k / self.n**0.5
        side = lambda: dice.choice(  # noqa: E731
            [k, k, k, k.T, jnp.tril(k), k * w, k[::-1]]
        )
        product = side() @ side()
        if dice.random() < 0.2:
            product = product @ side()
        beside = [
            lambda: k.sum(1),
            lambda: k.sum(0),
            lambda: k.max(1),
            lambda: k @ w,
            lambda: jnp.diagonal(k),
            lambda: k[3],
            lambda: jnp.sum(k * k),
        ]
        ends = [
            lambda: product.sum(1),
            lambda: product.sum(0),
            lambda: jnp.abs(product).max(1),
            lambda: jnp.sin(product).sum(0),
            lambda: jnp.tanh(product) @ w,
            lambda: jnp.sum(product * k, 1),
        ]
        readers = [end() for end in dice.sample(ends, dice.choice([1, 1, 2]))]
        others = [read() for read in dice.sample(beside, dice.randrange(4))]
        return [*others, *readers] if dice.random() < 0.5 else [*readers, *others]


class Contrasts(Program):
    """Of x[n, f] and y[m, f] rows are made, by a product with weights, by towers of two layers, or
    they are rows as they come; all pairs of them are compared, in one direction or both.
    """

    terms = 10

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = np.dtype(self.dice.choice([np.float32, np.float64]))
        self.n, self.f = self.dice.choice([16, 33, 64, 90]), self.dice.choice([8, 20, 40])
        self.d, self.hidden = self.dice.choice([4, 12, 30]), self.dice.choice([6, 24, 50])
        self.m = self.dice.choice([self.n, self.n, self.n, self.n // 2 + 1, self.n + 7])
        self.made = self.dice.choice(["weights", "weights", "towers", "towers", "plain"])
        self.narrow = self.dtype == np.float32 and self.dice.random() < 0.25
        if self.narrow:
            self.rounding, self.terms = 2e-2, 0.05
        inner = self.hidden if self.made == "towers" else self.d
        shapes = [(self.n, self.f), (self.m, self.f), (self.f, inner), (self.f, inner)]
        shapes += [(inner, self.d)] * 2
        scales = [1, 1, self.f**-0.5, self.f**-0.5, inner**-0.5, inner**-0.5]
        self.data = [
            (self.numbers.normal(size=shape) * scale).astype(self.dtype)
            for shape, scale in zip(shapes, scales, strict=True)
        ]
        self.data += [np.asarray(number, self.dtype) for number in (0.7, -1.5)]
        self.data.append(self.numbers.integers(0, self.n, max(self.n, self.m)).astype(np.int32))
        self.largest = self.n * max(self.m, self.d) * self.dtype.itemsize

    def inputs(self):
        return self.data

    def function(self, x, y, *more):
        dice = random.Random(self.body)
        ways = {
            "plain": [(0, 1), (0, 1, 6), (0, 1, 6, 7)],
            "weights": [2, 2, (2, 3), (0, 2), (2, 3, 6, 7), (0, 1, 6)],
            "towers": [(2, 3, 4, 5), (2, 4), (2, 3, 4, 5, 6, 7), (0, 2, 6)],
        }
        number = dice.choice(ways[self.made])
        f = dice.choice([jax.grad, jax.value_and_grad])(self.loss, number)
        return jax.tree.leaves(f(x, y, *more))

    def rows(self, dice, z):
        z = dice.choice([lambda: z, lambda: jnp.tanh(z), lambda: jnp.sin(z)])()
        if dice.random() < 0.3:
            return z
        return z / jnp.sqrt(jnp.sum(z * z, 1, keepdims=True) + 0.1)

    def encoded(self, dice, x, first, second):
        if self.made == "plain":
            return x / self.f**0.5
        if self.made == "weights":
            return x @ first
        between = dice.choice([jax.nn.relu, jnp.tanh, jax.nn.gelu])
        return between(x @ first) @ second

    def product(self, dice, a, b):
        """All pairs; of 16 bits, wide or not."""
        if not self.narrow:
            return a @ b.T
        a, b = a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)
        wide = jnp.float32 if dice.random() < 0.7 else jnp.bfloat16
        return jnp.einsum("id,jd->ij", a, b, preferred_element_type=wide).astype(self.dtype)

    def pairs(self, dice, a, b, t, bias, names):
        """Logits."""
        number = dice.choice([1.0, 3.0, 0.5])
        ways = [
            lambda: self.product(dice, a, b) * number,
            lambda: self.product(dice, a, b) / number,
            lambda: jnp.exp(t) * self.product(dice, a, b),
            lambda: self.product(dice, t * a, b),
            lambda: self.product(dice, a, b) / t,
        ]
        logits = dice.choice(ways)()
        if dice.random() < 0.4:
            logits = logits + bias
        n, m = logits.shape
        if n == m and dice.random() < 0.2:
            logits = jnp.where(jnp.eye(n, dtype=bool), -5.0, logits)
        if dice.random() < 0.3:  # other rows of the same name are no negatives
            same = (names[:n, None] == names[None, :m]) & ~jnp.eye(n, m, dtype=bool)
            logits = jnp.where(same, dice.choice([-30.0, -jnp.inf]), logits)
        return logits

    def loss(self, x, y, w, v, w2, v2, t, bias, names):
        dice = random.Random(self.body + 1)
        a = self.rows(dice, self.encoded(dice, x, w, w2))
        is_self = self.n == self.m and self.made != "plain" and dice.random() < 0.4
        b = a if is_self else self.rows(dice, self.encoded(dice, y, v, v2))
        logits = self.pairs(dice, a, b, t, bias, names)
        k, labels = min(logits.shape), 2 * jnp.eye(*logits.shape, dtype=self.dtype) - 1
        ends = [
            lambda k_, _: -jnp.mean(jnp.diagonal(jax.nn.log_softmax(k_, 1))),
            lambda k_, _: jnp.mean(jax.nn.logsumexp(k_, 1)[:k] - jnp.diagonal(k_)),
            lambda k_, signs: -jnp.mean(jax.nn.log_sigmoid(k_ * signs)),
            lambda k_, signs: -jnp.sum(jax.nn.log_sigmoid(k_ * signs)) / k,
            lambda k_, _: jnp.mean(jnp.tanh(k_).sum(1) ** 2),
        ]
        end = dice.choice(ends)
        total = end(logits, labels)
        if dice.random() < 0.5:
            total = (total + end(logits.T, labels.T)) / 2
        return total
