"""Rewrites random programs of a kind, and compares results with those of stock XLA.

    python tools/fuzz_stock.py --count 100 [--first SEED] [--build DIR] [--keep DIR]
                               [--kind Extremes|ExtremesOfWindows|ExtremesOfNan|Ranks|Compared|Shifts|Volumes|Masks]

A seed of a kind stands for one program and the ways (test/python/random_extremes.py,
random_compared.py, random_stacks.py, random_masks.py): values that are made again to be compared, in
kernels and in loops, sizes at which the evaluator would take minutes, and what XLA makes of masks,
which the evaluator multiplies with. Exits 1 if one failed.
"""

import os
import pathlib
import sys
import tempfile

import jax
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
if __name__ == "__main__":
    os.environ["XLA_AS_USERS"] = "1"  # running.py compiles as users do, not quickly
import campaign  # noqa: E402
import random_compared  # noqa: E402
import random_extremes  # noqa: E402
import random_masks  # noqa: E402
import random_stacks  # noqa: E402
import running  # noqa: E402
from weir import _hook  # noqa: E402

EXTREMES = [getattr(random_extremes, name) for name in ("Extremes", "ExtremesOfWindows", "ExtremesOfNan", "Ranks")]
KINDS = {kind.__name__: kind for kind in EXTREMES}
KINDS |= {"Compared": random_compared.Compared}
KINDS |= {"Shifts": random_stacks.Shifts, "Volumes": random_stacks.Volumes, "Masks": random_masks.Masks}


def text_of(program):
    with jax.enable_x64(any(x.dtype == np.float64 for x in program.inputs)):
        return jax.jit(program.function, keep_unused=True).lower(*program.inputs).as_text()


def judged_of(program, want):
    """By result, where it is judged."""
    if hasattr(program, "judged"):
        return program.judged(want)
    return [np.isfinite(y) | (not getattr(program, "has_infinities", False)) for y in want]


def difference(program, got, want, judged):
    for i, (x, y, scale, judged) in enumerate(zip(got, want, program.scales(want), judged, strict=True)):
        off = np.max(np.abs(np.asarray(x, float) - y), initial=0, where=judged) / scale
        if not off < program.rounding:  # or NaN
            return f"result {i}: off by {off:.1e}"
    return None


def limits_of(program, stock):
    """Ways that leave a share of the program's temporaries."""
    for share, tile in getattr(program, "shares", ()):
        memory = stock.memory_stats()
        limit = running.total_bytes(memory) - int((1 - share) * memory.temp_size_in_bytes)
        yield ["--memory-limit", limit, "--tile", tile]


def failures(kind, seed):
    """(way, what is wrong) for every way that fails; how many ways changed the program. Limits may be
    refused."""
    _hook.register_calls()
    program, found, changed = KINDS[kind](seed), [], 0
    text = text_of(program)
    stock = running.Xla(text, as_users=True)
    want = stock(*program.inputs)
    judged = judged_of(program, want)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        for way in [*program.ways, *limits_of(program, stock)]:
            try:
                made = running.opt(path, *way, refused=text)
                if made == text:
                    continue
                changed += 1
                got = running.Xla(made, as_users=True)(*program.inputs)
                problem = difference(program, got, want, judged)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                found.append((" ".join(map(str, way)), problem))
    return found, changed


def main():
    args = campaign.options(__doc__, 100, KINDS)
    return campaign.run(args, args.kind or KINDS, failures, lambda kind, seed: text_of(KINDS[kind](seed)))


if __name__ == "__main__":
    sys.exit(main())
