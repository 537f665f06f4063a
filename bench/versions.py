"""XLA's memory over its versions: what the programs of `examples/` need as stock XLA CPU of each
jax compiles them, and what weir makes of that under their limits. Compiles, runs nothing.

    python bench/versions.py                         the last release of each line since the oldest
    python bench/versions.py --versions 0.7.2,0.12.0.1 --only p1,p5

Each jax gets an environment below build/, made by the oldest Python at hand that has it. The
numbers are XLA's own reports: arguments + results - donated + temporaries, in MB.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import jax_versions
import programs

VERSIONS = "0.7.2,0.8.3,0.9.2,0.10.2,0.11.2,0.12.0.1"
OPTIONS = {  # of machine_xla_options() in src/machine/cpu.c
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    "xla_disable_hlo_passes": "while-loop-invariant-code-motion",
    "xla_cpu_prefer_vector_width": "512",
}


# ---- in the environment of one jax ----
def reported_mb(compiled):
    m = compiled.memory_analysis()
    held = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
    return (held + m.temp_size_in_bytes) / 1e6


def measured(program):
    """{"stock", "weir": MB, or None where it is refused, "outcome"}"""
    import jax
    import weir

    module = program.load()
    inputs = module.make_inputs(**program.sizes({}))
    jax.config.update("jax_enable_x64", program.dtype == "f64")
    function = getattr(module, program.function)
    stock = reported_mb(function.lower(*inputs).compile())
    plan = weir.plan(function, *inputs, limit=program.limit_bytes)
    held = None if plan.outcome == "refused" else plan.peak_after_bytes / 1e6
    return {"stock": stock, "weir": held, "outcome": plan.outcome}


def is_known(option, value):
    """Whether this XLA takes the option."""
    import jax

    try:
        jax.jit(lambda x: x).lower(1.0).compile(compiler_options={option: value})
    except jax.errors.JaxRuntimeError:
        return False
    return True


def worker(names):
    """A JSON line per program."""
    options = {option: is_known(option, value) for option, value in OPTIONS.items()}
    print(json.dumps({"options": options}), flush=True)
    for name in names:
        try:
            found = measured(programs.get(name))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps({"program": name, **found}), flush=True)


# ---- over all of them ----
def run_version(version, names):
    """(options by name, what was measured by program)"""
    python = jax_versions.python_with_jax(version)
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "WEIR_CACHE_DIR": "off"}
    command = [python, __file__, "--worker", "--only", ",".join(names)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    first, *rows = map(json.loads, done.stdout.splitlines())
    return first["options"], {row["program"]: row for row in rows}


def cell(row):
    if "error" in row:
        return "error"
    after = "refused" if row["weir"] is None else f"{row['weir']:,.1f}"
    mark = " *" if row["outcome"] == "options" else ""
    return f"{row['stock']:,.0f} -> {after}{mark}"


def print_tables(names, found):
    versions = list(found)
    print("| program | limit | " + " | ".join(versions) + " |")
    print("|---|--:|" + "--:|" * len(versions))
    for name in names:
        limit = programs.get(name).limit_bytes / 1e6
        cells = [cell(found[version][1][name]) for version in versions]
        print(f"| {name} | {limit:,.0f} | " + " | ".join(cells) + " |")
    print("\n| option | " + " | ".join(versions) + " |")
    print("|---|" + "---|" * len(versions))
    for option in OPTIONS:
        known = ["yes" if found[version][0][option] else "no" for version in versions]
        print(f"| `{option}` | " + " | ".join(known) + " |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--versions", default=VERSIONS)
    parser.add_argument("--only", default=",".join(p.name for p in programs.PROGRAMS))
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = args.only.split(",")
    if args.worker:
        return worker(names)
    found = {}
    for version in args.versions.split(","):
        print(f"jax {version}", file=sys.stderr, flush=True)
        found[version] = run_version(version, names)
    print_tables(names, found)
    errors = [
        f"{version} {name}: {row['error']}"
        for version, (_, rows) in found.items()
        for name, row in rows.items()
        if "error" in row
    ]
    print(*errors, sep="\n", file=sys.stderr)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
