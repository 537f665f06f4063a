"""Plans that a device's own XLA judged: what is accepted, compiled once more by this file, is under
the limit. `make test` runs those named quick in an environment of its own that has the compilers,
build/devices; `make test-devices` all. Nothing runs on a device.
"""

import pathlib
import sys

import jax
import numpy as np
import pytest

import weir
from weir import _devices, _jax

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import programs  # noqa: E402

GPU_WAYS = [{}, {"xla_gpu_enable_triton_gemm": False}]
QUICK = [("p2", "h100"), ("p9", "h100"), ("p5", "v5e"), ("p4", "v5e")]
NAMES = [p.name for p in programs.PROGRAMS if p.name != "p10"]
CASES = QUICK + [
    (name, device)
    for device in ("a100-80gb", "h100", "v5e", "v5p")
    for name in NAMES
    if (name, device) not in QUICK
]
IDS = [("quick-" if i < len(QUICK) else "whole-") + "-".join(case) for i, case in enumerate(CASES)]


def compiler_of(name):
    target = _devices.resolve(name)
    if target.compiler is None:
        pytest.skip(f"XLA's compiler for {target.platform} is not installed")
    return target


def shapes_of(program, platform):
    def shape_of(array):
        wide = platform == "tpu" and array.dtype == np.float64
        return jax.ShapeDtypeStruct(array.shape, np.float32 if wide else array.dtype)

    inputs = program.load().make_inputs(**{**program.load().sizes, **program.small})
    return [x if isinstance(x, int) else jax.tree.map(shape_of, x) for x in inputs]


def report_of(text, device, more):
    """XLA's total of a program, compiled without weir."""
    from jax._src.interpreters import mlir

    with mlir.make_ir_context():
        module = _jax.ir.Module.parse(text)
        options = _jax.get_compile_options(
            num_replicas=1, num_partitions=1, device_assignment=np.array([[device.id]])
        )
        options.env_option_overrides = list(more.items())
        devices = _jax.xla_client.DeviceList((device,))
        made = device.client.compile(module, executable_devices=devices, compile_options=options)
    m = made.get_compiled_memory_stats()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held + m.temp_size_in_bytes


@pytest.mark.parametrize("name, device", CASES, ids=IDS)
def test_accepted_is_under_the_limit_as_its_own_xla_reports(name, device):
    target, program = compiler_of(device), programs.get(name)
    limit = program.small_limit_bytes
    f = getattr(program.load(), program.function)
    plan = weir.plan(f, *shapes_of(program, target.platform), limit=limit, device=device)
    assert plan.judge.startswith(f"XLA for {target.platform}")
    if plan.outcome == "refused":
        assert plan.minimum_bytes > limit
        return
    assert plan.peak_after_bytes <= limit and not plan.is_unconfirmed
    if plan.outcome == "rewritten":
        assert not plan.after_is_estimate and not plan.kernels
        ways = GPU_WAYS if target.platform == "cuda" else GPU_WAYS[:1]
        reports = [report_of(plan.text, target.compiler, way) for way in ways]
        assert max(reports) == plan.peak_after_bytes


def test_quick_xla_knows_how_often_loops_run():
    target = compiler_of("h100")
    x = jax.ShapeDtypeStruct((20_000,), np.float32)
    plan = weir.plan(lambda x: jax.numpy.sin(x[:, None] * x).sum(1), x, limit=10**8, device="h100")
    assert plan.outcome in ("rewritten", "options")
    products = weir.plan(
        lambda x, v: jax.numpy.exp(x[:, None] * x) @ v, x, x, limit=10**8, device="h100"
    )
    assert products.outcome == "rewritten"
    (loop,) = products.loops
    assert loop.trips > 1
    from jax._src.interpreters import mlir

    with mlir.make_ir_context():
        module = _jax.ir.Module.parse(products.text)
        options = _jax.get_compile_options(1, 1, device_assignment=np.array([[target.compiler.id]]))
        made = target.compiler.client.compile(
            module,
            executable_devices=_jax.xla_client.DeviceList((target.compiler,)),
            compile_options=options,
        )
    assert f'"known_trip_count":{{"n":"{loop.trips}"}}' in made.hlo_modules()[0].to_string()


def test_a_program_larger_than_the_chip_is_held():
    """XLA:TPU does not compile it as it came; its message has the number."""
    compiler_of("v5e")
    x = jax.ShapeDtypeStruct((200_000,), np.float32)

    def f(x):
        return jax.lax.top_k(jax.numpy.sin(x[:, None] * x), 5)

    plan = weir.plan(f, x, limit="1GB", device="v5e")
    assert plan.outcome == "rewritten" and plan.peak_after_bytes <= 10**9
    assert not plan.before_is_estimate and plan.peak_before_bytes > 16 * 10**9


def test_quick_auto_under_the_hook_of_a_client_that_only_compiles():
    target = compiler_of("h100")
    sharding = jax.sharding.SingleDeviceSharding(target.compiler)
    x = jax.ShapeDtypeStruct((400_000,), np.float32, sharding=sharding)
    f = jax.jit(lambda x, v: jax.numpy.exp(x[:, None] * x) @ v)
    with weir.limit("auto"):
        f.trace(x, x).lower(lowering_platforms=("cuda",)).compile()
    report = weir.last_report()
    assert report.outcome == "rewritten" and report.limit_bytes == int(0.9 * 84942979072)
    assert report.peak_after_bytes <= report.limit_bytes < report.peak_before_bytes
