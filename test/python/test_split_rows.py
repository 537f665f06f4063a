"""Whiles whose rows end one by one, as vmap makes them: a loop over slices of the rows ends each as
soon as its own are done (src/ir/frozen.h). The results are those of all rows together.

37 rows, with 2 to some hundred trips: the last slice overlaps the one before.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
ROWS, N = 37, 40
XS = RNG.uniform(0.05, 4.0, ROWS)
TOLERANCES = 10.0 ** -RNG.integers(2, 12, ROWS)
W = RNG.normal(size=(N, N)) / 20
ARGUMENTS = (XS, TOLERANCES, W)


def state(x):
    return jnp.sin(x * jnp.arange(1.0, N + 1)) + 1.5


def closer(v, w):
    return 0.5 * v + 0.3 * jnp.tanh(v @ w) + 0.1


def each(x, tolerance, w, most=200):
    """Iterated until it moves less than a tolerance of its own."""

    def goes_on(s):
        return (s[1] > tolerance) & (s[2] < most)

    def step(s):
        new = closer(s[0], w)
        return new, jnp.max(jnp.abs(new - s[0])), s[2] + 1

    v, d, i = lax.while_loop(goes_on, step, (state(x), jnp.asarray(jnp.inf, x.dtype), 0))
    return jnp.sum(v), d, i


def of_rows(f):
    return jax.vmap(f, (0, 0, None))


def nested(x, tolerance, w):
    """A while inside whose trips are the row's own, too."""

    def inner(v, most):
        return lax.while_loop(lambda s: s[1] < most, lambda s: (closer(s[0], w), s[1] + 1), (v, 0))[0]

    def goes_on(s):
        return (s[1] > tolerance) & (s[2] < 40)

    def step(s):
        new = inner(s[0], s[2] + (x > 1).astype(jnp.int32))
        return new, jnp.max(jnp.abs(new - s[0])), s[2] + 1

    return lax.while_loop(goes_on, step, (state(x), jnp.asarray(1.0, x.dtype), 1))[0].sum()


def grid(xs, tolerances, w):
    """Two dimensions of rows."""
    f = lambda x, a, t: each(x * a, t, w)[0]  # noqa: E731
    return jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, 0))(xs, jnp.arange(1.0, 4.0), tolerances)


def bisect(x, tolerance, w):
    def step(s):
        low, high = s
        mid = 0.5 * (low + high)
        left = mid**3 > state(x)
        return jnp.where(left, low, mid), jnp.where(left, mid, high)

    goes_on = lambda s: jnp.max(s[1] - s[0]) > tolerance  # noqa: E731
    return jnp.sum(lax.while_loop(goes_on, step, (jnp.zeros(N), jnp.full(N, 3.0)))[0])


def by_hand(xs, tolerances, w):
    """A mask of one's own, a count of each row and one of all."""
    return count_of_all(xs, tolerances, w)[:3]


def count_of_all(xs, tolerances, w):
    """How many trips all rows took is asked for outside."""

    def step(s):
        v, done, count, i = s
        new = closer(v, w) + 0.001 * i
        settled = jnp.max(jnp.abs(new - v), 1) < jnp.maximum(tolerances, 2e-3)
        v = jnp.where(done[:, None], v, new)
        return v, done | settled, count + (~done).astype(jnp.int32), i + 1

    begin = jax.vmap(state)(xs), jnp.zeros(ROWS, bool), jnp.zeros(ROWS, jnp.int32), 0
    v, done, count, i = lax.while_loop(lambda s: ~jnp.all(s[1]) & (s[3] < 50), step, begin)
    return v.sum(1), done, count, i


def asked_alone(xs, tolerances, w):
    """What the condition alone reads."""

    def step(s):
        v, go = s
        return jnp.where(go[:, None], 0.9 * v, v), go & (jnp.max(v, 1) > 0.7)

    goes_on = lambda s: jnp.any(s[1] | (tolerances > 1))  # noqa: E731
    v, go = lax.while_loop(goes_on, step, (jax.vmap(state)(xs), xs > 0.3))
    return v.sum(1), go


def active(xs, tolerances, w):
    """The mask the other way round."""

    def step(s):
        v, go = s
        new = jnp.where(go[:, None], closer(v, w), v)
        return new, go & (jnp.max(jnp.abs(new - v), 1) > tolerances)

    v, go = lax.while_loop(lambda s: jnp.any(s[1]), step, (jax.vmap(state)(xs), xs > 0.3))
    return v.sum(1), go


