"""Collectives in the text of a compiled program, for programs over several devices."""

import re

NAMED = re.compile(
    r" (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)(?:-start)?\("
)


def looped(text):
    """How many stand in the body of a loop."""
    bodies = set(re.findall(r"body=%?([\w.\-]+)", text))
    found, inside = 0, False
    for line in text.splitlines():
        start = re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$", line)
        inside = start.group(1) in bodies if start else inside
        found += inside and len(NAMED.findall(line))
    return found
