"""Batch normalisation as one op, as TensorFlow and PyTorch write it: values of XLA, in slices."""

import numpy as np
import pytest

import running

ROWS, COLUMNS = 300, 200
RNG = np.random.default_rng(0)


def program(op, dtype, feature):
    """The op on a product's rows or columns; PyTorch's layer norms have rows as features."""
    n = (ROWS, COLUMNS)[feature]
    whole, vector = f"tensor<{ROWS}x{COLUMNS}x{dtype}>", f"tensor<{n}x{dtype}>"
    operands = {
        "training": ("%x, %s, %o", [whole, vector, vector]),
        "inference": ("%x, %s, %o, %s, %v", [whole] + [vector] * 4),
        "grad": ("%x, %s, %o, %v, %g", [whole] + [vector] * 3 + [whole]),
    }
    names, types = operands[op]
    results = [whole] if op == "inference" else [whole, vector, vector]
    outs = ", ".join(f"%r{i}" for i in range(len(results)))
    a, b = f"tensor<{ROWS}x3x{dtype}>", f"tensor<{COLUMNS}x3x{dtype}>"
    kept = f"tensor<{ROWS}x{dtype}>"
    more = "".join(f", %r{i}" for i in range(1, len(results)))
    returned = ", ".join([kept] + results[1:])
    return f"""
func.func @main(%a: {a}, %b: {b}, %s: {vector}, %o: {vector}, %v: {vector}) -> ({returned}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<{dtype}>
  %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({a}, {b}) -> {whole}
  %g = stablehlo.cosine %x : {whole}
  {outs} = "stablehlo.batch_norm_{op}"({names}) <{{epsilon = 1.0e-03 : f32, feature_index = {feature} : i64}}> : ({", ".join(types)}) -> ({", ".join(results)})
  %t = stablehlo.tanh %r0 : {whole}
  %sum = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : ({whole}, tensor<{dtype}>) -> {kept}
  return %sum{more} : {returned}
}}"""


@pytest.mark.parametrize("feature", [0, 1])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("op", ["training", "inference", "grad"])
def test_values_are_those_of_the_op(op, dtype, feature, tmp_path):
    n, kind = (ROWS, COLUMNS)[feature], np.dtype(dtype.replace("f32", "f4").replace("f64", "f8"))
    sizes = ((ROWS, 3), (COLUMNS, 3), n, n)
    arguments = [RNG.normal(size=size).astype(kind) for size in sizes]
    arguments.append(RNG.uniform(0.5, 2, n).astype(kind))
    text = program(op, dtype, feature)
    (tmp_path / "program.mlir").write_text(text)
    limit = 24_000 * kind.itemsize // 4 + sum(a.nbytes for a in arguments)
    rewritten = running.opt(tmp_path / "program.mlir", "--memory-limit", limit)
    assert "batch_norm" not in rewritten and '"stablehlo.while"' in rewritten
    assert f"-> tensor<{ROWS}x{COLUMNS}x{dtype}>" not in rewritten
    want, got = running.Xla(text)(*arguments), running.Xla(rewritten)(*arguments)
    tolerance = 1e-10 if dtype == "f64" else 1e-4
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * np.abs(w).max())


def test_other_element_types_are_left_alone(tmp_path):
    """Sums in 16 bits would be rounded where XLA's op does not."""
    (tmp_path / "program.mlir").write_text(program("training", "f16", 1))
    text = running.opt(tmp_path / "program.mlir", "--pass", "batch-norm,dce")
    assert '"stablehlo.batch_norm_training"' in text


def test_without_the_pass_the_op_stays(tmp_path):
    (tmp_path / "program.mlir").write_text(program("training", "f32", 1))
    options = ["--tensor-size-threshold", "100kB", "--skip", "batch-norm"]
    assert "batch_norm" in running.opt(tmp_path / "program.mlir", *options)
