"""Whiles that run all rows until the last is done: trips counted, then run (src/pass/until_last.c).
Results to the bit, and what random numbers by rejection need under a limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import random_last
import running
import weir
from weir import _hook
from running import HONEST
from held import reported_bytes

N = 20_000


def rates(largest=40.0):
    r = np.random.default_rng(0).uniform(0, largest, N).astype(np.float32)
    r[:4] = 0, np.nan, -1, 1e4
    return r


def poisson(key, rates):
    return jax.random.poisson(jax.random.wrap_key_data(key), rates, dtype=jnp.int32)


def poisson_of_made(key, scale):
    i = jnp.arange(N, dtype=jnp.float32)
    return poisson(key, scale * (1 + jnp.sin(i)))


def binomial(key, counts):
    return jax.random.binomial(jax.random.wrap_key_data(key), jnp.floor(counts) + 30, 0.45)


def betainc(key, a):
    x = jax.random.uniform(jax.random.wrap_key_data(key), a.shape)
    return jax.scipy.special.betainc(jnp.abs(a) + 0.5, 3.0, x)


def a_tenth(compiled):
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return held + memory.temp_size_in_bytes // 10


@pytest.mark.parametrize("f", [poisson, poisson_of_made, binomial, betainc], ids=lambda f: f.__name__)
def test_a_tenth_holds(f):
    key = jax.random.key_data(jax.random.key(3))
    arguments = key, np.float32(20) if f is poisson_of_made else rates()
    stock = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)
    limit = a_tenth(stock)
    with weir.limit(limit):
        limited = jax.jit(f).lower(*arguments).compile()
    assert weir.last_report().outcome == "rewritten"
    assert reported_bytes(limited) <= limit < reported_bytes(stock)
    np.testing.assert_array_equal(limited(*arguments), stock(*arguments))


@pytest.mark.parametrize("f", [poisson, binomial, betainc], ids=lambda f: f.__name__)
def test_same_numbers(f, monkeypatch):
    arguments = jax.random.key_data(jax.random.key(7)), rates(25.0)
    want = jax.jit(f).lower(*arguments).compile(compiler_options=HONEST)(*arguments)
    monkeypatch.setenv("WEIR_TENSOR_SIZE_THRESHOLD", "20kB")
    got = jax.jit(f)(*arguments)
    assert weir.last_report().outcome == "rewritten"
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(24))
def test_random_loops(seed, tmp_path):
    """Rows that are done may begin again: then the trips are counted until their number stands."""
    _hook.register_calls()
    program = random_last.Loop(seed)
    path = tmp_path / "p.mlir"
    path.write_text(program.text())
    finely = ["--tensor-size-threshold", program.largest // 4]
    counted = running.opt(path, "--pass", "inline,cse,until-last,dce")
    # a loop that counts, another around it, one that runs
    n_loops = 1 if program.told else 2 if program.ends_for_good else 3
    assert counted.count("stablehlo.while") == n_loops
    # its arguments and results, and room for two tensors more
    under = running.opt(path, "--memory-limit", 7 * program.largest, refused=program.text())
    texts = [counted, running.opt(path, *finely), running.opt(path, *finely, "--tile", "on"), under]
    arguments = program.inputs()
    want = running.Xla(program.text())(*arguments)
    for text in texts:
        for got, expected in zip(running.Xla(text)(*arguments), want, strict=True):
            np.testing.assert_array_equal(got, expected)
