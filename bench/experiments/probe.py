"""Compile StableHLO text on stock XLA CPU and measure it.

In:   module text, argument specs (shape, dtype) or arrays, XLA compile options.
Out:  memory_analysis, optimized HLO, run time (minimum over runs), growth of the process while it runs.
Idea: the high-water mark of the process is reset (write 5 to /proc/self/clear_refs) after the
      arguments are on the device and the program is compiled, so the growth is the program's own.
"""
import pathlib
import sys
import time

import jax
import jax._src.interpreters.mlir as jax_mlir
import numpy as np
from jax._src import compiler
from jax._src.lib import xla_client
from jaxlib.mlir import ir

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import reset_peak, status_bytes  # noqa: E402

HONEST = {"xla_cpu_experimental_ynn_fusion_type": ""}
ORDERED = dict(HONEST, xla_cpu_scheduler_type="CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED")
NUMPY = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i64": np.int64}


def device():
    return jax.devices("cpu")[0]


class Program:
    def __init__(self, text, options=HONEST):
        with jax_mlir.make_ir_context():
            code = jax_mlir.module_to_bytecode(ir.Module.parse(text))
        co = compiler.get_compile_options(1, 1, env_options_overrides=dict(options))
        t0 = time.perf_counter()
        self.exe = device().client.compile_and_load(
            code, xla_client.DeviceList((device(),)), co)
        self.compile_s = time.perf_counter() - t0
        self.mem = self.exe.get_compiled_memory_stats()

    def hlo(self):
        return self.exe.hlo_modules()[0].to_string()

    def report_bytes(self):
        m = self.mem
        return (m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
                + m.temp_size_in_bytes)

    def call(self, args):
        res = self.exe.execute_sharded(args).disassemble_into_single_device_arrays()
        return jax.block_until_ready([r[0] for r in res])

    def run(self, args, repeats=3):
        """Returns outputs, best time in seconds, growth in bytes of the first run."""
        best, growth, out = float("inf"), None, None
        for _ in range(repeats):
            out = None
            base = reset_peak()
            t0 = time.perf_counter()
            out = self.call(args)
            best = min(best, time.perf_counter() - t0)
            if growth is None:
                growth = status_bytes("VmHWM") - base
        return out, best, growth


def make_args(specs, seed=0, scale=1.0):
    rng, args = np.random.default_rng(seed), []
    for s in specs:
        if not isinstance(s, tuple):
            args.append(jax.device_put(s, device()))
            continue
        shape, dtype = s
        a = rng.standard_normal(shape) * scale
        args.append(jax.device_put(a.astype(NUMPY[dtype]), device()))
    return jax.block_until_ready(args)


def row(label, prog, args, repeats=3):
    m = prog.mem
    out, best, growth = prog.run(args, repeats)
    print("%-46s arg %7.1f out %7.1f alias %6.1f temp %8.2f MB | grew %8.1f MB | %8.3f s" % (
        label, m.argument_size_in_bytes / 1e6, m.output_size_in_bytes / 1e6,
        m.alias_size_in_bytes / 1e6, m.temp_size_in_bytes / 1e6, growth / 1e6, best), flush=True)
    return out, best


def setup():
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")


def wanted(name):
    return len(sys.argv) < 2 or name in sys.argv[1:]
