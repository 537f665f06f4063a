"""same.py WEIR WEIR_EVAL PROGRAM CALLS ARGUMENTS...: rewritten by `weir opt` with these arguments,
the program gives, in the evaluator, what it gives as it is; and the kernels in it are CALLS.

Floats agree up to the rounding of sums of another order, everything else to the bit. Arguments of
the program are numbers of a seed: few different ones, so that there are ties.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # threads of a kernel may still be ending
weir, evaluator, program, calls, *arguments = sys.argv[1:]
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i8": np.int8}
ROUNDING = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-12}


def inputs(text):
    dice = np.random.default_rng(len(text))
    head = re.search(r"@main\((.*?)\) ->", text, re.S)[1]
    for dims, kind in re.findall(r"tensor<((?:\d+x)*)(\w+)>", head):
        shape = [int(d) for d in dims.split("x")[:-1]]
        yield (dice.integers(-8, 9, shape) / 4 * (1 if kind[0] == "f" else 4)).astype(TYPES[kind])


def results(folder, name, text, files):
    path, out = folder / f"{name}.mlir", folder / name
    path.write_text(text)
    out.mkdir()
    subprocess.run([evaluator, path, *files, out], check=True)
    return [np.load(out / f"{i}.npy") for i in range(len(list(out.iterdir())))]


def agree(want, got):
    if want.dtype != got.dtype or want.shape != got.shape:
        return False
    if want.dtype.kind != "f":
        return np.array_equal(want, got)
    finite = np.abs(want[np.isfinite(want)]).max(initial=1)
    tolerance = ROUNDING[str(want.dtype)]
    return np.allclose(got, want, rtol=tolerance, atol=tolerance * finite, equal_nan=True)


def main():
    text = pathlib.Path(program).read_text()
    with tempfile.TemporaryDirectory() as name:
        folder, files = pathlib.Path(name), []
        for i, array in enumerate(inputs(text)):
            files.append(folder / f"in{i}.npy")
            np.save(files[-1], array)
        command = [weir, "opt", program, *arguments]
        rewritten = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if rewritten.count('"weir_tile"') != int(calls):
            sys.exit(f"{rewritten.count('weir_tile')} kernels, wanted {calls}:\n{rewritten}")
        pairs = zip(
            results(folder, "a", text, files), results(folder, "b", rewritten, files), strict=True
        )
        for i, (want, got) in enumerate(pairs):
            if not agree(want, got):
                sys.exit(f"result {i} is\n{got}\nwanted\n{want}")


main()
