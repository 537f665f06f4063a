"""The C programs of the benchmarks compile for every x86-64 level and find the same on those that
this processor has.
"""

import pathlib
import platform
import re
import subprocess

import pytest

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "bench/reference"
LEVELS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}  # a flag of each
FLAGS = ("-O3", "-ffast-math", "-fopenmp", "-Wall", "-Werror")

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="programs for x86-64")


def levels_here():
    flags = re.search(r"^flags.*", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[0]
    return [level for level, flag in LEVELS.items() if flag in flags.split()]


def built(tmp_path, source, level, *define):
    program = tmp_path / f"{source}-{level}{len(define)}"
    arguments = [*FLAGS, f"-march={level}", *define, REFERENCE / source, "-o", program, "-lm"]
    subprocess.run(["gcc", *arguments], check=True)
    return program


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("source", ["knn.c", "matvec.c"])
def test_compiles_for_every_level(source, level, tmp_path):
    assert built(tmp_path, source, level).exists()


def last_words(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True)
    return {float(line.split()[-1]) for line in done.stdout.splitlines()}


def test_neighbours_are_the_same_at_every_width(tmp_path):
    """Numbers of points that fill no panel and no block."""
    found = [last_words(built(tmp_path, "knn.c", level), 1003, 7, 13, 2) for level in levels_here()]
    assert len(found[0]) == 1 and all(indices == found[0] for indices in found)


@pytest.mark.parametrize("define", [(), ("-DF32",)])
def test_sums_are_the_same_at_every_width(define, tmp_path):
    found = [
        last_words(built(tmp_path, "matvec.c", level, *define), 1003, 3, 1) for level in levels_here()
    ]
    reference = next(iter(found[0]))
    assert all(abs(y - reference) <= 1e-4 * abs(reference) for sums in found for y in sums)
