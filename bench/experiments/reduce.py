"""Reductions: XLA CPU's tree_reduction_rewriter breaks a reduce over more than 32 elements into a
reduce-window and a reduce, and the producer then gets a buffer.  What switching the pass off gives.
Run: python bench/experiments/reduce.py
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import probe

OFF = dict(probe.ORDERED, xla_disable_hlo_passes="tree_reduction_rewriter")
rng = np.random.default_rng(0)


def case(name, f, *args):
    exact = np.asarray(f(*[jnp.asarray(a, jnp.float64) for a in args]))
    args = jax.device_put(args)
    progs = {k: jax.jit(f).lower(*args).compile(compiler_options=o) for k, o in (("on", probe.ORDERED), ("off", OFF))}
    best = dict.fromkeys(progs, float("inf"))
    for _ in range(4):
        for k, p in progs.items():
            t0, c0 = time.perf_counter(), time.process_time()
            out = jax.block_until_ready(p(*args))
            best[k] = min(best[k], time.perf_counter() - t0)
    for k, p in progs.items():
        error = np.max(np.abs(np.asarray(p(*args), np.float64) - exact)) / np.max(np.abs(exact))
        print("%-40s rewriter %-3s temp %8.2f MB  %.4f s  error %.1e" % (
            name, k, p.memory_analysis().temp_size_in_bytes / 1e6, best[k], error), flush=True)


def main():
    probe.setup()
    x = rng.standard_normal((100_000, 50)).astype(np.float32)
    q = rng.standard_normal((8, 50)).astype(np.float32)
    case("sum (q-x)^2 over d=50", lambda q, x: jnp.sum((q[:, None] - x[None]) ** 2, -1), q, x)
    a = rng.standard_normal((2000, 4000)).astype(np.float32)
    case("sum exp rows of 4000", lambda a: jnp.sum(jnp.exp(a), 1), a)
    case("sum exp cols of 2000", lambda a: jnp.sum(jnp.exp(a), 0), a)
    case("max exp rows", lambda a: jnp.max(jnp.exp(a), 1), a)
    case("softmax rows, squares summed", lambda a: jnp.sum(jax.nn.softmax(a, 1) ** 2, 1), a)
    case("sum of everything (8e6)", lambda a: jnp.sum(jnp.exp(a)), a)


if __name__ == "__main__":
    main()
