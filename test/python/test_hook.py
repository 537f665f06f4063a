"""The hook with a stand-in for libweir: each outcome reaches XLA, and the user, as weir.h says."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import types
import warnings
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from hook_programs import PROGRAMS
from weir import _call, _hook, _library

REAL_FITS = _library.fits  # before anything stands in for it
FAST_MATH = "xla_cpu_enable_fast_math"


def same(a, b):
    flat_a, flat_b = jax.tree.leaves(a), jax.tree.leaves(b)
    assert len(flat_a) == len(flat_b)
    for x, y in zip(flat_a, flat_b):
        assert x.dtype == y.dtype and x.shape == y.shape
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


def double(x):
    return (x * 2).sum()


X = np.ones(1000, np.float32)


# ---- getting in ----


def test_jax_finds_the_entry_point():
    done = python(
        "import jax; jax.devices(); from jax._src import compiler;"
        "print(hasattr(compiler.compile_or_get_cached, '_weir_original'))"
    )
    assert done.stdout.strip() == "True", done.stderr
    assert "weir" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WEIR_MEMROY_LIMIT", "1GB", "WEIR_MEMROY_LIMIT is none of its settings: WEIR_MEMORY_LIMIT?"),
        ("WEIR_CACHE_DIR", "/dev/null/kernels", "nothing can be written"),
        ("WEIR_NUM_THREADS", "two", "should be a number from 1 on"),
        ("WEIR_NUM_THREADS", "0", "should be a number from 1 on"),
        ("WEIR_OVER_LIMIT", "ignore", "should be error or warn"),
        ("WEIR_LLVM", "/nowhere/libLLVM.so", "which can't be opened: /nowhere"),
    ],
)
def test_doubtful_settings_are_named(name, value, said):
    environment = {name: value} | {"WEIR_MEMORY_LIMIT": "1GB"}
    done = python("import jax; print(jax.jit(lambda x: x + 1)(1.0))", **environment)
    assert said in done.stderr
    warns = name in ("WEIR_MEMROY_LIMIT", "WEIR_CACHE_DIR")
    assert (done.returncode == 0) == warns and ("2.0" in done.stdout) == warns


def test_lowering_alone_finds_it_too():
    done = python(
        "import jax; jax.jit(lambda x: x).lower(1.0); import sys; print('weir' in sys.modules)"
    )
    assert done.stdout.strip() == "True", done.stderr


def test_install_twice_is_once():
    from jax._src import compiler

    weir.initialize()
    before = compiler.compile_or_get_cached
    weir.initialize()
    assert compiler.compile_or_get_cached is before


def test_inert_without_a_limit(stand_in, xla_calls):
    same(jax.jit(double)(X), np.float32(2000))
    assert not stand_in.calls and len(xla_calls) == 1


def test_library_is_not_even_loaded_without_a_limit():
    done = python(
        "import jax; jax.jit(lambda x: x + 1)(1.0).block_until_ready(); from weir import _library;"
        "print(_library.library.cache_info().currsize)"
    )
    assert done.stdout.strip() == "0", done.stderr


# ---- outcomes ----


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_text_round_trip_changes_no_result(program, stand_in):
    expected = program()
    jax.clear_caches()
    stand_in.outcome(_library.REWRITTEN, text=lambda t: t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with weir.limit("1GB"):
            same(program(), expected)
    assert stand_in.calls


def test_untouched_is_the_very_module(stand_in, xla_calls):
    with weir.limit("1GB"):
        jax.jit(double)(X)
    ((text, settings),) = stand_in.calls
    ((module, options),) = xla_calls
    assert settings["memory_limit_bytes"] == 10**9 and settings["platform"] == b"cpu"
    assert (
        text
        == module.operation.get_asm(
            print_generic_op_form=True, enable_debug_info=True
        ).encode()
    )
    assert b'\n"builtin.module"' in text and not options.env_option_overrides


def test_untouched_uses_what_the_referee_compiled(stand_in, xla_calls):
    stand_in.outcome(ask=[(None, ()), (None, ())])
    with weir.limit("1GB"):
        jax.jit(double)(X)
    assert len(xla_calls) == 1


def test_options_only_keeps_the_module_and_the_users_options(stand_in, xla_calls):
    stand_in.outcome(
        _library.OPTIONS_ONLY,
        options=["xla_cpu_enable_fast_min_max=false", "xla_backend_optimization_level=1"],
    )
    with weir.limit("1GB"):
        jax.jit(double, compiler_options={FAST_MATH: False})(X)
    ((module, options),) = xla_calls
    assert module.context is not None and ("xla_cpu_enable_fast_min_max", False) in list(
        options.env_option_overrides
    )
    assert list(options.env_option_overrides)[0] == (FAST_MATH, False)
    assert len(options.env_option_overrides) == 3


@pytest.mark.parametrize("asked", ["", "algsimp", "algsimp,dce"])
def test_passes_that_the_user_switches_off_stay_off(stand_in, xla_calls, asked):
    """XLA takes the last value of an option; as `XLA_FLAGS` says, where the program says nothing."""
    ours, name = "while-loop-invariant-code-motion", "xla_disable_hlo_passes"
    stand_in.outcome(_library.OPTIONS_ONLY, options=[f"{name}={ours}", f"{FAST_MATH}=false"])
    with weir.limit("1GB"):
        jax.jit(double, compiler_options={name: asked} if asked else {})(X)
    ((_, options),) = xla_calls
    taken = dict(options.env_option_overrides)
    assert taken[name].split(",") == [*filter(None, asked.split(",")), ours]


def test_options_that_this_xla_lacks_are_left_out(stand_in, xla_calls):
    name = "xla_cpu_of_another_time"
    stand_in.outcome(_library.OPTIONS_ONLY, options=[f"{name}=true", f"{FAST_MATH}=false"])
    with weir.limit("1GB"):
        same(jax.jit(double)(X), np.float32(2000))
        jax.jit(lambda x: x - 1)(X)
    assert [len(options.env_option_overrides) for _, options in xla_calls] == [2, 1, 1]
    _call.unknown_options.discard(name)


def test_rewritten_runs_the_new_program(stand_in, xla_calls):
    def thrice(text):
        assert b"2.000000e+00" in text
        return text.replace(b"2.000000e+00", b"3.000000e+00")

    stand_in.outcome(_library.REWRITTEN, text=thrice, options=[f"{FAST_MATH}=false"])
    with weir.limit("1GB"):
        same(jax.jit(double)(X), np.float32(3000))
    ((_, options),) = xla_calls
    assert list(options.env_option_overrides) == [(FAST_MATH, False)]


def test_the_accepted_candidate_is_compiled_once(stand_in, xla_calls):
    def answer(program, settings, referee):
        referee(None, ())
        first, second = referee(program, ()), referee(program, (f"{FAST_MATH}=false",))
        assert first[:3] == second[:3] == (4000, 4, 0)
        return accepted(program, settings, referee)

    stand_in.outcome(_library.REWRITTEN, text=lambda t: t, options=[f"{FAST_MATH}=false"])
    accepted, stand_in.answer = stand_in.answer, answer
    with weir.limit("1GB"):
        same(jax.jit(double)(X), np.float32(2000))
    assert len(xla_calls) == 3


def test_referee_sees_donated_bytes(stand_in):
    seen = []
    inner = stand_in.answer
    stand_in.answer = lambda p, s, referee: (seen.append(referee(None, ())), inner(p, s, referee))[
        1
    ]
    with weir.limit("1GB"):
        jax.jit(lambda x: x + 1, donate_argnums=0)(jnp.array(X))
    assert seen[-1] == (4000, 4000, 4000, 0)


def test_refusal_is_resource_exhausted(stand_in):
    stand_in.outcome(status=_library.RESOURCE_EXHAUSTED, message="peak 5 MB, limit 1 MB")
    with weir.limit("1MB"), pytest.raises(jax.errors.JaxRuntimeError) as caught:
        jax.jit(double)(X)
    assert str(caught.value) == "RESOURCE_EXHAUSTED: weir: peak 5 MB, limit 1 MB"
    assert weir.last_report().outcome == "refused"


def test_refusal_shows_the_user_no_frames_of_ours():
    done = python(
        "import jax, weir\nfrom weir import _library, _hook\n"
        "def refuse(text, settings, referee, time_ways):\n"
        "  numbers = 1, 1, 1, 1, 1, 1, 0, ()\n"
        "  return _library.Result(8, 'RESOURCE_EXHAUSTED', 'no', 0, None, (), '', *numbers)\n"
        "_library.rewrite, _library.fits = refuse, lambda *_: False\n"
        "jax.jit(lambda x: x * 2)(1.0)\n",
        WEIR_MEMORY_LIMIT="1MB",
    )
    assert done.returncode == 1
    assert "RuntimeError: RESOURCE_EXHAUSTED: weir: no\n" in done.stderr
    assert "python/weir/_" not in done.stderr and "During handling" not in done.stderr


def test_hopeless_refusals_say_so(stand_in):
    stand_in.outcome(status=_library.RESOURCE_EXHAUSTED, message="no\n", ask=[(None, ())])
    with weir.limit("7kB"), pytest.raises(jax.errors.JaxRuntimeError) as caught:
        jax.jit(lambda x: x + 1)(X)
    assert str(caught.value).startswith("RESOURCE_EXHAUSTED: weir: no\nArguments and results alone")
    for words in ("8.00 kB", "donate_argnums", "jit the whole function"):
        assert words in str(caught.value)
    with weir.limit("9kB"), pytest.raises(jax.errors.JaxRuntimeError, match="weir: no\\n-"):
        jax.jit(lambda x: x + 1)(X)


def test_what_is_over_the_limit_runs_where_asked_for(stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_OVER_LIMIT", "warn")
    stand_in.outcome(status=_library.RESOURCE_EXHAUSTED, message="no\n", ask=[(None, ())])
    with weir.limit("7kB"), pytest.warns(weir.WeirWarning, match="over the limit of 7.00 kB") as caught:
        same(jax.jit(double)(X), np.float32(2000))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert weir.last_report().outcome == "refused"
    assert weir.plan(double, X, limit="7kB").outcome == "refused"


# ---- weir's own failures ----


@pytest.mark.parametrize("status", [3, 12, 13])
def test_a_bad_status_costs_a_warning(status, stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    stand_in.outcome(status=status, message="line 3: boom")
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="boom.*reproducer") as caught:
        same(jax.jit(double)(X), np.float32(2000))
    assert len(caught) == 1 and caught[0].filename == __file__
    (reproducer,) = tmp_path.glob("weir-jit_double-*.reproducer.mlir")
    assert str(reproducer) in str(caught[0].message)
    text = reproducer.read_bytes()
    assert text.startswith(b"// program jit_double:") and b"memory_limit_bytes = 1000000000" in text
    assert text.endswith(stand_in.calls[0][0])
    assert stand_in.real(text, {"memory_limit_bytes": 10**9}, None).status == _library.OK


def test_an_exception_costs_a_warning(stand_in, monkeypatch, tmp_path):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))

    def fail(*_):
        raise OSError("libweir.so: gone")

    stand_in.answer = fail
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="gone"):
        same(jax.jit(double)(X), np.float32(2000))


def test_text_that_xla_refuses_costs_a_warning(stand_in, monkeypatch, tmp_path):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    stand_in.outcome(_library.REWRITTEN, text=lambda t: b"not\na program")
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="without the limit"):
        same(jax.jit(double)(X), np.float32(2000))
    (reproducer,) = tmp_path.glob("*.reproducer.mlir")
    read_again = stand_in.real(reproducer.read_bytes(), {"memory_limit_bytes": 10**9}, None)
    assert read_again.status == _library.OK


def test_an_unwritable_folder_costs_no_more(stand_in, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path / "file" / "below"))
    stand_in.outcome(status=13, message="boom")
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="no reproducer"):
        same(jax.jit(double)(X), np.float32(2000))


def test_the_users_own_error_stays_his(stand_in):
    with (
        weir.limit("1GB"),
        warnings.catch_warnings(),
        pytest.raises(Exception, match="xla_no_such_option"),
    ):
        warnings.simplefilter("error")
        jax.jit(double, compiler_options={"xla_no_such_option": 1})(X)


def test_programs_are_dumped_before_and_after(stand_in, monkeypatch, tmp_path):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    stand_in.outcome(_library.REWRITTEN, text=lambda t: t.replace(b"2.000000e+00", b"3.000000e+00"))
    with weir.limit("1GB"):
        jax.jit(double)(X)
    assert sorted(path.name.split(".", 1)[1] for path in tmp_path.iterdir()) == [
        "after.mlir",
        "before.mlir",
        "plan.txt",
    ]


def test_a_dump_that_fails_costs_a_warning_only(stand_in, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path / "file"))
    stand_in.outcome(
        _library.REWRITTEN, text=lambda t: t.replace(b"2.000000e+00", b"3.000000e+00")
    )
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="WEIR_DUMP_TO"):
        same(jax.jit(double)(X), np.float32(3000))


def test_a_dump_that_would_wait_for_a_reader_costs_a_warning_only(
    stand_in, monkeypatch, tmp_path
):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    stand_in.outcome(
        _library.REWRITTEN, text=lambda t: t.replace(b"2.000000e+00", b"3.000000e+00")
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):  # from the same line: files are named by the program and its locations
            with weir.limit("1GB"):
                same(jax.jit(lambda x: (x * 2).sum())(X), np.float32(3000))
            for file in tmp_path.iterdir():
                file.unlink()
                os.mkfifo(file)
    assert any("no regular file" in str(warning.message) for warning in caught)


def test_a_library_that_is_no_file_is_an_error(monkeypatch, tmp_path):
    os.mkfifo(tmp_path / "libLLVM.so")
    monkeypatch.setenv("WEIR_LLVM", str(tmp_path / "libLLVM.so"))
    with weir.limit("1GB"), pytest.raises(ValueError, match="it is no regular file"):
        jax.jit(double)(X)


def test_executables_of_candidates_are_let_go(stand_in):
    calls, compile_, real = [], _hook._compile, _call.Call
    stand_in.outcome(ask=[(None, ()), (None, (f"{FAST_MATH}=false",))])
    _hook._compile = lambda call, *rest: (calls.append(weakref.ref(call)), compile_(call, *rest))[1]
    try:
        with weir.limit("1GB"):
            jax.jit(double)(X)
    finally:
        _hook._compile = compile_
    gc.collect()
    assert isinstance(real, type) and calls and all(ref() is None for ref in calls)


# ---- settings ----


def test_a_limit_recompiles_and_its_end_does_not(stand_in, xla_calls):
    with weir.limit(None):  # the first one in a process makes jit look for all functions anew
        pass
    f = jax.jit(double)
    f(X), f(X)
    assert len(xla_calls) == 1 and not stand_in.calls
    with weir.limit("1GB"):
        f(X), f(X)
    assert len(xla_calls) == 2 and len(stand_in.calls) == 1
    f(X)
    with weir.limit(10**9):
        f(X)
    assert len(xla_calls) == 2 and len(stand_in.calls) == 1
    with weir.limit("2GB"):
        f(X)
    assert len(xla_calls) == 3 and len(stand_in.calls) == 2


def test_a_limit_around_the_compile_step_alone(stand_in, xla_calls):
    lowered = jax.jit(double).lower(X)
    with weir.limit("1GB"):
        same(lowered.compile()(X), np.float32(2000))
    assert len(xla_calls) == 1 and len(stand_in.calls) == 1


def test_a_lowered_program_keeps_an_executable_for_each_limit(stand_in, xla_calls):
    f = jax.jit(double)
    with weir.limit("1GB"):
        lowered = f.lower(X)
    lowered.compile()
    assert len(xla_calls) == 1 and not stand_in.calls
    with weir.limit("1GB"):
        same(f(X), np.float32(2000))  # JAX finds `lowered` again
        f.lower(X).compile()
    lowered.compile()
    limits = [settings["memory_limit_bytes"] for _, settings in stand_in.calls]
    assert limits == [10**9] and len(xla_calls) == 2


def test_what_runs_later_takes_no_limit():
    def generator():
        yield 1

    async def coroutine():
        pass

    for function in (generator, coroutine):
        with pytest.raises(TypeError, match=f"weir.limit: {function.__name__} runs when"):
            weir.limit("1GB")(function)


def test_limits_of_tasks_that_overlap_warn_and_leave_nothing(stand_in):
    async def task(size, seconds):
        with weir.limit(size):
            await asyncio.sleep(seconds)

    async def both(first, second):
        await asyncio.gather(task("1MB", first), task("2MB", second))

    with weir.limit("5MB"):
        for seconds in ((0.01, 0.1), (0.1, 0.01)):
            overlaps = seconds[0] < seconds[1]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                asyncio.run(both(*seconds))
            assert [("await" in str(w.message)) for w in caught] == [True] * 2 * overlaps
            jax.jit(lambda x: x - 1)(X)
    jax.jit(lambda x: x - 2)(X)
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [5 * 10**6] * 2


def test_the_innermost_limit_counts(stand_in):
    with weir.limit("1GB"):
        with weir.limit("1MB"):
            jax.jit(double)(X)
        jax.jit(lambda x: x - 1)(X)
        with weir.limit(None):
            jax.jit(lambda x: x - 2)(X)
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [10**6, 10**9]


def test_limit_over_the_environment(stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", "3MB")
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "4kB")
    monkeypatch.setenv("WEIR_SKIP", "cse,dce")
    monkeypatch.setenv("WEIR_DEBUG", "2")
    jax.jit(double)(X)
    with weir.limit("1GB"):
        jax.jit(double)(X)
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [3 * 10**6, 10**9]
    assert all(
        settings["tensor_size_threshold_bytes"] == 4000
        and settings["debug"] == 2
        and settings["skip_passes"] == b"cse,dce"
        for _, settings in stand_in.calls
    )


def test_limit_as_a_decorator_also_of_recursion(stand_in):
    @weir.limit("1MB")
    def outer(depth):
        return outer(depth - 1) if depth else jax.jit(double)(X)

    same(outer(3), np.float32(2000))
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [10**6]
    jax.jit(lambda x: x - 1)(X)
    assert len(stand_in.calls) == 1


def test_limits_are_of_their_thread(stand_in):
    shared, gates, limits = weir.limit("1MB"), threading.Barrier(2), []

    def one(inside):
        if inside:
            with shared:
                gates.wait()
                jax.jit(lambda x: x - 3)(X).block_until_ready()
                gates.wait()
        else:
            gates.wait()
            jax.jit(lambda x: x - 4)(X).block_until_ready()
            gates.wait()

    threads = [threading.Thread(target=one, args=(inside,)) for inside in (True, False)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    limits = [settings["memory_limit_bytes"] for _, settings in stand_in.calls]
    assert limits == [10**6]


def test_many_threads(stand_in):
    stand_in.outcome(_library.REWRITTEN, text=lambda t: t, ask=[(None, ())])
    results = [None] * 8

    def one(i):
        with weir.limit(10**6 + i):
            results[i] = float(jax.jit(lambda x: (x * i).sum())(X))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert results == [1000.0 * i for i in range(8)]
    assert {s["memory_limit_bytes"] for _, s in stand_in.calls} >= {10**6 + i for i in range(8)}


def test_limit_inside_jit_warns(stand_in):
    def f(x):
        with weir.limit("1GB"):
            return x + 1

    with pytest.warns(weir.WeirWarning, match="inside a jitted function"):
        jax.jit(f)(X)


@pytest.mark.parametrize("bad", ["", "1 potato", "-5", "0.5.1GB", 0, -1, 2.5, True, 2**63])
def test_bad_limits_are_refused_at_once(bad):
    with pytest.raises(ValueError, match="1.5GB"):
        weir.limit(bad)


# ---- limits of one function ----


def test_a_limit_as_a_compiler_option(stand_in, xla_calls):
    f = jax.jit(double, compiler_options={"weir_memory_limit": "1MB", FAST_MATH: False})
    same(f(X), np.float32(2000))
    with weir.limit("1GB"):
        jax.jit(double, compiler_options={"weir_memory_limit": 2000})(X)
        jax.jit(double).lower(X).compile({"weir_tensor_size_threshold": "4kB"})
        assert weir.plan(f, X).limit_bytes == 10**6
        assert weir.plan(f, X, limit="5MB").limit_bytes == 5 * 10**6
    limits = [settings["memory_limit_bytes"] for _, settings in stand_in.calls]
    assert limits == [10**6, 2000, 10**9, 10**6, 5 * 10**6]
    assert stand_in.calls[2][1]["tensor_size_threshold_bytes"] == 4000
    assert list(xla_calls[0][1].env_option_overrides) == [(FAST_MATH, False)]
    assert not list(xla_calls[1][1].env_option_overrides)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"weir_memory_limit": "1 gigabyte"}, "compiler option weir_memory_limit is '1 gigabyte'"),
        ({"weir_limit": "1GB"}, "no compiler option 'weir_limit'; there are weir_memory_limit, "),
        ({"weir_tensor_size_threshold": "auto"}, "weir_tensor_size_threshold is 'auto'"),
    ],
)
def test_bad_compiler_options_are_errors(option, message):
    with pytest.raises(ValueError, match=message):
        jax.jit(double, compiler_options=option)(X)


# ---- how long is searched ----
def test_the_searchs_ops_are_those_of_whoever_is_nearest(stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_SEARCH_OPS", "40M")
    with weir.limit(2000):
        jax.jit(double)(X)
        weir.plan(double, X, search_ops=5)
        with weir.limit(2000, search_ops="7k"):
            jax.jit(lambda x: double(x))(X)
            weir.plan(double, X)
        f = jax.jit(double, compiler_options={"weir_search_ops": "1G"})
        f(X)
    ops = [settings["search_ops"] for _, settings in stand_in.calls]
    assert ops == [40 * 10**6, 5, 7000, 7000, 10**9]


@pytest.mark.parametrize("count", ["30MB", "1Mi", "", "-1", 0, True, "many"])
def test_what_is_no_number_of_ops_is_an_error(count):
    with pytest.raises(ValueError, match="should be a number of ops such as 30000000, 100M"):
        weir.limit("1MB", search_ops=count)


# ---- auto ----


def test_auto_is_what_is_free(stand_in, monkeypatch):
    from weir import _auto

    monkeypatch.setattr(_auto, "_found", {})
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", "auto")
    jax.jit(double)(X)
    with weir.limit("auto"):
        jax.jit(double)(X)
    first, second = (settings["memory_limit_bytes"] for _, settings in stand_in.calls)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert first == second and 10**6 < first < total


def test_auto_heeds_control_groups(tmp_path):
    from weir import _auto

    def group(path, **files):
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (tmp_path / path / name.replace("_", ".", 1)).write_text(f"{text}\n")

    own = tmp_path / "own"
    group("a/b", memory_max="max", memory_current=5)
    group("a", memory_max=1000, memory_current=300)
    own.write_text("0::/a/b\n")
    assert list(_auto._cgroup_free(tmp_path, own)) == [700]
    group("memory/job", memory_limit_in_bytes=900, memory_usage_in_bytes=400)
    own.write_text("4:cpu,memory:/job\n3:cpuset:/\n")
    assert list(_auto._cgroup_free(tmp_path, own)) == [500]
    own.write_text("0::/of/the/host\n")
    assert list(_auto._cgroup_free(tmp_path, own)) == []
    assert list(_auto._cgroup_free(tmp_path, tmp_path / "nothing")) == []


class Device:
    platform, device_kind = "cuda", "some card"

    def __init__(self, number, statistics):
        self.id, self.statistics = number, statistics

    def memory_stats(self):
        return self.statistics


def test_auto_on_accelerators_is_the_pool(monkeypatch):
    from weir import _auto

    monkeypatch.setattr(_auto, "_found", {})
    assert _auto.limit_bytes(Device(0, {"bytes_limit": 1000, "bytes_in_use": 100})) == 810
    assert _auto.limit_bytes(Device(0, None)) == 810
    with pytest.raises(LookupError, match="does not say"):
        _auto.limit_bytes(Device(1, None))


# ---- the paper's flags ----


def test_the_papers_flags_on_a_stock_xla():
    done = python(
        "import os, weir\n"
        "os.environ['XLA_FLAGS'] += ' --xla_tensor_split_size=80kB'\n"
        "import jax, jax.numpy as jnp\n"
        "f = jax.jit(lambda x: jnp.exp(x[:, None] * x[None]).sum())\n"
        "print(f(jnp.ones(2000)), len(jax.devices()), os.environ['XLA_FLAGS'])\n"
        "print(weir.last_report().slices)\n",
        XLA_FLAGS="--xla_tensor_size_threshold=1MB --xla_force_host_platform_device_count=2",
        WEIR_TILE="off",
    )
    answer, report = done.stdout.splitlines() or done.stderr
    assert answer.endswith(" 2 --xla_force_host_platform_device_count=2")
    assert abs(float(answer.split()[0]) / (4e6 * np.e) - 1) < 1e-4 and report == "(10,)"


def test_flags_become_variables(monkeypatch):
    from weir import _flags

    monkeypatch.setenv("XLA_FLAGS", "--xla_tensor_size_threshold=2GB --a=b --xla_tensor_split_size")
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "1GB")
    monkeypatch.setenv("WEIR_TENSOR_SPLIT_SIZE", "to be restored")
    monkeypatch.delenv("WEIR_TENSOR_SPLIT_SIZE")
    _flags.take_ours()
    assert os.environ["XLA_FLAGS"] == "--a=b"
    assert os.environ["WEIR_TENSOR_SIZE_THRESHOLD"] == "1GB"
    assert os.environ["WEIR_TENSOR_SPLIT_SIZE"] == "(nothing)"  # an error at the first compilation
    monkeypatch.setenv("XLA_FLAGS", "flags.txt  # left alone")
    _flags.take_ours()
    assert os.environ["XLA_FLAGS"] == "flags.txt  # left alone"


def test_what_fits_is_looked_at_once(stand_in, xla_calls, monkeypatch):
    """Its text is read, and nothing more; the very module goes to XLA."""
    monkeypatch.setattr(_library, "fits", REAL_FITS)
    lowered = jax.jit(lambda x: x @ x.T).lower(np.ones((100, 2), np.float32))
    with weir.limit("1MB"):
        lowered.compile()
    assert len(xla_calls) == 1 and not stand_in.calls
    with weir.limit("40kB"):
        jax.jit(lambda x: x @ x.T).lower(np.ones((100, 2), np.float32)).compile()
    assert len(stand_in.calls) == 1


@pytest.mark.parametrize("text", ["", "module {", "module {}"])
def test_what_cannot_be_read_does_not_fit(text):
    assert not _library.fits(text.encode(), {"memory_limit_bytes": 10**12})


def test_threshold_and_split_size(monkeypatch):
    monkeypatch.setenv("WEIR_TILE", "off")  # whose memory does not depend on slices
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "1MB")
    f = jax.jit(lambda x: jnp.exp(x[:, None] * x[None]).sum(1))
    x = np.linspace(0, 1, 1000, dtype=np.float32)
    whole = weir.plan(f, x)
    monkeypatch.setenv("WEIR_TENSOR_SPLIT_SIZE", "40kB")
    sliced = weir.plan(f, x)
    assert whole.outcome == sliced.outcome == "rewritten" and whole.limit_bytes == 0
    assert whole.slices == (250,) and sliced.slices == (10,)
    assert whole.peak_after_bytes > sliced.peak_after_bytes > 0
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "5MB")
    assert weir.plan(f, x).outcome == "untouched"


# ---- bad settings ----


@pytest.mark.parametrize("name", ["WEIR_MEMORY_LIMIT", "WEIR_TENSOR_SIZE_THRESHOLD"])
def test_a_bad_environment_is_an_error_at_the_first_compile(name):
    done = python("import jax; jax.jit(lambda x: x + 1)(1.0)", **{name: "2 potatoes"})
    assert done.returncode == 1
    assert (
        f"weir: {name} is '2 potatoes', but should be a number of bytes such as 1000000, 512MiB"
        in done.stderr
    )
    assert "_settings.py" not in done.stderr


@pytest.mark.parametrize("name", ["WEIR_PASS", "WEIR_SKIP", "WEIR_DUMP_AFTER"])
def test_a_misspelt_pass_is_an_error(name):
    text = "import jax, jax.numpy as jnp; jax.jit(lambda x: (x[:, None] * x).sum(0))(jnp.ones(1000))"
    done = python(text, WEIR_MEMORY_LIMIT="100kB", **{name: "cse,nosuch"})
    assert done.returncode == 1
    assert 'weir: WEIR_PASS, WEIR_SKIP, WEIR_DUMP_AFTER: no pass named "nosuch"' in done.stderr


@pytest.mark.parametrize("value", ["1 gigabyte", "-1", "", "0", "1e9", "max", "AUTO"])
def test_limits_in_the_environment_parse_exactly(value, monkeypatch):
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", value)
    with pytest.raises(ValueError, match=f"WEIR_MEMORY_LIMIT is {value!r}, .* or 'auto'"):
        jax.jit(double)(X)


@pytest.mark.parametrize(
    "value, found",
    [("0.5GB", 5 * 10**8), ("1GiB", 2**30), ("512MiB", 2**29), ("1000000", 10**6), ("2 kB", 2000)],
)
def test_limits_in_the_environment(value, found, stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", value)
    jax.jit(double)(X)
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [found]


@pytest.mark.parametrize(
    "value, found", [(10**6, 10**6), (1e9, 10**9), (np.int64(5), 5), (np.float64(2e6), 2 * 10**6)]
)
def test_limits_as_numbers(value, found, stand_in):
    with weir.limit(value):
        jax.jit(double)(X)
    assert [settings["memory_limit_bytes"] for _, settings in stand_in.calls] == [found]


@pytest.mark.parametrize("value", [1.5, float("inf"), float("nan"), True, 1j, -1e9])
def test_numbers_that_are_no_limits(value):
    with pytest.raises(ValueError, match="the limit is .*, but should be a number of bytes"):
        weir.limit(value)


@pytest.mark.parametrize("level", ["loud", "6", "-1"])
def test_a_bad_debug_level_is_an_error(level, stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_DEBUG", level)
    with weir.limit("1GB"), pytest.raises(ValueError, match=f"WEIR_DEBUG is {level!r}"):
        jax.jit(double)(X)


# ---- plan ----


def test_plan_runs_nothing(stand_in):
    ran = []
    stand_in.outcome(_library.REWRITTEN, text=lambda t: t)
    f = jax.jit(
        lambda x: jax.pure_callback(
            lambda v: ran.append(1) or v, jax.ShapeDtypeStruct((1000,), np.float32), x
        )
    )
    plan = weir.plan(f, X, limit="2MB")
    assert not ran and plan.outcome == "rewritten" and plan.limit_bytes == 2 * 10**6
    assert (plan.peak_before_bytes, plan.peak_after_bytes, plan.extra_flops, plan.slices) == (
        3,
        2,
        2,
        (4,),
    )
    assert plan.loops[0].seed == "seed" and str(plan) == "table" and "jit" in repr(plan)
    assert '"builtin.module"' in plan.text


def test_plan_of_a_program_compiled_before(stand_in):
    f = jax.jit(double)
    with weir.limit("1GB"):
        f(X)
        assert weir.plan(f, X).limit_bytes == 10**9
        assert weir.plan(f, X).limit_bytes == 10**9
    assert weir.plan(f, jax.ShapeDtypeStruct((1000,), np.float32), limit=5).limit_bytes == 5
    assert weir.plan(double, X).limit_bytes == 0
    assert len(stand_in.calls) == 5


def test_plan_of_a_refused_program(stand_in):
    stand_in.outcome(status=_library.RESOURCE_EXHAUSTED, message="too small")
    plan = weir.plan(double, X, limit=1)
    assert plan.outcome == "refused" and plan.message == "too small" and str(plan) == "table"


def test_plan_uses_the_environments_limit(stand_in, monkeypatch):
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", "7kB")
    assert weir.plan(double, X).limit_bytes == 7000


# ---- persistent cache ----


CACHED = """
import sys, jax, numpy as np, weir
from weir import _library
from jax._src import monitoring
hits = []
def note(event, **_):
    if event.endswith("cache_hits"):
        hits.append(event)
