"""XLA gives each op that it fuses to several threads, unless the program is predicted to be faster
where it does not: slices are short, and starting a second thread takes longer than their ops.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weir
from running import HONEST

SHARING = "cpu-parallel-task-assigner"
RANDOM = np.random.default_rng(12)


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v3,cores=2")
    monkeypatch.setenv("WEIR_TILE", "off")


def noisy_steps(x):
    def step(x, key):
        return 0.9 * x + jax.random.normal(key, x.shape) * jnp.tanh(x), None

    return jax.lax.scan(step, x, jax.random.split(jax.random.key(0), 5))[0].sum(1)


def distances(x):
    return jnp.exp(-jnp.abs(x[:, None, :] - x[None, :, :]).sum(2)).max(1)


def tenth_of(f, x):
    memory = jax.jit(f).lower(x).compile(compiler_options=HONEST).memory_analysis()
    return x.nbytes + memory.output_size_in_bytes + memory.temp_size_in_bytes // 10


def is_shared(plan):
    assert plan.outcome == "rewritten" and plan.loops
    return not any(SHARING in option for option in plan.compile_options)


def test_short_ops_stay_on_one_thread():
    x = RANDOM.standard_normal((800, 128)).astype(np.float32)
    limit = tenth_of(noisy_steps, x)
    plan = weir.plan(noisy_steps, x, limit=limit)
    assert not is_shared(plan) and plan.peak_after_bytes <= limit
    want = jax.jit(noisy_steps)(x)
    with weir.limit(limit):
        got = jax.jit(noisy_steps)(x)
    assert weir.last_report().peak_after_bytes <= limit
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_long_ops_are_shared():
    x = RANDOM.standard_normal((3000, 3)).astype(np.float32)
    assert is_shared(weir.plan(distances, x, limit=tenth_of(distances, x)))


def test_one_core_shares_with_nobody(monkeypatch):
    """There is nothing to switch off."""
    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v3,cores=1")
    x = RANDOM.standard_normal((800, 128)).astype(np.float32)
    assert is_shared(weir.plan(noisy_steps, x, limit=tenth_of(noisy_steps, x)))
