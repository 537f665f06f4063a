"""Limits whose plan is predicted to be slower than that of a smaller limit, which holds as well.

    python bench/experiments/inverted.py             bench/user_programs, small
    python bench/experiments/inverted.py 'gp_*'      some

By estimate, for one machine: a tenth, a third and two thirds of the temporaries beside arguments and
results. A row per program: predicted times beside that of the program as it came, by how much a larger
limit's is above a smaller one's, and CPU seconds of planning. The last line counts rows above 1.1, and
has all of these seconds. `bench/users.py --limits` measures.
"""

import pathlib
import sys
import time

import jax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from needs import limit_of  # noqa: E402
from user_programs import PROGRAMS  # noqa: E402
from users import LEAST_INVERSION, SHARES, chosen, inverted  # noqa: E402

from weir import _library  # noqa: E402

MACHINE = b"x86-64-v4"


def bytes_of(tree):
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def lowered(name):
    """The program's text, and its bytes: arguments, results, temporaries by estimate."""
    program = PROGRAMS[name]
    jax.config.update("jax_enable_x64", program.x64)
    arguments = program.arguments(True)
    found = jax.jit(program.function).lower(*arguments)
    text = found.as_text().encode()
    held = bytes_of(arguments), bytes_of(found.out_info)
    return text, (*held, max(0, _library.rewrite(text, {}, None).peak_before_bytes - sum(held)))


def predicted(text, limit_bytes):
    """None: it is refused."""
    plan = _library.rewrite(text, {"memory_limit_bytes": limit_bytes, "tile": 2, "machine": MACHINE}, None)
    return plan.time_after_ns / max(1, plan.time_before_ns) if plan.status_name == "OK" else None


def main():
    above, seconds = [], 0.0
    names = chosen(sys.argv[1:])
    for name in names:
        text, needs = lowered(name)
        begun = time.process_time()
        times = [predicted(text, limit_of(*needs, share)) for share in SHARES]
        took = time.process_time() - begun
        seconds += took
        worst = inverted(times)
        above += [name] if worst > LEAST_INVERSION else []
        shown = " ".join(f"{t:8.3f}" if t else f"{'refused':>8}" for t in times)
        print(f"{name:28} {shown} {worst:8.2f} {took:8.2f}", flush=True)
    print(f"{len(names)} programs, {len(above)} inverted, {seconds:.1f} s of planning")


if __name__ == "__main__":
    main()
