/* The factor rules: one short function per structural op, named in the op table's factors column.
 */
#include "split/factors.h"

#include "base/ints.h"
#include "ir/fold.h"
#include "ir/attrs.h"
#include "ir/maps.h"
#include "machine/tuned.h"
#include "split/body.h"
#include "split/chunks.h"
#include "split/indices.h"
#include "split/prefix.h"
#include "split/sorts.h"
#include "split/stencil.h"

/* What a rule sees: the op, the asked position, and the answer to fill (all positions absent, role
 * parallel, to begin with). */
typedef struct query {
  arena *scratch;
  ir_module *m;
  ir_op op;
  bool of_result;
  uint32_t index;
  split_pos pos;
  split_factor *out;
} query;

static const ir_op_data *op_data(const query *q) { return ir_op_get(q->m, q->op); }
static const ir_type_data *operand_type(const query *q, uint32_t i) {
  return ir_type_at(q->m, ir_operand(q->m, q->op, i));
}
static const ir_type_data *result_type(const query *q, uint32_t i) {
  return ir_type_at(q->m, ir_result(q->m, q->op, i));
}
static split_pos at_dim(split_pos pos, int64_t dim) {
  pos.dim = (int32_t)dim;
  return pos;
}
static void set_operand(const query *q, uint32_t i, int64_t dim) {
  q->out->operands[i] = at_dim(q->pos, dim);
}
static void set_result(const query *q, uint32_t i, int64_t dim) {
  q->out->results[i] = at_dim(q->pos, dim);
}
static bool asked_operand(const query *q, uint32_t i) { return !q->of_result && q->index == i; }

/* Position j among the dims of a value of this rank that `in` does not list. */
static int64_t nth_free(int32_t rank, ir_ints a, ir_ints b, int32_t j) {
  for (int32_t d = 0; d < rank; d++)
    if (ir_ints_find(a, d) < 0 && ir_ints_find(b, d) < 0 && j-- == 0) return d;
  return -1;
}

static int32_t free_rank_of(ir_ints a, ir_ints b, int64_t dim) { /* the inverse of nth_free */
  int32_t j = 0;
  for (int64_t d = 0; d < dim; d++) j += ir_ints_find(a, d) < 0 && ir_ints_find(b, d) < 0;
  return j;
}

static const ir_ints NO_INTS = {0, NULL};

#define RULE(name) static bool split_factors_##name(query *q)

RULE(none) {
  (void)q;
  return false;
}
/* The index that the dimension asked for counts (ir/maps.h); IR_ALONE: none. */
static int32_t asked_index(const query *q) {
  int32_t at[IR_MAX_RANK];
  const ir_type_data *asked = q->of_result ? result_type(q, q->index) : operand_type(q, q->index);
  if (q->pos.dim >= asked->rank) return IR_ALONE; /* a scalar: needed whole */
  if (q->of_result ? !ir_result_indices(q->scratch, q->m, q->op, q->index, at)
                   : !ir_operand_indices(q->scratch, q->m, q->op, q->index, at))
    return IR_ALONE;
  return at[q->pos.dim];
}

static bool set_operands(query *q, int32_t index) {
  int32_t at[IR_MAX_RANK];
  for (uint32_t i = 0; i < op_data(q)->n_operands; i++) {
    if (!ir_operand_indices(q->scratch, q->m, q->op, i, at)) return false;
    for (int32_t d = 0; d < operand_type(q, i)->rank; d++)
      if (at[d] == index) set_operand(q, i, d);
  }
  return true;
}

/* The factor is an index of the op's loop nest. */
static bool is_index(query *q) {
  int32_t index = asked_index(q), rank = result_type(q, 0)->rank;
  if (index == IR_ALONE || !set_operands(q, index)) return false;
  if (index >= rank) q->out->role = SPLIT_REDUCED;
  for (uint32_t i = 0; index < rank && i < op_data(q)->n_results; i++) set_result(q, i, index);
  return true;
}

/* The same dimension everywhere; scalars (select's predicate, clamp's bounds) are needed whole. */
static bool same_dim_everywhere(query *q) {
  int32_t rank = q->of_result ? result_type(q, q->index)->rank : operand_type(q, q->index)->rank;
  for (uint32_t i = 0; i < op_data(q)->n_operands; i++)
    if (operand_type(q, i)->rank == rank) set_operand(q, i, q->pos.dim);
  for (uint32_t i = 0; i < op_data(q)->n_results; i++) set_result(q, i, q->pos.dim);
  return true;
}

