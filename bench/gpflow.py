"""Unchanged GPflow scripts, stock and under weir: peak of the process, loss, CPU time of a step.

    python bench/gpflow.py                  every model at small sizes: results and peaks
    python bench/gpflow.py --only svgp      one of them
    python bench/gpflow.py inducing         sparse regression at a size of the paper (Artemev et al.
                                            2022): inducing points that stock bears at a peak of the
                                            process, and 12 times as many under weir at that peak
    python bench/gpflow.py inducing --plot docs/pictures/gpflow.svg

Each run is a process of its own, in the environment of bench/gpflow.txt. Under weir it is
`WEIR_MEMORY_LIMIT=... WEIR_TF_JIT=1 python -m weir`, with the same script. Stock is GPflow as it
comes, which does not compile by XLA. Data is random, of the sizes of the paper's.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WORKER = HERE / "experiments/gpflow_training.py"
COMPILED_MB = 1150  # a process with TensorFlow, GPflow and a compiled training step, without data

SIZES = {  # of the paper's data: points, columns
    "elevators": (16_599, 18),
    "kin40k": (40_000, 8),
    "protein": (45_730, 9),
    "3droad": (434_874, 3),
    "houseelectric": (2_049_280, 11),
}
MODELS = [  # (what, limit)
    (dict(model="sgpr", n=10000, m=100, steps=3, optimizer="scipy"), "20MB"),
    (dict(model="sgpr", n=10000, m=100, steps=3, optimizer="adam"), "20MB"),
    (dict(model="svgp", n=20000, m=100, steps=3, optimizer="adam"), "40MB"),
    (dict(model="gpr", n=1500, m=0, steps=3, optimizer="scipy"), "60MB"),
    (dict(model="vgp", n=400, m=0, steps=3, optimizer="scipy"), "12MB"),
    (dict(model="gplvm", n=1000, m=40, steps=3, optimizer="scipy"), "10MB"),
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
    if "RESOURCE_EXHAUSTED: weir" in done.stderr:
        return {"error": "refused"}
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
            f"| {name} | {limit or 'stock'} | {found['peak_mb']:.0f} MB | {found['loss']:.12g} | "
            f"{found['step_cpu']:.2f} s |",
            flush=True,
        )
    return found


def models(only):
    for given, limit in MODELS:
        if only in (None, given["model"]):
            row(given, None)
            row(given, limit)


def peaks(given, limit_of, counts):
    """(inducing points, MB) of those that ran."""
    found = [(m, row(given | {"m": m}, limit_of(m))) for m in counts]
    return [(m, ran["peak_mb"]) for m, ran in found if "error" not in ran]


def inducing(args):
    n, d = SIZES[args.data]
    given = dict(model="sgpr", n=n, d=d, steps=args.steps, optimizer="scipy")
    stock = peaks(given, lambda m: None, [args.m // 3, args.m])
    limit = f"{max(100, int(stock[-1][1]) - COMPILED_MB)}MB"
    ours = peaks(given, lambda m: limit, [args.m // 3, args.m, args.m * args.times])
    if args.plot:
        import plot

        lines = [("GPflow", stock, False), (f"with weir, {limit}", ours, False)]
        title = f"SGPR, {n:,} points: peak of the training process"
        picture = plot.log_log(title, "inducing points", "MB", lines)
        pathlib.Path(args.plot).write_text(picture)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["models", "inducing"], default="models")
    parser.add_argument("--only", help="one model")
    parser.add_argument("--data", choices=SIZES, default="3droad", help="of this size")
    parser.add_argument("--m", type=int, default=30, help="inducing points that stock trains")
    parser.add_argument("--times", type=int, default=12, help="as many under weir")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--plot", help="a file for the picture")
    args = parser.parse_args()
    print(
        "| program | limit | peak of the process | loss | CPU time of a step |\n"
        "| --- | --- | --: | --: | --: |"
    )
    models(args.only) if args.what == "models" else inducing(args)


if __name__ == "__main__":
    sys.exit(main())
