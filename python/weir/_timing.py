"""Which of two ways to run a program is faster: both are run in turn, on made-up arguments, while it
compiles (weir_timer). docs/design/timed.md.
"""

import dataclasses
import math
import os
import threading
import time

import jax
import jaxlib
import numpy as np
from weir import _auto, _jax
from weir._library import NeverTimed

_SECONDS = 0.2  # of all runs but the first with kernels, which compiles them
_BUSY = 8  # times as long by the clock as by CPU, at most
_TURN = 0.02  # of one way, seconds; CPU time of threads is known to some milliseconds
_PERIOD = 65537  # of made-up numbers: a prime, so that rows of arrays differ
_clock, _cpu_clock = time.perf_counter, time.process_time
_alone = threading.Lock()  # threads that compile wait for each other: they would time each other


class CannotTime(Exception):
    """And so the prediction stands."""


def timed_by(compile_options, backend):
    """Of what compiles and runs, all that a choice may depend on beside the program and weir."""
    overrides = sorted(map(str, compile_options.env_option_overrides))
    flags = os.environ.get("XLA_FLAGS", ""), os.environ.get("WEIR_NUM_THREADS", "")
    quick = getattr(jax.config, "jax_disable_most_optimizations", False)
    versions = jax.__version__, jaxlib.__version__, backend.platform_version
    return repr((versions, flags, overrides, quick))


# ---- arguments ----
_DONATED = {"tf.aliasing_output", "jax.buffer_donor"}
# What else may be said of an argument: those that XLA would lay out, or put, in a way of their own
# are not made up.
_HARMLESS = {"jax.result_info", "mhlo.sharding"}


@dataclasses.dataclass(frozen=True)
class Argument:
    """Of a program, to be made up."""

    shape: tuple
    dtype: np.dtype
    is_donated: bool

    @property
    def nbytes(self):
        return math.prod(self.shape) * self.dtype.itemsize


def arguments_of(main):
    """Those of a func.func of MLIR."""
    count = len(main.arguments)
    said = main.attributes["arg_attrs"] if "arg_attrs" in main.attributes else [()] * count
    return [_argument(one.type, {s.name for s in names}) for one, names in zip(main.arguments, said)]


def _argument(kind, names):
    if unknown := names - _DONATED - _HARMLESS:
        raise NeverTimed(f"an argument has {min(unknown)}")
    tensor = _jax.ir.RankedTensorType(kind)
    dtype = _dtype_of(str(tensor.element_type))
    return Argument(tuple(tensor.shape), dtype, bool(names & _DONATED))


def _dtype_of(name):
    names = {"i1": "bool", "complex<f32>": "complex64", "complex<f64>": "complex128"}
    letters = {"bf": "bfloat", "f": "float", "ui": "uint", "i": "int"}
    letter = name.rstrip("0123456789")
    name = names.get(name) or letters.get(letter, "?") + name[len(letter) :]
    try:
        return jax.numpy.dtype(name)
    except TypeError:
        raise NeverTimed(f"an argument of {name}") from None


def made_up(shape, dtype):
    """Numbers from 0.5 to 1.5, integers from 0 to 250: no NaN, nothing that is slow for what it is."""
    spread = np.arange(_PERIOD) * 0.6180339887498949 % 1.0
    if dtype.kind in "iu":
        base = (spread * min(250, np.iinfo(dtype).max)).astype(dtype)
    elif dtype.kind == "b":
        base = spread < 0.5
    else:
        base = (spread + 0.5).astype(dtype)
    return np.resize(base, shape)


class Arguments:
    """Made up on a device, but for those that are lent (by index); anew for the next run where a run
    has taken them.
    """

    def __init__(self, wanted, device, lent):
        self._wanted, self._device = wanted, device
        self._ready = [lent.get(i) for i in range(len(wanted))]

    def ready(self):
        """Arrays for the next run. Raises CannotTime."""
        for i, one in enumerate(self._wanted):
            if self._ready[i] is None or self._ready[i].is_deleted():
                self._ready[i] = self._put(made_up(one.shape, one.dtype))
        return list(self._ready)

    def _put(self, array):
        with jax.ensure_compile_time_eval():
            put = jax.block_until_ready(jax.device_put(array, self._device))
        if put.dtype != array.dtype or put.shape != array.shape:
            raise CannotTime(f"{array.dtype} can't be made here")
        return put


