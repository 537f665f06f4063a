"""Values of random programs: what is known of them, how they are made, chosen and compared.

    grid = (high, low)   each element is a multiple of 2^low, of magnitude at most 2^high, and
                         that fits the element type, so that sums and products of any order come
                         out the same to the bit
    grid = None          rounded somewhere above; noise is the relative error that one rounding
                         of that kind brings

Ops that jump (compare, round, sort, argmax, conversion to integers) read exact values only. So
results that are exact can be compared by equality whatever the order of summation, and the others
by a tolerance that follows from their noise.
"""

import dataclasses
import math

import numpy as np

MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
NOISE = {"f64": 1e-13, "f32": 1e-7, "f16": 1e-3, "bf16": 8e-3}
INTS = ("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")
NUMPY = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i1": np.bool_,
    "i8": np.int8,
    "ui8": np.uint8,
    "i16": np.int16,
    "ui16": np.uint16,
    "i32": np.int32,
    "ui32": np.uint32,
    "i64": np.int64,
    "ui64": np.uint64,
}
BYTES = {name: np.dtype(dtype).itemsize for name, dtype in NUMPY.items()} | {"c64": 8}
INFINITY = {"f64": "7FF0000000000000", "f32": "7F800000", "f16": "7C00", "bf16": "7F80"}
EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 24, 31)
MOST_ELEMENTS = 4096


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    dtype: str
    grid: tuple | None = None
    bound: float = 0.0  # magnitude of floats, roughly
    noise: float = 0.0
    special: bool = False  # may be NaN or infinite

    @property
    def type(self):
        dtype = "complex<f32>" if self.dtype == "c64" else self.dtype
        return f"tensor<{''.join(f'{d}x' for d in self.shape)}{dtype}>"

    @property
    def rank(self):
        return len(self.shape)

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return self.elements * BYTES[self.dtype]

    def is_float(self):
        return self.dtype in MANTISSA

    def is_int(self):
        return self.dtype in INTS

    def is_exact(self):
        return not self.is_float() and self.dtype != "c64" or self.grid is not None


@dataclasses.dataclass
class Op:
    text: str
    results: list
    operands: list  # also what its regions capture


def i64s(numbers):
    return "array<i64" + (": " + ", ".join(map(str, numbers)) if len(numbers) else "") + ">"


def ints(numbers):
    return "[" + ", ".join(map(str, numbers)) + "]"


def listed(**attributes):
    return ", ".join(f"{name} = {value}" for name, value in attributes.items())


def dot_numbers(lhs_batch, rhs_batch, lhs_contract, rhs_contract):
    numbers = listed(
        lhs_batching_dimensions=ints(lhs_batch),
        rhs_batching_dimensions=ints(rhs_batch),
        lhs_contracting_dimensions=ints(lhs_contract),
        rhs_contracting_dimensions=ints(rhs_contract),
    )
    return f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"


def returning(names, types):
    return f"\"stablehlo.return\"({', '.join(names)}) : ({', '.join(types)}) -> ()"


def direction(name):
    return f"comparison_direction = #stablehlo<comparison_direction {name}>"


