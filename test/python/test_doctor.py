"""`weir doctor`: what it finds, in words and as JSON, and what it says of settings that are wrong."""

import json
import os
import subprocess
import sys

import pytest
from running import BUILD
from weir import _doctor


def doctor(*words, **settings):
    run = subprocess.run(
        [sys.executable, "-m", "weir", "doctor", *words],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return run.returncode, run.stdout, run.stderr


def found(*, is_broken, **settings):
    code, out, err = doctor("--json", **settings)
    assert code == int(is_broken), out + err
    return json.loads(out)


def test_a_sound_installation_runs_a_program_under_a_limit():
    by_name = {f["name"]: f for f in found(is_broken=False)}
    assert "rewritten" in by_name["a program under 4 MB"]["value"]
    for name in ("weir", "python", "jax", "hook", "device 0", "processor", "libLLVM"):
        assert name in by_name


def test_a_misspelt_setting_is_doubtful_and_a_bad_one_broken():
    states = found(is_broken=True, WEIR_MEMORY_LIMT="1GB", WEIR_MEMORY_LIMIT="lots")
    doubtful = [f["value"] for f in states if f["state"] == "doubtful"]
    broken = [f for f in states if f["state"] == "broken"]
    assert any("WEIR_MEMORY_LIMT is none of its settings: WEIR_MEMORY_LIMIT?" in v for v in doubtful)
    assert any("'lots'" in f["value"] for f in broken)
    assert all(f["advice"] for f in broken)


def test_a_library_that_does_not_open_breaks_no_other_check():
    by_name = {f["name"]: f for f in found(is_broken=True, WEIR_LIBRARY="/nowhere/libweir.so")}
    assert by_name["weir"]["state"] == "broken" and "/nowhere" in by_name["weir"]["value"]
    assert by_name["python"]["state"] == "ok"


def test_text_marks_what_is_wrong_and_gives_advice():
    lines = list(_doctor._text([
        _doctor.Finding("a", "1"),
        _doctor.Finding("bcd", "2", _doctor.DOUBTFUL, "do this"),
        _doctor.Finding("e", "3", _doctor.BROKEN, "do that"),
    ]))
    assert lines == [
        "  a    1",
        "? bcd  2",
        "       -> do this",
        "! e    3",
        "       -> do that",
        "\n1 broken (!), 1 doubtful (?)",
    ]


def test_the_command_finds_the_python_of_the_path():
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    command = [BUILD / "weir", "doctor", "--help"]
    run = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.startswith("usage: weir doctor")


def test_a_python_without_weir_is_named(tmp_path):
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    run = subprocess.run([BUILD / "weir", "doctor"], env={"PATH": path}, capture_output=True, text=True)
    assert run.returncode == 1 and "has no weir" in run.stderr and "Traceback" not in run.stderr


@pytest.mark.parametrize("state, there", [("broken", ()), ("ok", ("tensorflow",))])
def test_without_jax_only_its_absence_is_said(monkeypatch, state, there):
    monkeypatch.setattr(_doctor, "_has", lambda package: package in there)
    by_name = {f.name: f for f in _doctor.findings()}
    assert by_name["jax"].state == state and by_name["jax"].value == "not installed"
    assert "processor" in by_name and "device 0" not in by_name


@pytest.mark.parametrize("words, code", [(["--help"], 0), (["--jsn"], 2), (["--json", "x"], 2)])
def test_usage(words, code):
    answered, out, err = doctor(*words)
    assert answered == code and "usage: weir doctor [--json]" in out + err
