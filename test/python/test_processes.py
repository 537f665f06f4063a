"""Programs over several processes, two and four of them on this machine: all decide the same, each
device stays under the limit, and nobody waits for ever for a process that has ended.
"""

import functools
import json
import os
import pathlib
import socket
import subprocess
import sys
import types

import jax
import pytest

from weir import _processes, _settings

PROGRAM = pathlib.Path(__file__).with_name("process_programs.py")
LIMIT = 1_500_000


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def outcomes(count, folder):
    """{name: what a process printed}, of each process."""
    command = [sys.executable, PROGRAM, str(count), str(free_port())]
    environment = os.environ | {"WEIR_DUMP_TO": str(folder), "XLA_FLAGS": ""}
    files = [(open(folder / f"out{r}", "w+"), open(folder / f"err{r}", "w+")) for r in range(count)]
    running = [
        subprocess.Popen([*command[:2], str(r), *command[2:]], stdout=o, stderr=e, env=environment)
        for r, (o, e) in enumerate(files)
    ]
    try:
        ended = [process.wait(timeout=400) for process in running]
    finally:
        for process in running:
            process.kill()
    errors = "".join((folder / f"err{r}").read_text()[-3000:] for r in range(count))
    assert ended == [0] * count, errors
    lines = [(folder / f"out{r}").read_text().splitlines() for r in range(count)]
    read = [[json.loads(line) for line in of_one if line.startswith("{")] for of_one in lines]
    return [{line["name"]: line for line in of_one} for of_one in read]


@pytest.fixture(scope="module")
def two(once):
    return once("two-processes", functools.partial(outcomes, 2))


@pytest.fixture(scope="module")
def four(once):
    return once("four-processes", functools.partial(outcomes, 4))


@pytest.fixture(params=["two", "four"])
def processes(request):
    return request.getfixturevalue(request.param)


def of(name, processes):
    return [process[name] for process in processes]


def test_results_are_right(processes):
    assert all(program.get("right", True) for process in processes for program in process.values())


def test_all_run_the_same_program_under_the_limit(processes):
    found = of("sharded", processes)
    assert len({p["program"] for p in found}) == 1
    for program in found:
        assert program["rewritten"] and program["bytes"] <= LIMIT and program["warnings"] == []


def test_auto_is_the_smallest_share(processes):
    """Process r says that 8 * LIMIT - r is free; four devices share it."""
    smallest = (8 * LIMIT - (len(processes) - 1)) // 4
    assert {p["limit"] for p in of("auto", processes)} == {smallest}
    assert len({p["program"] for p in of("auto", processes)}) == 1


def test_nobody_waits_for_a_process_that_has_ended(processes):
    for program in of("ended", processes[:-1]):
        assert program["error"].startswith("DEADLINE_EXCEEDED: weir: jit__lambda")
        assert f"process {len(processes) - 1} has not come to this program" in program["error"]
    assert all(p["right"] for p in of("fits_alone", processes[:-1]))


def test_programs_of_some_processes_are_theirs_alone(four):
    found = of("some", four[1:3])
    assert len({p["program"] for p in found}) == 1
    for program in found:
        assert program["rewritten"] and program["right"] and program["bytes"] <= LIMIT
    assert "some" not in four[0] and "some" not in four[3]


def test_computations_by_hand(two):
    for program in of("by_hand", two):
        assert program["bytes"] <= LIMIT and program["warnings"] == []


@pytest.mark.parametrize("name", ["fits", "local"])
def test_what_fits_or_is_one_processs_says_nothing_to_others(two, name):
    for program in of(name, two):
        assert program["keys"] == 0 and program["right"] and program["warnings"] == []
    assert two[1]["local"]["rewritten"]


@pytest.mark.parametrize("name", ["more", "refused"])
def test_what_one_process_can_not_hold_none_runs(two, name):
    """In process 1 XLA reports more of each rewritten program, or does not compile it."""
    found = of(name, two)
    assert found[0]["error"] == found[1]["error"]
    assert "no way found under the limit of 1.50 MB" in found[0]["error"]


