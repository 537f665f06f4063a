"""The smallest limit that a refusal names: the program runs under it, and is refused 1 % below."""

import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running
import weir
from running import HONEST
from held import reported_bytes

sys.path.insert(0, str(running.ROOT / "bench"))
sys.path.insert(0, str(running.ROOT / "tools"))
import fuzz_graphs
import overhead

CORPUS = running.ROOT / "test/corpus"
CASES = [  # as a program, its limit that can't be held
    ("m_attention_fwd", "1MB"),
    ("m_matvec_se", "100kB"),
    ("m_sgpr_bound", "1MB"),
    ("m_kmeans_step", "100kB"),
    ("m_row_median_sort", "100kB"),
    ("p_gp_regression_f64", "2kB"),
    ("p_transformer_encoder_fwd", "2kB"),
    ("m_cumsum_outer_max", "100kB"),
]


def command(name, program, limit):
    line = [running.BUILD / "weir", name, program, "--memory-limit", str(limit)]
    return subprocess.run(line, capture_output=True, text=True)


def smallest(program, limit):
    done = command("plan", program, limit)
    assert done.returncode == running.REFUSED
    found = re.search(r"smallest limit found feasible is .* \((\d+) bytes\)", done.stdout)
    return int(found[1])


def smallest_unasked(program):
    """As it is found without a limit, and the table's rows below: (limit, peak, time) as text."""
    done = subprocess.run([running.BUILD / "weir", "plan", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^minimum .* \((\d+) bytes\): ", done.stdout, re.MULTILINE)
    rows = re.findall(
        r"^ *([\d.]+ k?M?G?B) +([\d.]+ k?M?G?B) .* ([\d.]+)$", done.stdout, re.MULTILINE
    )
    return int(found[1]), rows


@pytest.mark.parametrize("name, impossible", CASES, ids=[case[0] for case in CASES])
def test_it_holds_and_one_percent_less_does_not(name, impossible):
    program = CORPUS / name / "program.mlir"
    least = smallest(program, impossible)
    assert command("opt", program, least).returncode == 0
    assert command("opt", program, least - least // 100 - 1).returncode == running.REFUSED


@pytest.mark.parametrize("name", [case[0] for case in CASES])
def test_it_is_found_without_a_limit_too(name):
    program = CORPUS / name / "program.mlir"
    least, rows = smallest_unasked(program)
    assert command("opt", program, least).returncode == 0
    assert command("opt", program, least - least // 100 - 1).returncode == running.REFUSED
    assert 1 <= len(rows) <= 6
    read = weir._library.parse_bytes
    assert all(read(peak) <= 1.01 * read(limit) for limit, peak, _ in rows)
    assert rows[-1][2] == "1.00"


@pytest.mark.slow
def test_of_a_program_whose_climb_takes_long(tmp_path):
    """1150 operations: the climb alone takes what small programs' searches may; of 84 MB."""
    f, arguments = overhead.transformer()
    program = tmp_path / "program.mlir"
    program.write_text(jax.jit(f).lower(*arguments).as_text())
    least = smallest(program, "20MB")
    assert 20_000_000 < least < 25_000_000
    assert smallest_unasked(program)[0] < 25_000_000
    assert command("opt", program, least).returncode == 0


def named_or_none(program, limit):
    """What a refusal names; None: the limit holds."""
    done = command("opt", program, limit)
    assert done.returncode in (0, running.REFUSED), done.stderr
    found = re.search(r"set it to (\d+) bytes", done.stderr)
    return int(found[1]) if found else None


@pytest.mark.parametrize("graphs", ["Graph", "Branches", "Cuts"])
@pytest.mark.parametrize("seed", [*range(12), 13, 27, 47, 78])
def test_what_holds_holds_under_larger_limits(graphs, seed, tmp_path):
    """Of the number that a refusal names, shares of it, and once more by a quarter and by twice."""
    program = tmp_path / "program.mlir"
    case = fuzz_graphs.case_of(seed, getattr(fuzz_graphs.random_graphs, graphs))
    program.write_text(case.text())
    least = named_or_none(program, 1)
    for share in () if least is None else (0.8, 0.95, 1, 1.2, 1.6, 2.4):
        limit = max(1, int(least * share))
        named = named_or_none(program, limit)
        assert named is None or named_or_none(program, named) is None
        for times in (1.25, 2) if named is None else ():
            assert named_or_none(program, int(limit * times)) is None, (limit, times)


def kernel_matvec(z, v):
    return jnp.exp(-((z[:, None] - z[None]) ** 2).sum(-1)) @ v


def test_xla_confirms_it():
    z = np.random.default_rng(0).standard_normal((1500, 3)).astype(np.float32)
    plan = weir.plan(kernel_matvec, z, z[:, 0], limit="25kB")
    assert plan.outcome == "refused"
    assert 25_000 < plan.minimum_bytes < plan.peak_before_bytes / 10
    with weir.limit(plan.minimum_bytes):
        found = jax.jit(kernel_matvec)(z, z[:, 0])
    assert weir.last_report().peak_after_bytes <= plan.minimum_bytes
    wanted = kernel_matvec(z, z[:, 0])
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


def test_without_a_way_to_split_it_is_what_the_program_needs():
    z = np.ones((500, 3), np.float32)

    def f(z):
        return jnp.sort(kernel_matvec(z, z).reshape(-1)[:900]) + jnp.sort(z, axis=None)[:900]

    plan = weir.plan(f, z, limit="9kB")
    assert plan.outcome == "refused"
    with weir.limit(plan.minimum_bytes):
        jax.jit(f)(z).block_until_ready()


def warning(program, limit):
    """The times as slow as it came, and the limit that avoids it; None where nothing warns."""
    text = command("plan", program, limit).stdout
    found = re.search(r"^warning  predicted ([\d.]+) times .* \((\d+) bytes\)$", text, re.MULTILINE)
    return found and (float(found[1]), int(found[2]))


SLOW_AT_LEAST = ["m_attention_fwd", "m_matvec_multi_rhs", "m_power_iteration_gram"]


@pytest.mark.parametrize("name", SLOW_AT_LEAST)
def test_a_limit_that_costs_time_is_warned_of_and_the_one_named_costs_less(name):
    program = CORPUS / name / "program.mlir"
    least, _ = smallest_unasked(program)
    slower, better = warning(program, least)
    assert slower > 2 and better > least
    assert warning(program, better) is None
    assert command("plan", program, better).returncode == 0


def test_a_limit_that_costs_no_time_is_not_warned_of():
    assert warning(CORPUS / "m_matvec_se" / "program.mlir", "100MB") is None


def test_the_hook_warns_too(monkeypatch, capfd, fresh_caches):
    z = np.random.default_rng(0).standard_normal((1500, 3)).astype(np.float32)
    plan = weir.plan(kernel_matvec, z, z[:, 0], limit="25kB")
    tight = weir.plan(kernel_matvec, z, z[:, 0], limit=plan.minimum_bytes)
    assert bool(tight.faster_limit_bytes) == (tight.time_after_ns > 2 * tight.time_before_ns)
    monkeypatch.setenv("WEIR_DEBUG", "1")
    with weir.limit(plan.minimum_bytes):
        jax.jit(kernel_matvec)(z, z[:, 0])
    said = capfd.readouterr().err
    assert ("times as slow as it came" in said) == bool(tight.faster_limit_bytes)


def test_a_limit_above_one_that_holds_holds():
    """What XLA copies for groups of a batch, and what it needs for it, is more than the result."""
    x, w = np.ones((12, 20, 25, 16), np.float32), np.ones((5, 3, 16, 24), np.float32)

    def f(x, w):
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            x, w, (1, 2), "VALID", dimension_numbers=numbers, batch_group_count=4
        ).sum(3)

    stock = jax.jit(f).lower(x, w).compile(compiler_options=HONEST)
    plan = weir.plan(f, x, w, limit="1GB")
    assert plan.peak_before_bytes == pytest.approx(reported_bytes(stock), rel=0.02)
    for limit in range(450_000, reported_bytes(stock), 60_000):
        with weir.limit(limit):
            limited = jax.jit(lambda *arguments: f(*arguments)).lower(x, w).compile()
        assert reported_bytes(limited) <= limit


def test_an_estimate_is_called_one_where_xla_needs_more():
    """XLA puts the diagonal of an LU off until the factor was copied for the solves: a third matrix."""

    def determinant(x, lengths):
        z = x / lengths
        k = jnp.exp(-0.5 * ((z[:, None] - z[None]) ** 2).sum(-1))
        return jnp.linalg.slogdet(k + jnp.eye(len(x)))[1]

    x = np.random.default_rng(0).standard_normal((300, 3))
    with jax.enable_x64(True), weir.limit("1MB"), pytest.raises(jax.errors.JaxRuntimeError) as e:
        jax.jit(jax.value_and_grad(determinant, 1))(x, np.ones(3))
    least, needed = re.search(
        r"set it to (\d+) bytes or more .*, where XLA may need more than weir estimates: peak (\d\.\d+) MB", str(e.value)
    ).groups()
    assert int(least) > 1.02e6 * float(needed)
