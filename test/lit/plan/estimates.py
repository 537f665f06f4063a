"""estimates.py WEIR_PEAK CORPUS: temporaries of each program as XLA would have them by default,
with the memory-optimising schedule, and with nothing hoisted out of loops; the bound of all.
"""

import pathlib
import subprocess
import sys

tool, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
programs = sorted(corpus.glob("*/program*.mlir"))


def last_columns(column, *options):
    done = subprocess.run([tool, *options, *programs], capture_output=True, text=True, check=True)
    return [line.split()[column] for line in done.stdout.splitlines()]


columns = [last_columns(-2), last_columns(-2, "--memory"), last_columns(-2, "--unhoisted")]
columns.append(last_columns(-1, "--bound"))
for path, *numbers in zip(programs, *columns, strict=True):
    name = path.parent.name if path.stem == "program" else f"{path.parent.name}/{path.stem}"
    print(name, *numbers)
