/* The passes where text tests don't reach: failing allocations, growth out of hand, calls nested
 * too deep, a pass that breaks the program, and that passes are idempotent. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"
#include "pass/pass.h"

static weir_status break_module(pass_ctx *p, ir_module *m) {
  ir_block body = ir_op_get(m, ir_main_function(m))->regions[0];
  ir_block_get(m, body)->ops.count--;
  p->changed = true;
  return WEIR_OK;
}

static const pass pass_break = {"break", break_module};
static const pass *const passes[] = {&pass_inline, &pass_simplify, &pass_cse, &pass_dce, NULL};
static const pass *const rewriting[] = {&pass_simplify, &pass_cse, &pass_diagonal,
                                        &pass_distance, &pass_dce, NULL};
static const pass *const distributing[] = {&pass_distribute, NULL};
static const pass *const cutting[] = {&pass_through_slice, NULL};
static const pass *const padding[] = {&pass_through_pad, NULL};
static const pass *const ranking[] = {&pass_topk, NULL};
static const pass *const centring[] = {&pass_centre, &pass_dce, &pass_sums, NULL};
static const pass *const respelling[] = {
    &pass_constants,    &pass_static, &pass_implicit, &pass_einsum,
    &pass_index_select, &pass_bits,   &pass_map,      NULL};
static const pass *const unflattening[] = {&pass_flat_index, NULL};
static const pass *const breaking[] = {&pass_cse, &pass_break, NULL};

enum { MOST_PASSES = 8, MOST_TEXT = 1 << 16 };

typedef struct run {
  ctx c;
  const char *text;
  const pass *const *table;
  const char *only;
  int64_t limit;
  machine machine;
  int rounds;        /* how often all passes are run */
  int64_t ops;       /* out: afterwards */
  bool changed_last; /* out: in the last round */
  ir_module *m;
} run;

static weir_status go(void *user) {
  run *r = user;
  weir_options options = WEIR_OPTIONS_INIT;
  options.only_passes = r->only;
  options.memory_limit_bytes = r->limit;
  options.platform = "cpu";
  WEIR_TRY(machine_parse(&r->c, "x86-64-v3", &r->machine));
  WEIR_TRY(machine_settle(&r->c, &r->machine, &options.platform));
  pass_row rows[MOST_PASSES + 1] = {0};
  for (int i = 0; r->table[i]; i++)
    rows[i] = (pass_row){.pass = r->table[i], .name = r->table[i]->name};
  pass_driver d = {.c = &r->c, .options = &options, .table = rows, .machine = &r->machine};
  WEIR_TRY(pass_check_options(&d));
  WEIR_TRY(in_stablehlo_text(&r->c, r->text, strlen(r->text), &r->m));
  WEIR_TRY(ir_verify(r->m));
  for (int round = 0; round < r->rounds; round++) {
    r->changed_last = false;
    for (const pass *const *p = r->table; *p; p++) {
      bool changed;
      WEIR_TRY(pass_run(&d, *p, r->m, &changed));
      r->changed_last |= changed;
    }
  }
  r->ops = ir_count_below(r->m, r->m->root);
  return WEIR_OK;
}

/* Runs and frees all; the n-th allocation fails (-1: none). */
static weir_status run_failing(run *r, int64_t n, char *out_message) {
  ctx_init(&r->c);
  r->c.fail_after = n;
  weir_status status = ctx_try(&r->c, go, r);
  if (out_message) memcpy(out_message, r->c.message, sizeof r->c.message);
  ctx_deinit(&r->c);
  return status;
}

static const char *const program =
    "module {\n"
    "  func.func public @main(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {\n"
    "    %c = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
    "    %d = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
    "    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "    %1 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "    %2 = stablehlo.multiply %0, %c : tensor<8xf32>\n"
    "    %3 = stablehlo.multiply %1, %d : tensor<8xf32>\n"
    "    %4:3 = stablehlo.while(%n = %i, %x = %2, %y = %3) : tensor<i32>, tensor<8xf32>, "
    "tensor<8xf32>\n"
    "     cond {\n"
    "      %p = stablehlo.compare LT, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "      stablehlo.return %p : tensor<i1>\n"
    "    } do {\n"
    "      %n1 = stablehlo.add %n, %n : tensor<i32>\n"
    "      %x1 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
    "      stablehlo.return %n1, %x1, %y : tensor<i32>, tensor<8xf32>, tensor<8xf32>\n"
    "    }\n"
    "    return %4#1 : tensor<8xf32>\n"
    "  }\n"
    "  func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
    "    %0 = stablehlo.tanh %a : tensor<8xf32>\n"
    "    %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<8xf32>\n"
    "    return %1 : tensor<8xf32>\n"
    "  }\n"
    "}\n";

