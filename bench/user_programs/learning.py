"""Losses over all pairs, second derivatives, mixtures of experts."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree

from user_programs.pairs import expanded, in_rows
from user_programs.registry import by_hand, program

SUMS = "gradients by f32 sums over many examples"


def unit(x):
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


@program(8000, 2500, lambda n, r: (r.normal(n, 128), r.normal(n, 128), r.array(2.0)))
def clip_grad(a, b, temperature):
    """CLIP's loss in both directions, with gradients."""

    def loss(a, b, temperature):
        logits = jnp.exp(temperature) * unit(a) @ unit(b).T
        labels = jnp.arange(a.shape[0])[:, None]
        rows = -jnp.take_along_axis(jax.nn.log_softmax(logits, 1), labels, 1).mean()
        columns = -jnp.take_along_axis(jax.nn.log_softmax(logits.T, 1), labels, 1).mean()
        return (rows + columns) / 2

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, temperature)


@by_hand(clip_grad)
def clip_grad_in_rows(a, b, temperature):
    def loss(a, b, temperature):
        a = unit(a)
        b = unit(b)
        scale = jnp.exp(temperature)

        def sums(x, y):
            return in_rows(jax.checkpoint(lambda r: jax.nn.logsumexp(scale * (y @ r))), 400, x)

        return ((sums(a, b) + sums(b, a)) / 2 - scale * (a * b).sum(1)).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(a, b, temperature)


@program(8000, 2500, lambda n, r: (r.normal(n, 64), r.array(0.1)))
def simclr_grad(z, temperature):
    """SimCLR's loss, the diagonal overwritten, with gradient."""

    def loss(z):
        n = z.shape[0]
        i = jnp.arange(n)
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        s = z @ z.T / temperature
        s = s.at[i, i].set(-1e9)
        positive = jnp.roll(i, n // 2)
        return (jax.nn.logsumexp(s, 1) - s[i, positive]).mean()

    return jax.value_and_grad(loss)(z)


@program(6000, 1900, lambda n, r: (r.normal(n, 64), r.integers(50, n)))
def triplet_hard_grad(e, label):
    """The triplet loss of the hardest positives and negatives, with gradient."""

    def loss(e):
        d2 = jnp.maximum(expanded(e, e), 0)
        zero = d2 < 1e-6
        d = jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, d2)))
        same = label[:, None] == label[None]
        other = ~jnp.eye(e.shape[0], dtype=bool)
        positive = jnp.where(same & other, d, -jnp.inf).max(1)
        negative = jnp.where(~same, d, jnp.inf).min(1)
        ok = jnp.isfinite(positive) & jnp.isfinite(negative)
        margin = jax.nn.relu(jnp.where(ok, positive - negative, 0) + 0.2)
        return jnp.where(ok, margin, 0).mean()

    return jax.value_and_grad(loss)(e)


@program(600, 280, lambda n, r: (r.normal(n, 32), r.integers(6, n)), tolerance=5e-4, why=SUMS)
def triplet_all_grad(e, label):
    """The triplet loss of all triplets, n^3, with gradient."""

    def loss(e):
        d = expanded(e, e)
        same = label[:, None] == label[None]
        other = ~jnp.eye(len(label), dtype=bool)
        valid = same[:, :, None] & ~same[:, None, :] & other[:, :, None]
        t = jnp.maximum(d[:, :, None] - d[:, None, :] + 0.5, 0) * valid
        return t.sum() / jnp.maximum((t > 1e-16).sum(), 1)

    return jax.value_and_grad(loss)(e)


