"""Tiles with running statistics and products: softmax, logsumexp and their gradients as one pass, for
masked rows, infinities, NaN and every remainder of rows, columns and points, against stock XLA."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import logsumexp

import running
from running import lowered
import weir
from running import in_this_process
from kernel_running import count, difference, folder, tiled  # noqa: F401 (a fixture)

SHAPES = [(7, 33), (61, 64), (100, 1025), (1040, 130)]
POINTS = [9, 16, 40, 64, 130]


def inputs(n, m, e, dtype, seed=0, d=5, heads=2):
    rng = np.random.default_rng(seed)
    shapes = [(heads, n, d), (heads, m, d), (heads, m, e)]
    return [rng.normal(size=s).astype(dtype) for s in shapes]


def scores(q, k):
    return jnp.einsum("hid,hjd->hij", q, k)


def causal(s):
    rows, columns = (jax.lax.broadcasted_iota(np.int32, s.shape, axis) for axis in (1, 2))
    return jnp.where(rows >= columns, s, -jnp.inf)


def softmax(q, k, v):
    return jax.nn.softmax(scores(q, k), -1) @ v


def causal_softmax(q, k, v):
    return jax.nn.softmax(causal(scores(q, k)), -1) @ v


def late_softmax(q, k, v):
    """The first rows, and the first blocks of the others, are masked."""
    s = scores(q, k)
    rows, columns = (jax.lax.broadcasted_iota(np.int32, s.shape, axis) for axis in (1, 2))
    shown = (rows > 2) & (columns + 3 >= s.shape[2] // 2)
    return jax.nn.softmax(jnp.where(shown, s - 200 * rows, -jnp.inf), -1) @ v


def plain_exp(q, k, v):
    """No statistic, points only."""
    return jnp.exp(-jnp.abs(scores(q, k))) @ v


def both_sums(q, k, v):
    """exp(x - max) twice over, a product and a sum with the maximum to different powers."""
    s = scores(q, k)
    top = jnp.max(s, -1, keepdims=True)
    p = jnp.exp(s - top)
    return p @ v, jnp.sum(p * p, -1), logsumexp(s, -1)


def growing_sum(q, k, v):
    """exp(max - x) may overflow on the way: its own pass."""
    s = scores(q, k)
    return jnp.sum(jnp.exp(0.1 * jnp.max(s, -1, keepdims=True) - s * s), -1)


def read_again(q, k, v):
    """A sum that is brought to a new maximum, point by point, in a second pass."""
    s = scores(q, k)
    o = jnp.exp(s - jnp.max(s, -1, keepdims=True)) @ v
    return jnp.sum(jnp.exp(-((o @ jnp.sin(jnp.swapaxes(v, 1, 2)) / (1 + jnp.abs(s))) ** 2)), -1)


def negative(q, k, v):
    s = scores(q, k)
    return jax.nn.softmax(-3 * s, -1) @ v, logsumexp(-s * s, -1), jnp.min(s, -1)


def both_ways(q, k, v):
    """Statistics along rows and along columns."""
    s = scores(q, k)
    return logsumexp(s, 2), jnp.sum(jnp.tanh(s), 1)


def gradients(q, k, v):
    return jax.grad(lambda *a: jnp.sum(jnp.sin(softmax(*a))), (0, 1, 2))(q, k, v)


def causal_gradients(q, k, v):
    return jax.grad(lambda *a: jnp.sum(jnp.sin(causal_softmax(*a))), (0, 1, 2))(q, k, v)


def logsumexp_gradients(q, k, v):
    return jax.grad(lambda q, k: jnp.sum(logsumexp(scores(q, k), -1) ** 2), (0, 1))(q, k)


def sinkhorn(q, k, v):
    """Statistics along the rows go into statistics along the columns: two tiles."""
    cost = scores(q, k)
    f = -logsumexp(v[:, None, :, 0] - cost, 2)
    g = -logsumexp(f[:, :, None] - cost, 1)
    return f, g


def sinkhorn_steps(q, k, v):
    def step(_, fg):
        f, g = fg
        cost = jnp.sum((q[:, :, None] - k[:, None]) ** 2, -1)
        f = -0.5 * logsumexp((g[:, None] - cost) / 0.5, 2)
        return f, -0.5 * logsumexp((f[:, :, None] - cost) / 0.5, 1)

    return jax.lax.fori_loop(0, 3, step, (q[:, :, 0], k[:, :, 0]))


FUNCTIONS = [
    softmax,
    causal_softmax,
    late_softmax,
    plain_exp,
    both_sums,
    growing_sum,
    read_again,
    negative,
    both_ways,
    gradients,
    causal_gradients,
    logsumexp_gradients,
    sinkhorn,
    sinkhorn_steps,
]


def compare(function, arguments, folder, at_least=1):
    """The problems found, where at least so many loops are tiles."""
    text = lowered(function, *arguments)
    heads, n, m = arguments[0].shape[0], arguments[0].shape[1], arguments[1].shape[1]
    threshold = max(64, heads * n * m * arguments[0].itemsize // 3)
    program = tiled(text, folder, "--tensor-size-threshold", threshold)
    assert count(program) >= at_least, f"{function.__name__} is no kernel"
    want, got = running.results(text, arguments), running.results(program, arguments)
    return [p for w, g in zip(want, got, strict=True) if (p := difference(w, g))]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extents(function, dtype, folder):  # noqa: F811
    problems = []
    for i, (n, m) in enumerate(SHAPES):
        e = POINTS[(i + (dtype == np.float64)) % len(POINTS)]
        heads = 1 + i % 3
        problem = compare(function, inputs(n, m, e, dtype, i, heads=heads), folder, at_least=0)
        problems += [f"{n} x {m}, {e} points: {p}" for p in problem]
    assert not problems, "\n".join(problems)
    assert not compare(function, inputs(100, 90, 17, dtype, heads=1), folder)


AWKWARD = {
    "inf": lambda q, k, v: (q, with_value(k, (0, 40, 0), np.inf), v),
    "nan": lambda q, k, v: (q, with_value(k, (1, 33, 1), np.nan), v),
    "nan row": lambda q, k, v: (with_value(q, (0, 5, 2), np.nan), k, v),
    "inf value": lambda q, k, v: (q, k, with_value(v, (0, 70, 3), np.inf)),
    "nan value": lambda q, k, v: (q, k, with_value(v, (0, 2, 8), np.nan)),
    "large": lambda q, k, v: (30 * q, 30 * k, v),
    "zero": lambda q, k, v: (0 * q, k, v),
}


def with_value(x, index, value):
    x = x.copy()
    x[index] = value
    return x


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_awkward_values(case, dtype, folder):  # noqa: F811
    """A NaN or an infinity where stock XLA has one, and nowhere else."""
    problems = []
    for function in (softmax, causal_softmax, late_softmax, both_sums, negative):
        with np.errstate(all="ignore"):
            arguments = AWKWARD[case](*inputs(50, 600, 20, dtype))
        problems += [f"{function.__name__}: {p}" for p in compare(function, arguments, folder)]
    assert not problems, "\n".join(problems)


@in_this_process
@pytest.mark.parametrize("machine", running.levels())
def test_kept_values_of_fewer_rows_than_a_tile(machine, monkeypatch):
    """Phases with exponentials take fewer rows at once, which lie in one group of packed rows: the
    gradient of a sparse Gaussian process, in which two products follow each other."""
    monkeypatch.setenv("WEIR_MACHINE", machine)
    monkeypatch.syspath_prepend(running.ROOT / "examples")
    sparse = importlib.import_module("p3_sgpr")
    arguments = sparse.make_inputs(40_011, 8, 100)
    with jax.enable_x64(True):
        stock = jax.jit(jax.value_and_grad(sparse.bound))(*arguments)
        with weir.limit("14MB"):
            limited = jax.jit(jax.value_and_grad(lambda *a: sparse.bound(*a)))(*arguments)
    for got, want in zip(*map(jax.tree.leaves, (limited, stock)), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * np.max(np.abs(want)))
