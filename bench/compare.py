"""This checkout's weir beside another's: the same programs under the same limits.

    git worktree add ../before f348fa6             # and build it there
    python bench/compare.py ../before              users' programs and cases of kernels
    python bench/compare.py ../before 'gp_*'       some
    python bench/compare.py ../before --small      a tenth of the memory, some seconds each

Programs are those of bench/users.py under a limit of a tenth of stock's temporaries (--share), and
those of bench/kernels.py under theirs. Each has a process per checkout, which compiles it once; then
both run in turn, a run at a time. CPU seconds are medians. Exits 1 where this checkout refuses what
the other held, XLA reports more than the limit, results are further apart than the program's
tolerance, or one takes more than 1.05 times as long and more than its own noise: twice the other's
least time to median.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PAIR_SECONDS = 6.0  # of CPU, of both, after which no more turns are taken
FEWEST_TURNS, MOST_TURNS = 3, 25
MOST_RATIO = 1.05
KERNELS_TOLERANCE = 1e-3  # of the largest value
SMALLER = 8  # cases of kernels with --small: times fewer rows


# ---- one process, of one checkout ----
def only_from(checkout):
    """Imports of weir find that checkout's, whatever is installed."""
    sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]
    sys.path.insert(0, str(pathlib.Path(checkout, "python")))


def users_program(name, small):
    from users import PROGRAMS, arguments_of

    return PROGRAMS[name].function, arguments_of(PROGRAMS[name], small)


def kernels_program(name, small):
    from kernels import CASES, program_of

    return program_of(CASES[name], SMALLER if small else 1)


def program_of(kind, name, small):
    return (kernels_program if kind == "kernels" else users_program)(name, small)


def limit_of(kind, name, small, share):
    """Bytes; the same for both."""
    import jax
    import kernels
    import users

    function, arguments = program_of(kind, name, small)
    if kind == "kernels":
        lowered = jax.jit(function).lower(*arguments)
        smaller = SMALLER if small else 1
        return kernels.limit_of(kernels.CASES[name], lowered, arguments, smaller)
    share = users.PROGRAMS[name].share or share
    return users.limit_of(*users.report_of(function, arguments), share)


def say(answer):
    print(json.dumps(answer), flush=True)


def worker(checkout, kind, name, small, limit_bytes):
    """Compiles; then runs at each line of stdin and prints CPU seconds; `save PATH` keeps results."""
    only_from(checkout)
    import jax
    import numpy as np
    import weir
    from measure import HONEST
    from users import as_numpy, ready
    from worker import memory_report

    assert pathlib.Path(weir.__file__).is_relative_to(pathlib.Path(checkout).resolve())
    function, arguments = program_of(kind, name, small)
    try:
        with weir.limit(limit_bytes):
            lowered = jax.jit(function).lower(*arguments)
            compiled = lowered.compile(compiler_options=HONEST)
    except Exception as e:
        if "RESOURCE_EXHAUSTED: weir" not in str(e):
            raise
        return say({"refused": True})
    out = ready(compiled(*arguments))  # compiles kernels, touches pages
    say({"report_bytes": memory_report(compiled)["report_bytes"]})
    for line in sys.stdin:
        if line.startswith("save"):
            np.savez(line.split()[1], *map(as_numpy, jax.tree.leaves(out)))
            say({})
            continue
        begun = time.process_time()
        out = ready(compiled(*arguments))
        say({"cpu_seconds": time.process_time() - begun})
    return None


# ---- both ----
def without_settings():
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_")}
    return {k: v for k, v in kept.items() if k != "PYTHONPATH"}


