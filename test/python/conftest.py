"""Every test starts without weir's settings and with stock XLA CPU."""

import fcntl
import gc
import json
import os
import signal
import types

os.environ.setdefault("JAX_PLATFORMS", "cpu")
for name in [
    name
    for name in os.environ
    if name.startswith("WEIR_")
    and name not in ("WEIR_BUILD", "WEIR_ASAN_BUILD", "WEIR_LIBRARY", "WEIR_MACHINE", "WEIR_EMULATED_BUILD")
]:
    del os.environ[name]
os.environ["WEIR_CACHE_DIR"] = "off"  # kernels of an older weir prove nothing
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs

import jax
import pytest

import modelled
from share import pytest_addoption, pytest_collection_modifyitems  # noqa: F401

# How fast a result is found out matters in no test of this process, and LLVM's optimising is two
# fifths of what XLA takes to compile, MLIR in its emitters of fusions another fifth (other versions of
# jax may not know how to do without). Processes of tests compile as users do, and so does what uses
# the fixture as_users.
jax.config.update("jax_disable_most_optimizations", True)
if modelled.RUNS:
    with modelled.quick_flags():
        jax.devices()

import weir
from jax._src import compiler
from weir import _hook, _jax, _library


def pytest_collection_finish():
    """What is there now stays: the collector need not look at JAX and at thousands of tests again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """once(name, make): what make(folder) returns (JSON), made once for all processes of this run."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def once(name, make):
        folder = base / f"once-{name}"
        folder.mkdir(exist_ok=True)
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = folder / "made.json"
            if not made.exists():
                made.write_text(json.dumps(make(folder)))
            return json.loads(made.read_text())

    return once


@pytest.fixture
def stand_in(monkeypatch, fresh_caches):
    """Replaces libweir's rewrite(). `outcome(...)` chooses what it answers; `calls` are the
    programs it saw.
    """
    state = types.SimpleNamespace(calls=[], answer=None, real=_library.rewrite)

    def outcome(
        outcome=_library.UNTOUCHED, status=_library.OK, text=None, options=(), ask=(), message=""
    ):
        def answer(program, settings, referee):
            memory = [referee(*question) for question in ask]
            return _library.Result(
                status=status,
                status_name="INTERNAL",
                message=message,
                outcome=outcome,
                text=text(program) if text else None,
                compile_options=tuple(options),
                explain="table",
                limit_bytes=settings.get("memory_limit_bytes", 0),
                peak_before_bytes=3,
                peak_after_bytes=2,
                minimum_bytes=1,
                flops_before=5,
                flops_after=7,
                referee_compiles=len(memory),
                loops=(_library.Loop("seed", 10, 4, 3, 0, 1, 2),),
            )

        state.answer = answer

    def rewrite(program, settings, referee, time_ways=None):
        state.calls.append((program, settings))
        return state.answer(program, settings, referee)

    state.outcome = outcome
    outcome()
    weir.initialize()
    monkeypatch.setattr(_library, "rewrite", rewrite)
    monkeypatch.setattr(_library, "fits", lambda *_: False)
    return state


@pytest.fixture
def xla_calls(monkeypatch, fresh_caches):
    """What reaches XLA's side of the hook: (module, compile_options) per compile."""
    from jax._src import compiler

    weir.initialize()
    original, seen = compiler.compile_or_get_cached._weir_original, []

    def spy(backend, module, devices, compile_options, *rest, **named):
        seen.append((module, compile_options))
        return original(backend, module, devices, compile_options, *rest, **named)

    monkeypatch.setattr(compiler, "compile_or_get_cached", _hook._hooked(spy))
    return seen


@pytest.fixture
def reports_of_users(monkeypatch):
    """Compiles with XLA's own options, but for LLVM's optimising, which no report sees."""
    if modelled.RUNS:
        monkeypatch.setattr(compiler, "get_compile_options", modelled.options_of_users)
        monkeypatch.setattr(_jax, "get_compile_options", modelled.options_of_users)


@pytest.fixture
def as_users(reports_of_users):
    """Compiles with XLA's own options."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture
def fresh_caches():
    """Nothing is compiled or traced yet, be it an addition of numbers."""
    jax.clear_caches()


@pytest.fixture(scope="module", autouse=True)
def caches_of_a_file():
    """What JAX keeps goes with the file. In between it stays: the operations that make a test's data
    take a second to compile.
    """
    yield
    jax.clear_caches()
    gc.collect()


@pytest.fixture(autouse=True)
def own_precision():
    """Programs of examples/ set JAX's for their process: it stays theirs."""
    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)
