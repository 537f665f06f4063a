"""Whether a function holds a limit by XLA's report, with stock's results."""

import jax
import numpy as np

import weir
from running import HONEST, total_bytes


def reported_bytes(compiled):
    return total_bytes(compiled.memory_analysis())


def a_tenth(stock):
    """Its arguments, its results and a tenth of its temporaries."""
    m = stock.memory_analysis()
    return m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 10


def check_a_tenth(f, *arguments, rtol=1e-4, atol=1e-5):
    """Arguments, results and a tenth of stock's temporaries are enough. Integers are stock's
    exactly, floats to rounding: atol is relative to the largest.
    """
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)
    limit = a_tenth(stock)
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= limit < reported_bytes(stock)
    results = map(jax.tree.leaves, (limited(*arguments), stock(*arguments)))
    for got, want in zip(*results, strict=True):
        if want.dtype.kind in "iub":
            np.testing.assert_array_equal(got, want)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol * np.max(np.abs(want)))


def assert_same_bits(got, want):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_array_equal(*(np.atleast_1d(x).view(np.uint8) for x in (g, w)))


def assert_close(got, want):
    """To rounding of the largest of each result."""
    for x, y in zip(got, want, strict=True):
        assert np.max(np.abs(x - y)) <= 1e-5 * np.max(np.abs(y))
