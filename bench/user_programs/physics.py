"""Particles, waves, rays, images."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.pairs import expanded, in_rows, squares
from user_programs.registry import by_hand, program


@program(5000, 1580, lambda n, r: (r.normal(n, 3), r.uniform(n)), x64=True)
def nbody(x, mass):
    """Accelerations of n bodies, by vmap of vmap of a pair's."""

    def pair(i, j, a, b, mass):
        d = b - a
        r2 = jnp.sum(d * d) + 1e-4
        return jnp.where(i == j, 0.0, mass * d / (r2 * jnp.sqrt(r2)))

    ids = jnp.arange(x.shape[0])
    pairs = jax.vmap(jax.vmap(pair, (None, 0, None, 0, 0)), (0, None, 0, None, None))
    return pairs(ids, ids, x, x, mass).sum(1)


@by_hand(nbody)
def nbody_in_rows(x, mass):
    def row(a):
        d = x - a
        r2 = (d * d).sum(-1) + 1e-4
        return (mass[:, None] * d / (r2 * jnp.sqrt(r2))[:, None]).sum(0)

    return in_rows(row, 250, x)


@program(3000, 950, lambda n, r: (r.uniform(n, 3) * 3, r.rng.choice([-1.0, 1.0], n)), x64=True)
def ewald(x, charge):
    """The real part of an Ewald sum: energy and forces."""
    side = 3.0

    def energy(x):
        d = x[:, None] - x[None]
        d = d - side * jnp.round(d / side)
        r2 = (d**2).sum(-1)
        eye = jnp.eye(x.shape[0], dtype=bool)
        r = jnp.sqrt(jnp.where(eye, 1.0, r2))
        term = charge[:, None] * charge[None] * jax.scipy.special.erfc(r) / r
        return 0.5 * jnp.where(eye, 0.0, term).sum()

    value, slope = jax.value_and_grad(energy)(x)
    return value, -slope


@by_hand(ewald)
def ewald_in_rows(x, charge):
    side = 3.0
    ids = jnp.arange(x.shape[0])

    def energy(x):
        @jax.checkpoint
        def row(i, a, own):
            d = a - x
            d = d - side * jnp.round(d / side)
            r = jnp.sqrt(jnp.where(ids == i, 1.0, (d**2).sum(-1)))
            return jnp.where(ids == i, 0, own * charge * jax.scipy.special.erfc(r) / r).sum()

        return 0.5 * in_rows(row, 150, ids, x, charge).sum()

    value, slope = jax.value_and_grad(energy)(x)
    return value, -slope


@program(
    4000,
    1260,
    lambda n, r: (r.uniform(n, 3) * 12,),
    tolerance=5e-4,
    why="forces of either sign that nearly cancel",
)
def lennard_jones(x):
    """Lennard-Jones with a cutoff in a periodic box: energy and forces."""
    side = 12.0

    def pair(r2):
        near = (r2 < 2.5**2) & (r2 > 1e-3)
        i2 = 1 / jnp.where(near, jnp.maximum(r2, 0.6), 1.0)
        i6 = i2**3
        return jnp.where(near, 4 * (i6 * i6 - i6), 0.0)

    def displacement(a, b):
        return jnp.mod(a - b + side / 2, side) - side / 2

    pairs = jax.vmap(jax.vmap(displacement, (None, 0)), (0, None))

    def energy(x):
        return 0.5 * pair((pairs(x, x) ** 2).sum(-1)).sum()

    return energy(x), -jax.grad(energy)(x)


@program(
    5000,
    1580,
    lambda n, r: (r.normal(n, 3), (r.normal(n) + 1j * r.normal(n)).astype(np.complex64)),
    tolerance=3e-4,
    why="an oscillating kernel",
)
def helmholtz(x, density):
    """The Helmholtz kernel, complex, times a density."""
    r = jnp.linalg.norm(x[:, None] - x[None], axis=-1)
    eye = jnp.eye(x.shape[0], dtype=bool)
    g = jnp.exp(1j * 3.0 * r) / (4 * jnp.pi * jnp.where(eye, 1, r))
    g = jnp.where(eye, 0, g)
    return g @ density, jnp.abs(g).sum(1)


