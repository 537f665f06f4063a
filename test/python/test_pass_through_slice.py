"""Slices of what is computed: what nobody reads is not made, results as before."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

RNG = np.random.default_rng(0)
H, W = RNG.normal(size=(3, 9, 5)), RNG.normal(size=(5, 40))
TOKENS = RNG.integers(0, 40, (3, 9))
X, Y = RNG.normal(size=(12, 3)), RNG.normal(size=(7, 3))


def picked(x, tokens):
    return jnp.take_along_axis(x, tokens[..., None], -1)[..., 0]


def next_token(h, w, tokens):
    logits = (h @ w)[:, :-1]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked(logits, tokens[:, 1:]))


def sums_of_some_positions(h, w, tokens):
    return jax.nn.logsumexp(h @ w, axis=-1)[:, 2:-1] * tokens[:, 3:]


def capped_with_bias(h, w, tokens):
    logits = 5 * jnp.tanh((jnp.einsum("btd,dv->btv", h, w) + w[0]) / 5)
    return jnp.sum(jax.nn.one_hot(tokens[:, 1:], 40) * jax.nn.log_softmax(logits[:, :-1]))


def kernel(x, y):
    return jnp.exp(-jnp.sum((x[:, None] - y[None]) ** 2, -1))


def part_of_kernel(x, y):
    return kernel(x, y)[2:5, ::1][:, 1:]


def second_of_two(x, y):
    return jnp.concatenate([kernel(x, y), kernel(y, x).T], 0)[13:]


def flipped_corner(x, y):
    return jnp.swapaxes(kernel(x, y).reshape(3, 4, 7), 0, 2)[1:, :, 2:]


def masked(x, y):
    k = kernel(x, y)
    later = jnp.arange(12)[:, None] > jnp.arange(7)
    return jnp.where(later, k, 0)[5:, 3:]


LM, KERNEL = (H, W, TOKENS), (X, Y)


@pytest.mark.parametrize(
    "f, arguments, gone",
    [
        (next_token, LM, "3x9x40x"),
        (sums_of_some_positions, LM, "3x9x40x"),
        (capped_with_bias, LM, "3x9x40x"),
        (part_of_kernel, KERNEL, "12x7x"),
        (second_of_two, KERNEL, "12x7x"),
        (flipped_corner, KERNEL, "12x7x"),
        (masked, KERNEL, "12x7x"),
    ],
)
def test_what_is_not_read_is_not_made(f, arguments, gone, tmp_path):
    options = ["--pass", "inline,simplify,cse,dce,through-slice"]
    text, rewritten = running.rewrite(f, arguments, tmp_path, *options)
    assert f"tensor<{gone}" in text and f"tensor<{gone}" not in rewritten
    evaluate = running.Evaluator(tmp_path, arguments)
    for x, y in zip(evaluate(rewritten), evaluate(text), strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13 * np.abs(y).max())


def neighbours(x, y):
    k = kernel(x, y)
    return k[1:] - k[:-1]


def reversed_rows(x, y):
    return kernel(x, y)[:, ::-1]


@pytest.mark.parametrize("f", [neighbours, reversed_rows])
def test_all_is_read(f, tmp_path):
    _, before = running.rewrite(f, KERNEL, tmp_path, "--pass", "inline,simplify,cse,dce")
    _, after = running.rewrite(f, KERNEL, tmp_path, "--pass", "inline,simplify,cse,dce,through-slice")
    assert after == before


def test_not_a_number_stays(tmp_path):
    h, w = H.copy(), W.copy()
    h[1, 3, 2], w[4, 7], h[2, 8, 0] = np.inf, np.nan, np.nan
    arguments = (h, w, TOKENS)
    text, rewritten = running.rewrite(
        next_token, arguments, tmp_path, "--pass", "inline,simplify,cse,dce,through-slice"
    )
    (x,), (y,) = running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments)
    np.testing.assert_array_equal(x, y)
