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


def chosen(share, turn):
    """(what runs, what is left out)."""
    left_out = []
    config = types.SimpleNamespace(
        getoption={"--share": share, "--turn": turn}.get,
        hook=types.SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)),
    )
    items = [types.SimpleNamespace(nodeid=case) for case in CASES]
    share_of_tests.pytest_collection_modifyitems(config, items)
    return [item.nodeid for item in items], [item.nodeid for item in left_out]


def test_all_without_a_share():
    assert chosen(1, 0) == (CASES, [])


@pytest.mark.parametrize("share", [2, 3, 5, 20])
def test_each_turn_has_the_first_cases_and_all_turns_have_all(share):
    kept, left_out = zip(*(chosen(share, turn) for turn in range(share)))
    assert all(set(FIRST) <= set(turn) for turn in kept)
    assert set().union(*kept) == set(CASES)
    others = [case for turn in kept for case in turn if case not in FIRST]
    assert len(others) == len(set(others)) == len(CASES) - len(FIRST)
    assert all(sorted(x + y) == sorted(CASES) for x, y in zip(kept, left_out))


def suites_arguments(what):
    return [str(part) for suite in run_tests.suites(what, ROOT, ROOT) for part in suite[2:]]


def test_whole_has_no_share_of_its_own(monkeypatch):
    monkeypatch.setattr(run_tests.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(run_tests, "lower_levels", lambda build: ())
    assert any("'--share', '5'" in part for part in suites_arguments("all"))
    assert not any("--share" in part for part in suites_arguments("whole"))


def test_many_processors_run_all_cases(monkeypatch):
    monkeypatch.setattr(run_tests.os, "cpu_count", lambda: 16)
    assert run_tests.this_commits_share() == ["--share", "1", "--turn", "0"]


SHARE = ["--share", "5", "--turn", "1"]
SUITES = {
    "python": lambda: run_tests.run_python(ROOT, ROOT, {}, SHARE),
    "tensorflow": lambda: run_tests.run_tensorflow(ROOT, {}, None, SHARE),
    "oldest": lambda: run_tests.run_oldest(ROOT, {}, SHARE),
}


@pytest.mark.parametrize("suite", SUITES)
def test_pytest_knows_the_options_in_each_suite(suite, monkeypatch):
    """It does where the folder's conftest.py is found before options are read."""
    seen = []
    for name in ("python_with_tensorflow", "python_with_oldest_jax"):
        monkeypatch.setattr(run_tests.jax_versions, name, lambda *_: sys.executable)

    def run_pytest(build, environment, python=sys.executable, arguments=()):
        seen.append(list(arguments))
        return 1, 0, 0

    monkeypatch.setattr(run_tests, "run_pytest", run_pytest)
    SUITES[suite]()
    (arguments,) = seen
    assert arguments[-4:] == SHARE
    command = [sys.executable, "-m", "pytest", *arguments, "--markers"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
