"""Regions for kernels by a table: every op that a kernel takes (src/ir/ops.def, column tile, and what
moves elements but stays XLA's), every role of the dimension that it works along, every element type.

A cell is (op, role, dtype); a seed makes one region of it, as StableHLO text: exact numbers between two
or three index sets, the op along the dimension of that role, a reduction over the last. Lengths are
multiples of nothing, and what is moved meets both ends. What a cell cannot be, `reason` says.
"""

import dataclasses
import math
import pathlib
import random
import re

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The dimension is: cut into slices (rows); summed away; kept beside rows and columns; outside of all.
ROLES = ("sliced", "reduced", "free", "batch")
FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
SIGNED = {f"i{8 * s}": np.dtype(f"i{s}") for s in (1, 2, 4, 8)}
UNSIGNED = {f"ui{8 * s}": np.dtype(f"u{s}") for s in (1, 2, 4, 8)}
DTYPES = FLOATS | SIGNED | UNSIGNED | {"i1": np.dtype(bool), "complex<f32>": np.complex64}
TOLERANCE = {"f64": 1e-11, "f32": 2e-4, "f16": 8e-3, "bf16": 6e-2}
NEVER = "ui8 ui16 ui32 ui64 i1"  # negative

REAL = "f64 f32 f16 bf16"
WHOLE = "i8 i16 i32 i64 ui8 ui16 ui32 ui64"
NUMBERS = f"{REAL} {WHOLE}"
ALL = f"{NUMBERS} i1"

# Element types that the op has; of those that have a domain: where it lies.
UNARY = {
    "abs": f"{REAL} i8 i16 i32 i64",
    "sign": f"{REAL} i8 i16 i32 i64",
    "negate": NUMBERS,
    "not": f"{WHOLE} i1",
    "count_leading_zeros": WHOLE,
    "popcnt": WHOLE,
} | {
    name: REAL
    for name in "cbrt ceil cosine exponential exponential_minus_one floor is_finite log log_plus_one"
    " logistic round_nearest_afz round_nearest_even rsqrt sine sqrt tan tanh".split()
}
CHLO = {
    name: "f64 f32 f16 bf16"
    for name in "acos acosh asin asinh atan atanh cosh erf erfc sinh square tan"
    " is_inf is_neg_inf is_pos_inf".split()
}
DOMAIN = {
    "log": (0.25, 4), "log_plus_one": (-0.5, 4), "rsqrt": (0.25, 4), "sqrt": (0, 4), "tan": (-1, 1),
    "acos": (-0.75, 0.75), "asin": (-0.75, 0.75), "acosh": (1.25, 4), "atanh": (-0.75, 0.75),
}  # fmt: skip
BINARY = {
    "add": NUMBERS, "subtract": NUMBERS, "multiply": NUMBERS, "divide": NUMBERS,
    "remainder": NUMBERS, "maximum": ALL, "minimum": ALL, "atan2": REAL, "power": REAL,
    "and": f"{WHOLE} i1", "or": f"{WHOLE} i1", "xor": f"{WHOLE} i1",
    "shift_left": WHOLE, "shift_right_arithmetic": WHOLE, "shift_right_logical": WHOLE,
}  # fmt: skip
# roll, dynamic_update_slice and reverse move elements, too; where they are no kernel's, the loop stays
# XLA's, and must be right.
OTHERS = {
    "constant": ALL, "iota": NUMBERS, "compare": ALL, "select": ALL, "clamp": NUMBERS,
    "convert": ALL, "broadcast_in_dim": ALL, "concatenate": ALL, "dynamic_slice": ALL,
    "gather": ALL, "pad": ALL, "reshape": ALL, "slice": ALL, "transpose": ALL,
    "dot_general": "f64 f32 f16 bf16 i8 i16 i32 i64 ui8 ui16 ui32 ui64", "reduce": ALL,
    "top_k": f"{REAL} {WHOLE}", "carry": "f64 f32 i32 i64", "repeat": "f64 f32 i32 i64",
    "round": "f16 bf16", "roll": ALL, "dynamic_update_slice": ALL, "reverse": ALL, "argmax": NUMBERS,
}  # fmt: skip
TYPES = UNARY | {f"chlo.{k}": v for k, v in CHLO.items()} | BINARY | OTHERS


