"""What `weir opt` makes of every program of test/corpus under several limits, a line each: name,
limit, status, peak, predicted time, and a hash of the text. For changes that are to change nothing:

    python tools/outputs.py --build BEFORE >before.txt
    python tools/outputs.py --build AFTER >after.txt
    diff before.txt after.txt

The limits are shares of what lies between what is held throughout and the program's peak. With --xla
XLA CPU judges, without kernels, and a line has how often it compiled; that takes a quarter of an hour.
"""

import argparse
import ctypes
import hashlib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/python"))
SHARES = (0.5, 0.1, 0.02)
MACHINE = b"x86-64-v3"
MOST_BYTES_FOR_XLA = 60_000  # of a program's text
TRUTHS = {"true": True, "false": False}


def settings_of(limit, tile):
    return {"memory_limit_bytes": limit, "minimum": 2, "tile": tile, "machine": MACHINE}


def referee_of(text):
    """Asks XLA CPU about candidates, and about the program as it came."""
    from running import Xla

    def judge(candidate, options):
        pairs = (option.split("=", 1) for option in options)
        options = {name: TRUTHS.get(value, value) for name, value in pairs}
        memory = Xla(candidate or text, options, as_users=True).memory_stats()
        kinds = ("argument", "output", "alias", "temp")
        return tuple(getattr(memory, f"{kind}_size_in_bytes") for kind in kinds)

    return judge


def line(library, text, settings, judge=None):
    fields = {name for name, *_ in library._Options._fields_}
    result = library.rewrite(text, {k: v for k, v in settings.items() if k in fields}, judge)
    made = hashlib.sha256(result.text or b"").hexdigest()[:12]
    known = f"{result.peak_after_bytes:14} {result.time_after_ns:14} {made}" if result.text else ""
    asked = f"{result.referee_compiles:3} " if judge else ""
    return f"{asked}{result.status_name:18} {known}", result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--xla", action="store_true", help="ask XLA")
    args = parser.parse_args()
    os.environ["WEIR_LIBRARY"] = str(args.build.resolve() / "libweir.so")
    from weir import _library as library

    assert ctypes.CDLL(os.environ["WEIR_LIBRARY"])
    for program in sorted((ROOT / "test/corpus").glob("*/program.mlir")):
        name, text = program.parent.name, program.read_bytes()
        if args.only not in name or (args.xla and len(text) > MOST_BYTES_FOR_XLA):
            continue
        judge = referee_of(text) if args.xla else None
        _, whole = line(library, text, {})
        for share in SHARES:
            limit = int(whole.peak_before_bytes * share)
            for tile in (0,) if args.xla else (0, 2):
                if limit > 0:
                    found = line(library, text, settings_of(limit, tile), judge)[0]
                    print(name, limit, tile, found, flush=True)


if __name__ == "__main__":
    sys.exit(main())
