"""Runs weir's test suites and closes with the line "N passed, N failed"; exits 1 if anything failed
or a suite had no tests.

A suite is: the unit programs of a build folder (success: exit 0, nothing printed), lit on test/, or
pytest on test/.
"""

import argparse
import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import aarch64
import avx2
import emulator
import jax_versions
import wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNIT_SECONDS = 300
LIT_SECONDS = 120
PYTHON_SECONDS = 600  # a test; many times what the slowest takes
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")  # vectors of 16, 32 and 64 bytes
# So many run all cases of all tests; fewer a share, which takes two of them less than 25 minutes.
ENOUGH_PROCESSORS = 16
KERNEL_SHARE = 6
ARM_SHARE = 40  # emulated, where LLVM takes ten times as long
AVX2_SHARE = 4  # of the tests in Python, where all else runs all of them; of lit where not
ARM_UNITS = ("machine", "kernel*", "loaded", "ref*", "maps", "npy*")
ARM_KERNELS = [f"test/python/test_kernel{name}.py" for name in ("", "_ref", "_lists", "_narrow")]
LIBRARIES = "test/python/test_libraries.py"
DEVICES = "test/python/test_devices.py"
INSTALLED = "test/python/test_installed.py"
PYTHON = "test/python"
TENSORFLOW = "test/tensorflow"
BOTH = "test/both"
SUITES_OF_THEIR_OWN = (LIBRARIES, DEVICES, INSTALLED, TENSORFLOW, BOTH)
BINDING = [f"test/python/test_{name}.py" for name in ("library", "hook", "limits", "sharded")]
# without the slowest: `make test-jax-versions` runs them
QUICK = ["-k", "not p2_knn and not p3_sgpr"]
WHOLE = ["test/python/test_newer_jax.py"]
JOBS = str(os.cpu_count() or 1)
# Tests start processes, and wait for them or for time to pass.
WORKERS = str((os.cpu_count() or 1) + 1)
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


def run_program(program, environment):
    """None, or why it failed and what it printed."""
    try:
        done = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            timeout=UNIT_SECONDS,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return f"(no end after {UNIT_SECONDS} s)"
    good = done.returncode == 0 and not done.stdout
    return None if good else f"(exit {done.returncode})\n{(done.stdout + done.stderr)[-4000:]}"


def run_unit(build, environment, names=("*",)):
    """Each C program is one test."""
    run_one = functools.partial(run_program, environment=environment)
    programs = sorted({at for name in names for at in (build / "unit").glob(f"{name}_test")})
    with concurrent.futures.ThreadPoolExecutor(int(JOBS)) as pool:
        found = list(pool.map(run_one, programs))
    failed = 0
    for program, why in zip(programs, found):
        if why is not None:
            print(f"FAILED {program.relative_to(ROOT)} {why}")
            failed += 1
    return len(programs) - failed, failed, 0


def run_lit(build, environment, share=1):
    """One file in `share`, others with each commit."""
    shard = ["--num-shards", str(share), "--run-shard", str(this_commit() % share + 1)] if share > 1 else []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "lit.json")
        subprocess.run(
            [
                str(pathlib.Path(sys.executable).with_name("lit")),
                "-q",
                "-v",
                "-j",
                JOBS,
                "--timeout",
                str(LIT_SECONDS),
                *shard,
                "-D",
                f"build={build}",
                "--output",
                report,
                str(ROOT / "test"),
            ],
            env=environment,
            cwd=ROOT,
        )
        if not os.path.exists(report):
            return 0, 1, 0
        codes = [test["code"] for test in json.load(open(report))["tests"]]
    good = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return good, len(codes) - good - skipped, skipped


def run_python(build, asan, environment, share):
    """All but those of other environments; some run what the sanitizers see."""
    environment = environment | {"WEIR_ASAN_BUILD": str(asan)}
    others = [f"--ignore={at}" for at in SUITES_OF_THEIR_OWN]
    return run_pytest(build, environment, arguments=[PYTHON, *others, *share])


