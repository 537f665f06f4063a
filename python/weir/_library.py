"""libweir through ctypes: the structures of weir.h and one call, rewrite(). Loaded at first use."""

import ctypes
import dataclasses
import functools
import os
import pathlib
import signal
import threading
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED = 0, 3, 8, 12
UNTOUCHED, OPTIONS_ONLY, REWRITTEN = 0, 1, 2


class _Memory(ctypes.Structure):
    _fields_ = [
        ("argument_bytes", c_int64),
        ("output_bytes", c_int64),
        ("alias_bytes", c_int64),
        ("temp_bytes", c_int64),
    ]


_RefereeFunction = ctypes.CFUNCTYPE(
    c_int, c_void_p, c_void_p, c_size_t, POINTER(c_char_p), POINTER(_Memory)
)


class _Way(ctypes.Structure):
    _fields_ = [("text", c_void_p), ("length", c_size_t), ("options", POINTER(c_char_p))]


class _Took(ctypes.Structure):
    _fields_ = [("ns", c_int64), ("cpu_ns", c_int64)]


_TimerFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(_Way), POINTER(_Took))


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memory_limit_bytes", c_int64),
        ("tensor_size_threshold_bytes", c_int64),
        ("tensor_split_size_bytes", c_int64),
        ("platform", c_char_p),
        ("only_passes", c_char_p),
        ("skip_passes", c_char_p),
        ("dump_after", c_char_p),
        ("stop_after", c_char_p),
        ("debug", c_int),
        ("referee", _RefereeFunction),
        ("referee_user", c_void_p),
        ("minimum", c_int),
        ("shardings_known", c_bool),
        ("tile", c_int),
        ("progress", c_bool),
        ("machine", c_char_p),
        ("data", c_bool),
        ("trace", c_bool),
        ("bytecode", c_char_p),
        ("search_ops", c_int64),
        ("timer", _TimerFunction),
        ("timer_user", c_void_p),
        ("timed_by", c_char_p),
    ]


class _Summary(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("limit_bytes", c_int64),
        ("peak_before_bytes", c_int64),
        ("peak_after_bytes", c_int64),
        ("minimum_bytes", c_int64),
        ("flops_before", c_int64),
        ("flops_after", c_int64),
        ("loops", c_int32),
        ("referee_compiles", c_int32),
        ("time_before_ns", c_int64),
        ("time_after_ns", c_int64),
        ("only_faster", c_bool),
        ("before_is_estimate", c_bool),
        ("after_is_estimate", c_bool),
        ("faster_limit_bytes", c_int64),
        ("is_unconfirmed", c_bool),
        ("tried_took_ns", c_int64),
        ("else_took_ns", c_int64),
        ("tried_how", c_char_p),
        ("timer_calls", c_int32),
    ]


class _PagePart(ctypes.Structure):
    _fields_ = [("title", c_char_p), ("data", c_char_p)]


class _LoopInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("seed", c_char_p),
        ("extent", c_int64),
        ("slice", c_int64),
        ("trips", c_int64),
        ("depth", c_int32),
        ("ops", c_int32),
        ("body_peak_bytes", c_int64),
        ("is_kernel", c_int32),
        ("time_ns", c_int64),
    ]


class _DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("platform", c_char_p),
        ("kind", c_char_p),
        ("target", c_char_p),
        ("memory_bytes", c_int64),
    ]


class _MachineRates(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("products", ctypes.c_double),
        ("fused", ctypes.c_double),
        ("memory", ctypes.c_double),
    ]


class _LoopProgress(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("label", ctypes.c_char * 80),
        ("done", c_int64),
        ("total", c_int64),
        ("seconds", ctypes.c_double),
    ]


