"""How the time of planning grows with the program: the gradients of layers written out one after
the other, under a limit of arguments, results and a tenth of the rest. No XLA: `weir opt` alone.

    python bench/planning_scale.py                 1,000 and 10,000 ops
    python bench/planning_scale.py 1000 100000     others
    python bench/planning_scale.py --plot OUT.svg  CPU seconds against ops, and a line through the first

A row each: ops, CPU seconds in all, seconds of the clock of the split candidates, what came of it,
and the exponent of the CPU seconds against the row before: 1 is linear.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import plot

WEIR = pathlib.Path(__file__).resolve().parent.parent / "build/release/weir"
ROWS, WIDTH, OPS_PER_LAYER, SHARE = 4096, 512, 14, 10
SPLIT_MS = re.compile(r"^weir: pass split: .*, ([\d.]+) ms$", re.M)


def loss(x, weights):
    for w in weights:
        x = x + jnp.tanh(x @ w) * 0.5
    return x.sum()


def program(layers):
    x = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32)
    weights = [jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32)] * layers
    return jax.jit(jax.grad(loss, 1)).lower(x, weights).as_text()


def limit_of(layers):
    """Arguments and gradients, and a share of what each layer keeps for its gradient."""
    return 4 * (ROWS * WIDTH + 2 * layers * WIDTH * WIDTH + 2 * layers * ROWS * WIDTH // SHARE)


def planned(text, limit):
    """CPU seconds, seconds of split candidates, exit status."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        command = [WEIR, "opt", file.name, "-o", os.devnull, "--memory-limit", str(limit)]
        with tempfile.TemporaryFile("w+") as said:
            child = subprocess.Popen([*command, "--debug", "2"], stderr=said)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            splits = sum(map(float, SPLIT_MS.findall(said.read()))) / 1e3
    return used.ru_utime + used.ru_stime, splits, child.returncode


def exponent(row, before):
    return f"{math.log(row[1] / before[1]) / math.log(row[0] / before[0]):.2f}" if before else ""


def plotted(rows, path):
    (ops, seconds), *_ = rows
    line = [(n, seconds * n / ops) for n, _ in rows]
    series = [("weir opt", rows, False), ("linear", line, True)]
    path.write_text(plot.log_log("Planning: layers written out", "ops", "CPU s", series))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ops", nargs="*", type=int, default=[1000, 10000], help="about so many")
    parser.add_argument("--plot", type=pathlib.Path, metavar="OUT.svg")
    args, rows = parser.parse_args(), []
    print("| ops | CPU s | candidates (clock) | | exponent |\n|--:|--:|--:|---|--:|")
    for ops in args.ops:
        layers = max(1, ops // OPS_PER_LAYER)
        text = program(layers)
        seconds, splits, code = planned(text, limit_of(layers))
        row = text.count("\n"), seconds
        came = {0: "held", 3: "refused"}.get(code, f"exit {code}")
        print(
            f"| {row[0]} | {seconds:.2f} | {splits:.2f} | {came} | "
            f"{exponent(row, rows[-1] if rows else None)} |",
            flush=True,
        )
        rows.append(row)
    if args.plot:
        plotted(rows, args.plot)


if __name__ == "__main__":
    sys.exit(main())
