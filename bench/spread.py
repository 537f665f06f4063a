"""Trips of a device's loops over more and more devices, under one limit: how the work of programs of
one device is divided by weir.limit(mesh=).

    python bench/spread.py                  on 1, 2, 4 and 8 CPU devices
    python bench/spread.py --check          also fails where trips do not fall as devices are added
    python bench/spread.py --seconds        runs them, on as many cores as devices: 1, 2, .. that are here

A trip does a slice of a device's part. More devices make no more trips each, eight at most half of
one's: by how much they fall depends on how long slices are worth being. Plans alone, nothing runs:
counts do not depend on how many cores there are. For the machine that WEIR_MACHINE names, x86-64-v3
unless it is set. With --seconds the least of 7 runs, one device with one core, two with two: on a
machine that does other work take the least of several calls.
"""

import argparse
import json
import os
import subprocess
import sys
import time

COUNTS = (1, 2, 4, 8)
RUNS = 7
N, D, LIMIT = 4096, 8, "2MB"


def programs():
    import jax
    import jax.numpy as jnp

    def kernel(x, y):
        return jnp.exp(-((x[:, None] - y[None]) ** 2).sum(-1))

    def steps(x):
        return jax.lax.scan(lambda c, _: (kernel(c, c) @ c / N, None), x, None, length=3)[0]

    x, v = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((N, D), (N,)))
    return {
        "matvec": (lambda x, v: kernel(x, x) @ v, (x, v)),
        "gradient": (jax.grad(lambda x, v: ((kernel(x, x) @ v) ** 2).sum()), (x, v)),
        "steps": (steps, (x,)),
    }


def trips_of(f, arguments):
    """Of the loops, one after the other."""
    import weir

    return sum(loop.trips for loop in weir.plan(f, *arguments).loops)


def seconds_of(f, shapes):
    """The least of some runs: as the clock says, and of all cores."""
    import jax
    import numpy as np

    draw = np.random.default_rng(0)
    arguments = [draw.standard_normal(x.shape, np.float32) for x in shapes]
    compiled, found = jax.jit(f), []
    for _ in range(RUNS + 1):  # the first compiles
        clock, cores = time.perf_counter(), time.process_time()
        jax.block_until_ready(compiled(*arguments))
        found.append((time.perf_counter() - clock, time.process_time() - cores))
    return [min(column) for column in zip(*found[1:], strict=True)]


def by_program(measure):
    """In this process, over all its devices."""
    import jax

    import weir

    mesh = jax.make_mesh((len(jax.devices()),), ("d",))
    with weir.limit(LIMIT, mesh=mesh):
        return {name: measure(f, arguments) for name, (f, arguments) in programs().items()}


def settings(count):
    """Of a process of so many devices."""
    return {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}",
        "JAX_PLATFORMS": "cpu",
        "WEIR_TILE": "off",  # kernels are one device's
        "WEIR_SKIP": "distance",  # likewise
        "WEIR_MACHINE": os.environ.get("WEIR_MACHINE", "x86-64-v3"),
    }


def measured_over(count, what):
    """by_program() in a process of so many devices."""
    command = [sys.executable, __file__, "--one", what, "--cores", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings(count))
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def is_shared(trips):
    """Whether they fall as devices are added; trips: by their number."""
    pairs = zip(COUNTS, COUNTS[1:], strict=False)
    return all(trips[n] <= trips[m] for m, n in pairs) and trips[COUNTS[-1]] <= trips[1] / 2


def print_table(title, counts, found, text):
    print(f"| {title} under {LIMIT} |", " | ".join(f"{n} devices" for n in counts), "|")
    print("| --- |" + " --: |" * len(counts))
    for name in found[counts[0]]:
        print(f"| {name} |", " | ".join(text(name, n) for n in counts), "|")


def print_seconds():
    """Beside them how many times as fast as one device."""
    cores = len(os.sched_getaffinity(0))
    counts = [count for count in COUNTS if count <= cores]
    found = {count: measured_over(count, "seconds") for count in counts}

    def text(name, count):
        clock, cores = found[count][name]
        times = found[1][name][0] / clock
        return f"{clock * 1e3:.0f} ms, {times:.2f}; {cores * 1e3:.0f} ms of CPU"

    print_table("time", counts, found, text)


def print_trips():
    """The programs whose trips do not fall."""
    found = {count: measured_over(count, "trips") for count in COUNTS}
    print_table("trips", COUNTS, found, lambda name, count: str(found[count][name]))
    bad = [name for name in found[1] if not is_shared({n: found[n][name] for n in COUNTS})]
    print("programs whose trips do not fall as devices are added:", ", ".join(bad) or "none")
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--seconds", action="store_true")
    ap.add_argument("--one", choices=("trips", "seconds"), help=argparse.SUPPRESS)
    ap.add_argument("--cores", type=int, help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one == "seconds":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    if args.one:
        print(json.dumps(by_program({"trips": trips_of, "seconds": seconds_of}[args.one])))
        return 0
    if args.seconds:
        print_seconds()
        return 0
    return bool(print_trips()) and args.check


if __name__ == "__main__":
    sys.exit(main())
