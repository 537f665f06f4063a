/* Convolutions as GPUs' library has them: a call of (result, workspace) on arrays in the library's
 * layouts, which are copies where the program has others. The workspace is chosen on the card and
 * counts for nothing.
 *
 * Images of 16 bits, and of f32 on newer cards, have channels last, others have them first, as have
 * all of three spatial dimensions; kernels [out, space, in] or [out, in, space]. Gradients are
 * calls of their own, on what the convolution itself reads. What is padded unevenly, or spread out,
 * is an array of its own first. Sources: XLA's conv_rewriter.cc, conv_padding_legalization.cc,
 * layout_assignment.cc of GPUs. */
#include <stdlib.h>

#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_rules.h"

enum { MOST_SPATIAL_LAST = 2 }; /* dimensions of images with channels last */

typedef enum direction { FORWARD, OF_KERNEL, OF_IMAGE } direction;

typedef struct window { /* along one spatial dimension */
  int64_t low, high, stride, holes, dilation;
} window;

typedef struct convolution {
  const plan_rule *r;
  ir_conv_numbers n;
  plan_shape shape; /* of the op's result */
  direction direction;
  bool channels_last;
} convolution;

static window window_of(const convolution *c, int32_t i) {
  ir_module *m = c->r->m;
  ir_op op = c->r->op;
  return (window){.low = ir_op_entry(m, op, "padding", 2 * i, 0),
                  .high = ir_op_entry(m, op, "padding", 2 * i + 1, 0),
                  .stride = ir_op_entry(m, op, "window_strides", i, 1),
                  .holes = ir_op_entry(m, op, "lhs_dilation", i, 1),
                  .dilation = ir_op_entry(m, op, "rhs_dilation", i, 1)};
}

/* How far the last element of the kernel is from the first. */
static int64_t reach(const convolution *c, int32_t i) {
  int64_t taps = shape_of(c->r, ir_operand(c->r->m, c->r->op, 1)).dims[c->n.kernel_spatial.at[i]];
  return taps > 0 ? (taps - 1) * window_of(c, i).dilation : 0;
}

static bool is_gradient_of_kernel(const convolution *c) {
  bool spreads = false;
  for (int32_t i = 0; i < c->n.input_spatial.count; i++) {
    window w = window_of(c, i);
    if (w.stride != 1 || w.holes != 1 || w.low < 0) return false;
    spreads |= w.dilation != 1;
  }
  return spreads || c->n.input_batch != c->n.output_batch;
}

static bool is_gradient_of_image(const convolution *c) {
  bool is_reversed = node_of(c->r, operand(c->r, 1))->kind == IR_OP_REVERSE, spreads = false,
       is_single = true;
  for (int32_t i = 0; i < c->n.input_spatial.count; i++) {
    window w = window_of(c, i);
    if (w.stride != 1 || reach(c, i) < w.low) return false;
    spreads |= w.holes != 1;
    is_single &= reach(c, i) == 0;
  }
  return is_reversed || (spreads && is_single);
}

static int32_t put(int64_t *to, int32_t at, ir_ints dims) {
  for (int32_t i = 0; i < dims.count; i++) to[at++] = dims.at[i];
  return at;
}

/* The dimensions in the library's order. */
static void order_of(const convolution *c, int64_t first, ir_ints spatial, int64_t last,
                     int64_t *out) {
  int32_t n = 0;
  out[n++] = first;
  if (!c->channels_last) out[n++] = last;
  n = put(out, n, spatial);
  if (c->channels_last) out[n++] = last;
}

static uint32_t laid_out(const convolution *c, uint32_t x, int64_t first, ir_ints spatial,
                         int64_t last) {
  int64_t perm[IR_MAX_RANK];
  CTX_CHECK(c->r->m->ctx, spatial.count + 2 == node_of(c->r, x)->shape.rank);
  order_of(c, first, spatial, last, perm);
  return plan_rule_transpose(c->r, x, perm);
}

/* What is padded unevenly is padded before; of a gradient that is as much as the difference. */
static int64_t padded_extent(const convolution *c, int32_t i, int64_t extent, bool all) {
  window w = window_of(c, i);
  if (!all) return w.low == w.high ? extent : saturated_sum(extent, llabs(w.low - w.high));
  return extent > 0 ? (extent - 1) * w.holes + 1 + w.low + w.high : 0;
}

static bool pads_before(const convolution *c) {
  bool is = false;
  for (int32_t i = 0; i < c->n.input_spatial.count; i++) {
    window w = window_of(c, i);
    is |= w.low != w.high || (c->direction == FORWARD && (w.low < 0 || w.holes != 1));
  }
  return is;
}

