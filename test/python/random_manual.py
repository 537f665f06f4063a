"""Some of a random program's ops as manual computations (shard_map): each device gathers what it has
parts of, does the ops, and gives whole results or its parts of them. So the program computes what
it did.
"""

import math
import re

from random_values import ints, live

MOST_OPS = 5


class Manual:
    """One op in the place of `ops`, along some axes of a mesh {name: devices}."""

    def __init__(self, ops, needed, mesh, dice, number):
        self.mesh, self.dice, self.prefix, self.count = mesh, dice, f"%manual{number}_", 0
        self.axes = dice.sample(list(mesh), dice.randint(1, len(mesh)))
        made = {v.name for op in ops for v in op.results}
        self.inputs = {v.name: v for op in ops for v in op.operands if v.name not in made}
        self.results = [v for op in ops for v in op.results if v.name in needed]
        self.lines = []
        given = [self.enter(v) for v in self.inputs.values()]
        self.lines += [self.renamed(op.text) for op in ops]
        taken = [self.leave(v) for v in self.results]
        self.text = self.whole(given, taken)

    def new(self):
        self.count += 1
        return f"{self.prefix}new_{self.count}"

    def renamed(self, text):
        return re.sub(
            r"%(\w+)", lambda m: self.now[m[0]] if m[0] in self.inputs else self.prefix + m[1], text
        )

    # ---- borders ----
    @property
    def now(self):
        return {name: f"{self.prefix}in_{name[1:]}" for name in self.inputs}

    def spec(self, v):
        """Axes by dimension, outermost first."""
        spec, shape = [[] for _ in v.shape], list(v.shape)
        for axis in self.axes:
            places = [d for d, n in enumerate(shape) if n and n % self.mesh[axis] == 0]
            if places and self.dice.random() < 0.7:
                d = self.dice.choice(places)
                spec[d].append(axis)
                shape[d] //= self.mesh[axis]
        return spec

    def type(self, v, shape):
        return type(v)("", tuple(shape), v.dtype).type

    def local(self, v, spec):
        return [n // math.prod(self.mesh[a] for a in s) for n, s in zip(v.shape, spec)]

    def groups(self, axis):
        sizes, at = list(self.mesh.values()), list(self.mesh).index(axis)
        stride, size = math.prod(sizes[at + 1 :]), sizes[at]
        first = [i for i in range(math.prod(sizes)) if i // stride % size == 0]
        return [[i + k * stride for k in range(size)] for i in first]

    def enter(self, v):
        """(sharding, argument) of the body, which gathers the value."""
        spec = self.spec(v)
        shape, argument = self.local(v, spec), self.new()
        entered = x = argument
        kind = self.type(v, shape)
        if self.axes and self.dice.random() < 0.3:
            x = self.sent_around(x, kind)
        for d, axes in enumerate(spec):
            for axis in reversed(axes):
                shape[d] *= self.mesh[axis]
                wider, x, part = self.type(v, shape), self.new(), x
                self.lines.append(
                    f'{x} = "stablehlo.all_gather"({part}) <{{all_gather_dim = {d} : i64, '
                    f"{self.exchange(self.groups(axis))}, use_global_device_ids}}> : ({kind}) -> {wider}"
                )
                kind = wider
        name = self.now[v.name]
        self.lines.append(f'{name} = "stablehlo.optimization_barrier"({x}) : ({kind}) -> {kind}')
        return self.sharding(spec), (entered, self.type(v, self.local(v, spec)))

    def exchange(self, groups):
        size = f"{len(groups)}x{len(groups[0])}"
        channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
        return f"{channel}, replica_groups = dense<{groups}> : tensor<{size}xi64>"

    def sent_around(self, x, kind):
        """To the next device along an axis, and back."""
        groups = self.groups(self.dice.choice(self.axes))
        there = [[g[i], g[(i + 1) % len(g)]] for g in groups for i in range(len(g))]
        for pairs in (there, [pair[::-1] for pair in there]):
            given, x = x, self.new()
            self.lines.append(
                f'{x} = "stablehlo.collective_permute"({given}) <{{channel_handle = '
                f"#stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = "
                f"dense<{pairs}> : tensor<{len(pairs)}x2xi64>}}> : ({kind}) -> {kind}"
            )
        return x

    def number(self, axis):
        """This device's along the axis, as JAX asks for it: where all axes are manual."""
        rest = [a for a in self.mesh if a not in self.axes]
        sizes, at = list(self.mesh.values()), list(self.mesh).index(axis)
        device, stride, outer, size, inner, found = (self.new() for _ in range(6))
        unsigned = "tensor<ui32>"
        lines = [
            f'{device} = "stablehlo.partition_id"() : () -> {unsigned}',
            f"{stride} = stablehlo.constant dense<{math.prod(sizes[at + 1 :])}> : {unsigned}",
            f"{outer} = stablehlo.divide {device}, {stride} : {unsigned}",
            f"{size} = stablehlo.constant dense<{sizes[at]}> : {unsigned}",
            f"{inner} = stablehlo.remainder {outer}, {size} : {unsigned}",
            f"{found} = stablehlo.convert {inner} : ({unsigned}) -> tensor<i32>",
        ]
        if not rest:
            self.lines += lines
            return found
        whole = self.new()
        self.lines += [
            f"{whole} = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] "
            f"manual_axes={{{self.named(rest)}}} () {{",
            *lines,
            f"sdy.return {found} : tensor<i32>",
            "} : () -> tensor<i32>",
        ]
        return whole

    def leave(self, v):
        """(sharding, name, type) of what the body gives."""
        spec, shape, x = self.spec(v), list(v.shape), self.prefix + v.name[1:]
        for d, axes in enumerate(spec):
            for axis in axes:
                wider = self.type(v, shape)
                shape[d] //= self.mesh[axis]
                number, each, start, zero, part = self.number(axis), *(self.new() for _ in range(4))
                starts = ", ".join(start if k == d else zero for k in range(len(shape)))
                scalars = ", ".join("tensor<i32>" for _ in shape)
                self.lines += [
                    f"{each} = stablehlo.constant dense<{shape[d]}> : tensor<i32>",
                    f"{start} = stablehlo.multiply {number}, {each} : tensor<i32>",
                    f"{zero} = stablehlo.constant dense<0> : tensor<i32>",
                    f'{part} = "stablehlo.dynamic_slice"({x}, {starts}) <{{slice_sizes = array<i64: '
                    f"{ints(shape)[1:-1]}>}}> : ({wider}, {scalars}) -> {self.type(v, shape)}",
                ]
                x = part
        return self.sharding(spec), (x, self.type(v, shape))

    # ---- the whole ----
    def named(self, axes):
        return ", ".join(f'"{a}"' for a in axes)

    def sharding(self, spec):
        rest = ["?"] if len(self.axes) < len(self.mesh) else []  # XLA's
        dims = ("{" + ", ".join([f'"{a}"' for a in axes] + rest) + "}" for axes in spec)
        return "<@mesh, [" + ", ".join(dims) + "]>"

    def whole(self, given, taken):
        names = ", ".join(v.name for v in self.inputs.values())
        arguments = ", ".join(f"{name}: {kind}" for _, (name, kind) in given)
        results = ", ".join(name for _, (name, _) in taken)
        kinds = ", ".join(kind for _, (_, kind) in taken)
        made = f"{self.prefix}made"
        axes = sorted(self.axes, key=list(self.mesh).index)
        text = (
            f"{made}:{len(taken)} = sdy.manual_computation({names}) "
            f"in_shardings=[{', '.join(s for s, _ in given)}] "
            f"out_shardings=[{', '.join(s for s, _ in taken)}] manual_axes={{{self.named(axes)}}} "
            f"({arguments}) {{\n" + "\n".join(self.lines) + f"\nsdy.return {results} : {kinds}\n}} : "
            f"({', '.join(v.type for v in self.inputs.values())}) -> "
            f"({', '.join(v.type for v in self.results)})\n"
        )
        return text + "\n".join(
            f'{v.name} = "stablehlo.optimization_barrier"({made}#{i}) : ({v.type}) -> {v.type}'
            for i, v in enumerate(self.results)
        )


def body(ops, outputs, mesh, dice):
    """The texts of the live ops, some of them in manual computations."""
    ops, texts, at = live(ops, outputs), [], 0
    while at < len(ops):
        some = ops[at : at + dice.randint(1, MOST_OPS)]
        at += len(some)
        behind = {v.name for op in ops[at:] for v in op.operands} | {v.name for v in outputs}
        if dice.random() < 0.5 and any(v.name in behind for op in some for v in op.results):
            texts.append(Manual(some, behind, mesh, dice, at).text)
        else:
            texts += [op.text for op in some]
    return texts
