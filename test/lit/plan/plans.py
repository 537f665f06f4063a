"""plans.py WEIR WEIR_PEAK PROGRAMS...: each program under its arguments, results and a
tenth of its temporaries: peak, loops, flops and the smallest limit; then a line per loop.
"""

import pathlib
import subprocess
import sys

weir, tool, *programs = sys.argv[1:]
# Half a second each, a multiple of it under sanitizers.
SLOW = "sgpr_bound transformer rq_quadform hessian scan_big cg_jacobi sinkhorn matern52_grad bwd".split()
FOR = ("--machine", "x86-64-v3")  # a plan depends on the computer
TOLD = ("peak", "outcome", "minimum")


def printed(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


programs = [path for path in programs if not any(name in path for name in SLOW)]
peaks = [line.split() for line in printed(tool, *programs)]
for path, arguments, results, aliases, temporaries, _ in sorted(peaks):
    limit = int(arguments) + int(results) - int(aliases) + int(temporaries) // 10
    lines = printed(weir, "plan", path, "--memory-limit", str(limit), *FOR)
    facts = [" ".join(line.split()[1:]) for line in lines if line.startswith(TOLD)]
    print(pathlib.Path(path).parent.name, *facts, sep="; ")
    loops = lines[lines.index("loops:") + 2 :] if "loops:" in lines else []
    for line in loops:
        print("   ", *line.split())
