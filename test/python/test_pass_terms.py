"""Sums of matrices that few vectors are multiplied with: never made, and results as of the program as
it came. In whiles, on either side, of random sums.
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

sys.path.insert(0, str(running.ROOT / "bench/experiments"))
import sums  # noqa: E402

N = 300
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(N, N)), RNG.normal(size=(N, N))
P, Q = RNG.normal(size=(N, 20)), RNG.normal(size=(20, N))
V, W = RNG.normal(size=N), RNG.normal(size=(N, 3))
ONE_MATRIX = 8 * N * N


def low_rank(a, p, q, v):
    return v @ (a - p @ q), (2 * p @ q + a.T) @ v


def inner_while(a, b, w):
    def step(w, _):
        return jax.lax.fori_loop(0, 2, lambda _, w: 0.01 * ((a + b) @ w), w), None

    return jax.lax.scan(step, w, length=2)[0]


CASES = {
    "Lanczos": (functools.partial(sums.lanczos, steps=8), (A, V)),
    "a centred Gram matrix": (functools.partial(sums.centred_gram, count=3), (P, W)),
    "low rank": (low_rank, (A, P, Q, V)),
    "a while in a while": (inner_while, (A, B, W)),
}
# Whatever is predicted for it.
ALONE = ["--pass", "inline,simplify,fold-transpose,cse,dce,terms,dce"]


def made(arguments, tmp_path, f, *options):
    held = sum(x.nbytes for x in arguments)
    limit = str(held + ONE_MATRIX // 10)
    named = ("--memory-limit", limit, "--machine", "x86-64-v4")  # which way is faster is its say
    return running.rewrite(f, arguments, tmp_path, *named, *options)


@pytest.mark.parametrize("name", CASES)
def test_no_sum_of_matrices(name, tmp_path):
    f, arguments = CASES[name]
    text, rewritten = made(arguments, tmp_path, f)
    assert "dynamic_slice" not in rewritten.replace("dynamic_update_slice", ""), "something is split"
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * np.abs(y).max())


ROWS = RNG.normal(size=(3, 8, 3000))
APART = {
    "a vector for each row": (lambda a, b, x: jnp.einsum("ij,ij->i", a + b, x), ROWS),
    "a product of rows that are alike": (
        lambda a, p, v: (p @ jnp.broadcast_to(v, (20, N)) + a) @ v,
        (A, P, V),
    ),
    "a product of one column": (lambda a, v: (v[:, None] @ v[None] + a) @ v, (A, V)),
}


@pytest.mark.parametrize("name", APART)
def test_shapes_apart(name, tmp_path):
    f, arguments = APART[name]
    text, rewritten = running.rewrite(f, arguments, tmp_path, *ALONE)
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * np.abs(y).max())


def test_without_the_pass_the_sum_is_made_in_slices(tmp_path):
    f, arguments = CASES["Lanczos"]
    _, rewritten = made(arguments, tmp_path, f, "--skip", "terms")
    assert '"stablehlo.dynamic_slice"' in rewritten


def test_a_difference_of_data_keeps_its_digits(tmp_path):
    """Exact where two are alike, as weights before and after a step are; made of terms it is not."""
    a = A.astype(np.float32)
    arguments = a, (a * np.float32(1 + 1e-6)), V.astype(np.float32)
    f = lambda a, b, v: ((a - b) @ v, (b.T - a.T) @ v, (a + -b) @ v, (-2 * b + a + a) @ v)
    text, rewritten = running.rewrite(f, arguments, tmp_path, *ALONE)
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-5 * np.abs(y).max())


def random_matrix(dice, depth):
    """(A function of a, b, p, q, v; its text.)"""
    kind = dice.choice(["sum", "difference", "scaled", "turned", "negated"] if depth else ["a", "b", "pq", "row", "column"])
    if depth == 0:
        return {
            "a": (lambda a, b, p, q, v: a, "a"),
            "b": (lambda a, b, p, q, v: b, "b"),
            "pq": (lambda a, b, p, q, v: p @ q, "pq"),
            "row": (lambda a, b, p, q, v: jnp.broadcast_to(jnp.sin(v), (N, N)), "row"),
            "column": (lambda a, b, p, q, v: jnp.broadcast_to(v[:, None], (N, N)), "column"),
        }[kind]
    f, name = random_matrix(dice, depth - 1)
    g, other = random_matrix(dice, dice.integers(depth))
    scale = dice.choice(["number", "row", "column", "quotient"])
    by = {
        "number": lambda x, v: 0.5 * x,
        "row": lambda x, v: x * v,
        "column": lambda x, v: v[:, None] * x,
        "quotient": lambda x, v: x / (2 + jnp.cos(v)),
    }[scale]
    return {
        "sum": (lambda *x: f(*x) + g(*x), f"({name} + {other})"),
        "difference": (lambda *x: g(*x) - f(*x), f"({other} - {name})"),
        "scaled": (lambda *x: by(f(*x), x[-1]), f"{scale}({name})"),
        "turned": (lambda *x: f(*x).T, f"{name}.T"),
        "negated": (lambda *x: -f(*x), f"-{name}"),
    }[kind]


@pytest.mark.parametrize("seed", range(12))
def test_random_sums(seed, tmp_path):
    dice = np.random.default_rng(seed)
    f, name = random_matrix(dice, 4)
    thin = W if seed % 2 else V

    def program(a, b, p, q, v, x):
        m = f(a, b, p, q, v)
        return m @ x, x.T @ m, sum(y.sum() for y in (a, b, p, q, v))  # no argument is left out

    arguments = (A, B, P, Q, V, thin)
    text, rewritten = running.rewrite(program, arguments, tmp_path, *ALONE)
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10 * np.abs(y).max(), err_msg=name)
