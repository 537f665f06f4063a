"""Run the programs of examples/ under a memory limit and compare with hand-split JAX.

    python bench/run.py                                  all programs at full size
    python bench/run.py --only p1 --sizes n=20000 --limit 100MB
    python bench/run.py --stock                          without weir: naive report and hand-split

For each program, in fresh processes: (a) what stock XLA would need, from its report, not run; (b)
the hand-split version, default options; (c) the unchanged script with WEIR_MEMORY_LIMIT set. (b)
and (c) run in turn, so that a busy machine slows both alike; times are medians of wall time (and,
for `cpu ratio`, of CPU time, which other processes disturb less).
Memory passes if XLA's report is within the limit and the process grew while running by at most
limit - arguments + 64 MB. A program that no splitting brings under its limit passes if it is
refused with the reason and the smallest limit that would do, runs at that and is refused a page
below.
Agreement is with a reference in f64, kept in build/bench/.
"""

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import chunked
import programs

ALLOWANCE_BYTES = 64_000_000
PAGE_BYTES = 4096
CACHE = os.path.join(os.path.dirname(programs.HERE), "build", "bench")


class Worker:
    """A child process; ask() sends a command and returns its JSON answer."""

    def __init__(self, mode, program, sizes, rows, limit_bytes=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_") or limit_bytes}
        if limit_bytes:
            env["WEIR_MEMORY_LIMIT"] = str(limit_bytes)
        options = json.dumps({"sizes": sizes, "rows": rows, "limit_bytes": limit_bytes})
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(programs.HERE, "worker.py"), mode, program.name, options],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.start = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.log.seek(0)
        tail = " | ".join(self.log.read().strip().splitlines()[-3:])
        return {"error": "process ended with %d: %s" % (code, tail)}

    def ask(self, command):
        if self.process.poll() is not None:
            return {"error": "process has ended"}
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.write("quit\n")
                self.process.stdin.close()
            except OSError:
                pass
        self.process.wait()
        self.log.close()


def load_outputs(path):
    with np.load(path) as f:
        return [f["arr_%d" % i] for i in range(len(f.files))]


def reference(program, sizes, rows):
    """Outputs of the hand-split version in f64 without library fusions, or NumPy's; cached."""
    sources = ["chunked.py"] if program.neighbours else ["chunked.py", "worker.py"]
    key = hashlib.sha256(json.dumps([program.module, program.function, sizes]).encode())
    for s in [os.path.join(programs.HERE, s) for s in sources] + [program.load().__file__]:
        with open(s, "rb") as f:
            key.update(f.read())
    os.makedirs(CACHE, exist_ok=True)
    path = os.path.join(CACHE, "%s-%s.npz" % (program.module, key.hexdigest()[:16]))
    if not os.path.exists(path):
        make_reference(program, sizes, rows, path)
    return load_outputs(path)


def make_reference(program, sizes, rows, path):
    part = path[:-4] + ".part.npz"
    if program.neighbours:
        np.savez(part, *chunked.knn_numpy(*program.load().make_inputs(**sizes), program.neighbours))
    else:
        w = Worker("reference", program, sizes, rows)
        for answer in (w.start, w.ask("run"), w.ask("save " + part)):
            if "error" in answer:
                raise SystemExit("%s: no reference: %s" % (program.name, answer["error"]))
        w.close()
    os.replace(part, path)


def rounds(workers, count):
    """Runs the workers in turn; per worker the list of answers, cut at the first error."""
    answers = [[] for _ in workers]
    for _ in range(count):
        for w, a in zip(workers, answers):
            if "error" not in w.start and not (a and "error" in a[-1]):
                a.append(w.ask("run"))
    return answers


def outputs(worker, answers, folder, name):
    if not answers or "error" in answers[-1]:
        return None
    path = os.path.join(folder, name + ".npz")
    worker.ask("save " + path)
    return load_outputs(path)


def free_bytes():
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))


def measure(program, sizes, rows, limit_bytes, count, modes):
    """One row: what stock XLA needs, then the modes (stock, chunked, weir), run in turn. The limit
    may be a function of stock XLA's report; `stock` only runs in a third of the free memory.
    """
    naive = Worker("naive", program, sizes, rows)
    limit_bytes = limit_bytes(naive.start) if callable(limit_bytes) else limit_bytes
    row = {"name": program.name, "sizes": sizes, "limit": limit_bytes, "problems": []}
    row["naive"] = naive.start.get("report_bytes")
    row["arguments"] = naive.start.get("argument_bytes", 0)
    naive.close()
    want = reference(program, sizes, rows)
    inputs = program.load().make_inputs(**sizes)
    can = {"chunked": program.chunked, "stock": (row["naive"] or float("inf")) <= free_bytes() / 3}
    modes = [m for m in modes if can.get(m, True)]
    workers = {m: Worker(m, program, sizes, rows, limit_bytes if m == "weir" else 0) for m in modes}
    over = workers["weir"].start if "weir" in workers else {}
    if over.get("report_bytes", 0) > limit_bytes:
        over["error"] = "XLA reports %.0f MB: above the limit, not run" % (
            over["report_bytes"] / 1e6
        )
    with tempfile.TemporaryDirectory() as folder:
        for (mode, w), answers in zip(workers.items(), rounds(workers.values(), count)):
            fill(row, mode, w, answers)
            got = outputs(w, answers, folder, mode)
            row[mode + "_error"] = program.error(got, want, inputs) if got else None
            if got and got[0].size == 1:
                row[mode + "_first"] = float(got[0])
            w.close()
    return row


