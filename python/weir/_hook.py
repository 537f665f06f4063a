"""The hook in JAX's compiler: every program that jax hands to XLA passes here, before the
persistent cache's key is made.

Without a limit it calls straight through. With one, libweir decides, asking XLA (the referee) as
often as it needs; the executables that hold the limit are kept, so that the one it settles for
isn't compiled again. Whatever goes wrong in weir itself costs a warning, never the program.
"""

import atexit
import contextlib
import copy
import dataclasses
import functools
import re
import signal
import sys

import jax
import numpy as np

from weir import _auto, _call, _interrupts, _jax, _library, _plan, _processes, _progress, _say, _settings
from weir import _timing
from weir._processes import LeftAlone as _LeftAlone
from weir._processes import Silence
from weir._say import WeirWarning as WeirWarning, warn

_jax.exclude_from_tracebacks(
    module.__file__
    for module in (sys.modules[__name__], _auto, _call, _jax, _processes, _say, _settings, _library)
)

_LACKS = "weir: jax {} lacks {}, which weir needs: programs run as they came, without a limit ({})"


def install():
    """Puts the hook in, as far as this jax has what it needs. Safe to repeat."""
    if _jax.missing(_jax.FOR_THE_HOOK):
        if _settings.are_asked_for():
            warn_of_lack()
    elif not hasattr(_jax.compiler.compile_or_get_cached, "_weir_original"):
        _jax.compiler.compile_or_get_cached = _hooked(_jax.compiler.compile_or_get_cached)
        for doubt in _settings.doubts():
            warn(doubt)
        if may_limit():
            mesh = _jax.MeshComputation
            mesh.compile = _forgetful(mesh.compile)
            _register_calls_early()
            _take_all_devices()


def _take_all_devices():
    if not _settings.are_all_devices_meant():
        return
    if lacks := _jax.missing(_jax.FOR_ALL_DEVICES):
        warn(f"weir: jax {jax.__version__} lacks {lacks}: WEIR_DEVICES says nothing")
    else:
        _jax.always_over_all()


def may_limit():
    """Whether this jax has all that weir needs to hold a limit."""
    return not _jax.missing(_jax.FOR_A_LIMIT)


def warn_of_lack():
    warn(_LACKS.format(jax.__version__, _jax.missing(_jax.FOR_A_LIMIT), _jax.remedy()))


def _register_calls_early():
    """For executables that other processes have serialized."""
    with contextlib.suppress(Exception):  # said when a program is compiled
        if _settings.active() is not None:
            register_calls()


def _forgetful(original):
    """A lowered program keeps its executable, for jit and for `.compile()`: only under the limit
    under which it was compiled.
    """

    @functools.wraps(original)
    def compile_lowered(self, *args, **named):
        local = _settings.local_value()
        if getattr(self, "_weir_compiled_under", None) != local:
            self._executable = None
        self._weir_compiled_under = local
        return original(self, *args, **named)

    return compile_lowered


def _hooked(original):
    def compile_or_get_cached(backend, computation, devices, compile_options, *rest, **named):
        if computation is getattr(_call.local, "decided", None):
            return original(backend, computation, devices, compile_options, *rest, **named)
        ours, others = _settings.take_options(compile_options.env_option_overrides)
        if ours:
            compile_options = copy.deepcopy(compile_options)
            compile_options.env_option_overrides = others
        settings = _settings.active(ours)
        planning = _say.planned()
        is_asked = settings is not None or planning is not None
        if is_asked and not may_limit():
            warn_of_lack()
        if not is_asked or not may_limit():
            return original(backend, computation, devices, compile_options, *rest, **named)
        call = _call.Call(original, backend, computation, devices, compile_options, rest, named)
        return compile_or_warn(call, settings or {}, planning)

    compile_or_get_cached._weir_original = original
    return compile_or_get_cached


def compile_or_warn(call, settings, planning):
    try:
        return _compile(call, _measured(call, settings, planning is None), planning)
    except _LeftAlone as reason:
        warn(f"weir: {call.name()}, over several devices, runs without the limit: {reason}")
        return call.untouched()
    except Silence as reason:
        message = f"DEADLINE_EXCEEDED: weir: {call.name()}, over several processes: {reason}"
        raise jax.errors.JaxRuntimeError(message) from None


def _measured(call, settings, runs=True):
    """The settings with the limit "auto" as bytes; of a program that runs all of its processes'."""
    if settings.get("memory_limit_bytes") != _settings.AUTO:
        return settings
    if runs and call.is_over_processes():
        devices = list(np.ravel(call.devices))
        found = _processes.least_auto(devices, lambda: _free_bytes(call.own_device()))
    else:
        found = _free_bytes(call.own_device())
        if call.platform() == "cpu":  # one memory for all of them
            found //= call.device_count()
    return settings | {"memory_limit_bytes": found}


