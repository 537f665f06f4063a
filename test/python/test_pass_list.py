"""passes.def is the one list: what the command says and does, the documents and the tests follow it."""

import subprocess

import pytest

import passes
import running
from weir import _library

ALL = passes.passes()
PROGRAM = b"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"


def status(**settings):
    return _library.rewrite(PROGRAM, {k: v.encode() for k, v in settings.items()}, None)


def test_the_list_is_read_whole():
    text = (running.ROOT / "src/pass/passes.def").read_text()
    assert len(ALL) + len(passes.settings()) == text.count("\nPASS(") + text.count("\nSETTING(")
    assert len({row.name for row in ALL}) == len(ALL) > 20


def test_phases_are_in_order():
    order = ["CANONICAL", "ALGEBRA", "READS", "LOOPS"]
    phases = [order.index(row.phase) for row in ALL]
    assert phases == sorted(phases)


@pytest.mark.parametrize("command", ["opt", "plan", "graph"])
def test_help_lists_them(command):
    line = [running.BUILD / "weir", command, "--help"]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    listed = told[told.index("\npasses") :]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("    ")]
    assert names == [row.name for row in ALL] + list(passes.settings())
    assert all(row.doc in listed for row in ALL)


def test_the_documents_list_them():
    text = (running.ROOT / "docs/cli.md").read_text()
    for row in ALL:
        assert f"| `{row.name}` | {row.phase.lower()} | {'yes' if row.exact else 'no'} | {row.doc} |" in text
    for name, doc in passes.settings().items():
        assert f"| `{name}` | {doc} |" in text


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_each_runs_alone_and_has_tests(row):
    assert status(only_passes=row.name).status_name == "OK"
    assert status(skip_passes=row.name, dump_after="").status_name == "OK"
    stem = row.id.replace("_", "-")
    found = list((running.ROOT / "test").glob(f"lit/*/{stem}*")) + list(
        (running.ROOT / "test").glob(f"python/test_pass_{row.id}.py")
    )
    assert found or row.phase == "LOOPS"


@pytest.mark.parametrize("name", passes.settings())
def test_settings_are_skipped_but_are_no_passes(name):
    assert status(skip_passes=name).status_name == "OK"
    refused = status(only_passes=name)
    assert refused.status_name == "INVALID_ARGUMENT"
    assert f'no pass named "{name}"; there are inline, ' in refused.message
