"""weir.plan(device=): plans for GPUs and TPUs that are not here, by weir's estimate; their own XLA:
test_devices.py.
"""

import importlib
import pathlib
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from weir import _auto, _call, _devices, _library, _plan

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import programs  # noqa: E402

compilers = _devices._compilers.__wrapped__


@pytest.fixture(autouse=True)
def no_compilers(monkeypatch):
    monkeypatch.setattr(_devices, "_compilers", lambda known, count: ())


def kernel_sum(x, v):
    return jnp.exp(-((x[:, None] - x[None]) ** 2)) @ v


ARGUMENTS = 2 * (jax.ShapeDtypeStruct((20_000,), jnp.float32),)  # in between: 1.6 GB


def test_plan_says_for_what_and_by_whom():
    plan = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device="h100")
    assert plan.outcome == "rewritten" and plan.peak_after_bytes <= plan.limit_bytes == 400_000_000
    assert (plan.device, plan.judge) == ("h100", "weir's estimate")
    assert str(plan).startswith("device   h100, 84.9 GB; judged by weir's estimate\n")
    assert str(plan).count("device ") == 1
    assert plan.before_is_estimate and plan.after_is_estimate and plan.data and plan.trace


def test_slices_on_a_device_are_the_largest_that_fit():
    plan = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device="h100")
    assert [loop.trips for loop in plan.loops] == [8] and not plan.kernels
    assert 100_000_000 < plan.peak_after_bytes <= 400_000_000
    longer = weir.plan(kernel_sum, *ARGUMENTS, limit="800MB", device="h100")
    assert longer.loops[0].slice > plan.loops[0].slice


def test_slices_that_were_halved_grow_again():
    """Where trips cost launches: halving alone comes to 20 MB of 32, in 100 trips. Of two columns: of
    one XLA makes sums, with no slice in memory."""
    columns = jax.ShapeDtypeStruct((20_000, 2), jnp.float32)
    plan = weir.plan(kernel_sum, ARGUMENTS[0], columns, limit="32MB", device="h100")
    assert 24_000_000 < plan.peak_after_bytes <= 32_000_000
    assert sum(loop.trips for loop in plan.loops) < 100


def test_slices_grow_by_what_xla_keeps_of_them():
    """Of differences along a third dimension, which are summed as they are computed."""

    def nearest(x, y):
        return jax.lax.top_k(-((x[:, None] - y[None]) ** 2).sum(-1), 10)

    x, y = (jax.ShapeDtypeStruct((n, 50), jnp.float32) for n in (1000, 500_000))
    plan = weir.plan(nearest, x, y, limit="192MB", device="h100")
    assert 120_000_000 < plan.peak_after_bytes <= 192_000_000
    assert sum(loop.trips for loop in plan.loops) <= 60


def cross_entropy(x, w, labels):
    logits = jax.nn.log_softmax(x @ w)
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


def test_a_table_of_weights_is_not_laid_out_anew_on_a_tpu():
    """Beside the weights and their gradient there are the weights in 16 bits, and nothing as large."""
    rows, width, words = 2048, 512, 128_256
    shapes = ((rows, width), jnp.float32), ((width, words), jnp.float32), ((rows,), jnp.int32)
    f = jax.value_and_grad(cross_entropy, argnums=(0, 1))
    plan = weir.plan(f, *(jax.ShapeDtypeStruct(*s) for s in shapes), limit="700MB", device="v5e")
    assert plan.outcome == "rewritten" and plan.peak_after_bytes <= 700_000_000
    assert plan.peak_after_bytes < 2.5 * 4 * width * words + 4 * 4 * rows * width
    assert all(loop.slice % 128 == 0 for loop in plan.loops)


def test_a_faster_card_is_predicted_to_be_faster():
    times = [
        weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device=name).time_after_ns
        for name in ("l4", "a100-80gb", "h100")
    ]
    assert times[0] > times[1] > times[2] > 0


@pytest.mark.parametrize("limit", ["auto", None])
def test_auto_is_nine_tenths_of_the_devices_memory(limit):
    plan = weir.plan(kernel_sum, *ARGUMENTS, limit=limit, device="a100-40gb")
    assert plan.limit_bytes == int(0.9 * 42331013120)
    assert plan.outcome == "untouched"


def test_limit_in_force_counts():
    with weir.limit("400MB"):
        assert weir.plan(kernel_sum, *ARGUMENTS, device="v5e").limit_bytes == 400_000_000


