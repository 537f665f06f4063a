"""Checks weir on a GPU or TPU that is here: results against the CPU's, the measured peak of fresh
processes, times beside stock XLA, loops by hand and libraries. Needs jax with its device, NumPy and
weir; this file alone.

    python tools/device_check.py                    # all pieces, a table
    python tools/device_check.py --minutes 10       # together at most
    python tools/device_check.py --pieces kernel,knn --scale 0.2 --save rows.json
    python tools/device_check.py --cpu --scale 0.01 # a rehearsal, without a device

A piece is one program, in processes of its own of at most eight minutes together: unchanged, under
a limit, under the limit "auto", split by hand, and by jax.nn.dot_product_attention (cuDNN, in
bf16), PyTorch and KeOps where these are installed (--torch: in another Python) and find the same
device; last on the CPU. What the CPU does not end in time is compared with the unchanged program on
the device, if that fits.

The peak is the device's own count, peak_bytes_in_use, without preallocation, in a process that
loads what another compiled: XLA for GPUs runs products on the device to choose among ways to
compute them, which is counted, too. Where an executable can't be handed on, the peak is that of
compiling and running, and no failure. On CPU, which does not count, it is not checked and the table
says so. Exits with 1 if a result differs, a peak is above its limit, or a piece fails; what others
need, or don't run, is no failure.
"""

import argparse
import contextlib
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 8 * 60
REPEATS = 5
LEAST_SCALE = 0.001
ALLOWANCE = 1.02  # of the peak: the allocator rounds sizes up
BLOCK_BYTES = 1 << 26  # of what is split by hand
REFERENCE = "cpu"


# ---- the pieces: functions, and their arguments at a scale of the memory that is dissolved ----
def normal(rng, *shape):
    return rng.standard_normal(shape).astype("float32")


def kernel(x, v):
    """A kernel matrix times a vector: 4 GB in between."""
    import jax.numpy as jnp

    distances = jnp.sum((x[:, None] - x[None]) ** 2, -1)
    return jnp.exp(-distances) @ v  # XLA has an exact product as a sum: nothing would be in between


def kernel_arguments(rng, scale):
    n = int(32_000 * scale**0.5)
    return normal(rng, n, 3), normal(rng, n)


def knn(queries, data):
    """Ten nearest neighbours: 4 GB of distances."""
    import jax
    import jax.numpy as jnp

    inner = jnp.dot(queries, data.T, precision="highest")
    distances = jnp.sum(queries**2, 1)[:, None] - 2 * inner + jnp.sum(data**2, 1)[None]
    return -jax.lax.top_k(-distances, 10)[0]


def knn_arguments(rng, scale):
    return normal(rng, 1000, 32), normal(rng, max(int(1_000_000 * scale), 20), 32)


def attention(q, k, v):
    """Attention of 8 heads with its gradient: 8.6 GB of scores."""
    import jax
    import jax.numpy as jnp

    def loss(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k, precision="highest") / 8
        weights = jax.nn.softmax(scores, axis=-1)
        return jnp.sum(jnp.einsum("hqk,hkd->hqd", weights, v, precision="highest") ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v)


def attention_arguments(rng, scale):
    n = int(16_384 * scale**0.5)
    return tuple(normal(rng, 8, n, 64) for _ in "qkv")


def cross_entropy(x, w, labels):
    """Loss over a large vocabulary and its gradients: 2 GB of logits, several times."""
    import jax
    import jax.numpy as jnp

    def loss(x, w):
        logits = jnp.dot(x, w, precision="highest")
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -jnp.mean(chosen)

    return jax.value_and_grad(loss, argnums=(0, 1))(x, w)


def cross_entropy_arguments(rng, scale):
    n, words = 4096, max(int(128_256 * scale), 32)
    labels = rng.integers(0, words, n).astype("int32")
    return normal(rng, n, 64), normal(rng, 64, words), labels


PIECES = {f.__name__: f for f in (kernel, knn, attention, cross_entropy)}
ARGUMENTS = {name: globals()[f"{name}_arguments"] for name in PIECES}


