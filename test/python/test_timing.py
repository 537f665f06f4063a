"""Where predictions are unsure both ways are timed once, and the choice is kept. No test here reads a
clock: what runs are said to take is made up.
"""

import os
import signal
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import solve_triangular

import kernel_running
import random_scans
import weir
from running import HONEST, total_bytes
from weir import _call, _jax, _library, _machine, _say, _settings, _timing

folder = kernel_running.folder  # skips where there is no LLVM
KERNELS, XLA = 0, 1  # the order in which they are asked for
QKV = [np.ones((1, 1100, 64), np.float32)] * 3


def attention(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, -1) @ v


def text_of(f, arguments):
    module = jax.jit(f).lower(*arguments).compiler_ir()
    return module.operation.get_asm(print_generic_op_form=True).encode()


def rated(speed):
    """This computer, where XLA is so fast."""
    host = _library.describe_machine(b"host").splitlines()[0]
    return f"{host},clock=3.5,vectors=7,products={30 * speed:.3f},fused={speed:.3f},memory=50"


def predicted(speed):
    settings = {"memory_limit_bytes": 10**12, "tile": 1, "machine": rated(speed).encode()}
    made = _library.rewrite(text_of(attention, QKV), settings, None)
    return made.time_before_ns / made.time_after_ns


@pytest.fixture(scope="module")
def speeds():
    """Of XLA: with which kernels are predicted to gain 1.5 to 3 times; with which not enough,
    by little; with which beyond doubt.
    """
    found = {}
    for speed in 1.25 ** np.arange(30, -30, -1):
        gain = predicted(speed)
        if "unsure" not in found and gain > 1.5:
            found["unsure"] = speed
        if gain > 4:
            return found | {"sure": speed}
        if gain < 1.2:
            found["too little"] = speed
    pytest.skip("no kernels are predicted to gain on this processor, however slow its XLA is")


@pytest.fixture
def computer(folder, tmp_path, monkeypatch, speeds):
    """computer(which): that computer, as it was measured before; its folder."""

    def be(which="unsure"):
        monkeypatch.delenv("WEIR_MACHINE", raising=False)
        monkeypatch.setenv("WEIR_CACHE_DIR", str(tmp_path))
        monkeypatch.setenv("WEIR_SKIP", "slices")  # but where these are what is tried
        monkeypatch.setattr(_say, "last_report", None)
        (tmp_path / "machines").write_text(rated(speeds[which]) + "\n")
        _library.read_environment()
        return tmp_path

    return be


@pytest.fixture
def runs(monkeypatch):
    """What runs take by a clock that is made up, and how often each way was run."""
    state = types.SimpleNamespace(seconds=[1e-3, 2e-3], cpu=None, counts=[0, 0], happens=None)
    state.told_by = "weir_tile"  # what only the way that is tried has in XLA's text

    def seconds_of(executable, arguments, calls=1):
        way = KERNELS if state.told_by in executable.hlo_modules()[0].to_string() else XLA
        state.counts[way] += 1
        if state.happens:
            state.happens()
        return state.seconds[way], (state.cpu or state.seconds)[way]

    monkeypatch.setattr(_timing, "seconds_of", seconds_of)
    return state


def compiled(f=attention, arguments=QKV, limit="1TB", **options):
    jax.clear_caches()
    with weir.limit(limit):
        return jax.jit(lambda *a: f(*a), **options).lower(*arguments).compile()


def choices(folder):
    return sorted(folder.glob("*.weir.timed"))


def has_kernels():
    return _say.last_report is not None and _say.last_report.kernels > 0


def test_the_slower_way_is_not_taken(computer, runs, xla_calls, capfd, monkeypatch):
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    monkeypatch.setenv("WEIR_DEBUG", "1")
    compiled()
    assert not has_kernels() and len(xla_calls) == 2 and all(runs.counts)
    assert "untouched" in (said := capfd.readouterr().err)
    assert "timed 3 ms with kernels, 2 ms without" in said
    (choice,) = choices(folder)
    counts, before = list(runs.counts), choice.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_library, "rewrite", lambda *_: pytest.fail("weir_fits() knows it"))
        compiled()
    assert not has_kernels() and len(xla_calls) == 3  # and the loser is none of them
    assert runs.counts == counts and choice.read_bytes() == before


def test_the_faster_way_is_taken_and_kept(computer, runs, xla_calls):
    folder = computer()
    compiled()
    assert has_kernels() and len(xla_calls) == 2
    first, counts = _say.last_report, list(runs.counts)
    assert (first.tried_took_ns, first.else_took_ns) == (10**6, 2 * 10**6)
    assert "timed    1 ms with kernels, 2 ms without" in first.explain
    runs.seconds = [3e-3, 2e-3]  # nobody asks again
    compiled()
    assert len(xla_calls) == 3 and runs.counts == counts and len(choices(folder)) == 1
    assert _say.last_report.loops == first.loops
    assert "timed 1 ms with kernels, 2 ms without" in _say.last_report.line()


def test_what_predictions_leave_alone_is_tried(computer, runs, xla_calls):
    computer("too little")
    compiled()
    assert has_kernels() and len(xla_calls) == 2
    runs.seconds = [2e-3, 2e-3]
    compiled()
    assert has_kernels() and len(xla_calls) == 3


def test_what_gains_beyond_doubt_is_not_timed(computer, runs, xla_calls):
    folder = computer("sure")
    compiled()
    assert has_kernels() and len(xla_calls) == 1 and not choices(folder) and not any(runs.counts)


