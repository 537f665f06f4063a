"""Training steps and other programs under jit whose batch is sharded over devices, stock and under
a limit. Run by test_data_parallel.py in a process of its own for each number of devices; prints a
line of JSON per program.

    python data_parallel_programs.py DEVICES [NAME ...]
"""

import functools
import json
import os
import sys
import warnings

DEVICES = int(sys.argv[1])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import collectives  # noqa: E402
import weir  # noqa: E402
from running import HONEST  # noqa: E402

MESH = Mesh(np.array(jax.devices()), ("d",))
GRID = Mesh(np.array(jax.devices()).reshape(2, -1), ("a", "b"))
PERMUTED = Mesh(np.array(jax.devices())[np.arange(1, 2 * DEVICES, 2) % (DEVICES + 1)], ("d",))
CUBE = Mesh(np.array(jax.devices()).reshape(2, 2, -1), ("a", "b", "c")) if DEVICES > 2 else None
random = np.random.default_rng(0)


def put(x, *spec, mesh=MESH):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


def normal(*shape, scale=1.0):
    return random.standard_normal(shape, np.float32) * np.float32(scale)


# ---- models ----
def layer_norm(h):
    return (h - h.mean(-1, keepdims=True)) * lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)


def batch_norm(h):
    mean, square = h.mean(0), (h * h).mean(0)
    return (h - mean) * lax.rsqrt(square - mean**2 + 1e-5)


def no_norm(h):
    return h


def cross_entropy(logits, y):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1)
    return -chosen.mean()


def mlp_loss(norm, p, x, y):
    h = x @ p["in"]
    for a, b in p["blocks"]:
        h = h + jax.nn.gelu(norm(h) @ a) @ b
    return cross_entropy(h @ p["out"], y)


def mlp_parameters(mesh=MESH, spec=((None, None),) * 2, blocks=2):
    def block():
        return (
            put(normal(64, 256, scale=0.12), *spec[0], mesh=mesh),
            put(normal(256, 64, scale=0.06), *spec[1], mesh=mesh),
        )

    return {
        "in": put(normal(16, 64, scale=0.25), mesh=mesh),
        "out": put(normal(64, 10, scale=0.12), mesh=mesh),
        "blocks": [block() for _ in range(blocks)],
    }


def batch_of(n, *spec, mesh=MESH):
    return put(normal(n, 16), *spec, mesh=mesh), put(np.arange(n) % 10, *spec, mesh=mesh)


def step(loss):
    def run(p, *batch):
        value, gradient = jax.value_and_grad(loss)(p, *batch)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient)

    return run


def mlp_step(norm):
    return step(functools.partial(mlp_loss, norm))


def attention(h, w):
    q, k, v = jnp.split(h @ w, 3, -1)
    heads = [x.reshape(*x.shape[:2], 4, -1) for x in (q, k, v)]
    scores = jnp.einsum("bqhd,bkhd->bhqk", *heads[:2]) / 4
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, heads[2]).reshape(h.shape)


def gpt_block(h, w):
    h = h + attention(layer_norm(h), w[0])
    return h + jax.nn.gelu(layer_norm(h) @ w[1]) @ w[2]


def gpt_loss(scanned, p, tokens):
    h = p["tokens"][tokens[:, :-1]] + p["places"]
    if scanned:
        h = lax.scan(lambda h, w: (gpt_block(h, w), None), h, p["blocks"])[0]
    else:
        for w in zip(*p["blocks"], strict=True):
            h = gpt_block(h, w)
    return cross_entropy(layer_norm(h) @ p["tokens"].T, tokens[:, 1:])


def gpt_arguments(sequences=32):
    p = {
        "tokens": put(normal(256, 64)),
        "places": put(normal(64, 64)),
        "blocks": tuple(
            put(normal(2, *shape, scale=0.1)) for shape in ((64, 192), (64, 256), (256, 64))
        ),
    }
    return p, put(random.integers(0, 256, (sequences, 65)), "d")


