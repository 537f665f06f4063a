"""Programs as text: through `weir opt`, in the reference evaluator, and on stock XLA in process.

Arrays are what .npy can hold: bf16 as raw uint16 bits, as in test/corpus.
"""

import functools
import os
import pathlib
import subprocess
import tempfile

import jax
import ml_dtypes
import numpy as np
import pytest
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lax import linalg
from jax._src.lib import xla_client
from jaxlib.mlir import ir

import modelled

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release"))
# Stock XLA with a report that says all: its YNN fusions take scratch that no report shows.
HONEST = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
# As the ladder compiles what it has split: that, and nothing hoisted out of the loops.
OPTIONS = HONEST | {"xla_disable_hlo_passes": "while-loop-invariant-code-motion"}
ORDERED = OPTIONS | {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}  # as weir names it, too
# For values alone, in a quarter of the time: without LLVM's optimisation, too.
QUICK = {"xla_backend_optimization_level": 0} | modelled.QUICK
AS_USERS = {"xla_backend_optimization_level": 3, "xla_llvm_disable_expensive_passes": False} | modelled.USERS
# What LLVM makes of it is in no report.
REPORTS = {"xla_backend_optimization_level": 0} | modelled.USERS
# Where its processor is another than this computer's: a build folder whose programs run emulated.
EMULATED = os.environ.get("WEIR_EMULATED_BUILD")
SECONDS = 120
if os.environ.get("XLA_AS_USERS") or not modelled.RUNS:
    QUICK = REPORTS = AS_USERS  # campaigns; other versions may not know these options
BF16 = np.dtype(ml_dtypes.bfloat16)


in_this_process = pytest.mark.skipif(bool(EMULATED), reason="kernels for another processor")

EMPTY = "func.func @main() {\nreturn\n}\n"
REFUSED = 3  # the exit code: no way found under the limit


def machine():
    """What plans are made for: of this processor the instructions alone, wherever tests run. Scratch
    of as many threads as there are cores counts, so that another number is another plan.
    """
    return os.environ.get("WEIR_MACHINE") or (levels() or ["host"])[-1]


