"""Programs under jit whose batch is sharded over devices: results and their shardings are those of
stock XLA, each device stays under a share of the temporaries, as XLA reports them, and no loop of
ours has a collective.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

import pytest
import running

PROGRAM = pathlib.Path(__file__).with_name("data_parallel_programs.py")
TOOL = running.ROOT / "tools/fuzz_sharded.py"
SOME = ["layer_norm", "batch_norm", "counted", "parameters_too"]  # the GPT alone takes as long
COUNTS = {2: SOME, 4: [], 8: SOME}  # none: all
LOOPED = {"gpt_scanned", "sorted", "transformed"}  # the program's loops; slices that XLA gathers


def lines_over(devices, _):
    done = subprocess.run(
        [sys.executable, PROGRAM, str(devices), *COUNTS[devices]],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=COUNTS, ids=lambda n: f"{n}-devices")
def programs(request, once):
    return once(f"data-parallel-{request.param}", functools.partial(lines_over, request.param))


def test_nothing_is_refused(programs):
    assert [p["name"] for p in programs if "refused" in p] == []


def test_each_device_is_under_the_limit(programs):
    for program in programs:
        assert program["bytes"] <= program["limit"] < program["held"] + program["temporaries"], program
        assert program["loops"] and program["warnings"] == [], program


def test_results_and_shardings_are_those_of_stock_xla(programs):
    for program in programs:
        assert program["difference"] < 1e-5 and program["same_shardings"], program


def test_no_collective_is_in_a_loop(programs):
    for program in programs:
        assert program["looped_collectives"] == 0 or program["name"] in LOOPED, program


@pytest.mark.parametrize("manual", [[], ["--manual"]], ids=["plain", "manual"])
@pytest.mark.parametrize("graphs", ["Graph", "Branches", "Images"])
def test_random_programs(graphs, manual):
    """Seeds of tools/fuzz_sharded.py, which has any number of them."""
    command = [sys.executable, TOOL, "--count", "6", "--graphs", graphs, "--build", running.BUILD]
    command += manual
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    divided, looped = re.search(r"(\d+) divided, (\d+) looped", done.stdout).groups()
    assert int(divided) >= 3 and int(looped) >= 1, done.stdout
