"""Programs whose only large values begin with one number: ones, full, masks, matrices that a few
elements or a block are written to. None of it exists whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

N = 600
X = np.random.default_rng(0).standard_normal(N)
LIMIT = 400_000  # the matrix: 2.88 MB
EVERY = jnp.arange(N)

PROGRAMS = {
    "literal": lambda x: np.ones((N, N)) @ x,
    "literal with a diagonal": lambda x: jnp.asarray(np.full((N, N), 2.0)).at[EVERY, EVERY].set(x)
    @ x,
    "diagonal added": lambda x: jnp.exp(-jnp.ones((N, N)).at[EVERY, EVERY].add(x)) @ x,
    "row": lambda x: jnp.ones((N, N)).at[3].set(x) @ x,
    "column": lambda x: jnp.tanh(jnp.zeros((N, N)).at[:, 5].set(x)) @ x,
    "block": lambda x: jnp.tanh(jnp.full((N, N), x[0]).at[10:300, 20:40].set(3.0)) @ x,
    "last rows": lambda x: jnp.tanh(jnp.ones((N, N)).at[-30:].set(x)) @ x,
    "masked": lambda x: jax.nn.softmax(
        x[:, None] * x[None] + jnp.triu(jnp.full((N, N), -jnp.inf), 1), -1
    )
    @ x,
    "rows in a loop": lambda x: jax.lax.fori_loop(
        0, 20, lambda i, a: a.at[i].multiply(x), jnp.ones((N, N))
    )
    @ x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_under_a_limit(name, tmp_path):
    text, split = running.rewrite(PROGRAMS[name], (X,), tmp_path, "--memory-limit", LIMIT)
    program, whole = running.Xla(split), running.Xla(text)
    assert whole.report_bytes() > 2_000_000
    assert program.report_bytes() <= LIMIT
    for found, expected in zip(program(X), whole(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