class Maker:
    """A program in the making: its ops so far, and the values that are there to be read."""

    def name(self):
        self.count += 1
        return f"%{self.count}"

    def dtype(self):
        return (
            self.main_dtype
            if self.rng.random() < 0.7
            else self.rng.choice(
                ["f32", "f64", "i32", "i32", "f16", "bf16", "i8", "ui8", "i64", "i1", "ui32", "i16"]
            )
        )

    def shape(self, rank, most=MOST_ELEMENTS):
        dims = []
        for _ in range(rank):
            fits = [e for e in self.extents if e * math.prod(dims) <= most] or [1]
            dims.append(self.rng.choice(fits))
        return tuple(dims)

    def argument(self, shape, dtype):
        special = self.specials and dtype in ("f32", "f64") and self.rng.random() < 0.5
        grid = (1, -2) if dtype in MANTISSA else None
        v = Value(
            f"%arg{len(self.arguments)}",
            tuple(shape),
            dtype,
            grid,
            2.0 if grid else 0.0,
            0.0,
            special,
        )
        self.arguments.append(v)
        self.outermost().append(v)
        return v

    def outermost(self):
        return self.scopes[0][1] if self.depth else self.values

    def data(self, v):
        """Of an argument: quarters up to 2; integers; NaN and infinities if special."""
        rng = np.random.RandomState((self.seed * 1000 + int(v.name[4:])) % 2**32)
        if v.dtype == "i1":
            return rng.rand(*v.shape) < 0.5
        if v.is_int():
            info = np.iinfo(NUMPY[v.dtype])
            low, high = (
                (info.min, min(info.max, 2**62)) if rng.rand() < 0.2 else (max(info.min, -9), 16)
            )
            return rng.randint(low, high, v.shape, dtype=np.int64).astype(NUMPY[v.dtype])
        x = rng.randint(-8, 9, v.shape) / 4.0
        if v.special:
            for number in (np.nan, np.inf, -np.inf):
                x = np.where(rng.rand(*v.shape) < 0.03, number, x)
        if v.dtype == "bf16":
            return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(v.shape)
        return np.asarray(x, NUMPY[v.dtype]).reshape(v.shape)

    def emit(
        self,
        name,
        operands,
        shape,
        dtype,
        attributes="",
        grid=None,
        bound=0.0,
        special=None,
        noise=None,
        region="",
    ):
        """Appends an op with one result; what is not said of it follows from the operands."""
        if dtype in MANTISSA and grid is not None and grid[0] - grid[1] > MANTISSA[dtype]:
            grid = None
        if dtype == "f16" and grid is not None and (grid[0] > 14 or grid[1] < -13):
            grid = None
        if noise is None:
            noise = (
                0.0
                if grid is not None or dtype not in NOISE and dtype != "c64"
                else max([NOISE.get(dtype, 1e-7)] + [o.noise for o in operands])
            )
        special = any(o.special for o in operands) if special is None else special
        v = Value(
            self.name(),
            tuple(shape),
            dtype,
            grid,
            max(bound, 2.0 ** grid[0] if grid else 0.0),
            noise,
            special,
        )
        self.append(name, operands, [v], attributes, region)
        return v

    def append(
        self, name, operands, results, attributes="", region="", captured=(), discardable=""
    ):
        left = ", ".join(v.name for v in results)
        text = f"{left} = \"{name}\"({', '.join(o.name for o in operands)})"
        text += f" <{{{attributes}}}>" if attributes else ""
        text += f" ({region})" if region else ""
        text += f" {{{discardable}}}" if discardable else ""
        text += f" : ({', '.join(o.type for o in operands)}) -> "
        text += results[0].type if len(results) == 1 else f"({', '.join(v.type for v in results)})"
        self.ops.append(Op(text, list(results), list(operands) + list(captured)))
        self.values.extend(results)

    def like(self, v, name, *more, dtype=None, **known):
        return self.emit(name, [v, *more], v.shape, dtype or v.dtype, **known)

    def splat(self, number, dtype, shape=()):
        """A constant: a small multiple of a power of two, an infinity, an integer of the type."""
        grid, bound, words = None, 0.0, str(number)
        if dtype in MANTISSA and math.isinf(number):
            bits = int(INFINITY[dtype], 16) | (number < 0) << 8 * BYTES[dtype] - 1
            grid, bound, words = (0, 0), 1.0, f"0x{bits:X}"
        elif dtype in MANTISSA:
            power = math.floor(math.log2(abs(number))) if number else 0
            grid, bound, words = (power + 1, min(0, power - 3)), abs(number), f"{float(number):.17e}"
        elif dtype == "i1":
            words = "true" if number else "false"
        type_ = Value("", tuple(shape), dtype).type
        return self.emit(
            "stablehlo.constant",
            [],
            shape,
            dtype,
            f"value = dense<{words}> : {type_}",
            grid=grid,
            bound=bound,
            special=math.isinf(number),
        )

    def vector(self, extent, dtype):
        """A constant whose elements differ."""
        floats = dtype in MANTISSA
        words = ["true", "false"] if dtype == "i1" else ["1.0", "2.0", "0.5"] if floats else "103"
        chosen = ", ".join(self.rng.choice(words) for _ in range(extent))
        value = Value("", (extent,), dtype)
        return self.emit(
            "stablehlo.constant",
            [],
            value.shape,
            dtype,
            f"value = dense<[{chosen}]> : {value.type}",
            grid=(1, -1) if floats else None,
            bound=2.0 if floats else 0.0,
        )

    def broadcast(self, v, shape, dims):
        return self.emit(
            "stablehlo.broadcast_in_dim",
            [v],
            shape,
            v.dtype,
            f"broadcast_dimensions = {i64s(dims)}",
            v.grid,
            v.bound,
            noise=v.noise,
        )

    # ---- choosing values ----
    def pick(self, accept=lambda v: True, size=None):
        """Rather a late one. None if there is none."""
        found = [v for v in self.values if accept(v) and (size is None or v.elements <= size)]
        if not found:
            return None
        at = len(found) - 1 - min(int(self.rng.expovariate(0.35)), len(found) - 1)
        return found[at] if self.rng.random() < 0.8 else self.rng.choice(found)

    def partner(self, v, accept=lambda v: True):
        """A value of the same type: one that is there, a smaller one broadcast, or a constant."""
        other = self.pick(lambda o: o.shape == v.shape and o.dtype == v.dtype and accept(o))
        if other and self.rng.random() < 0.6:
            return other

        def embeds(o):
            return (
                o.dtype == v.dtype
                and accept(o)
                and 0 < o.rank <= v.rank
                and set(o.shape) <= set(v.shape) | {1}
            )

        for _ in range(4):
            small = self.pick(embeds)
            dims = small and self.embedding(small.shape, v.shape)
            if dims is not None:
                return self.broadcast(small, v.shape, dims)
        if other:
            return other
        if v.rank and v.dtype != "c64" and self.rng.random() < 0.4:
            dim = self.rng.randrange(v.rank)
            return self.broadcast(self.vector(v.shape[dim], v.dtype), v.shape, [dim])
        numbers = [1, 2, 0.5] if v.is_float() else [1, 0, 3]
        return self.splat(self.rng.choice(numbers), v.dtype, v.shape)

    def embedding(self, small, large):
        dims, free = [], list(range(len(large)))
        for extent in small:
            fits = [d for d in free if large[d] == extent or extent == 1]
            if not fits:
                return None
            dims.append(self.rng.choice(fits))
            free.remove(dims[-1])
        return dims if sorted(dims) == dims or self.rng.random() < 0.3 and len(small) else None

    def tamed(self, v, most):
        """Scaled by a power of two so that its magnitude is at most `most`."""
        if not v.is_float() or v.bound <= most:
            return v
        k = math.ceil(math.log2(v.bound / most))
        factor = self.splat(2.0**-k, v.dtype, v.shape)
        grid = (v.grid[0] - k, v.grid[1] - k) if v.grid else None
        return self.like(v, "stablehlo.multiply", factor, grid=grid, bound=v.bound * 2.0**-k)


