"""Training steps and other programs with gradients under a share of stock's temporaries: how long they take.

    python bench/experiments/training.py [--share 0.1 0.33] [NAME ...]

Prints, for each program and share: stock's temporaries and those held (MB, by XLA's report), CPU
seconds to compile (stock's), CPU time of stock and over it that under the limit, by least of runs
in turn, the same as predicted, flops over the program's, loops, and how far results are off.
"""

import argparse
import json
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import weir

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measure import HONEST, compiled  # noqa: E402
from needs import limit_of, needs_of  # noqa: E402

ROUNDS = 4
DICE = np.random.default_rng(0)


def weights(*shape):
    return (DICE.standard_normal(shape) / np.prod(shape[:-1]) ** 0.5).astype(np.float32)


def data(*shape):
    return DICE.standard_normal(shape).astype(np.float32)


def batch_norm(z):
    axes = tuple(range(z.ndim - 1))
    return (z - z.mean(axes)) * jax.lax.rsqrt(z.var(axes) + 1e-5)


def layer_norm(z):
    return (z - z.mean(-1, keepdims=True)) * jax.lax.rsqrt(z.var(-1, keepdims=True) + 1e-5)


def convolution(z, w, stride=1):
    return jax.lax.conv_general_dilated(z, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def adam(loss):
    """A step: parameters, moments, data -> loss, parameters, moments."""

    def step(p, m, v, *batch):
        value, g = jax.value_and_grad(loss)(p, *batch)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return value, p, m, v

    return step


def trained(loss, p, *batch):
    zeros = jax.tree.map(np.zeros_like, p)
    return adam(loss), (p, zeros, zeros, *batch)


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def residual_net(blocks, images=64, side=32, width=16):
    def loss(p, x):
        x = jax.nn.relu(batch_norm(convolution(x, p[0])))
        for a, b in p[1:]:
            z = jax.nn.relu(batch_norm(convolution(x, a)))
            x = jax.nn.relu(x + batch_norm(convolution(z, b)))
        return jnp.mean(jnp.cos(x))

    p = [weights(3, 3, 3, width)] + [(weights(3, 3, width, width), weights(3, 3, width, width)) for _ in range(blocks)]
    return jax.value_and_grad(loss), (p, data(images, side, side, 3))


def mlp(rows=16384, width=512, layers=4):
    def loss(p, x, y):
        for w, b in p[:-1]:
            x = jax.nn.relu(x @ w + b)
        return cross_entropy(x @ p[-1][0] + p[-1][1], y)

    sizes = [256] + [width] * layers + [10]
    p = [(weights(a, b), np.zeros(b, np.float32)) for a, b in zip(sizes, sizes[1:])]
    return trained(loss, p, data(rows, 256), DICE.integers(0, 10, rows).astype(np.int32))


def stacked_layers(layers, hidden, rows=512, width=128, through=lambda f: f):
    """Gradients of layers written out one after the other, whose weights are cut from two stacks."""
    layer = through(lambda z, up, down: z + jnp.tanh(z @ up) @ down)

    def loss(ups, downs, x):
        for i in range(layers):
            x = layer(x, ups[i], downs[i])
        return (x * x).mean()

    ups, downs = (np.stack([weights(*s) for _ in range(layers)]) for s in ((width, hidden), (hidden, width)))
    return jax.grad(loss, (0, 1)), (ups, downs, data(rows, width))


def transformer(batch=16, length=256, width=128, layers=3, words=1000):
    heads = 4

    def attention(x, qkv, o):
        q, k, v = (z.reshape(batch, length, heads, -1) for z in jnp.split(x @ qkv, 3, -1))
        a = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), a, -1e9))
        return jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(x.shape) @ o

    def loss(p, tokens):
        x = p["words"][tokens]
        for qkv, o, a, b in p["layers"]:
            x = x + attention(layer_norm(x), qkv, o)
            x = x + jax.nn.gelu(layer_norm(x) @ a) @ b
        logits = layer_norm(x) @ p["words"].T
        return cross_entropy(logits[:, :-1].reshape(-1, words), tokens[:, 1:].reshape(-1))

    d = width
    p = {"words": weights(words, d), "layers": [(weights(d, 3 * d), weights(d, d), weights(d, 4 * d), weights(4 * d, d)) for _ in range(layers)]}
    return trained(loss, p, DICE.integers(0, words, (batch, length)).astype(np.int32))


