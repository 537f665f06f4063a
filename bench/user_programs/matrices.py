"""Many small matrices: a factorisation, a solve or a decomposition for each of a batch."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl

from user_programs.registry import program


def covariance(factors, noise):
    """Of d dimensions, from k factors."""
    return factors @ factors.T + jnp.diag(1 + noise**2)


@program(400_000, 40_000, lambda n, r: (r.normal(n, 12), r.normal(n, 12, 3), r.normal(n, 12)))
def heteroscedastic_density_grad(x, factors, noise):
    """Log densities of normal distributions, each with a covariance of its own, and gradients."""

    def density(x, factors, noise):
        lower = jnp.linalg.cholesky(covariance(factors, noise))
        z = jsl.solve_triangular(lower, x, lower=True)
        return -0.5 * z @ z - jnp.sum(jnp.log(jnp.diag(lower)))

    return jax.grad(lambda *a: jax.vmap(density)(*a).sum(), (0, 1, 2))(x, factors, noise)


@program(500_000, 50_000, lambda n, r: (r.normal(n, 8), r.normal(n, 8, 8), r.normal(n, 4)))
def kalman_updates(mean, root, seen):
    """One update of a filter per track: gain, mean and the trace of the covariance."""

    def update(mean, root, seen):
        prior = root @ root.T + jnp.eye(8)
        gain = jnp.linalg.solve(prior[:4, :4] + jnp.eye(4), prior[:4]).T
        after = prior - gain @ prior[:4]
        return mean + gain @ (seen - mean[:4]), jnp.trace(after), jnp.linalg.slogdet(after)[1]

    return jax.vmap(update)(mean, root, seen)


@program(300_000, 30_000, lambda n, r: (r.normal(n, 7), r.normal(n, 6)))
def inverse_kinematics_step(angles, target):
    """A damped step of least squares per arm, with the Jacobian of a chain of seven joints."""

    def reach(a):
        turned = jnp.cumsum(a)
        return jnp.concatenate([jnp.cos(turned), jnp.sin(turned)])[:6] * 0.3 + jnp.sin(a[:6])

    def step(a, target):
        j = jax.jacfwd(reach)(a)
        normal = j.T @ j + 0.01 * jnp.eye(7)
        return a + jnp.linalg.inv(normal) @ (j.T @ (target - reach(a)))

    return jax.vmap(step)(angles, target)


@program(400_000, 40_000, lambda n, r: (r.normal(n, 10, 3),))
def surface_normals(points):
    """The direction in which each neighbourhood is flattest."""

    def normal(p):
        c = p - p.mean(0)
        values, vectors = jnp.linalg.eigh(c.T @ c)
        return vectors[:, 0] * jnp.sign(vectors[2, 0]), values[0] / values.sum()

    return jax.vmap(normal)(points)


@program(400_000, 40_000, lambda n, r: (r.normal(n, 8, 3), r.normal(n, 8, 3)))
def procrustes_grad(a, b):
    """How far pairs of point sets are apart after the best rotation, and its gradient."""

    def distance(a, b):
        a, b = a - a.mean(0), b - b.mean(0)
        u, s, vt = jnp.linalg.svd(a.T @ b, full_matrices=False)
        turn = jnp.sign(jnp.linalg.det(u @ vt))
        return (a**2).sum() + (b**2).sum() - 2 * (s[0] + s[1] + turn * s[2])

    return jax.grad(lambda a, b: jax.vmap(distance)(a, b).sum(), (0, 1))(a, b)


@program(200_000, 20_000, lambda n, r: (r.normal(n, 15),))
def rotations_grad(skew):
    """Exponentials of skew matrices applied to a frame, and gradients of where it ends."""
    i, j = jnp.triu_indices(6, 1)

    def end(s):
        a = jnp.zeros((6, 6)).at[i, j].set(s) - jnp.zeros((6, 6)).at[j, i].set(s)
        return (jsl.expm(0.3 * a) @ jnp.arange(6.0))[0]

    return jax.grad(lambda s: jax.vmap(end)(s).sum())(skew)


@program(500_000, 50_000, lambda n, r: (r.normal(n, 12), r.normal(n, 12)))
def local_polynomials(x, y):
    """A cubic per window by least squares: value and slope in the middle."""

    def fit(x, y):
        c, _, _, _ = jnp.linalg.lstsq(jnp.vander(x, 4, increasing=True), y, rcond=None)
        return c[0], c[1]

    return jax.vmap(fit)(x, y)


@program(300_000, 30_000, lambda n, r: (r.normal(n, 6, 6),), x64=True)
def lyapunov_exponents(jacobians):
    """How much each map stretches: QR of products, two steps."""

    def exponents(j):
        q, r = jnp.linalg.qr(jnp.eye(6) + 0.1 * j)
        _, s = jnp.linalg.qr((jnp.eye(6) - 0.1 * j) @ q)
        return jnp.log(jnp.abs(jnp.diag(r))) + jnp.log(jnp.abs(jnp.diag(s)))

    return jax.vmap(exponents)(jacobians)


@program(200_000, 20_000, lambda n, r: (r.normal(n, 8, 8),), x64=True)
def stability(systems):
    """The slowest mode of each linear system."""
    return jax.vmap(lambda a: jnp.max(jnp.linalg.eigvals(a - 3 * jnp.eye(8)).real))(systems)


@program(300_000, 30_000, lambda n, r: (r.uniform(n, 32), r.normal(n, 32)))
def heat_steps_grad(conductivity, heat):
    """An implicit step of diffusion on each rod, and its gradient."""

    def after(k, u):
        below = jnp.concatenate([jnp.zeros(1), -k[:-1]])
        above = jnp.concatenate([-k[:-1], jnp.zeros(1)])
        main = 1 - below - above
        return jax.lax.linalg.tridiagonal_solve(below, main, above, u[:, None])[:, 0] ** 2

    return jax.grad(lambda k, u: jax.vmap(after)(k, u).sum(), (0, 1))(conductivity, heat)


@program(100_000, 10_000, lambda n, r: (80 + r.array(40) * r.uniform(n), r.array(0.2), r.array(0.05)))
def american_puts(strike, volatility, rate):
    """Crank and Nicolson's steps for many strikes, early exercise: one matrix, a column each."""
    price, i, dt = jnp.linspace(0, 300, 200), jnp.arange(200.0), 0.02
    down = 0.25 * dt * ((volatility * i) ** 2 - rate * i).at[0].set(0)
    up = 0.25 * dt * ((volatility * i) ** 2 + rate * i).at[-1].set(0)
    stay = -0.5 * dt * ((volatility * i) ** 2 + rate)

    def put(strike):
        exercise = jnp.maximum(strike - price, 0)

        def step(v, _):
            known = (1 + stay) * v + down * jnp.roll(v, 1) + up * jnp.roll(v, -1)
            v = jax.lax.linalg.tridiagonal_solve(-down, 1 - stay, -up, known[:, None])[:, 0]
            return jnp.maximum(v, exercise), None

        return jnp.interp(100.0, price, jax.lax.scan(step, exercise, None, length=20)[0])

    return jax.vmap(put)(strike)


