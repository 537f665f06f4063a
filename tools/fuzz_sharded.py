"""Random programs whose arguments and results are sharded over devices, as what each device computes
(pass per-device) and as loops of that, against the reference evaluator on the program as it came.

    python tools/fuzz_sharded.py --count 1000 [--first SEED] [--graphs Graph|Branches|Images]
                                 [--manual] [--build DIR] [--keep DIR]

A seed stands for one program (test/python/random_graphs.py), a mesh of two or four CPU devices and
shardings; with --manual some of its ops stand in manual computations (random_manual.py). Where what
XLA itself makes of the sharded program is wrong, too, or ends the process, the way is called "stock"
(its maxima over devices drop NaN, for one). What fails is written to --keep (default: build/fuzz) and
named. Prints how many programs were divided, and how many of them looped; exits 1 if anything failed.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import random_values  # noqa: E402

random_values.EXTENTS = (1, 2, 4, 6, 8, 12, 16, 24)  # most are divided by two or four
import jax  # noqa: E402
import random_graphs  # noqa: E402
import random_images  # noqa: E402
import random_manual  # noqa: E402
import running  # noqa: E402
from jax._src import compiler  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

from weir import _call  # noqa: E402

GRAPHS = {
    "Graph": random_graphs.Graph,
    "Branches": random_graphs.Branches,
    "Images": random_images.Images,
}
MESHES = [{"d": 2}, {"d": 4}, {"a": 2, "b": 2}]
SEEDS_PER_PROCESS = 40
BEFORE = "unbundle,constants,static,implicit,simplify,fold-transpose,cse,dce,per-device"
AFTER = "centre,sums,through-slice,ravel,split,lower"


def spec_of(v, mesh, dice):
    """Axes by dimension: each axis at most once, along what it divides."""
    spec, left = [()] * v.rank, list(mesh)
    dice.shuffle(left)
    for axis in left:
        places = [
            d
            for d in range(v.rank)
            if v.shape[d] % (mesh[axis] * np.prod([mesh[a] for a in spec[d]], dtype=int)) == 0
        ]
        if places and dice.random() < 0.8:
            d = dice.choice(places[:1] * 3 + places)
            spec[d] += (axis,)
    return spec


def attribute(spec):
    axes = ", ".join("{" + ", ".join(f'"{a}"' for a in d) + "}" for d in spec)
    return "{sdy.sharding = #sdy.sharding<@mesh, [" + axes + "]>}"


class Sharded:
    def __init__(self, seed, make, is_manual=False):
        graph, dice = make(seed), random.Random(seed + 2)
        self.arguments, self.outputs, self.inputs = graph.arguments, graph.outputs, graph.inputs()
        self.mesh = dice.choice(MESHES)
        self.given = [spec_of(v, self.mesh, dice) for v in self.arguments]
        self.asked = [spec_of(v, self.mesh, dice) for v in self.outputs]
        self.plain = random_values.program(graph.ops, self.arguments, self.outputs)
        self.body = self.plain.split("\n", 1)[1]
        if is_manual:
            lines = random_manual.body(graph.ops, self.outputs, self.mesh, random.Random(seed + 3))
            last = self.body.rindex("return ")
            self.body = "\n".join(lines) + "\n" + self.body[last:]
        sizes = [v.bytes for op in graph.ops for v in op.results] or [8]
        self.threshold = max(8, max(sizes) // dice.choice([4, 10, 30]))
        self.devices = int(np.prod(list(self.mesh.values())))

    def text(self):
        """With shardings on every op, as the hook gives it."""
        head = ", ".join(
            f"{v.name}: {v.type} {attribute(s)}" for v, s in zip(self.arguments, self.given)
        )
        types = ", ".join(f"{v.type} {attribute(s)}" for v, s in zip(self.outputs, self.asked))
        axes = ", ".join(f'"{a}"={n}' for a, n in self.mesh.items())
        text = (
            f"module attributes {{mhlo.num_partitions = {self.devices} : i32}} {{\n"
            f"sdy.mesh @mesh = <[{axes}]>\n"
            f"func.func public @main({head}) -> ({types}) {{\n{self.body}}}\n"
        )
        with jax_mlir.make_ir_context():
            return _call.propagated(ir.Module.parse(text))

    def run(self, text):
        devices = jax.devices("cpu")[: self.devices]
        mesh = Mesh(np.array(devices).reshape(tuple(self.mesh.values())), tuple(self.mesh))
        with jax_mlir.make_ir_context():
            code = jax_mlir.module_to_bytecode(ir.Module.parse(text))
        options = compiler.get_compile_options(
            1,
            self.devices,
            np.arange(self.devices).reshape(1, -1),
            env_options_overrides=running.OPTIONS | running.QUICK,
        )
        options.executable_build_options.use_spmd_partitioning = True
        options.executable_build_options.use_shardy_partitioner = True
        client = devices[0].client
        executable = client.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options)
        placed = [NamedSharding(mesh, PartitionSpec(*s)) for s in self.given]
        with jax.enable_x64(True):
            views = [
                x.view(running.BF16) if v.dtype == "bf16" else x
                for v, x in zip(self.arguments, self.inputs)
            ]
            arrays = [jax.device_put(x, s) for x, s in zip(views, placed)]
            parts = executable.execute_sharded(arrays).disassemble_into_single_device_arrays()
            found = [
                np.asarray(
                    jax.make_array_from_single_device_arrays(
                        v.shape, NamedSharding(mesh, PartitionSpec(*s)), shards
                    )
                )
                for v, s, shards in zip(self.outputs, self.asked, parts)
            ]
        return [x.view(np.uint16) if x.dtype == running.BF16 else x for x in found]

    def problem(self, text, want):
        try:
            got = self.run(text)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        for i, (v, w, g) in enumerate(zip(self.outputs, want, got)):
            if problem := random_values.difference(v, w, g):
                return f"result {i}: {problem}"
        return None

    def is_wrong_on_one_device(self, want):
        """Where XLA is: each device does what one would do."""
        got = running.Xla(self.plain)(*self.inputs)
        return any(random_values.difference(*three) for three in zip(self.outputs, want, got))


def failures(case):
    """What is wrong, whether the program was divided, and whether that was looped."""
    with tempfile.TemporaryDirectory() as folder:
        want = running.Evaluator(folder, case.inputs)(case.plain)
        text, path = case.text(), pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        divided = running.opt(path, "--pass", BEFORE)
        split = ["--tensor-size-threshold", str(case.threshold)]
        looped = running.opt(path, "--pass", f"{BEFORE},{AFTER}", *split)
    is_left_alone = "{sdy.sharding = #sdy.sharding_per_value" in divided
    is_divided = '"sdy.manual_computation"' in divided and not is_left_alone
    is_looped = looped.count('"stablehlo.while"') > divided.count('"stablehlo.while"')
    found = []
    for way, made in (("divided", divided), ("looped", looped)) if is_divided else ():
        if problem := case.problem(made, want):
            is_stocks = case.problem(text, want) or case.is_wrong_on_one_device(want)
            found.append(("stock" if is_stocks else way, problem, text))
    return found, is_divided, is_looped


def child(args):
    """A line of JSON per seed."""
    for seed in range(args.first, args.first + args.count):
        case = Sharded(seed, GRAPHS[args.graphs], args.manual)
        if args.child == "stock":
            case.problem(case.text(), [])
            continue
        found, is_divided, is_looped = failures(case)
        lines = []
        for way, problem, text in found:
            args.keep.mkdir(parents=True, exist_ok=True)
            kept = args.keep / f"sharded-{args.graphs}-{seed}.mlir"
            kept.write_text(text)
            lines.append((way, f"{problem[:300]} ({kept})"))
        said = {"seed": seed, "divided": is_divided, "looped": is_divided and is_looped}
        print(json.dumps(said | {"found": lines}), flush=True)
    return 0


def run_child(args, kind, first, count):
    """The lines that it printed, and whether it ended well: XLA crashes of some programs, which is
    no exception of Python's.
    """
    command = [sys.executable, __file__, "--child", kind, "--first", str(first)]
    command += ["--count", str(count), "--graphs", args.graphs]
    command += ["--build", str(args.build), "--keep", str(args.keep)]
    command += ["--manual"] if args.manual else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode > 0:
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode == 0


def results(args):
    at, end = args.first, args.first + args.count
    while at < end:
        lines, is_well = run_child(args, "all", at, min(SEEDS_PER_PROCESS, end - at))
        yield from lines
        at += len(lines)
        if not is_well:
            is_stocks = not run_child(args, "stock", at, 1)[1]
            way = "stock" if is_stocks else "divided"
            yield {"seed": at, "divided": 0, "looped": 0, "found": [(way, "the process ended")]}
            at += 1


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--graphs", choices=GRAPHS, default="Graph")
    ap.add_argument("--manual", action="store_true")
    ap.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    ap.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz")
    ap.add_argument("--child", choices=["all", "stock"], help=argparse.SUPPRESS)
    args = ap.parse_args()
    running.BUILD = args.build.resolve()
    if args.child:
        return child(args)
    counts = {"divided": 0, "looped": 0, "stock": 0, "failed": 0}
    for said in results(args):
        counts["divided"] += said["divided"]
        counts["looped"] += said["looped"]
        for way, problem in said["found"]:
            counts["stock" if way == "stock" else "failed"] += 1
            print(f"seed {said['seed']}, {way}: {problem}", flush=True)
    print(f"{args.count} programs:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
