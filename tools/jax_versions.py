"""Python environments below build/ with weir: for the versions of jax that pyproject.toml allows,
and with the libraries of tools/libraries.txt.
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def supported_range():
    """(oldest, newest)"""
    requirement = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"][0]
    return re.fullmatch(r"jax>=([\d.]+),<=([\d.]+)", requirement).groups()


def python_with(version):
    """The Python of build/jax-VERSION, made if it is not there or pyproject.toml has changed."""
    return _python_of(f"jax-{version}", [f"jax=={version}"], [])


def python_with_libraries():
    """The Python of build/libraries with what is in tools/libraries.txt, as far as it can be
    installed.
    """
    lines = (ROOT / "tools/libraries.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    return _python_of("libraries", pins[:1], pins[1:])


def _python_of(name, required, optional):
    folder = ROOT / "build" / name
    python, stamp = folder / "bin/python", folder / "stamp"
    pins = [*required, *optional] if optional else []
    text = (ROOT / "pyproject.toml").read_text() + "\n".join(pins)
    wanted = hashlib.sha256(text.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"making {folder.relative_to(ROOT)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", folder], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        python,
        "install",
        "-q",
    ]
    required = [*required, "pytest", "pytest-xdist", "scikit-build-core>=0.11"]
    complete = True
    if subprocess.run([*pip, *required, *optional]).returncode:
        subprocess.run([*pip, *required], check=True)
        for package in optional:
            complete &= subprocess.run([*pip, *required, package]).returncode == 0
    subprocess.run(
        [
            *pip,
            "--no-deps",
            "--no-build-isolation",
            "-C",
            "wheel.cmake=false",
            "-C",
            "editable.mode=inplace",
            "-e",
            ROOT,
        ],
        check=True,
    )
    if complete:
        stamp.write_text(wanted)
    return python