_SIGNATURES = {
    "weir_rewrite": (c_int, [c_char_p, c_size_t, POINTER(_Options), POINTER(c_void_p)]),
    "weir_fits": (c_int, [c_char_p, c_size_t, POINTER(_Options), POINTER(c_bool)]),
    "weir_spread": (c_int, [c_char_p, c_size_t, POINTER(_Options), POINTER(c_void_p)]),
    "weir_result_destroy": (None, [c_void_p]),
    "weir_result_outcome": (c_int, [c_void_p]),
    "weir_result_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "weir_result_compile_options": (POINTER(c_char_p), [c_void_p]),
    "weir_result_message": (c_char_p, [c_void_p]),
    "weir_result_explain": (c_char_p, [c_void_p]),
    "weir_result_data": (c_char_p, [c_void_p]),
    "weir_result_trace": (c_char_p, [c_void_p]),
    "weir_page": (c_int, [c_char_p, POINTER(_PagePart), c_size_t, POINTER(c_void_p)]),
    "weir_result_summary": (None, [c_void_p, POINTER(_Summary)]),
    "weir_result_loop": (c_bool, [c_void_p, c_int32, POINTER(_LoopInfo)]),
    "weir_tile_handler": (c_void_p, [c_void_p]),
    "weir_progress_handler": (c_void_p, [c_void_p]),
    "weir_show_progress": (None, [c_bool]),
    "weir_watch_progress": (None, [c_bool]),
    "weir_running_loop": (c_bool, [POINTER(_LoopProgress)]),
    "weir_interrupts": (None, [c_bool]),
    "weir_end_kernels": (None, []),
    "weir_machine_describe": (c_int, [c_char_p, POINTER(c_void_p)]),
    "weir_machine_keep": (c_int, [POINTER(_MachineRates)]),
    "weir_machine_wants_rates": (c_bool, []),
    "weir_device": (c_bool, [c_int32, POINTER(_DeviceInfo)]),
    "weir_parse_bytes": (c_int, [c_char_p, POINTER(c_int64)]),
    "weir_status_name": (c_char_p, [c_int]),
    "weir_version": (c_char_p, []),
}


