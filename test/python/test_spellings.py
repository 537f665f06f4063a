"""What other front ends write in spellings of their own: values of XLA and of NumPy, in slices like JAX's spelling."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import running

SPELLINGS = "constants,static,implicit,einsum,index-select,map"
RNG = np.random.default_rng(0)


def main(arguments, result, body):
    """A function of %a, %b, ... with these types that returns %r."""
    names = [f"%{chr(ord('a') + i)}" for i in range(len(arguments))]
    head = ", ".join(f"{name}: {type}" for name, type in zip(names, arguments))
    return f"func.func @main({head}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"


def drawn(type):
    """An array for a type; integers from -3 to 9, so beyond both ends of what they index."""
    *dims, element = type[len("tensor<") : -1].split("x")
    shape = tuple(map(int, dims))
    if element.startswith("i"):
        return RNG.integers(-3, 10, shape).astype({"i32": np.int32, "i64": np.int64}[element])
    values = RNG.normal(size=shape).astype({"f32": np.float32, "f64": np.float64}[element])
    flat = values.reshape(-1)
    flat[: min(3, flat.size)] = [-0.0, np.inf, np.nan][: min(3, flat.size)]
    return values


def einsum(config, a, b, result):
    op = f'%r = stablehlo.einsum %a, %b, config = "{config}" : ({a}, {b}) -> {result}'
    return [a, b], result, op


def select(x, i, dim, batch, result):
    op = f'%r = "stablehlo.torch_index_select"(%a, %b) <{{dim = {dim} : i64, batch_dims = {batch} : i64}}>'
    return [x, i], result, f"{op} : ({x}, {i}) -> {result}"


def stretched(op, a, b, result, attributes=""):
    return [a, b], result, f"%r = chlo.broadcast_{op} %a, %b{attributes} : ({a}, {b}) -> {result}"


MAP = """%r = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %t = stablehlo.multiply %p, %two : tensor<f32>
  %less = stablehlo.compare LT, %t, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %s = stablehlo.select %less, %t, %q : tensor<i1>, tensor<f32>
  stablehlo.return %s : tensor<f32>
}) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>"""

SLICE = """%low = arith.constant dense<[1, 0]> : tensor<2xi64>
%high = stablehlo.constant dense<[4, 5]> : tensor<2xi64>
%step = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
%r = stablehlo.real_dynamic_slice %a, %low, %high, %step : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x3xf32>"""

PAD = """%low = stablehlo.constant dense<[1, -1]> : tensor<2xi64>
%high = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
%inside = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
%r = stablehlo.dynamic_pad %a, %b, %low, %high, %inside : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<11x7xf32>"""

GATHER = """%sizes = stablehlo.constant dense<[1, 6]> : tensor<2xi64>
%r = "stablehlo.dynamic_gather"(%a, %b, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<4x6xf32>, tensor<9x1xi32>, tensor<2xi64>) -> tensor<9x6xf32>"""

CONV = """%pads = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>
%r = "stablehlo.dynamic_conv"(%a, %b, %pads) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x6x6x2xf32>, tensor<2x2x2x4xf32>, tensor<2x2xi64>) -> tensor<1x6x6x4xf32>"""

SHAPES = """%shape = stablehlo.constant dense<[2, 4, 6]> : tensor<3xi64>
%i = stablehlo.dynamic_iota %shape, dim = 2 : (tensor<3xi64>) -> tensor<2x4x6xf32>
%w = stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [1, 2] : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<2x4x6xf32>
%s = stablehlo.add %i, %w : tensor<2x4x6xf32>
%flat = stablehlo.constant dense<[8, 6]> : tensor<2xi64>
%r = stablehlo.dynamic_reshape %s, %flat : (tensor<2x4x6xf32>, tensor<2xi64>) -> tensor<8x6xf32>"""

M, V, COLUMN = "tensor<4x6xf32>", "tensor<6xf32>", "tensor<4x1xf32>"
PROGRAMS = {
    "product": einsum("bij,jbk->kbi", "tensor<2x3x4xf64>", "tensor<4x2x5xf64>", "tensor<5x2x3xf64>"),
    "swapped": einsum("ijk,kji->", "tensor<2x3x4xf64>", "tensor<4x3x2xf64>", "tensor<f64>"),
    "outer": einsum("i,jk->jik", "tensor<3xf64>", "tensor<2x4xf64>", "tensor<2x3x4xf64>"),
    "scalar": einsum(",ab->ba", "tensor<f64>", "tensor<2x4xf64>", "tensor<4x2xf64>"),
    "own": einsum("ixy,kz->ik", "tensor<2x3x4xf64>", "tensor<4x5xf64>", "tensor<2x4xf64>"),
    "diagonal": einsum("iij,jkk->ik", "tensor<3x3x4xf64>", "tensor<4x2x2xf64>", "tensor<3x2xf64>"),
    "empty": einsum("ij,jk->ik", "tensor<0x3xf64>", "tensor<3x2xf64>", "tensor<0x2xf64>"),
    "integers": einsum("ij,kj->ik", "tensor<4x6xi32>", "tensor<3x6xi32>", "tensor<4x3xi32>"),
    "rows": select(M, "tensor<2x3xi32>", 0, 0, "tensor<2x3x6xf32>"),
    "columns": select(M, "tensor<9xi64>", 1, 0, "tensor<4x9xf32>"),
    "one": select(M, "tensor<i32>", 1, 0, "tensor<4xf32>"),
    "batch": select("tensor<4x5x6x7xf32>", "tensor<4x3xi32>", 2, 1, "tensor<4x5x3x7xf32>"),
    "wide": select("tensor<4x5x6x7xf32>", "tensor<4x3xi64>", 2, 1, "tensor<4x5x3x7xf32>"),
    "multiply": stretched("multiply", M, V, M),
    "power": stretched("power", M, V, M, " {broadcast_dimensions = array<i64: 1>}"),
    "subtract": stretched("subtract", COLUMN, V, M),
    "remainder": stretched("remainder", "tensor<f32>", M, M),
    "less": stretched("compare", COLUMN, M, "tensor<4x6xi1>", " {comparison_direction = #chlo<comparison_direction LT>}"),
    "map": ([M, M], M, MAP),
    "slice": ([M], "tensor<3x3xf32>", SLICE),
    "pad": ([M, "tensor<f32>"], "tensor<11x7xf32>", PAD),
    "gather": ([M, "tensor<9x1xi32>"], "tensor<9x6xf32>", GATHER),
    "convolution": (["tensor<1x6x6x2xf32>", "tensor<2x2x2x4xf32>"], "tensor<1x6x6x4xf32>", CONV),
    "shapes": ([M], "tensor<8x6xf32>", SHAPES),
}  # fmt: skip
ROUNDED = {"own", "diagonal", "swapped", "product", "convolution"}  # sums of floats
OLD = r'"(arith|chlo\.broadcast_|stablehlo\.(einsum|torch_index_select|map|real_dynamic|dynamic_[prcib]))'


def known_to_xla(text):
    """Stock XLA has no dialect arith, and no dynamic_conv."""
    text = text.replace("arith.", "stablehlo.").replace("dynamic_conv", "convolution")
    text = text.replace("%a, %b, %pads)", "%a, %b)").replace("2x4xf32>, tensor<2x2xi64>)", "2x4xf32>)")
    return text.replace("batch_group_count", "padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, batch_group_count")


def rewritten(name, folder):
    text = main(*PROGRAMS[name])
    (folder / "program.mlir").write_text(text)
    new = running.opt(folder / "program.mlir", "--pass", f"{SPELLINGS},dce")
    assert not re.search(OLD, new)
    return text, new


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_the_op_in_xla(name, tmp_path):
    text, new = rewritten(name, tmp_path)
    arguments = [drawn(type) for type in PROGRAMS[name][0]]
    want, got = running.Xla(known_to_xla(text))(*arguments), running.Xla(new)(*arguments)
    for w, g in zip(want, got, strict=True):
        if name in ROUNDED:
            np.testing.assert_allclose(g, w, rtol=1e-6, atol=1e-6)
        else:
            assert g.dtype == w.dtype and np.array_equal(g, w, equal_nan=g.dtype.kind == "f")


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("slice", "pad", "gather", "convolution", "shapes")])
def test_values_are_those_of_the_evaluator(name, tmp_path):
    text, new = rewritten(name, tmp_path)
    evaluate = running.Evaluator(tmp_path, [drawn(type) for type in PROGRAMS[name][0]])
    for w, g in zip(evaluate(text), evaluate(new), strict=True):
        if name in ROUNDED:
            np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
        else:
            assert g.dtype == w.dtype and np.array_equal(g, w, equal_nan=g.dtype.kind == "f")


@pytest.mark.parametrize("config, shape", [("ij->ji", (3, 4)), ("ijk->j", (3, 4, 5)), ("iij->ji", (3, 3, 4)), ("aaa->", (3, 3, 3))])
def test_unary_einsum(config, shape, tmp_path):
    """Stock XLA can't translate it."""
    x = RNG.normal(size=shape)
    want = np.einsum(config, x)
    types = ["tensor<" + "".join(f"{n}x" for n in a.shape) + "f64>" for a in (x, want)]
    op = f'%r = stablehlo.unary_einsum %a, config = "{config}" : ({types[0]}) -> {types[1]}'
    (tmp_path / "program.mlir").write_text(main(types[:1], types[1], op))
    (got,) = running.Xla(running.opt(tmp_path / "program.mlir", "--pass", "einsum,dce"))(x)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


