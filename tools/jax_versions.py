"""Python environments below build/ with weir: for the Pythons at hand, for the oldest and the
newest jax that they get, and with the libraries of tools/libraries.txt.
"""

import functools
import hashlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLDEST_PYTHON = tuple(map(int, re.search(r"(\d+)\.(\d+)", PROJECT["requires-python"]).groups()))
MINORS = range(OLDEST_PYTHON[1], OLDEST_PYTHON[1] + 20)
TESTS = ["pytest", "pytest-xdist", "pytest-timeout"]
GPFLOW = ["gpflow>=2.11", "numpy<2", "setuptools<70"]
RUNNING = sys.version_info[:2]


def oldest_jax():
    """Of those that pyproject.toml allows. It names no newest."""
    return re.fullmatch(r"jax>=([\d.]+)", PROJECT["dependencies"][0])[1]


# ---- Pythons ----
def _pyenv_folders():
    """Where pyenv, if there is one, has its Pythons."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    if shutil.which("pyenv"):
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True)
        root = done.stdout.strip() or root
    folders = pathlib.Path(root, "versions").glob("3.*")
    released = [folder for folder in folders if re.fullmatch(r"3\.\d+\.\d+", folder.name)]
    return sorted(released, key=lambda folder: tuple(map(int, folder.name.split("."))))


def _version(python):
    """(3, 12), if that Python runs and can make environments; pyenv's shims may do neither."""
    code = "import sys, venv; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


@functools.cache
def pythons():
    """The Pythons at hand that weir supports by (3, minor), one each: this one, those on the PATH,
    those of pyenv.
    """
    on_path = [shutil.which(f"python3.{minor}") for minor in MINORS]
    of_pyenv = [str(folder / "bin/python") for folder in reversed(_pyenv_folders())]
    found = {RUNNING: sys.executable}
    for python in filter(None, [*on_path, *of_pyenv]):
        version = _version(python)
        if version and version >= OLDEST_PYTHON:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def newest_python():
    """Of those at hand, if it is newer than the oldest that is supported, whose jax ends before the
    newest; else None.
    """
    newest = max(pythons())
    return newest if newest > OLDEST_PYTHON else None


# ---- environments ----
def python_with_oldest_jax():
    return python_with_jax(oldest_jax(), pythons()[min(pythons())])


def python_with_jax(version, base=None):
    """`base`: the Python that makes the environment; None: the first at hand that has that jax."""
    for python in [base] if base else pythons().values():
        try:
            pins = [f"jax=={version}", *TESTS]
            return python_of(f"jax-{version}", python, pins, weir="editable")
        except subprocess.CalledProcessError:
            continue
    raise LookupError(f"no Python at hand has jax {version}")


def python_with_newest_jax(version):
    """Of the environment of Python `version`, (3, 12), with the newest jax that it got when the
    environment was made, and without weir.
    """
    name = f"python-{version[0]}.{version[1]}"
    return python_of(name, pythons()[version], ["jax", *TESTS])


def python_with_libraries(name="libraries"):
    """The Python of build/NAME with what is in tools/NAME.txt, as far as it can be installed."""
    lines = (ROOT / f"tools/{name}.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    return python_of(name, sys.executable, [*pins[:1], *TESTS], pins[1:], "editable")


OLDEST_TENSORFLOW = "2.19.1"


def python_with_tensorflow(version=None):
    """The Python of an environment with TensorFlow, Keras and GPflow and without jax and weir;
    version None: the newest that this Python gets. None: it can't be installed.
    """
    pin = f"tensorflow-cpu=={version}" if version else "tensorflow-cpu"
    name = f"tensorflow-{version}" if version else "tensorflow"
    keras = f"tf_keras=={version.rpartition('.')[0]}.*" if version else "tf_keras"
    try:
        return python_of(name, sys.executable, [pin, *TESTS, *GPFLOW, keras])
    except subprocess.CalledProcessError:
        return None


def python_with_both():
    """The Python of an environment with TensorFlow, jax and weir, the newest that go together; None:
    it can't be made.
    """
    try:
        pins = ["tensorflow-cpu", "jax", *TESTS]
        return python_of("tensorflow-and-jax", sys.executable, pins, weir="editable")
    except subprocess.CalledProcessError:
        return None


def python_with_devices():
    """The Python of build/devices with XLA's compilers for GPUs and TPUs, as far as they can be
    installed, of the jax that this Python has.
    """
    version = importlib.metadata.version("jax")
    cuda = [f"jax-cuda12-plugin=={version}", "nvidia-cuda-nvcc-cu12"]
    pins = [f"jax=={version}", *TESTS]
    return python_of("devices", sys.executable, pins, [*cuda, f"jax[tpu]=={version}"], "editable")


def install(python, *arguments):
    """Raises CalledProcessError. uv links what it has installed before into the next environment;
    pip is asked where uv can't, for pip may have an index of its own.
    """
    uv = [pathlib.Path(sys.executable).with_name("uv"), "pip", "install", "-q", "--python", python]
    if not uv[0].exists() or subprocess.run([*uv, *arguments], capture_output=True).returncode:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
        subprocess.run([*pip, "install", "-q", *arguments], check=True)


def python_of(name, base, required, optional=(), weir=None):
    """The Python of build/NAME, made by the Python `base` if it is not there or what it is made of
    has changed.
    """
    folder = ROOT / "build" / name
    python, stamp = folder / "bin/python", folder / "stamp"
    parts = [(ROOT / "pyproject.toml").read_text(), base, *required, *optional]
    wanted = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"making {folder.relative_to(ROOT)}", flush=True)
    subprocess.run([base, "-m", "venv", "--without-pip", "--clear", folder], check=True)
    if _fill(python, required, optional, weir):
        stamp.write_text(wanted)
    return python


def _fill(python, required, optional, weir):
    """Whether all that is optional could be installed, too."""
    complete = True
    try:
        install(python, *required, *optional)
    except subprocess.CalledProcessError:
        install(python, *required)
        for package in optional:
            complete &= _is_installed(python, *required, package)
    if weir == "editable":
        install_editable(python)
    return complete


def _is_installed(python, *packages):
    try:
        install(python, *packages)
    except subprocess.CalledProcessError:
        return False
    return True


def install_editable(python):
    """weir as it lies in this folder; the Makefile builds its library."""
    install(python, "scikit-build-core>=0.11")
    settings = ["-C", "wheel.cmake=false", "-C", "editable.mode=inplace"]
    install(python, "--no-deps", "--no-build-isolation", *settings, "-e", ROOT)
