"""Random programs as random_graphs.py makes them, of what is rare there: complex numbers, bits as other
types, gathers and scatters of whole windows along several dimensions, windows with strides and holes,
sorts by several keys, all flags of solves, whiles that hand their values around, results returned twice,
arguments returned, and, in `Empty`, dimensions of no elements.
"""

import dataclasses
import math

from random_graphs import Graph
from random_values import BYTES, MANTISSA, MOST_ELEMENTS, NOISE, Value, direction, dot_numbers, i64s, ints, listed

SMOOTH = "cbrt cosine exponential_minus_one log_plus_one tan tanh".split()
WIDER = {"i8": "i16", "i16": "i32", "i32": "i64", "ui8": "ui16", "ui16": "ui32", "ui32": "ui64"}
NARROWER = {wide: narrow for narrow, wide in WIDER.items()}


class Numbers:
    """Elementwise ops that random_ops.py leaves out."""

    def smooth(self):
        v = self.pick(lambda v: v.is_float() and not v.special)
        if v is None:
            return None
        name = self.rng.choice(SMOOTH)
        v = self.like(self.tamed(v, 1), "stablehlo.abs", bound=1)
        return self.like(v, "stablehlo." + name, bound=2)

    def whole(self):
        """Quotients, shifts and powers of integers."""
        v = self.pick(lambda v: v.is_int())
        if v is None:
            return None
        by, name = self.partner(v), self.rng.choice(["divide", "shift_right_arithmetic", "power"])
        if name == "divide":  # neither by 0 nor, of the smallest number, by -1
            by = self.like(self.like(by, "stablehlo.and", self.splat(6, v.dtype, v.shape)), "stablehlo.or",
                           self.splat(1, v.dtype, v.shape))  # fmt: skip
        if name == "power":
            by = self.like(by, "stablehlo.and", self.splat(3, v.dtype, v.shape))
        return self.like(v, "stablehlo." + name, by)

    def finite(self):
        v = self.pick(lambda v: v.is_float())
        return v and self.like(v, "stablehlo.is_finite", dtype="i1", special=False)

    def angle(self):
        v = self.pick(lambda v: v.dtype in ("f32", "f64") and not v.special)
        if v is None:
            return None
        one = self.splat(1, v.dtype, v.shape)
        right = self.like(self.like(v, "stablehlo.abs", bound=v.bound), "stablehlo.add", one, bound=v.bound + 1)
        w = self.partner(v, lambda o: not o.special)
        return self.like(w, "stablehlo.atan2", right, bound=2)

    def coarser(self):
        v = self.pick(lambda v: v.dtype in ("f32", "f64") and v.grid)
        if v is None:
            return None
        bits = "exponent_bits = 8 : i32, mantissa_bits = 4 : i32"
        return self.like(v, "stablehlo.reduce_precision", attributes=bits, grid=(v.grid[0] + 1, v.grid[1]))

    def clamped_rows(self):
        """Of integers, between two values of the same shape or two scalars."""
        v = self.pick(lambda v: v.is_int())
        if v is None:
            return None
        shape = v.shape if self.rng.random() < 0.5 else ()
        low, high = self.splat(1, v.dtype, shape), self.splat(7, v.dtype, shape)
        return self.emit("stablehlo.clamp", [low, v, high], v.shape, v.dtype)

    def bits(self):
        """The same bits as two narrower numbers or one wider one, or as an integer."""
        v = self.pick(lambda v: v.is_int() or v.dtype in ("f32", "f64", "f16") and v.is_exact() and not v.special)
        if v is None:
            return None
        if v.is_float():
            v = self.without_negative_zeros(v) if v not in self.arguments else v
            return self.like(v, "stablehlo.bitcast_convert", dtype={"f16": "i16", "f32": "i32", "f64": "i64"}[v.dtype])
        if v.dtype in WIDER and v.rank and v.shape[-1] == 2:
            return self.emit("stablehlo.bitcast_convert", [v], v.shape[:-1], WIDER[v.dtype])
        if v.dtype in NARROWER and v.rank < 4 and 2 * v.elements <= MOST_ELEMENTS:
            return self.emit("stablehlo.bitcast_convert", [v], (*v.shape, 2), NARROWER[v.dtype])
        other = {"i32": "ui32", "ui32": "i32", "i64": "ui64", "ui64": "i64"}.get(v.dtype)
        return other and self.like(v, "stablehlo.bitcast_convert", dtype=other)


