"""Python environments of what weir is compared with, below build/bench, made when missing."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build/bench"


def python_of(name):
    """The Python of build/bench/NAME, which has what bench/NAME.txt lists."""
    folder, listed = BUILD / name, HERE / f"{name}.txt"
    python, stamp = folder / "bin/python", folder / "stamp"
    if not stamp.exists() or stamp.read_text() != listed.read_text():
        print(f"making {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", listed], check=True)
        stamp.write_text(listed.read_text())
    return python
