"""A linear layer and cross-entropy over a large vocabulary: loss and gradients.

Gradients with respect to the activations and the weights, in single precision. At the default size
the logits have 2,048 x 128,256 entries: 1.05 GB, and there are several like it; the weights are
263 MB.
    python examples/p6_cross_entropy.py --n 256 --vocabulary 32000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(n=2048, d=512, vocabulary=128_256)


def make_inputs(n, d, vocabulary, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d), dtype=np.float32)
    w = rng.standard_normal((d, vocabulary), dtype=np.float32) / np.float32(np.sqrt(d))
    return x, w, rng.integers(0, vocabulary, n, dtype=np.int32)


def loss(x, w, labels):
    log_p = jax.nn.log_softmax(x @ w, axis=1)
    return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], axis=1))


@jax.jit
def run(x, w, labels):
    return jax.value_and_grad(loss, argnums=(0, 1))(x, w, labels)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, gradients = jax.block_until_ready(run(*inputs))
    print(
        "loss %.8g" % value,
        " |gradients| =",
        ["%.6g" % np.linalg.norm(g) for g in gradients],
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
