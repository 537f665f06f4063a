"""What an op in the trip of a while costs on XLA CPU besides its elements: CPU_OP_NS and CPU_TRIP_NS
of src/machine/cpu.h.

Each case is a loop whose trip does the same to some values that it carries, and to a few more of
them: the difference is the ops'. XLA runs up to eight ops of a trip one after the other, and more by
its queue, so there are a short trip and a long one. CPU time of the process, minima of ROUNDS in
turn; compiled as weir compiles what it splits. In brackets time by the clock.

    python bench/experiments/launches.py [kind ...]

`steps` are whole trips of a scan that reads and stacks some numbers a step: a recurrence, its gradient,
products with a square matrix and with one four times as wide, a sum of outer products.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measure import HONEST, timed  # noqa: E402

SHORT, LONG, ROUNDS = (2, 6), (12, 28), 7
SIZES = (1, 16, 256, 4096, 32768, 131072)
SLOW_SIZES = SIZES[:4]  # of sorts
OPTIONS = {
    **HONEST,
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    "xla_disable_hlo_passes": "while-loop-invariant-code-motion",
    "xla_cpu_prefer_vector_width": "512",
}
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(RANDOM.standard_normal(shape).astype(np.float32))


def side(n):
    return max(1, round(n**0.5))


def places(n):
    return jnp.asarray(RANDOM.permutation(n).astype(np.int32))


def product(x, t, w):
    return x @ w


# Of n elements: what is carried, what is there besides, what a trip does to it.
KINDS = {
    "elementwise": lambda n: (normal(n), normal(n), lambda x, t, w: x * 0.5 + w),
    "exp": lambda n: (normal(n), normal(n), lambda x, t, w: jnp.exp(x * 0.5 - 1)),
    "slice": lambda n: (normal(n), normal(n + 64), lambda x, t, w: jax.lax.dynamic_slice(w, (t % 64,), (n,))),
    "update": lambda n: (normal(n + 64), normal(n), lambda x, t, w: jax.lax.dynamic_update_slice(x, w, (t % 64,))),
    "sum": lambda n: (normal(), normal(n), lambda x, t, w: (w * x).sum()),
    "row sums": lambda n: (normal(side(n)), normal(side(n), side(n)), lambda x, t, w: (w * x).sum(1)),
    "column sums": lambda n: (normal(side(n)), normal(side(n), side(n)), lambda x, t, w: (w * x[:, None]).sum(0)),
    "gather": lambda n: (normal(n), places(n), lambda x, t, w: x[w]),
    "scatter": lambda n: (normal(n), places(n), lambda x, t, w: x.at[w].add(1.0)),
    "sort": lambda n: (normal(n), normal(n), lambda x, t, w: jnp.sort(-x)),
    "cumsum": lambda n: (normal(n), normal(n), lambda x, t, w: jnp.cumsum(x * 0.5)),
    "transpose": lambda n: (normal(side(n), side(n)), normal(), lambda x, t, w: x.T.copy() * w),
    "product": lambda n: (normal(side(n), side(n)), normal(side(n), side(n)), product),
    "matrix-vector": lambda n: (normal(side(n)), normal(side(n), side(n)), lambda x, t, w: w @ x),
    "cond": lambda n: (
        normal(n),
        normal(n),
        lambda x, t, w: jax.lax.cond(t % 2 == 0, lambda x: x * 0.5 + w, lambda x: jnp.sin(x), x),
    ),
    "while": lambda n: (
        normal(n),
        normal(n),
        lambda x, t, w: jax.lax.fori_loop(0, 4 + t % 2, lambda i, x: x * 0.5 + w, x),
    ),
}


def loop(step, trips):
    def trip(t, state):
        xs, ws = state
        return [step(x, t, w) for x, w in zip(xs, ws, strict=True)], ws

    return jax.jit(lambda xs, ws: jax.lax.fori_loop(0, trips, trip, (xs, ws))[0])


def prepared(kind, n, count, trips):
    cases = [KINDS[kind](n) for _ in range(count)]
    xs, ws = ([c[i] for c in cases] for i in (0, 1))
    run = loop(cases[0][2], trips).lower(xs, ws).compile(compiler_options=OPTIONS)
    return lambda: jax.block_until_ready(run(xs, ws))


def times(kind, n):
    """Microseconds a trip by how many values it carries: of CPU, by the clock."""
    trips = 1000 if n <= 4096 else 100
    runs = {count: prepared(kind, n, count, trips) for count in (*SHORT, *LONG)}
    least = {count: np.full(2, np.inf) for count in runs}
    for _ in range(ROUNDS + 1):
        for count, run in runs.items():
            least[count] = np.minimum(least[count], timed(run)[1::-1])
    return {count: t / trips * 1e6 for count, t in least.items()}


def recurrence(h, x):
    h = x * h + 0.5
    return h, h


def recurrence_back(h, x):
    g = x * h + 0.5
    return g, (g * x, h * x)


# Of a state of n numbers: what is there besides, a step's new state and what it stacks.
STEPS = {
    "recurrence": lambda n: (normal(n), None, lambda w, h, x: recurrence(h, x)),
    "its gradient": lambda n: (normal(n), None, lambda w, h, x: recurrence_back(h, x)),
    "row x matrix": lambda n: (normal(n), normal(n, n), lambda w, h, x: (x @ w, h)),
    "row x wide": lambda n: (normal(n), normal(n, 4 * n), lambda w, h, x: ((h @ w)[:n] * 0.01 + x, h)),
    "outer sum": lambda n: (normal(n, n), None, lambda w, h, x: (h + x[:, None] * x, None)),
}
WIDTHS, LENGTH = (16, 64, 128, 256, 512), 1000


def step_microseconds(kind, n):
    h, w, step = STEPS[kind](n)
    scan = jax.jit(lambda h, w, xs: jax.lax.scan(lambda h, x: step(w, h, x), h, xs))
    arguments = h, w, normal(LENGTH, n) * 0.1
    run = scan.lower(*arguments).compile(compiler_options=OPTIONS)
    return min(timed(lambda: jax.block_until_ready(run(*arguments)))[1] for _ in range(15)) / LENGTH * 1e6


def steps():
    print(f"{'microseconds a step':>20s}" + "".join(f"{n:>8d}" for n in WIDTHS))
    for kind in STEPS:
        print(f"{kind:>20s}" + "".join(f"{step_microseconds(kind, n):8.2f}" for n in WIDTHS), flush=True)


def main():
    if sys.argv[1:] == ["steps"]:
        return steps()
    print(f"{'microseconds':>32s}" + "".join(f"{n:>18d}" for n in SIZES))
    for kind in sys.argv[1:] or KINDS:
        found = [times(kind, n) for n in (SLOW_SIZES if kind == "sort" else SIZES)]
        for what, (few, many) in {"op, short trip": SHORT, "op, long trip": LONG}.items():
            ops = [(t[many] - t[few]) / (many - few) for t in found]
            print(f"{kind:>16s} {what:15s}" + "".join(f"{c:9.2f} ({w:6.2f})" for c, w in ops), flush=True)
        rest = [t[SHORT[0]] - SHORT[0] * (t[SHORT[1]] - t[SHORT[0]]) / (SHORT[1] - SHORT[0]) for t in found]
        print(f"{kind:>16s} {'trip besides':15s}" + "".join(f"{c:9.2f} ({w:6.2f})" for c, w in rest), flush=True)


if __name__ == "__main__":
    main()
