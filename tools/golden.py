"""Writes the golden files of test/lit anew: what the RUN lines "COMMAND | diff GOLDEN -" compare
with. For changes that are meant; `git diff` shows what they do.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = re.compile(
    r"RUN: (?:%python %S/exitcode\.py \d )?((?:%weir|%python) .*?)(?: 2>\S+)? \| diff (%S/golden/\S+) -$"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    names = {"%weir": build / "weir", "%peak": build / "tools/weir_peak", "%python": sys.executable}
    for test in sorted((ROOT / "test/lit").rglob("*.test")):
        for line in test.read_text().splitlines():
            if found := LINE.match(line):
                command, golden = found.groups()
                for name, path in (names | {"%S": test.parent, "%root": ROOT}).items():
                    command, golden = (text.replace(name, str(path)) for text in (command, golden))
                done = subprocess.run(command, shell=True, capture_output=True, check=False)
                pathlib.Path(golden).write_bytes(done.stdout)


if __name__ == "__main__":
    main()
