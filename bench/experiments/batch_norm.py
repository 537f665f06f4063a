"""Nets with batch norm, with gradients, under arguments, results and a tenth of stock's temporaries.

    python bench/experiments/batch_norm.py [NAME ...]

Prints stock's temporaries and those held (MB, by XLA's report), CPU seconds to compile with weir and
without, CPU time over stock's, and the largest difference to stock's gradients.
"""

import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import weir

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measure import HONEST, compiled, least_cpu  # noqa: E402
from needs import limit_of, needs_of  # noqa: E402

SHARE = 0.1  # of the temporaries
DICE = np.random.default_rng(0)


def weights(*shape):
    return (DICE.standard_normal(shape) / np.prod(shape[:-1]) ** 0.5).astype(np.float32)


def batch_norm(z):
    axes = tuple(range(z.ndim - 1))
    return (z - z.mean(axes)) * jax.lax.rsqrt(z.var(axes) + 1e-5)


def convolution(z, w, groups=1):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(
        z, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=groups
    )


def mlp_block(x, a, b):
    return x + jax.nn.gelu(batch_norm(x) @ a) @ b


def resnet_block(x, a, b):
    z = jax.nn.relu(batch_norm(convolution(x, a)))
    return jax.nn.relu(x + batch_norm(convolution(z, b)))


def bottleneck_block(x, wide, deep, narrow):
    z = jax.nn.relu6(batch_norm(convolution(x, wide)))
    z = jax.nn.relu6(batch_norm(convolution(z, deep, z.shape[-1])))
    return x + batch_norm(convolution(z, narrow))


def mlp(count):
    return mlp_block, [(weights(64, 256), weights(256, 64)) for _ in range(count)], (4096, 64)


def resnet(count):
    layers = [(weights(3, 3, 8, 8), weights(3, 3, 8, 8)) for _ in range(count)]
    return resnet_block, layers, (64, 24, 24, 8)


def bottlenecks(count):
    shapes = (1, 1, 8, 32), (3, 3, 1, 32), (1, 1, 32, 8)
    return bottleneck_block, [tuple(weights(*s) for s in shapes) for _ in range(count)], (32, 24, 24, 8)


CASES = {
    "mlp8": lambda: mlp(8),
    "mlp16": lambda: mlp(16),
    "mlp32": lambda: mlp(32),
    "resnet10": lambda: resnet(10),
    "bottlenecks8": lambda: bottlenecks(8),
    "bottlenecks16": lambda: bottlenecks(16),
    "resnet20": lambda: resnet(20),
}


def ready(program, arguments):
    return least_cpu(lambda: jax.block_until_ready(program(*arguments)))


def measure(name):
    block, layers, shape = CASES[name]()

    def loss(layers, x):
        for some in layers:
            x = block(x, *some)
        return jnp.mean(jnp.cos(x))

    f, arguments = jax.value_and_grad(loss), (layers, weights(*shape) * np.float32(np.prod(shape[:-1]) ** 0.5))
    stock, stock_compile = compiled(f, arguments, HONEST)
    needs = needs_of(stock)
    limit, temporaries = limit_of(*needs, SHARE), f"{needs[-1] / 1e6:.1f}"
    start = time.process_time()
    try:
        with weir.limit(limit):
            limited, _ = compiled(lambda *a: f(*a), arguments)
    except Exception as error:
        print(name, temporaries, f"refused after {time.process_time() - start:.1f} s:", str(error)[:120], flush=True)
        return
    compile_seconds = time.process_time() - start
    (before, want), (after, got) = (ready(g, arguments) for g in (compiled(f, arguments)[0], limited))
    off = max(
        float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(*map(jax.tree.leaves, (got, want)))
    )
    held = needs_of(limited)[-1] / 1e6
    print(
        name, temporaries, f"held {held:.1f}, compiles in {compile_seconds:.1f} s (stock {stock_compile:.1f}),",
        f"time {after / before:.2f}, off by {off:.0e}", flush=True,
    )  # fmt: skip


for name in sys.argv[1:] or CASES:
    measure(name)
