#include "split/tile_op.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "split/body.h"
#include "split/chunks.h"
#include "split/indices.h"
#include "split/shards.h"
#include "split/stencil.h"
#include "split/window.h"

ir_type split_tile_type(ir_module *m, ir_type t, split_pos pos, int64_t slice) {
  return pos.dim < 0 ? t : ir_tensor_with_dim(m, t, pos.dim, split_window_size(pos, slice));
}

void split_set_entry(ir_module *m, ir_op op, const char *name, int32_t dim, int64_t value) {
  int32_t n;
  const int64_t *old = ir_op_ints(m, op, name, &n);
  if (!old || dim >= n) return;
  int64_t *ints = ARENA_COPY(m->arena, int64_t, old, (size_t)n);
  ints[dim] = value;
  ir_attr_data d = *ir_attr_get(m, ir_op_attr(m, op, name));
  if (d.kind == IR_ATTR_DENSE) d.data = ints, d.splat = false; /* i64 elements */
  d.ints = d.kind == IR_ATTR_I64S ? ints : NULL;
  ir_op_set_attr(m, op, name, ir_attr_new(m, &d), true);
}

static void fix_constant(ir_module *m, ir_op op) {
  ir_attr_data d = *ir_attr_get(m, ir_op_attr(m, op, "value"));
  d.type = ir_type_of(m, ir_result(m, op, 0));
  ir_op_set_attr(m, op, "value", ir_attr_new(m, &d), true);
}

/* What an attribute says along the factor is the same number for every trip, because the trip's
 * window of the operand already is what the op made of the whole: as long as a slice, without
 * strides or gaps. A start that an operand gives is none: the dimension was taken whole. */
static void check_same_in_all_trips(ir_module *m, ir_op op, split_pos pos, int64_t slice) {
  if (pos.dim < 0) return;
  ir_value x = ir_operand(m, op, 0);
  CTX_CHECK(m->ctx, ir_type_at(m, x)->dims[pos.dim] == split_window_size(pos, slice));
  if (ir_kind_of(m, op) == IR_OP_SLICE)
    CTX_CHECK(m->ctx, ir_op_entry(m, op, "strides", pos.dim, -1) == 1);
  if (ir_kind_of(m, op) == IR_OP_PAD)
    CTX_CHECK(m->ctx, ir_op_entry(m, op, "interior_padding", pos.dim, -1) == 0);
}

static void set_groups(ir_module *m, ir_op op, const char *name, int64_t all, int64_t each) {
  if (ir_op_int(m, op, name, 1) == 1) return;
  CTX_CHECK(m->ctx, each > 0 && all % each == 0);
  ir_op_set_attr(m, op, name, ir_attr_int(m, all / each, IR_I64), true);
}

/* Of a convolution on a slice of its groups: as many as the operand has there. */
static void fix_groups(ir_module *m, ir_op op, const split_factor *f) {
  ir_conv_numbers n;
  CTX_CHECK(m->ctx, ir_conv_dims(m->arena, m, op, &n));
  if (f->results[0].dim != n.output_feature) return;
  const int64_t *x = ir_type_at(m, ir_operand(m, op, 0))->dims,
                *kernel = ir_type_at(m, ir_operand(m, op, 1))->dims,
                *y = ir_type_at(m, ir_result(m, op, 0))->dims;
  set_groups(m, op, "feature_group_count", x[n.input_feature], kernel[n.kernel_input_feature]);
  set_groups(m, op, "batch_group_count", x[n.input_batch], y[n.output_batch]);
}

