"""Plans that a device's own XLA judged: what is accepted, compiled once more by this file, is under
the limit. `make test` runs those named quick in an environment of its own that has the compilers,
build/devices; `make test-devices` all. Nothing runs on a device.
"""

import os
import pathlib
import re
import subprocess
import sys
import types

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import running
import weir
from weir import _ahead, _devices, _jax

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import programs  # noqa: E402

pytestmark = pytest.mark.usefixtures("as_users")
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


def compiled(text, devices, more):
    """A program for the devices, compiled without weir."""
    from jax._src.interpreters import mlir

    with mlir.make_ir_context():
        module = _jax.ir.Module.parse(text)
        options = _ahead.options(module, devices)
        options.env_option_overrides = list(more.items())
        client, chosen = devices[0].client, _jax.xla_client.DeviceList(tuple(devices))
        return client.compile(module, executable_devices=chosen, compile_options=options)


def report_of(made):
    """XLA's total, on each of the devices."""
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
        made = [compiled(plan.text, target.devices(1), way) for way in ways]
        assert max(map(report_of, made)) == plan.peak_after_bytes
        if target.platform == "cuda":
            known = [x.hlo_modules()[0].to_string().count('"known_trip_count"') for x in made]
            assert min(known) >= len(plan.loops)


# ---- several devices ----
def kernel(x, y):
    return jax.numpy.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


def sharded(devices):
    """(function, shapes of its arguments): rows of the matrix over the devices, as XLA likes."""
    mesh = Mesh(np.array(devices), ("d",))
    x = jax.ShapeDtypeStruct((8192, 8), np.float32, sharding=NamedSharding(mesh, P("d")))
    v = jax.ShapeDtypeStruct((8192,), np.float32, sharding=NamedSharding(mesh, P()))
    return lambda x, v: kernel(x, x) @ v, (x, v)


def spread(devices):
    """A program of one device, under a limit with a mesh of them."""
    shapes = [jax.ShapeDtypeStruct((65_536, 8), np.float32) for _ in range(3)]
    return lambda q, k, v: jax.nn.softmax(q @ k.T) @ v, shapes


def by_hand(devices):
    def local(x, v):
        return kernel(x, jax.lax.all_gather(x, "d", tiled=True)) @ v

    f, shapes = sharded(devices)
    mesh = shapes[0].sharding.mesh
    return jax.shard_map(local, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d")), shapes


def data_parallel(devices):
    """A training step whose rows are sharded, the parameters whole on each."""

    def loss(p, x):
        h = jax.nn.gelu(x @ p[0])
        h = (h - h.mean(1, keepdims=True)) * jax.lax.rsqrt(h.var(1, keepdims=True) + 1e-5)
        return (jax.nn.log_softmax(h @ p[1]) * x).mean()

    def step(p, x):
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, jax.grad(loss)(p, x))

    mesh = Mesh(np.array(devices), ("d",))
    rows, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
    p = [jax.ShapeDtypeStruct(s, np.float32, sharding=whole) for s in ((16, 512), (512, 16))]
    return step, (p, jax.ShapeDtypeStruct((65_536, 16), np.float32, sharding=rows))


SEVERAL = [("quick", sharded, "h100", 2), ("quick", by_hand, "v5e", 8)]
SEVERAL += [("quick", spread, "h100", 4), ("quick", spread, "v5e", 4)]
SEVERAL += [("quick", data_parallel, "h100", 4), ("quick", data_parallel, "v5e", 4)]
SEVERAL += [
    ("whole", make, device, count)
    for make in (sharded, by_hand, spread, data_parallel)
    for device in ("h100", "v5e", "v5p")
    for count in (2, 4, 8)
    if ("quick", make, device, count) not in SEVERAL
]
SEVERAL_IDS = [f"{share}-{make.__name__}-{device}-{n}" for share, make, device, n in SEVERAL]


@pytest.mark.parametrize("make, device, count", [c[1:] for c in SEVERAL], ids=SEVERAL_IDS)
def test_each_of_several_devices_is_under_the_limit(make, device, count):
    target, limit = compiler_of(device), 200_000_000 if make is spread else 10_000_000
    devices = target.devices(count)
    f, shapes = make(devices)
    mesh = Mesh(np.array(devices), ("d",)) if make is spread else None
    with weir.limit(limit, mesh=mesh):
        plan = weir.plan(f, *shapes, limit=limit, device=device)
    assert plan.device == f"{count} x {device}" and plan.judge.startswith("XLA for")
    assert plan.peak_after_bytes <= limit and not plan.after_is_estimate
    if plan.outcome == "options":  # a TPU makes its part of the matrix on the chip
        assert target.platform == "tpu"
        return
    assert plan.outcome == "rewritten" and limit < plan.peak_before_bytes
    assert f"mhlo.num_partitions = {count}" in str(plan.text)
    ways = GPU_WAYS if target.platform == "cuda" else GPU_WAYS[:1]
    assert max(report_of(compiled(plan.text, devices, way)) for way in ways) == plan.peak_after_bytes


