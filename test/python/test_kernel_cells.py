"""Kernels by the table of random_cells.py: each op that a kernel takes with each role of a dimension
and some element type, against the evaluator. `tools/fuzz_regions.py` runs as many as are wanted."""

import sys

import pytest

import random_cells as rc
import running
from kernel_running import folder  # noqa: F401

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_regions  # noqa: E402

ROUND = 12  # cells with the same place in a program's seed: another one draws other lengths


def chosen(number):
    """Of each op and role one element type that it has, another one for another number."""
    found = {}
    for op, role, dtype in rc.cells():
        if not rc.reason(op, role, dtype):
            found.setdefault((op, role), []).append((op, role, dtype))
    return [cells[number % len(cells)] for cells in found.values()]


def test_no_cell_is_empty():
    """An op of the table is known here, and what it does not have is said."""
    for op, role, dtype in rc.cells():
        assert op in rc.TYPES, f"{op}: no regions are made with it"
        assert rc.reason(op, role, dtype) or dtype in rc.TYPES[op].split()
    assert {op for op, *_ in rc.cells()} == set(rc.TYPES)


def test_what_is_wrong_is_seen():
    """A result that is one too much, an element type away, or missing."""
    w, _ = fuzz_regions.program_of([("add", "sliced", "i32"), ("add", "sliced", "f32")], 0)
    want = running.np.arange(5, dtype="i4"), running.np.arange(5, dtype="f4")
    assert not list(fuzz_regions.problems_of(w, want, want))
    assert list(fuzz_regions.problems_of(w, want, (want[0] + 1, want[1])))
    assert list(fuzz_regions.problems_of(w, want, (want[0], want[1] * 1.001)))


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_cells(number, folder):  # noqa: F811
    cells = chosen(number * 5)
    tasks = [(cells[i : i + ROUND], 1000 * number + i) for i in range(0, len(cells), ROUND)]
    problems, count = fuzz_regions.run_all(tasks, 2)
    print(fuzz_regions.table(count))
    assert not problems, "\n".join(problems)
    assert sum(kernels for _, kernels in count.values()) > len(cells) // 3


@pytest.mark.slow
def test_cells_in_other_spellings(folder):  # noqa: F811
    """What other front ends write becomes kernels where JAX's spelling does, with the same values."""
    cells = chosen(3)[::3]
    for i in range(0, len(cells), ROUND):
        problems, kernels = fuzz_regions.run(cells[i : i + ROUND], 7000 + i, spelled=True)
        assert not problems, "\n".join(problems)
        assert kernels == fuzz_regions.run(cells[i : i + ROUND], 7000 + i)[1]


def test_cells_through_the_hook():
    """Under a limit, as JAX compiles and runs them; sums of the slices are right, or refused."""
    cells = [("add", "sliced", "f32"), ("roll", "reduced", "f32"), ("maximum", "free", "i32")]
    problems, made = fuzz_regions.run(cells, 3, hook=True)
    assert not problems, "\n".join(problems)
    assert [cell for cell, _ in made] == cells


def test_a_wrong_program_of_the_hook_is_seen(monkeypatch):
    """What the hook ran is compared, not what was asked for."""
    import hooked_program

    monkeypatch.setattr(
        hooked_program, "under", lambda text, inputs, limit: (text, [a * 0 for a in want(text, inputs)])
    )
    want = lambda text, inputs: running.results(text, inputs)  # noqa: E731
    problems, _ = fuzz_regions.run([("add", "sliced", "f32")], 3, hook=True)
    assert problems
