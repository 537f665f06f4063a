"""One of several processes that run programs together. Run by test_processes.py, which starts all
of them: `process_programs.py RANK COUNT PORT`. Prints a line of JSON per program.

What only one process does stands under `if RANK == ...`: the others must come to the same end.
"""

import contextlib
import json
import os
import sys
import warnings

RANK, COUNT, PORT = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
DEVICES = 4 // COUNT  # a process

import jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.config.update("jax_num_cpu_devices", DEVICES)
jax.distributed.initialize(f"localhost:{PORT}", COUNT, RANK)

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import weir
from weir import _auto, _call, _hook, _processes

try:
    shard_map = jax.shard_map
except AttributeError:  # jax 0.7
    from jax.experimental.shard_map import shard_map

_processes._LOOK_MS, _processes._LOOKS = 100, 5
N, D, LIMIT = 2048, 8, 1_500_000
MESH = Mesh(np.array(jax.devices()), ("d",))
HERE = jax.local_devices()[0]
random = np.random.default_rng(0)
X = random.standard_normal((N, D), np.float32)
V = random.standard_normal(N, np.float32)
K = np.exp(-((X[:, None].astype(np.float64) - X) ** 2).sum(-1))


def put(x, *spec, mesh=MESH):
    return jax.make_array_from_callback(x.shape, NamedSharding(mesh, P(*spec)), lambda i: x[i])


def kernel(x, y):
    return jnp.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


def matvec(x, v):
    return kernel(x, x) @ v


def by_hand(x, v):
    def local(x, v):
        return kernel(x, lax.all_gather(x, "d", tiled=True)) @ v

    return shard_map(local, mesh=MESH, in_specs=(P("d"), P()), out_specs=P("d"))(x, v)


class Store:
    """JAX's key-value store; counts what is written."""

    def __init__(self, client):
        self.client, self.written = client, []

    def key_value_set(self, key, *rest):
        self.written.append(key)
        return self.client.key_value_set(key, *rest)

    def __getattr__(self, name):
        return getattr(self.client, name)


class State:
    def __init__(self, state):
        self.client = Store(state.client)


_processes._jax.distributed = State(_processes._jax.distributed)
store = _processes._jax.distributed.client


@contextlib.contextmanager
def replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    yield
    setattr(owner, name, before)


def perhaps(change):
    return replaced(*change) if change else contextlib.nullcontext()


def right(y, expected):
    return all(
        np.allclose(s.data, expected[s.index], rtol=1e-4, atol=1e-3) for s in y.addressable_shards
    )


def compiled(name, f, *arguments, limit=LIMIT, expected=None, instead=None):
    """Compiles and runs f under the limit; `instead`: (owner, name, value) while it compiles."""
    calls, original = [], _call.Call.__init__

    def remember(call, *rest):
        original(call, *rest)
        calls.append(call)

    start = len(store.written)
    with warnings.catch_warnings(record=True) as caught, perhaps(instead):
        warnings.simplefilter("always")
        with weir.limit(limit), replaced(_call.Call, "__init__", remember):
            try:
                made, error = jax.jit(f).lower(*arguments).compile(), ""
            except Exception as problem:
                made, error = None, str(problem)
    said = {
        "name": name,
        "error": error,
        "keys": len(store.written) - start,
        "limit": calls[-1].limit_bytes,
        "warnings": [str(w.message) for w in caught if issubclass(w.category, weir.WeirWarning)],
    }
    if made is not None:
        said |= what_runs(calls[-1], made.runtime_executable())
        said["right"] = right(made(*arguments), expected)
    print(json.dumps(said), flush=True)


def what_runs(call, executable):
    (text, options), _ = next(e for e in call.executables.items() if e[1] is executable)
    return {
        "rewritten": text is not None,
        "program": call.hash(text, options),
        "bytes": total(executable),
    }


def total(executable):
    m = executable.get_compiled_memory_stats()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held + m.temp_size_in_bytes


def only_in(rank, *change):
    return change if rank == RANK else None


def more_than_it_is(call, text, options):
    """Of what is rewritten."""
    memory = REPORT(call, text, options)
    return memory if text is None else (*memory[:3], memory[3] + LIMIT)


def refuses(call, text, options):
    if text is not None:
        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: for a test")
    return REPORT(call, text, options)


def breaks(*_):
    raise RuntimeError("for a test")


REPORT = _call.Call.report
LAST = COUNT - 1
x, v = put(X, "d"), put(V)
here = [jax.device_put(a, HERE) for a in (X, V)]
Y = K @ V

compiled("sharded", matvec, x, v, expected=Y)
with replaced(_auto, "limit_bytes", lambda device: 8 * LIMIT - RANK):
    compiled("auto", lambda x, v: matvec(x, v) + 1, x, v, expected=Y + 1, limit="auto")
if RANK in (1, 2) and COUNT == 4:  # the others know nothing of it
    middle = Mesh(np.array([d for d in jax.devices() if d.process_index in (1, 2)]), ("d",))
    compiled("some", matvec, put(X, "d", mesh=middle), put(V, mesh=middle), expected=Y)
if COUNT == 2:
    compiled("by_hand", by_hand, x, v, expected=Y)
    compiled("fits", lambda x: x * 2, x, expected=X * 2)
    compiled("local", lambda x, v: matvec(x, v) * 2, *here, expected=2 * Y, limit="400kB")
    changed = only_in(1, _call.Call, "report", more_than_it_is)
    compiled("more", lambda x, v: matvec(x, v) + 2, x, v, expected=Y + 2, instead=changed)
    changed = only_in(1, _call.Call, "report", refuses)
    compiled("refused", lambda x, v: matvec(x, v) + 3, x, v, expected=Y + 3, instead=changed)
    for rank, add in ((0, 4), (1, 5)):
        changed, name = only_in(rank, _hook, "_settled", breaks), f"broken_{rank}"
        compiled(name, lambda x, v: matvec(x, v) + add, x, v, expected=Y + add, instead=changed)
    compiled("again", matvec, x, v, expected=Y, limit=LIMIT + 100_000)
    compiled("differs", lambda x, v: matvec(x, v) * 3, x, v, limit=LIMIT + 1000 * RANK)
    compiled("different", lambda x, v: matvec(x, v) + 10 * RANK, x, v, expected=Y + 10 * RANK)
    if RANK == 0:
        plan = weir.plan(jax.jit(matvec), x, v, limit=LIMIT)
        print(json.dumps({"name": "plan", "outcome": plan.outcome}), flush=True)

    def one(x, v):
        return matvec(x, v) + 6

    def other(x, v):
        return matvec(x, v) + 7

    for f in (one, other) if RANK == 0 else (other, one):  # compiled, not run
        with warnings.catch_warnings(record=True) as caught, weir.limit(LIMIT):
            warnings.simplefilter("always")
            jax.jit(f).lower(x, v).compile()
        said = {"name": f"order_{f.__name__}", "warnings": [str(w.message) for w in caught]}
        print(json.dumps(said), flush=True)

store.client.wait_at_barrier("before the end", 60_000)
jax.config.update("jax_share_binary_between_hosts_timeout_ms", 1500)
if RANK != LAST:
    compiled("ended", lambda x, v: matvec(x, v) + 8, x, v, expected=Y)
    compiled("fits_alone", lambda x: x * 3, here[0], expected=X * 3)
sys.stdout.flush()
os._exit(0)  # JAX would wait for the process that has ended
