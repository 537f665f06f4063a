"""Question 8: which values get a buffer.  Small JAX functions over S = [2000, 1000] f32; printed per case:
temp in units of S, and the large instructions of the entry computation (what XLA materialised).
Run: python bench/experiments/fusion.py [case ...]      add --ynn for the default options
"""
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import probe

N, M, D = 2000, 1000, 8
A = np.zeros((N, M), np.float32)
U = np.zeros(N, np.float32)
V = np.zeros(M, np.float32)
X = np.zeros((N, D), np.float32)
Y = np.zeros((M, D), np.float32)
W = np.zeros((M, M), np.float32)
UNIT = N * M * 4


def k(x, y):
    return jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)[None] - 2.0 * x @ y.T


CASES = {
    # elementwise chains
    "elementwise chain -> result": (lambda a: jnp.exp(a * 2.0 + 1.0), A),
    "chain -> reduce rows": (lambda a: jnp.sum(jnp.exp(a * 2.0 + 1.0), 1), A),
    "chain -> reduce cols": (lambda a: jnp.sum(jnp.exp(a * 2.0 + 1.0), 0), A),
    "chain -> reduce all": (lambda a: jnp.sum(jnp.exp(a * 2.0 + 1.0)), A),
    "exp -> two reduces (rows, rows)": (lambda a: (jnp.sum(jnp.exp(a), 1), jnp.max(jnp.exp(a), 1)), A),
    "exp -> two reduces (rows, cols)": (lambda a: (jnp.sum(jnp.exp(a), 1), jnp.sum(jnp.exp(a), 0)), A),
    "cheap -> two reduces (rows, cols)": (lambda a: (jnp.sum(a * 2 + 1, 1), jnp.sum(a * 2 + 1, 0)), A),
    "exp -> reduce and result": (lambda a: (jnp.exp(a), jnp.sum(jnp.exp(a), 1)), A),
    "exp -> two elementwise results": (lambda a: (jnp.exp(a) + 1, jnp.exp(a) * 3), A),
    "softmax rows -> result": (lambda a: jax.nn.softmax(a, 1), A),
    "softmax rows -> sum of squares": (lambda a: jnp.sum(jax.nn.softmax(a, 1) ** 2), A),
    "logsumexp rows": (lambda a: jax.nn.logsumexp(a, 1), A),
    "reduce -> broadcast back -> reduce": (lambda a: jnp.sum((a - a.mean(1, keepdims=True)) ** 2, 1), A),
    # broadcasts, outer products
    "outer sum -> exp -> reduce rows": (lambda u, v: jnp.sum(jnp.exp(u[:, None] + v[None]), 1), U, V),
    "broadcast difference n m d -> reduce d": (lambda x, y: jnp.sum((x[:, None] - y[None]) ** 2, -1), X, Y),
    "broadcast difference n m d -> d -> exp -> rows": (lambda x, y: jnp.sum(jnp.exp(-jnp.sum((x[:, None] - y[None]) ** 2, -1)), 1), X, Y),
    "exp(broadcast n m) -> exp before": (lambda v: jnp.exp(jnp.broadcast_to(v, (N, M))), V),
    # dots
    "dot -> result": (lambda x, y: x @ y.T, X, Y),
    "dot -> elementwise -> result": (lambda x, y: jnp.exp(x @ y.T), X, Y),
    "dot -> elementwise -> reduce rows": (lambda x, y: jnp.sum(jnp.exp(x @ y.T), 1), X, Y),
    "dot -> elementwise -> matvec": (lambda x, y, v: jnp.exp(x @ y.T) @ v, X, Y, V),
    "kernel -> matvec": (lambda x, y, v: jnp.exp(-0.5 * k(x, y)) @ v, X, Y, V),
    "kernel -> dot with itself": (lambda x, y: (lambda K: K.T @ K)(jnp.exp(-0.5 * k(x, y))), X, Y),
    "elementwise -> dot operand": (lambda a, w: jnp.exp(a) @ w, A, W),
    "elementwise -> matvec": (lambda a, v: (a * 2 + 1) @ v, A, V),
    "broadcast -> dot operand": (lambda v, w: jnp.broadcast_to(v, (N, M)) @ w, V, W),
    "transpose -> dot operand": (lambda a: a.T @ a, A),
    "transpose(exp) -> dot operand": (lambda a, u: jnp.exp(a).T @ u, A, U),
    "dot used by two elementwise reduces": (lambda x, y: (lambda g: (jnp.sum(jnp.exp(g), 1), jnp.sum(jnp.sin(g), 1)))(x @ y.T), X, Y),
    "dot used by exp -> two dots": (lambda x, y, v: (lambda K: (K @ v, K.T @ x))(jnp.exp(x @ y.T)), X, Y, V),
    "attention 1 head": (lambda q, kk: jax.nn.softmax(q @ kk.T, 1) @ kk, X, Y),
    "attention 2 heads": (lambda q, kk: jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, kk), -1), kk),
                          X.reshape(2, N // 2, D), np.zeros((2, M, D), np.float32)),
    "relu mlp": (lambda x, y, v: jax.nn.relu(x @ y.T) @ W[:, :10], X, Y, V),
    # data movement
    "transpose -> result": (lambda a: a.T, A),
    "transpose -> elementwise -> reduce": (lambda a, w: jnp.sum(jnp.exp(a.T) + 1, 1), A, W),
    "reshape -> elementwise": (lambda a: jnp.exp(a.reshape(M, N)), A),
    "slice -> elementwise -> reduce": (lambda a: jnp.sum(jnp.exp(a[1:]), 1), A),
    "concatenate -> elementwise -> reduce": (lambda a: jnp.sum(jnp.exp(jnp.concatenate([a, a], 0)), 1), A),
    "pad -> elementwise -> reduce": (lambda a: jnp.sum(jnp.exp(jnp.pad(a, 1)), 1), A),
    "reverse -> elementwise -> reduce": (lambda a: jnp.sum(jnp.exp(a[::-1]), 1), A),
    "gather rows -> elementwise -> reduce": (lambda a, u: jnp.sum(jnp.exp(a[u.astype(jnp.int32)]), 1), A, U),
    "convert f32->f64 -> reduce": (lambda a: jnp.sum(a.astype(jnp.float64), 1), A),
    "convert -> dot operand (bf16)": (lambda a, w: a.astype(jnp.bfloat16).astype(jnp.float32) @ w, A, W),
    "compare, select mask -> reduce": (lambda a, u, v: jnp.sum(jnp.where(u[:, None] > v[None], a, 0), 1), A, U, V),
    "iota mask -> reduce": (lambda a: jnp.sum(jnp.where(jnp.arange(M)[None] <= jnp.arange(N)[:, None], a, 0), 1), A),
    "argmax (variadic reduce)": (lambda a: jnp.argmax(jnp.exp(a), 1), A),
    "min and argmin": (lambda a: (jnp.min(jnp.exp(a), 1), jnp.argmin(jnp.exp(a), 1)), A),
    "top_k of elementwise": (lambda a: lax.top_k(-jnp.exp(a), 10), A),
    "sort of elementwise": (lambda a: jnp.sort(jnp.exp(a), 1)[:, :10], A),
    "sort with iota (argsort)": (lambda a: jnp.argsort(jnp.exp(a), 1)[:, :10], A),
    "cumsum": (lambda a: jnp.cumsum(a, 1)[:, -1], A),
    "cholesky + solve": (lambda w, a: jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(w), a.T, lower=True).sum(0), W, A),
    "solve -> a a^T": (lambda w, a: (lambda s: s @ s.T)(jax.scipy.linalg.solve_triangular(w, jnp.exp(a.T), lower=True)), W, A),
    "scatter-add rows": (lambda a, u: jnp.zeros((N, M), jnp.float32).at[u.astype(jnp.int32)].add(jnp.exp(a)).sum(1), A, U),
    "optimization_barrier": (lambda a: jnp.sum(lax.optimization_barrier(jnp.exp(a)), 1), A),
    "gradient of sum exp(kernel) v": (jax.grad(lambda x, y, v: jnp.sum(jnp.exp(-0.5 * k(x, y)) @ v)), X, Y, V),
}


