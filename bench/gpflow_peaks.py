"""Unchanged GPflow scripts, stock and under weir: peak of the process, loss, CPU time of a step.

    python bench/gpflow_peaks.py                  every model at small sizes: results and peaks
    python bench/gpflow_peaks.py --only svgp      one of them
    python bench/gpflow_peaks.py inducing         sparse regression at sizes of the paper (Artemev et al.
                                            2022): inducing points that stock trains at a peak of the
                                            process, the same and more of them under weir at no more
    python bench/gpflow_peaks.py inducing --data kin40k --plot docs/pictures/gpflow.svg

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
BESIDE_MB = 1150  # of a process that trains, at most: TensorFlow, GPflow, compiling, data

PAPER = {  # its data: points, columns; inducing points that stock trains, times as many under weir
    "elevators": (16_599, 18, 600, 3),
    "kin40k": (40_000, 8, 300, 4),
    "protein": (45_730, 9, 300, 4),
    "keggdirected": (48_827, 20, 300, 4),
    "3droad": (434_874, 3, 30, 12),
}
MODELS = [  # (what, limit)
    (dict(model="sgpr", n=10000, m=100, steps=3, optimizer="scipy"), "20MB"),
    (dict(model="sgpr", n=10000, m=100, steps=3, optimizer="adam"), "20MB"),
    (dict(model="svgp", n=20000, m=100, steps=3, optimizer="adam"), "40MB"),
    (dict(model="gpr", n=1500, m=0, steps=3, optimizer="scipy"), "60MB"),
    (dict(model="vgp", n=400, m=0, steps=3, optimizer="scipy"), "9MB"),
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
    print(
        "| program | limit | peak of the process | loss | CPU time of a step |\n"
        "| --- | --- | --: | --: | --: |"
    )
    for given, limit in MODELS:
        if only in (None, given["model"]):
            row(given, None)
            row(given, limit)


def compared(name, stock, ours):
    """A row of one number of inducing points, run both ways or under weir alone."""
    off = abs(ours["loss"] / stock["loss"] - 1) if stock else None
    cells = [name, ours["m"]]
    cells += [f"{stock['peak_mb']:.0f} MB", f"{stock['step_cpu']:.2f} s"] if stock else ["", ""]
    cells += [f"{ours['limit']} MB", f"{ours['peak_mb']:.0f} MB", f"{ours['step_cpu']:.2f} s"]
    cells += [f"{ours['loss']:.12g}", f"{off:.1e}" if stock else ""]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def trained(given, m, limit_mb=None):
    found = run(given | {"m": m}, limit_mb and f"{limit_mb}MB")
    if "error" in found:
        sys.exit(f"m={m}, limit {limit_mb} MB: {found['error']}")
    return found | {"m": m, "limit": limit_mb}


def inducing_of(name, steps):
    """(stock's, weir's) runs: the limit leaves the process no more than stock's peak."""
    n, d, m, times = PAPER[name]
    given = dict(model="sgpr", n=n, d=d, steps=steps, optimizer="scipy")
    stock = [trained(given, count) for count in (m // 3, m)]
    limit_mb = max(100, int(stock[-1]["peak_mb"]) - BESIDE_MB)
    ours = [trained(given, count, limit_mb) for count in (m, m * times)]
    compared(name, stock[-1], ours[0])
    compared(name, None, ours[1])
    return stock, ours


def inducing(args):
    print(
        "| data | inducing points | GPflow's peak | a step | limit | weir's peak | a step | loss | "
        "off |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: |"
    )
    lines = []
    for name in args.data:
        for what, runs in zip(("GPflow", "weir"), inducing_of(name, args.steps)):
            lines.append((f"{name}, {what}", [(ran["m"], ran["peak_mb"]) for ran in runs], False))
    if args.plot:
        import plot

        title = "SGPR: peak of the training process"
        pathlib.Path(args.plot).write_text(plot.log_log(title, "inducing points", "MB", lines))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["models", "inducing"], default="models")
    parser.add_argument("--only", help="one model")
    parser.add_argument("--data", choices=PAPER, nargs="+", default=PAPER, help="of these sizes")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--plot", help="a file for the picture")
    args = parser.parse_args()
    models(args.only) if args.what == "models" else inducing(args)


if __name__ == "__main__":
    sys.exit(main())
