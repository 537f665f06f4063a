"""Programs of one device over a mesh, weir.limit(mesh=): results are those of one device, whole on
each; each device stays under the limit and does its part.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

import jax
import numpy as np
import pytest

import weir
from weir import _library

PROGRAM = pathlib.Path(__file__).with_name("spread_programs.py")
FEW = ["matvec", "total", "odd", "fits"]
MORE = ["attention", "gradient", "largest", "steps", "alone", "inverse"]
SPREAD = ["matvec", "total", "odd", "attention", "gradient", "largest", "steps"]
COUNTS = {2: FEW, 4: FEW + MORE, 8: FEW}


def lines_over(devices, _):
    flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    done = subprocess.run(
        [sys.executable, PROGRAM, *COUNTS[devices]],
        capture_output=True,
        text=True,
        timeout=400,
        env=os.environ | flags,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["name"]: line for line in lines} | {"count": devices}


@pytest.fixture(scope="module", params=COUNTS, ids=lambda n: f"{n}-devices")
def programs(request, once):
    return once(f"spread-{request.param}", functools.partial(lines_over, request.param))


def test_results_are_those_of_one_device_whole_on_each(programs):
    for name in COUNTS[programs["count"]]:
        program = programs[name]
        if name == "inverse":
            continue
        assert program["right"] and program["whole"], name
        assert program["devices"] == programs["count"]


def test_each_device_is_under_the_limit_and_does_its_part(programs):
    for name in COUNTS[programs["count"]]:
        program = programs[name]
        if name in SPREAD:
            assert program["bytes"] <= program["limit"] and program["warnings"] == [], name
            assert program["loops"] and program["collectives"], name


def test_sums_are_added_up_over_the_devices(programs):
    assert programs["total"]["collectives"] == ["all-reduce"]
    assert programs["matvec"]["collectives"] == ["all-gather"]


def test_what_fits_is_computed_by_each(programs):
    assert programs["fits"]["collectives"] == [] and programs["fits"]["loops"] == 0


def test_what_holds_the_limit_only_undivided_is_computed_by_each(programs):
    if program := programs.get("alone"):
        assert program["bytes"] <= program["limit"] and program["warnings"] == []
        assert program["loops"] and not program["collectives"]


def test_what_holds_no_limit_is_refused(programs):
    if "inverse" in programs:
        assert "RESOURCE_EXHAUSTED: weir: no way found" in programs["inverse"]["refused"]


def test_an_array_that_was_put_on_a_device_is_an_error(programs):
    assert "incompatible devices" in programs["on_one_device"]["error"]


def test_plans_are_for_the_mesh(programs):
    assert programs["plan"]["outcome"] == "rewritten"
    assert programs["plan"]["bytes"] == programs["matvec"]["bytes"]


def test_after_the_block_programs_are_one_devices(programs):
    assert programs["after"]["devices"] == 1


# ---- the text ----
X = jax.ShapeDtypeStruct((512, 8), np.float32)


def text_of(f, *arguments, partitions=4):
    text = jax.jit(f).lower(*arguments).as_text()
    return text.replace("mhlo.num_partitions = 1", f"mhlo.num_partitions = {partitions}").encode()


def kernel_sums(x):
    return jax.numpy.exp(x @ x.T).sum(1)


SETTINGS = {"memory_limit_bytes": 500_000, "platform": b"cpu", "machine": b"x86-64-v3"}


def test_large_values_are_sharded_and_borders_are_whole():
    text = _library.spread(text_of(kernel_sums, X), SETTINGS).decode()
    lines = [line for line in text.splitlines() if "sdy.sharding_constraint" in line]
    assert any('[{"weir"}, {}]' in line and "tensor<512x512xf32>" in line for line in lines)
    assert "%arg0" in lines[0] and '[{}, {}]>}> : (tensor<512x8xf32>)' in lines[0]
    assert "[{}]>}> : (tensor<512xf32>)" in lines[-1]


@pytest.mark.parametrize(
    "f, partitions, limit",
    [
        (kernel_sums, 1, 500_000),  # one device
        (kernel_sums, 4, 50_000_000),  # nothing is large
        (kernel_sums, 1024, 500_000),  # more devices than rows
    ],
)
def test_what_is_not_spread(f, partitions, limit):
    text = text_of(f, X, partitions=partitions)
    assert _library.spread(text, SETTINGS | {"memory_limit_bytes": limit}) is None


def test_rules_of_calls_are_no_shardings():
    """JAX says of LAPACK's calls how they could be sharded."""
    text = text_of(lambda x: kernel_sums(x).sum() + jax.numpy.linalg.cholesky(x.T @ x).sum(), X)
    assert _library.spread(text, SETTINGS) is not None


