"""Nets with batch norm under a tenth of their temporaries: each layer waits for sums over the batch,
so loops would make all layers before it again. What crosses cuts between segments of layers is put
out; what a segment is made of is made again.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
from held import check_a_tenth

ROWS, WIDTH, HIDDEN = 1024, 32, 96


def moments(h):
    m = h.mean(0)
    return (h - m) * jax.lax.rsqrt((h * h).mean(0) - m * m + 1e-5)


def two_pass(h):
    return (h - h.mean(0)) * jax.lax.rsqrt(h.var(0) + 1e-5)


def before(norm, h, a, b):
    return h + jax.nn.gelu(norm(h) @ a) @ b


def after(norm, h, a, b):
    return jax.nn.gelu(h + norm(jnp.tanh(norm(h @ a)) @ b))


def plain(norm, h, a, b):
    return jnp.tanh(norm(h @ a)) @ b


def made(count):
    dice = np.random.default_rng(0)
    scaled = lambda *s: (dice.standard_normal(s) / s[0] ** 0.5).astype(np.float32)  # noqa: E731
    layers = [(scaled(WIDTH, HIDDEN), scaled(HIDDEN, WIDTH)) for _ in range(count)]
    return layers, scaled(ROWS, WIDTH) * ROWS**0.5


def loss_of(layer, norm):
    def loss(layers, x):
        for a, b in layers:
            x = layer(norm, x, a, b)
        return jnp.mean(jnp.cos(x))

    return jax.value_and_grad(loss)


@pytest.mark.parametrize("norm", [moments, two_pass], ids=lambda f: f.__name__)
@pytest.mark.parametrize("layer", [before, after, plain], ids=lambda f: f.__name__)
def test_deep_nets_are_held(layer, norm):
    check_a_tenth(loss_of(layer, norm), *made(12), rtol=1e-3, atol=1e-4)


def bottleneck(x, wide, deep, narrow):
    batch_norm = lambda z: (z - z.mean((0, 1, 2))) * jax.lax.rsqrt(z.var((0, 1, 2)) + 1e-5)  # noqa: E731

    def convolution(z, w, groups=1):
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            z, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=groups
        )

    z = jax.nn.relu(batch_norm(convolution(x, wide)))
    z = jax.nn.relu(batch_norm(convolution(z, deep, z.shape[-1])))
    return x + batch_norm(convolution(z, narrow))


def test_convolutions_are_held():
    """Inverted bottlenecks, as in MobileNetV2."""
    dice = np.random.default_rng(0)
    scaled = lambda *s: (dice.standard_normal(s) / np.prod(s[:3]) ** 0.5).astype(np.float32)  # noqa: E731
    layers = [(scaled(1, 1, 4, 16), scaled(3, 3, 1, 16), scaled(1, 1, 16, 4)) for _ in range(6)]

    def loss(layers, x):
        for weights in layers:
            x = bottleneck(x, *weights)
        return jnp.mean(jnp.cos(x))

    x = dice.standard_normal((32, 12, 12, 4)).astype(np.float32)
    check_a_tenth(jax.value_and_grad(loss), layers, x, rtol=1e-3, atol=1e-3)


def logged_of(tmp_path, function, count, *arguments):
    program = tmp_path / "program.mlir"
    program.write_text(jax.jit(function).lower(*made(count)).as_text())
    done = running.run_opt(program, *arguments, "--debug", 5)
    return done.stdout, done.stderr


def logged(tmp_path, count, *arguments):
    return logged_of(tmp_path, loss_of(before, moments), count, *arguments)


def test_few_layers_are_made_again(tmp_path):
    """They are made no more than twice on average."""
    text, log = logged(tmp_path, 2, "--memory-limit", "900kB")
    assert "split stablehlo.dot_general" in log and "in segments of" not in log


def spans_in(log):
    """Of each region: spans, values that have some, work with them, and with segments."""
    found = re.findall(r"(\d+) spans of (\d+) values: (\S+) times .*, (\S+) without", log)
    return [tuple(map(float, numbers)) for numbers in found]


def test_values_are_put_out_again(tmp_path):
    """Of 24 layers some three values are there at one time."""
    text, log = logged(tmp_path, 24, "--memory-limit", "1.6MB")
    found = spans_in(log)
    assert any(spans > values and work < 0.8 * without for spans, values, work, without in found)


def pairs(layers, x):
    """Two values, each of which needs both before it: none stands for what the next is made of."""
    a, b = x, jnp.sin(x)
    for w, v in layers:
        v = v.reshape(w.shape)[:, :WIDTH]
        a, b = jnp.tanh(moments(a @ w[:, :WIDTH] + b @ v)), jnp.tanh(moments(a @ v - b @ w[:, :WIDTH]))
    return jnp.mean(jnp.cos(a) * b)


def test_segments_are_taken_where_they_make_less(tmp_path):
    text, log = logged_of(tmp_path, jax.value_and_grad(pairs), 12, "--memory-limit", "4MB")
    assert any(work > without > 0 for _, _, work, without in spans_in(log))
    check_a_tenth(jax.value_and_grad(pairs), *made(12), rtol=1e-3, atol=1e-4)


def test_work_is_not_the_square_of_the_layers(tmp_path):
    text, log = logged(tmp_path, 32, "--memory-limit", "10MB")
    assert "in segments of" in log
    assert text.count("stablehlo.dot_general") < 3 * 6 * 32  # stock has 6 a layer
