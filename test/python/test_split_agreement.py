"""What is compared with a maximum of its own is made alike wherever it is made again: gradients of
extremes and masks of the largest, in kernels, in XLA's loops, in both.
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import nn

import held
import running
from weir import _hook

sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_stock  # noqa: E402


def products(x, y):
    return x @ y.T


def distances(x, y):
    return jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)[None] - 2 * products(x, y)


def largest(of):
    return jax.value_and_grad(lambda x: of(x, x).max(1).mean())


def nearest_both_ways(of):
    def value(x, y):
        d = of(x, y)
        return d.min(1).mean() + d.min(0).mean()

    return jax.value_and_grad(value, (0, 1))


def of_all(of):
    return jax.value_and_grad(lambda x: of(x, 2 * x).max())


def largest_few(of):
    def value(x, y):
        k = of(x, y)
        least = jax.lax.top_k(k, 5)[0][:, -1:]
        return jnp.where(k >= least, jnp.tanh(k), 0).sum(0)

    return value


def largest_of_groups(of):
    """A scatter's: which rows belong together is data."""

    def value(x):
        k, groups = of(x, x), jnp.abs(97 * x[:, 0]).astype(jnp.int32) % 7
        return jnp.tanh(jax.ops.segment_max(k, groups, 7)).mean()

    return jax.value_and_grad(value)


FUNCTIONS = [largest, nearest_both_ways, of_all, largest_few, largest_of_groups]


def inputs_of(name, d, n=600):
    dice = np.random.default_rng(d)
    x, y = (dice.standard_normal((n, d)).astype(np.float32) for _ in range(2))
    return (x, y) if name in ("nearest_both_ways", "largest_few") else (x,)


def worst(want, got):
    scale = max(np.abs(w).max() for w in want)
    return np.max([np.abs(w - g).max() for w, g in zip(want, got, strict=True)]) / scale  # or NaN


@functools.lru_cache(maxsize=4)
def differentiated(function, of, d, n):
    """Its inputs, its text and what stock makes of them."""
    inputs = inputs_of(function.__name__, d, n)
    text = jax.jit(function(of), keep_unused=True).lower(*inputs).as_text()
    return inputs, text, running.Xla(text, as_users=True)(*inputs)


@pytest.mark.parametrize("tile", ["off", "auto", "on"])  # the innermost: the rest is made once
@pytest.mark.parametrize("of", [products, distances])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_compared_values_are_made_alike(function, of, tile, tmp_path):
    _hook.register_calls()
    for d in (64, 300):
        # its kernel makes a product anew for each column of the gradient: predicted slower than loops
        n = 260 if (function, tile) == (of_all, "on") else 600
        inputs, text, want = differentiated(function, of, d, n)
        path = tmp_path / "program.mlir"
        path.write_text(text)
        program = running.opt(path, "--tensor-size-threshold", "60kB", "--tile", tile)
        assert worst(want, running.Xla(program, as_users=True)(*inputs)) < 1e-4, d


def centred(x, y):
    d = x[:, None] * y[None] + y[None] ** 2
    return d - d.mean(1, keepdims=True)


def raw(x, y):
    return x[:, None] * y[None] + y[None] ** 2


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("of", [centred, raw])
def test_contracted_sums_are_made_once_in_a_trip(of, axis, tmp_path):
    """A product and a sum may be one operation in the maximum and two in the comparison with it."""
    dice = np.random.default_rng(axis)
    for dtype in (np.float32, np.float64):
        x, y = (dice.standard_normal(701).astype(dtype) for _ in range(2))
        with jax.enable_x64(True):
            gradient = jax.grad(lambda y, x: of(x, y).max(axis).sum())
            text = jax.jit(gradient).lower(y, x).as_text()
        path = tmp_path / "program.mlir"
        path.write_text(text)
        want = running.Xla(text, as_users=True)(y, x)
        for threshold in ("40kB", "150kB", "700kB"):
            program = running.opt(path, "--tensor-size-threshold", threshold)
            assert "stablehlo.while" in program
            got = running.Xla(program, as_users=True)(y, x)
            assert worst(want, got) < (1e-4 if dtype == np.float32 else 1e-10), (dtype, threshold)


def tokens(t, e):
    return jnp.einsum("bld,vd->blv", t, e)


def biased(t, e):
    return tokens(t, e) + e[:, 0]