@pytest.mark.parametrize("cpu, takes", [((1.04e-3, 1e-3), True), ((1.2e-3, 1e-3), False)])
def test_more_work_is_no_gain(computer, runs, cpu, takes):
    computer()
    runs.cpu = cpu
    compiled()
    assert has_kernels() == takes


@pytest.mark.parametrize(
    "settings",
    [
        {"WEIR_TIMING": "off"},
        {"WEIR_MACHINE": "host"},
        {"WEIR_TILE": "on"},
        {"WEIR_CACHE_DIR": "off"},
        {"WEIR_MACHINE": "x86-64-v4"},
    ],
)
def test_nothing_is_timed(computer, runs, monkeypatch, settings):
    folder = computer()
    runs.happens = lambda: pytest.fail("it ran")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    compiled()
    assert not any(runs.counts) and not choices(folder)


def test_a_choice_of_others_does_not_count(computer, runs, xla_calls, monkeypatch):
    """Of other flags, another program, another machine."""
    folder = computer()
    compiled()
    monkeypatch.setenv("WEIR_NUM_THREADS", "1")
    compiled()
    compiled(lambda q, k, v: attention(q, k, v) + 1)
    computer("too little")
    compiled()
    assert len(choices(folder)) == 4 and has_kernels()
    monkeypatch.setenv("WEIR_TIMING", "off")
    monkeypatch.setattr(_say, "last_report", None)
    del xla_calls[:]
    compiled()
    assert len(xla_calls) == 1 and not has_kernels()


def test_a_jax_that_can_not_run_executables(computer, runs, monkeypatch):
    folder = computer()
    monkeypatch.setattr(_jax, "FOR_TIMING", ("jax:of_another_time",))
    compiled()
    assert has_kernels() and not any(runs.counts) and not choices(folder)


def test_the_switch_is_read():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEIR_TIMING", "maybe")
        with pytest.raises(_settings.SettingError, match="WEIR_TIMING.*on or off"):
            _settings.times_programs()


@pytest.mark.parametrize("damage", [b"", b"weir-timed 1 me\n1 1 9 9\n0\n", b"\0" * 5000])
def test_a_damaged_file_is_no_choice(computer, runs, damage):
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    compiled()
    (choice,) = choices(folder)
    whole, counts = choice.read_bytes(), list(runs.counts)
    choice.write_bytes(damage)
    compiled()
    assert runs.counts == [2 * n for n in counts] and choice.read_bytes() == whole
    choice.write_bytes(whole.replace(b"3000000", b"1000000"))  # in one number
    compiled()
    assert choice.read_bytes() == whole and not has_kernels()


def test_what_can_not_be_kept_does_not_count(computer, runs, monkeypatch):
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    monkeypatch.setattr(_machine, "measure", lambda *_: None)
    monkeypatch.setenv("WEIR_CACHE_DIR", str(folder / "machines" / "none"))
    compiled(lambda *a: attention(*a))
    assert not choices(folder) and not list(folder.rglob("new-*"))


def interrupted():
    os.kill(os.getpid(), signal.SIGINT)


def failing():
    raise jax.errors.JaxRuntimeError("INTERNAL: it can't")


def raising():
    raise KeyboardInterrupt


@pytest.mark.parametrize("happens", [interrupted, raising])
def test_an_interrupt_ends_it_and_keeps_nothing(computer, runs, happens):
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    runs.happens = happens
    with pytest.raises(KeyboardInterrupt):
        compiled()
    assert not choices(folder) and sum(runs.counts) <= 2
    runs.happens = None
    compiled()
    assert choices(folder) and not has_kernels()


def test_an_interrupt_in_the_last_run_keeps_nothing(computer, runs):
    folder = computer()
    compiled()
    (choice,) = choices(folder)
    choice.unlink()
    last, runs.counts[:] = sum(runs.counts), [0, 0]
    runs.happens = lambda: sum(runs.counts) == last and interrupted()
    with pytest.raises(KeyboardInterrupt):
        compiled()
    assert sum(runs.counts) == last and not choices(folder)


@pytest.mark.parametrize("gain, predicted", [("unsure", True), ("too little", False)])
def test_what_can_not_run_is_as_predicted(computer, runs, gain, predicted):
    folder = computer(gain)
    runs.happens = failing
    compiled()
    assert has_kernels() == predicted and not choices(folder) and sum(runs.counts) == 1