/* Differences of all pairs, squared, summed and differentiated; the trace of a product. */
static const char *const products =
    "func.func public @main(%x: tensor<9x12xf32>, %y: tensor<7x12xf32>, %g: tensor<9x7xf32>) -> "
    "(tensor<9x7xf32>, tensor<9x12xf32>, tensor<f32>) {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %zs = stablehlo.constant dense<0.0> : tensor<9x9xf32>\n"
    "  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<9x12xf32>) -> "
    "tensor<9x7x12xf32>\n"
    "  %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x12xf32>) -> "
    "tensor<9x7x12xf32>\n"
    "  %2 = stablehlo.subtract %0, %1 : tensor<9x7x12xf32>\n"
    "  %3 = stablehlo.multiply %2, %2 : tensor<9x7x12xf32>\n"
    "  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [2] : "
    "(tensor<9x7x12xf32>, tensor<f32>) -> tensor<9x7xf32>\n"
    "  %5 = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<9x7xf32>) -> "
    "tensor<9x7x12xf32>\n"
    "  %6 = stablehlo.multiply %5, %2 : tensor<9x7x12xf32>\n"
    "  %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [1] : "
    "(tensor<9x7x12xf32>, tensor<f32>) -> tensor<9x12xf32>\n"
    "  %8 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<9x12xf32>, "
    "tensor<9x12xf32>) -> tensor<9x9xf32>\n"
    "  %i = stablehlo.iota dim = 0 : tensor<9x9xi32>\n"
    "  %j = stablehlo.iota dim = 1 : tensor<9x9xi32>\n"
    "  %on = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> "
    "tensor<9x9xi1>\n"
    "  %9 = stablehlo.select %on, %8, %zs : tensor<9x9xi1>, tensor<9x9xf32>\n"
    "  %10 = stablehlo.reduce(%9 init: %z) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<9x9xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %4, %7, %10 : tensor<9x7xf32>, tensor<9x12xf32>, tensor<f32>\n"
    "}\n";

/* The sums of a centred matrix, from its product with I - 1/9. */
static const char *const centred =
    "func.func public @main(%x: tensor<7x9xf32>, %y: tensor<9x5xf32>) -> tensor<7xf32> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %q = stablehlo.constant dense<0.1111> : tensor<9x9xf32>\n"
    "  %i = stablehlo.iota dim = 0 : tensor<9x9xi32>\n"
    "  %j = stablehlo.iota dim = 1 : tensor<9x9xi32>\n"
    "  %on = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> "
    "tensor<9x9xi1>\n"
    "  %eye = stablehlo.convert %on : (tensor<9x9xi1>) -> tensor<9x9xf32>\n"
    "  %h = stablehlo.subtract %eye, %q : tensor<9x9xf32>\n"
    "  %0 = stablehlo.dot_general %x, %h, contracting_dims = [1] x [0] : (tensor<7x9xf32>, "
    "tensor<9x9xf32>) -> tensor<7x9xf32>\n"
    "  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<7x9xf32>, "
    "tensor<9x5xf32>) -> tensor<7x5xf32>\n"
    "  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : "
    "(tensor<7x5xf32>, tensor<f32>) -> tensor<7xf32>\n"
    "  return %2 : tensor<7xf32>\n"
    "}\n";

/* Two products with the same factor; a sort of which the first ones are looked at. */
static const char *const sums =
    "func.func public @main(%g: tensor<3x3xf32>, %x: tensor<3x90xf32>, %y: tensor<2x40xi32>) -> "
    "(tensor<3x90xf32>, tensor<2x3xi32>) {\n"
    "  %0 = stablehlo.dot_general %g, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, "
    "tensor<3x90xf32>) -> tensor<3x90xf32>\n"
    "  %1 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<3x3xf32>, "
    "tensor<3x90xf32>) -> tensor<3x90xf32>\n"
    "  %2 = stablehlo.add %0, %1 : tensor<3x90xf32>\n"
    "  %i = stablehlo.iota dim = 1 : tensor<2x40xi32>\n"
    "  %3:2 = \"stablehlo.sort\"(%y, %i) <{dimension = 1 : i64, is_stable = true}> ({\n"
    "  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):\n"
    "    %p = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  }) : (tensor<2x40xi32>, tensor<2x40xi32>) -> (tensor<2x40xi32>, tensor<2x40xi32>)\n"
    "  %4 = stablehlo.slice %3#1 [0:2, 0:3] : (tensor<2x40xi32>) -> tensor<2x3xi32>\n"
    "  return %2, %4 : tensor<3x90xf32>, tensor<2x3xi32>\n"
    "}\n";