RULE(elementwise) { return is_index(q); }

/* Component i passes to result i; the others have no part in the factor. */
RULE(barrier) {
  set_operand(q, q->index, q->pos.dim);
  set_result(q, q->index, q->pos.dim);
  return true;
}

/* One number everywhere is one in each slice. */
RULE(constant) { return ir_attr_get(q->m, ir_op_attr(q->m, q->op, "value"))->splat && is_index(q); }

RULE(bitcast_convert) { return is_index(q); }
RULE(iota) { return is_index(q); }
RULE(broadcast) { return is_index(q); }
RULE(broadcast_in_dim) { return is_index(q); }
RULE(transpose) { return is_index(q); }

static int64_t product(const int64_t *dims, int32_t begin, int32_t end) {
  int64_t p = 1;
  for (int32_t i = begin; i < end; i++)
    if (__builtin_mul_overflow(p, dims[i], &p)) return -1;
  return p;
}

/* Where other's unit begins, of whole ones. */
static bool scale_offset(split_pos *other, split_pos pos) {
  return !__builtin_mul_overflow(pos.offset / pos.unit, other->unit, &other->offset) &&
         !__builtin_mul_overflow(pos.more / pos.unit, other->unit, &other->more) &&
         !__builtin_mul_overflow(pos.core / pos.unit, other->unit, &other->core) &&
         pos.offset % pos.unit == 0 && pos.more % pos.unit == 0;
}

/* The window widened to whole units: one that lies across them overlaps the next trip's. Not of an
 * operand: of what it is in whole units that which begins there or before. */
static split_pos in_whole_units(split_pos pos, bool of_result) {
  int64_t by = ((pos.offset % pos.unit) + pos.unit) % pos.unit, at = pos.offset + pos.core;
  if (pos.mirrored || (by == 0 && pos.more % pos.unit == 0)) return pos;
  pos.offset -= by;
  if (!of_result) return pos.more = pos.core = 0, pos;
  pos.more = (pos.more + by + pos.unit - 1) / pos.unit * pos.unit;
  return split_with_core(pos, at);
}

/* In row-major order the factor has P indices outside it, extent E, and S elements inside it. It
 * sits on the dimension e of the other shape whose inside product T divides S and that holds E * (S
 * / T) elements, no more. If e holds fewer, the factor's outer part still sits on a dimension left
 * of e: coarsen. So it is where e ends with the factor, but T does not divide S: as many indices
 * as are whole ones of both are rows of both ([48, 6] as [36, 8]: 4 rows are 3). */
RULE(reshape) {
  const ir_type_data *from = q->of_result ? result_type(q, 0) : operand_type(q, 0);
  const ir_type_data *to = q->of_result ? operand_type(q, 0) : result_type(q, 0);
  int64_t extent = from->dims[q->pos.dim] / q->pos.unit;
  int64_t inside = product(from->dims, q->pos.dim + 1, from->rank);
  if (inside < 0 || extent <= 1 || from->dims[q->pos.dim] % q->pos.unit ||
      __builtin_mul_overflow(inside, q->pos.unit, &inside))
    return false;
  int64_t behind = 1;
  for (int32_t e = to->rank - 1; e >= 0; behind *= to->dims[e], e--) {
    if (to->dims[e] == 1) continue;
    if (inside % behind) {
      if (to->dims[e] * behind != extent * inside) continue;
      int64_t coarsen = behind / common_divisor(inside, behind);
      q->out->coarsen = coarsen < extent ? coarsen : 0;
      return false;
    }
    int64_t unit = inside / behind;
    if (to->dims[e] < unit || to->dims[e] % unit) continue;
    int64_t here = to->dims[e] / unit; /* indices of the factor on this dimension */
    if (here == 1) continue;
    if (here > extent) return false;
    if (here < extent) {
      q->out->coarsen = extent % here ? 0 : here;
      return false;
    }
    split_pos asked = in_whole_units(q->pos, q->of_result), other = at_dim(asked, e);
    other.unit = unit;
    if (!scale_offset(&other, asked)) return false;
    q->out->operands[0] = q->of_result ? other : asked;
    q->out->results[0] = q->of_result ? asked : other;
    q->out->stencil = q->out->shifts = !split_pos_equal(asked, q->pos);
    return true;
  }
  return false;
}

