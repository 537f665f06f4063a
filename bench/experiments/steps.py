"""What is gained where XLA makes one function of a while whose steps are short? Sequential programs
without a limit, as XLA compiles them, with its threshold at 64 KB (1 KB is its own), and with its own
loops in place of a library's products, too:

    python bench/experiments/steps.py [PROGRAM ...]

and programs of many series under a limit that leaves a share of their temporaries, as stock compiles
them, and as weir splits them without functions and with those that its timer takes:

    python bench/experiments/steps.py --split 0.1 [PROGRAM ...]

For CPU_STEP_BYTES, and MOST_OPS of src/limit/steps.c. CPU milliseconds of a run, the least of seven
in turn, CPU seconds of the compilation, and temporaries as XLA reports them, in bytes.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import compiler

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import weir  # noqa: E402
from measure import HONEST, compiled, timed  # noqa: E402
from weir import _call, _say  # noqa: E402

FUNCTIONS = "xla_cpu_small_while_loop_byte_threshold=65536"
BY_LOOPS = "xla_cpu_experimental_ynn_fusion_type="
WAYS = {"stock": [], "functions": [FUNCTIONS], "by loops": [FUNCTIONS, BY_LOOPS]}
SPLITS = {"without": "functions", "functions": ""}  # what is skipped
STEPS, RUNS = 500, 7


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def gru(h, weights):
    def step(h, _):
        update, reset = jax.nn.sigmoid(h @ weights[0]), jax.nn.sigmoid(h @ weights[1])
        h = (1 - update) * jnp.tanh((reset * h) @ weights[2]) + update * h
        return h, h

    return lax.scan(step, h, None, length=STEPS)[1]


def gru_grad(h, weights):
    return jax.grad(lambda w: gru(h, w).sum())(weights)


def kalman(y):
    move, see = jnp.eye(4) + 0.1 * jnp.eye(4, k=1), jnp.eye(2, 4)

    def step(state, y):
        mean, cov = move @ state[0], move @ state[1] @ move.T + 0.1 * jnp.eye(4)
        s = see @ cov @ see.T + jnp.eye(2)
        inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]]) / (s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0])
        gain = cov @ see.T @ inverse
        mean, cov = mean + gain @ (y - see @ mean), cov - gain @ see @ cov
        return (mean, cov), mean

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), y)[1]


def lorenz(y):
    def slope(y):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    def step(y, _):
        a = slope(y)
        b = slope(y + 0.005 * a)
        c = slope(y + 0.005 * b)
        y = y + 0.01 / 6 * (a + 2 * b + 2 * c + slope(y + 0.01 * c))
        return y, y

    return lax.scan(step, y, None, length=STEPS)[1]


def edits(a, b):
    def row(above, letter):
        least = jnp.minimum(above + 1, jnp.concatenate([above[:1] + 1, above[:-1] + (letter != b)]))
        return (now := lax.associative_scan(jnp.minimum, least)), now[-1]

    return lax.scan(row, jnp.arange(len(b) + 1.0), a)[1]


def chain(links):
    def f(x):
        def step(x, _):
            for _ in range(links):
                x = jnp.tanh(x * 1.01 + jnp.roll(x, 1) * 0.1)
            return x, x[0]

        return lax.scan(step, x, None, length=50)[1]

    return f, [normal(300)]


# ---- many series ----
def deviation(paths):
    """Of paths from their means over all steps, which all of a path is needed for."""
    return jnp.abs(paths - paths.mean(1, keepdims=True)).max(1).mean(0)


def smoother(move, means, y):
    """Of a hidden Markov model, forwards and backwards."""

    def ahead(a, y):
        a = jax.nn.logsumexp(a[:, None] + move, 0) - 0.5 * (y - means) ** 2
        return (a := a - jax.nn.logsumexp(a)), a

    def back(b, y):
        now = jax.nn.logsumexp(move + (b - 0.5 * (y - means) ** 2)[None], 1)
        return now - jax.nn.logsumexp(now), b

    a = lax.scan(ahead, jnp.zeros_like(means), y)[1]
    b = lax.scan(back, jnp.zeros_like(means), y, reverse=True)[1]
    return jax.nn.softmax(a + b, -1)


def smoothers(move, means, y):
    return jax.vmap(lambda y: smoother(move, means, y))(y).mean(0)


def likelihood(move, means, y):
    def ahead(a, y):
        return jax.nn.logsumexp(a[:, None] + move, 0) - 0.5 * (y - means) ** 2, None

    return jax.nn.logsumexp(lax.scan(ahead, jnp.zeros_like(means), y)[0])


def likelihood_grad(move, means, y):
    return jax.grad(lambda *p: jax.vmap(lambda y: likelihood(*p, y))(y).sum(), (0, 1))(move, means)


def soft_warp(a, b):
    costs = (a[:, None] - b) ** 2

    def row(above, costs):
        def cell(left, given):
            up, diagonal, cost = given
            least = -jax.nn.logsumexp(-jnp.stack([left, up, diagonal]))
            return (now := cost + least), now

        shifted = jnp.concatenate([jnp.full(1, 1e4), above[:-1]])
        return lax.scan(cell, 1e4, (above, shifted, costs))[1], None

    return lax.scan(row, jnp.cumsum(costs[0]), costs[1:])[0][-1]


def soft_warp_grad(a, b):
    return jax.grad(lambda a: jax.vmap(soft_warp)(a, b).sum())(a)


def epidemic(rates, begin):
    def step(state, _):
        s, i, r = state
        new, well = rates[0] * s * i, rates[1] * i
        return (s - 0.1 * new, i + 0.1 * (new - well), r + 0.1 * well), jnp.stack(state)

    return lax.scan(step, (begin, 1 - begin, 0 * begin), None, length=STEPS)[1]


def langevin(key, x):
    def step(state, _):
        x, key = state
        key, now = jax.random.split(key)
        x = x - 0.01 * x**3 + 0.1 * jax.random.normal(now, x.shape)
        return (x, key), x

    return lax.scan(step, (x, key), None, length=STEPS)[1]


def langevins(key, x):
    return jax.vmap(langevin)(jax.random.split(key, len(x)), x).mean(1)


def rows_of(f):
    return lambda *arguments: deviation(jax.vmap(f)(*arguments))


WEIGHTS = [normal(16, 16, seed=seed) * 0.3 for seed in range(3)]
LETTERS = np.random.default_rng(0).integers(0, 4, 628)
PROGRAMS = {
    **{f"gru, batch of {n}": (gru, [normal(n, 16), WEIGHTS]) for n in (1, 4, 64)},
    **{f"gru's gradient, batch of {n}": (gru_grad, [normal(n, 16), WEIGHTS]) for n in (1, 16, 64)},
    "kalman filter": (kalman, [normal(STEPS, 2)]),
    "kalman filters, 64": (jax.vmap(kalman), [normal(64, STEPS, 2)]),
    **{f"lorenz, {n} systems": (lorenz, [normal(3, n)]) for n in (100, 4000)},
    "edit distance": (edits, [LETTERS[:500], LETTERS[500:]]),
    **{f"chain of {n}": chain(n) for n in (10, 40, 80)},
}
WORDS = list(np.random.default_rng(1).integers(0, 4, (2, 64, 64)))
MARKOV = [np.log(np.full((8, 8), 0.125, np.float32)), np.linspace(-2, 2, 8, dtype=np.float32)]
MANY = {
    "hidden Markov models": (smoothers, [*MARKOV, normal(256, 200)]),
    "their gradient": (likelihood_grad, [*MARKOV, normal(256, 200)]),
    "kalman filters": (rows_of(kalman), [normal(256, 200, 2)]),
    "gradient of soft DTW": (soft_warp_grad, [normal(64, 48), normal(64, 48, seed=1)]),
    "edit distances": (jax.vmap(lambda a, b: edits(a, b)[-1]), WORDS),
    "lorenz": (rows_of(lorenz), [normal(512, 3)]),
    "epidemics": (rows_of(epidemic), [abs(normal(512, 2)), abs(normal(512))]),
    "langevin": (langevins, [jax.random.PRNGKey(0), normal(128, 16)]),
}


def with_options(original, added):
    def compile_with(backend, module, devices, options, *rest, **named):
        return original(backend, module, devices, _call._with_options(options, added), *rest, **named)

    return compile_with


def as_told(f, arguments):
    """[(program, CPU seconds of its compilation)] of all ways."""
    original, made = compiler.backend_compile_and_load, []
    for options in WAYS.values():
        compiler.backend_compile_and_load = with_options(original, options) if options else original
        jax.clear_caches()
        made.append(compiled(f, arguments))
    compiler.backend_compile_and_load = original
    return made


def split(f, arguments, share):
    """The same of stock and of what weir makes of it."""
    made = [compiled(f, arguments)]
    memory = compiled(f, arguments, HONEST)[0].memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    for skip in SPLITS.values():
        os.environ["WEIR_SKIP"] = skip
        jax.clear_caches()
        with weir.limit(held + int(share * memory.temp_size_in_bytes)):
            made.append(compiled(lambda *a: f(*a), arguments))
    return made


def temporaries(program):
    return program.memory_analysis().temp_size_in_bytes


def least_ms(programs, arguments):
    least = [float("inf")] * len(programs)
    for _ in range(RUNS):
        for i, program in enumerate(programs):
            _, seconds, _ = timed(lambda run=program: jax.block_until_ready(run(*arguments)))
            least[i] = min(least[i], seconds * 1e3)
    return least


def said_of(taken):
    plan = _say.last_report
    if not taken or not plan or not plan.tried_took_ns:
        return ""
    took = f"timed {plan.tried_took_ns / 1e6:.3g} ms {plan.tried_how}, {plan.else_took_ns / 1e6:.3g}"
    return f"   {took}" + (": taken" if FUNCTIONS in plan.compile_options else "")


def show(name, made, arguments, taken=False):
    programs = [program for program, _ in made]
    took = least_ms(programs, arguments)
    print(
        f"{name:28} " + " ".join(f"{ms:8.3f}" for ms in took),
        " ".join(f"{took[i] / took[-1]:6.2f}" for i in range(len(took) - 1)),
        " ".join(f"{seconds:5.2f}" for _, seconds in made),
        " ".join(f"{temporaries(program):8}" for program in programs) + said_of(taken),
        sep="   ",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--split", type=float, metavar="SHARE")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    ways = ["stock", *SPLITS] if given.split else WAYS
    print(f"{'':28} " + " ".join(f"{way:>8}" for way in ways), "  ratios to the last, compilation, temporaries")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WEIR_CACHE_DIR"] = folder
        for name, (f, arguments) in (MANY if given.split else PROGRAMS).items():
            if given.programs and name not in given.programs:
                continue
            made = split(f, arguments, given.split) if given.split else as_told(f, arguments)
            show(name, made, arguments, bool(given.split))


if __name__ == "__main__":
    main()
