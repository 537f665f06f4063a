"""Gradients through scans whose steps share an n x n matrix: its gradient is a sum over the steps,
and what is made of that is small. Each step adds to what is made of it, and nothing of n x n
stays, neither the matrix nor its gradient nor what a step keeps for the backward pass."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
N, M, STEPS = 61, 53, 5
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=(M, 2))
B = RNG.normal(size=N)
ARGUMENTS = (X, Y, B)
SQUARE = re.compile(rf"-> tensor<(?:\d+x)?({N}x{M}|{M}x{N}|{N}x{N})xf64>")


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def kernel(x, scale=1.0):
    return jnp.exp(-squares(x, x) * scale)


def steps(step, start):
    return lax.scan(lambda s, _: (step(s), None), start, None, length=STEPS)[0]


def transport(x, y, b):
    """Sinkhorn's iterations on logarithms; the cost is read after them, too."""
    cost = squares(x, y)

    def step(potentials):
        f, g = potentials
        f = -0.5 * jax.nn.logsumexp((g[None] - cost) / 0.5, 1)
        return f, -0.5 * jax.nn.logsumexp((f[:, None] - cost) / 0.5, 0)

    f, g = steps(step, (jnp.zeros(N), jnp.zeros(M)))
    return (jnp.exp((f[:, None] + g[None] - cost) / 0.5) * cost).sum() + (f * b).sum()


def conjugate_gradients(x, y, b):
    matrix = kernel(x, jnp.abs(y[0, 0]))

    def step(state):
        solution, rest, direction = state
        along = matrix @ direction + 0.5 * direction
        size = rest @ rest / (direction @ along)
        new = rest - size * along
        return solution + size * direction, new, new + (new @ new) / (rest @ rest) * direction

    return steps(step, (jnp.zeros(N), b, b))[0] @ b


def power(x, y, b):
    """Also read once by something that is no step."""
    matrix = kernel(x)

    def step(v):
        v = matrix @ v
        return v / jnp.linalg.norm(v)

    v = steps(step, b)
    return v @ matrix @ v + jnp.sum(matrix * 0.01)


def descent(x, y, b):
    matrix = kernel(x)
    return jnp.sum(steps(lambda a: a - 0.01 * (matrix @ a - b), jnp.zeros(N)) ** 2)


def propagation(x, y, b):
    share = jax.nn.softmax(-squares(x, x), 1)
    return jnp.sum(jnp.sin(steps(lambda p: 0.9 * (share @ p) + 0.1 * b, b)))


def two_matrices(x, y, b):
    there, back = jnp.exp(-squares(x, y)), jnp.cos(squares(y, x))
    return jnp.sum(steps(lambda v: jnp.tanh(there @ jnp.tanh(back @ v)), b) ** 2)


def steps_of_steps(x, y, b):
    matrix = kernel(x)
    inner = lambda v: jnp.tanh(matrix @ v + b)  # noqa: E731
    return jnp.sum(steps(lambda v: jnp.sin(steps(inner, v)), b) ** 2)


GRADIENTS = {
    f.__name__: jax.value_and_grad(f, argnums=(0, 1, 2))
    for f in (
        transport,
        conjugate_gradients,
        power,
        descent,
        propagation,
        two_matrices,
        steps_of_steps,
    )
}


def covariance(x, y, b):
    """A sum over the steps of the program's own, which begins with something."""
    add = lambda s, v: (s + jnp.outer(v, b), None)  # noqa: E731
    total = lax.scan(add, squares(x, x), RNG.normal(size=(9, N)))[0]
    return total @ x, jnp.sum(total, 0) - b


def moved(x, y, b):
    """Transposed, cut, padded, joined and chosen from on the way."""
    add = lambda s, v: (s + jnp.outer(v, b), None)  # noqa: E731
    total = lax.scan(add, jnp.zeros((N, N)), RNG.normal(size=(9, N)))[0]
    parts = jnp.where(b > 0, jnp.pad(total.T[:, 5:], [(0, 0), (5, 0)]), 1.0)
    return (jnp.concatenate([parts, -2.0 * total]) / (1 + b**2)) @ x


