"""Which programs fit which card: plans of the examples for GPUs and TPUs that are not here, judged by
their own XLA compilers.

    build/devices/bin/python bench/devices.py --devices h100,v5e --programs p2,p6 --table
    build/devices/bin/python bench/devices.py --users --devices h100,v5e

--users: the programs of bench/user_programs (users/NAME), small, each under its arguments, its
results and a tenth of the temporaries that the device needs by estimate, 5 MB at least; how many
hold that, and how.
A plan a process, since a compiler may end it. What is done is kept in build/device-plans.json and
not done again; --table prints it for docs/devices.md. f64 programs are f32 on TPUs, whose XLA has no
Cholesky in f64. What was rewritten is compiled once more, without weir, on GPUs with Triton's products
and without. Exits with 1 if XLA reports any of these above its limit.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import gpt
import programs
from user_programs import PROGRAMS

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import calibrate  # noqa: E402

KEPT = ROOT / "build/device-plans.json"
OF_USERS = {f"users/{name}": program for name, program in PROGRAMS.items()}  # not the examples'
LEAST_BYTES = 5_000_000  # of temporaries under a user's limit
DEVICES = ["a100-40gb", "h100", "v5e", "v5p"]
# The CPU table's limits; those of further programs, at the sizes of their examples.
GPT, GPT_LAYERS = "gpt", 12  # bench/gpt.py, a step of training
MORE = {"kernel_cg": 64_000_000, "encoder": 10**9, "wide_mlp": 500_000_000, GPT: 10**9}
NAMES = [p.name for p in programs.PROGRAMS] + list(MORE)
SECONDS = 1500
VERSIONS = ("jax", "jaxlib", "jax-cuda12-plugin", "nvidia-cuda-nvcc-cu12", "libtpu")


def limit_of(name):
    return MORE.get(name) or programs.get(name).limit_bytes


def users_limit(f, shapes, target):
    """Arguments, results and a tenth of the temporaries, by estimate."""
    import jax

    text = jax.jit(f).trace(*shapes).lower(lowering_platforms=(target.platform,)).as_text()
    case = calibrate.Case("", text, calibrate.device_ways(target.name)[0])
    arguments, outputs, alias, temporaries, _ = calibrate.estimates([case])[case]
    return arguments + outputs - alias + max(temporaries // 10, LEAST_BYTES)


def called(name, on_tpu):
    """The function and its arguments."""
    if name in OF_USERS:
        import jax

        program = OF_USERS[name]
        jax.config.update("jax_enable_x64", program.x64 and not on_tpu)

        def shape_of(x):
            return jax.ShapeDtypeStruct(x.shape, jax.dtypes.canonicalize_dtype(x.dtype))

        return program.function, jax.tree.map(shape_of, list(program.arguments(small=True)))
    if name == GPT:
        import jax

        return jax.jit(gpt.step, donate_argnums=0), gpt.arguments(GPT_LAYERS, 32, 256)
    program = programs.get(name)
    return getattr(program.load(), program.function), shapes_of(program, on_tpu)


def shapes_of(program, on_tpu):
    import jax
    import numpy as np

    def shape_of(array):
        wide = on_tpu and array.dtype == np.float64
        return jax.ShapeDtypeStruct(array.shape, np.float32 if wide else array.dtype)

    module = program.load()
    inputs = module.make_inputs(**module.sizes)
    if on_tpu:
        jax.config.update("jax_enable_x64", False)  # constants, too
    return [x if isinstance(x, int) else jax.tree.map(shape_of, x) for x in inputs]


def plan(name, device):
    """One row, in this process."""
    import weir
    from weir import _devices

    os.environ[_devices.LETS_OTHERS_IN] = "1"
    target = _devices.resolve(device)
    if target.compiler is None:
        raise SystemExit(f"XLA's compiler for {device} is not installed, or fails")
    f, shapes = called(name, target.platform == "tpu")
    limit = users_limit(f, shapes, target) if name in OF_USERS else limit_of(name)
    start = time.monotonic()
    p = weir.plan(f, *shapes, limit=limit, device=device)
    return {
        "outcome": p.outcome,
        "limit": p.limit_bytes,
        "before": p.peak_before_bytes,
        "after": p.peak_after_bytes,
        "minimum": p.minimum_bytes,
        "estimated": p.before_is_estimate,
        "unconfirmed": p.is_unconfirmed or p.after_is_estimate,
        "loops": len(p.loops),
        "trips": sum(loop.trips for loop in p.loops),
        "milliseconds": p.time_after_ns * 1e-6,
        "compiles": p.referee_compiles,
        "judge": p.judge,
        "seconds": round(time.monotonic() - start, 1),
        "reports": reports_of(p, target) if p.outcome == "rewritten" else [],
    }


def reports_of(p, target):
    """What XLA says of the rewritten program in each way that it may take on the card."""
    ways = calibrate.ANSWERS[target.platform]
    return [calibrate.ahead_of_time(p.text, target.name, options) for options in ways]


def plan_apart(name, device, seconds):
    """The row, or {"failed": why}."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, __file__, "--one", name, device]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no end after {seconds} s"}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
    return {"failed": lines[-1][:300]}


