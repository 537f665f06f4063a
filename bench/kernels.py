"""Loops as kernels: weir beside C written by hand, JAX split by hand, plain JAX and what else people
use (KeOps, FAISS, scikit-learn and Intel's extension of it, ONNX Runtime, OpenVINO, PyTorch,
torch.compile, POT, OTT, GPyTorch, GPflow), in one run.

    python bench/kernels.py                        all cases at full size (an hour and a half)
    python bench/kernels.py matvec_f32 'knn_*'     some
    python bench/kernels.py --scale 10             a tenth of the size
    python bench/kernels.py --cpu                  CPU seconds: on a machine that others use, too
    python bench/kernels.py --by-way               a row per way: both times, its process's memory
    python bench/kernels.py --report               runs nothing, prints what is known
    python bench/kernels.py --report --plot FILE   the ratios as dots, too (SVG)

Per case and way, in fresh processes that take turns: median seconds of --rounds runs (each process
runs twice and the second counts; where the first takes 5 s, it counts; where the second takes less
than half a second, the median of up to 25 more), their ratio to weir's, and what weir's process grew
by while it ran. Ways that noise cannot bring near weir's time, and those
of minutes, run in the first round alone (`worth_repeating`). Programs are unchanged plain JAX; the
limit that weir is given is small, so that it has to split. Plain JAX is left out where its
intermediates do not fit the machine. Results are checked against each other.

The others live in environments of their own (bench/peers.txt, bench/gpflow.txt), which are made
when they are missing; without them: --ways C 'by hand' plain. What was measured lies in build/bench/kernels.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys

import environments
import plot
from environments import BUILD, HERE
from kernel_cases import CASES, inputs
from measure import LONG_SECONDS, measured

REFERENCE = HERE / "reference"
CFLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp".split()
MOST_PLAIN_BYTES = 6 << 30  # of intermediates
SURE_LIMIT_BYTES = 1 << 40
VERY_LONG_SECONDS = 60  # of one run
FAR = 3  # times weir's seconds


# ---- one process of JAX ----
def bytes_of(tree):
    import jax

    leaves = jax.tree.leaves(tree)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)


def limit_of(case, lowered, arrays, smaller=1):
    """Bytes; what is above arguments and results, divided by `smaller`."""
    if case.limit_mb is None:
        return SURE_LIMIT_BYTES
    return bytes_of(arrays) + bytes_of(lowered.out_info) + case.limit_mb * 10**6 // smaller


def compiled(case, way, lowered, arrays):
    if way != "weir":
        return lowered.compile()
    import weir

    with weir.limit(limit_of(case, lowered, arrays)):
        return lowered.compile()


def program_of(case, scale, by_hand=False):
    """The function and its arguments, on the device."""
    import jax
    import kernel_programs

    jax.config.update("jax_enable_x64", case.dtype == "f64")
    arrays = [jax.device_put(a) for a in inputs(case, case.n // scale)]
    program = getattr(kernel_programs, case.program)
    over = kernel_programs.blocks(case.rows) if by_hand else kernel_programs.whole
    return lambda *a: program(over, *a), arrays


def worker(name, way, scale):
    """Prints seconds and bytes grown of the second run, and a checksum."""
    import jax
    import numpy as np

    case = CASES[name]
    program, arrays = program_of(case, scale, way == "by hand")
    f = compiled(case, way, jax.jit(program).lower(*arrays), arrays)
    found, out = measured(lambda: jax.block_until_ready(f(*arrays)))
    first = np.asarray(jax.tree.leaves(out)[0], np.float64)
    print(json.dumps(found | {"sum": float(first.sum())}))


# ---- taking turns ----
def run(command, what, environment=None):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr[-800:]}")
    return done.stdout.splitlines()[-1]


def run_jax(name, way, scale):
    command = [sys.executable, __file__, "--worker", name, way, "--scale", scale]
    return json.loads(run(command, f"{name}, {way}"))


def run_peer(name, peer, scale):
    """With as many threads as weir's kernels have."""
    python = environments.python_of("gpflow" if peer == "gpflow" else "peers")
    threads = {"OMP_NUM_THREADS": str(os.cpu_count())}
    command = [python, HERE / "peers.py", name, peer, scale]
    return json.loads(run(command, f"{name}, {peer}", {**os.environ, **threads}))


def run_c(name, scale):
    case = CASES[name]
    program = BUILD / f"{case.c}_{case.dtype}"
    sizes = [case.n // scale, case.d, *([case.m] if case.m else [])]
    seconds, cpu_seconds = map(float, run([program, *sizes, 2], name).split()[:2])
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "sum": None}


def build_c(case):
    program = BUILD / f"{case.c}_{case.dtype}"
    define = ["-DF32"] if case.dtype == "f32" else []
    source = REFERENCE / f"{case.c}.c"
    subprocess.run(["gcc", *CFLAGS, *define, source, "-o", program, "-lm"], check=True)


