"""Kernel matrices: tests, regression, Gaussian processes, clusters."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.pairs import expanded, in_rows, squares
from user_programs.registry import by_hand, program


@program(6000, 1900, lambda n, r: (r.normal(n, 8), r.normal(n, 8) + 0.3, r.array(1.5)))
def mmd_grad(x, y, lengthscale):
    """The squared MMD of two samples, with gradients in one of them and in the lengthscale."""

    def mmd2(x, lengthscale):
        def k(a, b):
            return jnp.exp(-expanded(a, b) / (2 * lengthscale**2))

        n = x.shape[0]
        m = y.shape[0]
        kxx = k(x, x)
        kyy = k(y, y)
        kxy = k(x, y)
        kxx = kxx - jnp.diag(jnp.diag(kxx))
        kyy = kyy - jnp.diag(jnp.diag(kyy))
        return kxx.sum() / (n * (n - 1)) + kyy.sum() / (m * (m - 1)) - 2 * kxy.mean()

    return jax.value_and_grad(mmd2, (0, 1))(x, lengthscale)


@by_hand(mmd_grad)
def mmd_grad_in_rows(x, y, lengthscale):
    def mmd2(x, lengthscale):
        n = x.shape[0]
        m = y.shape[0]

        def total(a, b, without_diagonal):
            @jax.checkpoint
            def row(i, r):
                k = jnp.exp(-((r - b) ** 2).sum(-1) / (2 * lengthscale**2))
                skipped = without_diagonal & (jnp.arange(b.shape[0]) == i)
                return jnp.where(skipped, 0, k).sum()

            return in_rows(row, 500, jnp.arange(a.shape[0]), a).sum()

        own = total(x, x, True) / (n * (n - 1)) + total(y, y, True) / (m * (m - 1))
        return own - 2 * total(x, y, False) / n / m

    return jax.value_and_grad(mmd2, (0, 1))(x, lengthscale)


@program(5000, 1580, lambda n, r: (r.normal(n, 3), r.normal(n, 2)), x64=True)
def hsic(x, y):
    """The Hilbert-Schmidt independence criterion by centred kernels."""

    def centred(k):
        return k - k.mean(0)[None] - k.mean(1)[:, None] + k.mean()

    k = jnp.exp(-squares(x, x))
    l = jnp.exp(-squares(y, y) / 2)
    return (centred(k) * centred(l)).sum() / (x.shape[0] - 1) ** 2


@program(1200, 600, lambda n, r: (r.normal(n, 3), r.normal(n, 2)), x64=True)
def hsic_by_matrices(x, y):
    """The same as its paper has it, by the centring matrix."""
    n = x.shape[0]
    k = jnp.exp(-squares(x, x))
    l = jnp.exp(-squares(y, y) / 2)
    h = jnp.eye(n) - jnp.ones((n, n)) / n
    return jnp.trace(k @ h @ l @ h) / (n - 1) ** 2


@program(3000, 950, lambda n, r: (r.normal(n, 10), r.normal(10), r.array(np.eye(10))))
def svgd(x, mean, precision):
    """A step of Stein variational gradient descent, kernel gradients by vmap of vmap of grad."""

    def logp(z):
        return -0.5 * (z - mean) @ precision @ (z - mean)

    def k(a, b):
        return jnp.exp(-jnp.sum((a - b) ** 2) / 2)

    score = jax.vmap(jax.grad(logp))(x)
    kernel = jax.vmap(lambda a: jax.vmap(lambda b: k(a, b))(x))(x)
    slopes = jax.vmap(lambda a: jax.vmap(lambda b: jax.grad(k)(a, b))(x))(x)
    return x + 0.1 * (kernel @ score + slopes.sum(0)) / x.shape[0]


@by_hand(svgd)
def svgd_in_rows(x, mean, precision):
    score = jax.vmap(lambda z: -precision @ (z - mean))(x)

    def row(b):
        d = x - b
        k = jnp.exp(-(d**2).sum(-1) / 2)
        return k @ score - (k[:, None] * d).sum(0)

    return x + 0.1 * in_rows(row, 200, x) / x.shape[0]


@program(
    15000,
    4700,
    lambda n, r: (r.normal(n, 2), r.normal(n // 4, 2), r.normal(n // 4, 3), r.normal(3, 3)),
    x64=True,
)
def thin_plate(q, x, weights, affine):
    """A thin-plate spline at many points."""
    r2 = squares(q, x)
    safe = jnp.where(r2 == 0, 1.0, r2)
    phi = jnp.where(r2 == 0, 0.0, 0.5 * r2 * jnp.log(safe))
    return phi @ weights + jnp.concatenate([jnp.ones((q.shape[0], 1)), q], 1) @ affine


@by_hand(thin_plate)
def thin_plate_in_rows(q, x, weights, affine):
    def row(a):
        r2 = ((a - x) ** 2).sum(-1)
        safe = jnp.where(r2 == 0, 1.0, r2)
        phi = jnp.where(r2 == 0, 0.0, 0.5 * r2 * jnp.log(safe))
        return phi @ weights + jnp.concatenate([jnp.ones(1), a]) @ affine

    return in_rows(row, 500, q)


@program(9000, 2850, lambda n, r: (r.normal(n, 32), r.integers(16, n)))
def kernel_kmeans(x, assigned):
    """Five rounds of k-means in a kernel's feature space."""
    k = jnp.tanh(0.1 * x @ x.T + 0.2) ** 2

    def step(assigned, _):
        member = jax.nn.one_hot(assigned, 16)
        count = member.sum(0) + 1e-6
        mean = k @ member / count
        within = (member * mean).sum(0) / count
        d = jnp.diag(k)[:, None] - 2 * mean + within
        return jnp.argmin(d, 1).astype(jnp.int32), d.min(1).sum()

    assigned, cost = lax.scan(step, assigned, None, length=5)
    return cost