/* ---- parts along the factor: the same elements at other indices (split/window.h) ---- */

/* `pos` as a value has it whose elements stand `by` further on. */
static split_pos moved(split_pos pos, int64_t by) {
  pos.offset += by;
  return pos;
}

/* Operand i's elements are the result's from `by[i]` on; those of them that there are. */
static bool shift_rule(query *q, uint32_t n_parts, const int64_t *by) {
  split_pos result = q->of_result ? q->pos : moved(q->pos, by[q->index]);
  for (uint32_t i = 0; i < n_parts; i++) q->out->operands[i] = moved(result, -by[i]);
  q->out->results[0] = result;
  q->out->shifts = true;
  return true;
}

RULE(concatenate) {
  enum { MOST_PARTS = 8 }; /* all are made in every trip */
  int64_t by[MOST_PARTS], end = 0;
  uint32_t n = op_data(q)->n_operands;
  if (q->pos.dim != ir_op_int(q->m, q->op, "dimension", -1)) return same_dim_everywhere(q);
  if (n > MOST_PARTS) return false;
  for (uint32_t i = 0; i < n; i++) {
    by[i] = end;
    end += operand_type(q, i)->dims[q->pos.dim];
  }
  return shift_rule(q, n, by);
}

/* ---- stencils: a result's window is made of an operand's that reaches further
 * (split/stencil.h) ---- */
static bool stencil_rule(query *q, const split_stencil *s) {
  split_pos result = at_dim(q->pos, s->result_dim), operand;
  if (q->pos.mirrored) return false;
  if (!q->of_result && !split_stencil_result(s, q->pos, &result, &q->out->coarsen)) return false;
  if (!split_stencil_operand(s, result, &operand, &q->out->coarsen)) return false;
  q->out->operands[0] = operand;
  q->out->results[0] = result;
  return q->out->shifts = q->out->stencil = true;
}

static bool find_stencil(query *q, split_stencil *out) {
  return split_stencil_of(q->scratch, q->m, q->op, q->of_result ? -1 : (int32_t)q->index,
                          q->pos.dim, out);
}

RULE(pad) {
  int64_t d = q->pos.dim;
  split_stencil s;
  if (!q->of_result && q->index != 0) return false;
  int64_t low = ir_op_list(q->m, q->op, "edge_padding_low").at[d];
  if (ir_op_list(q->m, q->op, "interior_padding").at[d])
    return find_stencil(q, &s) && stencil_rule(q, &s);
  if (low || ir_op_list(q->m, q->op, "edge_padding_high").at[d]) return shift_rule(q, 1, &low);
  set_operand(q, 0, d);
  set_result(q, 0, d);
  return true;
}

RULE(slice) {
  int64_t d = q->pos.dim, by = -ir_op_list(q->m, q->op, "start_indices").at[d];
  split_stencil s;
  if (ir_op_list(q->m, q->op, "strides").at[d] != 1)
    return find_stencil(q, &s) && stencil_rule(q, &s);
  if (operand_type(q, 0)->dims[d] != result_type(q, 0)->dims[d]) return shift_rule(q, 1, &by);
  return same_dim_everywhere(q);
}

RULE(reverse) {
  same_dim_everywhere(q);
  if (ir_ints_find(ir_op_list(q->m, q->op, "dimensions"), q->pos.dim) < 0) return true;
  split_pos *other = q->of_result ? q->out->operands : q->out->results;
  other->offset = result_type(q, 0)->dims[q->pos.dim] - q->pos.unit - q->pos.more - q->pos.offset;
  other->mirrored = !q->pos.mirrored;
  other->core = q->pos.more > 0 ? q->pos.more - q->pos.core : 0;
  return q->out->shifts = true;
}

/* Start indices that can be counted on in i64. */
static bool has_plain_starts(const query *q, uint32_t first) {
  return operand_type(q, first)->dtype != IR_UI64;
}

/* Part of the dimension: its elements are picked up as they come by, like gather's. */
RULE(dynamic_slice) {
  int64_t d = q->pos.dim;
  if (!q->of_result && q->index != 0) return false;
  set_operand(q, 0, d);
  if (operand_type(q, 0)->dims[d] != result_type(q, 0)->dims[d]) {
    q->out->role = SPLIT_REDUCED;
    q->out->shifts = true;
    return !q->of_result && has_plain_starts(q, 1);
  }
  set_result(q, 0, d);
  return true;
}

