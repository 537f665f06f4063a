"""How far loops are, where people look: the library's line on a terminal; in a notebook a bar of
tqdm's, if that is installed.

The main thread of a notebook waits for XLA meanwhile, without Python's lock. So another thread asks
the library five times a second, and draws.
"""

import contextlib
import sys
import threading

from weir import _library, _plan, _say

_SHORT_SECONDS, _BETWEEN_SECONDS = 0.5, 0.2  # as src/call/progress.c
_lock = threading.Lock()
_watchers, _watcher = 0, None


@contextlib.contextmanager
def shown():
    """Loops that run in this block show how far they are."""
    is_watched = begin()
    try:
        yield
    finally:
        if is_watched:
            _end_watching()
        else:
            _library.library().weir_show_progress(False)


def begin():
    """Loops that run from now on show how far they are; whether in a bar."""
    bar = _notebook_bar()
    if bar is None:
        _library.library().weir_show_progress(True)
    else:
        _begin_watching(bar)
    return bar is not None


def _notebook_bar():
    """tqdm's class of bars; None outside of a notebook, and where there is no tqdm."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _begin_watching(bar):
    """One thread for all blocks."""
    global _watchers, _watcher
    with _lock:
        _watchers += 1
        if _watchers == 1:
            _library.library().weir_watch_progress(True)
            _watcher = _Watcher(bar)


def _end_watching():
    global _watchers, _watcher
    with _lock:
        _watchers -= 1
        if not _watchers:
            _library.library().weir_watch_progress(False)
            _watcher.end()
            _watcher = None


class _Watcher:
    """Draws the loop that has run longest, as a bar that goes when the loop has ended."""

    def __init__(self, make_bar):
        self._make_bar, self._ends = make_bar, threading.Event()
        self._bar, self._shown = None, None  # the loop as it was drawn last
        self._thread = threading.Thread(target=self._watch, name="weir progress", daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join()

    def _watch(self):
        while not self._ends.wait(_BETWEEN_SECONDS):
            self._show(_library.running_loop())
        self._close()

    def _show(self, loop):
        if self._bar is not None and not _goes_on(self._shown, loop):
            self._close()
        if loop is None or loop.seconds < _SHORT_SECONDS:
            return
        if self._bar is None:
            self._bar = self._make_bar(
                desc=loop.label,
                total=loop.total,
                initial=loop.done,
                unit=" slices",
                postfix=_left_free(loop.label),
                leave=False,
            )
        self._bar.n, self._shown = loop.done, loop
        self._bar.refresh()

    def _close(self):
        if self._bar is not None:
            self._bar.close()
        self._bar = None


def _goes_on(before, loop):
    """Whether it is the same run of the same loop."""
    if loop is None or (before.label, before.total) != (loop.label, loop.total):
        return False
    return before.done <= loop.done and before.seconds <= loop.seconds


def _left_free(label):
    """Of the limit, by the program's last plan; "" where it has none."""
    plan = _say.reports.get(label.partition(", ")[0])
    if plan is None:
        return ""
    free = plan.limit_bytes - plan.peak_after_bytes
    return f"{_plan.readable(free)} free of {_plan.readable(plan.limit_bytes)}"
