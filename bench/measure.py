"""What a piece of work takes: seconds, and bytes that the process grew by while it ran."""

import ctypes
import gc
import statistics
import time

LONG_SECONDS = 5.0
SHORT_SECONDS, MOST_RUNS = 0.5, 25  # a run of some ms alone is mostly memory that is touched first
# Stock XLA with a report that says all: its YNN fusions take scratch that no report shows.
HONEST = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def status_bytes(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise KeyError(field)


def reset_peak():
    """Returns resident bytes now; the high-water mark starts from here."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    return status_bytes("VmRSS")


def timed(run):
    """(seconds, CPU seconds, what it returned)."""
    begun, cpu_begun = time.perf_counter(), time.process_time()
    out = run()
    return time.perf_counter() - begun, time.process_time() - cpu_begun, out


def least_cpu(run, times=3):
    """(the least CPU seconds of so many runs, what the last one returned)."""
    runs = [timed(run) for _ in range(times)]
    return min(cpu for _, cpu, _ in runs), runs[-1][2]


def compiled(function, arguments, options=None):
    """(the program, CPU seconds that it took to compile)."""
    import jax

    _, cpu_seconds, program = timed(
        lambda: jax.jit(function).lower(*arguments).compile(compiler_options=options)
    )
    return program, cpu_seconds


def once(run):
    """({"seconds", "cpu_seconds", "grown", "peak"}, what it returned); peak: of the process, while
    it ran, in bytes."""
    base = reset_peak()
    seconds, cpu_seconds, out = timed(run)
    peak = status_bytes("VmHWM")
    found = {"seconds": seconds, "cpu_seconds": cpu_seconds, "grown": peak - base, "peak": peak}
    return found, out


def typical(run, seconds):
    """{"seconds", "cpu_seconds"}: medians of as many runs as SHORT_SECONDS have room for."""
    runs = [timed(run)[:2] for _ in range(int(min(SHORT_SECONDS / max(seconds, 1e-6), MOST_RUNS)))]
    columns = zip(*runs)
    return dict(zip(("seconds", "cpu_seconds"), map(statistics.median, columns)))


def measured(run):
    """once() of the second run; of the first where it is long. Where it is short the times are those
    of a typical() run, with its memory at hand.
    """
    found, out = once(run)
    if found["seconds"] <= LONG_SECONDS:
        found, out = once(run)
    return found | typical(run, found["seconds"]), out