/* Sizes that stand in attributes. */
static void fix_attributes(ir_module *m, ir_op op, const split_factor *f, int64_t slice) {
  split_pos operand = ir_op_get(m, op)->n_operands ? f->operands[0] : SPLIT_ABSENT;
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_SLICE || kind == IR_OP_PAD || kind == IR_OP_DYNAMIC_SLICE)
    check_same_in_all_trips(m, op, operand, slice);
  switch (kind) {
    case IR_OP_CONSTANT: fix_constant(m, op); return;
    case IR_OP_SLICE: /* what is left out along the factor is left out by the window */
      split_set_entry(m, op, "start_indices", operand.dim, 0);
      split_set_entry(m, op, "limit_indices", operand.dim, split_window_size(operand, slice));
      return;
    case IR_OP_PAD:
      split_set_entry(m, op, "edge_padding_low", operand.dim, 0);
      split_set_entry(m, op, "edge_padding_high", operand.dim, 0);
      return;
    case IR_OP_DYNAMIC_SLICE:
      split_set_entry(m, op, "slice_sizes", operand.dim, split_window_size(operand, slice));
      return;
    case IR_OP_GATHER:
      if (operand.dim >= 0 && f->operands[1].dim < 0)
        split_set_entry(m, op, "slice_sizes", operand.dim, split_window_size(operand, slice));
      return;
    case IR_OP_CONVOLUTION: fix_groups(m, op, f); return;
    case IR_OP_BROADCAST: /* new dimensions stand in front */
      split_set_entry(m, op, "broadcast_sizes", f->results[0].dim,
                      split_window_size(f->results[0], slice));
      return;
    case IR_OP_CUSTOM_CALL:
      ir_op_drop_attr(m, op, "sdy.sharding_rule");
      return; /* names sizes; says nothing on one device */
    default: return;
  }
}

/* iota along the factor: counted from the slice's start, in integers so that nothing is rounded on
 * the way. */
static ir_value narrow_iota(ir_builder *b, ir_op op, ir_type type, split_pos pos,
                            const split_trip *trip) {
  ir_module *m = b->m;
  ir_dtype dtype = ir_type_get(m, type)->dtype;
  int64_t size = ir_type_at(m, ir_result(m, op, 0))->dims[pos.dim];
  bool fits = split_window_fits(trip, pos, size) && size <= INT32_MAX;
  ir_dtype wide = fits ? IR_I32 : IR_I64;
  ir_type t = ir_tensor_with_dtype(m, type, wide);
  ir_value local = ir_build_iota(b, t, ir_op_int(m, op, "iota_dimension", 0));
  ir_value first = split_window_start(b, trip, pos);
  int64_t number;
  if (ir_splat_int(m, first, &number)) {
    if (!number) return ir_build_convert(b, local, dtype);
    first = ir_build_splat_int(b, t, number);
  } else first = ir_build_broadcast(b, ir_build_convert(b, first, wide), t, NULL);
  return ir_build_convert(b, ir_build_add(b, local, first), dtype);
}

/* A constraint says nothing of slices along the dimension that it shards; of others the same. */
static bool is_identity(const ir_module *m, ir_op op, split_pos pos) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_OPTIMIZATION_BARRIER ||
         (kind == IR_OP_SDY_SHARDING_CONSTRAINT && pos.dim >= 0 &&
          split_is_sharded(m, ir_result(m, op, 0), pos.dim));
}

static bool has_position(const split_pos *positions, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (positions[i].dim >= 0) return true;
  return false;
}

/* ---- parts along the factor ---- */
/* Some trip's window of operand `i` has elements beyond the operand's ends. */
static bool has_gaps(const ir_module *m, ir_op op, const split_factor *f, const split_trip *trip,
                     uint32_t i) {
  split_pos pos = f->operands[i];
  return pos.dim >= 0 &&
         !split_window_fits(trip, pos, ir_type_at(m, ir_operand(m, op, i))->dims[pos.dim]);
}

/* x where the window of operand `i` is not beyond the operand's ends, `otherwise` elsewhere. */
static ir_value where_present(ir_builder *b, ir_op op, const split_factor *f,
                              const split_trip *trip, uint32_t i, ir_value x, ir_value otherwise) {
  ir_module *m = b->m;
  split_pos pos = f->operands[i];
  int64_t size = ir_type_at(m, ir_operand(m, op, i))->dims[pos.dim];
  split_interval inside = split_window_inside(b, split_window_start(b, trip, pos), size,
                                              split_window_size(pos, trip->slice));
  ir_value mask = split_window_mask(b, ir_type_of(m, x), pos.dim, inside);
  return mask ? ir_build_select(b, mask, x, otherwise) : x;
}

