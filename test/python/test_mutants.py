"""tools/mutants.py on a small C project: what is changed, what is noticed, what is not counted."""

import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("tree_sitter_c")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutants_build  # noqa: E402
import mutants_sites  # noqa: E402

SOURCE = b"""/* a < b */
#include <assert.h>
#define TWICE(x) ((x) + (x))
static int room[4];
int least(int a, int b) {
  assert(a < 100);
  const char *text = "a < b"; // a < b
  (void)text, (void)room;
  if (a < b) return a;
  return b;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(small LANGUAGES C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_library(small STATIC src/small.c)
add_executable(small_test test/unit/small_test.c)
target_link_libraries(small_test small)
set_target_properties(small_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
"""
SMALL = """int small_sum(const int *at, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += at[i];
  return sum;
}
int small_sign(int x) {
  if (x > 0) return 1;
  return x < 0 ? -1 : 0;
}
int small_same(int x) {
  return x & x;
}
int small_unused(int x) {
  return x + 2;
}
"""
TEST = """int small_sum(const int *at, int n), small_sign(int x), small_same(int x);
int main(void) {
  int at[] = {3, 4, 9};
  return small_sum(at, 2) != 7 || small_sign(5) != 1 || small_sign(-5) != -1 || small_same(6) != 6;
}
"""


def changes(source=SOURCE):
    return [(m.number, m.old, m.new) for m in mutants_sites.mutants("x.c", source)]


def test_only_what_is_computed_is_changed():
    """No comment, string, directive, assertion or room."""
    assert changes() == [
        (9, "a < b", "0"),
        (9, "a < b", "1"),
        (9, "<", "<="),
        (9, "<", ">"),
    ]


@pytest.mark.parametrize(
    "text, new",
    [
        ("0", ["1"]),
        ("7", ["(7 + 1)", "(7 - 1)"]),
        ("0x1p3", ["(0x1p3 * 2)"]),
        ("0xFEu", ["(0xFEu + 1)", "(0xFEu - 1)"]),
        ("0.5f", ["(0.5f * 2)"]),
        ("0.0", ["1.0"]),
    ],
)
def test_numbers(text, new):
    assert mutants_sites.number_changes(text) == new


def test_a_mutant_is_known_again_where_the_file_changed():
    before = mutants_sites.mutants("x.c", SOURCE)
    after = mutants_sites.mutants("folder/y.c", SOURCE.replace(b"int least", b"int x;\nint least"))
    assert [m.key for m in before] == [m.key for m in after]
    assert before[0].key == "least: if (a < b) return a; | a < b -> 0"
    assert (
        mutants_sites.in_order_of_seed(3, before)[0].key
        == mutants_sites.in_order_of_seed(3, after)[0].key
    )


def test_the_same_twice_in_a_line_is_told_apart():
    found = mutants_sites.mutants("x.c", b"int f(int a) { return a < 1 || a < 2; }\n")
    keys = [m.key for m in found if m.new == "<="]
    assert [k.endswith("< -> <= (2)") for k in keys] == [False, True]


def test_one_of_each_place():
    chosen = mutants_sites.in_order_of_seed(1, mutants_sites.mutants("x.c", SOURCE))
    assert len(chosen) == 2 and len({m.start for m in chosen}) == 2


def test_marks_of_blocks():
    """Also bodies without braces; the mutant belongs to the smallest block around it."""
    source = b"int f(int a) {\n  if (a)\n    return a + 1;\n  switch (a) {\n    case 1: a--;\n  }\n  return 2;\n}\n"
    marked, blocks = mutants_sites.with_marks(source, 5)
    assert [f"mutants_hit[{n}]".encode() in marked for n in range(5, 9)] == [
        True,
        True,
        True,
        False,
    ]
    texts = {
        m.old: source[slice(*blocks[mutants_sites.block_of(blocks, m)])]
        for m in mutants_sites.mutants("x.c", source)
    }
    assert texts["+"] == b"return a + 1;"
    assert texts["--"].startswith(b"case 1") and texts["2"].startswith(b"{\n  if")


SWITCHED = b"""
int g(int);
int f(int a, int *p, double d) {
  static const int k = 3;
  if (!p || a < 5 && d > 0.5) a += 2;
  for (int i = 0; i < a + 1; i++) p[i] -= i ? a : k;
  while (g(a)) a--;
  switch (a) { case 3: return 1; default: break; }
  return a == 7 ? -a : g(a - 1);
}
"""


