"""The programs of bench/kernels.py in plain JAX. `over` maps a function of rows over all of them:
`whole` at once, as a user writes it; `blocks(rows)` split by hand.
"""

import jax
import jax.numpy as jnp
import programs
from jax import lax


def whole(f, *x):
    return f(*x)


def blocks(rows):
    """Blocks of so many rows by lax.map; what is left over in one smaller block."""

    def over(f, *x):
        n = x[0].shape[0]
        even = n // min(rows, n) * min(rows, n)
        blocked = [a[:even].reshape(-1, min(rows, n), *a.shape[1:]) for a in x]
        done = lax.map(lambda b: f(*b), blocked)
        done = jax.tree.map(lambda a: a.reshape(even, *a.shape[2:]), done)
        if even == n:
            return done
        rest = f(*(a[even:] for a in x))
        return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), done, rest)

    over.rows = rows
    return over


def remade(over):
    """For gradients: what a block computed is computed again, not kept."""
    return over if over is whole else lambda f, *x: over(jax.checkpoint(f), *x)


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def matvec(over, x, v):
    return over(lambda xb: jnp.exp(-0.5 * squares(xb, x)) @ v, x)


def matern(over, x, v):
    def rows(xb):
        r = jnp.sqrt(3 * squares(xb, x) + 1e-12)
        return ((1 + r) * jnp.exp(-r)) @ v

    return over(rows, x)


def bilinear(over, x, w, y):
    """Scores of pairs by several matrices, as relation networks have them."""
    scores = lambda xb: jnp.einsum("bi,kij,cj->bck", xb, w, y)
    return over(lambda xb: (jax.nn.relu(scores(xb)) ** 2).sum((1, 2)), x).sum()


def cauchy(over, x, v):
    return over(lambda xb: (1 / (1 + squares(xb, x))) @ v, x)


def gradient(over, x, v):
    """Of v^T K v in the lengthscale and in the points."""

    def value(lengthscale, z):
        z = z / lengthscale
        return v @ remade(over)(lambda zb: jnp.exp(-0.5 * squares(zb, z)) @ v, z)

    return jax.grad(value, (0, 1))(jnp.asarray(1.5, x.dtype), x)


def knn(over, y, q):
    def rows(qb):
        return (qb * qb).sum(1)[:, None] + (y * y).sum(1) - 2 * qb @ y.T

    return over(lambda qb: lax.top_k(-rows(qb), 10), q)


def knn_l1(over, y, q):
    return over(lambda qb: lax.top_k(-jnp.abs(qb[:, None] - y[None]).sum(-1), 10), q)


def cosine(over, y, q):
    def unit(x):
        return x / jnp.linalg.norm(x, axis=1, keepdims=True)

    y = unit(y)
    return over(lambda qb: lax.top_k(unit(qb) @ y.T, 10), q)


def attention(over, q, k, v):
    def head(q, k, v):
        return over(lambda qb: jax.nn.softmax(qb @ k.T / 8, axis=-1) @ v, q)

    return jax.vmap(head)(q, k, v) if over is whole else lax.map(lambda a: head(*a), (q, k, v))


def attention_grad(over, q, k, v):
    def loss(q, k, v):
        return (attention(remade(over), q, k, v) ** 2).sum()

    return jax.value_and_grad(loss, (0, 1, 2))(q, k, v)


def sinkhorn(over, x, y):
    def half(f, a, b):
        return over(lambda ab: -jax.nn.logsumexp(f - squares(ab, b), axis=1), a)

    f = jnp.zeros(x.shape[0], x.dtype)
    for _ in range(3):
        g = half(f, y, x)
        f = half(g, x, y)
    return f


def kde(over, x, y):
    return over(lambda yb: jax.nn.logsumexp(-2 * squares(yb, x), axis=1), y)


def chamfer(over, x, y):
    def distance(x, y):
        def step(a, b):
            return remade(over)(lambda ab: squares(ab, b).min(1), a).mean()

        return step(x, y) + step(y, x)

    return jax.value_and_grad(distance, (0, 1))(x, y)