/* Each part over what it does not cover of the others. */
static ir_value narrow_concatenate(ir_builder *b, ir_op op, const split_factor *f,
                                   const split_trip *trip, const ir_value *operands) {
  uint32_t n = ir_op_get(b->m, op)->n_operands;
  ir_value x = operands[n - 1];
  for (uint32_t i = n - 1; i-- > 0;)
    x = has_gaps(b->m, op, f, trip, i) ? where_present(b, op, f, trip, i, operands[i], x)
                                       : operands[i];
  return x;
}

/* Start indices with none along dim. */
static const ir_value *starts_but(ir_builder *b, const ir_value *starts, int32_t rank,
                                  int64_t dim) {
  ir_value *s = ARENA_COPY(b->m->arena, ir_value, starts, (size_t)rank);
  s[dim] = ir_build_splat_int(b, ir_type_of(b->m, starts[dim]), 0);
  return s;
}

/* The window of the update over that of the operand, where the update's is not beyond its ends. */
static ir_value narrow_large_update(ir_builder *b, ir_op op, const split_factor *f,
                                    const split_trip *trip, const ir_value *operands) {
  ir_module *m = b->m;
  ir_value x = operands[0], over = operands[1];
  if (ir_type_of(m, over) != ir_type_of(m, x)) {
    int32_t rank = ir_type_at(m, x)->rank;
    const ir_value *starts = starts_but(b, operands + 2, rank, f->operands[1].dim);
    over = ir_build_dynamic_update_slice(b, x, over, starts);
  }
  return has_gaps(m, op, f, trip, 1) ? where_present(b, op, f, trip, 1, over, x) : over;
}

/* x, padded along the other dimensions: the padding value beyond the operand's ends. */
static ir_value pad_ends(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                         ir_value x, ir_value value) {
  ir_value padding = ir_build_broadcast(b, value, ir_type_of(b->m, x), NULL);
  return where_present(b, op, f, trip, 0, x, padding);
}

ir_value split_clamped_start(ir_builder *b, ir_value start, int64_t size, int64_t part) {
  return ir_build_clamped(b, ir_build_convert(b, start, IR_I64), 0, size - part);
}

ir_value split_tile_dynamic_slice(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                                  const ir_value *operands, ir_value *out_first) {
  ir_module *m = b->m;
  ir_type part = ir_type_of(m, ir_result(m, op, 0));
  ir_type window = split_tile_type(m, part, pos, trip->slice);
  int64_t size = ir_type_at(m, ir_operand(m, op, 0))->dims[pos.dim];
  *out_first =
      split_clamped_start(b, operands[1 + pos.dim], size, ir_type_get(m, part)->dims[pos.dim]);
  const ir_value *starts = starts_but(b, operands + 1, ir_type_get(m, part)->rank, pos.dim);
  return ir_build_dynamic_slice(b, operands[0], starts, ir_type_get(m, window)->dims);
}

/* The window of the update over the window of the operand, where there is one. */
static ir_value narrow_update(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                              const ir_value *operands) {
  ir_module *m = b->m;
  const ir_type_data *u = ir_type_at(m, operands[1]);
  int64_t size = ir_type_at(m, ir_operand(m, op, 0))->dims[pos.dim], part = u->dims[pos.dim];
  int64_t n = split_window_size(pos, trip->slice);
  ir_value first = split_clamped_start(b, operands[2 + pos.dim], size, part);
  ir_value at = ir_build_subtract(b, split_window_start(b, trip, pos), first);
  ir_value update = split_window_read(b, operands[1], pos.dim, at, n);
  const ir_value *starts = starts_but(b, operands + 2, ir_type_at(m, update)->rank, pos.dim);
  ir_value old = ir_build_dynamic_slice(b, operands[0], starts, ir_type_at(m, update)->dims);
  ir_value is_new =
      split_window_mask(b, ir_type_of(m, update), pos.dim, split_window_inside(b, at, part, n));
  ir_value written = is_new ? ir_build_select(b, is_new, update, old) : update;
  return ir_build_dynamic_update_slice(b, operands[0], written, starts);
}

