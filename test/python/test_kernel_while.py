"""Tiles: loops inside of a region, as people write them: results as stock XLA's, and memory
under the limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weir
from running import lowered
from kernel_running import check_memory, check_results, folder, halves, tiled  # noqa: F401


def mandelbrot(x, y):
    """How many steps stay inside; what is carried is left alone once it is out."""
    shape = (x.shape[0], y.shape[0])

    def step(_, s):
        re, im, steps = s
        inside = re * re + im * im < 4
        new = jnp.where(inside, re * re - im * im + x[:, None], re), jnp.where(inside, 2 * re * im + y, im)
        return *new, steps + inside

    start = jnp.zeros(shape), jnp.zeros(shape), jnp.zeros(shape, jnp.int32)
    return jnp.sum(lax.fori_loop(0, 30, step, start)[2], 1)


def kepler(x, y):
    """Newton's method, each element its own equation."""
    mean, e = 3 * x[:, None], 0.9 * jnp.abs(jnp.tanh(y))

    def step(_, a):
        return a - (a - e * jnp.sin(a) - mean) / (1 - e * jnp.cos(a))

    return jnp.cos(lax.fori_loop(0, 8, step, mean + 0 * e)).sum(1)


def by_row(x, y):
    """A number of each row, from an equation of its own; then n x m values of it."""
    root = lax.fori_loop(0, 12, lambda _, s: 0.5 * (s + jnp.abs(x) / s), jnp.abs(x) + 1)
    return jnp.exp(-jnp.abs(root[:, None] - y)).sum(1)


def nested(x, y):
    """A sum of series, whose terms are iterated to."""

    a = x[:, None] * y

    def term(i, s):
        i = i.astype(a.dtype)
        return s + lax.fori_loop(0, 5, lambda _, t: jnp.sin(t) + y, a * (i + 1)) / (1 + i)

    return lax.fori_loop(0, 6, term, a).max(1)


def until_counted(x, y):
    """Ends when a counter does, of which the body makes use."""
    a = jnp.abs(x[:, None] - y) + 1

    def body(s):
        i, v = s
        return i * 2, v + a ** (-i.astype(a.dtype))

    return lax.while_loop(lambda s: s[0] < 100, body, (jnp.int32(1), a))[1].min(1)


def scanned(x, y):
    """Over coefficients: a polynomial of each pair."""
    a = jnp.tanh(x[:, None] * y)
    coefficients = y[:9], y[9:18].astype(jnp.float16)
    return lax.scan(lambda v, c: (v * a + c[0] - c[1].astype(v.dtype), None), 0 * a, coefficients)[0].max(1)


def beside_columns(x, y):
    """What is carried of columns, and beside it of both, are read together afterwards."""
    a, q = lax.fori_loop(0, 2, lambda _, s: (s[0] + s[1], s[1] * 0.9 + 0.1), (x[:, None] * y, y))
    return (a * jnp.cos(q)).max(0)


def beside_rows(x, y):
    a = jnp.sin(x[:, None] * y)
    start = a, a.max(1)
    a, q = lax.fori_loop(0, 3, lambda _, s: (jnp.sin(s[0]) + s[1][:, None], s[1] * 0.9 + 0.1), start)
    return (a * jnp.cos(q)[:, None]).max(1)


def beside_a_number(x, y):
    def body(s):
        return s[0] + 1, jnp.sin(s[1]) + y

    n, a = lax.while_loop(lambda s: s[0] < 5, body, (jnp.int32(0), x[:, None] * y))
    return (a * jnp.cos(n.astype(a.dtype))).max(1)


def nested_of_both(x, y):
    """Loops in loops that carry rows and the whole; the rows are read alone."""

    def inner(_, s):
        return jnp.cos(s[0]) + 1, jnp.sin(s[1]) + y

    start = jnp.abs(x), x[:, None] * y
    r, a = lax.fori_loop(0, 4, lambda _, s: lax.fori_loop(0, 3, inner, s), start)
    return (jnp.exp(-jnp.abs(r[:, None] - y)) + a).sum(1)


def long_body(x, y):
    def body(_, a):
        for _ in range(20):
            a = a * jnp.sin(a) + a * 0.5
        return a

    return jax.nn.softmax(lax.fori_loop(0, 2, body, jnp.tanh(x[:, None] * y)), 1) @ y


def softmax_of_iterated(x, y):
    """Statistics before and after."""
    a = jnp.sin(x[:, None] * y)
    a = a - a.max(1, keepdims=True)
    a = lax.fori_loop(0, 4, lambda _, v: jnp.tanh(v) * 0.9 + 0.1 * v, a)
    return jax.nn.softmax(a, 1) @ y


def gradient(x, y):
    """Of a scan: its steps are kept, and read again."""

    def value(x):
        a, _ = lax.scan(lambda a, _: (jnp.tanh(a + y), None), x[:, None] * y, None, length=3)
        return jnp.sum(a * a)

    return jax.grad(value)(x)


def averaged(x, y):
    """Not element by element: stays a loop of XLA's."""
    return lax.fori_loop(0, 4, lambda _, a: jnp.tanh(a - a.mean(1, keepdims=True)), x[:, None] * y).sum(1)


def data(n=331, m=1403):
    dice = np.random.default_rng(2)
    return [dice.normal(size=size).astype(np.float32) for size in (n, m)]


INSIDE = [mandelbrot, kepler, nested, until_counted, scanned, softmax_of_iterated, long_body]
INSIDE += [beside_columns, beside_rows, beside_a_number, nested_of_both]
APART = [beside_a_number, nested_of_both]  # rows and numbers have a loop of XLA's for themselves
PROGRAMS = [*INSIDE, by_row, gradient, averaged]


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function, folder, halves):  # noqa: F811
    inputs = data()
    if function is scanned and not halves:
        pytest.skip("kernels without f16 on this processor")
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", "150kB")
    assert ("weir.repeat" in program) == (function in INSIDE)
    if function in INSIDE and function not in APART:
        assert "stablehlo.while" not in program
    check_results(text, program, inputs)


def test_narrow_values_are_left_alone(folder):  # noqa: F811
    """What is carried in 16 bits is rounded at each step."""
    text = lowered(lambda x, y: kepler(x, y).astype(jnp.float32), *(a.astype(np.float16) for a in data()))
    assert "weir.repeat" not in tiled(text, folder, "--tensor-size-threshold", "100kB")


def test_under_a_limit(folder):  # noqa: F811
    limit = 1_000_000
    lowered_ = jax.jit(mandelbrot).lower(*data(3_000, 4_000))
    with weir.limit(limit):
        compiled = lowered_.compile()
    check_memory(compiled, limit)
    few = data(3_000, 4_000)
    want = np.asarray(jax.jit(mandelbrot)(few[0][:50], few[1]))
    assert np.array_equal(want, np.asarray(compiled(*few))[:50])
