"""The chain pass on what JAX writes: the order of the products by the shapes of what they give, and
the numbers in the reference evaluator and on stock XLA."""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import running
from running import lowered

PASSES = "inline,simplify,fold-transpose,chain,cse,dce"


def passed(text, tmp_path, passes=PASSES):
    return running.rewritten(text, tmp_path, f"--pass={passes}")


def products(text):
    """The shapes that the program's products give, in order."""
    found = re.findall(r"stablehlo\.dot_general\"\(.*-> tensor<(.*)x?[fui]\d+>", text)
    return [tuple(int(d) for d in shape.split("x") if d) for shape in found]


def data(dtype, shapes):
    dice = np.random.default_rng(0)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return [dice.integers(info.min, info.max, s, dtype) for s in shapes]
    return [dice.standard_normal(s).astype(dtype) for s in shapes]


def check(f, inputs, tmp_path):
    """The rewritten program; its numbers are right."""
    text = lowered(f, *inputs)
    rewritten = passed(text, tmp_path)
    evaluate = running.Evaluator(tmp_path, inputs)
    pairs = [(evaluate(text), evaluate(rewritten))]
    pairs.append((running.Xla(text)(*inputs), running.Xla(rewritten)(*inputs)))
    for want, got in pairs:
        assert len(want) == len(got)
        for w, g in zip(want, got):
            assert w.dtype == g.dtype and w.shape == g.shape
            if np.issubdtype(w.dtype, np.integer):
                np.testing.assert_array_equal(w, g)
            else:
                bound = {4: 1e-4, 8: 1e-11}[w.dtype.itemsize] * np.abs(w).max()
                np.testing.assert_allclose(w, g, rtol=0, atol=bound)
    return rewritten


N = 40
SQUARE, WIDE = (N, 2), (2, N)


def square(p):
    return (2.0 * p) @ p.T


def all_pairs(p):
    return jnp.einsum("iab,jab->ij", p, p)


