"""The settings of the moment: environment variables, and weir.limit() over them.

A limit is part of the key of jax.jit's caches (a user context), so a function compiled under one
limit is compiled again under another. The environment is not: it is meant to be set before the
program starts.
"""

import contextlib
import ctypes
import difflib
import functools
import operator
import os
import threading

from weir import _library
from weir._names import find

ACCEPTED = (
    "a number of bytes such as 1000000, 512MiB, 1.5GB, 2G or '2 kB' "
    "(k, M, G, T, also as kB or gb: powers of 1000; Ki, Mi, Gi, Ti, also as KiB or gib: of 1024)"
)
AUTO = "auto"  # a limit: what the device has free
_BYTES = {
    "memory_limit_bytes": "WEIR_MEMORY_LIMIT",
    "tensor_size_threshold_bytes": "WEIR_TENSOR_SIZE_THRESHOLD",
    "tensor_split_size_bytes": "WEIR_TENSOR_SPLIT_SIZE",
}
_SEARCH_OPS = "WEIR_SEARCH_OPS"
_COUNTS = "a number of ops such as 30000000, 100M or 1G"
_TEXTS = {"only_passes": "WEIR_PASS", "skip_passes": "WEIR_SKIP", "dump_after": "WEIR_DUMP_AFTER"}

NAMES = (
    *_BYTES.values(),
    *_TEXTS.values(),
    _SEARCH_OPS,
    *("WEIR_TILE", "WEIR_TIMING", "WEIR_DEBUG", "WEIR_PROGRESS", "WEIR_NUM_THREADS", "WEIR_DUMP_TO"),
    *("WEIR_CACHE_DIR", "WEIR_LLVM", "WEIR_LIBRARY", "WEIR_MACHINE"),
    *("WEIR_TF_JIT", "WEIR_DEVICES", "WEIR_OVER_LIMIT"),
)
_ASK = ("WEIR_MEMORY_LIMIT", "WEIR_TENSOR_SIZE_THRESHOLD", "WEIR_TILE")
_TILE = ("off", "auto", "on")  # weir_tile_mode
_OPTIONS = {name.lower(): field for field, name in _BYTES.items()}
_OPTIONS[_SEARCH_OPS.lower()] = "search_ops"

# jax.make_user_context(); its value: None, or (limit, key, spreads, search_ops). The limit: bytes,
# AUTO or None. search_ops: None where the environment's count.
# The key: None, or of weir.plan(): (a number that nobody else has, whether the limit was given).
# Whether programs are spread over the devices of a mesh.
_context = None
_opened = threading.local()  # blocks: those of entered() that this thread is in
_progress = None  # another; its value: None, or True inside of weir.progress()
_making = threading.Lock()


class SettingError(ValueError):
    """A setting that can't be read. Never swallowed."""


def parse_limit(value, name):
    """As parse_bytes, or AUTO."""
    return AUTO if value == AUTO else parse_bytes(value, name, f", or {AUTO!r}")


