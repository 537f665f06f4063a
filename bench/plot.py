"""Lines over logarithmic axes, and rows of dots along one, as SVG text.

In:   log_log: series of (name, points, dashed); a point is (x, y), both positive.
      log_dots: rows of (label, {name: x}), x positive.
Out:  the text of an SVG file with ticks at powers of ten and a legend.
"""

import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 440, 80, 190, 40, 50
ROW = 18  # of dots
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555")
COLOURS += ("#16a3a3", "#e377c2", "#9a8c00", "#000000")


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def scale(values, start, end):
    low, high = decades(values)
    return lambda v: start + (math.log10(v) - low) / (high - low) * (end - start)


def text(x, y, words, anchor="middle", extra=""):
    escaped = html.escape(words)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escaped}</text>'


def axis_ticks(values):
    low, high = decades(values)
    return [10.0**e for e in range(low, high + 1)]


def upright_grid(xs, at_x, bottom):
    for v in axis_ticks(xs):
        yield f'<path d="M{at_x(v):.1f} {TOP}V{bottom}" stroke="#ddd"/>'
        yield text(at_x(v), bottom + 18, f"{v:g}")


def grid(xs, ys, at_x, at_y):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    yield from upright_grid(xs, at_x, bottom)
    for v in axis_ticks(ys):
        yield f'<path d="M{LEFT} {at_y(v):.1f}H{right}" stroke="#ddd"/>'
        yield text(LEFT - 8, at_y(v) + 4, f"{v:g}", "end")


def line(points, at_x, at_y, colour, dashed):
    path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in points)
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for x, y in [] if dashed else points:
        yield f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>'


def log_log(title, x_label, y_label, series):
    series = [s for s in series if s[1]]
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points]
    at_x, at_y = scale(xs, LEFT, WIDTH - RIGHT), scale(ys, HEIGHT - BOTTOM, TOP)
    parts = list(grid(xs, ys, at_x, at_y))
    for i, (name, points, dashed) in enumerate(series):
        colour, y = COLOURS[i % len(COLOURS)], TOP + 14 + 20 * i
        parts += line(sorted(points), at_x, at_y, colour, dashed)
        key = [(WIDTH - RIGHT + 10, y - 4), (WIDTH - RIGHT + 34, y - 4)]
        parts += line(key, float, float, colour, dashed)
        parts.append(text(WIDTH - RIGHT + 40, y, name, "start"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    turned = f' transform="rotate(-90 20 {HEIGHT / 2})"'
    parts += [
        text(middle, 24, title),
        text(middle, HEIGHT - 12, x_label),
        text(20, HEIGHT / 2, y_label, extra=turned),
    ]
    return document(parts, HEIGHT)


def log_dots(title, x_label, rows):
    names = list(dict.fromkeys(name for _, found in rows for name in found))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    xs = [x for _, found in rows for x in found.values()] + [1.0]
    left, right, bottom = 2 * LEFT, WIDTH - RIGHT, TOP + ROW * len(rows)
    at_x, middle = scale(xs, left, right), (left + right) / 2
    parts = [text(middle, 24, title), *upright_grid(xs, at_x, bottom)]
    parts.append(f'<path d="M{at_x(1):.1f} {TOP}V{bottom}" stroke="#555"/>')
    for i, (label, found) in enumerate(rows):
        y = TOP + ROW * (i + 0.5)
        parts.append(text(left - 8, y + 4, label, "end"))
        parts += [dot(at_x(x), y, colours[name]) for name, x in found.items()]
    for i, name in enumerate(names):
        y = TOP + 14 + 20 * i
        parts += [dot(right + 24, y - 4, colours[name]), text(right + 40, y, name, "start")]
    parts.append(text(middle, bottom + 38, x_label))
    return document(parts, bottom + BOTTOM)


def dot(x, y, colour):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'


def document(parts, height):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
