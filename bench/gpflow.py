"""Unchanged GPflow scripts, stock and under weir: peak of the process, loss, time.

    python bench/gpflow.py                 all models, small sizes: 10 minutes
    python bench/gpflow.py --only sgpr     sparse regression by Scipy and Adam, then with more
                                           inducing points under weir at the peak of stock

Each run is a process of its own, in the environment of bench/gpflow.txt. Under weir it is
`WEIR_MEMORY_LIMIT=... WEIR_TF_JIT=1 python -m weir`, with the same script. Stock is GPflow as it
comes, which does not compile by XLA.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WORKER = HERE / "experiments/gpflow_training.py"

SGPR = dict(model="sgpr", n=40000, m=100, steps=2)
MODELS = [  # (what, limit)
    (dict(model="gpr", n=1500, m=0, steps=3, optimizer="scipy"), "150MB"),
    (dict(model="vgp", n=400, m=0, steps=3, optimizer="scipy"), "60MB"),
    (dict(model="svgp", n=20000, m=100, steps=3, optimizer="adam"), "40MB"),
]


def run(given, limit=None):
    """What the worker prints, or {"error"}."""
    import environments

    python = environments.python_of("gpflow")
    words, environment = [], dict(os.environ)
    if limit:
        words = ["-m", "weir"]
        environment |= {
            "PYTHONPATH": str(HERE.parent / "python"),
            "WEIR_MEMORY_LIMIT": limit,
            "WEIR_TF_JIT": "1",
        }
    command = [python, *words, WORKER, json.dumps(given)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def row(given, limit):
    found = run(given, limit)
    name = f"{given['model']} n={given['n']} m={given['m']} {given['optimizer']}"
    if "error" in found:
        print(f"| {name} | {limit or 'stock'} | {found['error']} | | |", flush=True)
    else:
        print(
            f"| {name} | {limit or 'stock'} | {found['peak_mb']:.0f} MB | {found['loss']:.10g} | "
            f"{found['seconds']:.1f} s |",
            flush=True,
        )
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="one model")
    parser.add_argument("--times", type=int, default=12, help="as many inducing points under weir")
    parser.add_argument("--limit", default="150MB", help="of the run with many inducing points")
    args = parser.parse_args()
    print("| program | limit | peak of the process | loss | time |\n| --- | --- | --: | --: | --: |")
    if args.only in (None, "sgpr"):
        for optimizer in ("scipy", "adam"):
            row(SGPR | {"optimizer": optimizer}, None)
            row(SGPR | {"optimizer": optimizer}, "40MB")
            row(SGPR | {"optimizer": optimizer, "m": SGPR["m"] * args.times}, args.limit)
    for given, limit in MODELS:
        if args.only in (None, given["model"]):
            row(given, None)
            row(given, limit)


if __name__ == "__main__":
    sys.exit(main())
