"""weir for 64-bit Arm on a computer of another kind: built by zig's C compiler, run by QEMU.

`build()` gives a folder like a build folder: unit/*_test and tools/weir_eval, which run the programs
for Arm in the emulator. The emulator, the C library for Arm and its libLLVM are Debian's packages,
unpacked below build/ and not installed: nobody has to be root.
"""

import functools
import pathlib
import platform
import shlex
import shutil
import subprocess

import jax_versions
import wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/aarch64"
LIBRARY = "libllvm19"  # of Debian 12 and 13
EMULATOR = "qemu-user-static"  # needs no library


class Missing(Exception):
    """What this computer can't give; says why."""


# ---- Debian's packages ----
def _apt(folder, architecture, *arguments, status="/dev/null"):
    """apt-get with its own lists, for one architecture, as if what STATUS says were installed."""
    for place in ("state/lists/partial", "cache/archives/partial"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": status,
        "Dir::Cache": folder / "cache",
        "APT::Architecture": architecture,
        "APT::Architectures::": architecture,
        "APT::Sandbox::User": "",
    }
    options = [f"-o{name}={value}" for name, value in settings.items()]
    subprocess.run(["apt-get", "-qq", *options, *arguments], check=True, stdout=subprocess.DEVNULL)


def _unpacked(name, architecture, package, files=(), **settings):
    """The folder build/aarch64/NAME with PACKAGE and what it depends on; of all that FILES, if any."""
    folder, apt = FOLDER / name, FOLDER / "apt" / architecture
    if folder.exists():
        return folder
    _apt(apt, architecture, "update", **settings)
    wanted = ["--download-only", "--no-install-recommends", "-y", "install", package]
    _apt(apt, architecture, *wanted, **settings)
    partial = FOLDER / f"{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for archive in sorted((apt / "cache/archives").glob("*.deb")):
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", partial, *files], check=True, input=content.stdout)
    shutil.rmtree(apt)
    return partial.rename(folder)


def _emulator():
    """The command that runs a program for Arm."""
    own = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True)
    command = "./usr/bin/qemu-aarch64-static"
    own = own.stdout.strip()
    emulator = _unpacked("emulator", own, EMULATOR, [command], status="/var/lib/dpkg/status")
    return [emulator / command, "-L", _unpacked("system", "arm64", LIBRARY)]


# ---- programs ----
def _compile(tools):
    """All targets, in FOLDER/programs."""
    programs, cmake = FOLDER / "programs", tools / "cmake"
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_COMPILER": ";".join(wheel.compiler_for("aarch64", tools)),
        "CMAKE_MAKE_PROGRAM": tools / "ninja",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    if not (programs / "build.ninja").exists():
        subprocess.run([cmake, "-S", ROOT, "-B", programs, "-G", "Ninja", *options], check=True)
    subprocess.run([cmake, "--build", programs, "--", "--quiet"], check=True)
    return programs


def _wrap(program, command, to):
    """TO runs PROGRAM by COMMAND, as if it were for this computer."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, [*command, program]))} "$@"\n')
    to.chmod(0o755)


@functools.cache
def build():
    """Raises Missing."""
    if platform.machine() == "aarch64":
        raise Missing("this computer is one")
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing("the emulator comes as Debian's package")
    try:
        command = _emulator()
        tools = wheel.environment()
    except (subprocess.CalledProcessError, OSError) as error:
        raise Missing(f"its packages can't be had: {error}") from error
    programs = _compile(tools)
    for program in [*programs.glob("unit/*_test"), programs / "tools/weir_eval"]:
        _wrap(program, command, FOLDER / "emulated" / program.relative_to(programs))
    return FOLDER / "emulated"


if __name__ == "__main__":
    print(build().relative_to(ROOT))
