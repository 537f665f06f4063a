"""Every op and program case of the corpus through the reference evaluator, against the golden results of XLA CPU."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/corpus"))
import check  # noqa: E402
from evaluated import LOOSER, REFUSED, loosened  # noqa: E402

TOOL = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release")) / "tools/weir_eval"
CASES = check.cases("op", "program")
PROGRAMS = [(case, program) for case in CASES for program in case.programs()]

def evaluate(program, inputs, folder):
    files = []
    for i, array in enumerate(inputs):
        files.append(folder / f"in{i}.npy")
        np.save(files[-1], array)
    out = folder / "out"
    out.mkdir()
    done = subprocess.run([TOOL, program, *files, out], capture_output=True, text=True, timeout=300)
    return done, [np.load(out / f"{i}.npy") for i in range(len(list(out.iterdir())))]


@pytest.mark.parametrize("case, program", PROGRAMS, ids=[f"{case.name}-{program.name}" for case, program in PROGRAMS])
def test_case(case, program, tmp_path):
    done, results = evaluate(program, case.inputs(), tmp_path)
    if case.name in REFUSED:
        assert done.returncode == 3 and REFUSED[case.name] in done.stderr
        return
    assert done.returncode == 0, done.stderr
    if case.name in LOOSER:
        assert case.check(results) is not None, "passes as it stands: take it off the list"
    assert loosened(case).check(results) is None, case.check(results)


def test_command_line(tmp_path):
    """--function, and bad files and wrong numbers of them as messages."""
    program, number, out = tmp_path / "p.mlir", tmp_path / "x.npy", tmp_path / "out"
    program.write_text("func.func public @main() -> tensor<f32> {\n%r = stablehlo.constant dense<1.0> : tensor<f32>\nreturn %r : tensor<f32>\n}\n"
                       "func.func public @other(%x: tensor<2xf32>) -> tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}\n")
    np.save(number, np.array([1, 2], np.float32))
    out.mkdir()

    def run(*arguments):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
        return done.returncode, done.stderr

    assert run("--function", "other", program, number, out) == (0, "")
    assert np.load(out / "0.npy").tolist() == [1, 2]
    assert run(program, out) == (0, "")
    assert np.load(out / "0.npy") == 1
    assert "1 input files for 0 arguments" in run(program, number, out)[1]
    assert "no function @nobody" in run("--function", "nobody", program, out)[1]
    assert run() == (2, "usage: weir_eval [--function NAME] PROGRAM.mlir IN.npy... OUTDIR\n")
    np.save(number, np.array([1, 2]))
    assert run("--function", "other", program, number, out) == (
        1, f"weir_eval: INVALID_ARGUMENT: {number}: elements '<i8', wanted '<f4' (f32)\n")
    number.write_bytes(b"\x93NUMPY\x01")
    assert "not an .npy file" in run("--function", "other", program, number, out)[1]
    assert "No such file" in run("--function", "other", program, tmp_path / "absent.npy", out)[1]
    program.write_text("func.func @main( {")
    code, message = run(program, out)
    assert code == 1 and "1:" in message