def test_what_is_sharded_already_is_left_alone():
    once = _library.spread(text_of(kernel_sums, X), SETTINGS)
    assert _library.spread(once, SETTINGS) is None


def test_what_does_not_read_is_an_error():
    with pytest.raises(ValueError, match="1:1"):
        _library.spread(b"no program", SETTINGS)


def test_what_is_no_mesh():
    with pytest.raises(TypeError, match="a mesh is a jax.sharding.Mesh, not 4"):
        weir.limit("1GB", mesh=4)


@pytest.mark.slow
def test_trips_fall_as_devices_are_added(monkeypatch):
    """Each device has a part of the rows, and slices of that."""
    sys.path.append(str(PROGRAM.parents[2] / "bench"))
    import spread

    monkeypatch.setenv("WEIR_MACHINE", "x86-64-v3")
    found = {count: spread.measured_over(count, "trips") for count in (2, 8)}
    assert found[2] == {"matvec": 69, "gradient": 152, "steps": 32}
    assert found[8] == {"matvec": 5, "gradient": 50, "steps": 32}


# ---- WEIR_DEVICES=all ----
ALL = """
import json, sys, threading, jax, numpy as np, jax.numpy as jnp, weir
weir.initialize()
x = np.random.default_rng(0).standard_normal((2048, 8), np.float32)

def sums(x):
    return jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) @ x[:, 0]

def run(name):
    y = jax.jit(lambda x: sums(x))(x)
    report = weir.last_report()
    print(json.dumps({"name": name, "devices": len(y.sharding.device_set),
                      "bytes": report.peak_after_bytes, "sum": float(y.sum())}))

if sys.argv[1:] == ["first"]:
    run("first")
    sys.exit()
jax.devices()
run("environment")
thread = threading.Thread(target=run, args=("thread",))
thread.start()
thread.join()
with weir.limit("1.5MB"):
    run("block")
plan = weir.plan(sums, x, limit="1.5MB")
print(json.dumps({"name": "plan", "bytes": plan.peak_after_bytes}))
"""
BY_MESH = ALL.replace('\nrun("environment")', '\nmesh = jax.make_mesh((4,), ("d",))').replace(
    'weir.limit("1.5MB")', 'weir.limit("1.5MB", mesh=mesh)'
)


def run_all(script, *arguments, **settings):
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"} | settings
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | flags)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["name"]: line for line in lines}, done


@pytest.mark.slow
def test_all_devices_are_as_a_mesh_of_them():
    settings = {"WEIR_DEVICES": "all", "WEIR_MEMORY_LIMIT": "1.5MB"}
    found, done = run_all(ALL, **settings)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    expected, _ = run_all(BY_MESH, WEIR_MEMORY_LIMIT="1.5MB")
    for name in ("environment", "thread", "block"):
        assert found[name] | {"name": "block"} == expected["block"]
    assert found["block"]["devices"] == 4
    assert found["plan"]["bytes"] == found["block"]["bytes"]
    assert expected["thread"]["devices"] == 1


def test_a_program_traced_before_devices_are_known_warns():
    found, done = run_all(ALL, "first", WEIR_DEVICES="all", WEIR_MEMORY_LIMIT="1.5MB")
    assert found["first"]["devices"] == 1 and done.stderr.count("of one device, is not spread") == 1


def test_devices_that_are_not_all():
    _, done = run_all(ALL, WEIR_DEVICES="2", WEIR_MEMORY_LIMIT="1.5MB")
    assert "SettingError: weir: WEIR_DEVICES is '2', but should be all, or unset" in done.stderr