# what is written; shapes of the operands; shapes of the products in the best order
ORDERS = {
    "chain of 4": (
        lambda a, b, c, d: ((a @ b) @ c) @ d,
        [(40, 20), (20, 30), (30, 10), (10, 30)],
        [(20, 10), (40, 10), (40, 30)],
    ),
    "chain 10x20x30x40x30 is best as written": (
        lambda a, b, c, d: ((a @ b) @ c) @ d,
        [(10, 20), (20, 30), (30, 40), (40, 30)],
        [(10, 30), (10, 40), (10, 30)],
    ),
    "chain 10x20x30x40x30 from the right": (
        lambda a, b, c, d: a @ (b @ (c @ d)),
        [(10, 20), (20, 30), (30, 40), (40, 30)],
        [(10, 30), (10, 40), (10, 30)],
    ),
    "chain + add": (
        lambda a, b, c, d: ((a @ b) @ c) @ d + 1,
        [(40, 20), (20, 30), (30, 10), (10, 30)],
        [(20, 10), (40, 10), (40, 30)],
    ),
    "matrix-vector chain that ends in an inner product": (
        lambda a, b, c, v, u: u @ (((a @ b) @ c) @ v),
        [(40, 20), (20, 30), (30, 10), (10,), (40,)],
        [(20,), (30,), (10,), ()],
    ),
    "(A B^T) C": (
        lambda a, b, c: (a @ b.T) @ c,
        [(1000, 2)] * 3,
        [(2, 2), (1000, 2)],
    ),
    "C^T (A B^T), mirrored": (
        lambda a, b, c: c.T @ (a @ b.T),
        [(1000, 2)] * 3,
        [(2, 2), (2, 1000)],
    ),
    "transposed products": (
        lambda a, b, c: (a @ b).T @ c,
        [(N, 2), (2, N), (N, 3)],
        [(2, 3), (N, 3)],
    ),
    "(A B)^T v": (
        lambda a, b, v: jnp.transpose(a @ b) @ v,
        [SQUARE, WIDE, (N,)],
        [(2,), (N,)],
    ),
    "scalars": (
        lambda a, b, v, s: -((2.0 * (a @ b) * s / 3.0) @ v),
        [SQUARE, WIDE, (N,), ()],
        [(2,), (N,)],
    ),
    "batch dimensions": (
        lambda a, b, v: jnp.einsum("bij,bjk->bik", a, b) @ v,
        [(3, N, 2), (3, 2, N), (3, N, 1)],
        [(3, 2, 1), (3, N, 1)],
    ),
    "a batch dimension that is summed over": (
        lambda a, b, d: jnp.einsum("bik,bkl->il", jnp.einsum("bij,bjk->bik", a, b), d),
        [(3, N, 2), (3, 2, N), (3, N, 4)],
        [(3, 2, 4), (N, 4)],
    ),
    "several contracted dimensions": (
        lambda a, b, c: jnp.einsum("ijk,ijl->kl", jnp.einsum("ip,pjk->ijk", a, b), c),
        [(N, 2), (2, 5, 7), (N, 5, 3)],
        [(2, 5, 3), (7, 3)],
    ),
    "outer product": (
        lambda u, v, w: jnp.einsum("i,j->ij", u, v) @ w,
        [(N,), (N,), (N,)],
        [()],
    ),
    "outer products, all pairs multiplied": (
        lambda x, y: all_pairs(jnp.einsum("ia,ib->iab", x, y)),
        [(N, 30), (N, 20)],
        [(N, N), (N, N), (N, N)],
    ),
    "columns times rows, all pairs multiplied": (
        lambda x, y: all_pairs(x[:, :, None] @ y[:, None]),
        [(N, 30), (N, 20)],
        [(N, 1, N, 1)] * 2 + [(N, N)],
    ),
    "columns and rows": (
        lambda u, v, w: (u @ v) @ w,
        [(N, 1), (1, N), (N,)],
        [(1,), (N,)],
    ),
    "a tree of two sides": (
        lambda a, b, c, d: (a @ b) @ (c @ d),
        [(2, N), (N, N), (N, N), (N, 2)],
        [(2, N), (N, 2), (2, 2)],
    ),
    "a power": (lambda a, b, v: ((a @ b) @ (a @ b)) @ v, [SQUARE, WIDE, (N,)], [(2,), (N,), (2,), (N,)]),
    "a product times its transpose, which is positive": (
        lambda a, b: square(a @ b),
        [(20, 20), (20, 3000)],
        [(20, 3000), (20, 20)],
    ),
    "that times a vector": (
        lambda a, b, v: square(a @ b) @ v,
        [SQUARE, WIDE, (N,)],
        [(2,), (N,), (2,), (N,)],
    ),
    "a shared product that does not survive": (
        lambda a, b, v, w: ((a @ b) @ v, (a @ b).T @ w),
        [SQUARE, WIDE, (N,), (N,)],
        [(2,), (N,), (2,), (N,)],
    ),
    "a shared product that survives": (
        lambda a, b, c, d: ((a @ b) @ c, (a @ b) @ d),
        [(2, N), (N, 2), (2, N), (2, N)],
        [(2, 2), (2, N), (2, N)],
    ),
    "a shared product that is a result too": (
        lambda a, b, v: (a @ b, (a @ b) @ v),
        [SQUARE, WIDE, (N,)],
        [(N, N), (2,), (N,)],
    ),
    "a shared product that something else needs": (
        lambda a, b, c, v: (jnp.sin((a @ b) @ c), ((a @ b) @ c) @ v),
        [SQUARE, (2, N), SQUARE, (2,)],
        [(2, 2), (N, 2), (N,)],
    ),
    "integers": (
        lambda a, b, c: (a @ b.T) @ c,
        [(N, 2)] * 3,
        [(2, 2), (N, 2)],
    ),
}


@pytest.mark.parametrize("what", ORDERS)
def test_order(what, tmp_path):
    f, shapes, wanted = ORDERS[what]
    dtype = "int32" if what == "integers" else ["float32", "float64"][len(what) % 2]
    rewritten = check(f, data(dtype, shapes), tmp_path)
    assert sorted(products(rewritten)) == sorted(wanted)


# ---- against the textbook ----
def flops(text):
    """Every index of a matrix product is in two of the three shapes."""
    types = re.findall(
        r'dot_general"\(.* : \(tensor<(.*)>, tensor<(.*)>\) -> tensor<(.*)>', text
    )
    sizes = [[math.prod(int(d) for d in t.split("x")[:-1]) for t in three] for three in types]
    return sum(2 * math.isqrt(math.prod(three)) for three in sizes)


