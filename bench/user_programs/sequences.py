"""Alignments, recurrences, state spaces, search."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from user_programs.pairs import squares
from user_programs.registry import by_hand, program

SUMS = "long f32 sums over time"


@program(400, 126, lambda n, r: (r.normal(128, n, 4), r.normal(128, n, 4)))
def soft_dtw(x, y):
    """Soft dynamic time warping of many pairs of series: a scan in a scan."""

    def one(x, y):
        d = squares(x, y)

        def row(previous, costs):
            def cell(left, given):
                up, diagonal, cost = given
                value = cost - jax.nn.logsumexp(-jnp.stack([left, up, diagonal]))
                return value, value

            first = jnp.float32(1e6)
            _, new = lax.scan(cell, first, (previous[1:], previous[:-1], costs))
            return jnp.concatenate([first[None], new]), None

        start = jnp.concatenate([jnp.zeros(1), jnp.full(y.shape[0], 1e6)]).astype(jnp.float32)
        last, _ = lax.scan(row, start, d)
        return last[-1]

    return jax.vmap(one)(x, y)


@program(12_000, 3800, lambda n, r: (r.integers(4, n), r.integers(4, n + 1)))
def edit_distance(a, b):
    """Levenshtein's distance, a scan over the rows of a matrix of mismatches."""
    mismatch = (a[:, None] != b[None]).astype(jnp.int32)
    i = jnp.arange(b.shape[0] + 1)

    def row(previous, costs):
        t = jnp.minimum(previous[1:] + 1, previous[:-1] + costs)
        t = jnp.concatenate([previous[:1] + 1, t])
        return lax.cummin(t - i) + i, None

    last, _ = lax.scan(row, i, mismatch)
    return last[-1]


@program(16_384, 1638, lambda n, r: [r.normal(n, 64) for _ in range(3)], tolerance=3e-4, why=SUMS)
def linear_attention(q, k, v):
    """Causal linear attention by a cumulative sum of outer products."""

    def phi(x):
        return jax.nn.elu(x) + 1

    kv = jnp.cumsum(phi(k)[:, :, None] * v[:, None, :], 0)
    z = jnp.cumsum(phi(k), 0)
    return jnp.einsum("td,tde->te", phi(q), kv) / jnp.einsum("td,td->t", phi(q), z)[:, None]


def state_space(n, r):
    return r.normal(n, 256), r.normal(256, 16), r.normal(n, 16), r.normal(n, 16)


def discretised(x, a, b):
    decay = jnp.exp(-jax.nn.softplus(x)[:, :, None] * jnp.exp(a))
    return decay, x[:, :, None] * b[:, None]


