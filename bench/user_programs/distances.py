"""Distances of all pairs: neighbours, clusters, shapes, transport."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.pairs import expanded, in_rows, squares
from user_programs.registry import by_hand, program


def boxes_and_scores(n, r):
    corner = r.uniform(n, 2) * 10
    size = r.uniform(n, 2) + 0.1
    return np.concatenate([corner, corner + size], 1), r.uniform(n)


def star(n, r):
    t = np.linspace(0, 6.28, n)
    return r.array(np.stack([np.cos(t) * (1 + 0.3 * np.sin(9 * t)), np.sin(t)], 1))


@program(5000, 1580, lambda n, r: (r.normal(n, 3), r.normal(n, 4)))
def radius_neighbours(x, f):
    """How many points are within a radius, and the mean of their features."""
    d = jnp.linalg.norm(x[:, None] - x[None], axis=-1)
    inside = d < 0.5
    count = inside.sum(1)
    mean = jnp.where(inside[..., None], f[None], 0).sum(1) / count[:, None]
    return count, mean, (inside & (d > 0)).sum()


@program(5000, 1580, lambda n, r: (r.bits(4 * n // 5, 8), r.bits(n, 8)))
def hamming(a, b):
    """The nearest binary codes."""
    d = lax.population_count(a[:, None] ^ b[None]).astype(jnp.int32).sum(-1)
    return jnp.argmin(d, 1), d.min(1), (d < 90).sum()


@program(2500, 800, lambda n, r: (r.bools(0.2, 3 * n // 5, 64), r.bools(0.2, n, 64)))
def jaccard(a, b):
    """The five most similar sets."""
    inter = (a[:, None] & b[None]).sum(-1)
    union = (a[:, None] | b[None]).sum(-1)
    return lax.top_k(inter / jnp.maximum(union, 1), 5)


@program(
    4000, 1260, lambda n, r: (r.normal(n, 12), r.normal(3 * n // 4, 12), r.array(np.eye(12) + 0.1))
)
def mahalanobis(x, y, inverse):
    """Mahalanobis distances by einsum: the nearest, and the mean."""
    d = x[:, None] - y[None]
    m = jnp.sqrt(jnp.einsum("ijk,kl,ijl->ij", d, inverse, d))
    return jnp.argmin(m, 1), m.mean(1)


@by_hand(mahalanobis)
def mahalanobis_in_rows(x, y, inverse):
    def row(a):
        d = a - y
        m = jnp.sqrt(jnp.einsum("jk,kl,jl->j", d, inverse, d))
        return jnp.argmin(m), m.mean()

    return in_rows(row, 100, x)


@program(
    8000,
    2500,
    lambda n, r: (r.uniform(3 * n // 4, 2) * 160 - 80, r.uniform(n, 2) * 160 - 80),
    x64=True,
)
def haversine(p, q):
    """The nearest place on the globe, and how many are within 500 km."""
    lat1 = jnp.deg2rad(p[:, 0])[:, None]
    lon1 = jnp.deg2rad(p[:, 1])[:, None]
    lat2 = jnp.deg2rad(q[:, 0])[None]
    lon2 = jnp.deg2rad(q[:, 1])[None]
    h = jnp.sin((lat2 - lat1) / 2) ** 2
    h = h + jnp.cos(lat1) * jnp.cos(lat2) * jnp.sin((lon2 - lon1) / 2) ** 2
    d = 2 * 6371.0 * jnp.arctan2(jnp.sqrt(h), jnp.sqrt(1 - h))
    i = jnp.argmin(d, 1)
    return i, jnp.take_along_axis(d, i[:, None], 1)[:, 0], (d < 500).sum(1)


@by_hand(haversine)
def haversine_in_rows(p, q):
    lat2 = jnp.deg2rad(q[:, 0])
    lon2 = jnp.deg2rad(q[:, 1])

    def row(a):
        lat1 = jnp.deg2rad(a[0])
        lon1 = jnp.deg2rad(a[1])
        h = jnp.sin((lat2 - lat1) / 2) ** 2
        h = h + jnp.cos(lat1) * jnp.cos(lat2) * jnp.sin((lon2 - lon1) / 2) ** 2
        d = 2 * 6371.0 * jnp.arctan2(jnp.sqrt(h), jnp.sqrt(1 - h))
        i = jnp.argmin(d)
        return i, d[i], (d < 500).sum()

    return in_rows(row, 200, p)


@program(9000, 2850, lambda n, r: (r.normal(n - 1000, 3), r.normal(n, 3)))
def hausdorff(x, y):
    """Hausdorff and Chamfer distance of two clouds."""
    d = jnp.linalg.norm(x[:, None] - y[None], axis=-1)
    farthest = jnp.maximum(d.min(1).max(), d.min(0).max())
    return farthest, d.min(1).mean() + d.min(0).mean()


@program(5000, 1580, lambda n, r: (r.normal(n, 3), r.normal(n, 3) + 0.2), x64=True)
def energy_grad(x, y):
    """The energy distance of two samples, with gradient."""

    def energy(x):
        def distance(a, b):
            s = squares(a, b)
            return jnp.where(s > 0, jnp.sqrt(jnp.where(s > 0, s, 1.0)), 0.0)

        return 2 * distance(x, y).mean() - distance(x, x).mean() - distance(y, y).mean()

    return jax.value_and_grad(energy)(x)


@by_hand(energy_grad)
def energy_grad_in_rows(x, y):
    def energy(x):
        def distance(a, b):
            @jax.checkpoint
            def row(r):
                s = ((r - b) ** 2).sum(-1)
                return jnp.where(s > 0, jnp.sqrt(jnp.where(s > 0, s, 1.0)), 0.0).sum()

            return in_rows(row, 250, a).sum() / a.shape[0] / b.shape[0]

        return 2 * distance(x, y) - distance(x, x) - distance(y, y)

    return jax.value_and_grad(energy)(x)


@program(5000, 1580, lambda n, r: (r.uniform(n, 2), r.array(np.linspace(0.01, 0.5, 20))))
def ripley(x, radii):
    """Ripley's K at twenty radii, by vmap."""
    d = jnp.sqrt(expanded(x, x).clip(0))
    off = ~jnp.eye(x.shape[0], dtype=bool)
    return jax.vmap(lambda r: ((d < r) & off).sum() / x.shape[0])(radii)


