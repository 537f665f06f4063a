"""weir, Python and XLA as on a processor with AVX2 alone, on any x86-64: run by QEMU, which tells
every library, those inside of XLA too, that it is such a processor.

`environment(build)` gives two folders: bin/ of an environment like .venv whose Python runs emulated
and starts emulated processes, and a folder like BUILD whose programs do.
"""

import functools
import shutil
import sys

import emulator
from emulator import ROOT

FOLDER = ROOT / "build/avx2"
# Intel's first with AVX2 and fused multiply-adds, without what QEMU does not emulate.
PROCESSOR = "Haswell,-hle,-rtm,-pcid,-x2apic,-tsc-deadline,-invpcid"
PROGRAMS = ("weir", "tools/weir_roundtrip", "tools/weir_eval", "tools/weir_peak")


def _link(to, target):
    to.unlink(missing_ok=True)
    to.symlink_to(target)


def _python(own, command):
    """An environment with the packages of the one at OWN."""
    place = FOLDER / "python"
    shutil.rmtree(place, ignore_errors=True)
    (place / "bin").mkdir(parents=True)
    shutil.copy(own / "pyvenv.cfg", place)
    for name in ("lib", "include", "share"):
        _link(place / name, own / name)
    for program in (own / "bin").iterdir():
        if program.name.startswith("python"):
            # its own name decides which packages it sees, and what its children are started with
            at = place / "bin" / program.name
            emulator.wrap(program, [*command, "-0", at], at)
        else:
            _link(place / "bin" / program.name, program)
    return place / "bin"


def _programs(build, command):
    place = FOLDER / "build"
    shutil.rmtree(place, ignore_errors=True)
    for program in [*(build / name for name in PROGRAMS), *build.glob("unit/*_test")]:
        emulator.wrap(program, command, place / program.relative_to(build))
    _link(place / "libweir.so", build / "libweir.so")
    return place


@functools.cache
def environment(build):
    """(bin folder, build folder). Raises emulator.Missing."""
    command = [emulator.command("x86_64"), "-cpu", PROCESSOR]
    own = type(ROOT)(sys.prefix)
    return _python(own, command), _programs(build, command)


if __name__ == "__main__":
    print(*environment(ROOT / "build/release"), sep="\n")
