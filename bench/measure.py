"""What a piece of work takes: seconds, and bytes that the process grew by while it ran."""

import ctypes
import gc
import time

LONG_SECONDS = 5.0
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


def once(run):
    """({"seconds", "cpu_seconds", "grown", "peak"}, what it returned); peak: of the process, while
    it ran, in bytes."""
    base, begun, cpu_begun = reset_peak(), time.perf_counter(), time.process_time()
    out = run()
    seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu_begun
    peak = status_bytes("VmHWM")
    found = {"seconds": seconds, "cpu_seconds": cpu_seconds, "grown": peak - base, "peak": peak}
    return found, out


def measured(run):
    """once() of the second run; of the first where it is long."""
    found, out = once(run)
    if found["seconds"] <= LONG_SECONDS:
        found, out = once(run)
    return found, out
