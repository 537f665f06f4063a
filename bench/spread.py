"""Trips of a device's loops over more and more devices, under one limit: how the work of programs of
one device is divided by weir.limit(mesh=).

    python bench/spread.py                  on 1, 2, 4 and 8 CPU devices
    python bench/spread.py --check          also fails where trips do not fall as devices are added

A trip does a slice of a device's part. More devices make no more trips each, eight at most half of
one's: by how much they fall depends on how long slices are worth being. Plans alone, nothing runs:
counts do not depend on how many cores there are. For the machine that WEIR_MACHINE names, x86-64-v3
unless it is set.
"""

import argparse
import json
import os
import subprocess
import sys

COUNTS = (1, 2, 4, 8)
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


def trips():
    """By program, in this process, over all its devices: of the loops, one after the other."""
    import jax

    import weir

    mesh = jax.make_mesh((len(jax.devices()),), ("d",))
    found = {}
    for name, (f, arguments) in programs().items():
        with weir.limit(LIMIT, mesh=mesh):
            plan = weir.plan(f, *arguments)
        found[name] = sum(loop.trips for loop in plan.loops)
    return found


def trips_over(count):
    """trips() in a process of so many devices."""
    settings = {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}",
        "JAX_PLATFORMS": "cpu",
        "WEIR_TILE": "off",  # kernels are one device's
        "WEIR_SKIP": "distance",  # likewise
        "WEIR_MACHINE": os.environ.get("WEIR_MACHINE", "x86-64-v3"),
    }
    command = [sys.executable, __file__, "--one"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def is_shared(trips):
    """Whether they fall as devices are added; trips: by their number."""
    pairs = zip(COUNTS, COUNTS[1:], strict=False)
    return all(trips[n] <= trips[m] for m, n in pairs) and trips[COUNTS[-1]] <= trips[1] / 2


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one:
        print(json.dumps(trips()))
        return 0
    found = {count: trips_over(count) for count in COUNTS}
    print(f"| trips under {LIMIT} |", " | ".join(f"{n} devices" for n in COUNTS), "|")
    print("| --- |" + " --: |" * len(COUNTS))
    for name in found[1]:
        print(f"| {name} |", " | ".join(str(found[n][name]) for n in COUNTS), "|")
    bad = [name for name in found[1] if not is_shared({n: found[n][name] for n in COUNTS})]
    print("programs whose trips do not fall as devices are added:", ", ".join(bad) or "none")
    return bool(bad) and args.check


if __name__ == "__main__":
    sys.exit(main())
