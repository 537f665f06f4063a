"""Scans in slices of their steps: gated recurrences whose gates are made for all steps at once, under
arguments, results and a tenth of stock's temporaries."""

import json
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running
import weir
from held import check_a_tenth, reported_bytes
from running import HONEST

sys.path[:0] = [str(running.ROOT / "bench"), str(running.ROOT / "bench/experiments")]
from training import lstm  # noqa: E402
from user_programs.kernels import kernel_kmeans  # noqa: E402

T, D = 1500, 32


def numbers(*shape, scale=1.0):
    return (np.random.default_rng(0).standard_normal(shape) * scale).astype(np.float32)


def weights(*widths):
    return [numbers(D, n, scale=D**-0.5) for n in widths]


def gated(x, w, v, reverse=False):
    """Griffin's recurrence: all states."""
    a = jnp.exp(-8 * jax.nn.softplus(x @ w))
    b = jnp.sqrt(1 - a * a + 1e-6) * jax.nn.sigmoid(x @ v) * x

    def step(h, given):
        h = given[0] * h + given[1]
        return h, h

    return lax.scan(step, jnp.zeros(x.shape[1:]), (a, b), reverse=reverse)[1]


def griffin(x, w, v, out):
    return jnp.mean((jax.nn.gelu(gated(x, w, v)) @ out) ** 2)


def backward(x, w, v, out):
    return jnp.mean((gated(x, w, v, reverse=True) @ out) ** 2)


def projected(x, w, v, out):
    return jax.nn.gelu(gated(x, w, v)) @ out


def layers(x, w, v, out):
    """The second reads what the first stacks."""
    return jnp.mean((gated(gated(x, w, v) @ v, v, w) @ out) ** 2)


def selective(x, w, v, out):
    """Mamba's: a state of D x 8."""
    dt, c = jax.nn.softplus(x @ w), x @ v[:, :8]
    decay = jnp.exp(-dt[:, :, None] * jnp.exp(v[:, 8:16]))
    given = (dt * x)[:, :, None] * (x @ v[:, 16:24])[:, None]

    def step(h, given):
        h = given[0] * h + given[1]
        return h, h

    h = lax.scan(step, jnp.zeros((D, 8)), (decay, given))[1]
    return jnp.mean((jnp.einsum("tdn,tn->td", h, c) @ out) ** 2)


def delayed(x, w, v, out):
    """The state of three steps ago, handed on from carry to carry."""

    def step(past, given):
        a, b = given
        h = 0.3 * a * past[0] + b
        return (*past[1:], h), a * past[0]

    zero = jnp.zeros(D)
    ys = lax.scan(step, (zero, zero, zero), (jax.nn.sigmoid(x @ w), jnp.tanh(x @ v)))[1]
    return jnp.mean((ys @ out) ** 2)