def is_broken(row):
    """Accepted, and not under the limit by XLA's own report."""
    accepted = row.get("outcome") in ("rewritten", "options")
    return accepted and (
        row["unconfirmed"] or max([row["after"], *row["reports"]]) > row["limit"]
    )


def readable(count):
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def cell(row):
    if row is None:
        return ""
    if "failed" in row:
        return "no plan"
    stock = f"{'~' if row['estimated'] else ''}{readable(row['before'])}"
    if row["outcome"] == "refused":
        return f"{stock}; **refused**, {readable(row['minimum'])} holds"
    if row["outcome"] == "rewritten":
        return f"{stock} → {readable(row['after'])}, {row['trips']} trips"
    return f"{stock}, as it is"


def print_table(kept, devices):
    print("| program | limit |", " | ".join(devices), "|")
    print("| --- " * (len(devices) + 2) + "|")
    for name in NAMES:
        cells = [cell(kept.get(f"{name} {device}")) for device in devices]
        if any(cells):
            print(f"| {name} | {readable(limit_of(name))} |", " | ".join(cells), "|")


def print_users(kept, devices):
    """How many are what, a row a device."""
    ways = ["as it is", "rewritten", "refused", "no plan"]
    print("| device |", " | ".join(ways), "| above the limit |")
    print("| --- " * (len(ways) + 2) + "|")
    for device in devices:
        rows = [row for row in (kept.get(f"{name} {device}") for name in OF_USERS) if row]
        outcomes = [row.get("outcome", "no plan") for row in rows]
        found = [outcomes.count("options" if way == "as it is" else way) for way in ways]
        print(f"| {device} |", " | ".join(map(str, found)), f"| {sum(map(is_broken, rows))} |")


def print_reports(kept, devices):
    """Of what was compiled once more, beside what the plan says."""
    for device in devices:
        rows = [row for key, row in kept.items() if key.endswith(f" {device}")]
        rows = [row for row in rows if row.get("reports")]
        held = sum(max(row["reports"]) <= row["limit"] for row in rows)
        same = sum(max(row["reports"]) == row["after"] for row in rows)
        ways = max((len(row["reports"]) for row in rows), default=0)
        print(f"{device}: compiled once more, {ways} way(s) each: {held} of {len(rows)} are under")
        print(f"    the limit both ways, {same} need what the plan says")


def print_versions():
    found = []
    for name in VERSIONS:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    print("\n" + ", ".join(found))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--programs", help="names, all of them otherwise")
    ap.add_argument("--users", action="store_true", help="bench/user_programs")
    ap.add_argument("--devices", default=",".join(DEVICES))
    ap.add_argument("--kept", type=pathlib.Path, default=KEPT, help="what is done")
    ap.add_argument("--seconds", type=int, default=SECONDS, help="at most, for a plan")
    ap.add_argument("--table", action="store_true", help="only prints what is kept")
    ap.add_argument("--one", nargs=2, metavar=("PROGRAM", "DEVICE"), help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one:
        print(json.dumps(plan(*args.one)))
        return 0
    kept = json.loads(args.kept.read_text()) if args.kept.exists() else {}
    devices = args.devices.split(",")
    names = random.Random(0).sample(list(OF_USERS), len(OF_USERS)) if args.users else NAMES
    names = args.programs.split(",") if args.programs else names
    for name in [] if args.table else names:
        for device in devices:
            key = f"{name} {device}"
            if "failed" in kept.get(key, {"failed": ""}):
                kept[key] = plan_apart(name, device, args.seconds)
                args.kept.write_text(json.dumps(kept, indent=1))
                print(key, kept[key], flush=True)
    (print_users if args.users else print_table)(kept, devices)
    print_reports(kept, devices)
    print_versions()
    broken = [key for key, row in kept.items() if is_broken(row)]
    print(f"accepted above the limit: {', '.join(broken) or 'none'}")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
