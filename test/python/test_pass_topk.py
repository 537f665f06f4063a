"""The topk pass on what JAX writes: the same bits as the sort had, in the reference evaluator and on
stock XLA, with ties, NaNs of both signs, infinities and zeros of both signs; and what it leaves
alone."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import running
from running import lowered
from jax import lax

PASSES = "inline,simplify,topk,simplify,cse,dce"
SPECIAL = [0.0, -0.0, 1, 1, -1, 2.5, -2.5, np.nan, -np.nan, np.inf, -np.inf, 1e-30, -3, 7, 8, 9]


def data(dtype, shape, seed=0):
    dice = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        x = dice.integers(0, 9, shape).astype(dtype)
        x.flat[5], x.flat[7] = np.iinfo(dtype).max, np.iinfo(dtype).min
        return x
    return dice.choice(np.array(SPECIAL), shape).astype(dtype)


def descending(x, k, axis):
    return lax.slice_in_dim(jnp.argsort(x, axis=axis, descending=True), 0, k, axis=axis)


def pairs(x, k, axis):
    index = lax.broadcasted_iota(jnp.int32, x.shape, axis % x.ndim)
    return [
        lax.slice_in_dim(a, 0, k, axis=axis) for a in lax.sort_key_val(x, index, dimension=axis)
    ]


def carried(x, k, axis):
    other = jnp.sin(jnp.arange(x.size, dtype=jnp.float32)).reshape(x.shape)
    return [
        lax.slice_in_dim(a, 0, k, axis=axis) for a in lax.sort_key_val(x, other, dimension=axis)
    ]


def ends(axis, start, stop):
    def cut(f):
        return lambda x, k, a: lax.slice_in_dim(
            f(x, axis=a), start(k, x.shape[a]), stop(k, x.shape[a]), axis=a
        )

    return cut


first = ends(None, lambda k, n: 0, lambda k, n: k)
last = ends(None, lambda k, n: n - k, lambda k, n: n)
within = ends(None, lambda k, n: k - 1, lambda k, n: k)

SPELLINGS = {
    "argsort": first(jnp.argsort),
    "argsort_last": last(jnp.argsort),
    "argsort_kth": within(jnp.argsort),
    "argsort_descending": descending,
    "argsort_negated": first(lambda x, axis: jnp.argsort(-x, axis=axis)),
    "sort": first(jnp.sort),
    "sort_last": last(jnp.sort),
    "sort_descending": first(lambda x, axis: jnp.sort(x, axis=axis, descending=True)),
    "sort_reversed": first(lambda x, axis: jnp.flip(jnp.sort(x, axis=axis), axis)),
    "sort_of_squares": first(lambda x, axis: jnp.sort(x * x, axis=axis)),
    "pairs": pairs,
    "carried": carried,
}
SHAPES = [((41,), 0), ((5, 40), 1), ((40, 3), 0), ((2, 41, 3), 1)]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int32", "uint8", "int64"]


def passed(text, tmp_path, passes=PASSES):
    tmp_path.mkdir(exist_ok=True)
    return running.rewritten(text, tmp_path, f"--pass={passes}")


def same(want, got, nans_are_one):
    assert len(want) == len(got)
    for w, g in zip(want, got):
        assert w.dtype == g.dtype and w.shape == g.shape
        if nans_are_one:
            np.testing.assert_array_equal(w, g)
            np.testing.assert_array_equal(np.signbit(w) & (w == w), np.signbit(g) & (g == g))
        else:
            assert w.tobytes() == g.tobytes()


def check(text, inputs, tmp_path, nans_are_one=False):
    rewritten = passed(text, tmp_path)
    evaluate = running.Evaluator(tmp_path, running.stored(inputs))
    same(evaluate(text), evaluate(rewritten), nans_are_one)
    stored = running.stored(inputs)
    same(running.Xla(text)(*stored), running.Xla(rewritten)(*stored), nans_are_one)
    return rewritten


def ops(text):
    return [op for op in ("stablehlo.sort", "chlo.top_k", "stablehlo.gather") if op in text]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_same_bits(spelling, dtype, tmp_path):
    which = (list(SPELLINGS).index(spelling) + DTYPES.index(dtype)) % len(SHAPES)
    shape, axis = SHAPES[which]
    x = data(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype, shape, which)
    text = lowered(lambda x: SPELLINGS[spelling](x, 4, axis), x)
    rewritten = check(text, [x], tmp_path, spelling == "sort_of_squares")
    assert ops(rewritten)[0] == "chlo.top_k", rewritten


def test_what_can_not_be_negative_needs_no_gather(tmp_path):
    x, y = (np.random.default_rng(i).standard_normal(s) for i, s in enumerate([(5, 3), (50, 3)]))
    x[2, 1] = np.nan

    def nearest(x, y):
        distances = jnp.sqrt(jnp.sum((x[:, None] - y[None]) ** 2, -1))
        index = lax.broadcasted_iota(jnp.int32, distances.shape, 1)
        return [a[:, :7] for a in lax.sort_key_val(distances, index)]

    rewritten = check(lowered(nearest, x, y), [x, y], tmp_path, nans_are_one=True)
    assert ops(rewritten) == ["chlo.top_k"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("approximate", [lax.approx_max_k, lax.approx_min_k])
def test_approximate_top_k(approximate, dtype, tmp_path):
    """Without ties: XLA's sort is not stable here."""
    x = np.random.default_rng(0).permuted(np.tile(np.arange(-100.0, 100), (3, 1)), axis=1)
    x = x.astype(running.BF16 if dtype == "bfloat16" else dtype)
    text = lowered(lambda x: approximate(x, 10, recall_target=0.9), x)
    rewritten = check(text, [x], tmp_path)
    assert "chlo.top_k" in rewritten and "ApproxTopK" not in rewritten


