"""weir's estimate of the peak beside XLA's own report, for programs as they are and as `weir opt`
rewrites them.

    tools/calibrate.py                          test/corpus and the programs of bench/programs.py
    tools/calibrate.py FILE.mlir... --worst 20  any programs; the 20 worst of each kind
    build/devices/bin/python tools/calibrate.py --device h100
                                                the same by the XLA of a device that is not here
    tools/calibrate.py --splits                 the same programs split at thresholds, limits
    tools/calibrate.py --ops 500 [--only conv]  so many of a program or more for each operation of
                                                jax (test/python/op_programs.py), drawn by chance
    tools/calibrate.py --golden                 writes test/python/xla_reports.json anew: this
                                                jaxlib's reports; with --device device_reports.json:
                                                that device's

Each program is compiled for the CPU, never run, in up to three ways: with the honest options
(default), with the memory-optimising scheduler too (ordered), and, where a limit is known
(meta.json beside the file, or the benchmark's), rewritten under that limit (rewritten). With
--splits instead: rewritten at thresholds and limits that are shares of their temporaries. Ratio:
estimate / report, where report = arguments + outputs - aliased + temporaries.

For a device a program is as it came (default), or rewritten for the device; the report is the
larger one of the ways in which its XLA may compile. Programs that its XLA does not compile, such as
those with LAPACK's calls, have no number.

Reports are kept in build/calibrate.json: a second run compiles only what is new. Exits 1 if an
estimate is low.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from measure import HONEST  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release"))
GOLDEN = ROOT / "test/python/xla_reports.json"
DEVICE_GOLDEN = ROOT / "test/python/device_reports.json"
REFUSED = 3  # weir's exit code: no way found under the limit
LOW = 0.98
SLACK_BYTES = 1024  # of tiny programs: scalars, alignment, constants
THRESHOLD_SHARES = (3, 20)  # of the temporaries; --splits
LEAST_THRESHOLD = 64
LIMIT_SHARES = (2, 6, 30)  # the same, on top of arguments and results

ORDERED = {**HONEST, "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
REWRITTEN = {**ORDERED, "xla_disable_hlo_passes": "while-loop-invariant-code-motion"}


@dataclasses.dataclass(frozen=True)
class Way:
    """How programs are compiled."""

    peak: tuple  # options of weir_peak
    xla: tuple  # options of XLA, a dict for each time it is asked
    device: str = None  # a name of weir's; None: the CPU
    is_rewritten: bool = False

    @property
    def opt(self):
        """Options of weir opt."""
        return ("--machine", self.device) if self.device else ()


WAYS = {
    "default": Way((), (HONEST,)),
    "ordered": Way(("--memory",), (ORDERED,)),
    "rewritten": Way(("--unhoisted",), (REWRITTEN,), is_rewritten=True),
}
CPU_WAYS = tuple(WAYS)
PLATFORMS = {"h100": "cuda", "a100-80gb": "cuda", "v5e": "tpu", "v4": "tpu", "v5p": "tpu", "v6e": "tpu"}
# Two ways to compute products, of which autotuning takes one on the card (src/machine/cuda.c).
ANSWERS = {"cuda": ({}, {"xla_gpu_enable_triton_gemm": False}), "tpu": ({},)}


def device_ways(device):
    return device, f"{device} rewritten"


for _device, _platform in PLATFORMS.items():
    for _way, _order in zip(device_ways(_device), ("--memory", "--unhoisted")):
        WAYS[_way] = Way((_order, "--device", _device), ANSWERS[_platform], _device, _way != _device)

# By platform: the least share of a report that is no low estimate, and what may be missing in tiny
# programs: on GPUs one small array.
DEVICE_LOW = {"cuda": 0.95, "tpu": 0.90}
DEVICE_SLACK_BYTES = {"cuda": 300, "tpu": 0}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    text: str
    way: str


@dataclasses.dataclass(frozen=True)
class Row:
    case: Case
    estimate: int
    report: int

    @property
    def ratio(self):
        return self.estimate / max(self.report, 1)

    @property
    def is_low(self):
        """More than 2 % below, and not only by a few scalars of a tiny program."""
        return self.ratio < LOW and self.report - self.estimate > SLACK_BYTES


# ---- programs ----
def rewritten(text, size, option="--memory-limit", more=()):
    """What `weir opt` makes of it under the limit; None where it refuses or changes nothing."""
    command = [BUILD / "weir", "opt", "-", option, str(size), *more]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode not in (0, REFUSED):
        raise SystemExit(f"weir opt: exit {done.returncode}: {done.stderr}")
    return done.stdout if done.returncode == 0 and done.stdout != text else None


def cases_of(name, text, limit=None, ways=CPU_WAYS):
    found = [Case(name, text, way) for way in ways if not WAYS[way].is_rewritten]
    for way in ways if limit else ():
        if WAYS[way].is_rewritten and (new := rewritten(text, limit, more=WAYS[way].opt)):
            found.append(Case(name, new, way))
    return found


def sizes_of_splits(numbers):
    """What to split a program at, by label; numbers: as weir_peak prints them."""
    arguments, outputs, alias, temporaries, _ = numbers
    sizes = {"T64": ("--tensor-size-threshold", LEAST_THRESHOLD)}
    for share in THRESHOLD_SHARES:
        threshold = max(temporaries // share, LEAST_THRESHOLD)
        sizes[f"T{share}"] = ("--tensor-size-threshold", threshold)
    for share in LIMIT_SHARES:
        limit = arguments + outputs - alias + temporaries // share
        sizes[f"L{share}"] = ("--memory-limit", max(limit, 1))
    return sizes


def splits_of(cases):
    """The programs of `cases` as they are split at several sizes, each text once."""
    peaks, found, seen = estimates(cases), [], set()
    for case in cases:
        for label, (option, size) in sizes_of_splits(peaks.get(case, (0,) * 5)).items():
            new = rewritten(case.text, size, option)
            if new and new not in seen:
                found.append(Case(f"{case.name}:{label}", new, "rewritten"))
                seen.add(new)
    return found


def of_operations(count, only, ways):
    """So many of each operation, of each element type, in each form; in 64 bits."""
    sys.path.insert(0, str(ROOT / "test/python"))
    import op_programs

    drawn = op_programs.cells()
    random.Random(0).shuffle(drawn)
    found = []
    for cell in (c for c in drawn if only in " ".join(c)):
        text = op_programs.lowered(*cell) if len(found) < count else None
        found += [(" ".join(cell), text)] if text else []
    return [case for name, text in found for case in cases_of(name, text, ways=ways)]


def limit_beside(path):
    meta = path.parent / "meta.json"
    memory = json.loads(meta.read_text()).get("memory", {}) if meta.exists() else {}
    return memory.get("limit_bytes")


def of_file(path, ways=CPU_WAYS):
    name = path.parent.name + path.stem.removeprefix("program")
    return cases_of(name, path.read_text(), limit_beside(path), ways)


def corpus():
    return sorted((ROOT / "test/corpus").glob("*/program*.mlir"))


def of_examples(small, ways=CPU_WAYS):
    """The benchmark's programs, lowered, at their full or their small size."""
    import jax

    import programs

    found, platform = [], PLATFORMS.get(WAYS[ways[0]].device, "cpu")
    for p in programs.PROGRAMS:
        module = p.load()
        inputs = module.make_inputs(**p.sizes(p.small if small else {}))
        with jax.enable_x64(p.dtype == "f64"):
            traced = getattr(module, p.function).trace(*inputs)
            text = traced.lower(lowering_platforms=(platform,)).as_text()
        limit = p.small_limit_bytes if small else p.limit_bytes
        found += cases_of(f"examples/{p.name}", text, limit, ways)
    return found


