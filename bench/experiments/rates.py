"""What stock XLA, kernels and XLA's loops are predicted to take beside what they take: many ops, of
many shapes, on one core of this computer at its own rates, and the quantiles of the ratios.

    python bench/experiments/rates.py                     all: 10 minutes
    python bench/experiments/rates.py stock 'product*'    some of a side
    python bench/experiments/rates.py kernels
    python tools/avx2.py python bench/experiments/rates.py

stock: single ops and short chains as stock XLA runs them, beside plan_stock_time_ns. kernels: pairs
of rows and columns under a limit that makes them slices, with WEIR_TILE=on and off, beside the time
of the kernel and of XLA's loop: gains are the loop's time over the kernel's. CPU ms, the least of some
turns, which are in turn where ways are compared; the ratio is predicted over measured: above 1 what
runs is faster than predicted.
"""

import fnmatch
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

CORE = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {CORE})  # before XLA makes its threads
os.environ["WEIR_TIMING"] = "off"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import weir  # noqa: E402
from weir import _library  # noqa: E402

jax.config.update("jax_enable_x64", True)
COMMAND = pathlib.Path(__file__).resolve().parents[2] / "build/release/weir"
TURNS, TURN_SECONDS, MOST_SECONDS = 8, 0.02, 3.0
RANDOM = np.random.default_rng(0)


# ---- arguments ----
def positive(*shape, dtype=np.float32):
    """Between 0.5 and 1: where every function is defined."""
    return jnp.asarray(RANDOM.uniform(0.5, 1.0, shape), dtype)


def places(most, *shape):
    return jnp.asarray(RANDOM.integers(0, most, shape), jnp.int32)


# ---- stock: name -> (program, *arguments) ----
FUNCTIONS = {
    "add": lambda x: x + x * x,
    "select": lambda x: jnp.where(x > 0.7, x, 0.1),
    "divide": lambda x: 1 / (x + 1),
    "sqrt": jnp.sqrt,
    "rsqrt": jax.lax.rsqrt,
    "exp": jnp.exp,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "expm1": jnp.expm1,
    "tanh": jnp.tanh,
    "logistic": jax.nn.sigmoid,
    "power": lambda x: x**2.3,
    "erf": jax.lax.erf,
    "erf_inv": jax.lax.erf_inv,
    "lgamma": jax.lax.lgamma,
    "digamma": jax.lax.digamma,
    "sin": jnp.sin,
    "tan": jnp.tan,
    "cbrt": jnp.cbrt,
    "atan2": lambda x: jnp.arctan2(x, 1 - x),
    "asin": jnp.arcsin,
    "atan": jnp.arctan,
    "asinh": jnp.arcsinh,
    "atanh": lambda x: jnp.arctanh(x * 0.9),
    "acosh": lambda x: jnp.arccosh(x + 1),
    "erfc": jax.lax.erfc,
    "cos": jnp.cos,
    "cosh": jnp.cosh,
    "sinh": jnp.sinh,
    "remainder": lambda x: jax.lax.rem(x, x * x + 0.1),
    "floor": lambda x: jnp.floor(x * 8),
    "round": lambda x: jnp.round(x * 8),
    "max": lambda x: jnp.maximum(x, 0.7),
}
NARROW = "exp", "tanh", "add"
PRODUCTS = [  # rows, terms, columns
    (1, 4096, 4096), (4, 2048, 2048), (8, 8, 200_000), (16, 1024, 4096), (32, 32, 32_768),
    (64, 64, 64), (64, 64, 16_384), (128, 128, 128), (256, 256, 256), (512, 64, 512),
    (2048, 3, 2048), (2048, 8, 2048), (2048, 16, 2048), (2048, 32, 2048), (2048, 64, 2048),
    (2048, 256, 2048), (1024, 1024, 1024), (2048, 2048, 2048), (200_000, 8, 8), (100_000, 64, 16),
    (100_000, 64, 1), (16, 100_000, 16), (64, 100_000, 64), (256, 8192, 256),
]  # fmt: skip
BATCHES = [(10_000, 8, 8, 8), (2048, 16, 16, 16), (512, 64, 64, 64), (64, 256, 64, 256), (64, 256, 256, 64)]
DTYPES = {"f32": np.float32, "f64": np.float64}