def cell(x, w, u, reverse=False):
    """An LSTM's: all that it puts out, and its last."""

    def step(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + h @ u, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(len(u))
    (last, _), ys = lax.scan(step, (zero, zero), x @ w, reverse=reverse)
    return ys, last


def both_ways(x, w, v, u, out):
    there, back = cell(x, w, u)[0], cell(x, v, u, reverse=True)[0]
    return jnp.mean((jnp.concatenate([there, back], -1) @ out) ** 2)


def both_last(x, w, v, u, out):
    """The states that each ends with alone."""
    return jnp.mean((jnp.concatenate([cell(x, w, u)[1], cell(x, v, u, reverse=True)[1]]) @ out) ** 2)


def there_and_back(x, w, v, u, out):
    """The second reads what the first puts out, against its direction."""
    y = cell(x, w, u)[0]
    return jnp.mean((jnp.concatenate([y, cell(y, v, u, reverse=True)[0]], -1) @ out) ** 2)


def two_layers(x, w, v, u, out):
    """Of both directions: each of the second layer reads both of the first."""
    wide = jnp.concatenate([w, v])
    for a, b in ((w, v), (wide, jnp.sin(wide))):
        x = jnp.concatenate([cell(x, a, u)[0], cell(x, b, u, reverse=True)[0]], -1)
    return jnp.mean((x @ out) ** 2)


def empty(x, w, v, u, out):
    """Beside its states the first stacks arrays without elements, which the second reads."""

    def step(h, given):
        h = jnp.tanh(given[0] + h @ u[:, :D] + given[1].sum())
        return h, (h, h[:0])

    none = jnp.zeros((len(x), 0))
    ys, none = lax.scan(step, jnp.zeros(D), (x @ w[:, :D], none))[1]
    zs = lax.scan(step, jnp.zeros(D), (ys @ v[:, :D], none), reverse=True)[1][0]
    return jnp.mean((jnp.concatenate([ys, zs], -1) @ out) ** 2)


def grad(f):
    def value_and_grad(x, *weights):
        return jax.value_and_grad(lambda weights: f(x, *weights))(weights)

    value_and_grad.__name__ = f"{f.__name__}_grad"
    return value_and_grad


BOTH = both_ways, both_last, there_and_back, two_layers
WIDTHS = {lstm: (4 * D, 4 * D, D)}
CASES = [(f, T) for f in (griffin, backward, projected, layers, lstm, selective)]
CASES += [(griffin, 1511), (projected, 1511)]  # a prime: slices overlap
BACK = [(f, T) for f in (griffin, backward, layers, lstm, selective, delayed)]
BACK += [(f, 1511) for f in (griffin, backward, lstm)]


@pytest.mark.parametrize("f, steps", CASES, ids=lambda v: getattr(v, "__name__", v))
def test_all_that_is_kept_of_steps_is_not_there(f, steps):
    check_a_tenth(f, numbers(steps, D), *weights(*WIDTHS.get(f, (D, D, D))))


@pytest.mark.parametrize("f, steps", BACK, ids=lambda v: getattr(v, "__name__", v))
def test_nor_for_gradients(f, steps):
    check_a_tenth(grad(f), numbers(steps, D), *weights(*WIDTHS.get(f, (D, D, D))))


@pytest.mark.parametrize("steps", (T, 1511))
@pytest.mark.parametrize("f", BOTH, ids=lambda f: f.__name__)
def test_nor_for_gradients_of_both_directions(f, steps):
    out = numbers(2 * D, 8, scale=D**-0.5)
    check_a_tenth(grad(f), numbers(steps, D), *weights(4 * D, 4 * D, 4 * D), out)


def limit_at(f, arguments, share):
    needs = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST).memory_analysis()
    return needs.argument_size_in_bytes + needs.output_size_in_bytes + needs.temp_size_in_bytes // share


