"""Options of TensorFlow's XLA, which takes them of the process only: from XLA_FLAGS, once, before it
first compiles.

They are not for other XLAs of the process, jax's say: these compile without a limit as ever, and end
the process where they don't know an option. So XLA_FLAGS has them only while TensorFlow's reads it.
"""

import ctypes
import os
import platform
import threading

import tensorflow as tf

_VARIABLE = "XLA_FLAGS"
_DISABLE = "--xla_disable_hlo_passes="
# XLA keeps what it moves out of a loop: slices of all trips at once, say.
_HOISTING = "while-loop-invariant-code-motion"
# One thing after the other: what could run at the same time would be there at the same time.
_SCHEDULER = "xla_cpu_enable_concurrency_optimized_scheduler"
_PARSE = "_ZN3xla28ParseDebugOptionFlagsFromEnvEb"
_GET = "_ZN3xla24GetDebugOptionsFromFlagsEv"
_MOST_BYTES = 1 << 16  # of an xla::DebugOptions; it has less than 4 kB
# Where both have something, as in 2.19, the second's is never used.
_LIBRARIES = ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2")
_taking = threading.Lock()
is_taken = False


def exported(symbol):
    """What TensorFlow's libraries have of that name; None: nothing."""
    for name in _LIBRARIES:
        library = ctypes.CDLL(os.path.join(os.path.dirname(tf.__file__), name))
        if found := getattr(library, symbol, None):
            return found
    return None


def _has(name):
    """XLA ends the process where it does not know a switch."""
    setter = f"set_{name}"
    return exported(f"_ZN3xla12DebugOptions{len(setter)}{setter}Eb") is not None


def with_ours(flags):
    """The value of XLA_FLAGS with weir's options; what it says of them stays."""
    words = flags.split()
    disabled = [word for word in words if word.startswith(_DISABLE)]
    others = [word for word in words if word not in disabled]
    if not any(_HOISTING in word for word in disabled):
        disabled = [f"{disabled[-1]},{_HOISTING}" if disabled else _DISABLE + _HOISTING]
    if _has(_SCHEDULER) and not any(_SCHEDULER in word for word in words):
        others.append(f"--{_SCHEDULER}=false")
    return " ".join([*others, *disabled])


def _reader():
    """Has TensorFlow's XLA read XLA_FLAGS; None: nothing of it can be called for that."""
    if parse := exported(_PARSE):
        parse.argtypes, parse.restype = [ctypes.c_bool], None
        return lambda: parse(False)
    get = exported(_GET)
    if get is None or platform.machine() != "x86_64":  # where the result goes is an argument
        return None
    get.argtypes, get.restype = [ctypes.c_void_p], ctypes.c_void_p
    return lambda: get(ctypes.create_string_buffer(_MOST_BYTES))


def prepare():
    """The variable exists from now on: threads that read the environment meanwhile don't mind if
    it is set anew.
    """
    os.environ.setdefault(_VARIABLE, "")


def take():
    """Before the first use of TensorFlow's XLA, which then looks at XLA_FLAGS anyway."""
    global is_taken
    with _taking:
        if is_taken:
            return
        given, read = os.environ.get(_VARIABLE, ""), _reader()
        os.environ[_VARIABLE] = with_ours(given)
        if read is not None:
            read()
            os.environ[_VARIABLE] = given
        is_taken = True
