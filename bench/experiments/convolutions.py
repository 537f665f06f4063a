"""Convolutions in a loop's body, by role: as JAX writes them, by XLA CPU's library (channels last,
kernel [space, i, o]), by XLA's plain loops (kernel [space, o, i]). What src/pass/channels_last.c and
the rates of src/plan/cost.c rest on.
Run: python bench/experiments/convolutions.py
Per role: milliseconds of CPU for four slices (minimum of three), way by way.

    python bench/experiments/convolutions.py f64

Likewise of f64, which Eigen has not: once without YNN's convolutions (plain loops in whichever order), once with.

    python bench/experiments/convolutions.py few

Likewise of f32 with few features, where the copies of patches serve few products: `few_flops` of src/machine/cpu.h.

    python bench/experiments/convolutions.py points

CPU nanoseconds that the library takes for a point of the output, by how many channels and taps there are, and
what `conv_points`, `conv_taps` and `conv_flops` of src/machine/cpu.h say of it (on two cores of the reference).
"""

import pathlib
import re
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measure import HONEST, compiled, least_cpu  # noqa: E402

SLICES = 4
CPU = (pathlib.Path(__file__).resolve().parents[2] / "src/machine/cpu.h").read_text()
SPACE = {1: "W", 2: "HW", 3: "DHW"}


def numbers(n, kernel="IO"):
    return (f"N{SPACE[n]}C", f"{SPACE[n]}{kernel}", f"N{SPACE[n]}C")


