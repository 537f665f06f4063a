"""Questions 5 and 7: masks, threads, library fusions and compile options inside the loop.
CPU time is printed beside wall time, and the share of the busiest thread: 1.0 means one thread did it all.
Run: python bench/experiments/options.py [masks threads ynn flags trips]
"""
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import loops
import probe


def thread_ticks():
    ticks = {}
    for tid in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/stat" % tid) as f:
                words = f.read().rpartition(")")[2].split()
            ticks[tid] = int(words[11]) + int(words[12])
        except OSError:
            pass
    return ticks


def busiest(before, after):
    spent = [after[t] - before.get(t, 0) for t in after]
    return max(spent) / (sum(spent) or 1)


def compare(progs, args, rounds=4):
    """progs: {label: (callable taking args, note)}; interleaved, minimum over rounds."""
    best = {k: (float("inf"), 0.0) for k in progs}
    share = dict.fromkeys(progs, 1.0)
    for _ in range(rounds):
        for k, (call, _) in progs.items():
            t0, c0, b = time.perf_counter(), time.process_time(), thread_ticks()
            call(args)
            wall, cpu = time.perf_counter() - t0, time.process_time() - c0
            share[k] = min(share[k], busiest(b, thread_ticks()))
            best[k] = min(best[k], (wall, cpu))
    for k, (_, note) in progs.items():
        print("  %-52s %7.3f s  cpu %7.3f s  busiest thread %.2f  %s" % (k, *best[k], share[k], note), flush=True)


def program(text, options):
    p = probe.Program(text, options)
    return p.call, "temp %.1f MB" % (p.mem.temp_size_in_bytes / 1e6)


def masks():
    n, m, d = 64_000, 500, 8
    args = probe.make_args([((n, d), "f64"), ((n,), "f64"), ((m, d), "f64")])
    print("K^T K, f64, n = 64000, m = 500")
    compare({
        "c = 1000, divides n, no mask": program(loops.kernel_gram(n, m, d, 1000), probe.ORDERED),
        "c = 1000, masked": program(loops.kernel_gram(n, m, d, 1000, mask=True), probe.ORDERED),
        "c = 1023, masked": program(loops.kernel_gram(n, m, d, 1023, mask=True), probe.ORDERED),
        "c = 1024, masked": program(loops.kernel_gram(n, m, d, 1024, mask=True), probe.ORDERED),
    }, args)
    n, m = 20_000, 1000
    args = probe.make_args([((n, m), "f64")])
    print("x^T x, f64, n = 20000, m = 1000 (operand is a plain slice of the input)")
    compare({
        "c = 500, no mask": program(loops.sum_of_dots(n, m, 500), probe.ORDERED),
        "c = 500, masked": program(loops.sum_of_dots(n, m, 500, mask=True), probe.ORDERED),
        "c = 499, masked": program(loops.sum_of_dots(n, m, 499, mask=True), probe.ORDERED),
    }, args)


