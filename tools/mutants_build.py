"""Builds of a CMake project in which one file at a time differs.

The project is copied, so that what is edited meanwhile disturbs nothing. Builds of the copy:
`base`, as it is, with asserts; `marked`, whose blocks note that they run, and which has all mutants
that a switch can hold, of which the environment chooses one (MUTANT=17; 0 is none; without it what
ran is written down). Other mutants: the programs of base with one object file exchanged, which
takes a compilation and a link.
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import mutants_sites

# As shipped, but with asserts. At -O1 gcc 12.2 takes `a >> i & 1 == a >> j & 1` in src/kernel/pack.c
# for another condition, and no kernel with packed rows compiles.
LEVEL = "-O2"
FLAGS = ["-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={LEVEL}", "-DCMAKE_C_FLAGS_DEBUG=-g0"]
# Writes the numbers of the blocks that ran, and which command it was, where the process ends.
RECORDER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
unsigned char mutants_hit[BLOCKS];
int mutants_number;
extern char **environ;
static char command[1 << 16];
static size_t length;
__attribute__((constructor(101))) static void start(void) {
  const char *number = getenv("MUTANT");
  mutants_number = number ? atoi(number) : 0;
  FILE *f = fopen("/proc/self/cmdline", "r");
  if (f) length = fread(command, 1, sizeof command, f), fclose(f);
}
__attribute__((destructor)) static void end(void) {
  char path[4200], here[4096];
  static int n;
  struct stat in;
  if (getenv("MUTANT")) return;
  snprintf(path, sizeof path, "%s/%d.%d", RECORDS, (int)getpid(), n++);
  FILE *f = fopen(path, "w");
  if (!f || !getcwd(here, sizeof here)) return;
  int reads = !fstat(0, &in) && !S_ISCHR(in.st_mode);
  fprintf(f, "%s%c%d%c", here, 0, reads, 0);
  for (char **e = environ; *e; e++)
    if (!strncmp(*e, "WEIR_", 5)) fprintf(f, "%s%c", *e, 0);
  fputc(0, f);
  fwrite(command, 1, length, f);
  fputc('\n', f);
  for (long i = 0; i < BLOCKS; i++)
    if (mutants_hit[i]) fprintf(f, "%ld\n", i);
  fclose(f);
}
"""


def tool(name):
    """Of the environment that runs this, else of the PATH."""
    beside = pathlib.Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else name


