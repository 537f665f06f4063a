"""A jax of another time, which lacks what weir takes of it: a warning names that, and programs run
as they came. Each test plays such a jax in a process of its own.
"""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import weir
from weir import _call, _jax, _library

# importlib.import_module, which weir looks everything up with, answers without the last name of it.
WITHOUT = """
import importlib, types
import jax._src.compiler, jax._src.interpreters.pxla, jax._src.op_shardings
from jax._src.lib.mlir import passmanager
path = {path!r}
module, _, names = path.partition(":")
*outer, last = names.split(".")
class Without:
    def __init__(self, whole, outer):
        self.whole, self.outer = whole, outer
    def __getattr__(self, name):
        if not self.outer and name == last:
            raise AttributeError(name)
        found = getattr(self.whole, name)
        return Without(found, self.outer[1:]) if self.outer and name == self.outer[0] else found
real = importlib.import_module
def import_module(name, *rest):
    found = real(name, *rest)
    return Without(found, outer) if name == module else found
importlib.import_module = import_module
"""
PROGRAM = """
import jax.numpy as jnp
def f(x):
    return jnp.exp(-((x[:, None] - x[None]) ** 2)).sum(1)
x = jnp.arange(1000.0)
print(jax.jit(f)(x).shape, "ran")
"""
BLOCKS = """
import weir
with weir.limit("100kB"), weir.progress():
    print(jax.jit(lambda x: f(x) + 1)(x).shape, "ran under the limit")
try:
    weir.plan(f, x, limit="100kB")
except ValueError as error:
    print(error)
"""


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


def the_warning(path):
    name = path.replace(":", ".")
    return f"WeirWarning: weir: jax {jax.__version__} lacks {name}, which weir needs"


@pytest.mark.parametrize("path", _jax.FOR_A_LIMIT)
def test_what_is_missing_is_named_and_programs_run(path):
    done = run(WITHOUT.format(path=path) + PROGRAM, WEIR_MEMORY_LIMIT="100kB")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(1000,) ran\n" and the_warning(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_of_a_jax_that_is_too_old_the_oldest_is_named():
    """As resolvers take one where another library holds jax back."""
    code = WITHOUT.format(path=_jax.FOR_A_LIMIT[0]) + "import jax; jax.__version_info__ = (0, 4, 35)\n"
    done = run(code + PROGRAM, WEIR_MEMORY_LIMIT="100kB")
    assert "weir needs jax 0.7.2 or newer" in done.stderr and "older jax has it" not in done.stderr


@pytest.mark.parametrize("path", [_jax.FOR_A_LIMIT[0], _jax.FOR_A_LIMIT[-1]])
def test_limits_in_the_program_say_so_too(path):
    done = run(WITHOUT.format(path=path) + PROGRAM + BLOCKS)
    assert done.returncode == 0, done.stderr
    ran, ran_under, planned = done.stdout.splitlines()
    assert ran_under == "(1000,) ran under the limit" and planned.startswith("weir.plan: this jax")
    assert the_warning(path) in done.stderr


@pytest.mark.parametrize("path", [_jax.FOR_A_LIMIT[0], _jax.FOR_A_LIMIT[-1]])
def test_nothing_is_said_where_nothing_is_asked_for(path):
    done = run(WITHOUT.format(path=path) + PROGRAM)
    assert done.stdout == "(1000,) ran\n" and "weir" not in done.stderr


def test_parameters_of_another_order_are_missing_too():
    """The hook reads its arguments by their places."""
    code = """
import jax, jax._src.compiler as compiler
real = compiler.compile_or_get_cached
def compile_or_get_cached(backend, computation, options, devices, *rest, **named):
    return real(backend, computation, options, devices, *rest, **named)
compiler.compile_or_get_cached = compile_or_get_cached
"""
    done = run(code + PROGRAM, WEIR_MEMORY_LIMIT="100kB")
    assert done.stdout == "(1000,) ran\n", done.stderr
    assert the_warning("jax._src.compiler.compile_or_get_cached") in done.stderr