def runners(name, scale, wanted):
    """{way: what runs it once}"""
    case = CASES[name]
    ways = ["weir"]
    if case.rows:
        ways.append("by hand")
    if case.intermediate_bytes(case.n // scale) < MOST_PLAIN_BYTES:
        ways.append("plain")
    found = {way: lambda way=way: run_jax(name, way, scale) for way in ways}
    if case.c:
        build_c(case)
        found["C"] = lambda: run_c(name, scale)
    for peer in case.peers:
        found[peer] = lambda peer=peer: run_peer(name, peer, scale)
    chosen = set(wanted or found) & set(case.ways or found) | {"weir"}
    return {way: once for way, once in found.items() if way in chosen}


def check(name, runs):
    sums = {way: done[0]["sum"] for way, done in runs.items() if done[0]["sum"] is not None}
    tolerance = 1e-3 if CASES[name].dtype == "f32" else 1e-8
    for way, found in sums.items():
        if abs(found - sums["weir"]) > tolerance * max(abs(found), 1e-30):
            raise RuntimeError(f"{name}: {way} has {found}, weir {sums['weir']}")


def worth_repeating(done, weir):
    """False: what ran already took minutes, or seconds and several times as long as weir."""
    if not done:
        return True
    seconds = done[0]["seconds"]
    far = seconds > FAR * weir[0]["seconds"]
    return seconds < VERY_LONG_SECONDS and not (far and seconds > LONG_SECONDS)


def measure(name, args):
    BUILD.mkdir(parents=True, exist_ok=True)
    found = runners(name, args.scale, args.ways)
    runs = {way: [] for way in found}
    for _ in range(args.rounds):
        for way, once in found.items():
            if worth_repeating(runs[way], runs["weir"]):
                runs[way].append(once())
    check(name, runs)
    file = known_file(name, args.scale)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(runs, indent=1) + "\n")


# ---- what is known ----
def known_file(name, scale):
    return BUILD / "kernels" / f"{name}{'' if scale == 1 else f'-{scale}'}.json"


OURS = ("C", "by hand", "plain")


def median(runs, key="seconds"):
    return statistics.median(r[key] for r in runs)


def ratios_to_weir(runs, key="seconds"):
    """{way: its seconds / those of weir}"""
    weir = median(runs["weir"], key)
    return {way: median(done, key) / weir for way, done in runs.items() if way != "weir"}


def row(name, runs, key):
    grown = max(r["grown"] for r in runs["weir"])
    ratios = ratios_to_weir(runs, key)
    cells = [name, f"{median(runs['weir'], key):.3f}", f"{grown / 1e6:.0f}"]
    cells += [f"{ratios[way]:.2f}" if way in ratios else "-" for way in OURS]
    others = [f"{way} {ratio:.2f}" for way, ratio in ratios.items() if way not in OURS]
    return [*cells, ", ".join(others) or "-"]


def way_rows(name, runs):
    """[case, way and its version, CPU s, s, ratio of CPU s to weir's, grew MB, process MB]"""
    weir = median(runs["weir"], "cpu_seconds")
    for way, done in runs.items():
        cpu, version = median(done, "cpu_seconds"), done[0].get("version", "")
        memory = [max(r[key] for r in done) / 1e6 if key in done[0] else None for key in MEMORY]
        cells = [f"{cpu:.3f}", f"{median(done):.3f}", f"{cpu / weir:.2f}"]
        cells += ["-" if mb is None else f"{mb:.0f}" for mb in memory]
        yield [name, f"{way} {version}".strip(), *cells]


MEMORY = ("grown", "peak")
BY_WAY = "| case | way | CPU s | s | CPU s / weir's | grew MB | process MB |\n|---|---|" + "--:|" * 5


def plot_ratios(known, path):
    """known: {case: its runs}. Cases that weir ran alone are left out."""
    rows = [(name, ratios_to_weir(runs)) for name, runs in known.items() if len(runs) > 1]
    label = "seconds of the others / seconds of weir"
    pathlib.Path(path).write_text(plot.log_dots("Loops as kernels", label, rows))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("cases", nargs="*", help="names or patterns of: " + ", ".join(CASES))
    add("--scale", type=int, default=1)
    add("--rounds", type=int, default=5)
    add("--ways", nargs="+", help="beside weir only these: C, 'by hand', plain, keops, ...")
    add("--cpu", action="store_true", help="CPU seconds in place of seconds")
    add("--by-way", action="store_true", help="a row per way")
    add("--report", action="store_true", help="run nothing")
    add("--plot", metavar="FILE", help="ratios as an SVG file")
    add("--worker", nargs=2, metavar=("CASE", "WAY"), help=argparse.SUPPRESS)
    return parser, parser.parse_args()


def main():
    parser, args = parse_arguments()
    if args.worker:
        return worker(*args.worker, args.scale)
    for pattern in args.cases:
        if not fnmatch.filter(CASES, pattern):
            parser.error(f"no case {pattern}")
    names = [n for n in CASES if not args.cases or any(fnmatch.fnmatch(n, p) for p in args.cases)]
    ratios = "".join(f" {way} / weir |" for way in (*OURS, "others"))
    unit = "CPU s" if args.cpu else "s"
    head = f"| case | weir {unit} | grew MB |{ratios}\n|---|" + "--:|" * 5 + "---|"
    print(BY_WAY if args.by_way else head, flush=True)
    known, key = {}, "cpu_seconds" if args.cpu else "seconds"
    for name in names:
        if not args.report:
            measure(name, args)
        if known_file(name, args.scale).exists():
            known[name] = json.loads(known_file(name, args.scale).read_text())
            rows = way_rows(name, known[name]) if args.by_way else [row(name, known[name], key)]
            for cells in rows:
                print("| " + " | ".join(cells) + " |", flush=True)
    if args.plot:
        plot_ratios(known, args.plot)


if __name__ == "__main__":
    main()
