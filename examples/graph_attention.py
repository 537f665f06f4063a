"""One step of training a graph attention layer on a dense graph.

Every node looks at every node; an adjacency mask says who counts. At the default size scores and
mask have 4 x 8,000 x 8,000 entries: 1 GB each, and gradients keep several.
    python examples/graph_attention.py --nodes 1000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(nodes=8_000, features=32, heads=4)


def make_inputs(nodes, features, heads, seed=0):
    rng = np.random.default_rng(seed)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)  # noqa: E731
    weights = {
        "w": normal(heads, features, features) / features**0.5,
        "source": normal(heads, features) / features**0.5,
        "target": normal(heads, features) / features**0.5,
    }
    place = rng.random((nodes, 2)).astype(np.float32)
    return weights, normal(nodes, features), place, normal(nodes, features)


def layer(weights, x, place, radius=0.1):
    h = jnp.einsum("nf,kfg->kng", x, weights["w"])
    source = jnp.einsum("kng,kg->kn", h, weights["source"])
    target = jnp.einsum("kng,kg->kn", h, weights["target"])
    scores = jax.nn.leaky_relu(source[:, :, None] + target[:, None, :])
    near = ((place[:, None] - place[None]) ** 2).sum(-1) < radius**2
    scores = jnp.where(near, scores, -jnp.inf)
    return jnp.einsum("knm,kmg->ng", jax.nn.softmax(scores, axis=-1), h) / h.shape[0]


@jax.jit
def run(weights, x, place, wanted, rate=0.1):
    def loss(weights):
        return ((layer(weights, x, place) - wanted) ** 2).mean()

    value, gradient = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda w, g: w - rate * g, weights, gradient)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    value, weights = jax.block_until_ready(run(*inputs))
    print(
        "loss = %.7g" % value,
        " |w| = %.7g" % np.linalg.norm(weights["w"]),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