def test_list_of_devices_is_a_table():
    plans = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device=["h100", "v5e", "mi300x"])
    assert [p.device for p in plans] == ["h100", "v5e", "mi300x"]
    lines = str(plans).splitlines()
    assert lines[0].split() == "device limit as it came under the limit judged by".split()
    assert len(lines) == 4 and lines[2].startswith("v5e ") and "fits as it is" in lines[2]
    assert "8 trips, predicted" in lines[1]


def test_table_says_what_fits_and_what_does_not():
    def factor(a):
        return jnp.linalg.cholesky(a)

    a = jax.ShapeDtypeStruct((4096, 4096), jnp.float32)  # 67 MB
    (refused,) = weir.plan(factor, a, limit="100MB", device=["h100"])
    assert refused.outcome == "refused" and refused.minimum_bytes >= 2 * 4096 * 4096 * 4
    assert refused.verdict() == f"not; holds {_plan.readable(refused.minimum_bytes)}"
    (fits,) = weir.plan(factor, a, limit="10GB", device=["h100"])
    assert fits.verdict().startswith("fits as it is, ")


def test_jitted_functions_static_and_keyword_arguments():
    f = jax.jit(lambda x, n, scale: jnp.exp(x[:, None] * x[None] * scale) ** n, static_argnums=1)
    x = jax.ShapeDtypeStruct((1000,), jnp.float32)
    plan = weir.plan(f, x, 2, scale=np.float32(3), limit="1GB", device="b200")
    assert plan.peak_before_bytes == pytest.approx(4e6, rel=0.01)


def test_arguments_may_be_arrays():
    plan = weir.plan(kernel_sum, *2 * (jnp.ones(20_000),), limit="400MB", device="h100")
    assert plan.outcome == "rewritten" and plan.peak_before_bytes > 1_600_000_000


@pytest.mark.parametrize("device", ["h20", "a100", "", "cuda", "h100,l4", 3, None, object()])
def test_what_is_no_device_is_named(device):
    message = r"is no device(| \(.*\)); a device is one of a100-80gb, .*topology"
    with pytest.raises(ValueError, match=message):
        weir.plan(kernel_sum, *ARGUMENTS, limit="1GB", device=device)


@pytest.mark.parametrize(
    "name, meant",
    [
        ("a100", " (a100-80gb or a100-40gb?)"),
        ("h1000", " (h100?)"),
        ("TPU", " (v5e?)"),
        ("gpu", " (a100-80gb?)"),
        ("H100, l4", " (several are a list: ['h100', 'l4'])"),
        ("", ""),
        ("abacus", ""),
    ],
)
def test_what_may_be_meant(name, meant):
    assert _devices._meant(name) == meant


def test_names_in_capitals():
    target = _devices.resolve("H100")
    assert (target.name, target.machine, target.platform) == ("h100", "h100", "cuda")


def test_what_is_here_beside_others():
    plans = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device=["auto", "l4"])
    assert [p.device for p in plans] == ["cpu", "l4"]
    assert [p.judge for p in plans] == ["XLA for cpu, here", "weir's estimate"]


def test_a_limit_above_the_devices_memory_is_doubted():
    doubt = "\ndoubt    the limit is more than the device has\n"
    assert doubt in str(weir.plan(kernel_sum, *ARGUMENTS, limit="30GB", device="l4"))
    assert doubt not in str(weir.plan(kernel_sum, *ARGUMENTS, limit="20GB", device="l4"))


def test_what_is_no_function():
    traced = jax.jit(kernel_sum).trace(*ARGUMENTS)
    for f in (3, traced, traced.lower()):
        with pytest.raises(TypeError, match="a function and its arguments are wanted"):
            weir.plan(f, *ARGUMENTS, device="h100")


def test_what_jax_does_not_lower_for_the_device():
    def f(x):
        return jax.pure_callback(np.sin, x, x)

    with pytest.raises(ValueError, match="weir.plan: JAX does not lower this for cuda: "):
        weir.plan(f, ARGUMENTS[0], device="h100")


def test_unreadable_limit():
    with pytest.raises(ValueError, match="should be a number of bytes"):
        weir.plan(kernel_sum, *ARGUMENTS, limit="many", device="h100")


def test_default_device_is_jaxs():
    plan = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device="auto")
    assert plan.device == "" and not plan.after_is_estimate