@program(6000, 1900, lambda n, r: (r.normal(n, 3),))
def mean_shift(x):
    """Four steps of mean shift."""

    def step(_, z):
        w = jnp.exp(-0.5 * squares(z, x) / 0.5**2)
        return (w[:, :, None] * x[None]).sum(1) / w.sum(1, keepdims=True)

    return lax.fori_loop(0, 4, step, x)


@by_hand(mean_shift)
def mean_shift_in_rows(x):
    def row(z):
        w = jnp.exp(-0.5 * ((z - x) ** 2).sum(-1) / 0.5**2)
        return w @ x / w.sum()

    return lax.fori_loop(0, 4, lambda _, z: in_rows(row, 300, z), x)


@program(5000, 1580, lambda n, r: (r.normal(n, 4), r.normal(n, 6)), x64=True)
def spectral(x, v):
    """Power iterations with the normalised Laplacian of a similarity graph."""
    w = jnp.exp(-expanded(x, x) / 2)
    w = w - jnp.diag(jnp.diag(w))
    scale = 1 / jnp.sqrt(w.sum(1))
    laplacian = jnp.eye(x.shape[0]) - scale[:, None] * w * scale[None]

    def step(v, _):
        u = 2 * v - laplacian @ v
        return u / jnp.linalg.norm(u, axis=0), jnp.einsum("ik,ik->k", v, u)

    return lax.scan(step, v, None, length=4)


@by_hand(spectral)
def spectral_in_rows(x, v):
    ids = jnp.arange(x.shape[0])

    def similar(i, a):
        return jnp.where(ids == i, 0, jnp.exp(-((a - x) ** 2).sum(-1) / 2))

    scale = 1 / jnp.sqrt(in_rows(lambda i, a: similar(i, a).sum(), 250, ids, x))

    def step(v, _):
        def row(i, a, own):
            return own * (similar(i, a) @ (scale[:, None] * v))

        u = v + in_rows(row, 250, ids, x, scale)
        return u / jnp.linalg.norm(u, axis=0), jnp.einsum("ik,ik->k", v, u)

    return lax.scan(step, v, None, length=4)


@program(6000, 1900, lambda n, r: (r.normal(n, 10, scale=0.3), r.normal(n, 4)), x64=True)
def kpca(x, v):
    """Kernel PCA: a centred polynomial kernel times vectors."""
    k = (1 + x @ x.T) ** 3
    k = k - k.mean(0, keepdims=True) - k.mean(1, keepdims=True) + k.mean()
    return k @ v


