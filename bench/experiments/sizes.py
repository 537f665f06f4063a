"""What is gained by a size of src/machine/tuned.def? Programs for which it decides something, with the
size as it is and with others, in one run and in turn.

    python bench/experiments/sizes.py [NAME ...]

A row per program and value: CPU and clock time over that with the size as it is, the least of many
runs each; "same": the plan is the same. Sizes of kernels are tried with no limit and WEIR_TILE=on,
others under arguments, results and a fifth of stock's temporaries with WEIR_TILE=off. The numbers are
variables in a library that is built for this (sensitivity.py).
"""

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from measure import HONEST, compiled, timed  # noqa: E402
from needs import limit_of, needs_of  # noqa: E402
from sensitivity import ROOT, build  # noqa: E402

FEWEST_RUNS, MOST_RUNS, SECONDS = 5, 60, 2.0
NEVER = 1 << 30
SHARE = 0.2
DICE = np.random.default_rng(0)


@dataclasses.dataclass(frozen=True)
class Case:
    label: str
    function: object
    arguments: tuple


def normal(*shape, dtype=np.float32):
    return DICE.standard_normal(shape).astype(dtype)


# ---- kernels ----
def attentions():
    import jax

    def attention(q, k, v):
        return jax.nn.softmax(q @ k.T / 8) @ v

    for n, d in ((1024, 32), (1024, 64), (4096, 64), (1024, 128), (1024, 96)):
        yield Case(f"attention {n} x {d}", attention, tuple(normal(n, d) for _ in range(3)))


def kernel_products():
    import jax.numpy as jnp

    def product(x, y, v):
        return jnp.exp(-jnp.abs(x[:, None] - y).sum(-1)) @ v

    for d, columns in ((2, 1), (8, 1), (3, 32), (3, 80)):
        yield Case(f"kernel of {d} times {columns}", product, (normal(2000, d), normal(2000, d), normal(2000, columns)))


def columns_apart():
    import jax.numpy as jnp

    def nearest(x, y):
        return jnp.abs(x[:, :, None] - y).sum(1).min(-1)

    for rows in (8, 16, 64, 256):
        yield Case(f"{rows} rows, points apart", nearest, (normal(rows, 32), normal(32, 1 << 16)))


def small_grids():
    import jax
    import jax.numpy as jnp

    def many(x, y):
        return jax.lax.map(lambda x: jnp.exp(-jnp.abs(x[:, None] - y)).sum(1), x)

    for rows, columns in ((64, 64), (64, 128), (64, 250), (64, 512), (128, 1024)):
        yield Case(f"grid {rows} x {columns}", many, (normal(200, rows), normal(columns)))


def few_rows():
    import jax
    import jax.numpy as jnp

    def nearest(x, y):
        return jax.lax.top_k(-jnp.abs(x[:, None] - y).sum(-1), 10)

    for columns in (2_000, 8_000, 30_000, 200_000):
        yield Case(f"1 row, {columns} columns", nearest, (normal(1, 8), normal(columns, 8)))


# ---- what XLA runs ----
def partly_sorted():
    import jax.numpy as jnp

    for dtype in (np.float32, np.float64):
        for share in (16, 8, 5, 3, 2):
            x = normal(1000, 4096, dtype=dtype)
            yield Case(
                f"{np.dtype(dtype)}: 1/{share} of a sort",
                lambda x, k=4096 // share: jnp.sort(jnp.exp(x))[:, :k].sum(),
                (x,),
            )


