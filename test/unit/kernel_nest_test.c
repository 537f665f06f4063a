/* Roles of axes (kernel/nest.h) where loops must agree on values: a sum that is compared is summed
 * up term by term, inside of the tile, in a loop that says so. Any other may lie along the columns,
 * one sum a lane, which is cheaper here: the sum is long, what it leaves is narrow. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in/in.h"
#include "kernel/nest.h"

/* Sums over 512 of what 8 rows and 3 points make, and whether they are large. */
#define BODY                                                                                       \
  "func.func public @main(%%a: tensor<8x512xf32>, %%b: tensor<3x512xf32>, %%c: tensor<8xf32>)"     \
  " -> tensor<8x3xf32> {\n"                                                                        \
  "%%0 = \"weir.loop\"(%%a, %%b, %%c) ({\n"                                                        \
  "^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%x: tensor<8x512xf32>, %%y: tensor<3x512xf32>,"  \
  " %%least: tensor<8xf32>):\n"                                                                    \
  "%%xs = stablehlo.broadcast_in_dim %%x, dims = [0, 2] : (tensor<8x512xf32>)"                     \
  " -> tensor<8x3x512xf32>\n"                                                                      \
  "%%ys = stablehlo.broadcast_in_dim %%y, dims = [1, 2] : (tensor<3x512xf32>)"                     \
  " -> tensor<8x3x512xf32>\n"                                                                      \
  "%%p = stablehlo.multiply %%xs, %%ys : tensor<8x3x512xf32>\n"                                    \
  "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                            \
  "%%s = stablehlo.reduce(%%p init: %%z) applies stablehlo.%s across dimensions = [2] :"           \
  " (tensor<8x3x512xf32>, tensor<f32>) -> tensor<8x3xf32>\n"                                       \
  "%%l = stablehlo.broadcast_in_dim %%least, dims = [0] : (tensor<8xf32>) -> tensor<8x3xf32>\n"    \
  "%%q = stablehlo.compare GE, %%%s, %%l : (tensor<8x3xf32>, tensor<8x3xf32>)"                     \
  " -> tensor<8x3xi1>\n"                                                                           \
  "%%r = stablehlo.select %%q, %%s, %%l : tensor<8x3xi1>, tensor<8x3xf32>\n"                       \
  "\"weir.yield\"(%%r) : (tensor<8x3xf32>) -> ()\n"                                                \
  "}) {agree = %s, extent = 8 : i64, in_dims = array<i64: 0, -1, 0>,"                              \
  " in_units = array<i64: 1, 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>,"          \
  " seed = \"a test\", slice = 8 : i64} :"                                                         \
  " (tensor<8x512xf32>, tensor<3x512xf32>, tensor<8xf32>) -> tensor<8x3xf32>\n"                    \
  "return %%0 : tensor<8x3xf32>\n}\n"

typedef struct question {
  ctx *c;
  const char *text;
  kernel_role role; /* out: of what is summed over */
} question;

static weir_status find_role(void *user) {
  question *q = user;
  ir_module *m;
  WEIR_TRY(in_stablehlo_text(q->c, q->text, strlen(q->text), &m));
  ir_op loop = ir_block_get(m, ir_body(m, ir_main_function(m)))->ops.at[0];
  machine on = machine_of_level(MACHINE_X86_64_V4);
  kernel_nest n;
  const char *why;
  arena *a = arena_create(q->c);
  bool covered = kernel_nest_of(a, m, loop, &on, &n, &why);
  if (!covered) fprintf(stderr, "%s\n", why);
  assert(covered && n.n_axes == 3);
  for (int32_t axis = 0; axis < n.n_axes; axis++)
    if (n.extent[axis] == 512) q->role = n.role[axis];
  arena_destroy(a);
  ir_module_destroy(m);
  return WEIR_OK;
}

/* of: what is compared, %s or %l; with: what it is made by. */
static kernel_role role_of(bool agree, const char *of, const char *with) {
  char text[sizeof BODY + 64];
  snprintf(text, sizeof text, BODY, with, of, agree ? "true" : "false");
  ctx c;
  ctx_init(&c);
  question q = {.c = &c, .text = text};
  weir_status status = ctx_try(&c, find_role, &q);
  if (status != WEIR_OK) fprintf(stderr, "%s\n", c.message);
  assert(status == WEIR_OK);
  ctx_deinit(&c);
  return q.role;
}

int main(void) {
  assert(role_of(true, "s", "add") == KERNEL_INNER);
  assert(role_of(false, "s", "add") != KERNEL_INNER);
  assert(role_of(true, "l", "add") != KERNEL_INNER);     /* it is compared with nothing */
  assert(role_of(true, "s", "maximum") != KERNEL_INNER); /* it rounds nothing */
  return 0;
}