def _free_bytes(device):
    try:
        return _auto.limit_bytes(device)
    except LookupError as error:
        raise _settings.SettingError(f"weir: the limit 'auto': {error}") from None


@functools.cache
def register_calls():
    """XLA can run programs that call us: tiles, and loops that show progress."""
    library = _library.library()
    _library.read_environment()
    for name in ("weir_tile", "weir_progress"):
        handler = jax.ffi.pycapsule(getattr(library, f"{name}_handler"))
        stages = {"instantiate": handler, "execute": handler}
        jax.ffi.register_ffi_target(name, stages, platform="cpu")
    atexit.register(library.weir_end_kernels)
    if _settings.always_shows_progress():
        _progress.begin()


def _with_calls(settings):
    """The settings, without what needs calls from XLA where this jax can't be given them."""
    if settings["platform"] != b"cpu" or not (settings.get("tile") or settings.get("progress")):
        return settings
    try:
        register_calls()
    except Exception as error:
        warn(f"weir: XLA of jax {jax.__version__} takes no calls: {error}; loops stay XLA's")
        return settings | {"tile": 0, "progress": False}
    raises = _interrupts.handler() is signal.default_int_handler
    _library.library().weir_interrupts(raises)
    return settings


FOR_PAGES = {"data": True, "trace": True}
_FOR_PROCESSES = {"tile": 0, "progress": False}
_TRIALS = ("tensor_size_threshold_bytes", "only_passes")


def _fits_anyway(call, settings):
    """Most programs do, and cost no more than this."""
    is_watched = settings.get("dump_after") or settings.get("debug", 0) > 1
    if any(settings.get(name) for name in _TRIALS):
        return False
    if is_watched and not call.is_over_processes():  # others may not be, and are not asked
        return False
    try:
        return _library.fits(call.text(locations=False), settings, "timed_by" in settings)
    except Exception:  # the longer way says what is wrong
        return False


_ALONE = (
    "weir: {}, of one device, is not spread over all, as WEIR_DEVICES says: JAX looked for its devices "
    "only when it compiled this. jax.devices() at the start of the script has it look earlier"
)


def _compile(call, settings, planning):
    if call.device_count() > 1 and (lacks := _jax.missing(_jax.FOR_SHARDINGS)):
        raise _LeftAlone(f"jax {jax.__version__} lacks {lacks}")
    given = settings | {"platform": call.platform().encode()}
    call.limit_bytes = settings.get("memory_limit_bytes") or 0
    if known := _devices_of(call):
        given["machine"] = known.name.encode()
    if call.is_over_processes():
        given |= _FOR_PROCESSES
    elif call.may_time() and _settings.times_programs():
        given["timed_by"] = _timing.timed_by(call.compile_options, call.backend).encode()
    if planning is None and _fits_anyway(call, given):
        return call.untouched()
    if _settings.are_all_devices_meant() and call.is_alone():
        warn(_ALONE.format(call.name()))
    if planning is not None:
        given |= FOR_PAGES
    found = _Found()
    try:
        with _agreement(call, planning) as agreement:
            _decide(call, given, agreement, found, planning)
    except (_LeftAlone, Silence, _settings.SettingError):
        raise
    except Exception as error:
        if planning is not None and found.plan is not None:
            planning.append(found.plan)
        where = f"{call.backend.platform}, jax {jax.__version__}"
        _say.warn_of_failure(call.name(), where, settings, found.text, error)
        return call.untouched()
    if jax.__version_info__ > _call.LAST_WITHOUT_OPTIONS:
        for name in sorted(_call.unknown_options):
            _call.warn_of_option(name)
    return _concluded(call, settings, planning, found)


class _Found:
    """What weir has found out about a program so far, also if it fails then."""

    text = result = plan = executable = None


def _decide(call, given, agreement, found, planning):
    """What is to run, into `found`: the same in all processes that agree."""
    call.measure_machine(given)
    if agreement:
        call.agreement = agreement
        given = given | {"machine": _agreed_machine(given, agreement)}
    given = _with_calls(given)
    if call.may_spread():
        result = _spread(call, given, found)
    else:
        times = call.time if "timed_by" in given and planning is None else None
        result = _rewritten(call, given, found, times)
    if result.message.startswith("no pass named"):
        names = "WEIR_PASS, WEIR_SKIP, WEIR_DUMP_AFTER"
        raise _settings.SettingError(f"weir: {names}: {result.message}")
    if result.status not in (_library.OK, _library.RESOURCE_EXHAUSTED):
        raise RuntimeError(f"{result.status_name}: {result.message}")
    found.result, found.plan = result, _plan.from_result(call.name(), result)
    found.executable = _settled(call, result)
    if found.plan.is_unconfirmed and found.plan.outcome == "rewritten":
        raise RuntimeError("XLA compiles none of the programs that weir made of it")
    if agreement:
        what = [result.status, result.outcome, call.hash(result.text, result.compile_options)]
        agreement.on(what, _processes.same("what they found"))


