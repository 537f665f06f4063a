"""What XLA's sharing of elementwise ops among threads costs in loops over slices.
Run: python bench/experiments/threads.py [steps conditions interpolation]

Each program as it came, split under a tenth of its temporaries, and that without XLA's pass
`cpu-parallel-task-assigner`: CPU and elapsed milliseconds, least of runs in turn.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import probe
from jax import lax

from weir import _library as library

SPLIT = dict(probe.HONEST, xla_cpu_experimental_ynn_fusion_type="LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT")
INVARIANTS, SHARING = "while-loop-invariant-code-motion", "cpu-parallel-task-assigner"
ROUNDS = 10


def steps(x):
    """Random numbers in each step."""
    def step(x, key):
        return 0.9 * x + jax.random.normal(key, x.shape) * jnp.tanh(x), None
    return lax.scan(step, x, jax.random.split(jax.random.key(0), 10))[0].sum(1)


def conditions(x):
    """Rows of a batch that ask in each step."""
    def row(x, keys):
        def step(x, key):
            moved = x + 0.1 * jax.random.normal(key, x.shape)
            return lax.cond(moved.sum() > 0, lambda: moved * 0.9, lambda: jnp.tanh(moved)), moved.max()
        return lax.scan(step, x, keys)
    return jax.vmap(row)(x, jax.random.split(jax.random.key(0), (len(x), 20)))


def interpolation(x):
    """Places in a table, found again in each step."""
    grid = jnp.linspace(0.0, 1.0, 1200)
    def step(values, _):
        return (jnp.interp(jnp.abs(jnp.sin(grid[:, None] + x[:, 0])), grid, values) * 0.9).max(1), None
    return lax.scan(step, grid, None, length=6)[0]


PROGRAMS = {steps: (2000, 128), conditions: (4000, 20), interpolation: (1000, 1)}


def split(text):
    """At arguments, results and a tenth of the temporaries."""
    m = probe.Program(text).mem
    limit = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 10
    return library.rewrite(text.encode(), {"memory_limit_bytes": limit}, None).text.decode()


def least(ways, args):
    found = {name: [np.inf, np.inf] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.process_time(), time.perf_counter()
            way.call(args)
            took = time.process_time() - began[0], time.perf_counter() - began[1]
            found[name] = [min(a, b) for a, b in zip(found[name], took)]
    return found


def main():
    for function, shape in PROGRAMS.items():
        if not probe.wanted(function.__name__):
            continue
        args = probe.make_args([(shape, "f32")])
        text = jax.jit(function).lower(*args).as_text()
        ways = {"as it came": probe.Program(text, {})}
        made = split(text)
        for name, passes in (("split", INVARIANTS), ("unshared", f"{INVARIANTS},{SHARING}")):
            ways[name] = probe.Program(made, dict(SPLIT, xla_disable_hlo_passes=passes))
        for name, (cpu, elapsed) in least(ways, args).items():
            print(f"{function.__name__:14s} {name:10s} {cpu * 1e3:7.1f} ms of CPU {elapsed * 1e3:7.1f} elapsed"
                  f" {ways[name].mem.temp_size_in_bytes / 1e6:7.2f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