# ---- rows in groups ----
GROUPED = {  # batch, contracting, rows, groups; shapes
    "rows": ((((), ()), ((1,), (1,))), [0], [0], (20, 6), (5, 6, 3)),
    "turned": ((((), ()), ((0,), (0,))), [1], [2], (6, 20), (6, 3, 5)),
    "batches": (((((1,), (0,))), ((2,), (3,))), [0], [1], (20, 2, 6), (2, 5, 3, 6)),
    "summed": ((((), ()), ((0,), (1,))), [0], [], (20, 6), (3, 20)),
    "summed in batches": ((((2,), (1,)), ((0, 1), (0, 2))), [1], [], (4, 20, 2), (4, 2, 20, 3)),
}  # fmt: skip
SIZES = [[4, 0, 9, 1, 6], [0, 0, 3, 8, 0], [20, 0, 0, 0, 0]]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", GROUPED)
def test_rows_in_groups(name, dtype, tmp_path):
    """As JAX writes them for CPUs, whose XLA knows no such product. Whatever lies behind the last group is 0."""
    (batch, contract), rows, groups, *shapes = GROUPED[name]
    numbers = jax.lax.RaggedDotDimensionNumbers((contract, batch), rows, groups)
    multiply = jax.jit(lambda x, y, sizes: jax.lax.ragged_dot_general(x, y, sizes, numbers, precision="highest"))
    x, y = (jnp.asarray(RNG.normal(size=shape), dtype) for shape in shapes)
    traced = multiply.trace(x, y, jnp.zeros(5, np.int32))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "chlo.ragged_dot" in text
    (tmp_path / "program.mlir").write_text(text)
    new = running.opt(tmp_path / "program.mlir", "--pass", "groups,dce")
    assert "ragged" not in new and new.count("stablehlo<precision HIGHEST>") == 2
    program = running.Xla(new)
    for sizes in SIZES:
        sizes = np.array(sizes, np.int32)
        (got,) = program(x, y, sizes)
        want = multiply(x, y, sizes)
        np.testing.assert_allclose(*(np.asarray(a, np.float32) for a in (got, want)), rtol=1e-5, atol=1e-6)