def test_switches_compile_together(tmp_path):
    """Mutants inside of each other's expressions, and none where C wants a constant."""
    every = mutants_sites.mutants("x.c", SWITCHED)
    found = mutants_sites.in_order_of_seed(1, mutants_sites.switchable(SWITCHED, every))
    constants = [m for m in every if m.line.startswith(("static const", "switch")) and m.old == "3"]
    assert len(found) > 25 and constants and not set(constants) & set(found)
    source, _ = mutants_sites.with_marks(SWITCHED, 100, [(m, n) for n, m in enumerate(found, 1)])
    path = tmp_path / "x.c"
    path.write_bytes(source)
    done = subprocess.run(["cc", "-w", "-fsyntax-only", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_comparison_counts_as_reached_where_the_mutant_has_another_value(tmp_path):
    source = b"int f(int a) { return a < 5; }\n"
    (m,) = (m for m in mutants_sites.mutants("x.c", source) if m.new == "<=")
    text, _ = mutants_sites.with_marks(source, 2, [(m, 1)])
    main = b"int printf(const char *, ...); unsigned char mutants_hit[9]; int mutants_number;\n"
    main += b"int main(void) { int a = f(4), b = mutants_hit[1], c = f(5), d = mutants_hit[1];\n"
    main += b"  mutants_number = 1; printf(\"%d%d%d%d%d\", a, b, c, d, f(5)); }\n"
    (tmp_path / "x.c").write_bytes(text + main)
    subprocess.run(["cc", "-w", tmp_path / "x.c", "-o", tmp_path / "x"], check=True)
    assert subprocess.run([tmp_path / "x"], capture_output=True).stdout == b"10011"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    root = tmp_path_factory.mktemp("small")
    files = {"CMakeLists.txt": CMAKE, "src/small.c": SMALL, "test/unit/small_test.c": TEST}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / ".gitignore").write_text("/build/\n")
    return root


def run(root, *arguments):
    command = [sys.executable, ROOT / "tools/mutants.py", "run", "--root", root, "--seeds", "0"]
    done = subprocess.run([*command, "--seconds", "1", *arguments], capture_output=True, text=True)
    lines = (root / "build/mutants/results-1.jsonl").read_text().splitlines()
    return done, {one["key"]: one for one in map(json.loads, lines)}


def test_a_project(small):
    done, found = run(small, "--count", "1000")
    states = {one["state"] for one in found.values()}
    assert done.returncode == 1, done.stderr
    assert states == {"noticed", "survived", "not reached", "same"}
    for key, one in found.items():
        if one["state"] == "not reached":  # no test has a number that is not negative
            assert key.startswith(("small_unused", "small_sign"))
    assert all(found[k]["state"] == "not reached" for k in found if k.startswith("small_unused"))
    (same,) = (one for key, one in found.items() if key.startswith("small_same"))
    assert same["state"] == "same"
    line = "for (int i = 0; i < n; i++) sum += at[i];"
    changed = {key.split(" | ")[1]: one["state"] for key, one in found.items() if line in key}
    assert changed and set(changed.values()) == {"noticed"}


def test_one_build_says_the_same_as_one_each(small):
    _, switched = run(small, "--count", "1000")
    _, each = run(small, "--count", "1000", "--one-by-one", "--fresh")
    assert switched.keys() == each.keys()
    of = {"not reached": "survived"}  # a switch knows better what is reached
    for key, one in switched.items():
        state, other = one["state"], each[key]["state"]
        assert of.get(state, state) == of.get(other, other), key


def test_it_goes_on_where_it_was(small):
    _, before = run(small, "--count", "1000")
    done, after = run(small, "--count", "1000")
    assert after == before and " s  src/" not in done.stdout


def test_a_reason(small):
    """What is told in the file of reasons is counted by itself."""
    _, found = run(small, "--count", "1000")
    open_ones = [k for k, one in found.items() if one["state"] in ("survived", "not reached")]
    reasons = small / "reasons.toml"
    reasons.write_text(
        "".join(f"[[same]]\nmutant = {json.dumps(k)}\nwhy = 'x'\n" for k in open_ones)
    )
    done, _ = run(small, "--count", "1000", "--reasons", reasons)
    assert done.returncode == 0, done.stdout
    assert f"{len(open_ones)} not noticed with a reason, 0 without" in done.stdout


def test_a_program_without_an_end_is_noticed(small):
    """It is ended after the second of CPU that it may take."""
    endless = "void small_wait(volatile unsigned long n) {\n  while (n > 0) n -= 1;\n}\n"
    call = "  void small_wait(unsigned long);\n  small_wait(9);\n  return"
    (small / "src/small.c").write_text(SMALL + endless)
    (small / "test/unit/small_test.c").write_text(TEST.replace("  return", call))
    _, found = run(small, "--count", "1000", "--match", "while (n > 0)")
    (one,) = (one for key, one in found.items() if "-= -> +=" in key)
    assert one["state"] == "noticed" and one["seconds"] > 0.5  # ticks of two clocks; others: some ms


def test_copies_follow_the_project(tmp_path):
    root, copy = tmp_path / "root", tmp_path / "copy"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "a").write_text("1")
    (root / "b").write_text("2")
    mutants_build.copy_tree(root, copy)
    stamp = (copy / "a").stat().st_mtime_ns
    (root / "b").unlink()
    mutants_build.copy_tree(root, copy)
    assert [p.name for p in copy.iterdir()] == ["a"] and (copy / "a").stat().st_mtime_ns == stamp


TESTS_OF_PYTHON = """
import numpy as np, running
TEXT = '''func.func @main(%x: tensor<400xf32>) -> tensor<400xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<400xf32>) -> tensor<400x300xf32>
  %1 = stablehlo.sine %0 : tensor<400x300xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [1] : (tensor<400x300xf32>, tensor<f32>) -> tensor<400xf32>
  return %3 : tensor<400xf32>
}'''
def test_sums(tmp_path):
    path, x = tmp_path / "p.mlir", np.ones(400, np.float32)
    path.write_text(TEXT)
    split = running.opt(path, "--tensor-size-threshold", 9000)
    (got,) = running.Xla(split)(x)
    assert got.shape == (400,)
def test_another(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(TEXT)
    assert running.opt(path, "--pass", "dce")
"""
HARVEST = """
import sys
sys.path[:0] = sys.argv[1:3]
import mutants_harvest
for text, inputs, ways in mutants_harvest.of_tests(sys.argv[3:], 5):
    print("found", inputs[0].shape, ("--tensor-size-threshold", "9000") in ways)
"""


def test_programs_of_tests_of_python(tmp_path):
    """A program is taken down with the inputs that one of its tests has, without XLA."""
    path = tmp_path / "test_sums.py"
    path.write_text(TESTS_OF_PYTHON)
    folders = [ROOT / "tools", ROOT / "test/python"]
    command = [sys.executable, "-c", HARVEST, *folders, path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "found (400,) True", done.stdout + done.stderr