def cross_entropy(over, x, w, labels):
    """Of a linear layer over a vocabulary, with both gradients. By hand in one pass: a block's
    gradients are made from its logits, while they are there."""

    def loss(x, w, wanted):
        logits = x @ w.T
        picked = jnp.take_along_axis(logits, wanted[:, None], axis=1)[:, 0]
        return (jax.nn.logsumexp(logits, axis=1) - picked).sum() / labels.shape[0]

    value_and_gradients = jax.value_and_grad(loss, (0, 1))
    if over is whole:
        return value_and_gradients(x, w, labels)

    def step(sums, block):
        value, (dx, dw) = value_and_gradients(block[0], w, block[1])
        return (sums[0] + value, sums[1] + dw), dx

    blocked = [a.reshape(-1, min(over.rows, len(a)), *a.shape[1:]) for a in (x, labels)]
    (value, dw), dx = lax.scan(step, (jnp.zeros((), x.dtype), jnp.zeros_like(w)), blocked)
    return value, (dx.reshape(x.shape), dw)


# ---- nothing to gain ----
def neighbour_sums(over, x, y, w, places):
    """Features of a graph's neighbours, weighted."""
    return over(lambda wb, ib: jnp.sum(x[ib] * wb[..., None], 1), w, places)


def neighbour_distances(over, x, y, w, places):
    return over(lambda yb, ib: jnp.sqrt(jnp.sum((yb[:, None] - x[ib]) ** 2, -1)), y, places)


def chosen_keys(over, x, y, w, places):
    """Attention of each query over some of the keys."""

    def rows(q, ib):
        p = jax.nn.softmax(jnp.einsum("md,mkd->mk", q, x[ib]) / 8, -1)
        return jnp.einsum("mk,mkd->md", p, jnp.take(x, ib, axis=0))

    return over(rows, y, places)


def mandelbrot(over, x, y):
    """Steps until it is out, at most 50: n x n values that are iterated, element by element."""

    def rows(xb):
        def step(_, s):
            re, im, steps = s
            inside = re * re + im * im < 4
            new = jnp.where(inside, re * re - im * im + xb[:, None], re)
            return new, jnp.where(inside, 2 * re * im + y, im), steps + inside

        zeros = jnp.zeros((xb.shape[0], y.shape[0]), x.dtype)
        return jnp.sum(lax.fori_loop(0, 50, step, (zeros, zeros, zeros.astype(jnp.int32)))[2], 1)

    return over(rows, x)


def kepler(over, x, y):
    """Newton's method on Kepler's equation, for all anomalies and eccentricities."""
    e = 0.9 * jnp.abs(jnp.tanh(y))

    def rows(xb):
        mean = 3 * xb[:, None] + 0 * e

        def step(_, a):
            return a - (a - e * jnp.sin(a) - mean) / (1 - e * jnp.cos(a))

        return jnp.cos(lax.fori_loop(0, 8, step, mean)).sum(1)

    return over(rows, x)


def mlp_step(over, a, b, c, x, labels):
    def loss(layers):
        hidden = x
        for layer in layers[:-1]:
            hidden = jax.nn.relu(hidden @ layer)
        scores = jax.nn.log_softmax(hidden @ layers[-1])
        return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()

    value, slopes = jax.value_and_grad(loss)((a, b, c))
    return value, *(w - 0.1 * g for w, g in zip((a, b, c), slopes))


def resnet_block(over, x, first, second):
    def convolve(x, kernel):
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, first)), second))


def chain(over, x):
    return jnp.tanh(jnp.exp(-(x**2)) * 3 + x) / (1 + jnp.abs(x))


def sgpr(over, z, hyper, x, y):
    """Titsias' bound and its gradients, as examples/p3_sgpr.py has it."""

    def bound(z, hyper):
        params = dict(inducing=z, lengthscales=hyper[:-2], variance=hyper[-2], noise=hyper[-1])
        return programs.get("p3").load().bound(params, x, y)

    return jax.value_and_grad(bound, argnums=(0, 1))(z, hyper)
