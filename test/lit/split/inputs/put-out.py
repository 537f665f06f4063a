"""put-out.py KIND COUNT: matrices, each made of the one before, and their rows reduced by KIND."""

import sys

kind, count = sys.argv[1], int(sys.argv[2])
line, matrix = "tensor<64xf32>", "tensor<64x64xf32>"
types = ", ".join([matrix] * count + [line] * count)
print(f"func.func @main(%x: {line}, %y: {line}) -> ({types}) {{")
print("  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>")
print(f"  %r = stablehlo.broadcast_in_dim %x, dims = [0] : ({line}) -> {matrix}")
print(f"  %a0 = stablehlo.broadcast_in_dim %y, dims = [1] : ({line}) -> {matrix}")
for i in range(count):
    print(f"  %p{i} = stablehlo.multiply %a{i}, %r : {matrix}")
    print(f"  %q{i} = stablehlo.sine %p{i} : {matrix}")
    print(f"  %a{i + 1} = stablehlo.add %p{i}, %q{i} : {matrix}")
    reduced = f"applies stablehlo.{kind} across dimensions = [1]"
    print(f"  %s{i} = stablehlo.reduce(%a{i + 1} init: %z) {reduced} : ({matrix}, tensor<f32>) -> {line}")
names = [f"%a{i + 1}" for i in range(count)] + [f"%s{i}" for i in range(count)]
print(f"  return {', '.join(names)} : {types}\n}}")
