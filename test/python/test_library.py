"""The binding says the same as weir.h, and what comes through it is what C meant."""

import ctypes
import pathlib
import signal
import subprocess

import pytest

import weir
from weir import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRUCTS = {
    "weir_memory": _library._Memory,
    "weir_options": _library._Options,
    "weir_summary": _library._Summary,
    "weir_loop_info": _library._LoopInfo,
}


def test_layouts_match_the_header(tmp_path):
    lines = []
    for name, struct in STRUCTS.items():
        fields = [field for field, _ in struct._fields_]
        lines += [
            f'printf("{name} {field} %zu\\n", offsetof({name}, {field}));' for field in fields
        ]
        lines += [f'printf("{name} sizeof %zu\\n", sizeof({name}));']
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stdio.h>\n#include <weir/weir.h>\nint main(void) {" + "\n".join(lines) + "}\n"
    )
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    printed = subprocess.run(
        [tmp_path / "layout"], check=True, capture_output=True, text=True
    ).stdout
    expected = []
    for name, struct in STRUCTS.items():
        expected += [
            f"{name} {field} {getattr(struct, field).offset}" for field, _ in struct._fields_
        ]
        expected += [f"{name} sizeof {ctypes.sizeof(struct)}"]
    assert printed.splitlines() == expected


def test_version_is_the_headers():
    header = (ROOT / "include/weir/weir.h").read_text()
    assert f'#define WEIR_VERSION "{weir.__version__}"' in header


@pytest.mark.parametrize(
    "text, found",
    [
        ("1000000", 10**6),
        ("512MiB", 512 << 20),
        ("1.5GB", 1_500_000_000),
        ("2 kB", 2000),
        ("0", None),
        ("3TiB", 3 << 40),
        ("1G", 10**9),
        ("500M", 500 * 10**6),
        ("2k", 2000),
        ("2K", 2000),
        ("1.5T", 15 * 10**11),
        ("1Gi", 1 << 30),
        ("1ki", 1 << 10),
        ("1gi", 1 << 30),
        ("1gib", 1 << 30),
        ("1gb", 10**9),
        ("1kb", 1000),
        ("100 B", 100),
        ("1Gb", None),  # bits
        ("1Mb", None),
        ("1Gib", None),
        ("1b", None),
        ("500m", None),  # a thousandth, or 1024 of 1024
        ("1g", None),
        ("1mB", None),
        ("1GiBB", None),
        ("1 G B", None),
        ("1Gi ", None),
        ("", None),
        ("GB", None),
        ("-1", None),
        ("1e", None),
        ("nan", None),
        ("99999999999GB", None),
        ("1 GB x", None),
    ],
)
def test_parse_bytes(text, found):
    assert _library.parse_bytes(text) == found


MATVEC = b"""
func.func public @main(%a: tensor<1000xf32>) -> tensor<f32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<1000x1000xf32>
  %3 = stablehlo.exponential %2 : tensor<1000x1000xf32>
  %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [0] : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}
"""


def test_a_malformed_program_has_a_line():
    result = _library.rewrite(
        b"func.func @main() {\n  %0 = oops\n", {"memory_limit_bytes": 1000}, None
    )
    assert result.status == _library.INVALID_ARGUMENT and "2:" in result.message
    assert result.status_name == "INVALID_ARGUMENT"


def test_a_program_that_fits_is_untouched():
    asked = []
    result = _library.rewrite(
        MATVEC, {"memory_limit_bytes": 10**9}, lambda *a: asked.append(a) or (0, 0, 0, 0)
    )
    assert (result.status, result.outcome, asked) == (_library.OK, _library.UNTOUCHED, [])


NEAR = 6 * 10**6  # a limit of MATVEC, which takes 8 MB


def test_the_referee_is_asked_and_believed():
    """One that says everything fits, and one that says nothing ever does."""
    asked = []

    def generous(text, options):
        asked.append((text, options))
        return 4000, 4, 0, 100

    result = _library.rewrite(MATVEC, {"memory_limit_bytes": NEAR}, generous)
    assert (
        result.status == _library.OK
        and asked[0][0] is None
        and result.referee_compiles == len(asked)
    )
    assert result.peak_after_bytes == 4104

    stubborn = _library.rewrite(
        MATVEC, {"memory_limit_bytes": NEAR}, lambda *_: (4000, 4, 0, 10**12)
    )
    assert stubborn.status == _library.RESOURCE_EXHAUSTED and stubborn.message


