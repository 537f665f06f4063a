"""Splits random programs in every way and compares results: evaluator and XLA, before and after.

    python tools/fuzz_graphs.py --count 10000 [--first SEED] [--jobs N] [--no-xla] [--no-reduce]
                                [--graphs Graph|Branches|Cuts|Windows|Matrices|Spelled|Regrouped|Images|Roles|Apart|Empty]
                                [--build DIR] [--keep DIR]

A seed stands for one program (test/python/random_graphs.py and what builds on it) and for how it is split. What fails is
cut down to the ops that it takes, written to --keep (default: build/fuzz) and named. Exits 1 if
anything failed.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import multiprocessing
import os
import pathlib
import random
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
if __name__ == "__main__":
    os.environ["XLA_AS_USERS"] = "1"  # running.py compiles as users do, not quickly
import random_graphs  # noqa: E402
import random_images  # noqa: E402
import random_roles  # noqa: E402
import random_values  # noqa: E402
import respelling  # noqa: E402
import running  # noqa: E402

SEEDS_PER_PROCESS = 100  # XLA keeps what it compiled


@dataclasses.dataclass
class Case:
    """A program with its inputs, and the ways to split it: names and arguments of `weir opt`.

    `spelling` is a seed of respelling.py, with which weir gets it; None: as it is.
    """

    ops: list
    arguments: list
    outputs: list
    inputs: list
    ways: list
    spelling: int | None = None

    def text(self):
        return random_values.program(self.ops, self.arguments, self.outputs)

    def given(self):
        text = self.text()
        return text if self.spelling is None else respelling.respelled(text, self.spelling)


def case_of(seed, make=random_graphs.Graph):
    graph, dice = make(seed), random.Random(seed + 1)
    # without the passes for spellings neither the evaluator nor XLA knows them
    needed = respelling.PASSES.split(",") if make.SPELLED else []
    passes = [name for name in running.passes() if name not in needed]
    sizes = sorted(
        {
            v.bytes
            for op in random_values.live(graph.ops, graph.outputs)
            for v in op.results
            if v.bytes > 8
        }
        or {9}
    )
    threshold = max(
        8,
        dice.choice(
            [
                dice.choice(sizes) - 1,
                sizes[-1] // dice.choice([2, 3, 8, 20]),
                dice.choice([16, 48, 200]),
            ]
        ),
    )
    split = ["--tensor-size-threshold", str(threshold)]
    if dice.random() < 0.3:
        split += ["--tensor-split-size", str(max(1, threshold // dice.choice([2, 5, 30])))]
    own = sum(v.bytes for v in graph.arguments + graph.outputs)
    limit = own + int(sizes[-1] * dice.uniform(0.05, 2))
    ways = [
        ("split", [*split, "--stop-after", "split"]),
        ("lowered", split),
        ("xla", split),
        ("skip", [*split, "--skip", passes[seed % len(passes)]]),
        ("limit", ["--memory-limit", str(limit)]),
    ]
    if make.KERNELS:
        machine = ["--machine", dice.choice(running.levels())] if running.levels() else []
        ways += [("kernels", [*split, "--tile", "on", *machine])]
        ways += [("limit, kernels", ["--memory-limit", str(limit), "--tile", "on", *machine])]
    spelling = seed if make.SPELLED else None
    return Case(graph.ops, graph.arguments, graph.outputs, graph.inputs(), ways, spelling)


def loops(text):
    return text.count('"stablehlo.while"')


def compared(case, want, got):
    if len(want) != len(got):
        return f"{len(got)} results, expected {len(want)}"
    for i, (v, w, g) in enumerate(zip(case.outputs, want, got)):
        problem = random_values.difference(v, w, g)
        if problem:
            return f"result {i}: {problem}"
    return None


def differs_on_xla(case, text, want):
    """What XLA makes of the program, where that is not what the evaluator does."""
    try:
        return compared(case, want, running.Xla(text)(*case.inputs))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def failures(case, use_xla=True, only=None):
    """(way, what is wrong) for every way of splitting that fails; and how often loops were made.

    Where already the unsplit program gives something else on XLA than in the evaluator, the way is
    called "stock": no fault of splitting, but a bug of one of the two.
    """
    found, changed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path, text = pathlib.Path(folder) / "program.mlir", case.text()
        path.write_text(case.given())
        evaluate = running.Evaluator(folder, case.inputs)
        try:
            want = evaluate(text)
        except AssertionError as error:
            return [("unsplit", str(error))], 0
        for way, arguments in case.ways:
            if only and way != only or way == "xla" and not use_xla:
                continue
            try:
                split = respelling.known(running.opt(path, *arguments, refused=text), folder)
                changed += way == "lowered" and loops(split) > loops(text)
                if way == "xla":
                    problem = differs_on_xla(case, split, want)
                    if problem and differs_on_xla(case, text, want):
                        way = "stock"
                else:
                    problem = compared(case, want, evaluate(split)) if split != text else None
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                found.append((way, problem))
    return found, changed


# ---- cutting a failing program down ----
def with_cut(case, v):
    """The value as an argument, with the data that it has; None if it can't be had."""
    probe = dataclasses.replace(case, outputs=[v])
    with tempfile.TemporaryDirectory() as folder:
        try:
            (data,) = running.Evaluator(folder, case.inputs)(probe.text())
        except AssertionError:
            return None
    ops = [op for op in case.ops if v.name not in [r.name for r in op.results]]
    if len(ops) == len(case.ops) or any(len(op.results) > 1 for op in case.ops if v in op.results):
        return None
    return dataclasses.replace(
        case, ops=ops, arguments=[*case.arguments, v], inputs=[*case.inputs, data]
    )


