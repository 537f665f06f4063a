/* channels-last: convolutions inside of loops in the forms that XLA CPU runs fast.
 *
 *   conv(x, k) = transpose(conv(transpose(x), transpose(k)))    [b, space, f] x [space, i, o]
 *   batch_group_count g: conv(x[(g, b), .., f], k) = conv(x[b, .., (g, f)], k), g feature groups
 *   a window reversed along d: conv(x, k) = conv(x, reverse(k, d))
 *
 * XLA CPU hands a convolution with one to three spatial dimensions to a library (ir/convolution.h)
 * if the dimensions stand in this order and no window is reversed: of f32 and f16 to Eigen, of f64
 * and bytes to YNN. Any other becomes plain loops, 40 times as slow for a kernel's gradient. XLA
 * brings the entry computation into this form itself (its ConvCanonicalization), the bodies of
 * loops not, so the entry is left alone here.
 *
 * Eigen copies the patches under the windows for a product with the kernel. Where the copies are
 * slow and serve few output features, plain loops are faster (depthwise: 10 to 20 times; a blur of
 * a grey image: 20), and LLVM vectorises them along the features: the same order, but the kernel as
 * [space, o, i], which no library takes. So stand all that no library has.
 *
 * Requires: lowered loops. Breaks nothing; what lost its uses stays for dce. Exact: the same
 * products, summed in another order. Left alone: the entry, padding that Eigen misreads, other
 * numbers of spatial dimensions, unknown shapes. Cost: transposes of the slices. Numbers:
 * docs/design/convolutions.md.
 */
#include "ir/convolution.h"
#include "machine/cpu.h"
#include "pass/build.h"

enum { MOST_SPATIAL = 3 };

typedef struct layout {
  pass_ctx *p;
  ir_module *m;
  ir_block entry;
  machine_patches patches;
} layout;

static void in_order(int64_t *order, int64_t batch, ir_ints spatial, int64_t feature) {
  int32_t n = 0;
  order[n++] = batch;
  for (int32_t i = 0; i < spatial.count; i++) order[n++] = spatial.at[i];
  order[n] = feature;
}

static void in_kernel_order(int64_t *order, const ir_conv_numbers *n,
                            const ir_conv_numbers *wanted) {
  for (int32_t i = 0; i < n->kernel_spatial.count; i++) order[i] = n->kernel_spatial.at[i];
  order[wanted->kernel_input_feature] = n->kernel_input_feature;
  order[wanted->kernel_output_feature] = n->kernel_output_feature;
}

static bool is_spread(layout *l, ir_op op) { /* zeros between the input's elements */
  return !ir_ints_all(ir_op_list(l->m, op, "lhs_dilation"), 1);
}

/* Of a point of the result, of all its features. */
static double flops_at_point(const ir_type_data *kernel) {
  double flops = 2;
  for (int32_t d = 0; d < kernel->rank; d++) flops *= (double)kernel->dims[d];
  return flops;
}

static bool is_faster_by_loops(layout *l, ir_op op, const ir_conv_numbers *n) {
  ir_convolver by = ir_convolver_of(l->m, op, n);
  if (by != IR_BY_EIGEN) return by == IR_BY_LOOPS;
  const ir_type_data *kernel = ir_type_at(l->m, ir_operand(l->m, op, 1));
  int64_t groups =
      ir_op_int(l->m, op, "feature_group_count", 1) * ir_op_int(l->m, op, "batch_group_count", 1);
  int64_t made = kernel->dims[n->kernel_output_feature] / groups;
  if (groups > 1) return made < l->patches.few_in_group;
  if (n->input_spatial.count < MOST_SPATIAL)
    return flops_at_point(kernel) < (double)l->patches.few_flops;
  return is_spread(l, op) ||
         (kernel->dims[n->kernel_input_feature] == 1 && made < l->patches.few_in_volume);
}

/* ---- the operands ---- */

/* [(groups, b), space, f] as [b, space, (groups, f)]. */
static ir_value groups_to_features(ir_builder *b, ir_value x, int64_t groups) {
  ir_module *m = b->m;
  ir_type_data t = *ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK], order[IR_MAX_RANK];
  int32_t last = t.rank - 1;
  CTX_CHECK(m->ctx, groups > 0 && t.dims[0] % groups == 0);
  dims[0] = groups;
  dims[1] = t.dims[0] / groups;
  for (int32_t i = 1; i <= last; i++) dims[i + 1] = t.dims[i];
  for (int32_t i = 0; i < last; i++) order[i] = i + 1;
  order[last] = 0;
  order[last + 1] = last + 1;
  x = ir_build_reshape(b, x, ir_tensor(m, t.dtype, t.rank + 1, dims));
  x = ir_build_transpose(b, x, order);
  memcpy(dims, t.dims, (size_t)t.rank * sizeof *dims);
  dims[0] /= groups;
  dims[last] *= groups;
  return ir_build_reshape(b, x, ir_tensor(m, t.dtype, t.rank, dims));
}

