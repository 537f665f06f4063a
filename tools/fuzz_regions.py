"""Runs random regions as kernels, cell by cell of test/python/random_cells.py, against the evaluator.

    python tools/fuzz_regions.py --count 10000 [--first SEED] [--jobs N] [--cells PATTERN] [--keep DIR]
                                 [--hook] [--spelled]

Each program has some regions; it is rewritten with slices that a threshold asks for and loops as kernels
wherever they can, for vectors of 16, 32 or 64 bytes as far as this processor has them, and under a limit
with weir's own choice. test/ref runs the program before and after, kernels as they are. With --hook only
under the limit: JAX's hook rewrites the program, XLA is the referee and runs it. With --spelled weir gets
the program in the spellings of other front ends (test/python/respelling.py). What fails is
written to --keep (default: build/fuzz). Prints the table of what was run, and why a cell is empty. Exits
1 if anything failed.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import random
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
if __name__ == "__main__":
    os.environ["XLA_AS_USERS"] = "1"  # running.py compiles as users do, not quickly
import random_cells as rc  # noqa: E402
import respelling  # noqa: E402
import running  # noqa: E402

IN_A_PROGRAM = 12  # regions


def program_of(cells, seed):
    w = rc.Writer()
    return w, [rc.Region(w, cell, seed) for cell in cells]


def ways(w, dice):
    """Names and arguments of `weir opt`."""
    largest = max(3 * v.bytes for v in w.arguments + w.results)
    threshold = dice.choice([60, 150, 400, 1000, largest])
    own = sum(v.bytes for v in w.arguments + w.results)
    limit = own + dice.choice([2000, 6000, 20000])
    machine = ["--machine", dice.choice(running.levels())] if running.levels() else []
    return [
        ("threshold", ["--tensor-size-threshold", str(threshold), "--tile", "on", *machine]),
        ("limit", ["--memory-limit", str(limit), "--tile", "auto"]),
    ]


def kernels_of(w, regions, text):
    """By region: whether a call has an argument of its own. Values in between tell nothing."""
    found = set()
    for call in re.findall(r'"stablehlo.custom_call"\(([^)]*)\)[^\n]*weir_tile', text):
        for number in re.findall(r"%arg(\d+)\b", call):
            found |= {i for i, r in enumerate(regions) if r.first <= int(number) < r.last}
    return found


def problems_of(w, want, got):
    for v, a, b in zip(w.results, want, got, strict=True):
        problem = rc.difference(a, b, v.dtype)
        if problem:
            yield v.name, problem


def by_opt(path, text, evaluate):
    """Arguments of `weir opt` -> (what it makes of the file, which says the text, its results)."""

    def rewritten(arguments):
        changed = respelling.known(running.opt(path, *arguments, refused=text), path.parent)
        return changed, None if changed == text else evaluate(changed)

    return rewritten


def by_hook(w, text):
    """The same, under the limit that the arguments name, as JAX runs it."""
    import hooked_program

    def rewritten(arguments):
        if "--memory-limit" not in arguments:
            return text, None
        limit = int(arguments[arguments.index("--memory-limit") + 1])
        return hooked_program.under(text, w.inputs, limit)

    return rewritten


def is_stock_off(w, text, want, found):
    """Whether XLA differs from the evaluator at the same results without weir."""
    return {name for name, _ in found} <= {
        name for name, _ in problems_of(w, want, running.Xla(text)(*w.inputs))
    }


def run(cells, seed, keep=None, build=None, hook=False, spelled=False):
    """(what is wrong, [(cell, is it a kernel)])."""
    w, regions = program_of(cells, seed)
    text, found, made = w.text(), [], set()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        if spelled:
            respelling.respell(path, seed)
        evaluate = running.Evaluator(folder, w.inputs, of_kernels=build)
        try:
            want = evaluate(text)
        except AssertionError as error:
            return [f"seed {seed}, {cells}: {error}"], []
        rewritten = by_hook(w, text) if hook else by_opt(path, text, evaluate)
        for way, arguments in ways(w, random.Random(seed)):
            try:
                changed, got = rewritten(arguments)
                made |= kernels_of(w, regions, changed)
                problems = list(problems_of(w, want, got)) if got else []
                if hook and problems and is_stock_off(w, text, want, problems):
                    problems = []
            except Exception as error:
                problems = [("program", f"{type(error).__name__}: {error}")]
            for name, problem in problems:
                found.append(f"seed {seed} {way} {name} of {cells}: {problem}")
                if keep:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"region-{seed}.mlir").write_text(f"// {' '.join(arguments)}\n{path.read_text()}")
    return found, [(cell, i in made) for i, cell in enumerate(cells)]


def summary(ran):
    regions, kernels = (sum(r[i] for r in ran) for i in (0, 1))
    return f"{regions:8d} / {kernels:4d} {sum(r > 0 for r, _ in ran):3d} types"


def table(count):
    """What was run, by op and role: regions, of these kernels, and types that the cell cannot have."""
    lines = [f"{'op':26s}" + "".join(f"{role:>24s}" for role in rc.ROLES)]
    empty = collections.Counter()
    for op in dict.fromkeys(cell[0] for cell in rc.cells()):
        line = f"{op:26s}"
        for role in rc.ROLES:
            why = {d: rc.reason(op, role, d) for d in rc.DTYPES}
            ran = [count[op, role, d] for d in rc.DTYPES if not why[d]]
            empty.update(w for w in why.values() if w)
            line += summary(ran) if ran else f"{'-':>24s}"
        lines.append(line)
    lines += [f"empty: {n} cells: {why}" for why, n in empty.items()]
    return "\n".join(lines)


def programs(count, first, pattern):
    """(cells, seed) of programs that go through all cells again and again."""
    all_cells = [c for c in rc.cells() if not rc.reason(*c)]
    all_cells = [c for c in all_cells if fnmatch.fnmatch(" ".join(c), pattern)]
    random.Random(first).shuffle(all_cells)
    for start in range(0, count, IN_A_PROGRAM):
        n = min(IN_A_PROGRAM, count - start)
        yield [all_cells[(start + i) % len(all_cells)] for i in range(n)], first + start


def run_all(tasks, jobs, keep=None, build=None, hook=False, spelled=False):
    """(what is wrong, (op, role, dtype) -> (regions, kernels))."""
    problems, count = [], collections.defaultdict(lambda: (0, 0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found, cells in pool.map(lambda t: run(*t, keep, build, hook, spelled), tasks):
            problems += found
            for line in found:
                print(line, flush=True)
            for cell, is_kernel in cells:
                count[cell] = (count[cell][0] + 1, count[cell][1] + is_kernel)
    return problems, count


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cells", default="*", help='such as "concatenate sliced *"')
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz")
    parser.add_argument("--hook", action="store_true", help="through JAX's hook, under limits")
    spelled = "as other front ends would write them"
    parser.add_argument("--spelled", action="store_true", help=spelled)
    arguments = parser.parse_args()
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    tasks = list(programs(arguments.count, arguments.first, arguments.cells))
    problems, count = run_all(
        tasks, arguments.jobs, arguments.keep, hook=arguments.hook, spelled=arguments.spelled
    )
    print(table(count))
    regions, kernels = (sum(c[i] for c in count.values()) for i in (0, 1))
    print(f"{regions} regions in {len(tasks)} programs, {kernels} seen as kernels, {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