def run(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def put(path, data):
    """Leaves a file alone that holds the data already, so that nothing is built anew."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(root, target):
    """All files that git knows or would take; what isn't there any more goes."""
    listed = ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"]
    names = [n for n in run(listed).split("\0") if n and (root / n).is_file()]
    for name in names:
        put(target / name, (root / name).read_bytes())
        shutil.copymode(root / name, target / name)
    for path in [p for p in target.rglob("*") if p.is_file()]:
        if str(path.relative_to(target)) not in set(names):
            path.unlink()


def cmake_build(source, folder, extra=(), jobs=1):
    if not (folder / "build.ninja").exists():
        make = f"-DCMAKE_MAKE_PROGRAM={shutil.which(tool('ninja'))}"
        run([tool("cmake"), "-S", source, "-B", folder, "-G", "Ninja", make, *FLAGS, *extra])
    run([tool("cmake"), "--build", folder, "-j", str(jobs)])


def is_in(path, paths):
    return any(path == p or path.startswith(p.rstrip("/") + "/") for p in paths)


def sources(tree, paths):
    """C files below the paths (of which each may be a file or a folder), relative to the tree."""
    found = sorted(str(p.relative_to(tree)) for p in tree.rglob("*.c"))
    return [p for p in found if is_in(p, paths)]


class Base:
    """The copy of the project, its programs, and what ran of which test."""

    def __init__(self, root, work, paths, jobs=1):
        self.work, self.tree, self.build = work, work / "tree", work / "base"
        self.marked, self.records = work / "marked", work / "records"
        copy_tree(root, self.tree)
        self.paths = sources(self.tree, paths)
        cmake_build(self.tree, self.build, jobs=jobs)
        commands = json.loads((self.build / "compile_commands.json").read_text())
        self.compile = {c["file"]: c for c in commands}
        self.programs = self.find_programs()

    def source(self, path):
        return (self.tree / path).read_bytes()

    def mutants(self):
        return [m for path in self.paths for m in mutants_sites.mutants(path, self.source(path))]

    def find_programs(self):
        """{name relative to the build: the arguments that link it}"""
        ninja = [tool("ninja"), "-C", str(self.build), "-t"]
        names = re.findall(r"^(\S+): C_EXECUTABLE_LINKER", run([*ninja, "targets", "all"]), re.M)
        found = {}
        for name in names:
            last = run([*ninja, "commands", name]).strip().splitlines()[-1]
            found[name] = [w for w in shlex.split(last) if w not in (":", "&&")]
        return found

    def number(self, mutants):
        """self.numbers: of those that a switch can hold, from 1."""
        of_file = {}
        for m in mutants:
            of_file.setdefault(m.path, []).append(m)
        kept_path = self.work / "held.json"
        kept = json.loads(kept_path.read_text()) if kept_path.exists() else {}
        held = []
        for path, found in of_file.items():
            said = [hashlib.sha256(self.source(path)).hexdigest(), *(m.key for m in found)]
            name = hashlib.sha256("\n".join(said).encode()).hexdigest()
            if name not in kept:
                kept[name] = [m.key for m in self.held(path, found)]
            held += [m for m in found if m.key in kept[name]]
        kept_path.write_text(json.dumps(kept))
        self.numbers = {m: i for i, m in enumerate(held, 1)}

    def held(self, path, mutants):
        """Those that compile together; where not all do, those that do alone."""
        source = self.source(path)
        mutants = mutants_sites.switchable(source, mutants)
        if not self.compiles(path, mutants):
            mutants = [m for m in mutants if self.compiles(path, [m])]
        return mutants if self.compiles(path, mutants) else []

    def compiles(self, path, mutants):
        command = self.compile[str(self.tree / path)]
        words = shlex.split(command["command"])
        numbered = [(m, i) for i, m in enumerate(mutants, 1)]
        target = self.work / "syntax.c"
        target.write_bytes(mutants_sites.with_marks(self.source(path), 0, numbered)[0])
        words[words.index(command["file"])] = str(target)
        extra = [f"-I{(self.tree / path).parent}", "-w", "-fsyntax-only"]
        done = subprocess.run([*words, *extra], cwd=command["directory"], capture_output=True)
        return done.returncode == 0

    def mark(self, mutants=(), jobs=1):
        """Builds `marked`; self.blocks: path -> (first number, [(from, to)])."""
        self.number(mutants)
        source, self.blocks, first = self.work / "marked-tree", {}, 1 + len(self.numbers)
        copy = sorted(p for p in self.tree.rglob("*") if p.is_file())
        for path in copy:
            name, data = str(path.relative_to(self.tree)), path.read_bytes()
            if name in self.paths:
                numbered = [(m, n) for m, n in self.numbers.items() if m.path == name]
                data, blocks = mutants_sites.with_marks(data, first, numbered)
                self.blocks[name] = first, blocks
                first += len(blocks)
            put(source / name, data)
        kept = {self.tree / p.relative_to(source) for p in source.rglob("*") if p.is_file()}
        for path in kept - set(copy):
            (source / path.relative_to(self.tree)).unlink()
        recorder = self.work / "recorder.c"
        head = f'enum {{ BLOCKS = {first} }};\n#define RECORDS "{self.records}"\n'
        put(recorder, (head + RECORDER).encode())
        compiler = next(iter(self.compile.values()))["command"].split()[0]
        run([compiler, LEVEL, "-c", recorder, "-o", recorder.with_suffix(".o")])
        linked = f"-DCMAKE_EXE_LINKER_FLAGS={recorder.with_suffix('.o')}"
        settings = [linked, f"-DCMAKE_C_FLAGS={LEVEL} -w"]
        cmake_build(source, self.marked, settings, jobs)
        for name in self.programs:  # the recorder is no dependency that CMake knows
            if recorder.with_suffix(".o").stat().st_mtime > (self.marked / name).stat().st_mtime:
                (self.marked / name).unlink()
        cmake_build(source, self.marked, settings, jobs)

    def take_records(self):
        """[(folder, whether it reads, settings, arguments, block numbers)] since the last call."""
        found = []
        for path in sorted(self.records.glob("*"), key=lambda p: p.stat().st_mtime_ns):
            head, _, rest = path.read_bytes().partition(b"\n")
            while rest and not rest.split(b"\n", 1)[0].isdigit():  # an argument with a line break
                more, _, rest = rest.partition(b"\n")
                head += b"\n" + more
            here, reads, *rest_of = head.decode(errors="replace").split("\0")
            settings = tuple(tuple(w.split("=", 1)) for w in rest_of[: rest_of.index("")])
            words = rest_of[len(settings) + 1 : -1]
            found.append((here, reads == "1", settings, words, [int(n) for n in rest.split()]))
            path.unlink()
        return found

    def block_of(self, mutant):
        """What a test has to come by: the mutant's own switch, else its block."""
        if mutant in self.numbers:
            return self.numbers[mutant]
        first, blocks = self.blocks[mutant.path]
        index = mutants_sites.block_of(blocks, mutant)
        return None if index is None else first + index


class Switched:
    """The programs of `marked` with one mutant on."""

    def __init__(self, base, number, scratch):
        self.base, self.folder, self.scratch = base, base.marked, scratch
        self.settings = {"MUTANT": str(number)}

    def program(self, name):
        return self.folder / name


class Worker:
    """A folder with the programs of base, of which one file is another."""

    settings = {}

    def __init__(self, base, number):
        self.base, self.folder = base, base.work / f"worker{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.object, self.originals, self.ready = None, {}, set()
        self.scratch = self.folder / "scratch"

    def compile_file(self, path, source):
        """The bytes of the object file, None if it doesn't compile."""
        command = self.base.compile[str(self.base.tree / path)]
        target = self.folder / "src" / path
        put(target, source)
        words = shlex.split(command["command"])
        at = words.index("-o")
        self.object = self.folder / "mutant.o"
        self.replaced = words[at + 1]
        words[at + 1] = str(self.object)
        words[words.index(command["file"])] = str(target)
        extra = [f"-I{(self.base.tree / path).parent}", "-w"]
        done = subprocess.run([*words, *extra], cwd=command["directory"], capture_output=True)
        return self.object.read_bytes() if done.returncode == 0 else None

    def is_same(self, mutant):
        """True: the same object code; None: doesn't compile."""
        path, source = mutant.path, self.base.source(mutant.path)
        if path not in self.originals:
            self.originals[path] = self.compile_file(path, source)
        code = self.compile_file(path, mutant.apply(source))
        return None if code is None else code == self.originals[path]

    def take(self, mutant):
        """(programs that have the mutant, None), else (None, "same" or "invalid")."""
        if mutant in self.base.numbers:
            return Switched(self.base, self.base.numbers[mutant], self.scratch), None
        same = self.is_same(mutant)
        self.ready.clear()
        return (self, None) if same is False else (None, "same" if same else "invalid")

    def program(self, name):
        """Its path, linked when it is first asked for."""
        path = self.folder / name
        if name in self.ready:
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        words = list(self.base.programs[name])
        words[words.index("-o") + 1] = str(path)
        if self.replaced in words:
            words[words.index(self.replaced)] = str(self.object)
        else:  # the archive's own member is not taken where all that it defines is there
            first = next((i for i, w in enumerate(words) if w.endswith(".a")), len(words))
            words.insert(first, str(self.object))
        run(words, self.base.build)
        self.ready.add(name)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def environment():
    """Of the tests: no settings of the caller's, no kernels of another build."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEIR_")}
    return kept | {"WEIR_CACHE_DIR": "off"}