/* The update is a large part of the operand along dimension d: *out_start is known. What is smaller
 * is better there whole. */
static bool is_large_update(query *q, int64_t d, int64_t *out_start) {
  int64_t x = operand_type(q, 0)->dims[d], update = operand_type(q, 1)->dims[d];
  return update < x && update > x / TUNED_UPDATE_SHARE &&
         ir_splat_int(q->m, ir_operand(q->m, q->op, (uint32_t)(2 + d)), out_start) &&
         *out_start >= 0 && *out_start <= x - update;
}

bool split_is_updated(const ir_module *m, ir_value v, ir_value from) {
  for (ir_op op; v != from && (op = ir_maker(m, v, IR_OP_DYNAMIC_UPDATE_SLICE));)
    v = ir_operand(m, op, 0);
  return v == from;
}

/* What an update in the block was made of by others there, of which nobody else reads any. */
static ir_value before_updates(const query *q) {
  ir_value x = ir_operand(q->m, q->op, 0);
  ir_op update, reader = q->op;
  while ((update = ir_maker(q->m, x, IR_OP_DYNAMIC_UPDATE_SLICE)) &&
         ir_op_get(q->m, update)->block == op_data(q)->block) {
    for (ir_op op, i = 0; (op = ir_op_at(q->m, op_data(q)->block, i)); i++)
      if (op != reader && ir_reads(q->m, op, x)) return x;
    x = ir_operand(q->m, reader = update, 0);
  }
  return x;
}

/* The operand is none of the block's, and what the block hands on is the result with further
 * updates: both are there whole, whatever is done. */
static bool updates_state(const query *q) {
  ir_value x = before_updates(q), y = ir_result(q->m, q->op, 0);
  ir_block block = op_data(q)->block;
  ir_op end = ir_terminator(q->m, block);
  bool is_own = ir_value_get(q->m, x)->op && ir_value_block(q->m, x) == block;
  ir_op around = ir_block_get(q->m, block)->parent;
  bool is_state = !ir_value_get(q->m, x)->op && ir_value_block(q->m, x) == block &&
                  ir_kind_of(q->m, around) == IR_OP_WHILE;
  for (uint32_t i = 0; !is_own && i < ir_op_get(q->m, end)->n_operands; i++)
    if (split_is_updated(q->m, ir_operand(q->m, end, i), y))
      return !is_state || ir_value_get(q->m, x)->index == i;
  return false;
}

/* Each slice of the update goes into what the slices before left. */
static bool put_by_slices(query *q) {
  if (!asked_operand(q, 1) || q->pos.mirrored) return false;
  set_operand(q, 1, q->pos.dim);
  q->out->role = SPLIT_REDUCED;
  return true;
}

/* Part of the dimension: the update is there whole, if it is no large part at a known place. Of an
 * update of no elements no window can be read. */
RULE(dynamic_update_slice) {
  int64_t d = q->pos.dim, by[] = {0, 0};
  if (!q->of_result && q->index > 1) return false;
  if (is_large_update(q, d, &by[1]))
    return updates_state(q) ? put_by_slices(q) : shift_rule(q, 2, by);
  set_operand(q, 0, d);
  set_result(q, 0, d);
  if (operand_type(q, 0)->dims[d] != operand_type(q, 1)->dims[d]) {
    q->out->shifts = true;
    return operand_type(q, 1)->dims[d] && !asked_operand(q, 1) && has_plain_starts(q, 2);
  }
  set_operand(q, 1, d);
  set_result(q, 0, d);
  return true;
}

/* ---- contractions ---- */
RULE(dot_general) { return is_index(q); }
RULE(dot) { return is_index(q); }

/* A kernel as large as an image (a kernel's gradient): the sum goes over slices of the kernel, with
 * the windows of the operand that they meet. */
static bool sum_of_stencils(query *q, const split_stencil *s) {
  split_pos kernel = at_dim(q->pos, s->result_dim), operand;
  if (q->pos.mirrored) return false;
  if (q->index == 0 && !split_stencil_result(s, q->pos, &kernel, &q->out->coarsen)) return false;
  kernel.more = kernel.core = 0;
  if (!split_stencil_operand(s, kernel, &operand, &q->out->coarsen)) return false;
  q->out->operands[0] = operand;
  q->out->operands[1] = kernel;
  q->out->role = SPLIT_REDUCED;
  return q->out->shifts = q->out->stencil = true;
}

