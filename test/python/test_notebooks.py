"""The tutorials run as notebooks, and show plans as pages."""

import html
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import docs  # noqa: E402
import notebooks  # noqa: E402

NAMES = {"kernels", "neighbours", "training", "devices"}


def shown(notebook, kind):
    """What the cells put out of this type, in order."""
    results = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.data[kind] for output in results if kind in output.get("data", {})]


def printed(notebook):
    streams = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(stream.text for stream in streams if stream.output_type == "stream")


def test_there_are_four():
    assert {path.stem for path in notebooks.TUTORIALS} == NAMES


@pytest.mark.parametrize("path", notebooks.TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path):
    """Every cell without an error; its asserts compare answers with plain code."""
    notebook = notebooks.run(notebooks.read(path))
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) >= 6
    assert any("assert" in cell.source for cell in cells)
    pages = shown(notebook, "text/html")
    assert any(page.startswith("<iframe srcdoc=") and "jit_" in page for page in pages)
    assert "held, " in printed(notebook)
    assert re.search(r"set it to \d+ bytes or more", printed(notebook))


def test_an_error_in_a_cell_is_an_error():
    import nbclient
    import nbformat

    cell = nbformat.v4.new_code_cell("assert 1 == 2")
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        notebooks.run(nbformat.v4.new_notebook(cells=[cell]))


def test_the_site_shows_plans_from_files_of_their_own(tmp_path):
    """Unchanged: Markdown takes tabs and blank lines for its own."""
    pages = ['<p class="a">\tone</p>\n\n    & more', "two"]
    frames = [f'<iframe srcdoc="{html.escape(page)}" title="t"></iframe>' for page in pages]
    shown = docs.with_plans_beside(f"# Head\n\n{frames[0]}\n\ntext\n{frames[1]}\n", tmp_path / "page")
    assert re.findall(r"<iframe .*", shown) == [
        f'<iframe src="page-plan-{i}.html" title="t"></iframe>' for i in (1, 2)
    ]
    assert [(tmp_path / f"page-plan-{i}.html").read_text() for i in (1, 2)] == pages


def test_plans_name_the_cells():
    """As IPython's tracebacks do, not as the files that Jupyter makes of them."""
    import nbformat

    notebook = nbformat.v4.new_notebook()
    f = "f = jax.jit(lambda x: jnp.exp(-((x[:, None] - x[None]) ** 2)) @ x)"
    cells = [
        "import jax, jax.numpy as jnp, weir\nx = jax.ShapeDtypeStruct((3000,), jnp.float32)",
        f"# the second cell\n{f}",
        "print(weir.plan(f, x, limit='1MB'))",
    ]
    notebook.cells = list(map(nbformat.v4.new_code_cell, cells))
    (said,) = notebooks.run(notebook).cells[-1].outputs
    assert "exponential" in said.text and "at In[2]:2" in said.text and ".py:" not in said.text
