"""Programs of JAX's libraries under a limit that they exceed: same results, and XLA's own report of
what runs is within the limit. `make test` runs this in an environment of its own that has them
(tools/libraries.txt).
"""

import jax
import numpy as np
import pytest

import weir
from library_programs import PROGRAMS
from weir import _library


def reported_bytes(compiled):
    memory = compiled.memory_analysis()
    return (
        memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        - memory.alias_size_in_bytes
        + memory.temp_size_in_bytes
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_under_the_limit_with_the_same_results(name):
    program = PROGRAMS[name]
    pytest.importorskip(program.package, reason=f"{program.package} is not installed here")
    limit = _library.parse_bytes(program.limit)
    with jax.enable_x64(program.x64):
        function, arguments = program.make()
        stock = jax.jit(function).lower(*arguments).compile()
        with weir.limit(program.limit):
            limited = jax.jit(function).lower(*arguments).compile()
        report = weir.last_report()
        assert report.outcome == "rewritten"
        assert reported_bytes(limited) <= limit < report.peak_before_bytes / 1.5
        expected, found = (jax.tree.leaves(c(*arguments)) for c in (stock, limited))
    assert len(expected) == len(found) > 0
    expected, found = ([np.asarray(x) for x in leaves] for leaves in (expected, found))
    largest = max(np.abs(x).max() for x in expected)
    assert np.isfinite(largest)
    for x, y in zip(expected, found):
        assert x.dtype == y.dtype and x.shape == y.shape
        scale = max(np.abs(x).max(), largest / 1000)  # some gradients are zeros, but for rounding
        assert np.abs(x - y).max() <= program.tolerance * scale