WITHIN = GRADIENTS | {"covariance": covariance, "moved": moved}
del WITHIN["steps_of_steps"]  # keeps the matrix, not its gradient


def rewrite(f, folder, *options):
    """All arguments are used."""
    return running.rewrite(
        lambda x, y, b: (f(x, y, b), jnp.sum(y) + jnp.sum(b)), ARGUMENTS, folder, *options
    )


def agree(got, want):
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * (1 + np.abs(y).max()))


@pytest.mark.parametrize("tile", ["off", "on"])
@pytest.mark.parametrize("name", WITHIN)
def test_nothing_square_is_left(name, tile, tmp_path):
    options = ["--memory-limit", 30_000, "--tile", tile]
    text, rewritten = rewrite(WITHIN[name], tmp_path, *options)
    assert SQUARE.search(text) and not SQUARE.search(rewritten)
    want = running.Xla(text)(*ARGUMENTS)
    agree(running.Xla(rewritten)(*ARGUMENTS), want)


@pytest.mark.parametrize("name", GRADIENTS)
def test_evaluated(name, tmp_path):
    """By the evaluator, where no op is XLA's."""
    text, rewritten = rewrite(
        GRADIENTS[name], tmp_path, "--tensor-size-threshold", 4000, "--tile", "off"
    )
    evaluate = running.Evaluator(tmp_path, ARGUMENTS)
    agree(evaluate(rewritten), evaluate(text))


def nonlinear(x, y, b):
    add = lambda s, v: (s + jnp.outer(v, b), None)  # noqa: E731
    return jnp.exp(lax.scan(add, jnp.zeros((N, N)), RNG.normal(size=(9, N)))[0] * 0.1) @ x


def looked_at(x, y, b):
    add = lambda s, v: (s + jnp.outer(v, b) * s[0, 0], None)  # noqa: E731
    return lax.scan(add, jnp.ones((N, N)), 0.1 * RNG.normal(size=(9, N)))[0] @ x


def put_out(x, y, b):
    add = lambda s, v: (s + jnp.outer(v, b), None)  # noqa: E731
    total = lax.scan(add, jnp.zeros((N, N)), RNG.normal(size=(9, N)))[0]
    return total, total @ x


def made_of_results(x, y, b):
    """What reads the total needs another result of the loop."""

    def add(carry, v):
        return (carry[0] + jnp.outer(v, b), carry[1] * v), None

    total, last = lax.scan(add, (jnp.zeros((N, N)), b), RNG.normal(size=(9, N)))[0]
    return (total * last) @ x


@pytest.mark.parametrize("f", [nonlinear, looked_at, put_out, made_of_results])
def test_left_as_it_is(f, tmp_path):
    """The sum is carried whole, or in slices of the whole loop."""
    text, rewritten = rewrite(f, tmp_path, "--tensor-size-threshold", 4000, "--tile", "off")
    assert not re.search(rf"while.*tensor<{N}x2xf64>", rewritten)
    agree(running.Xla(rewritten)(*ARGUMENTS), running.Xla(text)(*ARGUMENTS))


def test_narrow_sums_are_left(tmp_path):
    """A sum of bf16 is rounded in each step: so it would be once more, elsewhere."""

    def f(x, y, b):
        add = lambda s, v: (s + jnp.outer(v, b.astype(v.dtype)), None)  # noqa: E731
        steps = jnp.asarray(RNG.normal(size=(9, N)), jnp.bfloat16)
        return lax.scan(add, jnp.zeros((N, N), jnp.bfloat16), steps)[0] @ x.astype(jnp.bfloat16)

    _, rewritten = rewrite(f, tmp_path, "--tensor-size-threshold", 4000)
    assert not re.search(rf"while.*tensor<{N}x2xbf16>", rewritten)
