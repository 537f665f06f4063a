"""Pictures of plans for the documents: `.venv/bin/python tools/pictures.py`. Needs Playwright and a
headless Chromium, as the tests of pages do (docs/dependencies.md).

Each is the head and the first charts of a page that `weir report` writes for the machine named
here, so that it is the same wherever it is made.
"""

import pathlib
import shutil
import subprocess
import tempfile

import jax
import jax.numpy as jnp
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
MACHINE = "x86-64-v3,cores=2"
COMMANDS = ("chromium-headless-shell", "chromium", "google-chrome")


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def kernel_matvec(x, v):
    return jnp.exp(-((x[:, None] - x[None]) ** 2)) @ v


def attention(q, k, v):
    return jnp.sum(jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8) @ v)


PROGRAMS = {
    "kernel-matvec": (kernel_matvec, [floats(10_000)] * 2, "100MB"),
    "attention-gradient": (jax.grad(attention, (0, 1, 2)), [floats(2, 8, 2048, 64)] * 3, "300MB"),
}


def page_of(folder, name):
    function, arguments, limit = PROGRAMS[name]
    source, page = folder / name, folder / f"{name}.html"
    source.write_text(jax.jit(function).lower(*arguments).as_text(debug_info=True))
    command = [ROOT / "build/release/weir", "report", source, "-o", page]
    subprocess.run([*command, "--memory-limit", limit, "--machine", MACHINE], check=True)
    return page


def main():
    command = next(filter(None, map(shutil.which, COMMANDS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=command, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1000, "height": 1050})
        for name in PROGRAMS:
            view.goto(page_of(pathlib.Path(folder), name).as_uri())
            view.screenshot(path=ROOT / f"docs/pictures/plan-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
