"""`weir doctor`: what weir finds on this computer, what of it is doubtful, and what to do about it.

Each check is a function that returns Findings; one that raises is a finding, too.
"""

import dataclasses
import importlib.util
import json
import os
import pathlib
import platform
import sys
import warnings

OK, DOUBTFUL, BROKEN = "ok", "doubtful", "broken"
_USAGE = "usage: weir doctor [--json]"
_HELP = f"""{_USAGE}

What weir finds here: versions, XLA, libLLVM, processor, devices, caches and settings, with a line
of advice for whatever is doubtful; then a program that runs under a limit. Exit code 1 if weir can't
work here. --json: the same for programs."""


@dataclasses.dataclass(frozen=True)
class Finding:
    name: str
    value: str
    state: str = OK
    advice: str = ""


def _weir():
    from weir import _library

    path = os.environ.get("WEIR_LIBRARY") or pathlib.Path(__file__).with_name("libweir.so")
    yield Finding("weir", f"{_library.version()}, {os.path.realpath(path)}")


def _python():
    yield Finding("python", f"{platform.python_version()}, {sys.executable}")
    yield Finding("system", f"{platform.platform()}, {' '.join(platform.libc_ver())}".rstrip(", "))


def _has(package):
    return importlib.util.find_spec(package) is not None


def _jax():
    if not _has("jax"):
        may_do_without = _has("tensorflow")
        advice = "" if may_do_without else "pip install jax: there is no tensorflow to work in, either"
        yield Finding("jax", "not installed", OK if may_do_without else BROKEN, advice)
        return
    import jax
    import jaxlib
    from weir import _hook, _jax

    lacks = _jax.missing(_jax.FOR_THE_HOOK) or _jax.missing(_jax.FOR_A_LIMIT)
    advice = f"it lacks {lacks}: {_jax.remedy()} (docs/compatibility.md)" if lacks else ""
    versions = f"{jax.__version__}, jaxlib {jaxlib.__version__}"
    yield Finding("jax", versions, BROKEN if lacks else OK, advice)
    is_in = hasattr(_jax.compiler.compile_or_get_cached, "_weir_original") or _hook.install() is None
    yield Finding("hook", "in place" if is_in else "missing", OK if is_in else BROKEN)


def _devices():
    import jax

    for device in jax.devices():
        yield Finding(f"device {device.id}", f"{device.platform}, {device.device_kind}")
    version = " ".join(jax.devices()[0].client.platform_version.split())
    yield Finding("XLA", f"jaxlib's, for {version}")


def _plans_elsewhere():
    from weir import _devices

    for platform, devices in (("cuda", "NVIDIA's GPUs"), ("tpu", "TPUs")):
        by_xla = _devices.has_compiler(platform)
        judge = "XLA's compiler" if by_xla else "weir's estimate"
        more = "" if by_xla else f"; pip install weir-xla[{platform}] brings XLA's compiler"
        yield Finding(f"plans for {platform}", f"of {devices}, by {judge}{more}")


def _memory():
    import jax
    from weir import _auto, _plan

    try:
        limit = _auto.limit_bytes(jax.devices()[0])
        yield Finding("limit auto", f"would be {_plan.readable(limit)} now")
    except LookupError as error:
        yield Finding("limit auto", str(error), DOUBTFUL, "set WEIR_MEMORY_LIMIT in bytes")


def _processor():
    from weir import _library

    named = os.environ.get("WEIR_MACHINE")
    text = _library.describe_machine(named.encode() if named else None)
    lines = [line for line in text.splitlines() if line]
    yield Finding("processor", "; ".join(" ".join(line.split()) for line in lines))


