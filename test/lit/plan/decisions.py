"""decisions.py WEIR PROGRAMS...: each program with every tensor above 200 bytes split and loops as
kernels: how many ops each pass leaves of it, what the loops are of, and the sizes of the kernels.
"""

import pathlib
import re
import subprocess
import sys

weir, *programs = sys.argv[1:]
# A plan depends on the computer.
OPTIONS = "--tensor-size-threshold 200 --tile on --machine x86-64-v3 --debug 5".split()
TOLD = re.compile(r"weir: (?:pass (\S+: \d+ -> \d+ ops), .*|((?:split stablehlo|kernel:).*))")

for path in sorted(programs):
    done = subprocess.run([weir, "opt", path, *OPTIONS], capture_output=True, text=True, check=True)
    told = [found[1] or found[2] for found in map(TOLD.match, done.stderr.splitlines()) if found]
    print(pathlib.Path(path).parent.name, *dict.fromkeys(told), sep="\n    ")
