#include "split/halo.h"

#include "base/ints.h"
#include "ir/fold.h"

enum { LEAST_HALOS = 4 }; /* that a dimension is long: with fewer most rows would be carried */

/* ---- which states there are ---- */
static bool is_listed(const split_halos *all, ir_value state, ir_value next) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->at[i].state == state || all->at[i].next == next) return true;
  return false;
}

static bool is_large_in(const split_region *r, ir_value next) {
  return ir_is_made_in(r->m, next, r->block) && next < r->n_values && r->large[next];
}

split_halos split_halos_of(split_region *r) {
  const ir_module *m = r->m;
  split_halos found = {0};
  ir_op around = ir_block_get(m, r->block)->parent;
  if (!r->goal.carries_rows || !r->goal.no_kernels) return found;
  if (ir_op_int(r->m, m->root, "mhlo.num_partitions", 1) != 1) return found;
  if (!around || ir_kind_of(m, around) != IR_OP_WHILE) return found;
  if (ir_while_body(m, around) != r->block) return found;
  for (ir_value state, i = 0; (state = ir_argument_at(m, r->block, i)); i++) {
    ir_value next = ir_yielded(m, r->block, i);
    if (!is_large_in(r, next) || is_listed(&found, state, next)) continue;
    VEC_PUSH(r->scratch, &found, ((split_halo){.state = state, .next = next}));
  }
  return found;
}

/* ---- states that change places ---- */
/* What is next in place i of the body is what another one has now. */
static bool is_moved(const ir_module *m, ir_block body, uint32_t i, ir_value next,
                     int64_t threshold_bytes) {
  const ir_value_data *d = ir_value_get(m, next);
  if (d->op || d->index == i || ir_value_block(m, next) != body) return false;
  if (!ir_is_static_tensor(m, ir_type_of(m, next))) return false;
  ir_dtype dtype = ir_type_at(m, next)->dtype;
  return ir_value_bytes(m, next) > threshold_bytes && (dtype == IR_I1 || split_counts_in(dtype));
}

static int32_t move_states_of(ir_module *m, ir_block body, int64_t threshold_bytes) {
  int32_t n = 0;
  ir_op end = ir_terminator(m, body);
  ir_builder b = {m, body, ir_op_get(m, end)->location};
  ir_block_get(m, body)->ops.count--; /* what is made stands before it */
  for (ir_value next, i = 0; (next = ir_operand_at(m, end, i)); i++) {
    if (!is_moved(m, body, i, next, threshold_bytes)) continue;
    ir_value moved = ir_build_unary(&b, IR_OP_CONVERT, next);
    ir_op_get(m, end)->operands[i] = moved;
    n++;
  }
  ir_block_append(m, body, end);
  return n;
}

int32_t split_move_states(ir_module *m, ir_block top, int64_t threshold_bytes) {
  int32_t n = 0;
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);)
    if (ir_kind_of(m, w.op) == IR_OP_WHILE)
      n += move_states_of(m, ir_while_body(m, w.op), threshold_bytes);
  return n;
}

/* ---- what a loop does with one ---- */
split_halo *split_halo_of_state(split_halos *all, ir_value state) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->at[i].state == state) return &all->at[i];
  return NULL;
}

split_halo *split_halo_of_next(const ir_module *m, split_halos *all, ir_value next) {
  for (uint32_t i = 0; i < all->count; i++)
    if (split_is_updated(m, all->at[i].next, next)) return &all->at[i];
  return NULL;
}

static int64_t end_of(split_pos pos) { return pos.offset + pos.more; }

static void widen(split_pos *pos, split_pos other) {
  int64_t first = min64(pos->offset, other.offset), end = max64(end_of(*pos), end_of(other));
  pos->offset = first;
  pos->more = end - first;
}

static bool is_alike(split_pos a, split_pos b) { return a.dim == b.dim && a.unit == b.unit; }

void split_halo_reads(split_halo *h, split_pos pos) {
  h->fails |= pos.dim < 0 || pos.mirrored || (h->is_read && !is_alike(h->read, pos));
  pos.core = 0;
  if (h->is_read && !h->fails) widen(&h->read, pos);
  else h->read = pos;
  h->is_read = true;
}

void split_halo_writes(split_halo *h, ir_value next, split_pos pos) {
  h->fails |= pos.dim < 0 || pos.mirrored || pos.more || h->is_written;
  h->written = pos;
  h->next = next;
  h->is_written = true;
}

