/* The reader: what programs become, where errors are found, and bounds. (test_roundtrip.py compares
 * with stock MLIR.) */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "ir/floats.h"
#include "out/out.h"

static ctx c;

static ir_module *read_or_die(const char *text) {
  ir_module *m;
  if (in_stablehlo_text(&c, text, strlen(text), &m) == WEIR_OK) return m;
  fprintf(stderr, "%s\n%s\n", c.message, text);
  abort();
}

static const char *print(ir_module *m) {
  strbuf b = strbuf_make(m->arena);
  out_stablehlo_text(m, &b);
  return b.text;
}

static void same(const char *text, const char *other) {
  ir_module *m = read_or_die(text), *n = read_or_die(other);
  if (strcmp(print(m), print(n))) fprintf(stderr, "%s\n%s\n", print(m), print(n)), abort();
  ir_module_destroy(m);
  ir_module_destroy(n);
}

static char buffer[1 << 20];
/* A function of %a : tensor<4xf32>, %p : tensor<i1>, %z : tensor<f32> with the op in its body. */
static const char *in_function(const char *op) {
  snprintf(buffer, sizeof buffer,
           "func.func @f(%%a: tensor<4xf32>, %%p: tensor<i1>, %%z: tensor<f32>) {\n%s\nreturn\n}",
           op);
  return buffer;
}

static void same_op(const char *pretty, const char *generic) {
  static char copy[1 << 12];
  strcpy(copy, in_function(pretty));
  same(copy, in_function(generic));
}

/* The message begins with the place and holds the words. */
static void fails(const char *text, weir_status wanted, const char *place, const char *words) {
  ir_module *m;
  weir_status status = in_stablehlo_text(&c, text, strlen(text), &m);
  if (status == wanted && !m && !strncmp(c.message, place, strlen(place)) &&
      c.message[strlen(place)] == ':' && strstr(c.message, words))
    return;
  fprintf(stderr, "%s: %s\nwanted %s: ... %s\n%s\n", weir_status_name(status), c.message, place,
          words, text);
  abort();
}

static void forms_agree(void) {
  same("\"x.y\"() {a = () -> (), b = tuple<>} : () -> ()", "\"x.y\"(){a=()->(),b=tuple<>}:()->()");
  same("module {}", "\"builtin.module\"() ({}) : () -> ()");
  same("func.func private @g(tensor<f32>) -> (tensor<f32>, tensor<i1>)",
       "\"func.func\"() <{function_type = (tensor<f32>) -> (tensor<f32>, tensor<i1>), sym_name = "
       "\"g\", sym_visibility = \"private\"}> ({}) : () -> ()");
  same_op("%0 = stablehlo.add %a, %a : tensor<4xf32>",
          "%0 = \"stablehlo.add\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>");
  same_op("%0 = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>",
          "%0 = \"stablehlo.is_finite\"(%a) : (tensor<4xf32>) -> tensor<4xi1>");
  same_op("%0 = stablehlo.iota dim = 0 {x.y} : tensor<4xi8>",
          "%0 = \"stablehlo.iota\"() <{iota_dimension = 0 : i64}> {x.y} : () -> tensor<4xi8>");
  same_op(
      "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : "
      "(tensor<4xf32>, tensor<f32>) -> tensor<f32>",
      "%0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 0>}> ({ ^bb0(%x: tensor<f32>, "
      "%y: tensor<f32>): "
      "%1 = \"stablehlo.maximum\"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32> "
      "\"stablehlo.return\"(%1) : (tensor<f32>) -> () "
      "}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>");
  same_op(
      "%0 = stablehlo.while(%i = %p) : tensor<i1> cond { stablehlo.return %i : tensor<i1> } do { "
      "stablehlo.return %i : tensor<i1> }",
      "%0 = \"stablehlo.while\"(%p) ({ ^bb0(%i: tensor<i1>): \"stablehlo.return\"(%i) : "
      "(tensor<i1>) -> () }, { ^bb0(%i: tensor<i1>): "
      "\"stablehlo.return\"(%i) : (tensor<i1>) -> () }) : (tensor<i1>) -> tensor<i1>");
  same_op(
      "%0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, "
      "34.0:16>>",
      "%0 = \"stablehlo.uniform_quantize\"(%a) : (tensor<4xf32>) -> "
      "tensor<4x!quant.uniform<i8:f32, 34.0:16>>");
  same_op("%0 = chlo.constant dense<1> : tensor<2x!x.y>",
          "%0 = \"chlo.constant\"() <{value = dense<1> : tensor<2x!x.y>}> : () -> tensor<2x!x.y>");
}

