# lit set-up: tests are .mlir and .test files with RUN lines; the programs come from the build
# folder given by -D build=DIR.
import os
import subprocess
import sys

import lit.formats

config.name = "weir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["bytecode", "corpus", "data", "inputs", "golden", "python", "unit"]
config.test_source_root = os.path.dirname(__file__)

root = os.path.dirname(config.test_source_root)
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))
config.test_exec_root = os.path.join(build, "lit")
# lit itself runs in the environment that has the FileCheck of PyPI.
tools = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join([build, tools, os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "MUTANT", "LD_PRELOAD"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [
    ("%weir", os.path.join(build, "weir")),
    ("%roundtrip", os.path.join(build, "tools", "weir_roundtrip")),
    ("%eval", os.path.join(build, "tools", "weir_eval")),
    ("%peak", os.path.join(build, "tools", "weir_peak")),
    ("%python", sys.executable),
    ("%root", root),
    (r"\bFileCheck\b", os.path.join(tools, "filecheck")),
]
config.environment["WEIR_DEBUG"] = "0"
config.environment["WEIR_CACHE_DIR"] = "off"  # what was measured of this computer decides nothing

# REQUIRES: llvm, where kernels are compiled. LLVM is looked for where a loop may be one.
PROBE = """func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  %c = stablehlo.multiply %a, %b : tensor<4096x4096xf32>
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%c init: %0) applies stablehlo.add across dimensions = [1] : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096xf32>
  return %s : tensor<4096xf32>
}
"""
probe = subprocess.run(
    [os.path.join(build, "weir"), "opt", "-", "--tile", "on", "--memory-limit", "1MB"]
    + ["--debug", "1"],
    input=PROBE,
    capture_output=True,
    text=True,
)
if "no kernels:" not in probe.stderr:
    config.available_features.add("llvm")