@program(8000, 2500, lambda n, r: (r.normal(n, 6),))
def local_outlier_factor(x):
    """The local outlier factor of fifteen neighbours."""
    own = jnp.where(jnp.eye(x.shape[0], dtype=bool), jnp.inf, 0)
    d = jnp.sqrt(jnp.maximum(expanded(x, x), 0) + own)
    nearest, index = lax.top_k(-d, 15)
    radius = -nearest[:, -1]
    reach = jnp.maximum(-nearest, radius[index])
    density = 1 / reach.mean(1)
    return density[index].mean(1) / density


@program(
    4000,
    1260,
    lambda n, r: (r.normal(n, 3),),
    tolerance=1e-4,
    why="distances at the edge of a bin fall on either side: counts, not which pairs",
    counts=True,
)
def pair_histogram(x):
    """A histogram of distances by scattered additions."""
    d = jnp.sqrt(jnp.maximum(expanded(x, x), 0))
    bins = jnp.clip((d * 20).astype(jnp.int32), 0, 99)
    i = jnp.arange(x.shape[0])
    once = (i[:, None] < i[None]).astype(jnp.int32)
    return jnp.zeros(100, jnp.int32).at[bins].add(once)


@program(3000, 950, lambda n, r: (r.normal(n, 3),))
def pair_histogram_numpy(x):
    """The same by jnp.histogram."""
    d = jnp.linalg.norm(x[:, None] - x[None], axis=-1)
    return jnp.histogram(d, bins=50, range=(0.0, 8.0))[0]


@program(8000, 2500, lambda n, r: (r.normal(n, 3),))
def closest_pair(x):
    """The closest and the farthest pair, by argmin of the whole matrix."""
    n = x.shape[0]
    d = jnp.where(jnp.eye(n, dtype=bool), jnp.inf, ((x[:, None] - x[None]) ** 2).sum(-1))
    farthest = jnp.argmax(jnp.where(jnp.isinf(d), -1, d))
    return jnp.unravel_index(jnp.argmin(d), d.shape), d.min(), farthest


@program(
    4000,
    1260,
    lambda n, r: (r.normal(n, 3),),
    tolerance=1e-3,
    why="squares of nearly equal points: stock is 3e-4 from the program in f64",
)
def closest_pairs_topk(x):
    """The twenty closest pairs, by top-k of the whole matrix."""
    n = x.shape[0]
    upper = jnp.triu(jnp.ones((n, n), bool), 1)
    d = jnp.where(upper, expanded(x, x), jnp.inf)
    v, i = lax.top_k(-d.ravel(), 20)
    return -v, i // n, i % n


