"""The documents are true where a program can tell: links lead somewhere, what the commands print in
them is what they print now, and every setting and option is described.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
from running import BUILD

from weir import _settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIRST_PAGE_LINES = 110
PROGRAM = "examples/stablehlo/kernel_matvec.mlir"


def name_of(path):
    return str(path.relative_to(ROOT))


def anchors(text):
    """As GitHub and MkDocs make them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for link in LINK.findall(FENCE.sub("", document.read_text())):
        path, _, anchor = link.partition("#")
        assert "://" not in path, f"{link}: the documents link to nothing outside"
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text()), link


def test_the_site_has_every_page_it_names():
    text = (ROOT / "mkdocs.yml").read_text()
    for page in re.findall(r": (\S+\.md)$", text, re.MULTILINE):
        assert page == "index.md" or (ROOT / page).exists(), page


def test_extras_can_be_installed():
    """And every one but the tests' own is named somewhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = set()
    for document in DOCUMENTS:
        named.update(re.findall(rf"{project['name']}\[(\w+)\]", document.read_text()))
    assert named == project["optional-dependencies"].keys() - {"test"}


def test_the_first_page_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= FIRST_PAGE_LINES


def exists_somewhere(path):
    """From the root, or as the sources and tests are called among themselves."""
    return any((ROOT / folder / path).exists() for folder in ("", "src", "test"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_files_that_the_documents_name_exist(document):
    text = document.read_text()
    named = re.findall(r"\b(?:examples|bench|tools)/\w+\.(?:py|sh)\b", text)
    named += re.findall(r"`((?:[\w-]+/)+[\w.-]+\.(?:c|h|def|py|md|mlir|toml))`", text)
    assert [path for path in named if not exists_somewhere(path)] == []


@pytest.fixture(scope="module")
def names_in_the_sources():
    """Of files, and of all that a C or Python file calls something."""
    folders = ("src", "include", "python", "test", "tools", "bench")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    kinds = {".c", ".h", ".def", ".py", ".cc"}
    text = "\n".join(path.read_text() for path in files if path.suffix in kinds)
    return {path.name for path in files} | set(re.findall(r"[A-Za-z_]\w*", text))


@pytest.mark.parametrize("document", sorted((ROOT / "docs/design").glob("*.md")), ids=name_of)
def test_design_notes_name_what_there_is(document, names_in_the_sources):
    """Files of src and test, and functions that have a folder's prefix."""
    text = FENCE.sub("", document.read_text())
    named = re.findall(r"`([\w-]+\.(?:c|h|def|py|mlir))`", text)
    prefix = "ir|pass|split|plan|kernel|kernels|machine|pipeline|limit|cost|tile|tiles|in|out"
    named += re.findall(rf"`((?:{prefix})_\w+)(?:\(\))?`", text)
    assert [name for name in named if name not in names_in_the_sources] == []


@pytest.mark.parametrize("folder", ["split", "kernel", "limit", "pipeline", "call"])
def test_architecture_says_what_each_file_is(folder):
    text = (ROOT / "ARCHITECTURE.md").read_text()
    files = [path.stem for path in (ROOT / "src" / folder).glob("*.c")]
    assert [name for name in files if f"`{name}`" not in text and f"`{name}.c`" not in text] == []


@pytest.mark.parametrize("name", _settings.NAMES)
def test_every_setting_is_described(name):
    assert f"`{name}`" in (ROOT / "docs/settings.md").read_text()


def printed(*arguments):
    """What the command writes, with the text of its dumps."""
    done = subprocess.run([BUILD / "weir", *arguments], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout + done.stderr


def test_the_tour_shows_what_the_commands_print():
    limit = ("--memory-limit", "10MB")
    said = "\n".join(
        [
            (ROOT / PROGRAM).read_text(),
            printed("opt", PROGRAM, *limit, "--dump-after", "split"),
            printed("plan", PROGRAM, *limit),
        ]
    )
    shown = FENCE.findall((ROOT / "docs/tour.md").read_text())
    assert len(shown) >= 5
    for _, block in shown:
        assert block in said


def test_the_first_page_shows_the_peaks_of_the_tour():
    said = printed("plan", PROGRAM, "--memory-limit", "10MB")
    before, after = re.search(r"^peak +(\S+ MB) -> (\S+) MB", said, re.MULTILINE).groups()
    text = (ROOT / "README.md").read_text()
    assert f"peak {before}" in text and f"peak {after[:3]} MB" in text


@pytest.mark.parametrize("folder", ["bench", "bench/experiments", "examples", "tools"])
def test_no_program_hides_a_package(folder):
    """Python looks in a program's own folder first: bench/gpflow.py was GPflow to its neighbours."""
    here = {path.stem for path in (ROOT / folder).glob("*.py")}
    listed = "\n".join(path.read_text() for path in (ROOT / "bench").glob("*.txt"))
    packages = {name.lower().replace("-", "_") for name in re.findall(r"^[\w-]+", listed, re.MULTILINE)}
    assert {"gpflow", "torch"} <= packages
    assert not here & (packages | {"jax", "tensorflow", "weir"} | sys.stdlib_module_names)
