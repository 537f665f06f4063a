"""Plans for devices that are not here: their own XLA judges where its wheels are installed, weir's
estimate where not.

XLA's compilers for GPUs and TPUs run without a device and without a driver: a card is a text for
them (weir_device_info.target), or a topology. Nothing here runs a program.
"""

import contextlib
import dataclasses
import difflib
import functools
import importlib.util
import math
import os
import shutil

import jax
from weir import _ahead, _auto, _call, _hook, _jax, _library, _plan, _settings

_CUDA_PLUGINS = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12")
_COMPILERS = ("nvidia.cuda_nvcc", "nvidia.cu13")  # packages with ptxas


@dataclasses.dataclass(frozen=True)
class Target:
    """What a plan is for, and who judges it. Of a program over several devices: each of them."""

    name: str
    platform: str  # as JAX lowers for it
    machine: str | None  # weir's name of it; None: weir does not know this one
    memory_bytes: int | None
    devices: object  # of a count: so many jax.Devices of a client that compiles for it; () where
    # weir's estimate judges

    @property
    def compiler(self):
        """One of them, or None."""
        return next(iter(self.devices(1)), None)

    def judge(self):
        """For people."""
        if self.compiler is None:
            return "weir's estimate"
        return f"XLA for {self.platform}, jaxlib {jax.lib.__version__}"

    def limit_bytes(self, limit):
        """limit: bytes or AUTO. Raises SettingError where AUTO can't be told."""
        if limit != _settings.AUTO:
            return limit
        if self.memory_bytes is None:
            raise _settings.SettingError(
                f"weir: the limit 'auto': how much memory {self.name} has is not known"
            )
        return int(_auto.SHARE * self.memory_bytes)


def plans(one, devices):
    """A Plan for each of the devices; one(device=) makes it."""
    return _plan.Plans(map(functools.partial(_for_table, one), devices))


def _for_table(one, device):
    found = one(device=device)
    if found.device:
        return found
    here = jax.devices()[0]  # 'auto'
    return found.for_device(here.device_kind, _own_memory(here), f"XLA for {here.platform}, here")


def plan(f, args, kwargs, limit, device, search_ops=None):
    """limit: bytes, AUTO, or None, which is AUTO."""
    target = resolve(device)
    bytes_ = target.limit_bytes(limit or _settings.AUTO)
    lowered = _lowered(f, args, kwargs, target.platform)
    settings = _settings.of_a_plan(bytes_, search_ops) | {"platform": target.platform.encode()}
    if target.machine:
        settings["machine"] = target.machine.encode()
    module = lowered.compiler_ir("stablehlo")
    count = math.prod(_ahead.devices_of(module))
    found = _ahead.plan_module(module, target.devices(count), settings)
    name = target.name if count == 1 else f"{count} x {target.name}"
    return found.for_device(name, target.memory_bytes, target.judge())


def _lowered(f, args, kwargs, platform):
    if not callable(f) or isinstance(f, (jax.stages.Traced, jax.stages.Lowered)):
        raise TypeError(f"weir.plan: a function and its arguments are wanted, not {f!r}")
    traced = (f if hasattr(f, "trace") else jax.jit(f)).trace(*args, **kwargs)
    try:
        return traced.lower(lowering_platforms=(platform,))
    except ValueError as error:  # such as callbacks into Python: of the device that is here
        raise ValueError(f"weir.plan: JAX does not lower this for {platform}: {error}") from error


def resolve(device):
    """A name of weir's, a JAX topology, or a jax.Device."""
    if isinstance(device, str):
        return _named(device)
    devices = _all_of(device)
    if not hasattr(device, "device_kind"):
        device = devices[0] if devices else device
    if not hasattr(device, "device_kind"):
        raise _settings.SettingError(f"weir: {device!r} is no device; {_accepted()}")
    known, platform = of_kind(device.device_kind), _call.platform_of(device)
    memory = known.memory_bytes if known else _own_memory(device)
    name = known.name if known else device.device_kind
    first = functools.partial(_first_of, devices, name)
    return Target(name, platform, known.name if known else None, memory, first)


