"""What fits which card: the examples, at their own sizes and larger ones, planned by weir's
estimate for GPUs and TPUs under nine tenths of their memory.

    .venv/bin/python bench/cards.py --page docs/cards.md

Prints tables, one a platform; --page writes them below the page's marker. Takes minutes. Nothing is
compiled: where the wheels of the cards' own compilers are installed it ends with an error. f64
programs are f32 on TPUs.
"""

import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import devices
import gpt
import jax
import programs

import weir
from weir._library import devices as known_devices
from weir._plan import readable

MARKER = "<!-- bench/cards.py writes what follows -->"
CARDS = ["rtx-4090", "l4", "a100-40gb", "a100-80gb", "h100", "h200", "b200", "v5e", "v6e", "v5p"]
TITLES = {"cuda": "GPUs", "tpu": "TPUs"}
ESTIMATE = "weir's estimate"
SLOWER = 1.05  # as it came is 1; what is less is not said
SEARCH_OPS = 3_000_000  # a tenth of the default: all of it in minutes
GPT_SIZES = dict(layers=12, batch=32, length=256)


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    program: str  # of bench/programs.py, or "gpt"
    larger: dict  # the sizes that a larger one has in place of the example's


ROWS = [
    Row("kernel matrix times vector", "p1", dict(n=1_000_003)),
    Row("kernel conjugate gradients", "kernel_cg", dict(n=200_000)),
    Row("sparse GP (SGPR), gradients", "p3", dict(n=5_000_000)),
    Row("Cholesky factor", "p10", dict(n=65_536)),
    Row("nearest neighbours", "p2", dict(n=10_000_000, m=10_000)),
    Row("nearest neighbours, broadcast", "p2b", dict(n=10_000_000, m=10_000)),
    Row("attention", "p5", dict(sequence=131_072)),
    Row("attention, gradients", "attention_grad", dict(sequence=65_536)),
    Row("transformer encoder", "encoder", dict(sequence=8_000)),
    Row("GPT, a step of training", "gpt", dict(length=2048)),
    Row("linear + cross-entropy, gradients", "p6", dict(n=65_536)),
    Row("MLP, inference", "p8", dict(n=20_000_000)),
    Row("wide MLP, gradients", "wide_mlp", dict(n=1_000_000)),
    Row("convolutional network, a step of training", "large_batch", dict(batch=262_144)),
    Row("graph attention, a step of training", "graph_attention", dict(nodes=100_000)),
    Row("Sinkhorn", "p9", dict(n=200_011, m=200_011)),
    Row("N-body, gradients", "nbody", dict(n=200_000)),
    Row("vmap of .at[].set", "p4", dict(n=1_000_000)),
    Row("bincounts", "p7", dict(n=100_000_000)),
]


def sizes_of(row, larger):
    own = GPT_SIZES if row.program == "gpt" else programs.get(row.program).load().sizes
    return {**own, **row.larger} if larger else own


def called(row, larger, on_tpu):
    """The function and the shapes of its arguments. Larger ones are never made: in the example's
    shapes its sizes are replaced.
    """
    if row.program == "gpt":
        return jax.jit(gpt.step, donate_argnums=0), gpt.arguments(**sizes_of(row, larger))
    f, shapes = devices.called(row.program, on_tpu)
    own, wanted = sizes_of(row, False), sizes_of(row, larger)
    new = {own[name]: wanted[name] for name in row.larger}

    def resized(x):
        return jax.ShapeDtypeStruct(tuple(new.get(n, n) for n in x.shape), x.dtype)

    return f, [x if isinstance(x, int) else jax.tree.map(resized, x) for x in shapes]


def plans(program, cards):
    """On cards of one platform, in this process: for each of the row's two sizes [outcome, ...]."""
    (row,) = (row for row in ROWS if row.program == program)
    found = []
    for larger in (False, True):
        f, shapes = called(row, larger, platform_of(cards[0]) == "tpu")
        planned = (weir.plan(f, *shapes, device=card, search_ops=SEARCH_OPS) for card in cards)
        found.append([outcome(plan) for plan in planned])
    return found


