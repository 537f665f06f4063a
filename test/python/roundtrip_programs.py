"""python roundtrip_programs.py FOLDER: writes modules that JAX lowers, of all kinds, as FOLDER/NAME.mlir (generic form, with locations:
what JAX hands to a compile hook) and FOLDER/NAME.pretty.mlir (pretty form, with locations and aliases)."""
import functools
import pathlib
import sys

import jax

jax.config.update("jax_num_cpu_devices", 4)
jax.config.update("jax_enable_x64", True)

import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

PROGRAMS = {}


def program(*arguments, **jit_options):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments, jit_options)
        return function
    return add


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def f64(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float64)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


@program(f32(5), f32(7, 5))
def scan(carry, xs):
    return lax.scan(lambda c, x: (c * x, (jnp.sin(c), x.sum())), carry, xs)


@program(f32(5))
def while_loop(x):
    return lax.while_loop(lambda s: (s[0] < 9) & (s[1].sum() < 3), lambda s: (s[0] + 1, s[1] * 2), (0, x))


@program(f32(4, 4), i32())
def cond_switch(x, i):
    y = lax.cond(i > 2, jnp.sin, lambda v: v @ v, x)
    return lax.switch(i, [jnp.cos, jnp.exp, lambda v: v + lax.fori_loop(0, 3, lambda k, t: t + k, v)], y)


@jax.custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


softplus.defjvp(lambda primals, tangents: (softplus(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]))


@program(f32(6))
def custom_jvp(x):
    return jax.value_and_grad(lambda v: jax.checkpoint(softplus)(v).sum())(x)


@program(f32(3, 8), i32(3))
def inner_jits(x, i):
    one = jax.jit(lambda v: v + 1, inline=False)
    return one(x) * one(x), jax.nn.one_hot(i, 8), jnp.take_along_axis(x, i[:, None], axis=1)


@program(f32(8, 6), donate_argnums=(0,))
def donated(x):
    return x.at[2:5].set(0.0).at[0, 0].add(1.0)


@program(jax.ShapeDtypeStruct((2,), jnp.uint32))
def random(key):
    a, b, c = jax.random.split(key, 3)
    return jax.random.normal(a, (5,)), jax.random.gamma(b, 2.0, (3,)), jax.random.permutation(c, 9), jax.random.bits(a, (3,), "uint8")


@program(jax.ShapeDtypeStruct((4,), jnp.uint32))
def random_bits(key):
    return lax.rng_bit_generator(key, (5, 2), jnp.uint32), lax.rng_uniform(jnp.float32(0), jnp.float32(1), (4,))


@program(f32(4, 16), f64(8, 8))
def fft(x, y):
    return jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.ifft2(y), jnp.fft.fftn(y)


@program(f32(2, 9, 9, 3), f32(3, 3, 3, 4))
def convolution(x, w):
    def loss(x, w):
        y = lax.conv_general_dilated(x, w, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()
    return jax.grad(loss, argnums=(0, 1))(x, w)


@program(f32(4, 9), i32(4, 9))
def sorting(x, y):
    return jnp.sort(x, axis=0), jnp.argsort(y), lax.top_k(x, 3), lax.sort((y, x), num_keys=2), jnp.lexsort((x[0], y[0])), lax.approx_max_k(x, 2)


@program(f32(5, 7), i32(3, 2), f32(3))
def gather_scatter(x, i, u):
    y = x[i[:, 0], i[:, 1]]
    z = x.at[i[:, 0], i[:, 1]].add(u).at[i[0]].multiply(2.0).at[:, 1].min(0.5)
    return y, z, lax.dynamic_slice(x, (i[0, 0], i[1, 0]), (2, 3)), jax.ops.segment_sum(u, i[:, 0], 4), jax.grad(lambda v: v[i[:, 1]].sum())(x)


@program(f32(6, 6), f32(6, 2))
def linear_algebra(a, b):
    spd = a @ a.T + 6 * jnp.eye(6, dtype=a.dtype)
    chol = jnp.linalg.cholesky(spd)
    return (chol, lax.linalg.triangular_solve(chol, b, left_side=True, lower=True), jnp.linalg.solve(a, b), jnp.linalg.qr(a),
            jnp.linalg.svd(a), jnp.linalg.eigh(spd), jnp.linalg.slogdet(a), jax.scipy.linalg.expm(a))


@program(f32(4))
def callbacks(x):
    jax.debug.print("x = {x}", x=x)
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4,), np.float32), x)


