"""tools/device_check.py on the CPU: it must see what it is there to see."""

import json
import pathlib
import subprocess
import sys
import time
import types

import jax
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools/device_check.py"
sys.path.append(str(CHECK.parent))

import device_check  # noqa: E402


def check(*arguments):
    command = [sys.executable, CHECK, "--cpu", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["kernel", "cross_entropy"])  # many results; large arguments
def test_a_piece_holds_its_limit_and_is_right(piece):
    code, table, _ = check("--pieces", piece, "--scale", "0.01")
    head, _, table = table.partition("\n\n")
    assert head.startswith("device    cpu (cpu") and f"jax {jax.__version__}" in head
    row, last = table.splitlines()[2], table.splitlines()[4]
    assert code == 0 and row.startswith(f"| {piece} | ") and row.endswith("| good |")
    assert "not counted → not counted" in row and last == "cpu: 1 good, 0 failed"
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    auto, by_hand = map(float, cells[5].split(", "))
    assert auto > 0 and by_hand > 0 and len(cells[6].split(", ")) == len(device_check.LIBRARIES)


@pytest.mark.slow
def test_results_that_differ_are_found():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--tolerance", "-1")
    assert code == 1 and "0 good, 1 failed" in table
    for way in ("weir", "auto", "hand"):
        assert f"{way}: differs from the CPU by" in table


@pytest.mark.parametrize("name", device_check.PIECES)
def test_split_by_hand_is_the_same(name, monkeypatch):
    """In several blocks, the last of them shorter."""
    monkeypatch.setattr(device_check, "BLOCK_BYTES", 1 << 13)
    arguments = device_check.ARGUMENTS[name](np.random.default_rng(0), 0.0012)
    f = device_check.PIECES[name]
    both = f, device_check.BY_HAND[name]
    expected, found = (jax.tree.leaves(jax.jit(g)(*arguments)) for g in both)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


def test_what_no_library_has():
    cases = [("kernel", "cuDNN", "gpu"), ("attention", "cuDNN", "cpu")]
    cases += [("attention", "KeOps", "gpu"), ("kernel", "torch", "tpu")]
    for name, library, platform in cases:
        assert device_check.by_library(name, None, library, platform) == {"missing": True}


def test_a_refusal_is_a_failure():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--share", "0.000001")
    assert code == 1 and "RESOURCE_EXHAUSTED" in table


BAD = [("--pieces", "kernal"), ("--scale", "0"), ("--share", "1"), ("--minutes", "0")]


@pytest.mark.parametrize("arguments", BAD)
def test_bad_arguments(arguments):
    code, table, message = check(*arguments)
    assert code == 2 and not table and "error:" in message


def test_without_a_device_nothing_is_checked():
    done = subprocess.run(
        [sys.executable, CHECK],
        capture_output=True,
        text=True,
        env=device_check.environment_of("stock", None, is_rehearsal=True),
    )
    assert done.returncode == 2 and not done.stdout and "no GPU or TPU" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", device_check.PIECES)
def test_what_one_process_compiles_another_runs(name, tmp_path):
    """On CPU loops are kernels of weir's, which come along."""
    args = types.SimpleNamespace(scale=0.002, cpu=True, torch=sys.executable)
    processes = device_check.Processes(args, tmp_path)
    stock = processes.run(name, "stock", "compile", 500)
    limit = int(stock["reported"] * 0.98)
    weir = processes.run(name, "weir", "compile", 500, limit)
    assert weir["handed_on"] and 0 < weir["reported"] <= limit
    ran = processes.run(name, "weir", "run", 500, limit)
    assert "reported" not in ran and ran["seconds"] > 0  # nothing was compiled
    reference = processes.run(name, "cpu", "run", 500)
    assert reference["reported"] == stock["reported"]
    assert device_check.difference(*(processes.output(name, way) for way in ("weir", "cpu"))) < 1e-3


@pytest.mark.slow
def test_of_several_devices_the_first_runs_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    args = types.SimpleNamespace(scale=0.002, cpu=True, torch=sys.executable)
    processes = device_check.Processes(args, tmp_path)
    assert processes.run("kernel", "stock", "compile", 500)["handed_on"]
    assert processes.run("kernel", "stock", "run", 500)["seconds"] > 0


# ---- a piece, of processes that only play ----
class Played:
    """Rows by way and stage; what is not given runs well."""

    def __init__(self, folder, **rows):
        self.folder, self.rows, self.limits = folder, rows, {}

    def output(self, name, way):
        return self.folder / f"{way}.npz"

    def run(self, name, way, stage, seconds, limit=None):
        assert seconds > 1
        self.limits[way] = limit
        np.savez(self.output(name, way), np.ones(3))
        made = {"reported": 1000 if way == "stock" else 90, "compiled": 1.0, "handed_on": True}
        ran = {"device": "Played", "peak": 100 if way == "weir" else 1000, "seconds": 1e-3}
        row = {"compile": made, "run": ran, "library": {"missing": True}}[stage]
        more = self.rows.get(f"{way}_{stage}", {})
        return more if "failed" in more else row | more


def played(tmp_path, **rows):
    piece = device_check.Piece("kernel", Played(tmp_path, **rows), 0.1, 1e-3)
    piece.check()
    return piece


