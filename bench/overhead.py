"""What weir adds to compiling: a program that fits, and one that is split.

    python bench/overhead.py            all programs
    python bench/overhead.py --only mlp

Per program: wall time in XLA (all compilations that weir asks for, which use threads of their own),
CPU time in weir (hook, printing, reading, planning, writing), and how many compilations. Fits: a limit
of 1 TB. Medians of --rounds.
"""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))

import jax
import jax.numpy as jnp
from jax._src import compiler

import weir
from weir import _hook

S = jax.ShapeDtypeStruct


def mlp_step(layers=4, width=256):
    def loss(params, x, y):
        for w, b in params:
            x = jnp.tanh(x @ w + b)
        return jnp.mean((x - y) ** 2)

    def step(params, x, y):
        g = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g)

    params = [(S((width, width), "float32"), S((width,), "float32"))] * layers
    return step, (params, S((128, width), "float32"), S((128, width), "float32"))


def resnet(blocks=16):
    def f(x, weights):
        for w in weights:
            y = jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + (y - y.mean((0, 1, 2))) / jnp.sqrt(y.var((0, 1, 2)) + 1e-5))
        return jnp.sum(x)

    weights = [S((3, 3, 32, 32), "float32")] * blocks
    return jax.grad(f, 1), (S((8, 16, 16, 32), "float32"), weights)


def transformer(layers=12, d=128, heads=4):
    def block(x, w):
        q, k, v = (jnp.reshape(x @ w[n], (8, 64, heads, d // heads)) for n in "qkv")
        a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(8, 64, d) @ w["o"]
        return x + jax.nn.gelu(x @ w["u"]) @ w["d"]

    def f(x, ws):
        for w in ws:
            x = block(x, w)
        return jnp.sum(x**2)

    w = {n: S((d, d), "float32") for n in "qkvo"} | {
        "u": S((d, 4 * d), "float32"),
        "d": S((4 * d, d), "float32"),
    }
    return jax.grad(f, 1), (S((8, 64, d), "float32"), [w] * layers)


def elementwise():
    return (lambda x: jnp.sin(x) * 2), (S((1000,), "float32"),)


def attention(limit_bytes=64_000_000):
    def f(q, k, v):
        return jax.nn.softmax(q @ k.swapaxes(-1, -2), -1) @ v

    return f, (S((8, 4096, 64), "float32"),) * 3


FITTING = {
    "elementwise": elementwise,
    "mlp step": mlp_step,
    "resnet, 16 blocks": resnet,
    "transformer, 12 layers": transformer,
}
SPLIT = {"attention": (attention, "64MB"), "transformer, 12 layers": (transformer, "30MB")}


class Clock:
    """Calls of a function: seconds on the wall, seconds of this thread, how many."""

    def __init__(self, function):
        self.function, self.wall, self.cpu, self.calls = function, 0.0, 0.0, 0

    def __call__(self, *args, **named):
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return self.function(*args, **named)
        finally:
            self.wall += time.perf_counter() - wall
            self.cpu += time.thread_time() - cpu
            self.calls += 1


def compile_once(f, arguments, limit):
    """Seconds in XLA and in weir, compilations."""
    lowered = jax.jit(lambda *a: f(*a)).lower(*arguments)
    hooked = compiler.compile_or_get_cached
    xla = Clock(hooked._weir_original)
    whole = compiler.compile_or_get_cached = Clock(_hook._hooked(xla))
    whole._weir_original = xla  # weir.limit() finds its hook in place
    try:
        with weir.limit(limit):
            lowered.compile()
    finally:
        compiler.compile_or_get_cached = hooked
    return xla.wall, whole.cpu - xla.cpu, xla.calls


def row(name, make, limit, rounds):
    runs = [compile_once(*make(), limit) for _ in range(rounds)]
    xla, own = (statistics.median(r[i] for r in runs) for i in (0, 1))
    print(
        "| %s | %s | %.0f | %.1f | %.1f %% | %d |"
        % (name, limit, 1e3 * xla, 1e3 * own, 100 * own / xla, runs[0][2])
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)
    print(
        "| program | limit | XLA ms | weir ms | weir / XLA | XLA compilations |\n|---|---|---|---|---|---|"
    )
    for name, make in FITTING.items():
        if options.only in name:
            row(name, make, "1TB", options.rounds)
    for name, (make, limit) in SPLIT.items():
        if options.only in name:
            row(name, make, limit, options.rounds)


if __name__ == "__main__":
    main()
