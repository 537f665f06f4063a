"""What planning looks at: candidates and ops, counted, of programs with many layers. Never seconds.

A program's layers are products whose results are all read again, the last first, so that all of them
are live at its peak.
"""

import re
import subprocess

import running

ROWS, WIDTH = 4096, 16
LARGE, WEIGHT = f"tensor<{ROWS}x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>"
VALUE_BYTES = 4 * ROWS * WIDTH


def layers(n):
    head = f"func.func @main(%v0: {LARGE}, %w: {WEIGHT}) -> {LARGE} {{"
    product = f"({LARGE}, {WEIGHT}) -> {LARGE}"
    there = [f"%v{i + 1} = stablehlo.dot %v{i}, %w : {product}" for i in range(n)]
    first = [f"%g{n} = stablehlo.dot %v{n}, %w : {product}"]
    back = [
        f"%h{i} = stablehlo.multiply %g{i + 1}, %v{i} : {LARGE}\n"
        f"%g{i} = stablehlo.dot %h{i}, %w : {product}"
        for i in reversed(range(1, n))
    ]
    return "\n".join([head, *there, *first, *back, f"return %g1 : {LARGE}", "}"])


def planned(text, limit, *options):
    """The command, done, and the candidates that it split."""
    command = [running.BUILD / "weir", "opt", "-", "--memory-limit", str(limit), "--debug", "2"]
    done = subprocess.run([*command, *options], input=text, capture_output=True, text=True)
    return done, re.findall(r"^weir: slices of (\d+) bytes", done.stderr, re.MULTILINE)


def tenth_of(n):
    """A limit: argument, result and a tenth of the values that the layers leave."""
    return (3 + n // 10) * VALUE_BYTES


def test_who_holds_the_peak_is_known_where_thousands_do():
    done, candidates = planned(layers(1100), tenth_of(1100))
    assert done.returncode == 0
    assert len(candidates) <= 8  # 52 where each holder was too small a part of the peak to count
