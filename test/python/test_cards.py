"""bench/cards.py, which writes the tables of docs/cards.md: what fits, what is held in loops with
its predicted time, and what needs a larger card.
"""

import pathlib
import re
import subprocess
import sys

import pytest

from weir import _devices, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, ROOT / "bench/cards.py"]
CELLS = r"fits|fits in order|\d+ loops?, [\d.]+ m?s(, [\d.]+×)?|no: [\d.]+ [MG]B"
MARKER = "<!-- bench/cards.py writes what follows -->"

HAS_COMPILERS = any(map(_devices.has_compiler, ("cuda", "tpu")))
pytestmark = pytest.mark.skipif(HAS_COMPILERS, reason="the tables are by estimate")


def cells_of(text):
    """Of the rows that end with the cell of a card: [as it came, cell, ...]."""
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines()]
    return [row[2:] for row in rows if row and re.fullmatch(CELLS, row[-1])]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Cholesky and attention on a small card and a large one."""
    path = tmp_path_factory.mktemp("cards") / "page.md"
    path.write_text(f"# Before\n\n{MARKER}\n\nold\n")
    options = ["--programs", "p10,p5", "--cards", "l4,h200", "--page", path]
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert path.read_text() == f"# Before\n\n{MARKER}\n\n{done.stdout.rstrip()}\n"
    return done.stdout


def test_cells_are_of_three_kinds(page):
    cholesky, larger, attention, longer = cells_of(page)
    assert cholesky[1:] == ["fits", "fits"]
    # A matrix of 65,536 x 65,536 in f64, its factor, and a copy: 3 x 34.4 GB.
    assert larger == ["103 GB", "no: 103 GB", "fits"]
    assert attention[1:] == ["fits", "fits"]
    assert all(re.match(r"1 loop, [\d.]+ s", cell) for cell in longer[1:])
    assert "| 2 → 3 | 3 → 4 |" in page


def test_the_page_has_every_card_and_nothing_but_such_cells():
    text = (ROOT / "docs/cards.md").read_text()
    before, marker, tables = text.partition(MARKER)
    assert marker
    heads = [line for line in tables.splitlines() if "as it came" in line]
    cards = [card for head in heads for card in head.strip("| ").split(" | ")[3:]]
    assert len(cards) == 10 and set(cards) < {d.name for d in _library.devices()}
    rows = cells_of(tables)
    assert len(rows) == 2 * len(re.findall(r"^\| [^|]+\(\w+\) \|", tables, re.MULTILINE)) > 0
    assert all(re.fullmatch(CELLS, cell) for row in rows for cell in row[1:])
