"""Programs over several devices: results, shardings and donations are those of stock XLA; each
device stays under the limit where something can be split; where not, the program is refused.
"""

import json
import os
import pathlib
import subprocess
import sys
import types

import pytest

from weir import _auto, _call, _hook

PROGRAM = pathlib.Path(__file__).with_name("sharded_programs.py")
FOUR = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
REFUSED = ["unreduced"]
BY_HAND = ["shard_map", "shard_map_grid", "shard_map_and_more", "shard_map_gradient"]
BY_HAND += ["pmap", "pmap_donated", "shard_map_and_layers"]
PARTLY_BY_HAND = ["partly_by_hand", "nested_by_hand", "half_by_hand_step"]  # not with jax 0.7
SHARDED = ["explicit", "inferred", "constrained", "donated", "batch", "batch_gradient", "two_axes"]
SHARDED += ["both_dimensions"]
LOOPED = ["shard_map_scan", "shard_map_scan_gradient", "while"]  # loops of the program's with collectives
SPLIT = BY_HAND + SHARDED + LOOPED


def printed_lines(_):
    done = subprocess.run(
        [sys.executable, PROGRAM],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | FOUR,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def lines(once):
    return once("sharded", printed_lines)


@pytest.fixture(scope="module")
def programs(lines):
    return {line["name"]: line for line in lines if "name" in line and "refused" not in line}


@pytest.fixture(scope="module")
def refused(lines):
    return {line["name"]: line for line in lines if "refused" in line}


def test_results_and_shardings_are_those_of_stock_xla(programs):
    assert {name for name, p in programs.items() if not p["equal"]} == set()
    assert {name for name, p in programs.items() if not p["same_shardings"]} == set()


@pytest.mark.parametrize("name", SPLIT)
def test_each_device_stays_under_the_limit(programs, name):
    program = programs[name]
    assert program["bytes"] <= program["limit"] and program["warnings"] == []


@pytest.mark.parametrize("name", PARTLY_BY_HAND)
def test_what_is_by_hand_along_some_axes_stays_under_the_limit(programs, name):
    if name not in programs:
        pytest.skip("this jax has no such program")
    program = programs[name]
    assert program["bytes"] <= program["limit"] and program["warnings"] == []
    assert program["rewritten"] and program["looped_collectives"] == 0


def test_most_are_rewritten(programs):
    """Older versions of XLA fuse a few of them well enough."""
    assert sum(programs[name]["rewritten"] for name in SPLIT) >= len(SPLIT) - 5


@pytest.mark.parametrize("name", BY_HAND + SHARDED)
def test_no_collective_is_in_a_loop(programs, name):
    assert programs[name]["looped_collectives"] == 0


def test_a_loop_with_a_collective_is_not_looped_again(programs):
    assert programs["shard_map_scan"]["looped_collectives"] == 1


def test_donation_survives(programs):
    assert programs["donated"]["deleted"] == [True]


def test_what_fits_is_untouched(programs):
    assert not programs["fits"]["rewritten"] and programs["fits"]["warnings"] == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_split_is_refused_with_the_number_that_holds(refused, programs, name):
    if name not in refused and name not in programs:
        pytest.skip("this jax has no such program")
    program = refused[name]
    assert "RESOURCE_EXHAUSTED: weir: no way found under the limit" in program["refused"]
    assert "The limit, and all bytes, are each device's." in program["refused"]
    assert program["bytes"] <= program["least"] and program["warnings"] == []


def test_nothing_else_is_refused(refused):
    assert set(refused) <= set(REFUSED)


def test_above_a_threshold(lines):
    found = [line["above"] for line in lines if "above" in line]
    assert len(found) == 3
    for program in found:
        assert program["equal"] and program["same_shardings"] and program["rewritten"], program
        assert program["looped_collectives"] == 0


def test_parts_of_sums_are_not_added_up_by_loops(lines):
    for program in (line["parts"] for line in lines if "parts" in line):
        assert program["equal"] and not program["rewritten"]


def test_plans(lines, programs):
    found = {line["plan"]["name"]: line["plan"] for line in lines if "plan" in line}
    assert found["shard_map_grid"]["outcome"] == "rewritten" and found["shard_map_grid"]["loops"]
    if "partly_by_hand" in found:
        assert found["partly_by_hand"]["outcome"] == "rewritten"
        assert found["partly_by_hand"]["bytes"] == programs["partly_by_hand"]["bytes"]


def test_plans_for_a_device_are_for_as_many_as_the_program_wants(lines, programs):
    found = [line["plan_ahead"] for line in lines if "plan_ahead" in line]
    assert len(found) == 3
    for plan in found:
        assert plan["device"] == "4 x cpu"
        assert plan["outcome"] == ("rewritten" if programs[plan["name"]]["rewritten"] else "options")
        assert plan["bytes"] == programs[plan["name"]]["bytes"]


# ---- what needs no devices ----
def call_over(*processes, partitions=1):
    options = types.SimpleNamespace(num_replicas=1, num_partitions=partitions)
    client = types.SimpleNamespace(runtime_type="pjrt_ifrt")
    devices = [
        types.SimpleNamespace(process_index=p, platform="cpu", client=client) for p in processes
    ]
    backend = types.SimpleNamespace(platform="cpu", local_devices=lambda: devices)
    return _call.Call(None, backend, None, devices, options, (), {})


def test_processes_are_told_apart():
    assert call_over(0, 1).is_over_processes()
    assert not call_over(2, 2).is_over_processes()


def test_processes_of_a_topology_are_nobody():
    call = call_over(0, 1)
    call.devices[0].client.runtime_type = "compile_only_runtime"
    assert not call.is_over_processes() and call.own_device() is call.devices[0]


def test_devices_of_a_cpu_share_its_memory(monkeypatch):
    monkeypatch.setattr(_auto, "limit_bytes", lambda device: 1000)
    limit = {"memory_limit_bytes": "auto"}
    assert _hook._measured(call_over(0), limit) == {"memory_limit_bytes": 1000}
    four = call_over(0, 0, 0, 0, partitions=4)
    assert _hook._measured(four, limit) == {"memory_limit_bytes": 250}


OTHER_PARTITIONER = """
import re, jax, numpy as np, weir
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.config.update("jax_use_shardy_partitioner", False)
rows = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))

def run(limit):
    with weir.limit(limit):
        return jax.jit(lambda x: (x[:, None] * x[None]).sum(1), in_shardings=rows)(np.ones(1024))

try:
    run("10kB")
except jax.errors.JaxRuntimeError as error:
    print(error)
    print(float(run(int(re.search(r"set it to (\\d+) bytes", str(error))[1])).sum()))
"""


def test_the_partitioner_before_shardy_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PARTITIONER],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | FOUR,
    )
    said, *_, result = done.stdout.splitlines()
    assert said.startswith("RESOURCE_EXHAUSTED: weir: no way found under the limit of 10.0 kB")
    assert said.endswith("it is not split: it is for the partitioner before Shardy")
    assert result == "1048576.0" and "Warning" not in done.stderr, done.stderr
