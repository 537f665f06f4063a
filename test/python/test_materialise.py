"""What XLA would make again and again is written once: stencils, whose readers shift."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import weir

LENGTH, STEPS = 40, 4


def cropped(x):
    return [
        jnp.diff(x, axis=0)[:, :-1, :-1],
        jnp.diff(x, axis=1)[:-1, :, :-1],
        jnp.diff(x, axis=2)[:-1, :-1],
    ]


def rolled(x):
    return [jnp.roll(x, -1, i) - x for i in range(3)]


def padded(x):
    return [jnp.pad(jnp.diff(x, axis=i), [(0, int(i == j)) for j in range(3)]) for i in range(3)]


def denoised(differences):
    def variation(x):
        return jnp.sqrt(sum(d**2 for d in differences(x)) + 1e-6).sum()

    def steps(x, y):
        for _ in range(STEPS):
            x = x - 0.1 * (x - y) - 0.01 * jax.grad(variation)(x)
        return x

    return steps


@pytest.fixture
def volumes():
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.standard_normal((LENGTH,) * 3), jnp.float32) for _ in range(2)]


def needs(compiled):
    m = compiled.memory_analysis()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return held, m.temp_size_in_bytes


@pytest.mark.parametrize("differences", [cropped, rolled, padded])
def test_a_stencil_holds_as_it_is(volumes, differences):
    """No loop: what XLA's fusions take is gone with them."""
    f = denoised(differences)
    stock = jax.jit(f).lower(*volumes).compile()
    held, temporaries = needs(stock)
    limit = held + temporaries // 3
    with weir.limit(limit):
        made = jax.jit(lambda *a: f(*a)).lower(*volumes).compile()
        plan = weir.last_report()
    assert plan.outcome == "rewritten"
    assert "weir.keep" in plan.text
    assert "stablehlo.while" not in plan.text
    assert sum(needs(made)) <= limit
    np.testing.assert_allclose(made(*volumes), stock(*volumes), atol=2e-6)


def test_it_can_be_switched_off(volumes, monkeypatch):
    f = denoised(cropped)
    held, temporaries = needs(jax.jit(f).lower(*volumes).compile())
    monkeypatch.setenv("WEIR_SKIP", "materialise")
    with weir.limit(held + temporaries // 3):
        jax.jit(f).lower(*volumes).compile()
        assert "weir.keep" not in weir.last_report().text
