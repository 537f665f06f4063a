"""Runs JAX's own tests under weir, and says where they differ from stock JAX.

    tools/jax_tests.py CHECKOUT                  # all files; every test of them
    tools/jax_tests.py CHECKOUT nn_test lax_*    # some
    tools/jax_tests.py CHECKOUT --tests 50       # a sample of each file, always the same tests
    tools/jax_tests.py CHECKOUT --report         # runs nothing, shows what is known

CHECKOUT has the tests of the jax that pyproject.toml asks for last (tag jax-v0.10.2). Two modes:

 limit      a limit that nothing exceeds: each test must end as with stock JAX, hand XLA the same
            programs and options to the byte, and compare the same arrays to the bit; with kernels
            in place of regions it must end as with stock JAX
 threshold  WEIR_TENSOR_SIZE_THRESHOLD so small that whatever can be split is. A test that fails is
            run again with stock JAX; it is a new failure if it passes there. Both without YNN
            fusions, with which XLA's CPU backend has wrong results of its own, and with identities
            around arguments and results, so that also single operations have something to split

What is known lies in FOLDER/RUN/FILE.jsonl and is not run again; --retry runs again what failed. A
test that crashes or takes too long ends its process; the others go on in a new one. Tests that
examine the compiled program rather than its results are listed, with the reason, in
tools/jax_tests_expected.txt. Exits 1 if there is a difference.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"
NO_YNN = "--xla_cpu_experimental_ynn_fusion_type="
# What JAX's own requirements for its tests ask for, less what no test on a CPU needs.
PACKAGES = "absl-py cloudpickle filelock flatbuffers hypothesis==6.142.1 mpmath==1.3.0 portpicker"
PACKAGES += " pytest<9.0 rich scipy matplotlib pillow"
# Other devices, other machines, other packages; the last two need modules that no wheel has.
LEFT_OUT = """*gpu* *mosaic* multiprocess* *cudnn* magma* *distributed* local_wheel* version_test
package_structure_test documentation_coverage_test pgle_test fused_attention* scaled_matmul*
typing_test profiler* heap_profiler* transfer_guard_test hypothesis_test_util_test
state_test""".split()
GOOD = ("passed", "skipped")
POLL_SECONDS = 0.2
TAIL_CHARACTERS = 6000


@dataclasses.dataclass(frozen=True)
class Run:
    """A way to run tests; its name is a folder."""

    name: str
    weir: dict | None  # environment; None: without weir
    xla_flags: str
    temporaries: bool


def runs_of(args):
    always = {"WEIR_LIBRARY": str(args.library.resolve())} if args.library else {}
    always |= {"WEIR_TILE": args.tile} if args.tile else {}
    limit = always | {"WEIR_MEMORY_LIMIT": args.limit}
    small = {"WEIR_TENSOR_SIZE_THRESHOLD": args.threshold}
    flags = f"{NO_YNN} {args.xla_flags}"
    return {
        "stock": Run("stock", None, args.xla_flags, False),
        "stock-1": Run("stock-1", None, args.xla_flags, False),
        "stock-2": Run("stock-2", None, args.xla_flags, False),
        "limit": Run("limit", limit, args.xla_flags, False),
        "limit-1": Run("limit-1", limit, args.xla_flags, False),
        "stock-threshold": Run("stock-threshold", None, flags, True),
        "threshold": Run("threshold", always | small, flags, True),
    }


# ---- what is known ----
class Known:
    """The lines of one file under one run."""

    def __init__(self, folder, run, file):
        self.path = folder / run.name / f"{file}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.collected, self.chosen, self.tests, self.begun = None, [], {}, None
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            self.take(json.loads(line))

    def take(self, line):
        if "collected" in line:
            self.collected, self.chosen = line["collected"], line["chosen"]
        elif "start" in line:
            self.begun = line["start"]
        elif "forget" in line:
            self.tests.pop(line["forget"], None)
        else:
            self.begun = None
            self.tests[line.pop("end")] = line

    def add(self, **line):
        with self.path.open("a") as out:
            out.write(json.dumps(line) + "\n")
        self.take(dict(line))

    def failed(self):
        return [name for name, test in self.tests.items() if test["outcome"] not in GOOD]


# ---- one process after the other ----
def environment(run, job_path):
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("WEIR_") and name not in ("XLA_FLAGS", "PYTHONPATH")
    }
    paths = [str(TOOLS)] + [str(ROOT / "python")] * (run.weir is not None)
    own |= {
        "PYTHONPATH": os.pathsep.join(paths),
        "XLA_FLAGS": run.xla_flags.strip(),
        "WEIR_JAX_TESTS": str(job_path),
        "JAX_PLATFORMS": "cpu",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return own | {"JAX_SKIP_SLOW_TESTS": "true"} | (run.weir or {})


def is_stuck(path, seconds):
    """Nothing was written for so long: a test that doesn't end."""
    return path.exists() and time.time() - path.stat().st_mtime > seconds


