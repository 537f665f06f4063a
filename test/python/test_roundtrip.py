"""Text -> IR -> text, with stock MLIR (jaxlib's bindings) as the oracle: what weir prints must read as the module that it was given, in
every text form that JAX prints, and weir must read its own output as the same module, text or bytecode."""
import os
import pathlib
import re
import subprocess
import sys

import portable
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("WEIR_BUILD", ROOT / "build/release")) / "tools/weir_roundtrip"
CORPUS = sorted((ROOT / "test/corpus").glob("*/program*.mlir"))
CONTEXT = jax_mlir.make_ir_context()


def weir(texts, tmp_path):
    """Each text as weir prints it."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.mlir")
        paths[-1].write_text(text)
    done = subprocess.run([TOOL, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("//----\n")


def parse(text):
    with CONTEXT, ir.Location.unknown():
        return ir.Module.parse(text)


def generic(module, locations=False):
    return module.operation.get_asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=locations)


def without_implicit(text):
    """Where the text has no location MLIR takes the place in the text."""
    return re.sub(r'loc\("-":\d+:\d+( to :\d+)?\)', "loc(-)", text)


def with_file_name(text):
    """Locations printed from a module without any are places in an anonymous text; give it a name so that they count as locations."""
    return re.sub(r'"-":(\d)', r'"program.mlir":\1', text)


def forms(text):
    """The text itself, and its module in every form that can be asked of MLIR's printer."""
    asm = parse(text).operation.get_asm
    yield "as is", text
    yield "pretty", asm()
    yield "pretty, locations", with_file_name(asm(enable_debug_info=True))
    yield "pretty, local locations", with_file_name(asm(enable_debug_info=True, use_local_scope=True))
    yield "generic, aliases", with_file_name(asm(print_generic_op_form=True, enable_debug_info=True))
    yield "hook", with_file_name(asm(print_generic_op_form=True, use_local_scope=True, enable_debug_info=True))


def check(text, tmp_path):
    names, texts = zip(*forms(text))
    printed = weir(texts, tmp_path)
    for name, before, after in zip(names, texts, printed):
        have, want = parse(after), parse(before)
        assert generic(have) == generic(want), name
        assert without_implicit(generic(have, True)) == without_implicit(generic(want, True)), name
    for name, once, twice in zip(names, printed, weir(printed, tmp_path)):
        assert once == twice, name
    pretty, same = weir([texts[1], generic(parse(texts[1]))], tmp_path)
    assert pretty == same, "pretty and generic form give different modules"
    portable.check_written(printed[-1:], tmp_path)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus(path, tmp_path):
    check(path.read_text(), tmp_path)


def test_everything(tmp_path):
    check((ROOT / "test/lit/in/everything.mlir").read_text(), tmp_path)


@pytest.fixture(scope="module")
def lowered(tmp_path_factory):
    """Programs lowered by the JAX that is installed, in a process with four devices."""
    folder = tmp_path_factory.mktemp("lowered")
    subprocess.run([sys.executable, ROOT / "test/python/roundtrip_programs.py", folder], check=True)
    return folder


def test_lowered(lowered, tmp_path):
    paths = sorted(lowered.glob("*.mlir"))
    assert len(paths) > 40
    for path in paths:
        print(path.name)
        check(path.read_text(), tmp_path)


