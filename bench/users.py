"""What users with intermediates of n x n bring, stock beside a limit of a tenth.

    python bench/users.py                          all programs (bench/user_programs): up to 5 GB
    python bench/users.py hsic '*attention*'       some
    python bench/users.py --small                  a tenth of the memory, some seconds each
    python bench/users.py --list                   what they are
    python bench/users.py --kernels                kernels on against off (WEIR_TILE)
    python bench/users.py --fits                   stock against a limit that nothing reaches
    python bench/users.py --fits --share 1.02      stock against one that compile options hold
    python bench/users.py --limits --small         stock against several limits, and which is faster

Each program runs in fresh processes, unchanged: stock, then with WEIR_MEMORY_LIMIT at its
arguments, its results and a tenth of stock's temporaries (--share, or what its registration says),
5 MB at least, then split by hand where there is such a version. Temporaries are those of XLA's
report without library fusions, which hide them; growth is the larger of two runs, CPU time the
smaller. A result that stock does not have is compared with stock without these fusions, too: they
are wrong now and then. Exits 1 where a result is off, a limit broken, or a program refused that is
not known to be (`refused` in its registration).

--kernels: each program in one process, compiled with WEIR_TILE=off and auto under the same limit
(--share 2: one that nothing reaches, so that what is compared is stock with kernels where regions
gain), run in turn, minima of CPU seconds. Programs without kernels are the same both times and are
not run. Exits 1 where one takes more than 1.05 times as long with kernels.

--fits: each program in one process, as stock compiles it and under a limit of a terabyte, which it
holds as it is (with --share: its arguments, results and that share, however little), in turn, minima of CPU seconds. Programs that come out as they went in are the same
both times and are not run. Exits 1 where one takes more than 1.05 times as long as stock, or a
result is off.

--limits: each program in one process, as stock compiles it and under its arguments, its results and
a tenth, a third and two thirds of stock's temporaries, however little, in turn, minima of CPU
seconds. What is made for a smaller limit holds a larger one, too: where it is more than 1.1 times
as fast, the larger one has the slower of two plans (*inverted*). Predicted: the same ratios of the
times that weir predicts. Exits 1 where one is inverted, or a result is off.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from needs import limit_of as limit_above
from run import ALLOWANCE_BYTES, load_outputs
from user_programs import PROGRAMS

SHARE = 0.1  # of stock's temporaries under a limit
LEAST_BYTES = 5_000_000  # of temporaries under a limit
GENEROUS_BYTES = 1 << 40  # a limit that every program holds as it is
MOST_SECONDS = 600  # of a process
KERNEL_SECONDS = 2.0  # runs of both ways, at least two
TURN_SECONDS = 0.04  # of one way: what other threads have used may be counted a tick, 4 ms, later
SHARES = (0.1, 1 / 3, 2 / 3)  # of --limits
LEAST_INVERSION = 1.1  # a smaller limit's plan is that much faster
MOST_RATIO = 1.05  # of the time with kernels to that without, of what fits to stock
KEPT = ("WEIR_LIBRARY", "WEIR_MACHINE", "WEIR_TIMING", "WEIR_DEBUG")  # settings that hold for a comparison


# ---- one process ----
def ready(tree):
    import jax

    return jax.block_until_ready(tree)


def as_numpy(leaf):
    import jax.numpy as jnp

    return np.asarray(leaf, np.float32 if leaf.dtype == jnp.bfloat16 else leaf.dtype)


def measured_twice(run):
    """The larger growth, the smaller CPU time; once where it is long."""
    from measure import LONG_SECONDS, once

    found, out = once(run)
    if found["seconds"] <= LONG_SECONDS:
        again, out = once(run)
        found = {
            "cpu_seconds": min(found["cpu_seconds"], again["cpu_seconds"]),
            "grown": max(found["grown"], again["grown"]),
        }
    return found, out


def compile_and_run(name, way, small, path):
    import jax
    from measure import HONEST
    from worker import memory_report

    program = PROGRAMS[name]
    jax.config.update("jax_enable_x64", program.x64)
    arguments = ready(jax.device_put(program.arguments(small)))
    function = program.by_hand if way == "by hand" else program.function
    lowered = jax.jit(function).lower(*arguments)
    compiled = lowered.compile()
    honest = compiled if way == "weir" else lowered.compile(compiler_options=HONEST)
    if way == "unfused":
        compiled = honest
    found, out = measured_twice(lambda: ready(compiled(*arguments)))
    np.savez(path, *map(as_numpy, jax.tree.leaves(out)))
    return memory_report(honest) | found


def worker(name, way, path, small):
    """Prints what was measured, or why it was refused; the results go to a file."""
    try:
        found = compile_and_run(name, way, small, path)
    except Exception as e:
        if "RESOURCE_EXHAUSTED: weir" not in str(e):
            raise
        found = {"refused": str(e)}
    print(json.dumps(found))


# ---- one process, kernels on and off ----
def compiled_with(tile, program, arguments, limit_bytes):
    import jax
    import weir

    os.environ["WEIR_TILE"] = tile
    with weir.limit(limit_bytes):
        return jax.jit(lambda *a: program.function(*a)).lower(*arguments).compile()


def seconds_of_calls(way, arguments, calls):
    """CPU seconds of each of that many calls, one after the other."""
    begun = time.process_time()
    for _ in range(calls):
        ready(way(*arguments))
    return (time.process_time() - begun) / calls


def calls_of_a_turn(way, arguments):
    """The first call compiles kernels and touches pages."""
    ready(way(*arguments))
    begun = time.perf_counter()
    ready(way(*arguments))
    return max(1, int(TURN_SECONDS / (time.perf_counter() - begun)))


def take_turns(ways, arguments):
    """The least CPU seconds of each way."""
    calls = [calls_of_a_turn(way, arguments) for way in ways]
    least, spent = [float("inf")] * len(ways), 0.0
    for turn in range(50):
        for i, way in enumerate(ways):
            took = seconds_of_calls(way, arguments, calls[i])
            least[i], spent = min(least[i], took), spent + took * calls[i]
        if turn and spent > KERNEL_SECONDS:
            break
    return least


def report_of(function, arguments):
    """What stock takes: bytes of arguments, results and temporaries."""
    import jax
    from measure import HONEST
    from needs import needs_of

    return needs_of(jax.jit(function).lower(*arguments).compile(compiler_options=HONEST))


def arguments_of(program, small):
    import jax

    jax.config.update("jax_enable_x64", program.x64)
    return ready(jax.device_put(program.arguments(small)))


def fits_worker(name, small, share):
    """Prints how many kernels the program has that fits, and what it takes beside stock."""
    import jax
    import weir

    program = PROGRAMS[name]
    arguments = arguments_of(program, small)
    stock = jax.jit(program.function).lower(*arguments).compile()
    limit_bytes = limit_above(*report_of(program.function, arguments), share) if share else GENEROUS_BYTES
    fits = compiled_with("auto", program, arguments, limit_bytes)
    plan, ways = weir.last_report(), (stock, fits)
    loops = len(plan.loops) - plan.kernels if plan else 0
    found = {"kernels": plan.kernels if plan else 0, "loops": loops, "seconds": None, "error": 0.0}
    if plan:
        found |= {"error": error_of_ways(program, arguments, *ways), "seconds": take_turns(ways, arguments)}
    print(json.dumps(found))


def error_of_ways(program, arguments, stock, other):
    """Of the other's results; where they are not stock's, beside stock without library fusions."""
    import jax
    from measure import HONEST

    run = lambda way: [as_numpy(x) for x in jax.tree.leaves(way(*arguments))]  # noqa: E731
    got = run(other)
    error = worst_error(program, got, run(stock))
    if error <= program.tolerance:
        return error
    unfused = jax.jit(program.function).lower(*arguments).compile(compiler_options=HONEST)
    return worst_error(program, got, run(unfused))


def compiled_under(program, arguments, limit_bytes):
    """(the program, what weir did), or (None, None) where it is refused."""
    import weir

    try:
        return compiled_with("auto", program, arguments, limit_bytes), weir.last_report()
    except Exception as e:
        if "RESOURCE_EXHAUSTED: weir" not in str(e):
            raise
        return None, None


def limits_worker(name, small):
    """Prints seconds of stock, and under each limit; None where that is refused."""
    import jax

    program = PROGRAMS[name]
    arguments = arguments_of(program, small)
    stock, needs = jax.jit(program.function).lower(*arguments).compile(), report_of(program.function, arguments)
    under = [compiled_under(program, arguments, limit_above(*needs, share)) for share in SHARES]
    ways = [way for way, _ in under if way]
    seconds = iter(take_turns([stock, *ways], arguments))
    found = {"stock": next(seconds), "seconds": [next(seconds) if way else None for way, _ in under]}
    found["predicted"] = [plan and plan.time_after_ns / max(1, plan.time_before_ns) for _, plan in under]
    found["error"] = max((error_of_ways(program, arguments, stock, way) for way in ways), default=0.0)
    print(json.dumps(found))


def kernels_worker(name, small, share):
    program = PROGRAMS[name]
    arguments = arguments_of(program, small)
    limit_bytes = limit_of(*report_of(program.function, arguments), share)
    on = compiled_with("auto", program, arguments, limit_bytes)
    kernels = on.as_text().count('custom_call_target="weir_tile"')
    seconds = None
    if kernels:
        off = compiled_with("off", program, arguments, limit_bytes)
        seconds = take_turns((off, on), arguments)
    print(json.dumps({"kernels": kernels, "seconds": seconds}))


def worker_result(mode, name, small, share):
    """What a fresh process of that mode prints; or why there is nothing, in a line."""
    command = [sys.executable, __file__, mode, "--worker", name, "-", "-"]
    command += ["--share", str(share)] + ["--small"] * small
    environment = {k: v for k, v in os.environ.items() if k in KEPT or not k.startswith("WEIR_")}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return None, f"no end after {MOST_SECONDS} s"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return None, last[:120].replace("|", "\\|")
    return json.loads(done.stdout.splitlines()[-1]), None


def kernels_row(name, small, share):
    """The table's row, and the ratio: None without kernels or without a result."""
    found, why = worker_result("--kernels", name, small, share)
    if not found:
        return f"| {name} | - | - | - | - | {why} |", None
    if not found["kernels"]:
        return f"| {name} | 0 | - | - | - | |", None
    off, on = found["seconds"]
    return f"| {name} | {found['kernels']} | {off:.4f} | {on:.4f} | {on / off:.2f} | |", on / off