def run_pytest(build, environment, python=sys.executable, arguments=()):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "pytest.xml")
        code = subprocess.run(
            [
                *(python, "-m", "pytest", "-q", f"--junitxml={report}"),
                *("-n", WORKERS, "--dist", "worksteal", "--durations=30"),
                *(f"--timeout={PYTHON_SECONDS}", "--timeout-method=thread"),
                *arguments,
            ],
            cwd=ROOT,
            env=environment | {"WEIR_BUILD": str(build)},
        ).returncode
        if not os.path.exists(report):
            return 0, 1, 0
        counts = {key: 0 for key in ("tests", "failures", "errors", "skipped")}
        for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
            counts = {key: value + int(suite.get(key, 0)) for key, value in counts.items()}
    failed = counts["failures"] + counts["errors"]
    return (
        counts["tests"] - failed - counts["skipped"],
        max(failed, code not in (0, 5)),
        counts["skipped"],
    )


def run_kernels(build, asan, environment, level, share):
    """The kernels' tests with kernels for a level below the processor's own."""
    files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("test/python/test_kernel*.py"))
    files.remove("test/python/test_kernel_runtime.py")  # nothing there depends on vectors
    environment = environment | {"WEIR_MACHINE": level, "WEIR_ASAN_BUILD": str(asan)}
    return run_pytest(build, environment, arguments=[*files, *share])


def run_aarch64(build, environment, files, share):
    """C programs for 64-bit Arm, and the tests of kernels with kernels for it, emulated."""
    try:
        emulated = aarch64.build()
    except emulator.Missing as missing:
        print(f"skipped: no emulated Arm: {missing}", flush=True)
        return 0, 0, 1
    units = run_unit(emulated, environment, ARM_UNITS)
    environment = environment | {"WEIR_MACHINE": "aarch64", "WEIR_EMULATED_BUILD": str(emulated)}
    kernels = run_pytest(build, environment, arguments=[*files, *share])
    return tuple(map(sum, zip(units, kernels)))


def run_avx2(build, environment, share, of_lit=1):
    """C programs, lit and a share of the other tests as on a processor with AVX2 and no AVX-512. Of lit one
    file in `of_lit`.
    """
    try:
        environment = environment | avx2.environment()
    except avx2.Missing as missing:
        print(f"skipped: {missing}", flush=True)
        return 0, 0, 1
    units, lit = run_unit(build, environment), run_lit(build, environment, of_lit)
    others = [f"--ignore={at}" for at in SUITES_OF_THEIR_OWN]
    python = run_pytest(build, environment, arguments=[PYTHON, *others, *share])
    return tuple(map(sum, zip(units, lit, python)))


def lower_levels(build):
    """Of x86-64, those with vectors that the processor's own level is not tested with."""
    described = subprocess.run([build / "weir", "machine"], capture_output=True, text=True)
    host = described.stdout.partition(",")[0]
    return LEVELS[: LEVELS.index(host)] if host in LEVELS else ()


NEED_NO_ENVIRONMENT = (run_unit, run_lit, run_python, run_kernels, run_avx2)


def cpu_seconds():
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(name, run, *arguments):
    print(f"== {name}", flush=True)
    start, cpu = time.monotonic(), cpu_seconds()
    passed, failed, skipped = run(*arguments)
    if passed + failed + skipped == 0:
        print(f"{name}: no tests ran")
        failed = 1
    rest = f", {skipped} skipped" if skipped else ""
    took = f"{time.monotonic() - start:.0f} s, {cpu_seconds() - cpu:.0f} s of CPU"
    print(f"-- {name}: {passed} passed, {failed} failed{rest} ({took})\n", flush=True)
    return passed, failed


def run_oldest(build, environment, arguments):
    """The tests of the JAX binding with the oldest jax."""
    python = str(jax_versions.python_with_oldest_jax())
    return run_pytest(build, environment, python, [*BINDING, *arguments])


