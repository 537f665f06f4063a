"""What a loop of XLA's takes for an element that it reads along a dimension that is not the last one.

    python bench/experiments/transposed.py

For apart_l1, apart_l2 and apart of src/machine/cpu.h. Ten passes over a matrix in slices of rows, compiled as what is
split: f(slice + v) and f(slice + transposed slice of the columns), each summed over rows. CPU ns of an
element, the least of four runs: the difference is what the transposed read takes.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

OPTIONS = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    "xla_disable_hlo_passes": "while-loop-invariant-code-motion,cpu-parallel-task-assigner",
    "xla_cpu_prefer_vector_width": "512",
}
PASSES = 10


def by_slices(rows, is_transposed, f):
    def program(a, b, v):
        n, length = a.shape

        def trip(i, out):
            at = jnp.minimum(i * rows, n - rows)
            left = lax.dynamic_slice(a, (at, 0), (rows, length))
            right = lax.dynamic_slice(b, (0, at), (length, rows)).T if is_transposed else v
            return lax.dynamic_update_slice(out, f(left + right) @ v, (at,))

        def step(_, out):
            return lax.fori_loop(0, -(-n // rows), trip, out)

        return lax.fori_loop(0, PASSES, step, jnp.zeros(n, a.dtype))

    return program


def ns_of_element(program, *arguments):
    made = jax.jit(program).lower(*arguments).compile(compiler_options=OPTIONS)
    times = []
    for _ in range(4):
        begun = time.process_time()
        jax.block_until_ready(made(*arguments))
        times.append(time.process_time() - begun)
    return min(times) * 1e9 / PASSES / arguments[0].size


def main():
    random = np.random.default_rng(0)
    print("| rows x length | type | a slice | plain | with transposed | difference |\n|---|---|--:|--:|--:|--:|")
    for dtype in (np.float32, np.float64):
        for n, length in ((2000, 100), (2000, 500), (2000, 1000), (2000, 2000), (2000, 5000), (500, 20000), (200, 100000)):
            a = jnp.asarray(random.standard_normal((n, length)), dtype)
            b, v = jnp.asarray(a.T), a[0]
            for rows in (4, 25, 100):
                plain, other = (ns_of_element(by_slices(rows, t, jnp.abs), a, b, v) for t in (False, True))
                print(f"| {n} x {length} | {a.dtype} | {rows} | {plain:.2f} | {other:.2f} | {other - plain:.2f} |", flush=True)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
