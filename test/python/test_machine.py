"""What is measured of the computer at first use, kept, and left out where a machine is named."""

import os
import pathlib
import re
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp, weir
x = jnp.linspace(0.0, 1.0, 2000)
with weir.limit("2MB"):
    y = jax.jit(lambda x: jnp.exp(-((x[:, None] - x[None]) ** 2)) @ x)(x)
print(float(y[0]))
"""
RATES = re.compile(r"clock=[\d.]+,vectors=[\d.]+,products=[\d.]+,fused=[\d.]+,memory=[\d.]+$")


def run(folder, program=PROGRAM, **settings):
    settings = {"WEIR_CACHE_DIR": str(folder)} | settings
    environment = {k: v for k, v in os.environ.items() if k != "WEIR_MACHINE"} | settings
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "weir:" not in done.stderr
    return done.stdout


def kept(folder):
    path = pathlib.Path(folder) / "machines"
    return path.read_text().splitlines() if path.exists() else None


def test_the_first_program_measures_and_others_do_not(tmp_path):
    first = run(tmp_path)
    (line,) = kept(tmp_path)
    assert RATES.search(line)
    assert run(tmp_path) == first and kept(tmp_path) == [line]
    described = run(tmp_path, "from weir import _library; print(_library.describe_machine(None))")
    assert described.splitlines()[0] == line and "measured  clock" in described


def test_named_machines_and_no_folder_measure_nothing(tmp_path):
    for settings in ({"WEIR_MACHINE": "host"}, {"WEIR_TILE": "off"}):
        run(tmp_path, **settings)
        assert kept(tmp_path) is None
    run("off")


def test_the_line_that_is_printed_makes_the_same_plan(tmp_path):
    plan = "import jax, jax.numpy as jnp, weir; x = jax.ShapeDtypeStruct((3000,), jnp.float32); "
    plan += "f = jax.jit(lambda x: jnp.exp(-((x[:, None] - x[None]) ** 2)) @ x); "
    plan += 'print(weir.plan(f, x, limit="1MB"))'
    run(tmp_path)
    measured = run(tmp_path, plan)
    assert run("off", plan, WEIR_MACHINE=kept(tmp_path)[0]) == measured


def test_a_file_that_is_something_else_is_no_measurement(tmp_path):
    (tmp_path / "machines").write_bytes(b"\0" * 100 + b"\n,clock=3\nhost,clock=2\n")
    run(tmp_path)
    assert RATES.search(kept(tmp_path)[-1])


def test_what_an_older_weir_did_not_measure_is_measured(tmp_path):
    run(tmp_path)
    (line,) = kept(tmp_path)
    (tmp_path / "machines").write_text(re.sub(r"vectors=[\d.]+,", "", line) + "\n")
    run(tmp_path)
    (again,) = kept(tmp_path)
    assert RATES.search(again)


def test_folders_that_take_nothing_cost_no_program(tmp_path):
    (tmp_path / "machines").mkdir()
    run(tmp_path)


def test_cpu_time_that_the_system_counts_late_is_no_speed():
    """One run seems to take half of its CPU time, the next one more; alone, the clock knows better."""
    from weir._machine import _seconds_of

    assert _seconds_of([(1.5, 1.6), (1.5, 0.8), (1.5, 2.4)], cores=2) == 0.8
    assert _seconds_of([(0.9, 1.6), (0.7, 1.6), (1.5, 1.7)], cores=2) == 0.7
