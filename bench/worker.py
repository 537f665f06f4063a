"""One measured process: compiles one program, then runs it at the parent's word.

In:   argv: mode (naive | stock | chunked | weir | reference), program,
      JSON of sizes, rows, limit_bytes;
      stdin: a line `run` runs once, `save PATH` writes the last outputs, `quit` ends.
Out:  stdout: a JSON line after start and after each command; everything else goes to stderr.
Idea: memory is the process's own: free memory is returned (malloc_trim), the high-water mark is
      reset after the inputs are on the device and the program is compiled, and read after a run.
"""

import json
import os
import resource
import sys
import time

import numpy as np

import chunked
import programs
from measure import HONEST, reset_peak, status_bytes

SLACK_BYTES = 3 << 30  # address space that a run may reserve above its limit (thread arenas)


def memory_report(compiled):
    m = compiled.memory_analysis()
    return {
        "argument_bytes": m.argument_size_in_bytes,
        "output_bytes": m.output_size_in_bytes,
        "temp_bytes": m.temp_size_in_bytes,
        "alias_bytes": m.alias_size_in_bytes,
        "report_bytes": m.argument_size_in_bytes
        + m.output_size_in_bytes
        - m.alias_size_in_bytes
        + m.temp_size_in_bytes,
    }


def cap_address_space(limit_bytes):
    """A program that breaks its limit by gigabytes dies alone, not the machine with it."""
    top = status_bytes("VmSize") + limit_bytes + SLACK_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (top, resource.RLIM_INFINITY))


def is_static(a):
    return isinstance(a, int)


def in_double(a):
    floats = not is_static(a) and np.asarray(a).dtype.kind == "f"
    return np.asarray(a, np.float64) if floats else a


class Job:
    def __init__(self, mode, name, sizes, rows, limit_bytes):
        import jax

        self.jax, self.mode, self.program = jax, mode, programs.get(name)
        module = self.program.load()
        self.inputs = module.make_inputs(**sizes)
        if mode == "reference":
            jax.config.update("jax_enable_x64", True)
            self.inputs = jax.tree.map(in_double, self.inputs)
        self.inputs = tuple(a if is_static(a) else jax.device_put(a) for a in self.inputs)
        jax.block_until_ready(self.inputs)
        self.arguments = [a for a in self.inputs if not is_static(a)]
        t0 = time.perf_counter()
        self.compiled = self.lower(module, rows).compile(
            compiler_options=HONEST if mode in ("naive", "reference") else None
        )
        self.start = {"compile_s": time.perf_counter() - t0, **memory_report(self.compiled)}
        if limit_bytes:
            cap_address_space(limit_bytes)
        self.out = None

    def lower(self, module, rows):
        if self.mode not in ("chunked", "reference") or not self.program.chunked:
            return getattr(module, self.program.function).lower(*self.inputs)
        f = getattr(chunked, self.program.chunked)
        static = tuple(i + 1 for i, a in enumerate(self.inputs) if is_static(a))
        return self.jax.jit(f, static_argnums=(0,) + static).lower(rows, *self.inputs)

    def run(self):
        self.out = None
        base = reset_peak()
        t0, cpu0 = time.perf_counter(), time.process_time()
        self.out = self.jax.block_until_ready(self.compiled(*self.arguments))
        return {
            "time_s": time.perf_counter() - t0,
            "cpu_s": time.process_time() - cpu0,
            "growth_bytes": status_bytes("VmHWM") - base,
        }

    def save(self, path):
        np.savez(path, *[np.asarray(a) for a in self.jax.tree.leaves(self.out)])
        return {"saved": path}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    mode, name, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])

    def say(answer):
        out.write(json.dumps(answer) + "\n")
        out.flush()

    try:
        job = Job(mode, name, options["sizes"], options["rows"], options["limit_bytes"])
        say(job.start)
        for line in sys.stdin:
            words = line.split()
            if words[0] == "quit":
                break
            say(job.run() if words[0] == "run" else job.save(words[1]))
    except Exception as e:  # the parent prints it
        say({"error": "%s: %s" % (type(e).__name__, e)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
