"""MLIR bytecode out: what weir writes is what stock StableHLO (jaxlib's bindings) would write of the same program, as far as anyone can read, and
it runs. Programs that JAX lowers and single ops: test_roundtrip.py."""

import dataclasses
import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import random_graphs
from portable import BUILD, CURRENT, DEFAULT, ROOT, check_written, printed, stock, stock_text, without_places

sys.path.insert(0, str(ROOT / "tools"))
import fuzz_graphs  # noqa: E402

CORPUS = sorted((ROOT / "test/corpus").glob("*/program*.mlir"))
OLDEST = "1.9.0"


def opt(path, out, *options):
    done = subprocess.run([BUILD / "weir", "opt", path, "-o", out, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus(path, tmp_path):
    for version in OLDEST, CURRENT:
        check_written([path.read_text()], tmp_path, version)


def settled(text):
    """As stock StableHLO reads it: constants behind the other operand of CHLO's commutative ops."""
    return stock_text(stock(text, DEFAULT, other_dialects=True))


@pytest.mark.parametrize("graphs", ["Graph", "Branches", "Cuts", "Windows", "Matrices", "Spelled"])
def test_random_graphs(graphs, tmp_path):
    cases = [fuzz_graphs.case_of(seed, getattr(random_graphs, graphs)) for seed in range(40)]
    check_written([settled(case.given()) for case in cases], tmp_path)


# Loops, LAPACK's calls in loops, kernels with typed attributes.
REWRITTEN = {
    "m_attention_bwd": ["--tensor-size-threshold", "1MB"],
    "m_sgpr_bound_grad": ["--tensor-size-threshold", "100kB"],
    "m_nbody_forces": ["--tensor-size-threshold", "100kB"],
    "m_matvec_se": ["--tensor-size-threshold", "100kB", "--tile", "on", "--machine", "x86-64-v3"],
    "m_knn_l2_exact": ["--tensor-size-threshold", "1MB", "--tile", "on", "--machine", "x86-64-v3"],
    "p_gpt_scan_layers_grad": ["--tensor-size-threshold", "2kB"],
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten(name, tmp_path):
    path, options = ROOT / "test/corpus" / name / "program.mlir", REWRITTEN[name]
    text = opt(path, tmp_path / "text.mlir", *options).read_text()
    assert "stablehlo.while" in text or "weir_tile" in text
    data = opt(path, tmp_path / "out.mlirbc", *options, "--emit", "bytecode").read_bytes()
    assert stock_text(data) == without_places(stock_text(stock(text, DEFAULT, other_dialects=True)))
    check_written([text], tmp_path)


def test_the_inputs_version_is_kept(tmp_path):
    given = tmp_path / "given.mlirbc"
    given.write_bytes(stock((ROOT / "test/corpus/dot_batch/program.mlir").read_text(), "1.10.0"))
    data = opt(given, tmp_path / "out.mlirbc", "--emit", "bytecode").read_bytes()
    assert b"StableHLO_v1.10.0\0" in data[:30]
    assert stock_text(data) == stock_text(given.read_bytes())
    data = opt(given, tmp_path / "out.mlirbc", "--emit", "bytecode", "--target", "1.12").read_bytes()
    assert b"StableHLO_v1.12.0\0" in data[:30]
    text = opt(given, tmp_path / "out.mlir", "--emit", "text")
    assert printed([text]) == printed([given])


def softmax(x, v):
    k = jnp.exp(-((x[:, None] - x[None]) ** 2))
    return jax.nn.softmax(k, axis=1) @ v


def test_an_exported_program_runs(tmp_path):
    x = np.linspace(0, 1, 2000, dtype=np.float32)
    exported = jax.export.export(jax.jit(softmax))(x, x)
    given = tmp_path / "given.mlirbc"
    given.write_bytes(exported.mlir_module_serialized)
    data = opt(given, tmp_path / "out.mlirbc", "--memory-limit", "2MB", "--emit", "bytecode").read_bytes()
    assert "stablehlo.while" in stock_text(data)
    rewritten = dataclasses.replace(exported, mlir_module_serialized=data)
    np.testing.assert_allclose(rewritten.call(x, x), softmax(x, x), rtol=1e-5)
