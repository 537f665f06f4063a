"""Whiles of which a part is the same in all slices, in a while of its own (src/pipeline/fission.c)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import random_scans
import running
import weir
from running import HONEST
from held import reported_bytes

SERIES, STEPS, N, M = 300, 40, 6, 3
PROGRAMS, BATCH = 60, 30


def kalman(transition, emission, ys):
    """Filter and smoother of many series, and sums of their moments. All share the covariances."""
    q, r = 0.1 * jnp.eye(N), 0.5 * jnp.eye(M)

    def step(carry, y):
        mean, p = carry
        s = emission @ p @ emission.T + r
        gain = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(s), True), emission @ p).T
        at, of = mean + gain @ (y - emission @ mean), p - gain @ s @ gain.T
        before = transition @ at, transition @ of @ transition.T + q
        return before, (at, of)

    def back(carry, x):
        mean, p = carry
        at, of = x
        before = transition @ of @ transition.T + q
        gain = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(before), True), transition @ of).T
        mean = at + gain @ (mean - transition @ at)
        p = of + gain @ (p - before) @ gain.T
        return (mean, p), p + mean[:, None] * mean

    def one(y):
        _, (at, of) = lax.scan(step, (jnp.zeros(N), jnp.eye(N)), y)
        return lax.scan(back, (at[-1], of[-1]), (at[:-1], of[:-1]), reverse=True)[1]

    return jax.vmap(one)(ys).sum((0, 1))


def keys(key, w, xs):
    """Random numbers of every step: what the key becomes is the same for all rows."""

    def step(carry, x):
        h, key = carry
        key, now = jax.random.split(key)
        noise = jax.random.normal(now, (N,))
        h = jnp.tanh(h @ w + x + noise)
        return (h, key), h

    first = jnp.zeros((SERIES, N)), jax.random.wrap_key_data(key)
    return (lax.scan(step, first, xs)[1] ** 2).sum((0, 1))


def arguments_of(f):
    normal = np.random.default_rng(0).normal
    made = lambda *shape: normal(size=shape).astype(np.float32)  # noqa: E731
    if f is kalman:
        return 0.3 * made(N, N), made(M, N), made(SERIES, STEPS, M)
    return jax.random.key_data(jax.random.key(1)), 0.3 * made(N, N), made(STEPS, SERIES, N)


def a_tenth(compiled):
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return held + memory.temp_size_in_bytes // 10


@pytest.mark.parametrize("f", [kalman, keys], ids=lambda f: f.__name__)
def test_once_for_all_slices(f, monkeypatch):
    """Without the pass each slice makes what all share, again: a multiple of the work, by how many there are."""
    arguments = arguments_of(f)
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)
    limit, flops = a_tenth(stock), {}
    for skipped in "", "fission":
        monkeypatch.setenv("WEIR_SKIP", skipped)
        plan = weir.plan(f, *arguments, limit=limit)
        flops[skipped] = plan.flops_after / plan.flops_before
    assert flops[""] < 1.2 and (f is not kalman or flops["fission"] > 1.5)
    monkeypatch.delenv("WEIR_SKIP")
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= limit < reported_bytes(stock)
    want = stock(*arguments)
    np.testing.assert_allclose(limited(*arguments), want, rtol=1e-4, atol=1e-5 * abs(want).max())


class Rows(random_scans.Scans):
    """Of more rows than steps, which a step leaves apart; for half of the seeds no gradient."""

    def __init__(self, seed):
        super().__init__(seed, shares=1)
        self.is_field, self.steps, self.n = False, min(self.steps, 23), min(self.n, 6)
        self.shape, self.has_gradient = (256, self.n), seed % 2 == 0

    def state(self, dice, h, x, w, u, b, shared):
        choices = [
            lambda: jnp.tanh(h @ w + x @ u + b),
            lambda: 0.5 * h[..., ::-1] + 0.3 * jnp.sin(x @ u) * b,
            lambda: jnp.where(h > b, 0.7 * h, jnp.cos(x @ u)),
            lambda: 0.5 * (h @ jax.nn.softmax(shared, 1)) + 0.1 * jnp.sin(x @ u),
        ]
        return dice.choice(choices)()

    def extra(self, dice, e, h, x):
        return dice.choice([lambda: e, lambda: e + jnp.sum(h, 0)])()

    def output(self, dice, h, x):
        return dice.choice([lambda: None, lambda: h, lambda: jnp.sum(h, 0), lambda: h[:, :1] * x])()

    def function(self, *arguments):
        if self.has_gradient:
            return super().function(*arguments)
        return jax.tree.leaves(self.value(*arguments))


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_random_scans(first, tmp_path):
    """The same numbers to the bit, of ops that run one after the other."""
    changed = 0
    for seed in range(first, first + BATCH):
        program = Rows(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / "program.mlir"
        path.write_text(program.text())
        evaluate = running.Evaluator(folder, program.inputs())
        small = ["--tensor-size-threshold", 8 * 256 * program.n - 1]
        whole = running.opt(path, "--pass", "inline,cse,dce")
        parted = running.opt(path, "--pass", "inline,cse,fission,dce", *small)
        changed += parted.count("stablehlo.while") > whole.count("stablehlo.while")
        for got, want in zip(evaluate(parted), evaluate(whole), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"seed {seed}")
    assert changed >= 2, "too few whiles have a part that all rows share"