def ops_of_kernels():
    """From the op table."""
    rows = re.findall(r'^OP\(\w+,\s*"([\w.]+)",.*\b(\w+)\)$', (ROOT / "src/ir/ops.def").read_text(), re.M)
    names = [name for name, tile in rows if tile != "none"]
    return [re.sub(r"^(stablehlo|weir)\.|^chlo\.(?=top_k)", "", name) for name in names]


def reason(op, role, dtype):
    """Why there is no such region; None: there is."""
    if dtype.startswith("complex"):
        return "kernels have no complex numbers"
    if dtype not in TYPES[op].split():
        return "the op has no such elements"
    if op == "top_k" and role != "reduced":
        return "top_k is over the last dimension"
    if op == "argmax" and role != "reduced":
        return "what is reduced is reduced"
    return None


def cells():
    ops = [*ops_of_kernels(), "roll", "dynamic_update_slice", "reverse", "argmax"]
    return [(op, role, dtype) for op in ops for role in ROLES for dtype in DTYPES]


# ---- text ----
@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    dtype: str

    @property
    def type(self):
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + self.dtype + ">"

    @property
    def bytes(self):
        return math.prod(self.shape) * np.dtype(DTYPES[self.dtype]).itemsize


class Writer:
    """A program of any number of regions."""

    def __init__(self):
        self.lines, self.inputs, self.arguments, self.results, self.count = [], [], [], [], 0

    def put(self, shape, dtype, text):
        self.count += 1
        v = Value(f"%v{self.count}", tuple(shape), dtype)
        self.lines.append(f"  {v.name} = {text.replace('TO', v.type)}")
        return v

    def argument(self, array, dtype):
        v = Value(f"%a{len(self.arguments)}", array.shape, dtype)
        self.arguments.append(v)
        self.inputs.append(array.view(np.uint16) if dtype == "bf16" else array)
        return v

    def splat(self, shape, dtype, number):
        if dtype == "i1":
            number = "true" if number else "false"
        elif dtype in FLOATS:
            number = f"{number:.6e}"
        return self.put(shape, dtype, f"stablehlo.constant dense<{number}> : TO")

    def unary(self, name, x, dtype=None):
        same = dtype is None and not name.startswith("chlo.")
        full = name if name.startswith("chlo.") else f"stablehlo.{name}"
        if name.startswith("chlo."):
            return self.put(x.shape, dtype or x.dtype, f"{full} {x.name} : {x.type} -> TO")
        return self.put(x.shape, dtype or x.dtype, f"{full} {x.name} : " + ("TO" if same else f"({x.type}) -> TO"))

    def binary(self, name, x, y):
        return self.put(x.shape, x.dtype, f"stablehlo.{name} {x.name}, {y.name} : TO")

    def compare(self, direction, x, y):
        return self.put(x.shape, "i1", f"stablehlo.compare {direction}, {x.name}, {y.name} : ({x.type}, {y.type}) -> TO")

    def select(self, p, x, y):
        return self.put(x.shape, x.dtype, f"stablehlo.select {p.name}, {x.name}, {y.name} : {p.type}, TO")

    def convert(self, x, dtype):
        return x if x.dtype == dtype else self.unary("convert", x, dtype)

    def broadcast(self, x, shape, dims):
        return self.put(shape, x.dtype, f"stablehlo.broadcast_in_dim {x.name}, dims = {list(dims)} : ({x.type}) -> TO")

    def cut(self, x, axis, start, limit, stride=1):
        spans = [f"{start}:{limit}:{stride}" if i == axis else f"0:{n}" for i, n in enumerate(x.shape)]
        shape = [len(range(start, limit, stride)) if i == axis else n for i, n in enumerate(x.shape)]
        return self.put(shape, x.dtype, f"stablehlo.slice {x.name} [{', '.join(spans)}] : ({x.type}) -> TO")

    def joined(self, xs, axis):
        shape = [sum(x.shape[i] for x in xs) if i == axis else n for i, n in enumerate(xs[0].shape)]
        names, types = ", ".join(x.name for x in xs), ", ".join(x.type for x in xs)
        return self.put(shape, xs[0].dtype, f"stablehlo.concatenate {names}, dim = {axis} : ({types}) -> TO")

    def reduce(self, x, axis, kind, start):
        shape = [n for i, n in enumerate(x.shape) if i != axis]
        init = self.splat((), x.dtype, start)
        text = f"stablehlo.reduce({x.name} init: {init.name}) applies stablehlo.{kind} across dimensions = [{axis}]"
        return self.put(shape, x.dtype, f"{text} : ({x.type}, {init.type}) -> TO")

    def result(self, v):
        self.results.append(v)

    def text(self):
        arguments = ", ".join(f"{v.name}: {v.type}" for v in self.arguments)
        types, names = (", ".join(getattr(v, k) for v in self.results) for k in ("type", "name"))
        body = "\n".join(self.lines)
        return f"func.func public @main({arguments}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"


