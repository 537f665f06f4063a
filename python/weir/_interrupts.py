"""Ctrl-C that comes while a block begins or ends waits until that is done.

Python looks for signals wherever a function is entered. So KeyboardInterrupt may come out of __exit__
before its first line, and the block has never ended; after a loop that Ctrl-C has ended, JAX's error
and the signal come together, and that is where it strikes. While blocks are open in the main thread,
SIGINT has a handler that looks at what is running: inside of an `undivided` function it keeps the
signal, else it hands it on to the handler that was there.
"""

import signal
import threading


class _Here(threading.local):
    waiting = ()  # what came inside of an undivided function


here = _Here()  # the main thread's, as signals are; others have nothing

_codes = set()
_open = 0
_before = None


def undivided(function):
    """Not interrupted but where its local variable `may_stop` is true. When it has done its work, it
    looks at `here.waiting`, without a call in between."""
    _codes.add(function.__code__)
    return function


def handler():
    """Who hears of Ctrl-C in the end."""
    found = signal.getsignal(signal.SIGINT)
    return _before if found is _handle else found


def begin():
    """A block of this thread is about to begin."""
    global _open, _before
    if threading.current_thread() is not threading.main_thread():
        return
    found = signal.getsignal(signal.SIGINT)
    if found is not _handle and callable(found):
        _before = found
        signal.signal(signal.SIGINT, _handle)
    _open += 1  # from here on nothing raises


def end():
    """It has ended."""
    global _open
    if threading.current_thread() is not threading.main_thread():
        return
    _open -= 1
    if _open == 0 and signal.getsignal(signal.SIGINT) is _handle:
        signal.signal(signal.SIGINT, _before)


def deliver():
    """What has waited goes to the handler that it was for."""
    waiting, here.waiting = here.waiting, ()
    if waiting:
        _before(*waiting[0])


def _handle(number, frame):
    running = frame
    while running is not None:
        if running.f_code in _codes and not running.f_locals.get("may_stop"):
            here.waiting = (*here.waiting, (number, frame))
            return
        running = running.f_back
    _before(number, frame)
