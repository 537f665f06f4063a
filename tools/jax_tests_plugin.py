"""The pytest plugin of tools/jax_tests.py: runs inside of the process that has JAX's tests.

In: the file that the environment variable WEIR_JAX_TESTS names, JSON: {"out": file, "tests": number
or null (all), "only": [id] or null, "done": [id], "weir": bool, "temporaries": bool}. Out: one JSON
object per line: what was collected; each test when it starts and when it ends, with digests of the
programs that went to XLA and of the arrays that it compared, and with what weir did.

The recorder sits between weir and XLA. What it costs is measured and given with each test.
"""

import hashlib
import io
import json
import os
import pathlib
import time

import pytest

JOB = json.loads(pathlib.Path(os.environ["WEIR_JAX_TESTS"]).read_text())
MESSAGE_CHARACTERS = 6000
OUTCOMES = ("untouched", "options", "rewritten")


class Record:
    """What one test did, so far."""

    def __init__(self):
        self.programs, self.values = [], []
        self.weir = dict.fromkeys((*OUTCOMES, "refused", "failed"), 0)
        self.loops, self.kernels, self.warnings = 0, 0, []
        self.recording_s = self.weir_s = 0.0
        self.outcome, self.message, self.started = "passed", "", clock()

    def summary(self):
        def digest(parts):
            return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]

        return {
            "outcome": self.outcome,
            "seconds": round(clock() - self.started - self.recording_s, 4),
            "message": self.message[-MESSAGE_CHARACTERS:],
            "programs": len(self.programs),
            "program_digest": digest(sorted(self.programs)),  # threads may change places
            "values": len(self.values),
            "value_digest": digest(self.values),
            "weir": {name: count for name, count in self.weir.items() if count},
            "loops": self.loops,
            "kernels": self.kernels,
            "weir_seconds": round(self.weir_s, 4),
            "warnings": self.warnings,
        }


clock = time.process_time  # of all threads: what else the machine does is not counted
now = Record()


def timed(function):
    def recorder(*arguments):
        started = clock()
        function(*arguments)
        now.recording_s += clock() - started

    return recorder


@timed
def record_program(computation, options):
    text = io.BytesIO()
    computation.operation.write_bytecode(text)
    now.programs.append(
        hashlib.sha256(text.getvalue() + options.SerializeAsString()).hexdigest()[:16]
    )


@timed
def record_values(values):
    import jax
    import numpy

    for value in values:
        if isinstance(value, (numpy.ndarray, jax.Array)):
            try:
                array = numpy.asarray(value)
                found = f"{array.dtype}{array.shape}".encode() + array.tobytes()
            except Exception:  # keys, deleted arrays, arrays of other processes
                continue
            now.values.append(hashlib.sha256(found).hexdigest()[:16])


def watch_xla():
    from jax._src import compiler

    original = compiler.compile_or_get_cached

    def compile_or_get_cached(backend, computation, devices, compile_options, *rest, **named):
        started = clock()
        record_program(computation, compile_options)
        try:
            return original(backend, computation, devices, compile_options, *rest, **named)
        finally:
            now.weir_s -= clock() - started  # XLA's and the recorder's part of weir's

    compiler.compile_or_get_cached = compile_or_get_cached


def watch_comparisons():
    try:
        from jax._src import test_util
    except ModuleNotFoundError:  # of absl: then no test of the file has it either
        return

    def watched(original):
        def compare(self, *values, **named):
            record_values(values)
            return original(self, *values, **named)

        return compare

    for name in ("assertArraysEqual", "assertArraysAllClose", "assertAllClose"):
        setattr(
            test_util.JaxTestCase, name, watched(getattr(test_util.JaxTestCase, name))
        )


