/* convolution: sums in double (integers modulo 2^64), rounded once. Source: StableHLO
 * specification. */
#include "ref/eval.h"

typedef struct conv {
  ir_conv_numbers dims;
  ir_ints strides, padding, lhs_dilation, rhs_dilation, reversal;
  int64_t feature_groups, batch_groups;
  int32_t n_spatial;
  const ref_tensor *lhs, *rhs, *out;
  const ref_scalar *x, *kernel;
  int64_t window[IR_MAX_RANK]; /* the kernel's spatial sizes */
  int64_t window_count;
  ir_dtype_class cls;
} conv;

static weir_status read_conv(ref_frame *f, ir_op op, conv *c) {
  if (!ir_conv_dims(f->arena, f->m, op, &c->dims))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dimension_numbers does not read");
  int32_t n = c->n_spatial = c->dims.input_spatial.count;
  WEIR_TRY(ref_read_ints(f, op, "window_strides", n, 1, &c->strides));
  WEIR_TRY(ref_read_ints(f, op, "padding", 2 * n, 0, &c->padding));
  WEIR_TRY(ref_read_ints(f, op, "lhs_dilation", n, 1, &c->lhs_dilation));
  WEIR_TRY(ref_read_ints(f, op, "rhs_dilation", n, 1, &c->rhs_dilation));
  WEIR_TRY(ref_read_ints(f, op, "window_reversal", n, 0, &c->reversal));
  c->feature_groups = ir_op_int(f->m, op, "feature_group_count", 1);
  c->batch_groups = ir_op_int(f->m, op, "batch_group_count", 1);
  c->lhs = ref_operand(f, op, 0), c->rhs = ref_operand(f, op, 1);
  c->cls = ir_dtype_class_of(c->lhs->dtype);
  c->window_count = 1;
  for (int32_t d = 0; d < n; d++)
    c->window_count *= c->window[d] = c->rhs->dims[c->dims.kernel_spatial.at[d]];
  return WEIR_OK;
}

/* The input's spatial place under tap `tap` of the window for output `out`; false in the padding
 * and between dilated elements. */
static bool input_place(const conv *c, const int64_t *out, const int64_t *tap, int64_t *in) {
  for (int32_t d = 0; d < c->n_spatial; d++) {
    int64_t p = out[c->dims.output_spatial.at[d]] * c->strides.at[d] +
                tap[d] * c->rhs_dilation.at[d] - c->padding.at[2 * d];
    if (p < 0 || p % c->lhs_dilation.at[d]) return false;
    int64_t dim = c->dims.input_spatial.at[d];
    in[dim] = p / c->lhs_dilation.at[d];
    if (in[dim] >= c->lhs->dims[dim]) return false;
  }
  return true;
}

static void kernel_place(const conv *c, const int64_t *tap, int64_t *in) {
  for (int32_t d = 0; d < c->n_spatial; d++)
    in[c->dims.kernel_spatial.at[d]] = c->reversal.at[d] ? c->window[d] - 1 - tap[d] : tap[d];
}

static void add_product(const conv *c, ref_scalar *sum, ref_scalar a, ref_scalar b) {
  switch (c->cls) {
    case IR_CLASS_FLOAT: sum->f += a.f * b.f; break;
    case IR_CLASS_COMPLEX: sum->z += ref_complex_mul(a.z, b.z); break;
    default: sum->u += a.u * b.u;
  }
}

/* One output element: over the window's taps and the input features of its group. With batch
 * groups, output feature o reads the batches of group o / (features / groups). */
static ref_scalar output_element(const conv *c, const int64_t *out) {
  int64_t per_group = c->rhs->dims[c->dims.kernel_input_feature],
          features = c->rhs->dims[c->dims.kernel_output_feature];
  int64_t feature = out[c->dims.output_feature];
  int64_t first_feature = feature / (features / c->feature_groups) * per_group;
  int64_t batches = c->lhs->dims[c->dims.input_batch] / c->batch_groups;
  int64_t in[IR_MAX_RANK], ker[IR_MAX_RANK], tap[IR_MAX_RANK] = {0};
  ref_scalar sum = {0};
  in[c->dims.input_batch] =
      out[c->dims.output_batch] + feature / (features / c->batch_groups) * batches;
  ker[c->dims.kernel_output_feature] = feature;
  for (int64_t t = 0; t < c->window_count; t++, ref_next(c->n_spatial, c->window, tap)) {
    if (!input_place(c, out, tap, in)) continue;
    kernel_place(c, tap, ker);
    for (int64_t i = 0; i < per_group; i++) {
      in[c->dims.input_feature] = first_feature + i;
      ker[c->dims.kernel_input_feature] = i;
      add_product(c, &sum, c->x[ref_offset(c->lhs, in)], c->kernel[ref_offset(c->rhs, ker)]);
    }
  }
  return sum;
}

weir_status ref_convolution(ref_frame *f, ir_op op) {
  conv c;
  WEIR_TRY(read_conv(f, op, &c));
  ref_tensor *y = ref_result(f, op, 0);
  int64_t features = c.rhs->dims[c.dims.kernel_output_feature], n = ref_element_count(y);
  if (c.feature_groups < 1 || c.batch_groups < 1 || features % c.feature_groups ||
      features % c.batch_groups)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "group counts do not divide %lld output features", (long long)features);
  c.x = ref_unpack(f->arena, c.lhs);
  c.kernel = ref_unpack(f->arena, c.rhs);
  ir_dtype wide = c.cls == IR_CLASS_FLOAT     ? IR_F64
                  : c.cls == IR_CLASS_COMPLEX ? IR_C128
                                              : c.lhs->dtype;
  bool same = ir_dtype_class_of(y->dtype) == c.cls;
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0; i < n; i++, ref_next(y->rank, y->dims, index)) {
    ref_scalar sum = output_element(&c, index);
    ref_store(y, i, same ? sum : ref_convert_scalar(wide, y->dtype, sum));
  }
  return WEIR_OK;
}
