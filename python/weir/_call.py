"""One request to compile: what JAX asks XLA for, the executables made for it, and what they report."""

import copy
import functools
import hashlib
import json
import re
import threading

import jax
import numpy as np

from weir import _cells, _jax, _library, _machine, _processes, _settings, _timing
from weir._jax import ir
from weir._processes import LeftAlone as _LeftAlone
from weir._say import warn

_PASSES_OFF = "xla_disable_hlo_passes"
_EXTRA = {"xla_cpu_small_while_loop_byte_threshold"}  # a backend's own
# XLA's words for an option, and for a value of one, that it doesn't have.
_UNKNOWN_OPTION = "No such compile option: '{}'"
_UNKNOWN_VALUE = "While setting option {}, '{}' is not"
# Names that this XLA doesn't have: up to jax 0.9.0 there are no such fusions or schedulers.
unknown_options = set()
LAST_WITHOUT_OPTIONS = (0, 9, 0)

# decided: the program that is being compiled as weir wants it. Where others wrap JAX's compiler and
# weir is put in a second time, it passes both of its hooks.
local = threading.local()


class Call:
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
        wanted = tuple(o for o in options if o.partition("=")[0] not in unknown_options)
        key = (text, wanted)
        if key in self.executables:
            return self.executables[key]
        try:
            executable = self.compile(text, wanted)
        except Exception as error:
            if not _forget_option(wanted, str(error)):
                raise
            return self.run(text, wanted)
        self.executables[key] = executable
        return executable

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
            compile_options = _with_options(compile_options, options)
        before, local.decided = getattr(local, "decided", None), module
        try:
            executable = self.original(
                self.backend, module, self.devices, compile_options, *self.rest, **self.named
            )
        finally:
            local.decided = before
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
        wanted, device = _timing.arguments_of(main_of(self.computation)), self.own_device()
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
            text = propagated(ir.Module.parse(flat.text, context=context))
        except Exception as error:
            raise _LeftAlone(f"Shardy doesn't say how it is sharded: {error}") from None
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


def propagated(module):
    """The text of a module without calls, of which each op says how it is sharded, in words of
    StableHLO's.
    """
    pipeline = _jax.passmanager.PassManager.parse(_PROPAGATION, context=module.context)
    pipeline.run(module.operation)
    text = module.operation.get_asm(
        print_generic_op_form=True, use_local_scope=True, enable_debug_info=True
    )
    for theirs, stock in _SHARDY_OPS.items():
        text = text.replace(f'"{theirs}"(', f'"{stock}"(')
    return text


def _same_sharding(one, other):
    from_proto = _jax.xla_client.HloSharding.from_proto
    return _jax.are_hlo_shardings_equal(from_proto(one), from_proto(other))


def _with_options(compile_options, options):
    """A copy with "name=value" options beside its own."""
    extra = [o for o in options if o.partition("=")[0] in _EXTRA]
    made = _with_extra(compile_options, extra) if extra else copy.deepcopy(compile_options)
    made.env_option_overrides = [
        *compile_options.env_option_overrides,
        *(_typed_option(_beside_users(o, compile_options)) for o in options if o not in extra),
    ]
    return made


def _with_extra(compile_options, options):
    """XLA's backends have options of their own, in a map that no override can name: bytes behind a
    message's are merged into it. CompileOptionsProto.executable_build_options (3) .debug_options (3)
    .xla_backend_extra_options (500), whose entries are key (1), value (2).
    """
    given, added = compile_options.SerializeAsString(), b""
    for name, _, value in (option.partition("=") for option in options):
        if name.encode() in given:
            continue  # the user says so
        entry = _field(1, name.encode()) + _field(2, value.encode())
        added += _field(3, _field(3, _field(500, entry)))
    return type(compile_options).ParseFromString(given + added)


def _field(number, data):
    """Of a protocol buffer, with a length."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _beside_users(option, compile_options):
    """The option with the passes that the user switches off, which stay off beside ours."""
    name, _, ours = option.partition("=")
    if name != _PASSES_OFF:
        return option
    asked = [value for other, value in compile_options.env_option_overrides if other == name]
    flags = getattr(compile_options.executable_build_options, "debug_options", None)
    theirs = asked[-1] if asked else getattr(flags, name, "")
    return f"{name}={theirs},{ours}" if theirs else option


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
    unknown_options.update(named)
    return bool(named)


@functools.cache
def warn_of_option(name):
    warn(
        f"weir: XLA of jax {jax.__version__} has no option {name} as weir sets it: what its report "
        "of memory leaves out is not counted, and programs may be refused that need not be"
    )


_SHARDED = re.compile(rb"sdy\.(?!mesh\b|sharding_rule|op_sharding_rule)|mhlo\.sharding")


def main_of(module):
    named = (op for op in module.body if "sym_name" in op.operation.attributes)
    return next(op for op in named if ir.StringAttr(op.attributes["sym_name"]).value == "main")
