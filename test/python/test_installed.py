"""weir as its wheel puts it into an environment: for any Python, without this folder."""

import importlib.metadata
import pathlib
import subprocess
import sys

import weir

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.executable).parent


def distribution():
    return importlib.metadata.distribution("weir-xla")


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def test_the_wheel_is_for_every_python():
    tags = [
        line.removeprefix("Tag: ")
        for line in distribution().read_text("WHEEL").splitlines()
        if line.startswith("Tag: ")
    ]
    assert len(tags) == 1 and tags[0].startswith("py3-none-manylinux_2_")
    assert distribution().version == weir.__version__


def test_the_package_lies_in_the_environment():
    folder = pathlib.Path(weir.__file__).parent
    assert pathlib.Path(sys.prefix) in folder.parents
    assert folder == pathlib.Path(str(distribution().locate_file("weir")))
    assert (folder / "libweir.so").is_file() and not (folder / "libweir.so").is_symlink()


def test_the_command_runs(tmp_path):
    program = ROOT / "examples/stablehlo/kernel_matvec.mlir"
    done = run(tmp_path, BIN / "weir", "plan", program, "--memory-limit", "10MB")
    assert done.returncode == 0 and "loops:" in done.stdout, done.stderr


def test_the_demo_runs(tmp_path):
    """With a tenth of its points."""
    demo = [ROOT / "examples/demo.py", "--n", "10007", "--limit", "100MB"]
    done = run(tmp_path, sys.executable, *demo)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "weir       plans" in done.stdout and "agreement  1,000 rows" in done.stdout
    assert "Warning" not in done.stderr
