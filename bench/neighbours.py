"""Nearest neighbours as tiles beside a hand-written program (bench/reference/knn.c) and hand-chunked JAX.

python bench/neighbours.py --n 1e6 --d 3 --m 1000 --forms expanded broadcast --threads 1

Unchanged JAX under a limit of its inputs and 64 MB, k = 10. The programs take turns; of each the least wall time
counts: with --threads 1 it is steadier. Ratios are to knn.c of the same run; it needs
AVX-512 and gcc.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp".split()
SLACK_BYTES = 64 << 20
K = 10


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("n", 1e6), ("d", 3), ("m", 1000), ("repeats", 5), ("threads", 0)):
        ap.add_argument(f"--{name}", type=lambda text: int(float(text)), default=int(value))
    ap.add_argument("--forms", nargs="+", default=["expanded", "broadcast", "cosine", "l1", "argsort"])
    ap.add_argument("--chunked", action="store_true", help="hand-chunked JAX, too")
    return ap.parse_args()


a = arguments()
if a.threads:
    os.environ.update(WEIR_NUM_THREADS=str(a.threads), OMP_NUM_THREADS=str(a.threads))

import jax  # noqa: E402 (after the number of threads)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def squares(x, y):
    return jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)[None] - 2 * x @ y.T


def normal(x):
    return x / jnp.linalg.norm(x, axis=1, keepdims=True)


FORMS = {
    "expanded": lambda x, y: jax.lax.top_k(-squares(x, y), K),
    "broadcast": lambda x, y: jax.lax.top_k(-jnp.sum((x[:, None] - y[None]) ** 2, -1), K),
    "cosine": lambda x, y: jax.lax.top_k(normal(x) @ normal(y).T, K),
    "l1": lambda x, y: jax.lax.top_k(-jnp.sum(jnp.abs(x[:, None] - y[None]), -1), K),
    "argsort": lambda x, y: jnp.argsort(squares(x, y), axis=1)[:, : K],
}


def chunked(x, y, rows=100):
    blocks = jax.lax.map(lambda block: FORMS["expanded"](block, y), x.reshape(-1, rows, x.shape[1]))
    return jax.tree.map(lambda r: r.reshape(-1, K), blocks)


def compiled(function, x, y, limit_bytes):
    """Under a limit as a tile, or as it stands."""
    settings = {"WEIR_MEMORY_LIMIT": str(limit_bytes), "WEIR_TILE": "on"} if limit_bytes else {}
    os.environ.update(settings)
    begin = time.perf_counter()
    program = jax.jit(function).lower(x, y).compile()
    seconds = time.perf_counter() - begin
    for name in settings:
        del os.environ[name]
    tiles = program.as_text().count("weir_tile")
    return program, f"compiled in {seconds:.2f} s" + (f", {tiles} tiles" if limit_bytes else "")


def timed(program, x, y):
    begin = time.perf_counter()
    jax.block_until_ready(program(x, y))
    return time.perf_counter() - begin


def build_reference(folder):
    source = pathlib.Path(__file__).parent / "reference/knn.c"
    command = ["gcc", *FLAGS, str(source), "-lm", "-o", f"{folder}/knn"]
    return f"{folder}/knn" if subprocess.run(command, check=False).returncode == 0 else None


def reference(path):
    command = [path, *(str(v) for v in (a.n, a.d, a.m, 2))]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return min(float(line.split()[0]) for line in lines if line)


def main():
    dice = np.random.default_rng(0)
    x, y = (jnp.asarray(dice.random((rows, a.d), dtype=np.float32)) for rows in (a.m, a.n))
    limit_bytes = x.nbytes + y.nbytes + a.m * K * 8 + SLACK_BYTES
    programs, best = {}, {}
    for name in a.forms:
        programs[name], note = compiled(FORMS[name], x, y, limit_bytes)
        print(f"{name}: {note}", file=sys.stderr)
    if a.chunked:
        programs["chunked JAX"], _ = compiled(chunked, x, y, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = build_reference(folder)
        for _ in range(a.repeats):
            if path:
                best["knn.c"] = min(best.get("knn.c", np.inf), reference(path))
            for name, program in programs.items():
                best[name] = min(best.get(name, np.inf), timed(program, x, y))
    for name, seconds in best.items():
        rate = 2e-9 * a.n * a.m * a.d / seconds
        ratio = f", {best['knn.c'] / seconds:.2f} of knn.c" if "knn.c" in best else ""
        print(f"{name:12} {seconds:8.4f} s  {rate:6.0f} Gflop/s of 2 n m d{ratio}")


if __name__ == "__main__":
    main()
