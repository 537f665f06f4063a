"""Writes test/bytecode/NAME-VERSION.mlirbc: portable artifacts, by stock StableHLO (jaxlib's bindings), of test/bytecode/NAME.mlir at versions of
VHLO. They are in the repository so that the C tests need no jaxlib."""

import pathlib

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "test/bytecode"
VERSIONS = {"plain": ["0.9.0", "1.17.0"], "ops": ["0.9.0", "0.14.0", "1.17.0"]}

if __name__ == "__main__":
    for name, versions in VERSIONS.items():
        text = (FOLDER / f"{name}.mlir").read_text()
        for version in versions:
            with mlir.make_ir_context(), ir.Location.unknown():
                data = stablehlo.serialize_portable_artifact_str(text, version)
            (FOLDER / f"{name}-{version}.mlirbc").write_bytes(data)