def best(dims, cap):
    """The least operations of a matrix chain whose intermediates have at most `cap` elements."""
    n = len(dims) - 1
    cost = {(i, i + 1): 0 for i in range(n)}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            ways = [
                cost[i, k] + cost[k, j] + 2 * dims[i] * dims[k] * dims[j] for k in range(i + 1, j)
            ]
            fits = length == n or dims[i] * dims[j] <= cap
            cost[i, j] = min(ways) if fits else math.inf
    return cost[0, n]


def random_tree(dice, factors, sizes):
    """A product of the factors in a random order, some of it transposed; notes what there is."""
    sizes.append(factors[0][1][0] * factors[-1][1][1])
    if len(factors) == 1:
        return factors[0][0]
    k = int(dice.integers(1, len(factors)))
    left, right = random_tree(dice, factors[:k], sizes), random_tree(dice, factors[k:], sizes)
    if dice.random() < 0.4:
        return lambda m: (right(m).T @ left(m).T).T
    return lambda m: left(m) @ right(m)


@pytest.mark.parametrize("n", [3, 4, 5, 7, 9, 10, 11, 13, 20])
def test_random_chains(n, tmp_path):
    for seed in range(3):
        dice = np.random.default_rng([n, seed])
        dims = [int(d) for d in dice.choice([1, 2, 3, 5, 8, 13, 21, 34], n + 1)]
        shapes = list(zip(dims, dims[1:]))
        factors = [(lambda m, i=i: m[i], shape) for i, shape in enumerate(shapes)]
        sizes = []
        tree = random_tree(dice, factors, sizes)
        matrices = [dice.standard_normal(s) for s in shapes]
        folder = tmp_path / str(seed)
        folder.mkdir()
        before = flops(passed(lowered(lambda *m: tree(m), *matrices), folder, "inline,simplify"))
        after = flops(check(lambda *m: tree(m), matrices, folder))
        least = best(dims, max(sizes))
        assert after == (least if least * 1.5 <= before else before)


# ---- any product ----
class Network:
    """Products of integers over named indices: kept, summed over, in any order of dimensions, in
    between transposed, scaled or negated; some used twice. Or of floats of that size, each product
    divided by it."""

    def __init__(self, seed, size=None):
        self.dice = np.random.default_rng(seed)
        self.size = size
        self.extents = dict(zip("abcdefgh", self.dice.choice([1, 2, 3, 4, 6], 8).tolist()))
        self.inputs, self.made = [], []

    def leaf(self):
        names = "".join(self.dice.permutation(list("abcdefgh"))[: self.dice.integers(0, 4)])
        shape = [self.extents[n] for n in names]
        numbers = self.dice.integers(-9, 9, shape)
        self.inputs.append(np.float32(self.size) * numbers.astype(np.float32) if self.size else numbers)
        i = len(self.inputs) - 1
        return names, lambda m: m[i]

    def tree(self, size):
        if self.made and self.dice.random() < 0.15:
            return self.made[self.dice.integers(len(self.made))]
        if size == 1:
            return self.leaf()
        k = int(self.dice.integers(1, size))
        (x, left), (y, right) = self.tree(k), self.tree(size - k)
        both = [n for n in x if n in y]
        summed = [n for n in both if self.dice.random() < 0.6]
        names = [n for n in dict.fromkeys(x + y) if n not in summed]
        names = "".join(self.dice.permutation(names) if self.dice.random() < 0.5 else names)
        factor = int(self.dice.choice([1, 1, 1, -1, 3]))
        rule, cache = f"{x},{y}->{names}", {}
        if self.size:
            factor = 1 / self.size

        def product(m):
            if id(m) not in cache:
                cache[id(m)] = jnp.einsum(rule, left(m), right(m)) * factor
            return -cache[id(m)] if factor == -1 else cache[id(m)]

        if len(names) <= 5:
            self.made.append((names, product))
        return names, product


@pytest.mark.parametrize("seed", range(40))
def test_random_networks(seed, tmp_path):
    """To the bit: integers wrap."""
    net = Network(seed)
    outputs = [net.tree(int(net.dice.integers(3, 9)))[1] for _ in range(int(net.dice.integers(1, 3)))]
    text = lowered(lambda *m: [f(m) for f in outputs], *net.inputs)
    evaluate = running.Evaluator(tmp_path, net.inputs)
    for want, got in zip(evaluate(text), evaluate(passed(text, tmp_path))):
        assert want.shape == got.shape
        np.testing.assert_array_equal(want, got)


def whitened(w, x):
    z = w @ x
    return z @ z.T / x.shape[1]