/* No group meets another: each has so many consecutive features of the operand, or rows of its
 * batch, of the kernel's outputs, and of the result. */
static bool groups_rule(query *q, const ir_conv_numbers *n, int64_t groups, int64_t operand_dim) {
  int64_t dims[] = {operand_dim, n->kernel_output_feature, n->output_feature}, each[3];
  const ir_type_data *types[] = {operand_type(q, 0), operand_type(q, 1), result_type(q, 0)};
  uint32_t asked = q->of_result ? 2 : q->index;
  split_pos at[3];
  if (groups == 1 || q->pos.dim != dims[asked] || q->pos.mirrored) return false;
  for (uint32_t i = 0; i < 3; i++) each[i] = types[i]->dims[dims[i]] / groups;
  if (!each[0] || !each[1]) return false;
  if (q->pos.unit % each[asked]) {
    q->out->coarsen = each[asked]; /* or fewer: units are whole groups */
    return false;
  }
  for (uint32_t i = 0; i < 3; i++) {
    at[i] = at_dim(q->pos, dims[i]);
    if (__builtin_mul_overflow(q->pos.unit / each[asked], each[i], &at[i].unit) ||
        !scale_offset(&at[i], q->pos))
      return false;
  }
  q->out->operands[0] = at[0];
  q->out->operands[1] = at[1];
  q->out->results[0] = at[2];
  return true;
}

RULE(convolution) {
  ir_conv_numbers n;
  split_stencil s;
  if (!ir_conv_dims(q->scratch, q->m, q->op, &n)) return false;
  if (find_stencil(q, &s)) return s.is_sum ? sum_of_stencils(q, &s) : stencil_rule(q, &s);
  int64_t of_batch = ir_op_int(q->m, q->op, "batch_group_count", 1),
          of_features = ir_op_int(q->m, q->op, "feature_group_count", 1), d = q->pos.dim;
  bool batches = of_batch != 1, features = of_features != 1;
  if (groups_rule(q, &n, of_features, n.input_feature) ||
      groups_rule(q, &n, of_batch, n.input_batch))
    return true;
  if (!batches && (q->of_result ? d == n.output_batch : q->index == 0 && d == n.input_batch)) {
    set_operand(q, 0, n.input_batch);
    set_result(q, 0, n.output_batch);
    return true;
  }
  if (!batches && !features &&
      (q->of_result ? d == n.output_feature : q->index == 1 && d == n.kernel_output_feature)) {
    set_operand(q, 1, n.kernel_output_feature);
    set_result(q, 0, n.output_feature);
    return true;
  }
  if (!features && !q->of_result && d == (q->index ? n.kernel_input_feature : n.input_feature)) {
    set_operand(q, 0, n.input_feature);
    set_operand(q, 1, n.kernel_input_feature);
    q->out->role = SPLIT_REDUCED;
    return true;
  }
  return false;
}

/* ---- reductions, sorting ---- */
RULE(reduce) { return is_index(q); }
/* In the order of the sorted elements: any of the operands' may be the next. */
static bool sorted_rule(query *q) {
  split_pos pos = q->pos;
  if (!q->of_result || pos.more || pos.offset % pos.unit ||
      result_type(q, 0)->dims[pos.dim] % pos.unit)
    return false;
  int64_t last = result_type(q, 0)->dims[pos.dim] - pos.unit;
  q->out->carried = true;
  q->out->shifts = pos.offset != (pos.mirrored ? last : 0);
  for (uint32_t i = 0; i < op_data(q)->n_results; i++) set_result(q, i, pos.dim);
  return true;
}
RULE(sort) { return is_index(q) || (split_sorts_along(q->m, q->op, q->pos.dim) && sorted_rule(q)); }
RULE(top_k) { return is_index(q) && (q->out->role == SPLIT_PARALLEL || !q->pos.mirrored); }
/* Prefix sums in the order of the factor, or mirrored against it: those there are. Where the
 * factor's first index is not theirs, the region has to begin in front of them all. */
