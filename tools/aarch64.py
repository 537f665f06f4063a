"""weir for 64-bit Arm on a computer of another kind: built by zig's C compiler, run by QEMU.

`build()` gives a folder like a build folder: unit/*_test and tools/weir_eval, which run the programs
for Arm in the emulator. The C library for Arm and its libLLVM are Debian's packages.
"""

import functools
import platform
import subprocess

import emulator
import wheel
from emulator import ROOT, Missing

FOLDER = ROOT / "build/aarch64"
LIBRARY = "libllvm19"  # of Debian 12 and 13


def _compile(tools):
    """All targets, in FOLDER/programs."""
    programs, cmake = FOLDER / "programs", tools / "cmake"
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS_RELEASE": "-O1 -DNDEBUG",  # most of the time is LLVM's
        "CMAKE_C_COMPILER": ";".join(wheel.compiler_for("aarch64", tools)),
        "CMAKE_MAKE_PROGRAM": tools / "ninja",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    if not (programs / "build.ninja").exists():
        subprocess.run([cmake, "-S", ROOT, "-B", programs, "-G", "Ninja", *options], check=True)
    subprocess.run([cmake, "--build", programs, "--", "--quiet"], check=True)
    return programs


@functools.cache
def build():
    """Raises Missing."""
    if platform.machine() == "aarch64":
        raise Missing("this computer is one")
    command = [emulator.command("aarch64"), "-L"]
    with emulator.reasons():
        command.append(emulator.unpacked(FOLDER / "system", "arm64", LIBRARY))
        tools = wheel.environment()
    programs = _compile(tools)
    for program in [*programs.glob("unit/*_test"), programs / "tools/weir_eval"]:
        emulator.wrap(program, command, FOLDER / "emulated" / program.relative_to(programs))
    return FOLDER / "emulated"


if __name__ == "__main__":
    print(build().relative_to(ROOT))
