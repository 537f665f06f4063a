"""Programs of TensorFlow through weir's hook, each under its arguments, its results and a tenth of
its temporaries: memory as TensorFlow's own XLA reports it, results and CPU time beside stock's.

    python bench/tf_programs.py [--only WORD] [--python PYTHON] [--repeats N]

They are the programs of `make test-tensorflow` (test/tensorflow), which asserts the first two. Needs
TensorFlow without jax: build/tensorflow, made when missing, or PYTHON. A row per program, then counts
and those that are not as stock's. Times are of calls that are compiled already, the least CPU time of
N (9), stock and weir in turn; the programs take a few ms, so they show what a slice costs at its
worst.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- in TensorFlow ----
def difference(one, other):
    """The largest relative to the largest value; 0 where all are equal."""
    import numpy as np
    import tensorflow as tf

    worst = 0.0
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype == object or np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            continue
        if a.shape != b.shape or a.dtype.kind in "iub":
            return float("inf")
        far = np.abs(a.astype(complex) - b.astype(complex)).max()
        worst = max(worst, float(far / max(1.0, np.abs(a.astype(complex)).max())))
    return worst


def seconds(calls, repeats):
    """The least CPU seconds of each, called in turn."""
    found = [[] for _ in calls]
    for _ in range(repeats):
        for call, times in zip(calls, found):
            begun = time.process_time()
            call()
            times.append(time.process_time() - begun)
    return [min(times) for times in found]


def measure(name, repeats):
    import tensorflow as tf
    import tenth

    import weir

    memory, stock = tenth.stock_of(name)
    row = {"name": name, "limit": memory.limit, "temporaries": memory.temporaries}
    plain, _ = tenth.made(name)
    limited, _ = tenth.made(name)

    def ours():
        with weir.limit(memory.limit):
            limited()

    try:
        with weir.limit(memory.limit):
            results = tenth.run(name)
        ours(), plain()
    except tf.errors.ResourceExhaustedError as error:
        return row | {"refused": str(error).splitlines()[0]}
    report = weir.last_report()
    times = seconds([plain, ours], repeats)
    return row | {
        "peak": report.peak_after_bytes,
        "by_estimate": report.after_is_estimate,
        "difference": difference(stock, results),
        "seconds": times,
    }


def work(only, repeats):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path[0] = str(ROOT / "test/tensorflow")
    sys.path.insert(1, str(ROOT / "python"))
    import weir.tensorflow  # noqa: F401, I001
    import operations  # noqa: F401
    import cases

    for name in cases.PROGRAMS:
        if only in name:
            print(json.dumps(measure(name, repeats)), flush=True)


# ---- the table ----
def is_kept(row):
    return "peak" in row and row["peak"] <= row["limit"] and not row["by_estimate"]


def rows(python, args):
    command = [python, __file__, "--worker", "--only", args.only, "--repeats", str(args.repeats)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in worker.stdout:
        if line.startswith("{"):
            yield json.loads(line)
    if worker.wait():
        sys.exit(f"{python} ended with {worker.returncode}")


def text_of(row):
    sizes = f"| {row['name']} | {row['temporaries'] / 1e6:.2f} | {row['limit'] / 1e6:.2f}"
    if "refused" in row:
        return f"{sizes} | refused | | | |"
    stock, ours = row["seconds"]
    return (
        f"{sizes} | {row['peak'] / 1e6:.2f} | {row['difference']:.1e} | {stock * 1e3:.2f} | "
        f"{ours * 1e3:.2f} | {ours / stock:.2f} |"
    )


def summarise(found):
    ran = [row for row in found if "peak" in row]
    ratios = sorted(row["seconds"][1] / row["seconds"][0] for row in ran)
    print(f"\n{len(found)} programs, {sum(map(is_kept, found))} under their limit by XLA's report")
    if ran:
        print(f"largest relative difference from stock: {max(r['difference'] for r in ran):.1e}")
        print(
            f"CPU time over stock's: {ratios[0]:.2f} to {ratios[-1]:.2f}, median "
            f"{statistics.median(ratios):.2f}; above 2: {sum(ratio > 2 for ratio in ratios)}"
        )
    for row in found:
        if not is_kept(row):
            print(f"not under its limit: {row['name']}: {row.get('refused', 'over, or by estimate')}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="WORD", help="programs whose name has it")
    parser.add_argument("--python", help="of an environment with TensorFlow")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.only, args.repeats)
        return
    sys.path.insert(0, str(ROOT / "tools"))
    import jax_versions

    python = args.python or jax_versions.python_with_tensorflow()
    if not python:
        sys.exit("TensorFlow can't be installed here")
    print("| program | stock's temporaries, MB | limit, MB | peak, MB | difference | stock, ms | weir, ms | ratio |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    found = []
    for row in rows(python, args):
        found.append(row)
        print(text_of(row), flush=True)
    summarise(found)


if __name__ == "__main__":
    main()