# ---- the same, split by hand: functions of the same arguments ----
def rows_of(width):
    """How many rows of so many floats are a block."""
    return max(BLOCK_BYTES // (4 * width), 1)


def kernel_by_hand(x, v):
    import jax
    import jax.numpy as jnp

    def row(at):
        return jnp.exp(-jnp.sum((at - x) ** 2, -1)) @ v

    return jax.lax.map(row, x, batch_size=rows_of(len(x)))


def knn_by_hand(queries, data):
    import jax
    import jax.numpy as jnp

    squares = jnp.sum(data**2, 1)

    def row(query):
        inner = jnp.dot(data, query, precision="highest")
        return -jax.lax.top_k(2 * inner - squares - jnp.sum(query**2), 10)[0]

    return jax.lax.map(row, queries, batch_size=rows_of(len(data)))


def attention_by_hand(q, k, v):
    import jax
    import jax.numpy as jnp

    def head(at):
        queries, keys, values = at

        @jax.checkpoint
        def row(query):
            weights = jax.nn.softmax(jnp.dot(keys, query, precision="highest") / 8)
            return jnp.sum(jnp.dot(weights, values, precision="highest") ** 2)

        return jnp.sum(jax.lax.map(row, queries, batch_size=rows_of(len(keys))))

    def loss(*qkv):
        return jnp.sum(jax.lax.map(head, qkv))

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v)


def cross_entropy_by_hand(x, w, labels):
    import jax
    import jax.numpy as jnp

    def loss(x, w):
        @jax.checkpoint
        def row(at):
            logits = jnp.dot(at[0], w, precision="highest")
            return jax.nn.log_softmax(logits)[at[1]]

        return -jnp.mean(jax.lax.map(row, (x, labels), batch_size=rows_of(w.shape[1])))

    return jax.value_and_grad(loss, argnums=(0, 1))(x, w)


BY_HAND = {name: globals()[f"{name}_by_hand"] for name in PIECES}


# ---- by libraries: what runs once and has ended when it returns ----
class Missing(Exception):
    """It has no such function, or does not run on this kind of device."""


def by_cudnn(name, arguments, platform):
    """Flash attention, of bf16; that of f32 cuDNN has not."""
    if name != "attention" or platform != "gpu":
        raise Missing
    import jax
    import jax.numpy as jnp

    heads_last = [jnp.asarray(x).swapaxes(0, 1)[None].astype(jnp.bfloat16) for x in arguments]

    def loss(q, k, v):
        found = jax.nn.dot_product_attention(q, k, v, implementation="cudnn")
        return jnp.sum(found.astype(jnp.float32) ** 2)

    f = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))
    return lambda: jax.block_until_ready(f(*heads_last))


def torch_arguments(arguments, platform):
    """(torch, the arguments on the device, what waits for it). JAX is left alone: both would bring
    CUDA's libraries along, each its own versions.
    """
    device = {"cpu": "cpu", "gpu": "cuda"}.get(platform)
    if device is None:
        raise Missing
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError(f"PyTorch {torch.__version__} finds no GPU")
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    return torch, [torch.tensor(x, device=device) for x in arguments], wait


def by_torch(name, arguments, platform):
    torch, arrays, wait = torch_arguments(arguments, platform)

    def gradients(loss, *of):
        of = [x.detach().requires_grad_() for x in of]
        return torch.autograd.grad(loss(*of), of)

    def attention():
        of = torch.nn.functional.scaled_dot_product_attention
        return gradients(lambda q, k, v: (of(q[None], k[None], v[None]) ** 2).sum(), *arrays)

    def cross_entropy():
        x, w, labels = arrays
        of = torch.nn.functional.cross_entropy
        return gradients(lambda x, w: of(x @ w, labels.long()), x, w)

    def kernel():
        x, v = arrays
        return torch.exp(-(torch.cdist(x, x) ** 2)) @ v

    def knn():
        return torch.topk(torch.cdist(*arrays) ** 2, 10, largest=False)

    f = {g.__name__: g for g in (attention, cross_entropy, kernel, knn)}[name]
    return lambda: (f(), wait())