def test_scans_of_both_directions_read_what_others_hand_on():
    """Stacks without elements are not written: the carry's result is what it began with."""
    f = grad(empty)
    arguments = numbers(T, D), *weights(4 * D, 4 * D, 4 * D), numbers(2 * D, 8, scale=D**-0.5)
    limit = limit_at(f, arguments, 3)
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    assert reported_bytes(limited) <= limit
    results = map(jax.tree.leaves, (limited(*arguments), jax.jit(f)(*arguments)))
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_what_is_made_twice_is_split_first():
    """Before gradients of gates, which are larger and read it: in slices of theirs it would stay whole."""
    f, arguments = grad(lstm), (numbers(T, D), *weights(*WIDTHS[lstm]))
    limit = limit_at(f, arguments, 20)
    want = jax.jit(f)(*arguments)
    with weir.limit(limit):
        split = jax.jit(f).lower(*arguments).compile()
    assert reported_bytes(split) <= limit
    for got, want in zip(*map(jax.tree.leaves, (split(*arguments), want)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.max(np.abs(want)))


def test_gates_are_not_made_step_by_step_where_slices_of_steps_hold(monkeypatch):
    """They would be products of a row with a matrix."""
    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v4")
    monkeypatch.setenv("WEIR_TILE", "off")
    width = 4 * D
    f, arguments = grad(griffin), (numbers(4000, width), *(numbers(width, width) / width**0.5 for _ in "wvo"))
    plan = weir.plan(f, *arguments, limit=limit_at(f, arguments, 3))
    found = json.loads(plan.data)
    assert len(found["loops"]) == 1 and found["flops_after"] < 1.4 * found["flops_before"]


def test_rows_that_steps_read_are_not_made_one_by_one_where_slices_of_steps_hold(tmp_path):
    """A greedy choice: what has something larger beside it that was kept goes."""

    def kept(x, y):
        def step(keep, read):
            i, row = read
            is_kept = ~jnp.any((row > 0.1) & keep)
            return keep.at[i].set(is_kept), is_kept

        n = x.shape[0]
        return lax.scan(step, jnp.zeros(n, bool), (jnp.arange(n), x @ y.T))[1]

    x = numbers(1200, 100)
    limit = str(limit_at(kept, (x, x), 3))
    program = tmp_path / "program.mlir"
    program.write_text(jax.jit(kept).lower(x, x).as_text())

    def rows(*options):
        split = running.opt(program, "--memory-limit", limit, "--tile", "off", "--machine", "x86-64-v3", *options)
        return [re.search(r"-> tensor<(\d+)x", line)[1] for line in split.splitlines() if "dot_general" in line]

    assert set(rows("--skip", "steps")) == {"1"} and "1" not in rows()


def test_what_neither_repeats_scans_nor_has_segments_is_not_made_by_steps(tmp_path):
    """Means in a kernel's feature space, a few steps: rows are sliced in each."""

    arguments = numbers(2850, 32), np.arange(2850, dtype=np.int32) % 16
    options = "--memory-limit", "6876537", "--tile", "auto", "--machine", "x86-64-v4"
    program = tmp_path / "program.mlir"
    program.write_text(jax.jit(kernel_kmeans).lower(*arguments).as_text())
    assert running.opt(program, *options) == running.opt(program, *options, "--skip", "steps")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_was(bad):
    """From the step on that has it, to the bit, as the steps are what they were."""
    x = numbers(T, D)
    x[T // 2, 3] = bad
    arguments = x, *weights(D, D, D)
    stock = jax.jit(gated).lower(*arguments[:3]).compile()
    limit = int(reported_bytes(stock) - 0.8 * stock.memory_analysis().temp_size_in_bytes)
    with weir.limit(limit):
        split = jax.jit(gated).lower(*arguments[:3]).compile()
    assert weir.last_report().outcome == "rewritten"
    got, want = np.asarray(split(*arguments[:3])), np.asarray(stock(*arguments[:3]))
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("read", [0, 1], ids=["counter", "state"])
def test_last_states_of_scans_that_begin_anew(read, tmp_path):
    """Every eight steps, and in a loop that is split in units of as many: a slice's is not the last."""

    def anew(given):
        def body(carry):
            i, h, hs = carry
            h = 0.5 * lax.select(lax.rem(i, 8) == 0, jnp.ones_like(h), h) + given[i]
            return i + 1, h, lax.dynamic_update_index_in_dim(hs, h, i, 0)

        first = 0, jnp.zeros(16), jnp.zeros_like(given)
        return lax.while_loop(lambda carry: carry[0] < len(given), body, first)

    def f(x):
        def outer(_, a):
            ends = anew(a)
            return jnp.tanh(ends[2]) * (1.5 + jnp.cos(0.3 * ends[read]))

        a = lax.fori_loop(0, 3, outer, jnp.tanh(x).reshape(240, 16)).reshape(x.shape)
        return jnp.sum(jnp.cos(a) ** 2, 1)

    x = numbers(30, 128).astype(float)
    sizes = "--tensor-size-threshold", x.nbytes // 8, "--tensor-split-size", x.nbytes // 8
    text, split = running.rewrite(f, [x], tmp_path, *sizes)
    (got,), (want,) = (running.results(t, [x]) for t in (split, text))
    assert split != text
    np.testing.assert_allclose(got, want, rtol=1e-12)
