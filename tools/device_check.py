"""Checks weir on a GPU or TPU that is here: results against the CPU's, the measured peak of fresh
processes, times beside stock XLA. Needs jax with its device, NumPy and weir; this file alone.

    python tools/device_check.py                    # all pieces, a table
    python tools/device_check.py --pieces kernel,knn --scale 0.2

A piece is one program, in processes of its own of at most eight minutes together: unchanged, under
a limit, and on the CPU. The peak is the device's own count, peak_bytes_in_use, without
preallocation. On CPU, which does not count, the peak is not checked and the table says so. Exits
with 1 if a result differs, a peak is above its limit, or a piece fails.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SECONDS = 8 * 60
REPEATS = 5
LEAST_SCALE = 0.001
ALLOWANCE = 1.02  # of the peak: the allocator rounds sizes up


# ---- the pieces: (function, arguments) at a scale of the memory that is dissolved ----
def normal(rng, *shape):
    return rng.standard_normal(shape).astype("float32")


def kernel(rng, scale):
    """A kernel matrix times a vector: 4 GB in between."""
    import jax.numpy as jnp

    n = int(32_000 * scale**0.5)

    def f(x, v):
        distances = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        return jnp.exp(-distances) @ v

    return f, (normal(rng, n, 3), normal(rng, n))


def knn(rng, scale):
    """Ten nearest neighbours: 4 GB of distances."""
    import jax
    import jax.numpy as jnp

    n = int(1_000_000 * scale)

    def f(queries, data):
        inner = jnp.dot(queries, data.T, precision="highest")
        distances = jnp.sum(queries**2, 1)[:, None] - 2 * inner + jnp.sum(data**2, 1)[None]
        return -jax.lax.top_k(-distances, 10)[0]

    return f, (normal(rng, 1000, 32), normal(rng, max(n, 20), 32))


def attention(rng, scale):
    """Attention of 8 heads with its gradient: 8.6 GB of scores."""
    import jax
    import jax.numpy as jnp

    n = int(16_384 * scale**0.5)

    def loss(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k, precision="highest") / 8
        weights = jax.nn.softmax(scores, axis=-1)
        return jnp.sum(jnp.einsum("hqk,hkd->hqd", weights, v, precision="highest") ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2)), tuple(normal(rng, 8, n, 64) for _ in "qkv")


def cross_entropy(rng, scale):
    """Loss over a large vocabulary and its gradients: 2 GB of logits, several times."""
    import jax
    import jax.numpy as jnp

    n = max(int(4096 * scale), 8)

    def loss(x, w, labels):
        logits = jnp.dot(x, w, precision="highest")
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -jnp.mean(chosen)

    labels = rng.integers(0, 128_256, n).astype("int32")
    return jax.value_and_grad(loss, argnums=(0, 1)), (normal(rng, n, 64), normal(rng, 64, 128_256), labels)


PIECES = {f.__name__: f for f in (kernel, knn, attention, cross_entropy)}


# ---- one process ----
def run_piece(name, scale, output):
    """Runs in a process of its own; prints one line of JSON."""
    import jax
    import numpy as np

    f, arguments = PIECES[name](np.random.default_rng(0), scale)
    device = jax.devices()[0]
    arguments = jax.device_put(arguments)
    step = jax.jit(f).lower(*arguments).compile()
    results = jax.block_until_ready(step(*arguments))
    counted = (device.memory_stats() or {}) if device.platform != "cpu" else {}
    np.savez(output, *jax.tree.leaves(results))
    del results
    memory = step.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(step(*arguments))
        times.append(time.perf_counter() - start)
    row = {
        "device": device.device_kind,
        "reported": held - memory.alias_size_in_bytes + memory.temp_size_in_bytes,
        "peak": counted.get("peak_bytes_in_use"),
        "seconds": min(times),
    }
    print(json.dumps(row))


def run_apart(name, scale, way, limit, folder, seconds):
    """The row of a fresh process, or {"failed": why}."""
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    environment.pop("WEIR_MEMORY_LIMIT", None)
    if way == "weir":
        environment["WEIR_MEMORY_LIMIT"] = limit if isinstance(limit, str) else str(int(limit))
    if way == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    output = pathlib.Path(folder, f"{name}-{way}.npz")
    command = [sys.executable, __file__, "--one", name, "--scale", str(scale), "--to", str(output)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=max(seconds, 1)
        )
    except subprocess.TimeoutExpired:
        return {"failed": "out of time"}
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "Error" in line]
        return {"failed": (said or [f"exit {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1]) | {"output": str(output)}


# ---- a piece ----
def difference(one, other):
    """Largest difference beside the largest value, the worst of the results."""
    import numpy as np

    with np.load(one) as first, np.load(other) as second:
        assert first.files == second.files
        pairs = [(first[key].astype(float), second[key].astype(float)) for key in first.files]
    return max(float(np.abs(x - y).max() / (np.abs(y).max() or 1)) for x, y in pairs)


def check(name, scale, share, tolerance, folder):
    """(row, what is wrong)."""
    end = time.monotonic() + SECONDS
    stock = run_apart(name, scale, "stock", None, folder, end - time.monotonic())
    if "failed" in stock:
        return {"piece": name}, f"stock: {stock['failed']}"
    limit = stock["reported"] * share
    weir = run_apart(name, scale, "weir", limit, folder, end - time.monotonic())
    if "failed" in weir:
        return {"piece": name}, f"weir: {weir['failed']}"
    cpu = run_apart(name, scale, "cpu", None, folder, end - time.monotonic())
    wrong = [] if "failed" not in cpu else [f"cpu: {cpu['failed']}"]
    error = difference(weir["output"], cpu["output"]) if not wrong else None
    if error is not None and not error <= tolerance:
        wrong.append(f"differs from the CPU by {error:.2g}")
    if weir["reported"] > limit:
        wrong.append("XLA reports more than the limit")
    if weir["peak"] and weir["peak"] > limit * ALLOWANCE:
        wrong.append("the measured peak is above the limit")
    row = {"piece": name, "limit": limit, "stock": stock, "weir": weir, "error": error}
    return row, "; ".join(wrong)


# ---- the table ----
def megabytes(count):
    return "not counted" if count is None else f"{count / 1e6:.1f}"


def line(row, wrong):
    if "weir" not in row:
        return f"| {row['piece']} |  |  |  |  |  | {wrong} |"
    stock, weir = row["stock"], row["weir"]
    peaks = f"{megabytes(stock['peak'])} → {megabytes(weir['peak'])}"
    reports = f"{megabytes(stock['reported'])} → {megabytes(weir['reported'])}"
    times = f"{stock['seconds'] * 1e3:.1f} → {weir['seconds'] * 1e3:.1f}"
    error = "" if row["error"] is None else f"{row['error']:.1e}"
    return (
        f"| {row['piece']} | {megabytes(row['limit'])} | {reports} | {peaks} | {times} | {error} "
        f"| {wrong or 'good'} |"
    )


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--pieces", default=",".join(PIECES))
    ap.add_argument("--scale", type=float, default=1.0, help="of the memory that stock takes")
    ap.add_argument("--share", type=float, default=0.1, help="the limit, of what stock takes")
    ap.add_argument("--tolerance", type=float, default=1e-3)
    ap.add_argument("--one", help=argparse.SUPPRESS)
    ap.add_argument("--to", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one:
        return run_piece(args.one, args.scale, args.to)
    names = args.pieces.split(",")
    if unknown := set(names) - set(PIECES):
        ap.error(f"no piece {', '.join(sorted(unknown))}; there are {', '.join(PIECES)}")
    if not args.scale >= LEAST_SCALE or not 0 < args.share < 1:
        ap.error(f"the scale is at least {LEAST_SCALE}, the share between 0 and 1")
    failed = 0
    print("| piece | limit, MB | XLA's report, MB | measured peak, MB | ms | difference | |")
    print("| --- | --: | --: | --: | --: | --: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            row, wrong = check(name, args.scale, args.share, args.tolerance, folder)
            failed += bool(wrong)
            print(line(row, wrong), flush=True)
            device = row.get("weir", {}).get("device", "")
    print(f"\n{device}: {len(names) - failed} good, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