def carried(xs, tolerances, w, begin=None, still=lambda go, goes: go & goes):
    """Whether a row goes on is asked at the end of a trip and carried, as Equinox's whiles do."""
    goes = lambda v, failed: ~failed & (jnp.max(v, 1) > 0.5 + xs / 4)  # noqa: E731

    def step(s):
        v, failed, go, i = s
        new, new_failed = closer(v, w) * 0.9, jnp.max(v, 1) > 2.4
        out = jnp.where(go[:, None], new, v), jnp.where(go, new_failed, failed)
        return *out, still(go, goes(new, new_failed)), i + 1

    v, failed = jax.vmap(state)(xs), jnp.zeros(ROWS, bool)
    go = goes(v, failed) if begin is None else begin
    v, failed, *_ = lax.while_loop(lambda s: jnp.any(goes(s[0], s[1])) & (s[3] < 50), step, (v, failed, go, 0))
    return v.sum(1), failed


def carried_from_one(xs, tolerances, w):
    """All rows begin alike, with a flag that is made of numbers."""
    goes = lambda d, code: (d > 1e-3) & (code == 0)  # noqa: E731

    def step(s):
        v, d, code, go, i = s
        new = closer(v + 0.01 * jnp.sin(xs)[:, None], w)
        new_d, new_code = jnp.max(jnp.abs(new - v), 1), jnp.where(jnp.max(new, 1) > 1.2, jnp.int32(9), jnp.int32(0))
        out = jnp.where(go[:, None], new, v), jnp.where(go, new_d, d), jnp.where(go, new_code, code)
        return *out, go & goes(new_d, new_code), i + 1

    d, code = jnp.sin(w[0, 0]) + 2, (w[0, 1] > 9).astype(jnp.int32)
    every = lambda a: jnp.broadcast_to(a, ROWS)  # noqa: E731
    begin = jnp.full((ROWS, N), 0.5, xs.dtype), every(d), every(code), every(goes(d, code)), 0
    v, d, code, *_ = lax.while_loop(lambda s: jnp.any(goes(s[1], s[2])) & (s[4] < 50), step, begin)
    return v.sum(1), d, code


def shifted(xs, tolerances, w):
    """Differences of neighbours: a window that reaches beyond the ends must not be iterated."""
    v = jax.vmap(lambda x, t: each(x, t, w)[0] * state(x), (0, 0))(xs, tolerances)
    return jnp.sum(v[1:] - v[:-1], 1)


def padded(xs, tolerances, w):
    """What a window has beyond the ends would never be done: there steps are 0."""
    i = lax.broadcasted_iota(xs.dtype, (ROWS, N), 0)

    def row(v, by):
        return lax.while_loop(lambda s: jnp.max(s) > 0.5, lambda s: s - by, v)

    by = 0.25 * jnp.clip(jnp.minimum(ROWS - i, i + 1), 0, 1)
    v = jnp.pad(jax.vmap(row)(jnp.sin(i) + 1.5, by), ((2, 2), (0, 0)))
    return jnp.sum(v[4:] * v[:-4] + v[2:-2], 1)


# ---- what only all rows together can do ----
def unfrozen(xs, tolerances, w):
    """Rows that are done go on with the others."""

    def goes_on(s):
        return jnp.any(s[1] > tolerances) & (s[2] < 60)

    def step(s):
        new = closer(s[0], w)
        return new, jnp.max(jnp.abs(new - s[0]), 1), s[2] + 1

    v, d, i = lax.while_loop(goes_on, step, (jax.vmap(state)(xs), jnp.ones(ROWS), 0))
    return v.sum(1), d, i


def counted(xs, tolerances, w):
    """A count of all trips makes rows go on that were done."""

    def goes(v, i):
        again = jnp.where(xs < 0.5, i < 25, (i % 8 == 5) & (xs > 2))
        return (jnp.max(v, 1) > 1.0) | again

    def step(s):
        v, i = s
        return jnp.where(goes(v, i)[:, None], closer(v, w), v), i + 1

    v, i = lax.while_loop(lambda s: jnp.any(goes(*s)) & (s[1] < 30), step, (jax.vmap(state)(xs), 0))
    return v.sum(1), i


def carried_otherwise(xs, tolerances, w):
    """A flag may be set before the first trip where the row does not go on."""
    return carried(xs, tolerances, w, begin=xs > 0.3)


def set_again(xs, tolerances, w):
    """A flag is set again of a row that was done."""
    return carried(xs, tolerances, w, still=lambda go, goes: goes)


def summed(xs, tolerances, w):
    """A sum over rows, those that are done among them."""
    goes = lambda v: jnp.max(v, 1) > 0.5 + xs / 4  # noqa: E731

    def step(s):
        v, total = s
        return jnp.where(goes(v)[:, None], closer(v, w), v), total + jnp.sum(v, 0)

    s = lax.while_loop(lambda s: jnp.any(goes(s[0])), step, (jax.vmap(state)(xs), 0 * w[0]))
    return s[0].sum(1), s[1]


def other_test(xs, tolerances, w):
    """Frozen by another tolerance than that of the condition."""

    def far(v, by):
        return jnp.max(jnp.abs(v - closer(v, w)), 1) > by

    def step(v):
        return jnp.where(far(v, 1e-3)[:, None], closer(v, w), v - 1e-4)

    return lax.while_loop(lambda v: jnp.any(far(v, 2e-3)), step, jax.vmap(state)(xs)).sum(1)


