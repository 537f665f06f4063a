"""The scenarios that eXLA, the first splitter of XLA programs, was tested with, and those that its
rules get wrong or leave alone (arXiv 2206.14148 and its published code), at small sizes.

Numbers are compared with unsplit XLA, and no tensor above the threshold is left anywhere: not in
the function, not in the bodies of its loops.
"""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
LARGE, THRESHOLD = 1201, 100_000  # a prime: no slice divides it
ELEMENT_BYTES = {"f32": 4, "f64": 8, "i32": 4, "ui32": 4, "i64": 8, "i1": 1}


def uniform(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def integers(*shape):
    return RNG.integers(-9, 10, shape).astype(np.int32)


A, B, LINE = uniform(LARGE, 2), uniform(LARGE, 2), uniform(LARGE)
FEW = uniform(90, 2)
X3, Y3 = uniform(LARGE, 3), uniform(LARGE, 3)


def bytes_of(type_):
    *dims, dtype = type_.split("x")
    return math.prod(map(int, dims)) * ELEMENT_BYTES[dtype]


def large_types(text, arguments):
    """Types above the threshold, anywhere in the program, but those of arguments."""
    names = {"float32": "f32", "int32": "i32"}
    own = {"x".join([*map(str, a.shape), names[str(a.dtype)]]) for a in arguments}
    found = set(re.findall(r"tensor<([0-9x]*[a-z]+[0-9]+)>", text))
    return {t for t in found - own if bytes_of(t) > THRESHOLD}


def split(text, folder, *options):
    (folder / "program.mlir").write_text(text)
    rewritten = running.opt(folder / "program.mlir", "--tensor-size-threshold", THRESHOLD, *options)
    assert "stablehlo.while" in rewritten
    return rewritten


def kernel(a, b):
    return jnp.exp(a @ b.T)


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def iota(dimension):
    return lax.broadcasted_iota(jnp.float32, (LARGE, LARGE), dimension)


def sums_from(init):
    """Of integers, so that the init can't hide in a rounding."""

    def f(x, y):
        products = x[:, None] * y[None]
        along = [lax.reduce(products, np.int32(init), lax.add, (d,)) for d in (0, 1)]
        return *along, lax.reduce(products, np.int32(init), lax.add, (0, 1))

    return f


@pytest.mark.parametrize("init", [0, 1, -7])
def test_a_sum_starts_once(init, tmp_path):
    """In the evaluator, against numpy: XLA CPU counts the initial value once for each piece of a
    long sum, split or not.
    """
    x, y = integers(LARGE), integers(LARGE)
    rewritten = split(jax.jit(sums_from(init)).lower(x, y).as_text(), tmp_path)
    products = x[:, None] * y[None]
    expected = products.sum(0) + init, products.sum(1) + init, products.sum() + init
    results = running.Evaluator(tmp_path, (x, y))(rewritten)
    for found, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(found, right)


def argmin_of(axis):
    def f(x, y):
        d = jnp.abs(x[:, None] - y[None])
        return jnp.argmin(d, axis), jnp.min(d, axis)

    return f


def both_outputs(axis):
    """argmin and its value from one reduce of two operands; of equals the lower index."""

    def smaller(a, b):
        (x, i), (y, j) = a, b
        first = (x < y) | ((x == y) & (i < j))
        return jnp.where(first, x, y), jnp.where(first, i, j)

    def f(x, y):
        d = jnp.abs(x[:, None] - y[None])
        at = lax.broadcasted_iota(jnp.int32, d.shape, axis)
        start = (np.float32(np.inf), np.int32(2**31 - 1))
        return lax.reduce((d, at), start, smaller, (axis,))

    return f


def argmax_of_three(x, y):
    """argmax over the last of three dimensions; ties are many."""
    d = jnp.abs(x[None, :, :] - y[:, None, :])
    return jnp.argmax(d, -1), d.max((0, 2))


def nested_sums(x, y, z):
    """Sums of sums whose dimensions are numbered anew by each."""
    d = x[:, None, None] * y[None, :, None] * z[None, None, :]
    inner = jnp.exp(d).sum(1)  # [x, z]
    return inner.sum(0), jnp.log(inner).max(1), (inner[:, None, :] * y[None, :, None]).sum((0, 1))


TWO = uniform(40, 30)
SCENARIOS = {  # name: function, arguments
    "exp(A B^T) v": (lambda a, b, v: kernel(a, b) @ v, (A, B, LINE)),
    "v exp(A B^T)": (lambda a, b, v: v @ kernel(a, b), (A, B, LINE)),
    "E^T E": (lambda a, b: kernel(a, b).T @ kernel(a, b), (A, FEW)),
    "E E^T v": (lambda a, b, v: kernel(a, b) @ (kernel(a, b).T @ v), (A, FEW, LINE)),
    "contracts the rhs's first dimension": (
        lambda a, b, c: c @ kernel(a, b),
        (A, FEW, uniform(7, LARGE)),
    ),
    "a scalar broadcast": (lambda s, v: jnp.broadcast_to(s, (LARGE, LARGE)) @ v, (uniform(), LINE)),
    "a vector broadcast, by rows": (
        lambda x, v: jnp.exp(jnp.broadcast_to(x[:, None], (LARGE, LARGE))) @ v,
        (LINE, LINE[::-1].copy()),
    ),
    "a vector broadcast, by columns": (
        lambda x, v: jnp.exp(jnp.broadcast_to(x, (LARGE, LARGE))) @ v,
        (LINE, LINE[::-1].copy()),
    ),
    "iota along its dimension": (lambda v: iota(0) @ v, (LINE,)),
    "iota along another": (lambda v: iota(1) @ v, (LINE,)),
    "maximum of iota": (lambda s: ((iota(0) + s).max(1), (iota(1) * s).max(1)), (uniform(),)),
    "argmin, kept dimension": (argmin_of(1), (LINE, LINE[:900].copy())),
    "argmin, reduced dimension": (argmin_of(0), (LINE, LINE[:30].copy())),
    "argmin of a line": (lambda x: jnp.argmin(jnp.sin(x[:, None] * x[None]).reshape(-1)), (LINE,)),
    "argmin with its value": (both_outputs(1), (LINE, LINE[:900].copy())),
    "argmin with its value, reduced dimension": (both_outputs(0), (LINE, LINE[:30].copy())),
    "argmax over the last of three": (argmax_of_three, (integers(50, 61), integers(40, 61))),
    "nested sums": (lambda x, y, v: jnp.exp(-distances(x, y)) @ v, (X3, Y3, uniform(LARGE, 2))),
    "nested sums, dimensions numbered anew": (nested_sums, (uniform(31), uniform(61), uniform(43))),
    "products of a matrix with two contractions": (
        lambda x, y, z: jnp.einsum("abn,abm->nm", jnp.exp(x[:, :, None] * y), z),
        (TWO, LINE, uniform(40, 30, 5)),
    ),
    "two contractions, both operands large": (
        lambda x, y: jnp.einsum(
            "abn,abn->", jnp.exp(x[:, :, None] * y), jnp.sin(x[:, :, None] + y)
        ),
        (TWO, LINE),
    ),
    "batches": (
        lambda x, y: jnp.einsum("bij,bjk->bik", jnp.exp(x[:, :, None] * x[:, None]), y),
        (uniform(23, 61), uniform(23, 61, 4)),
    ),
    "batches in the middle": (
        lambda x, y: jnp.einsum("ibj,jkb->bik", jnp.exp(x[:, :, None] * x.T[None]), y),
        (uniform(61, 23), uniform(61, 4, 23)),
    ),
    "dot of a vector with itself": (
        lambda a, b: jnp.vdot(kernel(a, b), kernel(a, b)),
        (A, B),
    ),
    "top-k of each query": (lambda x, y: lax.top_k(-distances(x, y), 5), (X3, Y3[:200].copy())),
    "top-k over the data": (
        lambda x, y: lax.top_k(-distances(x, y), 5),
        (X3[:9].copy(), uniform(LARGE * 7, 3)),
    ),
    "top-k larger than a slice": (
        lambda x, y: lax.top_k(-distances(x, y), 300),
        (X3[:40].copy(), Y3),
    ),
    "top-k with ties": (
        lambda x, y: lax.top_k(jnp.abs(x[:, None] - y[None]), 9),
        (integers(20), integers(LARGE * 3)),
    ),
    "(A B^T) C": (lambda a, b, c: (a @ b.T) @ c, (A, B, uniform(LARGE, 2))),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name, tmp_path):
    f, arguments = SCENARIOS[name]
    text = jax.jit(f).lower(*arguments).as_text()
    assert large_types(text, arguments), "nothing to split"
    rewritten = split(text, tmp_path, "--skip", "chain,gram")  # which have their own tests
    assert not large_types(rewritten, arguments)
    found, expected = (running.Xla(t)(*arguments) for t in (rewritten, text))
    assert len(found) == len(expected)
    for x, y in zip(found, expected):
        if x.dtype == np.int32:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=2e-5 * np.abs(y).max(initial=1e-30))
