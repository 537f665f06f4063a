"""A scan of one step is its step: nothing is stacked. Which whiles have one trip, or none."""

import operator
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import weir

import running
from random_values import INTS, NUMPY


def attention(x, weights):
    def layer(h, w):
        q, k, v = h @ w[0], h @ w[1], h @ w[2]
        return h + jax.nn.softmax(q @ k.T / 4, -1) @ v, None

    return (jax.lax.scan(layer, x, weights)[0] ** 2).sum()


def test_gradients_of_a_scan_of_one_step_hold():
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((300, 16), (1, 3, 16, 16)))
    gradient = jax.grad(attention, (0, 1))
    stock = jax.jit(gradient).lower(x, jnp.asarray(0.3 * w)).compile()
    m = stock.memory_analysis()
    limit = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 3
    with weir.limit(limit):
        made = jax.jit(lambda *a: gradient(*a)).lower(x, 0.3 * w).compile()
    needs = made.memory_analysis()
    assert needs.argument_size_in_bytes + needs.output_size_in_bytes + needs.temp_size_in_bytes <= limit
    for ours, theirs in zip(made(x, 0.3 * w), stock(x, 0.3 * w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


# ---- counters ----
COMPARED = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "NE": operator.ne, "EQ": operator.eq}
MOST_TRIPS = 50


def drawn(dice, dtype):
    """(first, step, comparison, bound, whether the bound stands left): near the type's ends, or anywhere."""
    low, high = int(np.iinfo(NUMPY[dtype]).min), int(np.iinfo(NUMPY[dtype]).max)

    def number():
        near = dice.choice([low, high, high // 2, 0]) + dice.randint(-3, 3)
        return min(max(near, low), high) if dice.random() < 0.5 else dice.randint(low, high)

    return number(), number(), dice.choice(sorted(COMPARED)), number(), dice.random() < 0.3


def counted(dtype, adds, first, step, name, bound, is_mirrored):
    """(the last number, trips), as the type wraps; None: there are many."""
    low, n, i = int(np.iinfo(NUMPY[dtype]).min), 0, first
    while COMPARED[name](*((bound, i) if is_mirrored else (i, bound))):
        n, i = n + 1, (i + (step if adds else -step) - low) % 2 ** np.iinfo(NUMPY[dtype]).bits + low
        if n > MOST_TRIPS:
            return None
    return i, n


def while_text(k, dtype, adds, first, step, name, bound, is_mirrored):
    t, compared = f"tensor<{dtype}>", f"%b{k}, %i{k}" if is_mirrored else f"%i{k}, %b{k}"
    return f"""
      %f{k} = stablehlo.constant dense<{first}> : {t}
      %w{k}:2 = stablehlo.while(%i{k} = %f{k}, %n{k} = %zero) : {t}, tensor<i32>
      cond {{
        %b{k} = stablehlo.constant dense<{bound}> : {t}
        %c{k} = stablehlo.compare {name}, {compared} : ({t}, {t}) -> tensor<i1>
        stablehlo.return %c{k} : tensor<i1>
      }} do {{
        %s{k} = stablehlo.constant dense<{step}> : {t}
        %j{k} = stablehlo.{"add" if adds else "subtract"} %i{k}, %s{k} : {t}
        %m{k} = stablehlo.add %n{k}, %one : tensor<i32>
        stablehlo.return %j{k}, %m{k} : {t}, tensor<i32>
      }}"""


@pytest.mark.parametrize("dtype", INTS)
def test_counters_of_all_types(dtype, tmp_path):
    """What wraps before it ends is no while of one trip."""
    dice, cases = random.Random(INTS.index(dtype)), []
    while len(cases) < 40:
        case = (dice.random() < 0.6, *drawn(dice, dtype))
        if counted(dtype, *case):
            cases.append(case)
    whiles = "".join(while_text(k, dtype, *case) for k, case in enumerate(cases))
    results = ", ".join(f"%w{k}#0, %w{k}#1" for k in range(len(cases)))
    types = ", ".join([f"tensor<{dtype}>, tensor<i32>"] * len(cases))
    program = tmp_path / "counters.mlir"
    program.write_text(
        f"func.func @main() -> ({types}) {{\n%zero = stablehlo.constant dense<0> : tensor<i32>\n"
        f"%one = stablehlo.constant dense<1> : tensor<i32>{whiles}\nreturn {results} : {types}\n}}\n"
    )
    made = running.opt(program, "--pass", "once")
    assert made.count('"stablehlo.while"') < len(cases)
    got = [int(x) for x in running.Evaluator(tmp_path, [])(made)]
    assert list(zip(got[::2], got[1::2])) == [counted(dtype, *case) for case in cases]