# ---- memory ----
def arguments_within(wanted, needed_bytes, limit_bytes, device):
    """Arguments for runs that need so many bytes, these included. What is free has room for them; and
    the limit (0: none) has beside all that the process holds in arrays: where not for arguments once
    more, arrays that look like them are lent. Raises where there is no room.
    """
    copied = max((one.nbytes for one in wanted), default=0)  # to the device, while it is made
    if needed_bytes + copied > _auto.free_bytes(device):
        raise CannotTime("too little memory is free")
    arrays = jax.live_arrays(device.platform)
    over = sum(array.nbytes for array in arrays) + needed_bytes - limit_bytes
    lent = _lent(wanted, arrays, device) if 0 < limit_bytes and over > 0 else {}
    if 0 < limit_bytes and over > sum(wanted[i].nbytes for i in lent):
        raise NeverTimed("arguments beside those of the program would be over the limit")
    return Arguments(wanted, device, lent)


def _lent(wanted, arrays, device):
    here = [array for array in arrays if array.devices() == {device}]
    known = {(array.shape, array.dtype): array for array in here}
    found = {i: known.get((one.shape, one.dtype)) for i, one in enumerate(wanted)}
    return {i: a for i, a in found.items() if a is not None and not wanted[i].is_donated}


# ---- runs ----
def seconds_of(executable, arguments, calls=1):
    """(the least by the clock, of all threads in the mean) of so many calls. Donated arguments are
    good for one.
    """
    walls, cpu = [], 0.0
    for _ in range(calls):
        given = arguments.ready()
        begun, cpu_begun = _clock(), _cpu_clock()
        results = executable.execute(given)
        for result in results:
            result.block_until_ready()
        walls.append(_clock() - begun)
        cpu += _cpu_clock() - cpu_begun
        for result in results:
            result.delete()
    return min(walls), cpu / calls


def race(executables, arguments, is_interrupted):
    """[(ns, CPU ns) of a run of each]: the least by the clock, all turns' CPU time."""
    with _alone:
        firsts = [seconds_of(executable, arguments) for executable in executables]
        return _in_turn(executables, arguments, firsts, is_interrupted)


def _spent(wall, cpu):
    """Of the time that there is. Others who use the processors make a run longer by the clock alone,
    which counts only where it is far more.
    """
    return min(wall, max(cpu, wall / _BUSY))


def _in_turn(executables, arguments, firsts, is_interrupted):
    """firsts: of a run of each, which finds nothing in the caches. The last one's counts where it
    took all the time that there is. The other's has compiled kernels; it counts where it is less
    none the less.
    """
    turns, calls = [[] for _ in executables], [1] * len(executables)
    left = _SECONDS - _spent(*firsts[-1])
    if left <= 0:
        turns[-1].append((*firsts[-1], 1))
        if all(kernels < xla for kernels, xla in zip(*firsts)):
            turns[0].append((*firsts[0], 1))
    while left > 0 or not all(turns):
        for i, executable in enumerate(executables):
            if is_interrupted():
                raise CannotTime("interrupted")
            if left <= 0 and turns[i]:
                continue
            wall, cpu = seconds_of(executable, arguments, calls[i])
            turns[i].append((wall, cpu, calls[i]))
            left -= _spent(wall, cpu) * calls[i]
            calls[i] = max(1, int(_TURN / max(wall, 1e-6)))
    return [_took(of_one) for of_one in turns]


def _took(turns):
    runs = sum(calls for _, _, calls in turns)
    cpu = sum(cpu * calls for _, cpu, calls in turns) / runs
    return max(1, round(min(wall for wall, _, _ in turns) * 1e9)), round(cpu * 1e9)
