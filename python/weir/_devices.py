"""Plans for devices that are not here: their own XLA judges where its wheels are installed, weir's
estimate where not.

XLA's compilers for GPUs and TPUs run without a device and without a driver: a card is a text for
them (weir_device_info.target), or a topology. Nothing here runs a program.
"""

import contextlib
import dataclasses
import functools
import importlib.util
import os
import shutil

import jax
from weir import _hook, _jax, _library, _plan, _settings

_SHARE = 0.9  # of a device's memory, for the limit "auto"
_CUDA_PLUGINS = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12")
_COMPILERS = ("nvidia.cuda_nvcc", "nvidia.cu13")  # packages with ptxas


@dataclasses.dataclass(frozen=True)
class Target:
    """What a plan is for, and who judges it."""

    name: str
    platform: str  # as JAX lowers for it
    machine: str | None  # weir's name of it; None: weir does not know this one
    memory_bytes: int | None
    compiler: object  # the jax.Device of a client that compiles for it; None: weir's estimate

    def judge(self):
        if self.compiler is None:
            return "weir's estimate"
        return f"XLA for {self.platform}, jaxlib {jax.lib.__version__}"

    def limit_bytes(self, limit):
        if limit != _settings.AUTO:
            return limit
        if self.memory_bytes is None:
            raise _settings.SettingError(
                f"weir: the limit 'auto': how much memory {self.name} has is not known"
            )
        return int(_SHARE * self.memory_bytes)


def plans(f, args, kwargs, limit, devices):
    """A Plan of f for each of the devices."""
    return _plan.Plans(plan(f, args, kwargs, limit, device) for device in devices)


def plan(f, args, kwargs, limit, device):
    """limit: bytes, AUTO, or None, which is AUTO."""
    target = resolve(device)
    bytes_ = target.limit_bytes(limit or _settings.AUTO)
    traced = (f if hasattr(f, "trace") else jax.jit(f)).trace(*args, **kwargs)
    lowered = traced.lower(lowering_platforms=(target.platform,))
    settings = _settings.of_a_plan(bytes_) | {"platform": target.platform.encode()}
    if target.machine:
        settings["machine"] = target.machine.encode()
    found = _hook.plan_module(lowered.compiler_ir("stablehlo"), target.compiler, settings)
    return found.for_device(target.name, target.memory_bytes, target.judge())


def resolve(device):
    """A name of weir's, a JAX topology, or a jax.Device."""
    if isinstance(device, str):
        return _named(device)
    if hasattr(device, "devices") and not hasattr(device, "device_kind"):
        device = device.devices[0]
    if not hasattr(device, "device_kind"):
        raise _settings.SettingError(f"weir: {device!r} is no device; {_accepted()}")
    known, platform = of_kind(device.device_kind), _hook.platform_of(device)
    memory = known.memory_bytes if known else _own_memory(device)
    name = known.name if known else device.device_kind
    return Target(name, platform, known.name if known else None, memory, device)


def of_kind(kind):
    """weir's numbers of a device that JAX calls so; None: it has none."""
    return next((d for d in _library.devices() if d.kind == kind), None)


def _own_memory(device):
    with contextlib.suppress(Exception):  # compile-only clients have no devices to ask
        return (device.memory_stats() or {}).get("bytes_limit")


def _accepted():
    names = ", ".join(d.name for d in _library.devices())
    return f"a device is one of {names}; a JAX topology or device; or 'auto', JAX's default"


def _named(name):
    known = next((d for d in _library.devices() if d.name == name), None)
    if known is None:
        raise _settings.SettingError(f"weir: {name!r} is no device; {_accepted()}")
    return Target(name, known.platform, name, known.memory_bytes, _compiler(known))


@functools.cache
def _compiler(known):
    """A device of the card's own compiler, where its wheels are installed; else None."""
    makers = {"cuda": _cuda_device, "tpu": _tpu_device}
    if known.platform not in makers or _jax.missing(_jax.FOR_DEVICES):
        return None
    try:
        return makers[known.platform](known.target)
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        _hook.warn(
            f"weir: {known.name}: XLA's compiler for {known.platform} is installed and fails: "
            f"{first}; its plans are by weir's estimate"
        )
        return None


def _has(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def has_compiler(platform):
    """Whether XLA's compiler for "cuda" or "tpu" is installed."""
    if platform == "tpu":
        return _has("libtpu")
    has_assembler = shutil.which("ptxas") or any(map(_has, _COMPILERS))
    return bool(any(map(_has, _CUDA_PLUGINS)) and has_assembler)


def _cuda_device(target):
    if not has_compiler("cuda"):
        return None
    from jax.experimental import topologies

    described = topologies.get_topology_desc(
        platform="cuda", target_config=target, topology="1x1x1"
    )
    return described.devices[0]


def _tpu_device(target):
    if not has_compiler("tpu"):
        return None
    from jax.experimental import topologies

    shape, _, chip = target.partition(" ")
    more = {"chip_config_name": chip} if chip else {}
    with _environment("TPU_SKIP_MDS_QUERY", "1"):  # else it asks the cloud which TPU this is
        return topologies.get_topology_desc(shape, "tpu", **more).devices[0]


@contextlib.contextmanager
def _environment(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