static void attributes_are_decoded(void) {
  ir_module *m = read_or_die(
      "\"x.y\"() {a, b = true, c = -3 : i32, d = 1.5 : bf16, e = \"\\22\\0A\\\\\", f = @g, g = "
      "f64, h = array<i64: 1, -2>, i = array<i1: true, false>, "
      "j = [1, [2]], k = {z = 1, a = 2}, l = dense<[1, 2]> : tensor<2xi64>, m = #x.y<a>, n = 255 : "
      "ui8, o = 255 : i8, p = 0x7FC0 : bf16} : () -> ()");
  ir_op o = ir_block_get(m, ir_op_get(m, m->root)->regions[0])->ops.at[0];
  static const ir_attr_kind kinds[] = {IR_ATTR_UNIT,   IR_ATTR_BOOL,   IR_ATTR_INT,  IR_ATTR_FLOAT,
                                       IR_ATTR_STRING, IR_ATTR_SYMBOL, IR_ATTR_TYPE, IR_ATTR_I64S,
                                       IR_ATTR_BOOLS,  IR_ATTR_ARRAY,  IR_ATTR_DICT, IR_ATTR_DENSE,
                                       IR_ATTR_OTHER,  IR_ATTR_INT,    IR_ATTR_INT,  IR_ATTR_FLOAT};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char name[2] = {(char)('a' + i)};
    ir_attr a = ir_op_attr(m, o, name);
    assert(a && ir_attr_get(m, a)->kind == kinds[i]);
  }
  int32_t n;
  const int64_t *ints;
  assert(ir_kind_of(m, o) == IR_OP_UNKNOWN && !strcmp(ir_op_name(m, o), "x.y"));
  assert(ir_op_bool(m, o, "b", false) && ir_op_int(m, o, "c", 0) == -3 &&
         ir_attr_get(m, ir_op_attr(m, o, "d"))->real == 1.5);
  assert(!strcmp(ir_op_string(m, o, "e"), "\"\n\\") && !strcmp(ir_op_string(m, o, "f"), "g") &&
         !strcmp(ir_op_string(m, o, "m"), "#x.y<a>"));
  ints = ir_op_ints(m, o, "h", &n);
  assert(n == 2 && ints[0] == 1 && ints[1] == -2);
  ints = ir_op_ints(m, o, "i", &n);
  assert(n == 2 && ints[0] == 1 && ints[1] == 0);
  ints = ir_op_ints(m, o, "l", &n);
  assert(n == 2 && ints[0] == 1 && ints[1] == 2);
  const ir_attr_data *dict = ir_attr_get(m, ir_op_attr(m, o, "k"));
  assert(dict->count == 2 && !strcmp(ir_text(m, dict->entries[0].name), "a")); /* sorted */
  assert(ir_op_int(m, o, "n", 0) == 255 && ir_op_int(m, o, "o", 0) == -1);
  double nan = ir_attr_get(m, ir_op_attr(m, o, "p"))->real;
  assert(nan != nan);
  ir_module_destroy(m);
}

