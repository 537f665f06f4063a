"""The list of passes, read from src/pass/passes.def."""

import dataclasses
import re

import running

ROW = re.compile(
    r'^PASS\((?P<id>\w+), +"(?P<name>[\w-]+)", +(?P<phase>\w+), +(?P<exact>\w+), +(?P<use>\w+), +"(?P<doc>.*)"\)$',
    re.MULTILINE,
)
SETTING = re.compile(r'^SETTING\(\w+, +"([\w-]+)", +"(.*)"\)$', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Pass:
    id: str
    name: str
    phase: str  # CANONICAL, ALGEBRA, READS, LOOPS
    exact: bool
    use: str  # ALWAYS, SPLIT, WORTH, NEEDED
    doc: str


def _text():
    return (running.ROOT / "src/pass/passes.def").read_text()


def passes():
    """In the order in which they run."""
    rows = [match.groupdict() for match in ROW.finditer(_text())]
    return [Pass(**row | {"exact": row["exact"] == "true"}) for row in rows]


def settings():
    """What --skip switches off besides: name -> what it is."""
    return dict(SETTING.findall(_text()))
