"""Random StableHLO programs, as text: what splitting has to cope with, in small.

A graph grows op by op from arguments of a few extents: outer products of small values, dots,
reductions of every kind, softmax-like chains, reshapes, loops and branches.
"""

import dataclasses
import math
import random
import re

from random_ops import Contractions, Elementwise, Indexing, Moves, Orders, gather_attributes
from random_values import (
    EXTENTS,
    MANTISSA,
    MOST_ELEMENTS,
    NOISE,
    Value,
    direction,
    i64s,
    listed,
    program,
    dot_numbers,
    returning,
)


class LinearAlgebra(Elementwise, Moves, Contractions):
    def definite(self, x):
        """x x^T + n I per batch, well conditioned."""
        x = self.tamed(x, 1)
        batch = list(range(x.rank - 2))
        n = x.shape[-2]
        numbers = dot_numbers(batch, batch, [x.rank - 1], [x.rank - 1])
        shape = x.shape[:-1] + (n,)
        gram = self.emit(
            "stablehlo.dot_general",
            [x, x],
            shape,
            x.dtype,
            numbers,
            None,
            x.shape[-1],
        )
        rows, columns = self.iota(shape, "i32", len(shape) - 2), self.iota(
            shape, "i32", len(shape) - 1
        )
        eye = self.like(rows, "stablehlo.compare", columns, dtype="i1", attributes=direction("EQ"))
        size = 2.0 ** math.ceil(math.log2(2 * x.shape[-1] + 1))
        scaled = self.emit(
            "stablehlo.select",
            [eye, self.splat(size, x.dtype, shape), self.splat(0, x.dtype, shape)],
            shape,
            x.dtype,
            grid=(10, -3),
        )
        return self.like(gram, "stablehlo.add", scaled, bound=size + x.shape[-1])

    def linear_algebra(self):
        x = self.pick(
            lambda v: v.rank in (2, 3)
            and v.dtype in ("f32", "f64")
            and not v.special
            and 1 < v.shape[-2] <= 13
        )
        if x is None or x.elements * x.shape[-2] > MOST_ELEMENTS:
            return None
        a = self.definite(x)
        if self.rng.random() < 0.4:
            return self.like(a, "stablehlo.cholesky", attributes="lower = true", bound=a.bound**0.5)
        left = self.rng.random() < 0.5
        b = self.pick(
            lambda v: v.dtype == a.dtype
            and not v.special
            and v.rank == a.rank
            and v.shape[:-2] == a.shape[:-2]
            and v.shape[-2 if left else -1] == a.shape[-1]
        )
        b = self.tamed(b, 16)
        lower = self.rng.choice(["true", "false"])
        transpose = self.rng.choice(["NO_TRANSPOSE", "TRANSPOSE"])
        attributes = listed(
            left_side=str(left).lower(),
            lower=lower,
            transpose_a=f"#stablehlo<transpose {transpose}>",
            unit_diagonal="false",
        )
        return self.emit(
            "stablehlo.triangular_solve", [a, b], b.shape, b.dtype, attributes, None, b.bound
        )

    def fft(self):
        v = self.pick(lambda v: v.rank > 0 and v.dtype == "f32" and not v.special)
        if v is None:
            return None
        v = self.tamed(v, 16)
        z = self.emit(
            "stablehlo.complex",
            [v, self.tamed(self.partner(v, lambda o: not o.special), 16)],
            v.shape,
            "c64",
            bound=v.bound,
        )
        length = v.shape[-min(v.rank, 1 + v.shape[-1] % 3) :]
        way = "IFFT" if v.shape[0] % 2 else "FFT"
        f = self.like(
            z,
            "stablehlo.fft",
            attributes=f"fft_length = {i64s(length)}, fft_type = #stablehlo<fft_type {way}>",
            bound=v.bound * math.prod(length),
        )
        return self.like(
            f, "stablehlo." + self.rng.choice(["real", "imag"]), dtype="f32", bound=f.bound
        )


