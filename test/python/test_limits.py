"""The promise, end to end: unchanged programs whose stock run breaks the limit keep it under weir,
with the same answers.

Each program runs in two fresh processes, stock and with WEIR_MEMORY_LIMIT; the process itself is
measured.
"""

import os
import re
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fresh_process
import weir
from weir import _library
from hook_programs import PROGRAMS
from weir import _call

ALLOWANCE_BYTES = 64_000_000  # of the engine: GEMM packing, thread pools
CASES = [  # example, sizes, limit in MB, tolerance relative to the largest value
    ("p1_kernel_matvec", dict(n=10_007, d=10), 100, 1e-10),
    ("p2_knn", dict(n=100_003, m=1000, d=20, k=10), 100, 1e-4),
    ("p3_sgpr", dict(n=25_000, d=8, m=300), 100, 1e-10),
    ("p5_attention", dict(batch=1, heads=4, sequence=4096, width=64), 100, 1e-4),
    ("attention_grad", dict(batch=1, heads=4, sequence=2048, width=64), 100, 1e-4),
    ("p8_mlp", dict(n=50_000, d=64, hidden=2048, classes=10), 100, 1e-4),
]


@pytest.mark.parametrize(
    "name, sizes, megabytes, tolerance", CASES, ids=[case[0] for case in CASES]
)
def test_the_limit_holds_for_the_process(name, sizes, megabytes, tolerance):
    limit = megabytes * 10**6
    stock = fresh_process.program(f"examples/{name}.py", sizes)
    limited = fresh_process.program(f"examples/{name}.py", sizes, limit=f"{megabytes}MB")
    assert limited.stderr == ""
    assert limited.report_bytes <= limit
    assert limited.growth_bytes <= limit - limited.argument_bytes + ALLOWANCE_BYTES
    assert stock.growth_bytes > limit - stock.argument_bytes + ALLOWANCE_BYTES, (
        "the limit was no task"
    )
    assert len(stock.outputs) == len(limited.outputs)
    for expected, found in zip(stock.outputs, limited.outputs):
        assert expected.dtype == found.dtype and expected.shape == found.shape
        difference = np.abs(expected.astype(np.float64) - found).max()
        assert difference <= tolerance * np.abs(expected).max()


def kernel_sum(z):
    return jnp.sort(jnp.exp(-((z[:, None] - z[None]) ** 2).sum(-1)), axis=None)[::7].sum()


Z = np.random.default_rng(0).standard_normal((700, 3))


def test_an_impossible_limit_is_refused_before_anything_runs():
    """A sort of all n x n entries can't be split."""
    ran = []

    def f(z):
        out = kernel_sum(z)
        jax.debug.callback(ran.append, out)
        return out

    with (
        weir.limit("100kB"),
        pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED: weir: .*kB") as caught,
    ):
        jax.jit(f)(Z).block_until_ready()
    assert not ran
    assert "sort" in str(caught.value) and "test_limits.py" in str(caught.value)


def test_a_refused_plan_tells_why():
    plan = weir.plan(kernel_sum, Z, limit="100kB")
    assert plan.outcome == "refused" and plan.peak_before_bytes > 10**5 and "sort" in plan.message
    assert "outcome  refused; the smallest limit found feasible is" in str(plan)
    assert "sort" in str(plan) and "test_limits.py" in str(plan)


def test_plan_and_run_agree():
    def f(z):
        return jnp.exp(-((z[:, None] - z[None]) ** 2).sum(-1)) @ z

    plan = weir.plan(f, Z, limit="500kB")
    assert (
        plan.outcome == "rewritten"
        and plan.loops
        and plan.peak_after_bytes <= 500_000 < plan.peak_before_bytes
    )
    assert plan.slices[0] * plan.loops[0].trips >= plan.loops[0].extent == 700
    with weir.limit("500kB"):
        found = jax.jit(f)(Z)
    assert weir.last_report().peak_after_bytes == plan.peak_after_bytes
    limit, peak, outcome, *rest = str(plan).splitlines()
    assert limit == "limit    500 kB" and peak.endswith(", as XLA reports")
    assert outcome.startswith(f"outcome  rewritten, {len(plan.loops)} loop")
    assert sum("test_limits.py" in line for line in rest) >= 3
    np.testing.assert_allclose(found, jax.jit(f)(Z), rtol=1e-4)


def test_room_makes_slices_longer():
    """Also where what is split is small: two matrices are held in place of five only where the
    rows' gradients (5 kB) are."""

    def marginal(theta, x, y):
        x = x / jnp.exp(theta[0])
        k = jnp.exp(x @ x.T - 0.5 * ((x**2).sum(1)[:, None] + (x**2).sum(1)))
        factor = jnp.linalg.cholesky(k + jnp.exp(theta[1]) * jnp.eye(len(y)))
        weights = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ weights + jnp.log(jnp.diagonal(factor)).sum()

    n = 400
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((2,), (n, 3), (n,))]
    text = jax.jit(jax.value_and_grad(marginal)).lower(*arguments).as_text()
    trips = []
    for matrices in (2.2, 2.8):
        settings = {"memory_limit_bytes": int(matrices * n * n * 4), "machine": b"x86-64-v3"}
        plan = _library.rewrite(text.encode(), settings, None)
        assert plan.status_name == "OK" and plan.peak_after_bytes <= settings["memory_limit_bytes"]
        trips.append(sum(loop.trips for loop in plan.loops))
    assert trips[1] < trips[0] / 2