@program(4000, 1260, lambda n, r: (r.uniform(n, 3), r.normal(n, 3), r.array(np.full(n, 1 / n))))
def smoothed_particles(x, v, mass):
    """A step of smoothed particle hydrodynamics: densities, pressure and viscosity."""
    h = 0.15
    r2 = squares(x, x)
    w = jnp.where(r2 < h * h, (h * h - r2) ** 3, 0) * (315 / (64 * jnp.pi * h**9))
    density = w @ mass
    pressure = 5.0 * (density - 1.0)
    r = jnp.sqrt(r2 + 1e-12)
    slope = jnp.where(r < h, -45 / (jnp.pi * h**6) * (h - r) ** 2, 0)
    direction = (x[:, None] - x[None]) / r[..., None]
    share = (pressure[:, None] + pressure[None]) / (2 * density[None])
    push = -(mass[None, :] * share * slope)[..., None] * direction
    near = jnp.where(r < h, h - r, 0)[..., None]
    drag = (mass / density)[None, :, None] * (v[None] - v[:, None]) * near
    return (push + 0.1 * drag).sum(1) / density[:, None], density


@program(
    5000,
    1580,
    lambda n, r: (r.uniform(n) * 6, r.normal(n), r.array(1.5)),
    tolerance=1e-3,
    why="the gradient through six steps of oscillators that repel and attract",
)
def kuramoto_grad(phase, frequency, coupling):
    """Coupled oscillators: how far they agree, and its gradient in the coupling."""

    def order(coupling):
        def step(t, _):
            pull = jnp.sin(t[None] - t[:, None]).mean(1)
            return t + 0.05 * (frequency + coupling * pull), None

        t, _ = lax.scan(jax.checkpoint(step), phase, None, length=6)
        return jnp.abs(jnp.exp(1j * t).mean())

    return jax.value_and_grad(order)(coupling)


def orbitals(n, r):
    d = r.normal(n, n)
    return r.normal(n, 3), r.uniform(n) + 0.3, d + d.T


@program(72, 40, orbitals, x64=True)
def hartree_fock(center, a, density):
    """Electron repulsion of s orbitals: n^4 integrals, Coulomb and exchange."""
    p = a[:, None] + a[None]
    mean = a[:, None, None] * center[:, None] + a[None, :, None] * center[None]
    mean = mean / p[..., None]
    overlap = jnp.exp(-a[:, None] * a[None] / p * squares(center, center))
    left = p[:, :, None, None]
    right = p[None, None]
    r2 = ((mean[:, :, None, None] - mean[None, None]) ** 2).sum(-1)
    t = jnp.maximum(left * right / (left + right) * r2, 1e-8)
    boys = 0.5 * jnp.sqrt(jnp.pi / t) * jax.scipy.special.erf(jnp.sqrt(t))
    scale = 2 * jnp.pi**2.5 / (left * right * jnp.sqrt(left + right))
    integrals = scale * overlap[:, :, None, None] * overlap[None, None] * boys
    coulomb = jnp.einsum("ijkl,kl->ij", integrals, density)
    exchange = jnp.einsum("ikjl,kl->ij", integrals, density)
    fock = coulomb - 0.5 * exchange
    return fock, (fock * density).sum()


@program(
    20_000,
    2000,
    lambda n, r: (r.normal(n), np.sort(r.uniform(n))),
    x64=True,
    tolerance=1e-9,
    why="sines of phases of thousands of turns",
)
def direct_dft(x, t):
    """A periodogram at uneven times by the matrix of exponentials."""
    k = jnp.arange(2000)
    return jnp.abs(jnp.exp(-2j * jnp.pi * k[:, None] * t[None]) @ x) ** 2


@program(
    3000,
    950,
    lambda n, r: (
        np.cos(np.pi * (np.arange(n) + 0.5) / n),
        r.normal(n),
        np.linspace(-1, 1, 5 * n + 1),
    ),
    x64=True,
    tolerance=1e-9,
    why="weights by sums of thousands of logarithms",
)
def barycentric(x, f, q):
    """Barycentric interpolation at Chebyshev nodes, weights from products of all differences."""
    n = x.shape[0]
    difference = jnp.where(jnp.eye(n, dtype=bool), 1.0, (x[:, None] - x[None]) * 2)
    magnitude = -jnp.log(jnp.abs(difference)).sum(1)
    w = jnp.prod(jnp.sign(difference), 1) * jnp.exp(magnitude - magnitude.max())
    d = q[:, None] - x[None]
    hit = d == 0
    c = w / jnp.where(hit, 1.0, d)
    between = (c @ f) / c.sum(1)
    return jnp.where(hit.any(1), (hit * f).sum(1), between)