def functions():
    for name, f in FUNCTIONS.items():
        for kind, dtype in DTYPES.items():
            x = positive(1000, 1000, dtype=dtype)
            yield f"sums of {name}, {kind}", (lambda x, y, f=f: f(x + y).sum(1), x, x[0])
            yield f"{name}, {kind}", (f, x[:250])
    for name in NARROW:
        x = positive(1000, 1000, dtype=jnp.bfloat16)
        yield f"sums of {name}, bf16", (lambda x, f=FUNCTIONS[name]: f(x).sum(1), x)
        yield f"{name}, bf16", (FUNCTIONS[name], x[:250])


def products():
    for m, k, n in PRODUCTS:
        for kind, dtype in DTYPES.items():
            if kind == "f64" and m * k * n > 2**31:
                continue
            yield f"product {m} x {k} x {n}, {kind}", (jnp.matmul, positive(m, k, dtype=dtype), positive(k, n, dtype=dtype))
    for b, m, k, n in BATCHES:
        yield f"product {b} of {m} x {k} x {n}, f32", (jnp.matmul, positive(b, m, k), positive(b, k, n))
    turned = jax.lax.dot_general, positive(1024, 64), positive(1024, 1024)
    yield "product turned 64 x 1024 x 1024, f32", (lambda x, y, f=turned[0]: f(x, y, (((0,), (1,)), ((), ()))), *turned[1:])
    yield "product turned 2048 x 64 x 2048, f32", (lambda x: x @ x.T, positive(2048, 64))
    yield "product tanh of 2048 x 256 x 2048, f32", (lambda x, y: jnp.tanh(x @ y), positive(2048, 256), positive(256, 2048))


def reductions():
    x = positive(1000, 1000)
    yield "sum of rows", (lambda x: x.sum(1), x)
    yield "sum of rows, large", (lambda x: x.sum(1), positive(8000, 4000))
    yield "sum of columns", (lambda x: x.sum(0), x)
    yield "sum of columns, large", (lambda x: x.sum(0), positive(8000, 4000))
    yield "sum of all", (lambda x: x.sum(), x)
    yield "sum of rows of 8", (lambda x: x.sum(1), x.reshape(-1, 8))
    yield "sum of rows of 40", (lambda x: x.sum(1), x.reshape(-1, 40))
    yield "sum in the middle", (lambda x: x.sum(1), x.reshape(100, 100, 100))
    yield "max of rows", (lambda x: x.max(1), x)
    yield "max of columns", (lambda x: x.max(0), x)
    yield "argmax of rows", (lambda x: x.argmax(1), x)
    yield "argmax of columns", (lambda x: x.argmax(0), x)
    yield "any of rows", (lambda x: (x > 0.99).any(1), x)
    yield "softmax", (lambda x: jax.nn.softmax(x, 1), x)
    yield "logsumexp", (lambda x: jax.nn.logsumexp(x, 1), x)
    yield "layer norm", (lambda x: (x - x.mean(1, keepdims=True)) * jax.lax.rsqrt(x.var(1, keepdims=True)), x)
    yield "cumsum of rows", (lambda x: x.cumsum(1), x)
    yield "cumsum of columns", (lambda x: x.cumsum(0), x)
    yield "window of 5", (lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 5), (1, 1), "SAME"), x)
    yield "max of 2 x 2", (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2, 2), (2, 2), "SAME"), x)


