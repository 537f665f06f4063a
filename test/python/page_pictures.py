"""What pages of plans look like: pictures of eleven, kept in test/python/pages.

In: plans as weir writes them, kept beside the pictures, so that a picture changes with the page and
not with the planner. Out: one picture a page and window: its blocks (tiles, charts, tables, the
graph) at a quarter of their size, one below the other, with where each begins.

    .venv/bin/python test/python/page_pictures.py            # draws the pictures anew
    .venv/bin/python test/python/page_pictures.py --plans    # plans the programs anew before

Look at the difference before you commit.
"""

import argparse
import dataclasses
import json
import pathlib
import tempfile

import numpy as np
from PIL import Image, ImageFilter, PngImagePlugin
from weir import _library

FOLDER = pathlib.Path(__file__).parent / "pages"
WINDOWS = {"wide": (1200, "light"), "narrow": (360, "light"), "dark": (1200, "dark")}
BLOCKS = "h1, .verdict, .tiles, #side-by-side .scroll, pre, .chart, section > .scroll, section div > .scroll, .graph"
SMALLER = 4
COLOURS = 128
MOST = {True: 0.1, False: 0.3}  # of drawings, and of text, which other fonts change more


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def page_of(name):
    """The page of the plans that are kept, as text."""
    parts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return _library.page(name, [(p["title"], json.dumps(p["plan"])) for p in parts])


# ---- pictures ----
@dataclasses.dataclass(frozen=True)
class Block:
    picture: Image.Image
    is_drawing: bool  # a chart or the graph; else text


_BOXES = """(selector) => [...new Set(document.querySelectorAll(selector))].map((e) => {
  const r = e.getBoundingClientRect();
  const box = [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY];
  return [box.map(Math.round), e.matches(".chart, .graph")];
})"""


def blocks_of(browser, path, window):
    """The blocks of the page at `path`, from the top down."""
    width, scheme = WINDOWS[window]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator("#graph svg").scroll_into_view_if_needed()
    page.locator("#graph .node").first.wait_for()
    page.evaluate("scrollTo(0, 0)")
    boxes = page.evaluate(_BOXES, BLOCKS)
    with tempfile.TemporaryDirectory() as folder:
        shot = pathlib.Path(folder) / "page.png"
        page.screenshot(path=shot, full_page=True)
        whole = Image.open(shot).convert("RGB")
    context.close()
    return [Block(_smaller(whole.crop(box)), is_drawing) for box, is_drawing in boxes]


def _smaller(picture):
    size = [max(1, round(length / SMALLER)) for length in picture.size]
    return picture.resize(size, Image.Resampling.BOX)


def drawn(browser, name, window, text=None):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        path.write_text(text or page_of(name), encoding="utf-8")
        return blocks_of(browser, path, window)


def save(path, blocks):
    """One below the other, in few colours; the PNG's text has each one's size and kind."""
    pictures, top = [b.picture for b in blocks], 0
    whole = Image.new("RGB", (max(p.width for p in pictures), sum(p.height for p in pictures)))
    for p in pictures:
        whole.paste(p, (0, top))
        top += p.height
    about = PngImagePlugin.PngInfo()
    about.add_text("blocks", json.dumps([[*b.picture.size, b.is_drawing] for b in blocks]))
    whole = whole.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    whole.save(path, optimize=True, pnginfo=about)


def load(path):
    with Image.open(path) as whole:
        about, picture, top = json.loads(whole.text["blocks"]), whole.convert("RGB"), 0
    blocks = []
    for width, height, is_drawing in about:
        blocks.append(Block(picture.crop((0, top, width, top + height)), is_drawing))
        top += height
    return blocks


def golden(name, window):
    return FOLDER / f"{name}-{window}.png"


# ---- how far apart they are ----
def difference(a, b):
    """Of what is drawn on the ground: 0 if it is the same, 1 if nothing of it is."""
    pictures = [x.resize(a.size).filter(ImageFilter.GaussianBlur(2)) for x in (a, b)]
    soft = [np.asarray(picture, np.float32) for picture in pictures]
    ground = np.median(soft[0].reshape(-1, 3), axis=0)
    ink = sum(np.abs(x - ground).sum() for x in soft)
    return float(np.abs(soft[0] - soft[1]).sum() / max(ink, 0.002 * 255 * soft[0].size))


def is_sized_alike(a, b):
    """Within a sixth, or three lines of text."""
    return all(abs(x - y) <= max(x / 6, 16) for x, y in zip(a.size, b.size))


def what_differs(blocks, wanted):
    """In words, a line each; empty where the pages look the same."""
    if len(blocks) != len(wanted):
        return [f"{len(blocks)} blocks, not {len(wanted)}"]
    found = []
    for place, (a, b) in enumerate(zip(wanted, blocks)):
        apart = difference(a.picture, b.picture)
        if not is_sized_alike(a.picture, b.picture):
            found.append(f"block {place}: {b.picture.size}, not {a.picture.size}")
        elif apart > MOST[a.is_drawing]:
            found.append(f"block {place}: {apart:.2f} apart, not {MOST[a.is_drawing]}")
    return found


# ---- anew ----
def _plan_anew():
    import page_programs

    with tempfile.TemporaryDirectory() as folder:
        for name in page_programs.PROGRAMS:
            page, _ = page_programs.held(pathlib.Path(folder), name)
            _keep(name, page)
        _keep("devices", page_programs.devices_page(pathlib.Path(folder)))


def _keep(name, page):
    import page_programs

    parts = page_programs.PLANS.search(page.read_text(encoding="utf-8"))[1]
    (FOLDER / f"{name}.json").write_text(parts + "\n", encoding="utf-8")


def main():
    import browsers

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plans", action="store_true", help="plan the programs anew, too")
    FOLDER.mkdir(exist_ok=True)
    if parser.parse_args().plans:
        _plan_anew()
    with browsers.launched() as browser:
        for name in names():
            for window in WINDOWS:
                save(golden(name, window), drawn(browser, name, window))


if __name__ == "__main__":
    main()