static ir_value input_of(layout *l, ir_builder *b, ir_op op, const ir_conv_numbers *n) {
  int64_t order[IR_MAX_RANK], groups = ir_op_int(l->m, op, "batch_group_count", 1);
  in_order(order, n->input_batch, n->input_spatial, n->input_feature);
  ir_value x = ir_build_transpose(b, ir_operand(l->m, op, 0), order);
  return groups > 1 ? groups_to_features(b, x, groups) : x;
}

/* The kernel's dimensions, after it is transposed, along which windows are reversed. */
static ir_ints reversed_dims(layout *l, ir_op op) {
  int32_t n, count = 0;
  const int64_t *reversed = ir_op_ints(l->m, op, "window_reversal", &n);
  int64_t *dims = ARENA_ARRAY(l->p->scratch, int64_t, IR_MAX_RANK);
  for (int32_t i = 0; i < n; i++)
    if (reversed[i]) dims[count++] = i;
  return (ir_ints){count, dims};
}

static ir_value kernel_of(layout *l, ir_builder *b, ir_op op, const ir_conv_numbers *n,
                          const ir_conv_numbers *wanted) {
  int64_t order[IR_MAX_RANK];
  in_kernel_order(order, n, wanted);
  ir_value k = ir_build_transpose(b, ir_operand(l->m, op, 1), order);
  ir_ints dims = reversed_dims(l, op);
  return dims.count ? pass_build_reverse(b, k, dims) : k;
}

/* ---- the convolution ---- */
static ir_type result_type(layout *l, ir_op op, const int64_t *order) {
  ir_type_data t = *ir_type_at(l->m, ir_result(l->m, op, 0));
  int64_t dims[IR_MAX_RANK];
  for (int32_t i = 0; i < t.rank; i++) dims[i] = t.dims[order[i]];
  return ir_tensor(l->m, t.dtype, t.rank, dims);
}

static ir_value build_in_order(layout *l, ir_builder *b, ir_op op, const ir_conv_numbers *n,
                               const ir_conv_numbers *wanted) {
  ir_module *m = l->m;
  int64_t order[IR_MAX_RANK], back[IR_MAX_RANK], groups = ir_op_int(m, op, "batch_group_count", 1);
  in_order(order, n->output_batch, n->output_spatial, n->output_feature);
  for (int32_t i = 0; i < n->output_spatial.count + 2; i++) back[order[i]] = i;
  ir_value operands[] = {input_of(l, b, op, n), kernel_of(l, b, op, n, wanted)};
  ir_value made = pass_build_like(b, op, operands, result_type(l, op, order));
  ir_op conv = ir_value_get(m, made)->op;
  ir_op_set_attr(m, conv, "dimension_numbers", ir_conv_dims_attr(m, wanted), true);
  ir_op_drop_attr(m, conv, "window_reversal");
  if (groups > 1) {
    ir_op_set_attr(m, conv, "batch_group_count", ir_attr_int(m, 1, IR_I64), true);
    ir_op_set_attr(m, conv, "feature_group_count", ir_attr_int(m, groups, IR_I64), true);
  }
  return ir_build_transpose(b, made, back);
}

static bool replace(pass_rewrite *r, ir_op op) {
  layout *l = r->own;
  ir_conv_numbers n;
  if (r->b.block == l->entry || ir_kind_of(l->m, op) != IR_OP_CONVOLUTION ||
      !pass_is_static(l->m, op) || pass_misreads_padding(l->m, op) ||
      !ir_conv_dims(l->p->scratch, l->m, op, &n))
    return false;
  int32_t spatial = n.input_spatial.count;
  if (spatial < 1 || spatial > MOST_SPATIAL) return false;
  ir_conv_numbers wanted =
      ir_conv_channels_last(l->p->scratch, spatial, is_faster_by_loops(l, op, &n));
  if (ir_conv_stands_so(l->m, op, &n, &wanted) && ir_op_int(l->m, op, "batch_group_count", 1) == 1)
    return false;
  return pass_stand_in(l->m, r->map, op, build_in_order(l, &r->b, op, &n, &wanted));
}

static bool begin(pass_rewrite *r) {
  if (strcmp(r->p->options->platform, "cpu")) return false;
  CTX_CHECK(r->m->ctx, r->p->machine);
  ir_op main = ir_main_function(r->m);
  layout *l = r->own = ARENA_NEW(r->p->scratch, layout);
  *l =
      (layout){r->p, r->m, main ? ir_body(r->m, main) : IR_NONE, machine_patches_on(r->p->machine)};
  return true;
}

const pass pass_channels_last = {"channels-last", .replace = replace, .begin = begin};