class Chains(Elementwise, Moves, Contractions, Indexing):
    def softmax(self):
        v = self.pick(lambda v: v.dtype in ("f32", "f64") and v.rank > 0)
        if v is None:
            return None
        v, dim = self.tamed(v, 8), self.rng.randrange(v.rank)
        kept = [d for d in range(v.rank) if d != dim]
        largest = self.broadcast(self.reduce(v, [dim], "maximum"), v.shape, kept)
        e = self.like(
            self.like(v, "stablehlo.subtract", largest, bound=2 * v.bound),
            "stablehlo.exponential",
            bound=1,
        )
        total = self.reduce(e, [dim], "add")
        if self.rng.random() < 0.3:
            return total
        total = self.broadcast(total, v.shape, kept)
        return self.like(
            e, "stablehlo.divide", self.like(total, "stablehlo.abs", bound=total.bound), bound=1
        )

    def kernel(self):
        """exp(-sum_d (x - y)^2), times a vector, its transpose added, or its own transpose."""
        x = self.pick(lambda v: v.rank == 2 and v.dtype in ("f32", "f64") and not v.special, 150)
        if x is None:
            return None
        y = self.pick(
            lambda v: v.rank == 2
            and v.dtype == x.dtype
            and v.shape[1] == x.shape[1]
            and not v.special
            and v.elements * x.shape[0] <= MOST_ELEMENTS
        )
        if y is None:
            return None
        shape = (x.shape[0], y.shape[0], x.shape[1])
        difference = self.combine(
            self.broadcast(x, shape, [0, 2]), self.broadcast(y, shape, [1, 2]), "subtract"
        )
        d2 = self.reduce(self.combine(difference, difference, "multiply"), [2], "add")
        k = (
            d2
            if self.rng.random() < 0.3
            else self.like(self.tamed(d2, 4), "stablehlo.exponential", bound=55)
        )
        if self.rng.random() < 0.5:
            k = self.twice(k) or k
        return k

    def twice(self, k=None):
        """K + K^T, K K^T: one value at two positions of a factor."""
        k = k or self.pick(lambda v: v.rank == 2 and v.shape[0] == v.shape[1] > 1 and v.is_float())
        if k is None or k.rank != 2:
            return None
        if k.shape[0] == k.shape[1] and self.rng.random() < 0.5:
            return self.combine(k, self.transpose(k, [1, 0]))
        return self.dot(k, k, self.rng.choice([[(0, 0)], [(1, 1)]]))


