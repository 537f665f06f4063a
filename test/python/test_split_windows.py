"""Attention in local windows, shifted by less than a window (Swin) and beside neighbouring blocks,
with gradients, sums of neighbouring rows, medians of neighbours: under arguments, results and a tenth of stock's temporaries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import held
import weir

SIDE, SHIFT = 8, 4


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def image():
    return numbers(1, 128, 128, 32), 0.2 * numbers(32, 96)


def parted(x):
    b, h, w, c = x.shape
    y = x.reshape(b, h // SIDE, SIDE, w // SIDE, SIDE, c).transpose(0, 1, 3, 2, 4, 5)
    return y.reshape(-1, SIDE * SIDE, c)


def put_together(y, shape):
    b, h, w, c = shape
    y = y.reshape(b, h // SIDE, w // SIDE, SIDE, SIDE, c)
    return y.transpose(0, 1, 3, 2, 4, 5).reshape(shape)


def swin(x, wqkv, mask=0.0):
    q, k, v = jnp.split(parted(jnp.roll(x, (-SHIFT, -SHIFT), (1, 2))) @ wqkv, 3, -1)
    a = jax.nn.softmax(q @ k.swapaxes(1, 2) / 6 + mask, -1) @ v
    return x + jnp.roll(put_together(a, x.shape), (SHIFT, SHIFT), (1, 2))


def masked(x, wqkv):
    """What came from the other edge is not looked at."""
    parts = (slice(0, -SIDE), slice(-SIDE, -SHIFT), slice(-SHIFT, None))
    region = np.zeros((1, *x.shape[1:3], 1), np.float32)
    for i, rows in enumerate(parts):
        for j, columns in enumerate(parts):
            region[:, rows, columns] = 3 * i + j
    r = np.asarray(parted(region))[..., 0]
    return swin(x, wqkv, jnp.asarray(np.where(r[:, None] != r[:, :, None], -100, 0), jnp.float32))


def gradient(x, wqkv):
    return jax.grad(lambda w: jnp.sum(swin(x, w) ** 2))(wqkv)


def tall():
    return numbers(1, 512, 64, 32), 0.2 * numbers(32, 96)


def local(x, wqkv):
    q, k, v = jnp.split(parted(x) @ wqkv, 3, -1)
    return x + put_together(jax.nn.softmax(q @ k.swapaxes(1, 2) / 6, -1) @ v, x.shape)


def two(x, wqkv):
    """The second layer's windows lie across those of the first."""
    return swin(local(x, wqkv), wqkv[::-1])


def two_masked(x, wqkv):
    return masked(local(x, wqkv), wqkv[::-1])


def gradient_of_two(x, wqkv):
    return jax.grad(lambda w: jnp.sum(two(x, w) ** 2))(wqkv)


def four(x, w):
    """Along a sequence, each second layer shifted."""

    def layer(h, w):
        q, k, v = jnp.split(h.reshape(-1, 64, h.shape[-1]) @ w, 3, -1)
        return h + (jax.nn.softmax(q @ k.swapaxes(1, 2) / 4, -1) @ v).reshape(h.shape)

    for _ in range(2):
        x = jnp.roll(layer(jnp.roll(layer(x, w), -32, 0), w), 32, 0)
    return jnp.mean(x**2)


def blocks(q, k, v, width=64):
    """Each block of queries sees the keys of its own block and of both neighbours."""
    q, k, v = (a.reshape(-1, width, a.shape[-1]) for a in (q, k, v))
    k, v = (jnp.concatenate([jnp.roll(a, 1, 0), a, jnp.roll(a, -1, 0)], 1) for a in (k, v))
    p = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / 8, -1)
    return jnp.einsum("bqk,bkd->bqd", p, v).reshape(-1, v.shape[-1])


def coherence(x, y, scales):
    """Two wavelet transforms and their products, smoothed over neighbouring scales: what makes both
    transforms is read by the smoothing, too."""
    at = scales[:, None] * 2 * jnp.pi * jnp.fft.fftfreq(x.size)
    wave = jnp.exp(-0.5 * (at - 6) ** 2) * (at > 0)

    def smooth(w):
        w = jnp.fft.ifft(jnp.fft.fft(w) * jnp.exp(-0.5 * at**2))
        return w + jnp.roll(w, 1, 0) + jnp.roll(w, -1, 0)

    wx, wy = (jnp.fft.ifft(jnp.fft.fft(s) * wave) for s in (x, y))
    xx, yy = (smooth(jnp.abs(w) ** 2 + 0j).real for w in (wx, wy))
    return jnp.mean(jnp.abs(smooth(wx * wy.conj())) ** 2 / (xx * yy + 1e-3), 0)


def medians(x):
    """Of 25 pixels, whose stack is compared with itself: NaNs."""
    p = jnp.pad(x, 2, mode="edge")
    return jnp.median(jnp.stack([p[i : i + len(x), j : j + len(x)] for i in range(5) for j in range(5)], -1), -1)


def picture():
    return (numbers(300, 300),)


def series():
    return numbers(2048), numbers(2048)[::-1].copy(), np.exp2(np.linspace(1, 7, 100), dtype=np.float32)


def sequence():
    return numbers(8192, 32), numbers(8192, 32)[::-1].copy(), numbers(8192, 32)


def signal():
    return numbers(16_384, 16), 0.3 * numbers(16, 48)


INPUTS = {
    swin: image,
    masked: image,
    gradient: image,
    two: tall,
    two_masked: tall,
    gradient_of_two: tall,
    four: signal,
    blocks: sequence,
    coherence: series,
    medians: picture,
}


@pytest.mark.parametrize("f", INPUTS, ids=lambda f: f.__name__)
def test_a_tenth_of_the_temporaries_does(f):
    held.check_a_tenth(f, *INPUTS[f]())


def periodic(x, w):
    h = jnp.tanh(x @ w)
    return jnp.mean((jnp.roll(h, -1, 0) - 2 * h + jnp.roll(h, 1, 0)) ** 2, 0)


def test_what_neighbours_share_is_made_once():
    """Rolled either way, the rows that come round included: not five times."""
    x, w = numbers(16_384, 32), numbers(32, 64)
    held.check_a_tenth(periodic, x, w)
    report = weir.last_report()
    assert report.flops_after < 1.3 * report.flops_before
