"""What weir does to one program, for people and for scripts."""

import dataclasses
import html
import pathlib

from weir import _library

_OUTCOMES = {
    _library.UNTOUCHED: "untouched",
    _library.OPTIONS_ONLY: "options",
    _library.REWRITTEN: "rewritten",
}


@dataclasses.dataclass(frozen=True, repr=False)
class Plan:
    """print() shows weir's table; the fields are for scripts. Bytes are per device."""

    name: str  # of the program: jit_f
    outcome: str  # "untouched", "options" (compile options only), "rewritten", "refused"
    message: str  # why it was refused; "" otherwise
    limit_bytes: int
    peak_before_bytes: int
    peak_after_bytes: int
    minimum_bytes: int  # smallest limit found feasible; 0: not searched
    flops_before: int
    flops_after: int
    time_before_ns: int  # predicted; good for comparing, not absolute
    time_after_ns: int
    only_faster: bool  # it fits, and was rewritten for the sake of time
    before_is_estimate: bool  # peak_before_bytes is weir's estimate, not XLA's report
    after_is_estimate: bool
    faster_limit_bytes: int  # if predicted more than twice as slow: a limit that avoids it; else 0
    tried_took_ns: int  # one of two ways that were timed where predictions were unsure; 0: they decided
    else_took_ns: int  # the other
    tried_how: str  # what the one has: "with kernels", "in slices", "in functions"
    is_unconfirmed: bool  # XLA does not compile what holds the limit by estimate: it is not run
    loops: tuple[_library.Loop, ...]
    compile_options: tuple[str, ...]
    referee_compiles: int  # how often XLA was asked
    text: str | None  # the rewritten program (StableHLO)
    explain: str  # the table
    data: str = ""  # what the page shows, as JSON; "": of a plan that weir.plan() did not make
    trace: str = ""  # the schedule in Chrome's trace event format; likewise
    device: str = ""  # that weir.plan() was asked for; "": JAX's default
    device_bytes: int | None = None  # its memory, where that is known
    judge: str = ""  # who says what the program needs on that device

    @property
    def extra_flops(self):
        """What values cost that loops make anew; below 0 where algebra saves more."""
        return self.flops_after - self.flops_before

    @property
    def slices(self):
        """The slice length of each loop."""
        return tuple(loop.slice for loop in self.loops)

    @property
    def kernels(self):
        """How many loops and regions run as kernels of weir's own."""
        return sum(loop.is_kernel for loop in self.loops)

    def __str__(self):
        if not self.device or self.explain.startswith("device "):
            return self.explain.rstrip("\n")
        memory = f", {readable(self.device_bytes)}" if self.device_bytes else ""
        head = f"device   {self.device}{memory}; judged by {self.judge}\n"
        if self.device_bytes and self.limit_bytes > self.device_bytes:
            head += "doubt    the limit is more than the device has\n"
        return head + self.explain.rstrip("\n")

    def for_device(self, name, memory_bytes, judge):
        """The same plan as one that weir.plan(device=) made."""
        return dataclasses.replace(self, device=name, device_bytes=memory_bytes, judge=judge)

    def verdict(self):
        """For a table: fits, held or not."""
        if self.outcome == "refused":
            least = self.minimum_bytes
            return f"not; holds {readable(least)}" if least else "not"
        peak = readable(self.peak_after_bytes)
        if self.outcome != "rewritten" or self.only_faster:
            return f"fits as it is, {peak}"
        trips = sum(loop.trips for loop in self.loops)
        slower = f"predicted {self.time_after_ns * 1e-6:.3g} ms"
        doubt = ", unconfirmed" if self.is_unconfirmed else ""
        return f"held, {peak}: {_counted(len(self.loops), 'loop')}, {trips} trips, {slower}{doubt}"

    def line(self):
        """jit_f: rewritten, peak 3.20 GB -> 13.9 MB under 100 MB, 1 loop"""
        made = ""
        if self.only_faster:
            faster = self.time_before_ns / self.time_after_ns
            loops = len(self.loops) - self.kernels
            counts = [(self.kernels, "kernel"), (loops, "loop")]
            made = "".join(f", {_counted(count, what)}" for count, what in counts if count)
            made += f", predicted {faster:.2g} times as fast"
        elif self.outcome == "rewritten":
            made = f", {_counted(len(self.loops), 'loop')}"
        changes = self.outcome != "refused" and self.peak_after_bytes != self.peak_before_bytes
        after = f" -> {readable(self.peak_after_bytes)}" if changes else ""
        peak = (
            f", peak {readable(self.peak_before_bytes)}{after}" if self.peak_before_bytes else ""
        )
        limit = f" under {readable(self.limit_bytes)}" if self.limit_bytes else ""
        doubt = ", unconfirmed: XLA does not compile it" if self.is_unconfirmed else ""
        return f"{self.name}: {self.outcome}{peak}{limit}{made}{self.timed()}{doubt}"

    def timed(self):
        """, timed 1.2 ms with kernels, 3.4 ms without; "" where predictions decided."""
        if not self.tried_took_ns:
            return ""
        tried, other = self.tried_took_ns * 1e-6, self.else_took_ns * 1e-6
        return f", timed {tried:.3g} ms {self.tried_how}, {other:.3g} ms without"

    def warning(self):
        """Of a limit that costs much time; "" otherwise."""
        if not self.faster_limit_bytes:
            return ""
        slower = self.time_after_ns / self.time_before_ns
        return (
            f"{self.name}: predicted {slower:.2g} times as slow as it came; at most twice under "
            f"{readable(self.faster_limit_bytes)} ({self.faster_limit_bytes} bytes)"
        )

    def save(self, path):
        """Writes the plan as a page of HTML that needs nothing else; to a path that ends with
        .json the schedule as a trace for Perfetto.
        """
        path = pathlib.Path(path)
        is_trace = path.suffix.lower() == ".json"
        path.write_text(self._checked(self.trace) if is_trace else self._page(), encoding="utf-8")

    def _checked(self, text):
        if not text:
            raise ValueError(f"only what weir.plan() returns can be shown, not {self!r}")
        return text

    def _page(self):
        return _library.page(self.name, [(self.name, self._checked(self.data))])

    def _repr_html_(self):
        return _framed(self._page(), self.line()) if self.data else _as_text(self)

    def __repr__(self):
        return f"<weir.Plan {self.line()}>"


