"""Ctrl-C at any moment of a `with weir.limit(...)`: it comes out, and no limit stays in force."""

import os
import signal
import subprocess
import sys
import threading

import jax
import pytest

import weir
from weir import _settings


def strike(n, run):
    """run(), with Ctrl-C at the n-th entry of a Python function or call of C's in a limit's own
    code; whether there were that many."""
    ours = {weir.limit.__enter__.__code__, weir.limit.__exit__.__code__}
    count = 0

    def is_ours(frame):
        return frame is not None and (frame.f_code in ours or is_ours(frame.f_back))

    def profile(frame, event, _):
        nonlocal count
        if event in ("call", "c_call") and is_ours(frame):
            count += 1
            if count == n + 1:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count > n


def limited():
    with weir.limit("1GB"):
        with weir.limit("2MB"):
            assert _settings.local_value()[0] == 2_000_000
        assert _settings.local_value()[0] == 10**9


@pytest.fixture(autouse=True)
def warm():
    limited()


def test_at_any_moment():
    handler, n = signal.getsignal(signal.SIGINT), 0
    with pytest.raises(KeyboardInterrupt):
        strike(0, limited)
    while True:
        try:
            if not strike(n, limited):
                break
            pytest.fail(f"Ctrl-C at call {n} is lost")
        except KeyboardInterrupt:
            n += 1
        assert _settings.local_value() is None, f"at call {n - 1}"
        assert signal.getsignal(signal.SIGINT) is handler
    assert n > 20


def test_beside_the_error_of_an_ended_loop():
    """As when Ctrl-C ends a loop: JAX's error is on its way when the signal is seen."""

    def ended():
        with weir.limit("1GB"):
            raise RuntimeError("CANCELLED")

    stopped = 0
    for n in range(1000):
        with pytest.raises((KeyboardInterrupt, RuntimeError)) as raised:
            strike(n, ended)
        assert _settings.local_value() is None
        if raised.type is RuntimeError:
            break
        stopped += 1
    assert stopped > 10


def test_a_handler_that_raises_nothing():
    """It hears of it, and the limit is in force nevertheless."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        n = 0
        while strike(n, limited):
            n += 1
            assert len(heard) == n and _settings.local_value() is None
    finally:
        signal.signal(signal.SIGINT, before)


def test_inside_of_the_block_at_once():
    with pytest.raises(KeyboardInterrupt):
        with weir.limit("1GB"):
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it waits")
    assert _settings.local_value() is None


def test_other_threads_leave_the_handler_alone():
    handler, seen = signal.getsignal(signal.SIGINT), []

    def run():
        with weir.limit("1GB"):
            seen.append((_settings.local_value()[0], signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(10**9, handler)] and signal.getsignal(signal.SIGINT) is handler


LOOP = """
import jax, jax.numpy as jnp, numpy as np, os, signal, threading, time, weir
from weir import _library, _settings
x = np.zeros((2_000_000, 3), "f4")
f = jax.jit(lambda x, v: jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ v)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores Ctrl-C
stopped = threading.Event()
def press():
    while not _library.running_loop():  # which sees what comes from then on
        time.sleep(0.1)
    while not stopped.wait(1):
        os.kill(os.getpid(), signal.SIGINT)
try:
    with weir.limit("64MB"), weir.progress():
        f = f.lower(x, x[:, 0]).compile()
        threading.Thread(target=press).start()
        f(x, x[:, 0]).block_until_ready()
except (KeyboardInterrupt, jax.errors.JaxRuntimeError):
    stopped.set()
    print("stopped", _settings.local_value())
"""


def test_a_loop_of_hours_in_the_block():
    settings = os.environ | {"WEIR_TILE": "off"}
    done = subprocess.run([sys.executable, "-c", LOOP], capture_output=True, text=True, timeout=300, env=settings)
    assert done.stdout == "stopped None\n", done.stderr


def test_a_block_that_does_not_begin_leaves_the_handler_as_it_was(monkeypatch):
    def refuse(mesh):
        raise ValueError("no mesh")

    monkeypatch.setattr(weir, "_over_all", refuse)
    before = signal.getsignal(signal.SIGINT)
    mesh = jax.sharding.Mesh(jax.devices()[:1], "i")
    with pytest.raises(ValueError, match="no mesh"), weir.limit("1GB", mesh=mesh):
        pass
    assert signal.getsignal(signal.SIGINT) is before