def sparse(t, e):
    return jnp.log1p(jax.nn.relu(tokens(t, e)))


@pytest.mark.parametrize("d", [3, 8, 20, 64])
@pytest.mark.parametrize("of", [tokens, biased, sparse])
def test_two_kernels_of_one_loop_agree(of, d, tmp_path):
    """The largest token of each word: one kernel finds it, another one compares with it, and sums up
    in the same order."""
    _hook.register_calls()
    dice = np.random.default_rng(d)
    t, e = (dice.standard_normal(shape).astype(np.float32) for shape in ((20, 100, d), (600, d)))
    value = jax.value_and_grad(lambda t, e: jnp.mean(of(t, e).max(1) ** 2), (0, 1))
    text = jax.jit(value).lower(t, e).as_text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    want = running.Xla(text, as_users=True)(t, e)
    program = running.opt(path, "--tensor-size-threshold", "1MB", "--tile", "on")
    assert worst(want, running.Xla(program, as_users=True)(t, e)) < 1e-4


@pytest.mark.parametrize("of", [products, distances])
@pytest.mark.parametrize("what", [largest, nearest_both_ways, largest_few])
def test_auto_holds_what_kernels_hold(what, of, tmp_path):
    """Where XLA's loops hold nothing, kernels are taken that are predicted to gain too little."""
    path = tmp_path / "program.mlir"
    of_one = what is largest
    for d in (24, 48, 128):
        x, y = np.zeros((1500, d), np.float32), np.zeros((700, d), np.float32)
        path.write_text(jax.jit(what(of)).lower(*([x] if of_one else [x, y])).as_text())
        for limit in ("1.1MB", "1.5MB", "2.5MB", "4MB"):
            held = [
                running.opt(path, "--memory-limit", limit, "--tile", tile, refused="") for tile in ("on", "auto")
            ]
            assert held[1] or not held[0], (d, limit)


@pytest.mark.parametrize("kind", ["Extremes", "ExtremesOfWindows", "ExtremesOfNan", "Ranks", "Compared"])
@pytest.mark.parametrize("seed", range(16))
def test_random_extremes(seed, kind):
    found, changed = fuzz_stock.failures(kind, seed)
    assert changed and not found


def mixture(x, means, weights):
    """Log density of normals, with the derivative of the largest as PyMC writes it."""
    s = jax.nn.log_softmax(weights) - 0.5 * (x[:, None] - means) ** 2
    largest = s.max(1, keepdims=True)
    return (largest[:, 0] + jnp.log(jnp.exp(s - largest).sum(1))).sum()


@pytest.mark.parametrize("tile", ["on", "off"])
def test_weights_of_a_mixture_are_not_what_trips_select(tile, tmp_path):
    _hook.register_calls()
    dice = np.random.default_rng(0)
    inputs = [dice.standard_normal(s) for s in (20_000, 20, 20)]
    with jax.enable_x64(True):
        text = jax.jit(jax.grad(mixture, (1, 2))).lower(*inputs).as_text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    program = running.opt(path, "--memory-limit", "360kB", "--tile", tile)
    assert worst(running.Xla(text, as_users=True)(*inputs), running.Xla(program, as_users=True)(*inputs)) < 1e-10


def activations(x, y):
    s = jnp.tanh(9 * products(x, y))
    return (s >= s.max(0)).sum(1)


def diagonal_and_zeros(x, y):
    s = products(x, y)
    return (s == (jnp.diagonal(s) + jnp.zeros(len(s)))[:, None]).any(1)


def hits(x, y):
    s = jax.nn.log_softmax(products(x, y))
    return s[jnp.arange(len(s)), s.argmax(1)] == s.max(1)


def softmax_across(x, y):
    s = jax.nn.log_softmax(products(x, y)).T
    return (s == s.max(1)[:, None]).any(1), (s == jnp.diagonal(s)[:, None]).any(1)


def small_functions(x, y):
    s = products(x, y)
    s = s - jnp.log(1 + jnp.abs(s.max(1, keepdims=True)))
    return (s == s.max(0)).any(0)


def largest_by_a_mask(x, y):
    s = products(x, y)
    return (s >= jnp.where(jnp.eye(len(s), dtype=bool), s, 0).sum(1).max()).sum(1)


def masked_and_largest(x, y):
    s = products(x, x)
    return jnp.where(jnp.eye(len(s), dtype=bool), s, 0).sum(1) == s.max()


