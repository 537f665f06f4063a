"""What weir tells people: warnings, the line of a plan, reproducers, dumps; and the last plan, for
scripts. The same for every framework whose compiler weir is hooked into.
"""

import errno
import hashlib
import os
import pathlib
import sys
import tempfile
import threading
import traceback
import warnings

from weir import _library, _plan

_FRAMEWORKS = ("jax", "tensorflow", "keras", "tf_keras", "gpflow")
_planning = threading.local()
last_report = None
reports = {}  # the last of each program's name that has a limit


class WeirWarning(UserWarning):
    """weir left a program alone although a limit is set."""


def _folders():
    """Of weir's code and of the frameworks' that are loaded."""
    modules = [_library, *filter(None, map(sys.modules.get, _FRAMEWORKS))]
    files = [module.__file__ for module in modules if getattr(module, "__file__", None)]
    return tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in files)


def warn(message):
    """A WeirWarning at the line of the user's that led here."""
    level, frame, passed = 2, sys._getframe(1), _folders()
    while frame.f_back and os.path.abspath(frame.f_code.co_filename).startswith(passed):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, WeirWarning, stacklevel=level)


def warn_over_limit(name, plan):
    """Of a refused program that runs all the same."""
    peak, limit = map(_plan.readable, (plan.peak_before_bytes, plan.limit_bytes))
    warn(f"weir: {name} runs as it came, over the limit of {limit}: peak {peak}")


def report(plan, settings):
    """Notes the plan of a program that is changed or refused; a line on stderr if asked for."""
    global last_report
    is_changed = plan.outcome != "untouched"
    if not is_changed and not plan.tried_took_ns:
        return
    if is_changed:
        last_report = plan
    if is_changed and plan.limit_bytes:
        reports[plan.name] = plan
    if settings.get("debug"):
        for line in filter(None, (plan.line(), plan.warning())):
            print(f"weir: {line}", file=sys.stderr)


def planned():
    """The list that plans of this thread are to be put into; None outside of weir.plan()."""
    return getattr(_planning, "plans", None)


def plans_of(compile_program, refusal):
    """Calls compile_program() and returns the plans of the programs that it compiled, also of a
    refused one, for which it raises `refusal`.
    """
    _planning.plans = plans = []
    try:
        compile_program()
    except refusal:
        if not plans or plans[-1].outcome != "refused":
            raise
    finally:
        _planning.plans = None
    return plans


def _write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # to open a pipe would wait for its reader
        raise OSError(errno.EINVAL, "no regular file", str(path))
    path.write_bytes(text)
    return path


def _file_stem(name, text):
    safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in name)
    return f"weir-{safe[:80]}-{hashlib.sha256(text).hexdigest()[:10]}"


def dump(name, read_text, result):
    """The program before and after, where WEIR_DUMP_TO says."""
    folder = os.environ.get("WEIR_DUMP_TO")
    if not folder:
        return
    before = read_text()
    stem = _file_stem(name, before)
    try:
        _write(folder, f"{stem}.before.mlir", before)
        _write(folder, f"{stem}.after.mlir", result.text or before)
        _write(folder, f"{stem}.plan.txt", result.explain.encode())
    except OSError as problem:
        warn(f"weir: WEIR_DUMP_TO: {problem}")


def warn_of_failure(name, where_it_runs, settings, text, error):
    """One warning, and a file with which the failure can be repeated without the user's program."""

    def show(value):
        return value.decode() if isinstance(value, bytes) else value

    lines = [
        f"program {name}: {type(error).__name__}: {error}",
        f"platform {where_it_runs}",
        *(f"{setting} = {show(value)}" for setting, value in settings.items()),
        *traceback.format_exception(error),
    ]
    comments = "".join(f"// {line}\n" for line in "\n".join(lines).splitlines())
    reproducer = comments.encode() + (text or b"")
    folder = os.environ.get("WEIR_DUMP_TO") or tempfile.gettempdir()
    try:
        file = _file_stem(name, reproducer) + ".reproducer.mlir"
        where = f"reproducer: {_write(folder, file, reproducer)}"
    except OSError as problem:
        where = f"no reproducer: {problem}"
    warn(f"weir: {lines[0]}; it runs as it came, without the limit; {where}")
