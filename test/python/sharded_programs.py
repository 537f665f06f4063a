"""Programs over four devices, stock and under a limit or a threshold. Run by test_sharded.py in
a process of its own, because JAX fixes the number of devices when it makes the first; prints a line
of JSON per program.
"""

import contextlib
import inspect
import json
import os
import re
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import collectives
import weir
from weir import _call, _library

try:
    shard_map = jax.shard_map
except AttributeError:  # jax 0.7
    from jax.experimental.shard_map import shard_map

N, D = 2048, 8
MESH = Mesh(np.array(jax.devices()), ("d",))
GRID = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
ROWS, WHOLE = NamedSharding(MESH, P("d")), NamedSharding(MESH, P())
random = np.random.default_rng(0)
X = random.standard_normal((N, D), np.float32)
V = random.standard_normal(N, np.float32)
Q = random.standard_normal((4, 512, 2, 16), np.float32)
W1 = random.standard_normal((D, 4096), np.float32)
W2 = random.standard_normal((4096, D), np.float32)


def put(x, *spec, mesh=MESH):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


def kernel(x, y):
    return jnp.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


def matvec(x, v):
    return kernel(x, x) @ v


def local_matvec(x, v):
    everybody = lax.all_gather(x, "d", tiled=True)
    return kernel(x, everybody) @ v, lax.psum(x.sum(), "d")


MATVEC = local_matvec, (P("d"), P()), (P("d"), P())


def grid_sums(x, y):
    return lax.psum(kernel(x, y).sum(1), "b")


def by_hand(f, in_specs, out_specs, mesh=MESH):
    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs)


def loss(x, v):
    """Differentiated from outside: a manual computation forward, one backward."""

    def local_loss(x, v):
        return lax.psum((local_matvec(x, v)[0] ** 2).sum(), "d")

    return by_hand(local_loss, MATVEC[1], P())(x, v)


def steps(x):
    """Collectives in a loop of the program's, beside large tensors."""

    def step(x, _):
        everybody = lax.all_gather(x, "d", tiled=True)
        return kernel(x, everybody) @ everybody / N, None

    return lax.scan(step, x, None, length=3)[0]


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def attention_loss(q, k, v):
    return (attention(q, k, v) ** 2).sum()


def replica(x):
    return kernel(x, x).sum(0) + lax.psum(x.sum(), "i")


def constrained(x, v):
    rows = NamedSharding(MESH, P("d", None))
    return lax.with_sharding_constraint(kernel(x, x), rows) @ v


def repeated(x, v):
    return lax.fori_loop(0, 3, lambda i, v: matvec(x, v) / N, v)


def mlp(x, a, b):
    return jax.nn.gelu(x @ a) @ b


def in_scan_gradient(x, v):
    """Manual computations in loops of the program's, with values of global shapes around them."""
    f = by_hand(lambda x, v: local_matvec(x, v)[0], MATVEC[1], P("d"))

    def after(x):
        return lax.scan(lambda v, _: (f(x, v) / N, None), v, None, length=3)[0].sum() ** 2

    return jax.grad(after)(x)


def layers_and_by_hand(x, v):
    hidden = jnp.tanh(x @ jnp.full((D, N), 0.01))
    return (hidden**2) @ jnp.ones((N, 4)) * by_hand(*MATVEC)(x, v)[0][:, None]


