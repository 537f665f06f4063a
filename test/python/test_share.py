"""`make test` runs a share of the tests' cases: share.py, tools/run_tests.py."""

import pathlib
import subprocess
import sys
import types

import pytest

import share as share_of_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import run_tests  # noqa: E402

CASES = [f"a.py::test_many[{i}]" for i in range(11)] + ["a.py::test_one", "b.py::test_many[0]"]
FIRST = [CASES[0], *CASES[-2:]]
SLOW = ["a.py::test_slow", "b.py::test_slow[0]", "b.py::test_slow[1]"]
CASES += SLOW


def chosen(share, turn, of_all=False):
    """(what runs, what is left out)."""
    left_out = []
    config = types.SimpleNamespace(
        getoption={"--share": share, "--turn": turn, "--of-all": of_all}.get,
        hook=types.SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)),
    )
    items = [
        types.SimpleNamespace(
            nodeid=case, get_closest_marker={"slow": case in SLOW or None}.get
        )
        for case in CASES
    ]
    share_of_tests.pytest_collection_modifyitems(config, items)
    return [item.nodeid for item in items], [item.nodeid for item in left_out]


def test_all_without_a_share():
    assert chosen(1, 0) == (CASES, [])


@pytest.mark.parametrize("share", [2, 3, 5, 20])
def test_each_turn_has_the_first_cases_and_all_turns_have_all(share):
    kept, left_out = zip(*(chosen(share, turn) for turn in range(share)))
    assert all(set(FIRST) <= set(turn) for turn in kept)
    assert set().union(*kept) == set(CASES)
    sizes = [len(set(turn) - set(SLOW)) for turn in kept]
    assert max(sizes) - min(sizes) <= 1
    others = [case for turn in kept for case in turn if case not in FIRST]
    assert len(others) == len(set(others)) == len(CASES) - len(FIRST)
    assert all(sorted(x + y) == sorted(CASES) for x, y in zip(kept, left_out))


@pytest.mark.parametrize("share", [2, 3, 5, 20])
def test_slow_ones_take_turns(share):
    kept = [[case for case in chosen(share, turn)[0] if case in SLOW] for turn in range(share)]
    assert sorted(case for turn in kept for case in turn) == sorted(SLOW)
    assert max(map(len, kept)) == -(-len(SLOW) // share)


@pytest.mark.parametrize("share", [1, 2, 3, 5, 20])
def test_of_all_together_each_runs_in_one_turn(share):
    kept = [chosen(share, turn, of_all=True)[0] for turn in range(share)]
    assert sorted(case for turn in kept for case in turn) == sorted(CASES)
    quick = [len([case for case in turn if case not in SLOW]) for turn in kept]
    assert max(quick) - min(quick) <= 1


def suites_arguments(what):
    """Of all suites but for those where another processor's kernels are tested, which have a share."""
    return [str(part) for suite in run_tests.suites(what, ROOT, ROOT) for part in suite[2:]]


def test_whole_has_no_share_of_its_own(monkeypatch):
    monkeypatch.setattr(run_tests.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(run_tests, "lower_levels", lambda build: ())
    assert any("'--share', '8'" in part for part in suites_arguments("all"))
    assert not any("'--share', '8'" in part for part in suites_arguments("whole"))


def test_many_processors_run_all_cases(monkeypatch):
    """But for those of kernels that others would run."""
    monkeypatch.setattr(run_tests, "lower_levels", lambda build: ())
    monkeypatch.setattr(run_tests.os, "cpu_count", lambda: 16)
    assert [part for part in suites_arguments("all") if "--share" in part] == [
        part for part in suites_arguments("whole") if "--share" in part
    ]


SHARE = ["--share", "5", "--turn", "1", "--of-all"]
SUITES = {
    "python": lambda: run_tests.run_python(ROOT, ROOT, {}, SHARE),
    "tensorflow": lambda: run_tests.run_tensorflow(ROOT, {}, None, SHARE),
    "oldest": lambda: run_tests.run_oldest(ROOT, {}, SHARE),
    "libraries": lambda: run_tests.run_libraries(ROOT, {}, "libraries", SHARE),
    "tensorflow and jax": lambda: run_tests.run_both(ROOT, {}, SHARE),
    "kernels": lambda: run_tests.run_kernels(ROOT, ROOT, {}, "x86-64-v2", SHARE),
}
PYTHONS = ("tensorflow", "oldest_jax", "libraries", "both")


@pytest.mark.parametrize("suite", SUITES)
def test_pytest_knows_the_options_in_each_suite(suite, monkeypatch):
    """It does where the folder's conftest.py is found before options are read."""
    seen = []
    for name in PYTHONS:
        monkeypatch.setattr(run_tests.jax_versions, f"python_with_{name}", lambda *_: sys.executable)

    def run_pytest(build, environment, python=sys.executable, arguments=()):
        seen.append(list(arguments))
        return 1, 0, 0

    monkeypatch.setattr(run_tests, "run_pytest", run_pytest)
    SUITES[suite]()
    (arguments,) = seen
    assert arguments[-len(SHARE) :] == SHARE
    command = [sys.executable, "-m", "pytest", *arguments, "--markers"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