def scene(n, r):
    direction = r.normal(n, 3)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    center = r.normal(1200, 1, 3) * 3
    return r.normal(n, 3, scale=0.1), direction, center + r.normal(1200, 3, 3, scale=0.5)


@program(8000, 800, scene)
def ray_trace(origin, direction, triangles):
    """All rays on all triangles: the nearest hit and its normal."""
    a = triangles[:, 0]
    e1 = triangles[:, 1] - a
    e2 = triangles[:, 2] - a
    p = jnp.cross(direction[:, None], e2[None])
    det = (e1[None] * p).sum(-1)
    flat = jnp.abs(det) < 1e-8
    inverse = jnp.where(flat, 0.0, 1 / jnp.where(flat, 1, det))
    t = origin[:, None] - a[None]
    u = (t * p).sum(-1) * inverse
    q = jnp.cross(t, jnp.broadcast_to(e1[None], t.shape))
    v = (direction[:, None] * q).sum(-1) * inverse
    s = (e2[None] * q).sum(-1) * inverse
    hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (s > 1e-4) & (det != 0)
    s = jnp.where(hit, s, jnp.inf)
    i = jnp.argmin(s, 1)
    nearest = s.min(1)
    normal = jnp.cross(e1, e2)
    normal = normal / jnp.linalg.norm(normal, axis=-1, keepdims=True)
    return jnp.where(jnp.isfinite(nearest)[:, None], normal[i], 0), nearest


@program(
    3000,
    300,
    lambda n, r: (
        r.normal(n, 3),
        r.normal(n, 3),
        [r.normal(27, 64, scale=0.2), r.normal(64, 64, scale=0.15), r.normal(64, 4, scale=0.2)],
        r.uniform(n, 3),
    ),
    tolerance=3e-4,
    why="gradients by f32 sums over samples",
)
def radiance_field_grad(origin, direction, layers, target):
    """NeRF: colours of rays by 128 samples of a network, with gradient."""

    def loss(layers):
        t = jnp.linspace(0.1, 4, 128)
        x = origin[:, None] + direction[:, None] * t[None, :, None]
        waves = [wave(x * 2.0**i) for i in range(4) for wave in (jnp.sin, jnp.cos)]
        h = jnp.concatenate([x] + waves, -1)
        h = jax.nn.relu(h @ layers[0])
        h = jax.nn.relu(h @ layers[1])
        out = h @ layers[2]
        opacity = 1 - jnp.exp(-jax.nn.softplus(out[..., 0]) * (t[1] - t[0]))
        colour = jax.nn.sigmoid(out[..., 1:])
        left = jnp.cumprod(1 - opacity + 1e-10, 1)[:, :-1]
        left = jnp.concatenate([jnp.ones_like(opacity[:, :1]), left], 1)
        seen = ((opacity * left)[..., None] * colour).sum(1)
        return ((seen - target) ** 2).mean()

    return jax.value_and_grad(loss)(layers)


@program(100, 56, lambda n, r: (r.uniform(n, n, 3),))
def bilateral(image):
    """A bilateral filter over all pairs of pixels."""
    height, width, channels = image.shape
    grid = jnp.meshgrid(jnp.arange(height), jnp.arange(width), indexing="ij")
    position = jnp.stack(grid, -1).reshape(-1, 2) / 8.0
    colour = image.reshape(-1, channels)
    w = jnp.exp(-0.5 * expanded(position, position) - 0.5 * expanded(colour, colour) / 0.1)
    return ((w @ colour) / w.sum(1, keepdims=True)).reshape(image.shape)