def watch_weir():
    """Puts weir over the recorder. A warning of weir's is written down instead: JAX's tests make
    errors of warnings.
    """
    import weir
    from jax._src import compiler
    from weir import _hook, _library

    weir.initialize()
    rewrite = _library.rewrite

    def watched(*arguments):
        result = rewrite(*arguments)
        if result.status == _library.OK:
            now.weir[OUTCOMES[result.outcome]] += 1
        elif result.status == _library.RESOURCE_EXHAUSTED:
            now.weir["refused"] += 1
        now.loops += len(result.loops)
        now.kernels += sum(loop.is_kernel for loop in result.loops)
        return result

    def warned(message):
        now.warnings.append(message)
        now.weir["failed"] += "over several devices" not in message

    hooked = compiler.compile_or_get_cached

    def compile_or_get_cached(*arguments, **named):
        started = clock()
        try:
            return hooked(*arguments, **named)
        finally:
            now.weir_s += clock() - started

    compiler.compile_or_get_cached = compile_or_get_cached
    _library.rewrite, _hook.warn = watched, warned


def identity(value):
    """(a value equal to `value`, the ops that read it); None for types without such an op."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    kind = ir.RankedTensorType(value.type)
    element = kind.element_type
    if not kind.has_static_shape:
        return None
    if isinstance(element, ir.ComplexType):
        real = ir.RankedTensorType.get(kind.shape, element.element_type)
        parts = [hlo.RealOp(value, results=[real]), hlo.ImagOp(value, results=[real])]
        return hlo.complex(*parts), [part.operation for part in parts]
    if not isinstance(element, (ir.IntegerType, ir.F64Type, ir.F32Type, ir.F16Type, ir.BF16Type)):
        return None
    least = hlo.MinOp(value, value)
    return least.result, [least.operation]


def with_temporaries(module):
    """The module, with arguments and results of main taken through identities: in a program of a
    single operation nothing else is there to be split.
    """
    from jax._src.lib.mlir import ir

    text = io.BytesIO()
    module.operation.write_bytecode(text)
    with module.context, ir.Location.unknown():
        module = ir.Module.parse(text.getvalue(), context=module.context)
        main = next(
            op
            for op in module.body
            if op.operation.name == "func.func" and op.name.value == "main"
        )
        block = main.regions[0].blocks[0]
        end = list(block.operations)[-1].operation
        with ir.InsertionPoint.at_block_begin(block):
            for value in filter(is_tensor, block.arguments):
                if found := identity(value):
                    value.replace_all_uses_except(*found)
        with ir.InsertionPoint(end):
            for i, value in enumerate(end.operands):
                if is_tensor(value) and (found := identity(value)):
                    end.operands[i] = found[0]
    return module


def is_tensor(value):
    from jax._src.lib.mlir import ir

    return isinstance(value.type, ir.RankedTensorType)


def add_temporaries():
    """In front of everything else."""
    from jax._src import compiler

    original = compiler.compile_or_get_cached

    def compile_or_get_cached(backend, computation, devices, compile_options, *rest, **named):
        if compile_options.num_replicas * compile_options.num_partitions == 1:
            computation = with_temporaries(computation)
        return original(backend, computation, devices, compile_options, *rest, **named)

    compiler.compile_or_get_cached = compile_or_get_cached


def write(**line):
    with open(JOB["out"], "a") as out:
        out.write(json.dumps(line) + "\n")


def test_id(node_id):
    return node_id.partition("::")[2]


def pytest_configure(config):
    watch_xla()
    watch_comparisons()
    if JOB["weir"]:
        watch_weir()
    if JOB["temporaries"]:
        add_temporaries()


def sampled(items):
    """The same tests in every run, and among those of a larger sample."""

    def rank(item):
        return hashlib.sha256(test_id(item.nodeid).encode()).digest()

    if JOB["only"] is not None:
        wanted = set(JOB["only"])
        return {item for item in items if test_id(item.nodeid) in wanted}
    return set(sorted(items, key=rank)[: JOB["tests"]])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    chosen, done = sampled(items), set(JOB["done"])
    write(collected=len(items), chosen=[test_id(i.nodeid) for i in items if i in chosen])
    items[:] = [i for i in items if i in chosen and test_id(i.nodeid) not in done]


def pytest_runtest_logstart(nodeid):
    global now
    now = Record()
    write(start=test_id(nodeid))


def pytest_runtest_logreport(report):
    if report.outcome == "failed" or (report.outcome == "skipped" and now.outcome == "passed"):
        now.outcome, now.message = report.outcome, str(report.longrepr)


def pytest_runtest_logfinish(nodeid):
    write(end=test_id(nodeid), **now.summary())