static bool carried_rule(query *q) {
  split_pos pos = q->pos;
  split_direction along = split_prefix_along(q->m, q->op, pos.dim);
  int64_t last = operand_type(q, 0)->dims[pos.dim] - pos.unit;
  if (along == SPLIT_NO_PREFIX || operand_type(q, 0)->dims[pos.dim] % pos.unit ||
      pos.offset % pos.unit || pos.more)
    return false;
  q->out->carried = true;
  q->out->backwards = pos.mirrored != (along == SPLIT_BACKWARD);
  q->out->shifts = pos.offset != (pos.mirrored ? last : 0);
  return !q->out->backwards && same_dim_everywhere(q);
}

/* All operands have the same windows. */
static bool windows_rule(query *q) {
  uint32_t n = op_data(q)->n_operands / 2;
  split_stencil s;
  if ((!q->of_result && q->index >= n) || !find_stencil(q, &s) || !stencil_rule(q, &s))
    return false;
  for (uint32_t i = 1; i < n; i++) q->out->operands[i] = q->out->operands[0];
  for (uint32_t i = 1; i < n; i++) q->out->results[i] = q->out->results[0];
  return true;
}

RULE(reduce_window) {
  if (is_index(q)) return true;
  return ir_prefix_along(q->m, q->op, q->pos.dim) ? carried_rule(q) : windows_rule(q);
}
/* Sums of what windows within the operand select: a window that is not there selects nothing. */
static bool is_plain_selection(const query *q, const split_stencil *s) {
  int64_t size = operand_type(q, 0)->dims[s->operand_dim],
          windows = operand_type(q, 1)->dims[s->result_dim];
  return s->low == 0 && s->holes == 1 && (windows - 1) * s->step + s->reach <= size &&
         ir_is_zero(q->m, ir_operand(q->m, q->op, 2)) &&
         ir_reducer_kind(q->m, op_data(q)->regions[1]) == IR_OP_ADD;
}

static bool selection_rule(query *q) {
  split_stencil s;
  split_pos result = q->pos, source, operand;
  if (q->pos.mirrored || (!q->of_result && q->index == 2) || !find_stencil(q, &s) ||
      !is_plain_selection(q, &s))
    return false;
  if (!q->of_result) result = split_core(q->pos);
  if (asked_operand(q, 1)) result.unit *= s.step, result.offset *= s.step;
  if (!split_stencil_back(&s, result, &source, &operand, &q->out->coarsen)) return false;
  q->out->operands[0] = operand;
  q->out->operands[1] = source;
  q->out->results[0] = result;
  return q->out->shifts = q->out->stencil = true;
}

RULE(select_and_scatter) { return is_index(q) || selection_rule(q); }

/* ---- gather and scatter: the batch dimensions of the indices, window dimensions taken whole, and
 * dimensions that indices name (split/indices.h) ---- */
typedef struct window_dims { /* of gather's result or scatter's updates */
  const ir_gather_numbers *n;
  int32_t operand_rank;
} window_dims;

static int64_t indices_of_window(const window_dims *w, int64_t d) {
  int64_t j = free_rank_of(w->n->offset_dims, NO_INTS, d);
  return j >= w->n->index_vector_dim ? j + 1 : j;
}

static int64_t window_of_operand(const window_dims *w, int64_t d) { /* -1: collapsed or batching */
  if (ir_ints_find(w->n->collapsed_slice_dims, d) >= 0 ||
      ir_ints_find(w->n->operand_batching_dims, d) >= 0)
    return -1;
  return w->n->offset_dims
      .at[free_rank_of(w->n->collapsed_slice_dims, w->n->operand_batching_dims, d)];
}

static int64_t operand_of_window(const window_dims *w, int64_t d) {
  return nth_free(w->operand_rank, w->n->collapsed_slice_dims, w->n->operand_batching_dims,
                  ir_ints_find(w->n->offset_dims, d));
}

/* Where the factor sits on (operand, indices, window) given one of them; -1 absent. False if it is
 * needed whole. */
static bool window_factor(const window_dims *w, int which, int64_t d, int64_t out[3]) {
  out[0] = out[1] = out[2] = -1;
  if (which == 0 && (out[2] = window_of_operand(w, d)) >= 0) return out[0] = d, true;
  if (which == 0) {
    int32_t b = ir_ints_find(w->n->operand_batching_dims, d);
    if (b < 0) return false;
    which = 1, d = w->n->start_indices_batching_dims.at[b];
  }
  if (which == 2 && ir_ints_find(w->n->offset_dims, d) >= 0)
    return out[2] = d, out[0] = operand_of_window(w, d), true;
  out[1] = which == 1 ? d : indices_of_window(w, d);
  if (out[1] == w->n->index_vector_dim) return false;
  out[2] = ir_entry_dim(w->n, out[1]);
  int32_t b = ir_ints_find(w->n->start_indices_batching_dims, out[1]);
  if (b >= 0) out[0] = w->n->operand_batching_dims.at[b];
  return true;
}

