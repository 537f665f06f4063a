"""Small JAX programs for every way of being more than arrays in, arrays out."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)
A = rng.standard_normal((12, 12)).astype(np.float32)
V = rng.standard_normal(12).astype(np.float32)


def matvec():
    return jax.jit(lambda a, v: jnp.exp(-((a[:, None] - a[None]) ** 2).sum(-1)) @ v)(A, V)


def donation():
    x = jnp.array(V)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    return y, np.array(x.is_deleted())


def ahead_of_time():
    compiled = (
        jax.jit(lambda a: a @ a.T).lower(jax.ShapeDtypeStruct((12, 12), np.float32)).compile()
    )
    return compiled(A), np.array(compiled.memory_analysis().argument_size_in_bytes)


def while_loop():
    return jax.jit(
        lambda v: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, v))
    )(V)


def scan_gradient():
    def loss(v):
        return lax.scan(lambda c, x: (jnp.tanh(c * x), c), 0.5, v)[1].sum()

    return jax.jit(jax.value_and_grad(loss))(V)


def pure_callback():
    return jax.jit(
        lambda v: jax.pure_callback(
            lambda x: np.asarray(x) * 2, jax.ShapeDtypeStruct((12,), np.float32), v
        )
    )(V)


def ordered_io_callback():
    seen = []

    def note(x):
        seen.append(float(x))

    @jax.jit
    def f(v):
        for i in range(3):
            jax.experimental.io_callback(note, None, v[i], ordered=True)
        return v.sum()

    out = f(V)
    jax.effects_barrier()
    return out, np.array(seen)


def linear_algebra():
    spd = A @ A.T + 12 * np.eye(12, dtype=np.float32)
    return jax.jit(
        lambda s, v: (
            jnp.linalg.cholesky(s),
            jax.scipy.linalg.solve_triangular(s, v, lower=True),
            jnp.linalg.qr(s),
            jnp.linalg.eigh(s)[0],
        )
    )(spd, V)


def random():
    return jax.jit(
        lambda k: (
            jax.random.normal(k, (5,)),
            jax.random.permutation(k, 7),
            jax.random.gamma(k, 2.0),
        )
    )(jax.random.key(3))


def sorting():
    return jax.jit(lambda v: (jnp.sort(v), jnp.argsort(v), lax.top_k(v, 3), jnp.fft.rfft(v)))(V)


def big_constant():
    table = np.arange(90000, dtype=np.float32).reshape(300, 300)
    return jax.jit(lambda i: jnp.asarray(table)[i].sum())(np.array([3, 5]))


def low_precision():
    return jax.jit(
        lambda v: (
            v.astype(jnp.bfloat16) * 2,
            v.astype(jnp.float8_e4m3fn),
            v > 0,
            v.astype(jnp.complex64),
        )
    )(V)


def conditional():
    return jax.jit(lambda i, v: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 0], v))(1, V)


def dynamic_export():
    from jax import export

    n = export.symbolic_shape("n")[0]
    exported = export.export(jax.jit(lambda x: x.sum() + x.shape[0]))(
        jax.ShapeDtypeStruct((n,), np.float32)
    )
    return jax.jit(exported.call)(V)


def explicit_sharding():
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    out = jax.jit(lambda v: v * 2, out_shardings=sharding)(V)
    return out, np.array(out.sharding == sharding)


def checkpoint():
    return jax.jit(jax.grad(jax.checkpoint(lambda v: jnp.sin(jnp.cos(v)).sum())))(V)


def compiler_option():
    return jax.jit(lambda v: v * 3, compiler_options={"xla_cpu_enable_fast_math": False})(V)


PROGRAMS = [
    matvec,
    donation,
    ahead_of_time,
    while_loop,
    scan_gradient,
    pure_callback,
    ordered_io_callback,
    linear_algebra,
    random,
    sorting,
    big_constant,
    low_precision,
    conditional,
    dynamic_export,
    explicit_sharding,
    checkpoint,
    compiler_option,
]