def wait(process, path, seconds, deadline):
    """How it ended: its exit status, or "timeout"."""
    while process.poll() is None:
        if is_stuck(path, seconds) or time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "timeout"
        time.sleep(POLL_SECONDS)
    return process.returncode


running = set()


def end(*_):
    """Of Ctrl-C and SIGTERM: the tests are in sessions of their own."""
    for process in list(running):
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(130)


def one_process(args, run, file, job, deadline):
    """(how it ended, the end of what it printed)"""
    path = pathlib.Path(job["out"])
    log, job_path = path.with_suffix(".log"), path.with_suffix(".job")
    path.touch()
    job_path.write_text(json.dumps(job))
    command = [args.python, "-P", "-m", "pytest", "-q", "-p", "jax_tests_plugin"]
    command += ["-p", "no:cacheprovider", "--no-header", f"tests/{file}.py"]
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            cwd=args.checkout,
            env=environment(run, job_path),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        how = wait(process, path, args.test_seconds, deadline)
        running.discard(process)
    return how, log.read_text(errors="replace")[-TAIL_CHARACTERS:]


def run_file(args, run, file, only=None):
    """Runs what is not known yet. Returns Known."""
    deadline = time.monotonic() + args.file_seconds
    known = Known(args.results, run, file)
    for name in known.failed() if args.retry and only is None else ():
        known.add(forget=name)
    while time.monotonic() < deadline:
        if only is not None and not set(only) - set(known.tests):
            break
        job = {"out": str(known.path), "tests": args.tests, "only": only}
        job |= {"done": sorted(known.tests), "weir": run.weir is not None}
        job["temporaries"] = run.temporaries
        before = len(known.tests)
        how, tail = one_process(args, run, file, job, deadline)
        known = Known(args.results, run, file)
        if how in (0, 1, 5):  # pytest's: all passed, some failed, nothing to run
            break
        outcome = "timeout" if how == "timeout" else "crashed"
        if known.begun and time.monotonic() < deadline:
            known.add(end=known.begun, outcome=outcome, seconds=0, message=f"{how}\n{tail}")
        elif len(known.tests) == before:
            known.add(end="(the file)", outcome=outcome, seconds=0, message=f"{how}\n{tail}")
            break
    return known


# ---- both modes ----
def read_expected(file):
    """[(pattern of FILE::TEST, reason)]"""
    lines = file.read_text().splitlines()
    return [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]


def reason_of(args, file, test):
    for pattern, reason in args.expected:
        if fnmatch.fnmatchcase(f"{file}::{test}", pattern):
            return reason
    return None


def compare(one, other):
    """{test: what differs} of the tests that both runs know. Where a region runs as a kernel of
    weir's, the program is another one and its values are rounded elsewhere: what counts is whether
    the test passes.
    """
    found = {}
    for name in one.tests.keys() & other.tests.keys():
        s, w = one.tests[name], other.tests[name]
        keys = ("outcome", "program_digest", "value_digest")[: 1 if w.get("kernels") else 3]
        differs = [key.partition("_")[0] for key in keys if s.get(key) != w.get(key)]
        if w.get("weir", {}).get("failed"):
            differs.append("weir failed")
        if differs:
            found[name] = ", ".join(differs)
    return found


