"""Each program runs as TensorFlow has it and under a limit of its arguments, its results and a
tenth of its temporaries: the same results, to rounding, and XLA's report holds the limit.
"""

import cases
import pytest
import tensorflow as tf
from tenth import REFUSED, run, same, stock_of

import weir
from weir import _say


@pytest.mark.filterwarnings("error::weir.WeirWarning")
@pytest.mark.parametrize("name", cases.PROGRAMS)
def test_under_a_tenth(name, monkeypatch):
    memory, stock = stock_of(name)
    limit = memory.limit
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
    # Stock leaves out roundings to bf16, and a kernel does not: which average out in sums.
    same(stock, ours, **({"coarse": 2**-11} if name == "half_precision" else {}))
