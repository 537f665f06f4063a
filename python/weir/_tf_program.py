"""One function of TensorFlow with arguments of given shapes, as an XLA program.

In:   a function (AtomicFunction) and flat arguments; texts that weir makes of its program.
Out:  the text, as TensorFlow hands it to XLA; what a text needs, by the report of TensorFlow's own
      XLA (BufferAssignment); functions that run one.

A program's parameters are the function's arguments in order, variables by their values. Its results
are those of the function, then the new values of the variables that it assigns, which alias the old
ones. A text of weir's keeps all of that: it runs as an XlaCallModule inside of a function for XLA,
which reads the variables before it and assigns them after it.

TensorFlow puts values of arguments into a program where it can't rule out that they are sizes: of
all that goes into a function inside of the function, say. Then the program is made once more, of
arguments without values. Only those stay in it without which there is none.
"""

import functools
import re

import tensorflow as tf

from weir import _library, _tf

SMALL = 64  # elements of what may say sizes

_MAIN = re.compile(r"^ *func\.func (?:public )?@main\((.*)\) -> (.*) \{$", re.M)
# A top-k says its own size: that is no change.
_SETS_SIZE = re.compile(rb"stablehlo\.set_dimension_size[^\n]*-> tensor<[^\n>]*\?")
_MODULE = re.compile(rb'^module @("[^"]*"|[^ "]+)', re.M)
_TENSOR = re.compile(r"tensor<([^<>]*)>")
_ALIASES = re.compile(r"mhlo\.input_output_alias = \[(.*?)\], mhlo", re.S)
_ALIAS = re.compile(
    r"parameter_index = array<i64>, parameter_number = (\d+) : i64\}, output_index = array<i64: (\d+)>"
)
_SINGLE_ALIAS = re.compile(
    r"parameter_index = array<i64>, parameter_number = (\d+) : i64\}, output_index = array<i64>"
)
_TYPES = {
    tf.bool: "i1",
    **{getattr(tf, f"int{bits}"): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{getattr(tf, f"uint{bits}"): f"ui{bits}" for bits in (8, 16, 32, 64)},
    tf.bfloat16: "bf16",
    **{getattr(tf, f"float{bits}"): f"f{bits}" for bits in (16, 32, 64)},
    tf.complex64: "complex<f32>",
    tf.complex128: "complex<f64>",
}
_DTYPES = {text: dtype for dtype, text in _TYPES.items()}


# What has no portable form: ops of CHLO, which XLA reads as calls of its own ops of that name, and a
# copy, which TensorFlow writes where XLA must not see through.
_COPY = re.compile(r"(?<== )mhlo\.copy(?= %)")
_CHLO = re.compile(r'"chlo\.(\w+)"(\([^()]*\))(?: (?:<\{(.*?)\}>|\{(.*?)\}))?(?= :)')


class Unreadable(Exception):
    """Why the program can't be called as the function is."""


class Program:
    """The StableHLO of a TensorFlow function for these arguments, and how it is called."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, list(arguments)
        self.order = range(len(arguments))  # the arguments that its parameters are
        self.baked = ()  # the arguments whose values are in the text
        self.is_anew = False  # the text is not the one that TensorFlow runs
        self.text = self._named(_tf.compiler_ir(function.name, self.arguments, "stablehlo"))
        self.assigned = self.results = None  # places of arguments; types of results
        self._runners, self._reports = {}, {}
        if len(_signature(self.text)[0]) < len(self.arguments):
            self._leave_values_out()

    def name(self):
        """f, of __inference_f_12"""
        return re.sub(r"^__(inference|forward|backward)_|_\d+$", "", self.function.name.decode())

    def _named(self, text):
        """As people know it."""
        return _MODULE.sub(f'module @"{self.name()}"'.encode(), text, 1)

    def read_signature(self):
        """Raises Unreadable where parameters and results are not those of the function."""
        parameters, results = _signature(self.text)
        if _SETS_SIZE.search(self.text):  # such a program TensorFlow does not call
            raise Unreadable("the sizes of some of its tensors are known only when it runs")
        wanted = [_text_of(*_value_type(self.arguments[place])) for place in self.order]
        if parameters != wanted:
            raise Unreadable(
                "its program depends on values of arguments, or on shapes that are not known before "
                "it runs"
            )
        own = len(self.function.function_type.flat_outputs)
        aliases = sorted(_aliases(self.text.decode()))
        updates = [result for result, _ in aliases]
        if updates != list(range(own, len(results))):
            raise Unreadable("not all of its results are the function's, or variables")
        self.assigned = [self.order[parameter] for _, parameter in aliases]
        self.results = [_type_of(text) for text in results]

    # ---- values of arguments ----
    def _leave_values_out(self):
        """Makes the text anew with the fewest values. It stays as it is where there is none such."""
        small = [i for i, a in enumerate(self.arguments) if _is_small(a)]
        integers = [i for i in small if self.arguments[i].dtype.is_integer]
        for baked in ([], integers, small):
            if self._bake(baked):
                for place in baked:
                    self._bake([i for i in self.baked if i != place])
                return

    def _bake(self, baked):
        """Whether there is a text with the values of these arguments alone: it is taken."""
        rest = [i for i in range(len(self.arguments)) if i not in baked]
        order = sorted(rest, key=lambda i: _tf.is_handle(self.arguments[i]))  # tensors come first
        given = [self.arguments[i] for i in order]
        specs = [tf.TensorSpec(a.shape, a.dtype) for a in given]
        compiled = tf.function(
            lambda *flat: self._original(self._filled(order, flat)),
            jit_compile=True,
            autograph=False,
        )
        before = self.text, self.order, self.baked, self.is_anew
        try:
            name = compiled.get_concrete_function(*specs)._inference_function.name
            abstract = [a if _tf.is_handle(a) else spec for a, spec in zip(given, specs)]
            text = self._named(_tf.compiler_ir(name, abstract, "stablehlo"))
            self.text, self.order, self.baked, self.is_anew = text, order, tuple(baked), True
            self.read_signature()
            return True
        except Exception:  # it has no such program: any error says so
            self.text, self.order, self.baked, self.is_anew = before
            return False

    def _filled(self, order, given):
        """All arguments: those of `order` as given, the others by their values."""
        of = dict(zip(order, given))
        places = range(len(self.arguments))
        return [of[i] if i in of else tf.constant(self.arguments[i].numpy()) for i in places]

    @functools.cached_property
    def estimate(self):
        """Bytes, by weir alone."""
        return _library.rewrite(self.text, {"platform": b"cpu"}, None).peak_before_bytes

    def referee(self, text):
        """(argument, output, alias, temp) bytes of `text`, of the program as it came for None."""
        if text not in self._reports:
            function = self.function if text is None else self.runner(text)
            report = _tf.compiler_ir(
                function.name, self.arguments, "optimized_hlo_proto_serialized"
            )
            self._reports[text] = _memory(report)
        return self._reports[text]

    def runner(self, text):
        """The function, compiled by XLA, that runs `text`; None: the program as it came."""
        if text not in self._runners:
            body = self._original if text is None else functools.partial(self._run, text)
            compiled = tf.function(lambda *flat: body(flat), jit_compile=True, autograph=False)
            specs = [tf.TensorSpec(a.shape, a.dtype) for a in self.arguments]
            traced = compiled.get_concrete_function(*specs)
            self._runners[text] = traced._inference_function, traced
        return self._runners[text][0]

    def keep_only(self, text):
        """Of what was made for the referee, and of the arguments."""
        self._runners = {text: self._runners[text]} if text in self._runners else {}
        self._reports = self.arguments = self.text = None

    def _original(self, flat):
        for given, real in zip(flat, self.arguments):
            if _tf.is_handle(real):
                _tf.handle_data.copy_handle_data(real, given)
        return list(self.function.call_flat(*flat))

    def _run(self, text, flat):
        values = [self._value(self.arguments[place], flat[place]) for place in self.order]
        version = _tf.stablehlo.get_current_version()
        results = _tf.call_module(
            args=values,
            version=min(9, _tf.call_module_version()),
            module=_tf.stablehlo.serialize_portable_artifact_str(_portable(text), version),
            Tout=[dtype for dtype, _ in self.results],
            Sout=[shape for _, shape in self.results],
            platforms=["CPU"],
            disabled_checks=["platform", "shape_assertions"],
        )
        own = len(self.results) - len(self.assigned)
        for at, value in zip(self.assigned, results[own:]):
            tf.raw_ops.AssignVariableOp(resource=flat[at], value=value)
        return list(results[:own])

    @staticmethod
    def _value(real, given):
        if not _tf.is_handle(real):
            return given
        dtype, shape = _value_type(real)
        value = tf.raw_ops.ReadVariableOp(resource=given, dtype=dtype)
        value.set_shape(shape)
        return value


def _signature(text):
    """The types of parameters and results."""
    header = _MAIN.search(text.decode())
    if header is None:
        raise Unreadable("its text has no function main")
    return [_tensors(part) for part in header.groups()]


def _is_small(argument):
    """A tensor that may be a size."""
    return hasattr(argument, "numpy") and not _tf.is_handle(argument) and tf.size(argument) <= SMALL


def _portable(text):
    def call(found):
        name, operands, *attributes = found.groups()
        attributes = next(filter(None, attributes), "")
        if name == "top_k":
            name, attributes = "topk", f"{attributes}, largest = true"
        return (
            f'"stablehlo.custom_call"{operands} {{call_target_name = "mhlo.{name}", '
            f"mhlo.attributes = {{{attributes}}}, mhlo.version = 1 : i64}}"
        )

    return _COPY.sub("stablehlo.optimization_barrier", _CHLO.sub(call, text.decode()))


def _tensors(text):
    return [found.replace("?", "unknown") for found in _tensor_texts(text)]


def _tensor_texts(text):
    flat = text.replace("complex<f32>", "complex(f32)").replace("complex<f64>", "complex(f64)")
    return [t.replace("(", "<").replace(")", ">") for t in _TENSOR.findall(flat)]


def _value_type(argument):
    if not _tf.is_handle(argument):
        return argument.dtype, argument.shape
    found = _tf.variable_type(argument)
    if found is None:
        raise Unreadable("it takes something that is neither a tensor nor a variable")
    return tf.as_dtype(found.dtype), tf.TensorShape(found.shape)


def _text_of(dtype, shape):
    return "x".join([*map(str, shape), _TYPES.get(dtype, dtype.name)])


def _type_of(text):
    *sizes, element = text.split("x") if not text.endswith(">") else _split_complex(text)
    if element not in _DTYPES or not all(size.isdigit() for size in sizes):
        raise Unreadable(f"it has a result of type {text}")
    return _DTYPES[element], tf.TensorShape([int(size) for size in sizes])


def _split_complex(text):
    sizes, _, element = text.rpartition("complex")
    return [*filter(None, sizes.split("x")), f"complex{element}"]


def _aliases(text):
    """(result, parameter) of each"""
    found = _ALIASES.search(text)
    attribute = found[1] if found else ""
    yield from ((int(result), int(parameter)) for parameter, result in _ALIAS.findall(attribute))
    yield from ((0, int(parameter)) for parameter in _SINGLE_ALIAS.findall(attribute))


def _memory(serialized):
    """As XLA's CompiledMemoryStats counts: constants are part of the program."""
    report = _tf.hlo_pb2.HloProto.FromString(serialized)
    arguments = results = aliased = temporaries = 0
    for buffer in report.buffer_assignment.buffer_allocations:
        if buffer.is_entry_computation_parameter:
            arguments += buffer.size
            aliased += buffer.size * buffer.maybe_live_out
        if buffer.maybe_live_out:
            results += buffer.size
        elif not (
            buffer.is_entry_computation_parameter or buffer.is_constant or buffer.is_thread_local
        ):
            temporaries += buffer.size
    return arguments, results, aliased, temporaries
