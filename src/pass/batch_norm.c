/* batch-norm: batch_norm_training, _inference and _grad -> sums and elementwise ops.
 *
 *   mean = E[x], variance = E[x^2] - mean^2, y = (x - mean) rsqrt(variance + epsilon) scale +
 * offset
 *
 * What a front end means by one op has several passes over its operand, each of which can be split
 * (PyTorch writes layer norms so, too, with rows as features). Requires: a verified module. Breaks:
 * nothing; what lost its uses stays for dce. Not exact where sums are rounded in another order.
 * Left alone: dynamic shapes, element types other than f32 and f64. Cost: linear. Source:
 * StableHLO specification; XLA's BatchNormExpander has the same formulas.
 */
#include "pass/build.h"

typedef struct norm {
  ir_builder b;
  ir_op op;
  ir_type whole, vector;  /* of x; of a number per feature */
  int64_t feature, count; /* count: of elements per feature */
  int64_t dims[IR_MAX_RANK];
  int32_t n_dims; /* all but the feature's */
  double epsilon;
} norm;

static bool read_norm(ir_module *m, ir_block block, ir_op op, norm *out) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_BATCH_NORM_TRAINING && kind != IR_OP_BATCH_NORM_INFERENCE &&
      kind != IR_OP_BATCH_NORM_GRAD)
    return false;
  ir_type whole = ir_type_of(m, ir_operand(m, op, 0));
  const ir_type_data *t = ir_type_get(m, whole);
  const ir_attr_data *epsilon = ir_op_attr_of(m, op, "epsilon", IR_ATTR_FLOAT);
  if (!pass_is_static(m, op) || (t->dtype != IR_F32 && t->dtype != IR_F64) ||
      !ir_element_count(m, whole) || !epsilon)
    return false;
  *out = (norm){.b = {m, block, ir_op_get(m, op)->location},
                .op = op,
                .whole = whole,
                .vector = ir_type_of(m, ir_operand(m, op, 1)),
                .feature = ir_op_int(m, op, "feature_index", 0),
                .epsilon = (double)(float)epsilon->real}; /* an f32 for all */
  out->count = ir_element_count(m, whole) / t->dims[out->feature];
  for (int32_t d = 0; d < t->rank; d++)
    if (d != out->feature) out->dims[out->n_dims++] = d;
  return true;
}

/* ---- arithmetic ---- */
static ir_value spread(norm *n, ir_value v) {
  return ir_build_broadcast(&n->b, v, n->whole, &n->feature);
}
static ir_value sum(norm *n, ir_value x) { return ir_build_sum(&n->b, x, n->dims, n->n_dims); }
static ir_value add(norm *n, ir_value x, ir_value y) { return ir_build_add(&n->b, x, y); }
static ir_value subtract(norm *n, ir_value x, ir_value y) { return ir_build_subtract(&n->b, x, y); }
static ir_value times(norm *n, ir_value x, ir_value y) { return ir_build_multiply(&n->b, x, y); }
static ir_value number(norm *n, double x) { return ir_build_splat_real(&n->b, n->vector, x); }
static ir_value mean_of(norm *n, ir_value x) {
  return ir_build_binary(&n->b, IR_OP_DIVIDE, sum(n, x), number(n, (double)n->count));
}
static ir_value operand(norm *n, uint32_t i) { return ir_operand(n->b.m, n->op, i); }

/* rsqrt(variance + epsilon) */
static ir_value inverse_of(norm *n, ir_value variance) {
  return ir_build_unary(&n->b, IR_OP_RSQRT, add(n, variance, number(n, n->epsilon)));
}

/* ---- the three ---- */
static ir_value normalised(norm *n, ir_value mean, ir_value variance) {
  ir_value centred = subtract(n, operand(n, 0), spread(n, mean));
  ir_value y = times(n, centred, spread(n, inverse_of(n, variance)));
  return add(n, times(n, y, spread(n, operand(n, 1))), spread(n, operand(n, 2)));
}

static void training(norm *n, ir_value *out) {
  ir_value x = operand(n, 0), mean = mean_of(n, x);
  ir_value variance = subtract(n, mean_of(n, times(n, x, x)), times(n, mean, mean));
  out[0] = normalised(n, mean, variance);
  out[1] = mean;
  out[2] = variance;
}

/* Operands: x, scale, mean, variance, g. grad_x = scale s (g - E[g] - c E[g c] s^2), c = x - mean,
 * s = rsqrt(variance + epsilon). */
static void gradient(norm *n, ir_value *out) {
  ir_value g = operand(n, 4), s = inverse_of(n, operand(n, 3));
  ir_value centred = subtract(n, operand(n, 0), spread(n, operand(n, 2)));
  ir_value sum_g = sum(n, g), sum_gc = sum(n, times(n, g, centred)),
           count = number(n, (double)n->count);
  ir_value mean_g = ir_build_binary(&n->b, IR_OP_DIVIDE, sum_g, count);
  ir_value slope = times(n, ir_build_binary(&n->b, IR_OP_DIVIDE, sum_gc, count), times(n, s, s));
  ir_value inner =
      subtract(n, subtract(n, g, spread(n, mean_g)), times(n, centred, spread(n, slope)));
  out[0] = times(n, spread(n, times(n, operand(n, 1), s)), inner);
  out[1] = times(n, sum_gc, s);
  out[2] = sum_g;
}

static bool replace(pass_rewrite *f, ir_op op) {
  norm n;
  ir_value out[3];
  if (!read_norm(f->m, f->b.block, op, &n)) return false;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_BATCH_NORM_TRAINING: training(&n, out); break;
    case IR_OP_BATCH_NORM_GRAD: gradient(&n, out); break;
    default: out[0] = normalised(&n, operand(&n, 3), operand(&n, 4)); break;
  }
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_results; i++)
    ir_map_set(f->map, ir_result(f->m, op, i), out[i]);
  return true;
}

const pass pass_batch_norm = {"batch-norm", .replace = replace};