def test_whitened_points_are_uncorrelated(tmp_path):
    """Their spread in one direction is a thousand times that in another."""
    dice = np.random.default_rng(0)
    turn, _ = np.linalg.qr(dice.standard_normal((20, 20)))
    x = turn * np.logspace(0, -3, 20) @ dice.standard_normal((20, 3000))
    w = np.linalg.inv(np.linalg.cholesky(x @ x.T / 3000))
    w, x = w.astype(np.float32), x.astype(np.float32)
    text = lowered(whitened, w, x)
    (got,) = running.Evaluator(tmp_path, [w, x])(passed(text, tmp_path))
    np.testing.assert_allclose(got, np.eye(20), rtol=0, atol=1e-4)


@pytest.mark.parametrize("size", [1e7, 1e-7])
def test_random_networks_of_extremes(size, tmp_path):
    """Of seven such numbers no product is one that f32 has."""
    changed = 0
    for seed in range(30):
        net, folder = Network(seed, size), tmp_path / str(seed)
        folder.mkdir()
        tree = net.tree(7)[1]
        text = lowered(tree, net.inputs)
        evaluate, rewritten = running.Evaluator(folder, net.inputs), passed(text, folder)
        changed += rewritten != passed(text, folder, PASSES.replace("chain,", ""))
        for want, got in zip(evaluate(text), evaluate(rewritten)):
            assert np.isfinite(want).all()
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * max(np.abs(want).max(), size))
    assert changed >= 10, "too few have another order"


# ---- what is left alone ----
def mixed_precision(a, b, c):
    return jnp.matmul(jnp.matmul(a, b, precision="highest"), c)


def through(f):
    return lambda a, b, c: f(a @ b) @ c


LEFT_ALONE = {
    "a function in between": through(jnp.exp),
    "a sum in between": through(lambda x: x + 1),
    "a diagonal in between": through(lambda x: x * jnp.arange(N, dtype=x.dtype)),
    "a barrier": through(jax.lax.optimization_barrier),
    "a cast": through(lambda x: x.astype(jnp.float64).astype(x.dtype)),
    "two precisions": mixed_precision,
    "also a result, and small": lambda a, b, c: (b @ a, (b @ a) @ b),
    "also summed, and small": lambda a, b, c: ((b @ a).sum(), (b @ a) @ b),
    "wider results": lambda a, b, c: (
        jnp.matmul(
            jnp.matmul(a, b, preferred_element_type=jnp.float64),
            c.astype(jnp.float64),
        )
    ),
}


@pytest.mark.parametrize("what", [*LEFT_ALONE, "bfloat16", "float16", "complex64"])
def test_left_alone(what, tmp_path):
    f = LEFT_ALONE.get(what, through(lambda x: x))
    dtype = "float32" if what in LEFT_ALONE else what
    text = lowered(f, *(jax.ShapeDtypeStruct(s, dtype) for s in [SQUARE, WIDE, (N, 1)]))
    others = PASSES.replace("chain,", "")
    assert passed(text, tmp_path) == passed(text, tmp_path, others)


def test_small_gains_are_not_worth_other_roundings(tmp_path):
    text = lowered(lambda a, b, c: (a @ b) @ c, *data("float32", [(30, 25), (25, 30), (30, 20)]))
    assert products(passed(text, tmp_path)) == [(30, 30), (30, 20)]
    limited = running.opt(tmp_path / "program.mlir", "--memory-limit", 10**9)
    assert products(limited) == []  # untouched


def test_an_order_with_a_larger_intermediate_is_not_taken(tmp_path):
    """The least operations would need 60 x 60; nothing there has more than 200 elements."""
    shapes = [(60, 2), (2, 60), (60, 1), (1, 1)]
    text = lowered(lambda a, b, c, d: a @ (b @ (c @ d)), *data("float32", shapes))
    assert (60, 60) not in products(passed(text, tmp_path))


def test_in_a_loop_body_and_in_branches(tmp_path):
    def f(a, b, v, p):
        v = jax.lax.fori_loop(0, 3, lambda i, v: (a @ b) @ v / 50, v)
        return jax.lax.cond(p > 0, lambda v: (b.T @ a.T) @ v, lambda v: -v, v)

    inputs = [*data("float64", [SQUARE, WIDE, (N,)]), np.float64(1)]
    rewritten = check(f, inputs, tmp_path)
    assert (N, N) not in products(rewritten)