def _integer_of(value):
    """An integer of any type, or a float that is one (1e9); else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return operator.index(value) if hasattr(value, "__index__") else None


def parse_bytes(value, name, more=""):
    """Bytes of a number or a string; `name` is who said so."""
    found = _library.parse_bytes(value) if isinstance(value, str) else _integer_of(value)
    if found is None or not 0 < found < 2**63:
        raise SettingError(f"weir: {name} is {value!r}, but should be {ACCEPTED}{more}")
    return found


def parse_count(value, name):
    """Ops of a number or a string; `name` is who said so."""
    is_text = isinstance(value, str) and not set(value) & set("bBi")
    found = _library.parse_bytes(value) if is_text else _integer_of(value)
    if found is None or not 0 < found < 2**63:
        raise SettingError(f"weir: {name} is {value!r}, but should be {_COUNTS}")
    return found


def _parse(field, value, name):
    if field == "search_ops":
        return parse_count(value, name)
    return (parse_limit if field == "memory_limit_bytes" else parse_bytes)(value, name)


def _read_environment():
    _library.read_environment()
    found = {
        field: _parse(field, os.environ[name], name)
        for field, name in _BYTES.items()
        if name in os.environ
    }
    found |= {
        field: os.environ[name].encode() for field, name in _TEXTS.items() if os.environ.get(name)
    }
    debug = os.environ.get("WEIR_DEBUG") or "0"
    if debug not in ("0", "1", "2", "3", "4", "5"):
        raise SettingError(f"weir: WEIR_DEBUG is {debug!r}, but should be a number from 0 to 5")
    tile = os.environ.get("WEIR_TILE") or "auto"
    if tile not in _TILE:
        raise SettingError(f"weir: WEIR_TILE is {tile!r}, but should be off, auto or on")
    _check_kernels(tile)
    are_all_devices_meant()
    times_programs()
    runs_over_limit()
    if count := os.environ.get(_SEARCH_OPS):
        found["search_ops"] = parse_count(count, _SEARCH_OPS)
    if machine := os.environ.get("WEIR_MACHINE"):
        found["machine"] = _machine(machine)
    return found | {"debug": int(debug), "tile": _TILE.index(tile), "progress": shows_progress()}


def _check_kernels(tile):
    """What the library would pass over: it reads these when a kernel is made or runs."""
    threads = os.environ.get("WEIR_NUM_THREADS") or "1"
    if not (threads.isascii() and threads.isdigit() and 0 < int(threads) < 2**31):
        raise SettingError(
            f"weir: WEIR_NUM_THREADS is {threads!r}, but should be a number from 1 on"
        )
    llvm = os.environ.get("WEIR_LLVM")
    if llvm and tile != "off" and (why := _why_not_llvm(llvm)):
        raise SettingError(f"weir: WEIR_LLVM is {llvm!r}, which can't be opened: {why}")


@functools.cache
def _machine(name):
    if why := _library.why_no_machine(name.encode()):
        raise SettingError(f"weir: WEIR_MACHINE: {why}")
    return name.encode()


@functools.cache
def _why_not_llvm(name):
    if "/" in name and os.path.exists(name) and not os.path.isfile(name):
        return "it is no regular file"  # the loader would wait for a pipe
    try:
        ctypes.CDLL(name, os.RTLD_NOW | os.RTLD_DEEPBIND)  # as the library: it stays open
    except OSError as error:
        return str(error)
    return None


def doubts():
    """What is wrong with the environment, a text each, though nothing fails for it."""
    for name in os.environ:
        if name.startswith(("WEIR", "WIER")) and name not in NAMES:
            for close in difflib.get_close_matches(name, NAMES, 1, 0.85):
                yield f"weir: {name} is none of its settings: {close}?"
    folder = os.environ.get("WEIR_CACHE_DIR")
    if folder and folder != "off" and not _may_write(folder):
        yield f"weir: WEIR_CACHE_DIR is {folder!r}, where nothing can be written: kernels are not kept"


def _may_write(folder):
    path = os.path.abspath(folder)
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)


def _one_of(name, default, other):
    value = os.environ.get(name) or default
    if value not in (default, other):
        raise SettingError(f"weir: {name} is {value!r}, but should be {default} or {other}")
    return value


def always_shows_progress():
    """Whether the environment asks for it."""
    return _one_of("WEIR_PROGRESS", "0", "1") == "1"


def shows_progress():
    """Whether programs compiled now show how far they are."""
    return always_shows_progress() or (_progress is not None and bool(_progress.value))


def times_programs():
    """Whether two ways to run a program are timed where predictions are unsure."""
    return _one_of("WEIR_TIMING", "on", "off") == "on"


def runs_over_limit():
    """Whether programs that no way under the limit is found for run as they came."""
    return _one_of("WEIR_OVER_LIMIT", "error", "warn") == "warn"


def compiles_all_of_tensorflow():
    """Whether functions of TensorFlow that don't ask for XLA are compiled as well."""
    return _one_of("WEIR_TF_JIT", "0", "1") == "1"


def are_all_devices_meant():
    """Whether programs of one device are for all devices of JAX's default backend."""
    value = os.environ.get("WEIR_DEVICES") or ""
    if value not in ("", "all"):
        raise SettingError(f"weir: WEIR_DEVICES is {value!r}, but should be all, or unset")
    return value == "all"


def are_asked_for():
    """Whether the environment, or a weir.limit() of this thread, wants programs changed."""
    return local_value() is not None or any(name in os.environ for name in _ASK)