class Regions(Elementwise, Moves, Indexing):
    scopes = ()

    def inside(self, arguments, make):
        """A region: its arguments, what make() appends, its return.

        Gives (text, captured values, returned values).
        """
        outer = (self.ops, self.values)
        self.scopes = (*self.scopes, outer)
        self.depth += 1
        self.ops, self.values = [], list(self.values) + list(arguments)
        returned = make()
        lines = (
            ["^bb0(" + ", ".join(f"{v.name}: {v.type}" for v in arguments) + "):"]
            if arguments
            else []
        )
        lines += [op.text for op in self.ops]
        lines.append(returning([v.name for v in returned], [v.type for v in returned]))
        own = {v.name for op in self.ops for v in op.results} | {v.name for v in arguments}
        used = [v for op in self.ops for v in op.operands] + returned
        self.scopes, self.depth = self.scopes[:-1], self.depth - 1
        self.ops, self.values = outer
        return "{\n" + "\n".join(lines) + "\n}", [v for v in used if v.name not in own], returned

    def steps(self, n):
        for _ in range(n):
            self.step()

    def shrunk(self, v, to):
        """Anything, as a value like `to`: reduced to a scalar, broadcast; floats within bounds."""
        if v.rank:
            v = self.reduce(v, list(range(v.rank)), "maximum" if v.is_float() else None)
        if v.is_float() and not v.is_exact() or v.is_float() and v.special:
            v = (
                self.convert(self.like(self.tamed(v, 3), "stablehlo.tanh", bound=1), to.dtype)
                if to.is_float()
                else self.splat(1, to.dtype)
            )
        elif v.dtype != to.dtype:
            v = self.convert(v, to.dtype)
        return self.broadcast(v, to.shape, [])

    def loop(self):
        """A while of a few trips: a counter, a carry made anew, and one that is only read."""
        if self.depth > 1:
            return None
        carry = self.pick(lambda v: v.is_int() or v.dtype in ("f32", "f64"), 100)
        if carry is None:
            return None
        fixed = self.pick(lambda v: v.dtype != "c64")
        init = [self.splat(0, "i32"), carry, fixed]
        own = [
            Value(self.name(), (), "i32"),
            dataclasses.replace(
                carry,
                name=self.name(),
                grid=None,
                bound=max(carry.bound, 4.0),
                noise=max(carry.noise, NOISE.get(carry.dtype, 0)),
            ),
            dataclasses.replace(fixed, name=self.name()),
        ]
        if not carry.is_float():
            own[1] = dataclasses.replace(own[1], noise=0.0, bound=0.0)
        trips = self.rng.randint(0, 3)

        def condition():
            return [
                self.like(
                    own[0],
                    "stablehlo.compare",
                    self.splat(trips, "i32"),
                    dtype="i1",
                    attributes=direction("LT"),
                )
            ]

        def body():
            self.steps(self.rng.randint(1, 4))
            made = self.pick(
                lambda v: v.dtype != "c64"
                and not v.special
                and not (v.is_float() and v.dtype in ("f16", "bf16"))
            )
            made = self.shrunk(made, carry) if made else own[1]
            if carry.is_int():
                made = self.like(own[1], "stablehlo.add", made)
            return [self.like(own[0], "stablehlo.add", self.splat(1, "i32")), made, own[2]]

        first, captured, _ = self.inside(own, condition)
        if self.rng.random() < 0.5:  # another name for the condition's arguments
            for v in own:
                first = re.sub(rf"{v.name}\b", f"%c{v.name[1:]}", first)
        second, more, returned = self.inside(own, body)
        noise = max(own[1].noise, returned[1].noise)
        results = [
            Value(self.name(), (), "i32"),
            dataclasses.replace(
                own[1], name=self.name(), noise=noise, special=carry.special or returned[1].special
            ),
            dataclasses.replace(fixed, name=self.name()),
        ]
        self.append("stablehlo.while", init, results, "", f"{first}, {second}", captured + more)
        return results[1]

    def branch(self):
        """case of two or three branches that capture what is there."""
        if self.depth > 1:
            return None
        index, kinds = self.branch_index(), self.branch_kinds()
        if not kinds:
            return None

        def body():
            self.steps(self.rng.randint(1, 3))
            return [self.branch_end(kind) for kind in kinds]

        regions, captured, returned = zip(
            *(self.inside([], body) for _ in range(self.rng.randint(2, 3)))
        )
        results = [self.either(kind, ways) for kind, ways in zip(kinds, zip(*returned))]
        self.append(
            "stablehlo.case",
            [index],
            results,
            "",
            ", ".join(regions),
            [v for c in captured for v in c],
        )
        return results[0]

    def branch_index(self):
        return self.pick(lambda v: v.dtype == "i32" and v.rank == 0) or self.splat(
            self.rng.randint(-1, 3), "i32"
        )

    def branch_kinds(self):
        """Values whose types the results have."""
        to = self.pick(lambda v: v.is_int() or v.dtype in ("f32", "f64"))
        return [to] if to else []

    def branch_end(self, kind):
        return self.pick(lambda v: v.type == kind.type)

    def either(self, to, ways):
        grid = (
            (max(r.grid[0] for r in ways), min(r.grid[1] for r in ways))
            if all(r.grid for r in ways)
            else None
        )
        return Value(
            self.name(),
            to.shape,
            to.dtype,
            grid if not grid or grid[0] - grid[1] <= MANTISSA.get(to.dtype, 99) else None,
            max(r.bound for r in ways),
            max(max(r.noise for r in ways), 0 if grid else NOISE.get(to.dtype, 0)),
            any(r.special for r in ways),
        )