/* The bytes of a constant, as hex digits in memory order, and whether it is a splat. */
static void constant(const char *literal, const char *bytes, bool splat) {
  char op[512], have[256];
  snprintf(op, sizeof op, "%%0 = stablehlo.constant dense<%s", literal);
  ir_module *m = read_or_die(in_function(op));
  ir_block body = ir_op_get(m, ir_find_function(m, "f"))->regions[0];
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, ir_block_get(m, body)->ops.at[0], "value"));
  assert(d->kind == IR_ATTR_DENSE && d->splat == splat);
  int64_t n = splat ? ir_dtype_bytes(ir_type_get(m, d->type)->dtype) : ir_type_bytes(m, d->type);
  for (int64_t i = 0; i < n; i++)
    snprintf(have + 2 * i, 3, "%02X", ((const unsigned char *)d->data)[i]);
  have[2 * n] = 0;
  if (strcmp(have, bytes)) fprintf(stderr, "%s: %s, wanted %s\n", literal, have, bytes), abort();
  ir_module_destroy(m);
}

static void constants_are_decoded(void) {
  constant("[1, -2]> : tensor<2xi16>", "0100FEFF", false);
  constant("[7, 7]> : tensor<2xi16>", "0700", true);
  constant("[true, false]> : tensor<2xi1>", "0100", false);
  constant("[-8, 7, 15]> : tensor<3xi4>", "F807FF", false);
  constant("[3, 12]> : tensor<2xui4>", "030C", false);
  constant("\"0x01F2\"> : tensor<2xi4>", "0102", false);
  constant("\"0x0108\"> : tensor<2xi4>", "01F8", false);
  constant("\"0x0100010001\"> : tensor<5xi1>", "0100010001", false);
  constant("\"0x5501\"> : tensor<9xi1>", "010001000100010001", false); /* a bit each */
  constant("\"0xFF\"> : tensor<9xi1>", "01", true);
  constant("1.0> : tensor<3xf32>", "0000803F", true);
  constant("[0.0, -0.0]> : tensor<2xf32>", "0000000000000080", false);
  constant("[0x7FC0, 1.00390625, 1.01171875]> : tensor<3xbf16>", "C07F803F823F",
           false); /* ties to even */
  constant("[65519.0, 65520.0, 2.9802322387695313e-08]> : tensor<3xf16>", "FF7B007C0000", false);
  constant("(1.0,-2.0)> : tensor<2xcomplex<f32>>", "0000803F000000C0", true);
  constant("\"0x0000803F000000C0\"> : tensor<9xcomplex<f32>>", "0000803F000000C0", true);
  constant("[449.0, 464.1, 0.001]> : tensor<3xf8E4M3FN>", "7E7F01", false);
  constant("[5.0, 1.0e9]> : tensor<2xf4E2M1FN>", "0607", false);
  constant("[2.5, 3.0, 0.0]> : tensor<3xf8E8M0FNU>", "808100", false);
  constant("[-0.0, 1.0]> : tensor<2xf8E5M2FNUZ>", "0040", false);
  constant("18446744073709551615> : tensor<ui64>", "FFFFFFFFFFFFFFFF", true);
  constant("-9223372036854775808> : tensor<i64>", "0000000000000080", true);
  constant("0.1> : tensor<f64>", "9A9999999999B93F", true);
  constant("123456789012345678901234567890.0e-29> : tensor<f64>", "FB598C42CAC0F33F", true);
  constant("[[], []]> : tensor<2x0xf32>", "", false);
  constant("> : tensor<0xf32>", "", false);
}

static void numbers_survive(void) {
  static const ir_dtype dtypes[] = {IR_BF16,     IR_F16,      IR_F8E4M3FN,
                                    IR_F8E5M2,   IR_F8E3M4,   IR_F8E4M3B11FNUZ,
                                    IR_F4E2M1FN, IR_F6E3M2FN, IR_F8E8M0FNU};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    for (uint64_t bits = 0; bits < (uint64_t)1 << ir_float_width(dtypes[i]); bits++) {
      double value = ir_float_value(dtypes[i], bits);
      assert(value != value || ir_float_bits(dtypes[i], value) == bits);
    }
}

