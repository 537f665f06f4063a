"""Programs of one device, run on one and then under a limit over a mesh. Run by test_spread.py in a
process of its own, because JAX fixes the number of devices when it makes the first; prints a line of
JSON per program.
"""

import json
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import collectives
import weir
from weir import _library, _say

N, D = 2048, 8
MESH = jax.make_mesh((len(jax.devices()),), ("d",))
random = np.random.default_rng(0)
X = random.standard_normal((N, D), np.float32)
V = random.standard_normal(N, np.float32)


def kernel(x, y):
    return jnp.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / 4) @ v


def steps(x):
    return lax.scan(lambda c, _: (kernel(c, c) @ c / N, None), x, None, length=3)[0]


def loss(x, v):
    return ((kernel(x, x) @ v) ** 2).sum()


PROGRAMS = {  # name: (function, arguments, limit)
    "matvec": (lambda x, v: kernel(x, x) @ v, (X, V), "1.5MB"),
    "total": (lambda x: kernel(x, x).sum(), (X,), "1.5MB"),
    "odd": (lambda x, v: kernel(x, x) @ v, (X[:1003], V[:1003]), "500kB"),
    "fits": (lambda x: x * 2, (X,), "1MB"),
    "attention": (attention, (X, X, X), "1.5MB"),
    "gradient": (jax.grad(loss), (X, V), "2MB"),
    "largest": (lambda x: lax.top_k(kernel(x, x), 5), (X,), "2MB"),
    "steps": (steps, (X,), "1.5MB"),
    "alone": (jax.grad(lambda x: attention(x, x, x).sum()), (X,), "500kB"),
    "inverse": (lambda x: jnp.linalg.inv(kernel(x, x) + 3 * jnp.eye(N)), (X,), "20MB"),
}


def total(executable):
    m = executable.get_compiled_memory_stats()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held + m.temp_size_in_bytes


def close(one, other):
    atol = 1e-4 * float(np.abs(other).max())
    return np.allclose(one, other, rtol=1e-4, atol=atol)


def run(name, f, arguments, limit):
    expected = jax.tree.leaves(jax.jit(f)(*arguments))
    _say.last_report = None
    with warnings.catch_warnings(record=True) as caught, weir.limit(limit, mesh=MESH):
        warnings.simplefilter("always")
        try:
            made = jax.jit(f).lower(*arguments).compile()
        except jax.errors.JaxRuntimeError as error:
            return {"name": name, "refused": str(error)}
        found = jax.tree.leaves(made(*arguments))
    executable, report = made.runtime_executable(), weir.last_report()
    text = executable.hlo_modules()[0].to_string()
    return {
        "name": name,
        "right": all(map(close, found, expected)),
        "whole": all(x.sharding.is_fully_replicated for x in found),
        "devices": len(found[0].sharding.device_set),
        "bytes": total(executable),
        "limit": _library.parse_bytes(limit),
        "loops": len(report.loops) if report else 0,
        "collectives": collectives.NAMED.findall(text),
        "warnings": [str(w.message) for w in caught if issubclass(w.category, weir.WeirWarning)],
    }


def on_one_device():
    """What was put on a device does not go over a mesh."""
    x = jax.device_put(X, jax.devices()[0])
    try:
        with weir.limit("1MB", mesh=MESH):
            jax.jit(lambda x: kernel(x, x).sum())(x)
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(run(name, *PROGRAMS[name])), flush=True)
    print(json.dumps({"name": "on_one_device", "error": on_one_device()}))
    with weir.limit("1.5MB", mesh=MESH):
        plan = weir.plan(PROGRAMS["matvec"][0], X, V)
    print(json.dumps({"name": "plan", "outcome": plan.outcome, "bytes": plan.peak_after_bytes}))
    left = jax.jit(lambda x: x + 1)(X)
    print(json.dumps({"name": "after", "devices": len(left.sharding.device_set)}))