def run_installed(build, environment, version, arguments):
    """weir's wheel in an environment of that Python of its own, which has the newest jax for it."""
    python = str(jax_versions.python_with_newest_jax(version))
    jax_versions.install(python, "--no-deps", "--force-reinstall", wheel.build())
    return run_pytest(build, environment, python, [INSTALLED, *arguments])


def run_libraries(build, environment, name, share=()):
    """Programs of JAX's libraries, in an environment that has those of tools/NAME.txt; those that can't
    be installed are skipped.
    """
    python = str(jax_versions.python_with_libraries(name))
    return run_pytest(build, environment, python, [LIBRARIES, "-rs", *share])


def run_tensorflow(build, environment, version, share=()):
    """The hook in TensorFlow, in an environment without jax; one test, skipped, where TensorFlow
    can't be installed.
    """
    python = jax_versions.python_with_tensorflow(version)
    if python is None:
        print("skipped: no TensorFlow can be installed here", flush=True)
        return 0, 0, 1
    return run_pytest(build, environment, str(python), [TENSORFLOW, *share])


def run_both(build, environment, share=()):
    """The hooks in TensorFlow and in JAX, in one process, where both can be installed."""
    python = jax_versions.python_with_both()
    if python is None:
        print("skipped: TensorFlow and jax can't be installed together here", flush=True)
        return 0, 0, 1
    return run_pytest(build, environment, str(python), [BOTH, *share])


