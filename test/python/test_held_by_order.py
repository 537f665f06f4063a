"""Limits that XLA's memory-saving order alone holds: what is independent runs one after the other
then, so slices in the program's own order are taken where they are predicted to be faster.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
import weir
from weir import _library

RANDOM = np.random.default_rng(11)
N, COLUMNS, LEVELS = 1_000_000, 6, 8
SAVING_ORDER = "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """What is predicted to gain is a machine's; kernels for it may not run here."""
    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v4")
    monkeypatch.setenv("WEIR_TILE", "off")


def counts(*columns):
    return [jnp.bincount(a * LEVELS + b, length=LEVELS**2) for a in columns for b in columns]


def products(a, weights):
    return [jnp.sin(a @ w).sum() for w in weights]


def run_under(limit, f, *arguments):
    with weir.limit(limit):
        return jax.block_until_ready(jax.jit(f)(*arguments))


def test_slices_are_taken_where_they_gain():
    columns = [RANDOM.integers(0, LEVELS, N, dtype=np.int32) for _ in range(COLUMNS)]
    arguments = COLUMNS * N * 4
    limit = arguments + 3 * N * 4 + COLUMNS**2 * LEVELS**2 * 4
    plan = weir.plan(counts, *columns, limit=limit)
    assert plan.peak_before_bytes > 2 * limit
    assert plan.outcome == "rewritten" and len(plan.loops) == 1
    assert SAVING_ORDER not in plan.compile_options
    assert plan.peak_after_bytes <= limit and plan.referee_compiles <= 4
    assert plan.time_after_ns < plan.time_before_ns
    # All columns are read again and again: together their slices are no larger than a cache.
    assert plan.loops[0].slice * 4 * COLUMNS <= 2**20
    for found, want in zip(run_under(limit, counts, *columns), jax.jit(counts)(*columns)):
        np.testing.assert_array_equal(found, want)


def test_what_gains_nothing_stays_as_it_came():
    a = RANDOM.normal(size=(512, 512)).astype(np.float32)
    weights = [RANDOM.normal(size=(512, 512)).astype(np.float32) for _ in range(8)]
    limit = 9 * a.nbytes + 3 * a.nbytes
    plan = weir.plan(products, a, weights, limit=limit)
    assert plan.peak_before_bytes > limit >= plan.peak_after_bytes
    assert plan.outcome == "options" and SAVING_ORDER in plan.compile_options
    assert not plan.loops and plan.time_after_ns == plan.time_before_ns
    for found, want in zip(run_under(limit, products, a, weights), jax.jit(products)(a, weights)):
        np.testing.assert_allclose(found, want, rtol=1e-4)


def sums_of_products(a, b):
    return [((a * k) @ b).sum() for k in (1, 2, 3, 4)]


def test_what_holds_its_limit_keeps_its_infinities():
    """Infinity times zero, which a sum over a dimension of the product does without."""
    a, b = (RANDOM.normal(size=(1024, 1024)).astype(np.float32) for _ in range(2))
    a[3, 5], b[5, 7] = np.inf, 0
    limit = 5 * a.nbytes
    plan = weir.plan(sums_of_products, a, b, limit=limit)
    assert plan.peak_before_bytes > limit >= plan.peak_after_bytes
    assert np.isnan(run_under(limit, sums_of_products, a, b)).all()


COUNTS_LIMIT = ("--memory-limit", str(COLUMNS * N * 4 + 3 * N * 4 + COLUMNS**2 * LEVELS**2 * 4))


def counts_text():
    return jax.jit(counts).lower(*[jax.ShapeDtypeStruct((N,), np.int32)] * COLUMNS).as_text()


def test_other_platforms_keep_their_order(tmp_path):
    """The rates that predict a gain are of CPUs."""
    program = tmp_path / "counts.mlir"
    program.write_text(counts_text())
    assert "stablehlo.while" in running.opt(program, *COUNTS_LIMIT)
    assert "stablehlo.while" not in running.opt(program, *COUNTS_LIMIT, "--platform", "cuda")


def test_programs_over_devices_keep_their_order(tmp_path):
    """What one device computes of such a program, and how fast, only XLA's partitioner knows."""
    program, text = tmp_path / "counts.mlir", counts_text()
    replicated = 'tensor<1000000xi32> {mhlo.sharding = "{replicated}"}'
    text = text.replace("mhlo.num_partitions = 1", "mhlo.num_partitions = 2")
    program.write_text(text.replace("%arg0: tensor<1000000xi32>", f"%arg0: {replicated}", 1))
    assert replicated in program.read_text()
    assert "stablehlo.while" not in running.opt(program, *COUNTS_LIMIT)


@pytest.mark.parametrize("steps, is_split", [(10, True), (2600, False)])
def test_long_programs_keep_their_order(tmp_path, steps, is_split):
    """The search for slices takes longer there than they may save."""

    def beside(scalar, *columns):
        for _ in range(steps):
            scalar = jnp.sin(jnp.cos(scalar))
        return scalar, counts(*columns)

    program = tmp_path / "counts.mlir"
    arguments = [np.float32(1), *[jax.ShapeDtypeStruct((N,), np.int32)] * COLUMNS]
    program.write_text(jax.jit(beside).lower(*arguments).as_text())
    assert ("stablehlo.while" in running.opt(program, *COUNTS_LIMIT)) == is_split


def test_what_xla_refuses_is_not_taken():
    """It holds its limit without: the estimate alone is no reason to give that up."""
    column, results = N * 4, COLUMNS**2 * LEVELS**2 * 4
    asked = []

    def referee(text, options):
        asked.append(text)
        if text is not None:
            raise RuntimeError("XLA does not compile it")
        temporaries = 2 if SAVING_ORDER in options else 40
        return COLUMNS * column, results, 0, temporaries * column

    settings = {"memory_limit_bytes": (COLUMNS + 3) * column + results, "platform": b"cpu"}
    result = _library.rewrite(counts_text().encode(), settings, referee)
    assert result.outcome == _library.OPTIONS_ONLY and SAVING_ORDER in result.compile_options
    assert asked[0] is None and len(asked) > 1
    assert result.peak_after_bytes == (COLUMNS + 2) * column + results