def by_keops(name, arguments, platform):
    if name not in ("kernel", "knn"):
        raise Missing
    torch, (x, y), wait = torch_arguments(arguments, platform)
    from pykeops.torch import LazyTensor

    data = x if name == "kernel" else y
    distances = ((LazyTensor(x[:, None]) - LazyTensor(data[None])) ** 2).sum(-1)
    if name == "knn":
        return lambda: (distances.Kmin(10, dim=1), wait())
    return lambda: ((-distances).exp() @ y[:, None], wait())


LIBRARIES = {"cuDNN": by_cudnn, "torch": by_torch, "KeOps": by_keops}


# ---- in processes of their own, each of which prints one line of JSON ----
def fastest(call):
    """Seconds, of what has been called before."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def by_library(name, arguments, library, platform):
    try:
        call = LIBRARIES[library](name, arguments, platform)
    except Missing:
        return {"missing": True}
    call()
    return {"seconds": fastest(call)}


def compiled(f, arguments):
    """(the executable, what XLA reports of it and how long that took)."""
    import jax

    start = time.perf_counter()
    step = jax.jit(f).lower(*arguments).compile()
    seconds = time.perf_counter() - start
    memory = step.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    reported = held - memory.alias_size_in_bytes + memory.temp_size_in_bytes
    return step, {"reported": reported, "compiled": seconds}


def hand_on(step, path):
    """Whether another process can load it."""
    from jax.experimental import serialize_executable

    try:
        path.write_bytes(serialize_executable.serialize(step)[0])
    except Exception as error:
        print(f"not handed on: {error}", file=sys.stderr)
        return False
    return True


def loaded(f, arguments, path):
    """What hand_on() wrote."""
    import jax
    from jax.experimental import serialize_executable

    load, options = serialize_executable.deserialize_and_load, {}
    if "execution_devices" in inspect.signature(load).parameters:  # else all that there are
        options = {"execution_devices": jax.devices()[:1]}
    trees = jax.tree.structure((arguments, {})), jax.tree.structure(jax.eval_shape(f, *arguments))
    return load(path.read_bytes(), *trees, **options)


def compile_piece(f, arguments, path):
    step, row = compiled(f, arguments)
    return row | {"handed_on": hand_on(step, path)}


def run_piece(f, arguments, path, output):
    """Without what compile_piece() wrote it compiles, and the peak is that of both."""
    import jax
    import numpy as np

    device = jax.devices()[0]
    if path.exists():
        step, row = loaded(f, arguments, path), {}
    else:
        step, row = compiled(f, arguments)
    arguments = jax.device_put(arguments, device)
    results = jax.block_until_ready(step(*arguments))
    counted = (device.memory_stats() or {}) if device.platform != "cpu" else {}
    np.savez(output, *jax.tree.leaves(results))
    del results
    row |= {"device": device.device_kind, "peak": counted.get("peak_bytes_in_use")}
    if device.platform == "cpu" and output.stem.endswith(REFERENCE):
        return row  # nobody asks how long it takes
    return row | {"seconds": fastest(lambda: jax.block_until_ready(step(*arguments)))}


def versions():
    import importlib.metadata as metadata

    words = ("jax", "libtpu", "nvidia-", "torch", "pykeops", "weir", "numpy")
    found = {d.metadata["Name"]: d.version for d in metadata.distributions() if d.metadata["Name"]}
    return ", ".join(f"{name} {found[name]}" for name in sorted(found) if name.startswith(words))


def look():
    """What is here; a product is run on it, so that what lacks a library fails at once."""
    import jax
    import jax.numpy as jnp
    import weir

    device = jax.devices()[0]
    x = jnp.ones((256, 256))
    assert float(jnp.sum(x @ x)) == 256**3, "a product of ones is wrong"
    return {
        "platform": device.platform,
        "device": device.device_kind,
        "memory": (device.memory_stats() or {}).get("bytes_limit"),
        "client": " ".join(device.client.platform_version.split()),
        "versions": versions(),
        "weir": weir.__file__,
    }


def one(name, way, stage, args):
    if stage == "look":
        return look()
    import numpy as np

    arguments = ARGUMENTS[name](np.random.default_rng(0), args.scale)
    if stage == "library":
        return by_library(name, arguments, way, args.platform)
    f, step = (BY_HAND if way == "hand" else PIECES)[name], args.to.with_suffix(".step")
    if stage == "compile":
        return compile_piece(f, arguments, step)
    return run_piece(f, arguments, step, args.to)


# ---- this process: it asks no device ----
class Processes:
    """Starts them, with the same arguments."""

    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        self.platform = None

    def output(self, name, way):
        return self.folder / f"{name}-{way}.npz"

    def run(self, name, way, stage, seconds, limit=None):
        """The row of a fresh one, or {"failed": why}."""
        python = self.args.torch if way in ("torch", "KeOps") else sys.executable
        command = [python, __file__, "--one", name, way, stage, "--scale", str(self.args.scale)]
        command += ["--to", str(self.output(name, way)), "--platform", str(self.platform)]
        environment = environment_of(way, limit, self.args.cpu)
        try:
            done = run_alone(command, environment, max(seconds, 1))
        except subprocess.TimeoutExpired:
            return {"failed": "out of time"}
        except OSError as error:
            return {"failed": str(error)}
        if stage == "look":
            return row_of(done) | {"told": told_of_devices(done.stderr)}
        return row_of(done)


def run_alone(command, environment, seconds):
    """In a session of its own: what it has started ends with it. A compiler that outlived it would
    hold its output open, and this process with it.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "errors": "replace"}
    child = subprocess.Popen(command, **pipes, env=environment, start_new_session=True)
    try:
        said, errors = child.communicate(timeout=seconds)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    return subprocess.CompletedProcess(command, child.returncode, said, errors)


