"""How far is the number that a refusal names above what can be held? By estimate, without XLA.

    python bench/experiments/minima.py [PROGRAM ...] [--users] [--build DIR] [--only PART] [--above RATIO]

A row per program: the largest number that a refusal names, the smallest limit that holds of those that
are asked for, named / held, the most ops that a refusal looked at, and `not monotone` with two limits
of which the smaller one holds and the larger one is refused. Asked for is first a limit just above
arguments and results, then what its refusal names, and less by an eighth each time. Programs are StableHLO texts; without
any those of test/corpus; --users adds those of bench/user_programs, small. The last line has the
number of programs and of those of which less than what is named holds, and the largest ratio.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = "x86-64-v3"
STEP = 0.88  # of one limit that is asked for to the next
MOST_STEPS = 32
MOST_SECONDS = 300  # of one refusal


class Asked:
    """What weir says of a program under a limit."""

    def __init__(self, build, program, limit):
        line = [build / "weir", "opt", program, "-o", "/dev/null", "--tile", "off", "--debug", "2"]
        line += ["--machine", MACHINE, "--memory-limit", str(limit)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=MOST_SECONDS)
        self.holds = done.returncode == 0
        named = re.search(r"set it to (\d+) bytes", done.stderr)
        self.named = int(named[1]) if named else None
        looked = re.search(r"looked at (\d+) ops", done.stderr)
        self.looked_at = int(looked[1]) if looked else 0
        self.text = done.stderr


def held_throughout(build, program):
    """Arguments and results, by a refusal that can't be avoided; None: there is none."""
    said = Asked(build, program, 1).text
    found = re.search(r"arguments and results alone are ([\d.]+) (k?M?G?)B", said)
    if not found:
        return None
    return int(float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]] * 1.01)


def row(build, program):
    """named, smallest that holds, ops looked at, (holds, refused) where these are not monotone."""
    lowest = held_throughout(build, program)
    if lowest is None:
        return None
    first = Asked(build, program, lowest + 16)
    if not first.named:
        return None
    asked = {lowest + 16: first}
    limit = first.named
    for _ in range(MOST_STEPS):
        if limit <= lowest + 16:
            break
        asked[limit] = Asked(build, program, limit)
        limit = int(limit * STEP)
    held = min((limit for limit, it in asked.items() if it.holds), default=None)
    refused = {limit: it for limit, it in asked.items() if not it.holds}
    named = max(it.named or 0 for it in refused.values())
    looked_at = max(it.looked_at for it in refused.values())
    over = held and max(refused) > held
    return named, held, looked_at, (held, max(refused)) if over else None


def users_texts(folder, only):
    """Of the users' programs, small, written to a folder."""
    sys.path.insert(0, str(ROOT / "bench"))
    import jax

    from user_programs import PROGRAMS

    for name, p in PROGRAMS.items():
        if only not in name:
            continue
        try:
            with jax.enable_x64(p.x64):
                text = jax.jit(p.function).lower(*p.arguments(small=True)).as_text()
        except Exception as e:
            print(f"{name}: {type(e).__name__}", file=sys.stderr)
            continue
        path = folder / f"{name}.mlir"
        path.write_text(text)
        yield path


def name_of(program):
    return program.parent.name if program.stem == "program" else program.stem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    parser.add_argument("--users", action="store_true", help="those of bench/user_programs, too")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--above", type=float, default=0, help="rows of at least this ratio")
    args = parser.parse_args()
    programs = args.programs
    if not programs and not args.users:
        programs = sorted((ROOT / "test/corpus").glob("*/program.mlir"))
    ratios, apart = [], 0
    print(f"{'program':32} {'named':>12} {'holds':>12} {'ratio':>6} {'looked at':>10}")
    with tempfile.TemporaryDirectory() as folder:
        programs = [p for p in programs if args.only in name_of(p)]
        if args.users:
            programs += users_texts(pathlib.Path(folder), args.only)
        for program in programs:
            try:
                found = row(args.build, program)
            except subprocess.TimeoutExpired:
                print(f"{name_of(program):32} too slow", flush=True)
                continue
            if not found:
                continue
            named, held, looked_at, pair = found
            ratio = named / held if held else 0
            ratios.append(ratio)
            apart += pair is not None
            note = f"  not monotone: {pair[0]} holds, {pair[1]} is refused" if pair else ""
            if ratio >= args.above or pair or not held:
                shown = f"{held or 'nothing':>12} {ratio:6.2f}"
                print(f"{name_of(program):32} {named:12} {shown} {looked_at:10}{note}", flush=True)
    less = sum(ratio > 1.02 for ratio in ratios)
    print(
        f"{len(ratios)} programs: less than named holds for {less}, at most 1/{max(ratios, default=0):.2f}; "
        f"{apart} not monotone"
    )


if __name__ == "__main__":
    main()