/* Two of three rows of a product are read. */
static const char *const rows =
    "func.func public @main(%h: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x5xf32> {\n"
    "  %0 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<3x4xf32>, "
    "tensor<4x5xf32>) -> tensor<3x5xf32>\n"
    "  %1 = stablehlo.slice %0 [0:2, 0:5] : (tensor<3x5xf32>) -> tensor<2x5xf32>\n"
    "  return %1 : tensor<2x5xf32>\n"
    "}\n";

/* A product of zeros by a contracted and by a free dimension. */
static const char *const zeros =
    "func.func public @main(%d: tensor<2x5xf32>, %w: tensor<2x6xf32>) -> tensor<3x2xf32> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %0 = stablehlo.pad %d, %z, low = [1, 0], high = [0, 1], interior = [0, 0] : "
    "(tensor<2x5xf32>, tensor<f32>) -> tensor<3x6xf32>\n"
    "  %1 = stablehlo.negate %0 : tensor<3x6xf32>\n"
    "  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [1] : (tensor<3x6xf32>, "
    "tensor<2x6xf32>) -> tensor<3x2xf32>\n"
    "  return %2 : tensor<3x2xf32>\n"
    "}\n";

/* What other front ends spell in their own way. */
static const char *const respelled =
    "func.func @main(%a: tensor<3x3xf32>, %i: tensor<2xi64>) -> tensor<2x9xf32> {\n"
    "  %s = arith.constant dense<[1, 9]> : tensor<2xi64>\n"
    "  %m = \"stablehlo.map\"(%a) <{dimensions = array<i64: 0, 1>}> ({\n"
    "  ^bb0(%p: tensor<f32>):\n"
    "    %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
    "    %q = stablehlo.multiply %p, %c : tensor<f32>\n"
    "    stablehlo.return %q : tensor<f32>\n"
    "  }) : (tensor<3x3xf32>) -> tensor<3x3xf32>\n"
    "  %d = stablehlo.unary_einsum %m, config = \"ii->i\" : (tensor<3x3xf32>) -> "
    "tensor<3xf32>\n"
    "  %e = stablehlo.einsum %m, %d, config = \"ij,k->kj\" : (tensor<3x3xf32>, "
    "tensor<3xf32>) -> tensor<3x3xf32>\n"
    "  %f = chlo.broadcast_add %e, %d : (tensor<3x3xf32>, tensor<3xf32>) -> "
    "tensor<3x3xf32>\n"
    "  %r = stablehlo.dynamic_reshape %f, %s : (tensor<3x3xf32>, tensor<2xi64>) -> "
    "tensor<1x9xf32>\n"
    "  %t = \"stablehlo.torch_index_select\"(%r, %i) <{dim = 0 : i64, batch_dims = 0 : "
    "i64}> : (tensor<1x9xf32>, tensor<2xi64>) -> tensor<2x9xf32>\n"
    "  %g = stablehlo.constant dense<3> : tensor<3xui64>\n"
    "  %n, %b = stablehlo.rng_bit_generator %g, algorithm = PHILOX : (tensor<3xui64>) -> "
    "(tensor<3xui64>, tensor<2x5xui32>)\n"
    "  return %t : tensor<2x9xf32>\n"
    "}\n";

/* One index into what was flattened. */
static const char *const flattened =
    "func.func @main(%a: tensor<3x4xf32>, %i: tensor<2x1xi32>) -> (tensor<2xf32>, tensor<3x4xf32>) "
    "{\n"
    "  %s = stablehlo.sine %a : tensor<3x4xf32>\n"
    "  %f = stablehlo.reshape %s : (tensor<3x4xf32>) -> tensor<12xf32>\n"
    "  %g = \"stablehlo.gather\"(%f, %i) <{dimension_numbers = "
    "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
    "slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<2x1xi32>) -> tensor<2xf32>\n"
    "  %t = \"stablehlo.scatter\"(%f, %i, %g) <{scatter_dimension_numbers = "
    "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>}> ({\n"
    "  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "    %r = stablehlo.add %p, %q : tensor<f32>\n"
    "    stablehlo.return %r : tensor<f32>\n"
    "  }) : (tensor<12xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<12xf32>\n"
    "  %u = stablehlo.reshape %t : (tensor<12xf32>) -> tensor<3x4xf32>\n"
    "  return %g, %u : tensor<2xf32>, tensor<3x4xf32>\n"
    "}\n";