def referee(of_stock, of_candidates):
    def ask(text, options):
        memory = of_stock if text is None else of_candidates
        if memory is None:
            raise RuntimeError("out of memory, says XLA")
        return memory

    return ask


def test_what_the_referee_refuses_is_unconfirmed():
    large = (4000, 4, 0, 10**9)
    result = _library.rewrite(MATVEC, {"memory_limit_bytes": NEAR}, referee(large, None))
    assert result.outcome == _library.REWRITTEN and result.is_unconfirmed
    assert result.after_is_estimate and not result.before_is_estimate
    assert "as XLA reports -> " in result.explain and "as weir estimates" in result.explain
    assert "unconfirmed: XLA does not compile it" in result.explain
    assert result.referee_compiles <= 6  # not every candidate there is


def test_a_program_that_stock_xla_refuses_is_estimated_and_its_candidate_confirmed():
    small = (4000, 4, 0, 1000)
    result = _library.rewrite(MATVEC, {"memory_limit_bytes": NEAR}, referee(None, small))
    assert result.outcome == _library.REWRITTEN and not result.is_unconfirmed
    assert result.before_is_estimate and not result.after_is_estimate
    assert "as weir estimates -> 5.00 kB, as XLA reports" in result.explain


def test_a_program_far_over_its_limit_is_not_compiled_as_it_came():
    asked = []

    def ask(text, options):
        asked.append(text)
        return 4000, 4, 0, 100

    near = _library.rewrite(MATVEC, {"memory_limit_bytes": NEAR}, ask)
    assert asked[0] is None and not near.before_is_estimate
    asked.clear()
    for limit in 10**5, 3 * 10**6:  # of 8 MB
        far = _library.rewrite(MATVEC, {"memory_limit_bytes": limit}, ask)
        assert far.outcome == _library.REWRITTEN and None not in asked and asked
        assert far.before_is_estimate and not far.after_is_estimate and not far.is_unconfirmed


def test_a_refusal_names_what_the_own_order_needs_though_it_looked_hopeless():
    """Where nothing split needs less. Of the order that saves memory XLA says 7 MB here."""
    saving = "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"

    def ask(text, options):
        own = 6 * 10**6 if text is None else 10**9
        return 4000, 4, 0, 7 * 10**6 if text is None and saving in options else own

    refused = _library.rewrite(MATVEC, {"memory_limit_bytes": 3 * 10**6, "platform": b"cpu"}, ask)
    assert refused.status == _library.RESOURCE_EXHAUSTED
    assert refused.minimum_bytes == 6 * 10**6 + 4004
    named = {"memory_limit_bytes": refused.minimum_bytes, "platform": b"cpu"}
    assert _library.rewrite(MATVEC, named, ask).outcome == _library.OPTIONS_ONLY


def test_where_there_is_no_referee_nothing_is_unconfirmed():
    result = _library.rewrite(MATVEC, {"memory_limit_bytes": 10**6}, None)
    assert result.outcome == _library.REWRITTEN and not result.is_unconfirmed
    assert result.before_is_estimate and result.after_is_estimate
    assert "unconfirmed" not in result.explain and "XLA reports" not in result.explain


def test_a_candidate_after_one_that_the_referee_refuses_is_taken():
    asked = []

    def second(text, options):
        if text is None:
            return 4000, 4, 0, 10**9
        asked.append(text)
        if text == asked[0]:  # whenever it is asked
            raise RuntimeError("out of memory, says XLA")
        return 4000, 4, 0, 1000

    result = _library.rewrite(MATVEC, {"memory_limit_bytes": 10**6}, second)
    assert result.outcome == _library.REWRITTEN and not result.is_unconfirmed
    assert result.text == asked[-1] != asked[0]
    assert asked == [asked[0], asked[-1]]  # what it fails at, it is not asked again