def convolved(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cnn_loss(p, x, y):
    h = jax.nn.relu(convolved(x, p[0]))
    h = jax.nn.relu(convolved(h, p[1]))
    return cross_entropy(h.mean((1, 2)) @ p[2], y)


def cnn_arguments():
    p = [put(normal(*s, scale=0.2)) for s in ((3, 3, 3, 16), (3, 3, 16, 32), (32, 10))]
    return p, put(normal(128, 16, 16, 3), "d"), put(np.arange(128) % 10, "d")


def dropped_loss(p, x, y, key):
    h = jax.nn.gelu(x @ p["in"] @ p["blocks"][0][0])
    h = jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h, 0)
    return cross_entropy(h @ p["blocks"][0][1] @ p["out"], y)


def tied_loss(p, tokens, y):
    """Of words' means, by the table that the words are read from."""
    h = jnp.tanh(p["table"][tokens].mean(1))
    return cross_entropy(h @ p["table"].T, y)


def tied_arguments(rows, words, mesh):
    tokens = random.integers(0, 2048, (ROWS, 8)).astype(np.int32)
    table = put(normal(2048, 32), words, mesh=mesh)
    return {"table": table}, put(tokens, rows, mesh=mesh), put(tokens[:, 0], rows, mesh=mesh)


def kernel(x, y):
    return jnp.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


# ---- programs: name: (function, makes its arguments, share of the temporaries that the limit has)
ROWS = 8192
PROGRAMS = {
    "layer_norm": (
        mlp_step(layer_norm),
        lambda: (mlp_parameters(), *batch_of(ROWS, "d")),
        0.1,
    ),
    "batch_norm": (
        mlp_step(batch_norm),
        lambda: (mlp_parameters(blocks=1), *batch_of(ROWS, "d")),
        0.3,
    ),
    "gpt": (step(functools.partial(gpt_loss, False)), gpt_arguments, 0.3),
    "gpt_scanned": (step(functools.partial(gpt_loss, True)), gpt_arguments, 0.3),
    "cnn": (step(cnn_loss), cnn_arguments, 0.3),
    "dropout": (
        step(dropped_loss),
        lambda: (mlp_parameters(), *batch_of(ROWS, "d"), jax.random.key(0)),
        0.2,
    ),
    "counted": (  # places along the batch
        lambda x, w: ((jnp.tanh(x @ w) * (jnp.arange(len(x))[:, None] % 7)) @ w.T).sum(1),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 512))),
        0.2,
    ),
    "largest": (  # a maximum over the rows, a sum, and one that begins at a number
        lambda x, w: (jnp.tanh(x @ w).max(0), jnp.tanh(x @ w).sum(), (x @ w).max(initial=3.0)),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 512))),
        0.2,
    ),
    "second_dimension": (
        lambda x, w: jnp.tanh(jnp.einsum("fn,fh->nh", x, w)) @ w.T,
        lambda: (put(normal(16, ROWS), None, "d"), put(normal(16, 512))),
        0.2,
    ),
    "merged": (  # the batch and what is inside of it, seen as one dimension
        lambda x, w: jnp.tanh(x.reshape(-1, 16) @ w).sum(1).reshape(x.shape[:2]),
        lambda: (put(normal(ROWS // 8, 8, 16), "d"), put(normal(16, 512))),
        0.2,
    ),
    "pairs": (  # of each row with all rows
        lambda x, v: kernel(x, x) @ v,
        lambda: (put(normal(1024, 8), "d"), put(normal(1024), "d")),
        0.2,
    ),
    "shifted": (  # rows of other devices
        lambda x, w: jnp.tanh(jnp.concatenate([x[1:], x[:1]]) @ w).sum(1),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 512))),
        0.2,
    ),
    "sorted": (  # of columns, for which all rows are gathered: slice by slice, if XLA partitions
        lambda x, w: jnp.sort(jnp.tanh(x @ w), 0).sum(1),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 256))),
        0.5,
    ),
    "transformed": (  # likewise, where a gathered value is under the limit
        lambda x, w: jnp.abs(jnp.fft.fft(jnp.tanh(x @ w), axis=0)).sum(1),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 256))),
        0.5,
    ),
    "permuted_devices": (
        lambda x, w: ((jnp.tanh(x @ w) * jnp.arange(len(x))[:, None]) @ w.T).sum(0),
        lambda: (
            put(normal(ROWS, 16), "d", mesh=PERMUTED),
            put(normal(16, 512), mesh=PERMUTED),
        ),
        0.2,
    ),
    "uneven": (  # no part of these rows is a device's
        lambda x, w: jnp.tanh(x[:-1] @ w).sum(1),
        lambda: (put(normal(ROWS, 16), "d"), put(normal(16, 512))),
        0.5,
    ),
    "both_axes": (
        mlp_step(layer_norm),
        lambda: (mlp_parameters(GRID), *batch_of(ROWS, ("a", "b"), mesh=GRID)),
        0.2,
    ),
    "batch_and_model": (
        mlp_step(layer_norm),
        lambda: (
            mlp_parameters(GRID, ((None, "b"), ("b", None))),
            *batch_of(ROWS, "a", mesh=GRID),
        ),
        0.3,
    ),
    "parameters_along_one_axis": (  # of the two that the batch is along
        mlp_step(layer_norm),
        lambda: (
            mlp_parameters(GRID, (("b", None), ("b", None))),
            *batch_of(ROWS, ("a", "b"), mesh=GRID),
        ),
        0.2,
    ),
    "parameters_too": (  # each device keeps a part of the parameters
        mlp_step(layer_norm),
        lambda: (mlp_parameters(MESH, (("d", None), ("d", None))), *batch_of(ROWS, "d")),
        0.2,
    ),
}
if CUBE:
    PROGRAMS["outer_axes_of_three"] = (
        mlp_step(layer_norm),
        lambda: (
            mlp_parameters(CUBE, ((None, "b"), ("b", None))),
            *batch_of(ROWS, ("a", "c"), mesh=CUBE),
        ),
        0.3,
    )
    PROGRAMS["axes_swapped"] = (
        lambda x, w: ((jnp.tanh(x @ w) * jnp.arange(len(x))[:, None]) @ w.T).sum(1),
        lambda: (put(normal(ROWS, 16), ("b", "a"), mesh=GRID), put(normal(16, 512), mesh=GRID)),
        0.2,
    )