def outcome(plan):
    if plan.judge != ESTIMATE:
        raise SystemExit(f"bench/cards.py: {plan.judge} is installed; the tables are by {ESTIMATE}")
    return {
        "outcome": plan.outcome,
        "limit": plan.limit_bytes,
        "before": plan.peak_before_bytes,
        "minimum": plan.minimum_bytes,
        "loops": len(plan.loops),
        "seconds": plan.time_after_ns * 1e-9,
        "slower": plan.time_after_ns / max(plan.time_before_ns, 1),
    }


def plans_apart(program, cards):
    """In a process of its own: an example may set JAX's x64, a TPU's rows take it back."""
    command = [sys.executable, __file__, "--one", program, "--cards", ",".join(cards)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return json.loads(done.stdout)


def platform_of(card):
    return next(d.platform for d in known_devices() if d.name == card)


def is_as_it_is(found):
    return found["outcome"] in ("untouched", "options")


def cell(found):
    if found["outcome"] == "refused":
        return f"no: {readable(found['minimum'])}" if found["minimum"] else "no"
    if is_as_it_is(found):
        return "fits"
    loops = f"{found['loops']} loop{'s' * (found['loops'] != 1)}"
    slower = f", {found['slower']:.1f}×" if found["slower"] > SLOWER else ""
    return f"{loops}, {duration(found['seconds'])}{slower}"


def duration(seconds):
    if seconds >= 1:
        return f"{seconds:.{0 if seconds >= 10 else 1}f} s"
    return f"{seconds * 1e3:.2g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"


def table(rows, cards):
    """Lines of Markdown: a row a program and size, a column a card; last, how many it runs."""
    lines = [line(["program", "size", "as it came", *cards]), line(["---"] * (len(cards) + 3))]
    every = []
    for row in rows:
        for larger, found in enumerate(plans_apart(row.program, cards)):
            sizes = sizes_of(row, larger)
            size = ", ".join(f"{name} = {sizes[name]:,}" for name in row.larger)
            came = readable(max(one["before"] for one in found))
            title = "" if larger else f"{row.title} ({row.program})"
            lines.append(line([title, size, came, *map(cell, found)]))
            every.append(found)
    last = [f"how many of {len(every)} run", "as they are → under weir", ""]
    return [*lines, line([*last, *map(counts, zip(*every))])]


def counts(column):
    alone = sum(map(is_as_it_is, column))
    return f"{alone} → {sum(one['outcome'] != 'refused' for one in column)}"


def line(cells):
    return f"| {' | '.join(cells)} |"


def text(rows, cards):
    when, version = datetime.date.today().isoformat(), importlib.metadata.version("jax")
    parts = [f"By `bench/cards.py` on {when}, with jax {version}."]
    for platform, title in TITLES.items():
        of_platform = [card for card in cards if platform_of(card) == platform]
        if of_platform:
            parts += [f"## {title}", "\n".join(table(rows, of_platform))]
    return "\n\n".join(parts) + "\n"


def write_page(path, tables):
    before, marker, _ = path.read_text().partition(MARKER)
    assert marker, f"{path} has no {MARKER}"
    path.write_text(f"{before}{MARKER}\n\n{tables}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--programs", default=",".join(row.program for row in ROWS))
    ap.add_argument("--cards", default=",".join(CARDS))
    ap.add_argument("--page", type=pathlib.Path, help="written below its marker")
    ap.add_argument("--one", metavar="PROGRAM", help=argparse.SUPPRESS)
    args = ap.parse_args()
    cards, wanted = args.cards.split(","), args.programs.split(",")
    if args.one:
        print(json.dumps(plans(args.one, cards)))
        return
    tables = text([row for row in ROWS if row.program in wanted], cards)
    print(tables)
    if args.page:
        write_page(args.page, tables)


if __name__ == "__main__":
    main()