# Spellings that JAX does not print today, or prints rarely.
FRAGMENTS = [
    "%0 = stablehlo.constant() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>",
    "%0 = stablehlo.constant() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>",
    "%0 = stablehlo.constant {a.b = 1 : i32} dense<[1, 2]> : tensor<2xi32>",
    "%0 = chlo.constant dense<[1, 2]> : tensor<2xi32>",
    "%0 = stablehlo.dot %m, %a, precision = [HIGHEST, DEFAULT] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    "%0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    "%0 = stablehlo.custom_call @\"a b\"(%a) {api_version = 4 : i32, backend_config = {x = 1 : i32}, y.z = \"\\00\\FF\\\"\\\\\"} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<2xi1>>",
    "%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>",
    "%0 = stablehlo.convert %a {later, x = 5, y = [1 : i8, unit, -3 : i64, true, 0x7FC0 : bf16, 1.5]} : (tensor<4xf32>) -> tensor<4xi4>",
    "%0 = stablehlo.cholesky %m : tensor<4x4xf32>",
    "stablehlo.optimization_barrier ()",
    "%0 = stablehlo.create_token : !stablehlo.token  %1 = stablehlo.after_all %0, %0 : !stablehlo.token  %2 = stablehlo.after_all : !stablehlo.token",
    "%0:2 = stablehlo.while(%i = %a, %j = %m) : tensor<4xf32>, tensor<4x4xf32> attributes {x.y = 1 : i32} cond { %c = stablehlo.constant dense<true> : tensor<i1> "
    "stablehlo.return %c : tensor<i1> } do { stablehlo.return %i, %j : tensor<4xf32>, tensor<4x4xf32> }",
    "%z = stablehlo.constant dense<0.0> : tensor<f32> %0 = stablehlo.reduce(%m init: %z) applies stablehlo.maximum across dimensions = [0, 1] {x.y} : "
    "(tensor<4x4xf32>, tensor<f32>) -> tensor<f32>",
    "%0 = \"stablehlo.sort\"(%a) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1> "
    "\"stablehlo.return\"(%r) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true, x.y = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>",
    "%0 = stablehlo.slice %m [1:3:2, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>",
    "%0 = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>  %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
    "%0 = stablehlo.partition_id : tensor<ui32>  %1 = stablehlo.replica_id : tensor<ui32>",
    "%0 = stablehlo.iota dim = 1 : tensor<2x3xui8>",
    "%s = stablehlo.constant dense<4> : tensor<1xi64> %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi32> "
    "%1 = stablehlo.dynamic_broadcast_in_dim %0, %s, dims = [0] {known_expanding_dimensions = array<i64: 0>} : (tensor<?xi32>, tensor<1xi64>) -> tensor<?xi32> "
    "%2 = stablehlo.dynamic_reshape %1, %s : (tensor<?xi32>, tensor<1xi64>) -> tensor<?xi32, #stablehlo.bounds<7>>",
    "%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>",
    "%0 = stablehlo.einsum %m, %a, config = \"ij,j->i\" : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    "%0:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)",
    "%0 = chlo.broadcast_compare %m, %a {broadcast_dimensions = array<i64: 1>, comparison_direction = #chlo<comparison_direction GT>} : "
    "(tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xi1>",
    "%0 = \"stablehlo.batch_norm_inference\"(%m, %a, %a, %a, %a) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : "
    "(tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>",
]


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=range(len(FRAGMENTS)))
def test_fragment(fragment, tmp_path):
    check(f"func.func @f(%a: tensor<4xf32> {{x.y = 1 : i32}}, %m: tensor<4x4xf32>) attributes {{z.z}} {{ {fragment} return }}\n", tmp_path)


CONSTANTS = [
    "[1.0, 0x7FC00000, -0.0, 1.0e-45] : tensor<4xf32>", "0x7FF0000000000000 : tensor<f64>", "[0x7F80, 0xFF80, 1.5] : tensor<3xbf16>",
    "[0.1, 65504.0, 6.0e-8] : tensor<3xf16>", "70000.0 : tensor<f16>", "[(1.0,-2.5), (0x7F800000,0.1)] : tensor<2xcomplex<f32>>",
    "(1.0e-310,2.0) : tensor<3xcomplex<f64>>", "[true, false, true] : tensor<3xi1>", "1 : tensor<3xi1>",
    "[-8, 7, 15, 0x9] : tensor<4xi4>", "[1, 15] : tensor<2xui4>", "[1, -2, 3] : tensor<3xi2>", "\"0x0F\" : tensor<i4>",
    "\"0x0102030405060708\" : tensor<8xi4>", "255 : tensor<i8>", "18446744073709551615 : tensor<2xui64>", "-9223372036854775808 : tensor<i64>",
    "[1, 1, 1] : tensor<3xi32>", "[[1, 2], [3, 4]] : tensor<2x2xui16>", "[] : tensor<0xf32>", "[[], []] : tensor<2x0xi32>", "1 : tensor<0xi32>",
    " : tensor<0x3xi32>", "\"0x0000803F\" : tensor<7xf32>", "\"0x00000000000080BF\" : tensor<3xcomplex<f32>>", "1.00000005960464478 : tensor<f32>",
    "123456789.0 : tensor<f32>", "0.333333333333333314829616256247390992939472198486328125 : tensor<f64>", "1.0e-400 : tensor<f64>",
    "2.2250738585072011e-308 : tensor<f64>", "[1., 2.5E+3] : tensor<2xf32>",
] + [f"{list_} : tensor<9x{dtype}>" for list_ in ["[0.0, -0.0, 1.5, 0.4, 3.3, -5.0, 1000.0, 1.0e-9, 0.0625]"] for dtype in [
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"]]


@pytest.mark.parametrize("constant", CONSTANTS)
def test_constant(constant, tmp_path):
    literal, dtype = constant.split(" : ")
    check(f"func.func @f() {{ %0 = stablehlo.constant dense<{literal}> : {dtype} return }}\n", tmp_path)


@pytest.mark.parametrize("dtype", ["i1", "i2", "ui4", "i8", "ui16", "i32", "ui64", "bf16", "f16", "f32", "f64", "f8E4M3FN", "complex<f32>"])
def test_long_constant(dtype, tmp_path):
    value = {"i1": "true, false", "complex<f32>": "(1.0,0.5), (2.0,0x7FC00000)"}.get(dtype, "1, 0" if "i" in dtype else "1.5, -0.0")
    check(f"func.func @f() {{ %0 = stablehlo.constant dense<[{', '.join([value] * 75)}]> : tensor<150x{dtype}> return }}\n", tmp_path)
