"""What compiling takes: stock XLA beside weir under a limit, over the programs of bench/users.py
and a GPT's training step of 12 layers (bench/gpt.py).

    python bench/compile_time.py                   all, at a tenth of their memory
    python bench/compile_time.py gpt '*attention*' some
    python bench/compile_time.py --every 7         a sample
    python bench/compile_time.py --full            at full size; nothing is run, so nothing is held
    python bench/compile_time.py --kept            of a second process: what the first one kept is there

Each program is compiled in fresh processes: stock, then under the limit of bench/users.py
(arguments, results and a tenth of stock's temporaries; the GPT under 1 GB). Of kernels and timed
choices nothing is kept yet, unless --kept; the computer is measured. Seconds of the clock, and of CPU: on a busy machine read these. Growth is that of the
process's largest resident set while it compiles. The last lines are of what was not refused: weir's
CPU seconds beyond 2 x stock's + 1 s at the median, and beyond 3 x + 2 s at worst, and what the
process grew by more than stock's: negative is good.
"""

import argparse
import fnmatch
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import gpt
from needs import needs_of
from user_programs import PROGRAMS
from users import KEPT, limit_of

GPT, GPT_LAYERS, GPT_LIMIT = "gpt", 12, 10**9
MOST_SECONDS = 600


# ---- one process ----
def lowered(name, full):
    import jax

    if name == GPT:
        return gpt.lowered(GPT_LAYERS)
    program = PROGRAMS[name]
    jax.config.update("jax_enable_x64", program.x64)
    return jax.jit(program.function).lower(*program.arguments(not full))


def resident_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def limit_of_stock(program, options):
    return limit_of(*needs_of(program.compile(compiler_options=options)), 0.1)


def worker(name, way, full):
    import jax.numpy as jnp
    from measure import HONEST

    program = lowered(name, full)
    jnp.zeros(1).block_until_ready()  # the backend is there
    before, clock, cpu = resident_mb(), time.perf_counter(), time.process_time()
    try:
        program.compile()
    except Exception as e:
        if "RESOURCE_EXHAUSTED: weir" not in str(e):
            raise
        way = "refused"
    found = {
        "way": way,
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
        "grown_mb": resident_mb() - before,
    }
    if way == "stock":
        found["limit"] = GPT_LIMIT if name == GPT else limit_of_stock(program, HONEST)
    print(json.dumps(found))


# ---- the table ----
def measured(name, way, full, limit=None, folder=None):
    environment = {k: v for k, v in os.environ.items() if k in KEPT or not k.startswith("WEIR_")}
    if limit:
        environment |= {"WEIR_MEMORY_LIMIT": str(limit), "WEIR_CACHE_DIR": folder}
    command = [sys.executable, __file__, "--worker", name, way] + ["--full"] * full
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def under_limit(name, full, limit, machines, kept):
    """What a process takes that is the first on a computer that was measured, or the second."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(machines, folder)
        for _ in range(1 + kept):
            found = measured(name, "weir", full, limit, folder)
    return found


def machines_of(folder):
    """The file that says what this computer does."""
    measured("hsic", "weir", False, 10**7, folder)
    return os.path.join(folder, "machines")


def row(name, stock, weir):
    cells = [name]
    for key, digits in ("seconds", 2), ("cpu_seconds", 2), ("grown_mb", 0):
        cells.append(f"{stock[key]:.{digits}f} -> {weir[key]:.{digits}f}")
    return "| " + " | ".join(cells + ["refused" * (weir["way"] == "refused")]) + " |"


def over(pairs, factor, seconds):
    """Weir's seconds beyond factor x stock's + seconds."""
    return [weir - factor * stock - seconds for stock, weir in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=["*"], help="names or patterns")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of these the n-th alone")
    parser.add_argument("--full", action="store_true", help="at full size")
    parser.add_argument("--kept", action="store_true", help="of a second process")
    parser.add_argument("--worker", nargs=2, metavar=("PROGRAM", "WAY"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(*args.worker, args.full)
    chosen = [n for n in [GPT, *PROGRAMS] if any(fnmatch.fnmatch(n, p) for p in args.programs)]
    chosen = chosen[:: args.every]
    if not chosen:
        parser.error("no such program")
    print("| program | s stock -> weir | CPU s | grew MB | |\n|---|--:|--:|--:|---|", flush=True)
    pairs, grown, held = [], [], []
    home = tempfile.TemporaryDirectory()
    machines = machines_of(home.name)
    for name in chosen:
        stock = measured(name, "stock", args.full)
        weir = under_limit(name, args.full, stock["limit"], machines, args.kept)
        print(row(name, stock, weir), flush=True)
        if weir["way"] != "refused":
            held.append(name)
            pairs.append((stock["cpu_seconds"], weir["cpu_seconds"]))
            grown.append(weir["grown_mb"] - stock["grown_mb"])
    if not held:
        return
    usual, worst = over(pairs, 2, 1), over(pairs, 3, 2)
    print(f"\nbeyond 2 x stock + 1 s: median {statistics.median(usual):.2f} s")
    print(f"beyond 3 x stock + 2 s: worst {max(worst):.2f} s, {held[worst.index(max(worst))]}")
    most = max(grown)
    print(
        f"grew by more than stock's: median {statistics.median(grown):.0f} MB, "
        f"most {most:.0f} MB, {held[grown.index(most)]}"
    )


if __name__ == "__main__":
    sys.exit(main())