# ---- regions ----
LENGTHS = [7, 11, 13, 16, 17, 23, 24, 31, 33, 40, 41, 57]


class Region:
    """Writes one region of the cell to `w`; its arguments are w.arguments[first:last]."""

    def __init__(self, w, cell, seed):
        self.w, (self.op, self.role, self.dtype) = w, cell
        self.dice = random.Random(f"{cell} {seed}")
        self.numbers = np.random.default_rng(self.dice.randrange(1 << 30))
        self.first = len(w.arguments)
        n, m = self.dice.choice(LENGTHS), self.dice.choice(LENGTHS)
        if self.role == "free":
            self.shape, self.axis = [n, self.dice.choice([2, 3, 5, 8, 9]), m], 1
        elif self.role == "batch":
            self.shape, self.axis = [self.dice.choice([2, 3, 4, 5]), n, m], 0
        else:
            self.shape, self.axis = [n, m], 0 if self.role == "sliced" else 1
        self.finish(self.apply())
        self.last = len(w.arguments)

    # numbers that are exact in each type, and stay so when two are added or multiplied
    def array(self, *shape):
        if self.dtype == "i1":
            return self.numbers.integers(0, 2, shape).astype(bool)
        if self.dtype in FLOATS:
            low, high = DOMAIN.get(self.op.removeprefix("chlo."), (-2, 2))
            return (self.numbers.integers(int(low * 4), int(high * 4) + 1, shape) / 4).astype(FLOATS[self.dtype])
        low = 0 if self.dtype in NEVER else -6
        return self.numbers.integers(low, 7, shape).astype(DTYPES[self.dtype])

    def part(self, shape):
        """Of one argument for each dimension; none is larger than another by more than a choice."""
        w, chosen = self.w, None
        for axis, n in enumerate(shape):
            x = w.broadcast(w.argument(self.array(n), self.dtype), shape, [axis])
            if chosen is None:
                chosen = x
                continue
            rule = self.dice.randrange(3)
            if self.dtype == "i1":
                chosen = w.binary("xor", chosen, x)
            elif self.op.removeprefix("chlo.") in DOMAIN or rule == 0:
                chosen = w.select(w.compare(self.dice.choice(["LT", "GE"]), chosen, x), chosen, x)
            else:
                chosen = w.binary(["maximum", "minimum"][rule - 1], chosen, x)
        return chosen

    def base(self, along=None):
        shape = list(self.shape)
        if along:
            shape[self.axis] = along
        return self.part(shape)

    def finish(self, x):
        """A reduction over the last dimension; with others of other types it is one of the type."""
        w = self.w
        if x.dtype == "i1" and self.dice.randrange(2):
            x = w.convert(x, "i32")
        kind = {"i1": ["and", "or"]}.get(x.dtype, ["add", "maximum", "minimum"])
        if x.dtype not in FLOATS and x.dtype != "i1":
            kind = [*kind, "xor", "and"]
        kind = self.dice.choice(kind)
        start = {"and": 1, "or": 0, "add": 0, "xor": 0, "maximum": 0, "minimum": 1}[kind]
        w.result(w.reduce(x, len(x.shape) - 1, kind, start))

    def apply(self):
        op = self.op.removeprefix("chlo.")
        if op in UNARY or self.op.startswith("chlo."):
            return self.unary()
        if op in BINARY:
            return self.binary()
        return getattr(self, f"do_{op}")()

    def unary(self):
        tests = ("is_finite", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf")
        x = self.base()
        if self.op in tests:
            zero = self.w.splat(x.shape, x.dtype, 0.0)
            return self.w.unary(self.op, self.w.binary("divide", x, zero), "i1")
        return self.w.unary(self.op, x)

    def binary(self):
        w, x, y = self.w, self.base(), self.base()
        if self.op in ("divide", "remainder"):
            one = w.splat(y.shape, y.dtype, 1)
            y = w.binary("maximum", y, one)
        if self.op == "power":
            x = w.binary("maximum", x, w.splat(x.shape, x.dtype, 0.5))
        if self.op.startswith("shift"):
            y = w.binary("and", y, w.splat(y.shape, y.dtype, 3))
        return w.binary(self.op, x, y)

    # ---- leaves and choices ----
    def do_constant(self):
        return self.combined(self.base(), self.w.splat(self.shape, self.dtype, 1))

    def combined(self, x, y):
        return self.w.binary("xor" if self.dtype == "i1" else self.dice.choice(["add", "maximum"]), x, y)

    def do_iota(self):
        i = self.w.put(self.shape, self.dtype, f"stablehlo.iota dim = {self.axis} : TO")
        x = self.base()
        if self.dice.randrange(2):
            return self.w.binary("add", x, i)
        bound = self.w.splat(self.shape, self.dtype, self.dice.randrange(self.shape[self.axis]))
        mask = self.w.compare(self.dice.choice(["LT", "GE", "EQ"]), i, bound)
        return self.w.select(mask, x, self.base())

    def do_compare(self):
        return self.w.compare(self.dice.choice("EQ NE LT LE GT GE".split()), self.base(), self.base())

    def do_select(self):
        return self.w.select(self.do_compare(), self.base(), self.base())

    def do_clamp(self):
        x, low, high = (self.base() for _ in range(3))
        high = self.w.binary("maximum", low, high)
        return self.w.put(x.shape, x.dtype, f"stablehlo.clamp {low.name}, {x.name}, {high.name} : TO")

    def do_convert(self):
        others = [t for t in ALL.split() if t != self.dtype]
        if self.dtype in FLOATS:
            others = [t for t in others if t not in NEVER.split()]
        return self.w.convert(self.base(), self.dice.choice(others))

    def do_round(self):
        return self.w.binary("multiply", self.base(), self.base())

    # ---- shapes ----
    def do_broadcast_in_dim(self):
        rest = [i for i in range(len(self.shape)) if i != self.axis]
        x = self.part([self.shape[i] for i in rest])
        return self.combined(self.w.broadcast(x, self.shape, rest), self.base())

    def do_reshape(self):
        x = self.base()
        shape = [*x.shape[: self.axis], 1, *x.shape[self.axis :]]
        y = self.w.put(shape, x.dtype, f"stablehlo.reshape {x.name} : ({x.type}) -> TO")
        return self.w.put(x.shape, x.dtype, f"stablehlo.reshape {y.name} : ({y.type}) -> TO")

    def do_transpose(self):
        other = (self.axis + 1) % len(self.shape)
        order = list(range(len(self.shape)))
        order[self.axis], order[other] = other, self.axis
        shape = [self.shape[i] for i in order]
        x = self.part(shape)
        y = self.w.put(self.shape, x.dtype, f"stablehlo.transpose {x.name}, dims = {order} : ({x.type}) -> TO")
        return self.combined(y, self.base())

    # ---- what is moved along the dimension ----
    def do_concatenate(self):
        n = self.shape[self.axis]
        ends = sorted(self.dice.sample(range(1, n), min(n - 1, self.dice.choice([1, 1, 2]))))
        sizes = np.diff([0, *ends, n]).tolist()
        return self.with_other(self.w.joined([self.base(s) for s in sizes], self.axis))

    def do_roll(self):
        x, n = self.base(), self.shape[self.axis]
        by = self.dice.choice([1, n - 1, self.dice.randrange(1, n)])
        first, last = self.w.cut(x, self.axis, 0, n - by), self.w.cut(x, self.axis, n - by, n)
        moved = self.w.joined([last, first], self.axis)
        return self.combined(moved, x) if self.dice.randrange(2) else moved

    def with_other(self, x):
        """Beside what was not moved, or alone."""
        return self.combined(x, self.part(x.shape)) if self.dice.randrange(2) else x

    def do_pad(self):
        x = self.base()
        low, high = self.dice.choice([(0, 3), (4, 0), (2, 5), (-2, 1), (1, -1), (0, 9)])
        gap = self.dice.choice([0, 0, 0, 1])
        n = self.shape[self.axis]
        new = n + (n - 1) * gap + low + high
        if new < 1:
            low, new = 0, new - low
        fill = self.w.splat((), x.dtype, 1)
        lists = {
            key: [number if i == self.axis else 0 for i in range(len(self.shape))]
            for key, number in (("low", low), ("high", high), ("interior", gap))
        }
        shape = [new if i == self.axis else k for i, k in enumerate(self.shape)]
        edges = ", ".join(f"{k} = {v}" for k, v in lists.items())
        text = f"stablehlo.pad {x.name}, {fill.name}, {edges} : ({x.type}, {fill.type}) -> TO"
        return self.with_other(self.w.put(shape, x.dtype, text))

    def do_slice(self):
        x, n = self.base(), self.shape[self.axis]
        start = self.dice.randrange(0, max(1, n // 2))
        limit = self.dice.randrange(start + 1, n + 1)
        return self.with_other(self.w.cut(x, self.axis, start, limit, self.dice.choice([1, 1, 1, 2, 3])))

    def do_reverse(self):
        x = self.base()
        return self.with_other(self.w.put(x.shape, x.dtype, f"stablehlo.reverse {x.name}, dims = [{self.axis}] : TO"))

    def places(self, axis, limit):
        """Start indices: a number in or out of bounds along the axis."""
        w, number = self.w, np.asarray(self.dice.randrange(-2, limit + 3), np.int32)
        at, zero = w.argument(number, "i32"), w.splat((), "i32", 0)
        return [at if i == axis else zero for i in range(len(self.shape))]

    def do_dynamic_slice(self):
        x, n = self.base(), self.shape[self.axis]
        size = self.dice.choice([1, max(1, n // 2), n])
        shape = [size if i == self.axis else k for i, k in enumerate(x.shape)]
        at = self.places(self.axis, n)
        names, types = ", ".join(v.name for v in at), ", ".join("tensor<i32>" for _ in at)
        text = f"stablehlo.dynamic_slice {x.name}, {names}, sizes = {shape} : ({x.type}, {types}) -> TO"
        cut = self.w.put(shape, x.dtype, text)
        if size == 1:
            cut = self.w.broadcast(cut, self.shape, range(len(self.shape)))
        return self.with_other(cut)

    def do_dynamic_update_slice(self):
        x, n = self.base(), self.shape[self.axis]
        u = self.base(self.dice.choice([1, max(1, n // 2), n]))
        at = self.places(self.axis, n)
        names, types = ", ".join(v.name for v in at), ", ".join("tensor<i32>" for _ in at)
        text = f"stablehlo.dynamic_update_slice {x.name}, {u.name}, {names} : ({x.type}, {u.type}, {types}) -> TO"
        return self.with_other(self.w.put(x.shape, x.dtype, text))

    def do_gather(self):
        """Elements of a table along the dimension, at places in and out of bounds."""
        n, k = self.shape[self.axis], self.dice.choice(LENGTHS)
        table = self.array(*[k if i == self.axis else s for i, s in enumerate(self.shape)])
        t = self.w.argument(table, self.dtype)
        places = self.numbers.integers(-2, k + 2, (n, 1)).astype(np.int32)
        at = self.w.argument(places, "i32")
        offset = [i for i in range(len(self.shape)) if i != self.axis]
        sizes = [1 if i == self.axis else s for i, s in enumerate(self.shape)]
        numbers = (
            f"#stablehlo.gather<offset_dims = {offset}, collapsed_slice_dims = [{self.axis}], "
            f"start_index_map = [{self.axis}], index_vector_dim = 1>"
        )
        attributes = f"dimension_numbers = {numbers}, slice_sizes = array<i64: {', '.join(map(str, sizes))}>"
        text = f'"stablehlo.gather"({t.name}, {at.name}) <{{{attributes}}}> : ({t.type}, {at.type}) -> TO'
        return self.combined(self.w.put(self.shape, self.dtype, text), self.base())

    # ---- reductions ----
    def do_reduce(self):
        """Along the dimension, and what it is reduced to beside it again."""
        x = self.base()
        kind = self.dice.choice(["and", "or"] if x.dtype == "i1" else ["maximum", "minimum", "add"])
        start = {"and": 1, "or": 0, "maximum": 0, "minimum": 0, "add": 0}[kind]
        r = self.w.reduce(x, self.axis, kind, start)
        rest = [i for i in range(len(self.shape)) if i != self.axis]
        return self.combined(self.w.broadcast(r, self.shape, rest), x)

    def do_dot_general(self):
        """Contracted over the dimension, or with it as batch or kept."""
        if self.role == "free" and self.dice.randrange(2):
            return self.product_with_rows()
        w, rank = self.w, len(self.shape)
        x, y = self.base(), self.base()
        rest = [i for i in range(rank) if i != self.axis]
        if self.role == "reduced":
            batch, contract = rest[:-1], self.axis
        else:
            batch, contract = [self.axis] if self.role == "batch" else [], rank - 1
        free = [i for i in range(rank) if i not in batch and i != contract]
        shape = [self.shape[i] for i in batch] + 2 * [self.shape[i] for i in free]
        batching = f"batching_dims = {batch} x {batch}, " if batch else ""
        text = f"stablehlo.dot_general {x.name}, {y.name}, {batching}contracting_dims = [{contract}] x [{contract}]"
        return w.put(shape, x.dtype, f"{text} : ({x.type}, {y.type}) -> TO")

    def product_with_rows(self):
        """With a wide matrix that is summed along its columns: its rows are far apart."""
        w, x = self.w, self.base()
        terms, wide = self.shape[-1], 256 + self.dice.choice(LENGTHS)
        y = w.argument(self.array(terms, wide), self.dtype)
        text = f"stablehlo.dot_general {x.name}, {y.name}, contracting_dims = [{len(self.shape) - 1}] x [0]"
        return w.put([*self.shape[:-1], wide], x.dtype, f"{text} : ({x.type}, {y.type}) -> TO")

    def do_top_k(self):
        x, k = self.base(), self.dice.choice([1, 2, 5])
        shape = [*self.shape[:-1], k]
        values, places = (Value(f"%v{self.w.count + i + 1}", tuple(shape), t) for i, t in enumerate((x.dtype, "i32")))
        self.w.count += 2
        pair = f"{values.type}, {places.type}"
        self.w.lines.append(f"  {values.name}, {places.name} = chlo.top_k({x.name}, k = {k}) : {x.type} -> ({pair})")
        self.w.result(places)
        return values

    def do_argmax(self):
        """The largest and where, the first of equal ones."""
        w, x = self.w, self.base()
        i = w.put(x.shape, "i32", f"stablehlo.iota dim = {self.axis} : TO")
        low, none = w.splat((), x.dtype, 0), w.splat((), "i32", 0)
        shape = tuple(n for k, n in enumerate(x.shape) if k != self.axis)
        best, place = Value(f"%v{w.count + 1}", shape, x.dtype), Value(f"%v{w.count + 2}", shape, "i32")
        w.count += 2
        s, n = f"tensor<{x.dtype}>", "tensor<i32>"
        w.lines.append(f"""  {best.name}, {place.name} = "stablehlo.reduce"({x.name}, {i.name}, {low.name}, {none.name}) ({{
  ^bb0(%p: {s}, %i: {n}, %q: {s}, %j: {n}):
    %gt = stablehlo.compare GT, %p, %q : ({s}, {s}) -> tensor<i1>
    %eq = stablehlo.compare EQ, %p, %q : ({s}, {s}) -> tensor<i1>
    %lt = stablehlo.compare LT, %i, %j : ({n}, {n}) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %gt, %tie : tensor<i1>
    %best = stablehlo.select %gt, %p, %q : tensor<i1>, {s}
    %at = stablehlo.select %first, %i, %j : tensor<i1>, {n}
    "stablehlo.return"(%best, %at) : ({s}, {n}) -> ()
  }}) {{dimensions = array<i64: {self.axis}>}} : ({x.type}, {i.type}, {s}, {n}) -> ({best.type}, {place.type})""")
        w.result(place)
        rest = [k for k in range(len(self.shape)) if k != self.axis]
        return w.broadcast(best, self.shape, rest)

    # ---- loops ----
    def do_repeat(self):
        """x halved, or counted down, as often as each element says."""
        w, x = self.w, self.base()
        turns = self.dice.choice([1, 2, 5])
        i32, t = "tensor<i32>", x.type
        step = "0.5" if x.dtype in FLOATS else "2"
        v = Value(f"%v{w.count + 1}", x.shape, x.dtype)
        w.count += 1
        zero = w.splat((), "i32", 0)
        w.lines.append(f"""  %n{v.name[1:]}, {v.name} = stablehlo.while(%i = {zero.name}, %x = {x.name}) : {i32}, {t}
    cond {{
      %limit = stablehlo.constant dense<{turns}> : {i32}
      %go = stablehlo.compare LT, %i, %limit : ({i32}, {i32}) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : {i32}
      %next = stablehlo.add %i, %one : {i32}
      %by = stablehlo.constant dense<{step}> : {t}
      %y = stablehlo.multiply %x, %by : {t}
      stablehlo.return %next, %y : {i32}, {t}
    }}""")
        return v

    do_carry = do_repeat


def difference(want, got, dtype):
    if want.shape != got.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if dtype not in FLOATS:
        wrong = want != got
        return None if not wrong.any() else f"{wrong.sum()} of {wrong.size} differ: {got[wrong][:3]}, expected {want[wrong][:3]}"
    if dtype == "bf16":
        want, got = (a.view(ml_dtypes.bfloat16) for a in (want, got))
    want, got = (a.astype(np.float64) for a in (want, got))
    scale = max(1, np.max(np.abs(want), initial=1, where=np.isfinite(want)))
    good = np.isclose(got / scale, want / scale, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], equal_nan=True)
    return None if good.all() else f"{(~good).sum()} of {good.size} differ: {got[~good][:3]}, expected {want[~good][:3]}"