# ---- memory ----
def test_a_limit_without_room_for_more_arguments(computer, runs, monkeypatch):
    """What is there already and what a run takes are over the limit together."""
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    stock = jax.jit(attention).lower(*QKV).compile().memory_analysis()
    needs = stock.argument_size_in_bytes + stock.output_size_in_bytes + stock.temp_size_in_bytes
    bulk = jnp.ones(5 * needs // 8, jnp.float32)  # 2.5 times that
    compiled(limit=3 * needs)
    assert has_kernels() and not any(runs.counts)
    bulk.delete()
    (choice,) = choices(folder)
    compiled(limit=3 * needs)  # nobody asks again
    assert has_kernels() and not any(runs.counts)
    choice.unlink()
    compiled(limit=3 * needs)
    assert not has_kernels() and all(runs.counts) and choices(folder)


def test_too_little_memory_is_free(computer, runs, monkeypatch):
    folder = computer()
    monkeypatch.setattr(_timing._auto, "free_bytes", lambda _: 10**6)
    compiled()
    assert has_kernels() and not any(runs.counts) and not choices(folder)


# ---- what must not run ----
def says(q, k, v):
    jax.debug.callback(lambda x: pytest.fail("it ran"), q[0, 0, 0])
    return attention(q, k, v)


def calls(q, k, v):
    kind = jax.ShapeDtypeStruct((), jnp.float32)
    return attention(q, k, v) + jax.pure_callback(lambda x: pytest.fail("it ran"), kind, q[0, 0, 0])


def loops(q, k, v):
    return attention(q + jax.lax.while_loop(lambda x: x > 1e-3, lambda x: x / 2, q[0, 0, 0]), k, v)


@pytest.mark.parametrize("f", [says, calls, loops])
def test_effects_and_loops_without_a_known_end(computer, runs, f):
    folder = computer()
    compiled(f)
    assert has_kernels() and not any(runs.counts) and not choices(folder)


def test_several_devices_and_states_of_xla_are_not_timed(computer):
    """By the library, whoever asks."""
    computer()
    settings = {"memory_limit_bytes": 10**12, "tile": 1, "timed_by": b"test"}
    whole = text_of(attention, QKV).decode()

    def asks(text):
        asked = []
        _library.rewrite(text.encode(), settings, None, lambda *_: asked.append(1) or 1 / 0)
        return bool(asked)

    assert asks(whole)
    assert not asks(whole.replace("mhlo.num_replicas = 1", "mhlo.num_replicas = 2"))
    main = 'function_type = (tensor<1x1100x64xf32>'
    assert main in whole
    random = """
    %71 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.constant"() <{value = dense<2> : tensor<1xi64>}> : () -> tensor<1xi64>
    %73 = "stablehlo.rng"(%71, %71, %72) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
      : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
    """
    head, colon, body = whole.partition("):\n")
    assert not asks(head + colon + random + body)


# ---- plans ----
def test_plans_run_nothing_and_show_what_was_kept(computer, runs):
    folder, runs.seconds = computer(), [3e-3, 2e-3]
    assert weir.plan(attention, *QKV, limit="1TB").kernels and not choices(folder)
    jax.clear_caches()
    with weir.limit("1TB"):
        jax.jit(attention).lower(*QKV).compile()
    assert choices(folder)
    counts = list(runs.counts)
    plan = weir.plan(attention, *QKV, limit="1TB")
    assert not plan.kernels and plan.tried_took_ns == 3 * 10**6 and runs.counts == counts


# ---- arguments ----
KINDS = "bool int8 uint8 int32 int64 uint32 float16 bfloat16 float32 float64 complex64 complex128"


def of_main(lowered):
    return _timing.arguments_of(_call.main_of(lowered.compiler_ir()))


def test_arguments_of_all_kinds():
    jax.config.update("jax_enable_x64", True)
    given = [np.ones((3, 5), jnp.dtype(kind)) for kind in KINDS.split()]
    given += [np.ones((0, 4), np.float32), np.ones((), np.int32)]
    lowered = jax.jit(lambda *a: [jnp.sum(x + x) for x in a]).lower(*given)
    wanted = of_main(lowered)
    assert wanted == [_timing.Argument(x.shape, x.dtype, False) for x in given]
    assert [one.nbytes for one in wanted] == [x.nbytes for x in given]
    arguments = _timing.Arguments(wanted, jax.devices()[0], {})
    wall, cpu = _timing.seconds_of(lowered.compile().runtime_executable(), arguments, 2)
    assert wall > 0 and cpu >= 0
    for made in arguments.ready():
        values = np.asarray(made).astype(complex)
        assert np.isfinite(values).all() and (values.real >= 0).all() and (values.real <= 250).all()


def test_donated_arguments_are_made_anew():
    lowered = jax.jit(lambda x: x + 1, donate_argnums=0).lower(np.ones(1000, np.float32))
    wanted = of_main(lowered)
    assert [one.is_donated for one in wanted] == [True]
    arguments = _timing.Arguments(wanted, jax.devices()[0], {})
    first = arguments.ready()[0]
    _timing.seconds_of(lowered.compile().runtime_executable(), arguments)
    assert first.is_deleted()
    assert np.array_equal(arguments.ready()[0], _timing.made_up((1000,), np.dtype(np.float32)))


def test_arrays_are_lent_where_there_is_no_room_for_more(monkeypatch):
    """Those that will be donated are not."""
    device = jax.devices()[0]
    x, other = jax.device_put((np.ones(999, np.float32), np.ones(999, np.int32)), device)
    monkeypatch.setattr(jax, "live_arrays", lambda _: [x, other])
    wanted = [_timing.Argument((999,), np.dtype(np.float32), is_donated) for is_donated in (0, 1)]

    def ready(limit_bytes):
        return _timing.arguments_within(wanted, 2 * x.nbytes, limit_bytes, device).ready()

    assert ready(4 * x.nbytes)[0] is not x and ready(0)[0] is not x
    lent, made = ready(3 * x.nbytes)
    assert lent is x and made is not x
    with pytest.raises(_timing.NeverTimed, match="over the limit"):
        ready(3 * x.nbytes - 1)


@pytest.mark.parametrize("said", ["mhlo.layout_mode", "mhlo.memory_kind", "unheard.of"])
def test_arguments_in_a_way_of_their_own(said):
    kind = "tensor<2xf32>"
    text = f'func.func @main(%x: {kind} {{{said} = "x"}}) -> {kind} {{ return %x : {kind} }}'
    context = jax.jit(lambda x: x).lower(1.0).compiler_ir().context
    module = _jax.ir.Module.parse(text, context=context)
    with pytest.raises(_timing.NeverTimed, match=said):
        _timing.arguments_of(_call.main_of(module))


# ---- how long ----
@pytest.fixture
def clock(monkeypatch):
    """Executables are numbers: the seconds that a run takes."""
    ran = []

    def seconds_of(seconds, arguments, calls=1):
        ran.append((seconds, calls))
        return seconds, seconds

    monkeypatch.setattr(_timing, "seconds_of", seconds_of)
    return ran


@pytest.mark.parametrize("ways", [(1e-3, 2e-3), (0.02, 0.03), (1e-6, 0.05), (0.04, 0.12)])
def test_runs_end_in_time(clock, ways):
    took = _timing.race(ways, None, lambda: False)
    assert took == [(round(s * 1e9), round(s * 1e9)) for s in ways]
    assert clock[0] == (ways[0], 1)  # compiles the kernels
    spent = sum(seconds * calls for seconds, calls in clock[1:])
    assert 0.1 <= spent <= 0.25 + max(ways)


@pytest.mark.parametrize("kernels, runs", [(0.01, 1), (4.0, 2)])
def test_ways_that_take_all_the_time_run_once(clock, kernels, runs):
    took = _timing.race((kernels, 3.0), None, lambda: False)
    assert took == [(round(s * 1e9), round(s * 1e9)) for s in (kernels, 3.0)]
    assert clock.count((3.0, 1)) == 1 and clock.count((kernels, 1)) == len(clock) - 1 == runs


def test_the_first_run_does_not_count_where_others_follow(monkeypatch):
    """It took 0.15 s of CPU where the next ones take 0.01; others who use the processors make each
    five times as long by the clock."""
    ran = {"kernels": 0, "xla": 0}

    def seconds_of(way, arguments, calls=1):
        ran[way] += calls
        cpu = 0.15 if ran[way] == 1 else 0.02 if way == "kernels" else 0.01
        return 5 * cpu, cpu

    monkeypatch.setattr(_timing, "seconds_of", seconds_of)
    took = _timing.race(("kernels", "xla"), None, lambda: False)
    assert took == [(10**8, 2 * 10**7), (5 * 10**7, 10**7)]


def test_runs_too_short_for_cpu_time_end(monkeypatch):
    monkeypatch.setattr(_timing, "seconds_of", lambda way, arguments, calls=1: (1e-3, 0.0))
    assert _timing.race((0, 1), None, lambda: False) == [(10**6, 0)] * 2


def test_of_calls_in_turn_the_least_by_the_clock_counts(monkeypatch):
    ends = iter([0.0, 3.0, 3.0, 4.0, 4.0, 6.0])
    cpu = iter([0.0, 1.0, 1.0, 2.0, 2.0, 6.0])
    monkeypatch.setattr(_timing, "_clock", lambda: next(ends))
    monkeypatch.setattr(_timing, "_cpu_clock", lambda: next(cpu))
    executable = types.SimpleNamespace(execute=lambda given: [])
    arguments = types.SimpleNamespace(ready=list)
    assert _timing.seconds_of(executable, arguments, 3) == (1.0, 2.0)


def test_the_least_by_the_clock_counts_and_all_cpu():
    assert _timing._took([(0.3, 0.1, 1), (0.2, 0.5, 3)]) == (2 * 10**8, 4 * 10**8)


# ---- programs that are split ----
LIMIT = 3 * 10**6  # beside 0.8 MB of arguments; as it comes the program takes 10


class Split:
    """weir_rewrite() with a referee and a timer that are made up; what they were asked."""

    def __init__(self, f, arguments):
        self.text = text_of(f, arguments)
        self.held_bytes, self.took, self.compiled, self.timed = 10**6, None, [], []

    def referee(self, text, options):
        self.compiled.append("weir_tile" in text.decode())
        return 0, 0, 0, 10**6 if self.compiled[-1] else self.held_bytes

    def time(self, ways, is_interrupted):
        self.timed.append(["weir_tile" in text.decode() for text, _ in ways])
        return self.took or 1 / 0

    def made(self, limit=LIMIT, **settings):
        """Whether it has kernels."""
        settings |= {"memory_limit_bytes": limit, "tile": 1, "timed_by": b"test", "platform": b"cpu"}
        self.compiled, self.timed = [], []
        result = _library.rewrite(self.text, settings, self.referee, self.time)
        assert result.status == _library.OK and result.outcome == _library.REWRITTEN
        self.result = result
        return any(loop.is_kernel for loop in result.loops)


HEADS = [np.ones((2, 800, 32), np.float32)] * 3


def retention(q, k, v):
    """Of two heads, each with a decay of its own: a kernel takes them for points of one."""
    i = jnp.arange(q.shape[1])
    lag, rate = i[:, None] - i, 1 - 2.0 ** (-5 - jnp.arange(2.0))
    decay = jnp.where(lag >= 0, rate[:, None, None] ** lag, 0)
    s = jnp.einsum("hqd,hkd->hqk", q, k) * decay
    return s / jnp.maximum(jnp.abs(s.sum(-1, keepdims=True)), 1) @ v


def split_in_doubt(folder, program, has_kernels):
    """On a computer on which it is in doubt that kernels gain, or lose."""
    for speed in 1.25 ** np.arange(30, -30, -1):
        (folder / "machines").write_text(rated(speed) + "\n")
        found = Split(*program)
        if found.made() == has_kernels and found.timed:
            assert not choices(folder)
            return found
    pytest.skip("no prediction is in doubt on this processor")


@pytest.fixture
def split(computer):
    return split_in_doubt(computer(), (attention, QKV), has_kernels=True)


@pytest.mark.parametrize("kernels_gain", [False, True])
def test_splits_that_predictions_leave_to_xla(computer, kernels_gain):
    split = split_in_doubt(computer(), (retention, HEADS), has_kernels=False)
    split.took = [(10**6, 0), (2 * 10**6, 0)] if kernels_gain else [(2 * 10**6, 0), (10**6, 0)]
    assert split.made() == kernels_gain
    assert split.timed == [[True, False]] and split.compiled == [False, True]
    text = split.result.text
    assert split.made() == kernels_gain and not split.timed
    assert split.compiled == [kernels_gain] and split.result.text == text


@pytest.mark.parametrize("kernels_gain", [False, True])
def test_splits_with_kernels_and_without(split, kernels_gain):
    split.took = [(10**6, 0), (2 * 10**6, 0)] if kernels_gain else [(2 * 10**6, 0), (10**6, 0)]
    assert split.made() == kernels_gain
    assert split.timed == [[True, False]] and split.compiled == [True, False]
    assert split.result.tried_took_ns == split.took[0][0]
    text = split.result.text
    assert split.made() == kernels_gain and not split.timed
    assert split.compiled == [kernels_gain]  # the other one is known to lose
    assert split.result.text == text and split.result.tried_took_ns == split.took[0][0]


def test_splits_that_can_not_be_timed_are_as_predicted(split):
    assert split.made() and split.made() and split.timed


def test_what_is_found_without_kernels_is_looked_for_once(computer, capfd):
    """Kernels that are worth a try are looked for where there may be some."""

    def of_states_of_scans(x):
        def ahead(x, _):
            x = 0.5 * jnp.sin(x) + 0.1 * jnp.roll(x, 1, 1)
            return x, x

        def back(x, y):
            x = jnp.cos(x * y)
            return x, x.sum(1)

        def twice(x, _):
            x, states = jax.lax.scan(ahead, x, None, length=20)
            return jax.lax.scan(back, x, states, reverse=True)

        return jax.lax.scan(twice, x, None, length=5)

    computer()
    split = Split(of_states_of_scans, [numbers_of(64, 40)])
    split.held_bytes = 48_000
    split.made(48_000, skip_passes=b"functions", debug=2)
    lines = capfd.readouterr().err.splitlines()
    assert lines.count("weir: nothing holds: states written over") == 1
    assert not split.timed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_that_ctypes_swallows_is_noticed(split, monkeypatch):
    def struck(*_):
        raise TimeoutError  # as by the handler of another signal

    monkeypatch.setattr(_library._Timer, "__call__", struck)
    with pytest.raises(RuntimeError, match="lost"):
        split.made()


def test_loops_that_do_not_hold_the_limit_are_not_timed(split):
    split.held_bytes = 2 * LIMIT
    assert split.made() and not split.timed and False in split.compiled


# ---- slices of what fits ----
@pytest.fixture
def alone(monkeypatch):
    """No arrays of other tests, which a small limit has to have room for."""
    monkeypatch.setattr(_timing.jax, "live_arrays", lambda *_: [])


@pytest.fixture
def sliced(computer, runs, alone, monkeypatch):
    """A computer of slow memory, where slices are what is tried: no kernels."""
    folder = computer()
    slow = (folder / "machines").read_text().replace("memory=50", "memory=5")
    (folder / "machines").write_text(slow)
    _library.read_environment()
    monkeypatch.setenv("WEIR_SKIP", "kernels")
    runs.told_by = " while("
    return folder


def softmax_pool(x):
    """What slices gain by where memory is slow: values of 5.8 MB, read twice."""
    y = jnp.sin(x[:, None] * x[None, :]) * 3
    return (y - y.sum(1, keepdims=True) / 1200).max(1) + jnp.abs(y).sum(1)


NUMBERS = [np.linspace(0.1, 2, 1200, dtype=np.float32)]


def test_slices_of_what_fits_are_taken_and_kept(sliced, runs):
    want = np.asarray(jax.jit(softmax_pool)(*NUMBERS))
    got = compiled(softmax_pool, NUMBERS)(*NUMBERS)
    plan, counts = _say.last_report, list(runs.counts)
    assert plan.only_faster and plan.loops and not plan.kernels and plan.tried_how == "in slices"
    assert plan.peak_after_bytes < plan.peak_before_bytes / 4
    assert "timed    1 ms in slices, 2 ms without" in plan.explain
    assert "timed 1 ms in slices, 2 ms without" in plan.line() and "1 loop," in plan.line()
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert len(choices(sliced)) == 1 and all(counts)
    runs.seconds = [3e-3, 2e-3]  # nobody asks again
    compiled(softmax_pool, NUMBERS)
    assert _say.last_report.loops == plan.loops and runs.counts == counts


def mixture(x, means, factors):
    """Densities of normals, each with a triangular system of its own: LAPACK's calls."""
    centred = (x - means[:, None]).swapaxes(1, 2)
    white = solve_triangular(factors, centred, lower=True)
    return jnp.exp(-0.5 * (white**2).sum(1)).sum(0)


def test_solves_of_what_fits_are_products_in_slices(sliced, runs):
    dice = np.random.default_rng(0)
    x, means = (dice.normal(size=(n, 8)).astype(np.float32) for n in (20_000, 10))
    factors = np.eye(8, dtype=np.float32) + np.tril(dice.normal(size=(10, 8, 8)) / 8).astype(np.float32)
    want = np.asarray(jax.jit(mixture)(x, means, factors))
    taken = compiled(mixture, (x, means, factors))
    plan = _say.last_report
    assert plan.only_faster and plan.loops and plan.tried_how == "in slices"
    assert "trsm" not in taken.as_text().split("ENTRY")[0]
    np.testing.assert_allclose(taken(x, means, factors), want, rtol=1e-4, atol=1e-5)


def test_solves_of_a_larger_triangle_that_fit_are_lapacks(sliced, runs):
    """Its errors are, too, and which results are not finite."""
    dice = np.random.default_rng(0)
    triangle = (np.eye(64) + np.tril(dice.normal(size=(64, 64))) / 64).astype(np.float32)
    sides = dice.normal(size=(64, 60_000)).astype(np.float32)
    solved = lambda a, b: jnp.exp(-solve_triangular(a, b, lower=True) ** 2).sum(0)  # noqa: E731
    assert "trsm" in compiled(solved, (triangle, sides)).as_text()


def check_that_what_is_slower_is_left(f, arguments, folder, runs, monkeypatch):
    runs.seconds = [3e-3, 2e-3]
    compiled(f, arguments)
    assert _say.last_report is None and len(choices(folder)) == 1
    monkeypatch.setattr(_library, "rewrite", lambda *_: pytest.fail("weir_fits() knows it"))
    compiled(f, arguments)


def test_slower_slices_are_not_taken(sliced, runs, monkeypatch):
    check_that_what_is_slower_is_left(softmax_pool, NUMBERS, sliced, runs, monkeypatch)


def test_slices_that_promise_nothing_are_not_looked_for_again(sliced, runs, monkeypatch):
    product = [np.ones((1200, 1200), np.float32)]
    compiled(lambda a: (a @ a) @ a, product)
    assert _say.last_report is None and not any(runs.counts)
    assert len(choices(sliced)) == 1


@pytest.mark.parametrize("skip", ["slices", "split"])
def test_slices_can_be_switched_off(sliced, runs, monkeypatch, skip):
    monkeypatch.setenv("WEIR_SKIP", f"kernels,{skip}")
    compiled(softmax_pool, NUMBERS)
    assert _say.last_report is None and not any(runs.counts) and not choices(sliced)


def test_slices_are_the_same_whatever_the_limit(sliced, runs):
    texts = []
    for limit in ("1TB", "100GB"):
        compiled(softmax_pool, NUMBERS, limit=limit)
        texts.append(_say.last_report.loops)
    assert texts[0] == texts[1] and len(choices(sliced)) == 1


def pooled_twice(x):
    """One matrix after the other, of 1 MB each: slices gain nothing that predictions know."""
    return softmax_pool(softmax_pool(x) / 1000)


def in_order():
    """A limit that compile options alone hold, which switch XLA's library fusions off."""
    numbers = [NUMBERS[0][:500]]
    stock = jax.jit(pooled_twice).lower(*numbers).compile(compiler_options=HONEST).memory_analysis()
    held = stock.argument_size_in_bytes + stock.output_size_in_bytes
    return numbers, int(1.1 * (held + stock.temp_size_in_bytes))


@pytest.mark.parametrize("slices_take", [1e-3, 3e-3])
def test_slices_of_what_options_hold_are_timed_boldly(sliced, runs, slices_take):
    numbers, limit = in_order()
    want = np.asarray(jax.jit(pooled_twice)(*numbers))
    runs.seconds = [slices_take, 2e-3]
    got = compiled(pooled_twice, numbers, limit)(*numbers)
    plan = _say.last_report
    assert plan.outcome == ("rewritten" if slices_take < 2e-3 else "options")
    assert bool(plan.loops) == (slices_take < 2e-3) and len(choices(sliced)) == 1 and all(runs.counts)
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_the_same_where_it_fits_is_another_choice(sliced, runs):
    numbers, limit = in_order()
    compiled(pooled_twice, numbers, limit)
    assert _say.last_report.loops and all(runs.counts)
    _say.last_report = None
    compiled(pooled_twice, numbers, "1TB")
    assert _say.last_report is None and len(choices(sliced)) == 1


def test_slices_beside_kernels(computer, runs, monkeypatch):
    """They have to be faster than these."""
    computer()
    monkeypatch.setenv("WEIR_SKIP", "")
    compiled()
    loops = _say.last_report.loops
    assert has_kernels() and all(loop.is_kernel and loop.trips == 1 for loop in loops)


# ---- short steps in functions ----
STEPS = [np.linspace(0.1, 0.9, 300, dtype=np.float32)]  # more than XLA makes a function of by itself


def short_steps(x):
    """A map whose steps XLA takes longer to start than to run."""

    def step(x, _):
        x = 3.7 * x * (1 - x)
        return x - jnp.roll(x, 1) * 1e-3, x.max()

    return jax.lax.scan(step, x, None, length=900)[1]


def large_steps(x):
    return jax.lax.fori_loop(0, 50, lambda _, x: jnp.sin(x[:, None] * x).sum(0), jnp.resize(x, 1200))


def sorted_steps(x):
    return jax.lax.fori_loop(0, 50, lambda _, x: jnp.sort(x)[::-1] - x, x)


@pytest.fixture
def in_functions(computer, runs, alone):
    runs.told_by = "xla_cpu_small_call"
    return computer()


def test_short_steps_are_functions_where_that_is_faster(in_functions, runs):
    want = np.asarray(jax.jit(short_steps)(*STEPS))
    got = compiled(short_steps, STEPS)(*STEPS)
    plan, counts = _say.last_report, list(runs.counts)
    assert plan.outcome == "options" and plan.only_faster and plan.text is None and all(counts)
    assert plan.compile_options == ("xla_cpu_small_while_loop_byte_threshold=65536",)
    assert "timed    1 ms in functions, 2 ms without" in plan.explain
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert len(choices(in_functions)) == 1
    compiled(short_steps, STEPS)  # nobody asks again
    assert _say.last_report.compile_options == plan.compile_options and runs.counts == counts


def test_functions_that_are_slower_are_not_taken(in_functions, runs, monkeypatch):
    check_that_what_is_slower_is_left(short_steps, STEPS, in_functions, runs, monkeypatch)


@pytest.mark.parametrize("f", [large_steps, sorted_steps])
def test_steps_that_are_no_function_are_not_timed(f, in_functions, runs):
    compiled(f, STEPS)
    assert runs.counts == [0, 0]


def test_functions_can_be_switched_off(in_functions, runs, monkeypatch):
    monkeypatch.setenv("WEIR_SKIP", "slices,functions")
    compiled(short_steps, STEPS)
    assert runs.counts == [0, 0]


OWN_LOOPS = "xla_cpu_experimental_ynn_fusion_type="
FUNCTIONS = "xla_cpu_small_while_loop_byte_threshold=65536"
LIBRARY = "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"


def test_a_limit_has_room_for_what_functions_copy(in_functions, runs):
    """As without weir, but for them, is only what has room for all values twice: what has less is
    compiled with options, and held by XLA's report.
    """
    limit, options = 16_000, None
    while options != (FUNCTIONS,):
        program = compiled(short_steps, STEPS, limit=limit)
        assert total_bytes(program.memory_analysis()) <= limit < 10**6
        options, limit = _say.last_report and _say.last_report.compile_options, limit * 3 // 2
    assert limit > 36_000 and _say.last_report.peak_after_bytes <= 16_000


def recurrent(x, w):
    """Its products are a library's, unless XLA is told that they are none."""
    return jax.lax.scan(lambda h, x: (h := jnp.tanh(x + h @ w), h), jnp.zeros_like(x[0]), x)[1]


def wide(x, w, v):
    return recurrent(x, w), v @ v


def numbers_of(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


SERIES = [numbers_of(20, 16, 16), numbers_of(16, 16) / 8]


def test_small_products_are_loops_of_functions(in_functions, runs):
    want = np.asarray(jax.jit(recurrent)(*SERIES))
    got = compiled(recurrent, SERIES)(*SERIES)
    assert _say.last_report.compile_options == (OWN_LOOPS, FUNCTIONS) and all(runs.counts)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_steps_whose_products_are_a_library_s_are_no_function(in_functions, runs):
    """Another product is for it, and what it does in functions it does nowhere."""
    compiled(wide, [*SERIES, numbers_of(200, 200)])
    assert runs.counts == [0, 0]


def long_steps(x, y):
    """Beside short ones: a function of these ops would take LLVM minutes."""

    def step(x, _):
        for _ in range(300):
            x = jnp.tanh(x * 1.01) + 0.1
        return x, None

    return short_steps(x), jax.lax.scan(step, y, None, length=20)[0]


@pytest.mark.parametrize("size, asks", [(300, False), (30_000, True)])
def test_a_function_that_takes_long_to_compile_is_none(in_functions, runs, size, asks):
    """But steps that touch too much for one don't count."""
    compiled(long_steps, [*STEPS, numbers_of(size)])
    assert all(runs.counts) == asks


@pytest.mark.parametrize("functions_take", [1e-3, 3e-3])
def test_what_options_hold_has_functions_where_these_are_faster(in_functions, runs, functions_take):
    """By XLA's report of them."""
    rows = [ROWS[0][:8]]
    want = np.asarray(jax.jit(of_paths)(*rows))
    runs.seconds, limit = [functions_take, 2e-3], within(of_paths, rows, 1.1)
    program = compiled(of_paths, rows, limit)
    plan = _say.last_report
    assert plan.outcome == "options" and not plan.only_faster and all(runs.counts)
    assert (FUNCTIONS in plan.compile_options) == (functions_take < 2e-3)
    assert total_bytes(program.memory_analysis()) == plan.peak_after_bytes <= limit
    np.testing.assert_allclose(program(*rows), want, rtol=1e-4, atol=1e-5)


# ---- ... of programs that are split ----
def least_deviation(y):
    """Of paths from their means over all steps: slices are of paths, and go through all steps."""
    return jnp.abs(y - y.mean(0)).min(0).mean(0)


def of_paths(x):
    def step(x, _):
        x = 0.5 * jnp.sin(x + jnp.roll(x, 1, 1)) + 0.2 * x
        return x, x

    return least_deviation(jax.lax.scan(step, x, None, length=40)[1])


def of_states(x, w):
    return least_deviation(recurrent(x, w))


ROWS = [numbers_of(64, 40)]
STATES = [numbers_of(20, 256, 16), numbers_of(16, 16) / 8]


def within(f, arguments, share):
    """A limit that leaves such a share of the temporaries."""
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST).memory_analysis()
    return int(total_bytes(stock) - (1 - share) * stock.temp_size_in_bytes)


def split_in_functions(f, arguments, share=0.2):
    """(what it gives, the plan), of which XLA's report holds the limit."""
    limit = within(f, arguments, share)
    program = compiled(f, arguments, limit)
    assert total_bytes(program.memory_analysis()) <= limit
    return program(*arguments), _say.last_report


@pytest.mark.parametrize("f, arguments, first", [(of_paths, ROWS, LIBRARY), (of_states, STATES, OWN_LOOPS)])
def test_splits_have_functions_where_these_are_faster(in_functions, runs, xla_calls, f, arguments, first):
    want = np.asarray(jax.jit(f)(*arguments))
    got, plan = split_in_functions(f, arguments)
    assert plan.outcome == "rewritten" and plan.loops and all(runs.counts)
    assert plan.compile_options[0] == first and FUNCTIONS in plan.compile_options
    assert "timed    1 ms in functions, 2 ms without" in plan.explain
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    counts = list(runs.counts)
    limit = within(f, arguments, 0.2)
    del xla_calls[:]
    compiled(f, arguments, limit)  # nobody asks again, and XLA is not asked about the slower way
    assert _say.last_report.loops == plan.loops and len(xla_calls) == 1
    assert _say.last_report.compile_options == plan.compile_options and runs.counts == counts


def test_splits_have_no_functions_where_these_are_slower(in_functions, runs):
    runs.seconds = [3e-3, 2e-3]
    _, plan = split_in_functions(of_paths, ROWS)
    counts = list(runs.counts)
    assert plan.loops and FUNCTIONS not in plan.compile_options and all(counts)
    _, plan = split_in_functions(of_paths, ROWS)
    assert plan.loops and FUNCTIONS not in plan.compile_options and runs.counts == counts


def waves(x):
    """Complex numbers, which no kernel takes: slices, and no steps of a scan."""
    return jnp.exp(1j * x[:, None] * x).sum(1).real


def test_slices_alone_are_not_timed_as_functions(in_functions, runs):
    _, plan = split_in_functions(waves, [numbers_of(700)])
    assert plan.loops and runs.counts == [0, 0]


@pytest.mark.parametrize("links", [10, 900])
def test_what_takes_more_than_twice_stock_s_time_and_a_second_is_not_timed(in_functions, links):
    """As counted: it was compiled once, behind a search."""

    def of_paths_in_a_chain(x):
        y = of_paths(x)
        for i in range(links):
            y = jnp.sin(y) * (1 + i / links)
        return y

    split = Split(of_paths_in_a_chain, ROWS)
    split.held_bytes, split.took = 35_000, [(10**6, 0), (2 * 10**6, 0)]
    split.made(40_000)
    assert len(split.timed) == (links == 10) and len(split.compiled) == 1 + len(split.timed)


def test_functions_of_splits_can_be_switched_off(in_functions, runs, monkeypatch):
    monkeypatch.setenv("WEIR_SKIP", "functions")
    _, plan = split_in_functions(of_paths, ROWS)
    assert plan.loops and FUNCTIONS not in plan.compile_options and runs.counts == [0, 0]


def epidemics(p, s):
    """Steps of numbers: XLA's own functions end with slices of some rows."""

    def one(p, s):
        def step(state, _):
            s, i, r = state
            new, well = p[0] * s * i, p[1] * i
            return (s - 0.1 * new, i + 0.1 * (new - well), r + 0.1 * well), jnp.stack(state)

        return jax.lax.scan(step, (s, 1 - s, 0 * s), None, length=200)[1]

    return jax.vmap(one)(p, s).max(1).mean(0)


def test_slices_in_functions_are_longer(in_functions, monkeypatch):
    """As long as the limit has room for, where others would end what XLA makes of its own."""
    arguments = [np.abs(numbers_of(512, 2)), np.abs(numbers_of(512))]
    want = np.asarray(jax.jit(epidemics)(*arguments))
    plans = []
    for tried_ns in (3, 1):
        monkeypatch.setattr(_timing, "race", lambda *_, ns=tried_ns: [(ns, ns), (2, 2)])
        for choice in choices(in_functions):
            choice.unlink()
        got, plan = split_in_functions(epidemics, arguments, 0.1)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
        plans.append(plan)
    assert [FUNCTIONS in plan.compile_options for plan in plans] == [False, True]
    assert plans[1].loops[0].trips < plans[0].loops[0].trips
    assert plans[1].peak_after_bytes > plans[0].peak_after_bytes


def scans_of(seed):
    """(a random program, its arguments, in 32 bits): many steps of many rows."""
    scans = random_scans.Scans(seed)
    scans.steps, scans.is_field = max(scans.steps, 16), False
    if len(scans.shape) == 2:
        scans.shape = (max(scans.shape[0], 24), scans.n)
    return scans.function, [np.asarray(x, np.float32) for x in scans.inputs()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.2, None])
