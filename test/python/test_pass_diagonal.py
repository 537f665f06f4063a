"""The diagonal pass on what JAX writes: the same results, no matrix left, and what it leaves
alone."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import running

PASSES = "inline,simplify,cse,ranges,dce,off-diagonal,diagonal,simplify,cse,dce"
N, K = 23, 5
DICE = np.random.default_rng(3)
SQUARE = DICE.standard_normal((N, N)).astype(np.float32)
A, B = (DICE.standard_normal((N, K)) for _ in range(2))
BATCH = DICE.standard_normal((3, N, K)), DICE.standard_normal((3, N, K))
WIDE = DICE.standard_normal((N + 4, K))
INTS = DICE.integers(-9, 9, (N, K)).astype(np.int32)


def product(a, b):
    return a @ b.T


def kernel(a, b):
    return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))


def noisy(a, s):
    return kernel(a, a) + s * jnp.eye(N) + jnp.where(jnp.eye(N, dtype=bool), 2.0, 0.5)


def kronecker(s, a):
    """of all pairs of outputs and of points"""
    return jnp.kron(jnp.exp(s[:3] @ s[:3].T), kernel(a, a))


def blocks(a, b):
    """[points, outputs] x [points, outputs] as one matrix"""
    k = kernel(a, b)[:, None, :, None] * jnp.exp(a[:, :3, None, None] + b.T[None, None, :3].swapaxes(2, 3))
    return k.reshape(3 * N, 3 * N)


def pairs(a, b):
    """behind what is merged beside the diagonal"""
    return (a[:, None, :, None] * b[None, :, None] + 1).reshape(N, N, K * K)


S = np.float64(0.3)
CASES = {
    "diagonal": (lambda a, b: jnp.diagonal(product(a, b)), A, B),
    "diag": (lambda a, b: jnp.diag(product(a, b)), A, B),
    "above": (lambda a, b: jnp.diagonal(product(a, b), 3), A, B),
    "below": (lambda a, b: jnp.diagonal(product(a, b), -2), A, B),
    "rectangle": (lambda a, b: jnp.diagonal(product(a, b), 3), A, WIDE),
    "tall": (lambda a, b: jnp.diagonal(product(a, b)), WIDE, A),
    "trace": (lambda a, b: jnp.trace(product(a, b)), A, B),
    "trace_above": (lambda a, b: jnp.trace(product(a, b), 4), A, B),
    "trace_wide": (lambda a, b: jnp.trace(product(a, b), -1), A, WIDE),
    "einsum": (lambda a, b: jnp.einsum("ii->i", product(a, b)), A, B),
    "einsum_trace": (lambda a, b: jnp.einsum("ii", product(a, b)), A, B),
    "einsum_batch": (
        lambda a, b: jnp.einsum("bii->ib", jnp.einsum("bik,bjk->bij", a, b)),
        *BATCH,
    ),
    "batch": (
        lambda a, b: jnp.diagonal(jnp.einsum("bik,bjk->bij", a, b), 1, axis1=1, axis2=2),
        *BATCH,
    ),
    "outer_batch": (
        lambda a, b: jnp.diagonal(jnp.einsum("cik,bjk->cibj", a, b), axis1=1, axis2=3),
        *BATCH,
    ),
    "transposed": (lambda a, b: jnp.diagonal((product(a, b) * 2).T + 1, 2), A, B),
    "indices": (lambda a, b: product(a, b)[jnp.arange(N), jnp.arange(N)], A, B),
    "kernel": (lambda a, b: jnp.diagonal(kernel(a, b)), A, B),
    "kernel_trace": (lambda a, b: jnp.trace(kernel(a, b)), A, B),
    "noisy": (lambda a, s: jnp.diag(noisy(a, s)), A, S),
    "centred": (lambda a, b: jnp.diag(product(a, b) - product(a, b).mean(0)), A, B),
    "sliced": (lambda a, b: jnp.diag(product(a, b)[3:17, 5:19]), A, B),
    "strided": (lambda a, b: jnp.diag(product(a, b)[::2, 1::2]), A, B),
    "strided_trace": (lambda a, b: jnp.trace(product(a, b)[1::3, ::2], 1), A, B),
    "kronecker": (lambda s, a: jnp.diagonal(kronecker(s, a)), B, A),
    "kronecker_trace": (lambda s, a: jnp.trace(kronecker(s, a)), B, A),
    "kronecker_part": (lambda s, a: jnp.diagonal(kronecker(s, a)[5:40, 5:40]), B, A),
    "blocks": (lambda a, b: jnp.diagonal(blocks(a, b)), A, B),
    "blocks_transposed": (lambda a, b: jnp.diagonal(blocks(a, b).T * 2), A, B),
    "blocks_batch": (lambda a, b: jax.vmap(lambda s: jnp.trace(blocks(s * a, b)))(jnp.arange(1, 4.0)), A, B),
    "merged_beside": (lambda a, b: jnp.diagonal(pairs(a, b)), A, B),
    "merged_beside_above": (lambda a, b: jnp.diagonal(pairs(a, b), 2), A, B),
    "integers": (lambda a, b: jnp.trace(product(a, b)), INTS, INTS[::-1].copy()),
    "half": (
        lambda a, b: jnp.diagonal(product(a, b)).astype(np.float32),
        A.astype(np.float16),
        B.astype(np.float16),
    ),
    "cumulative": (lambda a, b: jnp.diagonal(jnp.exp(jnp.cumsum(product(a, b), 0))), A, B),
    "cumulative_trace": (lambda a, b: jnp.trace(jnp.tanh(jnp.cumsum(product(a, b), 1))), A, B),
    "argument": (lambda k: jnp.diagonal(jnp.sin(k) * 2, 1), SQUARE),
    "argument_trace": (lambda k: jnp.trace(jnp.sin(k)), SQUARE),
    "sum_of_rows": (
        lambda k: jnp.where(jnp.arange(N)[:, None] + 2 == jnp.arange(N), k * 2, 0).sum(1),
        SQUARE,
    ),
    "sum_of_columns": (
        lambda k: jnp.where(jnp.arange(N)[:, None] + 2 == jnp.arange(N), k * 2, 0).sum(0),
        SQUARE,
    ),
    "branches_off": (
        lambda k: jnp.where(jnp.arange(N)[:, None] != jnp.arange(N), 0, k * 2).sum(0),
        SQUARE,
    ),
    "loop": (
        lambda a, b: jax.lax.fori_loop(0, 3, lambda i, x: x + jnp.diag(product(a + x[:, None], b)), a[:, 0]),
        A,
        B,
    ),
}
ROUNDED = {"half": 2e-3}

LEFT_ALONE = {
    "plain": (lambda k: jnp.diagonal(k), SQUARE),
    "multiplied": (lambda k: ((k + 1) * jnp.eye(N, dtype=k.dtype)).sum(0), SQUARE),
    "maximum": (lambda k: jnp.where(jnp.eye(N, dtype=bool), k * 2, 0).max(0), SQUARE),
    "other_fill": (lambda k: jnp.where(jnp.eye(N, dtype=bool), k * 2, 1).sum(0), SQUARE),
    "triangle": (lambda k: jnp.tril(k * 2).sum(0), SQUARE),
    "kept_whole": (lambda k: jnp.where(jnp.eye(N, dtype=bool), k * 2, 0), SQUARE),
    "reversed": (lambda k: (k * 2)[jnp.arange(N), jnp.arange(N)[::-1]], SQUARE),
    "permuted": (lambda k, i: (k * 2)[i, i], SQUARE, np.arange(N)[::-1].copy()),
}


def texts(f, arrays, tmp_path, *arguments):
    with jax.enable_x64(True):
        text = jax.jit(f).lower(*arrays).as_text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    return (
        text,
        running.opt(path, f"--pass={PASSES}", *arguments),
        running.opt(path, f"--pass={PASSES.replace(',diagonal,', ',')}"),
    )


def difference(want, got):
    assert want.dtype == got.dtype and want.shape == got.shape
    if want.dtype.kind in "iub":
        return float(np.any(want != got))
    return np.abs(got - want).max() / np.abs(want).max()


@pytest.mark.parametrize("name", CASES)
def test_same_results(name, tmp_path):
    f, *arrays = CASES[name]
    text, rewritten, without = texts(f, arrays, tmp_path)
    assert rewritten != without
    evaluate = running.Evaluator(tmp_path, arrays)
    (want,), (got,) = evaluate(text), evaluate(rewritten)
    (compiled,) = running.Xla(rewritten)(*arrays)
    tolerance = ROUNDED.get(name, 1e-6 if want.dtype == np.float32 else 1e-13)
    assert difference(want, got) <= tolerance
    assert difference(want, compiled) <= tolerance


# A mean needs all rows, a cumulative sum all elements before; arguments are there anyway.
NEEDS_ALL = {"centred", "cumulative", "cumulative_trace"}


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if len(c) == 3 and n not in NEEDS_ALL])
def test_no_matrix_is_left(name, tmp_path):
    f, *arrays = CASES[name]
    _, rewritten, without = texts(f, arrays, tmp_path)
    matrix = re.compile(rf"(?<![0-9])({N}|{N + 4})x([0-9]+x)?({N}|{N + 4})x")
    assert matrix.search(without) and not matrix.search(rewritten)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name, tmp_path):
    f, *arrays = LEFT_ALONE[name]
    _, rewritten, without = texts(f, arrays, tmp_path)
    assert rewritten == without


def hollow(k):
    return k - jnp.diag(jnp.diag(k))


def hollow_by_columns(k):
    return k - jnp.where(jnp.eye(N, dtype=bool), jnp.diagonal(k)[None], 0)


FEW = A.astype(np.float32), B.astype(np.float32)
HOLLOW = {
    "diag": lambda a, b: hollow(product(a, b)),
    "columns": lambda a, b: hollow_by_columns(kernel(a, b)),
    "transposed": lambda a, b: hollow(product(a, b).T),
    "batch": lambda a, b: jax.vmap(lambda s: hollow(kernel(s * a, b)))(jnp.arange(1, 4, dtype=a.dtype)),
    "last": lambda a, b: jax.vmap(lambda s: hollow(s * product(a, b)), out_axes=2)(jnp.arange(1, 4.0)).T,
}
NOT_HOLLOW = {
    "another's": lambda a, b: product(a, b) - jnp.diag(jnp.diag(product(b, a + b))),
    "twice": lambda a, b: product(a, b) - 2 * jnp.diag(jnp.diag(product(a, b))),
    "above": lambda a, b: product(a, b) - jnp.diag(jnp.diagonal(product(a, b), 1), 1),
    "moved": lambda a, b: product(a, b) - jnp.diag(jnp.roll(jnp.diag(product(a, b)), 1)),
    "batch in turn": lambda a, b: jax.vmap(lambda s: product(s * a, b))(jnp.arange(1, 4.0))
    - jax.vmap(jnp.diag)(jax.vmap(lambda s: jnp.diag(product(s * a, b)))(jnp.arange(1, 4.0))[::-1]),
}


@pytest.mark.parametrize("name", HOLLOW | NOT_HOLLOW)
def test_a_matrix_less_its_own_diagonal(name, tmp_path):
    """Has zeros on it, not what two ways of rounding leave."""
    text, rewritten, _ = texts((HOLLOW | NOT_HOLLOW)[name], FEW, tmp_path)
    evaluate = running.Evaluator(tmp_path, FEW)
    (want,), (got,) = evaluate(text), evaluate(rewritten)
    assert difference(want, got) <= 1e-6
    zeros = np.all(np.diagonal(got, axis1=-2, axis2=-1) == 0)
    assert zeros == (name in HOLLOW)


def test_small_tensors_are_left_alone(tmp_path):
    f, *arrays = CASES["diagonal"]
    _, rewritten, without = texts(f, arrays, tmp_path, "--memory-limit", "1GB")
    assert rewritten == without


@pytest.mark.parametrize("name", ["argument", "argument_trace", "sum_of_rows"])
def test_special_values_to_the_bit(name, tmp_path):
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1], np.float32)
    array = np.random.default_rng(1).choice(special, (N, N))
    if name == "argument_trace":
        array[np.arange(N), np.arange(N)] = -0.0
    text, rewritten, _ = texts(CASES[name][0], [array], tmp_path)
    evaluate = running.Evaluator(tmp_path, [array])
    (want,), (got,) = evaluate(text), evaluate(rewritten)
    np.testing.assert_array_equal(want, got)
    np.testing.assert_array_equal(np.signbit(want), np.signbit(got))
