"""Checks weir on a GPU or TPU that is here: results against the CPU's, the measured peak of fresh
processes, times beside stock XLA, loops by hand and libraries. Needs jax with its device, NumPy and
weir; this file alone.

    python tools/device_check.py                    # all pieces, a table
    python tools/device_check.py --pieces kernel,knn --scale 0.2

A piece is one program, in processes of its own of at most eight minutes together: unchanged, under
a limit, on the CPU, under the limit "auto", split by hand, and by jax.nn.dot_product_attention
(cuDNN, in bf16), PyTorch and KeOps where these are installed and find the same device. The peak is
the device's own count, peak_bytes_in_use, without preallocation. On CPU, which does not count, the
peak is not checked and the table says so. Exits with 1 if a result differs, a peak is above its
limit, or a piece fails; what others need, or don't run, is no failure.
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
BLOCK_BYTES = 1 << 26  # of what is split by hand


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


# ---- the same, split by hand: functions of the same arguments ----
def rows_of(width):
    """How many rows of so many floats are a block."""
    return max(BLOCK_BYTES // (4 * width), 1)


def kernel_by_hand(x, v):
    import jax
    import jax.numpy as jnp

    def row(at):
        return jnp.exp(-jnp.sum((at - x) ** 2, -1)) @ v

    return jax.lax.map(row, x, batch_size=rows_of(len(x)))


def knn_by_hand(queries, data):
    import jax
    import jax.numpy as jnp

    squares = jnp.sum(data**2, 1)

    def row(query):
        inner = jnp.dot(data, query, precision="highest")
        return -jax.lax.top_k(2 * inner - squares - jnp.sum(query**2), 10)[0]

    return jax.lax.map(row, queries, batch_size=rows_of(len(data)))


def attention_by_hand(q, k, v):
    import jax
    import jax.numpy as jnp

    def head(at):
        queries, keys, values = at

        @jax.checkpoint
        def row(query):
            weights = jax.nn.softmax(jnp.dot(keys, query, precision="highest") / 8)
            return jnp.sum(jnp.dot(weights, values, precision="highest") ** 2)

        return jnp.sum(jax.lax.map(row, queries, batch_size=rows_of(len(keys))))

    def loss(*qkv):
        return jnp.sum(jax.lax.map(head, qkv))

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v)


def cross_entropy_by_hand(x, w, labels):
    import jax
    import jax.numpy as jnp

    def loss(x, w):
        @jax.checkpoint
        def row(at):
            logits = jnp.dot(at[0], w, precision="highest")
            return jax.nn.log_softmax(logits)[at[1]]

        return -jnp.mean(jax.lax.map(row, (x, labels), batch_size=rows_of(w.shape[1])))

    return jax.value_and_grad(loss, argnums=(0, 1))(x, w)


BY_HAND = {name: globals()[f"{name}_by_hand"] for name in PIECES}


# ---- by libraries: what runs once and has ended when it returns ----
class Missing(Exception):
    """There is no such library here, or it has no such function."""


def by_cudnn(name, arguments):
    """Flash attention, of bf16; that of f32 cuDNN has not."""
    import jax
    import jax.numpy as jnp

    if name != "attention":
        raise Missing
    heads_last = [jnp.asarray(x).swapaxes(0, 1)[None].astype(jnp.bfloat16) for x in arguments]

    def loss(q, k, v):
        found = jax.nn.dot_product_attention(q, k, v, implementation="cudnn")
        return jnp.sum(found.astype(jnp.float32) ** 2)

    f = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))
    return lambda: jax.block_until_ready(f(*heads_last))


def torch_arguments(arguments):
    """(torch, the arguments on the device that jax has, what waits for it)."""
    import jax
    import numpy as np
    import torch

    platform = jax.devices()[0].platform
    device = {"cpu": "cpu", "gpu": "cuda"}.get(platform)
    if device is None or (device == "cuda" and not torch.cuda.is_available()):
        raise Missing
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    return torch, [torch.tensor(np.asarray(x), device=device) for x in arguments], wait


def by_torch(name, arguments):
    torch, arrays, wait = torch_arguments(arguments)

    def gradients(loss, *of):
        of = [x.detach().requires_grad_() for x in of]
        return torch.autograd.grad(loss(*of), of)

    def attention():
        of = torch.nn.functional.scaled_dot_product_attention
        return gradients(lambda q, k, v: (of(q[None], k[None], v[None]) ** 2).sum(), *arrays)

    def cross_entropy():
        x, w, labels = arrays
        of = torch.nn.functional.cross_entropy
        return gradients(lambda x, w: of(x @ w, labels.long()), x, w)

    def kernel():
        x, v = arrays
        return torch.exp(-(torch.cdist(x, x) ** 2)) @ v

    def knn():
        return torch.topk(torch.cdist(*arrays) ** 2, 10, largest=False)

    f = {g.__name__: g for g in (attention, cross_entropy, kernel, knn)}[name]
    return lambda: (f(), wait())


def by_keops(name, arguments):
    if name not in ("kernel", "knn"):
        raise Missing
    torch, (x, y), wait = torch_arguments(arguments)
    from pykeops.torch import LazyTensor

    data = x if name == "kernel" else y
    distances = ((LazyTensor(x[:, None]) - LazyTensor(data[None])) ** 2).sum(-1)
    if name == "knn":
        return lambda: (distances.Kmin(10, dim=1), wait())
    return lambda: ((-distances).exp() @ y[:, None], wait())


LIBRARIES = {"cuDNN": by_cudnn, "torch": by_torch, "KeOps": by_keops}


# ---- one process ----
def fastest(call):
    """Seconds, of what has been called before."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def run_piece(name, scale, way, output):
    """Runs in a process of its own; prints one line of JSON."""
    import numpy as np

    f, arguments = PIECES[name](np.random.default_rng(0), scale)
    if way in LIBRARIES:
        call = LIBRARIES[way](name, arguments)
        call()
        print(json.dumps({"seconds": fastest(call)}))
    else:
        f = BY_HAND[name] if way == "hand" else f
        print(json.dumps(run_jax(f, arguments, output, is_timed=way != "cpu")))


