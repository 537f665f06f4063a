"""The programs of examples/ as an expert splits them by hand in JAX; references for the answers.

In:   the same inputs as the example's run(), and the number of rows of a block.
Out:  the same outputs.
Idea: a loop over blocks of rows that stacks results in place; where gradients are wanted, a
      checkpointed block in a scan.  (lax.map(batch_size=...) over single rows is 2.5 times slower
      for the kernel matvec: vmap turns its products around.)
      The functions follow the dtype of their inputs, so in f64 they are also the reference.
      Block lengths were swept on 2 cores (bench/tune.py) and the best taken.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import lax
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular
from jax.scipy.sparse.linalg import cg
from scipy.spatial.distance import cdist


def sum_over_blocks(f, rows, arrays):
    """Sum of f(*block) over blocks of `rows` rows of the arrays; the rest is one shorter block."""
    n = arrays[0].shape[0]
    whole = n - n % rows
    blocks = [a[:whole].reshape(n // rows, rows, *a.shape[1:]) for a in arrays]
    shapes = jax.eval_shape(f, *[b[0] for b in blocks])
    total = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    add = functools.partial(jax.tree.map, jnp.add)
    total = lax.scan(lambda acc, b: (add(acc, f(*b)), None), total, blocks)[0]
    return add(total, f(*[a[whole:] for a in arrays])) if n % rows else total


def map_blocks(f, rows, array):
    """f over blocks of `rows` rows, results stacked in place; the last one may overlap another."""
    n = array.shape[0]
    rows = min(rows, n)
    shapes = jax.eval_shape(f, jax.ShapeDtypeStruct((rows, *array.shape[1:]), array.dtype))
    out = jax.tree.map(lambda s: jnp.zeros((n, *s.shape[1:]), s.dtype), shapes)

    def body(i, out):
        start = jnp.minimum(i * rows, n - rows)
        block = f(lax.dynamic_slice_in_dim(array, start, rows))
        return jax.tree.map(
            lambda o, b: lax.dynamic_update_slice_in_dim(o, b, start, 0), out, block
        )

    return lax.fori_loop(0, -(-n // rows), body, out)


def kernel_matvec(rows, x, v, variance=1.5, lengthscale=2.0):
    x = x / lengthscale
    norms = jnp.sum(x * x, axis=1)

    def block(xb):
        d2 = jnp.sum(xb * xb, axis=1)[:, None] + norms[None, :] - 2.0 * xb @ x.T
        return variance * jnp.exp(-0.5 * jnp.maximum(d2, 0.0)) @ v

    return map_blocks(block, rows, x)


def knn_expanded(rows, data, queries, k):
    norms = jnp.sum(data**2, axis=1)

    def block(q):
        d2 = jnp.sum(q**2, axis=1)[:, None] - 2.0 * q @ data.T + norms[None, :]
        negative, index = lax.top_k(-d2, k)
        return -negative, index

    return map_blocks(block, rows, queries)


def knn_broadcast(rows, data, queries, k):
    def block(q):
        d2 = jnp.sum((q[:, None, :] - data[None, :, :]) ** 2, axis=-1)
        negative, index = lax.top_k(-d2, k)
        return -negative, index

    return map_blocks(block, rows, queries)


def knn_manhattan(rows, data, queries, k):
    def block(q):
        distance = jnp.sum(jnp.abs(q[:, None, :] - data[None, :, :]), axis=-1)
        negative, index = lax.top_k(-distance, k)
        return -negative, index

    return map_blocks(block, rows, queries)


def knn_cosine(rows, data, queries, k):
    lengths = jnp.linalg.norm(data, axis=1)

    def block(q):
        distance = 1.0 - q @ data.T / (jnp.linalg.norm(q, axis=1)[:, None] * lengths[None, :])
        negative, index = lax.top_k(-distance, k)
        return -negative, index

    return map_blocks(block, rows, queries)


def sgpr_bound(rows, params, x, y, jitter=1e-6):
    n, m = x.shape[0], params["inducing"].shape[0]
    scale, sigma2 = params["lengthscales"], params["noise"]
    z = params["inducing"] / scale
    zz = jnp.sum(z * z, axis=1)

    def kernel(d2):
        return params["variance"] * jnp.exp(-0.5 * d2)

    kuu = kernel(zz[:, None] + zz[None, :] - 2.0 * z @ z.T) + jitter * jnp.eye(m, dtype=x.dtype)
    chol = jnp.linalg.cholesky(kuu)

    @jax.checkpoint
    def block(xb, yb):
        xb = xb / scale
        xx = jnp.sum(xb * xb, axis=1)
        a = solve_triangular(chol, kernel(zz[:, None] + xx[None, :] - 2.0 * z @ xb.T), lower=True)
        return a @ a.T, a @ yb

    aat, ay = sum_over_blocks(block, rows, (x, y))
    aat = aat / sigma2
    chol_b = jnp.linalg.cholesky(aat + jnp.eye(m, dtype=x.dtype))
    c = solve_triangular(chol_b, ay, lower=True) / sigma2
    half_logdet = jnp.sum(jnp.log(jnp.diag(chol_b))) + 0.5 * n * jnp.log(sigma2)
    trace = n * params["variance"] / sigma2 - jnp.trace(aat)
    quadratic = jnp.sum(y * y) / sigma2 - jnp.sum(c * c)
    return -0.5 * n * jnp.log(2.0 * jnp.pi) - half_logdet - 0.5 * quadratic - 0.5 * trace


def sgpr_numpy(params, x, y, rows=2000, jitter=1e-6):
    """Titsias' bound with NumPy and SciPy, by the same formulas."""
    n, m, sigma2 = len(x), len(params["inducing"]), params["noise"]

    def kernel(a, b):
        d2 = cdist(a / params["lengthscales"], b / params["lengthscales"], "sqeuclidean")
        return params["variance"] * np.exp(-0.5 * d2)

    z = params["inducing"]
    chol = scipy.linalg.cholesky(kernel(z, z) + jitter * np.eye(m), lower=True)
    aat, ay = np.zeros((m, m)), np.zeros(m)
    for i in range(0, n, rows):
        a = scipy.linalg.solve_triangular(chol, kernel(z, x[i : i + rows]), lower=True)
        aat += a @ a.T / sigma2
        ay += a @ y[i : i + rows]
    chol_b = scipy.linalg.cholesky(aat + np.eye(m), lower=True)
    c = scipy.linalg.solve_triangular(chol_b, ay, lower=True) / sigma2
    logdet = np.sum(np.log(np.diag(chol_b))) + 0.5 * n * np.log(sigma2)
    trace = n * params["variance"] / sigma2 - np.trace(aat)
    quadratic = y @ y / sigma2 - c @ c
    return float(-0.5 * n * np.log(2.0 * np.pi) - logdet - 0.5 * quadratic - 0.5 * trace)