class Graph(LinearAlgebra, Chains, Regions, Orders):
    """`text()` is the program, `inputs()` its arguments, `outputs` the values that it returns."""

    def __init__(self, seed, steps=None):
        self.seed, self.rng, self.count = seed, random.Random(seed), 0
        self.arguments, self.ops, self.values, self.outputs = [], [], [], []
        self.depth = 0
        self.extents = [self.rng.choice(EXTENTS) for _ in range(self.rng.randint(2, 4))]
        self.specials = self.rng.random() < 0.1
        self.main_dtype = self.rng.choice(["f32"] * 6 + ["f64"] * 3 + ["bf16", "f16", "i32"])
        for _ in range(self.rng.randint(2, 4)):
            self.argument(self.shape(self.rng.randint(1, 3), 400), self.dtype())
        for _ in range(steps or self.rng.randint(3, 14)):
            self.step()
        self.finish()

    SPELLED = False  # whether weir gets it in other spellings
    KERNELS = False  # whether loops are tried as kernels, too

    # ---- a whole program ----
    STEPS = (
        ["outer"] * 6
        + ["unary"] * 4
        + ["binary"] * 8
        + ["dot"] * 6
        + ["reduce"] * 6
        + ["kernel"] * 3
        + ["softmax"] * 3
        + ["reshape"] * 4
        + ["transpose"] * 2
        + ["arg_extreme"] * 2
        + ["top_k"] * 2
        + ["spread"] * 2
        + ["product_chain"] * 3
        + ["sorted_end"] * 3
        + [
            "compare",
            "select",
            "select",
            "clamp",
            "convert",
            "convert",
            "iota",
            "pad",
            "slice",
            "reverse",
            "concatenate",
            "dynamic_slice",
            "dynamic_update_slice",
            "barrier",
            "convolution",
            "sum_and_max",
            "window",
            "sort",
            "gather",
            "gather",
            "take_along",
            "scatter",
            "scatter",
            "linear_algebra",
            "fft",
            "twice",
            "loop",
            "branch",
        ]
    )

    def step(self):
        for _ in range(20):
            if getattr(self, self.rng.choice(self.STEPS))() is not None:
                return

    def finish(self):
        """Returns what nobody reads: large values mostly reduced; at times one that is read."""
        used = {o.name for op in self.ops for o in op.operands}
        leaves = [
            v
            for op in self.ops
            for v in op.results
            if v.name not in used
            and v in self.values
            and v.dtype != "c64"
            and not op.text.split(" = ")[1].startswith('"stablehlo.constant')
        ]
        for v in self.rng.sample(leaves, min(len(leaves), 8)):
            if v.elements > 64 and self.rng.random() < 0.75:
                v = self.reduce(v)
            self.outputs.append(v)
        if self.rng.random() < 0.3:
            self.outputs.append(self.pick(lambda v: v.dtype != "c64"))
        if not self.outputs:
            self.outputs.append(self.values[-1])

    def inputs(self):
        return [self.data(v) for v in self.arguments]

    def text(self):
        return program(self.ops, self.arguments, self.outputs)


