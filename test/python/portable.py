"""Portable artifacts (MLIR bytecode) by stock StableHLO, jaxlib's bindings, and by weir."""

import os
import pathlib
import re
import subprocess

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release"))
TOOL = BUILD / "tools/weir_roundtrip"
CONTEXT = jax_mlir.make_ir_context()
CURRENT = stablehlo.get_current_version()
DEFAULT = "1.13.0"  # what weir writes if nothing else is asked for


def stock(text, version, other_dialects=False):
    """None where the version can't say it."""
    try:
        with CONTEXT, ir.Location.unknown():
            return stablehlo.serialize_portable_artifact(ir.Module.parse(text), version, other_dialects)
    except ValueError:
        return None


def generic(module):
    text = module.operation.get_asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=True)
    return text.replace(" loc(unknown)", "")


def without_places(text):
    """Where a text has no location MLIR takes the place in the text."""
    return re.sub(r' loc\("-":\d+:\d+( to :\d+)?\)', "", text)


def stock_text(data):
    """As stock StableHLO reads it."""
    with CONTEXT, ir.Location.unknown():
        return generic(stablehlo.deserialize_portable_artifact(CONTEXT, data))


def respelled(text):
    with CONTEXT, ir.Location.unknown():
        return without_places(generic(ir.Module.parse(text)))


def printed(paths, *options):
    """Each program as weir prints it."""
    done = subprocess.run([TOOL, *options, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("//----\n")


def written(paths, version=DEFAULT):
    """Each program as weir writes it: files."""
    printed(paths, "--bytecode", version)
    return [pathlib.Path(f"{path}.bc") for path in paths]


def check_written(texts, folder, version=DEFAULT):
    """What weir writes reads, in stock StableHLO, as what stock StableHLO writes of the same program; weir reads it as stock StableHLO does, and
    writes the same bytes again."""
    texts = [respelled(text) for text in texts]
    paths = [folder / f"written{number}.mlir" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_text(text)
    files = written(paths, version)
    again = written(files, version)
    for path, text, file, second in zip(paths, texts, files, again):
        data, by_stock = file.read_bytes(), stock(text, version, other_dialects=True)
        assert by_stock, "stock StableHLO can't write it"
        assert stock_text(data) == without_places(stock_text(by_stock)), path
        assert data == second.read_bytes(), path
        path.write_text(stock_text(data))
    for one, other in zip(printed(files, "--verify"), printed(paths, "--verify")):
        assert one == other or respelled(one) == respelled(other)  # numbers may be spelled otherwise