static void locations_are_expanded(void) {
  ir_module *m = read_or_die(
      "\"a.b\"() : () -> () loc(#loc2)\n#loc = loc(\"f.py\":1:2)\n#loc1 = loc(\"g\"(#loc))\n#loc2 "
      "= loc(callsite(#loc1 at  #loc))\n");
  ir_op o = ir_block_get(m, ir_op_get(m, m->root)->regions[0])->ops.at[0];
  assert(!strcmp(ir_text(m, ir_op_get(m, o)->location),
                 "callsite(\"g\"(\"f.py\":1:2) at \"f.py\":1:2)"));
  ir_module_destroy(m);
  strcpy(buffer, "\"a.b\"() : () -> () loc(#l60)\n#l0 = loc(\"f.py\":1:2)\n");
  for (int i = 1; i <= 60; i++)
    snprintf(buffer + strlen(buffer), 64, "#l%d = loc(fused[#l%d, #l%d])\n", i, i - 1,
             i - 1); /* 2^60 of them */
  ir_module_destroy(read_or_die(buffer));
  strcpy(buffer, "\"a.b\"() : () -> () loc(#l3000)\n#l0 = loc(\"f\":1:2)\n");
  for (int i = 1, n = (int)strlen(buffer); i <= 3000; i++)
    n += snprintf(buffer + n, 64, "#l%d = loc(\"n\"(#l%d))\n", i, i - 1);
  ir_module_destroy(read_or_die(buffer));
}

static void huge_types_are_cheap(void) {
  ir_module *m = read_or_die(
      "func.func @f(%a: tensor<999999999999x99999999999xf32>) { %0 = stablehlo.constant dense<1.0> "
      ": tensor<999999999999x99999999999xf32> return }");
  ir_block body = ir_op_get(m, ir_find_function(m, "f"))->regions[0];
  assert(ir_value_bytes(m, ir_block_get(m, body)->args.at[0]) == INT64_MAX &&
         c.live_bytes < 1 << 20);
  ir_module_destroy(m);
}

static void nested(const char *head, const char *open, const char *close, const char *tail,
                   int depth, bool reads) {
  ir_module *m;
  char *s = buffer + sprintf(buffer, "%s", head);
  for (int i = 0; i < depth; i++) s += sprintf(s, "%s", open);
  for (int i = 0; i < depth; i++) s += sprintf(s, "%s", close);
  sprintf(s, "%s", tail);
  weir_status status = in_stablehlo_text(&c, buffer, strlen(buffer), &m);
  assert(status == (reads ? WEIR_OK : WEIR_INVALID_ARGUMENT));
  if (reads) ir_module_destroy(m);
  else assert(strstr(c.message, "nested deeper than 256 levels"));
}

static void depth_is_bounded(void) {
  nested("\"x.y\"() {a = ", "[", "]", "} : () -> ()", 200, true);
  nested("\"x.y\"() {a = ", "[", "]", "} : () -> ()", 50000, false);
  nested("\"x.y\"() {a = ", "{b = ", "}", "} : () -> ()", 50000, false);
  nested("", "\"x.y\"() ({ ", "}) : () -> ()\n", "", 200, true);
  nested("", "\"x.y\"() ({ ", "}) : () -> ()\n", "", 10000, false);
  nested("\"x.y\"() {a = ", "tuple<", ">", "} : () -> ()", 50000, false);
  nested("\"x.y\"() {a = #x.y", "<", ">", "} : () -> ()", 50000, true); /* text */
  strcpy(buffer, "#a0 = [1]\n");
  for (int i = 1, n = (int)strlen(buffer); i <= 3000; i++)
    n += snprintf(buffer + n, 64, "#a%d = [#a%d]\n", i, i - 1);
  fails(buffer, WEIR_INVALID_ARGUMENT, "86:13", "nested deeper");
}

