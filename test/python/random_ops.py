"""One method per kind of op: appends it with random operands; None where nothing fits."""

import dataclasses
import math
import re

import numpy as np

from random_values import (
    BYTES,
    MANTISSA,
    MOST_ELEMENTS,
    NOISE,
    NUMPY,
    Maker,
    Value,
    direction,
    i64s,
    ints,
    listed,
    dot_numbers,
    returning,
)


class Elementwise(Maker):
    def unary(self):
        v = self.pick()
        if v is None:
            return None
        if v.is_float():
            return self.unary_float(v)
        if v.dtype == "i1":
            return self.like(v, "stablehlo.not")
        if v.is_int():
            names = ["not", "popcnt", "count_leading_zeros"] + (
                [] if v.dtype.startswith("ui") else ["negate", "abs", "sign"]
            )
            return self.like(v, "stablehlo." + self.rng.choice(names))
        return None

    def unary_float(self, v):
        kind = self.rng.choice(
            ["negate", "abs", "tanh", "sine", "logistic", "exponential", "sqrt", "log", "jump"]
        )
        if kind in ("negate", "abs"):
            return self.like(v, "stablehlo." + kind, grid=v.grid, bound=v.bound, noise=v.noise)
        if kind == "jump" and v.grid and not v.special:
            name = self.rng.choice(
                ["floor", "ceil", "round_nearest_even", "round_nearest_afz", "sign"]
            )
            return self.like(
                v, "stablehlo." + name, grid=(max(v.grid[0] + 1, 1), max(v.grid[1], 0))
            )
        if kind in ("sqrt", "log"):
            one = self.splat(1, v.dtype, v.shape)
            v = self.like(
                self.like(v, "stablehlo.abs", grid=v.grid, bound=v.bound),
                "stablehlo.add",
                one,
                bound=v.bound + 1,
            )
            return self.like(
                v, "stablehlo." + self.rng.choice([kind, "rsqrt"]), bound=max(1.0, v.bound**0.5)
            )
        v = self.tamed(v, 3)
        return self.like(
            v,
            "stablehlo." + ("tanh" if kind == "jump" else kind),
            bound=20 if kind == "exponential" else 1,
        )

    def binary(self):
        v = self.pick(lambda v: v.dtype != "c64")
        return None if v is None else self.combine(v, self.partner(v))

    def combine(self, a, b, kind=None):
        """Any binary op on two values of one type."""
        if a.dtype == "i1":
            return self.like(a, "stablehlo." + self.rng.choice(["and", "or", "xor"]), b)
        if a.is_int():
            names = [
                "add",
                "subtract",
                "multiply",
                "maximum",
                "minimum",
                "and",
                "or",
                "xor",
                "shift_left",
                "shift_right_logical",
                "remainder",
            ]
            kind = kind or self.rng.choice(names)
            if kind == "remainder":  # stock XLA ends the process where it folds n % 0
                b = self.like(b, "stablehlo.or", self.splat(1, b.dtype, b.shape))
            return self.like(a, "stablehlo." + kind, b)
        kind = kind or self.rng.choice(
            ["add", "add", "subtract", "multiply", "multiply", "maximum", "minimum", "divide"]
        )
        if kind in ("multiply", "divide") and (a.special or b.special) and not (a.grid and b.grid):
            kind = "maximum"
        both = a.grid and b.grid
        if kind in ("add", "subtract"):
            grid = (max(a.grid[0], b.grid[0]) + 1, min(a.grid[1], b.grid[1])) if both else None
            return self.like(a, "stablehlo." + kind, b, grid=grid, bound=a.bound + b.bound)
        if kind == "multiply":
            a, b = self.tamed(a, 64), self.tamed(b, 64)
            grid = (a.grid[0] + b.grid[0], a.grid[1] + b.grid[1]) if both else None
            return self.like(a, "stablehlo.multiply", b, grid=grid, bound=a.bound * b.bound)
        if kind == "divide" and self.rng.random() < 0.4:
            number = self.splat(self.rng.choice([2, 3, -5]), b.dtype, b.shape)
            return self.like(a, "stablehlo.divide", number, bound=a.bound)
        if kind == "divide":
            one = self.splat(1, b.dtype, b.shape)
            b = self.like(
                self.like(b, "stablehlo.abs", grid=b.grid, bound=b.bound),
                "stablehlo.add",
                one,
                bound=b.bound + 1,
            )
            return self.like(a, "stablehlo.divide", b, bound=a.bound)
        grid = (max(a.grid[0], b.grid[0]), min(a.grid[1], b.grid[1])) if both else None
        return self.like(a, "stablehlo." + kind, b, grid=grid, bound=max(a.bound, b.bound))

    def compare(self, exact=None):
        a = exact or self.pick(lambda v: v.is_exact())
        if a is None:
            return None
        b = self.partner(a, lambda v: v.is_exact())
        name = self.rng.choice(["LT", "LE", "GT", "GE", "EQ", "NE"])
        return self.like(
            a, "stablehlo.compare", b, dtype="i1", attributes=direction(name), special=False
        )

    def select(self):
        p = self.pick(lambda v: v.dtype == "i1") or self.compare()
        if p is None:
            return None
        scalar = p.rank == 0 or p.elements == 1 and self.rng.random() < 0.3
        if scalar and p.rank:
            p = self.reshape_to(p, ())
        a = self.pick(lambda v: v.dtype != "c64" and (scalar or v.shape == p.shape)) or self.splat(
            2, "f32", p.shape
        )
        b = self.partner(a)
        grid = (max(a.grid[0], b.grid[0]), min(a.grid[1], b.grid[1])) if a.grid and b.grid else None
        return self.emit(
            "stablehlo.select", [p, a, b], a.shape, a.dtype, grid=grid, bound=max(a.bound, b.bound)
        )

    def clamp(self):
        v = self.pick(lambda v: v.is_float())
        if v is None:
            return None
        shape = v.shape if self.rng.random() < 0.5 else ()
        low, high = self.splat(-1, v.dtype, shape), self.splat(1, v.dtype, shape)
        return self.emit(
            "stablehlo.clamp",
            [low, v, high],
            v.shape,
            v.dtype,
            grid=v.grid and (max(v.grid[0], 0), min(v.grid[1], 0)),
            bound=1,
            noise=None,
        )

    def convert(self, v=None, to=None):
        v = v or self.pick(lambda v: v.dtype != "c64")
        if v is None:
            return None
        to = to or self.dtype()
        if v.is_float() and to in MANTISSA:
            v = self.tamed(v, 1000) if to == "f16" else v
            return self.like(
                v,
                "stablehlo.convert",
                dtype=to,
                grid=v.grid,
                bound=v.bound,
                noise=None if v.grid else max(v.noise, NOISE[to]),
            )
        if v.is_float():
            if not v.grid or v.special:
                return None
            return self.like(self.tamed(v, 64), "stablehlo.convert", dtype=to)
        if to in MANTISSA:
            if v.dtype != "i1":
                v = self.like(v, "stablehlo.and", self.splat(15, v.dtype, v.shape))
            return self.like(v, "stablehlo.convert", dtype=to, grid=(4, 0))
        return self.like(v, "stablehlo.convert", dtype=to)