@program(f32(5), jax.ShapeDtypeStruct((5,), jnp.complex64))
def special(x, z):
    return (lax.erf_inv(x), jax.scipy.special.gammaln(x), jax.scipy.special.digamma(x), jax.scipy.special.zeta(x + 2, 1.5),
            jax.scipy.special.polygamma(1, x), jnp.nextafter(x, 2 * x), lax.bessel_i1e(x), jnp.arcsinh(z), jnp.exp(z), jnp.angle(z), jnp.conj(z),
            jnp.cbrt(x), lax.reduce_precision(x, 5, 10), jnp.isfinite(x), lax.bitcast_convert_type(x, jnp.int32), lax.population_count(x.astype(int)))


@program(f32(8, 16), f32(16, 4), f32(3, 8, 16), f32(3, 16, 5))
def contractions(a, b, c, d):
    algorithm = lax.DotAlgorithmPreset.F32_F32_F32
    return (lax.dot(a, b, precision=lax.Precision.HIGHEST), jnp.einsum("bij,bjk->bik", c, d), jnp.outer(a[0], b[0]),
            lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=algorithm), lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)))


@program()
def constants():
    rng = np.random.default_rng(0)
    dtypes = [np.float32, np.float64, np.int8, np.uint64, np.bool_, np.complex64, np.complex128, jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn,
              jnp.float8_e5m2, jnp.int4, jnp.uint4]
    small = [jnp.asarray(rng.integers(0, 2, (2, 3))).astype(d) for d in dtypes]
    large = [jnp.asarray(rng.integers(0, 7, (11, 13)).astype(d)) for d in dtypes]
    odd = [np.array([np.nan, np.inf, -np.inf, -0.0, 1e-40, 0.1], d) for d in (np.float32, np.float64, jnp.bfloat16, np.float16)]
    return small, large, [jnp.asarray(o) for o in odd], jnp.zeros((0, 3)), jnp.full((3, 4), 1j)


@program(f32(4, 6))
def reductions(x):
    custom = lax.reduce((x, x), (jnp.float32(0), jnp.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,))
    return x.sum(), x.max(0), x.prod(1), x.argmax(1), (x > 0).any(), jnp.cumsum(x, 1), lax.cumlogsumexp(x), custom, lax.reduce_and(x > 0, (0,))


@program(f32(8, 8), f32(8, 8))
def sharding_constraint(a, b):
    return lax.with_sharding_constraint(a @ b, NamedSharding(mesh(), P("x", None))) + 1


@program(f32(8, 8), f32(8, 8))
def shard_map(a, b):
    def body(a, b):
        c = lax.psum(a @ b, "x")
        return lax.all_gather(c, "y", tiled=True), lax.ppermute(c, "x", [(0, 1), (1, 0)]), lax.all_to_all(c, "y", 0, 0, tiled=True)
    return jax.shard_map(body, mesh=mesh(), in_specs=(P(None, "x"), P("x", None)), out_specs=(P(), P(), P("y")), check_vma=False)(a, b)


@program(f32(3, 3), f32(3))
def composite(a, x):
    @functools.partial(lax.composite, name="mine.scale", version=3)
    def scale(x, *, factor):
        return x * factor
    return lax.optimization_barrier((scale(x, factor=np.float32(2)), a))


def mesh():
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def modules():
    for name, (function, arguments, options) in PROGRAMS.items():
        yield name, jax.jit(function, **options).lower(*arguments).compiler_ir()
    x = NamedSharding(mesh(), P("x"))
    jitted = jax.jit(lambda a: (a * 2).sum(), in_shardings=x, out_shardings=None)
    yield "in_shardings", jitted.lower(f32(8, 4)).compiler_ir()
    exported = jax.export.export(jax.jit(lambda a: jnp.sin(a).reshape(-1)))(jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 4"), jnp.float32))
    yield "export_dynamic", exported.mlir_module()
    yield "export_called", jax.jit(exported.call).lower(f32(5, 4)).compiler_ir()


def main(folder):
    for name, module in modules():
        if isinstance(module, str):
            (folder / f"{name}.mlir").write_text(module)
            continue
        asm = module.operation.get_asm
        (folder / f"{name}.mlir").write_text(asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=True))
        (folder / f"{name}.pretty.mlir").write_text(asm(enable_debug_info=True))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
