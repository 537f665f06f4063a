"""The corpus for tests: its cases, their inputs, and the comparison of results with the golden ones. The rules are in README.md."""
import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
NUMPY = {"i1": np.bool_, "bf16": np.uint16, "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64,
         "c128": np.complex128} | {f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}") for sign in "iu" for bits in (8, 16, 32, 64)}


class Case:
    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        self.meta = json.loads((folder / "meta.json").read_text())
        self.group, self.optional = self.meta["group"], self.meta.get("optional", False)

    def programs(self):
        return sorted(self.folder.glob("program*.mlir"))

    def inputs(self):
        return [generate(spec["gen"]) if "gen" in spec else np.load(self.folder / f"inputs/{i}.npy")
                for i, spec in enumerate(self.meta["inputs"])]

    def check(self, results):
        """What is wrong with `results` (arrays; bf16 as raw bits), None if nothing."""
        specs = self.meta["outputs"]
        if len(results) != len(specs):
            return f"{len(results)} results, expected {len(specs)}"
        for i, (got, spec) in enumerate(zip(results, specs)):
            error = check_output(self.folder, i, spec, got)
            if error:
                return f"output {i}: {error}"
        return None


def cases(*groups):
    found = [Case(path.parent) for path in sorted(FOLDER.glob("*/meta.json"))]
    return [case for case in found if case.group in groups]


# ---- the input generator ----
def splitmix(seed, n, start=0):
    with np.errstate(over="ignore"):
        z = np.arange(start + 1, start + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % 2**64)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def bf16_bits(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return (bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1)) >> np.uint64(16)).astype(np.uint16)


def generate(gen):
    shape, dtype = tuple(gen["shape"]), gen["dtype"]
    z = splitmix(gen["seed"], int(np.prod(shape, dtype=np.int64)))
    if gen["dist"] == "randint":
        return ((z % np.uint64(gen["hi"] - gen["lo"])).astype(np.int64) + gen["lo"]).astype(NUMPY[dtype]).reshape(shape)
    if gen["dist"] == "uniform":
        low, high = gen.get("lo", 0.0), gen.get("hi", 1.0)
        value = low + (high - low) * ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)
    else:
        fields = sum(z >> np.uint64(shift) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48))
        value = gen.get("mean", 0.0) + gen.get("std", 1.0) * ((fields.astype(np.float64) - 131070.0) / 37837.0)
    if dtype != "f64":
        value = value.astype(np.float32)
    return (bf16_bits(value) if dtype == "bf16" else value.astype(NUMPY[dtype])).reshape(shape)


# ---- comparison ----
def numbers(array, dtype):
    if dtype != "bf16":
        return array
    return (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def differences(got, want, rtol, atol):
    got, want = np.asarray(got).reshape(-1), np.asarray(want).reshape(-1)
    if want.dtype.kind == "c":
        return differences(got.real, want.real, rtol, atol) or differences(got.imag, want.imag, rtol, atol)
    if want.dtype.kind in "iub" and rtol == 0 and atol == 0:
        good = got == want
    else:
        got, want = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.isfinite(got) & np.isfinite(want) & (np.abs(got - want) <= atol + rtol * np.abs(want))
        good = (got == want) | (np.isnan(got) & np.isnan(want)) | near
    if good.all():
        return None
    bad = np.flatnonzero(~good)
    return f"{bad.size} of {good.size} differ beyond rtol={rtol:g} atol={atol:g}; [{bad[0]}] is {got[bad[0]]!r}, wanted {want[bad[0]]!r}"


def block_sums(array, count):
    flat = array.reshape(-1).astype(np.float64)
    pieces = [flat[b * flat.size // count:(b + 1) * flat.size // count] for b in range(count)]
    return np.array([(piece.sum(), np.abs(piece).sum()) for piece in pieces])


def check_output(folder, i, spec, got):
    dtype, rtol, atol = spec["dtype"], spec["rtol"], spec["atol"]
    if got.shape != tuple(spec["shape"]) or got.dtype != NUMPY[dtype]:
        return f"{got.dtype}{list(got.shape)}, wanted {dtype}{spec['shape']}"
    if spec["store"] == "sample":
        return check_samples(folder, i, spec, numbers(got, dtype).reshape(-1))
    want = np.load(folder / f"outputs/{i}.npy")
    if spec["compare"] == "set_rows":
        got, want = np.sort(got, -1), np.sort(want, -1)
    got, want = numbers(got, dtype), numbers(want, dtype)
    if spec["compare"] == "abs":
        got, want = np.abs(got), np.abs(want)
    return differences(got, want, rtol, atol)


def check_samples(folder, i, spec, got):
    want, sums = np.load(folder / f"outputs/{i}.samples.npy"), np.load(folder / f"outputs/{i}.blocks.npy")
    at = (splitmix(spec["sample_seed"], len(want)) % np.uint64(got.size)).astype(np.int64)
    error = differences(got[at], numbers(want, spec["dtype"]), spec["rtol"], spec["atol"])
    if error:
        return "samples: " + error
    have = block_sums(got, len(sums))
    slack = 0.5 * (spec["rtol"] * sums[:, 1] + spec["atol"] * got.size / len(sums))  # errors of the elements are not all of one sign
    bad = np.flatnonzero(~(np.abs(have - sums).max(1) <= slack))
    return f"sums of block {bad[0]} are {have[bad[0]]}, wanted {sums[bad[0]]}" if bad.size else None
