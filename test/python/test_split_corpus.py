"""Every op and program case of the corpus, split, against the golden results of unsplit XLA CPU.

Two thresholds: 4096 bytes on stock XLA, which splits the larger programs as a limit would, and 40
bytes in the evaluator, which splits whatever can be split. Both text forms give the same program.
"""

import sys

import pytest

import running
from evaluated import loosened

sys.path.insert(0, str(running.ROOT / "test/corpus"))
import check  # noqa: E402

# Groups of cases, because there are hundreds of them that take milliseconds each.
NAMES = sorted(case.name for case in check.cases("op", "program"))
GROUPS = [NAMES[i::12] for i in range(12)]


def cases_of(group):
    return [case for case in check.cases("op", "program") if case.name in group]


def is_split(program, text):
    return text.count("stablehlo.while") > program.read_text().count("stablehlo.while")


@pytest.mark.parametrize("group", GROUPS, ids=[f"{g[0]}..{g[-1]}" for g in GROUPS])
def test_on_xla(group):
    """No exceptions: slices of this size leave XLA as free as it was."""
    problems = []
    for case in cases_of(group):
        for program in case.programs():
            text = running.opt(program, "--tensor-size-threshold", "4096")
            if not is_split(program, text):
                continue
            problem = case.check(running.Xla(text)(*case.inputs()))
            problems += [f"{case.name} {program.name}: {problem}"] if problem else []
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("group", GROUPS, ids=[f"{g[0]}..{g[-1]}" for g in GROUPS])
def test_in_the_evaluator(group, tmp_path):
    problems = []
    for case in cases_of(group):
        for program in case.programs():
            text = running.opt(program, "--tensor-size-threshold", "40")
            if not is_split(program, text):
                continue
            folder = tmp_path / f"{case.name}-{program.name}"
            folder.mkdir()
            problem = loosened(case).check(running.Evaluator(folder, case.inputs())(text))
            problems += [f"{case.name} {program.name}: {problem}"] if problem else []
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("group", GROUPS, ids=[f"{g[0]}..{g[-1]}" for g in GROUPS])
def test_the_text_form_makes_no_difference(group, tmp_path):
    """The corpus has MLIR's pretty form; stock MLIR prints the generic one."""
    for case in cases_of(group):
        for number, program in enumerate(case.programs()):
            twin = tmp_path / f"{case.name}-{number}.mlir"
            twin.write_text(running.generic(program.read_text()))
            pretty, generic = (
                running.opt(path, "--tensor-size-threshold", "40") for path in (program, twin)
            )
            if pretty != program.read_text():
                assert running.generic(pretty) == running.generic(generic), case.name


def test_enough_is_split():
    """So that the tests above can't pass for want of splitting."""
    split = {4096: 0, 40: 0}
    for case in check.cases("op", "program"):
        for program in case.programs():
            for threshold in split:
                text = running.opt(program, "--tensor-size-threshold", threshold)
                split[threshold] += is_split(program, text)
    assert split[4096] >= 45 and split[40] >= 150, split
