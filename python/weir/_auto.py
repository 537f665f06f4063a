"""The limit "auto": what is free for a program on its device, measured once per process and device,
so that every program of a process is compiled under the same limit.
"""

import pathlib
import threading

from weir import _library

SHARE = 0.9  # of what is free; the rest is for compilation, Python and what others do meanwhile
_found = {}
_measuring = threading.Lock()


def limit_bytes(device):
    """Raises LookupError if the device doesn't tell."""
    with _measuring:
        key = device.platform, device.device_kind, device.id
        if key not in _found:
            _found[key] = int(SHARE * free_bytes(device))
        return _found[key]


def free_bytes(device):
    """Of a CPU: of the machine, or of a control group if less. Of another device: of its pool, or all
    that weir knows it to have. Raises LookupError.
    """
    if device.platform == "cpu":
        return min([_available_bytes(pathlib.Path("/proc/meminfo")), *_cgroup_free()])
    statistics = _statistics(device)
    if "bytes_limit" not in statistics:
        for known in _library.devices():
            if known.kind == device.device_kind:
                return known.memory_bytes
        raise LookupError(f"{device} does not say how much memory it has")
    return statistics["bytes_limit"] - statistics.get("bytes_in_use", 0)


def _statistics(device):
    """{} of a device that is only compiled for."""
    try:
        return device.memory_stats() or {}
    except RuntimeError:  # JaxRuntimeError is one; there may be no jax
        return {}


def _available_bytes(meminfo):
    lines = meminfo.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _cgroup_free(root=pathlib.Path("/sys/fs/cgroup"), own=pathlib.Path("/proc/self/cgroup")):
    """Limit minus usage of the process's control group and all above it that have a limit."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            yield from _climb(root, path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            yield from _climb(
                root / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes"
            )


def _climb(root, path, limit_name, usage_name):
    folder = root / path.lstrip("/")
    for group in (folder, *folder.parents):
        if group != root and root not in group.parents:
            return
        try:
            limit = (group / limit_name).read_text().strip()
            if limit != "max":
                yield int(limit) - int((group / usage_name).read_text())
        except (OSError, ValueError):  # inside a container the path may be the host's
            continue