@functools.cache
def library():
    """The shared library beside this file, or the one that WEIR_LIBRARY names."""
    path = os.environ.get("WEIR_LIBRARY") or pathlib.Path(__file__).with_name("libweir.so")
    handle = ctypes.CDLL(os.fspath(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(handle, name)
        function.restype, function.argtypes = result, arguments
    return handle


def read_environment():
    """weir_read_environment(): what os.environ says now counts from here on, for the library too."""
    # PyDLL: the interpreter's lock is held, so that nobody changes os.environ meanwhile.
    reader = ctypes.PyDLL(library()._name).weir_read_environment
    reader.restype, reader.argtypes = None, []
    reader()


def give_back():
    """What the process has freed goes back to the system, where the C library can do that."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


@dataclasses.dataclass(frozen=True)
class Loop:
    """One loop that weir made; weir_loop_info in weir.h."""

    seed: str
    extent: int
    slice: int
    trips: int
    depth: int
    ops: int
    body_peak_bytes: int
    is_kernel: bool = False
    time_ns: int = 0  # predicted, of all its trips; 0: not known, or not of weir.plan()


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU or TPU that weir has numbers of; weir_device_info in weir.h."""

    name: str
    platform: str
    kind: str
    target: str | None
    memory_bytes: int


@functools.cache
def devices():
    """All that weir_options.machine may name, in the order of `weir machine --help`."""
    found, info = [], _DeviceInfo(struct_size=ctypes.sizeof(_DeviceInfo))
    while library().weir_device(len(found), ctypes.byref(info)):
        texts = (info.name, info.platform, info.kind, info.target)
        found.append(Device(*(text and text.decode() for text in texts), info.memory_bytes))
    return tuple(found)


@dataclasses.dataclass(frozen=True)
class Running:
    """A loop that runs; weir_loop_progress in weir.h."""

    label: str
    done: int
    total: int
    seconds: float


def running_loop():
    """The loop that has run longest of those that are watched; None: none runs."""
    found = _LoopProgress(struct_size=ctypes.sizeof(_LoopProgress))
    if not library().weir_running_loop(ctypes.byref(found)):
        return None
    return Running(found.label.decode(errors="replace"), found.done, found.total, found.seconds)


@dataclasses.dataclass(frozen=True)
class Result:
    """What weir_rewrite() said; weir_summary in weir.h. Bytes are per device."""

    status: int
    status_name: str
    message: str
    outcome: int
    text: bytes | None
    compile_options: tuple[str, ...]
    explain: str
    limit_bytes: int
    peak_before_bytes: int
    peak_after_bytes: int
    minimum_bytes: int
    flops_before: int
    flops_after: int
    referee_compiles: int
    loops: tuple[Loop, ...]
    only_faster: bool = False
    time_before_ns: int = 0
    time_after_ns: int = 0
    before_is_estimate: bool = False
    after_is_estimate: bool = False
    faster_limit_bytes: int = 0
    is_unconfirmed: bool = False
    tried_took_ns: int = 0
    else_took_ns: int = 0
    tried_how: str = ""
    timer_calls: int = 0
    data: str = ""
    trace: str = ""


def fits(text, settings, may_time=False):
    """weir_fits() under settings as for rewrite(), which has a timer if it may; False where it can't
    tell.
    """
    found, options = c_bool(), _options(settings, timer=_UNASKED if may_time else _TimerFunction())
    library().weir_fits(text, len(text), ctypes.byref(options), ctypes.byref(found))
    return found.value


def spread(text, settings):
    """weir_spread() under settings as for rewrite(): a text (bytes), or None where it stays."""
    lib, handle, options = library(), c_void_p(), _options(settings)
    status = lib.weir_spread(text, len(text), ctypes.byref(options), ctypes.byref(handle))
    if status == OK and lib.weir_result_outcome(handle) != REWRITTEN:
        lib.weir_result_destroy(handle)
        return None
    return _text_taken(status, handle).encode()


def _text_taken(status, handle):
    """The text of a result, which is destroyed; ValueError with its message if there is none."""
    lib, length = library(), c_size_t()
    try:
        if status != OK:
            raise ValueError(lib.weir_result_message(handle).decode(errors="replace"))
        text = lib.weir_result_text(handle, ctypes.byref(length))
        return ctypes.string_at(text, length.value).decode()
    finally:
        lib.weir_result_destroy(handle)


def page(title, plans):
    """weir_page() of (title, data) pairs, as text."""
    parts = (_PagePart * len(plans))(*((name.encode(), data.encode()) for name, data in plans))
    handle = c_void_p()
    status = library().weir_page(title.encode(), parts, len(plans), ctypes.byref(handle))
    return _text_taken(status, handle)


def parse_bytes(text):
    """Bytes of "1000000", "512MiB", "1.5GB"; None if `text` is nothing of the kind."""
    out = c_int64()
    status = library().weir_parse_bytes(text.encode(), ctypes.byref(out))
    return out.value if status == OK else None


def why_no_machine(name):
    """What is wrong with the name (bytes) of a machine; None if nothing is."""
    lib, handle = library(), c_void_p()
    status = lib.weir_machine_describe(name, ctypes.byref(handle))
    try:
        return None if status == OK else lib.weir_result_message(handle).decode(errors="replace")
    finally:
        lib.weir_result_destroy(handle)


def describe_machine(name):
    """What plans are made for on the machine of that name (bytes; None: here), as text."""
    handle = c_void_p()
    status = library().weir_machine_describe(name, ctypes.byref(handle))
    return _text_taken(status, handle)


def machine_wants_rates():
    """Whether nobody has measured this computer, and what is measured can be kept."""
    return library().weir_machine_wants_rates()


def keep_machine(products, fused, memory):
    """What XLA does here: Gflop/s, exponentials in G a second, GB/s; 0: not measured. Whether it
    could be kept.
    """
    size = ctypes.sizeof(_MachineRates)
    rates = _MachineRates(size, products, fused, memory)
    return library().weir_machine_keep(ctypes.byref(rates)) == OK


def version():
    return library().weir_version().decode()


def _strings(array):
    found = []
    while array and array[len(found)] is not None:
        found.append(array[len(found)].decode())
    return tuple(found)


def _read_loops(lib, handle):
    loops, info = [], _LoopInfo(struct_size=ctypes.sizeof(_LoopInfo))
    while lib.weir_result_loop(handle, len(loops), ctypes.byref(info)):
        loops.append(
            Loop(
                (info.seed or b"").decode(),
                info.extent,
                info.slice,
                info.trips,
                info.depth,
                info.ops,
                info.body_peak_bytes,
                bool(info.is_kernel),
                info.time_ns,
            )
        )
    return tuple(loops)


def _read_result(lib, status, handle):
    summary, length = _Summary(struct_size=ctypes.sizeof(_Summary)), c_size_t()
    lib.weir_result_summary(handle, ctypes.byref(summary))
    text = lib.weir_result_text(handle, ctypes.byref(length))
    return Result(
        status=status,
        status_name=lib.weir_status_name(status).decode(),
        message=lib.weir_result_message(handle).decode(errors="replace"),
        outcome=lib.weir_result_outcome(handle),
        text=ctypes.string_at(text, length.value) if text else None,
        compile_options=_strings(lib.weir_result_compile_options(handle)),
        explain=lib.weir_result_explain(handle).decode(errors="replace"),
        limit_bytes=summary.limit_bytes,
        peak_before_bytes=summary.peak_before_bytes,
        peak_after_bytes=summary.peak_after_bytes,
        minimum_bytes=summary.minimum_bytes,
        flops_before=summary.flops_before,
        flops_after=summary.flops_after,
        referee_compiles=summary.referee_compiles,
        loops=_read_loops(lib, handle),
        only_faster=summary.only_faster,
        time_before_ns=summary.time_before_ns,
        time_after_ns=summary.time_after_ns,
        before_is_estimate=summary.before_is_estimate,
        after_is_estimate=summary.after_is_estimate,
        faster_limit_bytes=summary.faster_limit_bytes,
        is_unconfirmed=summary.is_unconfirmed,
        tried_took_ns=summary.tried_took_ns,
        else_took_ns=summary.else_took_ns,
        tried_how=(summary.tried_how or b"").decode(),
        timer_calls=summary.timer_calls,
        data=lib.weir_result_data(handle).decode(),
        trace=lib.weir_result_trace(handle).decode(),
    )


class _Interrupts:
    """Holds Ctrl-C back while C is on the stack: a handler that raises would do so at the entry of
    the referee, where ctypes swallows it. Afterwards the signal goes to the handler it was for.
    """

    def __init__(self):
        self.received = []

    def __enter__(self):
        self.handler = None
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.getsignal(signal.SIGINT)
        if callable(self.handler):
            signal.signal(signal.SIGINT, lambda *signal_: self.received.append(signal_))
        return self

    def __exit__(self, *_):
        if callable(self.handler):
            signal.signal(signal.SIGINT, self.handler)
        if self.received:
            self.handler(*self.received[0])


class _Referee:
    """The C callback around compile_candidate. An exception can't cross C: an
    Exception is XLA's refusal, anything else is kept in `raised`.
    """

    def __init__(self, compile_candidate, interrupts):
        self.compile_candidate, self.interrupts = compile_candidate, interrupts
        self.raised, self.answers = None, 0

    def __call__(self, _, text, length, options, out_memory):
        self.answers += 1
        if self.raised or self.interrupts.received:
            return 1
        try:
            text = ctypes.string_at(text, length) if text else None
            out_memory[0] = _Memory(*self.compile_candidate(text, _strings(options)))
        except Exception:
            return 1
        except BaseException as exception:
            self.raised = exception
            return 1
        return 0


class NeverTimed(Exception):
    """A program that can't be timed, under this limit; which is kept."""


class _Timer:
    """The C callback around time_ways, as _Referee: an Exception means that it can't be timed."""

    def __init__(self, time_ways, interrupts):
        self.time_ways, self.interrupts = time_ways, interrupts
        self.raised, self.answers = None, 0

    def __call__(self, _, ways, out_took):
        self.answers += 1
        if self.raised or self.is_interrupted():
            return 1
        try:
            pairs = [(_text_of(ways[i]), _strings(ways[i].options)) for i in range(2)]
            for i, took in enumerate(self.time_ways(pairs, self.is_interrupted)):
                out_took[i] = _Took(*took)
        except NeverTimed:
            return 2
        except Exception:
            return 1
        except BaseException as exception:
            self.raised = exception
            return 1
        return int(self.is_interrupted())

    def is_interrupted(self):
        return bool(self.interrupts.received)


def _text_of(way):
    return ctypes.string_at(way.text, way.length) if way.text else None


_UNASKED = _TimerFunction(lambda *_: 1)


def rewrite(text, settings, compile_candidate, time_ways=None):
    """weir_rewrite() of `text` (bytes). `settings`: fields of weir_options by name, strings as
    bytes.

    compile_candidate(text or None, options) compiles with XLA and returns (argument, output, alias,
    temp) bytes, or raises where XLA refuses. Without one, weir's own estimate decides.

    time_ways([(text or None, options), the same], is_interrupted) runs both and returns (ns, CPU ns)
    of each, or raises where it can't, NeverTimed if it never can. Without one, predictions decide, or what was kept.
    """
    with _Interrupts() as interrupts:
        referee = _Referee(compile_candidate, interrupts)
        timer = _Timer(time_ways, interrupts)
        result = _rewrite_once(text, settings, referee, timer)
        if raised := referee.raised or timer.raised:
            raise raised
        is_lost = compile_candidate and result.referee_compiles != referee.answers
        if is_lost or result.timer_calls != timer.answers:
            raise RuntimeError("an exception of a signal handler was lost")
    return result


def _options(settings, referee=_RefereeFunction(), timer=_TimerFunction()):
    size = ctypes.sizeof(_Options)
    return _Options(struct_size=size, referee=referee, timer=timer, **settings)


def _rewrite_once(text, settings, referee, timer):
    lib, handle = library(), c_void_p()
    function = _RefereeFunction(referee) if referee.compile_candidate else _RefereeFunction()
    timing = _TimerFunction(timer) if timer.time_ways else _TimerFunction()
    options = _options(settings, function, timing)
    status = lib.weir_rewrite(text, len(text), ctypes.byref(options), ctypes.byref(handle))
    try:
        return _read_result(lib, status, handle)
    finally:
        lib.weir_result_destroy(handle)
