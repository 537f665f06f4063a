"""Operations of TensorFlow on a matrix of all pairs, one program each: what of them is computed slice
by slice through the hook. OPERATIONS[name](k): of a matrix of 800 x 800 f64, something small.
"""

import numpy as np
import cases
import tensorflow as tf

N = cases.N
GROUPS = tf.constant(np.arange(N) % 7, tf.int32)
SOME = tf.constant(np.random.default_rng(3).permutation(N)[:50], tf.int32)
V, SMALL = cases.random(N, 4, seed=5), cases.random(4, 4, seed=6)


def rows(k):
    return tf.reduce_sum(k, 1)


def elementwise(f):
    return lambda k: rows(f(k + 0.1))


def slope(f):
    """The gradient of a loss in the matrix, summed by rows."""

    def of(k):
        with tf.GradientTape() as tape:
            tape.watch(k)
            loss = f(k)
        return rows(tape.gradient(loss, k))

    return of


FUNCTIONS = {
    **{f: getattr(tf.math, f) for f in ("tanh", "sigmoid", "softplus", "softsign", "log1p", "expm1")},
    **{f: getattr(tf.math, f) for f in ("erf", "erfc", "lgamma", "digamma", "asinh", "rsqrt")},
    **{f: getattr(tf.nn, f) for f in ("relu", "relu6", "elu", "selu", "gelu", "silu", "leaky_relu")},
    "floor_mod": lambda k: tf.math.floormod(k, 0.3),
    "clip": lambda k: tf.clip_by_value(k, 0.2, 0.7),
    "where": lambda k: tf.where(k > 0.5, k, tf.zeros_like(k)),
    "power": lambda k: k**2.5,
    "cast": lambda k: tf.cast(tf.cast(k, tf.float32), tf.float64),
    "bessel": tf.math.bessel_i0e,
}
REDUCTIONS = {
    **{f: getattr(tf, f) for f in ("reduce_max", "reduce_min", "reduce_mean", "reduce_prod")},
    **{f: getattr(tf.math, f) for f in ("reduce_variance", "reduce_std", "reduce_logsumexp")},
    "norm": lambda k, axis: tf.norm(k, axis=axis),
    "count": lambda k, axis: tf.math.count_nonzero(k > 0.5, axis=axis),
    "any": lambda k, axis: tf.reduce_any(k > 0.99, axis=axis),
    "argmax": lambda k, axis: tf.argmax(k @ k, axis=axis),
}
OTHERS = {
    "softmax": lambda k: tf.nn.softmax(k) @ V,
    "log_softmax": lambda k: tf.reduce_max(tf.nn.log_softmax(k), 1),
    "l2_normalize": lambda k: tf.math.l2_normalize(k, 1) @ V,
    "layer_norm": lambda k: (
        (k - tf.reduce_mean(k, 1, keepdims=True))
        * tf.math.rsqrt(tf.math.reduce_variance(k, 1, keepdims=True) + 1e-3)
    )
    @ V,
    "moments": lambda k: tf.nn.moments(k, [0]),
    "transpose": lambda k: tf.transpose(k) @ V,
    "matmul_transposed": lambda k: tf.matmul(k, V, transpose_a=True),
    "einsum": lambda k: tf.einsum("ij,jk,kl->il", k, V, SMALL),
    "tensordot": lambda k: tf.tensordot(k, V, [[0], [0]]),
    "matvec": lambda k: tf.linalg.matvec(k @ k, V[:, 0]),
    "quadratic_form": lambda k: tf.transpose(V) @ (k @ V),
    "trace": lambda k: tf.linalg.trace(k @ k),
    "diagonal": lambda k: tf.linalg.diag_part(k @ k),
    "set_diagonal": lambda k: rows(tf.linalg.set_diag(k, V[:, 0])),
    "band": lambda k: rows(tf.linalg.band_part(k, 3, 5)),
    "reverse": lambda k: rows(tf.cumsum(tf.reverse(k, [1]), 1) * k),
    "roll": lambda k: rows(tf.roll(k, 3, 1) * k),
    "pad": lambda k: tf.reduce_max(tf.pad(k, [[0, 0], [2, 2]]), 1),
    "concat": lambda k: tf.reduce_max(tf.concat([k, 2.0 * k], 1), 1),
    "stack": lambda k: tf.reduce_max(tf.stack([k, 2.0 * k], 1), [1, 2]),
    "tile": lambda k: tf.reduce_max(tf.tile(k, [1, 2]), 1),
    "split": lambda k: [rows(part) for part in tf.split(k, 4, 1)],
    "strided": lambda k: rows(k[:, ::3]),
    "gather": lambda k: rows(tf.gather(k, SOME)),
    "gather_columns": lambda k: tf.reduce_sum(tf.gather(k, SOME, axis=1), 1),
    "one_hot": lambda k: tf.one_hot(tf.argmax(tf.sin(40.0 * k), 1), N, dtype=k.dtype) @ V,
    "cumsum": lambda k: tf.reduce_max(tf.cumsum(k, 1), 1),
    "segments": lambda k: tf.math.unsorted_segment_sum(k @ V, GROUPS, 7),
    "boolean_weights": lambda k: rows(tf.cast(k > 0.5, k.dtype) * k),
    "top_k": lambda k: tf.math.top_k(k, 3).values,
    "sort": lambda k: tf.sort(k, 1)[:, :3],
    "cross_entropy": lambda k: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(k), k),
    "dropout": lambda k: rows(tf.nn.experimental.stateless_dropout(k, 0.3, seed=[1, 2])),
    "pooling": lambda k: tf.reduce_max(tf.nn.avg_pool1d(k[:, :, None], 4, 4, "VALID"), [1, 2]),
    "convolution": lambda k: tf.reduce_max(tf.nn.conv1d(k[:, :, None], SMALL[:, :1, None], 1, "SAME"), [1, 2]),
    "slope_of_squares": slope(lambda k: tf.reduce_sum(tf.square(k @ V))),
    "slope_of_softmax": slope(lambda k: tf.reduce_sum(tf.square(tf.nn.softmax(k) @ V))),
    "slope_of_logsumexp": slope(lambda k: tf.reduce_sum(tf.reduce_logsumexp(k, 1) ** 2)),
}
OPERATIONS = {
    **{name: elementwise(f) for name, f in FUNCTIONS.items()},
    **{name: lambda k, f=f: f(k, axis=1) for name, f in REDUCTIONS.items()},
    **OTHERS,
}


def program(f):
    return lambda: (
        cases.compiled(lambda x: f(cases.kernel(x, x))),
        (cases.random(N, 3),),
        [],
    )


cases.PROGRAMS |= {f"on_pairs_{name}": program(f) for name, f in OPERATIONS.items()}
