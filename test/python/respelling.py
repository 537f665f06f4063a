"""A program in the spellings of other front ends: the same values, said with other ops.

`respelled(text, seed)` takes a program in MLIR's generic form and says some of its ops as TensorFlow,
PyTorch or a writer of CHLO would: sizes as operands, einsum for products and transposes, map for
elementwise ops, torch_index_select for gathers of rows, stretched operands for broadcasts, constants
of dialects arith and CHLO. How each line is said depends on the seed and on the line alone.
"""

import dataclasses
import pathlib
import random
import re

import running

SHARE = 0.7
LINE = re.compile(
    r'^\s*(%\w+) = "stablehlo\.(\w+)"\(([^()]*)\)(?: <\{(.*)\}>)? : \((.*)\) -> (tensor<[^()]*>)$'
)
STRETCHED = set(
    "add and atan2 compare divide maximum minimum multiply or power remainder shift_left"
    " shift_right_arithmetic shift_right_logical subtract xor".split()
)
ELEMENTWISE = STRETCHED | set(
    "abs cbrt ceil clamp convert cosine count_leading_zeros exponential exponential_minus_one floor"
    " is_finite log log_plus_one logistic negate not popcnt round_nearest_afz round_nearest_even rsqrt"
    " select sign sine sqrt tan tanh".split()
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PASSES = "constants,static,implicit,einsum,index-select,map"
FOREIGN = re.compile(
    r'"(arith\.|chlo\.(constant|broadcast_)|stablehlo\.'
    r"(einsum|unary_einsum|torch_index_select|map|real_dynamic|dynamic_(reshape|iota|pad|gather|conv|broadcast)))"
)


def dims_of(type):
    return [int(n) for n in re.findall(r"(\d+)x", type.partition("complex")[0])]


def dtype_of(type):
    return re.sub(r"^(\d+x)*", "", type[len("tensor<") : -1])


def tensor(dims, dtype):
    return f"tensor<{''.join(f'{n}x' for n in dims)}{dtype}>"


def numbers_in(attributes, name):
    """Of `name = array<i64: 1, 2>` or `name = [1, 2]`; empty where it is not there."""
    found = re.search(rf"\b{name} = (?:array<i64: |\[)([\d, -]*)", attributes)
    return [int(n) for n in found[1].split(",")] if found and found[1].strip() else []


def without(attributes, *names):
    value = r"(?:array<i64[^>]*>|dense<[^>]*> : tensor<[^>]*>|\[[^\]]*\]|[^,<\[]+)"
    for name in names:
        attributes = re.sub(rf"(?:^|, ){name} = {value}", "", attributes)
    return attributes.removeprefix(", ")


@dataclasses.dataclass
class Op:
    result: str
    name: str
    operands: list
    attributes: str
    types: list  # of the operands
    type: str


def read(line):
    found = LINE.match(line)
    if not found:
        return None
    result, name, operands, attributes, types, type = found.groups()
    return Op(result, name, operands.split(", ") if operands else [], attributes or "",
              types.split(", ") if types else [], type)  # fmt: skip


class Speller:
    """Says one op in another way: `lines` is how."""

    def __init__(self, op, made, dice):
        self.op, self.made, self.dice, self.lines, self.count = op, made, dice, [], 0

    # ---- text ----
    def name(self):
        self.count += 1
        return f"%q{self.op.result[1:]}_{self.count}"

    def emit(self, name, operands, types, attributes, type, result=None, region=""):
        result = result or self.name()
        attributes = f" <{{{attributes}}}>" if attributes else ""
        text = f'"{name}"({", ".join(operands)}){attributes}{region} : ({", ".join(types)}) -> {type}'
        self.lines.append(f"{result} = {text}")
        return result

    def instead(self, name, operands, types, attributes, region=""):
        self.emit(name, operands, types, attributes, self.op.type, self.op.result, region)
        return self.lines

    def constant(self, value, type):
        return self.emit("arith.constant", [], [], f"value = dense<{value}> : {type}", type)

    def ints(self, numbers):
        """(name, type) of a list: a constant, one of 32 bits converted, or pieces put together."""
        type, kind = tensor([len(numbers)], "i64"), self.dice.randrange(4)
        if kind == 0 and numbers:
            one = tensor([1], "i64")
            pieces = [self.constant(f"[{n}]", one) for n in numbers]
            types = [one] * len(pieces)
            return self.emit("stablehlo.concatenate", pieces, types, "dimension = 0 : i64", type), type
        if kind == 1:
            narrow = tensor([len(numbers)], "i32")
            return self.emit("stablehlo.convert", [self.constant(numbers, narrow)], [narrow], "", type), type
        if kind == 2 and numbers:
            halves = [n // 2 for n in numbers], [n - n // 2 for n in numbers]
            return self.emit("stablehlo.add", [self.constant(h, type) for h in halves], [type] * 2, "", type), type
        return self.constant(numbers if numbers else "", type), type

    # ---- ops ----
    def say(self):
        """The lines; None where there is no other way."""
        op = self.op
        if op.name == "constant":
            return self.say_constant()
        if not dims_of(op.type) or "#sdy" in op.attributes:
            return None
        if op.name in ELEMENTWISE:
            return (self.dice.random() < 0.6 and self.say_stretched()) or self.say_map()
        say = getattr(self, f"say_{op.name}", None)
        return say() if say else None

    def say_constant(self):
        op, dtype = self.op, dtype_of(self.op.type)
        splat = re.match(r"value = dense<(-?[\d.e+-]+)> : ", op.attributes)
        if splat and dtype in ("f32", "f64", "i32", "i64") and dims_of(op.type) and self.dice.random() < 0.5:
            like = self.constant("0.0" if dtype[0] == "f" else "0", op.type)
            return self.instead("chlo.constant_like", [like], [op.type], f"value = {splat[1]} : {dtype}")
        is_signless = dtype[0] != "u" and "complex" not in dtype
        return self.instead("arith.constant" if is_signless else "chlo.constant", [], [], op.attributes)

    def say_sized(self, name, kept, lists, attributes):
        """With lists of integers as operands."""
        more = [self.ints(numbers) for numbers in lists]
        op = self.op
        names, types = [n for n, _ in more], [t for _, t in more]
        return self.instead(name, op.operands[:kept] + names, op.types[:kept] + types, attributes)

    def say_reshape(self):
        return self.say_sized("stablehlo.dynamic_reshape", 1, [dims_of(self.op.type)], self.op.attributes)

    def say_broadcast_in_dim(self):
        dims = [dims_of(self.op.type)]
        return self.say_sized("stablehlo.dynamic_broadcast_in_dim", 1, dims, self.op.attributes)

    def say_iota(self):
        return self.say_sized("stablehlo.dynamic_iota", 0, [dims_of(self.op.type)], self.op.attributes)

    def say_slice(self):
        names = "start_indices", "limit_indices", "strides"
        lists = [numbers_in(self.op.attributes, n) for n in names]
        return self.say_sized("stablehlo.real_dynamic_slice", 1, lists, "")

    def say_pad(self):
        names = "edge_padding_low", "edge_padding_high", "interior_padding"
        lists = [numbers_in(self.op.attributes, n) for n in names]
        return self.say_sized("stablehlo.dynamic_pad", 2, lists, "")

    def say_gather(self):
        sizes = numbers_in(self.op.attributes, "slice_sizes")
        selected = self.dice.random() < 0.5 and self.say_selected(sizes)
        rest = without(self.op.attributes, "slice_sizes")
        return selected or self.say_sized("stablehlo.dynamic_gather", 2, [sizes], rest)

    def say_selected(self, sizes):
        """Rows along one dimension by a list of indices; wide ones XLA reads in another way."""
        op, numbers = self.op, self.op.attributes
        dims, indices, dim = dims_of(op.types[0]), dims_of(op.types[1]), numbers_in(numbers, "start_index_map")
        is_list = dtype_of(op.types[1]) == "i32" and len(indices) == 2 and indices[1] == 1
        if not is_list or "batching" in numbers or dim != numbers_in(numbers, "collapsed_slice_dims"):
            return None
        rest = [d for d in range(len(dims)) if d not in dim]
        if numbers_in(numbers, "offset_dims") != rest or any(sizes[d] != dims[d] for d in rest):
            return None
        flat = tensor(indices[:1], "i32")
        at = self.emit("stablehlo.reshape", op.operands[1:], op.types[1:], "", flat)
        attributes = f"batch_dims = 0 : i64, dim = {dim[0]} : i64"
        return self.instead("stablehlo.torch_index_select", [op.operands[0], at], [op.types[0], flat], attributes)

    def say_convolution(self):
        op, padding = self.op, re.search(r"padding = dense<([^>]*)> : (tensor<[^>]*>)", self.op.attributes)
        if not padding:
            return None
        list = self.constant(padding[1], padding[2])
        return self.instead("stablehlo.dynamic_conv", op.operands + [list], op.types + [padding[2]],
                            without(op.attributes, "padding"))  # fmt: skip

    def say_transpose(self):
        op, permutation = self.op, numbers_in(self.op.attributes, "permutation")
        if dtype_of(op.type) == "i1":
            return None
        labels = LETTERS[: len(permutation)]
        config = f'"{labels}->{"".join(labels[p] for p in permutation)}"'
        return self.instead("stablehlo.unary_einsum", op.operands, op.types, f"einsum_config = {config}")

    def say_dot_general(self):
        op = self.op
        if len({dtype_of(t) for t in [*op.types, op.type]}) > 1 or re.search("HIGH|algorithm", op.attributes):
            return None
        lists = [numbers_in(op.attributes, f"{side}_{kind}_dimensions")
                 for kind in ("batching", "contracting") for side in ("lhs", "rhs")]  # fmt: skip
        letters, sides = iter(self.dice.sample(LETTERS, len(LETTERS))), [{}, {}]
        for lhs, rhs in (lists[:2], lists[2:]):
            for i, j in zip(lhs, rhs):
                sides[0][i] = sides[1][j] = next(letters)
        free = ""
        for side, type in zip(sides, op.types):
            for d in range(len(dims_of(type))):
                if d not in side:
                    side[d] = next(letters)
                    free += side[d]
        batch = "".join(sides[0][d] for d in lists[0])
        left, right = ("".join(side[d] for d in sorted(side)) for side in sides)
        attributes = f'einsum_config = "{left},{right}->{batch}{free}"'
        return self.instead("stablehlo.einsum", op.operands, op.types, attributes)

    def say_map(self):
        op = self.op
        if any(dims_of(t) != dims_of(op.type) for t in op.types):
            return None
        scalars = [tensor([], dtype_of(t)) for t in [*op.types, op.type]]
        names = [self.name() for _ in scalars]
        head = ", ".join(f"{n}: {t}" for n, t in zip(names, scalars[:-1]))
        attributes = f" <{{{op.attributes}}}>" if op.attributes else ""
        body = f'{names[-1]} = "stablehlo.{op.name}"({", ".join(names[:-1])}){attributes}'
        region = f"""({{
^bb0({head}):
{body} : ({", ".join(scalars[:-1])}) -> {scalars[-1]}
"stablehlo.return"({names[-1]}) : ({scalars[-1]}) -> ()
}})"""
        dims = ", ".join(map(str, range(len(dims_of(op.type)))))
        return self.instead("stablehlo.map", op.operands, op.types, f"dimensions = array<i64: {dims}>", " " + region)

    def say_stretched(self):
        """One operand as it was before it was broadcast."""
        op = self.op
        for side in self.dice.sample(range(2), 2) if op.name in STRETCHED else ():
            small = self.made.get(op.operands[side])
            if not small or small.name != "broadcast_in_dim":
                continue
            at = numbers_in(small.attributes, "broadcast_dimensions")
            if at != sorted(at):
                continue
            operands, types = list(op.operands), list(op.types)
            operands[side], types[side] = small.operands[0], small.types[0]
            attributes = op.attributes.replace("#stablehlo<comparison", "#chlo<comparison")
            if len(at) < len(dims_of(op.type)):
                dims = "array<i64" + (": " if at else "") + ", ".join(map(str, at)) + ">"
                attributes += f"{', ' if attributes else ''}broadcast_dimensions = {dims}"
            return self.instead(f"chlo.broadcast_{op.name}", operands, types, attributes)
        return None


def respelled(text, seed):
    made, lines = {}, []
    for line in text.splitlines():
        op, dice = read(line), random.Random(f"{seed} {line}")
        said = op and dice.random() < SHARE and Speller(op, made, dice).say()
        lines += said or [line]
        if op:
            made[op.result] = op
    return "\n".join(lines) + "\n"


def known(text, folder):
    """What weir left as it came has the spellings that it came with: those of the evaluator and of XLA."""
    if not FOREIGN.search(text):
        return text
    path = pathlib.Path(folder) / "left.mlir"
    path.write_text(text)
    return running.opt(path, "--pass", f"{PASSES},dce")


def respell(path, seed):
    """The program of the file, in any form."""
    path.write_text(respelled(running.opt(path, "--pass", "dce"), seed))
