/* Flops: see flops.h. */
#include "ir/flops.h"

#include <math.h>

#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/calls.h"
#include "ir/lapack.h"

static int64_t block_flops(const ir_module *m, arena *scratch, ir_block block, int depth);

int64_t ir_trips_or_one(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) == IR_OP_WHILE) {
    double trips = ir_mean_trips(m, op);
    return trips >= 1 ? (int64_t)fmin(ceil(trips), 0x1p62) : trips == 0 ? 0 : 1;
  }
  return ir_kind_of(m, op) == IR_OP_LOOP ? ir_loop_get(m, op).trips : 1;
}

static int64_t convolution_flops(arena *scratch, const ir_module *m, ir_op op) {
  ir_conv_numbers n;
  const ir_type_data *kernel = ir_type_at(m, ir_operand(m, op, 1));
  if (!ir_conv_dims(scratch, m, op, &n)) return 0;
  int64_t taps = 1;
  for (int32_t d = 0; d < kernel->rank; d++)
    if (d != n.kernel_output_feature) taps = saturated_product(taps, kernel->dims[d]);
  return saturated_product(2, saturated_product(taps, ir_elements(m, ir_result(m, op, 0))));
}

static int64_t log2_of(int64_t n) {
  int64_t bits = 0;
  for (; n > 1; n >>= 1) bits++;
  return bits;
}

static int64_t transformed_length(const ir_module *m, ir_op op) {
  ir_ints lengths = ir_op_list(m, op, "fft_length");
  int64_t length = 1;
  for (int32_t i = 0; i < lengths.count; i++) length = saturated_product(length, lengths.at[i]);
  return length;
}

/* By a library, too. triangular: n^2 per column; the factors are n x n */
static int64_t solve_flops(const ir_module *m, ir_op op) {
  const ir_type_data *a = ir_type_at(m, ir_operand(m, op, 0));
  bool is_solve = ir_kind_of(m, op) == IR_OP_TRIANGULAR_SOLVE || ir_is_lapack(m, op, "trsm"),
       is_cholesky = ir_kind_of(m, op) == IR_OP_CHOLESKY || ir_is_lapack(m, op, "potrf");
  int64_t n = a->rank ? a->dims[a->rank - 1] : 1,
          flops = saturated_product(n, ir_elements(m, ir_operand(m, op, is_solve)));
  return is_cholesky ? flops / 3 : flops;
}

static int64_t op_flops(const ir_module *m, arena *scratch, ir_op op, int depth) {
  ir_op_data d = *ir_op_get(m, op);
  ir_gemm g;
  switch ((ir_kind)d.kind) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
      return ir_dot_gemm(m, op, &g)
                 ? saturated_product(2, saturated_product(saturated_product(g.batch, g.rows),
                                                          saturated_product(g.columns, g.inner)))
                 : 0;
    case IR_OP_CONVOLUTION: return convolution_flops(scratch, m, op);
    case IR_OP_CHOLESKY:
    case IR_OP_TRIANGULAR_SOLVE: return solve_flops(m, op);
    case IR_OP_CUSTOM_CALL: {
      int32_t batch = ir_lapack_batch_rank(m, op);
      bool is_of_matrices = batch >= 0 && ir_type_at(m, d.operands[0])->rank == batch + 2;
      return is_of_matrices ? solve_flops(m, op) : 0;
    }
    case IR_OP_REDUCE:
    case IR_OP_REDUCE_WINDOW:
    case IR_OP_SCATTER:
    case IR_OP_SELECT_AND_SCATTER:
    case IR_OP_MAP: return ir_elements(m, d.operands[0]);
    case IR_OP_SORT:
    case IR_OP_CHLO_TOP_K: {
      const ir_type_data *t = ir_type_at(m, d.operands[0]);
      return saturated_product(ir_elements(m, d.operands[0]),
                               t->rank ? log2_of(t->dims[t->rank - 1]) : 0);
    }
    case IR_OP_FFT:
      return saturated_product(
          5, saturated_product(ir_elements(m, d.operands[0]), log2_of(transformed_length(m, op))));
    case IR_OP_CALL:
    case IR_OP_COMPOSITE: {
      ir_block body = ir_callee_body(m, op);
      return body && depth < 200 ? block_flops(m, scratch, body, depth + 1) : 0;
    }
    default: break;
  }
  if (ir_is_elementwise(d.kind)) return d.n_results ? ir_elements(m, d.first_result) : 0;
  int64_t sum = 0;
  for (uint32_t r = 0; r < d.n_regions; r++)
    if (d.regions[r]) sum = saturated_sum(sum, block_flops(m, scratch, d.regions[r], depth + 1));
  return saturated_product(sum, ir_trips_or_one(m, op));
}

static int64_t block_flops(const ir_module *m, arena *scratch, ir_block block, int depth) {
  int64_t sum = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    sum = saturated_sum(sum, op_flops(m, scratch, op, depth));
  return sum;
}

int64_t ir_op_flops(arena *scratch, const ir_module *m, ir_op op) {
  return op_flops(m, scratch, op, 0);
}

int64_t ir_block_flops(arena *scratch, const ir_module *m, ir_block block) {
  return block_flops(m, scratch, block, 0);
}
