"""Takes down the programs that the tests of Python rewrite, with the arguments of `weir opt` and
the inputs, so that they can be tried again without JAX.

A plugin of pytest in place of parts of test/python/running.py: XLA is the evaluator here, which
takes no compilation. What is too much for it is skipped, and what the tests find is not looked at.
"""

import collections
import pathlib
import random
import subprocess
import tempfile

import numpy as np
import pytest
import running

MOST_BYTES = 4 << 20  # of inputs
SECONDS = 2  # of CPU that the evaluator may take
TooMuch = pytest.skip.Exception


def evaluated(text, inputs):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, out = folder / "program.mlir", folder / "out"
        program.write_text(text)
        out.mkdir()
        files = [folder / f"in{i}.npy" for i in range(len(inputs))]
        for path, array in zip(files, inputs):
            np.save(path, array)
        limits = f'ulimit -t {SECONDS}; exec "$@"'
        command = [
            "sh",
            "-c",
            limits,
            "sh",
            running.BUILD / "tools/weir_eval",
            program,
            *files,
            out,
        ]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            pytest.skip("too much for the evaluator")
        return [np.load(out / f"{i}.npy") for i in range(len(list(out.iterdir())))]


class Harvest:
    """ways: text -> names and arguments; inputs: text -> arrays."""

    def __init__(self, most):
        self.most, self.counts = most, collections.Counter()
        self.ways, self.inputs, self.origin = {}, {}, {}
        self.opt, harvest = running.opt, self
        running.opt = self.rewrite
        running.Evaluator.__call__ = lambda self, text: harvest.run(
            text, [np.load(path) for path in self.files]
        )
        running.Xla = self.compiled

    def pytest_collection_modifyitems(self, items):
        """Some of each kind, not the first ones."""
        random.Random(1).shuffle(items)

    def pytest_runtest_setup(self, item):
        if self.counts[item.path] >= self.most:
            pytest.skip("enough of this file")
        self.path = item.path

    def rewrite(self, program, *arguments, refused=None):
        text, words = pathlib.Path(program).read_text(), tuple(map(str, arguments))
        result = self.opt(program, *arguments, refused=refused)
        if result != text and "-o" not in words:
            self.counts[self.path] += text not in self.ways
            self.ways.setdefault(text, set()).add(words)
            self.origin[result] = text
        return result

    def run(self, text, inputs):
        inputs = running.stored(inputs)
        if sum(a.nbytes for a in inputs) > MOST_BYTES:
            pytest.skip("too much for the evaluator")
        self.inputs[self.origin.get(text, text)] = inputs
        return evaluated(text, inputs)

    def compiled(self, text, options=None, as_users=False):
        return lambda *inputs: self.run(text, inputs)

    def programs(self):
        """(text, inputs, ways) of what was run."""
        for text, ways in self.ways.items():
            if text in self.inputs:
                yield text, self.inputs[text], sorted(ways)


def of_tests(files, most):
    """Runs the tests; at most so many programs of each file."""
    harvest = Harvest(most)
    pytest.main(["-q", "--no-header", "-p", "no:xdist", "--tb=no", *map(str, files)], [harvest])
    return harvest.programs()