def moves():
    x, large = positive(1000, 1000), positive(4000, 4000)
    yield "copy, 64 MB", (lambda x: x + 1, large)
    yield "copy, 4 MB", (lambda x: x + 1, x)
    yield "copy, 256 kB", (lambda x: x + 1, x[:64])
    yield "transpose", (lambda x: x.T.copy(), x)
    yield "transpose, large", (lambda x: x.T.copy(), large)
    yield "transpose in the middle", (lambda x: x.swapaxes(1, 2).copy(), positive(8, 512, 16, 64).reshape(8, 512, 16, 64))
    yield "transpose of rows of 3", (lambda x: x.T.copy(), positive(300_000, 3))
    yield "concatenate", (lambda x: jnp.concatenate([x, x + 1], 1), x)
    yield "pad", (lambda x: jnp.pad(x, 3), x)
    yield "reverse", (lambda x: x[:, ::-1], x)
    yield "roll", (lambda x: jnp.roll(x, 5, 1), x)
    yield "strided", (lambda x: x[:, ::3], x)
    yield "outer", (lambda x, y: x[:, None] * y, x[0], x[1])
    yield "threefry", (lambda x: jax.random.uniform(jax.random.key(0), (1000, 1000)) + x, x)


def indexed():
    for name, table in {"64 kB": 16_384, "16 MB": 4_194_304}.items():
        for width in (1, 4, 16, 64, 256):
            t = positive(table // width, width)
            yield f"gather of {width}, {name}", (lambda t, i: t[i], t, places(table // width, 400_000 // width))
    t = positive(1000, 1000)
    yield "gather along rows", (lambda t, i: jnp.take_along_axis(t, i, 1), t, places(1000, 1000, 300))
    yield "scatter of 1", (lambda t, i: t.at[i].add(1.0), positive(16_384), places(16_384, 400_000))
    yield "scatter of 16", (lambda t, i, u: t.at[i].add(u), positive(1024, 16), places(1024, 25_000), positive(25_000, 16))
    yield "scatter of 64", (lambda t, i, u: t.at[i].add(u), positive(1024, 64), places(1024, 6_000), positive(6_000, 64))
    yield "bincount", (lambda i: jnp.bincount(i, length=100), places(100, 400_000))


def sorts():
    for rows, length in [(10_000, 16), (4000, 64), (300, 1000), (3, 100_000)]:
        yield f"sort {rows} x {length}", (jnp.sort, positive(rows, length))
        yield f"argsort {rows} x {length}", (jnp.argsort, positive(rows, length))
    yield "sort along columns", (lambda x: jnp.sort(x, 0), positive(1000, 300))
    yield "sort 300 x 1000, f64", (jnp.sort, positive(300, 1000, dtype=np.float64))
    yield "sort 300 x 1000, i32", (jnp.sort, places(1 << 30, 300, 1000))
    for k in (1, 10, 100):
        yield f"top {k} of 1000 x 1000", (lambda x, k=k: jax.lax.top_k(x, k), positive(1000, 1000))


def others():
    a = positive(500, 500, dtype=np.float64)
    a = a @ a.T + 500 * jnp.eye(500)
    yield "cholesky 500", (jnp.linalg.cholesky, a)
    yield "cholesky 500 of 16 x 16", (jnp.linalg.cholesky, jnp.broadcast_to(a[:16, :16], (500, 16, 16)))
    yield "triangular 500 x 1000", (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), a, positive(500, 1000, dtype=np.float64))
    yield "fft 1000 x 1024", (jnp.fft.fft, positive(1000, 1024).astype(jnp.complex64))
    yield "rfft 1000 x 1024", (jnp.fft.rfft, positive(1000, 1024))
    for width in (4, 32, 128):
        x, w = positive(4, 64, 64, width), positive(3, 3, width, width)
        yield f"convolution of {width}", (
            lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), x, w)
    yield "scan of 1000", (lambda x: jax.lax.scan(lambda c, y: (c * 0.5 + y, c.sum()), x[0], x), positive(1000, 64))


STOCK = [functions, products, reductions, moves, indexed, sorts, others]

# ---- kernels: pairs of rows of x and y ----
PAIRS = 3000


def pairs_of(f, dtype, width=1):
    x, y = (positive(PAIRS, width, dtype=dtype) for _ in "xy")
    return lambda x, y: f((x[:, None] * y).sum(-1)).sum(1), x, y


def kernel_functions():
    for name, f in FUNCTIONS.items():
        for kind, dtype in DTYPES.items():
            yield f"sums of {name}, {kind}", pairs_of(f, dtype)


def kernel_products():
    for k in (2, 8, 32, 128, 512):
        for kind, dtype in DTYPES.items():
            x, y = positive(PAIRS, k, dtype=dtype) / k, positive(PAIRS, k, dtype=dtype)
            v = positive(PAIRS, 16, dtype=dtype)
            yield f"sums of a product of {k}, {kind}", (lambda x, y: jnp.exp(x @ y.T).sum(1), x, y)
            yield f"product of exp of a product of {k}, {kind}", (lambda x, y, v: jnp.exp(x @ y.T) @ v, x, y, v)
            yield f"relu, {k} of 16 wide, {kind}", (lambda x, y, v: jax.nn.relu(x @ y.T) @ v, x, y, v)
    for n in (1, 4, 64, 256):
        x, y, v = positive(PAIRS, 8), positive(PAIRS, 8), positive(PAIRS, n)
        yield f"product of {n} columns", (lambda x, y, v: jnp.exp(x @ y.T) @ v, x, y, v)
    for n in (64, 512):
        x, y, v = positive(2048, n), positive(n, 2048), positive(2048, n)
        yield f"two layers of {n}", (lambda x, y, v: jax.nn.relu(x @ y) @ v, x, y, v)
        yield f"tanh of a product of {n} terms", (lambda x, y: jnp.tanh(x @ y).sum(1), x, y)


def kernel_reductions():
    x, y, v = positive(PAIRS, 3), positive(PAIRS, 3), positive(PAIRS, 1)

    def distances(x, y):
        return ((x[:, None] - y) ** 2).sum(-1)

    yield "nearest", (lambda x, y: distances(x, y).min(1), x, y)
    yield "argmin", (lambda x, y: distances(x, y).argmin(1), x, y)
    yield "both sums", (lambda x, y: (jnp.exp(-distances(x, y)).sum(1), jnp.exp(-distances(x, y)).sum(0)), x, y)
    yield "sums of columns", (lambda x, y: jnp.exp(-distances(x, y)).sum(0), x, y)
    yield "softmax", (lambda x, y, v: jax.nn.softmax(-distances(x, y), 1) @ v, x, y, v)
    yield "logsumexp", (lambda x, y: jax.nn.logsumexp(-distances(x, y), 1), x, y)
    yield "top 10", (lambda x, y: jax.lax.top_k(-distances(x, y), 10), x, y)
    yield "counts", (lambda x, y: (distances(x, y) < 0.1).sum(1), x, y)
    yield "gradient", (lambda x, y: jax.grad(lambda x: jnp.exp(-distances(x, y)).sum())(x), x, y)
    yield "distances of 16", (lambda x, y: jnp.exp(-distances(x, y)).sum(1), positive(PAIRS, 16), positive(PAIRS, 16))
    yield "distances of 64", (lambda x, y: jnp.exp(-distances(x, y)).sum(1), positive(PAIRS, 64), positive(PAIRS, 64))


def kernel_gathers():
    t, i, j = positive(1000, 1000), places(1000, PAIRS), places(1000, PAIRS)
    yield "gathered rows", (lambda t, i: jnp.exp(t[i]).sum(1), t, i)
    yield "gathered pairs", (lambda t, i, j: jnp.exp(t[i[:, None], j[None]]).sum(1), t, i, j)


KERNELS = [kernel_functions, kernel_products, kernel_reductions, kernel_gathers]


# ---- times ----
def calls_of(run):
    """How many are a turn; the first call compiles kernels and touches pages."""
    run()
    begun = time.perf_counter()
    run()
    return max(1, int(TURN_SECONDS / (time.perf_counter() - begun)))


def cpu_ms(run, calls):
    begun = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - begun) / calls * 1e3