def environment_of(way, limit, is_rehearsal=False):
    """This process's, without what would change what is measured."""
    away = ("WEIR_MEMORY_LIMIT", "WEIR_TILE", "WEIR_MACHINE", "JAX_COMPILATION_CACHE_DIR")
    away += ("XLA_PYTHON_CLIENT_ALLOCATOR", "TF_GPU_ALLOCATOR", "JAX_ENABLE_X64")
    environment = {name: value for name, value in os.environ.items() if name not in away}
    environment["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".95"  # 0.75 else, of what is not taken at once
    environment.setdefault("CUDA_VISIBLE_DEVICES", "0")
    if limit is not None:
        environment["WEIR_MEMORY_LIMIT"] = str(limit)
    if way == REFERENCE or is_rehearsal:
        environment["JAX_PLATFORMS"] = "cpu"
    return environment


def told_of_devices(text):
    """What JAX says where it does without a GPU: a library that is missing, an old driver."""
    words = ("gpu", "cuda", "tpu")
    lines = [line for line in text.splitlines() if any(word in line.lower() for word in words)]
    return "\n".join(line.strip()[:300] for line in lines[-5:])


def row_of(done):
    """Of a process that has ended. Libraries may have printed, too."""
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if "Error" in line]
        by = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
        return {"failed": (said or [by])[-1][:200]}
    for line in reversed(done.stdout.splitlines()):
        with contextlib.suppress(ValueError):
            if isinstance(row := json.loads(line), dict):
                return row
    return {"failed": "it has printed no result"}


# ---- a piece ----
def difference(one, other):
    """Largest difference beside the largest value, the worst of the results."""
    import numpy as np

    with np.load(one) as first, np.load(other) as second:
        assert first.files == second.files
        pairs = [(first[key].astype(float), second[key].astype(float)) for key in first.files]
    return max(float(np.abs(x - y).max() / (np.abs(y).max() or 1)) for x, y in pairs)


