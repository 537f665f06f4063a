"""Scans over a batch, and their gradients, split along the batch: states are sliced, what is summed
over the batch in every step (weights' gradients, losses, counts) is summed over the slices.

Batches of 37: the last slice overlaps the one before.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import held
import running
import weir
from held import reported_bytes

RNG = np.random.default_rng(0)
STEPS, BATCH, N, M = 29, 37, 6, 5
XS = RNG.normal(size=(STEPS, BATCH, M))
H = RNG.normal(size=(BATCH, N))
W, U, V = (RNG.normal(size=s) / 3 for s in ((N, 4 * N), (M, 4 * N), (N, M)))
B = RNG.normal(size=4 * N)
LENGTHS = RNG.integers(1, STEPS, BATCH)
ARGUMENTS = (W, U, V, B, H, XS, LENGTHS)


def rnn_step(w, u, b, h, x):
    return jnp.tanh(h @ w[:, :N] + x @ u[:, :N] + b[:N])


def last_state(w, u, v, b, h, xs, lengths):
    h, _ = lax.scan(lambda h, x: (rnn_step(w, u, b, h, x), None), h, xs)
    return jnp.sum(h**2)


def lstm(w, u, v, b, h, xs, lengths):
    def step(carry, x):
        h, c = carry
        i, f, o, g = jnp.split(h @ w + x @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    _, hs = lax.scan(step, (h, jnp.zeros_like(h)), xs)
    return jnp.mean((hs @ v - xs) ** 2)


def masked(w, u, v, b, h, xs, lengths):
    """Sequences of different lengths; how many states are positive is counted as an integer."""

    def step(carry, x):
        h, n, t = carry
        new = jnp.where((t < lengths)[:, None], rnn_step(w, u, b, h, x), h)
        return (new, n + jnp.sum(new > 0), t + 1), None

    (h, n, _), _ = lax.scan(step, (h, 0, 0), xs)
    return jnp.sum(jnp.sin(h)) + n


def losses_of_steps(w, u, v, b, h, xs, lengths):
    """A sum over the batch is kept for each step."""

    def step(h, x):
        h = rnn_step(w, u, b, h, x)
        return h, jnp.mean(jnp.log1p((h @ v - x) ** 2))

    _, losses = lax.scan(step, h, xs)
    return jnp.sum(losses * jnp.arange(STEPS)), losses


def running_mean(w, u, v, b, h, xs, lengths):
    """Linear in the sum over the batch, from zeros: 0.9 m + what the step adds."""

    def step(carry, x):
        h, m = carry
        h = rnn_step(w, u, b, h, x)
        return (h, 0.9 * m - jnp.sum(h, 0)), None

    (h, m), _ = lax.scan(step, (h, jnp.zeros(N)), xs)
    return jnp.max(h, 1), m


def onto_ones(w, u, v, b, h, xs, lengths):
    """The sum goes onto something that is there before."""

    def step(carry, x):
        h, m = carry
        h = rnn_step(w, u, b, h, x)
        return (h, m + h.T @ x), None

    (h, m), _ = lax.scan(step, (h, v), xs)
    return jnp.max(h, 1), m


def decaying_ones(w, u, v, b, h, xs, lengths):
    """Neither: what it begins with must count once, but it is no plain sum."""

    def step(carry, x):
        h, m = carry
        h = rnn_step(w, u, b, h, x)
        return (h, 0.5 * m + h.T @ x), None

    (h, m), _ = lax.scan(step, (h, v), xs)
    return jnp.max(h, 1), m


def centred(w, u, v, b, h, xs, lengths):
    """Every step needs the mean over the batch: the trips of a slice can't have it."""

    def step(h, x):
        h = rnn_step(w, u, b, h, x)
        return h - jnp.mean(h, 0), jnp.outer(h[:, 0], h[:, 1])

    h, ys = lax.scan(step, h, xs)
    return jnp.sum(ys, 0)


def squared_sum(w, u, v, b, h, xs, lengths):
    """A square of the sum over the batch is none of the slices' sums."""

    def step(carry, x):
        h, m = carry
        h = rnn_step(w, u, b, h, x)
        return (h, m + jnp.sum(h, 0) ** 2), None

    (h, m), _ = lax.scan(step, (h, jnp.zeros(N)), xs)
    return jnp.max(h, 1), m


def read_on_the_way(w, u, v, b, h, xs, lengths):
    """The sum so far is read by a state: it is needed whole in every step."""

    def step(carry, x):
        h, m = carry
        h = rnn_step(w, u, b, h, x) + 0.1 * m
        return (h, m + jnp.mean(h, 0)), None

    (h, m), _ = lax.scan(step, (h, jnp.zeros(N)), xs)
    return jnp.max(h, 1), m


def scan_in_scan(w, u, v, b, h, xs, lengths):
    def inner(h, _):
        return jnp.tanh(h @ w[:, :N]), None

    def step(h, x):
        h, _ = lax.scan(inner, h + x @ u[:, :N], None, length=3)
        return h, None

    return jnp.sum(lax.scan(step, h, xs)[0] * jnp.arange(N))


def bidirectional(w, u, v, b, h, xs, lengths):
    step = lambda h, x: (rnn_step(w, u, b, h, x),) * 2  # noqa: E731
    _, left = lax.scan(step, h, xs)
    _, right = lax.scan(step, h, xs, reverse=True)
    return jnp.mean((jnp.concatenate([left, right], -1) @ jnp.concatenate([v, v]) - xs) ** 2)


