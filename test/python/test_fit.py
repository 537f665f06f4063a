"""Programs that fit: regions that gain run as kernels, all else goes to XLA as it came."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import compiler

import running
import kernel_running
import weir
from weir import _hook, _library, _say

folder = kernel_running.folder  # skips where there is no LLVM
RANDOM = np.random.default_rng(5)
MACHINE = "x86-64-v4"  # that all predictions here are for


def normal(*shape, dtype=np.float32):
    return RANDOM.normal(size=shape).astype(dtype)


def attention(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8, -1) @ v


def causal(q, k, v):
    n = q.shape[-2]
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), q @ k.swapaxes(-1, -2) / 8, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ v


def matvec(x, v):
    return jnp.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1)) @ v


def neighbours(y, q):
    return lax.top_k(-((q * q).sum(1)[:, None] + (y * y).sum(1) - 2 * q @ y.T), 5)


def chamfer(x, y):
    d = ((y[:, None] - x[None]) ** 2).sum(-1)
    return d.min(0).mean() + d.min(1).mean()


def layers(w, x):
    """Attention with its heads made by reshapes, twice, among products that stay XLA's."""
    b, n, e = x.shape
    for _ in range(2):
        q, k, v = (jnp.moveaxis((x @ w[i]).reshape(b, n, 4, e // 4), 2, 1) for i in range(3))
        x = x + jnp.moveaxis(attention(q, k, v), 1, 2).reshape(b, n, e) @ w[3]
    return (x**2).mean()


QKV = [normal(3, 1024, 64) for _ in range(3)]
GAINS = {
    "attention": (attention, QKV, 1),
    "causal": (causal, QKV, 1),
    "attention_gradient": (
        jax.grad(lambda *a: (attention(*a) ** 2).sum(), (0, 1, 2)),
        QKV,
        1,
    ),
    "matvec": (matvec, [normal(1500, 3), normal(1500)], 1),
    "neighbours": (neighbours, [normal(20000, 3), normal(100, 3)], 1),
    "chamfer_gradient": (jax.value_and_grad(chamfer, (0, 1)), [normal(1200, 3)] * 2, None),
    "layers_gradient": (jax.value_and_grad(layers), [normal(4, 128, 128), normal(2, 1024, 128)], 4),
}
NONE_GAIN = {
    "tiny": (attention, [normal(2, 16, 8) for _ in range(3)]),
    "chain": (lambda x: jnp.tanh(jnp.sin(x) + x) * x, [normal(3000, 1000)]),
    "softmax": (lambda x: jax.nn.softmax(x, -1), [normal(1500, 1500)]),
    "product": (lambda x, w: jax.nn.relu(x @ w), [normal(1500, 1500)] * 2),
    "sorted": (lambda x: jnp.sort(jnp.exp(x[:, None] + x), -1), [normal(1500)]),
}


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setenv("WEIR_MACHINE", MACHINE)


@pytest.fixture
def seen(monkeypatch):
    """(program, options) of each call of JAX's own function."""
    calls = []
    hooked = compiler.compile_or_get_cached
    original = hooked._weir_original

    def noted(backend, computation, devices, options, *rest, **named):
        calls.append((computation, list(options.env_option_overrides)))
        return original(backend, computation, devices, options, *rest, **named)

    monkeypatch.setattr(compiler, "compile_or_get_cached", _hook._hooked(noted))
    compiler.compile_or_get_cached._weir_original = noted
    monkeypatch.setattr(_say, "last_report", None)
    return calls


def compiled(f, arguments, **options):
    return jax.jit(lambda *a: f(*a), **options).lower(*arguments).compile()


def close(ours, stock):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(stock), strict=True):
        if a.dtype == np.int32:
            np.testing.assert_array_equal(a, b)
        else:
            scale = float(jnp.max(jnp.abs(b)))
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("name", GAINS)
def test_regions_run_as_kernels(folder, seen, name):
    f, arguments, kernels = GAINS[name]
    stock = compiled(f, arguments)
    del seen[:]
    with weir.limit("1TB"):
        ours = compiled(f, arguments)
    report = _say.last_report
    assert report.only_faster and report.outcome == "rewritten"
    assert report.kernels == kernels or (kernels is None and report.kernels)
    assert report.text.count("weir_tile") >= report.kernels
    assert "stablehlo.while" not in report.text
    assert report.time_before_ns > 1.2 * report.time_after_ns or name == "layers_gradient"
    assert "times as fast" in report.line() and "fits;" in report.explain
    assert [options for _, options in seen] == [[]]  # nobody was asked, nothing was switched off
    assert (
        ours.memory_analysis().temp_size_in_bytes < stock.memory_analysis().temp_size_in_bytes / 2
    )
    if MACHINE in running.levels():
        close(ours(*arguments), stock(*arguments))


def common(a, b):
    """Sets in common: nothing of all pairs' elements is in memory in stock XLA either."""
    return (a[:, None] & b[None]).sum(-1)


def waves(x, y):
    """One function of all pairs, summed both ways and once over all."""
    w = jnp.sin(x[:, None] * y) * jnp.cos(x[:, None] + y)
    return w.sum(0), w.max(1), (w * w).sum()


def picked(q, i):
    """The sums over columns gain; what is picked of what they go into is no kernel."""
    s = q @ q.T
    d = s - jnp.sin(s).sum(0)
    p = d - d.sum(1)[:, None]
    return p[jnp.arange(len(i)), i] + jnp.sin(s).sum(0)


IN_PART = {
    "common": (common, [RANDOM.random((480, 64)) < 0.3, RANDOM.random((800, 64)) < 0.3]),
    "waves": (waves, [normal(1500), normal(1700)]),
    "picked": (picked, [normal(2000, 3), RANDOM.integers(0, 2000, 2000)]),
}


@pytest.mark.parametrize("machine_here", [m for m in running.LEVELS if m in running.levels()])
@pytest.mark.parametrize("name", IN_PART)
def test_what_xla_fuses_and_regions_in_part(folder, seen, monkeypatch, name, machine_here):
    f, arguments = IN_PART[name]
    monkeypatch.setenv("WEIR_MACHINE", machine_here)
    stock = compiled(f, arguments)(*arguments)
    with weir.limit("1TB"):
        ours = compiled(f, arguments)
    assert _say.last_report.only_faster and _say.last_report.kernels == 1
    assert "stablehlo.while" not in _say.last_report.text
    close(ours(*arguments), stock)


@pytest.mark.parametrize("machine_here", [m for m in running.LEVELS if m in running.levels()])
@pytest.mark.parametrize("name", ["matvec", "neighbours"])
def test_kernels_of_each_level(folder, seen, monkeypatch, name, machine_here):
    """These gain with any vectors: what a processor has runs."""
    f, arguments, kernels = GAINS[name]
    monkeypatch.setenv("WEIR_MACHINE", machine_here)
    with weir.limit("1TB"):
        ours = compiled(f, arguments)
    assert _say.last_report.only_faster and _say.last_report.kernels == kernels
    assert f"weir-tile 9: {machine_here}," in _say.last_report.text
    close(ours(*arguments), compiled(f, arguments)(*arguments))


@pytest.mark.skipif("x86-64-v4" in running.levels(), reason="this processor runs every level")
def test_a_level_that_the_processor_lacks(folder, seen):
    """Planned and compiled; to run it is an error, no illegal instruction."""
    f, arguments, _ = GAINS["matvec"]
    with weir.limit("1TB"):
        ours = compiled(f, arguments)
    with pytest.raises(jax.errors.JaxRuntimeError, match="a kernel made for x86-64-v4"):
        jax.block_until_ready(ours(*arguments))


def test_another_family_of_processors(folder, seen, monkeypatch):
    f, arguments, _ = GAINS["matvec"]
    monkeypatch.setenv("WEIR_MACHINE", "aarch64" if running.levels() else "x86-64")
    with weir.limit("1TB"):
        ours = compiled(f, arguments)
    with pytest.raises(jax.errors.JaxRuntimeError, match="which this processor"):
        jax.block_until_ready(ours(*arguments))


def test_a_machine_that_is_none(monkeypatch):
    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v3,cores=none")
    with pytest.raises(ValueError, match="WEIR_MACHINE.*cores=none.*a machine is host"):
        with weir.limit("1TB"):
            compiled(matvec, GAINS["matvec"][1])


def test_the_machine_makes_the_plan(folder):
    """The same text for the same name; another where the name says another."""
    text = jax.jit(attention).lower(*QKV).compiler_ir()
    text = text.operation.get_asm(print_generic_op_form=True).encode()

    def plan(name):
        settings = {"memory_limit_bytes": 10**12, "tile": 1, "machine": name}
        return _library.rewrite(text, settings, None).text

    assert plan(b"x86-64-v4") == plan(b"x86-64-v4,cores=2,l1=48KiB,l2=2MiB,l3=16MiB")
    assert b"x86-64-v4,cores=16," in plan(b"x86-64-v4,cores=16")
    assert plan(b"x86-64-v4,cores=16") != plan(b"x86-64-v4")


@pytest.mark.parametrize("name", NONE_GAIN)
@pytest.mark.parametrize("tile", ["auto", "on"])
def test_the_rest_is_left_alone(folder, seen, monkeypatch, name, tile):
    f, arguments = NONE_GAIN[name]
    monkeypatch.setenv("WEIR_TILE", tile)
    lowered = jax.jit(lambda *a: f(*a)).lower(*arguments)
    with weir.limit("1TB"):
        lowered.compile()
    ((module, options),) = seen
    assert module is lowered.compiler_ir() and options == [] and _say.last_report is None


@pytest.mark.parametrize("tile, rewrites", [("auto", True), ("on", True), ("off", False)])
def test_tiles_alone_switch_it_on(folder, seen, monkeypatch, tile, rewrites):
    monkeypatch.setenv("WEIR_TILE", tile)
    compiled(attention, QKV)
    assert (_say.last_report is not None) == rewrites and len(seen) == 1


def test_without_settings_nothing_is_read(folder, seen, monkeypatch):
    monkeypatch.setattr(_library, "library", None)
    compiled(attention, QKV)
    assert len(seen) == 1


def test_tiles_off_leaves_what_fits_alone(folder, seen, monkeypatch):
    monkeypatch.setenv("WEIR_TILE", "off")
    with weir.limit("1TB"):
        compiled(attention, QKV)
    assert _say.last_report is None and len(seen) == 1


def test_donated_arguments_stay_donated(folder, seen):
    def step(x, q, k, v):
        return x + attention(q, k, v)

    with weir.limit("1TB"):
        ours = compiled(step, [QKV[0], *QKV], donate_argnums=0)
    assert _say.last_report.only_faster
    assert ours.memory_analysis().alias_size_in_bytes == QKV[0].nbytes


def test_the_limit_holds_where_xla_was_asked(folder, seen):
    """All temporaries together are above the limit, XLA's report is not: its options stay."""
    stock = compiled(attention, QKV).memory_analysis()
    total = (
        stock.argument_size_in_bytes + stock.output_size_in_bytes + stock.temp_size_in_bytes
    )
    del seen[:]
    with weir.limit(2 * total):
        ours = compiled(attention, QKV).memory_analysis()
    report = _say.last_report
    assert report.only_faster and report.referee_compiles == 2 and len(seen) == 2
    honest = "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
    assert report.compile_options == (honest,)
    held = ours.argument_size_in_bytes + ours.output_size_in_bytes + ours.temp_size_in_bytes
    assert held == report.peak_after_bytes <= 2 * total


@pytest.mark.parametrize("with_kernels, outcome", [(20, 2), (60, 1), (None, 1)])
def test_kernels_that_break_the_limit_are_not_taken(folder, with_kernels, outcome):
    """XLA's report in MB under a limit of 50; None: XLA refuses the program."""
    asked = []

    def referee(text, options):
        asked.append((text is None, options))
        megabytes = 30 if text is None else with_kernels
        if megabytes is None:
            raise RuntimeError("no")
        return 0, 0, 0, megabytes * 10**6

    text = jax.jit(attention).lower(*QKV).compiler_ir()
    text = text.operation.get_asm(print_generic_op_form=True).encode()
    settings = {"memory_limit_bytes": 50 * 10**6, "tile": 1, "machine": MACHINE.encode()}
    result = _library.rewrite(text, settings, referee)
    assert result.status == _library.OK and result.outcome == outcome
    assert [is_as_it_came for is_as_it_came, _ in asked] == [True, False]
    assert asked[0][1] == asked[1][1] == result.compile_options
    assert result.only_faster == (outcome == _library.REWRITTEN)
    assert [loop.is_kernel for loop in result.loops] == [True] * result.only_faster
    assert result.peak_after_bytes == (with_kernels if outcome == 2 else 30) * 10**6


def test_plans_say_so(folder):
    plan = weir.plan(attention, *QKV, limit="1TB")
    assert plan.only_faster and plan.kernels == 1 and plan.peak_after_bytes < plan.peak_before_bytes
    assert "1 kernel, predicted " in plan.line()