def _rewritten(call, given, found, times=None):
    found.text = call.text()
    result = _library.rewrite(found.text, given, call.referee, times)
    if result.status == _library.UNIMPLEMENTED and call.device_count() > 1:
        try:
            if b"mhlo.sharding" in found.text:
                raise _LeftAlone("it is for the partitioner before Shardy")
            found.text = call.text_with_shardings()
        except _LeftAlone as reason:
            return _unsplit(result, reason)
        result = _library.rewrite(found.text, given | {"shardings_known": True}, call.referee)
    return result


_UNSPLIT = "no way found under the limit of {}: set it to {} bytes or more ({}); it is not split: {}"


def _unsplit(result, reason):
    """The refusal of a program over several devices that can't be read to its end. As it came, it
    needs more than the limit. Under a threshold there is nothing to refuse.
    """
    if not result.limit_bytes:
        raise reason
    least = result.peak_before_bytes
    shown = _plan.readable(result.limit_bytes), least, _plan.readable(least), reason
    refused = {"status": _library.RESOURCE_EXHAUSTED, "status_name": "RESOURCE_EXHAUSTED"}
    refused |= {"message": _UNSPLIT.format(*shown), "minimum_bytes": least}
    return dataclasses.replace(result, **refused)


def _spread(call, given, found):
    """Divided among the devices, where that holds the limit; else each computes all of it, as one
    device would.
    """
    came = call.computation
    call.spread(given)
    result = _rewritten(call, given, found)
    if result.status not in (_library.UNIMPLEMENTED, _library.RESOURCE_EXHAUSTED):
        return result
    call.become(came)
    found.text = _PARTITIONS.sub(rb"\g<1>1", call.text())
    return _library.rewrite(found.text, given, call.referee)


_PARTITIONS = re.compile(rb"(mhlo\.num_partitions = )\d+")


def _concluded(call, settings, planning, found):
    """The executable; raises where there is none under the limit. Tells people."""
    if planning is not None:
        planning.append(found.plan)
    _say.report(found.plan, settings)
    if found.result.status == _library.RESOURCE_EXHAUSTED:
        if planning is not None or not _settings.runs_over_limit():
            _refuse(call, found.result)
        _say.warn_over_limit(call.name(), found.plan)
    return call.untouched() if found.executable is None else found.executable


def _agreement(call, planning):
    """With the processes that the program runs on, of more than one; a plan runs nowhere."""
    if planning is not None or not call.is_over_processes():
        return contextlib.nullcontext()
    devices = list(np.ravel(call.devices))
    program = call.hash(None, [device.id for device in devices])
    return _processes.of_program(devices, program)


_ONLY_SEEN = ("debug", "dump_after")  # settings that change nothing


def _agreed_machine(settings, agreement):
    """Raises SettingError where the processes are not under the same settings."""
    shown = {k: v.decode() if isinstance(v, bytes) else v for k, v in settings.items()}
    host = _library.describe_machine(None).partition("\n")[0]
    shared = {name: value for name, value in shown.items() if name not in _ONLY_SEEN}
    shared |= {"weir": _library.version(), "jax": jax.__version__}
    shared["over_limit"] = _settings.runs_over_limit()
    agreement.on(shared, _processes.same_settings)
    return agreement.on(shown.get("machine", host), _processes.the_first).encode()


def _devices_of(call):
    """What weir knows of the device that the program is for; None: nothing, or it is a CPU."""
    kind = np.ravel(call.devices)[0].device_kind
    return next((d for d in _library.devices() if d.kind == kind), None)


def _settled(call, result):
    """The executable that the result asks for; None for the program as it came, whose errors are
    not ours.
    """
    if result.status != _library.OK or result.outcome == _library.UNTOUCHED:
        return None
    if result.is_unconfirmed:
        return None
    text = result.text if result.outcome == _library.REWRITTEN else None
    executable = call.run(text, result.compile_options)
    _say.dump(call.name(), call.text, result)
    return executable


_HOPELESS = (
    "Arguments and results alone are {}, which no rewriting changes: donate what is not needed "
    "afterwards (donate_argnums), or set a larger limit. Is it an operation outside of jax.jit? Each "
    "is a program of its own with its operands as arguments: jit the whole function. "
    "WEIR_OVER_LIMIT=warn lets such programs run."
)


def _refuse(call, result):
    message = result.message.rstrip("\n")
    if call.device_count() > 1:
        message += "\nThe limit, and all bytes, are each device's."
    if call.least_held_bytes is not None and call.least_held_bytes > result.limit_bytes:
        message += "\n" + _HOPELESS.format(_plan.readable(call.least_held_bytes))
    raise jax.errors.JaxRuntimeError(f"RESOURCE_EXHAUSTED: weir: {message}") from None