@program(7000, 2200, lambda n, r: (r.normal(n, 5), r.normal(n), r.array([0.8] * 5)))
def nw_loo(x, y, h):
    """Leave-one-out error of Nadaraya-Watson and its gradient in the bandwidths."""

    def error(h):
        k = jnp.exp(-0.5 * squares(x / h, x / h))
        k = k.at[jnp.diag_indices(x.shape[0])].set(0)
        predicted = (k @ y) / (k.sum(1) + 1e-8)
        return ((y - predicted) ** 2).mean()

    return jax.value_and_grad(error)(h)


@by_hand(nw_loo)
def nw_loo_in_rows(x, y, h):
    ids = jnp.arange(x.shape[0])

    def error(h):
        @jax.checkpoint
        def row(i, a):
            k = jnp.where(ids == i, 0, jnp.exp(-0.5 * (((a - x) / h) ** 2).sum(-1)))
            return (k @ y) / (k.sum() + 1e-8)

        return ((y - in_rows(row, 300, ids, x)) ** 2).mean()

    return jax.value_and_grad(error)(h)


def local_line(x, y, z):
    """A line fitted around z, at z."""
    a = jnp.concatenate([jnp.ones((x.shape[0], 1)), x], 1)
    w = jnp.exp(-0.5 * ((x - z) ** 2).sum(1) / 0.3)
    aw = a.T * w
    beta = jnp.linalg.solve(aw @ a + 1e-6 * jnp.eye(a.shape[1]), aw @ y)
    return beta @ jnp.concatenate([jnp.ones(1), z])


