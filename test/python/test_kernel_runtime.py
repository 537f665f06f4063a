"""Kernels and the process: object code kept on disk, progress, Ctrl-C."""

import contextlib
import os
import pathlib
import pty
import subprocess
import sys

import pytest

import kernel_running

folder = kernel_running.folder  # skips where there is no LLVM
ROOT = pathlib.Path(__file__).resolve().parents[2]
MATVEC = """
import jax, jax.numpy as jnp, numpy as np
def f(x, v):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ v
x = np.random.default_rng(0).normal(size=(2003, 3)).astype("f4")
print(np.asarray(jax.jit(f)(x, x[:, 0])).tobytes().hex())
"""


def environment(settings):
    return os.environ | {"PYTHONPATH": str(ROOT / "python")} | settings


def run_script(text, settings):
    return subprocess.run(
        [sys.executable, "-c", text],
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=120,
    )


def script(text, **settings):
    """What the script prints in a process of its own, with tiles."""
    done = run_script(text, {"WEIR_TILE": "on", "WEIR_MEMORY_LIMIT": "4MB"} | settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_object_code_is_kept_and_survives_damage(folder, tmp_path):
    here = {"WEIR_CACHE_DIR": str(tmp_path / "a" / "cache")}
    first = script(MATVEC, **here)
    (kept,) = pathlib.Path(here["WEIR_CACHE_DIR"]).glob("*.o")
    written = kept.read_bytes()
    assert script(MATVEC, **here) == first
    kept.write_bytes(written[: len(written) // 2])
    assert script(MATVEC, **here) == first
    assert kept.read_bytes() == written


COUNTS = """
import sys
import jax, jax.numpy as jnp, numpy as np
def f(x, limits):
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    return [(d < t).sum() for t in limits]
x = np.random.default_rng(0).normal(size=(1003, 3)).astype("f4")
limits = list(np.linspace(0, 9, int(sys.argv[1]), dtype="f4"))
d = ((x[:, None] - x[None]) ** 2).sum(-1)
counts = jax.jit(f)(x, limits)
assert max(abs(int(c) - int((d < t).sum())) for c, t in zip(counts, limits)) <= 2
"""


@pytest.mark.parametrize("results", [40, 300])
def test_many_results(folder, results):
    """40 take, and put out, more than the 64 buffers that a kernel once had; 300 stay XLA's."""
    done = run_script(
        COUNTS.replace("sys.argv[1]", str(results)), {"WEIR_TILE": "on", "WEIR_MEMORY_LIMIT": "2MB"}
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("where", ["off", "", "/dev/null/none"])
def test_runs_without_a_folder(folder, where):
    assert script(MATVEC, WEIR_CACHE_DIR=where)


COMPILED = """
import jax, jax.numpy as jnp, numpy as np, pathlib, time
x = np.zeros((2003, 3), "f4")
f = jax.jit(lambda x, v: jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ v)
f.lower(x, x[:, 0]).compile()
kept = pathlib.Path("FOLDER")
for _ in range(WAITS):
    if kept.exists() and any(kept.iterdir()):
        break
    time.sleep(0.1)
else:
    print("no kernel")
"""


def test_a_kernel_is_made_when_xla_compiles(folder, tmp_path):
    kept = str(tmp_path / "cache")
    text = COMPILED.replace("FOLDER", kept).replace("WAITS", "600")
    assert script(text, WEIR_CACHE_DIR=kept) == ""


def test_the_process_may_end_meanwhile(folder):
    text = COMPILED.replace("FOLDER", "/none").replace("WAITS", "0")
    assert script(text, WEIR_CACHE_DIR="off") == "no kernel\n"


SERIALIZED = MATVEC.replace(
    "print(",
    "from jax.experimental import serialize_executable as se; import pickle\n"
    "compiled = jax.jit(f).lower(x, x[:, 0]).compile()\n"
    "pickle.dump(se.serialize(compiled), open('PATH', 'wb')); print(",
)
LOADED = MATVEC.replace("jax.jit(f)(", "loaded(").replace(
    "print(",
    "from jax.experimental import serialize_executable as se; import pickle\n"
    "loaded = se.deserialize_and_load(*pickle.load(open('PATH', 'rb'))); print(",
)


def test_a_process_that_compiles_nothing_runs_kernels(folder, tmp_path):
    path = str(tmp_path / "executable")
    want = script(SERIALIZED.replace("PATH", path))
    done = run_script(LOADED.replace("PATH", path), {"WEIR_MEMORY_LIMIT": "4MB"})
    assert done.returncode == 0 and done.stdout == want, done.stderr


LONG = """
import jax, jax.numpy as jnp, numpy as np, os, signal, threading
x = np.zeros((N, 3), "f4")
f = jax.jit(lambda x, v: jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ v)
f = f.lower(x, x[:, 0]).compile()
stopped = threading.Event()
def press():  # again, in case that it was before the loop began
    while not stopped.wait(SECONDS):
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    try:
        f(x, x[:, 0]).block_until_ready()
    finally:
        str(0)  # Python looks for signals in calls
except KeyboardInterrupt:
    stopped.set()
    print("stopped", float(jnp.sum(jnp.arange(10))))
"""


def long(n, seconds=1.0):
    return LONG.replace("N,", f"{n},").replace("SECONDS", str(seconds))


def test_ctrl_c_ends_a_kernel_of_hours(folder):
    assert script(long(2_000_000), WEIR_MEMORY_LIMIT="64MB") == "stopped 45.0\n"


def test_ctrl_c_ends_a_loop_that_shows_progress():
    settings = {"WEIR_TILE": "off", "WEIR_PROGRESS": "1", "WEIR_MEMORY_LIMIT": "64MB"}
    assert script(long(2_000_000), **settings) == "stopped 45.0\n"


def test_nothing_is_shown_in_pipes():
    done = run_script(MATVEC, {"WEIR_PROGRESS": "1", "WEIR_MEMORY_LIMIT": "4MB"})
    assert done.returncode == 0 and not done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tile", ["off", "auto"])
def test_a_line_on_terminals(tile):
    """Drawn while the loop runs, with the source line, and gone at the end."""
    text = MATVEC.replace("2003", "80011").replace("print(", "len(")
    settings = {"WEIR_PROGRESS": "1", "WEIR_TILE": tile, "WEIR_MEMORY_LIMIT": "16MB"}
    shown = on_terminal(text, settings | {"WEIR_NUM_THREADS": "1"})
    lines = shown.split("\r")
    drawn = [line for line in lines if "slices/s, ETA" in line]
    assert all(line.startswith("weir: jit_f") and " %, " in line for line in drawn)
    assert drawn or tile == "auto"  # kernels may be too fast to show anything
    assert not drawn or lines[-1].startswith("\033[K")


def on_terminal(text, settings):
    """What the script writes to stderr, a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", text], env=environment(settings), stderr=theirs, stdout=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(ours, 4096):
                shown += data
        assert process.wait() == 0, shown.decode()
    os.close(ours)
    return shown.decode()