@pytest.mark.parametrize("name", ["m_xent_vocab", "m_xent_vocab_grad", "m_scan_big_carry_grad"])
def test_what_is_made_for_a_smaller_limit_is_no_faster(name):
    text = (fresh_process.ROOT / f"test/corpus/{name}/program.mlir").read_bytes()
    peak = _library.rewrite(text, {}, None).peak_before_bytes
    times = []
    for share in (0.15, 0.7):
        settings = {"memory_limit_bytes": int(peak * share), "tile": 2, "machine": b"x86-64-v4"}
        plan = _library.rewrite(text, settings, None)
        assert plan.status_name == "OK" and plan.peak_after_bytes <= settings["memory_limit_bytes"]
        times.append(plan.time_after_ns)
    assert times[1] <= 1.1 * times[0]


def test_a_program_that_fits_costs_no_compile():
    plan = weir.plan(lambda z: z + 1, Z, limit="1GB")
    assert (plan.outcome, plan.referee_compiles, plan.text) == ("untouched", 0, None)


def test_a_script_that_sets_nothing_but_the_environment():
    done = subprocess.run(
        [sys.executable, str(fresh_process.ROOT / "examples/p1_kernel_matvec.py"), "--n", "5000"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"WEIR_MEMORY_LIMIT": "30MB", "WEIR_DEBUG": "1"},
    )
    assert done.returncode == 0 and "y[:4]" in done.stdout, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("weir: jit_run: rewritten, peak 201 MB -> ") and line.endswith(
        " under 30.0 MB, 1 loop"
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_kind_of_program_survives_real_splitting(program, monkeypatch):
    """With a threshold that splits whatever can be split."""
    expected = program()
    jax.clear_caches()
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = program()
    for x, y in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        x, y = (np.asarray(a if a.dtype.kind in "biufc" else a.astype(np.float32)) for a in (x, y))
        np.testing.assert_allclose(y, x, rtol=2e-5, atol=1e-6)


# ---- what XLA refuses, what is never refused, and what a refusal says ----


def products_of_a_kernel(z):
    """With several vectors: no XLA makes the matrix inside of the product."""
    return jnp.exp(-((z[:, None] - z[None]) ** 2)) @ jnp.stack([z**i for i in range(8)], 1)


def test_candidates_that_xla_refuses_are_not_run(monkeypatch):
    compile_ = _call.Call.compile

    def refuse(call, text, options):
        if text is not None:
            raise RuntimeError("XLA does not like it")
        return compile_(call, text, options)

    monkeypatch.setattr(_call.Call, "compile", refuse)
    z, f = np.linspace(0, 1, 1000, dtype=np.float32), jax.jit(products_of_a_kernel)
    with pytest.warns(weir.WeirWarning, match="XLA compiles none of the programs that weir made"):
        plan = weir.plan(f, z, limit="100kB")
    assert plan.is_unconfirmed and plan.outcome == "rewritten" and "unconfirmed" in str(plan)
    assert "unconfirmed" in plan.line()
    with weir.limit("100kB"), pytest.warns(weir.WeirWarning, match="it runs as it came"):
        found = f(z)
    np.testing.assert_array_equal(found, jax.jit(lambda z: f(z))(z))


def test_loading_data_is_never_refused():
    data = np.arange(10**6, dtype=np.float32)
    with weir.limit("1MB"):
        x = jnp.asarray(data)
        y = jax.jit(lambda x: x)(x)
        z = jax.jit(lambda x: x.reshape(1000, 1000))(jax.device_put(data))
        np.testing.assert_array_equal(jnp.array(x), data)
        with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED: weir: "):
            jax.jit(lambda x: x + 1)(x)
    np.testing.assert_array_equal(y, data)
    np.testing.assert_array_equal(z.ravel(), data)


def test_the_limit_that_a_refusal_names_holds():
    z, f = np.linspace(0, 1, 1000, dtype=np.float32), products_of_a_kernel
    with weir.limit("40kB"), pytest.raises(jax.errors.JaxRuntimeError) as refusal:
        jax.jit(f)(z)
    message = str(refusal.value)
    assert len(re.findall(r"\d{4,}", message.splitlines()[0])) == 1
    with weir.limit(int(re.search(r"set it to (\d+) bytes or more", message)[1])):
        found = jax.jit(f)(z)
    np.testing.assert_allclose(found, f(z), rtol=1e-5)
    assert weir.last_report().outcome == "rewritten"
