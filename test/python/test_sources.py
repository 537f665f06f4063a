"""What holds for the sources as text: who includes whom, and where measured numbers stand."""

import collections
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import layers  # noqa: E402
import tuned  # noqa: E402


@pytest.mark.parametrize("check", [layers, tuned], ids=lambda module: module.__name__)
def test_the_sources_are_in_order(check, capsys):
    assert check.main() == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "line, names",
    [
        ("static const double LANE = 3.5, LINE = 8; /* cycles */", ["LANE", "LINE"]),
        ("#define GAIN_OF_A_KERNEL 2", ["GAIN_OF_A_KERNEL"]),
        ("#define WORTH 1.2", ["WORTH"]),
        ("  LEAST_CHUNKS = 32, /* BLOCK = 3 */", ["LEAST_CHUNKS"]),
        ("enum { MOST_BLOCKS = 16, BLOCK = 128 };", ["BLOCK"]),
        ("enum { MOST_STEPS = 256 };", []),
        ("#define SPLIT_CHUNKS_H", []),
    ],
)
def test_a_measured_number_is_known_by_its_name(line, names):
    assert [name for _, name in tuned.definitions(line)] == names


def test_a_number_that_nothing_measured_is_found(tmp_path, monkeypatch):
    table = tmp_path / "tuned.def"
    table.write_text('REAL( SLOW, 8, "a root", "no_such.md")\nWHOLE(ROWZ, 4, "of a tile", "")\nREAL(X)\n')
    monkeypatch.setattr(tuned, "TABLE", table)
    assert [problem.split(": ")[-1] for problem in tuned.rows()] == [
        "there is no no_such.md",
        "nobody reads TUNED_ROWZ",
        "not a row",
    ]


# Folders that some program puts on its path, whichever comes first there.
MODULES = ("bench", "bench/experiments", "examples", "test/corpus", "test/python", "test/tensorflow", "tools")


def test_no_two_modules_have_one_name():
    """Else whose `import measure` comes first says which of them all others get."""
    found = collections.Counter(
        file.name for folder in MODULES for file in (ROOT / folder).glob("*.py") if not is_of_pytest(file.name)
    )
    assert [name for name, count in found.items() if count > 1] == []


def test_no_test_is_imported():
    """What several tests need is in a module that has none."""
    importing = re.compile(r"^\s*(?:from|import) test_", re.M)
    folders = ROOT / "test/python", ROOT / "test/tensorflow", ROOT / "tools", ROOT / "bench"
    assert [file.name for folder in folders for file in folder.glob("*.py") if importing.search(file.read_text())] == []


def test_the_oldest_jax_is_one():
    """What pip is told, and what a user of an older one is."""
    told = re.search(r'"jax>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    named = re.search(r"^OLDEST = \((.*)\)$", (ROOT / "python/weir/_jax.py").read_text(), re.M)[1]
    assert told == named.replace(", ", ".")


def is_of_pytest(name):
    """Files that it loads itself, of one folder a run."""
    return name == "conftest.py" or name.startswith("test_")