# ---- random bits ----
STATES = {"PHILOX": (2, 3), "DEFAULT": (2, 3), "THREE_FRY": (2,)}
SHAPES_OF_BITS = ["3x5xui32", "6x4xui32", "3x5xui64", "8x6xui64", "7xui32", "3x5x7xui32", "5x6x3xui32", "1xui64"]


def random_bits(algorithm, words, bits):
    state, result = f"tensor<{words}xui64>", f"tensor<{bits}>"
    return f"""func.func @main(%a: {state}) -> ({state}, {result}) {{
%s, %r = stablehlo.rng_bit_generator %a, algorithm = {algorithm} : ({state}) -> ({state}, {result})
return %s, %r : {state}, {result}
}}"""


@pytest.mark.parametrize("algorithm, words", [(a, n) for a, ns in STATES.items() for n in ns])
@pytest.mark.parametrize("bits", SHAPES_OF_BITS)
def test_random_bits_are_those_of_xla(bits, algorithm, words, tmp_path):
    """Of states whose counters carry into their high halves, too."""
    text = random_bits(algorithm, words, bits)
    (tmp_path / "program.mlir").write_text(text)
    new = running.opt(tmp_path / "program.mlir", "--pass", "bits,dce")
    assert "rng_bit_generator" not in new
    stock, spelled = running.Xla(text), running.Xla(new)
    for state in ([5, 7, 11], [2**64 - 1, 2**64 - 2, 2**64 - 1], [0, 2**32 - 1, 2**32 - 1]):
        state = np.array(state[:words], np.uint64)
        for w, g in zip(stock(state), spelled(state), strict=True):
            assert g.dtype == w.dtype and np.array_equal(g, w)


