"""An unchanged JAX script, p1_kernel_matvec.py, under a memory limit.

    python examples/demo.py [--n 100003] [--limit 1GB]

First what stock XLA would need for it, from XLA's own plan (nothing runs). Then the script's
function in a fresh process that has nothing of weir but WEIR_MEMORY_LIMIT in its environment. Then
some rows of the answer against NumPy in chunks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS_CHECKED, ROWS_PER_CHUNK = 1000, 20


def readable(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def peak_bytes():
    """The most memory this process has had so far."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def child(n, path):
    """The fresh process: the script's own function on the script's own inputs."""
    import jax

    import p1_kernel_matvec as script

    inputs = jax.device_put(script.make_inputs(n, script.sizes["d"]))
    start = time.perf_counter()
    y = jax.block_until_ready(script.run(*inputs))
    seconds = time.perf_counter() - start
    np.save(path, np.asarray(y))
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes()}))


def run_limited(n, limit):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "y.npy")
        done = subprocess.run(
            [sys.executable, __file__, "--n", str(n), "--child", path],
            check=True,
            env=os.environ | {"WEIR_MEMORY_LIMIT": limit},
            stdout=subprocess.PIPE,
            text=True,
        )
        return json.loads(done.stdout.splitlines()[-1]), np.load(path)


def numpy_rows(x, v, rows):
    """The same rows of K(x, x) v, by the definition of the kernel, in chunks."""

    def chunk(block):
        distance = ((block[:, None, :] - x[None]) ** 2).sum(-1)
        return 1.5 * np.exp(-0.5 * distance / 2.0**2) @ v

    return np.concatenate(
        [chunk(x[rows[i : i + ROWS_PER_CHUNK]]) for i in range(0, len(rows), ROWS_PER_CHUNK)]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_003, help="points: the matrix is n x n")
    parser.add_argument("--limit", default="1GB")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(args.n, args.child)

    import p1_kernel_matvec as script
    import weir

    x, v = script.make_inputs(args.n, script.sizes["d"])
    print(
        f"program    examples/p1_kernel_matvec.py: y = K(x, x) v, {args.n:,} points, f64",
        flush=True,
    )
    plan = weir.plan(script.run, x, v, limit=args.limit)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    print(
        f"stock XLA  would need {readable(plan.peak_before_bytes)}; "
        f"this machine has {readable(memory)}"
    )
    print(
        f"weir       plans {readable(plan.peak_after_bytes)} under the limit of {args.limit}: "
        f"{len(plan.loops)} loop(s), slices of {', '.join(f'{s:,}' for s in plan.slices)} rows",
        flush=True,
    )

    print(
        f"$ WEIR_MEMORY_LIMIT={args.limit} python examples/p1_kernel_matvec.py --n {args.n}",
        flush=True,
    )
    run, y = run_limited(args.n, args.limit)
    print(f"peak       {readable(run['peak_bytes'])} of the whole process, Python and JAX included")
    print(f"time       {run['seconds']:.1f} s, compilation included", flush=True)

    rows = np.random.default_rng(1).choice(args.n, min(ROWS_CHECKED, args.n), replace=False)
    expected = numpy_rows(x, v, rows)
    error = np.abs(y[rows] - expected).max() / np.abs(expected).max()
    print(
        f"agreement  {len(rows):,} rows against NumPy in chunks: "
        f"largest relative difference {error:.1e}"
    )
    if error > 1e-10:
        sys.exit("the answer is wrong")


if __name__ == "__main__":
    main()
