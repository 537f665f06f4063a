"""XLA in TensorFlow can run programs that call us: kernels, and loops that show how far they are.

TensorFlow has nothing in Python to register such calls with. Its library exports XLA's table of
functions for them, xla::ffi::GetXlaFfiApi(), and one of these registers a handler. The table and
the structures are XLA's FFI C API (xla/ffi/api/c_api.h), major version 0.
"""

import atexit
import ctypes
import functools
import signal

import tensorflow as tf

from weir import _library, _progress, _settings, _tf_options
from weir._say import warn

_TABLE = "_ZN3xla3ffi12GetXlaFfiApiEv"


class _Text(ctypes.Structure):
    _fields_ = [("at", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class _Head(ctypes.Structure):  # of the table, as far as we need it
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extensions", ctypes.c_void_p),
        ("version_size", ctypes.c_size_t),
        ("version_extensions", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("internal", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("error_create", "error_message", "error_destroy")),
        ("register", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
    ]


class _Handler(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extensions", ctypes.c_void_p),
        ("name", _Text),
        ("platform", _Text),
        *((stage, ctypes.c_void_p) for stage in ("instantiate", "prepare", "initialize", "execute")),
        ("traits", ctypes.c_uint32),
    ]


def _table():
    get = _tf_options.exported(_TABLE)
    if get is None:
        raise RuntimeError("it exports no table of XLA's functions")
    get.restype = ctypes.POINTER(_Head)
    return get().contents


@functools.cache
def _register():
    table, library = _table(), _library.library()
    if table.major != 0 or table.struct_size < ctypes.sizeof(_Head):
        raise RuntimeError(f"its interface has the version {table.major}.{table.minor}")
    _library.read_environment()
    for name in ("weir_tile", "weir_progress"):
        handler = ctypes.cast(getattr(library, f"{name}_handler"), ctypes.c_void_p)
        given = _Handler(struct_size=ctypes.sizeof(_Handler))
        given.name, given.platform = _Text(name.encode(), len(name)), _Text(b"Host", 4)
        given.instantiate = given.execute = handler
        if table.register(ctypes.byref(given)):
            raise RuntimeError(f"it does not register {name}")
    atexit.register(library.weir_end_kernels)
    if _settings.always_shows_progress():
        _progress.begin()


@functools.cache
def _are_taken():
    try:
        _register()
    except Exception as error:
        warn(f"weir: XLA of tensorflow {tf.__version__} takes no calls: {error}; loops stay XLA's")
        return False
    return True


def with_calls(settings):
    """The settings, without what needs calls from XLA where this TensorFlow can't be given them."""
    if not (settings.get("tile") or settings.get("progress")):
        return settings
    if not _are_taken():
        return settings | {"tile": 0, "progress": False}
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _library.library().weir_interrupts(raises)
    return settings