class Moves(Maker):
    def outer(self):
        """x[:, None] op y[None, :]: how large values come to be."""
        a = self.pick(lambda v: v.dtype != "c64" and 0 < v.rank <= 2, 200)
        if a is None:
            return None
        b = self.pick(
            lambda v: v.dtype == a.dtype
            and 0 < v.rank <= 2
            and v.elements * a.elements <= MOST_ELEMENTS
        )
        if b is None:
            return None
        shape = a.shape + b.shape
        order = list(range(len(shape)))
        if self.rng.random() < 0.3:
            a, b = b, a
            shape = a.shape + b.shape
        left = self.broadcast(a, shape, order[: a.rank])
        right = self.broadcast(b, shape, order[a.rank :])
        return self.combine(left, right)

    def spread(self):
        v = self.pick(lambda v: v.rank < 4)
        if v is None:
            return None
        shape, dims = list(v.shape), list(range(v.rank))
        for _ in range(self.rng.randint(0, 2)):
            at, extent = self.rng.randint(0, len(shape)), self.rng.choice(self.extents)
            if math.prod(shape) * extent <= MOST_ELEMENTS:
                shape.insert(at, extent)
                dims = [d + (d >= at) for d in dims]
        for d, own in zip(dims, v.shape):
            if own == 1 and self.rng.random() < 0.5:
                extent = self.rng.choice(self.extents)
                shape[d] = extent if math.prod(shape) * extent <= MOST_ELEMENTS else 1
        return self.broadcast(v, shape, dims)

    def transpose(self, v=None, perm=None):
        v = v or self.pick(lambda v: v.rank >= 2)
        if v is None:
            return None
        perm = perm or self.rng.sample(range(v.rank), v.rank)
        return self.emit(
            "stablehlo.transpose",
            [v],
            [v.shape[p] for p in perm],
            v.dtype,
            f"permutation = {i64s(perm)}",
            v.grid,
            v.bound,
            noise=v.noise,
        )

    def reshape_to(self, v, shape):
        return self.emit(
            "stablehlo.reshape", [v], shape, v.dtype, "", v.grid, v.bound, noise=v.noise
        )

    def regrouped(self, v):
        """Rows of another length, which end with the old ones now and then; None: there is none."""
        lengths = [
            n for n in range(2, v.elements) if v.elements % n == 0 and n % v.shape[-1] and v.shape[-1] % n
        ]
        if v.rank < 2 or not lengths or len(self.ops) % 2:
            return None
        return [v.elements // lengths[len(self.ops) % len(lengths)], lengths[len(self.ops) % len(lengths)]]

    def reshape(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        shape, kind = list(v.shape), self.rng.choice(["merge", "unmerge", "flat", "one", "mix"])
        if kind in ("merge", "mix") and len(shape) > 1:
            at = self.rng.randrange(len(shape) - 1)
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        if kind in ("unmerge", "mix"):
            at = self.rng.randrange(len(shape))
            factors = [f for f in range(2, shape[at]) if shape[at] % f == 0]
            if factors:
                f = self.rng.choice(factors)
                shape[at : at + 1] = [f, shape[at] // f]
        if kind == "flat":
            shape = self.regrouped(v) or [v.elements]
        if kind == "one":
            if 1 in shape and self.rng.random() < 0.5:
                shape.remove(1)
            else:
                shape.insert(self.rng.randint(0, len(shape)), 1)
        return self.reshape_to(v, shape) if len(shape) <= 5 else None

    def pad(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype not in ("i1", "c64"))
        if v is None:
            return None
        low, high, inside = ([self.rng.choice([0, 0, 0, 1, 2]) for _ in v.shape] for _ in range(3))
        low = [
            self.rng.choice([value, value, -1 if s > 2 else value])
            for value, s in zip(low, v.shape)
        ]
        return self.padded(v, low, high, inside, self.rng.choice([0, 1]))

    def padded(self, v, low, high, inside, number):
        shape = [s + a + b + (s - 1) * c for s, a, b, c in zip(v.shape, low, high, inside)]
        if min(shape) < 1 or math.prod(shape) > MOST_ELEMENTS:
            return None
        fill = self.splat(number, v.dtype)
        attributes = listed(
            edge_padding_low=i64s(low),
            edge_padding_high=i64s(high),
            interior_padding=i64s(inside),
        )
        return self.emit(
            "stablehlo.pad",
            [v, fill],
            shape,
            v.dtype,
            attributes,
            v.grid and (max(v.grid[0], 0), min(v.grid[1], 0)),
            max(v.bound, 1),
            noise=v.noise,
        )

    def slice(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        start, limit, stride = [0] * v.rank, list(v.shape), [1] * v.rank
        for d in self.rng.sample(range(v.rank), self.rng.randint(0, v.rank)):
            start[d] = self.rng.randrange(v.shape[d])
            limit[d] = self.rng.randint(start[d] + 1, v.shape[d])
            stride[d] = self.rng.choice([1, 1, 2])
        return self.sliced(v, start, limit, stride)

    def sliced(self, v, start, limit, stride):
        shape = [-(-(b - a) // s) for a, b, s in zip(start, limit, stride)]
        attributes = listed(
            start_indices=i64s(start), limit_indices=i64s(limit), strides=i64s(stride)
        )
        return self.emit(
            "stablehlo.slice", [v], shape, v.dtype, attributes, v.grid, v.bound, noise=v.noise
        )

    def reverse(self):
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        dims = sorted(self.rng.sample(range(v.rank), self.rng.randint(1, v.rank)))
        return self.like(
            v,
            "stablehlo.reverse",
            attributes=f"dimensions = {i64s(dims)}",
            grid=v.grid,
            bound=v.bound,
            noise=v.noise,
        )

    def concatenate(self):
        v = self.pick(lambda v: v.rank > 0 and 2 * v.elements <= MOST_ELEMENTS and v.dtype != "c64")
        if v is None:
            return None
        dim = self.rng.randrange(v.rank)

        def fits(o):
            return (
                o.dtype == v.dtype
                and o.rank == v.rank
                and all(o.shape[d] == v.shape[d] for d in range(v.rank) if d != dim)
            )

        parts = [v] + [self.pick(fits) for _ in range(self.rng.randint(1, 2))]
        shape = list(v.shape)
        shape[dim] = sum(p.shape[dim] for p in parts)
        grid = (
            (max(p.grid[0] for p in parts), min(p.grid[1] for p in parts))
            if all(p.grid for p in parts)
            else None
        )
        return self.emit(
            "stablehlo.concatenate",
            parts,
            shape,
            v.dtype,
            f"dimension = {dim} : i64",
            grid,
            max(p.bound for p in parts),
        )

    def iota(self, shape=None, dtype=None, dim=None):
        shape = shape or self.shape(self.rng.randint(1, 3))
        dtype = dtype or self.rng.choice(["i32", "i32", "f32", "f64", "i64", "ui32"])
        dim = self.rng.randrange(len(shape)) if dim is None else dim
        return self.emit(
            "stablehlo.iota",
            [],
            shape,
            dtype,
            f"iota_dimension = {dim} : i64",
            (5, 0) if dtype in MANTISSA else None,
        )

    def start(self, v):
        """A scalar index; out of range now and then."""
        return self.pick(lambda o: o.dtype == v and o.rank == 0) or self.splat(
            self.rng.randint(-1, 6), v
        )

    def dynamic_slice(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype != "c64")
        if v is None:
            return None
        sizes = [s if self.rng.random() < 0.5 else self.rng.randint(1, s) for s in v.shape]
        at = [self.start("i32") for _ in v.shape]
        return self.emit(
            "stablehlo.dynamic_slice",
            [v, *at],
            sizes,
            v.dtype,
            f"slice_sizes = {i64s(sizes)}",
            v.grid,
            v.bound,
            noise=v.noise,
        )

    def dynamic_update_slice(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype != "c64")
        if v is None:
            return None
        u = self.pick(
            lambda o: o.dtype == v.dtype
            and o.rank == v.rank
            and all(a <= b for a, b in zip(o.shape, v.shape))
        )
        return self.written(v, u)

    def written(self, v, u):
        """u into v, somewhere."""
        at = [self.start("i32") for _ in v.shape]
        grid = (max(u.grid[0], v.grid[0]), min(u.grid[1], v.grid[1])) if u.grid and v.grid else None
        return self.like(
            v, "stablehlo.dynamic_update_slice", u, *at, grid=grid, bound=max(u.bound, v.bound)
        )

    def barrier(self):
        operands = [self.pick() for _ in range(self.rng.randint(1, 3))]
        operands = list({v.name: v for v in operands}.values())
        results = [dataclasses.replace(v, name=self.name()) for v in operands]
        self.append("stablehlo.optimization_barrier", operands, results)
        return results[0]


class Reductions(Maker):
    def body(self, dtype, *ops, results=1, arity=2):
        """A region of scalar ops (name, attributes, operand numbers, result dtype or None).

        The last `results` of them are returned.
        """
        prefix = f"r{self.name()[1:]}_"
        dtypes = dtype if isinstance(dtype, list) else [dtype] * arity
        names, types = [f"%{prefix}a{i}" for i in range(len(dtypes))], [
            f"tensor<{t}>" for t in dtypes
        ]
        lines = [f"^bb0({', '.join(f'{n}: {t}' for n, t in zip(names, types))}):"]
        for i, (op, attributes, operands, to) in enumerate(ops):
            t = f"tensor<{to}>" if to else types[operands[0]]
            signature = ", ".join(types[o] for o in operands)
            lines.append(
                f"%{prefix}{i} = \"stablehlo.{op}\"({', '.join(names[o] for o in operands)})"
                f"{f' <{{{attributes}}}>' if attributes else ''} : ({signature}) -> {t}"
            )
            names.append(f"%{prefix}{i}")
            types.append(t)
        lines.append(returning(names[-results:], types[-results:]))
        return "{\n" + "\n".join(lines) + "\n}"

    def some_dims(self, v):
        return sorted(self.rng.sample(range(v.rank), self.rng.randint(1, v.rank)))

    def reduce(self, v=None, dims=None, kind=None):
        v = v or self.pick(lambda v: v.rank > 0 and v.dtype != "c64")
        if v is None:
            return None
        dims = dims or self.some_dims(v)
        kept = [s for d, s in enumerate(v.shape) if d not in dims]
        n = math.prod(v.shape[d] for d in dims)
        logical = ["and", "or"] + ([] if v.dtype == "i1" else ["xor"])
        kinds = (
            ["add", "add", "maximum", "minimum"]
            if v.is_float()
            else (
                logical
                if v.dtype == "i1"
                else ["add", "maximum", "minimum", "multiply", *logical, "ring"]
            )
        )
        kind = kind or self.rng.choice(kinds)
        if kind == "add" and v.special and self.is_product(v):
            kind = "maximum"  # pass sums: inf * 0 and inf - inf may come out otherwise
        neutral = {
            "add": 0,
            "multiply": 1,
            "ring": 0,
            "or": 0,
            "xor": 0,
            "and": 1 if v.dtype == "i1" else -1,
        }
        if v.dtype.startswith("ui"):
            neutral["and"] = 2 ** (8 * BYTES[v.dtype]) - 1
        if kind in neutral:
            start = neutral[kind]
            # Not the identity; XLA forgets it for one element, repeats it in sums of many.
            fits = kind != "ring" and 1 < n <= 8
            if fits and self.rng.random() < 0.3:
                start = self.rng.choice([1, 2, 0.5] if v.is_float() else [0, 1])
        else:
            start = (
                self.extreme(v.dtype, kind == "maximum") if n == 1 or self.rng.random() < 0.7 else 1
            )
        init = self.splat(start, v.dtype)
        order = [0, 1] if self.rng.random() < 0.7 else [1, 0]
        ops = (
            [(kind, "", order, None)]
            if kind != "ring"
            else [
                ("multiply", "", [0, 1], None),
                ("add", "", order, None),
                ("add", "", [2, 3], None),
            ]
        )
        grid = v.grid
        if grid and kind == "add":
            grid = (max(grid[0] + math.ceil(math.log2(n)), 1) + 1, min(grid[1], -1))
        elif grid:
            grid = (max(grid[0], 0), min(grid[1], 0))
        bound = v.bound * n + 2 if kind == "add" else max(v.bound, 1)
        special = v.special or (not math.isfinite(start) and n == 0)
        return self.emit(
            "stablehlo.reduce",
            [v, init],
            kept,
            v.dtype,
            f"dimensions = {i64s(dims)}",
            grid,
            bound,
            special,
            region=self.body(v.dtype, *ops),
            noise=None if kind == "add" else v.noise,
        )

    def is_product(self, v):
        return any(v in op.results and "stablehlo.dot_general" in op.text for op in self.ops)

    def extreme(self, dtype, lowest):
        if dtype in MANTISSA:
            return -math.inf if lowest else math.inf
        if dtype == "i1":
            return 0 if lowest else 1
        info = np.iinfo(NUMPY[dtype])
        return int(info.min if lowest else info.max)

    def arg_extreme(self):
        """argmax or argmin as JAX prints it; either result may be used later."""
        v = self.pick(lambda v: v.rank > 0 and v.is_exact() and v.dtype not in ("c64", "i1"))
        if v is None:
            return None
        largest, dim = self.rng.random() < 0.5, self.rng.randrange(v.rank)
        at = self.iota(v.shape, self.rng.choice(["i32", "i32", "i64"]), dim)
        first, zero = self.splat(self.extreme(v.dtype, largest), v.dtype), self.splat(0, at.dtype)
        d = [v.dtype, at.dtype, v.dtype, at.dtype]
        better, float_ = ("GT" if largest else "LT"), v.is_float()
        ops = [
            ("compare", direction(better), [0, 2], "i1"),
            ("compare", direction("NE"), [0, 0], "i1"),
            ("or", "", [4, 5], None) if float_ else ("or", "", [4, 4], None),
            ("compare", direction("EQ"), [0, 2], "i1"),
            ("compare", direction("LT"), [1, 3], "i1"),
            ("and", "", [7, 8], None),
            ("or", "", [6, 9], None),
            ("select", "", [6, 0, 2], v.dtype),
            ("select", "", [10, 1, 3], at.dtype),
        ]
        shape = [s for i, s in enumerate(v.shape) if i != dim]
        results = [
            dataclasses.replace(v, name=self.name(), shape=tuple(shape)),
            Value(self.name(), tuple(shape), at.dtype),
        ]
        self.append(
            "stablehlo.reduce",
            [v, at, first, zero],
            results,
            f"dimensions = {i64s([dim])}",
            self.body(d, *ops, results=2),
        )
        return results[self.rng.randrange(2)]

    def sum_and_max(self):
        """A variadic reduce of unlike monoids."""
        v = self.pick(lambda v: v.rank > 0 and (v.is_float() or v.is_int()))
        if v is None:
            return None
        dims, w = self.some_dims(v), self.partner(v)
        inits = [self.splat(0, v.dtype), self.splat(self.extreme(v.dtype, True), v.dtype)]
        shape = tuple(s for i, s in enumerate(v.shape) if i not in dims)
        n = math.prod(v.shape[d] for d in dims)
        region = self.body(
            [v.dtype] * 4, ("add", "", [0, 2], None), ("maximum", "", [1, 3], None), results=2
        )
        grid = v.grid and (v.grid[0] + math.ceil(math.log2(n)), v.grid[1])
        grid = (
            grid if grid and grid[0] - grid[1] <= MANTISSA[v.dtype] and v.dtype != "f16" else None
        )
        # the sum is in the values' own type: each step rounds by up to 2^-MANTISSA of what it has
        if grid is None and v.is_float() and n * 2.0 ** -MANTISSA[v.dtype] > 0.1:
            return None  # more than any tolerance: the evaluator's own sum may be that far off
        noise = (
            0.0 if grid or not v.is_float() else max(NOISE[v.dtype] * math.sqrt(n), v.noise)
        )
        results = [
            Value(self.name(), shape, v.dtype, grid, v.bound * n, noise, v.special),
            dataclasses.replace(w, name=self.name(), shape=shape),
        ]
        self.append(
            "stablehlo.reduce", [v, w, *inits], results, f"dimensions = {i64s(dims)}", region
        )
        return results[0]

    def window(self):
        v = self.pick(lambda v: v.rank > 0 and (v.is_float() or v.is_int()))
        if v is None:
            return None
        dim = self.rng.randrange(v.rank)
        width = self.rng.randint(1, min(3, v.shape[dim]))
        window = [width if d == dim else 1 for d in range(v.rank)]
        kind = self.rng.choice(["add", "maximum"])
        init = self.splat(0 if kind == "add" else self.extreme(v.dtype, True), v.dtype)
        shape = [s - w + 1 for s, w in zip(v.shape, window)]
        grid = v.grid and (v.grid[0] + (2 if kind == "add" else 0), v.grid[1])
        ones, zeros = i64s([1] * v.rank), f"dense<0> : tensor<{v.rank}x2xi64>"
        attributes = listed(
            base_dilations=ones,
            padding=zeros,
            window_dilations=ones,
            window_dimensions=i64s(window),
            window_strides=ones,
        )
        return self.emit(
            "stablehlo.reduce_window",
            [v, init],
            shape,
            v.dtype,
            attributes,
            grid,
            v.bound * width,
            v.special,
            region=self.body(v.dtype, (kind, "", [0, 1], None)),
        )


    def prefix(self):
        """A prefix sum or maximum, from either end."""
        wide = lambda v: v.is_int() or v.dtype in ("f32", "f64")  # noqa: E731
        v = self.pick(lambda v: v.rank > 0 and wide(v) and max(v.shape) > 1)
        if v is None:
            return None
        dim = self.rng.choice([d for d in range(v.rank) if v.shape[d] > 1])
        size = v.shape[dim]
        kind = self.rng.choice(["add", "add", "maximum", "minimum"])
        if kind == "add" and v.special:
            kind = "maximum"
        init = self.splat(0 if kind == "add" else self.extreme(v.dtype, kind == "maximum"), v.dtype)
        ends = self.rng.choice([[size - 1, 0], [0, size - 1]])
        padding = [ends if d == dim else [0, 0] for d in range(v.rank)]
        grid = v.grid and (v.grid[0] + (math.ceil(math.log2(size)) if kind == "add" else 0), v.grid[1])
        attributes = listed(
            padding=f"dense<{padding}> : tensor<{v.rank}x2xi64>",
            window_dimensions=i64s([size if d == dim else 1 for d in range(v.rank)]),
        )
        return self.emit(
            "stablehlo.reduce_window",
            [v, init],
            v.shape,
            v.dtype,
            attributes,
            grid,
            v.bound * (size if kind == "add" else 1),
            v.special,
            region=self.body(v.dtype, (kind, "", [0, 1], None)),
        )


class Contractions(Maker):
    def dot(self, a=None, b=None, contract=None):
        ok = lambda v: v.rank > 0 and (v.is_float() or v.dtype in ("i32", "i8"))  # noqa: E731
        a = a or self.pick(ok)
        if a is None:
            return None
        b = b or self.pick(lambda v: ok(v) and v.dtype == a.dtype and set(v.shape) & set(a.shape))
        if (a.special or b.special) and not (a.grid and b.grid):
            return None
        pairs = contract or self.matching(a, b)
        batch = (
            []
            if contract
            else [
                pairs.pop() for _ in range(len(pairs)) if len(pairs) > 1 and self.rng.random() < 0.4
            ]
        )
        if not contract and pairs and self.rng.random() < 0.1:
            pairs.pop()
        free_a = [d for d in range(a.rank) if d not in [i for i, _ in pairs + batch]]
        free_b = [d for d in range(b.rank) if d not in [j for _, j in pairs + batch]]
        shape = (
            [a.shape[i] for i, _ in batch]
            + [a.shape[d] for d in free_a]
            + [b.shape[d] for d in free_b]
        )
        if math.prod(shape) > MOST_ELEMENTS or len(shape) > 5:
            return None
        a, b = self.tamed(a, 16), self.tamed(b, 16)
        n = math.prod(a.shape[i] for i, _ in pairs)
        to = (
            {"i8": "i32", "bf16": "f32"}.get(a.dtype, a.dtype)
            if self.rng.random() < 0.5
            else a.dtype
        )
        to = "i32" if a.dtype == "i8" else to
        grid = (
            (a.grid[0] + b.grid[0] + math.ceil(math.log2(n)), a.grid[1] + b.grid[1])
            if a.grid and b.grid
            else None
        )
        (lhs_batch, rhs_batch), (lhs, rhs) = (
            ([i for i, _ in p], [j for _, j in p]) for p in (batch, pairs)
        )
        numbers = dot_numbers(lhs_batch, rhs_batch, lhs, rhs)
        return self.emit(
            "stablehlo.dot_general",
            [a, b],
            shape,
            to,
            numbers,
            grid,
            a.bound * b.bound * n,
        )

    def product_chain(self):
        """(a b) c: the order may matter; not with infinities, of which another order makes NaNs."""
        a = self.pick(lambda v: v.rank == 2 and v.dtype in ("f32", "f64", "i32") and not v.special)
        if a is None:
            return None
        for columns in (self.rng.choice(self.extents), self.rng.choice([1, 2, 3])):
            b = self.argument((a.shape[1], columns), a.dtype)
            product = None if b.special else self.dot(a, b, [(1, 0)])
            if product is None or product.dtype not in ("f32", "f64", "i32"):
                return product
            a = product
        return a

    def matching(self, a, b):
        pairs, free = [], list(range(b.rank))
        for i in self.rng.sample(range(a.rank), a.rank):
            fits = [j for j in free if b.shape[j] == a.shape[i]]
            if fits and (not pairs or self.rng.random() < 0.5):
                j = self.rng.choice(fits)
                pairs.append((i, j))
                free.remove(j)
        return pairs

    def convolution(self):
        v = self.pick(lambda v: v.rank == 3 and v.dtype in ("f32", "f64") and not v.special)
        if v is None:
            return None
        batch, length, features = v.shape
        width, out = self.rng.randint(1, min(3, length)), self.rng.choice(self.extents)
        k = self.argument((width, features, out), v.dtype)
        if k.special:
            return None
        v = self.tamed(v, 16)
        grid = (
            (v.grid[0] + 1 + math.ceil(math.log2(width * features)), v.grid[1] - 2)
            if v.grid
            else None
        )
        attributes = listed(
            batch_group_count="1 : i64",
            dimension_numbers="#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>",
            feature_group_count="1 : i64",
            padding="dense<0> : tensor<1x2xi64>",
            window_strides=i64s([1]),
        )
        return self.emit(
            "stablehlo.convolution",
            [v, k],
            (batch, length - width + 1, out),
            v.dtype,
            attributes,
            grid,
            v.bound * 2 * width * features,
        )


    def any_convolution(self):
        """Of one or two spatial dimensions in any order, with groups, strides, holes, padding."""
        fits = lambda v: v.rank in (3, 4) and v.dtype in ("f32", "f64")  # noqa: E731
        v = self.pick(lambda v: fits(v) and not v.special and v.elements <= 4096)
        if v is None:
            return None
        rng, n = self.rng, v.rank - 2
        lhs, rhs, out = (rng.sample(range(v.rank), v.rank) for _ in range(3))
        batch, inside, *space = (v.shape[d] for d in lhs)
        groups = rng.choice([g for g in (1, 1, 2, inside) if inside % g == 0])
        batches = rng.choice([g for g in (1, 1, 2, batch) if batch % g == 0]) if groups == 1 else 1
        made = groups * batches * rng.randint(1, 3)
        taps = [rng.choice([1, 2, 3, s]) for s in space]
        strides, holes, apart = ([rng.choice([1, 1, 2]) for _ in space] for _ in range(3))
        padding = [[rng.randint(0, t), rng.randint(0, t)] for t in taps]
        sizes = [
            ((s - 1) * h + 1 + sum(p) - (t - 1) * a - 1) // st + 1
            for s, h, p, t, a, st in zip(space, holes, padding, taps, apart, strides)
        ]
        if min(sizes) < 1:
            return None
        k = self.argument(self.placed(rhs, [made, inside // groups, *taps]), v.dtype)
        if k.special:
            return None
        v = self.tamed(v, 16)
        terms = inside // groups * math.prod(taps)
        grid = (
            (v.grid[0] + 1 + math.ceil(math.log2(max(2, terms))), v.grid[1] - 2) if v.grid else None
        )
        attributes = listed(
            batch_group_count=f"{batches} : i64",
            dimension_numbers="#stablehlo.conv<"
            f"{self.labels(lhs, 'bf')}x{self.labels(rhs, 'oi')}->{self.labels(out, 'bf')}>",
            feature_group_count=f"{groups} : i64",
            lhs_dilation=i64s(holes),
            padding=f"dense<{padding}> : tensor<{n}x2xi64>",
            rhs_dilation=i64s(apart),
            window_strides=i64s(strides),
        )
        shape = self.placed(out, [batch // batches, made, *sizes])
        bound = v.bound * 2 * terms
        return self.emit("stablehlo.convolution", [v, k], shape, v.dtype, attributes, grid, bound)

    @staticmethod
    def placed(order, sizes):
        return tuple(size for _, size in sorted(zip(order, sizes)))

    @staticmethod
    def labels(order, names):
        placed = sorted(zip(order, [*names, *map(str, range(len(order) - 2))]))
        return "[" + ", ".join(label for _, label in placed) + "]"


class Orders(Reductions):
    def without_negative_zeros(self, v):
        """The sign of a zero is not the program's to say, and orders of all numbers see it."""
        if not v.is_float() or v in self.arguments:
            return v
        zero = self.splat(0, v.dtype, v.shape)
        is_zero = self.like(
            v, "stablehlo.compare", zero, dtype="i1", attributes=direction("EQ"), special=False
        )
        return self.emit(
            "stablehlo.select",
            [is_zero, zero, v],
            v.shape,
            v.dtype,
            grid=v.grid,
            bound=v.bound,
            noise=v.noise,
            special=v.special,
        )

    def top_k(self):
        v = self.pick(
            lambda v: v.rank > 0 and v.is_exact() and v.dtype in ("f32", "f64", "i32", "bf16")
        )
        if v is None:
            return None
        v = self.without_negative_zeros(v)
        k = self.rng.randint(1, min(v.shape[-1], 6))
        shape = v.shape[:-1] + (k,)
        results = [
            dataclasses.replace(v, name=self.name(), shape=shape),
            Value(self.name(), shape, "i32"),
        ]
        self.append("chlo.top_k", [v], results, f"k = {k} : i64")
        return results[self.rng.randrange(2)]

    def sort(self):
        v = self.pick(lambda v: v.rank > 0 and v.is_exact() and v.dtype not in ("c64", "i1"))
        if v is None:
            return None
        operands = [v := self.without_negative_zeros(v)]
        if self.rng.random() < 0.5:
            operands.append(self.pick(lambda o: o.shape == v.shape and o.dtype != "c64"))
        dtypes = [t for o in operands for t in (o.dtype, o.dtype)]
        order = direction(self.rng.choice(["LT", "GT"]))
        order += ", compare_type = #stablehlo<comparison_type TOTALORDER>" if v.is_float() else ""
        results = [dataclasses.replace(o, name=self.name()) for o in operands]
        region = self.body(dtypes, ("compare", order, [0, 1], "i1"))
        self.append(
            "stablehlo.sort",
            operands,
            results,
            f"dimension = {self.rng.randrange(v.rank)} : i64, is_stable = true",
            region,
        )
        return results[-1]

    def sorted_end(self):
        """A sort of which one end is looked at."""
        v = self.sort()
        dim = v and int(re.search(r"dimension = (\d+)", self.ops[-1].text)[1])
        if v is None or v.shape[dim] < 4:
            return v
        n, k = v.shape[dim], self.rng.randint(1, v.shape[dim] // 4)
        start, limit = [0] * v.rank, list(v.shape)
        start[dim], limit[dim] = self.rng.choice([(0, k), (n - k, n)])
        shape = [b - a for a, b in zip(start, limit)]
        attributes = listed(
            start_indices=i64s(start), limit_indices=i64s(limit), strides=i64s([1] * v.rank)
        )
        return self.emit(
            "stablehlo.slice", [v], shape, v.dtype, attributes, v.grid, v.bound, noise=v.noise
        )


def gather_attributes(numbers, sizes):
    return listed(
        dimension_numbers=f"#stablehlo.gather<{numbers}>",
        indices_are_sorted="false",
        slice_sizes=i64s(sizes),
    )


class Indexing(Reductions):
    def indices(self, n):
        v = self.pick(lambda v: v.dtype in ("i32", "i64") and 0 < v.elements)
        if v is None:
            v = self.argument((n,), "i32")
        return self.reshape_to(v, (v.elements, 1))

    def gather(self):
        """Rows of one dimension by a list of indices, some of them out of range."""
        v = self.pick(lambda v: v.rank > 0)
        if v is None:
            return None
        dim, at = self.rng.randrange(v.rank), self.indices(self.rng.choice(self.extents))
        n = at.shape[0]
        offset = [d for d in range(v.rank) if d != dim]
        if n * v.elements // v.shape[dim] > MOST_ELEMENTS:
            return None
        sizes = [1 if d == dim else s for d, s in enumerate(v.shape)]
        shape = [n if d == dim else s for d, s in enumerate(v.shape)]
        numbers = listed(
            offset_dims=ints(offset),
            collapsed_slice_dims=ints([dim]),
            start_index_map=ints([dim]),
            index_vector_dim=1,
        )
        return self.emit(
            "stablehlo.gather",
            [v, at],
            shape,
            v.dtype,
            gather_attributes(numbers, sizes),
            v.grid,
            v.bound,
            noise=v.noise,
        )

    def take_along(self):
        """A batched gather: one index per row and result."""
        at = self.pick(lambda v: v.rank == 2 and v.dtype in ("i32", "i64"))
        if at is None:
            return None
        v = self.pick(lambda v: v.rank == 2 and v.shape[0] == at.shape[0])
        if v is None:
            return None
        at = self.reshape_to(at, at.shape + (1,))
        numbers = listed(
            collapsed_slice_dims=[1],
            operand_batching_dims=[0],
            start_indices_batching_dims=[0],
            start_index_map=[1],
            index_vector_dim=2,
        )
        return self.emit(
            "stablehlo.gather",
            [v, at],
            at.shape[:2],
            v.dtype,
            gather_attributes(numbers, [1, 1]),
            v.grid,
            v.bound,
            noise=v.noise,
        )

    def scatter(self):
        """Updates added, or the largest kept, at rows; indices out of range are dropped. Some
        updates are a matrix as one list."""
        u = self.pick(lambda v: v.rank > 0 and (v.is_float() or v.is_int()) and v.shape[0] > 0)
        if u is None:
            return None
        if u.rank > 1 and sum(u.shape[:2]) % 3 == 0 and u.shape[1] > 0:
            u = self.reshape_to(u, (u.shape[0] * u.shape[1], *u.shape[2:]))
        v = self.pick(
            lambda v: v.dtype == u.dtype and v.rank == u.rank and v.shape[1:] == u.shape[1:]
        )
        at = self.pick(
            lambda v: v.dtype in ("i32", "i64") and v.elements == u.shape[0]
        ) or self.argument((u.shape[0],), "i32")
        at = self.reshape_to(at, (u.shape[0], 1))
        kind = self.rng.choice(["add", "maximum"])
        grid = (
            (max(u.grid[0], v.grid[0]) + 6 * (kind == "add"), min(u.grid[1], v.grid[1]))
            if u.grid and v.grid
            else None
        )
        numbers = listed(
            update_window_dims=ints(range(1, u.rank)),
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
        )
        return self.emit(
            "stablehlo.scatter",
            [v, at, u],
            v.shape,
            v.dtype,
            listed(
                indices_are_sorted="false",
                scatter_dimension_numbers=f"#stablehlo.scatter<{numbers}>",
                unique_indices="false",
            ),
            grid,
            v.bound + u.shape[0] * u.bound,
            region=self.body(v.dtype, (kind, "", [0, 1], None)),
        )
