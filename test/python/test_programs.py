"""The programs of examples/ at small sizes under small limits: answers as unsplit, memory kept; and
the paper's experiments, small.

Each program runs in fresh processes (bench/worker.py): unsplit on stock XLA with library fusions
off, and unchanged with WEIR_MEMORY_LIMIT set.  The naive peak is above limit + allowance, so that a
program that was not split cannot pass.
"""

import json
import os
import sys
import xml.etree.ElementTree

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
import chunked  # noqa: E402
import paper  # noqa: E402
import programs  # noqa: E402
import run  # noqa: E402

FEASIBLE = [p for p in programs.PROGRAMS if not p.refusal]
INFEASIBLE = [p for p in programs.PROGRAMS if p.refusal]
SPLIT_BY_HAND = [p for p in FEASIBLE if p.chunked]


def outputs_after_run(worker, path):
    assert "error" not in worker.start, worker.start["error"]
    answer = worker.ask("run")
    assert "error" not in answer, answer["error"]
    worker.ask("save " + str(path))
    return run.load_outputs(path), answer


@pytest.fixture
def start():
    workers = []

    def start(*arguments):
        workers.append(run.Worker(*arguments))
        return workers[-1]

    yield start
    for w in workers:
        w.close()


@pytest.fixture
def unsplit(start, once):
    """Its outputs at the small size, and what the process said when it had compiled it."""

    def unsplit(program):
        def run_it(folder):
            worker = start("naive", program, program.sizes(program.small), 0)
            outputs_after_run(worker, folder / "outputs.npz")
            return {"start": worker.start, "outputs": str(folder / "outputs.npz")}

        found = once(f"unsplit-{program.name}", run_it)
        return run.load_outputs(found["outputs"]), found["start"]

    return unsplit


@pytest.mark.parametrize("program", FEASIBLE, ids=lambda p: p.name)
def test_small_program_under_limit(program, start, unsplit, tmp_path):
    sizes, limit = program.sizes(program.small), program.small_limit_bytes
    want, naive = unsplit(program)
    allowance = limit - naive["argument_bytes"] + run.ALLOWANCE_BYTES
    assert naive["report_bytes"] > allowance, "too small a program to tell"

    split = start("weir", program, sizes, 0, limit)
    assert split.start.get("report_bytes", 0) <= limit
    got, answer = outputs_after_run(split, tmp_path / "weir.npz")
    assert answer["growth_bytes"] <= allowance
    inputs = program.load().make_inputs(**sizes)
    assert program.error(got, want, inputs) <= program.tolerance


@pytest.mark.slow
@pytest.mark.parametrize("program", INFEASIBLE, ids=lambda p: p.name)
def test_infeasible_program_is_refused(program):
    """Naming the tensor in the way, and a limit at which it runs; a page below it does not."""
    sizes, limit = program.sizes(program.small), program.small_limit_bytes
    row = run.measure_refused(program, sizes, limit, 1, ["weir"])
    assert row["problems"] == []
    assert limit < row["weir_report"] <= row["limit"]
    assert row["weir_error"] <= program.tolerance


@pytest.mark.slow
@pytest.mark.parametrize("program", SPLIT_BY_HAND, ids=lambda p: p.name)
def test_hand_split_version_agrees(program, start, unsplit, tmp_path):
    """The bench's yardstick and its f64 twin compute what the program computes."""
    sizes = program.sizes(program.small)
    inputs = program.load().make_inputs(**sizes)
    want, _ = unsplit(program)
    got, _ = outputs_after_run(
        start("chunked", program, sizes, program.small_rows), tmp_path / "hand.npz"
    )
    assert program.error(got, want, inputs) <= program.tolerance
    if program.neighbours:
        exact = chunked.knn_numpy(*inputs, program.neighbours)
    else:
        exact, _ = outputs_after_run(
            start("reference", program, sizes, program.small_rows), tmp_path / "f64.npz"
        )
    assert program.error(want, exact, inputs) <= program.tolerance


GPFLOWS_BOUND = -53670.307691  # of the small experiment, n = 10,000, m = 130


@pytest.mark.slow
@pytest.mark.parametrize("experiment", paper.EXPERIMENTS)
def test_small_experiment(experiment, tmp_path, monkeypatch, capsys):
    """Every limit kept, every result as its reference; a row of the table for each case. What
    GPflow says is asked by `bench/paper.py sgpr --small` itself: its environment takes two minutes."""
    monkeypatch.setattr(paper, "gpflow_bound", lambda *_: GPFLOWS_BOUND)
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")  # memory is the same
    arguments = [experiment, "--small", "--rounds", "1", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["paper.py", *arguments])
    assert paper.main() == 0, capsys.readouterr().out
    rows = json.loads((tmp_path / f"paper-{experiment}.json").read_text())
    table = (tmp_path / f"paper-{experiment}.md").read_text().splitlines()
    assert rows and len([line for line in table if line.startswith("|")]) == len(rows) + 2
    assert any(row["naive"] > row["limit"] for row in rows), "the limit was no task"
    for svg in tmp_path.glob("*.svg"):
        xml.etree.ElementTree.parse(svg)
    assert len(list(tmp_path.glob("*.svg"))) == (2 if experiment == "matvec" else 0)