def test_random_scans_in_functions(in_functions, runs, seed, share):
    """The same results within the limit, None: without one, however slow that is."""
    f, arguments = scans_of(seed)
    want = jax.tree.leaves(jax.jit(f)(*arguments))
    limit = within(f, arguments, share) if share else "1TB"
    try:
        program = compiled(f, arguments, limit)
    except jax.errors.JaxRuntimeError as error:
        assert share and "RESOURCE_EXHAUSTED: weir" in str(error)
        return
    if share:
        assert total_bytes(program.memory_analysis()) <= limit
    for one, other in zip(jax.tree.leaves(program(*arguments)), want, strict=True):
        scale = max(np.abs(other).max(initial=0), 1)
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * scale)


def test_what_the_user_says_of_functions_stands():
    own = _jax.xla_client.CompileOptions()
    name = "xla_cpu_small_while_loop_byte_threshold"
    ours = _call._with_options(own, [f"{name}=65536", "xla_cpu_enable_fast_math=true"])
    assert name.encode() in ours.SerializeAsString() and name.encode() not in own.SerializeAsString()
    assert list(ours.env_option_overrides) == [("xla_cpu_enable_fast_math", True)]
    theirs = _call._with_options(_call._with_options(own, [f"{name}=7"]), [f"{name}=65536"])
    assert b"65536" not in theirs.SerializeAsString()