def measured(ways, arguments):
    """CPU ms of each, in turn."""
    runs = [lambda way=way: jax.block_until_ready(way(*arguments)) for way in ways]
    calls, least, begun = [calls_of(r) for r in runs], [float("inf")] * len(ways), time.perf_counter()
    for turn in range(TURNS):
        least = [min(ms, cpu_ms(r, n)) for ms, r, n in zip(least, runs, calls, strict=True)]
        if turn and time.perf_counter() - begun > MOST_SECONDS:
            break
    return least


def stock_ms(lowered):
    """As predicted: what the command says of a program that fits."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write(lowered.as_text())
        f.flush()
        machine = _library.describe_machine(None).splitlines()[0]
        command = [COMMAND, "opt", "--memory-limit", "1TB", "--debug=4", f"--machine={machine}", f.name]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return float(re.search(r"as it came: ([0-9.e+-]+) ms", said)[1])


def selected(groups, patterns):
    for group in groups:
        for name, (f, *arguments) in group():
            if not patterns or any(fnmatch.fnmatch(name, p) for p in patterns):
                yield group.__name__.removeprefix("kernel_"), name, f, arguments


# ---- tables ----
def quantiles(ratios):
    cuts = statistics.quantiles(ratios, n=20, method="inclusive") if len(ratios) > 1 else ratios * 19
    return "".join(f"{cuts[i]:9.2f}" for i in (0, 4, 9, 14, 18))


def summary(found):
    """found: what -> ratios."""
    print(f"\n{'predicted over measured':32s}{'':>5s}{'5 %':>9s}{'25 %':>9s}{'median':>9s}{'75 %':>9s}{'95 %':>9s}")
    for what, ratios in found.items():
        print(f"{what:32s}{len(ratios):5d}{quantiles(ratios)}")


def stock(patterns):
    found = {"all": []}
    os.environ["WEIR_TILE"] = "off"
    for group, name, f, arguments in selected(STOCK, patterns):
        lowered = jax.jit(f).lower(*arguments)
        (ms,), predicted = measured([lowered.compile()], arguments), stock_ms(lowered)
        for what in ("all", group):
            found.setdefault(what, []).append(predicted / ms)
        print(f"{name:44s}{predicted:9.3f}{ms:9.3f}{predicted / ms:9.2f}", flush=True)
    summary(found)


def planned(f, arguments, tile):
    """(the program, ms as predicted, whether it has kernels)."""
    os.environ["WEIR_TILE"] = tile
    limit = 1_000_000 + 2 * sum(a.nbytes for a in arguments)
    with weir.limit(limit):
        way = jax.jit(lambda *a: f(*a)).lower(*arguments).compile()
        plan = weir.last_report()
    return way, plan.time_after_ns * 1e-6, plan.kernels


def kernels(patterns):
    found = {}
    for group, name, f, arguments in selected(KERNELS, patterns):
        (on, on_ms, count), (off, off_ms, _) = planned(f, arguments, "on"), planned(f, arguments, "off")
        if not count:
            print(f"{name:44s} no kernel")
            continue
        ms, xla_ms = measured([on, off], arguments)
        ratios = on_ms / ms, off_ms / xla_ms, off_ms / on_ms / (xla_ms / ms)
        for what, ratio in zip(("kernels", "XLA's loops", "gains"), ratios, strict=True):
            for where in (what, f"{what}, {group}"):
                found.setdefault(where, []).append(ratio)
        row = (on_ms, ms, ratios[0], off_ms, xla_ms, ratios[1], off_ms / on_ms, xla_ms / ms, ratios[2])
        print(f"{name:44s}" + "".join(f"{v:9.3f}" if i % 3 < 2 else f"{v:9.2f}" for i, v in enumerate(row)), flush=True)
    summary(found)


def main():
    sides = {"stock": stock, "kernels": kernels}
    side, patterns = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else (None, [])
    _library.describe_machine(None)
    planned(lambda x: jnp.exp(x[:, None] - x).sum(1), [positive(2000)], "on")  # measures the machine
    print(_library.describe_machine(None).splitlines()[0])
    for name, table in sides.items():
        if side in (None, name):
            print(f"\n{name}: CPU ms predicted, measured, ratio" + ("; XLA's loop; gain" if name == "kernels" else ""))
            table(patterns)


if __name__ == "__main__":
    main()
