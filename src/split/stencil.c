#include "split/stencil.h"

#include "base/ints.h"
#include "ir/attrs.h"
#include "split/tile_op.h"

/* ---- what the op says ---- */
static int64_t reach_of(int64_t taps, int64_t apart) { return (taps - 1) * apart + 1; }

static ir_ints spatial_of(const ir_conv_numbers *n, int32_t operand) {
  return operand < 0 ? n->output_spatial : operand ? n->kernel_spatial : n->input_spatial;
}

/* Entry i of a convolution's padding, where the operand can be cut instead. */
static int64_t cut_of(ir_module *m, ir_op op, int32_t i) {
  int64_t pad = ir_op_entry(m, op, "padding", i, 0);
  return ir_op_entry(m, op, "lhs_dilation", i / 2, 1) == 1 && pad < 0 ? -pad : 0;
}

static bool leaves_some(ir_module *m, ir_op op, const ir_conv_numbers *n) {
  for (int32_t i = 0; i < n->input_spatial.count; i++)
    if (cut_of(m, op, 2 * i) + cut_of(m, op, 2 * i + 1) >=
        ir_dim_of(m, ir_operand(m, op, 0), n->input_spatial.at[i]))
      return false;
  return true;
}

/* Element e of the operand is read where e stands in the result, too, whatever the padding is: a
 * causal convolution's windows end there. */
static bool stays(ir_module *m, ir_op op, const split_stencil *s) {
  int64_t size = ir_dim_of(m, ir_operand(m, op, 0), s->operand_dim), most = INT64_MAX / 2;
  return s->low >= 0 && s->low < s->reach && size < most / s->holes &&
         ir_dim_of(m, s->is_sum ? ir_operand(m, op, 1) : ir_result(m, op, 0), s->result_dim) ==
             ceil_div(size * s->holes, s->step);
}

static bool of_convolution(arena *scratch, ir_module *m, ir_op op, int32_t operand, int32_t dim,
                           split_stencil *out) {
  ir_conv_numbers n;
  if (!ir_conv_dims(scratch, m, op, &n)) return false;
  int32_t i = ir_ints_find(spatial_of(&n, operand), dim);
  if (i < 0 || !leaves_some(m, op, &n)) return false;
  int64_t kernel_dim = n.kernel_spatial.at[i], result_dim = n.output_spatial.at[i];
  int64_t taps = ir_dim_of(m, ir_operand(m, op, 1), kernel_dim),
          places = ir_dim_of(m, ir_result(m, op, 0), result_dim);
  int64_t stride = ir_op_entry(m, op, "window_strides", i, 1),
          apart = ir_op_entry(m, op, "rhs_dilation", i, 1);
  *out = (split_stencil){.operand_dim = (int32_t)n.input_spatial.at[i],
                         .window = i,
                         .low = ir_op_entry(m, op, "padding", 2 * i, 0),
                         .holes = ir_op_entry(m, op, "lhs_dilation", i, 1),
                         .slack = stride,
                         .may_cut = true,
                         .is_sum = taps > places};
  out->result_dim = (int32_t)(out->is_sum ? kernel_dim : result_dim);
  out->step = out->is_sum ? apart : stride;
  out->reach = out->is_sum ? reach_of(places, stride) : reach_of(taps, apart);
  out->stays = stays(m, op, out);
  if (out->is_sum) return operand >= 0 && !ir_op_entry(m, op, "window_reversal", i, 0);
  return operand != 1;
}

static void of_windows(ir_module *m, ir_op op, int32_t dim, split_stencil *out) {
  out->step = ir_op_entry(m, op, "window_strides", dim, 1);
  out->reach = reach_of(ir_op_entry(m, op, "window_dimensions", dim, 1),
                        ir_op_entry(m, op, "window_dilations", dim, 1));
  out->low = ir_op_entry(m, op, "padding", 2 * dim, 0);
  out->holes = ir_op_entry(m, op, "base_dilations", dim, 1);
  out->slack = out->step;
  out->stays = stays(m, op, out);
}

/* What is there but can't be read (of a type whose sizes are not known) may say anything. */
static bool is_readable(ir_module *m, ir_op op) {
  int32_t n;
  return !ir_op_attr(m, op, "padding") || ir_op_ints(m, op, "padding", &n);
}

