"""Elements of a long sort without the sort: medians and quantiles as users write them, in every
element type, with what is special about floats; to the bit as the program as it came."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import running

RNG = np.random.default_rng(0)
N = 2000
POINTS = RNG.normal(size=(80, 3))
EVERYTHING = ["--pass", "inline,simplify,cse,topk,quantile,ravel,dce"]
ORDERED = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, 1.5, 1.5, -2.0, 3e38, -3e38, 1e-30])


def plain(dtype):
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, N, dtype, endpoint=True)
    return RNG.normal(size=N).astype(dtype)


def with_ties(dtype):
    return RNG.integers(0, 40, N).astype(dtype)


def special(dtype):
    with np.errstate(over="ignore"):
        return RNG.choice(SPECIAL, N).astype(dtype)


def with_nans(dtype):
    x = special(dtype)
    x[RNG.integers(0, N, 60)] = np.nan
    x[RNG.integers(0, N, 60)] = -np.nan
    return x


def single(k):
    return lambda x: jnp.sort(x)[k]


def from_above(x):
    return -jnp.sort(-x)[N // 2]


def at_places(x, k):
    """Clamped where they are outside."""
    return jnp.sort(x).at[k].get(mode="clip")


def some_in_a_row(x, k):
    return lax.dynamic_slice(jnp.sort(x), (k,), (3,))


def with_stride(x):
    return jnp.sort(x)[300:1800:500]


def one_after_the_other(x):
    """The next place is made of what was read before."""
    s = jnp.sort(x)
    return s[:3], s[N // 3], s[(s[N // 2] > 0).astype(int) + 900]


def places_that_are_known(x):
    s = jnp.sort(x)
    return s[N // 3] + 1, s[N // 2] * 2, s[N - 500] - 1


PLACES = np.array([[0, 700, N - 1], [N + 5, -3, 1300]])
CASES = {
    "one": (single(N // 2 + 1), plain, ()),
    "ties": (single(777), with_ties, ()),
    "descending": (from_above, plain, ()),
    "median": (jnp.median, plain, ()),
    "quantiles": (lambda x: jnp.quantile(x, jnp.array([0.1, 0.9, 1.0])), plain, ()),
    "places": (at_places, plain, (PLACES,)),
    "dynamic slice": (some_in_a_row, plain, (1000,)),
    "dynamic slice beyond": (some_in_a_row, plain, (N,)),
    "stride": (with_stride, plain, ()),
}
NUMBERS = ["f8", "f2", "i4", "i8", "u4", "u8"]


def rewrite(f, arguments, folder, options):
    with jax.enable_x64(True):
        text = jax.jit(f).lower(*arguments).as_text()
    (folder / "program.mlir").write_text(text)
    return text, running.opt(folder / "program.mlir", *options)


def check(f, arguments, folder):
    text, rewritten = rewrite(f, arguments, folder, EVERYTHING)
    assert '"stablehlo.sort"' not in rewritten
    arguments = [np.asarray(a) for a in arguments]
    for x, y in zip(running.Xla(rewritten)(*arguments), running.Xla(text)(*arguments), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "name, dtype",
    [(name, "f4") for name in CASES] + [(n, d) for n in ("places", "median") for d in NUMBERS],
)
def test_elements_are_those_of_the_sort(name, dtype, tmp_path):
    f, values, more = CASES[name]
    check(f, (values(dtype), *more), tmp_path)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("values", [special, with_nans])
@pytest.mark.parametrize("f", [at_places, lambda x, k: from_above(x) + k[0, 0]])
def test_what_is_special_about_floats(f, values, dtype, tmp_path):
    """Infinities, zeros of both signs, NaNs of both signs, which come last."""
    check(f, (values(dtype), PLACES), tmp_path)


def test_bf16(tmp_path):
    check(
        lambda x: jnp.sort(x.astype(jnp.bfloat16))[jnp.array([3, 999])].astype(jnp.float32),
        (plain("f4"),),
        tmp_path,
    )


@pytest.mark.parametrize("f, whiles", [(one_after_the_other, 4), (places_that_are_known, 1)])
def test_elements_are_found_together_where_they_can(f, whiles, tmp_path):
    x = plain("f4")
    check(f, (x,), tmp_path)
    assert rewrite(f, (x,), tmp_path, EVERYTHING)[1].count('"stablehlo.while"') == whiles


def distances(x):
    return jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


def bandwidth(x):
    """The median heuristic."""
    d = distances(x)
    return jnp.exp(-((d / jnp.median(d)) ** 2)).sum(0)


def spread(x):
    low, high = jnp.quantile(distances(x), jnp.array([0.25, 0.75]))
    return high - low


def without_itself(x):
    """NaNs are counted in what was sorted."""
    return jnp.nanmedian(jnp.where(jnp.eye(len(x), dtype=bool), jnp.nan, distances(x)))


def gradient(x):
    """The sort moves the places of all elements along, for nobody."""

    def similarity(x):
        d = ((x[:, None] - x[None]) ** 2).sum(-1)
        return jnp.exp(-d / lax.stop_gradient(jnp.median(d))).sum()

    return jax.grad(similarity)(x)


def total(x):
    """A sum of everything that was flattened, for `ravel`."""
    return jnp.log1p(distances(x).ravel() * 2.0).sum(), distances(x).reshape(-1).max()


@pytest.mark.parametrize("f", [bandwidth, spread, without_itself, gradient, total])
def test_matrices_that_are_only_ranked_are_never_there(f, tmp_path):
    text, rewritten = rewrite(f, (POINTS,), tmp_path, ["--memory-limit", "16kB"])
    assert '"stablehlo.sort"' not in rewritten and "tensor<6400x" not in rewritten
    program = running.Xla(rewritten, running.OPTIONS | ORDERED)
    assert program.report_bytes() <= 16_000
    for x, y in zip(program(POINTS), running.Xla(text)(POINTS), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10)


def read_in_a_loop(s):
    return lax.fori_loop(0, 5, lambda i, total: total + s[i * 300], jnp.zeros((), s.dtype))


LEFT_ALONE = {
    "the places of the elements": lambda x: jnp.argsort(x)[700],
    "rows": lambda x: jnp.sort(x.reshape(2, -1))[:, 400],
    "read as a whole, too": lambda x: (jnp.sort(x)[700], jnp.cumsum(jnp.sort(x))),
    "short": lambda x: jnp.sort(x[:1000])[500],
    "many": lambda x: jnp.sort(x)[600:1400],
    "reversed": lambda x: jnp.sort(x, descending=True)[700],
    "read in a loop": lambda x: read_in_a_loop(jnp.sort(x)),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name, tmp_path):
    _, rewritten = rewrite(LEFT_ALONE[name], (plain("f4"),), tmp_path, EVERYTHING)
    assert '"stablehlo.while"' not in rewritten or name == "read in a loop"
    assert '"stablehlo.sort"' in rewritten


def test_without_the_pass_sorts_stay(tmp_path):
    _, rewritten = rewrite(single(700), (plain("f4"),), tmp_path, [*EVERYTHING, "--skip=quantile"])
    assert '"stablehlo.sort"' in rewritten
