"""Shifted parts of one tensor that are put side by side, as people write windows by hand, and what
is added to such parts: as stock, and held under a limit."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held
import running

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_stock  # noqa: E402
from random_stacks import PASSES  # noqa: E402

DICE = np.random.default_rng(0)
IMAGE = DICE.standard_normal((40, 50)).astype(np.float32)
COLOURS = DICE.standard_normal((40, 50, 3)).astype(np.float32)
LINE = DICE.standard_normal(300).astype(np.float32)


def windows(x, reach, mode="constant", axis=0):
    """Of an image, all shifts of up to `reach` rows and columns."""
    p = jnp.pad(x, [(reach, reach)] * 2 + [(0, 0)] * (x.ndim - 2), mode=mode)
    shifts = [(i, j) for i in range(2 * reach + 1) for j in range(2 * reach + 1)]
    return jnp.stack([p[i : i + x.shape[0], j : j + x.shape[1]] for i, j in shifts], axis)


def lags(x, axis=0):
    return jnp.stack([x[i : i + 200] for i in (3, 0, 99, 100, 7)], axis)


def joined(x):
    """Columns that have a dimension of their own already."""
    y = x[:, None]
    return jnp.concatenate([y[i : i + 200] for i in range(5)], 1)


def bits_of_neighbours(x):
    return windows((x > 0).astype(jnp.uint8), 1).sum(0, dtype=jnp.uint8)


def weighed(f):
    """The gradient where each element of each part counts in another way."""

    def loss(x):
        y = f(x)
        return jnp.sum(y * jnp.sin(jnp.arange(y.size, dtype=x.dtype)).reshape(y.shape)) + x.sum()

    return jax.grad(loss)


SIDE_BY_SIDE = {
    "zeros around": (lambda x: windows(x, 2), IMAGE),
    "reflected": (lambda x: windows(x, 1, "reflect"), IMAGE),
    "wrapped, channels": (lambda x: windows(x, 2, "wrap"), COLOURS),
    "counted by the last dimension": (lambda x: windows(x, 1, axis=-1), COLOURS),
    "counted in the midst": (lambda x: windows(x, 1, "edge", axis=1), COLOURS),
    "lags": (lags, LINE),
    "lags as columns": (lambda x: lags(x, 1), LINE),
    "joined columns": (joined, LINE),
    "integers": (bits_of_neighbours, IMAGE),
}
PUT_BACK = {
    name: (weighed(f), x) for name, (f, x) in SIDE_BY_SIDE.items() if name != "integers"
}
ALONE = {
    "few": (lambda x: jnp.stack([x[i : i + 200] for i in range(3)]), LINE),
    "of two tensors": (lambda x: jnp.stack([x[:200], x[1:201], jnp.sin(x)[:200], x[3:203]]), LINE),
    "strides": (lambda x: jnp.stack([x[i : i + 200 : 2] for i in range(5)]), LINE),
    "longer parts": (lambda x: jnp.concatenate([x[i : i + 200] for i in range(5)]), LINE),
    "all the same": (lambda x: jnp.stack([jnp.sin(x)] * 5), LINE),
    "one part is missing": (
        lambda x: sum(jnp.pad(x[i], (i, 9 - i)) for i in (0, 1, 2, 4, 5)),
        IMAGE,
    ),
    "one part twice": (
        lambda x: sum(jnp.pad(x[i], (i, 9 - i)) for i in (4, 4, 0, 1, 2, 3)),
        IMAGE[:5],
    ),
    "sums of 16-bit floats": (
        lambda x: sum(jnp.pad(x[i].astype(jnp.float16), (i, 9 - i)) for i in range(5)),
        IMAGE[:5],
    ),
    "put together along two dimensions": (
        lambda x: jnp.concatenate(
            [jnp.concatenate([x[i : i + 2, j : j + 9] for j in (0, 3, 7)], 0) for i in (0, 1)], 1
        ),
        IMAGE,
    ),
    "around it is no zero": (
        lambda x: sum(jnp.pad(x[i], (i, 9 - i), constant_values=1.0) for i in range(5)),
        IMAGE[:5],
    ),
}


def passed(case, folder):
    """The text that the pass makes, its results, and stock's."""
    f, x = case
    text = jax.jit(f).lower(x).as_text()
    path = folder / "program.mlir"
    path.write_text(text)
    program = running.opt(path, PASSES)
    (want,), (got,) = (running.Xla(t, as_users=True)(x) for t in (text, program))
    return program, np.asarray(got), np.asarray(want)


@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_parts_are_gathered(name, tmp_path):
    program, got, want = passed(SIDE_BY_SIDE[name], tmp_path)
    assert program.count('"stablehlo.gather"') == 1
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", PUT_BACK)
def test_what_is_put_back_is_scattered(name, tmp_path):
    program, got, want = passed(PUT_BACK[name], tmp_path)
    assert program.count('"stablehlo.scatter"') == 1
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ALONE)
def test_left_alone(name, tmp_path):
    program, got, want = passed(ALONE[name], tmp_path)
    assert '"stablehlo.gather"' not in program
    assert '"stablehlo.scatter"' not in program
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(16))
def test_random_shifts(seed):
    """By the pass alone, and in slices of some bytes."""
    assert fuzz_stock.failures("Shifts", seed)[0] == []


@pytest.mark.parametrize("seed", range(12))
def test_random_volumes(seed):
    assert fuzz_stock.failures("Volumes", seed)[0] == []


def test_a_wrong_result_is_found(monkeypatch):
    opt = running.opt
    monkeypatch.setattr(running, "opt", lambda *a: opt(*a).replace("stablehlo.sine", "stablehlo.cosine"))
    assert len(fuzz_stock.failures("Shifts", 0)[0]) == 2


def bilateral(image, guide):
    """Means of neighbours, weighed by how far they are from the guide."""
    w = jnp.exp(-5 * (windows(guide, 3, "reflect") - guide) ** 2)
    return (w * windows(image, 3, "reflect")).sum(0) / w.sum(0)


def bilateral_gradient(image, guide):
    return jax.value_and_grad(lambda g: jnp.sum(jnp.tanh(bilateral(image, g)) ** 2))(guide)


@pytest.mark.parametrize("f", [bilateral, bilateral_gradient])
def test_a_tenth_of_the_temporaries_does(f):
    image, guide = DICE.standard_normal((2, 160, 150)).astype(np.float32)
    held.check_a_tenth(f, image, guide)


def flow(a, b):
    """How well each pixel's features agree with those of 81 beside it, and where they do best."""
    p = jnp.pad(b, ((4, 4), (4, 4), (0, 0)))
    shifts = [(i, j) for i in range(9) for j in range(9)]
    costs = [(a * lax.dynamic_slice(p, (i, j, 0), a.shape)).mean(-1) for i, j in shifts]
    return jax.nn.softmax(5 * jnp.stack(costs, -1)) @ jnp.array(shifts, a.dtype)


def flow_gradient(a, b):
    return jax.value_and_grad(lambda a: jnp.abs(flow(a, b)).mean())(a)


def test_what_all_shifts_read_stays_whole():
    """Eighty-one windows of what is computed: more than a loop makes of one value."""
    held.check_a_tenth(flow_gradient, *DICE.standard_normal((2, 48, 64, 16)).astype(np.float32))