@pytest.mark.parametrize("broken", [0, 1])
def test_where_weir_fails_in_one_process_all_run_it_as_it_came(two, broken):
    found = of(f"broken_{broken}", two)
    assert len({p["program"] for p in found}) == 1
    assert not found[0]["rewritten"] and all(p["right"] for p in found)
    assert "it runs as it came" in found[broken]["warnings"][0]
    (warning,) = found[1 - broken]["warnings"]
    assert warning.endswith(f"without the limit: process {broken}: RuntimeError: for a test")


def test_a_program_that_is_compiled_again_is_agreed_on_again(two):
    for program in of("again", two):
        assert program["rewritten"] and program["limit"] == LIMIT + 100_000


def test_different_limits_are_an_error(two):
    for program in of("differs", two):
        assert program["error"].startswith("weir: the processes of this program have different")
        assert f"memory_limit_bytes is {LIMIT} in one and {LIMIT + 1000}" in program["error"]


def test_processes_with_different_programs_run_them_as_they_came(two):
    """A constant of theirs differs, as where a program reads the process's index."""
    for rank, program in enumerate(of("different", two)):
        assert not program["rewritten"] and program["right"]
        (warning,) = program["warnings"]
        assert f"process {1 - rank} compiles another program instead" in warning


class Notes(dict):
    """A key-value store of one process, which plays the other one, too."""

    def key_value_set(self, key, value, allow_overwrite):
        self[key] = value

    def key_value_try_get(self, key):
        return self[key]

    def blocking_key_value_get(self, key, milliseconds):
        if key not in self:
            raise jax.errors.JaxRuntimeError("DEADLINE_EXCEEDED")
        return self[key]


def agreement(monkeypatch, notes, me, topic):
    monkeypatch.setattr(_processes._jax, "distributed", types.SimpleNamespace(client=notes))
    client = types.SimpleNamespace(process_index=lambda: me)
    devices = [types.SimpleNamespace(process_index=p, client=client) for p in (0, 1)]
    return _processes.Agreement(devices, topic)


@pytest.mark.parametrize("me, waits_for", [(0, "weir/b/0/all"), (1, "weir/b/0/1")])
def test_who_gives_up_tells_who_waits_elsewhere(monkeypatch, me, waits_for):
    """Else the other one, which has looked less often by then, would wait on."""
    notes = Notes({f"weir/at/{1 - me}": json.dumps([["b", [0, 1]]])})
    with pytest.raises(_processes.LeftAlone, match=f"process {1 - me} compiles another"):
        with agreement(monkeypatch, notes, me, "a") as ours:
            ours.on(1, _processes.same("it"))
    _, error = json.loads(notes[waits_for])
    assert error == [0, f"process {me} compiles another program instead"]
    assert json.loads(notes[f"weir/at/{me}"]) == []


def test_a_plan_is_one_processs(two):
    assert two[0]["plan"]["outcome"] == "rewritten" and "plan" not in two[1]


def test_programs_in_another_order_are_left_alone_by_all_or_by_none(two):
    for name in ("order_one", "order_other"):
        first, second = of(name, two)
        assert len(first["warnings"]) == len(second["warnings"]) <= 1
    warned = [w for p in of("order_one", two) + of("order_other", two) for w in p["warnings"]]
    assert warned and all("compiles another program instead" in w for w in warned)


# ---- what is made of what the processes say ----
def test_devices_of_a_machine_share_what_is_free_there():
    assert _processes._least_share([("a", 2, 1000), ("b", 1, 700), ("a", 2, 900)]) == 225
    assert _processes._least_share([("a", 2, 1000), ("b", 2, 300)]) == 150


def test_the_largest_report_counts():
    assert _processes.largest([["h", [1, 2, 0, 9]], ["h", [1, 2, 0, 10]]]) == [1, 2, 0, 10]
    assert _processes.largest([["h", [1, 2, 0, 9]], ["h", None]]) is None
    with pytest.raises(_processes.LeftAlone, match="differ in what they make of it"):
        _processes.largest([["h", [1, 2, 0, 9]], ["g", [1, 2, 0, 9]]])


def test_settings_that_only_one_process_has_are_named():
    with pytest.raises(_settings.SettingError, match="skip_passes is not set in one and dot in"):
        _processes.same_settings([{"a": 1}, {"a": 1, "skip_passes": "dot"}])
    assert _processes.same_settings([{"a": 1}, {"a": 1}]) == {"a": 1}