FOUND = [largest_by_a_mask, masked_and_largest, activations, diagonal_and_zeros, hits, softmax_across, small_functions]


@pytest.mark.parametrize("function", FOUND, ids=lambda f: f.__name__)
def test_what_is_selected_is_found_again(function, tmp_path):
    """As often as by stock XLA; functions and sums of two come between."""
    _hook.register_calls()
    dice = np.random.default_rng(0)
    x, y = (dice.integers(-6, 7, (300, 24)).astype(np.float32) / 8 for _ in range(2))
    path = tmp_path / "program.mlir"
    path.write_text(running.lowered(function, x, y))
    want = running.Xla(path.read_text(), as_users=True)(x, y)
    for tile in ("on", "off", "auto"):
        program = running.opt(path, "--tensor-size-threshold", "60kB", "--tile", tile)
        got = running.Xla(program, as_users=True)(x, y)
        assert all(np.array_equal(g, w) for g, w in zip(got, want, strict=True)), tile


def rows_of_a_map(x, y, labels):
    s = x[::-1] @ y.T
    return (s == jax.lax.map(jnp.max, s)[:, None]).sum(1)


def largest_label(x, y, labels):
    s = x @ y.T
    found = s >= (s * labels).sum(1).max()
    return found.sum(0), found.sum(1)


def largest_where_labels_are(x, y, labels):
    s = x @ y.T
    found = s >= jnp.where(labels > 0, s, 0).sum(1).max()
    return found.sum(0), found.sum(1)


def row_by_a_product(x, y, labels):
    s = x[:, :100] @ y[:, :100].T
    found = s >= jax.nn.one_hot(labels[0].argmax()[None], len(s)) @ s
    return found.sum(0), found.sum(1)


def scaled_row_by_a_product(x, y, labels):
    s = jax.nn.standardize(x @ y.T)
    found = s >= jax.nn.one_hot(labels[0].argmax()[None], len(s)) @ s
    return found.sum(0), found.sum(1)


def row_of_a_map(x, y, labels):
    """What the map reads is put out by a kernel that compares nothing."""
    s = x @ y.T
    return (s >= jax.lax.map(jnp.max, s)[:, None]).sum(1)


def row_of_a_branch(x, y, labels):
    s = x @ y.T
    row = jax.lax.cond(labels[0, 0] >= 0, lambda s: s.max(1), lambda s: s.min(1), s)
    return (s == row[:, None]).sum(1), (s >= row[:, None]).sum(1)


def perceptron_of_a_branch(x, y, labels):
    """Sums of sums, which the loop that makes the branch's matrix adds up as the one that compares."""
    s = jax.nn.gelu(x @ x[:300].T) @ y[:, :300].T
    return (s == jax.lax.cond(labels[0, 0] >= 0, lambda s: s.max(1), lambda s: s.min(1), s)[:, None]).sum(1)


def attention_of_a_branch(x, y, labels):
    """In the loop that finds a softmax's sums, too, each weight is divided by them."""
    s = jax.nn.softmax(x @ y.T / 8) @ y @ y.T
    return (s == jax.lax.cond(labels[0, 0] >= 0, lambda s: s.max(1), lambda s: s.min(1), s)[:, None]).sum(1)


def products_of_blocks(x, y, labels):
    s = jnp.exp(jnp.einsum("ibd,jbd->bij", x.reshape(301, 4, 75), y.reshape(347, 4, 75)) / 4).sum(0)
    return (s == jax.lax.map(jnp.max, s)[:, None]).sum(1)


def nothing_above(x, y, labels):
    """A product and the difference are two operations in a kernel, as in stock."""
    s = jax.nn.gelu(x @ y.T)
    largest = s.max(1, keepdims=True)
    second = jnp.where(s == largest, -jnp.inf, s).max(1, keepdims=True)
    return (s - largest >= 0).sum(1), (jnp.exp(s - second) >= 1).sum(1), jnp.sign(s - second).sum(1)


def an_element(x, y, labels):
    s = jax.nn.gelu(x @ y.T)
    return (s == s[3, 4]).sum(0)


def largest_before_a_while(x, y, labels):
    """Which makes the product again; stock makes it once."""
    t = (x @ y.T).max(1, keepdims=True)
    return jax.lax.fori_loop(0, 3, lambda i, found: found + (x @ y.T == t).sum(1), jnp.zeros(len(x), int))