class Piece:
    def __init__(self, name, processes, share, tolerance, seconds=SECONDS):
        self.name, self.processes = name, processes
        self.share, self.tolerance = share, tolerance
        self.end = time.monotonic() + seconds
        self.row = {"piece": name}
        self.wrong, self.notes = [], []

    def run(self, way, stage, limit=None, of_the_rest=0.5):
        """No way takes all the time that others need."""
        start = time.monotonic()
        seconds = (self.end - start) * of_the_rest
        row = self.processes.run(self.name, way, stage, seconds, limit)
        took = f"{time.monotonic() - start:.0f} s"
        print(f"{self.name}: {way}, {stage}: {row.get('failed', took)}", file=sys.stderr)
        return row

    def run_jax(self, way, limit=None):
        """Compiled, then run; what XLA reports is known also of what does not fit."""
        made = self.run(way, "compile", limit)
        row = made if "failed" in made else made | self.run(way, "run", limit)
        self.row[way] = row
        return row

    def check(self):
        """Whatever happens, the next piece runs."""
        try:
            self.check_ways()
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}"[:200])

    def check_ways(self):
        stock = self.run_jax("stock")
        if "reported" not in stock:
            self.wrong.append(f"stock: {stock['failed']}")
            return
        if "failed" in stock:
            self.notes.append(f"stock does not run here: {stock['failed']}")
        limit = self.row["limit"] = int(stock["reported"] * self.share)
        self.run_jax("weir", limit)
        self.run_jax("auto", "auto")
        self.run_jax("hand")
        self.run_libraries()
        self.row[REFERENCE] = self.run(REFERENCE, "run", of_the_rest=1)
        self.compare()
        self.check_peak(limit)

    def run_libraries(self):
        others = self.row["others"] = {}
        for library in LIBRARIES:
            found = self.run(library, "library")
            others[library] = found.get("seconds")
            if "failed" in found:
                self.notes.append(f"{library}: {found['failed']}")

    def reference(self):
        """The way that others are compared with; None: there is none."""
        for way in (REFERENCE, "stock"):
            if "failed" not in self.row[way]:
                return way
            self.notes.append(f"{way}: {self.row[way]['failed']}")
        return None

    def compare(self):
        against = self.row["against"] = self.reference()
        if against is None:
            self.wrong.append("nothing to compare results with")
        for way in ("weir", "auto", "hand"):
            if "failed" in self.row[way]:
                self.wrong.append(f"{way}: {self.row[way]['failed']}")
            elif against:
                self.compare_one(way, against)

    def compare_one(self, way, against):
        files = (self.processes.output(self.name, each) for each in (way, against))
        error = self.row[way]["error"] = difference(*files)
        if not error <= self.tolerance:
            whose = "the CPU" if against == REFERENCE else "stock on the device"
            self.wrong.append(f"{way}: differs from {whose} by {error:.2g}")

    def check_peak(self, limit):
        weir = self.row["weir"]
        if weir.get("reported", 0) > limit:
            self.wrong.append("XLA reports more than the limit")
        if (weir.get("peak") or 0) <= limit * ALLOWANCE:
            return
        if weir["handed_on"]:
            self.wrong.append("the measured peak is above the limit")
        else:
            self.notes.append("the peak has what compiling takes")


# ---- the table ----
def megabytes(row, key):
    if "failed" in row and row.get(key) is None:
        return "-"
    count = row.get(key)
    return "not counted" if count is None else f"{count / 1e6:.1f}"


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.1f}"


def line(row, wrong):
    name = row["piece"]
    if "weir" not in row or "others" not in row:
        return f"| {name} |" + " |" * 7 + f" {'; '.join(wrong)} |"
    stock, weir = row["stock"], row["weir"]
    pair = (stock, weir)
    both = [" → ".join(megabytes(of, key) for of in pair) for key in ("reported", "peak")]
    both.append(" → ".join(milliseconds(of.get("seconds")) for of in pair))
    own = ", ".join(milliseconds(row[way].get("seconds")) for way in ("auto", "hand"))
    others = ", ".join(milliseconds(seconds) for seconds in row["others"].values())
    error = f"{weir['error']:.1e}" if "error" in weir else "-"
    limit = f"{row['limit'] / 1e6:.1f}"
    cells = [name, limit, *both, own, others, error, "; ".join(wrong) or "good"]
    return f"| {' | '.join(cells)} |"


