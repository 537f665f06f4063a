"""MLIR bytecode in: what weir reads of a portable artifact is what it reads of the text that stock StableHLO (jaxlib's bindings) prints of the
same bytes, for every program of the corpus, at versions of VHLO from 0.9 to the newest."""

import os
import pathlib
import subprocess

import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release")) / "tools/weir_roundtrip"
CORPUS = sorted((ROOT / "test/corpus").glob("*/program*.mlir"))
CONTEXT = jax_mlir.make_ir_context()
# The oldest that can be written, before and after properties, without batched gathers, without accuracies, the newest.
VERSIONS = ["0.9.0", "0.14.0", "1.0.0", "1.5.0", "1.9.0", stablehlo.get_current_version()]


def artifact(text, version):
    """None where the version can't say it."""
    try:
        with CONTEXT, ir.Location.unknown():
            return stablehlo.serialize_portable_artifact_str(text, version)
    except ValueError:
        return None


def stock_text(data):
    with CONTEXT, ir.Location.unknown():
        module = stablehlo.deserialize_portable_artifact(CONTEXT, data)
        text = module.operation.get_asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=True)
    return text.replace(" loc(unknown)", "")


def weir(paths):
    done = subprocess.run([TOOL, "--verify", *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("//----\n")


def check(artifacts, tmp_path):
    paths = []
    for number, data in enumerate(artifacts):
        paths += [tmp_path / f"{number}.mlirbc", tmp_path / f"{number}.mlir"]
        paths[-2].write_bytes(data)
        paths[-1].write_text(stock_text(data))
    printed = weir(paths)
    for bytecode, text in zip(printed[::2], printed[1::2]):
        assert bytecode == text


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus(path, tmp_path):
    text = path.read_text()
    artifacts = [data for version in VERSIONS if (data := artifact(text, version))]
    if not artifacts:
        pytest.skip("no portable artifact of it: ops of other dialects")
    check(artifacts, tmp_path)