@pytest.mark.parametrize("algorithm", STATES)
@pytest.mark.parametrize("columns", [1000, 999])
def test_random_bits_in_slices(columns, algorithm, tmp_path):
    words, wide = STATES[algorithm][0], f"tensor<1000x{columns}x"
    text = f"""func.func @main(%a: tensor<{words}xui64>, %x: {wide}f32>) -> (tensor<{words}xui64>, tensor<1000xf32>) {{
%s, %bits = stablehlo.rng_bit_generator %a, algorithm = {algorithm} : (tensor<{words}xui64>) -> (tensor<{words}xui64>, {wide}ui32>)
%nine = stablehlo.constant dense<9> : {wide}ui32>
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%few = stablehlo.shift_right_logical %bits, %nine : {wide}ui32>
%f = stablehlo.convert %few : ({wide}ui32>) -> {wide}f32>
%e = stablehlo.dot_general %f, %x, contracting_dims = [1] x [1] : ({wide}f32>, {wide}f32>) -> tensor<1000x1000xf32>
%r = stablehlo.reduce(%e init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
return %s, %r : tensor<{words}xui64>, tensor<1000xf32>
}}"""
    (tmp_path / "program.mlir").write_text(text)
    new = running.opt(tmp_path / "program.mlir", "--memory-limit", "6MB")
    assert '"stablehlo.while"' in new and f"-> {wide}ui" not in new
    state, x = np.array([3, 2**64 - 5], np.uint64), RNG.uniform(size=(1000, columns)).astype(np.float32)
    (s, want), (t, got) = running.Xla(text)(state, x), running.Xla(new)(state, x)
    assert np.array_equal(s, t)
    np.testing.assert_allclose(got, want, rtol=1e-5)


# ---- one index of what was flattened ----
ADDED = """({
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32>
})"""


def flat_gather(x, flat, dim, at, result):
    """Of what is flattened to dimension `dim` of `flat`."""
    offset = [d for d in range(flat.count("x")) if d != dim]
    sizes = ", ".join("1" if d == dim else n for d, n in enumerate(flat[7:].split("x")[:-1]))
    numbers = f"offset_dims = {offset}, collapsed_slice_dims = [{dim}], start_index_map = [{dim}], index_vector_dim = 1"
    return main([x, at], result, f"""%y = stablehlo.negate %a : {x}
%f = stablehlo.reshape %y : ({x}) -> {flat}
%r = "stablehlo.gather"(%f, %b) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {sizes}>}}> : ({flat}, {at}) -> {result}""")  # fmt: skip


def flat_scatter(y, flat, dim, at, u):
    windows = [d for d in range(u.count("x")) if d != dim]
    numbers = f"update_window_dims = {windows}, inserted_window_dims = [{dim}], scatter_dims_to_operand_dims = [{dim}], index_vector_dim = 1"
    return main([flat, at, u], y, f"""%t = "stablehlo.scatter"(%a, %b, %c) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> {ADDED} : ({flat}, {at}, {u}) -> {flat}
%r = stablehlo.reshape %t : ({flat}) -> {y}""")  # fmt: skip


