"""The fast tests that mutants are tried on, and which blocks of the sources each of them runs.

A test has commands. Where those that run a mutated block print what they print without the mutant,
the test can't fail; only where one prints something else is it asked for its verdict:

    lit       each file of test/lit: lit itself, with the mutant's programs
    program   a program with inputs (mutants_programs.py) and a way to rewrite it: the evaluator's
              results are what they are without rewriting, and what was under the limit still is
    unit      each program of the unit tests: silent, exit code 0
    pytest    tests of Python that read nothing but what commands print
"""

import dataclasses
import hashlib
import functools
import json
import operator
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np

import mutants_build

SECONDS, BYTES = 20, 6 << 30  # of a command: CPU time and memory at most
WALL = 3600  # ends what waits for nothing; a busy machine is no hang
QUICK = 0.3  # seconds of CPU of a unit program that is tried before all files of lit
REFUSED = 3  # exit code: no way found under the limit
PYTEST = ["test/python/test_plan_estimate.py::test_the_corpus"]


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int
    out: bytes
    err: bytes

    @property
    def told(self):
        return self.code, digest(self.out, b"|", self.err)


def execute(words, folder, settings=(), seconds=None):
    """A command that is given no input; -1 and so on for what was ended."""
    environment = mutants_build.environment() | dict(settings)
    limits = f'ulimit -c 0; ulimit -t {min(SECONDS, seconds or SECONDS)}; ulimit -v {BYTES >> 10}; exec "$@"'
    try:
        done = subprocess.run(
            ["sh", "-c", limits, "sh", *(str(w) for w in words)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WALL,
        )
    except subprocess.TimeoutExpired:
        return Outcome(-1, b"", b"timeout")
    return Outcome(done.returncode, done.stdout, done.stderr)


@dataclasses.dataclass
class Command:
    """Of a program of the build. `before`: what it prints without a mutant, None: not known."""

    program: str
    words: list
    folder: str
    settings: tuple
    blocks: int  # a bit for each
    before: tuple | None = None  # exit code, digest of the rest
    seconds: int = 0  # most that it may take; 0: as all

    def run(self, path, settings=()):
        words = [path, *self.words]
        os.makedirs(self.folder, exist_ok=True)  # of a build that was made anew
        return execute(words, self.folder, [*self.settings, *dict(settings).items()], self.seconds)

    def run_in(self, worker):
        return self.run(worker.program(self.program), worker.settings)

    def runs(self, block):
        return block is None or bool(self.blocks >> block & 1)


@dataclasses.dataclass
class Test:
    kind: str
    name: str
    commands: list
    detail: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        every = functools.reduce(operator.or_, (c.blocks for c in self.commands), 0)
        self.size = every.bit_count()

    @property
    def is_quick(self):
        return self.kind == "unit" and self.detail["seconds"] < QUICK

    def runs(self, block):
        return any(c.runs(block) for c in self.commands)


# ---- what a mutant does to one test ----
def differs(test, block, worker):
    """Whether a command of the test that runs the block prints something else."""
    for command in test.commands:
        if command.before is not None and command.runs(block):
            if command.run_in(worker).told != command.before:
                return True
    return False


def link_all(tests, worker):
    for name in {"weir"} & set(worker.base.programs) | {
        c.program for t in tests for c in t.commands
    }:
        worker.program(name)


def lit_fails(tests, worker):
    """The first of the files that fails, None if none does."""
    link_all(tests, worker)
    tree = worker.base.tree
    files = [tree / t.name for t in tests]
    command = [mutants_build.tool("lit"), "-q", "-j1", "--max-failures=1"]
    done = execute([*command, "-D", f"build={worker.folder}", *files], tree, worker.settings)
    return tests[0].name if done.code else None


def unit_fails(test, worker):
    done = execute([worker.program(test.name)], worker.base.tree, worker.settings)
    return done.code != 0 or bool(done.out)


def pytest_fails(test, worker):
    link_all([test], worker)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", test.name]
    settings = {"WEIR_BUILD": str(worker.folder)} | worker.settings
    return execute(command, worker.base.tree, settings).code != 0


def numbers(array, dtype):
    if dtype == "bf16":
        return (np.ascontiguousarray(array).astype(np.uint32) << 16).view(np.float32)
    return np.asarray(array)


def is_near(want, got, of):
    """Within atol + rtol |want|, and the same where that isn't finite."""
    want, got = numbers(want, of["dtype"]), numbers(got, of["dtype"])
    if want.shape != got.shape or want.dtype != got.dtype:
        return False
    same = (want == got) | ((want != want) & (got != got))
    if want.dtype.kind in "fc" and (of["atol"] or of["rtol"]):
        with np.errstate(all="ignore"):
            near = np.abs(want - got) <= of["atol"] + of["rtol"] * np.abs(want)
            same |= near & np.isfinite(want)
    return bool(same.all())


class Evaluation:
    """What a rewritten program of one case gives, by weir_eval of a worker or of base."""

    def __init__(self, folder, scratch):
        self.folder, self.scratch = pathlib.Path(folder), pathlib.Path(scratch)
        self.case = json.loads((self.folder / "case.json").read_text())

    def words(self, text):
        """The arguments of weir_eval; the results go to self.out."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        program, self.out = self.scratch / "program.mlir", self.scratch / "out"
        program.write_bytes(text)
        self.out.mkdir(exist_ok=True)
        for old in self.out.iterdir():
            old.unlink()
        inputs = [self.folder / f"in{i}.npy" for i in range(self.case["inputs"])]
        return [program, *inputs, self.out]

    def is_right(self):
        """The results that were just written."""
        for i, of in enumerate(self.case["outputs"]):
            got, want = self.out / f"{i}.npy", np.load(self.folder / f"want{i}.npy")
            if not got.exists() or not is_near(want, np.load(got), of):
                return False
        return True


def bytes_of(limit):
    """150kB, 1GiB, 4096"""
    number, unit = re.fullmatch(r"([\d.]+)([kKMGT]?i?)B?", limit).groups()
    step = 1024 if unit.endswith("i") else 1000
    return int(float(number) * step ** " KMGT".index((unit or " ")[0].upper()))


def peak_bytes(base, text, scratch):
    path = scratch / "peak.mlir"
    path.write_bytes(text)
    done = execute([base.build / "tools/weir_peak", "--unhoisted", path], scratch)
    return int(done.out.split()[-1]) if done.code == 0 else 0


def program_fails(test, block, worker):
    """In the evaluator as the mutant has it, where the text or what runs it is another."""
    rewrite, detail = test.commands[0], test.detail
    done = rewrite.run_in(worker)
    before = rewrite.before
    if done.code == REFUSED and "limit" not in detail:
        return False
    if done.code != before[0]:
        return True
    same = done.told == before
    if done.code or same and not any(c.runs(block) for c in test.commands[1:]):
        return False
    evaluation = Evaluation(detail["folder"], worker.scratch)
    words = evaluation.words(done.out)
    tool = worker.program(detail["tool"])
    done_eval = execute([tool, *words], worker.base.tree, worker.settings)
    if done_eval.code != 0 or not evaluation.is_right():
        return True
    return (
        not same
        and "limit" in detail
        and peak_bytes(worker.base, done.out, evaluation.scratch) > detail["limit"]
    )


def fails(test, block, worker):
    """Of all but lit, which takes several at once."""
    if test.kind == "unit":
        return unit_fails(test, worker)
    if test.kind == "program":
        return program_fails(test, block, worker)
    return differs(test, block, worker) and pytest_fails(test, worker)


def first_of(tests, block, worker, is_over):
    return next((t.name for t in tests if not is_over() and fails(t, block, worker)), None)


def first_lit_failure(tests, block, worker, is_over):
    """Those that differ: the first alone, then some at once."""
    waiting, most = [], 1
    for test in tests:
        if is_over():
            break
        if differs(test, block, worker):
            waiting.append(test)
        if len(waiting) == most:
            if lit_fails(waiting, worker):
                return waiting[0].name
            waiting, most = [], 4
    return waiting[0].name if waiting and lit_fails(waiting, worker) else None


def first_failure(tests, block, worker, is_over=lambda: False):
    """The name of the first test that notices the mutant, None if none does. First the unit programs
    that take next to nothing, last the files of lit that can't be told from what their commands
    print."""
    lit, quick = [t for t in tests if t.kind == "lit"], [t for t in tests if t.is_quick]
    name = first_of(quick, block, worker, is_over)
    name = name or first_lit_failure(lit, block, worker, is_over)
    others = [t for t in tests if t.kind != "lit" and not t.is_quick]
    name = name or first_of(others, block, worker, is_over)
    rest = [t for t in lit if any(c.before is None and c.runs(block) for c in t.commands)]
    while not name and rest and not is_over():
        some, rest = rest[:4], rest[4:]
        name = lit_fails(some, worker)
    return name


ORDER = ("lit", "program", "unit", "pytest")


def relevant(tests, block, path, credit):
    """Tests that run the block: of the same name, what found most in this file, of the same folder,
    and the most specific first.
    """
    stem, folder = pathlib.Path(path).stem, pathlib.Path(path).parent.name

    def place(test):
        near = pathlib.Path(test.name)
        return (
            ORDER.index(test.kind),
            near.stem.replace("-", "_") != stem,
            -credit.get((path, test.name), 0),
            near.parent.name != folder,
            test.size,
            test.name,
        )

    return sorted((t for t in tests if t.runs(block)), key=place)


# ---- recording ----
def taken(now, before):
    """Seconds of CPU that children took in between."""
    return now.children_user + now.children_system - before.children_user - before.children_system


def allowance(now, before):
    """Seconds of CPU that a mutant may take."""
    return 3 + int(10 * taken(now, before))


def digest(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else str(part).encode())
    return h.hexdigest()


class Recorder:
    """Makes the tests. What was recorded with the same sources is kept."""

    def __init__(self, base, log=print):
        self.base, self.log = base, log
        self.kept_path = base.work / "tests.pickle"
        self.kept, self.made = {}, 0
        if self.kept_path.exists():
            self.kept = pickle.loads(self.kept_path.read_bytes())
        code = [base.tree / "CMakeLists.txt"]
        for folder in ("src", "include", "test/tools"):
            code += sorted(p for p in (base.tree / folder).rglob("*") if p.is_file())
        numbers = [(n, m.key) for m, n in base.numbers.items()]
        self.code = digest(
            *(p.read_bytes() for p in code), base.paths, numbers, mutants_build.FLAGS
        )
        base.records.mkdir(exist_ok=True)
        base.take_records()

    def save(self):
        self.kept_path.write_bytes(pickle.dumps(self.kept))

    def keep(self, key, make):
        """make() unless it was made before; None where the test doesn't pass as it is."""
        if key not in self.kept:
            self.kept[key] = make()
            self.made += 1
            if self.made % 50 == 0:
                self.save()
        return self.kept[key]

    def commands(self, again=True):
        """Of the records since the last call; again: with what they print in base."""
        found, programs = [], self.base.programs
        for folder, reads, settings, words, blocks in self.base.take_records():
            name = os.path.relpath(os.path.join(folder, words[0]), self.base.marked)
            name = "weir" if name not in programs and words[0] == "weir" else name
            if name not in programs:
                continue
            mask = sum(1 << block for block in blocks)
            c = Command(name, words[1:], folder, settings, mask)
            gone = [w for w in [folder, *words] if w.startswith("/") and not os.path.exists(w)]
            takes_input = reads and "-" in words  # a pipe is there always, by lit
            if again and not (takes_input or gone or "-o" in words):
                start = os.times()
                first, second = (c.run(self.base.build / name) for _ in range(2))
                c.before = first.told if first == second else None
                c.seconds = allowance(os.times(), start)
            found.append(c)
        return found

    def lit(self, path):
        name = str(path.relative_to(self.base.tree))

        def make():
            command = [mutants_build.tool("lit"), "-q", "-j1", "-D", f"build={self.base.marked}"]
            done = execute([*command, path], self.base.tree)
            test = Test("lit", name, self.commands())
            return test if done.code == 0 else self.log(f"fails without a mutant: {name}")

        return self.keep(("lit", name, self.code, digest(path.read_bytes())), make)

    def unit(self, name):
        def make():
            start = os.times()
            done = execute([self.base.build / name], self.base.tree)
            seconds, good = taken(os.times(), start), done.code == 0 and not done.out
            execute([self.base.marked / name], self.base.tree)
            test = Test("unit", name, self.commands(again=False), {"seconds": seconds})
            return test if good else self.log(f"fails without a mutant: {name}")

        data = b"".join(p.read_bytes() for p in sorted(self.base.tree.glob(f"test/{name}*.c")))
        return self.keep(("unit", name, self.code, digest(data)), make)

    def pytest(self, name):
        def make():
            self.base.take_records()
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", name]
            done = execute(command, self.base.tree, {"WEIR_BUILD": str(self.base.marked)}.items())
            commands = self.commands()
            return None if done.code else Test("pytest", name, commands)

        return self.keep(("pytest", name, self.code), make)

    def program(self, folder, way, words):
        evaluation = Evaluation(folder, self.base.work / "scratch")

        def make():
            self.base.take_records()
            path = str(folder / "program.mlir")
            execute([self.base.marked / "weir", "opt", path, *words], self.base.tree)
            (rewrite,) = self.commands() or [None]
            if rewrite is None or rewrite.before is None or rewrite.before[0]:
                return None
            text = rewrite.run(self.base.build / rewrite.program).out
            marked = self.base.marked / "tools/weir_eval"
            if execute([marked, *evaluation.words(text)], self.base.tree).code:
                return None
            evaluated = self.commands(again=False)
            detail = {"folder": str(folder), "tool": "tools/weir_eval"}
            if "--memory-limit" in words:
                limit = bytes_of(words[words.index("--memory-limit") + 1])
                if peak_bytes(self.base, text, evaluation.scratch) <= limit:
                    detail["limit"] = limit
            test = Test("program", f"{folder.name} {way}", [rewrite, *evaluated], detail)
            if evaluation.is_right():
                return test
            self.log(f"fails without a mutant: {test.name}")
            return None

        data = (folder / "case.json").read_bytes() + (folder / "program.mlir").read_bytes()
        return self.keep(("program", folder.name, way, tuple(words), self.code, digest(data)), make)

    def all(self, programs):
        """Every test of the project that is quick; programs: the folder of mutants_programs.py."""
        tests = [self.lit(p) for p in sorted((self.base.tree / "test/lit").rglob("*")) if is_lit(p)]
        tests += [self.unit(n) for n in sorted(self.base.programs) if n.startswith("unit/")]
        tests += [self.pytest(n) for n in PYTEST if (self.base.tree / n.split("::")[0]).exists()]
        for folder in sorted(p.parent for p in programs.glob("*/case.json")):
            ways = json.loads((folder / "case.json").read_text())["ways"]
            tests += [self.program(folder, way, words) for way, words in ways]
        self.save()
        return [t for t in tests if t is not None]


def is_lit(path):
    return path.suffix in (".mlir", ".test") and not {"inputs", "golden"} & set(path.parts)