jit = jax.jit
PROGRAMS = {  # name: (makes the function, makes its arguments, limit)
    "shard_map": (
        lambda: jit(by_hand(*MATVEC)),
        lambda: (put(X, "d"), V),
        "1.5MB",
    ),
    "shard_map_grid": (
        lambda: jit(by_hand(grid_sums, (P("a"), P("b")), P("a"), GRID)),
        lambda: (put(X, "a", mesh=GRID), put(X, "b", mesh=GRID)),
        "2MB",
    ),
    "shard_map_and_more": (
        lambda: jit(lambda x, v: by_hand(*MATVEC)(x, v)[0] * 2 + v),
        lambda: (put(X, "d"), V),
        "1.5MB",
    ),
    "shard_map_gradient": (
        lambda: jit(jax.grad(loss)),
        lambda: (put(X, "d"), V),
        "1.5MB",
    ),
    "shard_map_scan": (
        lambda: jit(by_hand(steps, P("d"), P("d"))),
        lambda: (put(X, "d"),),
        "1.5MB",
    ),
    "shard_map_scan_gradient": (
        lambda: jit(in_scan_gradient),
        lambda: (put(X, "d"), V),
        "2MB",
    ),
    "shard_map_and_layers": (
        lambda: jit(layers_and_by_hand),
        lambda: (put(X, "d"), V),
        "1.5MB",
    ),
    "pmap": (
        lambda: jax.pmap(replica, axis_name="i"),
        lambda: (X.reshape(4, N // 4, D),),
        "400kB",
    ),
    "pmap_donated": (
        lambda: jax.pmap(lambda x: x + kernel(x, x) @ x, donate_argnums=0),
        lambda: (X.reshape(4, N // 4, D),),
        "400kB",
    ),
    "explicit": (
        lambda: jit(matvec, in_shardings=(ROWS, WHOLE), out_shardings=ROWS),
        lambda: (X, V),
        "1.5MB",
    ),
    "inferred": (lambda: jit(matvec), lambda: (put(X, "d"), V), "1.5MB"),
    "constrained": (lambda: jit(constrained), lambda: (put(X), V), "1.5MB"),
    "donated": (
        lambda: jit(lambda x, v: x + kernel(x, x) @ x * v[:, None], donate_argnums=0),
        lambda: (put(X, "d"), V),
        "1.5MB",
    ),
    "while": (lambda: jit(repeated), lambda: (put(X, "d"), put(V, "d")), "1.5MB"),
    "batch": (lambda: jit(attention), lambda: (put(Q, "d"),) * 3, "1MB"),
    "batch_gradient": (
        lambda: jit(jax.grad(attention_loss, argnums=(0, 1, 2))),
        lambda: (put(Q, "d"),) * 3,
        "1.5MB",
    ),
    "two_axes": (
        lambda: jit(lambda x, y, v: kernel(x, y) @ v),
        lambda: (put(X, ("a", "b"), mesh=GRID), put(X, "b", mesh=GRID), V),
        "1.5MB",
    ),
    "fits": (lambda: jit(lambda x: x * 2), lambda: (put(X, "d"),), "1MB"),
    # both dimensions of what is large are sharded
    "both_dimensions": (
        lambda: jit(mlp),
        lambda: (
            put(X, "a", mesh=GRID),
            put(W1, None, "b", mesh=GRID),
            put(W2, "b", None, mesh=GRID),
        ),
        "4MB",
    ),
}
if hasattr(jax, "shard_map"):

    def by_hand_along(axis, f, in_specs, out_specs, **mesh):
        """The rest of the mesh is XLA's."""
        return jax.shard_map(
            f, in_specs=in_specs, out_specs=out_specs, axis_names={axis}, **mesh
        )

    def sums_of_rows(x, y):
        return kernel(x, y).sum(1)

    def sums_within(x, y):
        """A manual computation in another one."""
        f = by_hand_along("b", grid_sums, (P(), P("b")), P())
        return f(x, y) + 2 * kernel(x, y).sum(1) + lax.axis_index("a")

    def half_by_hand_step(x, a, b):
        """Residuals are sharded along manual axes and others."""
        f = by_hand_along(
            "b",
            lambda x, a, b: lax.psum(mlp(x, a, b), "b"),
            (P(), P(None, "b"), P("b")),
            P(),
            mesh=GRID,
        )
        ga, gb = jax.grad(lambda a, b: ((f(x, a, b) - x) ** 2).mean(), argnums=(0, 1))(a, b)
        return a - ga, b - gb

    for name, f in {"partly_by_hand": sums_of_rows, "nested_by_hand": sums_within}.items():
        PROGRAMS[name] = (
            lambda f=f: jit(by_hand_along("a", f, (P("a"), P()), P("a"), mesh=GRID)),
            lambda: (put(X, "a", mesh=GRID), put(X, "b", mesh=GRID)),
            "1MB",
        )
    PROGRAMS["half_by_hand_step"] = (
        lambda: jit(half_by_hand_step),
        lambda: (
            put(np.tile(X, (4, 1)), "a", mesh=GRID),
            put(W1[:, :1024], None, "b", mesh=GRID),
            put(W2[:1024], "b", None, mesh=GRID),
        ),
        "4MB",
    )
if "out_sharding" in inspect.signature(jax.ops.segment_sum).parameters:
    from jax.sharding import AxisType

    EXPLICIT = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Explicit,))

    def sums_by_place(v, places):
        """Each device has its part of the sums."""
        return jax.ops.segment_sum(v, places, num_segments=512, out_sharding=P(unreduced={"d"}))

    def in_explicit_mesh():
        f = jit(lambda *arguments: sums_by_place(*arguments))

        def run(*arguments):
            with jax.set_mesh(EXPLICIT):
                return [shard.data for shard in f(*arguments).addressable_shards]

        return run

    PROGRAMS["unreduced"] = (
        in_explicit_mesh,
        lambda: (
            put(V, "d", mesh=EXPLICIT),
            put(np.arange(N) % 512, "d", mesh=EXPLICIT),
        ),
        "4kB",
    )


def total(executable):
    m = executable.get_compiled_memory_stats()
    sizes = m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes
    return sum(sizes) - m.alias_size_in_bytes


@contextlib.contextmanager
def threshold(size):
    """For functions that JAX has not compiled before."""
    os.environ["WEIR_TENSOR_SIZE_THRESHOLD"] = size
    yield
    del os.environ["WEIR_TENSOR_SIZE_THRESHOLD"]


@contextlib.contextmanager
def seen_calls():
    """What the hook was called for."""
    calls, original = [], _call.Call.__init__

    def remember(call, *rest):
        original(call, *rest)
        calls.append(call)

    _call.Call.__init__ = remember
    yield calls
    _call.Call.__init__ = original


def run_under(setting, make, arguments):
    """Results, the hook's call for the program, and weir's warnings."""
    with warnings.catch_warnings(record=True) as caught, seen_calls() as calls, setting:
        warnings.simplefilter("always")
        results = jax.block_until_ready(make()(*arguments))
    ours = [str(w.message) for w in caught if issubclass(w.category, weir.WeirWarning)]
    return results, next(c for c in reversed(calls) if c.device_count() > 1), ours


def refusal(name, error):
    """What is said of a program that can't be split, and what it takes under the number in it."""
    make, make_arguments, _ = PROGRAMS[name]
    least = int(re.search(r"set it to (\d+) bytes or more", str(error))[1])
    _, call, ours = run_under(weir.limit(least), make, make_arguments())
    taken = total(list(call.executables.values())[-1])
    return {"name": name, "refused": str(error), "least": least, "bytes": taken, "warnings": ours}


def compare(name, size=None):
    """Stock against the program under its limit, or above the threshold `size`."""
    make, make_arguments, limit = PROGRAMS[name]
    stock = jax.block_until_ready(make()(*make_arguments()))
    arguments = make_arguments()
    setting = threshold(size) if size else weir.limit(limit)
    try:
        results, call, ours = run_under(setting, make, arguments)
    except jax.errors.JaxRuntimeError as error:
        return refusal(name, error)
    pairs = list(zip(jax.tree.leaves(stock), jax.tree.leaves(results), strict=True))
    (text, _), last = list(call.executables.items())[-1]
    return {
        "name": name,
        "equal": all(
            np.allclose(a, b, rtol=1e-4, atol=1e-4 * float(np.abs(a).max())) for a, b in pairs
        ),
        "same_shardings": all(a.sharding == b.sharding for a, b in pairs),
        "rewritten": text is not None,
        "bytes": total(last),
        "limit": _library.parse_bytes(limit),
        "looped_collectives": collectives.looped(last.hlo_modules()[0].to_string()),
        "warnings": ours,
        "deleted": [x.is_deleted() for x in arguments if isinstance(x, jax.Array)],
    }


def plan(name, device="auto"):
    make, arguments, limit = PROGRAMS[name]
    found = weir.plan(make(), *arguments(), limit=limit, device=device)
    said = {"name": name, "outcome": found.outcome, "loops": len(found.loops)}
    said |= {"minimum": found.minimum_bytes}
    return said | {"bytes": found.peak_after_bytes, "device": found.device}


if __name__ == "__main__":
    for name in PROGRAMS:
        print(json.dumps(compare(name)), flush=True)
    for name in ("shard_map_and_more", "donated", "two_axes"):
        print(json.dumps({"above": compare(name, "400kB")}), flush=True)
    if "unreduced" in PROGRAMS:
        print(json.dumps({"parts": compare("unreduced", "1kB")}), flush=True)
    for name in {"shard_map_grid", "partly_by_hand"} & set(PROGRAMS):
        print(json.dumps({"plan": plan(name)}), flush=True)
    for name in ("shard_map_grid", "inferred", "explicit"):
        print(json.dumps({"plan_ahead": plan(name, jax.devices()[1])}), flush=True)
