"""What depends on a number of src/machine/tuned.def? Each is halved and doubled, and programs are planned
under shares of their peaks, without kernels, where these gain and wherever they can be:

    python bench/experiments/sensitivity.py                          numbers that nothing measured, the corpus
    python bench/experiments/sensitivity.py --all dumps/*.mlir       all of them, other programs
    python bench/experiments/sensitivity.py --number SLOW,COARSE_BYTES

A line per number and factor: plans that are others; of these, what is predicted, beside before (median and
extremes of time and peak), and how many are refused that were not, or hold now; plans that are the same
and are predicted to take more than 1.02 times as long, or less than 1 / 1.02. The numbers are variables in a
library that is built for this. The corpus takes 17 s a number (Intel Xeon with AVX-512, one core).
"""

import argparse
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r'^(REAL|WHOLE)\(\s*(\w+),\s*([^,]+?),\s*"([^"]*)",\s*"([^"]*)"\)$', re.M)
TILES = (0, 1, 2)  # kernels off, where they gain, wherever they can be
CLOSE = 1.02
HEADER = """#ifndef WEIR_MACHINE_TUNED_H
#define WEIR_MACHINE_TUNED_H
#define REAL(name, ...) extern double TUNED_##name;
#define WHOLE(name, ...) extern int TUNED_##name;
#include "machine/tuned.def"
#endif
"""
VALUES = """#define REAL(name, value, ...) __attribute__((visibility("default"))) double TUNED_##name = value;
#define WHOLE(name, value, ...) __attribute__((visibility("default"))) int TUNED_##name = value;
#include "machine/tuned.def"
"""


def build(folder, pages):
    """The library with variables in the place of the numbers."""
    (folder / "machine").mkdir()
    (folder / "machine/tuned.h").write_text(HEADER)
    (folder / "values.c").write_text(VALUES)
    sources = [str(p) for p in (ROOT / "src").rglob("*.c") if p.parent.name != "cli"]
    library = folder / "libweir.so"
    flags = f"-std=gnu17 -O1 -fPIC -shared -fvisibility=hidden -w -I{folder} -I{ROOT}/src -I{ROOT}/include"
    command = ["cc", *flags.split(), *sources, str(folder / "values.c"), str(pages), "-lm", "-lpthread", "-ldl"]
    subprocess.run([*command, "-o", str(library)], check=True)
    return library


def plans_of(library, programs, shares, machine):
    """By program, share and kernels: what comes out."""
    plans = {}
    for text, peak in programs:
        for share in shares:
            for tile in TILES if machine.startswith("x86") else TILES[:1]:
                limit = int(peak * share)
                settings = {"memory_limit_bytes": limit, "minimum": 2, "tile": tile, "machine": machine.encode()}
                result = library.rewrite(text, settings, None) if limit else None
                if result:
                    key = text, share, tile
                    plans[key] = result.status_name, result.text, result.time_after_ns, result.peak_after_bytes
    return plans


def spread(ratios):
    ratios = sorted(ratios) or [1]
    return f"{statistics.median(ratios):5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def compared(before, after):
    """The line for one number."""
    times, peaks, refused, held, moved = [], [], 0, 0, 0
    for key, (status, text, time, peak) in before.items():
        new_status, new_text, new_time, new_peak = after[key]
        refused += status == "OK" != new_status
        held += new_status == "OK" != status
        if (text, status) != (new_text, new_status):
            times.append(max(new_time, 1) / max(time, 1))
            peaks.append(max(new_peak, 1) / max(peak, 1))
        else:
            moved += not 1 / CLOSE <= max(new_time, 1) / max(time, 1) <= CLOSE
    others = f"{len(times):5} other, time {spread(times):21} peak {spread(peaks):21}"
    return f"{others} refused {refused}, held {held}, {moved:5} times"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="programs in place of the corpus")
    parser.add_argument("--all", action="store_true", help="also what was measured")
    parser.add_argument("--number", default="", help="only these, with commas between")
    parser.add_argument("--shares", default="0.5,0.1,0.02", help="of the peak (%(default)s)")
    parser.add_argument("--factors", default="0.5,2", help="(%(default)s)")
    parser.add_argument("--machine", default="x86-64-v3", help="or a card (%(default)s)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="for the files of pages")
    args = parser.parse_args()
    shares = [float(share) for share in args.shares.split(",")]
    factors = [float(factor) for factor in args.factors.split(",")]
    asked = set(args.number.split(",")) - {""}
    rows = ROW.findall((ROOT / "src/machine/tuned.def").read_text())
    rows = [row for row in rows if (row[1] in asked if asked else args.all or not row[4])]
    with tempfile.TemporaryDirectory() as folder:
        path = build(pathlib.Path(folder), args.build / "page_files.c")
        os.environ["WEIR_LIBRARY"] = str(path)
        from weir import _library as library

        numbers = ctypes.CDLL(os.fspath(path))
        files = args.files or sorted((ROOT / "test/corpus").glob("*/program.mlir"))
        texts = [file.read_bytes() for file in files]
        programs = [(text, library.rewrite(text, {}, None).peak_before_bytes) for text in texts]
        before = plans_of(library, programs, shares, args.machine)
        print(f"{len(before)} plans of {len(texts)} programs", flush=True)
        for kind, name, *_ in rows:
            number = (ctypes.c_double if kind == "REAL" else ctypes.c_int).in_dll(numbers, f"TUNED_{name}")
            value = number.value
            for factor in factors:
                number.value = value * factor if kind == "REAL" else int(value * factor)
                after = plans_of(library, programs, shares, args.machine)
                print(f"{name:18} x{factor:<4g}{compared(before, after)}", flush=True)
            number.value = value


if __name__ == "__main__":
    sys.exit(main())