@program(3000, 950, lambda n, r: (r.normal(n, 3),))
def condensed_distances(x):
    """What scipy's pdist gives, by triu_indices."""
    d = jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    i, j = jnp.triu_indices(x.shape[0], 1)
    c = d[i, j]
    return c.mean(), c.max(), c.min()


@program(4000, 1260, lambda n, r: (r.normal(n, 4), r.normal(n, 3)), x64=True)
def knn_graph(x, v):
    """The Laplacian of a nearest neighbour graph times vectors, the graph as a dense matrix."""
    n = x.shape[0]
    _, index = lax.top_k(-expanded(x, x), 10)
    a = jnp.zeros((n, n)).at[jnp.arange(n)[:, None], index].set(1.0)
    a = jnp.maximum(a, a.T)
    return a.sum(1)[:, None] * v - a @ v


@program(9000, 2850, lambda n, r: (r.normal(n, 2),))
def dbscan(x):
    """Labels of DBSCAN by label propagation in a while loop."""
    n = x.shape[0]
    near = expanded(x, x) < 0.04
    core = near.sum(1) >= 5
    linked = near & core[:, None] & core[None]

    def step(state):
        label, _, round = state
        new = jnp.minimum(label, jnp.where(linked, label[None], n).min(1))
        return new, (new != label).any(), round + 1

    start = (jnp.where(core, jnp.arange(n), n), True, 0)
    label, _, _ = lax.while_loop(lambda s: s[1] & (s[2] < 10), step, start)
    return label, core.sum()


@program(9000, 2850, lambda n, r: (r.normal(n, 3),))
def farthest_points(x):
    """Sixty-four points by farthest point sampling, rows of a distance matrix picked in a scan."""
    d2 = expanded(x, x)

    def step(state, _):
        nearest, i = state
        nearest = jnp.minimum(nearest, d2[i])
        return (nearest, jnp.argmax(nearest)), i

    _, picked = lax.scan(step, (jnp.full(x.shape[0], jnp.inf), 0), None, length=64)
    return picked


@program(5000, 1580, lambda n, r: (r.normal(n, 4),))
def row_quantiles(x):
    """Quantiles of distances per point, and a kernel scaled by them."""
    d = jnp.sqrt(jnp.maximum(expanded(x, x), 0))
    q = jnp.quantile(d, jnp.array([0.1, 0.5, 0.9]), axis=1)
    scale = q[1]
    return q, jnp.exp(-(d**2) / (scale[:, None] * scale[None])).sum(1)


@program(4000, 1260, lambda n, r: (r.uniform(n, 6),), x64=True)
def discrepancy(x):
    """The centred discrepancy of a design."""
    n, d = x.shape
    a = jnp.abs(x - 0.5)
    single = jnp.prod(1 + a / 2 - a * a / 2, 1).sum()
    factors = 1 + a[:, None] / 2 + a[None] / 2 - jnp.abs(x[:, None] - x[None]) / 2
    return (13 / 12) ** d - 2 / n * single + jnp.prod(factors, -1).sum() / n**2


@by_hand(discrepancy)
def discrepancy_in_rows(x):
    n, d = x.shape
    a = jnp.abs(x - 0.5)
    single = jnp.prod(1 + a / 2 - a * a / 2, 1).sum()

    def row(b, c):
        return jnp.prod(1 + b / 2 + a / 2 - jnp.abs(c - x) / 2, -1).sum()

    return (13 / 12) ** d - 2 / n * single + in_rows(row, 200, a, x).sum() / n**2


@program(
    8000,
    2500,
    lambda n, r: (r.normal(n, 2), r.normal(n)),
    tolerance=1e-3,
    why="a sum of products of either sign that nearly cancels",
)
def morans_i(x, v):
    """Moran's I, weights by inverse squared distance."""
    i = jnp.arange(len(v))
    w = 1 / (1 + jnp.linalg.norm(x[:, None] - x[None], axis=-1) ** 2)
    w = w.at[i, i].set(0.0)
    w = w / w.sum(1, keepdims=True)
    z = v - v.mean()
    return len(v) / w.sum() * (z @ w @ z) / (z @ z), jnp.square(w + w.T).sum()