def _all_of(device):
    """The devices of a topology; a jax.Device and its client's others of the kind."""
    if not hasattr(device, "device_kind"):
        return list(getattr(device, "devices", ()))
    others = [d for d in device.client.devices() if d != device]
    return [device, *(d for d in others if d.device_kind == device.device_kind)]


def _first_of(devices, name, count):
    if count > len(devices):
        raise _settings.SettingError(
            f"weir: the program is over {count} devices; of {name} there are {len(devices)}"
        )
    return tuple(devices[:count])


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
    known = next((d for d in _library.devices() if d.name == name.lower()), None)
    if known is None:
        raise _settings.SettingError(f"weir: {name!r} is no device{_meant(name)}; {_accepted()}")
    ahead = functools.partial(_compilers, known)
    return Target(known.name, known.platform, known.name, known.memory_bytes, ahead)


def _meant(name):
    """Of several, of cards of one name, of a platform, of a word like it; or nothing."""
    names, name = [d.name for d in _library.devices()], name.lower()
    if "," in name:
        return f" (several are a list: {[word.strip() for word in name.split(',')]})"
    platform = {"gpu": "cuda"}.get(name, name)
    of_platform = [d.name for d in _library.devices() if d.platform == platform]
    begin = [known for known in names if name and known.startswith(name)]
    meant = begin or of_platform[:1] or difflib.get_close_matches(name, names, 1)
    return f" ({' or '.join(meant)}?)" if meant else ""


@functools.cache
def _compilers(known, count):
    """Devices of the card's own compiler, where its wheels are installed; else ()."""
    makers = {"cuda": _cuda_devices, "tpu": _tpu_devices}
    if known.platform not in makers or _jax.missing(_jax.FOR_DEVICES):
        return ()
    try:
        return tuple(makers[known.platform](known.target, count))
    except Exception as error:
        _hook.warn(
            f"weir: {known.name}: XLA's compiler for {known.platform} is installed and fails: "
            f"{_reason(error)}; its plans are by weir's estimate"
        )
        return ()


# libtpu lets one process of a machine in, with or without a TPU, until this variable is set.
LETS_OTHERS_IN = "ALLOW_MULTIPLE_LIBTPU_LOAD"


def _reason(error):
    """Why there is no compiler, and what to do about it where that is known."""
    if "libtpu_lockfile" in str(error):
        return (
            "libtpu is in use by another process, which locks all others out; plan once that has "
            f"ended, or set {LETS_OTHERS_IN}=1 where nothing runs on a TPU"
        )
    return (str(error).splitlines() or [type(error).__name__])[0]


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


def _cuda_devices(target, count):
    if not has_compiler("cuda"):
        return ()
    from jax.experimental import topologies

    described = topologies.get_topology_desc(
        platform="cuda", target_config=target, topology=f"1x1x{count}"
    )
    return described.devices


def _tpu_devices(target, count):
    if not has_compiler("tpu"):
        return ()
    from jax.experimental import topologies

    shape, _, chip = target.partition(" ")
    more = {"chip_config_name": chip} if chip else {}
    with _environment("TPU_SKIP_MDS_QUERY", "1"):  # else it asks the cloud which TPU this is
        described = topologies.get_topology_desc(_enlarged(shape, count), "tpu", **more)
    return described.devices[:count]


def _enlarged(shape, count):
    """v5e:2x2 for 8 chips: v5e:2x4. TPUs come in such sizes."""
    name, _, sizes = shape.partition(":")
    sizes = [int(size) for size in sizes.split("x")]
    while math.prod(sizes) < count:
        least = min(reversed(range(len(sizes))), key=sizes.__getitem__)
        sizes[least] *= 2
    return f"{name}:{'x'.join(map(str, sizes))}"


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
