"""Zeros around a tensor: nothing is computed of them, results as before, NaN and all."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

RNG = np.random.default_rng(0)
H, W = RNG.normal(size=(3, 9, 5)), RNG.normal(size=(5, 40))
TOKENS = RNG.integers(0, 40, (3, 9))
X, Y, V = RNG.normal(size=(12, 3)), RNG.normal(size=(7, 3)), RNG.normal(size=(7, 40))
PASSES = ["--pass", "inline,simplify,fold-transpose,cse,dce,through-pad,dce,through-slice,dce"]


def gradients(f):
    return jax.value_and_grad(f, argnums=(0, 1))


def next_token(h, w, tokens):
    logits = (h @ w)[:, :-1]
    labels = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - labels)


def middle(h, w):
    logits = (3 * jnp.einsum("btd,dv->vtb", h, w))[2:-3, 1:-2]
    return jnp.sum(jax.nn.log_softmax(logits, axis=0) * jnp.cos(logits))


def corner(x, y, v):
    k = jnp.exp(x @ y.T)
    return jnp.sum(jnp.sin((k @ v)[2:, :30]))


def of_padded(u, v):
    return jnp.sin(jnp.pad(u, ((1, 2), (0, 3))) @ jnp.pad(v, ((0, 3), (0, 0))))


LM, KERNEL = (H, W, TOKENS), (X, Y, V)
PROGRAMS = [
    (gradients(next_token), LM),
    (gradients(middle), (H, W)),
    (gradients(corner), KERNEL),
    (of_padded, (RNG.normal(size=(40, 30)), RNG.normal(size=(30, 20)))),
]


def results(text, arguments, folder):
    folder.mkdir(exist_ok=True)
    return [*running.Evaluator(folder, arguments)(text), *running.Xla(text)(*arguments)]


@pytest.mark.parametrize("f, arguments", PROGRAMS)
def test_zeros_are_not_multiplied(f, arguments, tmp_path):
    text, rewritten = running.rewrite(f, arguments, tmp_path, *PASSES)
    padded = [line for line in text.splitlines() if "stablehlo.pad" in line]
    assert padded and "stablehlo.pad" not in rewritten
    before = results(text, arguments, tmp_path / "before")
    after = results(rewritten, arguments, tmp_path / "after")
    for x, y in zip(after, before, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(y).max())


@pytest.mark.parametrize("number", [np.inf, np.nan])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("f, arguments", PROGRAMS)
def test_zero_times_infinity_stays(f, arguments, which, number, tmp_path):
    """Each place of an argument in turn: also those that only zeros meet."""
    text, rewritten = running.rewrite(f, arguments, tmp_path, *PASSES)
    before, after = running.Xla(text), running.Xla(rewritten)
    places = list(np.ndindex(arguments[which].shape))
    found = 0
    for place in places[:: max(1, len(places) // 12)] + places[-1:]:
        spoilt = [x.copy() for x in arguments]
        spoilt[which][place] = number
        for x, y in zip(after(*spoilt), before(*spoilt), strict=True):
            np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
            found += np.isnan(y).any() and not np.isnan(y).all()
    assert found or f is not PROGRAMS[0][0]
