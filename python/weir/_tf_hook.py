"""The hook in TensorFlow: every function that is compiled by XLA passes here when it is called.

Without a limit it calls straight through. With one, libweir decides once per function and shapes,
asking TensorFlow's XLA (the referee) as often as it needs. Whatever goes wrong in weir itself costs
a warning, never the program. The note: docs/design/tensorflow.md.
"""

import collections
import contextlib
import functools
import threading

import tensorflow as tf

from weir import _auto, _library, _plan, _say, _settings, _tf, _tf_calls, _tf_options
from weir._say import warn
from weir._tf_program import Program, Unreadable

HOPELESS = 2  # an estimate this many times the limit: the program as it came is not compiled
MOST_VALUES = 16  # of arguments that are part of a program: one that has more of them is left alone
_XLA = "_XlaMustCompile"
_PLAN = "_weir_plans"  # of a function: its _Decisions by limit and shapes
_CALLS = "_weir_calls"  # of a graph: it has calls of ours
_ORIGINAL = "_weir_original"  # of what the hook has put in the place of TensorFlow's
_local = threading.local()
_call = None  # AtomicFunction.call_flat as TensorFlow has it


# ---- what concerns us ----
def is_compiled(function):
    attribute = function.cached_definition.attr.get(_XLA)
    return attribute is not None and attribute.b


def is_passed_over():
    """weir's own calls, and those in functions that XLA compiles as a whole."""
    return getattr(_local, "passed_over", False)


@contextlib.contextmanager
def passed_over(value=True):
    before, _local.passed_over = is_passed_over(), value
    try:
        yield
    finally:
        _local.passed_over = before


def settings_now():
    """Of this thread; None where there is nothing to do."""
    return _settings_under(_settings.local_value())


@functools.lru_cache(64)
def _settings_under(_):
    found = _settings.active()
    if found and found.get("memory_limit_bytes") == _settings.AUTO:
        host = collections.namedtuple("host", "id platform")("tensorflow", "cpu")
        found |= {"memory_limit_bytes": _auto.limit_bytes(host)}
    return found and found | {"platform": b"cpu"}


_TRIALS = ("tensor_size_threshold_bytes", "only_passes", "dump_after")


# ---- calls ----
def call_flat(function, *arguments):
    """AtomicFunction.call_flat"""
    if not _tf_options.is_taken and is_compiled(function):
        _tf_options.take()
    settings = None if is_passed_over() else settings_now()
    if settings is None:
        return _call(function, *arguments)
    if not is_ours(function, arguments):
        return _call(function, *arguments)
    if not tf.executing_eagerly():
        if _tf.is_vectorising():
            return _call(function, *arguments)
        run = functools.partial(call_flat, function)
        return call_when_it_runs(run, function.function_type.flat_outputs, arguments)
    return _run(_decided(function, arguments, settings) or function, arguments)


def is_ours(function, arguments):
    """Whether a call of it in this place is to be compiled by XLA, and no part of one that is."""
    if not is_compiled(function) and not _may_be_compiled(function, arguments):
        return False
    return tf.executing_eagerly() or not _will_be_compiled_whole()


def _may_be_compiled(function, arguments):
    """By WEIR_TF_JIT: XLA knows all that goes in and comes out. Where it doesn't, calls in there
    are ours.
    """
    if not _settings.compiles_all_of_tensorflow():
        return False
    if not any(map(_is_foreign, [*arguments, *function.function_type.flat_outputs])):
        return True
    if tf.executing_eagerly() and not getattr(function.graph, _CALLS, False):
        _say_not_compiled(function.name.decode(), "it takes or returns what XLA does not know")
    return False


def _is_foreign(given):
    """Nothing that XLA knows: a string, an iterator."""
    if _tf.is_handle(given):
        return _tf.variable_type(given) is None
    return given.dtype in (tf.string, tf.variant)


def _run(function, arguments):
    """Python looks for signals while TensorFlow makes the error of a loop that gave up on Ctrl-C:
    one error in place of another is an error of its own there.
    """
    try:
        return _call(function, *arguments)
    except RuntimeError as error:
        if "REPLACED BY KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        raise


def _decided(function, arguments, settings):
    """The function to be called in its place; None: itself."""
    plans = function.__dict__.setdefault(_PLAN, {})
    key = _settings.local_value(), tuple(map(_shape_key, arguments))
    if key not in plans:
        plans[key] = _Decisions(function)
    return plans[key].of(arguments, settings)


