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
import hashlib
import io
import json
import math
import re
import signal
import sys
import threading

import jax
import numpy as np

from weir import _auto, _cells, _interrupts, _jax, _library, _machine, _plan, _processes
from weir import _progress, _say, _settings, _timing
from weir._jax import ir
from weir._processes import LeftAlone as _LeftAlone
from weir._processes import Silence
from weir._say import WeirWarning as WeirWarning, warn

_jax.exclude_from_tracebacks(
    module.__file__
    for module in (sys.modules[__name__], _auto, _jax, _processes, _say, _settings, _library)
)

# XLA's words for an option, and for a value of one, that it doesn't have.
_UNKNOWN_OPTION = "No such compile option: '{}'"
_UNKNOWN_VALUE = "While setting option {}, '{}' is not"
# Names that this XLA doesn't have: up to jax 0.9.0 there are no such fusions or schedulers.
_unknown_options = set()
_LAST_WITHOUT_OPTIONS = (0, 9, 0)


# decided: the program that is being compiled as weir wants it. Where others wrap JAX's compiler and
# weir is put in a second time, it passes both of its hooks.
_local = threading.local()

_LACKS = (
    "weir: jax {} lacks {}, which weir needs: programs run as they came, without a limit (an older "
    "jax has it; perhaps a newer weir does without)"
)


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
    warn(_LACKS.format(jax.__version__, _jax.missing(_jax.FOR_A_LIMIT)))


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
        if computation is getattr(_local, "decided", None):
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
        call = _Call(original, backend, computation, devices, compile_options, rest, named)
        return _compile_or_warn(call, settings or {}, planning)

    compile_or_get_cached._weir_original = original
    return compile_or_get_cached


def _compile_or_warn(call, settings, planning):
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


