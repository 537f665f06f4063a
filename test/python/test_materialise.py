"""What XLA would make again and again is written once: stencils, whose readers shift."""

import random
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import weir

import running

sys.path.insert(0, str(running.ROOT / "bench/experiments"))
from stencils import cropped, denoised, padded, rolled  # noqa: E402

LENGTH = 40


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


# ---- random stencils ----
KINDS = (jnp.float32, jnp.bfloat16, jnp.complex64, jnp.int32)


def moved(dice, x):
    axis, by = dice.randrange(x.ndim), dice.choice([1, -1, 2])
    ways = [
        lambda: jnp.roll(x, by, axis),
        lambda: jnp.flip(x, axis),
        lambda: jnp.swapaxes(x, -1, -2),
        lambda: jnp.pad(jnp.diff(x, axis=axis), [(0, int(d == axis)) for d in range(x.ndim)]),
        lambda: jax.lax.slice_in_dim(jnp.pad(x, 2, mode="edge"), 2 + by, 2 + by + len(x), axis=axis)[
            tuple(slice(None) if d == axis else slice(2, -2) for d in range(x.ndim))
        ],
    ]
    return dice.choice(ways)()


def dear(x):
    """Bounded, steps shrink what differs."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        return (x * x + 3) // 7 % 50
    return x / (jnp.sqrt(abs(x) ** 2 + 4)).astype(x.dtype)


def random_stencil(seed):
    dice = random.Random(seed)
    body, steps, way = dice.random(), dice.choice([1, 2]), dice.choice(["plain", "while", "branch"])

    def step(x):
        dice = random.Random(body)
        for _ in range(steps):
            y = dear(sum(moved(dice, dear(x)) for _ in range(3)))
            x = dear(x + sum(moved(dice, y) for _ in range(3)))
        return x

    def function(x):
        if way == "while":
            return jax.lax.fori_loop(0, 3, lambda _, s: step(s), x)
        if way == "branch":
            return jax.lax.cond(jnp.abs(x).sum() > 1, step, lambda s: s, dear(x))
        return step(x)

    return function


@pytest.mark.parametrize("seed", range(8))
def test_random_stencils_are_what_they_were(seed, monkeypatch):
    """Under two limits, written and not, in place and not."""
    f, kind, is_donated = random_stencil(seed), KINDS[seed % len(KINDS)], seed in (1, 4, 6, 7)
    x = np.random.default_rng(seed).integers(0, 50, (96, 96))
    x = jnp.asarray(x if kind == jnp.int32 else x / 25 - 1, kind)
    compiled = lambda: jax.jit(lambda x: f(x), donate_argnums=(0,) * is_donated).lower(x).compile()  # noqa: E731
    stock = compiled()
    want, (held, temporaries) = np.asarray(stock(jnp.copy(x))), needs(stock)
    rounding = {jnp.bfloat16: 0.05, jnp.int32: 0}.get(kind, 1e-5)
    for skipped in ("", "materialise"):
        monkeypatch.setenv("WEIR_SKIP", skipped)
        for share in (0.4, 0.9):
            limit = held + int(share * temporaries)
            try:
                with weir.limit(limit):
                    made = compiled()
            except Exception as error:
                assert "RESOURCE_EXHAUSTED: weir" in str(error)
                continue
            assert sum(needs(made)) <= limit
            got = np.asarray(made(jnp.copy(x)))
            apart = np.abs(got.astype(complex) - want.astype(complex))
            assert apart.max() <= rounding * (1 + np.abs(want.astype(complex)).max())
