"""machines.py WEIR: every machine that has a name, and three of which rates are told, in full."""

import subprocess
import sys

weir = sys.argv[1]


def printed(*words):
    done = subprocess.run([weir, "machine", *words], capture_output=True, text=True, check=True)
    return done.stdout


devices = [line.split()[0] for line in printed("--help").split("devices:\n")[1].splitlines()]
levels = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"]
told = [
    "x86-64-v3,cores=64,clock=3.2",
    "aarch64,clock=2.5,vectors=5,products=40,fused=3,memory=20",
    "x86-64-v4,clock=0.9,products=0.8,fused=0.7,memory=0.6",
]
print(*(printed(name) for name in [*levels, *told, *devices]), sep="\n", end="")
