"""Runs the libFuzzer targets of test/fuzz in turn, under AddressSanitizer and
UndefinedBehaviorSanitizer, from seeds made of the test programs. What a run finds new stays in
BUILD/fuzz/TARGET/found for the next one. Exits 1 if a target fails.
"""

import argparse
import io
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_BYTES = {"stablehlo_text": 8000, "bytecode": 4000, "words": 600, "npy": 600, "rewrite": 5000}
ATTRIBUTES = [  # reader of fuzz_words.c, what its texts look like
    (0, r"#stablehlo\.dot<[^>]*>"),
    (1, r"#stablehlo\.gather<[^>]*>"),
    (2, r"#stablehlo\.scatter<[^>]*>"),
    (3, r"#stablehlo\.conv<[^>]*>"),
    (4, r"#stablehlo<comparison_direction \w+>"),
    (5, r"#stablehlo\.gather<[^>]*>"),
    (6, r"#stablehlo<precision \w+>"),
]
LOCATIONS = [
    '"f.py":12:3',
    'callsite("a"("x.py":1:1) at "b"("y.py":2:2))',
    'fused<{a = "b"}>["a.py":1:1, unknown]',
    'fused["a", "b.py":1:2 to :15]',
]
SIZES = ["1000000", "512MiB", "1.5GB", "2 kB", "0.5 TiB", "9223372036854775807"]


def programs():
    files = [*ROOT.glob("test/corpus/*/program.mlir"), *ROOT.glob("test/lit/**/*.mlir")]
    return [path.read_bytes() for path in sorted(files)]


def functions():
    """Of programs that have several, which no call rewrites together, each by itself."""
    parts = [re.split(rb"(?=func\.func )", program)[1:] for program in programs()]
    return [part for found in parts if len(found) > 1 for part in found]


def word_seeds():
    found = {(7, text) for text in LOCATIONS} | {(8, text) for text in SIZES}
    for program in programs():
        text = program.decode(errors="replace")
        found |= {(n, word) for n, pattern in ATTRIBUTES for word in re.findall(pattern, text)}
    return [bytes([n]) + word.encode() for n, word in sorted(found)]


def npy_seeds():
    for dtype in ("<f4", "<f8", "<i4", "|b1", "<c16", "<u2", "|i1"):
        for shape in ((), (3,), (2, 3), (2, 1, 3)):
            for order in "CF":
                file = io.BytesIO()
                np.save(file, np.ones(shape, dtype, order=order))
                x, y, z, *_ = *shape, 0, 0, 0
                for wanted in range(0, 24, 3):
                    yield bytes([wanted, len(shape), x | y << 2 | z << 4]) + file.getvalue()


def seeds(target):
    if target == "words":
        return word_seeds()
    if target == "npy":
        return npy_seeds()
    if target == "bytecode":
        return [path.read_bytes() for path in sorted(ROOT.glob("test/bytecode/*.mlirbc"))]
    small = [p for p in [*programs(), *functions()] if len(p) < MAX_BYTES[target]]
    if target == "stablehlo_text":
        return small
    return [bytes([way]) + program for program in small for way in (0x45, 0x4C, 0x91)]


def run(build, target, seconds):
    folder = build / "fuzz" / target
    for name in ("seeds", "found", "failures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds(target)):
        (folder / "seeds" / str(i)).write_bytes(seed)
    command = [
        build / "fuzz" / f"fuzz_{target}",
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES[target]}",
        "-timeout=100",
        f"-artifact_prefix={folder}/failures/",
        folder / "found",
        folder / "seeds",
    ]
    with open(folder / "log", "w") as log:
        code = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
    last = (folder / "log").read_text(errors="replace").strip().splitlines()[-1]
    print(f"{target}: {'FAILED, see ' + str(folder) if code else last}", flush=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/fuzz")
    parser.add_argument("--seconds", type=int, default=600, help="per target")
    parser.add_argument("targets", nargs="*", default=list(MAX_BYTES))
    args = parser.parse_args()
    results = [run(args.build.resolve(), target, args.seconds) for target in args.targets]
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