def other_way(xs, tolerances, w):
    """Columns are frozen by what rows say: a mask along the other dimension."""

    def goes(v):
        return jnp.max(v, 1) > 1.0

    def step(v):
        return jnp.where(goes(v)[None, :], closer(v, w[:ROWS, :ROWS]), v)

    begin = jax.vmap(state)(xs)[:, :ROWS]
    # columns whose row is done would leave rows that never end: at most 20 trips
    body = lambda s: (step(s[0]), s[1] + 1)  # noqa: E731
    return lax.while_loop(lambda s: jnp.any(goes(s[0])) & (s[1] < 20), body, (begin, 0))[0].sum(1)


SLICED = {
    "each": of_rows(each),
    "few trips": of_rows(lambda *a: each(*a, most=3)),
    "no trips": of_rows(lambda *a: each(*a, most=0)),
    "nested": of_rows(nested),
    "grid": grid,
    "bisect": of_rows(bisect),
    "by hand": by_hand,
    "active": active,
    "asked alone": asked_alone,
    "carried": carried,
    "carried from one": carried_from_one,
    "count of all": count_of_all,
    "summed": summed,
}
WHOLE = {
    "shifted": shifted,
    "padded": padded,
    "unfrozen": unfrozen,
    "counted": counted,
    "carried otherwise": carried_otherwise,
    "set again": set_again,
    "other test": other_test,
    "other way": other_way,
}
CASES = {**SLICED, **WHOLE}


def agree(got, want):
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        if x.dtype.kind == "f":
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(x, y)


def lowered(name):
    f = CASES[name]
    with jax.enable_x64(True):
        return jax.jit(lambda *a: f(*a), keep_unused=True).lower(*ARGUMENTS).as_text()


def carries(text):
    """Rows of what the program's whiles carry."""
    return {int(n) for n in re.findall(r"\^bb0\(.*?tensor<(\d+)x(?:3x)?40xf64>", text)}


@pytest.mark.parametrize("threshold", [9000, 1500])
@pytest.mark.parametrize("name", CASES)
def test_same_results(name, threshold, tmp_path):
    text = lowered(name)
    (tmp_path / "p.mlir").write_text(text)
    split = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", threshold)
    if name in SLICED:
        assert carries(split) and ROWS not in carries(split)
    evaluate = running.Evaluator(tmp_path, ARGUMENTS)
    agree(evaluate(split), evaluate(text))
    agree(running.Xla(split)(*ARGUMENTS), running.Xla(text)(*ARGUMENTS))


def test_frozen_rows_of_nan(tmp_path):
    """Comparisons with NaN are false: such a row is done at once."""
    text = lowered("each")
    (tmp_path / "p.mlir").write_text(text)
    arguments = [np.where(np.arange(ROWS) % 5 == 0, np.nan, XS), TOLERANCES, W]
    split = running.opt(tmp_path / "p.mlir", "--tensor-size-threshold", 1500)
    agree(running.Xla(split)(*arguments), running.Xla(text)(*arguments))


def solved(x, tolerance):
    """An adaptive solver: its steps end by the row, in a scan over points in time, and what a step
    has is larger than what it carries."""

    def step(s):
        v, t, h, to = s
        stages = jnp.stack([jnp.tanh(v * k) for k in jnp.linspace(0.1, 1.0, 9)])
        new = v - h * jnp.mean(stages, 0)
        error = h * jnp.max(jnp.abs(stages[0] - stages[-1]))
        good = error < tolerance
        return jnp.where(good, new, v), jnp.where(good, t + h, t), jnp.where(good, 1.2 * h, 0.5 * h), to

    def until(s, to):
        v, t, h = s
        v, t, h, _ = lax.while_loop(lambda s: s[1] < s[3], step, (v, t, h, to))
        return (v, t, h), v.sum()

    begin = (state(x), jnp.zeros_like(x), jnp.full_like(x, 0.1))
    return lax.scan(until, begin, jnp.linspace(0.5, 1.0, 3))[1]


def test_steps_that_end_by_rows_in_a_scan(tmp_path):
    """Under a limit: the scan as a whole is split, not what is inside of it."""
    arguments = np.resize(XS, 203), np.resize(TOLERANCES, 203) + 0.01
    f = jax.vmap(solved)
    with jax.enable_x64(True):
        text = jax.jit(lambda *a: f(*a)).lower(*arguments).as_text()
    (tmp_path / "p.mlir").write_text(text)
    before = running.Xla(text)
    own = sum(x.nbytes for x in arguments) + sum(x.nbytes for x in before(*arguments))
    limit = own + (before.report_bytes() - own) // 10
    split = running.Xla(running.opt(tmp_path / "p.mlir", "--memory-limit", limit))
    assert split.report_bytes() <= limit
    agree(split(*arguments), before(*arguments))
