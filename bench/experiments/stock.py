"""What stock XLA takes for single operations on large arrays: the STOCK numbers of src/plan/cost.c.

Wall time and CPU time of the process, minima of six rounds; half of the CPU time is what two idle
cores take.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

RANDOM = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(RANDOM.standard_normal(shape).astype(np.float32))


X = normal(8, 2048, 2048)  # 134 MB: its results are fresh memory
SMALL = X[:1]  # 16.8 MB
Q = normal(8, 2048, 64)
CASES = {
    "read": (lambda x: x.sum(-1), X),
    "read and write": (lambda x: x + 1, X),
    "the same, 16.8 MB": (lambda x: x + 1, SMALL),
    "exp": (lambda x: jnp.exp(x), X),
    "exp and sum": (lambda x: jnp.exp(x).sum(-1), X),
    "tanh": (lambda x: jnp.tanh(x), X),
    "softmax": (lambda x: jax.nn.softmax(x, -1), X),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, -1), X),
    "product, K = 64": (lambda q: q @ q.swapaxes(-1, -2), Q),
    "product, K = 2048": (lambda x, q: x @ q, X, Q),
    "top-k of 1e7": (lambda x: jax.lax.top_k(x, 10), normal(100, 100_000)),
    "argmax": (lambda x: x.argmax(-1), X),
}


def measure(f, *arguments):
    wall, cpu = time.perf_counter(), time.process_time()
    jax.block_until_ready(f(*arguments))
    return time.perf_counter() - wall, time.process_time() - cpu


def main():
    cases = {name: (jax.jit(f), *arguments) for name, (f, *arguments) in CASES.items()}
    runs = {name: [measure(*case)] for name, case in cases.items()}  # compiles
    for _ in range(5):
        for name, case in cases.items():
            runs[name].append(measure(*case))
    for name, times in runs.items():
        wall, cpu = (1e3 * min(t[i] for t in times[1:]) for i in (0, 1))
        print(f"{name:20s} {wall:8.1f} ms {cpu:8.1f} ms of CPU")


if __name__ == "__main__":
    main()