def test_quick_a_topology_is_as_good_as_a_name():
    """Also one whose devices belong to several processes, which do not exist."""
    compiler_of("v5e")
    devices = _devices.resolve("v5e").devices(8)
    assert len({device.process_index for device in devices}) == 2
    f, shapes = by_hand(devices)
    topology = types.SimpleNamespace(devices=devices)
    plan = weir.plan(f, *shapes, limit="10MB", device=topology)
    assert plan.device == "8 x v5e" and plan.peak_after_bytes <= 10_000_000
    with weir.limit("10MB"):
        lowered = jax.jit(f).trace(*shapes).lower(lowering_platforms=("tpu",))
        memory = lowered.compile().memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    assert held + memory.temp_size_in_bytes == plan.peak_after_bytes


# ---- loops ----
def written(q, k, v):
    """Rows of the result, a slice a trip."""
    return jax.nn.softmax(q @ k.T) @ v


def added_up(x, w):
    """All of the result in each trip."""
    p = jax.nn.softmax(x @ w)
    return p.T @ p


def shapes(*sizes):
    return [jax.ShapeDtypeStruct(size, np.float32) for size in sizes]


# Arguments, limits, the bytes of one row of a slice. The results are larger than a TPU's on-chip
# memory, of which no report tells.
LOOPS = {
    written: (
        shapes((10**6, 8), (512, 8), (512, 256)),
        {"cuda": 1_350_000_000, "tpu": 1_350_000_000},
        512 * 4,
    ),
    added_up: (shapes((10**6, 8), (8, 8192)), {"cuda": 565_000_000, "tpu": 680_000_000}, 8192 * 4),
}
IN_PLACE = [("quick", f, "h100") for f in LOOPS]
IN_PLACE += [("quick", written, "v5e"), ("whole", added_up, "v5e")]


@pytest.mark.parametrize(
    "f, device",
    [case[1:] for case in IN_PLACE],
    ids=[f"{share}-{f.__name__}-{device}" for share, f, device in IN_PLACE],
)
def test_loops_are_in_place(f, device):
    """Beside arguments and results there are two slices, and not a copy of the result, which would
    be more. XLA for GPUs says that it knows how many trips there are.
    """
    target, (arguments, limits, row_bytes) = compiler_of(device), LOOPS[f]
    whole = jax.sharding.SingleDeviceSharding(target.compiler)
    arguments = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=whole) for x in arguments]
    with weir.limit(limits[target.platform]):
        lowered = jax.jit(f).trace(*arguments).lower(lowering_platforms=(target.platform,))
        executable = lowered.compile().runtime_executable()
    (loop,) = weir.last_report().loops
    assert loop.trips > 1
    memory = executable.get_compiled_memory_stats()
    most = 2 * loop.slice * row_bytes + 2**20
    assert memory.temp_size_in_bytes <= most < memory.output_size_in_bytes
    text = executable.hlo_modules()[0].to_string()
    shape = ",".join(map(str, lowered.out_info.shape))
    in_loop, entry = text.split("\nENTRY ")
    assert f"[{shape}]" in in_loop and " while(" in entry
    assert re.findall(rf"\[{shape}\][^=]* copy(?:-start)?\(", in_loop) == []
    if target.platform == "cuda":
        assert f'"known_trip_count":{{"n":"{loop.trips}"}}' in text


IN_PLACE_OVER = [("quick", written, "h100"), ("quick", added_up, "h100"), ("whole", written, "v5e")]


@pytest.mark.parametrize(
    "f, device",
    [case[1:] for case in IN_PLACE_OVER],
    ids=[f"{share}-{f.__name__}-{device}" for share, f, device in IN_PLACE_OVER],
)
def test_loops_over_several_devices_are_in_place(f, device):
    """Rows over four of them: each has the loop over as many rows as above, and what it writes or
    adds up is there once.
    """
    target, (arguments, limits, row_bytes) = compiler_of(device), LOOPS[f]
    devices = target.devices(4)
    mesh = Mesh(np.array(devices), ("d",))
    rows, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
    first, *others = arguments
    given = [jax.ShapeDtypeStruct((4 * first.shape[0], 8), np.float32, sharding=rows)]
    given += [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=whole) for x in others]
    plan = weir.plan(f, *given, limit=limits[target.platform], device=device)
    (loop,) = plan.loops
    made = compiled(plan.text, devices, {})
    memory = made.get_compiled_memory_stats()
    assert loop.trips > 1
    most = 2 * loop.slice * row_bytes + 2**20
    assert memory.temp_size_in_bytes <= most < memory.output_size_in_bytes
    text = made.hlo_modules()[0].to_string()
    size = memory.output_size_in_bytes // 4
    large = [m for m in re.finditer(r"f32\[(\d+),(\d+)\][^=]* copy(?:-start)?\(", text)]
    assert [m[0] for m in large if int(m[1]) * int(m[2]) == size] == []