class Complex:
    """Complex numbers through several ops, until they are real again."""

    def complex_chain(self):
        v = self.pick(lambda v: v.dtype == "f32" and v.rank > 0 and not v.special)
        if v is None:
            return None
        w = self.partner(v, lambda o: not o.special)
        parts = [self.tamed(v, 2), self.tamed(w, 2)]
        z = self.emit("stablehlo.complex", parts, v.shape, "c64", bound=4, noise=max(p.noise for p in parts) or 1e-7)
        for _ in range(self.rng.randint(1, 4)):
            z = self.rng.choice([self.complex_binary, self.complex_move, self.complex_sum, self.complex_dot,
                                 self.complex_outer])(z) or z  # fmt: skip
        end = self.rng.choice(["real", "imag", "abs"])
        return self.like(z, "stablehlo." + end, dtype="f32", bound=z.bound, noise=max(z.noise, 1e-6))

    def complex_binary(self, z):
        if z.bound > 1e4:
            return None
        other = z if self.rng.random() < 0.4 else self.like(z, "stablehlo.negate", bound=z.bound)
        name = self.rng.choice(["add", "subtract", "multiply"])
        return self.like(z, "stablehlo." + name, other, bound=2 * z.bound * max(1, z.bound))

    def complex_move(self, z):
        kind = self.rng.choice(["reverse", "transpose", "flat", "half"])
        if kind == "reverse":
            return self.like(z, "stablehlo.reverse", attributes=f"dimensions = {i64s([z.rank - 1])}", bound=z.bound)
        if kind == "transpose" and z.rank > 1:
            return self.transpose(z)
        if kind == "flat":
            return self.reshape_to(z, (z.elements,))
        half = [0] * (z.rank - 1) + [z.shape[-1] // 2]
        return self.sliced(z, half, list(z.shape), [1] * z.rank) if z.shape[-1] else None

    def complex_sum(self, z):
        dim = self.rng.randrange(z.rank)
        if z.rank < 2:
            return None
        zero = self.emit("stablehlo.constant", [], (), "c64", "value = dense<(0.0,0.0)> : tensor<complex<f32>>")
        kept = [s for d, s in enumerate(z.shape) if d != dim]
        return self.emit("stablehlo.reduce", [z, zero], kept, "c64", f"dimensions = {i64s([dim])}",
                         bound=z.bound * max(1, z.shape[dim]), region=self.body("complex<f32>", ("add", "", [0, 1], None)))  # fmt: skip

    def complex_dot(self, z):
        if z.rank != 2 or z.bound > 1e3 or z.shape[0] ** 2 > MOST_ELEMENTS:
            return None
        return self.emit("stablehlo.dot_general", [z, z], (z.shape[0], z.shape[0]), "c64",
                         dot_numbers([], [], [1], [1]), bound=2 * z.bound**2 * max(1, z.shape[1]))  # fmt: skip

    def complex_outer(self, z):
        n = self.rng.choice(self.extents)
        return self.broadcast(z, (*z.shape, n), range(z.rank)) if z.rank < 3 and z.elements * n <= MOST_ELEMENTS else None

    def transform(self):
        """Real numbers there and back, along one or two dimensions."""
        v = self.pick(lambda v: v.rank > 0 and v.dtype == "f32" and not v.special and v.shape[-1] > 1)
        if v is None:
            return None
        v, dims = self.tamed(v, 4), self.rng.randint(1, min(2, v.rank))
        length, n = v.shape[-dims:], math.prod(v.shape[-dims:])
        kind = lambda name: f"fft_length = {i64s(length)}, fft_type = #stablehlo<fft_type {name}>"  # noqa: E731
        shape = (*v.shape[:-1], v.shape[-1] // 2 + 1)
        f = self.emit("stablehlo.fft", [v], shape, "c64", kind("RFFT"), bound=v.bound * n)
        if self.rng.random() < 0.5:
            return self.like(f, "stablehlo.abs", dtype="f32", bound=f.bound)
        f = self.like(f, "stablehlo.multiply", f, bound=f.bound**2)
        return self.emit("stablehlo.fft", [f], v.shape, "f32", kind("IRFFT"), bound=f.bound, noise=1e-6)


class Places:
    """Gathers and scatters of windows, by several numbers each, with dimensions in common."""

    def places(self, extents):
        shape = tuple(e for e in extents)
        v = self.pick(lambda v: v.dtype in ("i32", "i64") and v.shape == shape)
        return v or self.argument(shape, "i32")

    def window_gather(self):
        v = self.pick(lambda v: v.rank > 1 and v.dtype != "c64" and v.elements)
        if v is None:
            return None
        dims = self.rng.sample(range(v.rank), self.rng.randint(1, v.rank))
        batch, named = [], dims
        if len(dims) > 1 and self.rng.random() < 0.5:
            batch, named = dims[:1], dims[1:]
        sizes = [1 if d in batch else s if d not in named else self.rng.randint(1, s) for d, s in enumerate(v.shape)]
        collapsed = sorted(d for d in named if sizes[d] == 1 and self.rng.random() < 0.7)
        rows = [v.shape[b] for b in batch] + [self.rng.choice(self.extents) for _ in range(self.rng.randint(0, 2))]
        at = self.rng.randint(0, len(rows))
        kept = [d for d in range(v.rank) if d not in collapsed and d not in batch]
        rank = len(rows) + len(kept)
        offset = sorted(self.rng.sample(range(rank), len(kept)))
        windows, left = iter([sizes[d] for d in kept]), iter(rows)
        shape = [next(windows) if i in offset else next(left) for i in range(rank)]
        if math.prod(shape) > MOST_ELEMENTS or rank > 5:
            return None
        index = self.places((*rows[:at], len(named), *rows[at:]))
        numbers = dict(offset_dims=ints(offset), collapsed_slice_dims=ints(collapsed))
        if batch:  # rows[0], before or behind the dimension of numbers
            numbers |= dict(operand_batching_dims=ints(batch), start_indices_batching_dims=ints([int(at == 0)]))
        numbers |= dict(start_index_map=ints(named), index_vector_dim=at)
        attributes = listed(dimension_numbers=f"#stablehlo.gather<{listed(**numbers)}>", slice_sizes=i64s(sizes))
        return self.emit("stablehlo.gather", [v, index], shape, v.dtype, attributes, v.grid, v.bound, noise=v.noise)

    def window_scatter(self):
        """The other way: windows added, multiplied, or the smallest kept."""
        v = self.pick(lambda v: v.rank > 1 and (v.is_int() or v.dtype in ("f32", "f64")) and v.elements and not v.special)
        if v is None:
            return None
        dims = self.rng.sample(range(v.rank), self.rng.randint(1, v.rank))
        batch, named = (dims[:1], dims[1:]) if len(dims) > 1 and self.rng.random() < 0.5 else ([], dims)
        rows = [v.shape[b] for b in batch] + [self.rng.choice(self.extents) for _ in range(self.rng.randint(0, 1))]
        inserted = sorted(d for d in named if self.rng.random() < 0.5)
        window = [d for d in range(v.rank) if d not in inserted and d not in batch]
        sizes = [self.rng.randint(1, v.shape[d]) if d in named else v.shape[d] for d in window]
        rank = len(rows) + len(window)
        at = sorted(self.rng.sample(range(rank), len(window)))
        sized, left = iter(sizes), iter(rows)
        shape = tuple(next(sized) if i in at else next(left) for i in range(rank))
        n = math.prod(shape)
        if n > MOST_ELEMENTS or rank > 5:
            return None
        u = self.pick(lambda o: o.dtype == v.dtype and o.shape == shape and not o.special) or self.argument(shape, v.dtype)
        if u.special:
            return None
        index = self.places((*rows, len(named)))
        kind = self.rng.choice(["add", "minimum"] + ["multiply"] * v.is_int())
        numbers = dict(update_window_dims=ints(at), inserted_window_dims=ints(inserted))
        if batch:
            numbers |= dict(input_batching_dims=ints(batch), scatter_indices_batching_dims=[0])
        numbers |= dict(scatter_dims_to_operand_dims=ints(named), index_vector_dim=len(rows))
        times = math.ceil(math.log2(math.prod(rows) + 1)) if kind == "add" else 0
        grid = v.grid and u.grid and (max(u.grid[0], v.grid[0]) + times, min(u.grid[1], v.grid[1]))
        attributes = f"scatter_dimension_numbers = #stablehlo.scatter<{listed(**numbers)}>"
        return self.emit("stablehlo.scatter", [v, index, u], v.shape, v.dtype, attributes, grid,
                         v.bound + math.prod(rows) * u.bound, region=self.body(v.dtype, (kind, "", [0, 1], None)))  # fmt: skip


class Windows:
    def window_of(self, v):
        size = [self.rng.randint(1, min(3, s)) if s else 1 for s in v.shape]
        stride, base, apart = ([self.rng.choice([1, 1, 1, 2]) for _ in v.shape] for _ in range(3))
        pad = [[self.rng.randint(0, n - 1), self.rng.randint(0, n - 1)] for n in size]
        return size, stride, base, apart, pad

    def wide_window(self):
        """With strides, holes in the windows and between the elements, padding."""
        v = self.pick(lambda v: v.rank > 0 and (v.is_float() or v.is_int()) and v.elements and not v.special)
        if v is None:
            return None
        size, stride, base, apart, pad = self.window_of(v)
        kind, n = self.rng.choice(["add", "maximum", "minimum"]), math.prod(size)
        shape = [((s - 1) * b + 1 + sum(p) - (w - 1) * a - 1) // t + 1 if (w - 1) * a < (s - 1) * b + 1 + sum(p) else 0
                 for s, w, t, b, a, p in zip(v.shape, size, stride, base, apart, pad)]  # fmt: skip
        if min(shape) < 1 or math.prod(shape) > MOST_ELEMENTS:
            return None
        init = self.splat(0 if kind == "add" or v.is_float() else self.extreme(v.dtype, kind == "maximum"), v.dtype)
        grid = v.grid and (max(v.grid[0], 0) + math.ceil(math.log2(n)), min(v.grid[1], 0))
        attributes = listed(
            base_dilations=i64s(base), padding=f"dense<{pad}> : tensor<{v.rank}x2xi64>", window_dilations=i64s(apart),
            window_dimensions=i64s(size), window_strides=i64s(stride),
        )  # fmt: skip
        return self.emit("stablehlo.reduce_window", [v, init], shape, v.dtype, attributes, grid, v.bound * n,
                         region=self.body(v.dtype, (kind, "", [0, 1], None)))  # fmt: skip

    def pooled_back(self):
        """The gradient of a maximum over windows."""
        v = self.pick(lambda v: v.rank > 0 and v.dtype in ("f32", "f64", "i32") and v.is_exact() and v.elements and not v.special)
        if v is None:
            return None
        size, stride, _, _, pad = self.window_of(v)
        shape = tuple((s + sum(p) - w) // t + 1 for s, w, t, p in zip(v.shape, size, stride, pad))
        if min(shape) < 1:
            return None
        u = self.pick(lambda o: o.dtype == v.dtype and o.shape == shape and not o.special and o.is_exact())
        u = u or self.argument(shape, v.dtype)
        if u.special:
            return None
        zero, n = self.splat(0, v.dtype), math.prod(size)
        grid = u.grid and (u.grid[0] + math.ceil(math.log2(n + 1)), u.grid[1])
        attributes = listed(padding=f"dense<{pad}> : tensor<{v.rank}x2xi64>", window_dimensions=i64s(size), window_strides=i64s(stride))
        select = self.body(v.dtype, ("compare", direction("GE"), [0, 1], "i1"))
        return self.emit("stablehlo.select_and_scatter", [v, u, zero], v.shape, v.dtype, attributes, grid, u.bound * n,
                         region=f"{select}, {self.body(v.dtype, ('add', '', [0, 1], None))}")  # fmt: skip


class Ordered:
    def keyed_sort(self):
        """By one key, where that is equal by the position: no two are equal, so any sort will do."""
        v = self.pick(lambda v: v.rank > 0 and (v.is_int() or v.dtype == "i1"))
        if v is None:
            return None
        dim = self.rng.randrange(v.rank)
        operands = [v, self.iota(v.shape, "i32", dim)]
        operands += [w for w in [self.pick(lambda o: o.shape == v.shape and o.dtype != "c64")] if w]
        dtypes = [t for o in operands for t in (o.dtype, o.dtype)]
        name, n = self.rng.choice(["LT", "GT"]), len(dtypes)
        ops = [
            ("compare", direction(name), [0, 1], "i1"), ("compare", direction("EQ"), [0, 1], "i1"),
            ("compare", direction(self.rng.choice(["LT", "GT"])), [2, 3], "i1"), ("and", "", [n + 1, n + 2], None),
            ("or", "", [n, n + 3], None),
        ]  # fmt: skip
        results = [dataclasses.replace(o, name=self.name()) for o in operands]
        stable = self.rng.choice(["true", "false"])
        self.append("stablehlo.sort", operands, results, f"dimension = {dim} : i64, is_stable = {stable}", self.body(dtypes, *ops))
        return self.rng.choice(results)

    def solved(self):
        """Triangular systems by all flags; Cholesky factors of either half."""
        x = self.pick(lambda v: v.rank in (2, 3) and v.dtype in ("f32", "f64") and not v.special and 1 < v.shape[-2] <= 13)
        if x is None or x.elements * x.shape[-2] > MOST_ELEMENTS or not x.elements:
            return None
        a = self.definite(x)
        if self.rng.random() < 0.3:
            return self.like(a, "stablehlo.cholesky", attributes=f"lower = {self.rng.choice(['true', 'false'])}", bound=a.bound**0.5)
        unit, left = self.rng.random() < 0.3, self.rng.random() < 0.5
        a = self.tamed(a, 0.25) if unit else a
        columns = self.rng.choice(self.extents)
        shape = a.shape[:-1] + (columns,) if left else a.shape[:-2] + (columns, a.shape[-1])
        b = self.pick(lambda v: v.dtype == a.dtype and not v.special and v.shape == shape) or self.argument(shape, a.dtype)
        if b.special:
            return None
        b = self.tamed(b, 16)
        attributes = listed(
            left_side=str(left).lower(), lower=self.rng.choice(["true", "false"]),
            transpose_a=f"#stablehlo<transpose {self.rng.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}>",
            unit_diagonal=str(unit).lower(),
        )  # fmt: skip
        return self.emit("stablehlo.triangular_solve", [a, b], b.shape, b.dtype, attributes, None, b.bound * 16)


class HandedAround:
    def turning_loop(self):
        """Three values of one type change places each trip; one of them is changed. A truth value flips."""
        if self.depth > 1:
            return None
        v = self.pick(lambda v: v.is_int() or v.dtype in ("f32", "f64") and not v.special, 300)
        if v is None:
            return None
        others = [self.pick(lambda o: o.type == v.type and not o.special) for _ in range(2)]
        carried = [self.splat(0, "i32"), v, *others, self.splat(self.rng.randint(0, 1), "i1")]
        bound, noise = max(8.0, *(c.bound for c in carried[1:4])), max(NOISE.get(v.dtype, 0), *(c.noise for c in carried[1:4]))
        own = [dataclasses.replace(c, name=self.name(), grid=None, noise=noise if c.is_float() else 0,
                                   bound=bound if c.is_float() else 0) for c in carried]  # fmt: skip
        trips = self.rng.randint(0, 5)
        condition = lambda: [self.like(own[0], "stablehlo.compare", self.splat(trips, "i32"), dtype="i1", attributes=direction("LT"))]  # noqa: E731

        def body():
            a, b, c = own[1:4]
            made = self.like(self.select_by(own[4], a, b), "stablehlo.maximum", c, bound=bound)
            if v.rank and self.rng.random() < 0.5:
                made = self.like(made, "stablehlo.reverse", attributes=f"dimensions = {i64s([self.rng.randrange(v.rank)])}",
                                 bound=bound, noise=noise)  # fmt: skip
            return [self.like(own[0], "stablehlo.add", self.splat(1, "i32")), b, made, a, self.like(own[4], "stablehlo.not")]

        first, captured, _ = self.inside(own, condition)
        second, more, _ = self.inside(own, body)
        results = [dataclasses.replace(o, name=self.name()) for o in own]
        self.append("stablehlo.while", carried, results, "", f"{first}, {second}", captured + more)
        return self.rng.choice(results[1:4])

    def select_by(self, p, a, b):
        return self.emit("stablehlo.select", [p, a, b], a.shape, a.dtype, bound=max(a.bound, b.bound), noise=max(a.noise, b.noise))

    def two_ways(self):
        """An if whose branches return what they read, in other places."""
        v = self.pick(lambda v: v.dtype != "c64")
        if v is None or self.depth > 1:
            return None
        w = self.partner(v)
        p = self.pick(lambda v: v.dtype == "i1" and v.rank == 0) or self.argument((), "i1")
        (one, a, _), (two, b, _) = self.inside([], lambda: [v, w]), self.inside([], lambda: [w, w])
        results = [self.either(v, [v, w]), self.either(v, [w, w])]
        self.append("stablehlo.if", [p], results, "", f"{one}, {two}", a + b)
        return results[0]


class Roles(Graph, Numbers, Complex, Places, Windows, Ordered, HandedAround):
    RARE = (
        "smooth whole finite angle coarser clamped_rows bits bits complex_chain complex_chain complex_chain transform"
        " window_gather window_gather window_gather window_scatter window_scatter wide_window wide_window pooled_back"
        " keyed_sort keyed_sort solved turning_loop turning_loop two_ways padded_truth narrow_dot apart_again"
    ).split()
    STEPS = Graph.STEPS + 2 * RARE
    KERNELS = True

    def padded_truth(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype == "i1")
        return v and self.padded(v, [1] * v.rank, [0] * v.rank, [self.rng.randint(0, 1)] * v.rank, self.rng.randint(0, 1))

    def apart_again(self, _=None):
        """Two dimensions merged, in some order, ops along what they make, and apart again: mostly as they were."""
        ranks = self.rng.choice([[2], [3, 4], [3, 4]])
        v = self.pick(lambda v: v.rank in ranks and v.is_float() and not v.special and v.elements > 8)
        v = self.transpose(v or self.argument(self.rng.choices(range(2, 8), k=3), self.rng.choice(["f32", "f64"])))
        dim = self.rng.randrange(v.rank - 1)
        parts = list(v.shape[dim : dim + 2])
        merged = self.reshape_to(v, (*v.shape[:dim], parts[0] * parts[1], *v.shape[dim + 2 :]))
        for _ in range(self.rng.randint(1, 3)):
            ways = 2 * ["function", "product", "gram", "turned"] + ["partner", "written"]
            way, other = self.rng.choice(ways), self.rng.randrange(merged.rank)
            if way == "function":
                merged = self.unary_float(merged)
            elif way == "partner":
                merged = self.combine(merged, self.partner(merged))
            elif way == "written":
                part = self.argument([self.rng.randint(1, n) for n in merged.shape], merged.dtype)
                merged = self.written(merged, part)
            elif way == "turned":
                perm = self.rng.sample(range(merged.rank), merged.rank)
                merged, dim = self.transpose(merged, perm), perm.index(dim)
            elif way == "gram" and other != dim:
                merged, dim = self.gram(merged, dim, other)
            elif other != dim:
                w = self.argument((self.rng.choice(self.extents), merged.shape[other]), merged.dtype)
                made = self.dot(w, merged, [(1, other)])
                if made is not None:
                    merged, dim = made, 1 + dim - (other < dim)
        if self.rng.random() < 0.1:
            parts.reverse()
        return self.reshape_to(merged, (*merged.shape[:dim], *parts, *merged.shape[dim + 1 :]))

    def gram(self, v, dim, other):
        """v times itself, one of the two perhaps turned, summed over the dimension `other`; where `dim` is then."""
        perm = self.rng.choice([list(range(v.rank)), self.rng.sample(range(v.rank), v.rank)])
        turned = v if perm == sorted(perm) else self.transpose(v, perm)
        at, is_left = dim - (other < dim), self.rng.random() < 0.5
        if is_left:
            made = self.dot(v, turned, [(other, perm.index(other))])
        else:
            made = self.dot(turned, v, [(perm.index(other), other)])
        return (made, at if is_left else v.rank - 1 + at) if made else (v, dim)

    def narrow_dot(self):
        """Of integers whose sums wrap."""
        a = self.pick(lambda v: v.rank == 2 and v.dtype in ("i16", "i64", "ui8", "ui32", "ui64"))
        if a is None or a.shape[0] ** 2 > MOST_ELEMENTS:
            return None
        return self.emit("stablehlo.dot_general", [a, a], (a.shape[0], a.shape[0]), a.dtype, dot_numbers([], [], [1], [1]))

    def finish(self):
        super().finish()
        if self.rng.random() < 0.3:
            self.outputs.append(self.rng.choice(self.outputs))
        if self.rng.random() < 0.3:
            self.outputs.append(self.rng.choice(self.arguments))


class Apart(Roles):
    """With dimensions that are merged and taken apart again, which somebody reads."""

    def finish(self):
        super().finish()
        self.outputs += [v for v in map(self.apart_again, range(8)) if v]


class Empty(Roles):
    """With dimensions of no elements."""

    def step(self):
        if 0 not in self.extents:
            self.extents.append(0)
        for _ in range(20):
            ops, values, depth, scopes = list(self.ops), list(self.values), self.depth, self.scopes
            try:
                if getattr(self, self.rng.choice(self.STEPS))() is not None:
                    return
            except (ValueError, ZeroDivisionError, IndexError):  # of lengths of which there must be one
                self.ops, self.values, self.depth, self.scopes = ops, values, depth, scopes