class Branches(Graph):
    """Graphs with several cases on one or two predicates, each with several results."""

    STEPS = Graph.STEPS + ["branch"] * 16

    def branch_index(self):
        predicates = [v for v in self.arguments if v.dtype == "i1" and v.rank == 0]
        if len(predicates) < 2 and self.rng.random() < 0.5 or not predicates:
            predicates.append(self.argument((), "i1"))
        return self.convert(self.rng.choice(predicates), "i32")

    def branch_kinds(self):
        kinds = [self.pick(lambda v: v.is_int() or v.dtype in ("f32", "f64")) for _ in range(3)]
        return [v for v in kinds if v][: self.rng.randint(1, 3)]

    def branch_end(self, kind):
        """Also what was there, and broadcasts: of a number, of some dimensions, of what was there."""
        way = self.rng.random()
        if way < 0.2:
            return kind
        like = self.pick(lambda v: v.dtype == kind.dtype and v.rank)
        if way < 0.4 and kind.rank and like:
            dim = self.rng.randrange(kind.rank)
            row = self.shrunk(like, dataclasses.replace(kind, shape=(kind.shape[dim],)))
            return self.broadcast(self.choose(row), kind.shape, [dim])
        if way < 0.6 and like:
            return self.shrunk(like, kind)
        return super().branch_end(kind)

    def choose(self, row):
        """The row, or what an op makes of it."""
        if not row.is_float() or self.rng.random() < 0.5:
            return row
        return self.like(row, "stablehlo.negate", bound=row.bound)


class Windows(Graph):
    """Graphs with prefix sums, and convolutions of every role."""

    STEPS = Graph.STEPS + ["prefix"] * 14 + ["any_convolution"] * 8