def cnn(images=256, side=32):
    def loss(p, x, y):
        for i, w in enumerate(p[:-1]):
            x = jax.nn.relu(convolution(x, w, 1 + i % 2))
        return cross_entropy(x.mean((1, 2)) @ p[-1], y)

    p = [weights(3, 3, a, b) for a, b in ((3, 16), (16, 16), (16, 32), (32, 32))] + [weights(32, 10)]
    return trained(loss, p, data(images, side, side, 3), DICE.integers(0, 10, images).astype(np.int32))


def triangle_attention(n=128, c=16, heads=4):
    def loss(p, z):
        q, k, v, bias, g, o, a, b = p
        x = layer_norm(z)
        q, k, v = ((x @ w).reshape(n, n, heads, -1) for w in (q, k, v))
        logits = jnp.einsum("iqhd,ikhd->ihqk", q, k) / (c // heads) ** 0.5 + (x @ bias).transpose(2, 0, 1)[None]
        out = jnp.einsum("ihqk,ikhd->iqhd", jax.nn.softmax(logits), v).reshape(n, n, c)
        z = z + (jax.nn.sigmoid(x @ g) * out) @ o
        z = z + jax.nn.relu(layer_norm(z) @ a) @ b
        return jnp.mean(jnp.cos(z))

    p = [weights(c, c)] * 3 + [weights(c, heads), weights(c, c), weights(c, c), weights(c, 4 * c), weights(4 * c, c)]
    return jax.value_and_grad(loss, (0, 1)), (p, data(n, n, c))


def rwkv(batch=8, length=1024, heads=4, width=32, chunk=32):
    """Linear attention with decay, in chunks: a state is carried from chunk to chunk."""

    def attention(x, p):
        q, k, v, w = ((x @ a).reshape(batch, length // chunk, chunk, heads, width) for a in p[:4])
        w = jnp.cumsum(-jnp.exp(w * 0.1 - 3), 2)
        last = w[:, :, -1:]

        def step(s, c):
            q, k, v, w, last = c
            inside = jnp.einsum("bihd,bjhd->bhij", q * jnp.exp(w), k * jnp.exp(-w))
            out = jnp.einsum("bhij,bjhe->bihe", jnp.where(jnp.tril(jnp.ones((chunk, chunk), bool)), inside, 0), v)
            out = out + jnp.einsum("bihd,bhde->bihe", q * jnp.exp(w), s)
            s = s * jnp.exp(last)[:, 0, :, :, None] + jnp.einsum("bihd,bihe->bhde", k * jnp.exp(last - w), v)
            return s, out

        chunks = tuple(jnp.moveaxis(z, 1, 0) for z in (q, k, v, w, last))
        _, out = jax.lax.scan(step, jnp.zeros((batch, heads, width, width)), chunks)
        return jnp.moveaxis(out, 0, 1).reshape(x.shape)

    def loss(p, x):
        for layer in p:
            x = x + attention(layer_norm(x), layer) @ layer[4]
            x = x + jax.nn.relu(layer_norm(x) @ layer[5]) ** 2 @ layer[6]
        return jnp.mean(jnp.cos(x))

    d = heads * width
    p = [tuple([weights(d, d) for _ in range(5)] + [weights(d, 4 * d), weights(4 * d, d)]) for _ in range(2)]
    return jax.value_and_grad(loss), (p, data(batch, length, d))


def student_mixture(rows=200_000, parts=16, width=8):
    def loss(p, x):
        logits, centre, scale, freedom = p
        nu = jnp.exp(freedom) + 1
        z = (x[:, None] - centre) * jnp.exp(-scale)
        one = jax.scipy.special.gammaln((nu + 1) / 2) - jax.scipy.special.gammaln(nu / 2) - 0.5 * jnp.log(nu * jnp.pi)
        log = (one - (nu + 1) / 2 * jnp.log1p(z * z / nu) - scale).sum(-1)
        return -jax.nn.logsumexp(jax.nn.log_softmax(logits) + log, 1).mean()

    return jax.value_and_grad(loss), ([data(parts), data(parts, width), data(parts, width), data(parts, width)], data(rows, width))


def ntk(rows=512, width=128):
    def f(p, x):
        h = jnp.tanh(x @ p[0])
        return (jnp.tanh(h @ p[1]) @ p[2])[0]

    def kernel(p, x):
        j = jax.vmap(jax.grad(f), (None, 0))(p, x)
        return sum(jnp.einsum("iab,jab->ij", g, g) for g in j)

    return kernel, ([weights(32, width), weights(width, width), weights(width, 1)], data(rows, 32))


def int8_product(rows=2048, inner=1024, columns=2048):
    def f(x, w, scale, row_scale):
        y = jax.lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return jax.nn.gelu(y.astype(jnp.float32) * scale * row_scale[:, None]).sum(1)

    return f, (DICE.integers(-127, 127, (rows, inner)).astype(np.int8), DICE.integers(-127, 127, (inner, columns)).astype(np.int8), np.abs(data(columns)) * 1e-3, np.abs(data(rows)))


def random_loop(rows=1_000_000, steps=20):
    def f(key, x):
        def step(i, x):
            return x + 0.1 * jnp.sin(x) + 0.1 * jax.random.normal(jax.random.fold_in(key, i), x.shape)

        return jax.lax.fori_loop(0, steps, step, x).mean()

    def start(seed):
        return f(jax.random.key(seed), jnp.zeros(rows))

    return start, (np.int32(0),)


def recurrent(f, steps=4000, width=128, inputs=128, widths=(1, 1, 1)):
    """Gradients of a gated recurrence, all of whose gates are made at once."""
    w = [weights(width if i else inputs, int(width * n)) for i, n in enumerate(widths)]
    return jax.value_and_grad(lambda w, x: f(x, *w)), (w, data(steps, inputs))


def linear_states(a, b):
    def step(h, given):
        h = given[0] * h + given[1]
        return h, h

    return jax.lax.scan(step, jnp.zeros(a.shape[1:]), (a, b))[1]


def griffin(x, w, v, out):
    a = jnp.exp(-8 * jax.nn.softplus(x @ w))
    b = jnp.sqrt(1 - a * a + 1e-6) * jax.nn.sigmoid(x @ v) * x
    return jnp.mean((jax.nn.gelu(linear_states(a, b)) @ out) ** 2)


def minimal_gru(x, w, v, out):
    z = jax.nn.sigmoid(x @ w)
    return jnp.mean((linear_states(1 - z, z * (x @ v)) @ out) ** 2)


def mamba(x, w, v, out):
    n = v.shape[1] // 3
    dt, c = jax.nn.softplus(x @ w), x @ v[:, :n]
    decay = jnp.exp(-dt[:, :, None] * jnp.exp(v[:, n : 2 * n]))
    h = linear_states(decay, (dt * x)[:, :, None] * (x @ v[:, 2 * n :])[:, None])
    return jnp.mean((jnp.einsum("tdn,tn->td", h, c) @ out) ** 2)


def lstm(x, w, u, out):
    def step(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + h @ u, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(out.shape[0])
    (h, _), hs = jax.lax.scan(step, (zero, zero), x @ w)
    return jnp.mean((hs @ out) ** 2) + jnp.sum(h)


def biquads(channels=300, samples=2000, filters=5):
    """One after the other, each with two states a channel."""

    def f(x, coefficients):
        for b0, b1, b2, a1, a2 in coefficients:

            def step(s, x):
                y = b0 * x + s[0]
                return (b1 * x - a1 * y + s[1], b2 * x - a2 * y), y

            zero = jnp.zeros(channels)
            x = jax.lax.scan(step, (zero, zero), x)[1]
        return jnp.sum(x**2, 0)

    return f, (data(samples, channels), DICE.uniform(0, 0.3, (filters, 5)).astype(np.float32))


CASES = {
    "residual2": lambda: residual_net(2),
    "residual4": lambda: residual_net(4),
    "residual6": lambda: residual_net(6),
    "mlp": mlp,
    "stacked4": lambda: stacked_layers(4, 512),
    "stacked8": lambda: stacked_layers(8, 256),
    "rematerialised4": lambda: stacked_layers(4, 512, through=jax.checkpoint),
    "transformer": transformer,
    "cnn": cnn,
    "triangle": triangle_attention,
    "rwkv": rwkv,
    "student_mixture": student_mixture,
    "ntk": ntk,
    "int8": int8_product,
    "random_loop": random_loop,
    "griffin": lambda: recurrent(griffin),
    "minimal_gru": lambda: recurrent(minimal_gru),
    "mamba": lambda: recurrent(mamba, 1000, 64, 64, (1, 0.75, 1)),
    "biquads": biquads,
    "lstm": lambda: recurrent(lstm, 4000, 128, 64, (4, 4, 1)),
}


def in_turn(programs, arguments):
    """The least CPU seconds of each, and what each returned."""
    least, results = [float("inf")] * len(programs), [None] * len(programs)
    for turn in range(ROUNDS):
        for i, program in enumerate(programs):
            start = time.process_time()
            results[i] = jax.block_until_ready(program(*arguments))
            if turn:
                least[i] = min(least[i], time.process_time() - start)
    return least, results


def difference(got, want):
    pairs = zip(*(map(np.asarray, jax.tree.leaves(t)) for t in (got, want)))
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)) for a, b in pairs)


def limited(f, arguments, limit):
    with weir.limit(limit):
        return compiled(lambda *a: f(*a), arguments)


def measure(name, shares):
    f, arguments = CASES[name]()
    arguments = jax.device_put(arguments)
    honest, _ = compiled(f, arguments, HONEST)
    stock, stock_compile = compiled(f, arguments)
    needs = needs_of(honest)
    limits = [limit_of(*needs, share) for share in shares]
    ways, compile_seconds, plans, held = [stock], [stock_compile], [None], []
    for share, limit in zip(shares, limits):
        try:
            program, seconds = limited(f, arguments, limit)
            plan = weir.plan(f, *arguments, limit=limit)
        except Exception as error:
            print(name, f"{needs[-1] / 1e6:.1f} MB under {limit / 1e6:.1f}: refused:", str(error)[:160], flush=True)
            continue
        ways.append(program), compile_seconds.append(seconds), plans.append(plan), held.append(share)
    seconds, results = in_turn(ways, arguments)
    for way, share, plan in zip(range(1, len(ways)), held, plans[1:]):
        print(
            f"{name} {share}: {needs[-1] / 1e6:.1f} MB, held {needs_of(ways[way])[-1] / 1e6:.1f},",
            f"compiles in {compile_seconds[way]:.1f} s ({stock_compile:.1f}), stock {seconds[0] * 1e3:.0f} ms,",
            f"time {seconds[way] / seconds[0]:.2f}, {describe(plan)}, off by {difference(results[way], results[0]):.0e}",
            flush=True,
        )  # fmt: skip


def describe(plan):
    found = json.loads(plan.data)
    time, flops = (found[f"{k}_after"] / max(1, found[f"{k}_before"]) for k in ("time", "flops"))
    return f"predicted {time:.2f}, flops {flops:.2f}, {len(found['loops'])} loops"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--share", type=float, nargs="+", default=[0.1])
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    for name in chosen.names or CASES:
        measure(name, chosen.share)


if __name__ == "__main__":
    main()