ROUNDED = [
    an_element,
    largest_before_a_while,
    perceptron_of_a_branch,
    attention_of_a_branch,
    products_of_blocks,
    nothing_above,
    rows_of_a_map,
    row_of_a_map,
    row_of_a_branch,
    largest_label,
    largest_where_labels_are,
    row_by_a_product,
    scaled_row_by_a_product,
]


@pytest.mark.parametrize("function", ROUNDED, ids=lambda f: f.__name__)
def test_what_is_rounded_is_found_again(function, tmp_path):
    """Of numbers whose sums hang on their order: in a map, by labels that are data."""
    _hook.register_calls()
    dice = np.random.default_rng(40)
    x, y = (dice.standard_normal((n, 300)).astype(np.float32) for n in (301, 347))
    labels = np.eye(347, dtype=np.float32)[dice.integers(0, 347, 301)]
    path = tmp_path / "program.mlir"
    inputs = x, y, labels
    path.write_text(jax.jit(function, keep_unused=True).lower(*inputs).as_text())
    want = running.Xla(path.read_text(), as_users=True)(*inputs)
    for threshold in ("50kB", "250kB"):
        for tile in ("on", "off", "auto"):
            program = running.opt(path, "--tensor-size-threshold", threshold, "--tile", tile)
            got = running.Xla(program, as_users=True)(*inputs)
            assert all(np.array_equal(g, w) for g, w in zip(got, want, strict=True)), (threshold, tile)


BETWEEN = {
    "equal": lambda s, t: s - t == 0,
    "scaled": lambda s, t: 0.5 * (s - t) >= 0,
    "sign": lambda s, t: jnp.sign(s - t) >= 0,
    "floor": lambda s, t: jnp.floor(s - t) > -1,
    "exp": lambda s, t: jnp.exp(s - t) == 1,
    "square": lambda s, t: (s - t) * (s - t) <= 0,
    "alone": lambda s, t: jnp.sign(s - t),
    "sigmoid": lambda s, t: 1 / (1 + jnp.exp(t - s)) >= 0.5,
    "raised": lambda s, t: s - t + 1 >= 1,
    "near": lambda s, t: (s - t) * 1000 > -0.001,
    "negated": lambda s, t: s + -t == 0,
    "cubic": lambda s, t: (s - t) * (1 + (s - t) ** 2) >= 0,
    "quotient": lambda s, t: s / t > 1 - 1.2e-7,
}


@pytest.mark.parametrize("how", BETWEEN)
def test_what_comes_of_two_and_is_compared_with_a_number(how, tmp_path):
    """Loops of XLA's: the two are compared."""
    _hook.register_calls()
    dice = np.random.default_rng(40)
    x, y = (dice.standard_normal((n, 300)).astype(np.float32) for n in (301, 347))

    def function(x, y):
        s = x @ y.T
        return BETWEEN[how](s, jax.lax.map(jnp.max, s)[:, None]).sum(1)

    path = tmp_path / "program.mlir"
    path.write_text(running.lowered(function, x, y))
    want = running.Xla(path.read_text(), as_users=True)(x, y)
    program = running.opt(path, "--tensor-size-threshold", "50kB", "--tile", "off")
    assert np.array_equal(running.Xla(program, as_users=True)(x, y)[0], want[0])


FAR = {
    "radius": lambda s, t: jnp.abs(s - t) < 0.1,
    "positive": lambda s, t: s / t > 0,
    "half": lambda s, t: s / t > 0.5,
    "weight": lambda s, t: jnp.exp((s - t) / 3) > 0.2,
    "from_least": lambda s, t: (s - s.min()) / (t - s.min()) > 0.25,
    "scaled": lambda s, t: s >= 0.9 * t,
    "bins": lambda s, t: jnp.floor((s - s.min()) / (t - s.min()) * 16),
    "bins_of_width": lambda s, t: ((s - s.min()) / ((t - s.min()) / 32)).astype(jnp.int32),
    "levels": lambda s, t: (nn.gelu(s) / (t / 127)).astype(jnp.int32),
}


