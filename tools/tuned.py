"""Checks that costs, sizes and gains found by measuring stand in src/machine, and that those of
src/machine/tuned.def name what measured them. Rows of src/machine/functions.def are of ops, one each.

A definition in FOLDERS is one of them if it is a fraction, or if a word of its name says so (KINDS)
and it is no bound (MOST). ELSEWHERE has those that are none, by what they are. Files of src/plan that
model a pass of XLA state what that pass counts by.

Exits 1 and names file:line for each that isn't in order.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/machine/tuned.def"
FUNCTIONS = ROOT / "src/machine/functions.def"
ROW = re.compile(r'^(?:REAL|WHOLE)\(\s*(\w+),\s*([^,]+?),\s*"([^"]*)",\s*"([^"]*)"\)$')
FUNCTION = re.compile(r"^FUNCTION\((\w+),((?:\s*\d+(?:\.\d+)?,){3}\s*\d+(?:\.\d+)?)\)$")
KINDS = "NS|CYCLES|GAIN|WORTH|SHARE|WEIGHT|BYTES|ROWS|LANES|COLUMNS|SLICE|CHUNK|PANEL|SPAN|BLOCK|TILE|LENGTH"
FOLDERS = ("pass", "split", "plan", "kernel", "pipeline", "limit")
KIND = re.compile(rf"(?:^|_)(?:{KINDS})S?(?:_|$)")
NAMED = re.compile(r"\b([A-Z][A-Z_0-9]+)\s*=\s*[-(\d]|^\s*#define\s+([A-Z][A-Z_0-9]+)\s+[-(\d]")
FRACTION = re.compile(r"\bconst double\s+\w+\s*=|^\s*#define\s+\w+\s+[-(]*(?:\d+\.\d|\d+e-?\d)")
MODELS = re.compile(r"^src/plan/(?:peak|schedule|upper_bound)\w*\.[ch]$")
ELSEWHERE = {
    "how a search divides its work": (
        "src/limit/fastest.c PLAIN_SHARE, src/limit/minimum.c SEEN_SHARE, src/limit/minimum.c CLIMBS_SHARE, "
        "src/limit/search.h MINIMUMS_SHARE, src/limit/search.h NEAR_SHARE, src/limit/search.c COMPILES_IN_BLOCKS, "
        "src/limit/search.h LEAST_SLICE_BYTES, src/pipeline/hoist.c MOST_PRICE, src/pipeline/hoist.c LEAST_PRICE, "
        "src/pipeline/hoist.c CLOSE_PRICE, src/pipeline/materialise.c MOST_ELEMENTS, src/split/segments.c MOST_PASSES"
    ),
    "what a format or a register holds": (
        "src/pipeline/kernels.c LONGEST_NS, src/kernel/root.c VECTOR_BYTES"
    ),
    "what is kept on disk": "src/kernel/cache.c KEPT_BYTES",
    "how long a timer may take": "src/limit/timed.h TIMED_MOST_NS",
    "nobody splits them": "src/pass/simplify.c SPREAD_BYTES",
    "a result beside what it is broadcast from": "src/pass/through_case.c LEAST_SHARE",
    "a product's width beside a triangle's": "src/pass/solve.c SPARE_COLUMNS",
}


def definitions(text):
    """(line, name) of each number that a file defines by name."""
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"/\*.*?(?:\*/|$)", "", line)
        is_fraction = FRACTION.search(code)
        for match in NAMED.finditer(code):
            name = match[1] or match[2]
            if is_fraction or (KIND.search(name) and "MOST_" not in name):
                yield number, name


def strays():
    known, seen = {place for places in ELSEWHERE.values() for place in places.split(", ")}, set()
    for path in sorted(p for folder in FOLDERS for p in (ROOT / "src" / folder).glob("*.[ch]")):
        relative = path.relative_to(ROOT).as_posix()
        for number, name in definitions(path.read_text()):
            seen.add(f"{relative} {name}")
            if not MODELS.match(relative) and f"{relative} {name}" not in known:
                yield f"{relative}:{number}: {name} belongs into machine/{TABLE.name}"
    yield from (f"tools/tuned.py: there is no {place}" for place in sorted(known - seen))


def rows():
    used = "\n".join(p.read_text() for p in (ROOT / "src").rglob("*.c"))
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if not line.startswith(("REAL(", "WHOLE(")):
            continue
        where, row = f"{TABLE.name}:{number}", ROW.match(line)
        if not row:
            yield f"{where}: not a row"
        elif row[4] and not any((ROOT / folder / row[4]).is_file() for folder in ("docs/design", "bench")):
            yield f"{where}: there is no {row[4]}"
        elif not re.search(rf"\bTUNED_{row[1]}\b", used):
            yield f"{where}: nobody reads TUNED_{row[1]}"


def functions():
    """Rows of functions.def that are none, or of no op, or of one that has a row."""
    ops, seen = set(re.findall(r"^OP\((\w+),", (ROOT / "src/ir/ops.def").read_text(), re.M)), set()
    for number, line in enumerate(FUNCTIONS.read_text().splitlines(), 1):
        where, row = f"{FUNCTIONS.name}:{number}", FUNCTION.match(line)
        if not line.startswith("FUNCTION("):
            continue
        if not row:
            yield f"{where}: not a row"
        elif row[1] not in ops or row[1] in seen:
            yield f"{where}: {row[1]} is no op, or has a row"
        seen.add(row and row[1])


def main():
    errors = [*rows(), *functions(), *strays()]
    print("\n".join(errors) or "tuned: every measured number is in its table")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
