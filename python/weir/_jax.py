"""What weir takes of JAX that JAX does not promise to keep, or only newer ones have: all of it.

A name that this jax lacks is None here, and missing() says which: weir then warns, and programs run
as they came.
"""

import functools
import inspect

from weir._names import find

compiler = find("jax._src:compiler")
ir = find("jax._src.lib.mlir:ir")
passmanager = find("jax._src.lib.mlir:passmanager")
xla_client = find("jax._src.lib:xla_client")
MeshComputation = find("jax._src.interpreters.pxla:MeshComputation")
get_compile_options = find("jax._src.compiler:get_compile_options")
distributed = find("jax._src.distributed:global_state")
are_hlo_shardings_equal = find("jax._src.op_shardings:are_hlo_shardings_equal")

_COMPILE = "jax._src.compiler:compile_or_get_cached"
_PARAMETERS = ("backend", "computation", "devices", "compile_options")
OLDEST = (0, 7, 2)
# Without these the hook can't be put in, nor take its own compiler options out.
FOR_THE_HOOK = (_COMPILE, "jax._src.lib:xla_client.CompileOptions.env_option_overrides")
# Without these it lets every program through.
FOR_A_LIMIT = (
    *FOR_THE_HOOK,
    "jax:make_user_context",
    "jax.errors:JaxRuntimeError",
    "jax._src.interpreters.pxla:MeshComputation.compile",
    "jax._src.lib.mlir:ir.Module.parse",
    "jax._src.lib.mlir:ir.StringAttr",
    "jax._src.lib:xla_client.LoadedExecutable.get_compiled_memory_stats",
)
# Without these it lets programs over several devices through.
FOR_SHARDINGS = (
    "jax._src.lib.mlir:passmanager.PassManager.parse",
    "jax._src.op_shardings:are_hlo_shardings_equal",
    "jax._src.lib:xla_client.HloSharding.from_proto",
    "jax._src.lib:xla_client.LoadedExecutable.get_parameter_shardings",
    "jax._src.lib:xla_client.LoadedExecutable.get_output_shardings",
)

# Without these programs stay on one device.
FOR_A_MESH = ("jax:set_mesh", "jax.sharding:Mesh", "jax.sharding:AxisType.Auto")

# Without these WEIR_DEVICES says nothing.
FOR_ALL_DEVICES = (
    *FOR_A_MESH,
    "jax._src.xla_bridge:_init_backend",
    "jax._src.xla_bridge:_backend_factories",
    "jax._src.xla_bridge:backends_are_initialized",
    "jax._src.config:abstract_mesh_context_manager.set_global",
    "jax._src.config:device_context.set_global",
)

# Without these predictions decide what is faster.
FOR_TIMING = (
    "jax:live_arrays",
    "jax:ensure_compile_time_eval",
    "jax._src.lib.mlir:ir.RankedTensorType",
    "jax._src.lib:xla_client.LoadedExecutable.execute",
)

# Without these plans for devices that are not here are by estimate.
FOR_DEVICES = (
    "jax._src.compiler:get_compile_options",
    "jax._src.lib:xla_client.DeviceList",
    "jax.experimental.topologies:get_topology_desc",
)


def _is_missing(path):
    found = find(path)
    if path != _COMPILE or found is None:
        return found is None
    return tuple(inspect.signature(found).parameters)[: len(_PARAMETERS)] != _PARAMETERS


@functools.cache
def missing(paths):
    """Those of `paths` (a tuple) that this jax lacks, as text; "" if it has them all."""
    return ", ".join(path.replace(":", ".") for path in paths if _is_missing(path))


def remedy():
    """What to do about a jax that lacks something."""
    import jax

    if jax.__version_info__ < OLDEST:
        return f"weir needs jax {'.'.join(map(str, OLDEST))} or newer"
    return "an older jax has it; perhaps a newer weir does without"


def exclude_from_tracebacks(files):
    """JAX leaves frames of these files out of the tracebacks that users see."""
    register = find("jax._src.traceback_util:register_exclusion")
    for file in files if register else ():
        register(file)


def over_all(mesh):
    """A context: programs of one device that are compiled in it run on the mesh's devices, as whole
    on each of them.
    """
    import jax

    return jax.set_mesh(_on_one_axis(mesh.devices.reshape(-1)))


def _on_one_axis(devices):
    import jax

    return jax.sharding.Mesh(devices, ("weir",), axis_types=(jax.sharding.AxisType.Auto,))


def always_over_all():
    """As over_all() for the whole process, with the devices of the default backend: at once, or as
    soon as JAX has made it.
    """
    bridge = find("jax._src:xla_bridge")
    if bridge.backends_are_initialized():
        import jax

        _be_over(jax.devices())
    elif not hasattr(bridge._init_backend, "_weir_original"):
        bridge._init_backend = _watched(bridge._init_backend, bridge)


def _watched(original, bridge):
    """bridge.backends() makes one after the other; that of the highest priority, or the first of
    those that JAX_PLATFORMS lists, is the default.
    """
    highest = None

    @functools.wraps(original)
    def init_backend(platform):
        nonlocal highest
        backend = original(platform)
        is_listed = bool(find("jax:config").jax_platforms)
        priority = 0 if is_listed else bridge._backend_factories[platform].priority
        if highest is None or priority > highest:
            highest = priority
            _be_over(backend.devices())
        return backend

    init_backend._weir_original = original
    return init_backend


def _be_over(devices):
    """Programs of this process, of whatever thread, are for these devices."""
    config, mesh = find("jax._src:config"), None
    if len(devices) > 1:
        mesh = _on_one_axis(find("numpy:array")(devices))
    config.abstract_mesh_context_manager.set_global(mesh.abstract_mesh if mesh else None)
    config.device_context.set_global(mesh)


def is_under_jit():
    """Whether a function is being traced; False where this jax doesn't tell."""
    tells = find("jax._src.core:unsafe_am_i_under_a_jit")
    return bool(tells and tells())
