"""The documents as a site: gathers the pages of the root and of docs/ below build/docs/pages and runs
MkDocs (settings: mkdocs.yml) in an environment of its own. Broken links are errors. The tutorials
are run first, and their pages show what came out.

    python tools/docs.py     build/docs/site/index.html
"""

import html
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import notebooks

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/docs"
PAGES = BUILD / "pages"
OF_THE_ROOT = ("ARCHITECTURE.md", "CONVENTIONS.md", "CHANGELOG.md")
PACKAGES = ("mkdocs>=1.6,<2", "mkdocs-material>=9.5", "nbconvert>=7.16")


def gather():
    """README.md is the first page; all else stands where it stands in the repository, so that
    links between files hold."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs")
    shutil.copy(ROOT / "README.md", PAGES / "index.md")
    for name in OF_THE_ROOT:
        shutil.copy(ROOT / name, PAGES)


def mkdocs():
    """Its Python, in build/docs/venv."""
    python = BUILD / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", BUILD / "venv"], check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
        subprocess.run([*pip, "install", "-q", *PACKAGES], check=True)
    return python


def tutorials(python):
    """The pages of the tutorials, and notebooks to download, in place of their sources."""
    folder = PAGES / "docs/tutorials"
    notebooks.main(folder)
    files = sorted(folder.glob("*.ipynb"))
    convert = [python, "-m", "nbconvert", "--to", "markdown", "--log-level", "ERROR", *files]
    subprocess.run(convert, check=True)
    for file in files:
        page = file.with_suffix(".md")
        text = with_plans_beside(page.read_text(), page.with_suffix(""))
        page.write_text(f"{text}\n[This page as a notebook]({file.name})\n")


def with_plans_beside(text, stem):
    """The page whose frames show files of their own: Markdown would change what is inside of one."""
    files = (stem.with_name(f"{stem.name}-plan-{i}.html") for i in itertools.count(1))

    def put_beside(frame):
        file = next(files)
        file.write_text(html.unescape(frame[1]))
        return f'src="{file.name}"'

    return re.sub(r'(?<=<iframe )srcdoc="([^"]*)"', put_beside, text)


def main():
    gather()
    python = mkdocs()
    tutorials(python)
    command = [python, "-m", "mkdocs", "build", "--strict", "--clean", "-q"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    code = subprocess.run(command, cwd=ROOT, env=quiet).returncode
    if not code:
        print((BUILD / "site/index.html").relative_to(ROOT))
    return code


if __name__ == "__main__":
    sys.exit(main())