def fits_row(name, small, share):
    """The table's row; the ratio, None of a program as it came; whether a result is off."""
    found, why = worker_result("--fits", name, small, share)
    if not found:
        return f"| {name} | - | - | - | - | {why} |", None, True
    if not found["seconds"]:
        return f"| {name} | 0 | - | - | - | |", None, False
    (stock, fits), error = found["seconds"], found["error"]
    is_off = error > PROGRAMS[name].tolerance
    cells = [name, str(found["kernels"]), str(found["loops"]), f"{stock:.4f}", f"{fits:.4f}", f"{stock / fits:.2f}"]
    cells.append(f"**error {error:.0e}**" if is_off else "")
    return "| " + " | ".join(cells) + " |", fits / stock, is_off


def inverted(seconds):
    """The largest ratio of a limit's seconds to those of a smaller one."""
    pairs = [(a, b) for i, a in enumerate(seconds) for b in seconds[i + 1 :] if a and b]
    return max((b / a for a, b in pairs), default=0.0)


def limits_row(name, small):
    """The table's row; how far it is inverted; whether a result is off."""
    found, why = worker_result("--limits", name, small, 0)
    if not found:
        return f"| {name} |" + " - |" * (len(SHARES) + 1) + f" {why} |", 0.0, True
    cells = [name, f"{found['stock']:.4f}"]
    for seconds, predicted in zip(found["seconds"], found["predicted"]):
        said = f" ({predicted:.2f})" if predicted else ""
        cells.append(f"{seconds / found['stock']:.2f}{said}" if seconds else "refused")
    worst, is_off = inverted(found["seconds"]), found["error"] > PROGRAMS[name].tolerance
    remarks = [f"inverted {worst:.2f}"] * (worst > LEAST_INVERSION)
    remarks += [f"**error {found['error']:.0e}**"] * is_off
    return "| " + " | ".join([*cells, "; ".join(remarks)]) + " |", worst, is_off


