#include "ir/convolution.h"

#include "base/ints.h"

enum { YNN_SPATIAL = 2, YNN_FEATURES = 17 /* at least, of the input or of the result */ };

bool ir_is_of_eigen(const ir_module *m, ir_op conv) {
  ir_dtype t = ir_type_at(m, ir_operand(m, conv, 0))->dtype;
  return t == IR_F32 || t == IR_F16 || t == IR_BF16; /* XLA computes the last in f32 */
}

static bool is_of_ynn(const ir_module *m, ir_op conv) {
  ir_dtype input = ir_type_at(m, ir_operand(m, conv, 0))->dtype,
           kernel = ir_type_at(m, ir_operand(m, conv, 1))->dtype,
           result = ir_type_at(m, ir_result(m, conv, 0))->dtype;
  if (input != kernel) return false;
  return input == IR_F64 ? result == IR_F64 : input == IR_I8 && result == IR_I32;
}

/* Groups of several features each it takes, too, and makes of each a copy of all patches; loops are
 * as fast. */
static bool has_groups_of_ynn(ir_module *m, ir_op conv, const ir_conv_numbers *n) {
  if (ir_op_int(m, conv, "batch_group_count", 1) > 1) return false;
  return ir_op_int(m, conv, "feature_group_count", 1) == 1 ||
         ir_dim_of(m, ir_operand(m, conv, 1), n->kernel_input_feature) == 1;
}

static bool has_windows_of_ynn(ir_module *m, ir_op conv, const ir_conv_numbers *n) {
  ir_value input = ir_operand(m, conv, 0), kernel = ir_operand(m, conv, 1),
           result = ir_result(m, conv, 0);
  for (int32_t i = 0; i < YNN_SPATIAL; i++) {
    int64_t read = ir_dim_of(m, input, n->input_spatial.at[i]);
    if (ir_op_entry(m, conv, "lhs_dilation", i, 1) != 1 ||
        ir_dim_of(m, result, n->output_spatial.at[i]) > read ||
        ir_dim_of(m, kernel, n->kernel_spatial.at[i]) > read)
      return false;
  }
  return max64(ir_dim_of(m, input, n->input_feature), ir_dim_of(m, result, n->output_feature)) >=
         YNN_FEATURES;
}

ir_convolver ir_convolver_of(const ir_module *of, ir_op conv, const ir_conv_numbers *n) {
  ir_module *m = (ir_module *)of;
  if (ir_is_of_eigen(m, conv)) return IR_BY_EIGEN;
  bool may = ir_all_types(m, conv, ir_is_static_tensor) && is_of_ynn(m, conv) &&
             n->input_spatial.count == YNN_SPATIAL;
  return may && has_groups_of_ynn(m, conv, n) && has_windows_of_ynn(m, conv, n) ? IR_BY_YNN
                                                                                : IR_BY_LOOPS;
}

bool ir_conv_stands_so(const ir_module *m, ir_op conv, const ir_conv_numbers *n,
                       const ir_conv_numbers *wanted) {
  for (int32_t i = 0; i < n->kernel_spatial.count; i++)
    if (ir_op_entry(m, conv, "window_reversal", i, 0)) return false;
  return ir_conv_same_numbers(n, wanted);
}

bool ir_convolves_by_ynn(const ir_module *m) {
  arena *scratch = arena_create(m->ctx);
  bool does = false;
  for (ir_walk w = ir_walk_block(m, ir_top(m)); !does && ir_next(&w);) {
    ir_conv_numbers n;
    does = ir_kind_of(m, w.op) == IR_OP_CONVOLUTION && ir_conv_dims(scratch, m, w.op, &n) &&
           ir_convolver_of(m, w.op, &n) == IR_BY_YNN;
  }
  arena_destroy(scratch);
  return does;
}