def local_value():
    """The context's value: of the innermost weir.limit() of this thread; None outside of any."""
    return _context.value if _context is not None else None


def spreads():
    """Whether programs that this thread compiles now are spread over devices."""
    local = local_value()
    return are_all_devices_meant() or (local is not None and local[2])


def active(options=()):
    """weir_options' fields by name, or None where there is nothing to do. Cheap then.

    options: what take_options() found for this program; it counts before weir.limit(), and that
    before the environment. memory_limit_bytes may be AUTO.
    """
    local = local_value()
    if not options and not are_asked_for():
        return None
    settings = _read_environment()
    if local is not None:
        settings["memory_limit_bytes"] = local[0] or 0
        if local[3] is not None:
            settings["search_ops"] = local[3]
    is_given_to_plan = local is not None and local[1] is not None and local[1][1]
    for field, value in dict(options).items():
        if not (is_given_to_plan and field == "memory_limit_bytes"):
            settings[field] = value
    wanted = (
        settings.get("memory_limit_bytes")
        or settings.get("tensor_size_threshold_bytes")
        or (os.environ.get("WEIR_TILE") and settings["tile"])  # alone only if asked for
    )
    return settings if wanted else None


def of_a_plan(limit_bytes, search_ops=None):
    """The settings in force, with this limit; and with these ops, unless None."""
    settings = _read_environment() | {"memory_limit_bytes": limit_bytes}
    return settings if search_ops is None else settings | {"search_ops": search_ops}


def search_ops():
    """Those that weir.limit() or weir.plan() gave on this thread; None: the environment's."""
    local = local_value()
    return local and local[3]


def take_options(overrides):
    """(ours by field, the others as they came) of a program's compiler options, pairs of name and
    value: jax.jit(f, compiler_options={"weir_memory_limit": "1GB"}). None as a value: none.
    """
    ours, others = {}, []
    for name, value in overrides:
        if not name.startswith("weir_"):
            others.append((name, value))
        elif name not in _OPTIONS:
            raise SettingError(f"weir: no compiler option {name!r}; there are {', '.join(_OPTIONS)}")
        else:
            field = _OPTIONS[name]
            ours[field] = 0 if value is None else _parse(field, value, f"compiler option {name}")
    return ours, others


class entered:
    """This thread compiles under the limit (None: under none) until the end of the block.

    Blocks of tasks that await may end in any order: the last entered of those that are left counts,
    and after all of them what counted before. `overlapped`, at the end: another block began in this
    one and goes on, or the other way round.
    """

    def __init__(self, limit, key=None, spreads=False, search_ops=None):
        self._value, self.overlapped = (limit, key, spreads, search_ops), False

    def __enter__(self):
        _make_contexts()
        self._open = _opened.blocks = getattr(_opened, "blocks", [])
        if not self._open:
            _opened.before = _context(self._value)
            _opened.before.__enter__()
        else:
            _context(self._value).__enter__()
        self._open.append(self)
        return self

    def __exit__(self, *exception):
        at = self._open.index(self)
        for later in self._open[at + 1 :]:
            later.overlapped = self.overlapped = True
        del self._open[at]
        if self._open:
            _context(self._open[-1]._value).__enter__()
        else:
            _opened.before.__exit__(*exception)


@contextlib.contextmanager
def showing_progress():
    """Programs that this thread compiles until the end of the block show how far they are."""
    _make_contexts()
    with _progress(True):
        yield


class _PlainContext:
    """What jax.make_user_context() gives, where there is no jax whose caches have to know: a value
    of this thread, and calls that set it for a block.
    """

    def __init__(self, _):
        self._local = threading.local()

    @property
    def value(self):
        return getattr(self._local, "value", None)

    @value.setter
    def value(self, value):
        self._local.value = value

    def __call__(self, value):
        return _PlainBlock(self, value)


class _PlainBlock:
    """Only its end, and not that nobody holds it, gives the context its value back."""

    def __init__(self, context, value):
        self._context, self._value = context, value

    def __enter__(self):
        self._before, self._context.value = self._context.value, self._value

    def __exit__(self, *_):
        self._context.value = self._before


def _make_contexts():
    global _context, _progress
    with _making:
        if _context is not None:
            return
        make = find("jax:make_user_context") or _PlainContext  # an older jax is never limited
        _context, _progress = make(None), make(None)