def test_compiler_options_of_ours_never_reach_xla():
    code = WITHOUT.format(path=_jax.FOR_A_LIMIT[-1]) + PROGRAM
    code += "print(jax.jit(f, compiler_options={'weir_memory_limit': '100kB'})(x).shape)\n"
    done = run(code)
    assert done.stdout == "(1000,) ran\n(1000,)\n", done.stderr
    assert the_warning(_jax.FOR_A_LIMIT[-1]) in done.stderr


@pytest.mark.parametrize("path", _jax.FOR_SHARDINGS)
def test_programs_over_several_devices_are_left_alone(path):
    code = """
mesh = jax.make_mesh((2,), ("i",))
rows = jax.NamedSharding(mesh, jax.P("i", None))
y = jax.jit(lambda x: jnp.exp(x @ x.T).sum(1), in_shardings=rows)(jnp.ones((1000, 2)))
print(y.shape, len(y.sharding.device_set))
"""
    done = run(
        WITHOUT.format(path=path) + PROGRAM + code,
        WEIR_MEMORY_LIMIT="200kB",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert done.stdout.splitlines()[:1] == ["(1000,) ran"], done.stderr
    assert done.stdout.splitlines()[1:], done.stderr
    assert f"lacks {path.replace(':', '.')}" in done.stderr


def test_an_xla_that_takes_no_calls_keeps_the_limit():
    code = """
import jax
def register(*_, **named):
    raise RuntimeError("the version of this interface is not that one")
jax.ffi.register_ffi_target = register
"""
    code += PROGRAM + "import weir; print(weir.last_report().outcome, weir.last_report().kernels)"
    done = run(code, WEIR_MEMORY_LIMIT="100kB", WEIR_TILE="on")
    assert done.stdout == "(1000,) ran\nrewritten 0\n", done.stderr
    assert "takes no calls: the version of this interface is not that one" in done.stderr


# ---- compile options ----
OPTION = "xla_cpu_scheduler_type"
X = np.float32(1)


@pytest.fixture
def options_known_so_far():
    known = set(_call.unknown_options)
    _call.warn_of_option.cache_clear()
    yield
    _call.unknown_options.clear()
    _call.unknown_options.update(known)


@pytest.mark.parametrize("option", ["xla_cpu_of_another_time=true", f"{OPTION}=OF_ANOTHER_TIME"])
def test_an_option_that_is_gone_is_named(option, stand_in, xla_calls, options_known_so_far):
    if OPTION in _call.unknown_options or jax.__version_info__ <= _call.LAST_WITHOUT_OPTIONS:
        pytest.skip("this XLA never had it")
    stand_in.outcome(_library.OPTIONS_ONLY, options=[option])
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="has no option " + option[:12]):
        assert float(jax.jit(lambda x: x + 1)(X)) == 2 and float(jax.jit(lambda x: x - 1)(X)) == 0
    assert [len(options.env_option_overrides) for _, options in xla_calls] == [1, 0, 0]


def test_a_wrong_value_of_the_users_stays_his(
    stand_in, options_known_so_far, monkeypatch, tmp_path
):
    monkeypatch.setenv("WEIR_DUMP_TO", str(tmp_path))
    if jax.__version_info__ <= _call.LAST_WITHOUT_OPTIONS:
        pytest.skip("this XLA is too old for the option")
    stand_in.outcome(_library.OPTIONS_ONLY, options=["xla_cpu_enable_fast_math=false"])
    f = jax.jit(lambda x: x + 1, compiler_options={OPTION: "FASTER"})
    with weir.limit("1GB"), pytest.warns(weir.WeirWarning, match="FASTER"):
        with pytest.raises(Exception, match="FASTER"):
            f(X)
    assert OPTION not in _call.unknown_options


def test_every_interface_is_in_one_place():
    """What this jax has is found, and the package reaches into jax._src nowhere else."""
    assert not _jax.missing((*_jax.FOR_A_LIMIT, *_jax.FOR_SHARDINGS))
    for file in os.listdir(os.path.dirname(weir.__file__)):
        if file.endswith(".py") and file != "_jax.py":
            with open(os.path.join(os.path.dirname(weir.__file__), file)) as source:
                assert "jax._src" not in source.read(), file