def smaller(case):
    """Cases with less in them, the smallest first."""
    if len(case.outputs) > 1:
        for v in case.outputs:
            yield dataclasses.replace(case, outputs=[v])
        for i in range(len(case.outputs)):
            yield dataclasses.replace(case, outputs=case.outputs[:i] + case.outputs[i + 1 :])
    for op in random_values.live(case.ops, case.outputs)[::-1]:
        for v in op.results:
            if v not in case.outputs and '"stablehlo.constant"' not in op.text:
                cut = with_cut(case, v)
                if cut:
                    yield cut
    kept = random_values.live(case.ops, case.outputs)
    used = {v.name for op in kept for v in op.operands} | {v.name for v in case.outputs}
    pairs = [(a, x) for a, x in zip(case.arguments, case.inputs) if a.name in used]
    if len(pairs) < len(case.arguments):
        yield dataclasses.replace(
            case, ops=kept, arguments=[a for a, _ in pairs], inputs=[x for _, x in pairs]
        )


def reduced(case, way):
    for _ in range(100):
        for candidate in smaller(case):
            found, _ = failures(candidate, only=way)
            if any(w == way for w, _ in found):
                case = candidate
                break
        else:
            return case
    return case


def keep(case, seed, way, problem, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed{seed}-{way}.mlir"
    arguments = dict(case.ways)[way] if way in dict(case.ways) else []
    path.write_text(
        f"// seed {seed}, {way}: weir opt {' '.join(arguments)}\n"
        f"// {problem.splitlines()[0]}\n{case.given()}"
    )
    np.savez(path.with_suffix(".npz"), *case.inputs)
    return path


def use_build(args):
    if args.build:
        running.BUILD = args.build.resolve()


def graphs_of(name):
    modules = {"Images": random_images, "Roles": random_roles, "Apart": random_roles, "Empty": random_roles}
    return getattr(modules.get(name, random_graphs), name)


def try_seed(task):
    seed, args = task
    use_build(args)
    try:
        case = case_of(seed, graphs_of(args.graphs))
        found, changed = failures(case, not args.no_xla)
        lines = []
        for way, problem in found:
            small = case
            if not args.no_reduce and way not in ("unsplit", "stock"):
                small = reduced(case, way)
                problem = dict(failures(small, only=way)[0]).get(way, problem)
            lines.append(
                f"seed {seed}, {way}: {problem}\n  {keep(small, seed, way, problem, args.keep)}"
            )
        return seed, changed, lines
    except Exception as error:
        return seed, 0, [f"seed {seed}: {type(error).__name__}: {error}"]


def try_seeds(seeds, args, sender):
    for seed in seeds:
        sender.send(try_seed((seed, args)))
    sender.close()


def run_unsplit(seed, args):
    use_build(args)
    case = case_of(seed, graphs_of(args.graphs))
    running.Xla(case.text())(*case.inputs)


def in_processes(seeds, args):
    """The results of a batch. XLA may bring its process down (0 % 0), with or without splitting: the
    seed is named, the rest goes on.
    """
    seeds = list(seeds)
    while seeds:
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=try_seeds, args=(seeds, args, sender))
        process.start()
        sender.close()
        try:
            while seeds:
                yield receiver.recv()
                seeds.pop(0)
        except EOFError:
            process.join()
            seed, end = seeds.pop(0), process.exitcode
            alone = context.Process(target=run_unsplit, args=(seed, args))
            alone.start()
            alone.join()
            stock = ", stock" if end and end == alone.exitcode else ""
            yield seed, 0, [f"seed {seed}{stock}: the process ended with {end}"]
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    kinds = ["Graph", "Branches", "Cuts", "Windows", "Matrices", "Spelled", "Regrouped", "Images", "Roles", "Apart", "Empty"]
    parser.add_argument("--graphs", default="Graph", choices=kinds)
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.count)
    totals = collections.Counter()

    def run(batch):
        for seed, changed, lines in in_processes(batch, args):
            stock = [line for line in lines if line.startswith(f"seed {seed}, stock")]
            totals.update(seeds=1, split=changed, failed=int(len(lines) > len(stock)), stock=len(stock))
            for line in lines:
                print(line, flush=True)

    batches = [seeds[i : i + SEEDS_PER_PROCESS] for i in range(0, len(seeds), SEEDS_PER_PROCESS)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as threads:
        list(threads.map(run, batches))
    print(
        f"{totals['seeds']} programs, {totals['split']} split, {totals['failed']} failed; "
        f"{totals['stock']} results differ on stock XLA without splitting"
    )
    return totals["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