@program(
    20_000,
    6300,
    lambda n, r: (
        r.normal(n // 5, 64, scale=0.2),
        r.normal(n // 5, 64, scale=0.2),
        r.normal(n, 64, scale=0.2),
        r.array(0.2),
    ),
)
def momentum_contrast_grad(q, k, queue, temperature):
    """MoCo's loss over a queue, the positive logit concatenated, with gradient."""

    def loss(q):
        positive = jnp.einsum("nc,nc->n", q, k)[:, None]
        logits = jnp.concatenate([positive, q @ queue.T], 1) / temperature
        return -jax.nn.log_softmax(logits, 1)[:, 0].mean()

    return jax.value_and_grad(loss)(q)


@program(5000, 1580, lambda n, r: (r.normal(n, 30, scale=0.3), 0.5 + r.uniform(n), r.normal(n, 2)))
def tsne_grad(x, beta, y):
    """A gradient of t-SNE, exact."""
    n = x.shape[0]
    eye = jnp.eye(n, dtype=bool)
    p = jax.nn.softmax(jnp.where(eye, -jnp.inf, -expanded(x, x) * beta[:, None]), axis=1)
    p = jnp.maximum((p + p.T) / (2 * n), 1e-12)

    def divergence(y):
        q = jnp.where(eye, 0.0, 1 / (1 + expanded(y, y)))
        q = jnp.maximum(q / q.sum(), 1e-12)
        return (p * (jnp.log(p) - jnp.log(q))).sum()

    return jax.value_and_grad(divergence)(y)


@program(
    8000,
    2500,
    lambda n, r: (
        r.normal(n, 32),
        r.integers(5, n),
        r.normal(32, 64, scale=0.2),
        r.normal(64, scale=0.2),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def ranknet_grad(x, y, w1, w2):
    """RankNet's loss over all pairs, with gradients."""

    def loss(w1, w2):
        s = jnp.tanh(x @ w1) @ w2
        wanted = y[:, None] > y[None]
        terms = jnp.where(wanted, jax.nn.log_sigmoid(s[:, None] - s[None]), 0)
        return -terms.sum() / wanted.sum()

    return jax.value_and_grad(loss, (0, 1))(w1, w2)


@program(
    10_000, 3160, lambda n, r: (r.normal(n), r.array(r.integers(4, n))), tolerance=3e-4, why=SUMS
)
def approx_ndcg_grad(s, relevance):
    """A smooth NDCG, ranks by sums of sigmoids, with gradient."""

    def loss(s):
        rank = 0.5 + jax.nn.sigmoid((s[None] - s[:, None]) / 0.1).sum(1)
        return -((2.0**relevance - 1) / jnp.log2(1 + rank)).sum()

    return jax.value_and_grad(loss)(s)


@program(
    800,
    250,
    lambda n, r: (
        r.normal(n, 16),
        [
            r.normal(32, 64, scale=0.2),
            r.normal(64, scale=0.2),
            r.normal(64, 64, scale=0.2),
            r.normal(64, 4, scale=0.1),
        ],
    ),
    tolerance=3e-4,
    why=SUMS,
)
def relation_net_grad(x, p):
    """A relation network: an MLP on all pairs, with gradient."""

    def loss(p):
        n, d = x.shape
        left = jnp.broadcast_to(x[:, None], (n, n, d))
        right = jnp.broadcast_to(x[None], (n, n, d))
        h = jnp.concatenate([left, right], -1)
        h = jax.nn.relu(h @ p[0] + p[1])
        h = jax.nn.relu(h @ p[2])
        return (jnp.tanh(h.sum((0, 1)) / n @ p[3]) ** 2).sum()

    return jax.value_and_grad(loss)(p)


@program(
    256,
    80,
    lambda n, r: (r.normal(8, n, 8), [r.normal(8, 64, scale=0.3), r.normal(64, 64, scale=0.2)]),
    tolerance=3e-4,
    why=SUMS,
)
def edge_convolution_grad(x, p):
    """An edge convolution over all pairs with a maximum, with gradient."""

    def loss(p):
        h = jax.nn.relu(x @ p[0])
        edges = h[:, :, None] - h[:, None]
        m = jax.nn.relu(edges @ p[1]).max(2)
        return (m.mean(1) ** 2).sum()

    return jax.value_and_grad(loss)(p)


@program(
    48,
    5,
    lambda n, r: (r.normal(n, 64, 64, 8), r.normal(200, 16, scale=0.1), r.normal(n, 16)),
    tolerance=3e-4,
    why=SUMS,
)
def patches_grad(x, w, y):
    """A convolution as patches times a matrix, with gradient."""

    def loss(w):
        patches = lax.conv_general_dilated_patches(
            x, (5, 5), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        h = jax.nn.relu(patches.reshape(-1, patches.shape[-1]) @ w)
        h = h.reshape(*patches.shape[:3], -1).mean((1, 2))
        return ((h - y) ** 2).mean()

    return jax.value_and_grad(loss)(w)


@program(
    20_000,
    2000,
    lambda n, r: (r.normal(n, 8), dict(w1=r.normal(8, 24), b1=r.normal(24), w2=r.normal(24, 5))),
    tolerance=3e-4,
    why=SUMS,
)
def gauss_newton(x, p):
    """The Gauss-Newton matrix by per-example Jacobians, and a mean Hessian."""
    flat, unravel = ravel_pytree(p)

    def model(t, x):
        p = unravel(t)
        return jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]

    def squared(t, x):
        return jnp.sum(model(t, x) ** 2)

    jacobian = jax.vmap(jax.jacrev(model), (None, 0))(flat, x)
    hessian = jax.vmap(jax.hessian(squared), (None, 0))(flat, x[:100]).mean(0)
    return jnp.einsum("bop,boq->pq", jacobian, jacobian) / x.shape[0], hessian


def private_loss(p, x, y):
    h = jnp.tanh(x @ p[0])
    h = jnp.tanh(h @ p[1])
    return jnp.sum((h @ p[2] - y) ** 2)


def clipped_sum(p, x, y):
    """The sum of gradients per example, each clipped to length 1."""
    g = jax.vmap(jax.grad(private_loss), (None, 0, 0))(p, x, y)
    length = jnp.sqrt(sum(jnp.sum(a.reshape(a.shape[0], -1) ** 2, 1) for a in g))
    clip = jnp.minimum(1, 1 / length)
    return [jnp.einsum("b,b...->...", clip, a) for a in g]


@program(
    3000,
    400,
    lambda n, r: (
        [r.normal(64, 128, scale=0.2), r.normal(128, 128, scale=0.1), r.normal(128, 4, scale=0.1)],
        r.normal(n, 64),
        r.normal(n, 4),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def private_grad(p, x, y):
    """DP-SGD: gradients per example, clipped, their mean."""
    return [a / x.shape[0] for a in clipped_sum(p, x, y)]


@by_hand(private_grad)
def private_grad_in_blocks(p, x, y):
    def step(total, block):
        return [s + a for s, a in zip(total, clipped_sum(p, *block))], None

    blocks = (x.reshape(-1, 200, 64), y.reshape(-1, 200, 4))
    total, _ = lax.scan(step, [jnp.zeros_like(a) for a in p], blocks)
    return [a / x.shape[0] for a in total]


@program(
    4000, 400, lambda n, r: (r.normal(50, scale=0.3), r.normal(n, 50)), tolerance=3e-4, why=SUMS
)
def wide_jacobian(t, x):
    """One Jacobian forward and in reverse: their product and difference."""

    def f(t):
        return jnp.tanh(x @ t) + jnp.sin(x**2 @ t)

    forward = jax.jacfwd(f)(t)
    reverse = jax.jacrev(f)(t)
    return forward.T @ forward, jnp.abs(forward - reverse).max(), (reverse**2).sum(1)


@program(
    4096,
    1296,
    lambda n, r: (
        r.normal(n, 32),
        r.normal(32, 8),
        r.normal(8, 32, 64, scale=0.2),
        r.normal(8, 64, 32, scale=0.2),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def mixture_of_experts_grad(x, gate, w1, w2):
    """Switch routing by dispatch tensors of tokens x experts x capacity, with gradients."""
    tokens = x.shape[0]
    experts = gate.shape[1]
    capacity = 2 * tokens // experts

    def loss(gate, w1):
        g = jax.nn.softmax(x @ gate, -1)
        chosen = jax.nn.one_hot(jnp.argmax(g, -1), experts)
        place = (jnp.cumsum(chosen, 0) * chosen - chosen).sum(-1).astype(jnp.int32)
        dispatch = chosen[:, :, None] * jax.nn.one_hot(place, capacity)[:, None, :]
        combine = dispatch * g.max(-1)[:, None, None]
        h = jnp.einsum("tec,td->ecd", dispatch, x)
        h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", h, w1))
        out = jnp.einsum("ecf,efd->ecd", h, w2)
        return (jnp.einsum("tec,ecd->td", combine, out) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1))(gate, w1)


@program(
    12000,
    1200,
    lambda n, r: (
        r.normal(n, 256),
        r.normal(256, 8),
        r.normal(8, 256, 512, scale=0.06),
        r.normal(8, 512, 256, scale=0.04),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def mixture_sorted_grad(x, gate, w1, w2):
    """Two experts for each token, by a sort and grouped products, with gradients."""
    k, experts = 2, gate.shape[1]

    def loss(gate, w1, w2):
        weights, ids = lax.top_k(jax.nn.softmax(x @ gate), k)
        order = jnp.argsort(ids.ravel())
        sizes = jnp.bincount(ids.ravel(), length=experts)
        y = lax.ragged_dot(jax.nn.silu(lax.ragged_dot(x[order // k], w1, sizes)), w2, sizes)
        y = y * weights.ravel()[order][:, None]
        return ((x - jnp.zeros_like(x).at[order // k].add(y)) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(gate, w1, w2)


def hash_grid_loss(tables, x, w):
    """Instant NGP's encoding: eight corners of a cell at each of six levels, by their hash."""
    primes = np.array([1, 2654435761 % 2**31, 805459861], np.uint32)

    def features(table, level):
        scaled = x * (16 * 1.5**level)
        cell = jnp.floor(scaled)
        far, total = scaled - cell, 0
        for corner in itertools.product((0, 1), repeat=3):
            corner = np.array(corner, np.uint32)
            hashed = (cell.astype(jnp.uint32) + corner) * primes
            place = (hashed[:, 0] ^ hashed[:, 1] ^ hashed[:, 2]) % table.shape[0]
            weight = jnp.where(corner == 1, far, 1 - far).prod(1)
            total += weight[:, None] * table[place]
        return total

    all_levels = jnp.concatenate([features(tables[i], i) for i in range(len(tables))], 1)
    return (jax.nn.relu(all_levels @ w) ** 2).mean()


@program(
    40_000,
    4000,
    lambda n, r: (
        [r.normal(4 * n, 2) for _ in range(6)],
        r.uniform(n, 3),
        r.normal(12, 16, scale=0.3),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def hash_grid_grad(tables, x, w):
    """Gradients of a hash grid's tables."""
    return jax.grad(hash_grid_loss)(tables, x, w)


@program(
    40_000,
    4000,
    lambda n, r: (r.normal(6, 4 * n, 2), r.uniform(n, 3), r.normal(12, 16, scale=0.3)),
    tolerance=3e-4,
    why=SUMS,
)
def hash_grid_parts_grad(tables, x, w):
    """The same, its tables parts of one array."""
    return hash_grid_grad(tables, x, w)


@program(
    30_000,
    3000,
    lambda n, r: (r.normal(n, 32), r.normal(4096, 16), r.normal(32, 16, scale=0.3)),
    tolerance=3e-4,
    why=SUMS,
)
def vector_quantised_grad(x, codes, w):
    """A VQ-VAE's loss: nearest codes, straight-through gradients, perplexity."""

    def loss(codes, w):
        z = x @ w
        d = (z**2).sum(1, keepdims=True) - 2 * z @ codes.T + (codes**2).sum(1)
        i = jnp.argmin(d, 1)
        q = codes[i]
        through = z + lax.stop_gradient(q - z)
        share = jax.nn.one_hot(i, codes.shape[0]).mean(0)
        perplexity = jnp.exp(-(share * jnp.log(share + 1e-10)).sum())
        error = ((through @ w.T - x) ** 2).mean()
        error = error + ((lax.stop_gradient(z) - q) ** 2).mean()
        return error + 0.25 * ((z - lax.stop_gradient(q)) ** 2).mean(), perplexity

    return jax.value_and_grad(loss, (0, 1), has_aux=True)(codes, w)


@program(
    20_000,
    2000,
    lambda n, r: (r.normal(n, 24), r.array(r.integers(2, n)), r.normal(576, scale=0.1)),
    tolerance=3e-4,
    why=SUMS,
)
def logistic_hessian(x, y, w):
    """Logistic regression on all products of features: gradient and Hessian."""

    def loss(w):
        f = (x[:, :, None] * x[:, None, :]).reshape(x.shape[0], -1)
        z = f @ w
        return (jax.nn.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()

    return jax.value_and_grad(loss)(w), jax.hessian(loss)(w)[:5]


@program(9000, 2850, lambda n, r: (r.normal(n, 16), r.array(np.full(n, 1 / n))))
def page_rank(x, rank):
    """Eight steps of PageRank on a dense similarity graph."""
    s = jax.nn.relu(x @ x.T)
    transition = s / jnp.maximum(s.sum(0, keepdims=True), 1e-9)

    def step(rank, _):
        new = 0.85 * transition @ rank + 0.15 / rank.shape[0]
        return new, jnp.abs(new - rank).sum()

    return lax.scan(step, rank, None, length=8)


@program(
    600,
    280,
    lambda n, r: (r.normal(2 * n // 3, 16), r.normal(5 * n // 6, 16), r.normal(n, 16), r.normal(n)),
)
def three_way(a, b, c, v):
    """A tensor of three factors, squared and contracted."""
    t = jnp.einsum("ia,ja,ka->ijk", a, b, c)
    return jnp.einsum("ijk,k->ij", jnp.square(t), v), jnp.einsum("ijk,ij->k", t, a @ b.T)


@program(
    600,
    280,
    lambda n, r: (
        r.normal(5 * n // 6, 8),
        r.normal(n, 8),
        r.normal(2 * n // 3, 6),
        r.normal(5 * n // 6, 6),
        r.normal(n, 6),
    ),
    tolerance=3e-4,
    why="normal equations",
)
def cp_least_squares(b, c, u, v, w):
    """A step of alternating least squares on a three-way tensor."""
    x = jnp.einsum("ir,jr,kr->ijk", u, v, w)
    khatri_rao = (b[:, None] * c[None]).reshape(-1, b.shape[1])
    m = x.reshape(x.shape[0], -1) @ khatri_rao
    gram = (b.T @ b) * (c.T @ c)
    return jnp.linalg.solve(gram.T, m.T).T, jnp.linalg.norm(x)


@program(7000, 2200, lambda n, r: (r.normal(n, 32), r.integers(10, n)))
def supervised_contrastive_grad(z, labels):
    """The supervised contrastive loss, with gradient."""

    def loss(z):
        scores = unit(z) @ unit(z).T / 0.1
        scores = scores - lax.stop_gradient(scores.max(1, keepdims=True))
        others = 1 - jnp.eye(len(z))
        same = (labels[:, None] == labels[None]) * others
        log = scores - jnp.log((jnp.exp(scores) * others).sum(1, keepdims=True))
        return -((same * log).sum(1) / jnp.maximum(same.sum(1), 1)).mean()

    return jax.value_and_grad(loss)(z)


@program(6000, 1900, lambda n, r: (r.normal(n, 32), r.normal(32, n), r.integers(n, n)))
def arcface_grad(z, w, labels):
    """ArcFace: a margin on the angle of the right class, with gradients."""

    def loss(z, w):
        cosine = jnp.clip(unit(z) @ unit(w.T).T, -1 + 1e-6, 1 - 1e-6)
        right = jax.nn.one_hot(labels, w.shape[1])
        logits = 30 * jnp.where(right > 0, jnp.cos(jnp.arccos(cosine) + 0.5), cosine)
        return -(jax.nn.log_softmax(logits) * right).sum(1).mean()

    return jax.value_and_grad(loss, (0, 1))(z, w)


@program(
    200_000,
    20_000,
    lambda n, r: (r.normal(16, 512, scale=0.3), r.normal(n, 16), r.normal(n, 16)),
    tolerance=3e-4,
    why=SUMS,
)
def barlow_twins_grad(w, x, y):
    """Barlow twins: the correlations of two views' features, with gradient."""

    def features(x, w):
        a = jnp.tanh(x @ w)
        return (a - a.mean(0)) / a.std(0)

    def loss(w):
        c = features(x, w).T @ features(y, w) / len(x)
        diagonal = jnp.diag(c)
        return ((diagonal - 1) ** 2).sum() + 5e-3 * ((c**2).sum() - (diagonal**2).sum())

    return jax.value_and_grad(loss)(w)


@program(
    1500,
    500,
    lambda n, r: (r.normal(n, 32), r.normal(32, 96), r.normal(96, 96, scale=0.1), r.normal(96)),
)
def tangent_kernel(x, a, b, c):
    """The empirical neural tangent kernel: products of all pairs of gradients per sample."""

    def network(p, x):
        return jnp.tanh(jnp.tanh(x @ p[0]) @ p[1]) @ p[2]

    gradients = jax.vmap(jax.grad(network), (None, 0))((a, b, c), x)
    flat = [g.reshape(len(x), -1) for g in gradients[2:]]
    first, second = (jnp.einsum("iab,jab->ij", g, g) for g in gradients[:2])
    return first + second + flat[0] @ flat[0].T


@program(64, 20, lambda n, r: (r.normal(64, 32), r.normal(n, 24, 64), r.normal(n, 80, 64)))
def late_interaction_grad(w, queries, documents):
    """ColBERT: for each word of a query the best word of a document, all pairs, with gradient."""

    def loss(w):
        words = jnp.einsum("aid,bjd->abij", unit(queries @ w), unit(documents @ w))
        scores = words.max(-1).sum(-1)
        return -jnp.diag(jax.nn.log_softmax(5 * scores)).mean()

    return jax.value_and_grad(loss)(w)


@program(512, 51, lambda n, r: ([r.normal(8, 32), r.normal(32, 32), r.normal(32)], r.normal(n, 8)))
def evolution_step(p, x):
    """A step of an evolution strategy: 256 pairs of perturbed networks, weighted by rank."""

    def pair(key):
        keys = jax.random.split(key, 3)
        noise = [jax.random.normal(k, a.shape, a.dtype) for k, a in zip(keys, p)]

        def fitness(scale):
            a, b, c = (w + scale * e for w, e in zip(p, noise))
            return jnp.mean((jnp.tanh(jnp.tanh(x @ a) @ b) @ c - jnp.sin(x[:, 0])) ** 2)

        return fitness(0.1) - fitness(-0.1), noise

    gains, noise = jax.vmap(pair)(jax.random.split(jax.random.key(0), 256))
    ranks = gains.argsort().argsort() / 255 - 0.5
    return [w - 0.01 * jnp.tensordot(ranks, e, 1) for w, e in zip(p, noise)]


@program(6000, 600, lambda n, r: (r.array(r.bools(0.05, n, 2000)), r.normal(2000, 32, scale=0.1)))
def implicit_als(counts, items):
    """Alternating least squares of implicit feedback: a system of equations for each user."""
    common = items.T @ items + 0.1 * jnp.eye(items.shape[1])

    def user(c):
        a = common + (items * (40 * c)[:, None]).T @ items
        return jax.scipy.linalg.solve(a, items.T @ ((1 + 40 * c) * (c > 0)), assume_a="pos")

    return jax.vmap(user)(counts)


@program(
    20_000,
    2000,
    lambda n, r: (r.normal(n, 512), r.integers(127, 512, 1024, dtype=np.int8), r.uniform(1024)),
)
def int8_layer(x, w, scale):
    """A layer of int8 weights; activations are rounded to int8, row by row, first."""
    largest = jnp.abs(x).max(1, keepdims=True) / 127
    rounded = jnp.clip(jnp.round(x / largest), -127, 127).astype(jnp.int8)
    y = lax.dot_general(rounded, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return jax.nn.gelu(y * largest * scale / 64).sum(1)