def test_a_jax_device():
    plan = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device=jax.devices("cpu")[0])
    assert plan.device == "cpu" and plan.judge.startswith("XLA for cpu") and plan.loops
    with pytest.raises(ValueError, match="how much memory cpu has is not known"):
        weir.plan(kernel_sum, *ARGUMENTS, limit="auto", device=jax.devices("cpu")[0])


def test_every_device_can_be_planned_for():
    for device in _library.devices():
        plan = weir.plan(kernel_sum, *ARGUMENTS, limit="400MB", device=device.name)
        # a TPU makes the matrix inside of the product that reads it
        held = "options" if device.platform == "tpu" else "rewritten"
        assert plan.outcome == held and plan.device_bytes == device.memory_bytes


# ---- several devices ----
def test_a_program_over_more_devices_than_there_are():
    assert _devices._first_of("abcd", "h100", 2) == ("a", "b")
    with pytest.raises(ValueError, match="over 4 devices; of h100 there are 2"):
        _devices._first_of("ab", "h100", 4)


@pytest.mark.parametrize(
    "shape, count, expected",
    [
        ("v5e:2x2", 1, "v5e:2x2"),
        ("v5e:2x2", 4, "v5e:2x2"),
        ("v5e:2x2", 5, "v5e:2x4"),
        ("v5e:2x2", 16, "v5e:4x4"),
        ("v5p:2x2x1", 8, "v5p:2x2x2"),
    ],
)
def test_topologies_of_so_many_chips(shape, count, expected):
    assert _devices._enlarged(shape, count) == expected


# ---- compilers that are installed and fail ----
LOCKED = 'ABORTED: Internal error when accessing libtpu multi-process lockfile. Run "$ sudo rm /tmp/libtpu_lockfile".'
IN_USE = (
    "ABORTED: The TPU is already in use by process with pid 7. Not attempting to load libtpu.so in this"
    ' process. If you still get this message, run "$ sudo rm /tmp/libtpu_lockfile".'
)


@pytest.mark.parametrize(
    "error, said",
    [
        (LOCKED, "by another process.* set ALLOW_MULTIPLE_LIBTPU_LOAD=1"),
        (IN_USE, "by another process.* set ALLOW_MULTIPLE_LIBTPU_LOAD=1"),
        ("INTERNAL: no such chip\nat line 7", "fails: INTERNAL: no such chip; its plans"),
        ("", "fails: RuntimeError; its plans"),
    ],
)
def test_a_compiler_that_fails_is_said(error, said, monkeypatch):
    def fail(target, count):
        raise RuntimeError(error)

    monkeypatch.setattr(_devices, "_tpu_devices", fail)
    monkeypatch.setattr(_devices._jax, "missing", lambda names: [])
    v5e = next(d for d in _library.devices() if d.name == "v5e")
    with pytest.warns(weir.WeirWarning, match=said) as found:
        assert compilers(v5e, 1) == ()
    assert "sudo" not in str(found[0].message)


# ---- devices that only play one ----
def card(kind, platform="gpu", version="", fails=True, **statistics):
    def memory_stats():
        if fails:
            raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: compile only")
        return statistics

    return types.SimpleNamespace(
        device_kind=kind,
        platform=platform,
        id=0,
        client=types.SimpleNamespace(platform_version=version),
        memory_stats=memory_stats,
    )


def test_auto_of_a_client_that_only_compiles():
    assert _auto.limit_bytes(card("NVIDIA B200")) == int(0.9 * 191514411008)
    with pytest.raises(LookupError, match="does not say how much memory it has"):
        _auto.limit_bytes(card("of no vendor"))


def test_auto_of_a_card_that_is_here_is_what_is_free():
    found = _auto.limit_bytes(card("NVIDIA L4", fails=False, bytes_limit=1000, bytes_in_use=500))
    assert found == 450


@pytest.mark.parametrize(
    "kind, version, platform",
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", "cuda"),
        ("AMD Instinct MI300X", "AMD Instinct MI300X", "rocm"),
        ("AMD Radeon PRO W7900", "", "rocm"),
        ("gfx942", "PJRT C API\nrocm 60300", "rocm"),
        ("NVIDIA L4", "PJRT C API\ncuda 12080", "cuda"),
    ],
)
def test_platform_of_a_gpu(kind, version, platform):
    assert _call.platform_of(card(kind, version=version)) == platform


