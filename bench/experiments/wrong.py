"""What stock XLA CPU gets wrong, or leaves out of its report, as this jax has it: a line per case.

Run: python bench/experiments/wrong.py    build/jax-VERSION of tools/jax_versions.py has such Pythons

"grew" is what the process grew by while the program ran,
beside what XLA's report says for temporaries and results: by default, and with YNN's products one
by one, as weir asks for ("single").
"""

import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import measure

X = np.random.default_rng(0).standard_normal((1500, 8)).astype(np.float32)


def compiled(f, options, *arguments):
    return jax.jit(f).lower(*arguments).compile(compiler_options=options)


def ways():
    """Compile options by name, those that this XLA knows."""
    try:
        compiled(lambda x: x, measure.HONEST, 1.0)
    except jax.errors.JaxRuntimeError:
        return {"default": None}
    return {"default": None, "single": measure.HONEST}


# ---- wrong results ----
def kernel_loss(x):
    k = jnp.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
    return (k @ x).sum()


def filled_exponential(options):
    """exp(NaN), where an index of a row is out of bounds."""

    def f(x, i):
        return jnp.exp(jnp.take(x, i, axis=0, mode="fill"))

    i = np.array([0, len(X) + 5, 2], np.int32)
    return str(np.asarray(compiled(f, options, X, i)(X, i))[1, 0])


def half_sum_from_two(options):
    """A sum of 64 f16 ones that begins with 2: 66."""

    def f(x):
        return jax.lax.reduce(x, np.float16(2), jax.lax.add, (0,))

    x = np.ones(64, np.float16)
    return str(float(compiled(f, options, x)(x)))


ZERO_BY_ZERO = """
import jax, jax.numpy as jnp, numpy as np
zero = np.int32(0)
print(jax.jit(lambda: jax.lax.rem(jnp.full((), zero), jnp.full((), zero)))())
"""


def zero_by_zero(_):
    """0 % 0 of constants, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ZERO_BY_ZERO], capture_output=True, text=True)
    return f"exit {done.returncode}"


# ---- memory that the report leaves out ----
def gradient_of_a_kernel(x):
    return jax.grad(kernel_loss)(x)


def attention(x):
    q = x.reshape(1, -1, 8)
    return jax.nn.softmax(q @ q.swapaxes(1, 2)) @ q


def grew(f, options):
    x = jax.device_put(np.tile(X, (2, 1)))
    program = compiled(f, options, x)
    m = program.memory_analysis()
    report = m.temp_size_in_bytes + m.output_size_in_bytes
    numbers, _ = measure.once(lambda: jax.block_until_ready(program(x)))
    return f"report {report / 1e6:.0f} MB, grew {numbers['grown'] / 1e6:.0f} MB"


def main():
    cases = [filled_exponential, half_sum_from_two, zero_by_zero]
    for name, options in ways().items():
        for case in cases:
            print(f"jax {jax.__version__:9} {name:8} {case.__name__:24} {case(options)}")
        for f in (gradient_of_a_kernel, attention):
            print(f"jax {jax.__version__:9} {name:8} {f.__name__:24} {grew(f, options)}", flush=True)


if __name__ == "__main__":
    main()