LOADS = {
    "an argument": b"func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> { return %a : tensor<1000xf32> }",
    "reshaped": b"""func.func @main(%a: tensor<1000xf32>) -> tensor<10x100xf32> {
      %0 = stablehlo.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
      return %0 : tensor<10x100xf32> }""",
    "a constant": b"""func.func @main() -> tensor<1000xf32> {
      %0 = stablehlo.constant dense<1.0> : tensor<1000xf32>
      return %0 : tensor<1000xf32> }""",
    "by a function": b"""func.func private @f(%a: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = "mhlo.copy"(%a) : (tensor<1000xf32>) -> tensor<1000xf32>
      return %0 : tensor<1000xf32> }
    func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = call @f(%a) : (tensor<1000xf32>) -> tensor<1000xf32>
      return %0 : tensor<1000xf32> }""",
}


@pytest.mark.parametrize("text", LOADS.values(), ids=LOADS)
def test_loading_data_is_never_refused(text):
    settings = {"memory_limit_bytes": 100}
    assert _library.fits(text, settings)
    result = _library.rewrite(text, settings, None)
    assert (result.status, result.outcome) == (_library.OK, _library.UNTOUCHED)
    assert "left untouched: loading data is never refused" in result.explain
    negated = text.replace(b"return %", b"%n = stablehlo.negate %a : tensor<1000xf32> return %", 1)
    if b"%a" in text:
        assert not _library.fits(negated, settings)
        assert _library.rewrite(negated, settings, None).status == _library.RESOURCE_EXHAUSTED


def test_an_interrupt_inside_the_referee_comes_out():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _library.rewrite(MATVEC, {"memory_limit_bytes": 10**6}, interrupted)


def test_ctrl_c_waits_until_c_has_returned():
    """In the middle of the referee it would be lost at the next entry."""
    asked = []

    def interrupted(*_):
        asked.append(signal.raise_signal(signal.SIGINT))
        return 4000, 4, 0, 10**12

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        _library.rewrite(MATVEC, {"memory_limit_bytes": 10**6}, interrupted)
    assert len(asked) == 1 and signal.getsignal(signal.SIGINT) is before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_that_ctypes_swallows_is_noticed(monkeypatch):
    def struck(*_):
        raise TimeoutError  # as by the handler of another signal

    monkeypatch.setattr(_library._Referee, "__call__", struck)
    with pytest.raises(RuntimeError, match="lost"):
        _library.rewrite(MATVEC, {"memory_limit_bytes": 10**6}, lambda *_: (0, 0, 0, 0))


SMALLEST = 5692  # limit of MATVEC by estimate: slices of 1 kB


@pytest.mark.parametrize("limit", [SMALLEST - 200, 4700, 4300])
def test_an_estimate_may_be_too_high_by_three_tenths(limit):
    """XLA is asked up to there, for its report and then as it runs, and its word counts. Beyond, the
    search for the number that a refusal would name comes to what XLA says holds, which is taken.
    """
    settings = {"memory_limit_bytes": limit, "tile": 0}
    believed = _library.rewrite(MATVEC, settings, None)
    asked = _library.rewrite(MATVEC, settings, referee((4000, 4, 0, 10**9), (4000, 4, 0, 100)))
    assert believed.status == _library.RESOURCE_EXHAUSTED
    assert asked.outcome == _library.REWRITTEN and asked.peak_after_bytes == 4104
    assert (asked.referee_compiles == 2) == (limit * 1.3 > SMALLEST)


def test_doubts_leave_compilations_to_what_holds_by_estimate():
    """XLA says of each candidate what makes it a little too large. Of the program as it came, which
    looks hopeless, it is asked last.
    """
    for limit in (SMALLEST - 200, 9000, 10**5):
        settings = {"memory_limit_bytes": limit, "tile": 0, "minimum": 2}
        stubborn = referee((4000, 4, 0, 10**9), (4000, 4, 0, limit))
        result = _library.rewrite(MATVEC, settings, stubborn)
        assert result.status == _library.RESOURCE_EXHAUSTED
        assert result.referee_compiles <= (4 if limit < SMALLEST else 8) + 1