@pytest.mark.parametrize("how", FAR)
def test_what_is_far_from_equal_is_not_compared(how, tmp_path):
    """A distance below a radius; a share of the largest; bins between the least and the largest."""

    def function(x, y):
        s = x @ y.T
        return FAR[how](s, s.max()).sum(1)

    x, y = np.zeros((301, 300), np.float32), np.zeros((347, 300), np.float32)
    text = running.rewrite(function, (x, y), tmp_path, "--tensor-size-threshold", "50kB", "--tile", "off")[1]
    assert "tensor<301x347xf32>" not in text


def test_what_is_selected_of_rows_that_are_read_is_found_again(tmp_path):
    """Of the rows that hold each column's largest the largest; the rows are read from all of the matrix."""

    def function(x, y):
        s = x @ y.T
        rows = s[s.argmax(0)]
        most = jnp.take_along_axis(rows, rows.argmax(1)[:, None], 1)
        return (s.T >= most).sum(1), (s[: len(rows)] >= rows).sum(1)

    dice = np.random.default_rng(0)
    x, y = (dice.standard_normal((n, 16)).astype(np.float32) for n in (500, 497))
    path = tmp_path / "program.mlir"
    path.write_text(jax.jit(function, keep_unused=True).lower(x, y).as_text())
    want = running.Xla(path.read_text(), as_users=True)(x, y)
    program = running.opt(path, "--memory-limit", "1.07MB", "--tile", "off", refused=path.read_text())
    got = running.Xla(program, as_users=True)(x, y)
    assert all(np.array_equal(g, w) for g, w in zip(got, want, strict=True))


def test_short_products_are_rounded_before_they_are_subtracted(tmp_path):
    """A kernel adds such a product onto what it is subtracted from, unless that is compared."""
    _hook.register_calls()
    dice = np.random.default_rng(41)
    x, y = (dice.standard_normal((n, 2)).astype(np.float32) for n in (333, 257))
    path = tmp_path / "program.mlir"
    path.write_text(running.lowered(lambda x, y: (jnp.max(x @ y.T, 1, keepdims=True) - x @ y.T <= 0).sum(1), x, y))
    program = running.opt(path, "--memory-limit", "40kB", "--tile", "on")
    assert (running.Xla(program, as_users=True)(x, y)[0] > 0).all()


def test_ranks_of_the_diagonal_hold_a_tenth():
    """A row is made with its own element: the entries' count is a batch dimension of the gather."""
    dice = np.random.default_rng(0)
    x, y = (dice.normal(size=(400, 32)).astype(np.float32) for _ in range(2))
    ranks = lambda s: (s >= jnp.diagonal(s)[:, None]).sum(1)  # noqa: E731
    held.check_a_tenth(lambda x, y: (ranks(x @ y.T), ranks(jnp.tanh(x @ y.T))), x, y)


def test_elements_of_tables_are_not_selected(tmp_path):
    """Distances in a row are compared with one bin's edge, then with another's: which one, they say themselves."""
    x = np.random.default_rng(0).random((600, 2)).astype(np.float32)

    def binned(x):
        d, edges = ((x[:, None] - x[None]) ** 2).sum(-1).reshape(-1), jnp.linspace(0, 1, 16)
        first = (8 * d).astype(jnp.int32)
        second = jnp.where(edges[first] < d, first + 4, first - 4)
        return (d * edges[second]).sum()

    path = tmp_path / "program.mlir"
    path.write_text(running.lowered(binned, x))
    for tile in ("on", "off"):
        running.opt(path, "--memory-limit", "200kB", "--tile", tile)
    held.check_a_tenth(binned, x)


DEEP = """func.func public @main(%x: tensor<1000x32xf32>) -> tensor<32xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  {chain}
  %m = stablehlo.reduce(%{last} init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x32xf32>, tensor<f32>) -> tensor<1000xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1000xf32>) -> tensor<1000x32xf32>
  %c = stablehlo.compare EQ, %{last}, %b : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<1000x32xi1>
  %f = stablehlo.convert %c : (tensor<1000x32xi1>) -> tensor<1000x32xf32>
  %r = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}}
"""


def test_what_is_compared_may_be_made_in_many_steps(tmp_path):
    """The search ends before the stack does."""
    steps = 100_000
    names = ["x", *map(str, range(steps))]
    chain = "\n".join(f"%{y} = stablehlo.negate %{x} : tensor<1000x32xf32>" for x, y in zip(names, names[1:]))
    text = DEEP.format(chain=chain, last=names[-1])
    assert "weir.loop" in running.rewritten(text, tmp_path, "--tensor-size-threshold", 4000, "--pass=split,dce")