def compare_limits(names, small):
    limits = [f"{share:.2f}: CPU of stock's (predicted)" for share in SHARES]
    print("| program | stock CPU s | " + " | ".join(limits) + " | |")
    print("|---|" + "--:|" * (len(SHARES) + 1) + "---|", flush=True)
    rows = []
    for name in names:
        rows.append(limits_row(name, small))
        print(rows[-1][0], flush=True)
    over, off = sum(worst > LEAST_INVERSION for _, worst, _ in rows), sum(is_off for _, _, is_off in rows)
    print(f"\n{len(rows)} programs, {over} inverted, {off} off or not run")
    return 1 if over or off else 0


def compare_kernels(names, small, share):
    print("| program | kernels | off CPU s | auto CPU s | auto / off | |\n|---|--:|--:|--:|--:|---|")
    ratios = []
    for name in names:
        row_text, ratio = kernels_row(name, small, share)
        ratios += [ratio] if ratio else []
        print(row_text, flush=True)
    slow = sum(r > MOST_RATIO for r in ratios)
    print(f"\n{len(ratios)} of {len(names)} with kernels, {slow} above {MOST_RATIO}", flush=True)
    return 1 if slow else 0


def compare_fits(names, small, share):
    print("| program | kernels | loops | stock CPU s | weir CPU s | stock / weir | |")
    print("|---|--:|--:|--:|--:|--:|---|", flush=True)
    rows = []
    for name in names:
        rows.append(fits_row(name, small, share))
        print(rows[-1][0], flush=True)
    ratios = [ratio for _, ratio, _ in rows if ratio]
    slow, off = sum(r > MOST_RATIO for r in ratios), sum(is_off for _, _, is_off in rows)
    print(f"\n{len(ratios)} of {len(names)} rewritten, {slow} above {MOST_RATIO}, {off} off")
    return 1 if slow or off else 0


