"""Checks that every #include in the sources follows the data flow of ARCHITECTURE.md: nobody looks
downstream or sideways. What two rooms of the middle share, tables of a format that one reads and the
other writes, lies in ir (vhlo.h, *.def). The tests' evaluator (test/ref) reads the ir, and nobody reads it.
The environment is read in one place, which makes copies: getenv() is not safe where others set.

Exits 1 and names file:line for each edge that isn't allowed.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIDDLE = ("in", "out", "pass", "split", "plan", "kernel")
ALLOWED = {"base": {"base"}, "ir": {"base", "ir"}, "machine": {"base", "machine"}}
ALLOWED |= {folder: {"base", "ir", folder} for folder in (*MIDDLE, "ref")}
for folder in ("pass", "plan", "split", "kernel"):
    ALLOWED[folder] |= {"machine"}
ALLOWED["call"] = {"base", "machine", "ir", "in", "kernel", "call"}  # while a program runs
ALLOWED["pipeline"] = {"base", "machine", "ir", "call", "pipeline", *MIDDLE}  # module -> module
ALLOWED["limit"] = ALLOWED["pipeline"] | {"limit"}  # what is tried under a limit
ALLOWED["src"] = {"base", "machine", "ir", "src", "call", "pipeline", "limit", *MIDDLE}  # weir.c and the files beside it
ALLOWED["cli"] = ALLOWED["src"] | {"cli"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
GETENV = re.compile(r"\bgetenv\(")
MAY_GETENV = ("src/base/environment.", "src/cli/")  # the command has no other threads
PYTHON_PEEK = re.compile(r"""["'][^"']*\bsrc/|#include""")


def bad_includes(path):
    folder = path.relative_to(ROOT).parts[1] if path.parent != ROOT / "src" else "src"
    allowed = ALLOWED.get(folder, set())
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or match[1] == "weir/weir.h":
            continue
        target = match[1].split("/")[0] if "/" in match[1] else "src"
        if target not in allowed:
            yield f"{path.relative_to(ROOT)}:{number}: may not include {match[1]}"


def bad_getenv(path):
    place = path.relative_to(ROOT).as_posix()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if GETENV.search(line) and not place.startswith(MAY_GETENV):
            yield f"{place}:{number}: getenv() outside of base/environment.c"


def bad_python(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if PYTHON_PEEK.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: the package may know only weir.h"


def main():
    folders, kinds = (ROOT / "src", ROOT / "test/ref"), ("*.c", "*.h", "*.def")
    sources = sorted(p for folder in folders for kind in kinds for p in folder.rglob(kind))
    errors = [e for path in sources for e in (*bad_includes(path), *bad_getenv(path))]
    errors += [e for path in sorted((ROOT / "python").rglob("*.py")) for e in bad_python(path)]
    print("\n".join(errors) or f"layers: {len(sources)} files in order")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
