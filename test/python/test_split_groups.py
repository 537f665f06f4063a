"""Convolutions in groups, sliced along them: gradients of each example, depthwise layers."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running
import weir
from running import HONEST
from held import reported_bytes

PROGRAMS, BATCH = 40, 10


def layer(x, w, strides, groups):
    numbers = "NCHW", "OIHW", "NCHW"
    y = lax.conv_general_dilated(
        x, w, strides, "SAME", dimension_numbers=numbers, feature_group_count=groups
    )
    return jnp.tanh(y - y.mean((1, 2, 3), keepdims=True))


def of_examples(w, x, groups=1):
    """The sum of the normalised gradients of all examples, as private training has it."""

    def loss(w, x):
        h = layer(x[None], w[0], (1, 1), groups)
        return (layer(h, w[1], (2, 2), groups) ** 2).mean()

    g = jax.vmap(jax.grad(loss), (None, 0))(w, x)
    n = sum((v.reshape(len(x), -1) ** 2).sum(1) for v in jax.tree.leaves(g))
    return [(v / jnp.sqrt(1 + n).reshape(-1, 1, 1, 1, 1)).mean(0) for v in g]


def arguments_of(groups):
    normal = np.random.default_rng(0).normal
    shapes = (8, 4 // groups, 3, 3), (8, 8 // groups, 3, 3), (12, 4, 24, 24)
    a, b, x = (0.5 * normal(size=s).astype(np.float32) for s in shapes)
    return [a, b], x


@pytest.mark.parametrize("groups", [1, 4])
def test_examples_one_by_one(groups):
    """One loop over examples, that makes nothing twice."""
    arguments, f = arguments_of(groups), lambda w, x: of_examples(w, x, groups)
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)
    memory = stock.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    limit = held + memory.temp_size_in_bytes // 5
    plan = weir.plan(f, *arguments, limit=limit)
    assert plan.flops_after < 1.1 * plan.flops_before
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    assert reported_bytes(limited) <= limit < reported_bytes(stock)
    assert [loop.extent for loop in weir.last_report().loops] == [12]
    for got, want in zip(limited(*arguments), stock(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * abs(want).max())


class Grouped:
    """Random convolutions in groups, of features or of the batch, and what is around them."""

    def __init__(self, seed):
        dice = self.dice = random.Random(seed)
        self.of_batch, self.groups = dice.random() < 0.4, dice.choice([2, 3, 4, 6])
        self.each, self.made = dice.choice([1, 2, 3]), dice.choice([1, 2, 3])
        self.rows, self.size = dice.choice([1, 2]), dice.choice([4, 5])
        self.x, self.w = ("NCH", "OIH") if dice.random() < 0.5 else ("HCN", "HIO")
        self.seed = seed

    def shape(self, names, **sizes):
        return tuple(sizes[n] for n in names)

    def inputs(self):
        rows = self.rows * (self.groups if self.of_batch else 1)
        features = self.each * (1 if self.of_batch else self.groups)
        normal = np.random.default_rng(self.seed).normal
        x = self.shape(self.x, N=rows, C=features, H=self.size)
        w = self.shape(self.w, O=self.groups * self.made, I=self.each, H=3)
        return [normal(size=x), normal(size=w)]

    def function(self, x, w):
        dice = random.Random(self.seed + 1)
        count = {"batch_group_count" if self.of_batch else "feature_group_count": self.groups}
        numbers = self.x, self.w, self.x

        def once(x, w):
            strides = (dice.choice([1, 2]),)
            y = lax.conv_general_dilated(
                jnp.sin(x), jnp.cos(w), strides, "SAME", dimension_numbers=numbers, **count
            )
            d = self.x.index("C")
            shape = (*y.shape[:d], self.groups, self.made, *y.shape[d + 1 :])
            return dice.choice(
                [
                    lambda: jnp.tanh(y),
                    lambda: jnp.sin(y).reshape(shape).sum(d + 1),
                    lambda: jnp.flip(jnp.tanh(y), d),
                    lambda: lax.slice_in_dim(jnp.sin(y), self.made, None, axis=d),
                    lambda: jnp.cumsum(jnp.sin(y), d),
                    lambda: jnp.roll(jnp.sin(y), 1, d),
                ]
            )()

        if dice.random() < 0.5:
            return jax.grad(lambda x, w: (once(x, w) ** 2).sum(), (0, 1))(x, w)
        return [once(x, w)]

    def text(self):
        with jax.enable_x64(True):
            return jax.jit(lambda x, w: self.function(x, w)).lower(*self.inputs()).as_text()


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_random_groups(first, tmp_path):
    sliced = 0
    for seed in range(first, first + BATCH):
        program = Grouped(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / "program.mlir"
        path.write_text(program.text())
        evaluate = running.Evaluator(folder, program.inputs())
        threshold = program.dice.choice([40, 100, 200])
        split = running.opt(path, "--tensor-size-threshold", threshold)
        number = f"group_count = {program.groups} : i64"
        sliced += number in program.text() and number not in split
        for got, want in zip(evaluate(split), evaluate(program.text()), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}")
    assert sliced >= 2, "too few are done group by group"
