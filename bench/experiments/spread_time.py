"""How long loops take that weir.limit(mesh=) spreads over CPU devices: trips of a device, time by the
clock and CPU time of all devices, on 1, 2, 4 and 8 of them side by side.

    python bench/experiments/spread_time.py [--n 8192] [--rounds 9]

Programs and limit of bench/spread.py. A process for each number of devices, on as many cores as
devices, as far as there are that many here; they run in turn, so that what else the computer does
comes to all of them. Least of the rounds; in brackets how many times one device's.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import spread  # noqa: E402


def answer(count):
    """In a process of its own: a line for each that is read, the name of a program."""
    import jax
    import numpy as np

    import weir

    cores = sorted(os.sched_getaffinity(0))[:count]
    os.sched_setaffinity(0, cores)
    mesh, compiled = jax.make_mesh((count,), ("d",)), {}
    with weir.limit(spread.LIMIT, mesh=mesh):
        for name, (f, shapes) in spread.programs().items():
            draw = np.random.default_rng(0)
            arguments = [draw.standard_normal(x.shape, np.float32) for x in shapes]
            compiled[name] = jax.jit(f), arguments, spread.trips_of(f, shapes)
            jax.block_until_ready(compiled[name][0](*arguments))
        for line in sys.stdin:
            f, arguments, trips = compiled[line.strip()]
            clock, used = time.perf_counter(), time.process_time()
            jax.block_until_ready(f(*arguments))
            row = trips, len(cores), time.perf_counter() - clock, time.process_time() - used
            print(json.dumps(row), flush=True)


class Devices:
    """A process that has so many."""

    def __init__(self, count, n):
        command = [sys.executable, __file__, "--one", str(count), "--n", str(n)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        environment = os.environ | spread.settings(count)
        self.process = subprocess.Popen(command, **pipes, text=True, env=environment)

    def run(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def print_rows(name, found):
    """found: by number of devices, rows of (trips, cores, clock, CPU time)."""
    least = {count: [min(column) for column in zip(*rows, strict=True)] for count, rows in found.items()}
    _, _, clock, used = least[1]
    for count, (trips, cores, seconds, cpu) in least.items():
        times = f"{seconds * 1e3:.0f} ({seconds / clock:.2f}) | {cpu * 1e3:.0f} ({cpu / used:.2f})"
        print(f"| {name} | {count} | {cores} | {trips} | {times} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    spread.N = args.n
    if args.one:
        answer(args.one)
        return
    print("| program | devices | cores | trips of a device | clock, ms | CPU, ms |")
    print("| --- |" + " --: |" * 5)
    devices = {count: Devices(count, args.n) for count in spread.COUNTS}
    for name in ("matvec", "gradient", "steps"):
        rounds = [{count: each.run(name) for count, each in devices.items()} for _ in range(args.rounds)]
        print_rows(name, {count: [r[count] for r in rounds] for count in devices})
    for each in devices.values():
        each.end()


if __name__ == "__main__":
    main()
