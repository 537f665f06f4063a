"""tools/device_check.py on the CPU: it must see what it is there to see."""

import pathlib
import subprocess
import sys

import jax
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools/device_check.py"
sys.path.append(str(CHECK.parent))

import device_check  # noqa: E402


def check(*arguments):
    done = subprocess.run([sys.executable, CHECK, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_piece_holds_its_limit_and_is_right():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01")
    *_, row, _, last = table.splitlines()
    assert code == 0 and row.startswith("| kernel | ") and row.endswith("| good |")
    assert "not counted → not counted" in row and last == "cpu: 1 good, 0 failed"
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    auto, by_hand = map(float, cells[5].split(", "))
    assert auto > 0 and by_hand > 0 and len(cells[6].split(", ")) == len(device_check.LIBRARIES)


@pytest.mark.slow
def test_results_that_differ_are_found():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--tolerance", "-1")
    assert code == 1 and "0 good, 1 failed" in table
    for way in ("weir", "auto", "hand"):
        assert f"{way}: differs from the CPU by" in table


@pytest.mark.parametrize("name", device_check.PIECES)
def test_split_by_hand_is_the_same(name, monkeypatch):
    """In several blocks, the last of them shorter."""
    monkeypatch.setattr(device_check, "BLOCK_BYTES", 1 << 13)
    f, arguments = device_check.PIECES[name](np.random.default_rng(0), 0.0012)
    expected, found = (jax.tree.leaves(jax.jit(g)(*arguments)) for g in (f, device_check.BY_HAND[name]))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


def test_what_no_library_has():
    for name, library in [("kernel", "cuDNN"), ("attention", "KeOps")]:
        with pytest.raises(device_check.Missing):
            device_check.LIBRARIES[library](name, None)


def test_a_refusal_is_a_failure():
    code, table, _ = check("--pieces", "kernel", "--scale", "0.01", "--share", "0.000001")
    assert code == 1 and "RESOURCE_EXHAUSTED" in table


@pytest.mark.parametrize("arguments", [("--pieces", "kernal"), ("--scale", "0"), ("--share", "1")])
def test_bad_arguments(arguments):
    code, table, message = check(*arguments)
    assert code == 2 and not table and "error:" in message
