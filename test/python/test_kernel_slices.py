"""Tiles: slices, pads and concatenations inside of a region, as people write them: one kernel a loop,
results as stock XLA's, and memory under the limit.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from running import lowered
from kernel_running import check_results, count, difference, folder, tiled  # noqa: F401

BENT = ("stablehlo.slice", "stablehlo.pad", "stablehlo.concatenate")


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def loss_by_softmax(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def loss_by_logsumexp(logits, labels):
    picked = jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
    return (jax.nn.logsumexp(logits, axis=1) - picked).mean()


def with_gradients(logits_of, loss):
    def function(x, w, labels):
        return jax.value_and_grad(lambda x, w: loss(logits_of(x, w), labels), (0, 1))(x, w)

    return function


def bias_is_first_column(x, w):
    return x @ w[:, 1:].T + w[:, 0]


def bias_is_shared_column(x, w):
    return x @ w[:, :24].T + w[:, 3]


def boxes(a, b):
    """Largest intersection over union, and of which."""
    a, b = (jnp.concatenate([t[:, :2], t[:, :2] + jnp.abs(t[:, 2:])], 1) for t in (a, b))
    area_a, area_b = ((t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1]) for t in (a, b))
    low = jnp.maximum(a[:, None, :2], b[None, :, :2])
    high = jnp.minimum(a[:, None, 2:], b[None, :, 2:])
    sides = jnp.clip(high - low, 0)
    common = sides[..., 0] * sides[..., 1]
    share = common / (area_a[:, None] + area_b[None] - common)
    return share.max(1), share.argmax(1)


def forces(x, y):
    d = y[None, :, :3] - x[:, None, :3]
    weight = y[:, 3] * (jnp.sum(d**2, -1) + 0.1) ** -1.5
    return jnp.stack([(weight * d[..., i]).sum(1) for i in range(3)], -1)


def haversine(x, y):
    d = jnp.sin((y[None, :, :2] - x[:, None, :2]) / 9) ** 2
    h = d[..., 0] + jnp.cos(x[:, None, 0] / 3) * jnp.cos(y[None, :, 0] / 3) * d[..., 1]
    return jnp.arcsin(jnp.sqrt(jnp.clip(h, 0, 1))).min(1)


def rolled(x, y):
    t = jnp.tanh(x[:, None] * y[None])
    return (jnp.roll(t, 1, -1) * t)[..., ::2].sum(-1).max(1)


def padded(x, y):
    t = jnp.abs(x[:, None] - y[None])
    return jnp.prod(jnp.pad(t, ((0, 0), (0, 0), (1, 2)), constant_values=0.5), -1).sum(1)


def two_kernels(x, y):
    """Rows of two computations that have only the loop in common."""
    return [jnp.exp(-jnp.abs(t[:200, :1] - y[:, 0])) @ y[:, 1] for t in (x, x[::-1] * 2)]


PAIRS = [boxes, forces, haversine, rolled, padded, two_kernels]


def checked(text, program, inputs):
    assert count(program) and "stablehlo.while" not in program
    check_results(text, program, inputs)


@pytest.mark.parametrize("function", PAIRS)
def test_pairs(function, folder):  # noqa: F811
    inputs = [normal(403, 4), normal(1501, 4)[:, ::-1].copy()]
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", "600kB")
    assert function is two_kernels or any(op in program for op in BENT)
    checked(text, program, inputs)


@pytest.mark.parametrize("loss", [loss_by_softmax, loss_by_logsumexp])
@pytest.mark.parametrize("logits_of", [bias_is_first_column, bias_is_shared_column])
def test_bias_in_a_column(logits_of, loss, folder):  # noqa: F811
    """The weights are large themselves, so that the slices and the pads of their gradient are in the
    loops."""
    labels = np.random.default_rng(3).integers(0, 3001, 90).astype(np.int32)
    inputs = [normal(90, 24), normal(3001, 25), labels]
    text = lowered(with_gradients(logits_of, loss), *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", "100kB")
    assert count(program) == 2
    checked(text, program, inputs)


def turned(x, cos, sin):
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(q, k, v, cos, sin):
    keys = turned(k, cos[: k.shape[1]], sin[: k.shape[1]])
    scores = jnp.einsum("hqd,hkd->hqk", turned(q, cos, sin), keys)
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores * 0.2), v)


def attention_gradients(q, k, v, cos, sin):
    def loss(q, k, v):
        return jnp.sum(attention(q, k, v, cos, sin) ** 2)

    return jax.grad(loss, (0, 1, 2))(q, k, v)


@pytest.mark.parametrize("function", [attention, attention_gradients])
def test_rotary_embedding(function, folder):  # noqa: F811
    """Of many queries over few keys: they are large, so that the embedding of queries and its gradient
    are in the loop."""
    angles = np.arange(1600)[:, None] / 10.0 ** np.arange(12)
    tables = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    inputs = [normal(2, 1600, 24), normal(2, 100, 24) + 1, normal(2, 100, 24) - 1, *tables]
    text = lowered(function, *inputs)
    program = tiled(text, folder, "--tensor-size-threshold", "100kB")
    assert any(op in program for op in BENT)
    checked(text, program, inputs)


def test_under_a_limit(folder, monkeypatch):  # noqa: F811
    monkeypatch.setenv("WEIR_TILE", "on")  # whatever the machine
    function = jax.jit(with_gradients(bias_is_first_column, loss_by_softmax))
    labels = np.random.default_rng(3).integers(0, 20_011, 300).astype(np.int32)
    inputs = [normal(300, 48), normal(20_011, 49) / 9, labels]
    limit = 16_000_000
    lowered_ = function.lower(*inputs)
    with weir.limit(limit):
        compiled = lowered_.compile()
    text, memory = compiled.as_text(), compiled.memory_analysis()
    assert text.count('custom_call_target="weir_tile"') == 2 and " while(" not in text
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    assert held + memory.temp_size_in_bytes <= limit
    for want, got in zip(*(jax.tree.leaves(f(*inputs)) for f in (lowered_.compile(), compiled)), strict=True):
        assert not difference(np.asarray(want), np.asarray(got))
