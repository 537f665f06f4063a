"""A triangular matrix with many right-hand sides: LAPACK's solve, and products with the
inverses of its blocks (what src/pass/solve.c makes of it).
Run: python bench/experiments/solves.py
Per way: milliseconds (minimum of runs in turn), GFLOP/s of n n k, distance from LAPACK's solution.
"""
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import HONEST  # noqa: E402

BLOCK = 128


def lapack(a, inverses, b):
    return solve_triangular(a, b, lower=True)


def blocked(a, inverses, b):
    n = len(a)
    if n <= BLOCK:
        return inverses[0] @ b
    half = BLOCK * (-(-n // BLOCK) // 2)
    count = half // BLOCK
    x1 = blocked(a[:half, :half], inverses[:count], b[:half])
    x2 = blocked(a[half:, half:], inverses[count:], b[half:] - a[half:, :half] @ x1)
    return jnp.concatenate([x1, x2])


def inverses_of(a):
    cuts = range(0, len(a), BLOCK)
    return [jnp.linalg.inv(a[i : i + BLOCK, i : i + BLOCK]) for i in cuts]


def main():
    jax.config.update("jax_enable_x64", True)
    dice = np.random.default_rng(0)
    print(f"{'n':>5} {'k':>6} {'way':8} {'ms':>7} {'GFLOP/s':>8} distance")
    for dtype in (np.float64, np.float32):
        for n, k in ((2, 400_000), (8, 100_000), (32, 25_000), (128, 2000), (500, 2000), (1000, 2000), (2000, 2000)):
            a = np.tril(dice.normal(size=(n, n)) / n + np.diag(dice.uniform(1, 2, n)))
            a, b = jnp.asarray(a, dtype), jnp.asarray(dice.normal(size=(n, k)), dtype)
            inverses = inverses_of(a)
            ways = {f.__name__: jax.jit(f).lower(a, inverses, b).compile(HONEST) for f in (lapack, blocked)}
            seconds, found = dict.fromkeys(ways, np.inf), {}
            for _ in range(12):
                for name, f in ways.items():
                    start = time.perf_counter()
                    found[name] = f(a, inverses, b).block_until_ready()
                    seconds[name] = min(seconds[name], time.perf_counter() - start)
            for name in ways:
                far = float(abs(found[name] - found["lapack"]).max())
                print(f"{n:5} {k:6} {name:8} {seconds[name] * 1e3:7.2f} {n * n * k / seconds[name] / 1e9:8.1f} {far:.1e} {np.dtype(dtype)}")


if __name__ == "__main__":
    main()