class Process:
    """A worker, and what it says."""

    def __init__(self, *arguments):
        self.log = tempfile.TemporaryFile("w+")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log}
        command = [sys.executable, __file__, "--worker", json.dumps(arguments)]
        self.process = subprocess.Popen(command, text=True, env=without_settings(), **pipes)
        self.found = self.heard()

    def heard(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.process.wait()
        self.log.seek(0)
        last = (self.log.read().strip().splitlines() or ["no word"])[-1]
        return {"problem": last[:120].replace("|", "\\|")}

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.heard()

    def end(self):
        if self.process.poll() is None:
            self.process.communicate("")


def take_turns(pair):
    """CPU seconds of each run of both."""
    seconds = [[], []]
    while len(seconds[0]) < FEWEST_TURNS or (
        sum(map(sum, seconds)) < PAIR_SECONDS and len(seconds[0]) < MOST_TURNS
    ):
        for process, found in zip(pair, seconds):
            found.append(process.ask("run")["cpu_seconds"])
    return seconds


def apart(kind, name, pair):
    """How far the results are from each other, and what is tolerated."""
    from users import PROGRAMS, error_of, load_outputs, worst_error

    with tempfile.TemporaryDirectory() as folder:
        outputs = []
        for i, process in enumerate(pair):
            path = pathlib.Path(folder, f"{i}.npz")
            process.ask(f"save {path}")
            outputs.append(load_outputs(path))
    if kind == "users":
        return worst_error(PROGRAMS[name], *outputs[::-1]), PROGRAMS[name].tolerance
    return max(error_of(*found[::-1], False) for found in zip(*outputs)), KERNELS_TOLERANCE


def limit_found(*arguments):
    """limit_of, in a process of its own; None where stock does not compile the program."""
    command = [sys.executable, __file__, "--limit", json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=without_settings())
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def measured(before, kind, name, small, share):
    """(limit, what both found, seconds of both or None, problems)"""
    limit_bytes = limit_found(kind, name, small, share)
    if limit_bytes is None:
        return None, ({}, {}), None, ["stock does not compile it"]
    pair = [Process(at, kind, name, small, limit_bytes) for at in (before, str(HERE.parent))]
    then, now = (process.found for process in pair)
    said = [f"{who}: {p['problem']}" for who, p in (("then", then), ("now", now)) if "problem" in p]
    if "refused" in now and "report_bytes" in then:
        said.append("refused now")
    if now.get("report_bytes", 0) > limit_bytes:
        said.append("XLA reports more than the limit")
    seconds = None
    if "report_bytes" in then and "report_bytes" in now:
        seconds = take_turns(pair)
        error, tolerance = apart(kind, name, pair)
        said += [f"results {error:.0e} apart"] * (error > tolerance)
        said += ["slower"] * slower(*seconds)
    for process in pair:
        process.end()
    return limit_bytes, (then, now), seconds, said


def slower(then, now):
    """By more than what it may be, and than the other's runs differ among themselves."""
    middle = statistics.median(then)
    noise = 1 + 2 * (middle - min(then)) / middle
    return statistics.median(now) > max(MOST_RATIO, noise) * middle


# ---- the table ----
def mb(found):
    if "report_bytes" in found:
        return f"{found['report_bytes'] / 1e6:.2f}"
    return "refused" if "refused" in found else "-"


def row(kind, name, limit_bytes, pair, seconds, said):
    cells = [f"{name}", f"{limit_bytes / 1e6:.2f}" if limit_bytes else "-", *map(mb, pair)]
    if seconds:
        then, now = map(statistics.median, seconds)
        cells += [f"{then:.4f}", f"{now:.4f}", f"{now / then:.2f}"]
    else:
        cells += ["-"] * 3
    return "| " + " | ".join([*cells, "; ".join(f"**{s}**" for s in said)]) + " |"


def summary(found):
    """found: (pair, seconds, problems) of each program"""
    ratios = [statistics.median(s[1]) / statistics.median(s[0]) for _, s, _ in found if s]
    gained = sum("refused" in then and "report_bytes" in now for (then, now), _, _ in found)
    lost = sum("refused" in now and "report_bytes" in then for (then, now), _, _ in found)
    line = f"{len(found)} programs: {gained} held now that were refused, {lost} lost"
    if ratios:
        line += f"; of {len(ratios)} median {statistics.median(ratios):.2f}"
        line += f", fastest {min(ratios):.2f}, slowest {max(ratios):.2f}"
    return line + f"; {sum(bool(said) for _, _, said in found)} with a problem"


def chosen(patterns, every, part):
    from kernel_cases import CASES
    from users import PROGRAMS

    names = [("users", n) for n in PROGRAMS] + [("kernels", n) for n in CASES]
    fits = [n for n in names if not patterns or any(fnmatch.fnmatch(n[1], p) for p in patterns)]
    return fits[part::every]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("before", nargs="?", help="the other checkout, built")
    add("programs", nargs="*", help="names or patterns")
    add("--small", action="store_true", help="a tenth of the memory; kernels: an eighth of the rows")
    add("--share", type=float, default=0.1, help="of stock's temporaries under the limit")
    add("--part", default="0/1", metavar="I/N", help="programs I, I + N, ...")
    add("--worker", type=json.loads, help=argparse.SUPPRESS)
    add("--limit", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_intermixed_args()
    if args.worker:
        return worker(*args.worker)
    if args.limit:
        return print(limit_of(*args.limit))
    if not args.before:
        parser.error("which other checkout?")
    before = str(pathlib.Path(args.before).resolve())
    part, every = map(int, args.part.split("/"))
    print("| program | limit MB | report then | now | CPU s then | now | now / then | |")
    print("|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    found = []
    for kind, name in chosen(args.programs, every, part):
        limit_bytes, *rest = measured(before, kind, name, args.small, args.share)
        found.append(rest)
        print(row(kind, name, limit_bytes, *rest), flush=True)
    print("\n" + summary(found))
    return 1 if any(said for _, _, said in found) else 0


if __name__ == "__main__":
    sys.exit(main())