@program(5000, 1580, boxes_and_scores)
def nms(boxes, scores):
    """Greedy suppression of overlapping boxes, one row of overlaps per step."""
    order = jnp.argsort(-scores)
    b = boxes[order]
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    low = jnp.maximum(b[:, None, :2], b[None, :, :2])
    high = jnp.minimum(b[:, None, 2:], b[None, :, 2:])
    size = jnp.maximum(high - low, 0)
    inter = size[..., 0] * size[..., 1]
    overlap = inter / (area[:, None] + area[None] - inter)
    n = b.shape[0]

    def step(i, keep):
        dropped = (overlap[i] > 0.5) & (jnp.arange(n) > i)
        return jnp.where(keep[i], keep & ~dropped, keep)

    return lax.fori_loop(0, n, step, jnp.ones(n, bool)), order


@program(5000, 1580, boxes_and_scores)
def matrix_nms(boxes, scores):
    """The soft suppression of SOLO: all overlaps at once."""
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    low = jnp.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = jnp.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    inter = jnp.prod(jnp.clip(high - low, 0), -1)
    overlap = jnp.triu(inter / (area[:, None] + area[None] - inter), 1)
    most = overlap.max(0)
    decay = jnp.exp(-2 * (overlap**2 - most[:, None] ** 2)).min(0)
    return scores * decay


@program(
    7000,
    2200,
    lambda n, r: (
        r.uniform(n - 1000, 2),
        r.uniform(n, 2),
        r.array(np.full(n - 1000, 1 / (n - 1000))),
        r.array(np.full(n, 1 / n)),
    ),
    x64=True,
)
def sinkhorn_until(x, y, a, b):
    """Sinkhorn's iterations until they converge; the cost of the plan."""
    k = jnp.exp(-expanded(x, y) / 0.5)

    def step(state):
        u, v, i, _ = state
        u = a / (k @ v)
        v = b / (k.T @ u)
        return u, v, i + 1, jnp.abs(u * (k @ v) - a).sum()

    start = (jnp.ones_like(a), jnp.ones_like(b), 0, jnp.inf)
    u, v, i, _ = lax.while_loop(lambda s: (s[3] > 1e-6) & (s[2] < 6), step, start)
    plan = u[:, None] * k * v[None]
    return (plan * expanded(x, y)).sum(), u, i


@program(2600, 820, lambda n, r: (r.uniform(n - 100, 2), r.uniform(n, 2)), x64=True)
def transport_grad(x, y):
    """The gradient through four log-domain Sinkhorn iterations."""

    def loss(x):
        cost = expanded(x, y)

        def step(potentials, _):
            f, g = potentials
            f = -0.1 * jax.nn.logsumexp((g[None] - cost) / 0.1, 1)
            g = -0.1 * jax.nn.logsumexp((f[:, None] - cost) / 0.1, 0)
            return (f, g), None

        start = (jnp.zeros(x.shape[0]), jnp.zeros(y.shape[0]))
        (f, g), _ = lax.scan(step, start, None, length=4)
        return (jnp.exp((f[:, None] + g[None] - cost) / 0.1) * cost).sum()

    return jax.value_and_grad(loss)(x)


@program(30_000, 3000, lambda n, r: (r.normal(n, 8), r.normal(n, 8), r.normal(8, 600)))
def sliced_wasserstein(x, y, directions):
    """Wasserstein distances of six hundred projections, by sorting."""
    a = jnp.sort(x @ directions, 0)
    b = jnp.sort(y @ directions, 0)
    return jnp.sqrt(((a - b) ** 2).mean())


@program(60_000, 6000, lambda n, r: (r.normal(n, 2), star(2500, r)))
def point_in_polygon(p, polygon):
    """Which points lie within a polygon: crossings of all edges."""
    a = polygon
    b = jnp.roll(polygon, -1, 0)
    crosses = (a[None, :, 1] > p[:, None, 1]) != (b[None, :, 1] > p[:, None, 1])
    slope = (b[:, 0] - a[:, 0])[None] * (p[:, None, 1] - a[None, :, 1])
    at = slope / (b[:, 1] - a[:, 1])[None] + a[None, :, 0]
    return (crosses & (p[:, None, 0] < at)).sum(1) % 2 == 1


@program(12_000, 3800, lambda n, r: (r.normal(n),))
def matrix_profile(x):
    """The nearest other window of each window of a series, z-normalised, by all correlations."""
    width = 50
    start = jnp.arange(len(x) - width + 1)
    w = x[start[:, None] + jnp.arange(width)]
    w = (w - w.mean(1, keepdims=True)) / w.std(1, keepdims=True)
    d = jnp.sqrt(jnp.maximum(2 * width - 2 * w @ w.T, 0))
    d = jnp.where(jnp.abs(start[:, None] - start[None]) < width // 2, jnp.inf, d)
    return d.min(1), d.argmin(1)