@program(
    8000,
    2500,
    lambda n, r: (r.normal(n // 5, 4), r.normal(n, 4), r.normal(n)),
    x64=True,
    tolerance=1e-8,
    why="normal equations far from the data are ill-conditioned",
)
def local_linear(q, x, y):
    """Local linear regression: a weighted fit per query."""
    return jax.vmap(lambda z: local_line(x, y, z))(q)


@by_hand(local_linear)
def local_linear_in_rows(q, x, y):
    return lax.map(lambda z: local_line(x, y, z), q, batch_size=100)


@program(
    4500,
    1420,
    lambda n, r: (r.normal(n, 2), r.normal(n), r.array([1.0, 0.8, 1.3, 0.2, 0.1])),
    x64=True,
)
def gp_composite(x, y, theta):
    """The quadratic form of a GP with a composed kernel, gradients in parameters and weights."""

    def k(a, b, theta):
        d2 = squares(a, b)
        r = jnp.sqrt(jnp.maximum(d2, 1e-12))
        periodic = jnp.exp(-2 * jnp.sin(jnp.pi * r / theta[2]) ** 2)
        return theta[0] * jnp.exp(-d2 / theta[1]) * periodic + theta[3] * (a @ b.T)

    def value(theta, alpha):
        kernel = k(x, x, theta) + theta[4] * jnp.eye(x.shape[0])
        return -0.5 * alpha @ (kernel @ alpha) + y @ alpha

    return jax.value_and_grad(value, (0, 1))(theta, y)


@by_hand(gp_composite)
def gp_composite_in_rows(x, y, theta):
    def value(theta, alpha):
        @jax.checkpoint
        def row(a, own):
            d2 = ((a - x) ** 2).sum(-1)
            r = jnp.sqrt(jnp.maximum(d2, 1e-12))
            periodic = jnp.exp(-2 * jnp.sin(jnp.pi * r / theta[2]) ** 2)
            k = theta[0] * jnp.exp(-d2 / theta[1]) * periodic + theta[3] * (x @ a)
            return own * (k @ alpha + theta[4] * own)

        return -0.5 * in_rows(row, 200, x, alpha).sum() + y @ alpha

    return jax.value_and_grad(value, (0, 1))(theta, y)


@program(
    10000,
    1000,
    lambda n, r: (
        r.normal(n, 8),
        r.normal(600, 8),
        r.normal(600, 600, scale=0.02),
        r.array([2.0] * 8),
    ),
    x64=True,
)
def matern_ard(x, z, a, lengthscales):
    """A trace with a Matern-5/2 kernel and its gradient in one lengthscale per dimension."""

    def value(lengthscales):
        d = (x[:, None] - z[None]) / lengthscales
        r = jnp.sqrt((d**2).sum(-1) + 1e-12)
        s = math.sqrt(5) * r
        k = (1 + s + s**2 / 3) * jnp.exp(-s)
        return jnp.einsum("nm,mk,nk->", k, a, k)

    return jax.value_and_grad(value)(lengthscales)


@by_hand(matern_ard)
def matern_ard_in_rows(x, z, a, lengthscales):
    def value(lengthscales):
        @jax.checkpoint
        def row(b):
            d = (b - z) / lengthscales
            r = jnp.sqrt((d**2).sum(-1) + 1e-12)
            s = math.sqrt(5) * r
            k = (1 + s + s**2 / 3) * jnp.exp(-s)
            return k @ a @ k

        return in_rows(row, 200, x).sum()

    return jax.value_and_grad(value)(lengthscales)


@program(
    7000,
    2200,
    lambda n, r: (r.normal(n, 3), r.normal(n // 9, 3)),
    x64=True,
    tolerance=1e-8,
    why="an inverse of a kernel matrix",
)
def gp_var_diag(xs, x):
    """Predictive variances of a GP by the diagonals of two full matrices."""

    def k(a, b):
        return jnp.exp(-0.5 * expanded(a, b))

    inverse = jnp.linalg.inv(k(x, x) + 0.1 * jnp.eye(x.shape[0]))
    cross = k(xs, x)
    return jnp.diag(k(xs, xs)) - jnp.diag(cross @ inverse @ cross.T)


@program(
    150_000,
    15_000,
    lambda n, r: (
        r.normal(n, 8),
        r.normal(n),
        r.normal(8, 512),
        r.uniform(512) * 6,
        r.normal(2 * n // 5, 8),
    ),
)
def rff_ridge(x, y, w, b, xt):
    """Ridge regression on random Fourier features."""

    def phi(x):
        return jnp.sqrt(2 / w.shape[1]) * jnp.cos(x @ w + b)

    f = phi(x)
    gram = f.T @ f + 1e-1 * jnp.eye(w.shape[1])
    weights = jax.scipy.linalg.solve(gram, f.T @ y, assume_a="pos")
    return phi(xt) @ weights


@program(3000, 950, lambda n, r: (r.normal(n, 6), r.array(np.zeros(6))), x64=True)
def ksd(x, mean):
    """The kernel Stein discrepancy with an inverse multiquadric."""
    n, d = x.shape
    score = -(x - mean)
    difference = x[:, None] - x[None]
    r2 = (difference**2).sum(-1)
    k = (1 + r2) ** -0.5
    k3 = (1 + r2) ** -1.5
    k5 = (1 + r2) ** -2.5
    trace = d * k3 - 3 * r2 * k5
    left = jnp.einsum("id,ijd->ij", score, difference)
    right = jnp.einsum("jd,ijd->ij", score, difference)
    u = (score @ score.T) * k + k3 * (left - right) + trace
    u = u - jnp.diag(jnp.diag(u))
    return u.sum() / (n * (n - 1)), jnp.mean(jnp.square(u.mean(1)))


@program(6000, 1900, lambda n, r: (r.normal(n, 4), r.normal(n), r.array([1.2] * 4)), x64=True)
def gp_cg(x, y, lengthscales):
    """A GP's weights by eight conjugate gradient steps on its kernel matrix."""
    k = jnp.exp(-expanded(x / lengthscales, x / lengthscales) / 2)
    a, _ = jax.scipy.sparse.linalg.cg(lambda v: k @ v + 0.1 * v, y, maxiter=8)
    return a, a @ y


@program(2500, 800, lambda n, r: (r.normal(n, 3), r.normal(n)), x64=True)
def rbf_laplacian(x, w):
    """Gradients and Laplacian of an RBF expansion at its centres, by vmap of hessian."""

    def u(z):
        return w @ jnp.exp(-((x - z) ** 2).sum(1))

    hessians = jax.vmap(jax.hessian(u))(x)
    slopes = jax.vmap(jax.grad(u))(x)
    return jnp.trace(hessians, axis1=1, axis2=2), slopes


@program(8000, 2500, lambda n, r: (r.normal(n, 4), r.array(np.linspace(0.1, 2, 4))))
def kernels_in_map(x, thetas):
    """One kernel matrix after the other in lax.map, as users split by hand."""

    def one(theta):
        k = jnp.exp(-expanded(x, x) * theta)
        return (k @ x).std(), k.mean()

    return lax.map(one, thetas)


@program(
    3000,
    950,
    lambda n, r: (r.normal(n, 4), r.normal(n), r.array(np.linspace(0.2, 3, 8))),
)
def kernel_grid(x, y, lengthscales):
    """Leave-one-out errors of a grid of lengthscales, by vmap."""

    def error(lengthscale):
        k = jnp.exp(-expanded(x, x) / lengthscale)
        k = k - jnp.diag(jnp.diag(k))
        return ((k @ y / (k.sum(1) + 1e-6) - y) ** 2).mean()

    return jax.vmap(error)(lengthscales)


@program(8000, 2500, lambda n, r: (r.normal(n, 5), r.normal(n)))
def median_bandwidth(x, v):
    """A kernel product whose bandwidth is a median of distances."""
    d2 = expanded(x, x)
    part = x.shape[0] // 8
    bandwidth = jnp.median(d2[:part, :part])
    return jnp.exp(-d2 / bandwidth) @ v


@program(
    100, 56, lambda n, r: (r.normal(n, 1), r.normal(n - 10, 1), r.normal(n * (n - 10))), x64=True
)
def kron_gp(x, y, v):
    """A Kronecker product of two kernel matrices, written out, times a vector."""
    kx = jnp.exp(-squares(x, x))
    ky = jnp.exp(-squares(y, y))
    return jnp.kron(kx, ky) @ v


@program(
    4000, 1260, lambda n, r: (r.normal(n, 3), r.normal(n - 10, 3), r.normal(2 * n - 10)), x64=True
)
def block_gp(x, z, v):
    """A GP of two outputs: the kernel matrix as four blocks."""

    def k(a, b, scale):
        return jnp.exp(-expanded(a, b) / scale)

    upper = [k(x, x, 1.0), 0.3 * k(x, z, 2.0)]
    lower = [0.3 * k(z, x, 2.0), k(z, z, 3.0)]
    kernel = jnp.block([upper, lower])
    kernel = kernel + 0.1 * jnp.eye(kernel.shape[0])
    return kernel @ v, v @ kernel @ v


@program(6000, 1900, lambda n, r: (r.normal(n), r.normal(n, 2)), x64=True)
def toeplitz(c, v):
    """A Toeplitz matrix by scipy's function, times vectors."""
    return jax.scipy.linalg.toeplitz(c) @ v


@program(6000, 1900, lambda n, r: (r.normal(n), r.normal(n, 2)), x64=True)
def toeplitz_by_index(c, v):
    """The same by an index matrix, plus an exponential."""
    i = jnp.arange(c.shape[0])
    lag = jnp.abs(i[:, None] - i[None])
    return (c[lag] + jnp.exp(-0.01 * lag)) @ v


@program(
    6000,
    1900,
    lambda n, r: (r.normal(n, 3), r.normal(n, 5)),
    x64=True,
    tolerance=1e-8,
    why="eigenvalues after orthogonal iterations that have not converged",
)
def orth_iter(x, q):
    """Eigenvalues of a diffusion operator by orthogonal iterations."""
    k = jnp.exp(-expanded(x, x))
    k = k / k.sum(1, keepdims=True)
    q = lax.fori_loop(0, 4, lambda _, q: jnp.linalg.qr(k @ q)[0], q)
    return jnp.linalg.eigvalsh(q.T @ k @ q)


@program(7000, 2200, lambda n, r: (r.normal(n, 6), np.sign(r.normal(n))))
def svm_dual(x, y):
    """Five projected gradient steps of a support vector machine's dual."""
    k = jnp.exp(-squares(x, x) / 4)
    q = y[:, None] * y[None] * k

    def step(a, _):
        a = jnp.clip(a - 1e-3 * (q @ a - 1), 0, 1)
        return a, 0.5 * a @ (q @ a) - a.sum()

    return lax.scan(step, jnp.zeros_like(y), None, length=5)


@program(
    3000,
    950,
    lambda n, r: (r.normal(n, 4), r.normal(n), r.array([1.5] * 4)),
    x64=True,
    tolerance=1e-8,
    why="random signs: sums that cancel",
)
def gp_lml_jacobian(x, y, lengthscales):
    """A GP's gradient from the n x n x d Jacobian of its kernel matrix, traces by probes."""
    k = jnp.exp(-expanded(x / lengthscales, x / lengthscales)) + 0.1 * jnp.eye(x.shape[0])
    probes = jnp.sign(jnp.sin(jnp.arange(x.shape[0] * 4.0))).reshape(-1, 4)
    slopes = jax.jacfwd(lambda l: jnp.exp(-expanded(x / l, x / l)))(lengthscales)
    trace = jnp.einsum("np,nmd,mp->d", probes, slopes, probes) / 4
    return trace, jnp.einsum("n,nmd,m->d", y, slopes, y), k @ y


@program(7000, 2200, lambda n, r: (r.normal(n, 8, scale=0.5), r.normal(8, 3), r.normal(n, 3)))
def manifold_regression(x, weights, y):
    """Regression with a graph Laplacian as regulariser, with gradient."""

    def loss(weights):
        f = jnp.tanh(x @ weights)
        w = jnp.exp(-expanded(x, x))
        return ((f - y) ** 2).mean() + 1e-6 * (w * expanded(f, f)).sum()

    return jax.value_and_grad(loss)(weights)


@program(4000, 1265, lambda n, r: (r.normal(n, 5), r.normal(n, 5, scale=1.1)))
def median_heuristic(x, y):
    """A two-sample test whose bandwidth is the median of all distances, and its gradient."""
    z = jnp.concatenate([x[::2], y[::2]])
    median = lax.stop_gradient(jnp.median(squares(z, z)))

    def mmd(x):
        k = [jnp.exp(-squares(a, b) / median).mean() for a, b in ((x, x), (y, y), (x, y))]
        return k[0] + k[1] - 2 * k[2]

    return jax.value_and_grad(mmd)(x)


@program(4000, 1265, lambda n, r: (r.normal(n, 4),))
def distance_quantiles(x):
    """Robust scale of all distances: quartiles, and the median of what differs from the median."""
    d = jnp.sqrt(squares(x, x))
    low, middle, high = jnp.quantile(d, jnp.array([0.25, 0.5, 0.75], x.dtype))
    return high - low, jnp.median(jnp.abs(d - middle))


def marginal_likelihood(distances, theta, x, y):
    """Minus its logarithm, but for a constant: a dense Cholesky factor."""
    length, scale, noise = jnp.exp(theta)
    k = scale * jnp.exp(-0.5 * distances(x / length)) + noise * jnp.eye(len(y))
    factor = jnp.linalg.cholesky(k)
    weights = jax.scipy.linalg.cho_solve((factor, True), y)
    return 0.5 * y @ weights + jnp.log(jnp.diagonal(factor)).sum()


def exact_inputs(n, r):
    return r.array([0.1, -0.2, -1.0]), r.normal(n, 3), r.normal(n)


@program(
    3000,
    950,
    exact_inputs,
    tolerance=1e-2,
    why="solves with a matrix of condition 10^4, twice",
    share=0.65,  # three matrices of five: docs/design/gaussian-process.md
)
def gp_exact(theta, x, y):
    """Exact Gaussian process: marginal likelihood and gradient, distances by a product."""

    def loss(theta):
        return marginal_likelihood(lambda z: expanded(z, z), theta, x, y)

    return jax.value_and_grad(loss)(theta)


@program(
    3000,
    950,
    exact_inputs,
    tolerance=1e-2,
    why="solves with a matrix of condition 10^4, twice",
    share=0.45,  # three matrices of eight
)
def gp_exact_differences(theta, x, y):
    """The same, distances as sums of differences."""

    def loss(theta):
        return marginal_likelihood(
            lambda z: ((z[:, None] - z[None]) ** 2).sum(-1), theta, x, y
        )

    return jax.value_and_grad(loss)(theta)