static uint32_t padded(const convolution *c, uint32_t x) {
  plan_shape s = node_of(c->r, x)->shape;
  int64_t dims[IR_MAX_RANK];
  if (c->direction == OF_IMAGE || !pads_before(c)) return x;
  memcpy(dims, s.dims, (size_t)s.rank * sizeof *dims);
  for (int32_t i = 0; i < c->n.input_spatial.count; i++) {
    int64_t *d = &dims[c->n.input_spatial.at[i]];
    *d = padded_extent(c, i, *d, c->direction == FORWARD);
    if (*d < 0) *d = 0;
  }
  plan_shape larger = plan_shape_make(c->r->g->arena, s.dtype, s.rank, dims);
  return plan_rule_make1(c->r, IR_OP_PAD, larger, x);
}

static uint32_t image_of(const convolution *c) {
  uint32_t x = padded(c, plan_rule_convert(c->r, operand(c->r, 0), c->shape.dtype));
  bool is_swapped = c->direction == OF_KERNEL;
  return laid_out(c, x, is_swapped ? c->n.input_feature : c->n.input_batch, c->n.input_spatial,
                  is_swapped ? c->n.input_batch : c->n.input_feature);
}

static uint32_t kernel_of(const convolution *c) {
  uint32_t x = operand(c->r, 1);
  const plan_node *n = node_of(c->r, x);
  if (c->direction == OF_IMAGE && n->kind == IR_OP_REVERSE) x = n->operands[0];
  x = plan_rule_convert(c->r, x, c->shape.dtype);
  if (c->direction == FORWARD)
    return laid_out(c, x, c->n.kernel_output_feature, c->n.kernel_spatial,
                    c->n.kernel_input_feature);
  return laid_out(c, x, c->n.kernel_input_feature, c->n.kernel_spatial, c->n.kernel_output_feature);
}

/* The image's gradient has what was padded, of which it is a part. */
static plan_shape made_shape(const convolution *c, const int64_t *perm) {
  int64_t dims[IR_MAX_RANK], all[IR_MAX_RANK];
  memcpy(all, c->shape.dims, (size_t)c->shape.rank * sizeof *all);
  for (int32_t i = 0; i < c->n.output_spatial.count && c->direction == OF_IMAGE; i++) {
    int64_t d = c->n.output_spatial.at[i],
            length =
                shape_of(c->r, ir_operand(c->r->m, c->r->op, 0)).dims[c->n.input_spatial.at[i]];
    window w = window_of(c, i);
    int64_t low = reach(c, i) - w.low,
            high = (length - 1) * w.holes + reach(c, i) + 1 - all[d] - low;
    all[d] = saturated_sum(all[d], llabs(high - low));
  }
  for (int32_t d = 0; d < c->shape.rank; d++) dims[d] = all[perm[d]];
  return plan_shape_make(c->r->g->arena, c->shape.dtype, c->shape.rank, dims);
}

static void call_library(const convolution *c) {
  const plan_rule *r = c->r;
  bool is_swapped = c->direction == OF_KERNEL;
  int64_t perm[IR_MAX_RANK], back[IR_MAX_RANK], dims[IR_MAX_RANK];
  order_of(c, is_swapped ? c->n.output_feature : c->n.output_batch, c->n.output_spatial,
           is_swapped ? c->n.output_batch : c->n.output_feature, perm);
  for (int32_t d = 0; d < c->shape.rank; d++) back[perm[d]] = d, dims[d] = c->shape.dims[perm[d]];
  uint32_t operands[2] = {image_of(c), kernel_of(c)};
  plan_shape made = made_shape(c, perm),
             wanted = plan_shape_make(r->g->arena, c->shape.dtype, c->shape.rank, dims);
  uint32_t call = plan_rule_opaque(r, operands, 2, &made, 1, 0),
           x = plan_element(r->l, r->s, call, 0);
  CTX_CHECK(r->m->ctx, made.bytes >= wanted.bytes && made.rank == wanted.rank);
  if (!plan_same_dims(&made, &wanted)) x = plan_rule_make1(r, IR_OP_SLICE, wanted, x);
  plan_bind(r->l, r->op, 0, plan_rule_transpose(r, x, back));
}

static bool has_channels_last(const plan_rule *r, ir_dtype t, int32_t spatial) {
  if (spatial > MOST_SPATIAL_LAST) return false;
  return t == IR_F16 || t == IR_BF16 || (t == IR_F32 && r->g->memory->channels_last);
}

bool plan_lower_library_convolution(const plan_rule *r) {
  convolution c = {.r = r, .shape = result_shape(r, 0)};
  bool is_grouped = ir_op_int(r->m, r->op, "batch_group_count", 1) != 1;
  if (is_grouped || !ir_conv_dims(r->g->arena, r->m, r->op, &c.n)) return false;
  if (c.n.input_spatial.count + 2 != c.shape.rank || c.n.input_spatial.count < 1) return false;
  if (c.n.kernel_spatial.count + 2 != c.shape.rank) return false;
  if (c.n.output_spatial.count + 2 != c.shape.rank) return false;
  c.channels_last = has_channels_last(r, c.shape.dtype, c.n.input_spatial.count);
  if (is_gradient_of_kernel(&c)) c.direction = OF_KERNEL;
  else if (is_gradient_of_image(&c)) c.direction = OF_IMAGE;
  call_library(&c);
  return true;
}