FLAT = {
    "elements": lambda i: flat_gather(M, "tensor<24xf32>", 0, f"tensor<99x1x{i}>", "tensor<99xf32>"),
    "rows": lambda i: flat_gather("tensor<4x3x2x5xf32>", "tensor<24x5xf32>", 0, f"tensor<99x1x{i}>", "tensor<99x5xf32>"),
    "columns": lambda i: flat_gather("tensor<5x4x6xf32>", "tensor<5x24xf32>", 1, f"tensor<99x1x{i}>", "tensor<5x99xf32>"),
    "added": lambda i: flat_scatter(M, "tensor<24xf32>", 0, f"tensor<99x1x{i}>", "tensor<99xf32>"),
    "added one by one": lambda i: flat_scatter(M, "tensor<24xf32>", 0, f"tensor<99x{i}>", "tensor<99xf32>"),
    "added rows": lambda i: flat_scatter("tensor<4x3x2x5xf32>", "tensor<24x5xf32>", 0, f"tensor<99x1x{i}>", "tensor<99x5xf32>"),
    "added columns": lambda i: flat_scatter("tensor<5x4x6xf32>", "tensor<5x24xf32>", 1, f"tensor<99x1x{i}>", "tensor<5x99xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("index", ["i8", "i16", "i32", "i64", "ui8", "ui32"])
@pytest.mark.parametrize("name", FLAT)
def test_flat_indices(name, index, tmp_path):
    """Most of them in bounds, some just outside, some as far as the type goes: the same bits."""
    text = FLAT[name](index)
    (tmp_path / "program.mlir").write_text(text)
    new = running.opt(tmp_path / "program.mlir", "--pass", "flat-index,dce")
    assert '"stablehlo.remainder"' in new
    dtype = np.dtype(index.replace("i", "int"))
    info = np.iinfo(dtype)
    at = RNG.integers(0, 24, 99)
    at[::4] = RNG.choice([info.min, info.max, max(info.min, -1), max(info.min, -7), 24, 25, 40], at[::4].size)
    types = re.findall(r"%[abc]: (tensor<[^>]*>)", text.partition(")")[0])
    arguments = [at.astype(dtype).reshape([int(n) for n in re.findall(r"(\d+)x", t)]) if "f32" not in t else drawn(t)
                 for t in types]  # fmt: skip
    evaluate = running.Evaluator(tmp_path, arguments)
    for run in (lambda text: running.Xla(text)(*arguments), evaluate):
        (want,), (got,) = run(text), run(new)
        assert got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True)


def test_flat_scatters_are_split(tmp_path):
    """The gradient of tf.math.top_k and of tf.gather(batch_dims=1): indices row * n + column."""
    n, k = 1200, 5
    x, wide, flat, few = f"tensor<{n}x8xf32>", f"tensor<{n}x{n}xf32>", f"tensor<{n * n}xf32>", f"tensor<{n}x{k}xi32>"
    updates, long = f"tensor<{n * k}xf32>", f"tensor<{n * k}x1xi32>"
    text = main([x, few, updates], f"tensor<{n}xf32>", f"""%zero = stablehlo.constant dense<0.0> : tensor<f32>
%zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {flat}
%row = stablehlo.iota dim = 0 : {few}
%many = stablehlo.constant dense<{n}> : {few}
%first = stablehlo.multiply %row, %many : {few}
%at = stablehlo.add %b, %first : {few}
%i = stablehlo.reshape %at : ({few}) -> {long}
%t = "stablehlo.scatter"(%zeros, %i, %c) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {ADDED} : ({flat}, {long}, {updates}) -> {flat}
%g = stablehlo.reshape %t : ({flat}) -> {wide}
%k = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : ({x}, {x}) -> {wide}
%e = stablehlo.cosine %k : {wide}
%m = stablehlo.multiply %e, %g : {wide}
%r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1] : ({wide}, tensor<f32>) -> tensor<{n}xf32>""")  # fmt: skip
    (tmp_path / "program.mlir").write_text(text)
    new = running.opt(tmp_path / "program.mlir", "--memory-limit", "2MB")
    assert '"stablehlo.while"' in new and not re.search(rf"-> tensor<({n}x{n}|{n * n})xf32>", new)
    a = RNG.normal(size=(n, 8)).astype(np.float32)
    arguments = a, RNG.integers(-2, n + 2, (n, k)).astype(np.int32), RNG.normal(size=n * k).astype(np.float32)
    (want,), (got,) = running.Xla(text)(*arguments), running.Xla(new)(*arguments)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# ---- under a limit ----
N = 1200
A, W = f"tensor<{N}x8xf32>", f"tensor<{N}x{N}xf32>"
ROW = f"tensor<{N}xf32>"
LARGE = {
    "einsum": (
        f'%w = stablehlo.einsum %a, %b, config = "id,jd->ij" : ({A}, {A}) -> {W}',
        f"%w = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({A}, {A}) -> {W}",
    ),
    "map": (
        f"""%v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({A}, {A}) -> {W}
%w = "stablehlo.map"(%v) <{{dimensions = array<i64: 0, 1>}}> ({{
^bb0(%p: tensor<f32>):
  %q = stablehlo.cosine %p : tensor<f32>
  stablehlo.return %q : tensor<f32>
}}) : ({W}) -> {W}""",
        f"""%v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({A}, {A}) -> {W}
%w = stablehlo.cosine %v : {W}""",
    ),
    "implicit": (
        f"""%u = stablehlo.slice %a [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%t = stablehlo.slice %b [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%v = stablehlo.reshape %t : (tensor<{N}x1xf32>) -> {ROW}
%w = chlo.broadcast_subtract %u, %v : (tensor<{N}x1xf32>, {ROW}) -> {W}""",
        f"""%u = stablehlo.slice %a [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%t = stablehlo.slice %b [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%v = stablehlo.reshape %t : (tensor<{N}x1xf32>) -> {ROW}
%l = stablehlo.broadcast_in_dim %u, dims = [0, 1] : (tensor<{N}x1xf32>) -> {W}
%r0 = stablehlo.broadcast_in_dim %v, dims = [1] : ({ROW}) -> {W}
%w = stablehlo.subtract %l, %r0 : {W}""",
    ),
    "static": (
        f"""%shape = arith.constant dense<{N}> : tensor<2xi64>
%t = stablehlo.slice %b [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%v = stablehlo.reshape %t : (tensor<{N}x1xf32>) -> {ROW}
%w = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [1] : ({ROW}, tensor<2xi64>) -> {W}""",
        f"""%t = stablehlo.slice %b [0:{N}, 0:1] : ({A}) -> tensor<{N}x1xf32>
%v = stablehlo.reshape %t : (tensor<{N}x1xf32>) -> {ROW}
%w = stablehlo.broadcast_in_dim %v, dims = [1] : ({ROW}) -> {W}""",
    ),
}


def large(make):
    """Makes %w; the rest of the program holds it until XLA can't fuse it away."""
    return main(
        [A, A],
        ROW,
        f"""{make}
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%e = stablehlo.exponential %w : {W}
%s = stablehlo.dot_general %e, %w, contracting_dims = [1] x [1] : ({W}, {W}) -> {W}
%r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : ({W}, tensor<f32>) -> {ROW}""",
    )


@pytest.mark.parametrize("name", LARGE)
def test_is_split_as_the_plain_spelling(name, tmp_path):
    texts = [large(make) for make in LARGE[name]]
    outcomes = []
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.mlir").write_text(text)
        outcomes.append(running.opt(tmp_path / f"{i}.mlir", "--memory-limit", "2MB"))
    loops = [out.count('"stablehlo.while"') for out in outcomes]
    assert loops[0] == loops[1] > 0 and f"-> {W}" not in outcomes[0]
    arguments = [0.1 * RNG.normal(size=(N, 8)).astype(np.float32) for _ in range(2)]
    (want,), (got,) = running.Xla(texts[1])(*arguments), running.Xla(outcomes[0])(*arguments)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
