"""Pictures of plans for the documents: `.venv/bin/python tools/pictures.py`. Needs Playwright, a
headless Chromium and Pillow, as the tests of pages do (docs/dependencies.md).

Each is the head and the first charts of a page that `weir report` writes for the machine or the
devices named here, so that it is the same wherever it is made.
"""

import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

import jax
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "examples"), str(ROOT / "bench")]

import attention_grad  # noqa: E402
import gpt  # noqa: E402
import p1_kernel_matvec  # noqa: E402
import p3_sgpr  # noqa: E402

COMMANDS = ("chromium-headless-shell", "chromium", "google-chrome")


def of_example(module):
    """At its own sizes."""
    return module.run.lower(*jax.eval_shape(lambda: module.make_inputs(**module.sizes)))


def text_of(make, x64):
    with jax.enable_x64(x64):
        return make().as_text(debug_info=True)


def under(limit):
    return ("--memory-limit", limit, "--machine", "x86-64-v3,cores=2")


PICTURES = {  # the program, whether in double precision, options of weir report
    "demo": (lambda: of_example(p1_kernel_matvec), True, under("1GB")),
    "attention-gradient": (lambda: of_example(attention_grad), False, under("1GB")),
    "sgpr": (lambda: of_example(p3_sgpr), True, under("500MB")),
    "gpt-step": (lambda: gpt.lowered(4), False, under("1GB")),
    "devices": (lambda: of_example(p1_kernel_matvec), True, ("--device", "l4,v5e,h100,b200")),
}


def page_of(folder, name):
    make, x64, options = PICTURES[name]
    source, page = folder / name, folder / f"{name}.html"
    source.write_text(text_of(make, x64))
    command = [ROOT / "build/release/weir", "report", source, "-o", page, *options]
    subprocess.run(command, check=True)
    return page


def main():
    command = next(filter(None, map(shutil.which, COMMANDS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=command, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1000, "height": 1050})
        for name in sys.argv[1:] or PICTURES:
            view.goto(page_of(pathlib.Path(folder), name).as_uri())
            shot = Image.open(io.BytesIO(view.screenshot())).convert("RGB")
            shot.quantize(128).save(ROOT / f"docs/pictures/plan-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
