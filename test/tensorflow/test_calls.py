"""What TensorFlow's XLA calls: kernels, loops that show how far they are, Ctrl-C."""

import contextlib
import os
import pty
import subprocess
import sys

import cases
import pytest
from tenth import run, same

import weir
from weir import _tf_calls, _tf_hook


def llvm():
    """The path of the one that kernels have used; None: of none."""
    with open("/proc/self/maps") as maps:
        return next((line.split()[-1] for line in maps if "libLLVM" in line), None)


@pytest.fixture
def kernels_everywhere(monkeypatch):
    monkeypatch.setenv("WEIR_TILE", "on")
    _tf_hook._settings_under.cache_clear()
    yield
    _tf_hook._settings_under.cache_clear()


def loops_under(name, limit):
    """Results without and with the limit are the same; the loops of the last program."""
    with weir.limit(None):
        stock = run(name)
    with weir.limit(limit):
        ours = run(name)
    same(stock, ours)
    return weir.last_report().loops


WITH_KERNELS = ("product_with_a_vector", "in_single_precision", "training_step", "attention")


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_loops_are_kernels(name, kernels_everywhere):
    loops = loops_under(name, "1.51MB")
    if not llvm():
        pytest.skip("no libLLVM here")
    assert any(loop.is_kernel for loop in loops)


def test_a_tensorflow_that_takes_no_calls(monkeypatch, kernels_everywhere):
    def fail():
        raise RuntimeError("by design")

    monkeypatch.setattr(_tf_calls, "_register", fail)
    _tf_calls._are_taken.cache_clear()
    try:
        with pytest.warns(weir.WeirWarning, match="takes no calls: by design; loops stay XLA's"):
            loops = loops_under("product_with_a_vector", "1.52MB")
    finally:
        _tf_calls._are_taken.cache_clear()
    assert loops and not any(loop.is_kernel for loop in loops)


# ---- scripts ----
SCRIPT = """
import os, signal, threading
import tensorflow as tf

@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.exp(-tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)), 1)

x = tf.random.stateless_uniform((N, 3), (1, 2))
"""
RUN = "y = f(x)\nprint(y.shape)\n"
STOPPED = """
stopped = threading.Event()
def press():  # again, in case that it was before the loop began
    while not stopped.wait(1.0):
        os.kill(os.getpid(), signal.SIGINT)
f(x[:1000])  # is planned, compiled
threading.Thread(target=press).start()
try:
    try:
        f(x)
    finally:
        str(0)  # Python looks for signals in calls
except KeyboardInterrupt:
    stopped.set()
    print("stopped", float(tf.reduce_sum(tf.range(10.0))))
"""


def environment(settings):
    folder = os.path.dirname(os.path.dirname(weir.__file__))
    return os.environ | {"PYTHONPATH": folder} | settings


def command(tmp_path, n, text):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("N,", f"{n},") + text)
    return [sys.executable, "-m", "weir", script]


def on_terminal(words, settings):
    """What the script writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, env=environment(settings), stderr=theirs, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(ours, 4096):
                shown += data
        assert process.wait() == 0, shown.decode()
    os.close(ours)
    return shown.decode()


@pytest.mark.slow
def test_a_libllvm_that_is_named(tmp_path, kernels_everywhere):
    """It is opened beside TensorFlow's own LLVM before the library opens it."""
    loops_under("product_with_a_vector", "1.53MB")
    if not llvm():
        pytest.skip("no libLLVM here")
    settings = {"WEIR_LLVM": llvm(), "WEIR_TILE": "on", "WEIR_MEMORY_LIMIT": "1MB"}
    words = command(tmp_path, 1000, RUN)
    done = subprocess.run(
        words, env=environment(settings), capture_output=True, text=True, timeout=600
    )
    assert done.stdout == "(1000,)\n", done.stderr


@pytest.mark.slow
def test_progress_on_a_terminal(tmp_path):
    settings = {"WEIR_PROGRESS": "1", "WEIR_TILE": "off", "WEIR_MEMORY_LIMIT": "4MB"}
    shown = on_terminal(command(tmp_path, 40_011, RUN), settings)
    drawn = [line for line in shown.split("\r") if "slices/s, ETA" in line]
    assert drawn and all(line.startswith("weir: f, ") and " %, " in line for line in drawn)


@pytest.mark.slow
@pytest.mark.parametrize("tile", ["on", "off"])
def test_ctrl_c_ends_loops(tile, tmp_path):
    settings = {"WEIR_TILE": tile, "WEIR_PROGRESS": "1", "WEIR_MEMORY_LIMIT": "64MB"}
    words = command(tmp_path, 2_000_000, STOPPED)
    done = subprocess.run(
        words, env=environment(settings), capture_output=True, text=True, timeout=600
    )
    assert done.stdout.endswith("stopped 45.0\n"), done.stderr
