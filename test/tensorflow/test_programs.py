"""Each program runs as TensorFlow has it and under a limit of its arguments, its results and a
tenth of its temporaries: the same results, to rounding, and XLA's report holds the limit.
"""

import numpy as np
import operations  # noqa: F401: more of them
import programs
import pytest
import tensorflow as tf

import weir
from weir import _say, _tf_hook

# Results are those of stock; the limit is refused, and why.
REFUSED = {}


def run(name):
    """What it gives: results of two calls, then the variables."""
    function, arguments, variables = programs.PROGRAMS[name]()
    results = [function(*arguments) for _ in range(2)]
    return tf.nest.map_structure(lambda x: x if x is None else x.numpy(), [results, variables])


def limit_of(name, monkeypatch):
    """Of the largest of its programs."""
    found = [0]
    original = _tf_hook._decide

    def look(function, arguments, settings):
        given, results, aliased, temporaries = _tf_hook.Program(function, arguments).referee(None)
        found.append(given + results - aliased + temporaries // 10)
        return None

    monkeypatch.setattr(_tf_hook, "_decide", look)
    with weir.limit("1TB"):
        run(name)
    monkeypatch.setattr(_tf_hook, "_decide", original)
    return max(found)


def same(one, other):
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        if a is None and b is None:
            continue
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            coarse = a.dtype.itemsize <= 4
            tolerance = (2e-5 if coarse else 1e-11) * max(1.0, np.abs(a).max(initial=0.0))
            np.testing.assert_allclose(b, a, rtol=0, atol=tolerance)


@pytest.mark.filterwarnings("error::weir.WeirWarning")
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_under_a_tenth(name, monkeypatch):
    limit = limit_of(name, monkeypatch)
    assert limit > 0
    stock = run(name)
    monkeypatch.setattr(_say, "last_report", None)
    with weir.limit(limit):
        if name in REFUSED:
            with pytest.raises(tf.errors.ResourceExhaustedError, match=REFUSED[name]):
                run(name)
            return
        ours = run(name)
    report = weir.last_report()
    assert report.outcome == "rewritten" and not report.after_is_estimate
    assert report.peak_after_bytes <= limit < report.peak_before_bytes
    same(stock, ours)
