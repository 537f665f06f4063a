"""What matrix products alone reach on this machine, in GFLOP/s: the limit of what consists of them.

    python bench/gemm.py                     4096 x 512 x 128,000, f32: logits of bench/kernels.py
    python bench/gemm.py 1000 1000 1000 f64

Best of --runs by NumPy (OpenBLAS, into an array that is there) and by stock XLA.
"""

import argparse
import time

import jax
import numpy as np


def best_seconds(run, runs):
    seconds = []
    for _ in range(runs + 1):  # the first one touches the memory
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return min(seconds[1:])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", default=["4096", "512", "128000", "f32"])
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    m, k, n = map(int, args.sizes[:3])
    dtype = {"f32": np.float32, "f64": np.float64}[(args.sizes[3:] or ["f32"])[0]]
    jax.config.update("jax_enable_x64", dtype == np.float64)
    rng = np.random.default_rng(0)
    a, b = rng.random((m, k), dtype), rng.random((k, n), dtype)
    out = np.empty((m, n), dtype)
    there = jax.device_put((a, b))
    product = jax.jit(lambda a, b: a @ b)
    for name, run in (
        ("NumPy", lambda: np.matmul(a, b, out=out)),
        ("XLA", lambda: jax.block_until_ready(product(*there))),
    ):
        print(f"{name}: {2 * m * k * n / best_seconds(run, args.runs) / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
