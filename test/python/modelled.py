"""The version whose XLA weir's estimate is a model of, and how tests compile with it. All suites run
with it but those that are there for another, whose XLA may not know these options.
"""

import contextlib
import os

import jaxlib
from jax._src import compiler

VERSION = "0.10.2"
RUNS = jaxlib.__version__ == VERSION
# Loops without XLA's emitters by MLIR, in one module for LLVM: values alone count. Reports of gathers
# and scatters are others then.
QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
USERS = {"xla_cpu_use_fusion_emitters": True, "xla_cpu_parallel_codegen_split_count": 32} if RUNS else {}


@contextlib.contextmanager
def quick_flags():
    """XLA_FLAGS with QUICK, which XLA reads once, where it first compiles or lists devices."""
    before = os.environ.get("XLA_FLAGS")
    quick = " ".join(f"--{name}={str(value).lower()}" for name, value in QUICK.items())
    os.environ["XLA_FLAGS"] = f"{quick} {before or ''}"
    yield
    os.environ.pop("XLA_FLAGS") if before is None else os.environ.update(XLA_FLAGS=before)


def options_of_users(*arguments, _original=compiler.get_compile_options, **named):
    """As compiler.get_compile_options, with what QUICK leaves out."""
    options = _original(*arguments, **named)
    options.env_option_overrides = [*USERS.items(), *options.env_option_overrides]
    return options
