"""Which passes do programs need? Each program is planned under a share of its peak, and with each pass
that changed something skipped:

    python tools/needed.py                              the corpus
    python tools/needed.py dumps/*.mlir --device h100   others, for a card
    python tools/needed.py --pass chain,gram            some passes

A line per pass: how many programs it changed; of these, how many come out the same without it, are
refused, or are predicted to take more than 1.05 times as long; the names of the first that differ. A
pass that no program needs may still be one that programs elsewhere do: write such a program first.
Takes 0.1 s a program and pass (Intel Xeon with AVX-512).
"""

import argparse
import collections
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHANGED = re.compile(rb"pass ([\w-]+): \d+ -> ")
SLOWER = 1.05
SHOWN = 5


def heard(run):
    """What it returns, and what was said on file descriptor 2."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = run()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return result, file.read()


def difference(one, other):
    """What is lost without the pass: None, or a word."""
    if other.status_name != one.status_name:
        return "refused" if one.text else "held"
    if (one.text, one.peak_after_bytes) == (other.text, other.peak_after_bytes):
        return None
    return "slower" if other.time_after_ns > SLOWER * one.time_after_ns else "other"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--device", default="x86-64-v3", help="or another machine (%(default)s)")
    parser.add_argument("--share", type=float, default=0.1, help="of the peak (%(default)s)")
    parser.add_argument("--pass", dest="passes", default="", help="only these, with commas between")
    args = parser.parse_args()
    os.environ["WEIR_LIBRARY"] = str(args.build.resolve() / "libweir.so")
    from weir import _library as library

    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for file in args.files or sorted((ROOT / "test/corpus").glob("*/program.mlir")):
        name, text = file.parent.name if file.stem == "program" else file.stem, file.read_bytes()
        settings = {"minimum": 2, "tile": 1, "machine": args.device.encode()}
        settings["memory_limit_bytes"] = int(
            library.rewrite(text, settings, None).peak_before_bytes * args.share
        )
        if not settings["memory_limit_bytes"]:
            continue
        whole, said = heard(lambda: library.rewrite(text, settings | {"debug": 2}, None))
        changes = set(CHANGED.findall(said))
        if args.passes:
            changes &= set(args.passes.encode().split(b","))
        for changed in sorted(changes):
            without = library.rewrite(text, settings | {"skip_passes": changed}, None)
            found[changed.decode()][difference(whole, without)].append(name)
    for changed, ways in sorted(found.items()):
        counts = ", ".join(f"{len(names)} {way or 'same'}" for way, names in ways.items())
        names = [name for way, names in ways.items() if way for name in names][:SHOWN]
        print(f"{changed}: {sum(map(len, ways.values()))} programs: {counts}:", *names)


if __name__ == "__main__":
    sys.exit(main())
