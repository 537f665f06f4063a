"""What XLA's CPU backend takes for an element that is gathered: alone, and beside a reduction that it
is fused into; windows of several lengths out of tables that stay in the caches and that do not.

    python bench/experiments/gathers.py

For XLA_GATHER and XLA_GATHERED of src/machine/tuned.def. CPU nanoseconds an element, the least of 7
turns of 10 runs: single ones are shorter than what CPU time of threads is counted in.

    python bench/experiments/gathers.py trips

The same of 4,096 elements in the trip of a while, as weir's loops have them, a place and an element:
`places` and `copied` of src/machine/cpu.h. Of trips with one gather and with three, the difference.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

from launches import OPTIONS  # and the way to bench/
from measure import least_cpu

ELEMENTS, RUNS = 4_000_000, 10
IN_A_TRIP, TRIPS = 4096, 400
WINDOWS = (1, 4, 16, 64, 256)
RANDOM = np.random.default_rng(0)


def table_of(rows, window):
    return jnp.asarray(RANDOM.standard_normal((rows, window)), jnp.float32)


def places_in(rows, count):
    return jnp.asarray(RANDOM.integers(0, rows, count), jnp.int32)


def cpu_ns(f, *arguments):
    """Of an element."""
    found = []
    for _ in range(8):  # the first compiles
        begun = time.process_time()
        for _ in range(RUNS):
            f(*arguments).block_until_ready()
        found.append(time.process_time() - begun)
    return min(found[1:]) / ELEMENTS / RUNS * 1e9


def trips_of(tables, places, sums):
    """TRIPS trips, each of which gathers at other places."""

    def trip(t, sums):
        return [
            s * 0.5 + table[(i + t) % table.shape[0]]
            for table, i, s in zip(tables, places, sums, strict=True)
        ]

    return jax.lax.fori_loop(0, TRIPS, trip, sums)


def trips_ns(rows, window, count):
    tables = [table_of(rows, window) for _ in range(count)]
    places = [places_in(rows, IN_A_TRIP // window) for _ in range(count)]
    arguments = (tables, places, [jnp.zeros((IN_A_TRIP // window, window))] * count)
    run = jax.jit(trips_of).lower(*arguments).compile(compiler_options=OPTIONS)
    return least_cpu(lambda: jax.block_until_ready(run(*arguments)), 8)[0] / TRIPS * 1e9


def in_trips():
    print("| table KB | window | ns a place | ns an element |\n|--:|--:|--:|--:|")
    for kilobytes in (64, 16_384):
        for window in WINDOWS:
            rows = kilobytes * 256 // window
            ns = (trips_ns(rows, window, 3) - trips_ns(rows, window, 1)) / 2
            of_each = ns / IN_A_TRIP
            print(f"| {kilobytes:,} | {window} | {of_each * window:.1f} | {of_each:.2f} |", flush=True)


def main():
    if sys.argv[1:] == ["trips"]:
        return in_trips()
    print("| rows of the table | window | gathered | and reduced |\n|--:|--:|--:|--:|")
    for rows in (2_000, 100_000):
        for window in (1, 3, 12, 64, 256):
            table, places = table_of(rows, window), places_in(rows, ELEMENTS // window)
            alone = cpu_ns(jax.jit(lambda t, i: t[i]), table, places)
            reduced = cpu_ns(jax.jit(lambda t, i: ((t[i] - 1) ** 2).sum(-1)), table, places)
            print(f"| {rows:,} | {window} | {alone:.2f} | {reduced:.2f} |")


if __name__ == "__main__":
    main()