RULE(gather) {
  ir_gather_numbers n;
  if (!ir_gather_dims(q->scratch, q->m, q->op, &n)) return false;
  window_dims w = {&n, operand_type(q, 0)->rank};
  int64_t at[3];
  if (asked_operand(q, 0) && split_is_indexed_dim(q->m, q->op, &n, q->pos.dim)) {
    set_operand(q, 0, q->pos.dim);
    q->out->role = SPLIT_REDUCED;
    return q->pos.unit == 1 && !q->pos.more;
  }
  if (!window_factor(&w, q->of_result ? 2 : (int)q->index, q->pos.dim, at)) return false;
  if (at[0] >= 0 && at[1] < 0 && operand_type(q, 0)->dims[at[0]] != result_type(q, 0)->dims[at[2]])
    return false;
  if (at[0] >= 0) set_operand(q, 0, at[0]);
  if (at[1] >= 0) set_operand(q, 1, at[1]);
  set_result(q, 0, at[2]);
  return true;
}

/* Single-input scatter. Update batches without batching dims are reduced: each slice of updates
 * goes into the accumulated operand. */
RULE(scatter) {
  ir_gather_numbers n;
  if (op_data(q)->n_operands != 3 || !ir_gather_dims(q->scratch, q->m, q->op, &n)) return false;
  window_dims w = {&n, operand_type(q, 0)->rank};
  int64_t at[3];
  if ((q->of_result || q->index == 0) && split_is_indexed_dim(q->m, q->op, &n, q->pos.dim)) {
    set_operand(q, 0, q->pos.dim);
    set_result(q, 0, q->pos.dim);
    return q->pos.unit == 1 && !q->pos.more;
  }
  if (!window_factor(&w, q->of_result ? 0 : (int)q->index, q->pos.dim, at)) return false;
  if (at[0] >= 0 && at[1] < 0 && operand_type(q, 0)->dims[at[0]] != operand_type(q, 2)->dims[at[2]])
    return false;
  if (at[1] >= 0) set_operand(q, 1, at[1]);
  set_operand(q, 2, at[2]);
  if (at[0] < 0) {
    q->out->role = SPLIT_REDUCED;
    return !q->pos.mirrored;
  }
  set_operand(q, 0, at[0]);
  set_result(q, 0, at[0]);
  return true;
}

/* ---- linear algebra ---- */
RULE(cholesky) { return is_index(q); }

RULE(triangular_solve) { return is_index(q); }

RULE(fft) { return is_index(q); }

/* Results that lack the index (of a matrix that many systems have in common) are the same in all
 * slices. */
RULE(custom_call) {
  int32_t index = asked_index(q), at[IR_MAX_RANK];
  if (index == IR_ALONE || !set_operands(q, index)) return false;
  for (uint32_t i = 0; i < op_data(q)->n_results; i++)
    if (index < result_type(q, i)->rank && ir_result_indices(q->scratch, q->m, q->op, i, at) &&
        at[index] == index)
      set_result(q, i, index);
  return true;
}

/* Branches below the op read what is made around them. */
static bool has_captures(const ir_module *m, ir_op op) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; w.op != op && (v = ir_operand_at(m, w.op, i)); i++)
      if (ir_value_block(m, v) != ir_op_get(m, w.op)->block) return true;
  return false;
}

/* What windows that overlap share would be summed twice. */
RULE(while) {
  if (split_body_trace(q->scratch, q->m, q->op, q->index, q->pos, q->out))
    return !(q->pos.more && (q->out->sums || q->out->by_rows));
  *q->out = split_absent_factor(q->scratch, q->m, q->op);
  return !has_captures(q->m, q->op) &&
         split_chunks_trace(q->scratch, q->m, q->op, q->index, q->pos, q->out);
}

/* ---- dispatch ---- */
typedef bool (*rule)(query *q);
static const rule rules[IR_OP_COUNT] = {
    [IR_OP_UNKNOWN] = split_factors_none,
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = split_factors_##factors,
#include "ir/ops.def"
#undef OP
};

