"""The passes on every program of the corpus: what the reference evaluator makes of a program stays the same to the bit, with the
passes that change roundings it stays within the program's tolerance; and the verifier judges mangled programs as stock MLIR (jaxlib's bindings) does."""
import os
import pathlib
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/corpus"))
import check  # noqa: E402
import passes  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release"))
CASES = {case.name: case for case in check.cases("op", "program")}
EXACT = [row for row in passes.passes() if row.exact and row.use == "ALWAYS"]
PASSES = ",".join(row.name for row in EXACT)
ALL_PASSES = PASSES + ",diagonal,distance,chain"  # these round otherwise
REFUSED = {"cc_lapack_geev"}  # no reference evaluator


def opt(program, *arguments):
    return subprocess.run([BUILD / "weir", "opt", program, *arguments], capture_output=True, text=True)


def evaluate(program, files, folder):
    folder.mkdir()
    done = subprocess.run([BUILD / "tools/weir_eval", program, *files, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / f"{i}.npy") for i in range(len(list(folder.iterdir())))]


def input_files(name, folder):
    files = []
    for i, array in enumerate(CASES[name].inputs()):
        files.append(folder / f"in{i}.npy")
        np.save(files[-1], array)
    return files


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_same_results(name, tmp_path):
    original, rewritten = CASES[name].programs()[0], tmp_path / "rewritten.mlir"
    done = opt(original, f"--pass={PASSES}", "-o", rewritten)
    assert done.returncode == 0, done.stderr
    files = input_files(name, tmp_path)
    wanted = evaluate(original, files, tmp_path / "wanted")
    got = evaluate(rewritten, files, tmp_path / "got")
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted):
        assert g.dtype == w.dtype and g.shape == w.shape and g.tobytes() == w.tobytes()


SQUARES = """
func.func @main(%x: tensor<40000xf64>) -> tensor<40000xf64> {
  %two = stablehlo.constant dense<2.0> : tensor<40000xf64>
  %y = stablehlo.power %x, %two : tensor<40000xf64>
  return %y : tensor<40000xf64>
}
"""


def test_a_square_is_rounded_once(tmp_path):
    """As a power it is the product that simplify makes of it: libm's pow rounds one in a thousand
    otherwise."""
    (tmp_path / "program.mlir").write_text(SQUARES)
    x = np.random.default_rng(0).random(40000)
    np.save(tmp_path / "x.npy", x)
    (y,) = evaluate(tmp_path / "program.mlir", [tmp_path / "x.npy"], tmp_path / "out")
    assert y.tobytes() == (x * x).tobytes()


def test_results_within_tolerance(tmp_path):
    """Also with the passes that round otherwise, where they find anything to do."""
    changed = []
    for name in [name for name in CASES if name not in REFUSED]:
        original, folder = CASES[name].programs()[0], tmp_path / name
        folder.mkdir()
        texts = [opt(original, f"--pass={passes}") for passes in (PASSES, ALL_PASSES)]
        assert all(done.returncode == 0 for done in texts), texts[1].stderr
        if texts[0].stdout == texts[1].stdout:
            continue
        changed.append(name)
        (folder / "rewritten.mlir").write_text(texts[1].stdout)
        results = evaluate(folder / "rewritten.mlir", input_files(name, folder), folder / "got")
        assert CASES[name].check(results) is None, name
    assert {"s_diag_and_trace", "s_matrix_chain"} <= set(changed), changed


# ---- the verifier beside MLIR's ----
OPS = ["add", "tanh", "reshape", "transpose", "slice", "abs", "compare", "select", "dot_general", "reverse", "concatenate",
       "convert", "maximum", "and", "broadcast_in_dim"]
TYPES = ["f32", "i32", "f64", "i1", "ui8", "bf16", "i64"]


def replaced(text, pattern, make, dice):
    """One occurrence of the pattern, replaced."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    one = dice.choice(found)
    return text[:one.start()] + make() + text[one.end():]


def mangled(text, dice):
    kind = dice.randrange(5)
    if kind == 0:
        return replaced(text, r"\d", lambda: str(dice.randrange(10)), dice)
    if kind == 1:
        return replaced(text, r"\b(f32|i32|f64)\b", lambda: dice.choice(TYPES), dice)
    if kind == 2:
        return replaced(text, r"(?<=stablehlo\.)[a-z_]+", lambda: dice.choice(OPS), dice)
    if kind == 3:
        return replaced(text, r"\n[^\n]*(?=\n)", lambda: "", dice)
    other = dice.choice(re.findall(r"%[a-z]*\d+", text) or ["%0"])
    return replaced(text, r"%[a-z]*\d+", lambda: other, dice)


# What weir does not look at, in MLIR's words: attributes that it keeps verbatim and their types, element types that it does
# not know, layouts; and names: it lets the inner of two values of a name hide the outer one.
NOT_OURS = (r"unknown StableHLO attribute|invalid properties|failed to satisfy constraint|incorrect layout|element type bitwidth|"
            r"(?i:dot_?algorithm)|expected builtin\.function|unknown stablehlo type|custom_call|redefinition of SSA value")


def complaint(text):
    """What MLIR has to say against the text; None: nothing."""
    try:
        with jax_mlir.make_ir_context():
            ir.Module.parse(text)
    except ir.MLIRError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(4))
def test_verifier_agrees_with_mlir(seed, tmp_path):
    dice, program = random.Random(seed), tmp_path / "mangled.mlir"
    good = bad = 0
    for _ in range(120):
        original = dice.choice(list(CASES.values())).programs()[0].read_text()
        text = mangled(original, dice)
        if complaint(original):  # newer than this jaxlib
            continue
        program.write_text(text)
        done = opt(program, "--pass=", "-o", os.devnull)
        words = complaint(text)
        if words is None:
            good += 1
            assert done.returncode == 0, f"{done.stderr}\n{text}"
        elif not re.search(NOT_OURS, words):
            bad += 1
            assert done.returncode == 1, f"{words}\n{text}"
    assert good >= 5 and bad >= 50