def run_opt(program, *arguments):
    """`weir opt` of the file, as it ended, for machine(), unless the arguments name one."""
    if not {"--machine", "--device"} & set(arguments):
        arguments = [*arguments, "--machine", machine()]
    return subprocess.run(
        [BUILD / "weir", "opt", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def opt(program, *arguments, refused=None):
    """What `weir opt` prints of the file; `refused`, if given, where it knows no way.

    Raises AssertionError with its message if it fails.
    """
    done = run_opt(program, *arguments)
    if done.returncode == REFUSED and refused is not None:
        return refused
    assert (
        done.returncode == 0
    ), f"weir opt {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}"
    return done.stdout


def lowered(f, *inputs):
    """The text that JAX makes of f, in 64 bits; of all inputs."""
    with jax.enable_x64(True):
        return jax.jit(f, keep_unused=True).lower(*inputs).as_text()


def rewritten(text, folder, *options):
    """What `weir opt` makes of the text."""
    program = folder / "program.mlir"
    program.write_text(text)
    return opt(program, *options)


def rewrite(f, arguments, folder, *options):
    """The text that JAX makes of f, in 64 bits, and what `weir opt` makes of that."""
    with jax.enable_x64(True):
        text = jax.jit(f).lower(*arguments).as_text()
    return text, rewritten(text, folder, *options)


@functools.cache
def passes():
    """Names that --skip takes, in order, as `weir opt` lists them when asked for one that it doesn't
    have: passes, and settings."""
    command = [BUILD / "weir", "opt", "--skip", "none", "--memory-limit", "1GB", "-"]
    done = subprocess.run(command, capture_output=True, text=True, input=EMPTY, timeout=SECONDS)
    return done.stderr.split("there are ")[1].strip().split(", ")


LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")  # vectors of 16, 32 and 64 bytes


@functools.cache
def levels():
    """Those of LEVELS whose kernels this processor runs."""
    host = subprocess.run([BUILD / "weir", "machine", "host"], capture_output=True, text=True)
    name = host.stdout.partition(",")[0]
    return LEVELS[: LEVELS.index(name) + 1] if name in LEVELS else ()


def stored(arrays):
    """As programs get them here: bf16 as its bits."""
    return [x.view(np.uint16) if x.dtype == BF16 else x for x in map(np.asarray, arrays)]


def numbers(array, dtype):
    """What `stored` made of an array of dtype, as that again."""
    return array.view(BF16) if dtype == BF16 and array.dtype == np.uint16 else array


def has_kernels(text):
    return 'call_target_name = "weir_tile"' in text


class Evaluator:
    """weir_eval on one set of inputs, which it keeps as files in `folder`; of the build `of_kernels`
    where the program has kernels. calls: those of Python that the last program made, in order: which,
    whether it is ordered, and its numbers.
    """

    def __init__(self, folder, inputs, of_kernels=None):
        self.folder, self.files, self.count = pathlib.Path(folder), [], 0
        self.tool = BUILD / "tools/weir_eval"
        self.kernels_tool = pathlib.Path(EMULATED or of_kernels or BUILD, "tools/weir_eval")
        for i, array in enumerate(inputs):
            self.files.append(self.folder / f"in{i}.npy")
            np.save(self.files[-1], array)

    def __call__(self, text):
        program, out = self.folder / f"p{self.count}.mlir", self.folder / f"out{self.count}"
        self.count += 1
        program.write_text(text)
        out.mkdir()
        done = subprocess.run(
            [self.kernels_tool if has_kernels(text) else self.tool, program, *self.files, out],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"weir_eval: exit {done.returncode}: {done.stderr}"
        lines = (line.split()[1:] for line in done.stdout.splitlines())
        self.calls = [(int(call), bool(int(ordered)), np.array(v, float)) for call, ordered, *v in lines]
        return [np.load(out / f"{i}.npy") for i in range(len(list(out.iterdir())))]

    def numbers(self, text, types):
        return [numbers(r, t) for r, t in zip(self(text), types, strict=True)]


def generic(text, locations=False):
    """The program in MLIR's generic form, printed by stock MLIR."""
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        return module.operation.get_asm(
            print_generic_op_form=True, use_local_scope=True, enable_debug_info=locations
        )


def total_bytes(memory):
    """Of an executable, as XLA reports its memory: what a limit is held by."""
    m = memory
    return m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes + m.temp_size_in_bytes


class Xla:
    """A compiled program. Raises what XLA raises.

    `as_users`: runs what users run, where it matters what is rounded together, or how much memory
    the process takes. The report is always theirs.
    """

    def __init__(self, text, options=OPTIONS, as_users=False):
        linalg.initialize_lapack()
        self.device = jax.devices("cpu")[0]
        with jax_mlir.make_ir_context():
            module = ir.Module.parse(text)
            (main,) = (
                op
                for op in module.body.operations
                if ir.StringAttr(op.attributes["sym_name"]).value == "main"
            )
            self.types = [str(ir.RankedTensorType(t).element_type) for t in main.type.inputs]
            self.code = jax_mlir.module_to_bytecode(module)
        self.options, self.way = dict(options), AS_USERS if as_users else QUICK
        self.executable = self._compiled(self.way)

    def _compiled(self, more):
        options = compiler.get_compile_options(1, 1, env_options_overrides=self.options | more)
        devices = xla_client.DeviceList((self.device,))
        return self.device.client.compile_and_load(self.code, devices, options)

    def memory_stats(self):
        theirs = self.executable if self.way is AS_USERS else self._compiled(REPORTS)
        return theirs.get_compiled_memory_stats()

    def report_bytes(self):
        return total_bytes(self.memory_stats())

    def __call__(self, *inputs):
        arrays = [
            array.view(BF16) if t == "bf16" else array for array, t in zip(inputs, self.types)
        ]
        with jax.enable_x64(True):
            buffers = [jax.device_put(array, self.device) for array in arrays]
        results = self.executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
        results = [np.asarray(shards[0]) for shards in results]
        return [r.view(np.uint16) if r.dtype == BF16 else r for r in results]


def check_f64(got, wanted):
    """To rounding of the largest of each result."""
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


def check_passes(f, inputs, folder, *options):
    """What `weir opt` makes of f, which gives what f does: floats to rounding, all else exactly, on stock XLA
    and in the evaluator.
    """
    text = lowered(f, *inputs)
    want, made = Xla(text)(*inputs), rewritten(text, folder, *options)
    for got in (Xla(made)(*inputs), Evaluator(folder, inputs)(made)):
        for g, w in zip(got, want, strict=True):
            assert w.shape == g.shape and w.dtype == g.dtype
            tolerance = {"f8": 1e-12, "f4": 2e-6}.get(w.dtype.str[1:], 0)
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
    return made


def results(text, inputs):
    """Of a program that may have kernels: stock XLA's, or the evaluator's, emulated, where they are
    for another processor.
    """
    if not EMULATED or not has_kernels(text):
        return Xla(text)(*inputs)
    with tempfile.TemporaryDirectory() as folder:
        return Evaluator(folder, inputs)(text)
