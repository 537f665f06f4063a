"""Runs one JAX program in a fresh process and measures that process while the compiled program
runs.

    m = fresh_process.program("examples/p1_kernel_matvec.py", dict(n=20000, d=10), limit="100MB")

The file has make_inputs(**sizes) and run(*inputs). Compiling and the inputs are not counted: their
free memory goes back to the system and the high-water mark is reset just before the run. `limit`
reaches the process as WEIR_MEMORY_LIMIT only.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))

from measure import reset_peak, status_bytes  # noqa: E402


@dataclasses.dataclass
class Measured:
    outputs: list[np.ndarray]
    growth_bytes: int  # of the resident set, from just before the run to its highest point
    report_bytes: (
        int  # XLA's own plan of the executable: arguments + outputs - aliased + temporaries
    )
    argument_bytes: int
    seconds: float  # of the run alone
    stderr: str = ""


def program(path, sizes, limit=None, seconds=600, **environment):
    """Raises RuntimeError with the process's last lines if it fails."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith("WEIR_MEMORY")
    } | environment
    if limit is not None:
        environment["WEIR_MEMORY_LIMIT"] = str(limit)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, str(ROOT / path), json.dumps(sizes), folder]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds
        )
        if done.returncode:
            raise RuntimeError("\n".join(done.stderr.strip().splitlines()[-6:]))
        numbers = json.loads(done.stdout.splitlines()[-1])
        count = numbers.pop("outputs")
        return Measured(
            [np.load(f"{folder}/{i}.npy") for i in range(count)], **numbers, stderr=done.stderr
        )


def child(path, sizes, folder):
    import importlib.util
    import time

    import jax

    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs = module.make_inputs(**json.loads(sizes))
    run = module.run if hasattr(module.run, "lower") else jax.jit(module.run)
    compiled = run.lower(*inputs).compile()
    inputs = jax.block_until_ready(
        jax.device_put(tuple(a for a in inputs if not isinstance(a, int)))
    )
    memory = compiled.memory_analysis()
    before = reset_peak()  # free memory goes back first, else a run could hide in it
    start = time.perf_counter()
    outputs = jax.tree.leaves(jax.block_until_ready(compiled(*inputs)))
    seconds = time.perf_counter() - start
    growth = status_bytes("VmHWM") - before
    for i, output in enumerate(outputs):
        np.save(f"{folder}/{i}.npy", np.asarray(output))
    print(
        json.dumps(
            {
                "outputs": len(outputs),
                "growth_bytes": growth,
                "seconds": seconds,
                "argument_bytes": memory.argument_size_in_bytes,
                "report_bytes": memory.argument_size_in_bytes
                + memory.output_size_in_bytes
                - memory.alias_size_in_bytes
                + memory.temp_size_in_bytes,
            }
        )
    )


if __name__ == "__main__":
    child(*sys.argv[1:])
