"""Random programs, split in every way: the results are what they were.

Each seed is a program and a way to split it (tools/fuzz_graphs.py, which has any number of them):
the evaluator and stock XLA, before and after, with each pass left out in turn, under a limit.
"""

import dataclasses
import sys

import pytest

import running

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_graphs  # noqa: E402

PROGRAMS, BATCH = 60, 10
FIRST = 1


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_splitting_changes_nothing(first):
    problems, split = [], 0
    for seed in range(first, first + BATCH):
        found, changed = fuzz_graphs.failures(fuzz_graphs.case_of(seed))
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
        split += changed
    assert not problems, "\n".join(problems)
    assert split >= BATCH // 2, "too few programs have anything to split"


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_branches(first):
    """Without XLA, which some of the programs end, unsplit as well (0 % 0)."""
    problems, split = [], 0
    for seed in range(first, first + BATCH):
        case = fuzz_graphs.case_of(seed, fuzz_graphs.random_graphs.Branches)
        found, changed = fuzz_graphs.failures(case, use_xla=False)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
        split += changed
    assert not problems, "\n".join(problems)
    assert split >= BATCH // 3, "too few programs have anything to split"


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS // 2, BATCH))
def test_parts(first):
    """What is read in part, with zeros around it."""
    problems = []
    for seed in range(first, first + BATCH):
        case = fuzz_graphs.case_of(seed, fuzz_graphs.random_graphs.Cuts)
        found, _ = fuzz_graphs.failures(case)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS // 2, BATCH))
def test_windows(first):
    """Prefix sums, and convolutions of every role."""
    problems = []
    for seed in range(first, first + BATCH):
        case = fuzz_graphs.case_of(seed, fuzz_graphs.random_graphs.Windows)
        found, _ = fuzz_graphs.failures(case)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
    assert not problems, "\n".join(problems)


def check_split(graphs, first):
    """A batch of graphs of a class, at least half of which have something to split. Where stock XLA
    is wrong without weir (windows with negative padding: docs/testing.md) that is not held against
    it."""
    problems, split = [], 0
    for seed in range(first, first + BATCH):
        case = fuzz_graphs.case_of(seed, graphs)
        found, changed = fuzz_graphs.failures(case)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found if way != "stock"]
        split += changed
    assert not problems, "\n".join(problems)
    assert split >= BATCH // 2, "too few programs have anything to split"


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_images(first):
    """Layers of one image, whose windows overlap."""
    check_split(fuzz_graphs.random_images.Images, first)


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS // 3, BATCH))
def test_matrices(first):
    """Calls of LAPACK, of one matrix and in batches."""
    check_split(fuzz_graphs.random_graphs.Matrices, first)


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS // 2, BATCH))
def test_spellings(first):
    """As TensorFlow, PyTorch and CHLO's writers say it, inside of whiles and branches, too."""
    check_split(fuzz_graphs.random_graphs.Spelled, first)


def test_every_spelling_is_drawn():
    """Each op that the passes for spellings take, and each algorithm of random bits."""
    cases = [fuzz_graphs.case_of(seed, fuzz_graphs.random_graphs.Spelled) for seed in range(1, 200)]
    text = "\n".join(case.given() for case in cases)
    dynamic = "dynamic_reshape dynamic_broadcast_in_dim dynamic_iota dynamic_pad dynamic_gather dynamic_conv"
    ops = f"einsum unary_einsum torch_index_select map real_dynamic_slice {dynamic}".split()
    others = ["arith.constant", "chlo.constant", "chlo.constant_like", "chlo.broadcast_compare"]
    missing = [name for name in [f"stablehlo.{op}" for op in ops] + others if f'"{name}"' not in text]
    assert not missing and "PHILOX" in text and "THREE_FRY" in text


def test_a_wrong_result_is_found(monkeypatch):
    """The comparison itself: what `weir opt` prints, with another function in it."""
    op, other = '"stablehlo.exponential"', '"stablehlo.tanh"'
    opt = running.opt

    def wrong(program, *arguments, refused=None):
        text = opt(program, *arguments, refused=refused)
        assert op in text
        return text.replace(op, other)

    case = next(case for case in map(fuzz_graphs.case_of, range(100)) if op in case.text())
    monkeypatch.setattr(running, "opt", wrong)
    found, _ = fuzz_graphs.failures(case)
    assert {"lowered", "xla"} <= {way for way, _ in found}


@pytest.mark.parametrize("graphs", ["Roles", "Apart", "Empty", "Regrouped"])
def test_rare_roles(graphs):
    """What few programs have, with kernels too; dimensions of no elements."""
    problems = []
    for seed in range(FIRST, FIRST + BATCH // 2):
        case = fuzz_graphs.case_of(seed, fuzz_graphs.graphs_of(graphs))
        found, _ = fuzz_graphs.failures(case, use_xla=False)
        problems += [f"seed {seed}, {way}: {problem}" for way, problem in found]
    assert not problems, "\n".join(problems)


def test_merged_alone():
    """Dimensions that are merged and taken apart again, by the pass alone: many programs, quickly."""
    problems, way = [], ("merged", ["--pass=inline,simplify,cse,dce,merged,dce"])
    for seed in range(60):
        case = dataclasses.replace(fuzz_graphs.case_of(seed, fuzz_graphs.graphs_of("Apart")), ways=[way])
        problems += [f"seed {seed}: {problem}" for _, problem in fuzz_graphs.failures(case, use_xla=False)[0]]
    assert not problems, "\n".join(problems)
