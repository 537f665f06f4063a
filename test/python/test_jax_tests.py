"""tools/jax_tests.py on a checkout of four small files: it must see what it is there to see."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {
    "good": """
        import jax, jax.numpy as jnp, numpy as np

        def test_product():
            a = np.ones((8, 8), np.float32)
            assert (np.asarray(jax.jit(jnp.dot)(a, a)) == 8).all()

        def test_complex():
            a = np.arange(8) * 1j
            assert (np.asarray(jax.jit(jnp.abs)(a)) == np.arange(8)).all()
        """,
    "bad": """
        import os, jax, jax.numpy as jnp, numpy as np

        def test_fails_everywhere():
            assert False

        def test_notices_weir():
            lowered = jax.jit(lambda x: jnp.dot(x, x)).lower(np.ones((8, 8), np.float32))
            assert " while(" not in lowered.compile().as_text()

        def test_known_to_notice_weir():
            test_notices_weir()

        def test_hands_over_something_else():
            jax.jit(lambda x: x + len(os.environ.get("WEIR_MEMORY_LIMIT", ""))).lower(1.0).compile()
        """,
    "kernel": """
        import jax, jax.numpy as jnp, numpy as np

        def test_a_region_becomes_a_kernel():
            def product(x, v):
                return jnp.exp(-((x[:, None] - x) ** 2).sum(-1)) @ v

            x, v = np.zeros((2000, 3), np.float32), np.ones(2000, np.float32)
            assert (np.asarray(jax.jit(product)(x, v)) == 2000).all()
        """,
    "crash": """
        import os, time

        def test_a():
            pass

        def test_b():
            os.abort()

        def test_c():
            time.sleep(0 if "WEIR_MEMORY_LIMIT" in os.environ else 3600)

        def test_d():
            pass
        """,
}


def unindented(text):
    return "".join(line[8:] if line[:8] == " " * 8 else line for line in text.splitlines(True))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jax")
    (folder / "jax").mkdir()
    (folder / "jax/version.py").write_text('_version = "0.10.2"\n')
    (folder / "tests").mkdir()
    for name, text in FILES.items():
        (folder / f"tests/{name}_test.py").write_text(unindented(text))
    return folder


def run(checkout, *arguments):
    table = checkout / "table.json"
    command = [sys.executable, ROOT / "tools/jax_tests.py", checkout, *arguments]
    command += ["--python", sys.executable, "--results", checkout / "results", "--json", table]
    command += ["--expected", checkout / "expected.txt"]
    (checkout / "expected.txt").write_text("bad_test::*known_to_notice_weir   reads HLO\n")
    done = subprocess.run(command, capture_output=True, text=True)
    rows = {row["file"]: row for row in json.loads(table.read_text())["files"]}
    return done, rows


def test_good_file(checkout):
    done, rows = run(checkout, "good_test")
    assert done.returncode == 0, done.stdout + done.stderr
    row = rows["good_test"]
    assert row["collected"] == row["threshold"]["tests"] == row["limit"]["tests"] == 2
    # jax 0.12 makes a program of its own of what converts the argument
    assert row["threshold"]["weir"]["rewritten"] >= 2
    assert row["limit"]["programs"] >= 2


@pytest.mark.slow
def test_differences_are_found(checkout):
    done, rows = run(checkout, "bad_test")
    assert done.returncode == 1
    row = rows["bad_test"]
    assert row["threshold"]["new_failures"] == ["test_notices_weir"]
    assert row["threshold"]["expected"] == {"test_known_to_notice_weir": "reads HLO"}
    assert row["threshold"]["fail_in_stock"] == ["test_fails_everywhere"]
    assert row["limit"]["differences"] == {"test_hands_over_something_else": "program"}


def test_kernels_are_no_difference(checkout):
    done, rows = run(checkout, "kernel_test", "--modes", "limit", "--tile", "on")
    assert done.returncode == 0, done.stdout + done.stderr
    row = rows["kernel_test"]["limit"]
    assert row["kernels"] == 1 and not row["differences"]


@pytest.mark.slow
def test_crashes_and_endless_tests_cost_one_test_each(checkout):
    options = ["crash_test", "--modes", "threshold", "--test-seconds", "12"]
    done, rows = run(checkout, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    row = rows["crash_test"]["threshold"]
    assert row["outcomes"] == {"passed": 2, "crashed": 1, "timeout": 1}
    assert row["fail_in_stock"] == ["test_b", "test_c"]


def test_what_is_known_is_not_run_again(checkout):
    first, rows = run(checkout, "good_test", "--tests", "1", "--modes", "limit")
    file = checkout / "results/limit/good_test.jsonl"
    before = file.read_text().count('"start"')
    run(checkout, "good_test", "--modes", "limit")
    assert before <= 2 and file.read_text().count('"start"') == 2