/* ---- stencils ---- */
static bool find_stencil(ir_module *m, ir_op op, const split_factor *f, split_stencil *out) {
  split_pos pos = f->results[0];
  return pos.dim >= 0 && split_stencil_of(m->arena, m, op, -1, pos.dim, out);
}

/* Along the factor: strides or holes, or windows of more than an element. */
static bool is_stencil(ir_module *m, ir_op op, const split_factor *f) {
  split_stencil s;
  if (!find_stencil(m, op, f, &s)) return false;
  if (s.step > 1 || s.holes > 1 || s.reach > 1) return true;
  bool same = ir_type_at(m, ir_operand(m, op, 0))->dims[s.operand_dim] ==
              ir_type_at(m, ir_result(m, op, 0))->dims[s.result_dim];
  ir_kind kind = ir_kind_of(m, op);
  return (kind == IR_OP_CONVOLUTION || kind == IR_OP_REDUCE_WINDOW) && (s.low || !same);
}

/* The operands: padding where their windows are beyond the ends of what the op pads. */
static ir_value *with_ends(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                           const ir_value *operands) {
  static const char zero[16];
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_value *ended = ARENA_COPY(m->arena, ir_value, operands, d.n_operands);
  uint32_t n = d.kind == IR_OP_REDUCE_WINDOW ? d.n_operands / 2 : 1;
  for (uint32_t i = 0; i < n && d.kind != IR_OP_SLICE; i++) {
    if (!has_gaps(m, op, f, trip, i)) continue;
    ir_type type = ir_type_of(m, operands[i]);
    ir_value none = ir_build_constant(b, type, zero);
    if (d.kind == IR_OP_REDUCE_WINDOW)
      none = ir_build_broadcast(b, split_counts_for_nothing(b, op, i, operands[n + i]), type, NULL);
    else if (d.kind != IR_OP_CONVOLUTION) none = ir_build_broadcast(b, operands[n + i], type, NULL);
    ended[i] = where_present(b, op, f, trip, i, operands[i], none);
  }
  return ended;
}

static void fix_stencil(ir_module *m, ir_op op, const split_stencil *s, const split_factor *f,
                        int64_t slice) {
  split_pos operand = f->operands[0], result = f->results[0];
  int64_t low, high;
  split_stencil_padding(s, operand, result, &low, &high);
  switch (ir_kind_of(m, op)) {
    case IR_OP_SLICE:
      split_set_entry(m, op, "start_indices", operand.dim, low);
      split_set_entry(m, op, "limit_indices", operand.dim,
                      (split_window_size(result, slice) - 1) * s->step + 1);
      return;
    case IR_OP_PAD:
      split_set_entry(m, op, "edge_padding_low", operand.dim, low);
      split_set_entry(m, op, "edge_padding_high", operand.dim, high);
      return;
    default: split_stencil_set_padding(m, op, s, operand, result);
  }
}

static void narrow_stencil(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                           const ir_value *operands, const ir_type *types, ir_value *out_results) {
  ir_module *m = b->m;
  split_stencil s;
  CTX_CHECK(m->ctx, find_stencil(m, op, f, &s));
  ir_value *ended = with_ends(b, op, f, trip, operands);
  if (ir_kind_of(m, op) == IR_OP_CONVOLUTION)
    ended[0] = split_stencil_trimmed(b, op, &s, f->operands[0], f->results[0], ended[0]);
  ir_op copy = ir_build_again(b, op, ended, types);
  fix_stencil(m, copy, &s, f, trip->slice);
  for (uint32_t j = 0; j < ir_op_get(m, op)->n_results; j++) out_results[j] = ir_result(m, copy, j);
}