bool split_stencil_of(arena *scratch, ir_module *m, ir_op op, int32_t operand, int32_t dim,
                      split_stencil *out) {
  if (!is_readable(m, op)) return false;
  *out = (split_stencil){dim, dim, dim, .step = 1, .reach = 1, .holes = 1, .slack = 1};
  switch (ir_kind_of(m, op)) {
    case IR_OP_CONVOLUTION: return of_convolution(scratch, m, op, operand, dim, out);
    case IR_OP_REDUCE_WINDOW:
    case IR_OP_SELECT_AND_SCATTER: of_windows(m, op, dim, out); return true;
    case IR_OP_SLICE:
      out->step = out->slack = ir_op_entry(m, op, "strides", dim, 1);
      out->low = -ir_op_entry(m, op, "start_indices", dim, 0);
      return true;
    case IR_OP_PAD:
      out->low = ir_op_entry(m, op, "edge_padding_low", dim, 0);
      out->holes = ir_op_entry(m, op, "interior_padding", dim, 0) + 1;
      out->may_cut = true;
      return true;
    default: return false;
  }
}

/* ---- windows ---- */

enum { FARTHEST = 1 << 30 }; /* numbers that may be multiplied */

static bool are_small(const split_stencil *s, split_pos pos) {
  int64_t offset = pos.offset < 0 ? -pos.offset : pos.offset;
  return s->step < FARTHEST && s->holes < FARTHEST && s->reach < FARTHEST && pos.unit < FARTHEST &&
         offset < FARTHEST && pos.more < FARTHEST && s->low < FARTHEST && s->low > -FARTHEST;
}

/* unit * from / to, if that is a whole number. */
static bool scaled(int64_t unit, int64_t from, int64_t to, int64_t *out, int64_t *out_coarsen) {
  *out = unit * from / to;
  if (unit * from % to == 0) return true;
  *out_coarsen = to / common_divisor(unit * from, to);
  return false;
}

/* Places between the elements of the window at index 0, holes counted: the first that is read, and
 * the last, of a slice of no indices. */
static int64_t first_place(const split_stencil *s, split_pos result) {
  return result.offset * s->step - s->low;
}

static int64_t last_place(const split_stencil *s, split_pos result) {
  return first_place(s, result) + (result.more - 1) * s->step + s->reach - 1;
}

/* Places that the slice's part of the operand stands behind that of the result. */
static int64_t shift_of(const split_stencil *s) {
  return s->stays ? 0 : (s->reach - s->step) / 2 - s->low;
}

bool split_stencil_operand(const split_stencil *s, split_pos result, split_pos *out,
                           int64_t *out_coarsen) {
  *out = (split_pos){.dim = s->operand_dim, .unit = 1};
  if (result.mirrored || !are_small(s, result) ||
      !scaled(result.unit, s->step, s->holes, &out->unit, out_coarsen))
    return false;
  out->offset = ceil_div(first_place(s, result), s->holes);
  out->more = max64(1 - out->unit, /* a slice of one index has an element */
                    floor_div(last_place(s, result), s->holes) + 1 - out->offset);
  int64_t core = (result.offset + result.core) * s->step + shift_of(s);
  *out = split_with_core(*out, floor_div(core, s->holes));
  int64_t low, high;
  split_stencil_padding(s, *out, result, &low, &high);
  return s->may_cut || high > -s->slack;
}

void split_stencil_padding(const split_stencil *s, split_pos operand, split_pos result,
                           int64_t *out_low, int64_t *out_high) {
  *out_low = operand.offset * s->holes - first_place(s, result);
  int64_t places = (operand.more - 1) * s->holes + 1; /* of the window, the slice's left out */
  *out_high = (result.more - 1) * s->step + s->reach - *out_low - places;
  if (*out_high < 0 && *out_high > -s->slack) *out_high = 0;
}

/* Whole units of the result, if what it is made of are. */
static int64_t rounded(int64_t offset, int64_t unit, bool is_whole) {
  return is_whole ? ceil_div(2 * offset - unit, 2 * unit) * unit : offset;
}

/* Where the result's window is made of the operand's alone, if there is such a place: where windows
 * of single results do not overlap. */
static bool find_within(const split_stencil *s, split_pos core, int64_t unit, int64_t *out_offset) {
  int64_t first = ceil_div((core.offset - 1) * s->holes + 1 + s->low, s->step),
          last = floor_div(core.offset * s->holes + s->low + s->step - s->reach, s->step);
  int64_t whole = floor_div(last, unit) * unit; /* results that are slices are put out as such */
  *out_offset = whole >= first ? whole : last;
  return first <= last;
}

bool split_stencil_result(const split_stencil *s, split_pos operand, split_pos *out,
                          int64_t *out_coarsen) {
  *out = (split_pos){.dim = s->result_dim, .unit = 1};
  if (operand.mirrored || !are_small(s, operand) ||
      !scaled(operand.unit, s->holes, s->step, &out->unit, out_coarsen))
    return false;
  split_pos core = split_core(operand);
  if (!s->stays && find_within(s, core, out->unit, &out->offset)) return true;
  out->offset = rounded(floor_div(core.offset * s->holes - shift_of(s), s->step), out->unit,
                        core.offset % core.unit == 0);
  return true;
}