# ---- both sides ----
def run_peak(arguments, files):
    """weir_peak's numbers, by file; the last is the total."""
    command = [BUILD / "tools/weir_peak", *arguments, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {line[0]: tuple(map(int, line[1:])) for line in lines}


def estimates(cases):
    """weir_peak's numbers by case; those that weir does not read are missing."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            chosen = [case for case in cases if case.way == way]
            files = [f"{folder}/{way.replace(' ', '-')}{i}.mlir" for i in range(len(chosen))]
            for file, case in zip(files, chosen):
                pathlib.Path(file).write_text(case.text)
            peaks = run_peak(WAYS[way].peak, files) if files else {}
            found |= {c: peaks[file] for file, c in zip(files, chosen) if file in peaks}
    return found


def report_of(case):
    """What XLA reports of the program."""
    if str(ROOT / "test/python") not in sys.path:
        sys.path.insert(0, str(ROOT / "test/python"))
    import running

    way = WAYS[case.way]
    if way.device:
        return max(ahead_of_time(case.text, way.device, options) for options in way.xla)
    return running.Xla(case.text, way.xla[0], as_users=True).report_bytes()


def devices_of(name):
    """One device of that name, to compile for."""
    from weir import _devices

    devices = _devices.resolve(name).devices(1)
    if not devices:
        raise SystemExit(f"XLA's compiler for {name} is not installed: see docs/devices.md")
    return devices


def ahead_of_time(text, device, options):
    """What the XLA of a device that is not here reports."""
    from weir import _ahead
    from weir._jax import ir
    from jax._src.interpreters import mlir

    devices = devices_of(device)
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        compile_options = _ahead.options(module, devices)
        compile_options.env_option_overrides = list(options.items())
        made = _ahead.compile_for(devices[0].client, module, devices, compile_options)
    m = made.get_compiled_memory_stats()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held + m.temp_size_in_bytes


class KeptReports:
    """report_of(), its answers kept in a file."""

    def __init__(self, path):
        self.path = path
        self.known = json.loads(path.read_text()) if path.exists() else {}

    def __call__(self, case):
        import jaxlib

        way = WAYS[case.way]
        text = f"{jaxlib.__version__} {way.device} {way.xla} {case.text}"
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self.known:
            self.known[key] = "its compiler ended the process"
            self.save()
            try:
                self.known[key] = report_of(case)
            except Exception as error:
                self.known[key] = (str(error).splitlines() or [type(error).__name__])[0]
            self.save()
        if isinstance(self.known[key], str):
            raise RuntimeError(self.known[key])
        return self.known[key]

    def save(self):
        self.path.parent.mkdir(exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.known))
        part.replace(self.path)


def compare(cases, report):
    """Rows, worst ratio first, and of what there is no number."""
    peaks, rows, failed = estimates(cases), [], []
    for case in cases:
        try:
            rows.append(Row(case, peaks[case][-1], report(case)))
        except KeyError:
            failed.append(f"{case.name} ({case.way}): no estimate")
        except Exception as error:  # XLA's own: a program that it does not compile
            failed.append(f"{case.name} ({case.way}): {str(error).splitlines()[0][:100]}")
    return sorted(rows, key=lambda row: row.ratio), failed


# ---- what comes out ----
def summary(rows):
    ratios = [row.ratio for row in rows]
    return (
        f"{len(rows)} programs, median {statistics.median(ratios):.3f}, "
        f"within 1 %: {sum(abs(ratio - 1) <= 0.01 for ratio in ratios)}, "
        f"above 1.15: {sum(ratio > 1.15 for ratio in ratios)}, "
        f"below {LOW}: {sum(ratio < LOW for ratio in ratios)}, "
        f"of these by more than {SLACK_BYTES} bytes: {sum(row.is_low for row in rows)}"
    )


def print_table(title, rows, worst):
    low = [row for row in rows if row.ratio < LOW]
    by_bytes = sorted(low, key=lambda row: row.estimate - row.report)
    shown = {"lowest": rows[:worst], "low, by bytes": by_bytes[:worst], "highest": rows[-worst:]}
    print(f"{title}: {summary(rows)}")
    for label, some in shown.items():
        for row in some:
            numbers = f"{row.ratio:6.3f}  {row.estimate:>16,} of {row.report:>16,}"
            print(f"  {label:<14} {numbers}  {row.case.name}")


def golden():
    """{version of jaxlib: {way: {name: bytes}}}: XLA's reports of the corpus. The first version is
    the one that the estimate models.
    """
    kept = json.loads(GOLDEN.read_text())
    others = kept.pop("others")
    modelled = {kept.pop("jaxlib"): kept}
    return modelled | {
        version: {way: kept[way] | changed[way] for way in kept} for version, changed in others.items()
    }


def write_golden(rows):
    """Of the version that the estimate models all, of another one what is different there."""
    import jaxlib

    reports = {way: {} for way in CPU_WAYS if way != "rewritten"}
    for row in rows:
        if row.case.way in reports and not row.case.name.startswith("examples/"):
            reports[row.case.way][row.case.name] = row.report
    kept = json.loads(GOLDEN.read_text())
    if jaxlib.__version__ == kept["jaxlib"]:
        kept |= reports
    else:
        kept["others"][jaxlib.__version__] = {
            way: {name: size for name, size in reports[way].items() if size != kept[way].get(name)}
            for way in reports
        }
    GOLDEN.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")


def device_golden():
    """{device: {"compiler": its versions, "reports": {name: bytes}}}, of programs as they came."""
    return json.loads(DEVICE_GOLDEN.read_text())


def write_device_golden(device, rows):
    import importlib.metadata as metadata

    wheels = ("jaxlib", "jax-cuda12-plugin", "libtpu", "nvidia-cuda-nvcc-cu12")
    of_device = {"cuda": (0, 1, 3), "tpu": (0, 2)}[PLATFORMS[device]]
    named = [f"{wheels[i]} {metadata.version(wheels[i])}" for i in of_device]
    reports = {row.case.name: row.report for row in rows if row.case.way == device}
    kept = device_golden() if DEVICE_GOLDEN.exists() else {}
    kept[device] = {"compiler": ", ".join(named), "reports": reports}
    DEVICE_GOLDEN.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="StableHLO text")
    parser.add_argument("--worst", type=int, default=1, help="how many of the worst to print")
    parser.add_argument("--ways", default=",".join(CPU_WAYS), help="default,ordered,rewritten")
    parser.add_argument("--device", choices=PLATFORMS, help="compiles for it, not for the CPU")
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--fresh", action="store_true", help="compile everything again")
    parser.add_argument("--splits", action="store_true", help="split at thresholds and limits")
    parser.add_argument("--ops", type=int, metavar="COUNT", help="programs of single operations")
    parser.add_argument("--golden", action="store_true", help="write XLA's reports of the corpus")
    return parser.parse_args()


def main():
    args = parse()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    ways = ["default"] if args.splits else args.ways.split(",")
    if args.device:
        ways = device_ways(args.device)
    files = [file.resolve() for file in args.files or corpus()]
    if args.ops:
        cases = of_operations(args.ops, args.only, ways)
    else:
        cases = [case for file in files for case in of_file(file, ways)]
    if not args.files and not args.ops:
        cases += of_examples(False, ways)
    kept = ROOT / f"build/calibrate{'-' + args.device if args.device else ''}.json"
    if args.fresh:
        kept.unlink(missing_ok=True)
    cases = [case for case in cases if args.only in case.name]
    rows, failed = compare(splits_of(cases) if args.splits else cases, KeptReports(kept))
    for way in WAYS:
        some = [row for row in rows if row.case.way == way]
        if some:
            print_table(way, some, args.worst)
    for line in failed:
        print("no number:", line)
    if args.golden and args.device:
        write_device_golden(args.device, rows)
    elif args.golden:
        write_golden(rows)
    return any(row.is_low for row in rows)


if __name__ == "__main__":
    sys.exit(main())
