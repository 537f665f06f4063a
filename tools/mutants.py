"""Changes one operator, constant or condition of the C sources at a time, and runs the quick tests.

    python tools/mutants.py run [--count 300] [--seed 1] [--paths src/pass ...] [--jobs 1]
    python tools/mutants.py report
    python tools/mutants.py list --paths src/pass/cse.c

`run` tries mutants in an order that the seed gives until `count` of them were tried, and goes on
where it was stopped. What doesn't compile, or compiles to the same object code, is not counted. A
mutant is noticed by a test that fails, a crash, or more time than a command may take. What no test
notices needs a test, or a reason in test/mutants/reasons.toml. See docs/testing.md.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import queue
import resource
import subprocess
import sys
import time
import tomllib

import mutants_build
import mutants_sites
import mutants_tests

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Readers and printers have fuzzers of their own; the rest only runs what others decided.
SPARE = 3  # halves of the count are built in: what turns out the same program is not counted
LEFT_OUT = ("base", "ir", "in", "out", "call", "cli")


def default_paths(root):
    return [
        str(p.relative_to(root))
        for p in sorted((root / "src").iterdir())
        if p.name not in LEFT_OUT and (p.is_dir() or p.suffix == ".c")
    ]


def cpu_seconds():
    """Of this process and the commands that ended."""
    use = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in use)


def reasons(path):
    """{key: why}"""
    entries = tomllib.loads(path.read_text()).get("same", []) if path.exists() else []
    return {e["mutant"]: e["why"] for e in entries}


# ---- results ----
class Results:
    """One line of JSON per mutant; the last one of a key holds."""

    def __init__(self, path, keep):
        self.path, self.at = path, {}
        if keep and path.exists():
            for line in path.read_text().splitlines():
                one = json.loads(line)
                self.at[one["key"]] = one
        elif path.exists():
            path.unlink()

    def add(self, mutant, digest, state, by=None, seconds=0.0):
        one = {"key": mutant.key, "path": mutant.path, "number": mutant.number, "digest": digest}
        one |= {"state": state, "by": by, "seconds": round(seconds, 2)}
        self.at[mutant.key] = one
        with self.path.open("a") as f:
            f.write(json.dumps(one) + "\n")
        return one

    def find(self, mutant, digest):
        """Of the same file; what survived was another set of tests, perhaps."""
        one = self.at.get(mutant.key)
        return one if one and one["digest"] == digest else None


# ---- one mutant ----
def try_mutant(mutant, worker, tests, credit, budget):
    """(state, the test that noticed it)"""
    programs, state = worker.take(mutant)
    if state:
        return state, None
    block = worker.base.block_of(mutant)
    chosen = mutants_tests.relevant(tests, block, mutant.path, credit)
    end = cpu_seconds() + budget
    by = mutants_tests.first_failure(chosen, block, programs, lambda: cpu_seconds() > end)
    if by:
        return "noticed", by
    if worker.is_same(mutant):
        return "same", None
    return ("survived" if chosen else "not reached"), None


def prepared(args):
    """The builds and the tests."""
    start = cpu_seconds()
    base = mutants_build.Base(args.root, args.work, args.paths, args.jobs)
    switched = mutants_of(base, args)[: SPARE * args.count // 2] if not args.one_by_one else []
    base.mark(switched, args.jobs)
    programs = args.work / "programs"
    stamp = programs / f"seeds-{args.seeds}"
    if args.seeds and not stamp.exists():
        command = [sys.executable, base.tree / "tools/mutants_programs.py", programs]
        settings = {"WEIR_BUILD": str(base.build), "JAX_PLATFORMS": "cpu"}
        environment = mutants_build.environment() | settings
        subprocess.run([*command, "--seeds", str(args.seeds)], check=True, env=environment)
        stamp.touch()
    tests = mutants_tests.Recorder(base).all(programs)
    kinds = collections.Counter(t.kind for t in tests)
    seconds = cpu_seconds() - start
    print(
        f"{len(tests)} tests ({dict(kinds)}), {len(base.numbers)} of {len(switched)} mutants in one "
        f"build, {seconds:.0f} s of CPU to prepare",
        flush=True,
    )
    return base, tests


def mutants_of(base, args):
    found = mutants_sites.in_order_of_seed(args.seed, base.mutants())
    if args.match:
        found = [m for m in found if args.match in m.key]
    return found[args.first :]


def run_all(args):
    base, tests = prepared(args)
    results = Results(args.work / f"results-{args.seed}.jsonl", not args.fresh)
    workers = queue.SimpleQueue()
    for number in range(args.jobs):
        workers.put(mutants_build.Worker(base, number))
    credit, why = collections.Counter(), reasons(args.reasons)
    todo = iter(mutants_of(base, args))

    def one(mutant):
        digest = mutants_tests.digest(base.source(mutant.path))
        old = results.find(mutant, digest)
        is_open = old and old["state"] in ("survived", "not reached") and mutant.key not in why
        if old and not (args.again and is_open):
            return old
        worker, start = workers.get(), cpu_seconds()
        try:
            state, by = try_mutant(mutant, worker, tests, credit, args.budget * args.jobs)
        finally:
            workers.put(worker)
        if by:
            credit[(mutant.path, by)] += 1
        seconds = (cpu_seconds() - start) / args.jobs
        found = results.add(mutant, digest, state, by, seconds)
        where = f"{mutant.path}:{mutant.number}"
        print(f"{state:12} {seconds:6.1f} s  {where} {mutant.key}", flush=True)
        return found

    chosen, n = [], 0
    stop = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        while n < args.count and time.monotonic() < stop:
            batch = list(itertools.islice(todo, min(args.count - n, 4 * args.jobs)))
            if not batch:
                break
            for found in pool.map(one, batch):
                chosen.append(found)
                n += found["state"] not in ("same", "invalid")
            text = json.dumps([found["key"] for found in chosen])
            (args.work / f"chosen-{args.seed}.json").write_text(text)
    return report(args)


# ---- the report ----
def report(args):
    results = Results(args.work / f"results-{args.seed}.jsonl", True)
    keys = json.loads((args.work / f"chosen-{args.seed}.json").read_text())
    why, states = reasons(args.reasons), collections.Counter()
    folders = collections.defaultdict(collections.Counter)
    open_ones, seconds = [], 0.0
    for one in (results.at[key] for key in keys):
        state, folder = one["state"], str(pathlib.Path(one["path"]).parent)
        seconds += one["seconds"]
        if state in ("survived", "not reached"):
            if one["key"] in why:
                state = "reason"
            else:
                open_ones.append(one)
        states[state] += 1
        folders[folder][state] += 1
    for one in sorted(open_ones, key=lambda o: (o["path"], o["number"])):
        print(f"{one['state']}: {one['path']}:{one['number']}\n  {one['key']}")
    columns = ("noticed", "survived", "not reached", "reason")
    print(f"\n{'':24}" + "".join(f"{c:>13}" for c in columns))
    for folder, counts in [*sorted(folders.items()), ("all", states)]:
        print(f"{folder:24}" + "".join(f"{counts[c]:>13}" for c in columns))
    n = sum(states[c] for c in columns)
    print(
        f"\n{states['noticed']} of {n} mutants noticed "
        f"({100 * states['noticed'] / max(1, n):.1f} %), "
        f"{states['reason']} not noticed with a reason, {len(open_ones)} without; "
        f"{states['same']} the same program, {states['invalid']} do not compile; "
        f"{seconds / max(1, n):.1f} s of CPU each"
    )
    return bool(open_ones)


def show(args):
    for path in mutants_build.sources(args.root, args.paths):
        for m in mutants_sites.mutants(path, (args.root / path).read_bytes()):
            print(f"{path}:{m.number} {m.key}")


def main():
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=["run", "report", "list"])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, help="leave out so many of the order")
    parser.add_argument("--paths", nargs="*", help="C files or folders; default: all that decides")
    parser.add_argument("--match", help="only mutants whose key has this text")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=15, help="seconds of CPU per mutant")
    parser.add_argument("--seeds", type=int, default=24, help="random programs of each kind")
    parser.add_argument("--again", action="store_true", help="try what survived without a reason")
    parser.add_argument("--one-by-one", action="store_true", help="a build for each mutant")
    parser.add_argument("--minutes", type=float, help="stop after so many; goes on when called again")
    parser.add_argument("--fresh", action="store_true", help="forget all results")
    parser.add_argument("--seconds", type=int, default=20, help="of CPU that one command may take")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--work", type=pathlib.Path, help="default: build/mutants")
    parser.add_argument("--reasons", type=pathlib.Path, help="default: test/mutants/reasons.toml")
    args = parser.parse_args()
    args.root = args.root.resolve()
    args.paths = args.paths or default_paths(args.root)
    args.reasons = args.reasons or args.root / "test/mutants/reasons.toml"
    args.work = (args.work or args.root / "build/mutants").resolve()
    mutants_tests.SECONDS = args.seconds
    args.work.mkdir(parents=True, exist_ok=True)
    return {"run": run_all, "report": report, "list": show}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