def sgpr(rows, params, x, y):
    return jax.value_and_grad(functools.partial(sgpr_bound, rows))(params, x, y)


def attention_block(query, key, value):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) / np.sqrt(query.shape[-1]).astype(
        query.dtype
    )
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), value)


def query_blocks(rows, x):
    """[b, h, s, d] -> [s / rows, b, h, rows, d]"""
    b, h, s, d = x.shape
    assert s % rows == 0, "the sequence is a multiple of the block"
    return jnp.moveaxis(x.reshape(b, h, s // rows, rows, d), 2, 0)


def attention(rows, query, key, value):
    out = lax.map(lambda q: attention_block(q, key, value), query_blocks(rows, query))
    return jnp.moveaxis(out, 0, 2).reshape(query.shape)


def attention_loss(rows, query, key, value, target):
    @jax.checkpoint
    def block(blocks):
        q, goal = blocks
        return 0.5 * jnp.sum((attention_block(q, key, value) - goal) ** 2)

    return jnp.sum(lax.map(block, (query_blocks(rows, query), query_blocks(rows, target))))


def attention_grad(rows, query, key, value, target):
    f = functools.partial(attention_loss, rows)
    return jax.value_and_grad(f, argnums=(0, 1, 2))(query, key, value, target)


def mlp(rows, params, x):
    def block(xb):
        return jax.nn.relu(xb @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]

    return map_blocks(block, rows, x)


def vmap_set(rows, x):
    sums = jax.vmap(lambda i: x.at[i].set(7.0).sum())
    return map_blocks(sums, rows, jnp.arange(x.shape[0]))


def cross_entropy(rows, x, w, labels):
    """Over blocks of the vocabulary, twice: a running logsumexp, then the gradients."""
    n, vocabulary = x.shape[0], w.shape[1]
    assert vocabulary % rows == 0, "the vocabulary is a multiple of the block"
    count = vocabulary // rows
    w_labels = w[:, labels]

    def w_block(i):
        return lax.dynamic_slice_in_dim(w, i * rows, rows, axis=1)

    def add_block(i, running):
        largest, total = running
        logits = x @ w_block(i)
        now = jnp.maximum(largest, jnp.max(logits, axis=1))
        return now, total * jnp.exp(largest - now) + jnp.sum(jnp.exp(logits - now[:, None]), axis=1)

    start = jnp.full(n, -jnp.inf, x.dtype), jnp.zeros(n, x.dtype)
    largest, total = lax.fori_loop(0, count, add_block, start)
    log_total = largest + jnp.log(total)

    def gradients(i, sums):
        dx, dw = sums
        wb = w_block(i)
        p = jnp.exp(x @ wb - log_total[:, None]) / n
        return dx + p @ wb.T, lax.dynamic_update_slice_in_dim(dw, x.T @ p, i * rows, axis=1)

    dx, dw = lax.fori_loop(0, count, gradients, (jnp.zeros_like(x), jnp.zeros_like(w)))
    loss = jnp.mean(log_total - jnp.sum(x * w_labels.T, axis=1))
    return loss, (dx - w_labels.T / n, dw.at[:, labels].add(-x.T / n))


def bincounts(rows, *columns, levels=16):
    def block(*parts):
        return [jnp.bincount(a * levels + b, length=levels**2) for a in parts for b in parts]

    return sum_over_blocks(block, rows, columns)


def sinkhorn(rows, x, y, epsilon=0.5, steps=20):
    """The distance coordinate by coordinate: five times faster than a sum over the last axis."""

    def cost(a, b):
        return sum((a[:, j, None] - b[None, :, j]) ** 2 for j in range(a.shape[1])) / epsilon

    def half(a, b, potential):
        def block(ab):
            log_sum = jax.nn.logsumexp(potential[None, :] - cost(ab, b), axis=1)
            return (-jnp.log(a.shape[0]) - log_sum).astype(a.dtype)

        return map_blocks(block, rows, a)

    def iteration(_, potentials):
        f = half(x, y, potentials[1])
        return f, half(y, x, f)

    start = jnp.zeros(x.shape[0], x.dtype), jnp.zeros(y.shape[0], x.dtype)
    return lax.fori_loop(0, steps, iteration, start)


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5) * scale + bias


def encoder(rows, params, x, heads=8):
    """One example after the other, through all layers; inside, blocks of queries."""

    def one(x):
        s, d = x.shape
        for p in params:
            q, k, v = jnp.moveaxis((x @ p["qkv"]).reshape(s, 3, heads, d // heads), (1, 2), (0, 1))

            def block(qb, k=k, v=v):
                out = attention_block(jnp.moveaxis(qb, 0, 1)[None], k[None], v[None])
                return jnp.moveaxis(out[0], 1, 0)

            out = map_blocks(block, rows, jnp.moveaxis(q, 1, 0)).reshape(s, d) @ p["out"]
            x = layer_norm(x + out, p["scale1"], p["bias1"])
            x = x + jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
            x = layer_norm(x, p["scale2"], p["bias2"])
        return x

    return lax.map(one, x)


def wide_mlp(rows, params, x, y):
    """Over blocks of hidden units, twice: the prediction, then the gradients by the chain rule."""
    w1, b1, w2 = params["w1"], params["b1"], params["w2"]
    n, hidden = x.shape[0], w2.shape[0]
    assert hidden % rows == 0, "the hidden layer is a multiple of the block"

    def unit_block(i):
        part = functools.partial(lax.dynamic_slice_in_dim, start_index=i * rows, slice_size=rows)
        return jnp.tanh(x @ part(w1, axis=1) + part(b1)), part(w2)

    def predict(i, total):
        h, w = unit_block(i)
        return total + h @ w

    start = jnp.full(n, params["b2"], x.dtype)
    residual = lax.fori_loop(0, hidden // rows, predict, start) - y
    scaled = 2.0 * residual / n

    def gradients(i, grads):
        h, w = unit_block(i)
        dz = scaled[:, None] * w[None, :] * (1.0 - h * h)
        at = functools.partial(lax.dynamic_update_slice_in_dim, start_index=i * rows)
        return {
            "w1": at(grads["w1"], x.T @ dz, axis=1),
            "b1": at(grads["b1"], jnp.sum(dz, axis=0), axis=0),
            "w2": at(grads["w2"], scaled @ h, axis=0),
            "b2": grads["b2"],
        }

    grads = jax.tree.map(jnp.zeros_like, params) | {"b2": jnp.sum(scaled)}
    grads = lax.fori_loop(0, hidden // rows, gradients, grads)
    return jnp.mean(residual**2), grads


def kernel_cg(rows, x, y, z, steps, noise=0.1, lengthscale=2.0):
    m, norms = z.shape[0], jnp.sum(x * x, axis=1)

    def kernel(a, b):
        d2 = jnp.sum(a * a, axis=1)[:, None] + jnp.sum(b * b, axis=1)[None, :] - 2.0 * a @ b.T
        return jnp.exp(-0.5 * d2 / lengthscale**2)

    def matvec(v):
        def block(xb):
            d2 = jnp.sum(xb * xb, axis=1)[:, None] + norms[None, :] - 2.0 * xb @ x.T
            return jnp.exp(-0.5 * d2 / lengthscale**2) @ v

        return map_blocks(block, rows, x) + noise * v

    chol = jnp.linalg.cholesky(kernel(z, z) + 1e-6 * jnp.eye(m, dtype=x.dtype))
    low_rank = solve_triangular(chol, kernel(z, x), lower=True)
    inner = cho_factor(noise * jnp.eye(m, dtype=x.dtype) + low_rank @ low_rank.T, lower=True)

    def inverse(r):
        return (r - low_rank.T @ cho_solve(inner, low_rank @ r)) / noise

    return cg(matvec, y, tol=0.0, maxiter=steps, M=inverse)[0]


def knn_numpy(data, queries, k, metric="squared", rows=4):
    """Exact neighbours in f64 with NumPy; ties by index, as top_k has them."""
    data, queries = np.asarray(data, np.float64), np.asarray(queries, np.float64)
    norms = np.sum(data * data, axis=1)
    distance, index = [], []
    for i in range(0, len(queries), rows):
        q = queries[i : i + rows]
        if metric == "manhattan":
            d2 = cdist(q, data, "cityblock")
        elif metric == "cosine":
            d2 = 1.0 - q @ data.T / np.sqrt(np.sum(q * q, axis=1)[:, None] * norms)
        else:
            d2 = np.sum(q * q, axis=1)[:, None] + norms - 2.0 * q @ data.T
        near = np.sort(np.argpartition(d2, k, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(d2, near, 1), axis=1, kind="stable")
        index.append(np.take_along_axis(near, order, 1))
        distance.append(np.take_along_axis(d2, index[-1], 1))
    return np.concatenate(distance), np.concatenate(index)