def sorted_integers():
    import jax.numpy as jnp

    for rows in (1, 4, 16, 64):
        x = DICE.integers(0, 1 << 30, (rows, (1 << 22) // rows)).astype(np.int32)
        yield Case(f"{rows} rows of integers", lambda x: jnp.sort(x ^ 7)[:, :100].sum(1), (x,))


def solves(sizes):
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def solved(a, b):
        return (solve_triangular(a, jnp.cos(b), lower=True) ** 2).sum(0)

    for n, k in sizes:
        a = np.tril(normal(n, n) / n + np.diag(DICE.uniform(1, 2, n))).astype(np.float32)
        yield Case(f"solve {n} for {k}", solved, (a, normal(n, k)))


SIZES = {  # values beside the one that it has; programs; whether they are kernels
    "FEW_ROWS": ((1, 4), lambda: [*attentions(), *kernel_products()], True),
    "LOOPED_GROUPS": ((1, 4, NEVER), lambda: [*attentions(), *kernel_products()], True),
    "APART_TILES": ((0, 16, NEVER), columns_apart, True),
    "LEAST_SHARED": ((0, 1 << 12, 1 << 16), small_grids, True),
    "LEAST_SPAN": ((1, 2, 32), few_rows, True),
    "TOP_K_SHARE": ((1, NEVER), partly_sorted, False),
    "SORTED_ROWS": ((1, NEVER), sorted_integers, False),
    "SOLVE_ROWS": ((2, NEVER), lambda: solves([(2, 1 << 18), (4, 1 << 18), (8, 1 << 17), (16, 1 << 16), (32, 1 << 16), (48, 1 << 16), (64, 1 << 15), (96, 1 << 15), (128, 1 << 15)]), False),
    "SOLVE_SIDES": ((1, 1 << 20), lambda: solves([(256, 256), (256, 512), (256, 1024), (256, 4096)]), False),
}  # fmt: skip


@contextlib.contextmanager
def holding(number, value):
    before = number.value
    number.value = value
    yield
    number.value = before


def limit_for(case, is_kernel):
    if is_kernel:
        return None
    stock, _ = compiled(lambda *a: case.function(*a), case.arguments, HONEST)
    return limit_of(*needs_of(stock), SHARE)


def made(case, limit):
    import weir

    with weir.limit(limit) if limit else contextlib.nullcontext():
        return compiled(lambda *a: case.function(*a), case.arguments)[0]


def least_times(programs, arguments):
    """[(clock, CPU) of each program], which run in turn."""
    import jax

    found, spent, turns = [[np.inf, np.inf] for _ in programs], 0.0, 0
    while turns < FEWEST_RUNS or (turns < MOST_RUNS and spent < SECONDS * len(programs)):
        for best, program in zip(found, programs):
            seconds, cpu_seconds, _ = timed(lambda: jax.block_until_ready(program(*arguments)))
            best[:] = min(best[0], seconds), min(best[1], cpu_seconds)
            spent += seconds
        turns += 1
    return found


def compare(name, number, case, values, is_kernel):
    limit = limit_for(case, is_kernel)
    programs, texts = [], []
    for value in (number.value, *values):
        with holding(number, value):
            try:
                programs.append(made(case, limit))
            except Exception as error:
                print(f"| {name} | {case.label} | {value} | {str(error)[:60]} | |", flush=True)
                return
        texts.append(programs[-1].as_text())
    arguments = [np.asarray(a) for a in case.arguments]
    (clock, cpu), *others = least_times(programs, arguments)
    for value, text, (other_clock, other_cpu) in zip(values, texts[1:], others):
        value = {NEVER: "never"}.get(value, value)
        same = " same" if text == texts[0] and not is_kernel else ""
        print(f"| {name} | {case.label} | {value} | {other_cpu / cpu:.2f} | {other_clock / clock:.2f}{same} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = build(pathlib.Path(folder), ROOT / "build/release/page_files.c")
        os.environ |= {"WEIR_LIBRARY": str(path), "WEIR_CACHE_DIR": "off", "WEIR_TIMING": "off"}
        numbers = ctypes.CDLL(str(path))
        print("| size | program | value | CPU time | clock |\n|---|---|--:|--:|--:|")
        for name in sys.argv[1:] or SIZES:
            values, cases, is_kernel = SIZES[name]
            os.environ["WEIR_TILE"] = "on" if is_kernel else "off"
            number = ctypes.c_int.in_dll(numbers, f"TUNED_{name}")
            for case in cases():
                compare(name, number, case, values, is_kernel)


if __name__ == "__main__":
    main()
