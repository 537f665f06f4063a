"""What XLA's CPU backend takes for an element that is gathered: alone, and beside a reduction that it
is fused into; windows of several lengths out of tables that stay in the caches and that do not.

    python bench/experiments/gathers.py

For XLA_GATHER and XLA_GATHERED of src/kernel/cost.c. CPU nanoseconds an element, the least of 7 turns
of 10 runs: single ones are shorter than what CPU time of threads is counted in.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

ELEMENTS, RUNS = 4_000_000, 10


def cpu_ns(f, *arguments):
    """Of an element."""
    found = []
    for _ in range(8):  # the first compiles
        begun = time.process_time()
        for _ in range(RUNS):
            f(*arguments).block_until_ready()
        found.append(time.process_time() - begun)
    return min(found[1:]) / ELEMENTS / RUNS * 1e9


def main():
    random = np.random.default_rng(0)
    print("| rows of the table | window | gathered | and reduced |\n|--:|--:|--:|--:|")
    for rows in (2_000, 100_000):
        for window in (1, 3, 12, 64, 256):
            table = jnp.asarray(random.standard_normal((rows, window)), jnp.float32)
            places = jnp.asarray(random.integers(0, rows, ELEMENTS // window), jnp.int32)
            alone = cpu_ns(jax.jit(lambda t, i: t[i]), table, places)
            reduced = cpu_ns(jax.jit(lambda t, i: ((t[i] - 1) ** 2).sum(-1)), table, places)
            print(f"| {rows:,} | {window} | {alone:.2f} | {reduced:.2f} |")


if __name__ == "__main__":
    main()
