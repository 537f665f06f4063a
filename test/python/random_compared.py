"""Random programs that compare a matrix with what is selected of it: which elements are the largest of
their rows, the third largest, the median, the one of a label; as maxima, sorts, gathers, loops, branches
and products with one-hot rows say it.

A seed stands for one `function` of `inputs`, the `ways` to rewrite it (arguments of `weir opt`) and the
`shares` of its temporaries that limits leave. An element is found again where stock finds it: `judged`
says which results hang on no other element, one that is as large to rounding.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax, nn

import running

DTYPES = [np.float32] * 6 + [np.float64, np.float16, ml_dtypes.bfloat16]
NEAR = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}  # beside an element


def along(i, n):
    return jnp.arange(n) == i[:, None]


def normalised(s):
    return s / jnp.sqrt((s * s).sum(1, keepdims=True))


def distances(x, y):
    return ((x[:, None] - y) ** 2).sum(-1)


def blocks(x, y, count=4):
    """Products of parts of the rows."""
    parts = [a[:, : len(a[0]) // count * count].reshape(len(a), count, -1) for a in (x, y)]
    return jnp.einsum("ibd,jbd->bij", *parts)


class Compared:
    """Of x (n, d), y (m, d), weights w (d, d), places `at` (n) in a row, one-hot labels (n, m), a number
    `some`; `choices` says what was drawn."""

    rounding = 1e-3
    MATRICES = {
        "product": lambda x, y, w: x @ y.T,
        "turned": lambda x, y, w: (y @ x.T).T,
        "einsum": lambda x, y, w: blocks(x, y).sum(0),
        "distances": lambda x, y, w: distances(x, y),
        "gaussian": lambda x, y, w: jnp.exp(-distances(x, y) / 8),
        "by_norms": lambda x, y, w: (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T,
        "exp": lambda x, y, w: jnp.exp(x @ y.T / 4),
        "tanh": lambda x, y, w: jnp.tanh(x @ y.T / 4),
        "gelu": lambda x, y, w: nn.gelu(x @ y.T),
        "gelu_erf": lambda x, y, w: nn.gelu(x @ y.T, approximate=False),
        "silu": lambda x, y, w: nn.silu(x @ y.T),
        "cube": lambda x, y, w: (1 + x @ y.T / 4) ** 3,
        "softmax": lambda x, y, w: nn.softmax(x @ y.T),
        "log_softmax": lambda x, y, w: nn.log_softmax(x @ y.T),
        "log_softmax_down": lambda x, y, w: nn.log_softmax(x @ y.T, 0),
        "normalised": lambda x, y, w: normalised(x @ y.T),
        "standardised": lambda x, y, w: nn.standardize(x @ y.T),
        "cosines": lambda x, y, w: normalised(x) @ normalised(y).T,
        "biased": lambda x, y, w: x @ y.T * 0.7 + y[:, 0],
        "mlp": lambda x, y, w: nn.gelu(x @ w) @ y.T,
        "mlp_out": lambda x, y, w: jnp.tanh(nn.relu(x @ w) @ y.T / 2),
        "bilinear": lambda x, y, w: x @ w @ y.T,
        "bilinear_left": lambda x, y, w: x @ (w @ y.T),
        "blocks_exp": lambda x, y, w: jnp.exp(blocks(x, y)).sum(0),
        "blocks_max": lambda x, y, w: blocks(x, y).max(0),
        "blocks_mean": lambda x, y, w: nn.sigmoid(blocks(x, y)).mean(0),
        "attended": lambda x, y, w: nn.softmax(x @ y.T) @ y @ y.T,
        "residual": lambda x, y, w: (x + nn.gelu(x @ w)) @ y.T,
        "running": lambda x, y, w: jnp.cumsum(x @ y.T / 8, 1),
    }
    # of the matrix, its places, labels and a number, to what is compared with it
    SELECTIONS = {
        "largest": lambda s, at, labels, some: s.max(1, keepdims=True),
        "least": lambda s, at, labels, some: s.min(1, keepdims=True),
        "largest_down": lambda s, at, labels, some: s.max(0, keepdims=True),
        "least_down": lambda s, at, labels, some: s.min(0, keepdims=True),
        "largest_of_all": lambda s, at, labels, some: s.max(keepdims=True),
        "second": lambda s, at, labels, some: jnp.where(s == s.max(1, keepdims=True), -jnp.inf, s).max(1, keepdims=True),
        "top_k": lambda s, at, labels, some: lax.top_k(s, 5)[0][:, -1:],
        "top_k_down": lambda s, at, labels, some: lax.top_k(s.T, 3)[0][:, -1],
        "sort": lambda s, at, labels, some: jnp.sort(s, 1)[:, -3:-2],
        "sort_down": lambda s, at, labels, some: jnp.sort(s, 0)[-3],
        "argsort": lambda s, at, labels, some: jnp.take_along_axis(s, jnp.argsort(s, 1)[:, -2:-1], 1),
        "argmax": lambda s, at, labels, some: jnp.take_along_axis(s, s.argmax(1)[:, None], 1),
        "argmax_down": lambda s, at, labels, some: s[s.argmax(0), jnp.arange(s.shape[1])],
        "top_place": lambda s, at, labels, some: jnp.take_along_axis(s, lax.top_k(s, 3)[1][:, 2:], 1),
        "median": lambda s, at, labels, some: jnp.median(s[:, : (s.shape[1] - 1) // 2 * 2 + 1], 1, keepdims=True),
        "quantile": lambda s, at, labels, some: jnp.quantile(s, 0.9, axis=1, method="lower", keepdims=True),
        "taken": lambda s, at, labels, some: jnp.take_along_axis(s, at[:, None], 1),
        "vmapped": lambda s, at, labels, some: jax.vmap(lambda row, i: row[i])(s, at)[:, None],
        "row": lambda s, at, labels, some: s[7],
        "column": lambda s, at, labels, some: s[:, 5:6],
        "element": lambda s, at, labels, some: s[3, 4],
        "row_of_data": lambda s, at, labels, some: s[at[0]],
        "column_of_data": lambda s, at, labels, some: s[:, at[0]][:, None],
        "one_hot": lambda s, at, labels, some: (nn.one_hot(at, s.shape[1], dtype=s.dtype) * s).sum(1, keepdims=True),
        "one_hot_largest": lambda s, at, labels, some: jnp.where(along(at, s.shape[1]), s, 0).sum(1).max(),
        "one_hot_row": lambda s, at, labels, some: nn.one_hot(at[:1], len(s), dtype=s.dtype) @ s,
        "labels": lambda s, at, labels, some: (s * labels).sum(1, keepdims=True),
        "labels_einsum": lambda s, at, labels, some: jnp.einsum("ij,ij->i", labels, s)[:, None],
        "labels_row": lambda s, at, labels, some: labels.T[at[0]] @ s,
        "labels_where": lambda s, at, labels, some: jnp.where(labels > 0, s, 0).sum(1, keepdims=True),
        "labels_largest": lambda s, at, labels, some: jnp.where(labels > 0, s, -jnp.inf).max(1, keepdims=True),
        "map": lambda s, at, labels, some: lax.map(jnp.max, s)[:, None],
        "map_sort": lambda s, at, labels, some: lax.map(lambda row: jnp.sort(row)[-3], s)[:, None],
        "map_batches": lambda s, at, labels, some: lax.map(jnp.max, s, batch_size=50)[:, None],
        "map_places": lambda s, at, labels, some: lax.map(lambda a: a[0][a[1]], (s, at))[:, None],
        "scan": lambda s, at, labels, some: lax.scan(lambda most, row: (jnp.maximum(most, row), None), s[0], s)[0],
        "scan_rows": lambda s, at, labels, some: lax.scan(lambda sum, row: (sum + 1, row.max()), 0, s)[1][:, None],
        "fori": lambda s, at, labels, some: lax.fori_loop(0, len(s), lambda i, most: jnp.maximum(most, s[i].max()), s[0, 0]),
        "cond": lambda s, at, labels, some: lax.cond(some >= 0, lambda s: s.max(1), lambda s: s.min(1), s)[:, None],
        "cond_row": lambda s, at, labels, some: lax.cond(some >= 0, lambda s: s[3], lambda s: s.max(0), s),
        "switch": lambda s, at, labels, some: lax.switch(at[0] % 2, [lambda s: s.max(1), lambda s: s[:, 5]], s)[:, None],
        "largest_of_rows": lambda s, at, labels, some: s[at].max(1, keepdims=True),
        "groups": lambda s, at, labels, some: jax.ops.segment_max(s, at % 7, 7)[at % 7],
    }
    COMPARISONS = {
        "equal": lambda s, t: s == t,
        "at_least": lambda s, t: s >= t,
        "at_most": lambda s, t: s <= t,
        "above": lambda s, t: s > t,
        "turned": lambda s, t: t > s,
        "difference": lambda s, t: s - t == 0,
        "size": lambda s, t: jnp.abs(s - t) <= 0,
        "sign": lambda s, t: jnp.sign(t - s) >= 0,
        "floor": lambda s, t: jnp.floor(s - t) >= 0,
        "exp": lambda s, t: jnp.exp(s - t) == 1,
        "exp_least": lambda s, t: jnp.exp(s - t) >= 1,
        "square": lambda s, t: (s - t) ** 2 == 0,
        "heaviside": lambda s, t: jnp.heaviside(s - t, 1) > 0,
        "larger": lambda s, t: jnp.maximum(s, t) == s,
        "smaller": lambda s, t: jnp.minimum(s, t) == t,
        "clipped": lambda s, t: nn.relu(s - t) > 0,
        "kept": lambda s, t: jnp.where(s >= t, s - t, -1) >= 0,
        "signs": lambda s, t: jnp.sign(s - t).astype(int),
        "steps": lambda s, t: jnp.floor(jnp.clip(s - t, -1, 1)).astype(int),
        "sigmoid": lambda s, t: 1 / (1 + jnp.exp(t - s)) >= 0.5,
        "logistic": lambda s, t: nn.sigmoid(s - t) >= 0.5,
        "halved": lambda s, t: 0.5 * s >= 0.5 * t,
        "raised": lambda s, t: s - t + 1 >= 1,
        "scaled": lambda s, t: (s - t) * 1000 > -0.001,
        "negated": lambda s, t: s + -t >= 0,
        "tanh": lambda s, t: jnp.tanh(s - t) >= 0,
        "log": lambda s, t: jnp.log1p(jnp.abs(s - t)) == 0,
        "cubic": lambda s, t: (s - t) * (1 + (s - t) ** 2) >= 0,
        "quotient": lambda s, t: s / t >= 1 - jnp.finfo(jnp.result_type(s)).eps,
        "log_quotient": lambda s, t: jnp.log(jnp.abs(s / t)) >= -jnp.finfo(jnp.result_type(s)).eps,
    }
    COUNTS = ("any", "any_down", "rows", "columns", "all", "first", "product")
    BESIDE = ("nothing", "nothing", "loss", "sum", "best", "gradient")

    def __init__(self, seed):
        dice = np.random.default_rng(seed)
        one_of = lambda names: str(dice.choice(list(names)))  # noqa: E731
        dtype = np.dtype(DTYPES[dice.integers(len(DTYPES))])
        n, m = (int(k) for k in dice.integers(150, 420, 2))
        d = int(dice.choice([3, 16, 64, 130, 256, 500]))
        names = {"matrix": self.MATRICES, "selection": self.SELECTIONS, "beside": self.BESIDE}
        self.choices = {k: one_of(v) for k, v in names.items()}
        self.compared = [(one_of(self.COMPARISONS), one_of(self.COUNTS)) for _ in range(2)]
        x, y = (dice.standard_normal((k, d)) / d**0.25 for k in (n, m))
        w = dice.standard_normal((d, d)) / d**0.5
        at = dice.integers(0, min(n, m), n).astype(np.int32)
        floats = [x, y, w, np.eye(m)[at], np.float64(0.5)]
        x, y, w, labels, some = (a.astype(dtype) for a in floats)
        self.inputs = [x, y, w, at, labels, some]
        level = ["--machine", one_of(running.levels() or [running.machine()])]
        threshold = n * m * dtype.itemsize // int(dice.choice([2, 4, 12]))
        split = ["--tensor-size-threshold", threshold]
        self.ways = [[*split, "--tile", tile, *level] for tile in ("on", "off", "auto")]
        self.shares = [(1 / 10, "auto"), (1 / 10, "off"), (1 / 3, "auto")]

    def matrix(self, x, y, w):
        return self.MATRICES[self.choices["matrix"]](x, y, w)

    def selected(self, s, at, labels, some):
        return self.SELECTIONS[self.choices["selection"]](s, at, labels, some)

    @staticmethod
    def counted(mask, y, how):
        return {
            "any": lambda: mask.any(1),
            "any_down": lambda: mask.any(0),
            "rows": lambda: mask.sum(1),
            "columns": lambda: mask.sum(0),
            "all": lambda: mask.sum(),
            "first": lambda: mask.argmax(1),
            "product": lambda: (mask.astype(y.dtype) @ (y > 0).astype(y.dtype)).astype(jnp.float32),
        }[how]()

    def beside(self, s):
        return {
            "nothing": lambda: [],
            "loss": lambda: [nn.logsumexp(s, 1)],
            "sum": lambda: [s.sum(0)],
            "best": lambda: [s.max(1)],
            "gradient": lambda: [jax.grad(lambda s: jnp.tanh(s).sum())(s).sum(1)],
        }[self.choices["beside"]]()

    def found(self, s, t, y):
        return [self.counted(self.COMPARISONS[c](s, t), y, how) for c, how in self.compared]

    def function(self, x, y, w, at, labels, some):
        s = self.matrix(x, y, w)
        found = self.found(s, self.selected(s, at, labels, some), y)
        return [a.astype(int) if a.dtype == bool else a for a in found] + [b.astype(jnp.float32) for b in self.beside(s)]

    def exact(self):
        """In 64 bits: the matrix, what is selected of it, and what is found where both are there."""
        inputs = [a if a.dtype == np.int32 else np.asarray(a, np.float64) for a in self.inputs]
        with jax.enable_x64(True):
            s = jax.jit(self.matrix)(*inputs[:3])
            t = jax.jit(self.selected)(s, *inputs[3:])
            found = self.found(s, t, inputs[1])
        return np.asarray(s), np.asarray(t), [np.asarray(f) for f in found]

    def judged(self, want):
        """By result: where it is known, as no element is nearly what was selected but what was."""
        s, t, exact = self.exact()
        t, near = np.broadcast_to(t, s.shape), NEAR[self.inputs[0].dtype.name]
        unsure = (s != t) & (np.abs(s - t) <= near * (np.abs(t) + np.median(np.abs(s)) / 8))
        rows, columns = ~unsure.any(1), ~unsure.any(0)
        judged = []
        for (comparison, how), e, w in zip(self.compared, exact, want):
            found = (s == t) & bool(self.COMPARISONS[comparison](1.0, 1.0))  # whatever else is
            known = {"any": rows | found.any(1), "any_down": columns | found.any(0), "rows": rows, "columns": columns}
            known |= {"first": rows, "product": rows[:, None], "all": ~unsure.any()}
            judged.append(known[how] & (e == w))
        return judged + [True] * (len(want) - len(judged))

    def scales(self, want):
        """What is found is so to the last; floats beside it are rounded."""
        wide = 100 if self.inputs[0].dtype.itemsize == 2 else 1
        beside = [wide * max(1, np.max(np.abs(w))) for w in want[2:]]
        return [1, 1, *beside]