# ---- one program ----
def run(name, way, path, small, limit_bytes=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_") or limit_bytes}
    if limit_bytes:
        environment["WEIR_MEMORY_LIMIT"] = str(limit_bytes)
    command = [sys.executable, __file__, "--worker", name, way, str(path)]
    try:
        done = subprocess.run(
            command + ["--small"] * small,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"{way}: no end after {MOST_SECONDS} s"}
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-3:])
        return {"problem": f"{way}: ends with {done.returncode}: {last}"}
    found = json.loads(done.stdout.splitlines()[-1])
    return found if "refused" in found else found | {"outputs": load_outputs(path)}


def error_of(got, want, counts):
    """Relative to the largest value that is finite; of integers the share that differs."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.dtype.kind in "iub" and not counts:
        return float((got != want).mean()) if want.size else 0.0
    with np.errstate(invalid="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        difference = np.where(same, 0, np.abs(np.subtract(got, want, dtype=wide(want))))
    largest = np.max(np.abs(want), initial=0, where=np.isfinite(want))
    worst = np.max(difference, initial=0) / (largest or 1)
    return float("inf") if np.isnan(worst) else float(worst)


def wide(a):
    return np.complex128 if a.dtype.kind == "c" else np.float64


def worst_error(program, got, want):
    if len(got) != len(want):
        return float("inf")
    return max(error_of(g, w, program.counts) for g, w in zip(got, want))


def limit_of(*needs_and_share):
    return limit_above(*needs_and_share, LEAST_BYTES)


def measure(name, small, share):
    """{way: what its process found}, the limit, and the problems."""
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.npz"
        found = {"stock": run(name, "stock", path, small)}
        if "problem" in found["stock"]:
            return found, None, [found["stock"]["problem"]]
        needs = [found["stock"][k + "_bytes"] for k in ("argument", "output", "temp")]
        limit_bytes = limit_of(*needs, program.share or share)
        found["weir"] = run(name, "weir", path, small, limit_bytes)
        if program.by_hand:
            found["by hand"] = run(name, "by hand", path, small)
        compare(program, found, "stock")
        if any(done.get("error", 0) > program.tolerance for done in found.values()):
            found["unfused"] = run(name, "unfused", path, small)
            compare(program, found, "unfused")
    return found, limit_bytes, problems(program, found, limit_bytes)


def compare(program, found, reference):
    want = found[reference].get("outputs")
    for done in found.values():
        if want and "outputs" in done:
            done["error"] = worst_error(program, done["outputs"], want)


def problems(program, found, limit_bytes):
    said = [done["problem"] for done in found.values() if "problem" in done]
    weir = found["weir"]
    for way in ("weir", "by hand"):
        error = found.get(way, {}).get("error", 0)
        if error > program.tolerance:
            said.append(f"{way}: error {error:.1e}")
    if "refused" in weir and not program.refused:
        said.append("refused")
    if weir.get("report_bytes", 0) > limit_bytes:
        said.append("XLA reports more than the limit")
    if weir.get("grown", 0) > allowed(weir, limit_bytes):
        said.append("grew more than allowed")
    return said


def allowed(weir, limit_bytes):
    return limit_bytes - weir.get("argument_bytes", 0) + ALLOWANCE_BYTES


# ---- the table ----
HEADER = (
    "program",
    "stock's temporaries MB",
    "limit MB",
    "report MB",
    "grew MB (allowed)",
    "CPU s stock / weir",
    "by hand / weir",
    "error (tolerance)",
    "",
)


def mb(count):
    return f"{count / 1e6:.1f}"


def remark(program, found, said):
    refused = found.get("weir", {}).get("refused", "").splitlines()
    refused = refused[:1] + [" ".join(line.split()) for line in refused[2:3]]  # the largest tensor
    known = [f"known: {program.refused}"] if refused and program.refused else []
    if program.refused and not refused:
        known = ["is not refused any more"]
    if "unfused" in found and found["stock"]["error"] > program.tolerance:
        known.append(f"stock's library fusions are off by {found['stock']['error']:.0e}")
    text = "; ".join([f"**{s}**" for s in said] + known + refused)
    return text.replace("|", "\\|")


def row(name, found, limit_bytes, said):
    program, stock, weir = PROGRAMS[name], found["stock"], found.get("weir", {})
    cells = [name] + ["-"] * (len(HEADER) - 2) + [remark(program, found, said)]
    if limit_bytes:
        cells[1:3] = mb(stock["temp_bytes"]), mb(limit_bytes)
    if "cpu_seconds" in weir:
        ratio = stock["cpu_seconds"] / weir["cpu_seconds"]
        cells[3] = mb(weir["report_bytes"])
        cells[4] = f"{mb(weir['grown'])} ({mb(allowed(weir, limit_bytes))})"
        cells[5] = f"{stock['cpu_seconds']:.2f} / {weir['cpu_seconds']:.2f} = {ratio:.2f}"
        cells[7] = f"{weir['error']:.0e} ({program.tolerance:.0e})"
        if "cpu_seconds" in found.get("by hand", {}):
            cells[6] = f"{found['by hand']['cpu_seconds'] / weir['cpu_seconds']:.2f}"
    return "| " + " | ".join(cells) + " |"


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("programs", nargs="*", help="names or patterns")
    add("--small", action="store_true", help="a tenth of the memory")
    add("--share", type=float, help="of stock's temporaries under the limit; a tenth")
    add("--list", action="store_true", help="run nothing")
    add("--kernels", action="store_true", help="kernels on against off")
    add("--fits", action="store_true", help="stock against a generous limit")
    add("--limits", action="store_true", help="stock against a tenth, a third and two thirds")
    add("--worker", nargs=3, metavar=("PROGRAM", "WAY", "PATH"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    for pattern in args.programs:
        if not fnmatch.filter(PROGRAMS, pattern):
            parser.error(f"no program {pattern}")
    return args


def chosen(patterns):
    return [n for n in PROGRAMS if not patterns or any(fnmatch.fnmatch(n, p) for p in patterns)]


def main():
    args = parse_arguments()
    if args.worker and args.kernels:
        return kernels_worker(args.worker[0], args.small, args.share)
    if args.worker and args.fits:
        return fits_worker(args.worker[0], args.small, args.share)
    if args.worker and args.limits:
        return limits_worker(args.worker[0], args.small)
    if args.worker:
        return worker(*args.worker, args.small)
    if args.list:
        for name in chosen(args.programs):
            print(f"{name:26} {PROGRAMS[name].function.__doc__}")
        return 0
    if args.fits:
        return compare_fits(chosen(args.programs), args.small, args.share or 0)
    if args.limits:
        return compare_limits(chosen(args.programs), args.small)
    if args.kernels:
        return compare_kernels(chosen(args.programs), args.small, args.share or SHARE)
    print("| " + " | ".join(HEADER) + " |\n|---|" + "--:|" * (len(HEADER) - 2) + "---|", flush=True)
    wrong = 0
    for name in chosen(args.programs):
        found, limit_bytes, said = measure(name, args.small, args.share or SHARE)
        wrong += bool(said)
        print(row(name, found, limit_bytes, said), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
