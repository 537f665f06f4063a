"""curves.py WEIR PROGRAMS...: `weir plan` of each program, without a limit: who holds its peak, the
smallest limit, and what the limits between cost.
"""

import pathlib
import subprocess
import sys

weir, *programs = sys.argv[1:]
FOR = ("--machine", "x86-64-v3")  # a plan depends on the computer

for path in sorted(programs):
    done = subprocess.run([weir, "plan", path, *FOR], capture_output=True, text=True, check=True)
    print(pathlib.Path(path).parent.name)
    print(*(line for line in done.stdout.splitlines() if line), sep="\n")
