"""What kernels of programs that fit, and stock XLA, are predicted to take beside what they take, at this
computer's rates and vectors.

    python bench/experiments/predictions.py
    python tools/avx2.py python bench/experiments/predictions.py

For vector_ops in src/machine/cpu.h and the gates of docs/design/fit.md. CPU ms: predictions are of all
cores, and times as many here; measured is the least of five runs of each in turn. A program that is
predicted not to gain stays as it came.
"""

import os
import time

import jax
import jax.numpy as jnp
import numpy as np

os.environ["WEIR_TIMING"] = "off"
import weir  # noqa: E402
from weir import _library  # noqa: E402

CORES = len(os.sched_getaffinity(0))
ROUNDS = 5


def attention(q, k, v):
    return jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) / 8, -1) @ v


def attention_grad(q, k, v):
    return jax.grad(lambda *qkv: (attention(*qkv) ** 2).sum(), (0, 1, 2))(q, k, v)


def differences(x, y, v):
    return jnp.exp(-((x[:, None] - y) ** 2).sum(-1)) @ v


def products(x, y, v):
    return jnp.exp(x @ y.T / 8) @ v


def rows_added(x, w):
    return jnp.tanh(x @ w).sum(1)


def layers(x, w, v):
    return jax.nn.relu(x @ w) @ v


def heads(length, width, count=4):
    return [(count, length, width)] * 3


PROGRAMS = {
    "attention, 2048, 16 wide": (attention, heads(2048, 16)),
    "attention, 2048, 64 wide": (attention, heads(2048, 64)),
    "attention, 2048, 128 wide": (attention, heads(2048, 128)),
    "its gradient, 1024, 64 wide": (attention_grad, heads(1024, 64, 8)),
    "exp of differences, 8 wide": (differences, [(4000, 8), (4000, 8), (4000, 1)]),
    "exp of differences, 64 wide": (differences, [(4000, 64), (4000, 64), (4000, 1)]),
    "exp of products, 8 wide": (products, [(6000, 8), (6000, 8), (6000, 16)]),
    "exp of products, 128 wide": (products, [(6000, 128), (6000, 128), (6000, 16)]),
    "tanh of a product, 256 terms": (rows_added, [(2048, 256), (256, 4096)]),
    "tanh of a product, 1024 terms": (rows_added, [(2048, 1024), (1024, 4096)]),
    "two layers, 512, 2048, 8": (layers, [(8192, 512), (512, 2048), (2048, 8)]),
    "two layers, 512, 2048, 512": (layers, [(2048, 512), (512, 2048), (2048, 512)]),
}


def predicted(lowered):
    """(kernels, stock), CPU ms."""
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True).encode()
    made = _library.rewrite(text, {"memory_limit_bytes": 10**12, "tile": 1}, None)
    return made.time_after_ns * CORES / 1e6, made.time_before_ns * CORES / 1e6


def measured(ways, arguments):
    """CPU ms of each."""
    least = [float("inf")] * len(ways)
    for turn in range(ROUNDS + 1):  # the first loads kernels
        for i, way in enumerate(ways):
            begun = time.process_time()
            jax.block_until_ready(way(*arguments))
            if turn:
                least[i] = min(least[i], (time.process_time() - begun) * 1e3)
    return least


def main():
    print(_library.describe_machine(None).splitlines()[0])
    print("\n| program, f32 | kernels: predicted | measured | stock: predicted | measured |")
    print("|---|--:|--:|--:|--:|")
    random = np.random.default_rng(0)
    for name, (program, shapes) in PROGRAMS.items():
        arguments = [jnp.asarray(random.standard_normal(s), jnp.float32) for s in shapes]
        lowered = jax.jit(program).lower(*arguments)
        with weir.limit("1TB"):
            ours = lowered.compile()
        stock = jax.jit(program).lower(*arguments).compile()
        of_kernels, of_stock = predicted(lowered)
        found, found_stock = measured([ours, stock], arguments)
        print(f"| {name} | {of_kernels:.3g} | {found:.3g} | {of_stock:.3g} | {found_stock:.3g} |", flush=True)


if __name__ == "__main__":
    main()