FAILED = {"failed": "JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory"}


def test_a_piece_that_is_good(tmp_path):
    piece = played(tmp_path)
    assert not piece.wrong and not piece.notes
    assert piece.processes.limits["weir"] == 100 and piece.processes.limits["auto"] == "auto"
    assert device_check.line(piece.row, piece.wrong).endswith("| 0.0e+00 | good |")


def test_a_peak_above_the_limit_is_found(tmp_path):
    (wrong,) = played(tmp_path, weir_run={"peak": 103}).wrong
    assert wrong == "the measured peak is above the limit"
    assert not played(tmp_path, weir_run={"peak": 102}).wrong


def test_a_peak_that_has_what_compiling_takes_is_no_failure(tmp_path):
    piece = played(tmp_path, weir_run={"peak": 5000}, weir_compile={"handed_on": False})
    assert not piece.wrong and piece.notes == ["the peak has what compiling takes"]


def test_stock_need_not_fit(tmp_path):
    piece = played(tmp_path, stock_run=FAILED)
    assert not piece.wrong and piece.row["limit"] == 100
    assert "stock does not run here" in piece.notes[0]
    assert " | 0.0 → 0.0 | - → 0.0 | - → 1.0 | " in device_check.line(piece.row, piece.wrong)


def test_what_the_cpu_does_not_end_is_compared_with_stock(tmp_path):
    piece = played(tmp_path, cpu_run={"failed": "out of time"})
    assert not piece.wrong and piece.row["against"] == "stock"
    assert piece.notes == ["cpu: out of time"]
    piece = played(tmp_path, cpu_run={"failed": "out of time"}, stock_run=FAILED)
    assert piece.wrong == ["nothing to compare results with"]


def test_a_piece_that_breaks_lets_the_next_one_run(tmp_path):
    """Results of other shapes, which nobody can compare."""
    processes = Played(tmp_path)
    run = processes.run

    def other_shape(name, way, stage, *rest):
        row = run(name, way, stage, *rest)
        np.savez(processes.output(name, way), np.ones(3 if way in ("cpu", "stock") else 4))
        return row

    processes.run = other_shape
    piece = device_check.Piece("kernel", processes, 0.1, 1e-3)
    piece.check()
    (wrong,) = piece.wrong
    assert wrong.startswith("ValueError: ") and wrong in device_check.line(piece.row, piece.wrong)


def test_what_a_process_has_started_ends_with_it():
    """It would hold the output open, for a minute here."""
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    start = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        device_check.run_alone([sys.executable, "-c", child], None, 2)
    assert time.monotonic() - start < 50


def test_ways_that_fail_are_failures(tmp_path):
    piece = played(tmp_path, weir_compile=FAILED, auto_run=FAILED)
    assert piece.wrong == [f"weir: {FAILED['failed']}", f"auto: {FAILED['failed']}"]
    assert device_check.line(piece.row, piece.wrong).count(" | ") == 8


def test_libraries_that_fail_are_notes(tmp_path):
    why = "ModuleNotFoundError: No module named 'torch'"
    piece = played(tmp_path, torch_library={"failed": why})
    assert not piece.wrong and piece.notes == [f"torch: {why}"]


@pytest.mark.parametrize(
    "code, said, errors, expected",
    [
        (0, 'Compiling...\n{"seconds": 1.5}\n[KeOps] cleared\n', "", {"seconds": 1.5}),
        (0, "", "", {"failed": "it has printed no result"}),
        (1, "", "a\nRuntimeError: no cuDNN\n", {"failed": "RuntimeError: no cuDNN"}),
        (-9, "", "", {"failed": "signal 9"}),
    ],
)
def test_what_a_process_says(code, said, errors, expected):
    done = types.SimpleNamespace(returncode=code, stdout=said, stderr=errors)
    assert device_check.row_of(done) == expected


def test_why_there_is_no_device_is_said():
    said = "a\nW jax: An NVIDIA GPU may be present, but a CUDA-enabled jaxlib is not installed.\nb\n"
    assert device_check.told_of_devices(said).startswith("W jax: An NVIDIA GPU may be present")
    assert device_check.told_of_devices("nothing\n") == ""


def test_settings_that_change_what_is_measured_are_left_out(monkeypatch):
    monkeypatch.setenv("WEIR_MEMORY_LIMIT", "1GB")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")
    environment = device_check.environment_of("stock", None)
    assert "WEIR_MEMORY_LIMIT" not in environment
    assert "XLA_PYTHON_CLIENT_ALLOCATOR" not in environment
    assert environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert device_check.environment_of("weir", 100)["WEIR_MEMORY_LIMIT"] == "100"
    assert device_check.environment_of("cpu", None)["JAX_PLATFORMS"] == "cpu"


def test_what_was_measured_is_kept(tmp_path):
    piece = played(tmp_path)
    device_check.save(tmp_path / "rows.json", {"device": "Played"}, [piece])
    kept = json.loads((tmp_path / "rows.json").read_text())
    assert kept["rows"][0]["weir"]["peak"] == 100 and kept["here"] == {"device": "Played"}
