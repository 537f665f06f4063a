"""Random programs over one image (a signal, a volume): layers whose windows overlap.

Convolutions of every role with strides, holes, padding and groups; pooling; upsampling; crops, pads
and shifts; sums with what was there before (residuals, U-Nets); a kernel's gradient; reductions. All
images of a program have one layout.
"""

import itertools
import math

from random_graphs import Graph
from random_values import MOST_ELEMENTS, direction, i64s, listed


class Images(Graph):
    STEPS = (
        ["layer"] * 14
        + ["pool"] * 6
        + ["residual"] * 5
        + ["unary"] * 4
        + ["crop"] * 3
        + ["surround"] * 3
        + ["repeat"] * 3
        + ["every_other"] * 2
        + ["shifted_sum"] * 2
        + ["centred"] * 2
        + ["bordered"] * 2
        + ["causal"] * 3
        + ["local"] * 4
        + ["kernel_gradient"] * 3
        + ["selection"] * 4
        + ["joined"] * 2
        + ["stacked"] * 2
        + ["binary"] * 3
        + ["compare", "reduce", "reverse"]
    )

    def __init__(self, seed, steps=None):
        self.n_space = None
        super().__init__(seed, steps)

    def step(self):
        if self.n_space is None:
            self.begin()
        super().step()

    def begin(self):
        """The image; space in any order with batch and features."""
        rng = self.rng
        self.n_space = rng.choice([1, 2, 2, 2, 3])
        self.order = list(range(2, self.n_space + 2))
        for d, at in ((0, rng.choice([0, 0, len(self.order)])), (1, rng.choice([0, 1, 99]))):
            self.order.insert(at, d)
        if self.main_dtype in ("i32", "bf16", "f16"):
            self.main_dtype = rng.choice(["f32", "f64"])
        space = [rng.randint(9, 40 if self.n_space < 3 else 20)]
        space += [rng.randint(2, 7 if self.n_space < 3 else 3) for _ in range(self.n_space - 1)]
        rng.shuffle(space)
        shape = [rng.choice([1, 1, 1, 2]), rng.randint(1, 3), *space]
        self.argument([shape[d] for d in self.order], self.main_dtype)

    def dims(self):
        """Of an image: batch, features, space."""
        return [self.order.index(d) for d in range(self.n_space + 2)]

    def image(self, accept=lambda v: True):
        fits = lambda v: v.rank == self.n_space + 2 and v.is_float() and not v.special  # noqa: E731
        return self.pick(lambda v: fits(v) and v.elements > 1 and accept(v))

    def sizes(self, v):
        return [v.shape[d] for d in self.dims()]

    def shaped(self, batch, features, space):
        sizes = [batch, features, *space]
        return tuple(sizes[d] for d in self.order)

    def label(self, order, names):
        return "[" + ", ".join((*names, *map(str, range(self.n_space)))[d] for d in order) + "]"

    def few(self, *numbers):
        return [self.rng.choice(numbers) for _ in range(self.n_space)]

    def padding_of(self, reach):
        """None, as much as keeps the size, or any."""
        kind = self.rng.choice(["none", "same", "same", "any"])
        if kind == "any":
            return [[self.rng.randint(-1, r), self.rng.randint(0, r)] for r in reach]
        return [[(r - 1) // 2, r // 2] if kind == "same" else [0, 0] for r in reach]

    @staticmethod
    def windows(space, holes, padding, reach, strides):
        return [
            ((s - 1) * h + 1 + sum(p) - r) // st + 1
            for s, h, p, r, st in zip(space, holes, padding, reach, strides)
        ]

    def layer(self):
        """A convolution of an image by a small kernel, as it is or transposed (holes)."""
        v, rng = self.image(), self.rng
        if v is None:
            return None
        batch, features, *space = self.sizes(v)
        groups = rng.choice([g for g in (1, 1, 1, features) if features % g == 0])
        made = groups * rng.randint(1, max(1, 3 // groups))
        taps = [min(t, s) for t, s in zip(self.few(1, 2, 3, 3, 4, 5), space)]
        strides, apart = self.few(1, 1, 1, 2, 3), self.few(1, 1, 1, 2)
        holes = self.few(1, 2, 3) if rng.random() < 0.25 else self.few(1)
        reach = [(t - 1) * a + 1 for t, a in zip(taps, apart)]
        return self.convolved(v, made, groups, taps, strides, apart, holes, self.padding_of(reach))

    def convolved(self, v, made, groups, taps, strides, apart, holes, padding):
        """By a kernel that is an argument, its dimensions in any order, at times reversed."""
        rng = self.rng
        batch, features, *space = self.sizes(v)
        reach = [(t - 1) * a + 1 for t, a in zip(taps, apart)]
        sizes = self.windows(space, holes, padding, reach, strides)
        shape = self.shaped(batch, made, sizes)
        if min(sizes) < 1 or math.prod(shape) > MOST_ELEMENTS:
            return None
        kernel = [made, features // groups, *taps]
        order = rng.sample(range(len(kernel)), len(kernel))
        k = self.argument([kernel[d] for d in order], v.dtype)
        if k.special:
            return None
        v, terms = self.tamed(v, 16), features // groups * math.prod(taps)
        numbers = f"{self.label(self.order, 'bf')}x{self.label(order, 'oi')}->" + self.label(
            self.order, "bf"
        )
        reverse = ", ".join(rng.choice(["false", "false", "true"]) for _ in taps)
        attributes = listed(
            batch_group_count="1 : i64",
            dimension_numbers=f"#stablehlo.conv<{numbers}>",
            feature_group_count=f"{groups} : i64",
            lhs_dilation=i64s(holes),
            padding=f"dense<{padding}> : tensor<{len(taps)}x2xi64>",
            rhs_dilation=i64s(apart),
            window_reversal=f"array<i1: {reverse}>",
            window_strides=i64s(strides),
        )
        return self.emit(
            "stablehlo.convolution",
            [v, k],
            shape,
            v.dtype,
            attributes,
            self.summed(v.grid and (v.grid[0] + 1, v.grid[1] - 2), terms),
            v.bound * 2 * terms,
        )

    def causal(self):
        """Layers whose windows all end, or all begin, where they stand; each is added to what it
        reads, as in a WaveNet and its gradient.
        """
        v = self.image()
        ends = self.rng.random() < 0.5
        for apart in (1, 2, 1, 3)[: self.rng.randint(1, 4)]:
            if v is None:
                return None
            features, taps = self.sizes(v)[1], self.few(1, 2, 3)
            reach = [(t - 1) * apart for t in taps]
            padding = [[r, 0] if ends else [0, r] for r in reach]
            ones, holes = self.few(1), self.few(1)
            made = self.convolved(v, features, 1, taps, ones, self.few(apart), holes, padding)
            v = made and self.added(v, self.like(made, "stablehlo.abs", grid=made.grid, bound=made.bound))
        return v

    def local(self):
        """Windows side by side, each with its largest element added to all of it; they begin
        anywhere, what is in none stays as it is.
        """
        v, rng = self.image(), self.rng
        if v is None:
            return None
        dim, wide = rng.choice(self.dims()[2:]), rng.choice([2, 3, 4])
        first = rng.choice([0, rng.randint(0, wide - 1)])
        windows = (v.shape[dim] - first) // wide
        if windows < 2:
            return None
        start = [first if d == dim else 0 for d in range(v.rank)]
        limit = [first + windows * wide if d == dim else n for d, n in enumerate(v.shape)]
        part = self.sliced(v, start, limit, [1] * v.rank)
        apart = self.reshape_to(part, (*v.shape[:dim], windows, wide, *v.shape[dim + 1 :]))
        largest = self.reduce(apart, [dim + 1], "maximum")
        if largest is None or largest.dtype != v.dtype:
            return None
        at = [d for d in range(v.rank + 1) if d != dim + 1]
        made = self.added(apart, self.broadcast(largest, apart.shape, at))
        low = [s if d == dim else 0 for d, s in enumerate(start)]
        high = [n - end for n, end in zip(v.shape, limit)]
        back = self.padded(self.reshape_to(made, part.shape), low, high, [0] * v.rank, 0)
        return back and self.added(v, back)

    @staticmethod
    def summed(grid, terms):
        return grid and (grid[0] + math.ceil(math.log2(max(2, terms))), grid[1])

    def kernel_gradient(self):
        """Of an image and what a convolution made of it: a kernel as large as the image."""
        dy, rng = self.image(), self.rng
        if dy is None:
            return None
        x = self.image(lambda x: x.dtype == dy.dtype and self.sizes(x)[0] == self.sizes(dy)[0])
        if x is None:
            return None
        (batch, ins, *space), (_, outs, *kernel) = self.sizes(x), self.sizes(dy)
        apart, strides = self.few(1, 1, 2), self.few(1, 1, 1, 2)
        reach = [(t - 1) * a + 1 for t, a in zip(kernel, apart)]
        padding = []
        for s, r, st in zip(space, reach, strides):  # so much that a few places are left
            total = r - s + st * rng.randint(0, 3)
            low = rng.choice([0, total, rng.randint(min(0, total), max(0, total))])
            padding.append([low, total - low])
        sizes = self.windows(space, self.few(1), padding, reach, strides)
        swapped = [{0: 1, 1: 0}.get(d, d) for d in self.order]
        shape, terms = self.shaped(ins, outs, sizes), batch * math.prod(kernel)
        if min(sizes) < 1 or math.prod(shape) > MOST_ELEMENTS:
            return None
        numbers = f"{self.label(swapped, 'bf')}x{self.label(self.order, 'io')}->" + self.label(
            self.order, "bf"
        )
        x, dy = self.tamed(x, 16), self.tamed(dy, 16)
        attributes = listed(
            batch_group_count="1 : i64",
            dimension_numbers=f"#stablehlo.conv<{numbers}>",
            feature_group_count="1 : i64",
            padding=f"dense<{padding}> : tensor<{len(kernel)}x2xi64>",
            rhs_dilation=i64s(apart),
            window_strides=i64s(strides),
        )
        grid = x.grid and dy.grid and (x.grid[0] + dy.grid[0], x.grid[1] + dy.grid[1])
        made = self.emit(
            "stablehlo.convolution",
            [x, dy],
            shape,
            x.dtype,
            attributes,
            self.summed(grid, terms),
            x.bound * dy.bound * terms,
        )
        self.outputs.append(made)
        return made

    def pool(self):
        """The largest, the smallest or the sum of windows; at times of windows with holes."""
        v = self.image()
        if v is None:
            return None
        batch, features, *space = self.sizes(v)
        kind = self.rng.choice(["maximum", "maximum", "minimum", "add", "add"])
        taps, apart = self.few(1, 2, 2, 3), self.few(1, 1, 1, 2)
        strides = [self.rng.choice([1, t]) for t in taps]
        holes = self.few(1, 2) if self.rng.random() < 0.2 else self.few(1)
        reach = [(t - 1) * a + 1 for t, a in zip(taps, apart)]
        padding = [[max(0, p) for p in pair] for pair in self.padding_of(reach)]
        sizes = self.windows(space, holes, padding, reach, strides)
        shape = self.shaped(batch, features, sizes)
        if min(sizes) < 1 or math.prod(shape) > MOST_ELEMENTS:
            return None
        init = {"add": self.rng.choice([0, 0, 1]), "maximum": -2, "minimum": 2}[kind]
        attributes = listed(
            base_dilations=i64s(self.spread(holes, 1)),
            padding=f"dense<{[[*p] for p in self.spread(padding, [0, 0])]}> : tensor<{v.rank}x2xi64>",
            window_dilations=i64s(self.spread(apart, 1)),
            window_dimensions=i64s(self.spread(taps, 1)),
            window_strides=i64s(self.spread(strides, 1)),
        )
        grid = v.grid and (max(v.grid[0], 2), min(v.grid[1], 0))
        return self.emit(
            "stablehlo.reduce_window",
            [v, self.splat(init, v.dtype)],
            shape,
            v.dtype,
            attributes,
            self.summed(grid, math.prod(taps) + 1) if kind == "add" else grid,
            max(2, v.bound * (math.prod(taps) + 1 if kind == "add" else 1)),
            region=self.body(v.dtype, (kind, "", [0, 1], None)),
        )

    def selection(self):
        """The gradient of a maximum over windows: each hands its number to its largest element."""
        v = self.image(lambda v: v.grid)
        if v is None:
            return None
        batch, features, *space = self.sizes(v)
        taps = self.few(1, 2, 2, 3)
        strides = [self.rng.choice([1, t, t, t + 1]) for t in taps]
        padding = [[self.rng.randint(0, t - 1) if self.rng.random() < 0.2 else 0] * 2 for t in taps]
        sizes = self.windows(space, self.few(1), padding, taps, strides)
        if min(sizes) < 1:
            return None
        source = self.argument(self.shaped(batch, features, sizes), v.dtype)
        if source.special:
            return None
        greater = ("compare", direction(self.rng.choice(["GE", "GT", "LE"])), [0, 1], "i1")
        regions = self.body(v.dtype, greater) + ", " + self.body(v.dtype, ("add", "", [0, 1], None))
        attributes = listed(
            padding=f"dense<{self.spread(padding, [0, 0])}> : tensor<{v.rank}x2xi64>",
            window_dimensions=i64s(self.spread(taps, 1)),
            window_strides=i64s(self.spread(strides, 1)),
        )
        return self.emit(
            "stablehlo.select_and_scatter",
            [v, source, self.splat(0, v.dtype)],
            v.shape,
            v.dtype,
            attributes,
            self.summed(source.grid, math.prod(taps)),
            source.bound * math.prod(taps),
            region=regions,
        )

    def spread(self, of_space, otherwise):
        """A list by dimension of an image."""
        sizes = [otherwise, otherwise, *of_space]
        return [sizes[d] for d in self.order]

    def added(self, a, b):
        grid = a.grid and b.grid and (max(a.grid[0], b.grid[0]) + 1, min(a.grid[1], b.grid[1]))
        return self.like(a, "stablehlo.add", b, grid=grid, bound=a.bound + b.bound)

    def residual(self):
        """With another image of the same size; at times cropped to it."""
        v = self.image()
        w = v and self.image(lambda w: w != v and w.dtype == v.dtype and self.covers(w, v))
        if w is None:
            return None
        if w.shape != v.shape:
            start = [self.rng.randint(0, a - b) for a, b in zip(w.shape, v.shape)]
            w = self.sliced(w, start, [a + b for a, b in zip(start, v.shape)], [1] * v.rank)
        return self.added(v, w)

    @staticmethod
    def covers(w, v):
        return all(a >= b for a, b in zip(w.shape, v.shape))

    def crop(self):
        v = self.image()
        if v is None:
            return None
        start = self.spread(self.few(0, 0, 1, 2), 0)
        end = self.spread(self.few(0, 0, 1, 2), 0)
        limit = [s - e for s, e in zip(v.shape, end)]
        if any(a >= b for a, b in zip(start, limit)):
            return None
        return self.sliced(v, start, limit, [1] * v.rank)

    def every_other(self):
        v = self.image()
        if v is None:
            return None
        start = self.spread([min(a, s - 1) for a, s in zip(self.few(0, 0, 1), self.sizes(v)[2:])], 0)
        return self.sliced(v, start, list(v.shape), self.spread(self.few(1, 2, 3), 1))

    def surround(self):
        v = self.image()
        if v is None:
            return None
        low, high = self.spread(self.few(0, 1, 2), 0), self.spread(self.few(0, 1, 2), 0)
        return self.padded(v, low, high, self.spread(self.few(0, 0, 1, 2), 0), self.rng.choice([0, 1]))

    def repeat(self):
        """Each element twice or thrice: upsampling."""
        v = self.image(lambda v: 2 * v.elements <= MOST_ELEMENTS)
        if v is None:
            return None
        dim = self.rng.choice(self.dims()[2:])
        times = self.rng.choice([2, 2, 3])
        shape = list(v.shape)
        shape[dim] *= times
        if math.prod(shape) > MOST_ELEMENTS:
            return None
        wide = (*v.shape[: dim + 1], times, *v.shape[dim + 1 :])
        at = [d for d in range(v.rank + 1) if d != dim + 1]
        return self.reshape_to(self.broadcast(v, wide, at), shape)

    def shifted_sum(self):
        """An element and those before it, as slices of one padded image."""
        v = self.image()
        if v is None:
            return None
        reach = self.rng.choice([1, 2])
        dim = self.rng.choice(self.dims()[2:])
        wide = [reach if d == dim else 0 for d in range(v.rank)]
        p = self.padded(v, wide, [0] * v.rank, [0] * v.rank, 0)
        if p is None:
            return None
        parts = []
        for by in range(reach + 1):
            start = [by if d == dim else 0 for d in range(v.rank)]
            limit = [a + b for a, b in zip(start, v.shape)]
            parts.append(self.sliced(p, start, limit, [1] * v.rank))
        total = parts[0]
        for part in parts[1:]:
            total = self.added(total, part)
        return total

    def concatenated(self, v, w, dim):
        shape = list(v.shape)
        shape[dim] += w.shape[dim]
        grid = v.grid and w.grid and (max(v.grid[0], w.grid[0]), min(v.grid[1], w.grid[1]))
        return self.emit("stablehlo.concatenate", [v, w], shape, v.dtype, f"dimension = {dim} : i64",
                         grid, max(v.bound, w.bound))  # fmt: skip

    def bordered(self):
        """What lies at the ends, reflected or wrapped around, put to one end and then to the other
        of what that made; then windows of it.
        """
        v, rng = self.image(lambda v: 2 * v.elements <= MOST_ELEMENTS), self.rng
        if v is None:
            return None
        dim, wide = rng.choice(self.dims()[2:]), rng.choice([1, 2, 3])
        size, skipped = v.shape[dim], rng.choice([0, 1])
        if size < wide + 2:
            return None
        is_wrapped = rng.random() < 0.3

        def part(x, first):
            start = [first if d == dim else 0 for d in range(x.rank)]
            limit = [first + wide if d == dim else n for d, n in enumerate(x.shape)]
            cut = self.sliced(x, start, limit, [1] * x.rank)
            if is_wrapped:
                return cut
            return self.like(cut, "stablehlo.reverse", attributes=f"dimensions = {i64s([dim])}",
                             grid=cut.grid, bound=cut.bound, noise=cut.noise)  # fmt: skip

        w = self.concatenated(part(v, size - wide if is_wrapped else skipped), v, dim)
        w = self.concatenated(w, part(w, wide if is_wrapped else size - skipped), dim)
        total = v
        for by in range(0, 2 * wide + 1, wide):
            start = [by if d == dim else 0 for d in range(v.rank)]
            limit = [a + b for a, b in zip(start, v.shape)]
            total = self.added(total, self.sliced(w, start, limit, [1] * v.rank))
        return total

    def centred(self):
        """Without its largest element by feature: a statistic over all of space."""
        v = self.image()
        if v is None:
            return None
        space = sorted(self.dims()[2:])
        largest = self.reduce(v, space, "maximum")
        if largest is None or largest.dtype != v.dtype:
            return None
        at = [d for d in range(v.rank) if d not in space]
        return self.added(v, self.like(w := self.broadcast(largest, v.shape, at), "stablehlo.negate",
                                       grid=w.grid, bound=w.bound, noise=w.noise))  # fmt: skip

    def joined(self):
        """Along the features."""
        v = self.image(lambda v: 2 * v.elements <= MOST_ELEMENTS)
        dim = self.dims()[1]
        same = lambda w: all(  # noqa: E731
            a == b for d, (a, b) in enumerate(zip(v.shape, w.shape)) if d != dim
        )
        w = v and self.image(lambda w: w.dtype == v.dtype and same(w) and self.sizes(w)[1] <= 4)
        if w is None:
            return None
        return self.concatenated(v, w, dim)

    def stacked(self):
        """The windows around each place side by side, up to 25 of them and sixteen at a time as jnp.stack
        has it; then the largest, which of them it is of, and whether one is no number, as medians ask.
        """
        rng = self.rng
        v = self.image(lambda v: v.is_exact() and 4 * v.elements <= MOST_ELEMENTS)
        if v is None:
            return None
        along = rng.sample(self.dims()[2:], min(self.n_space, 2))
        reach = [max(r for r in (1, 2, 3, 4) if (r + 1) * v.elements <= MOST_ELEMENTS) if len(along) == 1
                 else rng.choice([1, 2, 2, 4] if 25 * v.elements <= MOST_ELEMENTS else [1])] * len(along)  # fmt: skip
        wide = [reach[0] if d in along else 0 for d in range(v.rank)]
        p = self.padded(v, [w // 2 for w in wide], [w - w // 2 for w in wide], [0] * v.rank, rng.choice([0, 1]))
        if p is None:
            return None
        ones = (*v.shape, 1)
        parts = [
            self.reshape_to(self.sliced(p, start, [a + b for a, b in zip(start, v.shape)], [1] * v.rank), ones)
            for start in map(list, itertools.product(*(range(w + 1) for w in wide)))
        ]
        while len(parts) > 1:
            parts = [self.side_by_side(parts[i : i + 16]) for i in range(0, len(parts), 16)]
        return self.of_stack(parts[0])

    def side_by_side(self, parts):
        shape = (*parts[0].shape[:-1], sum(p.shape[-1] for p in parts))
        return self.emit("stablehlo.concatenate", parts, shape, parts[0].dtype, f"dimension = {len(shape) - 1} : i64",
                         parts[0].grid, max(p.bound for p in parts))  # fmt: skip

    def of_stack(self, x):
        last, all_but_last = x.rank - 1, list(range(x.rank - 1))
        is_number = self.like(x, "stablehlo.compare", x, dtype="i1", attributes=direction("EQ"))
        x = self.masked(self.broadcast(self.reduce(is_number, [last], "and"), x.shape, all_but_last), x)
        if self.rng.random() < 0.5:
            most = self.broadcast(self.reduce(x, [last], "maximum"), x.shape, all_but_last)
            x = self.masked(self.like(x, "stablehlo.compare", most, dtype="i1", attributes=direction("EQ")), x)
        return self.reduce(x, [last], self.rng.choice(["add", "maximum", "minimum"]))

    def masked(self, mask, x):
        zeros = self.splat(0, x.dtype, x.shape)
        return self.emit("stablehlo.select", [mask, x, zeros], x.shape, x.dtype, grid=x.grid, bound=x.bound)