static void errors_have_places(void) {
  const weir_status bad = WEIR_INVALID_ARGUMENT, other = WEIR_UNIMPLEMENTED;
  fails("module {", bad, "1:9", "found the end of the text, wanted '}' or an op");
  fails("module {\n  func.func @f() {\n    return %0 : tensor<f32>\n  }\n}", bad, "3:12",
        "'%0' is used but not defined");
  fails("ML\xefR", bad, "1:1", "bytecode");
  fails("}", bad, "1:1", "found '}', wanted an op");
  fails("hello", bad, "1:1", "found 'hello', wanted an op");
  fails(in_function("%0 = stablehlo.frobnicate %a : tensor<4xf32>"), other, "2:6",
        "'stablehlo.frobnicate' is not known; print the program in generic form");
  fails(in_function("%0 = stablehlo.sort %a : tensor<4xf32>"), other, "2:6", "generic form");
  fails(in_function("%0 = stablehlo.add %a, %z : tensor<4xf32>"), bad, "2:6",
        "operand 1 is tensor<f32>, but its type here is tensor<4xf32>");
  fails(in_function("%0 = \"stablehlo.add\"(%a, %a) : (tensor<4xf32>) -> tensor<4xf32>"), bad,
        "2:6", "2 operands, but types for 1");
  fails(in_function("%0:2 = stablehlo.add %a, %a : tensor<4xf32>"), bad, "2:1",
        "names for 2 results of an op that has 1");
  fails(in_function("%0 = stablehlo.add %a#1, %a : tensor<4xf32>"), bad, "2:22", "has 1 results");
  fails(in_function("%a = stablehlo.add %a, %a : tensor<4xf32>"), bad, "2:1",
        "'%a' is defined twice");
  fails(in_function("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>"), bad, "2:31",
        "a list of 2, wanted the 3");
  fails(in_function("%0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<3xi32>"), bad, "2:40",
        "more than the 3 elements");
  fails(in_function("%0 = stablehlo.constant dense<[[1], [2]]> : tensor<2xi32>"), bad, "2:32",
        "wanted a number of type i32");
  fails(in_function("%0 = stablehlo.constant dense<256> : tensor<i8>"), bad, "2:31",
        "does not fit in i8");
  fails(in_function("%0 = stablehlo.constant dense<1> : tensor<f32>"), bad, "2:31",
        "an integer where a number of type f32 is wanted");
  fails(in_function("%0 = stablehlo.constant dense<\"0x123\"> : tensor<f32>"), bad, "2:31",
        "an even number of hex digits");
  fails(in_function("%0 = stablehlo.constant dense<\"0x1234\"> : tensor<f32>"), bad, "2:31",
        "a constant of 2 bytes, wanted 1 elements of 4");
  fails(in_function("%0 = stablehlo.constant dense<[1, 2]> : tensor<9999999999999999xi32>"), bad,
        "2:31", "fewer than the 9999999999999999 elements");
  fails(in_function("%0 = stablehlo.constant dense_resource<x> : tensor<3xi32>"), other, "2:25",
        "resource");
  fails(in_function("%0 = stablehlo.constant dense<1> : tensor<99999999999999999999xi32>"), bad,
        "2:43", "does not fit in 64 bits");
  fails("func.func @f() { ^bb0: return ^bb1: return }", other, "1:31", "several blocks");
  fails("\"x.y\"() [^bb0] : () -> ()", other, "1:9", "successor");
  fails("\"x.y\"() {a = #b} : () -> ()", bad, "1:14", "an alias that is not defined");
  fails("#a = [#a]\n", bad, "1:5", "in terms of itself");
  fails("#a = 1\n#a = 2\n", bad, "2:1", "defined twice");
  fails("\"x.y\"() {a = 1, a = 2} : () -> ()", bad, "1:17", "twice");
  fails("\"x.y\"() {a = \"b} : () -> ()", bad, "1:14", "a string that does not end");
  fails("\"x.y\"() {a = #b.c<[)>} : () -> ()", bad, "1:20", "found ')', wanted ']'");
  fails("\"x.y\"() {a = 5 : f32} : () -> ()", bad, "1:14", "an integer where");
  fails("\"x.y\"() : () -> tensor<4xfoo>", bad, "1:26", "wanted a type");
  fails("{-# dialect_resources: {} #-}", other, "1:1", "resources");
}

int main(void) {
  ctx_init(&c);
  forms_agree();
  attributes_are_decoded();
  constants_are_decoded();
  numbers_survive();
  locations_are_expanded();
  huge_types_are_cheap();
  depth_is_bounded();
  errors_have_places();
  ctx_deinit(&c);
  return 0;
}
