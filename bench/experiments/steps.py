"""What is gained where XLA makes one function of a while whose steps are short? Sequential programs
without a limit, as XLA compiles them and with its threshold at 64 KB (1 KB is its own):

    python bench/experiments/steps.py

For CPU_STEP_BYTES and MOST_OPS of src/limit/steps.c. CPU milliseconds of a run, the least of seven
in turn, CPU seconds of the compilation, and temporaries as XLA reports them, in bytes.
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import compiler

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import compiled, timed  # noqa: E402
from weir import _call  # noqa: E402

OPTION = "xla_cpu_small_while_loop_byte_threshold=65536"
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


WEIGHTS = [normal(16, 16, seed=seed) * 0.3 for seed in range(3)]
LETTERS = np.random.default_rng(0).integers(0, 4, 628)
PROGRAMS = {
    **{f"gru, batch of {n}": (gru, [normal(n, 16), WEIGHTS]) for n in (1, 4, 64)},
    **{f"gru's gradient, batch of {n}": (gru_grad, [normal(n, 16), WEIGHTS]) for n in (1, 64)},
    "kalman filter": (kalman, [normal(STEPS, 2)]),
    **{f"lorenz, {n} systems": (lorenz, [normal(3, n)]) for n in (100, 4000)},
    "edit distance": (edits, [LETTERS[:500], LETTERS[500:]]),
    **{f"chain of {n}": chain(n) for n in (10, 40, 80)},
}


def in_functions(original):
    def compile_with(backend, module, devices, options, *rest, **named):
        return original(backend, module, devices, _call._with_options(options, [OPTION]), *rest, **named)

    return compile_with


def both(f, arguments):
    stock = compiled(f, arguments)
    original = compiler.backend_compile_and_load
    compiler.backend_compile_and_load = in_functions(original)
    jax.clear_caches()
    functions, function_s = compiled(f, arguments)
    compiler.backend_compile_and_load = original
    return (*stock, functions, function_s)


def temporaries(program):
    return program.memory_analysis().temp_size_in_bytes


def main():
    print(f"{'':28} {'stock':>8} {'functions':>9} {'ratio':>6}   compilation, s   temporaries")
    for name, (f, arguments) in PROGRAMS.items():
        stock, stock_s, functions, functions_s = both(f, arguments)
        least = [float("inf")] * 2
        for _ in range(RUNS):
            for i, program in enumerate((stock, functions)):
                _, seconds, _ = timed(lambda run=program: jax.block_until_ready(run(*arguments)))
                least[i] = min(least[i], seconds)
        print(
            f"{name:28} {least[0] * 1e3:8.3f} {least[1] * 1e3:9.3f} {least[0] / least[1]:6.2f}"
            f"   {stock_s:.2f} {functions_s:.2f}"
            f"   {temporaries(stock)} {temporaries(functions)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
