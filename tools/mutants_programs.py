"""Writes programs with inputs, results and ways to rewrite them, for the tests of mutants.

    WEIR_BUILD=DIR python tools/mutants_programs.py OUT [--seeds N]

They are what the tests of passes, splitting and kernels rewrite (mutants_harvest.py) and those of
test_split_random, test_split_random_scans, test_random_lists, test_kernel_ref and
test_split_corpus,
at fewer seeds. OUT/NAME has program.mlir, in0.npy ..., want0.npy ... by the evaluator, and
case.json: the number of inputs, per result dtype and tolerance, and the ways as arguments of
`weir opt`.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("test/python", "test/corpus", "tools")]
import check  # noqa: E402
import fuzz_graphs  # noqa: E402
import fuzz_lists  # noqa: E402
import fuzz_scans  # noqa: E402
import jax  # noqa: E402
import mutants_harvest  # noqa: E402
import random_graphs  # noqa: E402
import random_lists  # noqa: E402
import random_scans  # noqa: E402
import running  # noqa: E402
from random_gathers import Gathers  # noqa: E402
from random_regions import Chains, Region  # noqa: E402
from random_whiles import Whiles  # noqa: E402
from evaluated import LOOSER, REFUSED  # noqa: E402
from kernel_running import FIRST, SIZE_SHARE  # noqa: E402
from running import lowered  # noqa: E402

HARVEST = ("test_pass_*.py", "test_split_*.py", "test_kernel_*.py")
ROUNDING = {"f8": 1e-10, "f4": 2e-4, "f2": 2e-2, "u2": 2e-2}  # of the largest; u2: bf16
EXACT = {"rtol": 0.0, "atol": 0.0}
LARGEST = 1 << 20  # bytes of a result of a corpus case: more takes the evaluator too long


def write(out, name, text, inputs, ways, outputs_of):
    """outputs_of(i, want): dtype and tolerance of result i."""
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            wants = running.Evaluator(scratch, inputs)(text)
        except (AssertionError, mutants_harvest.TooMuch):
            return shutil.rmtree(folder)
    (folder / "program.mlir").write_text(text)
    for kind, arrays in (("in", inputs), ("want", wants)):
        for i, array in enumerate(arrays):
            np.save(folder / f"{kind}{i}.npy", array)
    outputs = [outputs_of(i, want) for i, want in enumerate(wants)]
    ways = [[way, [str(w) for w in words]] for way, words in ways]
    case = {"inputs": len(inputs), "outputs": outputs, "ways": ways}
    (folder / "case.json").write_text(json.dumps(case))


def write_graph(out, seed, make):
    case = fuzz_graphs.case_of(seed, make)

    def tolerance(i, want):
        v = case.outputs[i]
        if not v.is_float() or v.grid is not None:
            return {"dtype": v.dtype, **EXACT}
        want = fuzz_graphs.random_values.numbers(want, v.dtype).astype(np.float64)
        size = max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0), 0.01 * v.bound)
        return {"dtype": v.dtype, "rtol": 0.0, "atol": float(min(1000 * v.noise, 0.1) * size)}

    ways = [(way, words) for way, words in case.ways if way != "xla"]
    write(out, f"{make.__name__}-{seed}", case.text(), case.inputs, ways, tolerance)


def write_scan(out, seed):
    scans = random_scans.Scans(seed)
    largest = scans.steps * 8 * int(np.prod(scans.shape)) * max(1, scans.m // 2)
    own = 2 * sum(x.nbytes for x in scans.inputs())

    def tolerance(_, want):
        atol = 1e-8 * (1 + float(np.abs(want).max(initial=0)))
        return {"dtype": str(want.dtype), "rtol": 1e-7, "atol": atol}

    ways = fuzz_scans.ways_of(seed, largest, own)
    write(out, f"Scans-{seed}", scans.text(), scans.inputs(), ways, tolerance)


def write_list(out, seed, kind):
    program = getattr(random_lists, kind)(seed)

    def tolerance(_, want):
        if want.dtype.kind != "f":
            return {"dtype": str(want.dtype), **EXACT}
        largest = np.abs(want[np.isfinite(want)]).max(initial=1)
        atol = fuzz_lists.ROUNDING[want.dtype.itemsize] * float(largest)
        return {"dtype": str(want.dtype), "rtol": 0.0, "atol": atol}

    ways = fuzz_lists.ways_of(program, 2 * sum(x.nbytes for x in program.inputs()))
    write(out, f"{kind}-{seed}", program.text(), program.inputs(), ways, tolerance)


def write_region(out, seed, kind):
    region = kind(seed)
    inputs = region.inputs()
    threshold = max(64, region.large * np.dtype(region.dtype).itemsize // SIZE_SHARE)
    text = lowered(region.function, *inputs)

    def tolerance(_, want):
        if want.dtype.kind != "f":
            return {"dtype": str(want.dtype), **EXACT}
        rtol = 2e-4 if want.dtype == np.float32 else 1e-11
        scale = float(np.max(np.abs(want), initial=1, where=np.isfinite(want)))
        return {"dtype": str(want.dtype), "rtol": rtol, "atol": rtol * scale}

    ways = [("tile", ["--tensor-size-threshold", threshold, "--tile", "on"])]
    write(out, f"{kind.__name__}-{seed}", text, jax.tree.leaves(inputs), ways, tolerance)


def write_corpus(out, case):
    specs = case.meta["outputs"]
    if case.name in REFUSED or any(spec.get("compare") in ("set_rows", "abs") for spec in specs):
        return

    def tolerance(i, _):
        rtol, atol = LOOSER.get(case.name, (specs[i]["rtol"], specs[i]["atol"]))
        return {"dtype": specs[i]["dtype"], "rtol": rtol, "atol": atol}

    own = sum(x.nbytes for x in case.inputs())
    if own > LARGEST:
        return
    limits = [("limit", ["--memory-limit", 2 * own + 64])]
    ways = [("split", ["--tensor-size-threshold", 40]), *limits]
    text = sorted(case.folder.glob("program*.mlir"))[0].read_text()
    write(out, f"corpus-{case.name}", text, case.inputs(), ways, tolerance)


def write_harvest(out, most):
    """At most so many of each file of tests; sums may come in another order."""

    def tolerance(_, want):
        kind = want.dtype.str[1:].replace("c16", "f8").replace("c8", "f4")
        if kind not in ROUNDING:
            return {"dtype": str(want.dtype), **EXACT}
        dtype = "bf16" if kind == "u2" else str(want.dtype)
        sizes = np.abs(fuzz_graphs.random_values.numbers(want, dtype)).astype(np.float64)
        largest = float(sizes[np.isfinite(sizes)].max(initial=1))
        return {"dtype": dtype, "rtol": 0.0, "atol": ROUNDING[kind] * largest}

    folder = ROOT / "test/python"
    files = sorted(path for pattern in HARVEST for path in folder.glob(pattern))
    for text, inputs, ways in mutants_harvest.of_tests(files, most):
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        named = [(str(i), words) for i, words in enumerate(ways)]
        write(out, f"test-{name}", text, inputs, named, tolerance)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=24)
    args = parser.parse_args()
    for make in (random_graphs.Graph, random_graphs.Branches, random_graphs.Cuts):
        for seed in range(1, 1 + args.seeds):
            write_graph(args.out, seed, make)
    for seed in range(args.seeds // 2):
        write_scan(args.out, seed)
        for kind in fuzz_lists.KINDS:
            write_list(args.out, seed, kind)
    for kind in (Region, Gathers, Whiles, Chains):
        for seed in range(FIRST, FIRST + args.seeds):
            write_region(args.out, seed, kind)
    for case in check.cases("op", "program"):
        write_corpus(args.out, case)
    write_harvest(args.out, args.seeds)


if __name__ == "__main__":
    main()