/* Elements at the window's end that nobody reads. */
static int64_t unread(const split_stencil *s, split_pos operand, split_pos result) {
  int64_t low, high;
  split_stencil_padding(s, operand, result, &low, &high);
  return high < 0 ? ceil_div(-high, s->holes) : 0;
}

static ir_value cut_others(ir_builder *b, ir_op op, const split_stencil *s, ir_value x) {
  ir_conv_numbers n;
  CTX_CHECK(b->m->ctx, ir_conv_dims(b->m->arena, b->m, op, &n));
  for (int32_t i = 0; i < n.input_spatial.count; i++) {
    int64_t dim = n.input_spatial.at[i], low = cut_of(b->m, op, 2 * i),
            cut = low + cut_of(b->m, op, 2 * i + 1);
    if (i == s->window || !cut) continue;
    CTX_CHECK(b->m->ctx, cut < ir_dim_of(b->m, x, dim)); /* split_stencil_of asks for this */
    x = ir_build_slice_dim(b, x, dim, low, ir_dim_of(b->m, x, dim) - cut);
  }
  return x;
}

/* What cut_others has cut. */
static void no_cuts(ir_module *m, ir_op op, const split_stencil *s) {
  ir_conv_numbers n;
  CTX_CHECK(m->ctx, ir_conv_dims(m->arena, m, op, &n));
  for (int32_t i = 0; i < n.input_spatial.count; i++) {
    int64_t low = cut_of(m, op, 2 * i), high = cut_of(m, op, 2 * i + 1);
    if (i == s->window) continue;
    if (low) split_set_entry(m, op, "padding", 2 * i, 0);
    if (high) split_set_entry(m, op, "padding", 2 * i + 1, 0);
  }
}

ir_value split_stencil_trimmed(ir_builder *b, ir_op op, const split_stencil *s, split_pos operand,
                               split_pos result, ir_value x) {
  x = cut_others(b, op, s, x);
  int64_t size = ir_dim_of(b->m, x, operand.dim), n = size - unread(s, operand, result);
  CTX_CHECK(b->m->ctx, n > 0);
  return n < size ? ir_build_slice_dim(b, x, operand.dim, 0, n) : x;
}

/* ---- select_and_scatter: from windows of the operand back to their elements ---- */
bool split_stencil_back(const split_stencil *s, split_pos result, split_pos *out_source,
                        split_pos *out_operand, int64_t *out_coarsen) {
  split_pos source = result, operand = result;
  if (result.mirrored || !are_small(s, result) ||
      !scaled(result.unit, 1, s->step, &source.unit, out_coarsen))
    return false;
  int64_t met = ceil_div(result.offset - s->reach + 1, s->step),
          at = floor_div(result.offset, s->step), end = result.offset + result.more;
  source.offset = met < at ? met : at;
  source.more = floor_div(end - 1, s->step) + 1 - source.offset; /* end: of a slice of no indices */
  operand.offset = source.offset * s->step;
  operand.more = max64(end - operand.offset, (source.more - 1) * s->step + s->reach);
  int64_t core = result.offset + result.core;
  *out_source = split_with_core(source, floor_div(core, s->step));
  *out_operand = split_with_core(operand, core);
  return source.more >= 0 && operand.more >= 0;
}

/* ---- attributes ---- */
static void set_padding(ir_module *m, ir_op op, int32_t window, int64_t low, int64_t high) {
  int32_t n, dims = ir_kind_of(m, op) == IR_OP_CONVOLUTION ? -2 : 0;
  dims += ir_type_at(m, ir_operand(m, op, 0))->rank;
  if (!ir_op_ints(m, op, "padding", &n)) {
    int64_t zeros[2 * IR_MAX_RANK] = {0}, shape[] = {dims, 2};
    ir_op_set_attr(m, op, "padding", ir_attr_dense(m, ir_tensor(m, IR_I64, 2, shape), zeros, false),
                   true);
  }
  CTX_CHECK(m->ctx, low >= 0 && high >= 0);
  split_set_entry(m, op, "padding", 2 * window, low);
  split_set_entry(m, op, "padding", 2 * window + 1, high);
}

void split_stencil_set_padding(ir_module *m, ir_op op, const split_stencil *s, split_pos operand,
                               split_pos result) {
  int64_t low, high;
  split_stencil_padding(s, operand, result, &low, &high);
  set_padding(m, op, s->window, low, high + unread(s, operand, result) * s->holes);
  if (ir_kind_of(m, op) == IR_OP_CONVOLUTION) no_cuts(m, op, s);
}

void split_stencil_no_padding(ir_module *m, ir_op op, const split_stencil *s) {
  set_padding(m, op, s->window, 0, 0);
}