def in_order(x, k, p, kernel):
    """The convolution with parameters p as transposes around one with its channels last."""
    (b, f, *s), (o, i, *ks), (ob, of, *os) = p["dimension_numbers"]
    n, groups = len(s), p["batch_group_count"]
    x = jnp.transpose(x, (b, *s, f))
    k = jnp.transpose(k, (*ks, i, o) if kernel == "IO" else (*ks, o, i))
    if groups > 1:
        split = x.reshape(groups, x.shape[0] // groups, *x.shape[1:])
        x = jnp.moveaxis(split, 0, -2).reshape(split.shape[1], *x.shape[1:-1], -1)
    r = lax.conv_general_dilated(
        x,
        k,
        p["window_strides"],
        p["padding"],
        p["lhs_dilation"],
        p["rhs_dilation"],
        numbers(n, kernel),
        feature_group_count=p["feature_group_count"] * groups,
    )
    return jnp.transpose(r, np.argsort((ob, *os, of)))


def role(f, *args):
    """f's one convolution, of f's arguments, with its kernel in an order; None: as it is."""
    jaxpr = jax.make_jaxpr(f)(*[a[0] for a in args])

    def run(kernel, *values):
        env = dict(zip(jaxpr.jaxpr.invars, values)) | dict(zip(jaxpr.jaxpr.constvars, jaxpr.consts))
        for e in jaxpr.jaxpr.eqns:
            inputs = [v.val if hasattr(v, "val") else env[v] for v in e.invars]
            if e.primitive is lax.conv_general_dilated_p and kernel:
                out = in_order(*inputs, e.params, kernel)
            else:
                out = e.primitive.bind(*inputs, **e.params)
            env.update(zip(e.outvars, out if e.primitive.multiple_results else [out]))
        return env[jaxpr.jaxpr.outvars[0]]

    return run


def cpu_ms(f, kernel, args, options=None):
    def trip(carry, xs):
        return carry + f(kernel, *xs), None

    zero = jnp.zeros(jax.eval_shape(lambda *a: f(kernel, *a), *[a[0] for a in args]).shape, args[0].dtype)
    loop, _ = compiled(lambda *xs: lax.scan(trip, zero, xs)[0], args, options)
    jax.block_until_ready(loop(*args))
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        jax.block_until_ready(loop(*args))
        best = min(best, time.process_time() - start)
    return best * 1e3


def case(name, n, batch, size, inside, out, width, stride=1, groups=1, dilation=1, ways=({},), dtype=np.float32):
    rng = np.random.default_rng(0)

    def forward(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            (stride,) * n,
            "SAME",
            rhs_dilation=(dilation,) * n,
            dimension_numbers=numbers(n),
            feature_group_count=groups,
        )

    def normal(*shape):
        return rng.standard_normal((SLICES, *shape), dtype=dtype)

    x, w = normal(batch, *[size] * n, inside), normal(*[width] * n, inside // groups, out)
    g = normal(*jax.eval_shape(forward, x[0], w[0]).shape)
    roles = {
        "forward": (forward, x, w),
        "input": (lambda g, w: jax.vjp(lambda x: forward(x, w), x[0])[1](g)[0], g, w),
        "kernel": (lambda x, g: jax.vjp(lambda w: forward(x, w), w[0])[1](g)[0], x, g),
    }
    for what, (f, *args) in roles.items():
        ms = [cpu_ms(role(f, *args), kernel, args, way) for way in ways for kernel in (None, "IO", "OI")]
        print(f"| {name} | {what} | " + " | ".join(f"{m:.1f}" for m in ms) + " |", flush=True)


def rate(name):
    return float(re.search(rf"R\({name}, ([\d.]+),", CPU)[1])


def points(batch, size, width, inside, out, groups=1):
    def forward(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=numbers(2), feature_group_count=groups
        )

    x, w = np.ones((batch, size, size, inside), np.float32), np.ones((width, width, inside // groups, out), np.float32)
    program, _ = compiled(forward, (x, w))
    x, w = map(jnp.asarray, (x, w))
    seconds, _ = least_cpu(lambda: [program(x, w).block_until_ready() for _ in range(10)], 7)
    count, taps = batch * size**2, width**2
    by_point = groups * (1 / rate("conv_points") + taps / rate("conv_taps"))
    said = 2 * (by_point + 2 * taps * inside * out / groups / rate("conv_flops"))
    label = f"{batch} x {size} x {size}, {width} x {width}, {inside} to {out} in {groups}"
    print(f"| {label} | {seconds / 10 / count * 1e9:.0f} | {said:.0f} |", flush=True)


def all_points():
    print("| convolution | ns a point | as predicted |\n|---|--:|--:|")
    for case in (
        (1, 640, 3, 1, 1), (1, 640, 5, 1, 1), (1, 640, 11, 1, 1), (1, 640, 5, 1, 8), (1, 640, 5, 8, 1),
        (64, 24, 3, 1, 1), (64, 24, 3, 8, 8), (64, 24, 3, 8, 64), (64, 32, 3, 3, 16), (64, 24, 3, 64, 64),
        (8, 24, 3, 256, 256), (1, 320, 3, 32, 1), (1, 320, 3, 128, 1), (1, 320, 3, 8, 8, 8), (8, 28, 3, 32, 32, 32),
        (8, 28, 3, 32, 32, 4),
    ):  # fmt: skip
        points(*case)


def all_few():
    print("| convolution | role | as JAX writes it | library | plain loops |\n|---|---|--:|--:|--:|")
    for taps, pairs in ((3, ((1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (1, 8), (4, 4), (1, 16))), (9, ((1, 1), (1, 4), (4, 1)))):
        for inside, out in pairs:
            case(f"{taps} x {taps}, {inside} to {out}", 2, 1, 128, inside, out, taps)
    for taps, pairs in ((33, ((1, 1), (1, 2), (2, 1), (1, 4))), (3, ((1, 1), (1, 4), (4, 1)))):
        for inside, out in pairs:
            case(f"signals, {taps} taps, {inside} to {out}", 1, 8, 2000, inside, out, taps)


def all_doubles():
    jax.config.update("jax_enable_x64", True)
    name, one = next(iter(HONEST.items()))
    by = dict(ways=(HONEST, {name: one + ",LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"}), dtype=np.float64)
    print("| convolution, f64 | role | as JAX writes it | [i, o] | [o, i] | YNN: as JAX writes it | [i, o] | [o, i] |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    case("3 x 3, 32 to 32", 2, 8, 28, 32, 32, 3, **by)
    case("3 x 3, 32 to 64, stride 2", 2, 8, 28, 32, 64, 3, 2, **by)
    case("3 x 3, 3 to 16", 2, 8, 28, 3, 16, 3, **by)
    case("1 x 1, 32 to 64", 2, 8, 28, 32, 64, 1, **by)
    case("3 x 3, 4 groups of 8", 2, 8, 28, 32, 32, 3, 1, 4, **by)
    case("3 x 3 depthwise", 2, 8, 28, 32, 32, 3, 1, 32, **by)
    case("signals, 9 taps, stride 2", 1, 8, 2000, 16, 32, 9, 2, **by)
    case("volumes, 8 to 16", 3, 4, 16, 8, 16, 3, **by)


if __name__ == "__main__" and sys.argv[1:] == ["f64"]:
    all_doubles()
elif __name__ == "__main__" and sys.argv[1:] == ["few"]:
    all_few()
elif __name__ == "__main__" and sys.argv[1:] == ["points"]:
    all_points()
elif __name__ == "__main__":
    print("| convolution | role | as JAX writes it | library | plain loops |\n|---|---|--:|--:|--:|")
    case("3 x 3, 32 to 32", 2, 8, 28, 32, 32, 3)
    case("3 x 3, 32 to 64, stride 2", 2, 8, 28, 32, 64, 3, 2)
    case("1 x 1, 32 to 64", 2, 8, 28, 32, 64, 1)
    case("3 x 3, 3 to 16", 2, 8, 32, 3, 16, 3)
    case("3 x 3, dilated by 2", 2, 8, 32, 32, 32, 3, 1, 1, 2)
    case("3 x 3, 4 groups of 8", 2, 8, 32, 32, 32, 3, 1, 4)
    case("3 x 3 depthwise", 2, 8, 32, 32, 32, 3, 1, 32)
    case("3 x 3 depthwise, stride 2", 2, 8, 32, 32, 32, 3, 2, 32)
    case("signals, 2 taps dilated by 4", 1, 8, 2000, 16, 32, 2, 1, 1, 4)
    case("signals, 9 taps, stride 2", 1, 8, 2000, 16, 32, 9, 2)
    case("volumes, 1 to 8", 3, 4, 16, 1, 8, 3)
    case("volumes, 8 to 16", 3, 4, 16, 8, 16, 3)
    case("volumes, 8 to 16, stride 2", 3, 4, 16, 8, 16, 3, 2)
