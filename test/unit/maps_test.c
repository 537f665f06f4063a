/* The index maps of ops, as text: "01 x 12 -> 02" by dimension; '.': alone, letters: reduced. */
#include "ir/maps.h"
#include "program_testing.h"

typedef struct run {
  char maps[200];
} run;

static void put(run *r, const int32_t *index, int32_t rank, int32_t result_rank) {
  for (int32_t d = 0; d < rank; d++) {
    int32_t i = index[d];
    char c = i == IR_ALONE ? '.' : (char)(i < result_rank ? '0' + i : 'a' + i - result_rank);
    strncat(r->maps, &c, 1);
  }
}

/* Of the function's first op. */
static void put_maps(run *r, ir_module *m, arena *a, ir_op op) {
  const ir_op_data *o = ir_op_get(m, op);
  int32_t index[IR_MAX_RANK], rank = ir_type_at(m, ir_result(m, op, 0))->rank;
  bool known = ir_result_indices(a, m, op, 0, index);
  for (uint32_t i = 0; known && i < o->n_operands; i++) {
    int32_t own[IR_MAX_RANK];
    if (i) strcat(r->maps, " x ");
    known = ir_operand_indices(a, m, op, i, own);
    put(r, own, ir_type_at(m, ir_operand(m, op, i))->rank, rank);
  }
  strcat(r->maps, " -> ");
  put(r, index, rank, rank);
  if (!known) strcpy(r->maps, "none");
}

static weir_status go(ir_module *m, arena *a, void *user) {
  for (ir_op op = 1; op < m->ops.count; op++)
    if (ir_op_get(m, op)->n_results && ir_kind_of(m, op) != IR_OP_CONSTANT) {
      put_maps(user, m, a, op);
      return WEIR_OK;
    }
  return WEIR_INTERNAL;
}

static void expect(const char *wanted, const char *arguments, const char *op, const char *type) {
  char text[2000];
  run r = {""};
  snprintf(text, sizeof text, "func.func @main(%s) -> %s {\n  %%r = %s\n  return %%r : %s\n}\n",
           arguments, type, op, type);
  weir_status status = program_ask((program_asked){.text = text, .ask = go, .user = &r});
  if (status != WEIR_OK || strcmp(r.maps, wanted)) {
    fprintf(stderr, "%s\nis  %s\nnot %s\n", op, r.maps, wanted);
    assert(false);
  }
}

#define X34 "%x: tensor<3x4xf32>"

static void moves(void) {
  expect("01 x 01 -> 01", X34, "stablehlo.add %x, %x : tensor<3x4xf32>", "tensor<3x4xf32>");
  expect("02 -> 012", X34,
         "stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x5x4xf32>",
         "tensor<3x5x4xf32>");
  expect(".2 -> 012", "%x: tensor<1x4xf32>",
         "stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<1x4xf32>) -> tensor<3x5x4xf32>",
         "tensor<3x5x4xf32>");
  expect("120 -> 012", "%x: tensor<3x4x5xf32>",
         "stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>",
         "tensor<5x3x4xf32>");
  expect("0.2 -> 0.2", "%x: tensor<3x1x4xf32>",
         "stablehlo.reshape %x : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32>", "tensor<3x1x4xf32>");
  expect("02 -> 0.2", X34, "stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<3x1x4xf32>",
         "tensor<3x1x4xf32>");
  expect("0. -> 0..", X34, "stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<3x2x2xf32>",
         "tensor<3x2x2xf32>");
}

/* What is alone along its dimension: the guards. */
static void parts(void) {
  expect(".1 -> .1", X34, "stablehlo.slice %x [1:3, 0:4] : (tensor<3x4xf32>) -> tensor<2x4xf32>",
         "tensor<2x4xf32>");
  expect(".1 x .1 -> .1", X34,
         "stablehlo.concatenate %x, %x, dim = 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> "
         "tensor<6x4xf32>",
         "tensor<6x4xf32>");
  expect("0. -> 0.", X34, "stablehlo.reverse %x, dims = [1] : tensor<3x4xf32>", "tensor<3x4xf32>");
  expect(".1 x  -> .1", X34 ", %p: tensor<f32>",
         "stablehlo.pad %x, %p, low = [1, 0], high = [-1, 0], interior = [0, 0] : "
         "(tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>",
         "tensor<3x4xf32>");
  expect(".1 x  x  -> .1", X34 ", %i: tensor<i32>",
         "stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 4] : (tensor<3x4xf32>, tensor<i32>, "
         "tensor<i32>) -> tensor<2x4xf32>",
         "tensor<2x4xf32>");
  expect("01 x .1 x  x  -> 01", X34 ", %u: tensor<2x4xf32>, %i: tensor<i32>",
         "stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<3x4xf32>, tensor<2x4xf32>, "
         "tensor<i32>, tensor<i32>) -> tensor<3x4xf32>",
         "tensor<3x4xf32>");
  expect("0.. -> 0..", "%x: tensor<2x3x3xf32>",
         "stablehlo.cholesky %x, lower = true : tensor<2x3x3xf32>", "tensor<2x3x3xf32>");
  expect(
      "0.. x 0.2 -> 0.2", "%x: tensor<2x3x3xf32>, %y: tensor<2x3x4xf32>",
      "stablehlo.custom_call @lapack_strsm_ffi(%x, %y) {mhlo.backend_config = {side = 76 : ui8}} "
      ": (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
      "tensor<2x3x4xf32>");
  expect("0.. x 0.. -> 0..", "%x: tensor<2x3x3xf32>, %y: tensor<2x3x3xf32>",
         "stablehlo.custom_call @lapack_strsm_ffi(%x, %y) : (tensor<2x3x3xf32>, "
         "tensor<2x3x3xf32>) -> tensor<2x3x3xf32>",
         "tensor<2x3x3xf32>");
  expect("01.. x 01. -> 01..", "%x: tensor<2x5x3x3xf32>, %y: tensor<2x5x3xf32>",
         "stablehlo.custom_call @lapack_sorgqr_ffi(%x, %y) : (tensor<2x5x3x3xf32>, "
         "tensor<2x5x3xf32>) -> tensor<2x5x3x3xf32>",
         "tensor<2x5x3x3xf32>");
}

static void contractions(void) {
  expect("01a x 0a2 -> 012", "%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>",
         "stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
         "(tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
         "tensor<2x3x5xf32>");
  expect("a0b x 1ba -> 01", "%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>",
         "stablehlo.dot_general %x, %y, contracting_dims = [0, 2] x [2, 1] : "
         "(tensor<2x3x4xf32>, tensor<5x4x2xf32>) -> tensor<3x5xf32>",
         "tensor<3x5xf32>");
  expect("a0 x  -> 0", X34 ", %i: tensor<f32>",
         "stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : "
         "(tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>",
         "tensor<4xf32>");
  expect("none", "%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x5xf32>",
         "stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
         "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 "
         ": i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x8x8x5xf32>",
         "tensor<1x8x8x5xf32>");
}

int main(void) {
  moves();
  parts();
  contractions();
  return 0;
}
