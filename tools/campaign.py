"""What tools share that run random programs by their seeds, one after another: options, and what
becomes of programs that fail. The tool has put test/python on the path.
"""

import argparse
import pathlib

import running

ROOT = pathlib.Path(__file__).resolve().parents[1]


def options(doc, count, kinds=None, beside_xla=False):
    """Of the command line; kinds: what --kind may name; beside_xla: whether XLA can be left out."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--first", type=int, default=0)
    if kinds:
        parser.add_argument("--kind", choices=kinds, action="append")
    if beside_xla:
        parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz")
    args = parser.parse_args()
    if args.build:
        running.BUILD = args.build.resolve()
    return args


def run(args, kinds, failures, text_of):
    """Whether one failed. failures(kind, seed): (way, what is wrong) for every way that fails, by
    the way "stock" without weir; how many ways changed the program. text_of(kind, seed): to keep.
    """
    failed = changes = stock = 0
    cases = [(k, s) for s in range(args.first, args.first + args.count) for k in kinds]
    for kind, seed in cases:
        found, changed = failures(kind, seed)
        wrong = [f for f in found if f[0] != "stock"]
        changes, failed, stock = changes + changed, failed + bool(wrong), stock + (found != wrong)
        for way, problem in found:
            args.keep.mkdir(parents=True, exist_ok=True)
            (args.keep / f"{kind}{seed}.mlir").write_text(text_of(kind, seed))
            print(f"{kind} {seed}, {way}: {problem}", flush=True)
    print(f"{len(cases)} programs, changed {changes} times, {failed} failed; {stock} differ on stock XLA")
    return failed > 0