/* On all windows that meet the result's: of what comes out, the result's part is complete. */
static ir_value narrow_selection(ir_builder *b, ir_op op, const split_factor *f,
                                 const split_trip *trip, const ir_value *operands) {
  ir_module *m = b->m;
  split_stencil s;
  split_pos operand = f->operands[0], result = f->results[0];
  CTX_CHECK(m->ctx, split_stencil_of(m->arena, m, op, 0, operand.dim, &s));
  ir_value sources = operands[1];
  ir_type type = ir_type_of(m, operands[0]);
  if (has_gaps(m, op, f, trip, 1))
    sources = where_present(b, op, f, trip, 1, sources, ir_build_int_like(b, sources, 0));
  ir_op all = ir_build_again(b, op, (ir_value[]){operands[0], sources, operands[2]}, &type);
  split_stencil_no_padding(m, all, &s);
  return split_window_part(b, trip, ir_result(m, all, 0), operand, result);
}

static bool narrow_parts(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                         const ir_value *operands, ir_value *out_results) {
  int32_t dim = f->results[0].dim;
  if (dim < 0) return false;
  switch (ir_kind_of(b->m, op)) {
    case IR_OP_CONCATENATE:
      if (dim != ir_op_int(b->m, op, "dimension", -1)) return false;
      out_results[0] = narrow_concatenate(b, op, f, trip, operands);
      return true;
    case IR_OP_DYNAMIC_UPDATE_SLICE:
      if (ir_type_at(b->m, ir_operand(b->m, op, 0))->dims[dim] ==
          ir_type_at(b->m, ir_operand(b->m, op, 1))->dims[dim])
        return false;
      if (f->operands[1].dim >= 0) {
        out_results[0] = narrow_large_update(b, op, f, trip, operands);
        return true;
      }
      out_results[0] = narrow_update(b, op, f->operands[0], trip, operands);
      return true;
    default: return false;
  }
}

void split_tile_op(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                   const ir_value *operands, ir_value *out_results) {
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_type *types = ARENA_ARRAY(m->arena, ir_type, d.n_results);
  for (uint32_t j = 0; j < d.n_results; j++)
    types[j] = split_tile_type(m, ir_type_of(m, d.first_result + j), f->results[j], trip->slice);
  if (is_identity(m, op, f->results[0])) {
    for (uint32_t j = 0; j < d.n_results; j++) out_results[j] = operands[j];
    return;
  }
  if (d.kind == IR_OP_WHILE && has_position(f->results, d.n_results)) {
    if (f->chunks) split_chunks_step(b, op, f, trip, operands, NULL, out_results);
    else split_body_narrow(b, op, f, trip, operands, out_results);
    return;
  }
  if (d.kind == IR_OP_IOTA && f->results[0].dim == ir_op_int(m, op, "iota_dimension", -1)) {
    out_results[0] = narrow_iota(b, op, types[0], f->results[0], trip);
    return;
  }
  if (d.kind == IR_OP_SELECT_AND_SCATTER && f->operands[1].dim >= 0 &&
      !split_pos_equal(f->operands[1], f->results[0])) {
    out_results[0] = narrow_selection(b, op, f, trip, operands);
    return;
  }
  if (is_stencil(m, op, f)) {
    narrow_stencil(b, op, f, trip, operands, types, out_results);
    return;
  }
  const ir_value *global = operands;
  bool is_indexed = d.kind == IR_OP_SCATTER && f->operands[0].dim >= 0 && f->operands[2].dim < 0;
  if (is_indexed) {
    ir_value *local = ARENA_COPY(m->arena, ir_value, operands, d.n_operands);
    local[1] = split_scatter_indices(b, op, f->operands[0], trip, operands[1]);
    operands = local;
  }
  if (narrow_parts(b, op, f, trip, operands, out_results)) return;
  ir_op copy = ir_build_again(b, op, operands, types);
  fix_attributes(m, copy, f, trip->slice);
  for (uint32_t j = 0; j < d.n_results; j++) out_results[j] = ir_result(m, copy, j);
  if (is_indexed) split_scatter_undo(b, op, f->operands[0], trip, global, out_results);
  if (d.kind == IR_OP_PAD && has_gaps(m, op, f, trip, 0))
    out_results[0] = pad_ends(b, op, f, trip, out_results[0], operands[1]);
}
