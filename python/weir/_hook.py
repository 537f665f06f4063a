"""The hook in JAX's compiler: every program that jax hands to XLA passes here, before the
persistent cache's key is made.

Without a limit it calls straight through. With one, libweir decides, asking XLA (the referee) as
often as it needs; the executables it asked for are kept, so that the one it settles for isn't
compiled again. Whatever goes wrong in weir itself costs a warning, never the program.
"""

import copy
import functools
import hashlib
import os
import pathlib
import sys
import tempfile
import threading
import traceback
import warnings

import jax
from jax._src import compiler, traceback_util
from jax._src.lib.mlir import ir

from weir import _auto, _library, _plan, _settings

for module_file in (__file__, _auto.__file__, _settings.__file__, _library.__file__):
    traceback_util.register_exclusion(module_file)

_UNKNOWN_OPTION = "No such compile option"
# Names that this XLA doesn't have: older ones have no such fusions or schedulers.
_unknown_options = set()
_planning = threading.local()
_warned_devices = False
last_report = None


class WeirWarning(UserWarning):
    """weir left a program alone although a limit is set."""


_OURS = tuple(os.path.dirname(os.path.abspath(m.__file__)) + os.sep for m in (jax, _library))


def warn(message):
    """A WeirWarning at the line of the user's that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and os.path.abspath(frame.f_code.co_filename).startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, WeirWarning, stacklevel=level)


def install():
    """Puts the hook in. Safe to repeat."""
    if not hasattr(compiler.compile_or_get_cached, "_weir_original"):
        compiler.compile_or_get_cached = _hooked(compiler.compile_or_get_cached)


def _hooked(original):
    def compile_or_get_cached(backend, computation, devices, compile_options, *rest, **named):
        ours, others = _settings.take_options(compile_options.env_option_overrides)
        if ours:
            compile_options = copy.deepcopy(compile_options)
            compile_options.env_option_overrides = others
        settings = _settings.active(ours)
        planning = getattr(_planning, "plans", None)
        if settings is None and planning is None:
            return original(backend, computation, devices, compile_options, *rest, **named)
        call = _Call(original, backend, computation, devices, compile_options, rest, named)
        if call.is_distributed():
            return call.untouched()
        return _compile(call, _measured(call, settings or {}), planning)

    compile_or_get_cached._weir_original = original
    return compile_or_get_cached


def _measured(call, settings):
    """The settings with the limit "auto" as bytes."""
    if settings.get("memory_limit_bytes") != _settings.AUTO:
        return settings
    try:
        found = _auto.limit_bytes(call.backend.local_devices()[0])
    except LookupError as error:
        raise _settings.SettingError(f"weir: the limit 'auto': {error}") from None
    return settings | {"memory_limit_bytes": found}


class _Call:
    """One call of compile_or_get_cached and the executables made for it."""

    def __init__(self, original, backend, computation, devices, compile_options, rest, named):
        self.original, self.backend, self.computation = original, backend, computation
        self.devices, self.compile_options = devices, compile_options
        self.rest, self.named = rest, named
        self.executables = {}
        self.least_held_bytes = None  # arguments and results: what no rewriting makes smaller

    def is_distributed(self):
        global _warned_devices
        if self.compile_options.num_replicas * self.compile_options.num_partitions == 1:
            return False
        if not _warned_devices:
            _warned_devices = True
            warn("weir: programs over several devices are left alone: they run without the limit")
        return True

    def untouched(self):
        return self.run(None, ())

    def run(self, text, options):
        """The executable of the program `text` (None: the program as it came) under "name=value"
        options.
        """
        wanted = tuple(o for o in options if o.partition("=")[0] not in _unknown_options)
        key = (text, wanted)
        if key not in self.executables:
            try:
                self.executables[key] = self.compile(text, wanted)
            except Exception as error:
                if _UNKNOWN_OPTION not in str(error) or not _forget_option(wanted, str(error)):
                    raise
                return self.run(text, wanted)
        return self.executables[key]

    def compile(self, text, options):
        module, compile_options = self.computation, self.compile_options
        if text is not None:
            module = ir.Module.parse(text, context=module.context)
        if options:
            compile_options = copy.deepcopy(compile_options)
            compile_options.env_option_overrides = [
                *compile_options.env_option_overrides,
                *map(_typed_option, options),
            ]
        return self.original(
            self.backend, module, self.devices, compile_options, *self.rest, **self.named
        )

    def referee(self, text, options):
        memory = self.run(text, options).get_compiled_memory_stats()
        self.least_held_bytes = (
            memory.argument_size_in_bytes
            + memory.output_size_in_bytes
            - memory.alias_size_in_bytes
        )
        return (
            memory.argument_size_in_bytes,
            memory.output_size_in_bytes,
            memory.alias_size_in_bytes,
            memory.temp_size_in_bytes,
        )

    def platform(self):
        name = self.backend.platform
        if name == "gpu":
            name = "rocm" if "rocm" in self.backend.platform_version.lower() else "cuda"
        return name

    def name(self):
        return ir.StringAttr(self.computation.operation.attributes["sym_name"]).value

    def text(self):
        return self.computation.operation.get_asm(
            print_generic_op_form=True, use_local_scope=True, enable_debug_info=True
        ).encode()


def _typed_option(option):
    """XLA reads numbers and enums from strings, but wants real bools."""
    name, _, value = option.partition("=")
    return name, {"true": True, "false": False}.get(value.lower(), value)


def _forget_option(options, message):
    names = [option.partition("=")[0] for option in options]
    named = {name for name in names if f"'{name}'" in message}
    _unknown_options.update(named)
    return bool(named)


@functools.cache
def _register_tiles():
    """XLA can run programs that hold tiles."""
    handler = jax.ffi.pycapsule(_library.library().weir_tile_handler)
    jax.ffi.register_ffi_target("weir_tile", handler, platform="cpu")


def _compile(call, settings, planning):
    global last_report
    text = None
    try:
        if settings.get("tile"):
            _register_tiles()
        text = call.text()
        given = settings | {"platform": call.platform().encode()}
        result = _library.rewrite(text, given, call.referee)
        if result.status not in (_library.OK, _library.RESOURCE_EXHAUSTED):
            raise RuntimeError(f"{result.status_name}: {result.message}")
        plan = _plan.from_result(call.name(), result)
        executable = _settled(call, result)
    except Exception as error:
        _warn_of_failure(call, settings, text, error)
        return call.untouched()
    if planning is not None:
        planning.append(plan)
    if plan.outcome != "untouched":
        last_report = plan
        if settings.get("debug"):
            print(f"weir: {plan.line()}", file=sys.stderr)
    if result.status == _library.RESOURCE_EXHAUSTED:
        _refuse(call, result)
    return call.untouched() if executable is None else executable


def _settled(call, result):
    """The executable that the result asks for; None for the program as it came, whose errors are
    not ours.
    """
    if result.status != _library.OK or result.outcome == _library.UNTOUCHED:
        return None
    text = result.text if result.outcome == _library.REWRITTEN else None
    executable = call.run(text, result.compile_options)
    _dump(call, result)
    return executable


_HOPELESS = (
    "Arguments and results alone are {}, which no rewriting changes. Outside of jax.jit every "
    "operation is a program of its own with its operands as arguments: jit the whole function."
)


def _refuse(call, result):
    message = result.message.rstrip("\n")
    if call.least_held_bytes is not None and call.least_held_bytes > result.limit_bytes:
        message += "\n" + _HOPELESS.format(_plan.readable(call.least_held_bytes))
    raise jax.errors.JaxRuntimeError(f"RESOURCE_EXHAUSTED: weir: {message}") from None


def _write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


def _file_stem(call, text):
    safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in call.name())
    return f"weir-{safe[:80]}-{hashlib.sha256(text).hexdigest()[:10]}"


def _dump(call, result):
    folder = os.environ.get("WEIR_DUMP_TO")
    if not folder:
        return
    before = call.text()
    stem = _file_stem(call, before)
    try:
        _write(folder, f"{stem}.before.mlir", before)
        _write(folder, f"{stem}.after.mlir", result.text or before)
        _write(folder, f"{stem}.plan.txt", result.explain.encode())
    except OSError as problem:
        warn(f"weir: WEIR_DUMP_TO: {problem}")


def _warn_of_failure(call, settings, text, error):
    """One warning, and a file with which the failure can be repeated without the user's program."""

    def show(value):
        return value.decode() if isinstance(value, bytes) else value

    lines = [
        f"program {call.name()}: {type(error).__name__}: {error}",
        f"platform {call.backend.platform}, jax {jax.__version__}",
        *(f"{name} = {show(value)}" for name, value in settings.items()),
        *traceback.format_exception(error),
    ]
    comments = "".join(f"// {line}\n" for line in "\n".join(lines).splitlines())
    reproducer = comments.encode() + (text or b"")
    folder = os.environ.get("WEIR_DUMP_TO") or tempfile.gettempdir()
    try:
        name = _file_stem(call, reproducer) + ".reproducer.mlir"
        where = f"reproducer: {_write(folder, name, reproducer)}"
    except OSError as problem:
        where = f"no reproducer: {problem}"
    warn(f"weir: {lines[0]}; it runs as it came, without the limit; {where}")


def plans_of(compile_program):
    """Calls compile_program() and returns the plans of the programs that it compiled, also of a
    refused one.
    """
    _planning.plans = plans = []
    try:
        compile_program()
    except jax.errors.JaxRuntimeError:
        if not plans or plans[-1].outcome != "refused":
            raise
    finally:
        _planning.plans = None
    return plans
