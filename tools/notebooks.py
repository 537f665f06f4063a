"""The tutorials (docs/tutorials/*.md) as notebooks: reads them, and runs them in a kernel of their
own. Their code blocks are the cells.

    python tools/notebooks.py FOLDER     FOLDER/kernels.ipynb ..., with what the cells put out
"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
CELL_SECONDS = 120


def read(path):
    """The notebook that a Markdown file is."""
    import jupytext

    return jupytext.read(path)


def run(notebook):
    """Executes all cells; what they put out is in the notebook then. An error in one raises."""
    from nbclient import NotebookClient
    from traitlets.config import Config

    found = str(ROOT / "python")
    others = os.environ.get("PYTHONPATH")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (found, others)))}
    config = Config(KernelManager={"transport": "ipc"})  # no port that others could read
    client = NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="python3", config=config)
    client.execute(env=environment)
    return notebook


def main(folder):
    import nbformat

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in TUTORIALS:
        nbformat.write(run(read(path)), folder / f"{path.stem}.ipynb")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