PROGRAMS["vocabulary"] = (  # each device has a part of the table, and of the logits
    step(tied_loss),
    lambda: tied_arguments("a", "b", GRID),
    0.1,
)
PROGRAMS["vocabulary_along_the_batch"] = (step(tied_loss), lambda: tied_arguments("d", "d", MESH), 0.1)


# ---- runs ----
def sizes(compiled):
    m = compiled.memory_analysis()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held, m.temp_size_in_bytes


def difference(stock, found):
    """Relative to the largest of each result."""
    pairs = zip(jax.tree.leaves(stock), jax.tree.leaves(found), strict=True)
    return max(float(np.abs(a - b).max() / (np.abs(a).max() + 1e-9)) for a, b in pairs)


def shardings_of(results):
    return [x.sharding for x in jax.tree.leaves(results)]


def compare(name):
    function, make_arguments, share = PROGRAMS[name]
    arguments = make_arguments()
    stock = jax.jit(function).lower(*arguments).compile()
    try:
        held, temporaries = sizes(jax.jit(function).lower(*arguments).compile(HONEST))
    except jax.errors.JaxRuntimeError:  # this XLA has no such option
        held, temporaries = sizes(stock)
    limit = held + int(temporaries * share)
    said = {"name": name, "held": held, "temporaries": temporaries, "limit": limit}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with weir.limit(limit):
                ours = jax.jit(lambda *a: function(*a)).lower(*arguments).compile()
        except jax.errors.JaxRuntimeError as error:
            return said | {"refused": str(error)}
    expected, results = stock(*arguments), ours(*arguments)
    return said | {
        "bytes": sum(sizes(ours)),
        "loops": len(weir.last_report().loops),
        "difference": difference(expected, results),
        "same_shardings": shardings_of(expected) == shardings_of(results),
        "looped_collectives": collectives.looped(ours.as_text()),
        "warnings": [str(w.message) for w in caught if issubclass(w.category, weir.WeirWarning)],
    }


if __name__ == "__main__":
    for name in sys.argv[2:] or PROGRAMS:
        print(json.dumps(compare(name)), flush=True)