bool split_halo_updates(const ir_module *m, ir_value state, ir_op op, const split_factor *f,
                        split_pos *out_written) {
  int64_t first;
  if (ir_kind_of(m, op) != IR_OP_DYNAMIC_UPDATE_SLICE || ir_operand(m, op, 0) != state)
    return false;
  split_pos pos = f->operands[1];
  if (pos.dim < 0 || !ir_splat_int(m, ir_operand(m, op, (uint32_t)(2 + pos.dim)), &first))
    return false;
  *out_written = pos;
  out_written->offset += first;
  return true;
}

/* Where the first trip writes. */
static int64_t first_written(const split_halo *h, const split_trip *trip) {
  return h->written.offset + trip->begin * h->written.unit;
}

bool split_halo_settle(const ir_module *m, split_halo *h, const split_trip *trip) {
  if (h->fails || !h->is_read || !h->is_written || !is_alike(h->read, h->written)) return false;
  int64_t size = ir_type_at(m, h->state)->dims[h->read.dim];
  if (first_written(h, trip) > size) return false;
  bool is_own =
      split_pos_equal(h->read, h->written) && split_window_is_slice(trip, h->written, size);
  widen(&h->read, h->written);
  return !is_own && h->read.more <= size / LEAST_HALOS;
}

/* ---- the loop ---- */
/* Elements that the last trip writes once more. */
static int64_t written_twice(const split_halo *h, const split_trip *trip) {
  int64_t trips = ceil_div(trip->extent, trip->slice);
  return (trips * trip->slice - trip->extent) * h->written.unit;
}

/* Elements behind what is not written yet that are carried. */
static int64_t carried(const split_halo *h, const split_trip *trip) {
  return h->written.offset - h->read.offset + written_twice(h, trip);
}

ir_value split_halo_begin(ir_builder *before, const split_halo *h, const split_trip *trip,
                          ir_value state) {
  int32_t dim = h->written.dim;
  int64_t size = ir_type_at(before->m, state)->dims[dim], n = carried(h, trip);
  int64_t end = first_written(h, trip), first = end - n;
  if (n == 0) return IR_NONE;
  CTX_CHECK(before->m->ctx, n > 0 && end <= size);
  ir_type type = ir_tensor_with_dim(before->m, ir_type_of(before->m, state), dim, n);
  if (end <= 0) return ir_build_zeros(before, type); /* no row of the state's lies there */
  int64_t low[IR_MAX_RANK] = {0}, high[IR_MAX_RANK] = {0}, from = max64(first, 0);
  low[dim] = from - first;
  ir_value rows = ir_build_slice_dim(before, state, dim, from, end - from);
  ir_value zero =
      ir_build_splat_int(before, ir_scalar(before->m, ir_type_at(before->m, state)->dtype), 0);
  return low[dim] ? ir_build_pad(before, rows, zero, low, high) : rows;
}

/* From the first element on that no trip has written. */
static ir_value not_written(ir_builder *b, const split_halo *h, const split_trip *trip) {
  split_trip ahead = *trip;
  split_pos pos = h->written;
  ahead.start = trip->lo;
  ahead.extent = ceil_div(trip->extent, trip->slice) * trip->slice;
  pos.more = end_of(h->read) - pos.offset;
  return split_window_take(b, &ahead, h->carry, pos);
}

ir_value split_halo_step(ir_builder *b, const split_halo *h, const split_trip *trip,
                         ir_value *in_out_old) {
  int32_t dim = h->written.dim;
  int64_t n = carried(h, trip), twice = written_twice(h, trip);
  ir_value all = not_written(b, h, trip);
  if (n) all = ir_build_concatenate(b, (ir_value[]){*in_out_old, all}, 2, dim);
  /* once for all: what is made again by some reader might come after the update */
  ir_op_set_attr(b->m, ir_value_get(b->m, all)->op, "keep", ir_attr_bool(b->m, true), false);
  if (n) *in_out_old = ir_build_slice_dim(b, all, dim, trip->slice * h->written.unit, n);
  if (!twice) return all;
  ir_value at =
      ir_build_subtract(b, ir_build_int(b, twice), split_window_counted(b, trip, h->written));
  return ir_build_part(b, all, dim, at, split_window_size(h->read, trip->slice));
}