@pytest.mark.parametrize(
    "said, total",
    [
        ("Ran out of memory in memory space hbm. Used 37.25G of 15.75G hbm.", 37.25 * 2**30),
        (
            "the total memory required for HLO temporaries (447.18G) exceeds available HBM (15.75G).",
            447.18 * 2**30,
        ),
    ],
)
def test_number_in_xlas_refusal_is_its_report(said, total):
    error = jax.errors.JaxRuntimeError(f"RESOURCE_EXHAUSTED: {said}")
    assert _call._refused_memory(error, 10**9) == (0, 0, 0, int(total))
    with pytest.raises(jax.errors.JaxRuntimeError):  # of a limit above it, it says nothing
        _call._refused_memory(error, 10**12)


def test_other_refusals_say_nothing_of_memory():
    with pytest.raises(jax.errors.JaxRuntimeError, match="UNIMPLEMENTED"):
        _call._refused_memory(jax.errors.JaxRuntimeError("UNIMPLEMENTED: Cholesky (2G)"), 1)


# ---- a referee that plays a device's XLA ----
def program():
    lowered = jax.jit(kernel_sum).trace(*2 * (jax.ShapeDtypeStruct((2000,), jnp.float32),)).lower()
    return lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True).encode()


def ask(answer, machine, limit):
    asked = []

    def referee(text, options):
        asked.append((text, options))
        return 0, 0, 0, answer(text, options)

    settings = {"memory_limit_bytes": limit, "machine": machine}
    return _library.rewrite(program(), settings, referee), asked


OTHERWISE = ("xla_gpu_enable_triton_gemm=false",)


def test_a_gpus_limit_holds_both_ways():
    """A candidate that is under the limit with Triton's products alone is not taken."""

    def answer(text, options):
        return 10**8 if text is None else 2 * 10**6 if options == OTHERWISE else 10**5

    result, asked = ask(answer, b"h100", 10**6)
    assert result.status == _library.RESOURCE_EXHAUSTED
    assert {options for _, options in asked} == {(), OTHERWISE}

    result, asked = ask(lambda text, _: 10**8 if text is None else 10**5, b"h100", 10**6)
    assert result.outcome == _library.REWRITTEN and result.compile_options == ()
    assert [options for _, options in asked[-2:]] == [(), OTHERWISE]
    assert result.peak_after_bytes == 10**5 and not result.after_is_estimate


def test_a_tpu_is_asked_once():
    _, asked = ask(lambda text, _: 10**8 if text is None else 10**5, b"v5e", 10**6)
    assert {options for _, options in asked} == {()}


def test_a_refusal_names_what_xla_said_of_a_candidate():
    """The estimate is low: a candidate came to 3 MB, which is less than the program as it came."""
    result, asked = ask(lambda text, _: 10**8 if text is None else 3 * 10**6, b"v5e", 10**6)
    assert result.status == _library.RESOURCE_EXHAUSTED
    assert result.minimum_bytes <= 3 * 10**6


def test_no_candidate_is_proposed_twice():
    _, asked = ask(lambda text, _: 10**8 if text is None else 1_010_000, b"v5e", 10**6)
    candidates = [text for text, _ in asked if text is not None]
    climb = candidates[:4]
    assert len(set(climb)) == len(climb) > 1


def test_refused_by_the_referee_is_told_from_held():
    def refuses(text, options):
        if text is not None:
            raise RuntimeError("XLA does not compile it")
        return 10**8

    result, _ = ask(refuses, b"v5e", 10**6)
    assert result.is_unconfirmed


# ---- what is made for a device is right: it runs on the CPU as well ----
UNSPLIT_OR_LONG = ("p10", "large_batch")


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize("name", [p.name for p in programs.PROGRAMS if p.name not in UNSPLIT_OR_LONG])
def test_programs_for_devices_give_the_same_results(name, platform, monkeypatch):
    program = programs.get(name)
    module = importlib.reload(program.load())  # which says which floats it wants
    inputs = module.make_inputs(**{**module.sizes, **program.small})
    f = getattr(module, program.function)
    expected = jax.tree.leaves(f(*inputs))
    monkeypatch.setattr(_call, "platform_of", lambda device: platform)
    with weir.limit(program.small_limit_bytes):
        found = jax.tree.leaves(f(*inputs))
    report = weir.last_report()
    assert report.outcome == "rewritten" and not report.kernels
    assert program.error(found, expected, inputs) <= program.tolerance