class _Call:
    """One call of compile_or_get_cached and the executables made for it."""

    def __init__(self, original, backend, computation, devices, compile_options, rest, named):
        self.original, self.backend, self.computation = original, backend, computation
        self.devices, self.compile_options = devices, compile_options
        self.rest, self.named = rest, named
        self.executables = {}
        self.limit_bytes = 0
        self.least_held_bytes = None  # arguments and results: what no rewriting makes smaller
        self.agreement = None  # with other processes

    def device_count(self):
        return self.compile_options.num_replicas * self.compile_options.num_partitions

    def is_alone(self):
        """Whether it is for one of several devices that are here."""
        is_here = getattr(self.backend, "runtime_type", "") != "compile_only_runtime"
        return self.device_count() == 1 and is_here and self.backend.device_count() > 1

    def is_over_processes(self):
        return _processes.are_several(list(np.ravel(self.devices)))

    def own_device(self):
        """One of this process's, of a topology any."""
        devices = np.ravel(self.devices)
        here = self.backend.process_index() if self.is_over_processes() else None
        return next((d for d in devices if d.process_index == here), devices[0])

    def untouched(self):
        """The executable that there is without weir."""
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
                if not _forget_option(wanted, str(error)):
                    raise
                return self.run(text, wanted)
        return self.executables[key]

    def drop(self, text):
        """What is over the limit never runs; it makes room for the next candidate."""
        if text is None and self.compile_options.num_partitions > 1:
            return  # tells how it is sharded
        self.executables = {k: e for k, e in self.executables.items() if k[0] != text}

    def compile(self, text, options):
        """As run(), anew. Raises XLA's error, and _LeftAlone where XLA shards it in another way."""
        module, compile_options = self.computation, self.compile_options
        if text is not None:
            module = ir.Module.parse(text, context=module.context)
        if options:
            compile_options = copy.deepcopy(compile_options)
            compile_options.env_option_overrides = [
                *compile_options.env_option_overrides,
                *map(_typed_option, options),
            ]
        before, _local.decided = getattr(_local, "decided", None), module
        try:
            executable = self.original(
                self.backend, module, self.devices, compile_options, *self.rest, **self.named
            )
        finally:
            _local.decided = before
        if text is not None and self.compile_options.num_partitions > 1:
            self.check_shardings(executable)
        return executable

    def check_shardings(self, executable):
        """Raises if arguments or results are sharded in another way than in the program as it came:
        where the user leaves that to XLA it follows from all of the program.
        """
        stock = next(
            (e for (text, _), e in self.executables.items() if text is None), None
        ) or self.run(None, ())
        for name in ("get_parameter_shardings", "get_output_shardings"):
            ours, theirs = getattr(executable, name)() or [], getattr(stock, name)() or []
            same = len(ours) == len(theirs) and all(map(_same_sharding, ours, theirs))
            if not same:
                raise _LeftAlone("rewritten, it would be sharded in another way")

    def referee(self, text, options):
        """(argument, output, alias, temp) bytes of a candidate, the largest of any process."""
        if self.agreement is None:
            return self.report(text, options)
        self.agreement.check()
        try:
            memory = self.report(text, options)
        except Exception:
            memory = None
        memory = self.agreement.on([self.hash(text, options), memory], _processes.largest)
        if memory is None:
            raise RuntimeError("XLA does not compile it everywhere")
        return tuple(memory)

    def report(self, text, options):
        """As referee(), of this process. What is over the limit is dropped. Raises XLA's error, unless
        it says how much memory would be needed.
        """
        try:
            executable = self.run(text, options)
            _library.give_back()  # the report takes memory, too
            memory = executable.get_compiled_memory_stats()
        except jax.errors.JaxRuntimeError as error:
            return _refused_memory(error, self.limit_bytes)
        self.least_held_bytes = (
            memory.argument_size_in_bytes
            + memory.output_size_in_bytes
            - memory.alias_size_in_bytes
        )
        if 0 < self.limit_bytes < self.least_held_bytes + memory.temp_size_in_bytes:
            self.drop(text)
        return (
            memory.argument_size_in_bytes,
            memory.output_size_in_bytes,
            memory.alias_size_in_bytes,
            memory.temp_size_in_bytes,
        )

    def time(self, ways, is_interrupted):
        """(ns, CPU ns) of a run of each of two (text, options), on made-up arguments; raises where
        that can't be told, or takes too much memory.
        """
        wanted, device = _timing.arguments_of(_main_of(self.computation)), self.own_device()
        executables = [self.run(*way) for way in ways]
        needed = max(map(_total_bytes, executables))
        arguments = _timing.arguments_within(wanted, needed, self.limit_bytes, device)
        return _timing.race(executables, arguments, is_interrupted)

    def may_time(self):
        """Whether it is one device's of this process, that runs it, too."""
        is_one = self.device_count() == 1 and not self.is_over_processes()
        return is_one and self.platform() == "cpu" and not _jax.missing(_jax.FOR_TIMING)

    def spread(self, settings):
        """Over its devices, each of which would compute all of it; else it stays as it came."""
        if (text := _library.spread(self.text(), settings)) is not None:
            self.become(ir.Module.parse(text, context=self.computation.context))

    def become(self, computation):
        """What "as it came" means from now on."""
        self.computation = computation
        self.executables = {key: e for key, e in self.executables.items() if key[0] is not None}

    def may_spread(self):
        """Whether it is one device's, for which a mesh was given: nothing in it is sharded."""
        if not _settings.spreads() or self.device_count() == 1:
            return False
        return not _SHARDED.search(self.text(locations=False))

    def platform(self):
        return platform_of(np.ravel(self.devices)[0])

    def measure_machine(self, given):
        """Before the first prediction of this user for this computer."""
        is_for_it = self.platform() == "cpu" and given.get("tile") and not given.get("machine")
        if is_for_it and not _jax.missing(_jax.FOR_DEVICES):
            here = (d for d in np.ravel(self.devices) if d.process_index == d.client.process_index())
            if mine := next(here, None):
                _machine.measure(mine, self.computation.context)

    def name(self):
        return ir.StringAttr(self.computation.operation.attributes["sym_name"]).value

    def text(self, locations=True):
        text = self.computation.operation.get_asm(
            print_generic_op_form=True, enable_debug_info=locations
        ).encode()
        return _cells.named(text) if locations else text

    def hash(self, text, *more):
        """Of a program (None: as it came) but for where in the source it is from, which processes
        may see at different places.
        """
        if text is None:
            plain = self.text(locations=False)
        else:
            module = ir.Module.parse(text, context=self.computation.context)
            plain = module.operation.get_asm(print_generic_op_form=True).encode()
        return hashlib.sha256(plain + json.dumps(more).encode()).hexdigest()[:32]

    def text_with_shardings(self):
        """The program without calls; each op says how XLA will shard it, as Shardy itself does."""
        flat = _library.rewrite(self.text(), {"only_passes": b"inline"}, None)
        context = self.computation.context
        try:
            module = ir.Module.parse(flat.text, context=context)
            _jax.passmanager.PassManager.parse(_PROPAGATION, context=context).run(module.operation)
        except Exception as error:
            raise _LeftAlone(f"Shardy doesn't say how it is sharded: {error}") from None
        text = module.operation.get_asm(
            print_generic_op_form=True, use_local_scope=True, enable_debug_info=True
        )
        for theirs, stock in _SHARDY_OPS.items():
            text = text.replace(f'"{theirs}"(', f'"{stock}"(')
        unread = set(_SHARDY_OP.findall(text)) - _READ
        if unread:
            raise _LeftAlone(f"it has {min(unread)}")
        return text.encode()