def smallest_limit(refusal):
    """The bytes that a refusal names, or None."""
    found = re.search(r"set it to (\d+) bytes or more", refusal)
    return int(found.group(1)) if found else None


def error_under(limit_bytes, program, sizes):
    worker = Worker("weir", program, sizes, 0, limit_bytes)
    worker.close()
    return worker.start.get("error", "")


def measure_refused(program, sizes, limit_bytes, count, modes):
    """A program that cannot do with its limit: the refusal names why and what would do, rightly."""
    text = error_under(limit_bytes, program, sizes)
    minimum, culprit = smallest_limit(text), program.refusal.format(**sizes)
    row = measure(program, sizes, 0, minimum or limit_bytes, count, modes)
    if "RESOURCE_EXHAUSTED" not in text or not minimum or culprit not in text:
        row["problems"].append("no refusal that names %s and a limit: %s" % (culprit, text[:600]))
    below = error_under((minimum or limit_bytes) - PAGE_BYTES, program, sizes)
    if "RESOURCE_EXHAUSTED" not in below:
        row["problems"].append("not refused a page below the smallest limit")
    row["refused_at"] = limit_bytes
    return row


def fill(row, mode, worker, answers):
    for a in [worker.start] + answers:
        if "error" in a:
            row["problems"].append("%s: %s" % (mode, a["error"][:600]))
    good = [a for a in answers if "error" not in a]
    row[mode + "_report"] = worker.start.get("report_bytes")
    row[mode + "_compile_s"] = worker.start.get("compile_s")
    if good:
        row[mode + "_time"] = statistics.median(a["time_s"] for a in good)
        row[mode + "_cpu"] = statistics.median(a["cpu_s"] for a in good)
        row[mode + "_growth"] = max(a["growth_bytes"] for a in good)


def verdict(row, program):
    allowance = row["limit"] - row["arguments"] + ALLOWANCE_BYTES
    growth, report, error = row.get("weir_growth"), row.get("weir_report"), row.get("weir_error")
    memory = growth is not None and growth <= allowance and report <= row["limit"]
    memory = memory and not (row.get("refused_at") and row["problems"])
    agreement = error is not None and error <= program.tolerance
    return allowance, memory, agreement


def mb(x):
    return "-" if x is None else "%.1f" % (x / 1e6)


def cell(form, x):
    return "-" if x is None else form % x


def ratio(row, what):
    mine, by_hand = row.get("weir_" + what), row.get("chunked_" + what)
    return mine / by_hand if mine and by_hand else None


HEADER = (
    "program",
    "stock MB",
    "limit MB",
    "report MB",
    "grew MB",
    "allowed MB",
    "time s",
    "by hand s",
    "ratio",
    "cpu ratio",
    "by hand grew MB",
    "error",
    "by hand error",
    "memory",
    "agreement",
)


def line(row, program, stock):
    allowance, memory, agreement = verdict(row, program)
    t, hand = row.get("weir_time"), row.get("chunked_time")
    word = (lambda ok: "-") if stock else (lambda ok: "PASS" if ok else "FAIL")
    return (
        row["name"],
        mb(row["naive"]),
        mb(row["limit"]),
        mb(row.get("weir_report")),
        mb(row.get("weir_growth")),
        mb(allowance),
        cell("%.2f", t),
        cell("%.2f", hand),
        cell("%.2f", ratio(row, "time")),
        cell("%.2f", ratio(row, "cpu")),
        mb(row.get("chunked_growth")),
        cell("%.1e", row.get("weir_error")),
        cell("%.1e", row.get("chunked_error")),
        word(memory),
        word(agreement),
    ), memory and agreement


def parse_bytes(text):
    m = re.fullmatch(r"([0-9.]+)(B|kB|MB|GB|KiB|MiB|GiB)?", text)
    if not m:
        raise argparse.ArgumentTypeError("bytes, or with kB MB GB KiB MiB GiB")
    unit = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    return int(float(m.group(1)) * unit.get(m.group(2), 1))


def size(text):
    name, _, value = text.partition("=")
    return name, int(value)


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument(
        "--only",
        action="append",
        help="program (repeatable): " + " ".join(p.name for p in programs.PROGRAMS),
    )
    ap.add_argument("--sizes", nargs="+", type=size, default=[], metavar="NAME=VALUE")
    ap.add_argument("--limit", type=parse_bytes, help="instead of the program's own")
    ap.add_argument("--rows", type=int, help="block length of the hand-split version")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--stock", action="store_true", help="leave weir out")
    ap.add_argument("--small", action="store_true", help="the small sizes and limits of the tests")
    ap.add_argument("--json", help="also write the rows here")
    a = ap.parse_args()
    table, ok = [], True
    print(" | ".join(HEADER), flush=True)
    for p in [programs.get(n) for n in a.only] if a.only else programs.PROGRAMS:
        sizes = p.sizes({**(p.small if a.small else {}), **dict(a.sizes)})
        rows = a.rows or (p.small_rows if a.small else p.rows)
        limit = a.limit or (p.small_limit_bytes if a.small else p.limit_bytes)
        modes = ["chunked"] if a.stock else ["chunked", "weir"]
        if p.refusal:
            row = measure_refused(p, sizes, limit, a.rounds, modes)
        else:
            row = measure(p, sizes, rows, limit, a.rounds, modes)
        cells, passed = line(row, p, a.stock)
        ok, table = ok and (passed or a.stock), table + [row]
        print(" | ".join(cells), flush=True)
        if "refused_at" in row:
            print(
                "    refused at %s MB, run at the smallest limit it named" % mb(row["refused_at"])
            )
        for problem in row["problems"]:
            print("    " + problem, flush=True)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(table, f, indent=1)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
