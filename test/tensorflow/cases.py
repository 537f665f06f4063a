"""Programs as TensorFlow's users write them, of every kind that the hook meets.

PROGRAMS[name]() makes one: (function, arguments, variables). Made twice it is the same, variables
and all. Each has temporaries of a few MB, many times its arguments and results.
"""

import numpy as np
import tensorflow as tf

PROGRAMS = {}
N = 800


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def compiled(function, **named):
    return tf.function(function, jit_compile=True, **named)


def random(*shape, seed=0, dtype=tf.float64):
    return tf.constant(np.random.default_rng(seed).random(shape), dtype)


def kernel(x, y, scale=1.0):
    return tf.exp(-scale * tf.reduce_sum((x[:, None] - y[None]) ** 2, -1))


@program
def product_with_a_vector():
    return compiled(lambda x, v: kernel(x, x) @ v), (random(N, 3), random(N, 4)), []


@program
def gradient_of_the_largest():
    """Which TensorFlow scatters by one index into all elements."""

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.math.top_k(kernel(x, x), 5).values ** 2)
        return tape.gradient(y, x)

    return compiled(slope), (random(N, 3),), []


@program
def gradient_of_a_batched_gather():
    def slope(x, places):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.gather(kernel(x, x), places, batch_dims=1) ** 2)
        return tape.gradient(y, x)

    places = np.random.default_rng(1).integers(0, N, (N, 5))
    return compiled(slope), (random(N, 3), tf.constant(places, tf.int32)), []


@program
def in_single_precision():
    x = random(N, 3, dtype=tf.float32)
    return compiled(lambda x: tf.reduce_sum(kernel(x, x), 1)), (x,), []


@program
def assigned_variables():
    w, count = tf.Variable(tf.zeros((N, 4), tf.float64)), tf.Variable(0)

    def step(x):
        w.assign(0.5 * w + kernel(x, x) @ (w + 1.0) / N)
        count.assign_add(1)
        return tf.reduce_sum(w), tf.shape(x)

    return compiled(step), (random(N, 3),), [w, count]


@program
def variables_only():
    w = tf.Variable(random(N, 3))

    def step():
        w.assign(kernel(w, w) @ w / N)

    return compiled(step), (), [w]


@program
def a_variable_as_argument():
    w = tf.Variable(random(N, 3))

    def step(w, x):
        w.assign_sub(0.1 * kernel(w, x) @ x / N)
        return tf.reduce_sum(x * w, 1)

    return compiled(step), (w, random(N, 3, seed=1)), [w]


@program
def captured_tensors_and_variables():
    w, fixed = tf.Variable(random(3, 4)), random(N, 3, seed=2)

    def f(x):
        return kernel(x, fixed) @ (fixed @ w)

    return compiled(f), (random(N, 3),), [w]


@program
def gradient_inside():
    def f(x, v):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum((kernel(x, x) @ v) ** 2)
        return y, tape.gradient(y, x)

    return compiled(f), (random(N, 3), random(N, 4)), []


@program
def training_step():
    scale, w = tf.Variable(1.0, dtype=tf.float64), tf.Variable(random(N, 4))

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((kernel(x, x, scale) @ w - y) ** 2)
        for variable, slope in zip([scale, w], tape.gradient(loss, [scale, w])):
            variable.assign_sub(1e-6 * slope)
        return loss

    return compiled(step), (random(N, 3), random(N, 4, seed=1)), [scale, w]


@program
def second_derivative_inside():
    def f(x, s):
        with tf.GradientTape() as outer:
            outer.watch(s)
            with tf.GradientTape() as inner:
                inner.watch(s)
                y = tf.reduce_sum(kernel(x, x, s))
            slope = inner.gradient(y, s)
        return slope, outer.gradient(slope, s)

    return compiled(f), (random(N, 3), random()), []


@program
def own_gradient():
    @tf.custom_gradient
    def clipped(x):
        return tf.exp(-x), lambda dy: tf.clip_by_value(-dy * tf.exp(-x), -0.5, 0.5)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(clipped(tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)))
        return tape.gradient(y, x)

    return compiled(f), (random(N, 3),), []


@program
def recomputed():
    @tf.recompute_grad
    def layer(x):
        return kernel(x, x) @ x / N

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(layer(layer(x)))
        return tape.gradient(y, x)

    return compiled(f), (random(N, 3),), []


@program
def while_loop():
    def f(x, v):
        def body(i, v):
            v = kernel(x, x) @ v
            return i + 1, v / tf.norm(v)

        return tf.while_loop(lambda i, v: i < 3, body, (0, v))[1]

    return compiled(f), (random(N, 3), random(N, 4)), []


@program
def loop_of_autograph():
    def f(x, v):
        for _ in tf.range(3):
            v = kernel(x, x) @ v
            if tf.reduce_sum(v) > 10.0:
                v = v / tf.norm(v)
        return v

    return compiled(f), (random(N, 3), random(N, 4)), []