@program(8192, 819, state_space, tolerance=3e-4, why=SUMS)
def mamba_associative(x, a, b, c):
    """A selective state space by an associative scan."""

    def combined(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    _, h = lax.associative_scan(combined, discretised(x, a, b))
    return jnp.einsum("tdn,tn->td", h, c)


@program(8192, 819, state_space, tolerance=3e-4, why=SUMS)
def mamba_scan(x, a, b, c):
    """The same by a scan that keeps all states."""

    def step(h, given):
        decay, input = given
        h = decay * h + input
        return h, h

    _, h = lax.scan(step, jnp.zeros(a.shape), discretised(x, a, b))
    return jnp.einsum("tdn,tn->td", h, c)


@program(
    40,
    10,
    lambda n, r: (r.normal(n, 32, 128), r.normal(128, 128, scale=0.2), r.integers(128, n, 32)),
    tolerance=3e-4,
    why=SUMS,
)
def crf_grad(emission, transition, tags):
    """A conditional random field's likelihood, with gradients."""

    def loss(transition, emission):
        def step(alpha, e):
            return jax.nn.logsumexp(alpha[:, :, None] + transition[None] + e[:, None], 1), None

        alpha, _ = lax.scan(step, emission[0], emission[1:])
        total = jax.nn.logsumexp(alpha, 1)
        score = jnp.take_along_axis(emission, tags[..., None], 2)[..., 0].sum(0)
        score = score + transition[tags[:-1], tags[1:]].sum(0)
        return (total - score).mean()

    return jax.value_and_grad(loss, (0, 1))(transition, emission)


@program(
    128,
    13,
    lambda n, r: (r.normal(n, 8, 64, scale=0.3), r.normal(64, 64_000, scale=0.2), r.normal(n, 8)),
)
def beam_step(h, w, scores):
    """A step of beam search: the best of all beams times the vocabulary."""
    batch, beams = scores.shape
    total = scores[..., None] + jax.nn.log_softmax(h @ w, -1)
    s, i = lax.top_k(total.reshape(batch, -1), beams)
    return s, i // w.shape[1], i % w.shape[1]


@program(
    3000,
    900,
    lambda n, r: (r.uniform(n, 3),),
)
def neighbour_list(x):
    """Pairs nearer than a cutoff as a list of fixed size (jax-md's neighbours)."""
    d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    near = (d2 < 0.01**2) & (jnp.arange(len(x))[:, None] < jnp.arange(len(x)))
    return jnp.nonzero(near, size=100, fill_value=-1)


@program(20_000_000, 2_000_000, lambda n, r: (r.normal(n),))
def compaction(x):
    """Elements of a mask, one after the other."""
    mask = jnp.tanh(x) > 0.99
    place = jnp.where(mask, jnp.cumsum(mask) - 1, 100_000)
    return jnp.zeros(100_000, x.dtype).at[place].set(jnp.exp(x), mode="drop")


@program(
    10_000_000,
    1_000_000,
    lambda n, r: (r.normal(n, scale=0.01),),
    tolerance=1e-3,
    why="a maximum over sums of ten million, rounded in another order",
)
def drawdown(x):
    """The largest fall from a peak of a random walk, by prefix sums and maxima."""
    walk = jnp.cumsum(jnp.tanh(x))
    return jnp.max(lax.cummax(walk) - walk)


@program(
    20_000,
    2000,
    lambda n, r: (r.normal(6), r.normal(6, 6, scale=0.3), r.normal(3, 6), r.normal(n, 50, 3)),
    tolerance=3e-4,
    why=SUMS,
)
def kalman_smoother(mean, f, h, y):
    """Expected moments of the states of many series, whose models take inputs of no features."""
    steps, q, r = y.shape[1], 0.1 * jnp.eye(6), 0.5 * jnp.eye(3)
    inputs, b = jnp.zeros((steps, 0)), jnp.zeros((6, 0))

    def filtered(state, given):
        (m, p), (u, y) = state, given
        gain = jnp.linalg.solve(h @ p @ h.T + r, h @ p).T
        m, p = m + gain @ (y - h @ m), p - gain @ h @ p
        return (f @ m + b @ u, f @ p @ f.T + q), (m, p)

    def smoothed(state, given):
        (m, p), (u, m0, p0) = state, given
        gain = jnp.linalg.solve(f @ p0 @ f.T + q, f @ p0).T
        m1, p1 = m0 + gain @ (m - f @ m0 - b @ u), p0 + gain @ (p - f @ p0 @ f.T - q) @ gain.T
        return (m1, p1), (m1, p1 + jnp.outer(m1, m1), gain @ p + jnp.outer(m1, m))

    def one(y):
        (_, (m, p)) = lax.scan(filtered, (mean, jnp.eye(6)), (inputs, y))
        before = inputs[1:], m[:-1], p[:-1]
        return lax.scan(smoothed, (m[-1], p[-1]), before, reverse=True)[1]

    return jax.tree.map(lambda x: x.sum((0, 1)), jax.vmap(one)(y))


@program(
    4000,
    800,
    lambda n, r: (-abs(r.normal(256)), r.normal(256), r.normal(n, 256), r.normal(n, 256)),
    tolerance=3e-4,
    why=SUMS,
)
def rwkv_grad(decay, bonus, k, v):
    """RWKV's recurrence, kept from overflowing by a running maximum, with gradients."""

    def step(state, given):
        (a, b, m), (k, v) = state, given
        top = jnp.maximum(m, bonus + k)
        old, new = jnp.exp(m - top), jnp.exp(bonus + k - top)
        out = (old * a + new * v) / (old * b + new)
        top = jnp.maximum(m + decay, k)
        old, new = jnp.exp(m + decay - top), jnp.exp(k - top)
        return (old * a + new * v, old * b + new, top), out

    def loss(decay, k, v):
        zero = jnp.zeros_like(k[0])
        return (lax.scan(step, (zero, zero, zero - 1e30), (k, v))[1] ** 2).sum()

    return jax.grad(loss, (0, 1, 2))(decay, k, v)


def gates(x, w, v, decay):
    """Griffin's: how much of a channel's state stays, and what comes to it."""
    log = -8 * jax.nn.softplus(decay) * jax.nn.sigmoid(x @ w)
    return jnp.exp(log), jnp.sqrt(1 - jnp.exp(2 * log) + 1e-6) * jax.nn.sigmoid(x @ v) * x


def gated_step(h, given):
    h = given[0] * h + given[1]
    return h, h


def read_out(h, out):
    return ((jax.nn.gelu(h) @ out) ** 2).sum()


@program(
    40_000,
    4000,
    lambda n, r: (
        r.normal(n, 128),
        *(r.normal(128, 128, scale=0.1) for _ in range(3)),
        r.normal(128),
    ),
    tolerance=3e-4,
    why=SUMS,
)
def griffin_grad(x, w, v, out, decay):
    """A gated linear recurrence whose gates are made for all steps first, with gradients."""

    def loss(w, v, out, decay):
        h = lax.scan(gated_step, jnp.zeros_like(x[0]), gates(x, w, v, decay))[1]
        return read_out(h, out)

    return jax.value_and_grad(loss, (0, 1, 2, 3))(w, v, out, decay)


@by_hand(griffin_grad)
def griffin_grad_in_chunks(x, w, v, out, decay):
    def loss(w, v, out, decay):
        @jax.checkpoint
        def chunk(h, x):
            h, all = lax.scan(gated_step, h, gates(x, w, v, decay))
            return h, read_out(all, out)

        chunks = x.reshape(-1, 200, x.shape[1])
        return lax.scan(chunk, jnp.zeros_like(x[0]), chunks)[1].sum()

    return jax.value_and_grad(loss, (0, 1, 2, 3))(w, v, out, decay)


@program(
    3000,
    950,
    lambda n, r: (*(r.normal(4, n, 16) for _ in range(3)), r.normal(4, n), r.normal(4, n) + 2),
    tolerance=3e-4,
    why=SUMS,
)
def mlstm_grad(q, k, v, enter, forget):
    """xLSTM's matrix memory in its parallel form, with gradients."""

    def loss(q, k, v, enter, forget):
        n = q.shape[1]
        kept = jnp.cumsum(jax.nn.log_sigmoid(forget), -1)
        decay = kept[:, :, None] - kept[:, None, :] + enter[:, None, :]
        decay = jnp.where(jnp.tril(jnp.ones((n, n), bool)), decay, -jnp.inf)
        top = decay.max(-1, keepdims=True)
        weights = jnp.einsum("hqd,hkd->hqk", q, k) / 4 * jnp.exp(decay - top)
        size = jnp.maximum(jnp.abs(weights.sum(-1, keepdims=True)), jnp.exp(-top))
        return (((weights / size) @ v) ** 2).sum()

    return jax.grad(loss, (0, 1, 2, 3, 4))(q, k, v, enter, forget)


@program(80, 25, lambda n, r: (r.integers(4, n, 30),))
def string_kernel(strings):
    """How many gapped subsequences of three letters each pair of strings has in common."""

    def pair(a, b):
        same = (a[:, None] == b).astype(jnp.float32)
        ends, total = jnp.ones_like(same), 0.0
        for _ in range(3):
            common = same * ends
            total += common.sum() / 4
            sums = jnp.cumsum(jnp.cumsum(common, 0), 1)
            ends = jnp.pad(sums, ((1, 0), (1, 0)))[:-1, :-1] / 2
        return total

    return jax.vmap(lambda a: jax.vmap(lambda b: pair(a, b))(strings))(strings)


@program(
    640,
    64,
    lambda n, r: (r.normal(n, 300, 60), r.integers(59, n, 50) + 1),
    tolerance=3e-4,
    why=SUMS,
)
def ctc_grad(logits, labels):
    """Connectionist temporal classification: the loss's gradient."""
    far = -1e9

    def one(logits, label):
        z = jnp.zeros(2 * len(label) + 1, jnp.int32).at[1::2].set(label)
        e = jax.nn.log_softmax(logits)[:, z]
        skips = (z != 0) & (z != jnp.roll(z, 2))

        def step(a, x):
            one_less = jnp.concatenate([jnp.full(1, far), a[:-1]])
            two_less = jnp.where(skips, jnp.concatenate([jnp.full(2, far), a[:-2]]), far)
            return jax.nn.logsumexp(jnp.stack([a, one_less, two_less]), 0) + x, None

        first = jnp.full(len(z), far).at[:2].set(e[0, :2])
        a, _ = lax.scan(step, first, e[1:])
        return -jnp.logaddexp(a[-1], a[-2])

    return jax.grad(lambda x: jax.vmap(one)(x, labels).mean())(logits)


def tree_inputs(n, r):
    """Bases of 32 species at n places; pairs that are joined, the last two at the root; lengths."""
    free, pairs = list(range(32)), []
    for parent in range(32, 63):
        pairs.append([free.pop(r.rng.integers(len(free))) for _ in range(2)])
        free.append(parent)
    lengths = r.uniform(63) * r.array(0.2) + r.array(0.01)
    return r.integers(4, 32, n), np.asarray(pairs, np.int32), lengths


@program(100_000, 10_000, tree_inputs, tolerance=3e-4, why=SUMS)
def tree_likelihood_grad(bases, pairs, lengths):
    """The likelihood of a phylogenetic tree, by Felsenstein's pruning: its lengths' gradient."""
    n = len(bases)

    def log_likelihood(lengths):
        stays = jnp.exp(-4 / 3 * lengths)[:, None, None]
        change = 0.25 * (1 - stays) + stays * jnp.eye(4)
        known = jnp.zeros((2 * n - 1, bases.shape[1], 4)).at[:n].set(jax.nn.one_hot(bases, 4))

        def join(known, x):
            parent, (a, b) = x
            return known.at[parent].set((known[a] @ change[a].T) * (known[b] @ change[b].T)), None

        known, _ = lax.scan(join, known, (jnp.arange(n, 2 * n - 1), pairs))
        return jnp.log(known[-1].mean(-1)).sum()

    return jax.value_and_grad(log_likelihood)(lengths)
