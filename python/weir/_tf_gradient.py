"""Gradients by a tape outside of a compiled function.

TensorFlow keeps what the gradient needs as results of the function, which no rewriting makes
smaller. Here the function runs as it is without a tape, and its gradient is a program of its own
that computes the function anew: a checkpoint at its border. That is done where computing it anew
gives the same: a function that assigns variables or draws stateful random numbers keeps
TensorFlow's own gradient. Variables that have changed in between get their old values back for as
long as the gradient runs.
"""

import contextlib
import functools

import numpy as np
import tensorflow as tf

from weir import _tf, _tf_hook

_GRADIENT = "_weir_gradient"
_call = None  # ConcreteFunction._call_flat as TensorFlow has it
# Ops with state that give the same when they are run again: others write, or draw.
_REPEATABLE = {
    *("Placeholder", "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
    *("StatefulPartitionedCall", "PartitionedCall", "While", "If", "Case", "Assert", "_Arg"),
}


def call_flat(self, tensor_inputs, captured_inputs):
    """ConcreteFunction._call_flat"""
    arguments = [*tensor_inputs, *captured_inputs]
    if not _is_ours(self, arguments):
        return _call(self, tensor_inputs, captured_inputs)
    values = [_value(a) if _tf.is_handle(a) else None for a in arguments]
    with _tf.record.stop_recording():
        results = self._inference_function.call_flat(*arguments)
    backward = functools.partial(_backward, _gradient_of(self), arguments, values)
    _tf.record.record_operation("WeirCall", list(results), arguments, backward)
    return self.function_type.pack_output(results)


def _is_ours(concrete, arguments):
    if _tf_hook.is_passed_over() or _tf_hook.settings_now() is None:
        return False
    if _tf.record.could_possibly_record():  # a tape watches what it sees
        for variable in concrete._func_graph.variables:
            _tf.variables.variable_accessed(variable)
    watched = _tf.gradients.PossibleTapeGradientTypes(arguments)
    if watched == _tf.gradients.POSSIBLE_GRADIENT_TYPES_NONE:
        return False
    if tf.executing_eagerly() and _tf.forward_accumulators.pack_tangents(arguments).indices:
        return False
    ours = _tf_hook.is_ours(concrete._inference_function, arguments)
    return ours and _gradient_of(concrete) is not None


def _value(handle):
    dtype, shape = _tf.variable_type(handle).dtype, _tf.variable_type(handle).shape
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
    value.set_shape(shape)
    return value


# ---- the gradient's program ----
class _Gradient:
    """Of a function: one that takes its arguments and the gradients of its results."""

    def __init__(self, concrete):
        self.concrete = concrete
        graph = concrete._func_graph
        self.inputs = [i for i, x in enumerate(graph.inputs) if _may_differ(x)]
        # TensorFlow appends to the graph's outputs what its own gradients need.
        own = graph.outputs[: len(concrete._inference_function.function_type.flat_outputs)]
        self.results = [i for i, y in enumerate(own) if y.dtype.is_floating or y.dtype.is_complex]
        self.function = tf.function(self._compute, jit_compile=True, autograph=False)

    def _compute(self, arguments, gradients):
        own = self.concrete
        for given, inner in zip(arguments, own._func_graph.inputs):
            if _tf.is_handle(given):
                _tf.handle_data.copy_handle_data(inner, given)
        watched = [arguments[i] for i in self.inputs]
        captured = len(own.captured_inputs)
        with tf.GradientTape() as tape:
            tape.watch(watched)
            split = len(arguments) - captured
            made = _call(own, list(arguments[:split]), list(arguments[split:]))
            flat = [y for y in tf.nest.flatten(made, expand_composites=True) if y is not None]
        return tape.gradient([flat[i] for i in self.results], watched, gradients)


def _may_differ(tensor):
    if not _tf.is_handle(tensor):
        return tensor.dtype.is_floating or tensor.dtype.is_complex
    found = _tf.variable_type(tensor)
    return found is not None and tf.as_dtype(found.dtype).is_floating


def _gradient_of(concrete):
    """None where computing the function anew may give something else."""
    if not hasattr(concrete, _GRADIENT):
        repeatable = _is_repeatable(concrete.graph)
        setattr(concrete, _GRADIENT, _Gradient(concrete) if repeatable else None)
    return getattr(concrete, _GRADIENT)


def _is_repeatable(graph):
    definition = graph.as_graph_def()
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    functions = {f.signature.name for f in definition.library.function}
    return all(
        name in _REPEATABLE or name in functions or not _has_state(name)
        for name in {node.op for node in nodes}
    )


def _has_state(name):
    definition = _tf.op_definition(name)
    return definition is None or definition.is_stateful


# ---- when the tape asks ----
def _backward(gradient, arguments, values, *given):
    wanted = [given[i] for i in gradient.results]
    saved = [value for value in values if value is not None]
    if tf.executing_eagerly():
        made = _run(gradient, arguments, saved, wanted)
    else:
        made = _call_when_it_runs(gradient, arguments, saved, wanted)
    found = [None] * len(arguments)
    for place, value in zip(gradient.inputs, made):
        found[place] = value
    return found


def _run(gradient, arguments, saved, wanted):
    handles = [a for a in arguments if _tf.is_handle(a)]
    with _with_values(handles, saved):
        return gradient.function(tuple(arguments), list(wanted))


@contextlib.contextmanager
def _with_values(handles, saved):
    """The variables have these values again. No copies: a value that is held is not overwritten."""
    changed = [(h, old, _value(h)) for h, old in zip(handles, saved)]
    changed = [(h, old, now) for h, old, now in changed if not _is_same_buffer(old, now)]
    try:
        for handle, old, _ in changed:
            tf.raw_ops.AssignVariableOp(resource=handle, value=old)
        yield
    finally:
        for handle, _, now in changed:
            tf.raw_ops.AssignVariableOp(resource=handle, value=now)


def _is_same_buffer(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.__array_interface__["data"][0] == other.__array_interface__["data"][0]


def _call_when_it_runs(gradient, arguments, saved, wanted):
    """_run() as an op of a graph; gradients that are None in every case stay None."""
    with _tf_hook.passed_over():
        traced = gradient.function.get_concrete_function(tuple(arguments), wanted)
        if _tf.is_vectorising():
            return gradient.function(tuple(arguments), wanted)
    there = [i for i, made in enumerate(traced.structured_outputs) if made is not None]
    ends = len(arguments), len(arguments) + len(saved)

    def run(*tensors):
        made = _run(gradient, tensors[: ends[0]], tensors[ends[0] : ends[1]], tensors[ends[1] :])
        return [tf.convert_to_tensor(made[i]) for i in there]

    kinds = [_kind(arguments[gradient.inputs[i]]) for i in there]
    made = _tf_hook.call_when_it_runs(run, kinds, [*arguments, *saved, *wanted])
    found = [None] * len(gradient.inputs)
    for place, value in zip(there, made):
        found[place] = value
    return found


def _kind(argument):
    if not _tf.is_handle(argument):
        return tf.TensorSpec(argument.shape, argument.dtype)
    found = _tf.variable_type(argument)
    return tf.TensorSpec(found.shape, found.dtype)


def install():
    global _call
    _call = _tf_hook.replaced(_tf.ConcreteFunction, "_call_flat", lambda _: call_flat)
