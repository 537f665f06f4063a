"""Sweep the block length of a hand-split program, so that the comparison is with a good one.

python bench/tune.py p1 --rows 16 32 64 128 --sizes n=40000
"""

import argparse

import programs
import run


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("program")
    ap.add_argument("--rows", nargs="+", type=int, required=True)
    ap.add_argument("--sizes", nargs="+", type=run.size, default=[], metavar="NAME=VALUE")
    ap.add_argument("--rounds", type=int, default=3)
    a = ap.parse_args()
    p = programs.get(a.program)
    workers = [run.Worker("chunked", p, p.sizes(dict(a.sizes)), r) for r in a.rows]
    for r, w, answers in zip(a.rows, workers, run.rounds(workers, a.rounds)):
        bad = [x["error"] for x in [w.start] + answers if "error" in x]
        print(
            "rows %6d  " % r
            + (
                bad[0]
                if bad
                else "best %.3f s  grew %.1f MB"
                % (min(x["time_s"] for x in answers), max(x["growth_bytes"] for x in answers) / 1e6)
            ),
            flush=True,
        )
        w.close()


if __name__ == "__main__":
    main()