class _Decisions:
    """Of a function under one limit for arguments of the same shapes: one for each of the values
    that are part of its program.
    """

    def __init__(self, function):
        self.function, self.places, self.made = function, (), {}

    def of(self, arguments, settings):
        if not self._has(arguments):
            if len(self.made) == MOST_VALUES:
                _say_many_values(self.function.name.decode())
                return None
            with passed_over():
                made, places = _decide(self.function, arguments, settings)
            self._keep(made, places, arguments)
        return self.made[self._values(arguments)]

    def _has(self, arguments):
        return self._values(arguments) in self.made

    def _values(self, arguments):
        return tuple(arguments[place].numpy().tobytes() for place in self.places)

    def _keep(self, made, places, arguments):
        if not set(places) <= set(self.places):
            self.places = tuple(sorted({*self.places, *places}))
            self.made.clear()  # which did not know that these count
        self.made[self._values(arguments)] = made


def _shape_key(argument):
    if not _tf.is_handle(argument):
        return argument.dtype, tuple(argument.shape)
    found = _tf.variable_type(argument)
    return found and (found.dtype, str(found.shape))


def _decide(function, arguments, settings):
    """What is called in place of the function, None: itself; the arguments on whose values that
    depends.
    """
    try:
        program = Program(function, arguments)
    except Exception as error:
        if not is_compiled(function):
            _say_not_compiled(function.name.decode(), str(error))
        return None, ()  # what TensorFlow can't compile, it says itself
    return _decide_of(program, settings), program.baked


def _decide_of(program, settings):
    made = program.text
    plan = None
    if _say.planned() is not None:
        settings = settings | {"data": True, "trace": True}
    try:
        if _fits_anyway(made, settings):
            return _as_it_came(program)
        settings = _tf_calls.with_calls(settings)
        program.read_signature()
        result = _library.rewrite(made, settings, _referee(program, settings))
        if result.status not in (_library.OK, _library.RESOURCE_EXHAUSTED):
            raise RuntimeError(f"{result.status_name}: {result.message}")
        plan = _plan.from_result(program.name(), result)
        if plan.is_unconfirmed and plan.outcome == "rewritten":
            raise RuntimeError("XLA compiles none of the programs that weir made of it")
        _say.dump(program.name(), lambda: made, result)
    except _settings.SettingError:
        raise
    except Unreadable as reason:
        warn(f"weir: {program.name()} runs as it came, without the limit: {reason}")
        return None  # without XLA where it doesn't ask for that: nothing would be gained
    except Exception as error:
        return _failed(program, settings, made, error)
    _note(plan, settings)
    if plan.outcome == "refused" and _say.planned() is None and _settings.runs_over_limit():
        _say.warn_over_limit(program.name(), plan)
    elif plan.outcome == "refused":
        raise tf.errors.ResourceExhaustedError(
            None, None, f"RESOURCE_EXHAUSTED: weir: {result.message.rstrip()}"
        )
    if plan.outcome != "rewritten":
        return _as_it_came(program)
    try:
        return _kept(program, result.text)
    except Exception as error:
        return _failed(program, settings, made, error)


def _failed(program, settings, made, error):
    where = f"cpu, tensorflow {tf.__version__}"
    _say.warn_of_failure(program.name(), where, settings, made, error)
    return _as_it_came(program)


def _fits_anyway(text, settings):
    if _say.planned() is not None or any(settings.get(name) for name in _TRIALS):
        return False
    return _library.fits(text, settings)


def _note(plan, settings):
    if _say.planned() is not None:
        _say.planned().append(plan)
    _say.report(plan, settings)


def _as_it_came(program):
    """None, or the function compiled by XLA where it doesn't ask for that: not anew for each value
    that TensorFlow would put in. None, too, where what was made anew can't be run.
    """
    if is_compiled(program.function):
        return None
    try:
        return _kept(program, program.text if program.is_anew else None)
    except Exception as error:
        warn(f"weir: {program.name()} runs without XLA: {error}")
        return None


def _kept(program, text):
    function = program.runner(text)
    program.keep_only(text)
    function.__dict__[_PLAN + "_of"] = program  # as long as it is called
    return function


def _referee(program, settings):
    """Answers for TensorFlow's XLA. Options per program are none of TensorFlow's: what they would
    change is not counted, and the report is of what runs. The program as it came may need much to
    compile, and is not where the estimate says that it can't hold the limit.
    """
    limit = settings.get("memory_limit_bytes")

    def ask(text, _):
        if text is None and limit and program.estimate > HOPELESS * limit:
            raise RuntimeError("hopeless")
        return program.referee(text)

    return ask