def in_loop(f, rows):
    """Loop over blocks of rows of the first argument, results stacked."""
    def run(x, *rest):
        n = x.shape[0]
        shape = jax.eval_shape(f, jax.ShapeDtypeStruct((rows, *x.shape[1:]), x.dtype), *rest)

        def body(i, out):
            lo = jnp.minimum(i * rows, n - rows)
            return lax.dynamic_update_slice_in_dim(out, f(lax.dynamic_slice_in_dim(x, lo, rows), *rest), lo, 0)
        return lax.fori_loop(0, -(-n // rows), body, jnp.zeros((n, *shape.shape[1:]), shape.dtype))
    return run


def threads():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((40_000, 500)).astype(np.float32)
    w = rng.standard_normal((500, 500)).astype(np.float32)
    low = np.tril(w) + 30 * np.eye(500, dtype=np.float32)
    cases = {
        "exp": (lambda b, w: jnp.exp(b), 1),
        "exp, sum rows": (lambda b, w: jnp.exp(b).sum(1), 1),
        "exp, max over columns": (lambda b, w: jnp.broadcast_to(jnp.exp(b).max(0), b.shape), 1),
        "dot": (lambda b, w: b @ w, 1),
        "dot, transposed operand": (lambda b, w: (w.T @ b.T).T, 1),
        "matvec": (lambda b, w: b @ w[0], 20),
        "batched dot (20 x)": (lambda b, w: jnp.einsum("hqd,de->hqe", b.reshape(20, -1, 500), w).reshape(b.shape), 1),
        "dot batch both (10 x 100 x 500 x 500)": (lambda b, w: jnp.einsum(
            "hqd,hde->hqe", b.reshape(10, -1, 500), jnp.broadcast_to(w, (10, 500, 500))).reshape(b.shape), 1),
        "top_k 10": (lambda b, w: lax.top_k(b, 10)[0], 1),
        "sort": (lambda b, w: jnp.sort(b, 1), 1),
        "triangular solve": (lambda b, w: jax.scipy.linalg.solve_triangular(w, b.T, lower=True).T, 1),
        "transpose": (lambda b, w: b.T.reshape(b.shape), 5),
        "gather rows": (lambda b, w: b[::-1][jnp.argsort(b[:, 0])], 1),
        "cumsum": (lambda b, w: jnp.cumsum(b, 1), 1),
    }
    print("40 trips over [1000, 500] f32, honest options")
    for name, (f, times) in cases.items():
        p = jax.jit(in_loop(f, 1000)).lower(a, low).compile(compiler_options=probe.ORDERED)
        args = jax.device_put((a, low))
        compare({name: (lambda _, p=p, args=args, times=times: [jax.block_until_ready(p(*args)) for _ in range(times)],
                        "")}, args, rounds=2)


def ynn():
    for name, text, specs in heavy():
        args = probe.make_args(specs, scale=0.3)
        print(name)
        compare({
            "default": program(text, {}),
            "ynn off": program(text, probe.HONEST),
            "ynn off, memory-optimised schedule": program(text, probe.ORDERED),
        }, args)


def heavy():
    n, d = 100_000, 10
    yield ("matvec f64, c = 64, 1024 rows", loops.matvec(n, d, 64, trip=16), [((n, d), "f64"), ((n,), "f64")])
    h, s, w = 8, 8192, 64
    yield ("attention f32 8 x 8192, c = 128, 512 rows", loops.attention(h, s, w, 128, trip=4), [((h, s, w), "f32")] * 3)
    yield ("mlp f32, c = 512, 32768 rows", loops.mlp(200_000, 64, 4096, 10, 512, trip=64),
           [((200_000, 64), "f32"), ((64, 4096), "f32"), ((4096, 10), "f32")])
    yield ("K^T K f64, c = 1000, 32000 rows", loops.kernel_gram(200_000, 500, 8, 1000, trip=32),
           [((200_000, 8), "f64"), ((200_000,), "f64"), ((500, 8), "f64")])


FLAGS = [
    {"xla_cpu_use_xnnpack": True}, {"xla_cpu_use_onednn": True}, {"xla_cpu_multi_thread_eigen": False},
    {"xla_cpu_prefer_vector_width": 512}, {"xla_cpu_use_fusion_emitters": True},
    {"xla_cpu_use_fusion_emitters": False}, {"xla_cpu_enable_fast_math": True},
    {"xla_cpu_copy_insertion_use_region_analysis": True}, {"xla_cpu_generate_unique_c_style_kernel_entry_points": True},
    {"xla_cpu_parallel_codegen_split_count": 1}, {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED"},
    {"xla_backend_optimization_level": 3}, {"xla_disable_hlo_passes": "while-loop-invariant-code-motion"},
    {"xla_disable_hlo_passes": "tree_reduction_rewriter"},
]


def flags():
    for name, text, specs in heavy():
        args = probe.make_args(specs, scale=0.3)
        print(name)
        progs = {"ordered": program(text, probe.ORDERED)}
        for f in FLAGS:
            label = ", ".join("%s=%s" % x for x in f.items())
            try:
                progs[label] = program(text, {**probe.ORDERED, **f})
            except Exception as e:  # noqa: BLE001 - the refusal is the finding
                print("  %-52s refused: %s" % (label, str(e)[:90]))
        compare(progs, args, rounds=3)


def trips():
    """Cost of a trip with almost nothing in it, by the number of ops in the body."""
    x = np.zeros(64, np.float32)
    for k in (1, 4, 16):
        def body(i, v, k=k):
            for j in range(k):
                v = v @ jnp.full((64, 64), 0.01, jnp.float32)      # a dot is one thunk of its own
            return v
        p = jax.jit(lambda v: lax.fori_loop(0, 20_000, body, v)).lower(x).compile(compiler_options=probe.ORDERED)
        t = min(time_once(p, x) for _ in range(3))
        print("  body of %2d small dots: %.2f us a trip" % (k, t / 20_000 * 1e6), flush=True)


def time_once(p, x):
    t0 = time.perf_counter()
    jax.block_until_ready(p(x))
    return time.perf_counter() - t0


if __name__ == "__main__":
    probe.setup()
    for f in (masks, threads, ynn, flags, trips):
        if probe.wanted(f.__name__):
            print("--", f.__name__)
            f()