def _total_bytes(executable):
    memory = executable.get_compiled_memory_stats()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return held - memory.alias_size_in_bytes + memory.temp_size_in_bytes


_AMD = re.compile("rocm|amd|instinct|radeon")
_REFUSED = re.compile(r"(?:Used |temporaries \()([\d.]+)([KMGT]?)(?: of|\) exceeds)")
_POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def platform_of(device):
    """As JAX lowers for it. A client that only compiles names the card instead of its runtime."""
    name = device.platform
    if name != "gpu":
        return name
    said = f"{device.client.platform_version} {device.device_kind}".lower()
    return "rocm" if _AMD.search(said) else "cuda"


def _refused_memory(error, limit_bytes):
    """What a program needs that XLA refuses because the device has less, which XLA:TPU says in the
    message. Raises it again where that proves nothing about the limit.
    """
    said = _REFUSED.search(str(error))
    total = int(float(said[1]) * _POWERS[said[2]]) if said else 0
    if total <= limit_bytes:
        raise error
    return 0, 0, 0, total


_PROPAGATION = "builtin.module(sdy-propagation-pipeline)"
# Shardy's own words for ops between its passes; those that weir reads. Others (collectives of
# shardings) want to find a sharding on each of their operands.
_SHARDY_OPS = {"sdy.constant": "stablehlo.constant", "sdy.reshard": "sdy.sharding_constraint"}
_SHARDY_OP = re.compile(r'"(sdy\.\w+)"\(')
_READ = {"sdy.mesh", "sdy.sharding_constraint", "sdy.manual_computation", "sdy.return"}


def _same_sharding(one, other):
    from_proto = _jax.xla_client.HloSharding.from_proto
    return _jax.are_hlo_shardings_equal(from_proto(one), from_proto(other))


def _typed_option(option):
    """XLA reads numbers and enums from strings, but wants real bools."""
    name, _, value = option.partition("=")
    return name, {"true": True, "false": False}.get(value.lower(), value)


def _forget_option(options, message):
    """Whether one of the options is what XLA complains of; it is left out from now on."""
    pairs = [option.split("=", 1) for option in options]
    named = {
        name
        for name, value in pairs
        if _UNKNOWN_OPTION.format(name) in message or _UNKNOWN_VALUE.format(name, value) in message
    }
    _unknown_options.update(named)
    return bool(named)


@functools.cache
def _warn_of_option(name):
    warn(
        f"weir: XLA of jax {jax.__version__} has no option {name} as weir sets it: what its report "
        "of memory leaves out is not counted, and programs may be refused that need not be"
    )


@functools.cache
def register_calls():
    """XLA can run programs that call us: tiles, and loops that show progress."""
    library = _library.library()
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


_FOR_PAGES = {"data": True, "trace": True}
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
        given |= _FOR_PAGES
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
    if jax.__version_info__ > _LAST_WITHOUT_OPTIONS:
        for name in sorted(_unknown_options):
            _warn_of_option(name)
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