def _caches():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("WEIR_CACHE_DIR", os.path.join(home, "weir"))
    if folder in ("", "off"):
        advice = "kernels are compiled anew in each process: unset WEIR_CACHE_DIR to keep them"
        yield Finding("kernel cache", "off", DOUBTFUL, advice)
        return
    sizes = [path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    yield Finding("kernel cache", f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")
    theirs = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    yield Finding("jax's cache", theirs or "off (JAX_COMPILATION_CACHE_DIR)")


def _settings():
    from weir import _settings

    told = [name for name in sorted(os.environ) if name.startswith(("WEIR_", "WIER_"))]
    for name in [*told, *(n for n in ("XLA_FLAGS", "JAX_PLATFORMS") if n in os.environ)]:
        yield Finding(f"setting {name}", os.environ[name])
    if not told:
        yield Finding("settings", "none: programs run as they came, but inside of weir.limit()")
    for doubt in _settings.doubts():
        yield Finding("setting", doubt.removeprefix("weir: "), DOUBTFUL, "see docs/settings.md")
    try:
        _settings.active()
    except _settings.SettingError as error:
        text = str(error).removeprefix("weir: ")
        yield Finding("setting", text, BROKEN, "correct it: every compilation fails as it is")


def _self_check():
    """A matrix of 16 MB under a limit of 4 MB, against NumPy."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import weir

    x = np.linspace(0, 1, 2048, dtype=np.float32)
    f = jax.jit(lambda x: jnp.exp(-jnp.abs(x[:, None] - x[None])) @ x)
    with warnings.catch_warnings(record=True) as told, weir.limit("4MB"):
        warnings.simplefilter("always")
        plan, y = weir.plan(f, x), np.asarray(f(x))
    right = np.exp(-np.abs(x[:, None] - x[None]), dtype=np.float64) @ x.astype(np.float64)
    error = float(np.max(np.abs(y - right) / right))
    holds = plan.outcome == "rewritten" and error < 1e-3
    advice = "" if holds else "; ".join(str(w.message) for w in told) or "report this as an issue"
    text = f"{plan.line()}; largest relative difference {error:.1e}"
    yield Finding("a program under 4 MB", text, OK if holds else BROKEN, advice)
    yield _llvm(plan, jax.default_backend())


def _llvm(plan, backend):
    """Which library made the kernels of a program that ran."""
    maps = pathlib.Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    paths = sorted({line.split(maxsplit=5)[-1] for line in lines if "libLLVM" in line})
    if plan.kernels or backend != "cpu":
        return Finding("libLLVM", ", ".join(paths) or "not used on this device")
    if os.environ.get("WEIR_TILE") == "off":
        return Finding("libLLVM", "not used: WEIR_TILE=off")
    advice = "loops are XLA's, which are slower: apt-get install libllvm19, or set WEIR_LLVM"
    return Finding("libLLVM", ", ".join(paths) or "none found", DOUBTFUL, advice)


_OF_JAX = (_devices, _plans_elsewhere, _memory, _self_check)
_CHECKS = (_weir, _python, _jax, *_OF_JAX, _processor, _caches, _settings)


def findings():
    """Those of one check after the other. What asks jax is left out where there is none."""
    for check in _CHECKS:
        if check in _OF_JAX and not _has("jax"):
            continue
        try:
            yield from check()
        except Exception as error:
            name = check.__name__.strip("_").replace("_", " ")
            text = f"{type(error).__name__}: {error}"
            yield Finding(name, text, BROKEN, "this check failed: name it in an issue")


def _text(found):
    marks = {OK: "  ", DOUBTFUL: "? ", BROKEN: "! "}
    width = max(len(f.name) for f in found)
    for f in found:
        yield f"{marks[f.state]}{f.name:{width}}  {f.value}"
        if f.advice:
            yield f"  {'':{width}}  -> {f.advice}"
    counts = {state: sum(f.state == state for f in found) for state in (DOUBTFUL, BROKEN)}
    yield f"\n{counts[BROKEN]} broken (!), {counts[DOUBTFUL]} doubtful (?)"


def main(words):
    if words in (["--help"], ["-h"]):
        print(_HELP)
        return 0
    if words not in ([], ["--json"]):
        print(_USAGE, file=sys.stderr)
        return 2
    found = list(findings())
    if words:
        print(json.dumps([dataclasses.asdict(f) for f in found], indent=1))
    else:
        print("\n".join(_text(found)))
    return int(any(f.state == BROKEN for f in found))