def large(hlo):
    """Instructions of the entry computation of at least UNIT / 2 bytes that own a buffer."""
    out, size = [], {"f32": 4, "f64": 8, "s32": 4, "s64": 8, "pred": 1, "bf16": 2}
    for line in hlo[hlo.index("\nENTRY"):].splitlines():
        m = re.match(r"\s+(?:ROOT )?%([\w.\-]+) = (.*?) ([a-z][\w\-]*)\(", line)
        if not m or m.group(3) in ("parameter", "bitcast", "get-tuple-element", "tuple"):
            continue
        for dt, dims in re.findall(r"(\w+)\[([\d,]*)\]", m.group(2)):
            n = int(np.prod([int(d) for d in dims.split(",") if d] or [1])) * size.get(dt, 4)
            if n >= UNIT // 2:
                out.append("%s %s[%s]" % (re.sub(r"[.\d]+$", "", m.group(1)), dt, dims))
    return out


def main():
    probe.setup()
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = {} if "--ynn" in sys.argv else probe.ORDERED
    for name, (f, *args) in CASES.items():
        if names and not any(n in name for n in names):
            continue
        p = jax.jit(f).lower(*args).compile(compiler_options=options)
        m = p.memory_analysis()
        print("%-48s temp %5.2f out %5.2f S   %s" % (
            name, m.temp_size_in_bytes / UNIT, m.output_size_in_bytes / UNIT, "; ".join(large(p.as_text()))), flush=True)


if __name__ == "__main__":
    main()
