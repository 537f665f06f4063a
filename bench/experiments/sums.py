"""Steps that multiply a vector with a sum of matrices, and with functions of a transposed one, under limits.

    python bench/experiments/sums.py [NAME ...]

CPU time over stock's at a tenth and at a third of the temporaries, minima of five runs in turn, and what
was predicted for it.
"""

import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import weir
from weir import _library

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from needs import limit_of  # noqa: E402

SHARES = (0.1, 1 / 3)
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(RANDOM.standard_normal(shape), jnp.float32)


def powers(matrix, v, count):
    def step(v, _):
        u = matrix @ v
        return u / jnp.linalg.norm(u), None

    return jax.lax.scan(step, v, length=count)[0]


def lanczos(a, v, steps=40):
    a = (a + a.T) / 2

    def step(carry, _):
        v, old, beta = carry
        u = a @ v - beta * old
        alpha = u @ v
        u = u - alpha * v
        beta = jnp.linalg.norm(u)
        return (u / beta, v, beta), (alpha, beta)

    return jax.lax.scan(step, (v / jnp.linalg.norm(v), jnp.zeros_like(v), 0.0), length=steps)[1]


def centred_gram(g, v, count=5):
    k = g @ g.T
    k = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    for _ in range(count):
        v = k @ v
        v = v / jnp.linalg.norm(v, axis=0)
    return v


def low_rank(a, p, q, v):
    return powers(a - p @ q, v, 20)


def function_of_transposed(a, v):
    return powers(jnp.exp(-a * a.T), v, 20)


def once(a, v):
    return jnp.exp(-((a + a.T) ** 2)) @ v


# Functions, and the shapes of what they are given.
PROGRAMS = {
    "40 steps of Lanczos, (a + a.T) / 2, 2,000": (lanczos, ((2000, 2000), (2000,))),
    "the same, 4,000": (lanczos, ((4000, 4000), (4000,))),
    "5 products, centred Gram matrix, 3,000": (centred_gram, ((3000, 1000), (3000,))),
    "20 powers of a - p q, 2,000, rank 50": (low_rank, ((2000, 2000), (2000, 50), (50, 2000), (2000,))),
    "20 powers of exp(-a * a.T), 2,000": (function_of_transposed, ((2000, 2000), (2000,))),
    "exp(-(a + a.T)^2) v, 3,000": (once, ((3000, 3000), (3000,))),
}


def compiled(lowered, share):
    """(Under the limit, predicted time over stock's.)"""
    m = lowered.compile().memory_analysis()
    limit = limit_of(m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes, share)
    plan = _library.rewrite(lowered.as_text().encode(), {"memory_limit_bytes": limit, "tile": 2}, None)
    with weir.limit(limit):
        return lowered.compile(), plan.time_after_ns / max(1, plan.time_before_ns)


def seconds(way, arguments):
    begun = time.process_time()
    jax.block_until_ready(way(*arguments))
    return time.process_time() - begun


def main(programs):
    names = [n for n in programs if not sys.argv[1:] or any(part in n for part in sys.argv[1:])]
    print("| program | a tenth | predicted | a third | predicted |\n|---|--:|--:|--:|--:|")
    for name in names:
        function, shapes = programs[name]
        arguments = [normal(*shape) for shape in shapes]
        lowered, row = jax.jit(function).lower(*arguments), ""
        stock = lowered.compile()
        for share in SHARES:
            try:
                made, predicted = compiled(lowered, share)
            except jax.errors.JaxRuntimeError:
                row += " refused | |"
                continue
            turns = [(seconds(made, arguments), seconds(stock, arguments)) for _ in range(6)][1:]
            ours, theirs = (min(times) for times in zip(*turns, strict=True))
            row += f" {ours / theirs:.2f} | {predicted:.2f} |"
        print(f"| {name} |{row}", flush=True)


if __name__ == "__main__":
    main(PROGRAMS)