def live(ops, outputs):
    needed, kept = {v.name for v in outputs}, []
    for op in reversed(ops):
        if needed & {v.name for v in op.results}:
            kept.append(op)
            needed |= {v.name for v in op.operands}
    return kept[::-1]


def donated(arguments, outputs):
    """The results, by number, that arguments of their types are given to, for every second number
    of arguments and results: each to one, each from one.
    """
    given = {}
    for k, result in enumerate(outputs if len(arguments + outputs) % 2 else []):
        free = [v for v in arguments if v.type == result.type and v.name not in given]
        if free:
            given[free[0].name] = k
    return given


def program(ops, arguments, outputs):
    given = donated(arguments, outputs)
    alias = {name: f" {{tf.aliasing_output = {k} : i32}}" for name, k in given.items()}
    head = ", ".join(f"{v.name}: {v.type}{alias.get(v.name, '')}" for v in arguments)
    types = ", ".join(v.type for v in outputs)
    lines = [
        f"func.func public @main({head}) -> ({types}) {{",
        *(op.text for op in live(ops, outputs)),
        f"return {', '.join(v.name for v in outputs)} : {types}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def numbers(array, dtype):
    if dtype == "bf16":
        return (np.ascontiguousarray(array).astype(np.uint32) << 16).view(np.float32)
    return np.asarray(array)


def difference(v, want, got):
    """What is wrong with `got` as value v, None if nothing."""
    want, got = numbers(want, v.dtype), numbers(got, v.dtype)
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, wanted {want.dtype}{want.shape}"
    wrong = ~((want == got) | ((want != want) & (got != got)))
    if v.is_float() and v.grid is None:
        want, got = want.astype(np.float64), got.astype(np.float64)
        with np.errstate(all="ignore"):
            finite = np.isfinite(want)
            size = max(1.0, np.abs(want[finite]).max(initial=0), 0.01 * v.bound)
            wrong &= ~(finite & (np.abs(want - got) <= min(1000 * v.noise, 0.1) * size))
    if not wrong.any():
        return None
    at = np.argwhere(wrong)[0]
    kind = "exact" if v.is_exact() else f"noise {v.noise:g}, bound {v.bound:g}"
    first = f"{at.tolist()} is {got[tuple(at)]!r}, wanted {want[tuple(at)]!r}"
    return f"{v.type} ({kind}): {wrong.sum()} of {wrong.size} differ, {first}"
