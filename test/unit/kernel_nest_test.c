/* Nests (kernel/nest.h) of loops that must agree on values: a sum that is compared is summed up
 * term by term, inside of the tile, as in the loop that makes it again. Where it would lie along
 * the columns, one sum a lane, there is no kernel. */
#include "kernel/nest.h"
#include "program_testing.h"

/* Sums over 512 of what 64 rows make, and which are large: rows and columns are all axes there are.
 */
#define BODY                                                                                       \
  "func.func public @main(%%a: tensor<64x512xf32>, %%b: tensor<64xf32>) -> tensor<64xf32> {\n"     \
  "%%0 = \"weir.loop\"(%%a, %%b) ({\n"                                                             \
  "^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%x: tensor<64x512xf32>, %%y: tensor<64xf32>):\n" \
  "%%p = stablehlo.multiply %%x, %%x : tensor<64x512xf32>\n"                                       \
  "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                            \
  "%%s = stablehlo.reduce(%%p init: %%z) applies stablehlo.%s across dimensions = [1] :"           \
  " (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>\n"                                         \
  "%%q = stablehlo.compare GE, %%%s, %%y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>\n"    \
  "%%r = stablehlo.select %%q, %%s, %%y : tensor<64xi1>, tensor<64xf32>\n"                         \
  "\"weir.yield\"(%%r) : (tensor<64xf32>) -> ()\n"                                                 \
  "}) {agree = %s, extent = 64 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>,"    \
  " out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = \"a test\", slice = 64 : i64} :"   \
  " (tensor<64x512xf32>, tensor<64xf32>) -> tensor<64xf32>\n"                                      \
  "return %%0 : tensor<64xf32>\n}\n"

typedef struct question {
  bool is_covered, sums_columns; /* out */
} question;

static weir_status read_nest(ir_module *m, arena *a, void *user) {
  question *q = user;
  ir_op loop = ir_block_get(m, ir_body(m, ir_main_function(m)))->ops.at[0];
  machine on = machine_of_level(MACHINE_X86_64_V4);
  kernel_nest n;
  const char *why;
  q->is_covered = kernel_nest_of(a, m, loop, &on, &n, &why);
  q->sums_columns = q->is_covered && n.n_axes == 2 && n.extent[n.column] == 512;
  return WEIR_OK;
}

/* of: what is compared, s (the sum) or y; with: what sums up. */
static question ask(bool agree, const char *of, const char *with) {
  char text[sizeof BODY + 64];
  snprintf(text, sizeof text, BODY, with, of, agree ? "true" : "false");
  question q = {0};
  weir_status status = program_ask((program_asked){.text = text, .ask = read_nest, .user = &q});
  assert(status == WEIR_OK);
  return q;
}

int main(void) {
  assert(!ask(true, "s", "add").is_covered);
  assert(ask(false, "s", "add").sums_columns);
  assert(ask(true, "y", "add").sums_columns);     /* it is compared with nothing */
  assert(ask(true, "s", "maximum").sums_columns); /* it rounds nothing */
  return 0;
}
