"""A program as text through the hook in JAX, as `jax.jit` would compile and run it."""

import threading
import warnings

import jax
import numpy as np
import weir
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

import running

ONE_AT_A_TIME = threading.Lock()  # weir.last_report and filters of warnings are the process's


def compiled(text, device):
    with jax_mlir.make_ir_context():
        module, devices = ir.Module.parse(text), np.array([[device]])
        module.operation.attributes["sym_name"] = ir.StringAttr.get("program", module.context)
        options, owners = compiler.get_compile_options(1, 1), xla_client.DeviceList((device,))
        return compiler.compile_or_get_cached(device.client, module, devices, options, [], owners)


def under(text, inputs, limit_bytes):
    """(the program as weir made it, its results), the results None where it is refused.

    What weir gives up with a warning is an error here.
    """
    weir.initialize()
    program = running.Xla(text)  # stock: for the types, and to run what the hook compiled
    before = weir.last_report()
    with ONE_AT_A_TIME, warnings.catch_warnings(), weir.limit(limit_bytes):
        warnings.simplefilter("error", weir.WeirWarning)
        try:
            program.executable = compiled(text, program.device)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED: weir:" not in str(error):
                raise
            return text, None
        plan = weir.last_report()
    is_changed = plan is not None and plan is not before and plan.outcome == "rewritten"
    return plan.text if is_changed else text, program(*inputs)