class Plans(tuple):
    """A program's plans, one a device; print() shows a table, save() writes a page."""

    def save(self, path):
        """Writes the plans side by side as one page of HTML that needs nothing else."""
        path = pathlib.Path(path)
        if path.suffix.lower() == ".json":
            raise ValueError("a trace is of one plan: plans[0].save(...)")
        path.write_text(self._page(), encoding="utf-8")

    def _page(self):
        if not self:
            raise ValueError("there is no plan to be shown: no device was asked for")
        return _library.page(self[0].name, [(p.device, p._checked(p.data)) for p in self])

    def _repr_html_(self):
        if not self or not all(p.data for p in self):
            return _as_text(self)
        return _framed(self._page(), f"{self[0].name} on {', '.join(p.device for p in self)}")

    def __str__(self):
        rows = [("device", "limit", "as it came", "under the limit", "judged by")]
        for p in self:
            before = readable(p.peak_before_bytes)
            rows.append((p.device, readable(p.limit_bytes), before, p.verdict(), p.judge))
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join(lines)


def _framed(page, title):
    """For notebooks: a page in a frame of its own, so that neither's styles reach the other."""
    style = "width: 100%; height: 720px; border: 1px solid #8884; border-radius: 8px"
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="{html.escape(title)}" '
        f'sandbox="allow-scripts" style="{style}"></iframe>'
    )


def _as_text(shown):
    return f"<pre>{html.escape(str(shown))}</pre>"


def _counted(count, name):
    return f"{count} {name}{'s' * (count != 1)}"


def readable(count):
    """1.07 GB"""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            digits = 0 if count >= 100 * size else 1 if count >= 10 * size else 2
            return f"{count / size:.{digits}f} {unit}"
    return f"{count} B"


def from_result(name, result):
    """The Plan of a program by this name, of what _library.rewrite() returned."""
    shared = {
        field.name: getattr(result, field.name)
        for field in dataclasses.fields(Plan)
        if field.name not in ("name", "outcome", "text", "device", "device_bytes", "judge")
    }
    refused = result.status == _library.RESOURCE_EXHAUSTED
    return Plan(
        name=name,
        outcome="refused" if refused else _OUTCOMES[result.outcome],
        text=result.text.decode() if result.text else None,
        **shared,
    )
