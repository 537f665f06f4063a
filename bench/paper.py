"""The paper's experiments at the size of one small machine: unchanged programs under limits.

    python bench/paper.py matvec           kernel matrix times vector: peak and time over n, plots
    python bench/paper.py knn              nearest neighbours: stock, split by hand, weir
    python bench/paper.py sgpr             12 times the inducing points in the memory of stock XLA
    python bench/paper.py encoder          transformer encoder, sequences of 250 to 2000
    python bench/paper.py attention        attention alone, sequences of 2048 to 16384
    python bench/paper.py mlp              very wide hidden layer, full batch, value and gradients
    python bench/paper.py cg               conjugate gradients with a preconditioner
    python bench/paper.py all

In:   the programs of examples/ (bench/programs.py); measured by bench/run.py in fresh processes.
Out:  a table on stdout; paper-NAME.json and paper-NAME.md (matvec: two .svg as well) in --out.
      Exit code 0 if every limit was kept and every result agrees with its reference.
--small takes sizes of a few seconds each, to test this program. --largest leaves out the cases
that stock XLA would need more for. Data is random of the shapes in the paper: time and memory do
not depend on its values. `peak` is arguments + growth of the process; `stock` columns are empty
where a third of the free memory would not do.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import chunked
import environments
import plot
import programs
import run

MB, GB = 10**6, 10**9
MODES = ("stock", "chunked", "weir")


@dataclasses.dataclass
class Case:
    program: str
    label: str
    sizes: dict
    limit: object  # bytes, or a function of the worker's first answer
    rows: int  # block length of the version split by hand


def scratch(extra_bytes):
    """A limit: arguments, results, and so much more."""
    return lambda report: report["argument_bytes"] + report["output_bytes"] + extra_bytes


def matvec(small):
    ns, limits = (1000, 10_000, 30_000, 100_000), (100 * MB, GB, 4 * GB)
    if small:
        ns, limits = (500, 4000), (20 * MB,)
    for n in ns:
        for limit in limits:
            yield Case("p1", f"n = {n:,}", dict(n=n, d=1), limit, 64)


def knn(small):
    shapes = [(10_000, 3), (10_000, 100), (1_000_000, 3), (1_000_000, 100), (60_000, 784)]
    shapes += [(1_183_514, 50), (1_183_514, 100), (1_183_514, 200)]
    queries, extra = {"L2": 1000, "cosine": 1000, "L1": 100}, 100 * MB
    if small:
        shapes, queries, extra = [(30_011, 10)], dict.fromkeys(queries, 100), 2 * MB
    names = {"L2": "p2", "L1": "knn_manhattan", "cosine": "knn_cosine"}
    for metric, m in queries.items():
        for n, d in shapes:
            rows = max(1, min(m, 4_000_000 // n)) if metric != "L1" else 1
            yield Case(
                names[metric],
                f"{metric}, {n:,} x {d}",
                dict(n=n, m=m, d=d, k=10),
                scratch(extra),
                rows,
            )


def sgpr(small):
    """The limit is what stock XLA needs for so many inducing points; then up to 12.5 times more."""
    n, base, factors = (10_000, 10, (13,)) if small else (100_000, 80, (1, 3, 12.5))
    limit = stock_need("p3", dict(n=n, d=8, m=base))
    for factor in factors:
        m = int(base * factor)
        yield Case("p3", f"m = {m:,} (n = {n:,})", dict(n=n, d=8, m=m), limit, 1000)


def encoder(small):
    batch, sequences, extra = (
        (8, (250,), 8 * MB) if small else (64, (250, 500, 1000, 2000), 100 * MB)
    )
    for s in sequences:
        sizes = dict(batch=batch, sequence=s, width=512, hidden=2048, layers=2)
        yield Case("encoder", f"{batch} x {s:,} x 512", sizes, scratch(extra), min(s, 250))


def attention(small):
    sequences, extra = ((1024,), 8 * MB) if small else ((2048, 4096, 8192, 16_384), 100 * MB)
    for s in sequences:
        sizes = dict(batch=1, heads=8, sequence=s, width=64)
        yield Case("p5", f"8 x {s:,} x 64", sizes, scratch(extra), 128)


def mlp(small):
    shapes, limit = [(5000, 100_000), (50_000, 100_000)], 256 * MB
    if small:
        shapes, limit = [(3000, 5000)], 16 * MB
    for n, hidden in shapes:
        sizes = dict(n=n, d=32, hidden=hidden)
        yield Case("wide_mlp", f"{n:,} x 32 - {hidden:,} - 1", sizes, limit, 100)


def cg(small):
    sizes, limit = ([(2500, 20)], 12 * MB) if small else ([(5000, 200), (20_000, 200)], 200 * MB)
    for n, m in sizes:
        yield Case("kernel_cg", f"n = {n:,}", dict(n=n, d=8, m=m, steps=10), limit, 64)


EXPERIMENTS = {f.__name__: f for f in (matvec, knn, sgpr, encoder, attention, mlp, cg)}


def stock_need(name, sizes):
    worker = run.Worker("naive", programs.get(name), sizes, 0)
    worker.close()
    return worker.start["report_bytes"]


def gpflow_bound(params, x, y):
    """GPflow's own bound."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problem.npz")
        np.savez(path, x=x, y=y, **params)
        script = os.path.join(programs.HERE, "gpflow_bound.py")
        python = environments.python_of("gpflow")
        done = subprocess.run([python, script, path], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def compare_bounds(row):
    """Columns of the SGPR table: the bound, and how far it is from GPflow's and from NumPy's."""
    bound, columns = row.get("weir_first"), {}
    inputs = programs.get("p3").load().make_inputs(**row["sizes"])
    columns["bound"] = run.cell("%.9g", bound)
    for name, want in (("GPflow", gpflow_bound(*inputs)), ("NumPy", chunked.sgpr_numpy(*inputs))):
        error = None if bound is None or want is None else abs(bound - want) / abs(want)
        columns["bound vs " + name] = run.cell("%.1e", error)
        if error is not None and not error <= 1e-8:
            row["problems"].append(f"bound {bound!r}, {name}'s is {want!r}")
    return columns


def further_columns(experiment, row):
    if experiment == "sgpr":
        return compare_bounds(row)
    if experiment == "knn":
        seconds = row.get("weir_time")
        return {"queries/s": run.cell("%.0f", row["sizes"]["m"] / seconds if seconds else None)}
    return {}


def measure(experiment, case, rounds, largest_bytes):
    program = programs.get(case.program)
    if largest_bytes and stock_need(case.program, case.sizes) > largest_bytes:
        return None
    row = run.measure(program, case.sizes, case.rows, case.limit, rounds, MODES)
    row["name"], row["program"] = case.label, case.program
    row["columns"] = further_columns(experiment, row)
    by_hand = row.get("chunked_error")
    if by_hand is not None and not by_hand <= program.tolerance:
        row["problems"].append(f"the version split by hand is off by {by_hand:.1e}")
    return row


HEADER = run.HEADER + ("peak MB", "stock s", "stock cpu ratio", "stock error")


def cells(row):
    """The columns of bench/run.py and what stock XLA did where it was run."""
    line, good = run.line(row, programs.get(row["program"]), False)
    growth, stock, cpu = row.get("weir_growth"), row.get("stock_cpu"), row.get("weir_cpu")
    more = (
        run.mb(None if growth is None else growth + row["arguments"]),
        run.cell("%.2f", row.get("stock_time")),
        run.cell("%.2f", cpu / stock if cpu and stock else None),
        run.cell("%.1e", row.get("stock_error")),
    )
    return line + more + tuple(row["columns"].values()), good


def show(values):
    print("| " + " | ".join(values) + " |", flush=True)


def markdown(experiment, header, lines):
    rule = ["---"] + ["--:"] * (len(header) - 1)
    table = "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])
    return f"# {experiment}\n\n{table}\n"


def plots(rows):
    """As the paper's figure 2: peak and time over n, a line per limit."""

    ran = [row for row in rows if "weir_time" in row]

    def points(limit, value):
        pairs = [(r["sizes"]["n"], value(r)) for r in ran if r["limit"] == limit]
        return [(n, v) for n, v in pairs if v is not None]

    limits = sorted({row["limit"] for row in rows})
    names = [f"limit {limit / MB:,.0f} MB" for limit in limits]
    peaks = [points(x, lambda r: (r["weir_growth"] + r["arguments"]) / MB) for x in limits]
    times = [points(x, lambda r: r["weir_time"]) for x in limits]
    need = sorted({(r["sizes"]["n"], r["naive"] / MB) for r in rows})
    by_hand = points(limits[0], lambda r: r.get("chunked_time"))
    solid = [False] * len(limits)
    peak = [*zip(names, peaks, solid), ("stock XLA would need", need, True)]
    time = [*zip(names, times, solid), ("split by hand", by_hand, True)]
    return {
        "peak": plot.log_log("Kernel matrix times vector: peak", "n", "MB", peak),
        "time": plot.log_log("Kernel matrix times vector: time", "n", "seconds", time),
    }


def save(experiment, rows, header, lines, folder):
    os.makedirs(folder, exist_ok=True)
    files = {"json": json.dumps(rows, indent=1), "md": markdown(experiment, header, lines)}
    if experiment == "matvec":
        files |= {f"{name}.svg": text for name, text in plots(rows).items()}
    for suffix, text in files.items():
        with open(os.path.join(folder, f"paper-{experiment}.{suffix}"), "w") as f:
            f.write(text)


def conduct(experiment, args):
    rows, lines, all_good, header = [], [], True, None
    for case in EXPERIMENTS[experiment](args.small):
        row = measure(experiment, case, args.rounds, args.largest)
        if row is None:
            continue
        if header is None:
            header = HEADER + tuple(row["columns"])
            show((experiment,) + header[1:])
        line, good = cells(row)
        rows, lines, all_good = rows + [row], lines + [line], all_good and good
        show(line)
        for problem in row["problems"]:
            print("    " + problem, flush=True)
        all_good = all_good and not row["problems"]
    if rows:
        save(experiment, rows, header, lines, args.out)
    return all_good


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("experiment", nargs="+", choices=[*EXPERIMENTS, "all"])
    ap.add_argument("--small", action="store_true")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--largest", type=run.parse_bytes, metavar="BYTES")
    ap.add_argument("--out", default=run.CACHE)
    args = ap.parse_args()
    names = list(EXPERIMENTS) if "all" in args.experiment else args.experiment
    return 0 if all([conduct(name, args) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
