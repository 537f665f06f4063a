"""What is dear and read at several places: made anew by XLA at each, or written once (docs/design/materialise.md).

    python bench/experiments/again.py

CPU ns an element, minima of seven runs in turn, by how elements are read, at how many places, and of what.
"""

import re
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import probe

MADE = {
    "x + 1": lambda x: x + 1,
    "sqrt": lambda x: jnp.sqrt(x * x + 1),
    "exp": jnp.exp,
    "sin(sqrt)": lambda x: jnp.sin(jnp.sqrt(x * x + 1)),
}
READ = {
    "slices": lambda y, i, k: y[i : y.shape[0] - k + i],
    "pads": lambda y, i, k: jnp.pad(y, ((i, k - i), (0, 0))),
    "rolled rows": lambda y, i, _: jnp.roll(y, i + 1, 0),
    "rolled columns": lambda y, i, _: jnp.roll(y, i + 1, 1),
}
SHAPES = ((1000, 1000), (170, 180))
BARRIER = re.compile(r"(%\w+) = stablehlo.optimization_barrier (%\w+) : (tensor<[\dx]*f32>)")
KEEP = 'func.func private @keep(%a: {type}) -> {type} {{ return %a : {type} }}'
CALL = r'\1 = func.call @keep(\2) {mhlo.frontend_attributes = {inlineable = "false"}} : (\3) -> \3'


def ways(function, x):
    """The program's text with its barriers gone, and as calls that XLA may not inline."""
    text = str(jax.jit(function).lower(x).compiler_ir("stablehlo"))
    end = text.rindex("}")
    keep = KEEP.format(type=BARRIER.search(text)[3])
    gone = BARRIER.sub(r"\1 = stablehlo.reshape \2 : (\3) -> \3", text)
    kept = BARRIER.sub(CALL, text[:end] + keep + "\n" + text[end:])
    return [probe.Program(way) for way in (gone, kept)]


def cpu_ns(programs, x):
    best = [float("inf")] * len(programs)
    times = max(3, 3_000_000 // x.size)
    for _ in range(7):
        for i, program in enumerate(programs):
            start = time.process_time_ns()
            for _ in range(times):
                program.call([x])
            best[i] = min(best[i], (time.process_time_ns() - start) / times / x.size)
    return best


def main():
    print("| elements | read as | places | of | anew | written | ratio |\n|---|---|--:|---|--:|--:|--:|")
    for shape in SHAPES:
        x = jax.device_put(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
        for read, places, made in ((r, k, m) for r in READ for k in (2, 4, 8) for m in MADE):

            def function(x, read=READ[read], places=places, make=MADE[made]):
                y = jax.lax.optimization_barrier(make(x))
                return sum(read(y, i, places) * (i + 1.0) for i in range(places))

            anew, written = cpu_ns(ways(function, x), x)
            row = [shape, read, places, made, f"{anew:.2f}", f"{written:.2f}", f"{anew / written:.2f}"]
            print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
