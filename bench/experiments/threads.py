"""What XLA's sharing of elementwise ops among threads costs in loops over slices.
Run: python bench/experiments/threads.py [steps conditions interpolation]
     python bench/experiments/threads.py users ['*attention*' ...]

Each program as it came, split under a tenth of its temporaries, and that without XLA's pass
`cpu-parallel-task-assigner`: CPU and elapsed milliseconds, least of runs in turn. A star stands
beside the way that weir takes. users: small ones of bench/user_programs that are split.
"""
import fnmatch
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
ROUNDS, MOST_SECONDS = 10, 3


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
    """At arguments, results and a tenth of the temporaries; whether XLA is to share ops."""
    m = probe.Program(text).mem
    limit = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 10
    made = library.rewrite(text.encode(), {"memory_limit_bytes": limit}, None)
    return made, not any(SHARING in option for option in made.compile_options)


def least(ways, args):
    found = {name: [np.inf, np.inf] for name in ways}
    began = time.perf_counter()
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time(), time.perf_counter()
            way.call(args)
            took = time.process_time() - start[0], time.perf_counter() - start[1]
            found[name] = [min(a, b) for a, b in zip(found[name], took)]
        if time.perf_counter() - began > MOST_SECONDS:
            break
    return found


def compare(name, function, args):
    text = jax.jit(function, keep_unused=True).lower(*args).as_text()
    args = jax.tree.leaves(args)
    made, shares = split(text)
    if not made.text:
        return
    ways = {"as it came": probe.Program(text, {})}
    for label, passes in (("split", INVARIANTS), ("unshared", f"{INVARIANTS},{SHARING}")):
        taken = "*" if shares == (label == "split") else ""
        ways[label + taken] = probe.Program(made.text.decode(), dict(SPLIT, xla_disable_hlo_passes=passes))
    for label, (cpu, elapsed) in least(ways, args).items():
        print(f"{name:24s} {label:10s} {cpu * 1e3:8.1f} ms of CPU {elapsed * 1e3:8.1f} elapsed"
              f" {ways[label].mem.temp_size_in_bytes / 1e6:8.2f} MB", flush=True)


def users(globs):
    from user_programs import PROGRAMS as programs

    for name, program in programs.items():
        if any(fnmatch.fnmatch(name, glob) for glob in globs or ["*"]):
            jax.config.update("jax_enable_x64", program.x64)
            try:
                compare(name, program.function, jax.device_put(program.arguments(True)))
            except Exception as e:  # a refusal, say
                print(f"{name:24s} {str(e)[:80]}", flush=True)


def main():
    if sys.argv[1:2] == ["users"]:
        return users(sys.argv[2:])
    for function, shape in PROGRAMS.items():
        if probe.wanted(function.__name__):
            compare(function.__name__, function, probe.make_args([(shape, "f32")]))


if __name__ == "__main__":
    main()
