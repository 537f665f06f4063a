"""Steps of stencils and their gradients, which XLA makes again and again (docs/design/materialise.md).

    python bench/experiments/stencils.py [NAME ...]

Stock's CPU time, temporaries and CPU seconds of compilation; then CPU time over stock's with a limit that does not
bind, at a third and at a tenth of the temporaries, with temporaries over stock's and seconds of compilation.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import weir
from sums import limit_of, normal

SHARES = (1e6, 1 / 3, 0.1)
SIDE = (155, 155)
LENGTH = 60
VOLUME = (LENGTH, LENGTH, LENGTH)


def around(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u


def central(u, axis):
    return (jnp.roll(u, -1, axis) - jnp.roll(u, 1, axis)) / 2


# ---- steps of fields ----
def heat(u):
    for _ in range(20):
        u = u + 0.1 * around(u)
    return (u**2).sum()


def waves(u, v):
    for _ in range(20):
        v = v + 0.1 * around(jnp.sin(u))
        u = u + 0.1 * v
    return (u**2).sum()


def reaction(u, v):
    u, v = jax.nn.sigmoid(u), jax.nn.sigmoid(v)
    for _ in range(10):
        made = u * v * v
        u = u + 0.1 * around(u) - made + 0.04 * (1 - u)
        v = v + 0.05 * around(v) + made - 0.1 * v
    return u, v


def burgers(u, v):
    for _ in range(3):
        du, dv = (u * central(f, 0) + v * central(f, 1) for f in (u, v))
        u, v = u - 0.01 * du + 0.05 * around(u), v - 0.01 * dv + 0.05 * around(v)
    return u, v


def diffusion(x):
    """Perona's and Malik's, which keeps edges."""
    for _ in range(3):
        slopes = [jnp.roll(x, s, a) - x for s in (1, -1) for a in (0, 1)]
        x = x + 0.2 * sum(jnp.exp(-((3 * d) ** 2)) * d for d in slopes)
    return x


def upwind(u):
    """Weighted differences of fifth order (WENO), along rows."""
    for _ in range(2):
        wide = jnp.pad(u, ((3, 3), (0, 0)), mode="wrap")
        q = [wide[i : i + u.shape[0]] for i in range(6)]
        rough = [(q[i] - 2 * q[i + 1] + q[i + 2]) ** 2 for i in range(3)]
        weights = [1 / (1e-6 + b) ** 2 for b in rough]
        flux = sum(w * x for w, x in zip(weights, q[1:4], strict=True)) / sum(weights)
        u = u - 0.1 * (flux - jnp.roll(flux, 1, 0))
    return u


SPEEDS = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x * y * z == 0]
WEIGHTS = np.array([(1 / 3, 1 / 18, 1 / 36)[sum(map(abs, s))] for s in SPEEDS], np.float32)


def lattice_boltzmann(f):
    """19 directions."""
    speeds, weights = jnp.array(SPEEDS, jnp.float32), WEIGHTS[:, None, None, None]
    f = 1 + 0.1 * jnp.tanh(f)
    for _ in range(5):
        density = f.sum(0)
        u = jnp.einsum("qxyz,qd->dxyz", f, speeds) / density
        along = jnp.einsum("qd,dxyz->qxyz", speeds, u)
        rest = weights * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(0))
        f = f - 0.6 * (f - rest)
        f = jnp.stack([jnp.roll(f[i], s, (0, 1, 2)) for i, s in enumerate(SPEEDS)])
    return f


# ---- total variation of a volume, five gradient steps, by how differences are written ----
def cropped(x):
    return [
        jnp.diff(x, axis=0)[:, :-1, :-1],
        jnp.diff(x, axis=1)[:-1, :, :-1],
        jnp.diff(x, axis=2)[:-1, :-1],
    ]


def padded(x):
    return [jnp.pad(jnp.diff(x, axis=i), [(0, int(i == j)) for j in range(3)]) for i in range(3)]


def appended(x):
    last = [jax.lax.slice_in_dim(x, LENGTH - 1, LENGTH, axis=i) for i in range(3)]
    return [jnp.diff(x, axis=i, append=last[i]) for i in range(3)]


def rolled(x):
    return [jnp.roll(x, -1, i) - x for i in range(3)]


def denoised(differences):
    def variation(x):
        return jnp.sqrt(sum(d**2 for d in differences(x)) + 1e-6).sum()

    def steps(x, y):
        for _ in range(5):
            x = x - 0.1 * (x - y) - 0.01 * jax.grad(variation)(x)
        return x

    return steps


WAYS = {"cropped": cropped, "padded": padded, "appended": appended, "rolled": rolled}
PROGRAMS = {
    "heat, 20 steps, gradient": (jax.grad(heat), (SIDE,)),
    "waves, 20 steps, gradients": (jax.grad(waves, (0, 1)), (SIDE, SIDE)),
    "reaction and diffusion, 10 steps": (reaction, ((400, 400),) * 2),
    "Burgers, 3 steps": (burgers, ((400, 400),) * 2),
    "edge-keeping diffusion, 3 steps": (diffusion, ((500, 500),)),
    "WENO, 2 steps": (upwind, ((400, 400),)),
    "lattice Boltzmann, 5 steps": (lattice_boltzmann, ((19, 40, 40, 40),)),
    **{f"total variation, {name}": (denoised(way), (VOLUME,) * 2) for name, way in WAYS.items()},
}


def compiled(function, arguments, limit=None):
    """What runs, its temporaries in bytes, CPU seconds of its compilation."""
    lowered, begun = jax.jit(lambda *a: function(*a)).lower(*arguments), time.process_time()
    with weir.limit(limit):
        made = lowered.compile()
    return made, made.memory_analysis(), time.process_time() - begun


def taken(way, arguments):
    """CPU seconds of a run: of as many as take 50 ms, since that of other threads is counted late."""
    begun = time.perf_counter()
    jax.block_until_ready(way(*arguments))
    times = 1 + int(0.05 / (time.perf_counter() - begun))
    begun = time.process_time()
    for _ in range(times):
        jax.block_until_ready(way(*arguments))
    return (time.process_time() - begun) / times


def cell(function, arguments, stock, m, share):
    limit = limit_of(m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes, share)
    try:
        made, needs, compiling = compiled(function, arguments, limit)
    except jax.errors.JaxRuntimeError:
        return "refused"
    turns = [(taken(made, arguments), taken(stock, arguments)) for _ in range(6)][1:]
    ours, theirs = (min(times) for times in zip(*turns, strict=True))
    room = needs.temp_size_in_bytes / max(1, m.temp_size_in_bytes)
    return f"{ours / theirs:.2f}, {room:.2f}, {compiling:.1f}"


def main():
    print("| program | stock ms, MB, s | no limit | a third | a tenth |\n|---|--:|--:|--:|--:|")
    for name, (function, shapes) in PROGRAMS.items():
        if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
            continue
        arguments = [normal(*shape) for shape in shapes]
        stock, m, compiling = compiled(function, arguments)
        took = min(taken(stock, arguments) for _ in range(5))
        row = [f"{took * 1e3:.1f}, {m.temp_size_in_bytes / 1e6:.2f}, {compiling:.1f}"]
        row += [cell(function, arguments, stock, m, share) for share in SHARES]
        print("|", " | ".join([name, *row]), "|", flush=True)


if __name__ == "__main__":
    main()
