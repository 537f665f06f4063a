"""What `weir opt` makes of every program of test/corpus under several limits, a line each: name,
limit, status, peak, predicted time, and a hash of the text. For changes that are to change nothing:

    python tools/outputs.py --build BEFORE >before.txt
    python tools/outputs.py --build AFTER >after.txt
    diff before.txt after.txt

The limits are shares of what lies between what is held throughout and the program's peak.
"""

import argparse
import ctypes
import hashlib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARES = (0.5, 0.1, 0.02)
MACHINE = b"x86-64-v3"


def settings_of(limit, tile):
    return {"memory_limit_bytes": limit, "minimum": 2, "tile": tile, "machine": MACHINE}


def line(library, text, settings):
    fields = {name for name, *_ in library._Options._fields_}
    result = library.rewrite(text, {k: v for k, v in settings.items() if k in fields}, None)
    made = hashlib.sha256(result.text or b"").hexdigest()[:12]
    known = f"{result.peak_after_bytes:14} {result.time_after_ns:14} {made}" if result.text else ""
    return f"{result.status_name:18} {known}", result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="", help="names that contain this")
    args = parser.parse_args()
    os.environ["WEIR_LIBRARY"] = str(args.build.resolve() / "libweir.so")
    from weir import _library as library

    assert ctypes.CDLL(os.environ["WEIR_LIBRARY"])
    for program in sorted((ROOT / "test/corpus").glob("*/program.mlir")):
        name, text = program.parent.name, program.read_bytes()
        if args.only not in name:
            continue
        _, whole = line(library, text, {})
        for share in SHARES:
            limit = int(whole.peak_before_bytes * share)
            for tile in (0, 2):
                if limit > 0:
                    print(name, limit, tile, line(library, text, settings_of(limit, tile))[0], flush=True)


if __name__ == "__main__":
    sys.exit(main())
