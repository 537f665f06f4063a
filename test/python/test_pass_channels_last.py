"""Convolutions of every role inside of a loop: the same sums in the order that XLA CPU runs fast, to
the bit on small integers."""

import re

import jax
import numpy as np
import pytest
from jax import lax
from running import Evaluator, opt

FORMS = re.compile(r"\[b, (0, (?:1, )?(?:2, )?)f\]x\[\1(?:i, o|o, i)\]->\[b, \1f\]")


TYPES = [np.float32, np.float32, np.float64, np.int8, np.int32, np.uint8, np.float16]


def random_convolution(rng, dtype):
    """Its operands, and what lax.conv_general_dilated wants to know."""
    n = int(rng.integers(1, 4))
    features = int(rng.choice([1, 1, 2, 6]))
    batches = int(rng.choice([1, 2, 5])) if features == 1 else 1
    inside, out = int(rng.integers(1, 4)), int(rng.integers(1, 6)) * features * batches
    orders = [tuple(map(int, rng.permutation(n + 2))) for _ in range(3)]
    sizes = [
        [batches * int(rng.integers(1, 3)), inside * features, *rng.integers(4, 8, n)],
        [out, inside, *rng.integers(1, 4, n)],
    ]
    args = []
    for order, size in zip(orders, sizes):
        shape = np.zeros(n + 2, int)
        shape[list(order)] = size
        args.append(rng.integers(0 if dtype == np.uint8 else -3, 4, shape).astype(dtype))
    return args, dict(
        window_strides=tuple(map(int, rng.integers(1, 3, n))),
        padding=[tuple(map(int, rng.integers(-1, 3, 2))) for _ in range(n)],
        lhs_dilation=tuple(map(int, rng.integers(1, 3, n))),
        rhs_dilation=tuple(map(int, rng.integers(1, 3, n))),
        feature_group_count=features,
        batch_group_count=batches,
        dimension_numbers=lax.ConvDimensionNumbers(*orders),
        preferred_element_type=np.int32 if dtype in (np.int8, np.uint8) else None,
    )


def in_a_loop(args, settings):
    """The program's text: two trips that add the convolution up. Windows are reversed, too."""

    def program(a, b):
        made = jax.eval_shape(lambda a, b: lax.conv_general_dilated(a, b, **settings), a, b)

        def trip(i, s):
            return s + lax.conv_general_dilated(a + i.astype(a.dtype), b, **settings)

        return lax.fori_loop(0, 2, trip, np.zeros(made.shape, made.dtype))

    with jax.enable_x64(args[0].dtype == np.float64):
        return jax.jit(program).lower(*args).as_text()


def dimensions_of(text):
    """How the one convolution lies."""
    (found,) = re.findall(r"#stablehlo.conv<(\[.*?\]x\[.*?\]->\[.*?\])>", text)
    return found


def is_misread(dtype, settings):
    """Eigen reads beyond such an input: the convolution stays as it is."""
    return dtype in (np.float32, np.float16) and any(low < 0 < high and low + high <= 0 for low, high in settings["padding"])


@pytest.mark.parametrize("seed", range(70))
def test_same_sums(seed, tmp_path):
    rng, dtype = np.random.default_rng(seed), TYPES[seed % len(TYPES)]
    args, settings = random_convolution(rng, dtype)
    text = in_a_loop(args, settings)
    if seed % 3 == 0:
        text = text.replace("reverse = [false", "reverse = [true")
    program = tmp_path / "program.mlir"
    program.write_text(text)
    changed = opt(program, "--pass=inline,channels-last,dce")
    if is_misread(dtype, settings):
        assert dimensions_of(changed) == dimensions_of(opt(program, "--pass=inline,dce"))
    else:
        assert len(FORMS.findall(changed)) == changed.count("stablehlo.convolution") == 1
        assert "batch_group_count = 1" in changed and "window_reversal = array<i1: true" not in changed
    run = Evaluator(tmp_path, args)
    (want,), (got,) = run(text), run(changed)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "groups, batches, shape, kernel, by_library",
    [
        (1, 1, (2, 8, 8, 3), (3, 3, 3, 4), True),
        (8, 1, (2, 8, 8, 8), (3, 3, 1, 8), False),  # depthwise
        (1, 8, (8, 8, 8, 4), (8, 8, 4, 8), False),  # ... its kernel's gradient
        (2, 1, (2, 8, 8, 8), (3, 3, 4, 16), True),  # groups of enough features
        (1, 1, (2, 8, 8, 8, 1), (3, 3, 3, 1, 8), False),  # volumes of one feature
        (1, 1, (2, 8, 8, 8, 4), (3, 3, 3, 4, 8), True),
    ],
)
def test_form(groups, batches, shape, kernel, by_library, tmp_path):
    n = len(shape) - 2
    numbers = ("N" + "DHW"[3 - n :] + "C", "DHW"[3 - n :] + "IO", "N" + "DHW"[3 - n :] + "C")
    settings = dict(
        window_strides=(1,) * n,
        padding="SAME",
        feature_group_count=groups,
        batch_group_count=batches,
        dimension_numbers=numbers,
    )
    args = np.zeros(shape, np.float32), np.zeros(kernel, np.float32)
    (tmp_path / "program.mlir").write_text(in_a_loop(args, settings))
    changed = opt(tmp_path / "program.mlir", "--pass=inline,channels-last,dce")
    assert ("i, o]->" in changed) == by_library