@program(2000, 200, lambda n, r: (r.uniform(n, 2) + r.array(0.3), r.normal(60, 3), r.normal(60)))
def restarts(hyperparameters, x, y):
    """A Gaussian process at many length scales and noises: marginal likelihoods and gradients."""

    def likelihood(h):
        d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
        lower = jsl.cho_factor(jnp.exp(-0.5 * d2 / h[0] ** 2) + (h[1] + 0.1) * jnp.eye(60), lower=True)
        return -0.5 * y @ jsl.cho_solve(lower, y) - jnp.log(jnp.diag(lower[0])).sum()

    return jax.vmap(jax.value_and_grad(likelihood))(hyperparameters)


@program(
    800_000,
    80_000,
    lambda n, r: (
        r.normal(60, 6, scale=0.1),
        r.normal(5000, 3) + r.array([0, 0, 6]),
        r.integers(60, n),
        r.integers(5000, n),
        r.normal(n, 2),
    ),
    x64=True,
)
def bundle_adjustment_grad(cameras, points, camera, point, seen):
    """What cameras see of points, by Rodrigues' rotations and a robust loss: its gradients."""

    def rotated(w, p):
        angle = jnp.sqrt((w**2).sum(-1, keepdims=True) + 1e-12)
        axis = w / angle
        c, along = jnp.cos(angle), axis * (axis * p).sum(-1, keepdims=True)
        return p * c + jnp.cross(axis, p) * jnp.sin(angle) + along * (1 - c)

    def loss(cameras, points):
        c = cameras[camera]
        p = rotated(c[:, :3], points[point]) + c[:, 3:]
        return jnp.log1p(((p[:, :2] / p[:, 2:] - seen) ** 2).sum(-1)).sum()

    return jax.value_and_grad(loss, (0, 1))(cameras, points)
