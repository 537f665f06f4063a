"""Products of matrices: what XLA CPU's three ways cost in time and in memory that no report shows.
Run: python bench/experiments/products.py
Each line in a fresh process: CPU seconds (minimum of four runs), XLA's report, growth in the first run.
"""
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import probe

WAYS = {"default": {}, "off": probe.HONEST,
        "single": {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}}


def matmul(x, y):
    return x @ y


def attention(q, k, v):
    return jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) / 8.0) @ v


def kernel_gradient(z, v):
    return jax.grad(lambda z: (jnp.exp(-0.5 * ((z[:, None] - z[None]) ** 2).sum(-1)) @ v).sum())(z)


CASES = {
    "f64 3000 x 3000 x 3000": (matmul, "f64", (3000, 3000), (3000, 3000)),
    "f32 3000 x 3000 x 3000": (matmul, "f32", (3000, 3000), (3000, 3000)),
    "f64 500 x 500 x 100000": (matmul, "f64", (500, 500), (500, 100_000)),
    "f32 500 x 500 x 100000": (matmul, "f32", (500, 500), (500, 100_000)),
    "f64 500 x 60000 x 500": (matmul, "f64", (500, 60_000), (60_000, 500)),
    "f32 500 x 60000 x 500": (matmul, "f32", (500, 60_000), (60_000, 500)),
    "f64 500 x 200000 x 500": (matmul, "f64", (500, 200_000), (200_000, 500)),
    "f64 4000 x 10000 times vector": (matmul, "f64", (4000, 10_000), (10_000,)),
    "f32 attention 8 x 2048": (attention, "f32", *[(8, 2048, 64)] * 3),
    "f64 kernel's gradient, n = 3000": (kernel_gradient, "f64", (3000, 8), (3000,)),
}


def worker(name, way):
    probe.setup()
    f, dtype, *shapes = CASES[name]
    rng = np.random.default_rng(0)
    args = [rng.standard_normal(s).astype(probe.NUMPY[dtype]) for s in shapes]
    args = jax.block_until_ready(jax.device_put(args))
    program = jax.jit(f).lower(*args).compile(compiler_options=WAYS[way])
    seconds, grown = float("inf"), None
    for _ in range(4):
        before, start = probe.reset_peak(), time.process_time()
        jax.block_until_ready(program(*args))
        seconds = min(seconds, time.process_time() - start)
        grown = grown or probe.status_bytes("VmHWM") - before
    memory = program.memory_analysis()
    reported = memory.temp_size_in_bytes + memory.output_size_in_bytes
    print("%-34s %-8s %7.3f s  report %6.1f MB  grew %6.1f MB" % (
        name, way, seconds, reported / 1e6, grown / 1e6), flush=True)


def main():
    if len(sys.argv) > 1:
        return worker(*sys.argv[1:])
    for name in CASES:
        for way in WAYS:
            subprocess.run([sys.executable, __file__, name, way], check=True)


if __name__ == "__main__":
    main()