_SHARDED = re.compile(rb"sdy\.(?!mesh\b|sharding_rule|op_sharding_rule)|mhlo\.sharding")
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
    "Arguments and results alone are {}, which no rewriting changes. Outside of jax.jit every "
    "operation is a program of its own with its operands as arguments: jit the whole function. "
    "WEIR_OVER_LIMIT=warn lets such programs run."
)


def _refuse(call, result):
    message = result.message.rstrip("\n")
    if call.device_count() > 1:
        message += "\nThe limit, and all bytes, are each device's."
    if call.least_held_bytes is not None and call.least_held_bytes > result.limit_bytes:
        message += "\n" + _HOPELESS.format(_plan.readable(call.least_held_bytes))
    raise jax.errors.JaxRuntimeError(f"RESOURCE_EXHAUSTED: weir: {message}") from None


def plans_of(compile_program):
    """As _say.plans_of()."""
    return _say.plans_of(compile_program, jax.errors.JaxRuntimeError)


def devices_of(module):
    """(replicas, partitions) of a lowered program."""
    given = module.operation.attributes
    names = ("mhlo.num_replicas", "mhlo.num_partitions")
    return tuple(ir.IntegerAttr(given[n]).value if n in given else 1 for n in names)


_WITHOUT_XLA = ", and with the device's own XLA, which is not installed"


def plan_module(module, devices, settings):
    """The Plan of a lowered program (ir.Module) for `devices`, as many as it wants, of a client that
    may only compile; (): by weir's estimate, for the platform and machine of the settings.
    """
    if not devices:
        call = _Call(None, None, module, (), None, (), {})
        result = _library.rewrite(call.text(), settings | _FOR_PAGES, None)
        if result.status not in (_library.OK, _library.RESOURCE_EXHAUSTED):
            lacks = "" if math.prod(devices_of(module)) == 1 else _WITHOUT_XLA
            raise ValueError(f"weir.plan: {result.status_name}: {result.message}{lacks}")
        return _plan.from_result(call.name(), result)
    options = _options_ahead(module, devices)
    call = _Call(_compile_ahead, devices[0].client, module, devices, options, (), {})
    found = plans_of(lambda: _compile_or_warn(call, settings, _say.planned()))
    if not found:
        raise ValueError("weir.plan: weir left this program alone (see the warning)")
    return found[-1]


def _options_ahead(module, devices):
    """As JAX sets them: XLA chooses how to shard what the program doesn't say."""
    replicas, partitions = devices_of(module)
    ids = np.array([device.id for device in devices]).reshape(replicas, partitions)
    options = _jax.get_compile_options(
        num_replicas=replicas, num_partitions=partitions, device_assignment=ids
    )
    if partitions > 1:
        build, main = options.executable_build_options, _main_of(module)
        kinds, counts = ("arg_attrs", "res_attrs"), (len(main.arguments), len(main.type.results))
        chooses = [_unsharded(main, *given) for given in zip(kinds, counts)]
        build.allow_spmd_sharding_propagation_to_parameters = chooses[0]
        build.allow_spmd_sharding_propagation_to_output = chooses[1]
    return options


def _main_of(module):
    named = (op for op in module.body if "sym_name" in op.operation.attributes)
    return next(op for op in named if ir.StringAttr(op.attributes["sym_name"]).value == "main")


def _unsharded(main, attribute, count):
    """Of each argument, or result, whether the program says nothing of its sharding."""
    given = main.operation.attributes
    if attribute not in given:
        return [True] * count
    return [not any(n in one for n in _SHARDINGS) for one in given[attribute]]


_SHARDINGS = ("sdy.sharding", "mhlo.sharding")


def _compile_ahead(backend, module, devices, options):
    chosen = _jax.xla_client.DeviceList(tuple(devices))
    if backend.runtime_type == "compile_only_runtime":
        return backend.compile(module, executable_devices=chosen, compile_options=options)
    code = io.BytesIO()  # older ones take no modules here
    module.operation.write_bytecode(code)
    return backend.compile_and_load(
        code.getvalue(), executable_devices=chosen, compile_options=options
    )
