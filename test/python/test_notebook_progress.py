"""Loops in a notebook show a bar of tqdm's, with what the limit leaves free."""

import os
import pathlib
import re
import subprocess
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import notebooks  # noqa: E402

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np, weir
x = jnp.asarray(np.random.default_rng(0).normal(size=({n}, 3)), jnp.float32)
f = jax.jit(lambda x: jnp.exp(-jnp.abs(x[:, None] - x[None]).sum(-1)) @ x[:, 0])
"""
LONG, SHORT = 60_011, 301
RUN = "with weir.limit({limit!r}){more}:\n    y = f(x).block_until_ready()\nprint(y.shape)"
BAR = re.compile(r"jit__lambda, \S+:\d+: +(\d+)%.*\|? (\d+)/(\d+) \[.* slices/s?.*, (\S+ \S+) free of 16\.0 MB\]")


def run(*cells, n=LONG, **settings):
    """The outputs of the last cell. Loops are XLA's, which take their time."""
    texts = [PROGRAM.format(n=n), *cells]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    put = "import os\n" + "".join(f"os.environ[{k!r}] = {v!r}\n" for k, v in settings.items())
    book.cells[0].source = put + book.cells[0].source
    return notebooks.run(book).cells[-1].outputs


def text_of(outputs, name):
    return "".join(o.text for o in outputs if o.output_type == "stream" and o.name == name)


def hidden(module):
    """A cell after which it is as if the package were not installed."""
    return f"import sys\nsys.modules[{module!r}] = None"


@pytest.fixture(autouse=True)
def plain_loops(monkeypatch):
    monkeypatch.setenv("WEIR_TILE", "off")


WITH = RUN.format(limit="16MB", more=", weir.progress()")


def test_a_bar_of_widgets():
    outputs = run(WITH)
    shown = [o.data for o in outputs if "application/vnd.jupyter.widget-view+json" in o.get("data", {})]
    assert len(shown) == 1
    assert "jit__lambda, " in shown[0]["text/plain"]
    assert text_of(outputs, "stdout") == f"({LONG},)\n" and not text_of(outputs, "stderr")


@pytest.mark.slow
def test_a_bar_of_text_without_widgets():
    outputs = run(hidden("ipywidgets"), WITH)
    drawn = text_of(outputs, "stderr").split("\r")
    bars = [BAR.search(line) for line in drawn]
    bars = [bar for bar in bars if bar]
    assert len(bars) >= 2
    done, totals = [int(b[2]) for b in bars], {int(b[3]) for b in bars}
    assert done == sorted(done) and done[0] < done[-1] <= max(totals) and len(totals) == 1
    assert all(bar[4].split()[1] in ("kB", "MB") for bar in bars)
    assert drawn[-1] == ""  # gone at the end
    assert text_of(outputs, "stdout") == f"({LONG},)\n"


@pytest.mark.slow
def test_a_bar_for_the_whole_process():
    outputs = run(hidden("ipywidgets"), RUN.format(limit="16MB", more=""), WEIR_PROGRESS="1")
    assert BAR.search(text_of(outputs, "stderr"))


def test_a_short_loop_shows_nothing():
    outputs = run(RUN.format(limit="100kB", more=", weir.progress()"), n=SHORT)
    assert [output.output_type for output in outputs] == ["stream"]
    assert text_of(outputs, "stdout") == f"({SHORT},)\n"


@pytest.mark.slow
def test_without_tqdm_nothing_changes():
    outputs = run(hidden("tqdm"), WITH)
    assert [output.output_type for output in outputs] == ["stream"]
    assert text_of(outputs, "stdout") == f"({LONG},)\n"


def test_outside_of_notebooks_nothing_is_watched():
    """Not even if IPython and tqdm are there: the terminal's line is the library's."""
    text = (
        "import IPython, tqdm, threading, weir\n"
        "with weir.progress():\n"
        "    print([thread.name for thread in threading.enumerate() if 'weir' in thread.name])\n"
    )
    paths = filter(None, (str(ROOT / "python"), os.environ.get("PYTHONPATH")))
    found = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=found)
    assert done.stdout == "[]\n", done.stderr


def test_stopping_a_cell_ends_its_loop_and_its_bar():
    """What Jupyter's square button sends, in a loop of an hour."""
    cell = """
import os, signal, threading, time
threading.Thread(target=lambda: (time.sleep(4), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    with weir.limit("64MB"), weir.progress():
        f(x).block_until_ready()
except (KeyboardInterrupt, jax.errors.JaxRuntimeError):
    print("stopped")
print(any(thread.name == "weir progress" for thread in threading.enumerate()))
"""
    assert text_of(run(cell, n=2_000_003), "stdout") == "stopped\nFalse\n"
