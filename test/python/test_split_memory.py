"""The corpus's memory cases, rewritten under their limits: XLA's own report of what comes out stays
below.

XLA compiles what weir settles for, as in JAX (the referee of the ladder); what it would say of the
program as it is stands in the corpus. Only the cheapest programs also run.
"""

import sys

import pytest

import running
from weir import _library

sys.path.insert(0, str(running.ROOT / "test/corpus"))
import check  # noqa: E402

CASES = check.cases("memory")
RUN = [
    "m_bptt_long",
    "m_cg_kernel_solve",
    "m_diag_add_matvec",
    "m_gather_neighbours",
    "m_knn_l1_exact",
    "m_matvec_f64",
    "m_matvec_se_broadcast",
    "m_per_example_grads",
    "m_power_iteration_gram",
    "m_scan_big_carry_grad",
]

# Cases whose large tensors a pass makes superfluous: no loop is left.
DISSOLVED = ["m_diag_and_trace"]


class Referee:
    """Compiles a candidate; `xla` is the last one."""

    def __init__(self, case):
        self.case, self.xla = case, None

    def __call__(self, text, options):
        if text is None:
            return self.case.meta["memory"]["naive_peak_bytes"], 0, 0, 0
        self.xla = running.Xla(text.decode(), dict(o.split("=", 1) for o in options), as_users=True)
        m = self.xla.memory_stats()
        return (
            m.argument_size_in_bytes,
            m.output_size_in_bytes,
            m.alias_size_in_bytes,
            m.temp_size_in_bytes,
        )


def rewrite(case):
    referee = Referee(case)
    settings = {"memory_limit_bytes": limit_of(case), "platform": b"cpu"}
    (program,) = case.folder.glob("program.mlir")
    return _library.rewrite(program.read_bytes(), settings, referee), referee.xla


def limit_of(case):
    return case.meta["memory"]["limit_bytes"]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_held(case):
    assert case.meta["memory"]["naive_peak_bytes"] > limit_of(case), "the limit is no task"
    result, xla = rewrite(case)
    assert result.status == _library.OK, result.message
    assert result.outcome == _library.REWRITTEN and bool(result.loops) == (case.name not in DISSOLVED)
    assert xla.report_bytes() == result.peak_after_bytes <= limit_of(case)
    if case.name in RUN:
        assert case.check(xla(*case.inputs())) is None


def test_the_cheap_ones_are_there():
    assert set(RUN) | set(DISSOLVED) <= {case.name for case in CASES}