def layers(w, u, v, b, h, xs, lengths):
    """Each step has weights of its own."""
    ws = w[None] * jnp.linspace(0.5, 1, STEPS)[:, None, None]
    step = lambda h, wx: (rnn_step(wx[0], u, b, h, wx[1]), None)  # noqa: E731
    return jnp.mean(lax.scan(step, h, (ws, xs))[0] ** 2)


def grad(f):
    return jax.value_and_grad(lambda *a: f(*a), argnums=(0, 1, 2, 3, 4))


CASES = {
    "last state": grad(last_state),
    "lstm": grad(lstm),
    "masked": grad(masked),
    "losses of steps": jax.value_and_grad(losses_of_steps, argnums=(0, 1, 2, 3), has_aux=True),
    "running mean": running_mean,
    "onto ones": onto_ones,
    "decaying ones": decaying_ones,
    "centred": centred,
    "squared sum": squared_sum,
    "read on the way": read_on_the_way,
    "scan in scan": grad(scan_in_scan),
    "bidirectional": grad(bidirectional),
    "layers": grad(layers),
}
# What a loop over slices of the batch can't do.
WHOLE = ["decaying ones", "centred", "squared sum", "read on the way"]


def agree(got, want):
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * (1 + np.abs(y).max(initial=0)))


def lowered(name):
    f = CASES[name]
    with jax.enable_x64(True):
        return jax.jit(lambda *a: f(*a), keep_unused=True).lower(*ARGUMENTS).as_text()


@pytest.mark.parametrize("skip", ["checkpoint", "topk"])
@pytest.mark.parametrize("threshold", [9000, 1500])
@pytest.mark.parametrize("name", CASES)
def test_same_results(name, threshold, skip, tmp_path):
    (tmp_path / "p.mlir").write_text(lowered(name))
    text = (tmp_path / "p.mlir").read_text()
    options = ["--tensor-size-threshold", threshold, "--skip", skip]
    rewritten = running.opt(tmp_path / "p.mlir", *options)
    evaluate = running.Evaluator(tmp_path, ARGUMENTS)
    agree(evaluate(rewritten), evaluate(text))
    agree(running.Xla(rewritten)(*ARGUMENTS), running.Xla(text)(*ARGUMENTS))
    narrow = "[0-9]+x([0-9]|[12][0-9])x[0-9]+xf64"
    in_slices = f"tensor<{STEPS}x" in rewritten and bool(re.search(narrow, rewritten))
    assert in_slices or name in WHOLE


@pytest.mark.parametrize("name", sorted(set(CASES) - set(WHOLE) - {"running mean", "onto ones"}))
def test_held(name, tmp_path):
    """Without computing anything again."""
    (tmp_path / "p.mlir").write_text(lowered(name))
    before = running.Xla((tmp_path / "p.mlir").read_text())
    own = sum(x.nbytes for x in ARGUMENTS) + sum(x.nbytes for x in before(*ARGUMENTS))
    limit = own + (before.report_bytes() - own) * 2 // 5
    options = ["--memory-limit", limit, "--skip", "checkpoint"]
    xla = running.Xla(running.opt(tmp_path / "p.mlir", *options), running.ORDERED)
    assert xla.report_bytes() <= limit
    agree(xla(*ARGUMENTS), before(*ARGUMENTS))


def resampled(shifts):
    """Filters of one batch, each of which draws its 1,000 whole numbers again in each step."""
    n = 1000

    def one(shift):
        def step(p, u):
            total = jnp.cumsum(p)
            i = jnp.searchsorted(total / total[-1], (jnp.arange(n) + u) / n)
            return 1 + jnp.mod(p[i] + jnp.arange(n), 5), total[-1]

        return lax.scan(step, jnp.ones(n), shift)[1]

    return jax.vmap(one)(shifts)


def test_a_while_inside_of_a_step_leaves_the_batch_to_be_sliced():
    """What the step hands to it is not made inside of it: that would keep the scan whole."""
    shifts = (RNG.integers(1, 8, (64, 12)) / 8).astype(np.float32)
    with weir.limit("60kB"):
        limited = jax.jit(resampled).lower(shifts).compile()
    assert reported_bytes(limited) <= 60_000
    np.testing.assert_array_equal(limited(shifts), jax.jit(resampled)(shifts))


def messages(frames):
    """Belief propagation over the first frames of many: each step reads the part that it closes over."""
    n = len(frames) // 2

    def step(m, _):
        sent = jnp.tanh(m.sum(2, keepdims=True) - m)
        total = frames[1 : n + 1, None] + sent.sum(1, keepdims=True) + frames[n:, None][::-1]
        return total - sent, total[:, 0]

    return lax.scan(step, jnp.broadcast_to(frames[:n, None], (n, 30, frames.shape[1])), None, length=4)[1]


def test_a_step_may_read_a_part_of_what_is_outside():
    held.check_a_tenth(messages, RNG.normal(size=(80, 40)).astype(np.float32))


@pytest.mark.parametrize("tile", ["off", "auto", "on"])
def test_gradients_of_layers_are_added_up_where_they_are(tile, monkeypatch):
    """A net whose layers are the steps of a scan: stacks of their gradients are as large as all else
    that a tenth has room for.
    """
    monkeypatch.setenv("WEIR_TILE", tile)
    normal = lambda *shape: RNG.normal(size=shape).astype(np.float32)  # noqa: E731

    def layer(x, w):
        return x + jax.nn.relu(x @ w[0]) @ w[1]

    def loss(w, x):
        net = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)
        return jnp.mean(lax.scan(lambda x, w: (net(x, w), None), x, w)[0] ** 2)

    weights = 0.1 * normal(4, 128, 256), 0.1 * normal(4, 256, 128)
    held.check_a_tenth(jax.value_and_grad(loss), weights, normal(509, 128))