def print_head(found):
    memory = f", {found['memory'] / 1e9:.1f} GB" if found["memory"] else ""
    client = f"XLA's client {found['client']}"
    print(f"device    {found['device']} ({found['platform']}{memory}); {client}")
    print(f"weir      {found['weir']}")
    print(f"versions  {found['versions']}\n")
    columns = f"auto, by hand, ms | {', '.join(LIBRARIES)}, ms | difference | |"
    print(f"| piece | limit, MB | XLA's report, MB | measured peak, MB | ms | {columns}")
    print("| --- |" + " --: |" * 7 + " --- |", flush=True)


def print_tail(pieces, device):
    failed = sum(bool(piece.wrong) for piece in pieces)
    print(f"\n{device}: {len(pieces) - failed} good, {failed} failed")
    notes = [(piece.name, note) for piece in pieces for note in piece.notes]
    for name, note in notes:
        print(f"  {name}: {note}")
    return failed > 0


def save(path, found, pieces):
    rows = [piece.row | {"wrong": piece.wrong, "notes": piece.notes} for piece in pieces]
    path.write_text(json.dumps({"here": found, "rows": rows}, indent=1) + "\n")


def check_all(args, names, folder):
    processes, pieces = Processes(args, folder), []
    found = processes.run("-", "stock", "look", SECONDS)
    if "failed" not in found and found["platform"] == "cpu" and not args.cpu:
        found["failed"] = "JAX finds no GPU or TPU; a rehearsal without one: --cpu"
    if "failed" in found:
        print(f"device_check: {found['failed']}", found.get("told", ""), sep="\n", file=sys.stderr)
        return 2
    processes.platform = found["platform"]
    print_head(found)
    end = time.monotonic() + args.minutes * 60
    for i, name in enumerate(names):
        seconds = min(SECONDS, (end - time.monotonic()) / (len(names) - i))
        pieces.append(Piece(name, processes, args.share, args.tolerance, seconds))
        pieces[-1].check()
        print(line(pieces[-1].row, pieces[-1].wrong), flush=True)
        if args.save:
            save(args.save, found, pieces)
    return print_tail(pieces, found["device"])


def parse():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--pieces", default=",".join(PIECES))
    ap.add_argument("--scale", type=float, default=1.0, help="of the memory that stock takes")
    ap.add_argument("--share", type=float, default=0.1, help="the limit, of what stock takes")
    ap.add_argument("--tolerance", type=float, default=1e-3)
    ap.add_argument("--minutes", type=float, default=1e6, help="at most, for all pieces")
    ap.add_argument("--cpu", action="store_true", help="a rehearsal without a device")
    ap.add_argument("--torch", default=sys.executable, help="the Python with PyTorch and KeOps")
    ap.add_argument("--save", type=pathlib.Path, help="all that was measured, as JSON")
    ap.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    ap.add_argument("--to", type=pathlib.Path, help=argparse.SUPPRESS)
    ap.add_argument("--platform", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if unknown := set(args.pieces.split(",")) - set(PIECES):
        ap.error(f"no piece {', '.join(sorted(unknown))}; there are {', '.join(PIECES)}")
    if not args.minutes > 0:
        ap.error("the minutes are more than 0")
    if not args.scale >= LEAST_SCALE or not 0 < args.share < 1:
        ap.error(f"the scale is at least {LEAST_SCALE}, the share between 0 and 1")
    return args


def main():
    args = parse()
    if args.one:
        print(json.dumps(one(*args.one, args)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return check_all(args, args.pieces.split(","), folder)


if __name__ == "__main__":
    sys.exit(main())
