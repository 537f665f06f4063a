"""The versions of jax that pyproject.toml allows, and Python environments below build/ that have
one of them and weir.
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
    folder = ROOT / "build" / f"jax-{version}"
    python, stamp = folder / "bin/python", folder / "stamp"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
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
    subprocess.run([*pip, f"jax=={version}", "pytest", "scikit-build-core>=0.11"], check=True)
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
    stamp.write_text(wanted)
    return python