def limit_row(args, file, stock, limit, twice, again):
    """twice: two more runs of stock, of the tests that differ. Those that differ there, too, or end
    there as under the limit say nothing: addresses in programs, random numbers without a seed,
    programs that depend on the tests run before. again: one more under the limit; tests that gave
    XLA other programs and are as in stock where both ran the same tests before say nothing, either.
    """
    both = stock.tests.keys() & limit.tests.keys()
    differs, unstable = compare(stock, limit), compare(*twice)
    for once in twice:
        unstable |= dict.fromkeys(differs.keys() & once.tests.keys() - compare(once, limit).keys())
    same = twice[0].tests.keys() & again.tests.keys() - compare(twice[0], again).keys()
    unstable |= {name: "" for name in same if differs.get(name) == "program"}
    expected = {name for name in differs if reason_of(args, file, name)}

    def seconds(known):
        return sum(known.tests[name]["seconds"] for name in both)

    return {
        "tests": len(both),
        "programs": sum(limit.tests[name].get("programs", 0) for name in both),
        "values": sum(limit.tests[name].get("values", 0) for name in both),
        "kernels": sum(limit.tests[name].get("kernels", 0) for name in both),
        "differences": {n: differs[n] for n in sorted(differs.keys() - unstable.keys() - expected)},
        "unstable": len(differs.keys() & unstable.keys()),
        "seconds_stock": round(seconds(stock), 2),
        "seconds": round(seconds(limit), 2),
        "seconds_in_weir": round(sum(limit.tests[name].get("weir_seconds", 0) for name in both), 3),
    }


def threshold_row(args, file, stock, small):
    done = collections.Counter()
    for test in small.tests.values():
        done.update(test.get("weir", {}))
    fails = {name: stock.tests.get(name, {}).get("outcome") for name in small.failed()}
    new = {name: small.tests[name] for name, outcome in fails.items() if outcome in GOOD}
    expected = {name: reason_of(args, file, name) for name in new}
    return {
        "tests": len(small.tests),
        "outcomes": dict(collections.Counter(t["outcome"] for t in small.tests.values())),
        "programs": sum(test.get("programs", 0) for test in small.tests.values()),
        "weir": dict(done),
        "loops": sum(test.get("loops", 0) for test in small.tests.values()),
        "kernels": sum(test.get("kernels", 0) for test in small.tests.values()),
        "weir_failed": sorted(n for n, t in small.tests.items() if t.get("weir", {}).get("failed")),
        "fail_in_stock": sorted(n for n, o in fails.items() if o is not None and o not in GOOD),
        "not_run_in_stock": sorted(name for name, o in fails.items() if o is None),
        "expected": {name: reason for name, reason in expected.items() if reason},
        "new_failures": sorted(name for name, reason in expected.items() if not reason),
    }


def look_at(args, file):
    """The file's row of the table; runs what is wanted and not known."""
    runs, row = runs_of(args), {"file": file}
    known = run_file if not args.report else lambda a, run, f, only=None: Known(a.results, run, f)
    if "threshold" in args.modes:
        small = known(args, runs["threshold"], file)
        stock = known(args, runs["stock-threshold"], file, small.failed())
        row |= {"collected": small.collected, "threshold": threshold_row(args, file, stock, small)}
    if "limit" in args.modes:
        stock = known(args, runs["stock"], file)
        limit = known(args, runs["limit"], file)
        differs = list(compare(stock, limit))
        twice = [known(args, runs[name], file, differs) for name in ("stock-1", "stock-2")]
        row["collected"] = row.get("collected") or limit.collected
        again = known(args, runs["limit-1"], file, differs)
        row |= {"limit": limit_row(args, file, stock, limit, twice, again)}
    return row


# ---- the table ----
COLUMNS = (
    "file|has|tests|pass|skip|programs|rewritten|loops|kernels|weir failed|fail as stock|expected"
    "|new fail|limit: tests|programs|arrays|kernels|differ|time|in weir"
).split("|")


def shares(limits):
    """CPU time under the limit by stock's, and the share of it that is weir's."""
    stock, ours, weir = (
        sum(row[key] for row in limits) for key in ("seconds_stock", "seconds", "seconds_in_weir")
    )
    return (f"{ours / stock:.3f}", f"{weir / ours:.2%}") if stock and ours else ("", "")


def cells(row):
    t, w = row.get("threshold"), row.get("limit")
    left, right = [""] * 11, [""] * 7
    if t:
        o = t["outcomes"]
        left = [t["tests"], o.get("passed", 0), o.get("skipped", 0), t["programs"]]
        left += [t["weir"].get("rewritten", 0), t["loops"], t["kernels"]]
        left += [t["weir"].get("failed", 0)]
        left += [len(t[k]) for k in ("fail_in_stock", "expected", "new_failures")]
    if w:
        right = [w["tests"], w["programs"], w["values"], w["kernels"], len(w["differences"])]
        right += shares([w])
    return [row["file"], row.get("collected") or 0, *left, *right]


