"""tools/device_check.py on the CPU: it must see what it is there to see."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools/device_check.py"


def check(*arguments):
    done = subprocess.run([sys.executable, CHECK, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_piece_holds_its_limit_and_is_right():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01")
    *_, row, _, last = table.splitlines()
    assert code == 0 and row.startswith("| kernel | ") and row.endswith("| good |")
    assert "not counted → not counted" in row and last == "cpu: 1 good, 0 failed"


def test_results_that_differ_are_found():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--tolerance", "-1")
    assert code == 1 and "differs from the CPU by" in table and "0 good, 1 failed" in table


def test_a_refusal_is_a_failure():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--share", "0.000001")
    assert code == 1 and "RESOURCE_EXHAUSTED" in table


@pytest.mark.parametrize("arguments", [("--pieces", "kernal"), ("--scale", "0"), ("--share", "1")])
def test_bad_arguments(arguments):
    code, table, message = check(*arguments)
    assert code == 2 and not table and "error:" in message