static bool is_empty(const ir_module *m, ir_value v) {
  return ir_element_count(m, ir_type_of(m, v)) == 0;
}

/* There is nothing to slice in an empty tensor: an op may have one that the factor is not on. */
static bool slices_empty(const ir_module *m, ir_op op, const split_factor *f) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (f->operands[i].dim >= 0 && is_empty(m, d->operands[i])) return true;
  for (uint32_t i = 0; i < d->n_results; i++)
    if (f->results[i].dim >= 0 && is_empty(m, d->first_result + i)) return true;
  return false;
}

/* v is of the block that the op below `top` stands in, or of one that this is a branch in. */
static bool reads_own(const ir_module *m, ir_op top, ir_op op, ir_value v) {
  ir_block block = ir_op_get(m, op)->block;
  while (ir_value_block(m, v) != block) {
    ir_op around = ir_block_get(m, block)->parent;
    if (around == top || !ir_is_branching(m, around)) return false;
    block = ir_op_get(m, around)->block;
  }
  return true;
}

/* Each block below the op, with the branches in it, reads its own values alone, not those of a
 * block around it either, be that below the op or not: what a reducer reads from above is no
 * operand, so nobody would bring it along. */
static bool is_isolated(const ir_module *m, ir_op op) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; w.op != op && (v = ir_operand_at(m, w.op, i)); i++)
      if (!reads_own(m, op, w.op, v)) return false;
  return true;
}

static int64_t down_to(int64_t x, int64_t unit) { return x - ((x % unit) + unit) % unit; }

split_pos split_core(split_pos pos) {
  pos.offset += pos.core;
  pos.more = pos.core = 0;
  return pos;
}

split_pos split_with_core(split_pos pos, int64_t at) {
  int64_t first = pos.offset, last = first + (pos.more > 0 ? pos.more : 0);
  at = at < first ? first : at > last ? last : at;
  int64_t below = down_to(at, pos.unit), above = below + pos.unit;
  if (below >= first && (at - below <= above - at || above > last)) at = below;
  else if (above <= last) at = above;
  pos.core = at - first;
  return pos;
}

bool split_contains(split_pos whole, split_pos part) {
  if (whole.dim != part.dim || whole.dim < 0 || whole.unit != part.unit ||
      whole.mirrored != part.mirrored)
    return false; /* mirrored or not, a trip's window begins at the offset from the same element */
  return whole.offset <= part.offset && part.offset + part.more <= whole.offset + whole.more;
}

int64_t split_extent(const ir_module *m, ir_value v, split_pos pos) {
  return (ir_type_at(m, v)->dims[pos.dim] + pos.unit - 1) / pos.unit;
}

split_factor split_absent_factor(arena *scratch, const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  split_factor f = {.role = SPLIT_PARALLEL,
                    .operands = ARENA_ARRAY(scratch, split_pos, d->n_operands + 1),
                    .results = ARENA_ARRAY(scratch, split_pos, d->n_results + 1)};
  for (uint32_t i = 0; i < d->n_operands; i++) f.operands[i] = SPLIT_ABSENT;
  for (uint32_t i = 0; i < d->n_results; i++) f.results[i] = SPLIT_ABSENT;
  return f;
}

bool split_trace(arena *scratch, ir_module *m, ir_op op, bool of_result, uint32_t index,
                 split_pos pos, split_factor *out) {
  return split_trace_in_order(scratch, m, op, of_result, index, pos, out) && !out->carried;
}

/* No op that fails this has factors along the value. */
static bool may_have_factors(const ir_module *m, ir_op op, ir_value along) {
  return rules[ir_kind_of(m, op)] != split_factors_none &&
         ir_all_types(m, op, ir_is_static_tensor) && !ir_has_effects(m, op) && is_isolated(m, op) &&
         !is_empty(m, along);
}

bool split_trace_in_order(arena *scratch, ir_module *m, ir_op op, bool of_result, uint32_t index,
                          split_pos pos, split_factor *out) {
  *out = (split_factor){.role = SPLIT_PARALLEL};
  if (!may_have_factors(m, op, of_result ? ir_result(m, op, index) : ir_operand(m, op, index)))
    return false;
  *out = split_absent_factor(scratch, m, op);
  query q = {scratch, m, op, of_result, index, pos, out};
  return rules[ir_kind_of(m, op)](&q) && !slices_empty(m, op, out);
}