monitoring.register_event_listener(note)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
factor = sys.argv[2].encode()
def rewrite(text, settings, referee, time_ways):
    new = text.replace(b"2.000000e+00", factor)
    memory = referee(new, ())
    assert memory == (4000, 4000, 0, 0), memory
    return _library.Result(0, "OK", "", 2, new, (), "", 1, 1, 1, 1, 1, 1, 1, ())
_library.rewrite, _library.fits = rewrite, lambda *_: False
x = np.ones(1000, np.float32)
with weir.limit("1GB"):
    y = jax.jit(lambda x: x * 2)(x)
print(float(np.asarray(y)[0]), len(hits))
"""


def test_the_persistent_cache_holds_the_rewritten_program(tmp_path):
    def run(factor):
        done = subprocess.run(
            [sys.executable, "-c", CACHED, str(tmp_path), factor],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.stdout, done.stderr
        return done.stdout.split()

    assert run("3.000000e+00") == ["3.0", "0"]
    assert run("3.000000e+00") == ["3.0", "1"]
    assert run("4.000000e+00") == ["4.0", "0"]


# ---- what is kept of what XLA compiled ----
class _Compiled:
    def __init__(self, temp_bytes):
        self.temp_size_in_bytes = temp_bytes
        self.argument_size_in_bytes = self.output_size_in_bytes = 10
        self.alias_size_in_bytes = 10

    def get_compiled_memory_stats(self):
        return self


@pytest.mark.parametrize("partitions, kept", [(1, ["fits"]), (2, [None, "fits"])])
def test_what_is_over_the_limit_makes_room_for_the_next_candidate(monkeypatch, partitions, kept):
    needs = {None: 1000, "too large": 91, "fits": 90}
    monkeypatch.setattr(_call.Call, "compile", lambda self, text, _: _Compiled(needs[text]))
    options = types.SimpleNamespace(num_replicas=1, num_partitions=partitions)
    call = _call.Call(None, None, None, (), options, (), {})
    call.limit_bytes = 100
    made = {text: weakref.ref(call.run(text, ())) for text in needs}
    for text in needs:
        assert call.report(text, ()) == (10, 10, 10, needs[text])
    gc.collect()
    assert [text for text in needs if made[text]()] == kept
    assert call.run("fits", ()) is made["fits"]()