MHLO = """module {
  func.func public @main(%x: tensor<3x40xTYPE>) -> (tensor<3x5xTYPE>, tensor<3x5xi32>) {
    %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 5 : i64, largest = LARGEST}, mhlo.version = 1 : i64} : (tensor<3x40xTYPE>) -> (tensor<3x5xTYPE>, tensor<3x5xi32>)
    return %0#0, %0#1 : tensor<3x5xTYPE>, tensor<3x5xi32>
  }
}
"""


@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("dtype, name", [("float32", "f32"), ("float64", "f64"), ("int32", "i32")])
def test_mhlo_topk(dtype, name, largest, tmp_path):
    """Of mhlo.topk XLA on CPU has the largest only; of the rewritten program it has both."""
    text, x = MHLO.replace("TYPE", name).replace("LARGEST", largest), data(dtype, (3, 40))
    rewritten = passed(text, tmp_path)
    evaluate = running.Evaluator(tmp_path, [x])
    want = evaluate(text)
    same(want, evaluate(rewritten), False)
    same(want, running.Xla(rewritten)(x), False)
    assert "chlo.top_k" in rewritten and "mhlo.topk" not in rewritten


LEFT_ALONE = {
    "all of it": lambda x: jnp.argsort(x, axis=1),
    "the whole is used too": lambda x: (jnp.sort(x, axis=1)[:, :3], jnp.sort(x, axis=1) + 1),
    "k above a quarter": lambda x: jnp.argsort(x, axis=1)[:, :11],
    "the middle": lambda x: jnp.sort(x, axis=1)[:, 19:22],
    "both ends": lambda x: [jnp.sort(x, axis=1)[:, :3], jnp.sort(x, axis=1)[:, -3:]],
    "two keys": lambda x: lax.sort([x, -x], num_keys=2)[0][:, :3],
    "booleans": lambda x: jnp.sort(x > 0, axis=1)[:, :3],
    "complex": lambda x: jnp.sort(x + 1j * x, axis=1)[:, :3],
    "another dimension is cut": lambda x: jnp.sort(x, axis=1)[:2],
}


@pytest.mark.parametrize("what", LEFT_ALONE)
def test_left_alone(what, tmp_path):
    text = lowered(LEFT_ALONE[what], data("float32", (5, 40)))
    others = PASSES.replace("topk,", "")
    assert passed(text, tmp_path) == passed(text, tmp_path, others)


def test_integers_with_many_rows_are_sorted(tmp_path):
    text = lowered(lambda x: jnp.sort(x, axis=1)[:, :3], data("int32", (16, 40)))
    assert ops(passed(text, tmp_path)) == ["stablehlo.sort"]


def test_splits_along_the_sorted_dimension(tmp_path):
    """Two rows: only their length can be split, which a sort can't be."""
    q, x = (np.random.default_rng(i).standard_normal((n, 3)) for i, n in enumerate([2, 30_000]))

    def nearest(q, x):
        return jnp.argsort(jnp.abs(q[:, None] - x[None]).sum(-1), axis=1)[:, :10]

    program = tmp_path / "program.mlir"
    program.write_text(lowered(nearest, q, x))
    limit = ["--memory-limit", x.nbytes + 350_000]
    assert running.opt(program, *limit, "--skip=topk", refused="refused") == "refused"
    split = running.Xla(running.opt(program, *limit))
    assert split.report_bytes() <= limit[1]
    same(running.Xla(program.read_text())(q, x), split(q, x), False)
