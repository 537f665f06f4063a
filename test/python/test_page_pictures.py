"""What pages of plans look like, in a wide and a narrow window and in dark mode, beside pictures that
are kept. Another font is no difference. page_pictures.py draws the pictures anew.
"""

import json
import re

import pytest
from browsers import browser  # noqa: F401, a fixture
from running import ROOT

pytest.importorskip("PIL", reason="no Pillow")

import page_pictures  # noqa: E402
import page_programs  # noqa: E402
import weir  # noqa: E402
from page_pictures import WINDOWS, golden, load, what_differs  # noqa: E402


def test_there_are_pictures_of_ten_programs_and_of_devices():
    assert set(page_pictures.names()) == {*page_programs.PROGRAMS, "devices"}
    assert sum(path.stat().st_size for path in page_pictures.FOLDER.iterdir()) < 1_500_000


def test_plans_that_are_kept_have_todays_fields():
    """Else the pictures would be of pages that weir no longer writes: page_pictures.py --plans."""
    plan = weir.plan(page_programs.gram, page_programs.floats(500, 100), limit="100MB", device="h100")
    today = json.loads(plan.data)
    for name in page_pictures.names():
        for part in json.loads((page_pictures.FOLDER / f"{name}.json").read_text()):
            assert part["plan"].keys() == today.keys()
            for kept, new in zip(part["plan"]["programs"], today["programs"]):
                assert kept.keys() == new.keys()


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", page_pictures.names())
def test_pages_look_as_they_did(browser, name, window):  # noqa: F811
    drawn = page_pictures.drawn(browser, name, window)
    assert what_differs(drawn, load(golden(name, window))) == []


CHANGES = {
    "no dark mode": ("(prefers-color-scheme: dark)", "(min-width: 99999px)"),
    "another colour": ("--t0: #3d97d3", "--t0: #55dd33"),
    "no text in tables": ("th, td { padding", "th, td { color: transparent; padding"),
    "no curve": ('stroke: colour("--accent"), width: 2', 'stroke: "transparent", width: 0'),
    "no nodes": (".graph .node rect {", ".graph .node { opacity: 0 } .graph .node rect {"),
    "tables beside tables": (".scroll {", ".scroll { float: left; width: 50%;"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_page_that_looks_otherwise_is_noticed(browser, change):  # noqa: F811
    page = page_pictures.page_of("matvec")
    changed = page.replace(*CHANGES[change])
    assert changed != page
    drawn = page_pictures.drawn(browser, "matvec", "dark", changed)
    assert what_differs(drawn, load(golden("matvec", "dark")))


@pytest.mark.parametrize("window", WINDOWS)
def test_letters_of_another_width_are_no_difference(browser, window):  # noqa: F811
    page = page_pictures.page_of("sgpr").replace("</style>", "* { letter-spacing: .03em }</style>")
    drawn = page_pictures.drawn(browser, "sgpr", window, page)
    assert what_differs(drawn, load(golden("sgpr", window))) == []


def test_documents_show_what_the_tool_makes():
    made = re.findall(r'^    "([a-z-]+)": \(', (ROOT / "tools/pictures.py").read_text(), re.M)
    kept = {path.stem for path in (ROOT / "docs/pictures").glob("plan-*.png")}
    guide = (ROOT / "docs/guides/pages.md").read_text()
    shown = set(re.findall(r"\.\./pictures/(plan-[a-z-]+)\.png", guide))
    assert {f"plan-{name}" for name in made} == kept == shown and len(kept) > 4