def run_jax(f, arguments, output, is_timed):
    import jax
    import numpy as np

    device = jax.devices()[0]
    arguments = jax.device_put(arguments)
    step = jax.jit(f).lower(*arguments).compile()
    results = jax.block_until_ready(step(*arguments))
    counted = (device.memory_stats() or {}) if device.platform != "cpu" else {}
    np.savez(output, *jax.tree.leaves(results))
    del results
    memory = step.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return {
        "device": device.device_kind,
        "reported": held - memory.alias_size_in_bytes + memory.temp_size_in_bytes,
        "peak": counted.get("peak_bytes_in_use"),
        "seconds": fastest(lambda: jax.block_until_ready(step(*arguments))) if is_timed else None,
    }


def run_apart(name, scale, way, limit, folder, seconds):
    """The row of a fresh process, or {"failed": why}."""
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    environment.pop("WEIR_MEMORY_LIMIT", None)
    if way in ("weir", "auto"):
        environment["WEIR_MEMORY_LIMIT"] = "auto" if way == "auto" else str(int(limit))
    if way == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    output = pathlib.Path(folder, f"{name}-{way}.npz")
    command = [sys.executable, __file__, "--one", name, way, "--scale", str(scale)]
    command += ["--to", str(output)]
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


def wrong_results(rows, tolerance):
    """({way: how far it is off}, what is wrong)."""
    cpu, errors = rows["cpu"], {}
    wrong = [f"{way}: {row['failed']}" for way, row in rows.items() if "failed" in row]
    for way in ("weir", "auto", "hand"):
        if "failed" in rows[way] or "failed" in cpu:
            continue
        errors[way] = difference(rows[way]["output"], cpu["output"])
        if not errors[way] <= tolerance:
            wrong.append(f"{way}: differs from the CPU by {errors[way]:.2g}")
    return errors, wrong


def check(name, scale, share, tolerance, folder):
    """(row, what is wrong)."""
    end = time.monotonic() + SECONDS

    def run(way, limit=None):
        return run_apart(name, scale, way, limit, folder, end - time.monotonic())

    stock = run("stock")
    if "failed" in stock:
        return {"piece": name}, f"stock: {stock['failed']}"
    limit = stock["reported"] * share
    weir = run("weir", limit)
    if "failed" in weir:
        return {"piece": name}, f"weir: {weir['failed']}"
    rows = {"weir": weir} | {way: run(way) for way in ("cpu", "auto", "hand")}
    errors, wrong = wrong_results(rows, tolerance)
    if weir["reported"] > limit:
        wrong.append("XLA reports more than the limit")
    if weir["peak"] and weir["peak"] > limit * ALLOWANCE:
        wrong.append("the measured peak is above the limit")
    others = {library: run(library).get("seconds") for library in LIBRARIES}
    row = {"piece": name, "limit": limit, "stock": stock, **rows}
    return row | {"error": errors.get("weir"), "others": others}, "; ".join(wrong)


# ---- the table ----
def megabytes(count):
    return "not counted" if count is None else f"{count / 1e6:.1f}"


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.1f}"


def line(row, wrong):
    if "weir" not in row:
        return f"| {row['piece']} |  |  |  |  |  |  |  | {wrong} |"
    stock, weir = row["stock"], row["weir"]
    peaks = f"{megabytes(stock['peak'])} → {megabytes(weir['peak'])}"
    reports = f"{megabytes(stock['reported'])} → {megabytes(weir['reported'])}"
    times = f"{milliseconds(stock['seconds'])} → {milliseconds(weir['seconds'])}"
    own = ", ".join(milliseconds(row[way].get("seconds")) for way in ("auto", "hand"))
    others = ", ".join(milliseconds(seconds) for seconds in row["others"].values())
    error = "" if row["error"] is None else f"{row['error']:.1e}"
    return (
        f"| {row['piece']} | {megabytes(row['limit'])} | {reports} | {peaks} | {times} "
        f"| {own} | {others} | {error} | {wrong or 'good'} |"
    )


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--pieces", default=",".join(PIECES))
    ap.add_argument("--scale", type=float, default=1.0, help="of the memory that stock takes")
    ap.add_argument("--share", type=float, default=0.1, help="the limit, of what stock takes")
    ap.add_argument("--tolerance", type=float, default=1e-3)
    ap.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    ap.add_argument("--to", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.one:
        return run_piece(args.one[0], args.scale, args.one[1], args.to)
    names = args.pieces.split(",")
    if unknown := set(names) - set(PIECES):
        ap.error(f"no piece {', '.join(sorted(unknown))}; there are {', '.join(PIECES)}")
    if not args.scale >= LEAST_SCALE or not 0 < args.share < 1:
        ap.error(f"the scale is at least {LEAST_SCALE}, the share between 0 and 1")
    failed = 0
    print(
        "| piece | limit, MB | XLA's report, MB | measured peak, MB | ms | auto, by hand, ms "
        f"| {', '.join(LIBRARIES)}, ms | difference | |"
    )
    print("| --- |" + " --: |" * 7 + " --- |")
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
