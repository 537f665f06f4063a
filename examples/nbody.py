"""Gravity between all pairs of bodies, and one leapfrog step by its gradient.

At the default size the differences have 20,000 x 20,000 x 3 entries: 4.8 GB.
    python examples/nbody.py --n 2000
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np

sizes = dict(n=20_000)


def make_inputs(n, seed=0):
    rng = np.random.default_rng(seed)
    position = rng.standard_normal((n, 3)).astype(np.float32)
    velocity = 0.1 * rng.standard_normal((n, 3)).astype(np.float32)
    return position, velocity, rng.random(n).astype(np.float32) / n


def potential(position, mass, softening=0.05):
    difference = position[:, None, :] - position[None, :, :]
    distance = jnp.sqrt((difference**2).sum(-1) + softening**2)
    return -0.5 * (mass[:, None] * mass[None, :] / distance).sum()


@jax.jit
def run(position, velocity, mass, steps=2, dt=0.01):
    def step(_, state):
        position, velocity = state
        force = -jax.grad(potential)(position, mass)
        velocity = velocity + dt * force / mass[:, None]
        return position + dt * velocity, velocity

    return jax.lax.fori_loop(0, steps, step, (position, velocity))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        ap.add_argument("--" + name, type=int, default=value)
    inputs = jax.device_put(make_inputs(**vars(ap.parse_args())))
    t0 = time.perf_counter()
    position, velocity = jax.block_until_ready(run(*inputs))
    print(
        "position[0] =",
        np.asarray(position[0]),
        " |velocity| = %.6g" % np.linalg.norm(velocity),
        " %.2f s with compilation" % (time.perf_counter() - t0),
    )


if __name__ == "__main__":
    main()
