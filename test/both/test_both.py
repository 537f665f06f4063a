"""TensorFlow and JAX in one process, each with weir's hook: a program is rewritten once, by whichever
compiles it, whatever else is wrapped around either, and neither framework notices the other's options.
"""

import os
import subprocess
import sys

import pytest

HEAD = """
import importlib, os, sys
import tensorflow as tf
import jax, jax.numpy as jnp
from jax.experimental import jax2tf
import numpy as np
import weir
from weir import _library, _say

made, rewrite, report = [], _library.rewrite, _say.report
def count(text, settings, referee, *timer):
    result = rewrite(text, settings, referee, *timer)
    if referee is not None:
        made.append((result.status_name, result.outcome == _library.REWRITTEN, result.limit_bytes))
    return result
_library.rewrite = count

x = np.random.default_rng(0).random((1000, 3), np.float32)  # 4 MB of all pairs
y = np.exp(-((x[:, None].astype(float) - x[None]) ** 2).sum(-1)).sum(1)

def by_tensorflow(x):
    return tf.reduce_sum(tf.exp(-tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)), 1)

def by_jax(x):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)).sum(1)

ours = tf.function(by_tensorflow, jit_compile=True), jax.jit(by_jax)
of_jax = tf.function(jax2tf.convert(by_jax), jit_compile=True, autograph=False)
of_tensorflow = jax.jit(jax2tf.call_tf(by_tensorflow))

def expect(count, *functions, limit=1_000_000):
    "Each gives y; of all programs so many are rewritten, under the limit, and none is refused."
    made.clear()
    for f in functions:
        np.testing.assert_allclose(np.asarray(f(x)), y, rtol=1e-4)
    assert made == [("OK", True, limit)] * count, made
"""


def run(tmp_path, code, *words, **settings):
    script = tmp_path / "script.py"
    script.write_text(HEAD + code + "\nprint('done')\n")
    done = subprocess.run(
        [sys.executable, *words, script],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "XLA_FLAGS"} | settings,
        timeout=600,
    )
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr
    return done.stderr


def weir(tmp_path, code, limit="1MB", **settings):
    """A script as it is."""
    return run(tmp_path, code, "-m", "weir", WEIR_MEMORY_LIMIT=limit, **settings)


def test_each_program_is_rewritten_once(tmp_path):
    """Also one framework's that the other compiles; calls again, and what fits, are no programs."""
    said = weir(
        tmp_path,
        "expect(2, *ours); expect(0, *ours)\n"
        "expect(1, of_jax); expect(1, of_tensorflow); expect(0, of_jax, of_tensorflow)\n"
        "made.clear(); ours[0](x[:10]); ours[1](x[:10]); assert not made",
        WEIR_DEBUG="1",
    )
    names = [line.split(": ")[1] for line in said.splitlines() if ": rewritten" in line]
    assert names == ["by_tensorflow", "jit_by_jax", "converted_fun_tf", "jit_by_tensorflow"], said


BLOCKS = """
expect(0, *ours)  # under no limit
for limit in (500_000, 300_000):
    with weir.limit(limit):
        expect(2, *ours, limit=limit)
        assert weir.last_report().limit_bytes == limit
with weir.limit("1kB"), weir.limit(None):
    expect(0, *ours)
for f, name in zip(ours, ("by_tensorflow", "jit_by_jax")):
    plan = weir.plan(f, tf.constant(x) if f is ours[0] else x, limit=500_000)
    assert plan.name == name and plan.outcome == "rewritten" and plan.peak_after_bytes < 500_000
"""


@pytest.mark.slow
def test_a_block_is_for_both(tmp_path):
    run(tmp_path, BLOCKS)


AGAIN = """
import weir._tf_gradient, weir._tf_hook, weir.tensorflow, weir._hook
from jax._src import compiler
{before}
for _ in range(2):
    weir.initialize()
    weir._tf_hook.install()
for module in (weir._hook, weir._tf_hook, weir._tf_gradient, weir.tensorflow):
    importlib.reload(module)
outer = compiler.compile_or_get_cached
compiler.compile_or_get_cached = lambda *all, **named: outer(*all, **named)
weir.initialize()
{after}
"""
OURS = "expect(2, *ours, limit=60_000)", "expect(2, of_jax, of_tensorflow, limit=60_000)"


@pytest.mark.slow
@pytest.mark.parametrize("before, after", [OURS, ("", f"{OURS[0]}; {OURS[1]}")])
def test_what_is_put_in_again(tmp_path, before, after):
    """By imports, calls, reloads, and above what others have put around JAX's compiler."""
    weir(tmp_path, AGAIN.format(before=before, after=after), "60kB")


@pytest.mark.slow
def test_options_are_tensorflows_alone(tmp_path):
    """What the environment says of them is there again for all others, and for what is started."""
    flags = f"--xla_dump_to={tmp_path}/dumped"
    same = f"assert os.environ['XLA_FLAGS'] == '{flags}'"
    weir(tmp_path, f"with weir.limit(None): expect(0, *ours)\n{same}", XLA_FLAGS=flags)
    options = {f.name: f.read_text() for f in (tmp_path / "dumped").glob("*debug_options")}
    hoists = {name: "while-loop-invariant-code-motion" not in text for name, text in options.items()}
    assert [hoists[name] for name in hoists if "by_jax" in name] == [True]
    assert [hoists[name] for name in hoists if "by_tensorflow" in name] == [False], hoists


@pytest.mark.slow
def test_a_jax_that_lacks_something(tmp_path):
    """Only JAX's programs are without the limit then."""
    lacking = "import jax\ndel jax.make_user_context\n"
    code = "from weir import _jax\nassert _jax.missing(_jax.FOR_A_LIMIT)\n"
    code += 'with weir.limit("1MB"):\n    expect(1, *ours)\n'
    code += 'assert weir.plan(ours[0], tf.constant(x), limit="1MB").outcome == "rewritten"'
    (tmp_path / "sitecustomize.py").write_text(lacking)
    said = run(tmp_path, code, PYTHONPATH=str(tmp_path))
    assert "lacks jax.make_user_context" in said