class Regrouped(Graph):
    """Graphs with rows of one length read as rows of another, and sums along these in a wider type."""

    STEPS = Graph.STEPS + ["regrouped_sum"] * 16 + ["outer"] * 6
    KERNELS = True
    WIDER = {"f16": "f32", "bf16": "f32", "f32": "f64", "i8": "i32", "ui8": "ui32", "i16": "i64", "i32": "i64"}

    def regrouped_sum(self):
        """Converted before they are regrouped or behind; the sum as it is or in the type of the rows."""
        v = self.pick(lambda v: (v.is_float() or v.is_int()) and v.rank > 1 and v.elements > 30 and not v.special)
        if v and v.is_float() and self.rng.random() < 0.5:
            v = self.convert(v, self.rng.choice(["bf16", "bf16", "f16"]))
        rows = v and v.dtype in self.WIDER and self.rows_of_another_length(v)
        if not rows:
            return None
        own, wide, is_first = v.dtype, self.WIDER[v.dtype], self.rng.random() < 0.5
        v = self.reshape_to(self.convert(v, wide) if is_first else v, rows)
        v = v if is_first else self.convert(v, wide)
        if self.rng.random() < 0.3:
            v = self.combine(v, v, "multiply")
        dim = v.rank - self.rng.choice([1, 1, 1, 1, 2])
        total = self.reduce(v, [dim], "add")
        return total if total.is_int() or self.rng.random() < 0.5 else self.convert(total, own)

    def rows_of_another_length(self, v):
        """A shape; None: each length divides the old one, or is a multiple of it."""
        old, n = v.shape[-1], v.elements
        lengths = [k for k in range(2, n) if n % k == 0 and k % old and old % k]
        if not lengths:
            return None
        length = self.rng.choice(lengths)
        batch = self.rng.choice([b for b in (1, 1, *v.shape[:-1]) if n // length % b == 0])
        return [batch] * (batch > 1) + [n // length // batch, length]

    def finish(self):
        for _ in range(4):
            self.regrouped_sum()
        super().finish()


class Spelled(Graph):
    """Graphs for respelling.py, with what has no other spelling: random bits, sums of diagonals."""

    STEPS = Graph.STEPS + ["random_bits"] * 6 + ["summed"] * 8 + ["selected"] * 4 + ["mapped"] * 4 + ["flat"] * 6
    SPELLED = True

    def random_bits(self):
        """Of which the lower few are looked at, or all; the state goes on."""
        algorithm, words = self.rng.choice([("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2), ("THREE_FRY", 2)])
        states = [v for v in self.values if v.dtype == "ui64" and v.shape == (words,)]
        state = self.rng.choice(states) if states else self.argument((words,), "ui64")
        shape = self.shape(self.rng.randint(1, 3))
        results = [
            dataclasses.replace(state, name=self.name()),
            Value(self.name(), shape, self.rng.choice(["ui32", "ui32", "ui64"])),
        ]
        attributes = f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"
        self.append("stablehlo.rng_bit_generator", [state], results, attributes)
        v = results[1]
        return v if self.rng.random() < 0.3 else self.convert(v, self.rng.choice(["f32", "f64", "i32"]))

    def summed(self):
        """einsum of any labels: shared, contracted, own, twice in one operand."""
        fits = lambda v: 0 < v.rank < 4 and v.dtype in ("f32", "f64", "i32", "f16", "bf16")  # noqa: E731
        a = self.pick(lambda v: fits(v) and not v.special)
        b = a and self.pick(lambda v: fits(v) and v.dtype == a.dtype and not v.special)
        if b is None:
            return None
        a, b = self.tamed(a, 2), self.tamed(b, 2)
        sizes, sides = {}, []
        for v in (a, b):
            labels = ""
            for n in v.shape:
                fitting = [x for x in sizes if sizes[x] == n]
                is_new = not fitting or self.rng.random() < 0.4
                label = "abcdefgh"[len(sizes)] if is_new else self.rng.choice(fitting)
                sizes[label] = n
                labels += label
            sides.append(labels)
        out = "".join(self.rng.sample(sorted(sizes), self.rng.randint(0, len(sizes))))
        shape = [sizes[x] for x in out]
        terms = math.prod(n for x, n in sizes.items() if x not in out)
        if math.prod(shape) > MOST_ELEMENTS or terms > MOST_ELEMENTS:
            return None
        grid = a.grid and b.grid and (
            a.grid[0] + b.grid[0] + math.ceil(math.log2(max(terms, 2))), a.grid[1] + b.grid[1]
        )  # fmt: skip
        config = f'einsum_config = "{",".join(sides)}->{out}"'
        return self.emit("stablehlo.einsum", [a, b], shape, a.dtype, config, grid, a.bound * b.bound * terms)

    def selected(self):
        """torch_index_select along any dimension, with dimensions in common in front."""
        at = self.pick(lambda v: v.dtype == "i32" and v.rank < 3, 200)
        x = at and self.pick(lambda v: v.rank > 0 and v.dtype != "c64")
        if x is None:
            return None
        batches = [b for b in range(min(at.rank, x.rank - 1) + 1) if at.shape[:b] == x.shape[:b]]
        batch = self.rng.choice(batches)
        dim = self.rng.randrange(batch, x.rank)
        shape = x.shape[:dim] + at.shape[batch:] + x.shape[dim + 1 :]
        if math.prod(shape) > MOST_ELEMENTS or len(shape) > 5:
            return None
        attributes = f"batch_dims = {batch} : i64, dim = {dim} : i64"
        return self.emit("stablehlo.torch_index_select", [x, at], shape, x.dtype, attributes, x.grid, x.bound,
                         noise=x.noise)  # fmt: skip

    def flat(self):
        """By one index of what is flattened, some out of range: read, or added to and made tall again."""
        v = self.pick(lambda v: v.rank > 1 and (v.is_int() or v.is_float()) and v.elements > 8)
        if v is None:
            return None
        flat, at = self.reshape_to(v, (v.elements,)), self.indices(self.rng.choice(self.extents))
        n = at.shape[0]
        if self.rng.random() < 0.5:
            lists = dict(collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1)
            return self.emit("stablehlo.gather", [flat, at], (n,), v.dtype, gather_attributes(listed(**lists), [1]),
                             v.grid, v.bound, noise=v.noise)  # fmt: skip
        u = self.pick(lambda o: o.dtype == v.dtype and o.elements == n) or self.argument((n,), v.dtype)
        u = self.reshape_to(self.tamed(u, 2), (n,))
        lists = dict(inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1)
        grid = v.grid and u.grid and (max(u.grid[0], v.grid[0]) + math.ceil(math.log2(n + 1)), min(u.grid[1], v.grid[1]))
        numbers = f"scatter_dimension_numbers = #stablehlo.scatter<{listed(**lists)}>"
        made = self.emit("stablehlo.scatter", [flat, at, u], flat.shape, v.dtype, numbers, grid, v.bound + n * u.bound,
                         region=self.body(v.dtype, ("add", "", [0, 1], None)))  # fmt: skip
        return self.reshape_to(made, v.shape)

    def mapped(self):
        """A body of several ops, of which some depend on one operand or on none."""
        v = self.pick(lambda v: v.rank > 0 and v.is_float() and v.grid)
        if v is None:
            return None
        w = self.partner(v, lambda o: o.grid)
        one = f"value = dense<1.0> : tensor<{v.dtype}>"
        ops = [
            ("constant", one, [], v.dtype),
            ("abs", "", [0], None),
            ("minimum", "", [self.rng.choice([1, 3]), 2], None),
            ("compare", direction(self.rng.choice(["LT", "GE"])), [self.rng.randrange(5), 4], "i1"),
            ("select", "", [5, self.rng.randrange(5), self.rng.randrange(5)], v.dtype),
        ]
        if self.rng.random() < 0.2:
            ops += [("negate", "", [2], None)]  # of the constant alone
        grid = (max(v.grid[0], w.grid[0], 0), min(v.grid[1], w.grid[1], 0))
        attributes = f"dimensions = {i64s(range(v.rank))}"
        return self.emit("stablehlo.map", [v, w], v.shape, v.dtype, attributes, grid, max(v.bound, w.bound, 1),
                         region=self.body(v.dtype, *ops))  # fmt: skip


class Cuts(Graph):
    """Graphs of which parts are read: slices without gaps, zeros around what is made of them."""

    STEPS = Graph.STEPS + ["cut"] * 14 + ["surround"] * 8 + ["dot"] * 6

    def last(self):
        """What was made last, read by nobody yet; None if it can't be cut."""
        v = self.ops[-1].results[0] if self.ops else None
        return v if v and v in self.values and v.elements > 1 and v.dtype != "c64" else None

    def cut(self):
        """The rest of it stays unread."""
        v = self.last()
        if v is None:
            return None
        self.values.remove(v)
        start, limit = [0] * v.rank, list(v.shape)
        for d in self.rng.sample(range(v.rank), self.rng.randint(1, v.rank)):
            start[d] = self.rng.randrange(v.shape[d])
            limit[d] = self.rng.randint(start[d] + 1, v.shape[d])
        return self.sliced(v, start, limit, [1] * v.rank)

    def surround(self):
        v = self.last()
        if v is None or v.dtype == "i1":
            return None
        low, high = ([self.rng.choice([0, 0, 1, 2]) for _ in v.shape] for _ in range(2))
        return self.padded(v, low, high, [0] * v.rank, 0)


def layouts(values):
    """As JAX writes them: matrices by columns."""
    orders = []
    for v in values:
        order = list(range(v.rank))[::-1]
        if v.rank > 1 and v.rank == max(o.rank for o in values):
            order[:2] = order[1::-1]
        text = "> : tensor<0xindex>" if not order else f"{order}> : tensor<{v.rank}xindex>"
        orders.append("dense<" + text)
    return f"[{', '.join(orders)}]"


class Matrices(Graph):
    """Graphs with LAPACK's routines as custom calls, one matrix or batches of them.

    Of what a routine returns only what is continuous can be read: no eigenvectors. Matrices are
    dominated by their diagonals, so that no two of pivots or signs are close.
    """

    STEPS = Graph.STEPS + ["lapack"] * 14 + ["outer"] * 6

    def square(self):
        x = self.pick(
            lambda v: 2 <= v.rank <= 4
            and v.dtype in ("f32", "f64")
            and not v.special
            and 1 < v.shape[-2] <= 13
        )
        return None if x is None or x.elements * x.shape[-2] > MOST_ELEMENTS else self.definite(x)

    def lapack(self):
        a = self.square()
        if a is None:
            return None
        return getattr(self, self.rng.choice(["potrf", "getrf", "orgqr", "syevd", "gesdd", "trsm", "gtsv"]))(a)

    def routine(self, name, operands, results, kept, **config):
        """The call; `kept` of its results can be read. Gives one of these."""
        config = ", ".join(f"{k} = {ord(v)} : ui8" for k, v in config.items())
        attributes = (
            f'call_target_name = "lapack_{"d" if operands[0].dtype == "f64" else "s"}{name}_ffi", '
            f"operand_layouts = {layouts(operands)}, result_layouts = {layouts(results)}, "
        )
        jax = 'backend_config = ""', f"mhlo.backend_config = {{{config}}}"
        typed = f"backend_config = {{{config}}}, api_version = 4 : i32", ""
        inherent, others = self.rng.choice([jax, typed])
        self.append(
            "stablehlo.custom_call", operands, results, attributes + inherent, discardable=others
        )
        self.values = [v for v in self.values if v not in results or v in kept]
        return self.rng.choice(kept)

    def made(self, like, shape, bound, dtype=None):
        noise = 0.0 if dtype == "i32" else max(NOISE[like.dtype], like.noise)
        return Value(self.name(), tuple(shape), dtype or like.dtype, None, bound, noise, False)

    def info(self, a):
        return self.made(a, a.shape[:-2], 0.0, "i32")

    def potrf(self, a):
        results = [self.made(a, a.shape, a.bound), self.info(a)]
        return self.routine("potrf", [a], results, results, uplo=self.rng.choice("LU"))

    def getrf(self, a):
        results = [self.made(a, a.shape, a.bound), self.made(a, a.shape[:-1], 0.0, "i32"), self.info(a)]
        return self.routine("getrf", [a], results, results)

    def orgqr(self, a):
        results = [self.made(a, a.shape, a.bound * a.shape[-1]), self.made(a, a.shape[:-1], 2.0)]
        some = self.routine("geqrf", [a], results, results)
        if self.rng.random() < 0.4:
            return some
        q = [self.made(a, a.shape, 1.0)]
        return self.routine("orgqr", results, q, q)

    def syevd(self, a):
        values = self.made(a, a.shape[:-1], a.bound * a.shape[-1])
        results = [self.made(a, a.shape, 1.0), values, self.info(a)]
        return self.routine(
            "syevd", [a], results, results[1:], mode=self.rng.choice("NV"), uplo=self.rng.choice("LU")
        )

    def gesdd(self, a):
        values = self.made(a, a.shape[:-1], a.bound * a.shape[-1])
        squares = [self.made(a, a.shape, a.bound) for _ in range(3)]
        results = [squares[0], values, *squares[1:], self.info(a)]
        return self.routine("gesdd", [a], results, [values, results[4]], mode=self.rng.choice("NSA"))

    def right_side(self, a):
        b = self.pick(
            lambda v: v.dtype == a.dtype
            and not v.special
            and v.rank == a.rank
            and v.shape[:-1] == a.shape[:-1]
        )
        return self.tamed(b or a, 16)

    def trsm(self, a):
        b = self.right_side(a)
        x = [self.made(b, b.shape, b.bound)]
        flags = {"diag": "N", "side": "L", "trans_x": self.rng.choice("NT"), "uplo": self.rng.choice("LU")}
        return self.routine("trsm", [a, b], x, x, **flags)

    def gtsv(self, a):
        """Of the diagonals of a matrix: its rows' largest, and small ones beside them."""
        b = self.right_side(a)
        main = self.reduce(a, [a.rank - 1], "maximum")
        beside = self.tamed(main, 1)
        overwritten = [self.made(a, main.shape, a.bound) for _ in range(3)]
        x = self.made(b, b.shape, b.bound)
        results = [*overwritten, x, self.info(a)]
        return self.routine("gtsv", [beside, main, beside, b], results, results[3:])
