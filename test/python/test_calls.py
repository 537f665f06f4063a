"""Functions that call each other more often than anybody can look at; and many of them."""

import subprocess

import pytest

import running
from weir import _library

TYPE = "tensor<64xf32>"
CALL = f"func.call @f{{}}(%{{}}) : ({TYPE}) -> {TYPE}"
COMPOSITE = f'stablehlo.composite "a.b" %{{1}} {{{{decomposition = @f{{0}}}}}} : ({TYPE}) -> {TYPE}'


def function(name, body, visibility="private "):
    return f"func.func {visibility}@{name}(%a: {TYPE}) -> {TYPE} {{\n{body}\n}}\n"


def twice(call):
    """A body that calls the next function twice, one result after the other."""
    return (
        lambda level: f"%0 = {call.format(level + 1, 'a')}\n%1 = {call.format(level + 1, '0')}\n"
        f"return %1 : {TYPE}"
    )


def in_branches(level):
    branch = f"{{ %c = {CALL.format(level + 1, 'a')}\nstablehlo.return %c : {TYPE} }}"
    return (
        "%p = stablehlo.constant dense<true> : tensor<i1>\n"
        f'%0 = "stablehlo.if"(%p) ({branch}, {branch}) : (tensor<i1>) -> {TYPE}\nreturn %0 : {TYPE}'
    )


def doubling(levels, body):
    leaf = f"%0 = stablehlo.sine %a : {TYPE}\nreturn %0 : {TYPE}"
    functions = [function(f"f{i}", body(i)) for i in range(levels)]
    main = f"%0 = {CALL.format(0, 'a')}\nreturn %0 : {TYPE}"
    return "".join([*functions, function(f"f{levels}", leaf), function("main", main, "")])


BODIES = {"calls": twice(CALL), "composites": twice(COMPOSITE), "branches": in_branches}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("levels, status", [(8, "OK"), (62, "UNIMPLEMENTED")])
def test_calls_that_double_are_left_alone_past_a_budget(body, levels, status):
    text = doubling(levels, body).encode()
    for settings in ({}, {"memory_limit_bytes": 1_000_000_000}, {"tile": 2}):
        result = _library.rewrite(text, settings, None)
        assert result.status_name == status
        assert status == "OK" or "inlined it has more than" in result.message
    named = _library.rewrite(text, {"only_passes": b"inline,simplify,cse,dce"}, None)
    assert named.status_name == "OK"


def test_a_function_that_calls_itself_twice_is_left_alone():
    body = f"%0 = {CALL.format(0, 'a')}\n%1 = {CALL.format(0, '0')}\nreturn %1 : {TYPE}"
    main = f"%0 = {CALL.format(0, 'a')}\nreturn %0 : {TYPE}"
    text = (function("f0", body) + function("main", main, "")).encode()
    assert _library.rewrite(text, {"memory_limit_bytes": 100}, None).status_name == "UNIMPLEMENTED"
    assert _library.rewrite(text, {"only_passes": b"inline"}, None).status_name == "OK"


def test_a_program_too_vast_is_drawn_and_reduced(tmp_path):
    program = tmp_path / "program.mlir"
    program.write_text(doubling(62, twice(CALL)))
    for arguments in (["graph", "-o", tmp_path / "g.dot"], ["reduce", "-o", tmp_path / "r", "--check", "true"]):
        line = [running.BUILD / "weir", arguments[0], program, *arguments[1:]]
        subprocess.run(line, check=True, capture_output=True, timeout=running.SECONDS)


def test_a_thousand_functions_take_memory_for_one_at_a_time(tmp_path):
    """Their users are listed by all values of the module, for each function anew."""
    count = 4000
    leaf = f"%0 = stablehlo.sine %a : {TYPE}\nreturn %0 : {TYPE}"
    calls = "\n".join(f"%v{i + 1} = {CALL.format(i, f'v{i}')}" for i in range(count))
    main = calls.replace("%v0)", "%a)", 1) + f"\nreturn %v{count} : {TYPE}"
    program = tmp_path / "program.mlir"
    program.write_text(
        "".join(function(f"f{i}", leaf) for i in range(count)) + function("main", main, "")
    )
    line = 'ulimit -v 200000 && exec "$0" opt "$1" --memory-limit 1GB -o /dev/null'  # kB
    subprocess.run(["sh", "-c", line, running.BUILD / "weir", program], check=True)
