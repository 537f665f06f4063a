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


def measured(run):
    """({"seconds", "grown"} of the second run, what it returned); of the first where it is long."""
    for _ in range(2):
        base, begun = reset_peak(), time.perf_counter()
        out = run()
        seconds = time.perf_counter() - begun
        grown = status_bytes("VmHWM") - base
        if seconds > LONG_SECONDS:
            break
    return {"seconds": seconds, "grown": grown}, out
