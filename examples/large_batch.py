"""One step of training a convolutional network on a large batch, without micro-batches by hand.

At the default size the activations that the gradient needs take 1.5 GB.
    python examples/large_batch.py --batch 256
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(batch=8192, width=32)


def make_inputs(batch, width, seed=0):
    rng = np.random.default_rng(seed)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)  # noqa: E731
    weights = [
        normal(3, 3, 3, width) / 27**0.5,
        normal(3, 3, width, width) / (9 * width) ** 0.5,
        normal(width, 10) / width**0.5,
    ]
    return weights, normal(batch, 32, 32, 3), rng.integers(0, 10, batch)


def loss(weights, images, labels):
    x = images
    for kernel in weights[:2]:
        x = jax.lax.conv_general_dilated(
            x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.gelu(x)
    logits = x.mean((1, 2)) @ weights[2]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


@jax.jit
def run(weights, images, labels, rate=0.1):
    value, gradient = jax.value_and_grad(loss)(weights, images, labels)
    return value, [w - rate * g for w, g in zip(weights, gradient)]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, weights = jax.block_until_ready(run(*inputs))
    print(
        "loss = %.7g" % value,
        " |w| = %.7g" % np.linalg.norm(weights[1]),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
