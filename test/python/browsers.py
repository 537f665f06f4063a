"""A browser for tests: Debian's headless Chromium, driven by Playwright; Playwright's own Chromium
where there is no such package. Both are installed if this process may.
"""

import contextlib
import functools
import os
import shutil
import subprocess
import sys

import pytest

_COMMANDS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def _tried(*command, seconds=240):
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _installed():
    return next(filter(None, map(shutil.which, _COMMANDS)), None)


@functools.cache
def _path():
    """Of a Chromium; None: Playwright finds its own."""
    package = ("install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell")
    if not _installed() and os.geteuid() == 0:
        _tried("apt-get", *package) or (_tried("apt-get", "update") and _tried("apt-get", *package))
    if not _installed():
        _tried(sys.executable, "-m", "playwright", "install", "--only-shell", "chromium")
    return _installed()


@contextlib.contextmanager
def launched():
    """A browser; playwright's Error where none can be had."""
    from playwright import sync_api

    with sync_api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=_path(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright")
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(launched())
        except playwright.Error as error:
            pytest.skip(f"no browser (Debian: chromium-headless-shell): {str(error).splitlines()[0]}")
        yield found