static void test_allocations(const char *text, const pass *const *table) {
  run r = {.text = text, .table = table, .limit = 1, .rounds = 1};
  int64_t n = 0;
  while (run_failing(&r, n, NULL) == WEIR_RESOURCE_EXHAUSTED) n++;
  char message[2048];
  weir_status last = run_failing(&r, n, message);
  if (last != WEIR_OK || !r.changed_last)
    fprintf(stderr, "allocation %d, %s: %s\n", (int)n, table[0]->name, message);
  assert(n > 5 && last == WEIR_OK && r.changed_last);
}

/* The programs of a pass's text test. */
static void test_allocations_of(const char *name, const pass *pass) {
  const struct pass *const table[] = {pass, &pass_dce, NULL};
  char path[512], text[MOST_TEXT];
  snprintf(path, sizeof path, WEIR_TEST_DIR "/lit/pass/%s.mlir", name);
  FILE *f = fopen(path, "rb");
  assert(f);
  size_t length = fread(text, 1, sizeof text, f);
  fclose(f);
  assert(length < sizeof text);
  text[length] = 0;
  test_allocations(text, table);
}

static void test_fixpoint(void) {
  run r = {.text = program, .table = passes, .rounds = 2};
  assert(run_failing(&r, -1, NULL) == WEIR_OK);
  assert(!r.changed_last);
  assert(r.ops == 9); /* func, tanh, while, return; its condition: 2, its body: 3 */
}

/* Function i calls function i + 1 `calls` times; the last one is a tanh. */
static char *chain(int length, int calls) {
  size_t room = (size_t)length * 200 + 1000, n = 0;
  char *text = malloc(room);
  n += (size_t)snprintf(
      text, room,
      "module {\nfunc.func public @main(%%a: tensor<f32>) -> tensor<f32> {\n%%0 = call @f0(%%a) : "
      "(tensor<f32>) -> tensor<f32>\nreturn %%0 : tensor<f32>\n}\n");
  for (int i = 0; i < length; i++) {
    n += (size_t)snprintf(text + n, room - n,
                          "func.func private @f%d(%%0: tensor<f32>) -> tensor<f32> {\n", i);
    for (int k = 0; k < calls; k++)
      n += (size_t)snprintf(text + n, room - n,
                            "%%%d = call @f%d(%%%d) : (tensor<f32>) -> tensor<f32>\n", k + 1, i + 1,
                            k);
    n += (size_t)snprintf(text + n, room - n, "return %%%d : tensor<f32>\n}\n", calls);
  }
  snprintf(text + n, room - n,
           "func.func private @f%d(%%a: tensor<f32>) -> tensor<f32> {\n%%0 = stablehlo.tanh %%a : "
           "tensor<f32>\nreturn %%0 : tensor<f32>\n}\n}\n",
           length);
  return text;
}

static int64_t ops_after_inline(int length, int calls) {
  run r = {.text = chain(length, calls), .table = passes, .only = "inline", .rounds = 1};
  weir_status status = run_failing(&r, -1, NULL);
  free((char *)r.text);
  assert(status == WEIR_OK);
  return r.ops;
}

static void test_growth(void) {
  assert(ops_after_inline(3, 2) == 10);        /* 8 tanh, return, func */
  assert(ops_after_inline(40, 2) < (1 << 21)); /* 2^40 if nothing stopped it */
  assert(ops_after_inline(5000, 1) < 100);     /* deeper than the stack of a careless recursion */
}

static void test_driver(void) {
  char message[2048];
  run r = {.text = program, .table = breaking, .rounds = 1};
  assert(run_failing(&r, -1, message) == WEIR_INTERNAL);
  assert(strstr(message, "pass break left a program that does not verify: "));
  r.only = "cse";
  assert(run_failing(&r, -1, message) == WEIR_OK);
  r.only = "inline";
  assert(run_failing(&r, -1, message) == WEIR_INVALID_ARGUMENT);
  assert(strstr(message, "no pass named \"inline\"; there are cse, break"));
}

int main(void) {
  test_allocations(program, passes);
  test_allocations(products, rewriting);
  test_allocations(sums, distributing);
  test_allocations(sums, ranking);
  test_allocations(rows, cutting);
  test_allocations(zeros, padding);
  test_allocations(centred, centring);
  test_allocations(respelled, respelling);
  test_allocations(flattened, unflattening);
  test_allocations_of("until-last", &pass_until_last);
  test_allocations_of("if-convert", &pass_if_convert);
  test_allocations_of("through-case", &pass_through_case);
  test_allocations_of("solve", &pass_solve);
  test_allocations_of("listed", &pass_listed);
  test_allocations_of("scatters", &pass_scatters);
  test_fixpoint();
  test_growth();
  test_driver();
  return 0;
}