def sorted_thrice(x):
    """Columns, rows, columns; each needs all of the one before."""
    by_columns = jax.numpy.sort(jax.numpy.exp(x), axis=0)
    by_rows = jax.numpy.sort(jax.numpy.sin(by_columns), axis=1)
    return (jax.numpy.sort(jax.numpy.cos(by_rows), axis=0) ** 2).sum(0)


@pytest.mark.parametrize(
    "device, slice", [("h100", "24MB"), ("v5e", "8MB")], ids=["quick-h100", "whole-v5e"]
)
def test_loops_write_over_what_they_read(device, slice, tmp_path):
    """Of the temporaries one is a whole matrix, and its XLA makes no copy of it; two are without."""
    target = compiler_of(device)
    n, d = 40_000, 1_500
    shape = jax.ShapeDtypeStruct((n, d), np.float32)
    lowered = jax.jit(sorted_thrice).trace(shape).lower(lowering_platforms=(target.platform,))
    (path := tmp_path / "sorted.mlir").write_text(lowered.as_text())
    slices = ("--tensor-size-threshold", "100MB", "--tensor-split-size", slice)
    text = running.opt(path, "--machine", device, *slices)
    assert text.count('"stablehlo.while"') == 3 and text.count("optimization_barrier") == 1
    memory = compiled(text, target.devices(1), {}).get_compiled_memory_stats()
    assert memory.temp_size_in_bytes < 1.9 * 4 * n * d


def test_quick_loops_of_each_of_several_devices_write_over_what_they_read(tmp_path):
    target, (n, d) = compiler_of("h100"), (40_000, 1_500)
    devices = target.devices(4)
    mesh = Mesh(np.array(devices), ("d",))
    shape = jax.ShapeDtypeStruct((4 * n, d), np.float32, sharding=NamedSharding(mesh, P("d")))
    f = jax.jit(jax.shard_map(sorted_thrice, mesh=mesh, in_specs=P("d"), out_specs=P("d")))
    lowered = f.trace(shape).lower(lowering_platforms=(target.platform,))
    (path := tmp_path / "sorted.mlir").write_text(lowered.as_text())
    slices = ("--tensor-size-threshold", "100MB", "--tensor-split-size", "24MB")
    text = running.opt(path, "--machine", "h100", *slices)
    assert text.count('"stablehlo.while"') == 3 and text.count("optimization_barrier") == 1
    memory = compiled(text, devices, {}).get_compiled_memory_stats()
    assert memory.temp_size_in_bytes < 1.9 * 4 * n * d


def test_a_program_larger_than_the_chip_is_held():
    """XLA:TPU does not compile it as it came; its message has the number. At more than 1.5 times
    the limit it would not be asked.
    """
    compiler_of("v5e")
    x = jax.ShapeDtypeStruct((1, 20, 16_384, 64), np.float32)
    plan = weir.plan(programs.get("p5").load().run, x, x, x, limit="15GB", device="v5e")
    assert plan.outcome == "rewritten" and plan.peak_after_bytes <= 15 * 10**9
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


# Compiles for a TPU, says so and stays until its input ends.
HOLDS = """
import sys, weir
from weir import _devices
print(weir.plan(abs, 1.0, limit="1GB", device="v5e").judge, flush=True)
sys.stdin.read()
"""


def test_quick_two_processes_compile_for_tpus_at_a_time_where_told_to():
    """Whoever holds the lock of libtpu: the first of the two here, or a process of others."""
    compiler_of("v5e")
    variable = _devices.LETS_OTHERS_IN
    alone = {name: value for name, value in os.environ.items() if name != variable}
    piped = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"text": True}
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, env=alone, **piped) as first:
        first.stdout.readline()
        second = subprocess.run(command, env=alone, input="", capture_output=True, text=True)
        third = subprocess.run(
            command, env=alone | {variable: "1"}, input="", capture_output=True, text=True
        )
        first.communicate()
    assert second.stdout == "weir's estimate\n" and f"set {variable}=1" in second.stderr
    assert third.stdout.startswith("XLA for tpu") and variable not in third.stderr
