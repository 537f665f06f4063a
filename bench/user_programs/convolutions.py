"""Convolutional networks: training on large batches, one large image, signals, volumes."""

import jax
import jax.numpy as jnp
from jax import lax
from user_programs.registry import program

SUMS = "gradients are sums over the batch, rounded in another order"
LAYOUTS = {
    1: ("NWC", "WIO", "NWC"),
    2: ("NHWC", "HWIO", "NHWC"),
    3: ("NDHWC", "DHWIO", "NDHWC"),
}


def conv(x, w, stride=1, padding="SAME", dilation=1, groups=1):
    n = x.ndim - 2
    return lax.conv_general_dilated(
        x,
        w,
        (stride,) * n,
        padding,
        rhs_dilation=(dilation,) * n,
        dimension_numbers=LAYOUTS[n],
        feature_group_count=groups,
    )


def normalised(x, axes=(0, 1, 2)):
    """Batch normalisation, training."""
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5)


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def sgd(loss, p, *data):
    value, grads = jax.value_and_grad(loss)(p, *data)
    return value, jax.tree.map(lambda a, g: a - 0.1 * g, p, grads)


def resnet_inputs(n, r):
    p = {"stem": r.normal(3, 3, 3, 16, scale=0.3)}
    for i, (a, b) in enumerate([(16, 16), (16, 32)]):
        p |= {f"a{i}": r.normal(3, 3, a, b, scale=0.1), f"b{i}": r.normal(3, 3, b, b, scale=0.1)}
        p[f"skip{i}"] = r.normal(1, 1, a, b, scale=0.2)
    p["out"] = r.normal(32, 10, scale=0.2)
    return p, r.normal(n, 32, 32, 3), r.integers(10, n)


@program(256, 32, resnet_inputs, tolerance=3e-4, why=SUMS)
def resnet_step(p, x, y):
    """A step of gradient descent of a small residual network on one large batch."""

    def loss(p, x, y):
        h = jax.nn.relu(conv(x, p["stem"]))
        for i, stride in enumerate((1, 2)):
            f = jax.nn.relu(conv(h, p[f"a{i}"], stride))
            h = jax.nn.relu(conv(f, p[f"b{i}"]) + conv(h, p[f"skip{i}"], stride))
        return cross_entropy(h.mean((1, 2)) @ p["out"], y)

    return sgd(loss, p, x, y)


