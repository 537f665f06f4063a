"""Branches in the body of a while, which all slices of the rows take alike (src/split/body.c), and the
number of trips that a while takes until its last row is done (src/pass/until_last.c): gradients that go
back through such a while by checkpoints, making steps again in a branch."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running
import weir
from held import reported_bytes
from running import HONEST

ROWS, N, EVERY, MOST = 400, 24, 4, 40
RNG = np.random.default_rng(0)
W = (RNG.normal(size=(N, N)) / 5).astype(np.float32)
Y = RNG.normal(size=(ROWS, N)).astype(np.float32) * np.linspace(0.2, 2.5, ROWS, dtype=np.float32)[:, None]


def goes(y):
    return jnp.sum(y * y, 1) > 0.5


def plain(w, y, go):
    return jnp.where(go[:, None], 0.85 * jnp.tanh(y + 0.2 * y @ w), y)


def shrunk(y, most):
    """Rows that end one by one; no function with a gradient."""
    y = lax.stop_gradient(y)
    row = lambda v: lax.while_loop(lambda s: jnp.max(jnp.abs(s)) > most, lambda s: 0.7 * s, v)  # noqa: E731
    return jax.vmap(row)(y)


def with_while(w, y, go):
    return jnp.where(go[:, None], 0.85 * jnp.tanh(y + 0.2 * y @ w) + 0.1 * shrunk(y, 0.3), y)


def forward(step, w, y):
    """How many steps were taken until the last row was done, and the states after every few."""

    def body(s):
        y, go, i, saved = s
        slot = i // EVERY
        kept = jnp.where(i % EVERY == 0, y, lax.dynamic_index_in_dim(saved, slot, 0, False))
        saved = lax.dynamic_update_index_in_dim(saved, kept, slot, 0)
        new = step(w, y, go)
        return new, go & goes(new), i + 1, saved

    saved = jnp.zeros((MOST // EVERY, *y.shape), y.dtype)
    return lax.while_loop(lambda s: jnp.any(s[1]) & (s[2] < MOST), body, (y, goes(y), 0, saved))


def gradient(step, w, y):
    """Of the sum of squares at the end: steps are made again from what was saved, or gone back."""
    end, _, trips, saved = forward(step, w, y)
    load = lambda j: lax.dynamic_index_in_dim(saved, jnp.maximum(j - 1, 0) // EVERY, 0, False)  # noqa: E731
    first = lambda j: jnp.maximum(j - 1, 0) // EVERY * EVERY  # noqa: E731

    def body(s):
        at, j, y, g, total = s

        def back():
            of_w, of_y = jax.vjp(lambda w, y: step(w, y, goes(y)), w, y)[1](g)
            return first(j - 1), j - 1, load(j - 1), of_y, total + of_w

        return lax.cond(at + 1 == j, back, lambda: (at + 1, j, step(w, y, goes(y)), g, total))

    init = first(trips), trips, load(trips), 2 * end, jnp.zeros_like(w)
    return lax.while_loop(lambda s: s[1] > 0, body, init)[3:]


def of(step):
    return lambda w, y: gradient(step, w, y)


def far_back(w, y):
    """Written out, with as many steps as there may be."""

    def loss(w, y):
        for _ in range(MOST):
            y = plain(w, y, goes(y))
        return jnp.sum(y * y)

    g = jax.grad(loss, (1, 0))(w, y)
    return g


def close(got, want):
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5 * np.abs(y).max())


def share_of(compiled, share):
    m = compiled.memory_analysis()
    return m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // share


def test_the_program_is_a_gradient():
    close(jax.jit(of(plain))(W, Y), jax.jit(far_back)(W, Y))


@pytest.mark.parametrize("step", [plain, with_while], ids=lambda f: f.__name__)
def test_a_tenth_holds(step):
    f = of(step)
    stock = jax.jit(f).lower(W, Y).compile(compiler_options=HONEST)
    limit = share_of(stock, 10)
    with weir.limit(limit):
        limited = jax.jit(f).lower(W, Y).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= limit < reported_bytes(stock)
    close(limited(W, Y), stock(W, Y))


# ---- what a branch may do ----
def steps(body, w, y, trips=7):
    """body(i, w, y, total): the next y and total."""
    init = 0, y, jnp.zeros_like(w)
    return lax.while_loop(lambda s: s[0] < trips, lambda s: (s[0] + 1, *body(s[0], w, *s[1:])), init)[1:]


def product(y):
    return y.T @ jnp.tanh(y)


def summed_in_one(i, w, y, total):
    return lax.cond(i % 3 == 1, lambda: (jnp.sin(y), total + product(y)), lambda: (y @ w, total))


def begun_again(i, w, y, total):
    """Zeros in place of what was added so far."""
    return lax.switch(
        i % 3,
        [
            lambda: (y, total + product(y)),
            lambda: (jnp.cos(y), 0.5 * total - product(y)),
            lambda: (y @ w, jnp.zeros_like(total)),
        ],
    )


def one_in_another(i, w, y, total):
    inner = lambda: lax.cond(i > 3, lambda: shrunk(y, 0.4), lambda: y @ w)  # noqa: E731
    return lax.cond(i % 2 == 0, lambda: (inner() + 0.1, total + product(y)), lambda: (jnp.sin(y), total))


def handed_on(i, w, y, total):
    """Branches that make nothing."""
    return lax.cond(i % 2 == 0, lambda: y, lambda: jnp.ones_like(y)) * 0.9, total


def decided_by_rows(i, w, y, total):
    return lax.cond(jnp.sum(y) > 3, lambda: (jnp.sin(y), total), lambda: (jnp.cos(y), total + product(y)))


def decided_by_sums(i, w, y, total):
    return lax.cond(total[0, 0] > 9, lambda: (jnp.sin(y), total), lambda: (jnp.cos(y), total + product(y)))


def of_other_rows(i, w, y, total):
    return lax.cond(i % 2 == 0, lambda: (jnp.sin(y @ w), total), lambda: (y[::-1], total))


def squared(i, w, y, total):
    """A sum of all rows that a trip goes on with."""
    square = lambda: (jnp.sin(y), jnp.tanh(total + product(y)) ** 2)  # noqa: E731
    return lax.cond(i % 2 == 0, square, lambda: (y @ w, total))


def until_small(y):
    """Rows that end one by one, and the trips until the last did."""
    goes = lambda y: jnp.max(jnp.abs(y), 1) > 0.3  # noqa: E731
    step = lambda s: (jnp.where(goes(s[0])[:, None], 0.9 * s[0], s[0]), s[1] + 1)  # noqa: E731
    return lax.while_loop(lambda s: jnp.any(goes(s[0])), step, (y, 0))


def decided_by_trips(i, w, y, total):
    small, trips = until_small(y * jnp.max(jnp.abs(y), 1, keepdims=True))
    return lax.cond(trips > 11, lambda: (jnp.sin(small), total), lambda: (small + 0.5, total + product(y)))


def with_trips(i, w, y, total):
    small, trips = until_small(y * jnp.max(jnp.abs(y), 1, keepdims=True))
    return lax.cond(i % 2 == 0, lambda: (y @ w, total), lambda: (small + 0.01 * trips, total))


SLICED = [summed_in_one, begun_again, one_in_another, handed_on]
WHOLE = [decided_by_rows, decided_by_sums, decided_by_trips, with_trips, of_other_rows, squared]


def carried_rows(text):
    """Of what whiles with a counter carry."""
    carries = [line for line in re.findall(r"\^bb0\((.*)\):", text) if "tensor<i32>" in line]
    return {int(n) for n in re.findall(rf"tensor<(\d+)x{N}xf32>", " ".join(carries))} - {N}


@pytest.mark.parametrize("body", [*SLICED, *WHOLE], ids=lambda f: f.__name__)
def test_branches_of_all_slices(body, tmp_path):
    arguments = W, Y[:37]
    f = jax.jit(lambda w, y: steps(body, w, jnp.sin(y)), keep_unused=True)
    text = f.lower(*arguments).as_text()
    (tmp_path / "p.mlir").write_text(text)
    split = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", 3000, "--skip", "if-convert,until-last")
    rows = carried_rows(split)
    assert rows and (37 in rows) == (body in WHOLE)
    want = running.Xla(text)(*arguments)
    close(running.Xla(split)(*arguments), want)
    close(running.Evaluator(tmp_path, arguments)(split), want)