@program(700, 220, lambda n, r: (r.uniform(n, n), r.uniform(n, n)))
def structural_similarity(a, b):
    """SSIM of two images by the patches around all pixels."""

    def patches(x):
        return lax.conv_general_dilated_patches(
            x[None, ..., None],
            (11, 11),
            (1, 1),
            "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )[0]

    pa = patches(a)
    pb = patches(b)
    ma = pa.mean(-1)
    mb = pb.mean(-1)
    covariance = ((pa - ma[..., None]) * (pb - mb[..., None])).mean(-1)
    top = (2 * ma * mb + 1e-4) * (2 * covariance + 9e-4)
    bottom = (ma**2 + mb**2 + 1e-4) * (pa.var(-1) + pb.var(-1) + 9e-4)
    return (top / bottom).mean()


@program(4000, 1270, lambda n, r: (r.normal(n, 2), r.normal(n)))
def point_vortices(x, strength):
    """Ten midpoint steps of point vortices, by the law of Biot and Savart."""

    def velocity(x):
        d = x[:, None] - x[None]
        turned = jnp.stack([-d[..., 1], d[..., 0]], -1)
        weight = strength[None] / (2 * jnp.pi * ((d**2).sum(-1) + 0.1))
        return (weight[..., None] * turned).sum(1) / len(x)

    def step(x, _):
        x = x + 0.01 * velocity(x + 0.005 * velocity(x))
        return x, (x**2).sum()

    return lax.scan(step, x, None, length=10)


@program(96, 30, lambda n, r: (r.normal(n, n), r.normal(60, n)))
def tomography_grad(image, measured):
    """Sums along rays at sixty angles, an image that fits them, its total variation: the gradient."""
    n = len(image)
    grid = jnp.arange(n) - (n - 1) / 2

    def sums(image, angle):
        c, s = jnp.cos(angle), jnp.sin(angle)
        places = [c * grid[:, None] - s * grid, s * grid[:, None] + c * grid]
        places = [place + (n - 1) / 2 for place in places]
        return jax.scipy.ndimage.map_coordinates(image, places, order=1).sum(1)

    def loss(image):
        seen = jax.vmap(sums, (None, 0))(image, jnp.linspace(0, jnp.pi, 60, endpoint=False))
        variation = sum(jnp.abs(jnp.diff(image, axis=axis)).sum() for axis in (0, 1))
        return ((seen - measured) ** 2).sum() + 0.1 * variation

    return jax.value_and_grad(loss)(image)


@program(2_000_000, 200_000, lambda n, r: (r.normal(n, 3), r.normal(n, 3)))
def mean_field_particles(x, v):
    """Ten steps of particles that see each other by their means alone."""

    def step(state, _):
        x, v = state
        crowd = jnp.tanh(x).mean(0)
        v = 0.99 * v - 0.05 * (x - x.mean(0)) * jnp.exp(-(crowd**2))
        return (x + 0.05 * v, v), (v**2).sum()

    return lax.scan(step, (x, v), None, length=10)


@program(
    12_600,
    4000,
    lambda n, r: (r.normal(n, 3, scale=100), r.normal(n // 2, 2, scale=0.1), r.uniform(n // 2)),
)
def visibilities(uvw, direction, flux):
    """What a radio interferometer measures of point sources: a direct Fourier sum off the plane."""
    height = jnp.sqrt(1 - (direction**2).sum(1))
    lmn = jnp.concatenate([direction, height[:, None] - 1], 1)
    return jnp.exp(-2j * jnp.pi * (uvw @ lmn.T)) @ (flux / height)


@program(
    200,
    64,
    lambda n, r: (
        r.uniform(600, 2),
        r.normal(600, 2, scale=0.3) - r.array(3),
        r.uniform(600, 3),
        r.normal(600),
        r.uniform(600),
        r.uniform(n * n, 3),
    ),
    tolerance=3e-4,
    why="gradients by f32 sums over pixels",
)
def gaussian_splats_grad(mean, scale, colour, opacity, depth, target):
    """An image of 600 Gaussians, one before the other: its error's gradients."""
    side = jnp.linspace(0, 1, int(len(target) ** 0.5))
    pixels = jnp.stack(jnp.meshgrid(side, side), -1).reshape(-1, 2)

    def loss(mean, scale, colour, opacity):
        order = jnp.argsort(depth)
        away = (pixels[:, None] - mean[order]) / jnp.exp(scale[order])
        alpha = jnp.exp(-0.5 * (away**2).sum(-1)) * jax.nn.sigmoid(opacity[order])
        passed = jnp.cumprod(1 - alpha + 1e-6, 1)
        light = jnp.concatenate([jnp.ones((len(pixels), 1)), passed[:, :-1]], 1)
        return (((light * alpha) @ colour[order] - target) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2, 3))(mean, scale, colour, opacity)


@program(2000, 200, lambda n, r: (r.normal(n, 64, 64), r.uniform(n, 64, 64)))
def maxwell(source, density):
    """Forty steps of Maxwell's equations on Yee's grid for many media: the field at one point."""

    def probe(source, density):
        speed = 0.5 / (1 + density[1:-1, 1:-1])

        def step(fields, t):
            ez, hx, hy = fields
            hx = hx.at[:, :-1].add(-0.5 * (ez[:, 1:] - ez[:, :-1]))
            hy = hy.at[:-1].add(0.5 * (ez[1:] - ez[:-1]))
            curl = hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]
            ez = ez.at[1:-1, 1:-1].add(speed * curl)
            ez = ez.at[32, 32].add(jnp.sin(0.1 * t))
            return (ez, hx, hy), ez[10, 10]

        zero = jnp.zeros_like(source)
        return lax.scan(step, (source, zero, zero), jnp.arange(40.0, dtype=source.dtype))[1]

    return jax.vmap(probe)(source, density)


@program(4000, 1265, lambda n, r: (r.normal(n, 20), r.normal(20, n)))
def no_flux_grad(x, w):
    """A step of diffusion of a computed field whose borders are what is beside them: its roughness
    and its gradient."""

    def roughness(w):
        u = jnp.tanh(x @ w)
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u = u.at[1:-1, 1:-1].set(0.6 * u[1:-1, 1:-1] + 0.1 * around)
        u = u.at[0].set(u[1]).at[-1].set(u[-2])
        u = u.at[:, 0].set(u[:, 1]).at[:, -1].set(u[:, -2])
        return ((u[1:] - u[:-1]) ** 2).mean()

    return jax.value_and_grad(roughness)(w)


@program(4000, 1265, lambda n, r: (r.normal(n, 20), r.normal(20, n)))
def wavelet_denoise(x, w):
    """A computed image's rows by two levels of lifting, thresholded and put together again."""

    def apart(x):
        even, odd = x[:, ::2], x[:, 1::2]
        detail = odd - 0.5 * (even + jnp.roll(even, -1, 1))
        return even + 0.25 * (detail + jnp.roll(detail, 1, 1)), detail

    def together(smooth, detail):
        even = smooth - 0.25 * (detail + jnp.roll(detail, 1, 1))
        odd = detail + 0.5 * (even + jnp.roll(even, -1, 1))
        out = jnp.zeros((even.shape[0], 2 * even.shape[1]), even.dtype)
        return out.at[:, ::2].set(even).at[:, 1::2].set(odd)

    soft = lambda d: jnp.sign(d) * jnp.maximum(jnp.abs(d) - 0.1, 0)  # noqa: E731
    image = jnp.tanh(x @ w)[:, : x.shape[0] // 4 * 4]
    first, fine = apart(image)
    second, coarse = apart(first)
    return (together(together(second, soft(coarse)), soft(fine)) - image).std(1)


@program(5000, 1580, lambda n, r: (r.uniform(n, n),))
def heat(u):
    """Fifty steps of the heat equation on a torus: a state as large as all that a step makes."""

    def step(u, _):
        around = sum(jnp.roll(u, by, axis) for by in (-1, 1) for axis in (0, 1))
        return u + 0.1 * (around - 4 * u), None

    return lax.scan(step, u, None, length=50)[0]


@program(5000, 1580, lambda n, r: (r.integers(2, n, n, dtype=np.int8),))
def life(cells):
    """Fifty generations of Conway's game."""
    beside = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

    def step(_, cells):
        around = sum(jnp.roll(cells, by, (0, 1)) for by in beside)
        return ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)

    return lax.fori_loop(0, 50, step, cells)