@program
def lists_of_a_loop():
    def f(x, v):
        kept = tf.TensorArray(tf.float64, size=4)
        for i in tf.range(4):
            v = kernel(x, x) @ v / N
            kept = kept.write(i, v[:, 0])
        return kept.stack()

    return compiled(f), (random(N, 3), random(N, 4)), []


@program
def branches():
    def f(x, flag):
        return tf.cond(
            flag,
            lambda: tf.reduce_sum(kernel(x, x), 1),
            lambda: tf.reduce_max(kernel(x, x, 2.0), 1),
        )

    return compiled(f), (random(N, 3), tf.constant(True)), []


@program
def functions_in_functions():
    inner = compiled(lambda x: kernel(x, x))
    outer = tf.function(lambda k, v: k @ v)
    return compiled(lambda x, v: outer(inner(x), v)), (random(N, 3), random(N, 4)), []


@program
def attention():
    def f(q, k, v):
        return tf.nn.softmax(q @ tf.transpose(k) / 8.0) @ v

    parts = [random(N, 16, seed=seed, dtype=tf.float32) for seed in range(3)]
    return compiled(f), tuple(parts), []


@program
def cross_entropy():
    w = tf.Variable(random(16, 4000, dtype=tf.float32))

    def f(x, labels):
        logits = x @ w
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    labels = tf.constant(np.arange(N) % 4000, tf.int32)
    return compiled(f), (random(N, 16, dtype=tf.float32), labels), [w]


@program
def neighbours():
    def f(x):
        near = tf.math.top_k(-tf.reduce_sum((x[:, None] - x[None]) ** 2, -1), k=4)
        return near.values, near.indices

    return compiled(f), (random(N, 3),), []


@program
def error_functions():
    def f(x):
        return tf.reduce_sum(tf.math.erf(kernel(x, x)) + tf.tan(kernel(x, x, 2.0)), 1)

    return compiled(f), (random(N, 3),), []


@program
def nearest():
    def f(x, y):
        squares = tf.reduce_sum(y**2, 1) - 2 * tf.matmul(x, y, transpose_b=True)
        return tf.argmin(squares, axis=1)  # of a product: XLA keeps it, and no sum of differences

    return compiled(f), (random(N, 3), random(N, 3, seed=1)), []


@program
def stateless_random():
    def f(x, seed):
        noise = tf.random.stateless_normal((N, 4), seed=seed, dtype=tf.float64)
        return tf.reduce_sum(kernel(x, x) @ noise, 1)

    return compiled(f), (random(N, 3), tf.constant([1, 2])), []


@program
def random_generator():
    generator = tf.random.Generator.from_seed(7, alg="philox")

    def f(x):
        v = generator.normal((N, 4), dtype=tf.float64)
        return kernel(x, x) @ v

    return compiled(f), (random(N, 3),), [generator.state]


@program
def several_sizes():
    f = compiled(lambda x: tf.reduce_sum(kernel(x, x), 1), reduce_retracing=True)
    return (lambda x, y: (f(x), f(y), f(x))), (random(N, 3), random(N - 7, 3)), []


@program
def unknown_size():
    signature = [tf.TensorSpec((None, 3), tf.float64)]
    f = compiled(lambda x: tf.reduce_sum(kernel(x, x), 1), input_signature=signature)
    return f, (random(N, 3),), []


@program
def structures():
    def f(given, *, scale):
        x = given["x"]
        return {"sums": tf.reduce_sum(kernel(x, x, scale), 1), "x": [x, (given["n"] + 1,)]}

    whole = compiled(f)
    run = lambda given: whole(given, scale=tf.constant(2.0, tf.float64))  # noqa: E731
    return run, ({"x": random(N, 3), "n": tf.constant(3)},), []


@program
def complex_numbers():
    def f(x, v):
        phase = tf.complex(tf.zeros((N, N), tf.float64), x * tf.transpose(x))
        return tf.reduce_sum(tf.math.real(tf.exp(phase)) * v, 1)

    return compiled(f), (random(N, 1), random(1, N)), []


@program
def half_precision():
    def f(x):
        return tf.reduce_sum(tf.cast(kernel(x, x), tf.float32), 1)

    return compiled(f), (random(N, 3, dtype=tf.bfloat16),), []


@program
def embedding():
    table = tf.Variable(random(50, 8, dtype=tf.float32))

    def f(words):
        x = tf.gather(table, words)
        return tf.nn.softmax(x @ tf.transpose(x)) @ x

    return compiled(f), (tf.constant(np.arange(N) % 50, tf.int32),), [table]


@program
def mapped():
    def f(x, y):
        return tf.vectorized_map(lambda row: tf.reduce_sum(tf.exp(-tf.abs(row - y))), x)

    return compiled(f), (random(N, 3), random(N, 3, seed=1)), []


@program
def cumulative():
    def f(x):
        return tf.reduce_max(tf.cumsum(x * tf.transpose(x), axis=1), 1)

    return compiled(f), (random(N, 1),), []
