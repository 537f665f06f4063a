"""What LLVM takes to compile the kernels of programs of bench/kernels.py, the first time.

    python bench/compile.py                      those of docs/performance.md
    python bench/compile.py cross_entropy kde    others
    python bench/compile.py attention_grad_8192 --scale 9    of 910 rows: no multiple of a tile

Per kernel: lines of IR and CPU milliseconds, the median of --rounds processes (the object cache
plays no part). Programs run to have their kernels written. Needs weir_compile of the build in
WEIR_BUILD (build/release).
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from environments import HERE

BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", HERE.parent / "build/release"))
USUAL = (
    "matvec_f32 gradient_f32 knn_d3 chamfer_grad kde attention_1024 attention_grad_1024 "
    "cross_entropy"
).split()


def kernels_of(case, scale, folder):
    """Files of LLVM IR, one a kernel."""
    command = [sys.executable, HERE / "kernels.py", "--worker", case, "weir", "--scale", str(scale)]
    settings = {"WEIR_TILE": "auto", "WEIR_DUMP_TO": folder, "WEIR_CACHE_DIR": "off"}
    subprocess.run(command, check=True, env=os.environ | settings, capture_output=True)
    return sorted(pathlib.Path(folder).glob("weir_tile_*.ll"))


def milliseconds(kernel):
    command = [BUILD / "tools/weir_compile", kernel]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def report(case, scale, rounds):
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels_of(case, scale, folder):
            lines = kernel.read_text().count("\n")
            taken = statistics.median(milliseconds(kernel) for _ in range(rounds))
            print(f"| {case} | {lines} | {taken:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=USUAL)
    parser.add_argument("--scale", type=int, default=1, help="run at 1/SCALE of the size")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print("| program | lines | CPU ms |\n| --- | --- | --- |")
    for case in args.cases:
        report(case, args.scale, args.rounds)


if __name__ == "__main__":
    main()