def run_devices(build, environment, arguments):
    """Plans judged by XLA's compilers for GPUs and TPUs, in an environment that has them."""
    try:
        python = str(jax_versions.python_with_devices())
    except subprocess.CalledProcessError as error:
        print(f"devices: skipped, its environment can't be made: {error}", flush=True)
        return 0, 0, 1
    one = ["-n", "0"]  # compilers for cards and chips take gigabytes
    # Whatever else compiles for TPUs here: no test may be skipped for it, or go by an estimate.
    environment = environment | {"ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
    return run_pytest(build, environment, python, [DEVICES, "-rs", *one, *arguments])


def installed_suites(build, environment, binding):
    """The wheel in every Python at hand. `binding`: the tests of the JAX binding, which the oldest
    and the newest Python get, each with the newest jax there is for it.
    """
    pythons = jax_versions.pythons()
    newest = jax_versions.newest_python()
    if newest is None:
        print("no Python newer than 3.11 at hand: the newest jax of all is not tested", flush=True)
    for version in pythons:
        name = f"wheel, Python {version[0]}.{version[1]}"
        # this Python's jax is what all other suites run with
        gets_more = version != jax_versions.RUNNING and version in (min(pythons), newest)
        name += ", newest jax" if gets_more else ""
        yield name, run_installed, build, environment, version, binding if gets_more else []


def make_environments():
    """Those of `make test`. Where one can't be made, the suite that needs it says why."""
    versions = jax_versions.pythons()
    makers = [
        jax_versions.python_with_libraries,
        jax_versions.python_with_tensorflow,
        jax_versions.python_with_both,
        jax_versions.python_with_devices,
        jax_versions.python_with_oldest_jax,
        *(functools.partial(jax_versions.python_with_newest_jax, v) for v in versions),
        wheel.environment,
    ]
    for make in makers:
        with contextlib.suppress(subprocess.CalledProcessError, LookupError):
            make()


def run_suites(found, in_meantime):
    """[(passed, failed)]. Environments are made while suites run that need none: the network is slow,
    and leaves processors idle.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        made, results = pool.submit(in_meantime), []
        for name, run, *arguments in found:
            if run not in NEED_NO_ENVIRONMENT:
                made.result()
            results.append(report(name, run, *arguments))
        return results


@functools.cache
def this_commit():
    """A number, which is another one for each commit; 0 where there is none."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(asked.stdout, 16) if asked.returncode == 0 else 0


def this_commits_share(share):
    """Arguments of pytest: each commit runs another share, so that some commits together run all."""
    return ["--share", str(share), "--turn", str(this_commit() % share)]


def suites(what, build, asan):
    """(name, function, arguments) of each suite."""
    plain, sanitized = dict(os.environ), os.environ | SANITIZERS
    checks = [
        ("unit, sanitized", run_unit, asan, sanitized),
        ("lit, sanitized", run_lit, asan, sanitized),
    ]
    oldest = f"binding, jax {jax_versions.oldest_jax()}"
    both = "tensorflow and jax", run_both, build, plain
    if what == "check":
        return checks
    if what == "tensorflow":
        return [
            (f"tensorflow {version or 'newest'}", run_tensorflow, build, plain, version)
            for version in (jax_versions.OLDEST_TENSORFLOW, None)
        ] + [both]
    if what == "torch":
        return [("torch", run_libraries, build, plain, "torch")]
    if what == "aarch64":
        share = ["--share", str(KERNEL_SHARE)]
        return [("kernels, aarch64", run_aarch64, build, plain, ARM_KERNELS, share)]
    if what == "avx2":
        share = [*this_commits_share(AVX2_SHARE), "--of-all"]
        return [("as with AVX2 alone", run_avx2, build, plain, share)]
    if what == "devices":
        return [("devices", run_devices, build, plain, [])]
    if what == "jax":
        binding = [*BINDING, *WHOLE]
        return [
            (oldest, run_oldest, build, plain, WHOLE),
            ("binding", run_pytest, build, plain, sys.executable, binding),
            *installed_suites(build, plain, binding),
        ]
    processors = os.cpu_count() or 1
    needs_share = what == "all" and processors < ENOUGH_PROCESSORS
    share = this_commits_share(ENOUGH_PROCESSORS // processors) if needs_share else []
    of_all = [*share, "--of-all"] if needs_share else []  # few cases, all of them slow
    if needs_share:
        print(f"of each test's cases: pytest {' '.join(share)} (make test-whole: all)", flush=True)
    levels, arm = this_commits_share(KERNEL_SHARE), this_commits_share(ARM_SHARE)
    arm += ["--of-all"] if needs_share else []
    narrow = this_commits_share(AVX2_SHARE * (ENOUGH_PROCESSORS // processors if needs_share else 1))
    of_lit = AVX2_SHARE if needs_share else 1
    lower = lower_levels(build)
    return [
        *checks,
        ("unit", run_unit, build, plain),
        ("python", run_python, build, asan, plain, share),
        *((f"kernels, {level}", run_kernels, build, asan, plain, level, levels)
            for level in lower),
        *[("as with AVX2 alone", run_avx2, build, plain, [*narrow, "--of-all"], of_lit)
            for level in lower if level == "x86-64-v3"],
        ("kernels, aarch64", run_aarch64, build, plain, ARM_KERNELS[1:], arm),
        ("libraries", run_libraries, build, plain, "libraries", of_all),
        ("tensorflow", run_tensorflow, build, plain, None, share),
        (*both, share),
        ("devices", run_devices, build, plain, ["-k", "quick"]),
        (oldest, run_oldest, build, plain, [*QUICK, *share]),
        *installed_suites(build, plain, [*BINDING, *QUICK, *share]),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "what",
        choices=["all", "whole", "check", "jax", "tensorflow", "torch", "devices", "aarch64", "avx2"],
        help="all: of tests with many cases a share, another one with each commit; whole: all cases; "
        "check: what the sanitizers see; jax: the binding with every jax, whole; tensorflow: the hook in "
        "the oldest and the newest TensorFlow; torch: PyTorch on JAX; devices: plans for GPUs and TPUs, "
        "whole; aarch64: kernels for 64-bit Arm, emulated, a larger share; avx2: a larger share as on a "
        "processor without AVX-512",
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--asan", type=pathlib.Path, default=ROOT / "build/asan")
    args = parser.parse_args()
    found = suites(args.what, args.build.resolve(), args.asan.resolve())
    needs_all = args.what in ("all", "whole")
    results = run_suites(found, make_environments if needs_all else lambda: None)
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
