"""A program as TensorFlow has it, and under a limit of its arguments, its results and a tenth of its
temporaries: for tests, and for bench/tf_programs.py.
"""

import dataclasses
from unittest import mock

import operations  # noqa: F401: more of them
import cases
import numpy as np
import tensorflow as tf

import weir
from weir import _tf_hook

# Results are those of stock; the limit is refused, and why.
REFUSED = {}


def made(name):
    function, arguments, variables = cases.PROGRAMS[name]()
    return lambda: function(*arguments), variables


def same(one, other, coarse=2e-5):
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        if a is None and b is None:
            continue
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            tolerance = (coarse if a.dtype.itemsize <= 4 else 1e-11) * max(1.0, np.abs(a).max(initial=0.0))
            np.testing.assert_allclose(b, a, rtol=0, atol=tolerance)


def run(name):
    """What it gives: results of two calls, then the variables."""
    call, variables = made(name)
    results = [call() for _ in range(2)]
    return tf.nest.map_structure(lambda x: x if x is None else x.numpy(), [results, variables])


@dataclasses.dataclass
class Memory:
    """What TensorFlow's XLA reports of the program as it came, in bytes."""

    kept: int  # arguments + results - aliased
    temporaries: int

    @property
    def limit(self):
        return self.kept + self.temporaries // 10


def stock_of(name):
    """Memory of that one of its programs whose limit is the largest, and what it gives (run)."""
    found = []

    def look(function, arguments, settings):
        given, results, aliased, temporaries = _tf_hook.Program(function, arguments).referee(None)
        found.append(Memory(given + results - aliased, temporaries))
        return None, ()

    with mock.patch.object(_tf_hook, "_decide", look), weir.limit("1TB"):
        results = run(name)
    return max(found, key=lambda memory: memory.limit, default=None), results