def total_of(rows):
    columns = list(zip(*map(cells, rows)))[1:] or [[]] * (len(COLUMNS) - 1)
    sums = [sum(v for v in column if isinstance(v, int)) for column in columns]
    sums[-2:] = shares([row["limit"] for row in rows if "limit" in row])
    return [f"{len(rows)} files", *sums]


def print_table(rows, markdown):
    table = [list(COLUMNS), *map(cells, rows), total_of(rows)]
    widths = [max(len(str(value)) for value in column) for column in zip(*table)]
    for number, line in enumerate(table):
        texts = [str(value).rjust(width) for value, width in zip(line, widths)]
        texts[0] = str(line[0]).ljust(widths[0])
        print("| " + " | ".join(texts) + " |" if markdown else "  ".join(texts))
        if markdown and not number:
            print("|" + "---|" * len(widths))


def problems(rows):
    for row in rows:
        for name, what in row.get("limit", {}).get("differences", {}).items():
            yield f"limit: {row['file']}::{name}: differs in {what}"
        small = row.get("threshold", {})
        for name in small.get("new_failures", ()):
            yield f"threshold: {row['file']}::{name}: fails, passes with stock JAX"
        for name in small.get("weir_failed", ()):
            yield f"threshold: {row['file']}::{name}: weir gave up on a program of it"


# ---- setting up ----
def make_venv(folder, version):
    python, stamp = folder / "bin/python", folder / "stamp"
    wanted = f"jax=={version} {PACKAGES}"
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"making {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted.split()], check=True)
        stamp.write_text(wanted)
    return str(python)


def version_of(checkout):
    file = checkout / "jax/version.py"
    found = re.search(r'^_version = "(.*)"', file.read_text(), re.M) if file.exists() else None
    if not found or not (checkout / "tests").is_dir():
        sys.exit(f"{checkout} is no checkout of JAX")
    return found[1]


def chosen_files(args):
    names = sorted(path.stem for path in (args.checkout / "tests").glob("*_test.py"))
    if args.files:
        return [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in args.files)]
    return [n for n in names if not any(fnmatch.fnmatchcase(n, p) for p in LEFT_OUT)]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("checkout", type=pathlib.Path)
    add("files", nargs="*", help="names or patterns: nn_test, lax_*")
    add("--modes", nargs="+", choices=["limit", "threshold"], default=["threshold", "limit"])
    add("--tests", "--limit-tests", type=int, help="so many of each file (default: all)")
    add("--jobs", type=int, default=1, help="files at a time")
    add("--test-seconds", type=float, default=300, help="no test takes longer")
    add("--file-seconds", type=float, default=3600, help="no run of a file takes longer")
    add("--threshold", default="16", help="WEIR_TENSOR_SIZE_THRESHOLD (default 16)")
    add("--limit", default="1TB", help="WEIR_MEMORY_LIMIT (default 1TB)")
    add("--tile", help="WEIR_TILE (default: the hook's)")
    add("--xla-flags", default="", help="more flags, for all runs")
    add("--library", type=pathlib.Path, help="libweir.so (default: the package's)")
    add("--python", help="with jax and its tests' packages (default: made in FOLDER/venv)")
    add("--results", metavar="FOLDER", type=pathlib.Path, default=ROOT / "build/jax-tests")
    add("--expected", type=pathlib.Path, default=TOOLS / "jax_tests_expected.txt")
    add("--retry", action="store_true", help="run failed tests again")
    add("--report", action="store_true", help="run nothing")
    add("--json", type=pathlib.Path, help="also write the rows here")
    add("--markdown", action="store_true")
    return parser.parse_intermixed_args()


def main():
    args = parse_arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    args.checkout, args.results = args.checkout.resolve(), args.results.resolve()
    version, args.expected = version_of(args.checkout), read_expected(args.expected)
    if not args.report and not args.python:
        args.python = make_venv(args.results / "venv", version)
    rows, shown = {}, threading.Lock()

    def look(file):
        row = look_at(args, file)
        with shown:
            rows[file] = row
            if not args.report:
                print(*cells(row), *problems([row]), sep="  ", flush=True)

    files = chosen_files(args)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(look, files))
    known = [rows[file] for file in files if rows[file].get("collected")]
    print_table(known, args.markdown)
    found = list(problems(known))
    print(*found, f"{len(found)} differences", sep="\n")
    if args.json:
        args.json.write_text(json.dumps({"jax": version, "files": known}, indent=1) + "\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