@functools.cache
def _say_many_values(name):
    warn(
        f"weir: {name} runs as it came, without the limit: its program depends on values of "
        f"arguments, of which there are more than {MOST_VALUES}"
    )


@functools.cache
def _say_not_compiled(name, error):
    first = error.strip().splitlines()[0][:300]
    warn(f"weir: WEIR_TF_JIT: {name} runs without XLA and without the limit: {first}")


# ---- calls in graphs that are not compiled ----
def _will_be_compiled_whole():
    """The graph that is being built, by WEIR_TF_JIT: unless something is fed into it that XLA does
    not know.
    """
    if not _settings.compiles_all_of_tensorflow():
        return False
    return not any(_is_foreign(given) for graph in _graphs() for given in getattr(graph, "inputs", ()))


def _graphs():
    """The one that is being built, and those around it."""
    graph = _tf.get_default_graph()
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def call_when_it_runs(call, results, arguments):
    """An op that calls call(*arguments) with tensors: only then their shapes are known. results:
    have dtype and shape. The limit is that of now: the op runs on another thread.
    """
    limit = _settings.local_value()
    kinds = [_tf.is_handle(a) and _tf.kind_of(a) for a in arguments]

    def run(*tensors):
        for tensor, kind in zip(tensors, kinds):
            if kind:
                tensor._handle_data = kind
        with _settings.entered(*limit) if limit else contextlib.nullcontext():
            return list(call(*tensors))

    made = _tf.call_python(
        run, list(arguments), [r.dtype for r in results], stateful=True, use_eager_py_func=True
    )
    for graph in _graphs():
        setattr(graph, _CALLS, True)
    made = list(made) if isinstance(made, (list, tuple)) else [made] * len(results)
    for tensor, result in zip(made, results):
        tensor.set_shape(result.shape)
    return made


def _traced(original):
    """Functions called in one that XLA compiles are a part of it."""

    @functools.wraps(original)
    def create(function_type, type_context, func_graph, tracing_options, *rest, **named):
        attributes = tracing_options.attributes or {}
        with passed_over(is_passed_over() or bool(attributes.get(_XLA))):
            return original(
                function_type, type_context, func_graph, tracing_options, *rest, **named
            )

    return create


# ---- for people ----
def plans_of(function, arguments, named):
    """The plans of function(*arguments), which does not run. `function`: of tf.function, or plain."""
    if not hasattr(function, "get_concrete_function"):
        function = tf.function(function, jit_compile=True)
    traced = function.get_concrete_function(*arguments, **named)
    inner = traced._inference_function
    given = [*_flat_inputs(traced, arguments, named), *traced.captured_inputs]

    def decide():
        with passed_over():
            _decide(inner, given, settings_now() or {"platform": b"cpu"})

    return _say.plans_of(decide, tf.errors.ResourceExhaustedError)


def _flat_inputs(traced, arguments, named):
    if any(isinstance(leaf, tf.TensorSpec) for leaf in tf.nest.flatten((arguments, named))):
        own = traced.inputs[: len(traced.inputs) - len(traced.captured_inputs)]
        return [tf.TensorSpec(given.shape, given.dtype) for given in own]
    kind = traced.function_type
    return kind.unpack_inputs(_tf.bind_inputs(arguments, named, kind))


def install():
    """Puts the hook in, if this TensorFlow has what it needs. Safe to repeat."""
    global _call
    if lacks := _tf.missing():
        warn(
            f"weir: tensorflow {tf.__version__} lacks {lacks}, which weir needs: programs run as "
            "they came, without a limit"
        )
    elif _call is None:
        from weir import _tf_gradient

        for doubt in _settings.doubts():
            warn(doubt)
        _call = replaced(_tf.AtomicFunction, "call_flat", lambda _: call_flat)
        replaced(_tf.tracing, "_create_concrete_function", _traced)
        _tf_gradient.install()


def replaced(owner, name, make):
    """TensorFlow's own, in whose place make(it) is from now on, and nothing that weir, imported
    before, has put there.
    """
    found = getattr(owner, name)
    original = getattr(found, _ORIGINAL, found)
    ours = make(original)
    setattr(ours, _ORIGINAL, original)
    setattr(owner, name, ours)
    return original
