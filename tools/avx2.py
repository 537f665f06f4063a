"""Runs a command as on a processor with AVX2 and no AVX-512, at full speed.

    python tools/avx2.py .venv/bin/python bench/kernels.py attention_1024

Every library that it loads is told so, those inside of XLA and of what weir is measured beside, too
(avx2.c). Where the processor has no AVX-512 anyway the command runs as it is.
"""

import functools
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build/avx2/avx2.so"


class Missing(Exception):
    """What this computer can't give; says why."""


def _has(flag):
    """Of the processor, as Linux names it."""
    return flag in pathlib.Path("/proc/cpuinfo").read_text().split()


def _compiled(source):
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, "-o", LIBRARY, source, "-ldl"], check=True)
    return LIBRARY


@functools.cache
def environment():
    """Variables to run a program with. Raises Missing."""
    if not _has("avx2"):
        raise Missing("this processor has no AVX2")
    if not _has("avx512f"):
        return {}
    if not _has("cpuid_fault"):
        raise Missing("this processor can't fault on CPUID")
    return {"LD_PRELOAD": str(_compiled(pathlib.Path(__file__).with_suffix(".c")))}


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    try:
        os.execvpe(command[0], command, os.environ | environment())
    except (Missing, OSError) as why:
        sys.exit(f"{command[0]}: {why}")


if __name__ == "__main__":
    main()
