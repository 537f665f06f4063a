"""How fast XLA reads a matrix that steps of a while multiply with a vector, by its size.

    python bench/experiments/matvec.py

For near_matrix_bytes, l3_matrix_bytes and matrix_bytes of src/machine/cpu.h: GB a second of CPU time,
compiled as what is split; f32, the matrix as it lies and transposed; the most of four runs.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

from transposed import OPTIONS

READ_BYTES = 8e8  # in all steps


def steps_of(product, count):
    def program(matrix, vector):
        return jax.lax.scan(lambda v, _: (1e-3 * product(matrix, v), None), vector, None, length=count)[0]

    return program


def rate_of(product, n):
    matrix = jnp.asarray(np.random.default_rng(0).standard_normal((n, n)), jnp.float32)
    vector, count = jnp.ones(n, jnp.float32), max(4, int(READ_BYTES / matrix.nbytes))
    made = jax.jit(steps_of(product, count)).lower(matrix, vector).compile(compiler_options=OPTIONS)
    times = []
    for _ in range(4):
        begun = time.process_time()
        jax.block_until_ready(made(matrix, vector))
        times.append(time.process_time() - begun)
    return matrix.nbytes * count / min(times) / 1e9


def main():
    print("| MB | a v | a.T v |\n|--:|--:|--:|")
    for n in (256, 500, 1000, 1400, 2000, 2800, 4000, 5600, 8000):
        rates = [rate_of(product, n) for product in (lambda a, v: a @ v, lambda a, v: v @ a)]
        print(f"| {n * n * 4 / 1e6:.1f} | {rates[0]:.0f} | {rates[1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