@program(
    256,
    64,
    lambda n, r: (
        r.normal(n, 32, 32, 8),
        r.normal(3, 3, 8, 32, scale=0.1),
        r.normal(3, 3, 32, 32, scale=0.05),
        r.normal(32),
    ),
    x64=True,
)
def denoiser_grad(x, first, second, bias):
    """Gradients of a small U-Net in f64: two levels, norms of groups."""

    def in_groups(h):
        return normalised(h.reshape(*h.shape[:3], 8, -1), (1, 2, 4)).reshape(h.shape)

    def loss(first, second, bias):
        h = jax.nn.silu(in_groups(conv(x, first)) + bias)
        low = lax.reduce_window(h, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        low = jax.nn.silu(in_groups(conv(low, second)))
        h = jax.nn.silu(in_groups(conv(jnp.repeat(jnp.repeat(low, 2, 1), 2, 2) + h, second)))
        return jnp.mean((h[..., : x.shape[-1]] - x) ** 2)

    return jax.value_and_grad(loss, (0, 1, 2))(first, second, bias)


def cnn_inputs(n, r):
    p = [r.normal(3, 3, 1, 32, scale=0.3), r.normal(3, 3, 32, 64, scale=0.06)]
    return p + [r.normal(7 * 7 * 64, 10, scale=0.02)], r.normal(n, 28, 28, 1), r.integers(10, n)


@program(512, 64, cnn_inputs, tolerance=3e-4, why=SUMS)
def mnist_cnn_adam(p, x, y):
    """Adam's first step of a network for digits: convolutions and maxima of 2 x 2."""

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(p):
        h = pool(jax.nn.relu(conv(x, p[0])))
        h = pool(jax.nn.relu(conv(h, p[1])))
        return cross_entropy(h.reshape(len(x), -1) @ p[2], y)

    value, grads = jax.value_and_grad(loss)(p)
    moments = [(0.1 * g, 0.001 * g * g) for g in grads]
    return value, [a - 0.001 * m / (jnp.sqrt(v) + 1e-4) for a, (m, v) in zip(p, moments)], moments


@program(
    128,
    16,
    lambda n, r: (
        [r.normal(3, 3, 1, 32, scale=0.3), r.normal(1, 1, 32, 64, scale=0.2), r.normal(64, 10)],
        r.normal(n, 32, 32, 32),
        r.integers(10, n),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def depthwise_step(p, x, y):
    """A step of a depthwise separable convolution."""

    def loss(p, x, y):
        h = jax.nn.relu(conv(x, p[0], groups=32))
        return cross_entropy(jax.nn.relu(conv(h, p[1])).mean((1, 2)) @ p[2], y)

    return sgd(loss, p, x, y)


@program(
    128,
    16,
    lambda n, r: (
        [r.normal(4, 4, 3, 32, scale=0.2), r.normal(4, 4, 32, 32, scale=0.1)],
        r.normal(n, 64, 64, 3),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def autoencoder_step(p, x):
    """A step of an autoencoder: a convolution with strides there, a transposed one back."""

    def loss(p, x):
        h = jax.nn.relu(conv(x, p[0], 2))
        z = jax.nn.relu(conv(h, p[1], 2))
        layout = LAYOUTS[2]
        h = lax.conv_transpose(z, p[1], (2, 2), "SAME", None, layout, transpose_kernel=True)
        out = lax.conv_transpose(
            jax.nn.relu(h), p[0], (2, 2), "SAME", None, layout, transpose_kernel=True
        )
        return ((out - x) ** 2).mean()

    return sgd(loss, p, x)


@program(
    64,
    8,
    lambda n, r: ([r.normal(2, 16, 32, scale=0.2) for _ in range(6)], r.normal(n, 2000, 16)),
    tolerance=3e-4,
    why=SUMS,
)
def wavenet_step(p, x):
    """A step of gated, dilated, causal convolutions of signals."""

    def loss(p, x):
        h = x
        for i, w in enumerate(p):
            u = conv(h, w, 1, [(2**i, 0)], 2**i)
            h = h + jnp.tanh(u[..., :16]) * jax.nn.sigmoid(u[..., 16:])
        return ((h[:, :-1] - x[:, 1:]) ** 2).mean()

    return sgd(loss, p, x)


@program(
    32,
    8,
    lambda n, r: (
        [r.normal(3, 3, 3, 1, 8, scale=0.3), r.normal(3, 3, 3, 8, 16, scale=0.1), r.normal(16, 2)],
        r.normal(n, 24, 24, 24, 1),
        r.integers(2, n),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def volumes_step(p, x, y):
    """A step of a network on volumes."""

    def loss(p, x, y):
        h = jax.nn.relu(conv(x, p[0]))
        return cross_entropy(jax.nn.relu(conv(h, p[1], 2)).mean((1, 2, 3)) @ p[2], y)

    return sgd(loss, p, x, y)


@program(
    128,
    16,
    lambda n, r: (
        [r.normal(16, 3, 5, 5, scale=0.2), r.normal(32, 16, 3, 3, scale=0.1), r.normal(32, 10)],
        r.normal(n, 3, 48, 48),
        r.integers(10, n),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def channels_first_step(p, x, y):
    """A step of a network whose images have their channels first."""

    def loss(p, x, y):
        h = jax.nn.relu(lax.conv(x, p[0], (1, 1), "SAME"))
        return cross_entropy(jax.nn.relu(lax.conv(h, p[1], (2, 2), "SAME")).mean((2, 3)) @ p[2], y)

    return sgd(loss, p, x, y)


@program(
    2048,
    640,
    lambda n, r: (
        r.normal(1, n, n, 1),
        r.normal(5, 5, 1, 8, scale=0.2),
        r.normal(5, 5, 8, 1, scale=0.2),
    ),
)
def large_image(x, first, second):
    """Two convolutions of one large image."""
    return conv(jax.nn.relu(conv(x, first)), second)


@program(160, 56, lambda n, r: (r.uniform(n, n), r.uniform(48, 9, 9)))
def template_matches(image, templates):
    """The best correlation of each of 48 templates with all patches, normalised, written by hand."""
    size = image.shape[0] - 8
    shifts = [(i, j) for i in range(9) for j in range(9)]
    p = jnp.stack([image[i : i + size, j : j + size] for i, j in shifts], -1)
    p = p - p.mean(-1, keepdims=True)
    p = p / (jnp.linalg.norm(p, axis=-1, keepdims=True) + 1e-6)
    t = templates.reshape(48, 81)
    t = t - t.mean(1, keepdims=True)
    t = t / jnp.linalg.norm(t, axis=1, keepdims=True)
    return jnp.einsum("hwp,tp->thw", p, t).max((1, 2))
