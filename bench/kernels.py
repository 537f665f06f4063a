"""Loops as kernels: weir beside C written by hand, JAX split by hand and plain JAX, in one run.

    python bench/kernels.py                        all cases at full size (half an hour)
    python bench/kernels.py matvec_f32 knn_d3      some
    python bench/kernels.py --scale 10             a tenth of the size

Per case and way, in fresh processes that take turns: median seconds of --rounds runs (each process
runs twice; the second counts), their ratio to weir's, and what the process grew by while it ran.
The limit that weir is given is small, so that
it has to split; WEIR_TILE is auto. Plain JAX is left out where its intermediates do not fit the machine.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE / "reference"
BUILD = HERE.parent / "build/bench"
CFLAGS = "-O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp".split()
MOST_PLAIN_BYTES = 6 << 30  # of intermediates


@dataclasses.dataclass(frozen=True)
class Case:
    """One program. n: the length that --scale divides; others: further sizes."""

    program: str
    n: int
    dtype: str
    limit_mb: int  # above the inputs
    rows: int = 0  # of a block, split by hand
    d: int = 0
    m: int = 0
    square: bool = True  # the intermediate is n x n, else n x m
    c: str = ""  # reference/<c>.c

    def intermediate_bytes(self, n):
        return n * (n if self.square else self.m) * (8 if self.dtype == "f64" else 4)


CASES = {
    "matvec_f64": Case("matvec", 100_000, "f64", 32, 64, 3, c="matvec"),
    "matvec_f32": Case("matvec", 100_000, "f32", 32, 128, 3, c="matvec"),
    "matern_f64": Case("matern", 100_000, "f64", 32, 64, 3),
    "gradient_f64": Case("gradient", 50_000, "f64", 32, 64, 3),
    "knn_d3": Case("knn", 1_000_000, "f32", 64, 16, 3, 1000, False, "knn"),
    "knn_d100": Case("knn", 1_000_000, "f32", 64, 16, 100, 1000, False, "knn"),
    "knn_l1_d100": Case("knn_l1", 1_000_000, "f32", 64, 4, 100, 100, False),
    "attention": Case("attention", 4096, "f32", 64, 128, 64, 8),
    "attention_grad": Case("attention_grad", 4096, "f32", 96, 128, 64, 8),
    "sinkhorn": Case("sinkhorn", 20_000, "f32", 32, 128, 3),
    "kde": Case("kde", 50_000, "f32", 32, 128, 3),
    "chamfer_grad": Case("chamfer", 20_000, "f32", 32, 128, 3),
}


# ---- the programs: plain JAX; `over` maps a function of rows over all of them ----
def programs():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def squares(x, y):
        return ((x[:, None] - y[None]) ** 2).sum(-1)

    def expanded(x, y):
        return (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T

    def matvec(over, x, v):
        return over(lambda xb: jnp.exp(-0.5 * squares(xb, x)) @ v, x)

    def matern(over, x, v):
        def rows(xb):
            r = jnp.sqrt(3 * squares(xb, x) + 1e-12)
            return ((1 + r) * jnp.exp(-r)) @ v

        return over(rows, x)

    def gradient(over, x, v):
        def value(lengthscale, z):
            z = z / lengthscale
            step = jax.checkpoint(lambda zb: jnp.exp(-0.5 * squares(zb, z)) @ v)
            return v @ over(step, z)

        return jax.grad(value, (0, 1))(jnp.asarray(1.5, x.dtype), x)

    def knn(over, y, q):
        return over(lambda qb: lax.top_k(-expanded(qb, y), 10), q)

    def knn_l1(over, y, q):
        return over(lambda qb: lax.top_k(-jnp.abs(qb[:, None] - y[None]).sum(-1), 10), q)

    def attention(over, q, k, v):
        def head(q, k, v):
            return over(lambda qb: jax.nn.softmax(qb @ k.T / 8, axis=-1) @ v, q)

        return jax.vmap(head)(q, k, v) if over is whole else lax.map(lambda a: head(*a), (q, k, v))

    def attention_grad(over, q, k, v):
        def loss(q, k, v):
            return (attention(over if over is whole else remade(over), q, k, v) ** 2).sum()

        return jax.value_and_grad(loss, (0, 1, 2))(q, k, v)

    def remade(over):
        return lambda f, x: over(jax.checkpoint(f), x)

    def sinkhorn(over, x, y):
        def half(f, a, b):
            return over(lambda ab: -jax.nn.logsumexp(f - squares(ab, b), axis=1), a)

        f = jnp.zeros(x.shape[0], x.dtype)
        for _ in range(3):
            g = half(f, y, x)
            f = half(g, x, y)
        return f

    def kde(over, x, y):
        return over(lambda yb: jax.nn.logsumexp(-2 * squares(yb, x), axis=1), y)

    def chamfer(over, x, y):
        def distance(x, y):
            step = lambda a, b: over(jax.checkpoint(lambda ab: squares(ab, b).min(1)), a).mean()
            return step(x, y) + step(y, x)

        return jax.value_and_grad(distance, (0, 1))(x, y)

    def whole(f, x):
        return f(x)

    def blocks(rows):
        def over(f, x):
            n = x.shape[0] // rows * rows
            done = lax.map(f, x[:n].reshape(-1, rows, *x.shape[1:]))
            done = jax.tree.map(lambda a: a.reshape(n, *a.shape[2:]), done)
            if n == x.shape[0]:
                return done
            return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), done, f(x[n:]))

        return over

    return locals(), whole, blocks


def inputs(case, n):
    import numpy as np

    rng = np.random.default_rng(0)
    dtype = {"f64": np.float64, "f32": np.float32}[case.dtype]

    def points(*shape):
        return rng.normal(size=shape).astype(dtype)

    if case.program.startswith("attention"):
        return [points(case.m, n, case.d) for _ in range(3)]
    if case.program.startswith("knn"):
        return [points(n, case.d), points(case.m, case.d)]
    if case.program in ("sinkhorn", "kde", "chamfer"):
        return [points(n, case.d), points(n, case.d)]
    return [points(n, case.d), points(n)]


def worker(name, way, scale):
    """Prints seconds and bytes grown of the second run, and a checksum."""
    case = CASES[name]
    n = case.n // scale
    os.environ.pop("WEIR_MEMORY_LIMIT", None)
    import jax
    import numpy as np

    sys.path.insert(0, str(HERE))
    from worker import reset_peak, status_bytes

    jax.config.update("jax_enable_x64", case.dtype == "f64")
    arrays = [jax.device_put(a) for a in inputs(case, n)]
    found, whole, blocks = programs()
    over = blocks(min(case.rows, n)) if way == "by hand" else whole
    lowered = jax.jit(lambda *a: found[case.program](over, *a)).lower(*arrays)
    if way == "weir":
        import weir

        os.environ.setdefault("WEIR_TILE", "auto")
        held = 2 * sum(a.nbytes for a in arrays)
        with weir.limit(held + case.limit_mb * 10**6):
            f = lowered.compile()
    else:
        f = lowered.compile()
    jax.block_until_ready(f(*arrays))
    import time

    base, begun = reset_peak(), time.perf_counter()
    out = jax.block_until_ready(f(*arrays))
    seconds = time.perf_counter() - begun
    grown = status_bytes("VmHWM") - base
    sums = [float(np.sum(np.asarray(a, np.float64))) for a in jax.tree.leaves(out)]
    print(json.dumps({"seconds": seconds, "grown": grown, "sum": sums[0]}))


# ---- taking turns ----
def run_python(name, way, scale):
    command = [sys.executable, __file__, "--worker", name, way, "--scale", str(scale)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}, {way}: {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def build_reference(case):
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / f"{case.c}_{case.dtype}"
    define = ["-DF32"] if case.dtype == "f32" else []
    source = str(REFERENCE / f"{case.c}.c")
    subprocess.run(["gcc", *CFLAGS, *define, source, "-o", str(program), "-lm"], check=True)
    return program


def run_reference(case, program, scale):
    sizes = [case.n // scale, case.d] + ([case.m] if case.m else [])
    done = subprocess.run(
        [program, *map(str, sizes), "2"], capture_output=True, text=True, check=True
    )
    return {"seconds": float(done.stdout.splitlines()[-1].split()[0]), "grown": 0, "sum": None}


def ways_of(case, scale):
    fits = case.intermediate_bytes(case.n // scale) < MOST_PLAIN_BYTES
    return ["weir", *(["C"] if case.c else []), "by hand", *(["plain"] if fits else [])]


def measure(name, scale, rounds):
    """{way: (median seconds, bytes grown)}"""
    case = CASES[name]
    program = build_reference(case) if case.c else None
    runs = {way: [] for way in ways_of(case, scale)}
    for _ in range(rounds):
        for way, done in runs.items():
            is_c = way == "C"
            done.append(run_reference(case, program, scale) if is_c else run_python(name, way, scale))
    sums = [done[0]["sum"] for way, done in runs.items() if way != "C"]
    worst = max(abs(s - sums[0]) / max(abs(s), 1e-30) for s in sums)
    if worst > (1e-3 if case.dtype == "f32" else 1e-8):
        raise RuntimeError(f"{name}: the ways disagree by {worst:.1e}")
    return {
        way: (statistics.median(r["seconds"] for r in done), max(r["grown"] for r in done))
        for way, done in runs.items()
    }


COLUMNS = ("C", "by hand", "plain")


def row(name, found):
    seconds, grown = found["weir"]
    cells = [name, f"{seconds:.3f}", f"{grown / 1e6:.0f}"]
    for way in COLUMNS:
        cells.append(f"{found[way][0] / seconds:.2f}" if way in found else "-")
    return cells


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", nargs=2, metavar=("CASE", "WAY"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(*args.worker, args.scale)
    unknown = set(args.cases) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(unknown)}")
    print("| case | weir s | grew MB |" + "".join(f" {way} / weir |" for way in COLUMNS))
    print("|---|" + "--:|" * (2 + len(COLUMNS)), flush=True)
    for name in args.cases or CASES:
        print("| " + " | ".join(row(name, measure(name, args.scale, args.rounds))) + " |", flush=True)


if __name__ == "__main__":
    main()
