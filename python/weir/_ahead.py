"""Plans of programs that were lowered and are compiled for nobody: weir.plan, cards that are not here."""

import io
import math

import jax
import numpy as np

from weir import _call, _hook, _jax, _library, _plan, _say
from weir._jax import ir

_jax.exclude_from_tracebacks([__file__])


def plans_of(compile_program):
    """As _say.plans_of()."""
    return _say.plans_of(compile_program, jax.errors.JaxRuntimeError)


def devices_of(module):
    """(replicas, partitions) of a lowered program."""
    given = module.operation.attributes
    names = ("mhlo.num_replicas", "mhlo.num_partitions")
    return tuple(ir.IntegerAttr(given[n]).value if n in given else 1 for n in names)


_WITHOUT_XLA = ", and with the device's own XLA, which is not installed"


def plan_module(module, devices, settings):
    """The Plan of a lowered program (ir.Module) for `devices`, as many as it wants, of a client that
    may only compile; (): by weir's estimate, for the platform and machine of the settings.
    """
    if not devices:
        call = _call.Call(None, None, module, (), None, (), {})
        result = _library.rewrite(call.text(), settings | _hook.FOR_PAGES, None)
        if result.status not in (_library.OK, _library.RESOURCE_EXHAUSTED):
            lacks = "" if math.prod(devices_of(module)) == 1 else _WITHOUT_XLA
            raise ValueError(f"weir.plan: {result.status_name}: {result.message}{lacks}")
        return _plan.from_result(call.name(), result)
    call = _call.Call(compile_for, devices[0].client, module, devices, options(module, devices), (), {})
    found = plans_of(lambda: _hook.compile_or_warn(call, settings, _say.planned()))
    if not found:
        raise ValueError("weir.plan: weir left this program alone (see the warning)")
    return found[-1]


def options(module, devices):
    """As JAX sets them: XLA chooses how to shard what the program doesn't say."""
    replicas, partitions = devices_of(module)
    ids = np.array([device.id for device in devices]).reshape(replicas, partitions)
    found = _jax.get_compile_options(
        num_replicas=replicas, num_partitions=partitions, device_assignment=ids
    )
    if partitions > 1:
        build, main = found.executable_build_options, _call.main_of(module)
        kinds, counts = ("arg_attrs", "res_attrs"), (len(main.arguments), len(main.type.results))
        chooses = [_unsharded(main, *given) for given in zip(kinds, counts)]
        build.allow_spmd_sharding_propagation_to_parameters = chooses[0]
        build.allow_spmd_sharding_propagation_to_output = chooses[1]
    return found


def _unsharded(main, attribute, count):
    """Of each argument, or result, whether the program says nothing of its sharding."""
    given = main.operation.attributes
    if attribute not in given:
        return [True] * count
    return [not any(n in one for n in _SHARDINGS) for one in given[attribute]]


_SHARDINGS = ("sdy.sharding", "mhlo.sharding")


def compile_for(backend, module, devices, options):
    chosen = _jax.xla_client.DeviceList(tuple(devices))
    if backend.runtime_type == "compile_only_runtime":
        return backend.compile(module, executable_devices=chosen, compile_options=options)
    code = io.BytesIO()  # older ones take no modules here
    module.operation.write_bytecode(code)
    return backend.compile_and_load(
        code.getvalue(), executable_devices=chosen, compile_options=options
    )
