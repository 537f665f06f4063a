"""Python environments of what weir is compared with, below build/bench, made when missing."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build/bench"


def paths(name):
    folder = BUILD / name
    return folder, HERE / f"{name}.txt", folder / "bin/python", folder / "stamp"


def made(name):
    """python_of() where that is there already, else None."""
    _, listed, python, stamp = paths(name)
    return python if stamp.exists() and stamp.read_text() == listed.read_text() else None


def python_of(name):
    """The Python of build/bench/NAME, which has what bench/NAME.txt lists."""
    folder, listed, python, stamp = paths(name)
    if not made(name):
        print(f"making {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", listed], check=True)
        stamp.write_text(listed.read_text())
    return python
