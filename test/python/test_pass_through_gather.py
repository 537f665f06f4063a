"""The elements pass on what JAX writes for labels: the same as stock XLA and the reference evaluator,
with labels out of bounds and negative, NaNs and infinities elsewhere; what it leaves alone; and
cross-entropies whose logits nobody holds."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import running
from jax import lax
from kernel_running import folder  # noqa: F401 (a fixture: tiles can be made)

PASSES = "--pass=inline,simplify,ranges,dce,through-gather,simplify,cse,dce"
N, D, V = 7, 4, 30


def data(dtype, seed=0, labels=np.int32, awkward=True):
    dice = np.random.default_rng(seed)
    x, w, b = (dice.normal(size=s).astype(dtype) for s in [(N, D), (V, D), (V,)])
    y = dice.integers(0, V, N).astype(labels)
    if awkward and np.issubdtype(labels, np.signedinteger):
        y[:4] = -1, -V - 3, V, V + 9
    if awkward and np.issubdtype(dtype, np.floating):
        w[V - 2, 0], w[3, 1], b[1] = np.nan, np.inf, -np.inf
        y[4] = 3
    return x, w, b, y


def picked(a, y, mode="fill"):
    return jnp.take_along_axis(a, y[:, None], axis=1, mode=mode)[:, 0]


def softcapped(x, w, b):
    return 3 * jnp.tanh((x @ w.T + b) / 3)


def windows(m, rows, columns, sizes):
    return jax.vmap(lambda i, j: lax.dynamic_slice(m, (i, j), sizes))(rows, columns)


READS = {
    "windows": lambda x, w, b, y: windows(jnp.tanh(x @ w.T), y[:6] % 8, y[:6], (2, 2)),
    "windows in rows": lambda x, w, b, y: windows(x @ w.T + b, y[1:], y[:-1], (1, 3)),
    "windows of counts": lambda x, w, b, y: windows(
        x @ w.T, jnp.arange(6).astype(y.dtype), y[1:], (3, 1)
    ),
    "rows of windows": lambda x, w, b, y: lax.gather(
        x @ w.T,
        jnp.stack([y[:4] % N, y[2:6]], 1).astype(jnp.int32).reshape(2, 2, 2),
        lax.GatherDimensionNumbers((1,), (0,), (0, 1)),
        (1, 5),
        mode="clip",
    ),
    "take": lambda x, w, b, y: picked(x @ w.T, y),
    "clip": lambda x, w, b, y: picked(x @ w.T, y, "clip"),
    "bias": lambda x, w, b, y: picked(x @ w.T + b, y),
    "softcap": lambda x, w, b, y: picked(softcapped(x, w, b), y, "clip"),
    "shifted": lambda x, w, b, y: picked(x @ w.T - (x @ w.T).max(1, keepdims=True), y, "clip"),
    "log_softmax": lambda x, w, b, y: picked(jax.nn.log_softmax(x @ w.T + b), y, "clip"),
    "index": lambda x, w, b, y: (x @ w.T + b)[jnp.arange(N), y],
    "index_columns": lambda x, w, b, y: (w @ x.T)[y, jnp.arange(N)],
    "reversed_rows": lambda x, w, b, y: (x @ w.T)[N - 1 - jnp.arange(N), y],
    "several": lambda x, w, b, y: jnp.take_along_axis(x @ w.T, jnp.stack([y, y // 2], 1), 1),
    "counts": lambda x, w, b, y: picked(lax.broadcasted_iota(jnp.int32, (N, V), 1) * 2, y),
    "mask": lambda x, w, b, y: picked((x @ w.T > b) & (jnp.arange(V) > 4), y),
    "converted": lambda x, w, b, y: picked((x @ w.T).astype(jnp.bfloat16), y).astype(x.dtype),
    "sliced": lambda x, w, b, y: picked((x @ w.T)[:, 2:27:2], y // 3, "clip"),
    "batched": lambda x, w, b, y: jax.vmap(lambda s: picked(s * x @ w.T, y))(jnp.arange(3.0)),
    "columns": lambda x, w, b, y: picked(x[:, 1:] @ w[:, 1:].T + w[:, 0], y),
    "diagonal": lambda x, w, b, y: (x @ w[:N].T)[jnp.arange(N), jnp.arange(N)],
}
WRITES = {
    "add": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), y].add(b[:N]),
    "set": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), y].set(-jnp.inf),
    "multiply": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), y].multiply(b[:N]),
    "max": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), y].max(b[:N]),
    "columns": lambda x, w, b, y: (w @ x.T).at[y, jnp.arange(N)].add(b[:N]),
    "gradient": lambda x, w, b, y: jax.grad(lambda a: (picked(a, y) * b[:N]).sum())(x @ w.T),
    "zeros": lambda x, w, b, y: jnp.zeros((N, V), x.dtype).at[jnp.arange(N), y].add(b[:N]),
    "diagonal": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), jnp.arange(N)].add(b[:N]),
    "each": lambda x, w, b, y: jax.vmap(lambda i: b.at[i].set(7.0))(jnp.arange(N)),
    "each_next": lambda x, w, b, y: jax.vmap(lambda i: b.at[i + 3].mul(i))(jnp.arange(V)),
    "column": lambda x, w, b, y: (x @ w.T).at[jnp.arange(N), 2].set(b[:N]),
}


def check(f, inputs, folder):
    return running.check_passes(f, inputs, folder, PASSES)


@pytest.mark.parametrize("labels", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("spelling", READS)
def test_reads(spelling, labels, tmp_path):
    seed = list(READS).index(spelling)
    dtype = [np.float32, np.float64][seed % 2]
    rewritten = check(READS[spelling], data(dtype, seed, labels), tmp_path)
    if spelling not in ("shifted", "log_softmax", "converted"):  # also read whole; bf16: see below
        assert f"tensor<{N}x{V}x" not in rewritten, "the whole tensor is still there"


def test_rows_are_read_in_the_order_of_the_sum(tmp_path):
    """Of equal extents: only the values tell whether one side is transposed."""
    dice = np.random.default_rng(0)
    x, w = (dice.normal(size=(n, D, D)).astype(np.float32) for n in (N, 400))

    def f(x, w, y):
        return picked(lax.dot_general(x, w, (([1, 2], [2, 1]), ([], []))), y, "clip")

    rewritten = check(f, (x, w, dice.integers(0, 400, N)), tmp_path)
    assert f"tensor<{N}x400x" not in rewritten


@pytest.mark.parametrize("labels", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("spelling", WRITES)
def test_writes(spelling, labels, tmp_path):
    rewritten = check(WRITES[spelling], data(np.float32, 1, labels), tmp_path)
    assert "stablehlo.scatter" not in rewritten


LEFT_ALONE = {
    "an argument": (lambda x, w, b, y: picked(x, y % D), "gather"),
    "rows": (lambda x, w, b, y: jnp.exp(x)[y], "gather"),
    "most of a product": (
        lambda x, w, b, y: jnp.take_along_axis(x @ w.T, jnp.tile(y[:, None], (1, V // 2)), 1),
        "gather",
    ),
    "entries that meet": (lambda x, w, b, y: jnp.zeros((N, V)).at[y % N, y].add(1.0), "scatter"),
    "windows": (lambda x, w, b, y: jnp.zeros((V, D)).at[y].add(x), "scatter"),
    "windows of rows": (
        lambda x, w, b, y: jax.vmap(lambda i: lax.dynamic_slice_in_dim(jnp.exp(w), i, 2))(y[:2]),
        "gather",
    ),
    "windows as large as half": (
        lambda x, w, b, y: windows(jnp.exp(x @ w.T), y[:6], y[:6], (4, 5)),
        "gather",
    ),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_left_alone(case, tmp_path):
    f, op = LEFT_ALONE[case]
    assert f"stablehlo.{op}" in check(f, data(np.float64, 3), tmp_path)


def sides(x):
    return jnp.stack([x, x + x, -x], 1)


BATCHED = {
    "an argument": lambda x, w, b, y: x[jnp.arange(N), y % D],
    "columns": lambda x, w, b, y: lax.cumsum(x).T[y % D, jnp.arange(N)],
    "many a row": lambda x, w, b, y: lax.cumsum(x)[jnp.arange(N)[:, None], jnp.stack([y, y], 1)],
    "windows": lambda x, w, b, y: sides(x)[jnp.arange(N), y % 3],
    "vmapped": lambda x, w, b, y: jax.vmap(lambda s: (x * s)[jnp.arange(N), y % D])(x[:, 0]),
    "put": lambda x, w, b, y: x.at[jnp.arange(N), y % D].set(7.0),
    "windows added": lambda x, w, b, y: sides(x).at[jnp.arange(N), y % 3].add(w[:N]),
    "gradient": lambda x, w, b, y: jax.grad(
        lambda x: (lax.cumsum(x)[jnp.arange(N), y % D] ** 2).sum()
    )(x),
}
NOT_BATCHED = {
    "fewer rows": lambda x, w, b, y: x[jnp.arange(N - 2), y[2:] % D],
    "another order": lambda x, w, b, y: x[N - 1 - jnp.arange(N), y % D],
    "rows that are data": lambda x, w, b, y: x[y % N, y % D],
    "rows that overlap": lambda x, w, b, y: jax.vmap(
        lambda i: lax.dynamic_slice_in_dim(x, i, 2)
    )(jnp.arange(N)),
    "windows of some rows": lambda x, w, b, y: sides(x)[jnp.arange(N - 2), y[2:] % 3],
}


@pytest.mark.parametrize("spelling", BATCHED)
def test_own_indices_are_batches(spelling, tmp_path):
    rewritten = check(BATCHED[spelling], data(np.float64, 4, awkward=False), tmp_path)
    (numbers,) = re.findall(r"stablehlo.(?:gather|scatter)<(.*?)>", rewritten)
    batch = "operand_batching_dims|input_batching_dims"
    assert re.search(rf"(?:{batch}) = \[\d", numbers)


@pytest.mark.parametrize("spelling", NOT_BATCHED)
def test_other_indices_are_none(spelling, tmp_path):
    rewritten = check(NOT_BATCHED[spelling], data(np.float64, 4, awkward=False), tmp_path)
    assert "stablehlo.gather" in rewritten and "batching_dims = [0" not in rewritten


def test_once_an_index(tmp_path):
    """The second dimension that the same index names stays indexed."""
    dice = np.random.default_rng(0)
    x = dice.normal(size=(N, N, D))
    g = lambda x, y: lax.cumsum(x)[jnp.arange(N), jnp.arange(N), y % D]
    rewritten = check(g, (x, dice.integers(0, D, N)), tmp_path)
    assert "operand_batching_dims = [0]," in rewritten and "start_index_map = [1, 2]" in rewritten


def knots(x, w, v):
    """Splines whose knots each row has of its own, found by bisection."""
    p = jax.nn.softmax(jnp.tanh(x @ w).reshape(-1, 4, 9)[..., 1:], -1)
    c = jnp.cumsum(p, -1)
    i = jnp.clip(jax.vmap(jax.vmap(jnp.searchsorted))(c, x), 0, 7)[..., None]
    at = lambda a: jnp.take_along_axis(a, i, -1)[..., 0]
    return jnp.mean(at(c) * x / at(p)) + jnp.sum(jnp.sin(at(c)) @ v)


def test_knots_of_rows_hold_a_tenth():
    dice = np.random.default_rng(6)
    x, w, v = (dice.random(s).astype(np.float32) for s in [(5000, 4), (4, 36), (4, 3)])
    held.check_a_tenth(jax.value_and_grad(knots, (1, 2)), x, w, v, rtol=1e-3, atol=1e-4)


# ---- whole losses, split ----
def nll(logits, y):
    picked = jnp.take_along_axis(logits, y[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def optax_nll(logits, y):
    """As optax.softmax_cross_entropy_with_integer_labels writes it."""
    logits -= lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    picked = jnp.take_along_axis(logits, y[..., None], axis=-1)[..., 0]
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(logits), axis=-1)) - picked)


def one_hot_nll(logits, y):
    log_p = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.sum(jax.nn.one_hot(y, logits.shape[-1]) * log_p, -1))


def indexed_nll(logits, y):
    rows = jnp.arange(logits.shape[0])
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - logits[rows, y])


def log_softmax_nll(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))


LOSSES = [nll, optax_nll, log_softmax_nll, one_hot_nll, indexed_nll]
LINEAR = {
    "plain": lambda x, w, b: x @ w.T,
    "bias": lambda x, w, b: x @ w.T + b,
    "softcap": softcapped,
    "columns": lambda x, w, b: x[:, 1:] @ w[:, 1:].T + w[:, 0],
}


@pytest.mark.parametrize("tile", ["off", "on"])
@pytest.mark.parametrize("linear", LINEAR)
@pytest.mark.parametrize("loss", LOSSES)
def test_loss_without_logits(loss, linear, tile, tmp_path, request):
    n, d, v = 70, 20, 900
    dice = np.random.default_rng(5)
    x, w, b = (dice.normal(size=s).astype(np.float32) for s in [(n, d), (v, d), (v,)])
    y = dice.integers(0, v, n).astype(np.int32)
    y[3] = -4

    def f(x, w, b, y):
        value = lambda x, w, b: loss(LINEAR[linear](x, w, b), y)
        return jax.value_and_grad(value, (0, 1, 2))(x, w, b)

    text = jax.jit(f, keep_unused=True).lower(x, w, b, y).as_text()
    got = running.rewritten(text, tmp_path, "--tensor-size-threshold", 100_000, "--tile", tile)
    outside = re.sub(r'body = "(\\.|[^"\\])*"', "", got)
    assert f"tensor<{n}x{v}xf32>" not in outside and f"tensor<{v}x{n}xf32>" not in outside
    if tile == "on":
        request.getfixturevalue("folder")
        assert outside.count("weir_tile") == 2 and "stablehlo.while" not in outside
    for want, have in zip(running.Xla(text)(x, w, b, y), running.Xla(got)(x, w, b, y), strict=True):
        np.testing.assert_allclose(have, want, rtol=2e-5, atol=2e-6)
