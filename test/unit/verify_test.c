/* ir_verify(): the programs of verify/, which violate each constraint once or must be accepted
 * although we can't check them, and the structural invariants, broken by hand. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "in/in.h"

typedef struct check {
  ctx c;
  const char *text;
  void (*damage)(ir_module *m); /* between reading and verifying */
} check;

static weir_status read_and_verify(void *user) {
  check *k = user;
  ir_module *m;
  weir_status status = in_stablehlo_text(&k->c, k->text, strlen(k->text), &m);
  if (status != WEIR_OK) {
    fprintf(stderr, "does not parse: %s\n%s\n", k->c.message, k->text);
    exit(1);
  }
  if (k->damage) k->damage(m);
  return ir_verify(m);
}

/* `want` NULL: verifies; else the status is `status` and the message contains `want`. */
static void expect(const char *text, void (*damage)(ir_module *m), weir_status status,
                   const char *want) {
  check k = {.text = text, .damage = damage};
  ctx_init(&k.c);
  weir_status got = ctx_try(&k.c, read_and_verify, &k);
  bool right = want ? got == status && strstr(k.c.message, want) : got == WEIR_OK;
  if (!right) {
    fprintf(stderr, "wanted %s, got %s: %s\n%s\n", want ? want : "no error", weir_status_name(got),
            k.c.message, text);
    exit(1);
  }
  ctx_deinit(&k.c);
}

/* ---- programs of verify/: each starts with `// wanted: MESSAGE` or `// wanted: no error`, `//
 * -----` between them ---- */
static char *read_file(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/unit/verify/%s.mlir", WEIR_TEST_DIR, name);
  FILE *f = fopen(path, "rb");
  if (!f) return perror(path), exit(1), NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  assert(n && n < (1 << 20) - 1);
  fclose(f);
  return text;
}

static void run_file(const char *name, int least) {
  static const char head[] = "// wanted: ", cut[] = "// -----\n";
  char *text = read_file(name), *next;
  int n = 0;
  for (char *p = text; p; p = next, n++) {
    next = strstr(p, cut);
    if (next) *next = 0, next += sizeof cut - 1;
    char *want = strstr(p, head);
    assert(want);
    want += sizeof head - 1;
    char *end = strchr(want, '\n');
    *end = 0;
    expect(end + 1, NULL, WEIR_INVALID_ARGUMENT, strcmp(want, "no error") ? want : NULL);
  }
  assert(n >= least);
  free(text);
}

/* ---- the structure, broken by hand ---- */
static const char *const two_ops =
    "module {\n  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n    %0 = "
    "stablehlo.tanh %a : tensor<2xf32>\n"
    "    %1 = stablehlo.abs %0 : tensor<2xf32>\n    return %1 : tensor<2xf32>\n  }\n}\n";

static ir_block main_body(ir_module *m) { return ir_op_get(m, ir_main_function(m))->regions[0]; }
static ir_op main_op(ir_module *m, uint32_t i) { return ir_block_get(m, main_body(m))->ops.at[i]; }

static void swap_ops(ir_module *m) {
  ir_op *ops = ir_block_get(m, main_body(m))->ops.at;
  ir_op first = ops[0];
  ops[0] = ops[1];
  ops[1] = first;
}

static void drop_terminator(ir_module *m) { ir_block_get(m, main_body(m))->ops.count--; }
static void empty_body(ir_module *m) { ir_block_get(m, main_body(m))->ops.count = 0; }
static void terminator_first(ir_module *m) {
  ir_op *ops = ir_block_get(m, main_body(m))->ops.at;
  ops[0] = ops[2];
}
static void extra_argument(ir_module *m) { ir_block_arg(m, main_body(m), ir_scalar(m, IR_F64)); }
static void bad_return_type(ir_module *m) {
  ir_op_get(m, main_op(m, 2))->operands[0] = ir_block_arg(m, main_body(m), ir_scalar(m, IR_F64));
}
static void no_return_value(ir_module *m) { ir_op_get(m, main_op(m, 2))->n_operands = 0; }
static void op_twice(ir_module *m) { ir_block_get(m, main_body(m))->ops.at[1] = main_op(m, 0); }
static void wrong_block(ir_module *m) { ir_op_get(m, main_op(m, 0))->block = 1; }
static void wrong_index(ir_module *m) {
  ir_value_get(m, ir_result(m, main_op(m, 0), 0))->index = 7;
}
static void no_operand(ir_module *m) { ir_op_get(m, main_op(m, 0))->operands[0] = IR_NONE; }
static void negative_dim(ir_module *m) { ir_tensor(m, IR_F32, 1, (int64_t[]){-7}); }
static void rank_65(ir_module *m) {
  int64_t dims[65] = {0};
  ir_tensor(m, IR_F32, 65, dims);
}

static void run_structure(void) {
  expect(two_ops, NULL, WEIR_OK, NULL);
  expect(two_ops, swap_ops, WEIR_INVALID_ARGUMENT,
         "stablehlo.abs: operand 0 is not defined before its use, in op 1 of @main");
  expect(two_ops, drop_terminator, WEIR_INVALID_ARGUMENT,
         "stablehlo.abs: ends a region of func.func, wanted func.return there");
  expect(two_ops, empty_body, WEIR_INVALID_ARGUMENT,
         "func.func: an empty region, wanted func.return at its end");
  expect(two_ops, terminator_first, WEIR_INVALID_ARGUMENT,
         "func.return: a terminator that does not stand at the end");
  expect(two_ops, extra_argument, WEIR_INVALID_ARGUMENT,
         "func.func: region 0 has 2 arguments, wanted 1");
  expect(two_ops, bad_return_type, WEIR_INVALID_ARGUMENT,
         "func.return: operand 0 is tensor<f64>, wanted tensor<2xf32>, in op 3 of @main");
  expect(two_ops, no_return_value, WEIR_INVALID_ARGUMENT,
         "func.return: 0 operands, wanted 1, in op 3 of @main");
  expect(two_ops, op_twice, WEIR_INTERNAL, "broken invariant");
  expect(two_ops, wrong_block, WEIR_INTERNAL, "broken invariant");
  expect(two_ops, wrong_index, WEIR_INTERNAL, "broken invariant");
  expect(two_ops, no_operand, WEIR_INTERNAL, "broken invariant");
  expect(two_ops, negative_dim, WEIR_INVALID_ARGUMENT, "dimension 0 of length -7");
  expect(two_ops, rank_65, WEIR_INVALID_ARGUMENT, "rank 65");
  expect("module { func.func @f() { return } func.func @f() { return } }", NULL,
         WEIR_INVALID_ARGUMENT, "a second function named @f");
  expect(
      "module { func.func @f(%a: tensor<2xf32>) {\n %0 = \"stablehlo.tanh\"(%a) : (tensor<2xf32>) "
      "-> tensor<3xf32> loc(\"f.py\":12:3)\n return } }",
      NULL, WEIR_INVALID_ARGUMENT,
      "stablehlo.tanh: the result is tensor<3xf32>, wanted tensor<2xf32> (tanh_c1), in op 1 of @f, "
      "at loc(\"f.py\":12:3)");
}

int main(void) {
  run_file("elementwise", 36);
  run_file("data", 52);
  run_file("contract", 84);
  run_file("indexing", 49);
  run_file("region", 46);
  run_file("loop", 22);
  run_file("accepted", 10);
  run_structure();
  return 0;
}
