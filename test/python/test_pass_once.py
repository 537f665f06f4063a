"""A scan of one step is its step: nothing is stacked."""

import jax
import jax.numpy as jnp
import numpy as np
import weir


def attention(x, weights):
    def layer(h, w):
        q, k, v = h @ w[0], h @ w[1], h @ w[2]
        return h + jax.nn.softmax(q @ k.T / 4, -1) @ v, None

    return (jax.lax.scan(layer, x, weights)[0] ** 2).sum()


def test_gradients_of_a_scan_of_one_step_hold():
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((300, 16), (1, 3, 16, 16)))
    gradient = jax.grad(attention, (0, 1))
    stock = jax.jit(gradient).lower(x, jnp.asarray(0.3 * w)).compile()
    m = stock.memory_analysis()
    limit = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes // 3
    with weir.limit(limit):
        made = jax.jit(lambda *a: gradient(*a)).lower(x, 0.3 * w).compile()
    needs = made.memory_analysis()
    assert needs.argument_size_in_bytes + needs.output_size_in_bytes + needs.temp_size_in_bytes <= limit
    for ours, theirs in zip(made(x, 0.3 * w), stock(x, 0.3 * w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
