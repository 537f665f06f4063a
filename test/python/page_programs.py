"""Programs whose plans are written as pages, and the pages."""

import functools
import re
import subprocess

import jax
import jax.numpy as jnp
import pytest
import weir
from running import BUILD, ROOT
from weir import _devices

COMMAND = BUILD / "weir"
INPUTS = ROOT / "test/lit/cli/inputs"


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def attention(q, k, v):
    return jnp.sum(jax.nn.softmax(q @ k.swapaxes(-1, -2)) @ v)


def sgpr(x, z, y):
    k = jnp.exp(-((x[:, None] - z[None]) ** 2).sum(-1))
    a = jnp.linalg.cholesky(k.T @ k + jnp.eye(len(z)))
    return jnp.sum(jax.scipy.linalg.solve_triangular(a, k.T @ y, lower=True) ** 2)


def scanned(x, w):
    return jnp.sum(jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), jnp.sum(c)), x, None, 50)[1])


def block(x, p):
    b, t, d = x.shape
    q, k, v = (jnp.swapaxes((x @ w).reshape(b, t, 4, d // 4), 1, 2) for w in p[:3])
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), q @ k.swapaxes(-1, -2), -1e9)
    x = x + jnp.swapaxes(jax.nn.softmax(s) @ v, 1, 2).reshape(b, t, d)
    return x + jax.nn.gelu(x @ p[3]) @ p[3].T


def gpt(ps, e, tokens):
    x = functools.reduce(block, ps, e[tokens])
    logs = jax.nn.log_softmax(x[:, :-1] @ e.T)
    return -jnp.mean(jnp.take_along_axis(logs, tokens[:, 1:, None], -1))


def gpt_step(ps, e, tokens):
    return jax.tree.map(lambda p, g: p - 1e-3 * g, (ps, e), jax.grad(gpt, (0, 1))(ps, e, tokens))


LAYER = [*[floats(64, 64)] * 3, floats(64, 256)]
TOKENS = jax.ShapeDtypeStruct((4, 128), jnp.int32)
FUNCTIONS = {
    "attention_grad": (jax.grad(attention), [floats(4, 1024, 64)] * 3, "8MB"),
    "sgpr": (jax.grad(sgpr), [floats(20000, 3), floats(100, 3), floats(20000)], "4MB"),
    "scan": (jax.grad(scanned), [floats(512, 64), floats(64, 64)], "3MB"),
    "gpt": (gpt_step, [[LAYER] * 2, floats(2000, 64), TOKENS], "6MB"),
    "case": (
        lambda i, x: jax.lax.cond(i > 0, lambda v: jnp.exp(v @ v.T), lambda v: v @ v.T + 1, x).sum(),
        [jax.ShapeDtypeStruct((), jnp.int32), floats(1000, 10)],
        "3MB",
    ),
}
FILES = {
    "matvec": (ROOT / "examples/stablehlo/kernel_matvec.mlir", "10MB"),
    "fits": (INPUTS / "small.mlir", "1GB"),
    "calls": (INPUTS / "calls.mlir", "1MB"),
    "options": (INPUTS / "ordered.mlir", "9MB"),
    "refused": (INPUTS / "big.mlir", "10kB"),
}
PROGRAMS = [*FUNCTIONS, *FILES]


def text_of(name):
    if name in FILES:
        return FILES[name][0].read_text()
    f, arguments, _ = FUNCTIONS[name]
    return jax.jit(f).lower(*arguments).as_text(debug_info=True)


def report(folder, name, text, limit, *more):
    """The page and the trace that the command writes."""
    source, page, trace = (folder / f"{name}.{end}" for end in ("mlir", "html", "json"))
    source.write_text(text)
    options = ("--memory-limit", limit) if limit else ("--tensor-size-threshold", "1TB")
    done = subprocess.run(
        [COMMAND, "report", source, "-o", page, "--trace", trace, "--machine", "x86-64-v3", *options, *more],
        capture_output=True, text=True, timeout=200,
    )
    assert done.returncode in (0, 3), done.stderr
    return page, trace


def held(folder, name):
    """The same of a program by its name, under its limit."""
    return report(folder, name, text_of(name), (FUNCTIONS.get(name) or FILES[name])[-1])


PLANS = re.compile(r'<script type="application/json" id="plans">(.*?)</script>', re.S)


def gram(x):
    return jnp.exp(x @ x.T).sum() + jnp.linalg.cholesky(x.T @ x).sum()


DEVICES = {"h100": "fits", "a100-40gb": "held", "l4": "refused"}  # the limit is of each its own


def devices_page(folder):
    """A page of three devices by estimate, a plan of each outcome."""
    limits = {"h100": "100MB", "a100-40gb": "20MB", "l4": "1MB"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_devices, "_compilers", lambda known, count: ())
        x = floats(4000, 100)
        plans = [weir.plan(gram, x, limit=limits[name], device=name) for name in DEVICES]
    path = folder / "report.html"
    weir._plan.Plans(plans).save(path)
    return path
