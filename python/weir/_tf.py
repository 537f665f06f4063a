"""What weir takes of TensorFlow that TensorFlow does not promise to keep: all of it.

A name that this TensorFlow lacks is None here, and missing() says which: weir then warns, and
programs run as they came.
"""

import functools

from weir import _tf_options
from weir._names import find

_EAGER = "tensorflow.python.eager"
_POLYMORPHIC = f"{_EAGER}.polymorphic_function"

AtomicFunction = find(f"{_POLYMORPHIC}.atomic_function:AtomicFunction")
ConcreteFunction = find(f"{_POLYMORPHIC}.concrete_function:ConcreteFunction")
tracing = find(f"{_POLYMORPHIC}.tracing_compilation:")
get_context = find(f"{_EAGER}.context:context")
bind_inputs = find(f"{_POLYMORPHIC}.function_type_utils:canonicalize_function_inputs")
record = find(f"{_EAGER}.record:")
forward_accumulators = find(f"{_EAGER}.forwardprop_util:")
gradients = find("tensorflow.python.ops.gradients_util:")
get_default_graph = find("tensorflow.python.framework.ops:get_default_graph")
op_definition = find("tensorflow.python.framework.op_def_registry:get")
handle_data = find("tensorflow.python.ops.handle_data_util:")
variables = find("tensorflow.python.ops.resource_variable_ops:")
call_python = find("tensorflow.python.ops.script_ops:_internal_py_func")
call_module = find("tensorflow.compiler.tf2xla.ops.gen_xla_ops:xla_call_module")
call_module_version = find(
    "tensorflow.compiler.tf2xla.python.xla:call_module_maximum_supported_version"
)
stablehlo = find("tensorflow.compiler.mlir.stablehlo.stablehlo:")
hlo_pb2 = find("tensorflow.compiler.xla.service.hlo_pb2:")

NEEDED = (
    f"{_POLYMORPHIC}.atomic_function:AtomicFunction.call_flat",
    f"{_POLYMORPHIC}.concrete_function:ConcreteFunction._call_flat",
    f"{_POLYMORPHIC}.tracing_compilation:_create_concrete_function",
    f"{_POLYMORPHIC}.function_type_utils:canonicalize_function_inputs",
    f"{_EAGER}.context:Context.get_compiler_ir",
    f"{_EAGER}.record:record_operation",
    f"{_EAGER}.forwardprop_util:pack_tangents",
    "tensorflow.python.ops.gradients_util:PossibleTapeGradientTypes",
    "tensorflow.python.framework.op_def_registry:get",
    "tensorflow.python.ops.handle_data_util:copy_handle_data",
    "tensorflow.python.ops.resource_variable_ops:variable_accessed",
    "tensorflow.python.ops.script_ops:_internal_py_func",
    "tensorflow.compiler.tf2xla.ops.gen_xla_ops:xla_call_module",
    "tensorflow.compiler.tf2xla.python.xla:call_module_maximum_supported_version",
    "tensorflow.compiler.mlir.stablehlo.stablehlo:serialize_portable_artifact_str",
    "tensorflow.compiler.xla.service.hlo_pb2:HloProto",
)


@functools.cache
def missing():
    """What this TensorFlow lacks, as text; "" if it has all."""
    return ", ".join(path.replace(":", ".") for path in NEEDED if find(path) is None)


def compiler_ir(name, arguments, stage):
    """The program that XLA gets of the function, or what it makes of it, as bytes. Raises where
    TensorFlow can't compile it. arguments: flat; tensors, handles of variables, or tf.TensorSpec,
    and no handle before the last of these.
    """
    _tf_options.take()
    first = next((i for i, a in enumerate(arguments) if is_handle(a)), len(arguments))
    return get_context().get_compiler_ir(
        device_name="/job:localhost/replica:0/task:0/device:CPU:0",
        platform_name=None,
        function_name=name,
        flat_args=list(arguments[:first]),
        captured_inputs=list(arguments[first:]),
        stage=stage,
    )


def is_handle(argument):
    return argument.dtype.name == "resource"


def variable_type(handle):
    """(dtype, shape) of the variable; None if it is no variable, or not said of which shape."""
    data = kind_of(handle)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    return data.shape_and_type[0]


def kind_of(handle):
    """What it is a handle of; None: not said."""
    data = getattr(handle, "_handle_data", None)
    if data is None and not hasattr(handle, "numpy"):
        data = handle_data.get_resource_handle_data(handle)
    return data


def is_vectorising():
    """Whether a loop's body is being built for tf.vectorized_map, jacobians say, which can't take
    ops that call Python.
    """
    return "loop_body" in get_default_graph().get_name_scope().split("/")
