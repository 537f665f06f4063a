"""Ranks, resampling, likelihoods."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.registry import program


@program(
    7000, 2200, lambda n, r: (r.array(r.integers(500, n)), r.array(r.integers(500, n))), x64=True
)
def kendall(x, y):
    """Kendall's tau-b."""
    n = x.shape[0]
    sx = jnp.sign(x[:, None] - x[None])
    sy = jnp.sign(y[:, None] - y[None])
    upper = jnp.triu(jnp.ones((n, n), bool), 1)
    concordant = jnp.where(upper, sx * sy, 0).sum()
    tied_x = (upper & (sx == 0)).sum()
    tied_y = (upper & (sy == 0)).sum()
    pairs = n * (n - 1) / 2
    return concordant / jnp.sqrt((pairs - tied_x) * (pairs - tied_y))


@program(20_000, 6300, lambda n, r: (r.uniform(n), r.integers(2, n), r.normal(n)))
def concordance(time, event, risk):
    """The concordance index of survival times."""
    comparable = (time[:, None] < time[None]) & (event[:, None] == 1)
    concordant = comparable & (risk[:, None] > risk[None])
    tied = comparable & (risk[:, None] == risk[None])
    return (concordant.sum() + 0.5 * tied.sum()) / comparable.sum()


@program(12_000, 3800, lambda n, r: (r.normal(2 * n // 3), r.uniform(2 * n // 3), r.normal(n)))
def auc(positive, weight, negative):
    """A weighted area under the ROC curve over all pairs."""
    w = (positive[:, None] > negative[None]).astype(jnp.float32)
    w = w + 0.5 * (positive[:, None] == negative[None])
    area = (w * weight[:, None]).sum() / (weight.sum() * negative.shape[0])
    return area, w.mean(0).var()


@program(5000, 1580, lambda n, r: (r.normal(n, 12),))
def rank_correlation(x):
    """Spearman's correlations, ranks by comparing all pairs."""
    rank = (x[:, None, :] > x[None, :, :]).sum(1).astype(jnp.float32)
    rank = rank - rank.mean(0)
    c = rank.T @ rank
    return c / jnp.sqrt(jnp.diag(c)[:, None] * jnp.diag(c)[None])


@program(
    5000, 1580, lambda n, r: (np.sort(r.uniform(n)) * 2000, r.array([0.5, 0.4, 1.2])), x64=True
)
def hawkes(t, parameters):
    """A Hawkes process: likelihood, gradient and Hessian."""

    def likelihood(parameters):
        mu, a, b = parameters
        d = t[:, None] - t[None]
        before = jnp.tril(jnp.ones(d.shape, bool), -1)
        kernel = jnp.where(before, jnp.exp(-b * jnp.where(before, d, 0)), 0)
        rate = mu + a * b * kernel.sum(1)
        total = mu * t[-1] + a * (1 - jnp.exp(-b * (t[-1] - t))).sum()
        return jnp.log(rate).sum() - total

    return jax.value_and_grad(likelihood)(parameters), jax.hessian(likelihood)(parameters)


@program(
    200_000,
    20_000,
    lambda n, r: (np.int32(3), r.normal(n), r.array(100), r.array(0.2)),
    tolerance=3e-4,
    why="gradients by f32 sums over the paths",
)
def asian_option(seed, shifts, s0, volatility):
    """An Asian option by Monte Carlo over paths from shifted prices, with delta and vega."""

    def price(s0, volatility):
        z = jax.random.normal(jax.random.key(seed), (shifts.shape[0], 128))
        dt = 1 / 128
        drift = (0.02 - volatility**2 / 2) * dt
        growth = jnp.exp(jnp.cumsum(drift + volatility * math.sqrt(dt) * z, 1))
        path = (s0 + shifts)[:, None] * growth
        return jnp.maximum(path.mean(1) - 100, 0).mean()

    return jax.value_and_grad(price, (0, 1))(s0, volatility)


@program(30_000, 3000, lambda n, r: (r.normal(n), np.int32(1)))
def bootstrap(x, seed):
    """Two thousand bootstrap means: their deviation and quantiles."""
    n = x.shape[0]
    index = jax.random.randint(jax.random.key(seed), (2000, n), 0, n)
    means = x[index].mean(1)
    return means.std(), jnp.quantile(means, jnp.array([0.025, 0.975]))


@program(40_000, 4000, lambda n, r: (r.normal(n), r.array(r.integers(2, n)), np.int32(1)))
def permutation_test(x, label, seed):
    """Five hundred permutations of labels by vmap."""
    keys = jax.random.split(jax.random.key(seed), 500)

    def statistic(key):
        p = jax.random.permutation(key, label)
        return (x * p).sum() / p.sum() - (x * (1 - p)).sum() / (1 - p).sum()

    s = jax.vmap(statistic)(keys)
    return s.mean(), s.std(), (jnp.abs(s) > 0.01).mean()


@program(20_000, 2000, lambda n, r: (r.normal(4000, 8, scale=0.3), r.normal(n, 8), r.normal(n)))
def waic(theta, x, y):
    """The widely applicable information criterion: all draws on all data."""
    lp = -0.5 * (y[None] - theta @ x.T) ** 2 - 0.92
    lppd = (jax.nn.logsumexp(lp, 0) - jnp.log(lp.shape[0])).sum()
    effective = lp.var(0, ddof=1).sum()
    return -2 * (lppd - effective), effective


@program(
    20_000,
    2000,
    lambda n, r: (
        r.normal(n),
        r.uniform(3000) + 0.5,
        r.normal(3000),
        r.integers(n, 10 * n),
        r.integers(3000, 10 * n),
        r.array(r.integers(2, 10 * n)),
    ),
    tolerance=3e-4,
    why="gradients by f32 sums over observations",
)
def irt_grad(ability, discrimination, difficulty, person, item, response):
    """Item response theory with observations scattered into a matrix, with gradients."""

    def loss(ability, discrimination, difficulty):
        z = discrimination[None] * (ability[:, None] - difficulty[None])
        observed = jnp.zeros(z.shape).at[person, item].set(response)
        mask = jnp.zeros(z.shape, bool).at[person, item].set(True)
        right = observed * jax.nn.log_sigmoid(z)
        wrong = (1 - observed) * jax.nn.log_sigmoid(-z)
        return -(jnp.where(mask, right + wrong, 0)).sum()

    return jax.value_and_grad(loss, (0, 1, 2))(ability, discrimination, difficulty)


@program(
    60_000,
    6000,
    lambda n, r: (
        r.normal(n, 8),
        r.normal(64, 8),
        r.array(np.tile(np.eye(8), (64, 1, 1))),
        r.array(np.full(64, -np.log(64))),
    ),
    x64=True,
)
def gmm_em(x, mean, cholesky, log_weight):
    """A step of expectation maximisation of a mixture with full covariances."""
    d = x[:, None] - mean[None]
    z = jnp.einsum("kij,nkj->nki", cholesky, d)
    determinant = jnp.log(jnp.abs(jnp.diagonal(cholesky, axis1=1, axis2=2))).sum(-1)
    lp = log_weight - 0.5 * (z**2).sum(-1) + determinant
    evidence = jax.nn.logsumexp(lp, 1)
    share = jnp.exp(lp - evidence[:, None])
    count = share.sum(0)
    mean = share.T @ x / count[:, None]
    d = x[:, None] - mean[None]
    covariance = jnp.einsum("nk,nki,nkj->kij", share, d, d) / count[:, None, None]
    return mean, covariance, count / x.shape[0], evidence.sum()


@program(2_000_000, 200_000, lambda n, r: (r.bits(2), 40 * r.uniform(n)))
def poisson_counts(key, rates):
    """Counts with rates of their own, by rejection until the last is drawn."""
    return jax.random.poisson(jax.random.wrap_key_data(key), rates, dtype=jnp.int32)


@program(2_000_000, 200_000, lambda n, r: (r.bits(2), 100 * r.uniform(n)))
def binomial_counts(key, trials):
    """Counts of successes in trials of their own, by rejection until the last is drawn."""
    key = jax.random.wrap_key_data(key)
    return jax.random.binomial(key, jnp.floor(trials) + 1, 0.4).astype(jnp.int32)


@program(2_000_000, 200_000, lambda n, r: (20 * r.uniform(n), r.uniform(n)))
def student_tails(freedom, p):
    """A continued fraction that runs until the last has converged."""
    return jax.scipy.special.betainc((freedom + 1) / 2, 0.5, p)


@program(1_000_000, 400_000, lambda n, r: (r.integers(n // 3, n),), counts=True)
def unique_values(x):
    """The values of a column and how often each is there."""
    return jnp.unique(x, size=2000, return_counts=True)


@program(6000, 1900, lambda n, r: (r.normal(n, 3), r.normal(n, 2)), x64=True)
def distance_correlation(x, y):
    """The distance correlation of two samples, by doubly centred distances."""

    def centred(x):
        d = jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
        return d - d.mean(0) - d.mean(1)[:, None] + d.mean()

    a, b = centred(x), centred(y)
    return jnp.sqrt((a * b).mean() / jnp.sqrt((a * a).mean() * (b * b).mean()))


@program(
    10_000,
    3200,
    lambda n, r: (r.normal(5), r.normal(n, 5), r.uniform(n), r.array(r.bools(0.6, n))),
    x64=True,
)
def cox_grad(beta, x, time, event):
    """Cox's partial likelihood over the sets at risk: value, gradient and Hessian."""

    def loss(beta):
        score = x @ beta
        at_risk = time[None] >= time[:, None]
        top = score.max()
        log = jnp.log((at_risk * jnp.exp(score - top)[None]).sum(1)) + top
        return -((score - log) * event).sum() / event.sum()

    return jax.value_and_grad(loss)(beta), jax.hessian(loss)(beta)


@program(7000, 2200, lambda n, r: (r.normal(n), r.normal(n)))
def mutual_information(x, y):
    """Mutual information by nearest neighbours, as Kraskov and others estimate it."""
    n = len(x)
    dx, dy = jnp.abs(x[:, None] - x[None]), jnp.abs(y[:, None] - y[None])
    distance = jnp.maximum(dx, dy) + jnp.where(jnp.eye(n, dtype=bool), jnp.inf, 0)
    radius = jnp.sort(distance, 1)[:, 2:3]
    counts = (dx < radius).sum(1), (dy < radius).sum(1)
    digamma = jax.scipy.special.digamma
    near = sum(digamma(c.astype(jnp.float32)) for c in counts)
    return digamma(3.0) + digamma(float(n)) - near.mean()


@program(
    200_000,
    20_000,
    lambda n, r: (r.array([1.5, 0.04, 0.3, -0.7]), np.int32(3), r.array(np.zeros(n))),
    tolerance=3e-4,
    why="gradients by f32 sums over the paths",
)
def heston_grad(parameters, seed, start):
    """A call under Heston's model by Monte Carlo, with gradients through the steps."""
    steps, paths = 40, len(start)

    def price(parameters):
        speed, level, noise, correlation = parameters
        z = jax.random.normal(jax.random.key(seed), (steps, paths, 2))

        def step(state, z):
            x, v = state
            above = jnp.maximum(v, 0)
            w = correlation * z[:, 0] + jnp.sqrt(1 - correlation**2) * z[:, 1]
            x = x + (0.01 - above / 2) / steps + jnp.sqrt(above / steps) * z[:, 0]
            drift = speed * (level - above) / steps
            return (x, v + drift + noise * jnp.sqrt(above / steps + 1e-9) * w), None

        (x, _), _ = lax.scan(step, (start, jnp.full(paths, 0.04)), z)
        return jnp.maximum(jnp.exp(x) - 1, 0).mean()

    return jax.value_and_grad(price)(parameters)


@program(
    1_000_000,
    100_000,
    lambda n, r: (r.normal(n, 6), r.normal(n, 12), r.normal(n), r.normal(6)),
    x64=True,
)
def moments_newton(x, z, y, b):
    """Generalised moments with instruments, second step: value, gradient and Hessian."""

    def moments(b):
        return z * (y - x @ b)[:, None]

    g = moments(b)
    weight = jnp.linalg.inv(g.T @ g / len(y))

    def criterion(b):
        m = moments(b).mean(0)
        return m @ weight @ m

    return jax.value_and_grad(criterion)(b), jax.hessian(criterion)(b)


@program(30_000, 3000, lambda n, r: (r.normal(n), r.normal(n)))
def lomb_scargle(t, y):
    """The periodogram of samples at times of their own, 200 frequencies."""
    w = jnp.linspace(0.1, 10, 200)[:, None]
    shift = jnp.arctan2(jnp.sin(2 * w * t).sum(1), jnp.cos(2 * w * t).sum(1))[:, None] / (2 * w)
    c, s = jnp.cos(w * (t - shift)), jnp.sin(w * (t - shift))
    return (c @ y) ** 2 / (c * c).sum(1) + (s @ y) ** 2 / (s * s).sum(1)
