#include "split/loops.h"

#include "ir/print.h"
#include "split/agreement.h"
#include "split/joined.h"
#include "split/masked.h"
#include "split/monoid.h"
#include "split/reorder.h"
#include "split/stream.h"
#include "split/trip.h"
#include "split/waits.h"

static ir_named_attr ints_attr(ir_module *m, const char *name, const ints *v) {
  return (ir_named_attr){ir_intern_string(m, name), ir_attr_i64s(m, v->at, (int32_t)v->count),
                         false};
}

static ir_named_attr int_attr(ir_module *m, const char *name, int64_t value) {
  return (ir_named_attr){ir_intern_string(m, name), ir_attr_int(m, value, IR_I64), false};
}

/* "dot_general tensor<8x4096x4096xf32>": what a reader of the program would call the seed. */
static ir_named_attr seed_attr(split_region *r) {
  const char *op = ir_mnemonic(ir_op_name(r->m, ir_value_get(r->m, r->seed)->op)),
             *type = ir_type_text(r->scratch, r->m, ir_type_of(r->m, r->seed));
  ir_attr text = ir_attr_string(r->m, arena_printf(r->scratch, "%s %s", op, type));
  return (ir_named_attr){ir_intern_string(r->m, "seed"), text, false};
}

static bool must_agree(const split_region *r) {
  return r->must_agree && (r->n_loops > 1 || r->selecting.count || r->disagrees);
}

static void mark_agreement(ir_module *m, ir_op loop) {
  ir_op_set_attr(m, loop, "agree", ir_attr_bool(m, true), true);
}

/* One entry each of what is written down of an input, of a carry and of a result. */
static void check_lists(const loop_builder *l) {
  ctx *c = l->r->m->ctx;
  uint32_t n = l->yields.count, carries = 0;
  CTX_CHECK(c, l->in_dims.count == l->inputs.count && l->in_units.count == l->inputs.count);
  CTX_CHECK(c, l->input_args.count == l->inputs.count);
  CTX_CHECK(c, l->sources.count == n && l->windows.count == n);
  CTX_CHECK(c, l->out_dims.count == n && l->out_units.count == n);
  for (uint32_t j = 0; j < n; j++) carries += l->out_dims.at[j] < 0;
  CTX_CHECK(c, carries == l->initial.count && carries == l->carry_args.count);
  for (uint32_t j = 0, k = 0; j < n; j++)
    if (l->out_dims.at[j] < 0)
      CTX_CHECK(c, ir_type_of(l->r->m, l->yields.at[j]) == ir_type_of(l->r->m, l->initial.at[k++]));
}

static ir_op make_loop(loop_builder *l) {
  ir_module *m = l->r->m;
  uint32_t n = l->yields.count, n_in = l->inputs.count;
  check_lists(l);
  ir_type *types = ARENA_ARRAY(l->r->scratch, ir_type, n);
  for (uint32_t j = 0; j < n; j++) {
    ir_type t = ir_type_of(m, l->yields.at[j]);
    types[j] = l->out_dims.at[j] < 0 ? t
                                     : ir_tensor_with_dim(m, t, (int32_t)l->out_dims.at[j],
                                                          l->trip.extent * l->out_units.at[j]);
  }
  for (uint32_t i = 0; i < l->initial.count; i++)
    VEC_PUSH(l->r->scratch, &l->inputs, l->initial.at[i]);
  ir_named_attr attrs[] = {
      int_attr(m, "extent", l->trip.extent),    ints_attr(m, "in_dims", &l->in_dims),
      ints_attr(m, "in_units", &l->in_units),   ints_attr(m, "out_dims", &l->out_dims),
      ints_attr(m, "out_units", &l->out_units), seed_attr(l->r),
      int_attr(m, "slice", l->trip.slice)};
  ir_str location = ir_op_get(m, ir_value_get(m, l->r->seed)->op)->location;
  ir_op loop = ir_build_op(&(ir_builder){m, l->before->block, location}, IR_OP_LOOP,
                           n_in + l->initial.count, l->inputs.at, n, types, 7, attrs, 1);
  ir_build_return(&l->body, IR_OP_YIELD, l->yields.at, n);
  ir_region_set(m, loop, 0, l->body.block);
  split_keep_compared(m, loop);
  if (must_agree(l->r)) mark_agreement(m, loop);
  if (l->r->is_cut) ir_op_set_attr(m, loop, "cut", ir_attr_bool(m, true), true);
  if (l->carried.count) ir_op_set_attr(m, loop, "scratch", ir_attr_int(m, -1, IR_I64), true);
  return loop;
}

static void rename_results(loop_builder *l, ir_op loop, ir_map *renamed) {
  ir_module *m = l->r->m;
  for (uint32_t j = 0; j < l->sources.count; j++) {
    ir_value source = l->sources.at[j];
    if (!source) continue;
    if (l->out_dims.at[j] >= 0 || l->windows.at[j]) {
      ir_map_set(renamed, source, ir_result(m, loop, j));
      continue;
    }
    ir_op op = ir_value_get(m, source)->op;
    uint32_t n = ir_op_get(m, op)->n_results;
    ir_value *carries = ARENA_ARRAY(l->r->scratch, ir_value, n),
             *results = ARENA_ARRAY(l->r->scratch, ir_value, n);
    CTX_CHECK(m->ctx, j + n <= l->sources.count);
    for (uint32_t k = 0; k < n; k++) carries[k] = ir_result(m, loop, j + k);
    l->after->location = ir_op_get(m, op)->location;
    split_monoid_finish(l->after, op, carries, results);
    const split_member *member = split_running_statistic(l, source, SPLIT_ABSENT);
    CTX_CHECK(m->ctx, member); /* a carry that is no window is a sum of this loop */
    if (split_n_streams(member)) results[0] = stream_finish(l->after, member, renamed, results[0]);
    for (uint32_t k = 0; k < n; k++) ir_map_set(renamed, ir_result(m, op, k), results[k]);
  }
}

/* Both bodies were made by the same steps: what they read and what they put out is the same. */
static void check_whole(const loop_builder *whole, const loop_builder *l) {
  ctx *c = l->r->m->ctx;
  uint32_t n_in = whole->inputs.count, n_out = whole->yields.count;
  CTX_CHECK(c, n_out == l->yields.count && whole->initial.count == l->initial.count);
  CTX_CHECK(c, n_in == whole->in_dims.count && n_in == l->in_dims.count);
  for (uint32_t i = 0; i < n_in; i++)
    CTX_CHECK(c, whole->inputs.at[i] == l->inputs.at[i] &&
                     whole->in_dims.at[i] == l->in_dims.at[i] &&
                     whole->in_units.at[i] == l->in_units.at[i]);
  for (uint32_t j = 0; j < n_out; j++)
    CTX_CHECK(c, whole->sources.at[j] == l->sources.at[j] &&
                     whole->out_dims.at[j] == l->out_dims.at[j] &&
                     whole->out_units.at[j] == l->out_units.at[j]);
}

/* The body of the same loop as one trip, for a kernel; IR_NONE: no kernel has it. */
static ir_block whole_of(const loop_builder *l, bool *put_out) {
  ir_module *m = l->r->m;
  if (l->r->goal.no_kernels || l->carried.count || split_is_one_trip(&l->trip)) return IR_NONE;
  CTX_CHECK(m->ctx, !l->halos.count);
  loop_builder w = {.r = l->r,
                    .sliced = l,
                    .number = l->number + 2,
                    .body = {m, ir_block_new(m), IR_NONE},
                    .before = l->before,
                    .stage = l->stage,
                    .group = l->group,
                    .renamed = l->renamed,
                    .put_out = put_out};
  split_build_trip(&w, l->trip.extent);
  check_whole(&w, l);
  ir_build_return(&w.body, IR_OP_YIELD, w.yields.at, w.yields.count);
  return w.body.block;
}

/* States that the loop writes over by rows that it carries: what it does with each is seen in a
 * body that is thrown away. */
static split_halos look_for_halos(const loop_builder *l, int64_t slice, uint32_t n_values) {
  ir_module *m = l->r->m;
  split_halos found = {0}, all = split_halos_of(l->r);
  if (!all.count || slice == l->r->extent) return found;
  ir_builder nowhere = {m, ir_block_new(m), IR_NONE};
  loop_builder look = *l;
  look.number++, look.looks = true;
  look.body = (ir_builder){m, ir_block_new(m), IR_NONE};
  look.before = look.after = &nowhere;
  look.put_out = ARENA_COPY(l->r->scratch, bool, l->put_out, n_values);
  look.halos = all;
  split_build_trip(&look, slice);
  for (uint32_t i = 0; i < all.count; i++)
    if (split_halo_settle(m, &all.at[i], &look.trip)) VEC_PUSH(l->r->scratch, &found, all.at[i]);
  return found;
}

/* One loop of a stage. */
static bool build_group(split_region *r, int32_t stage, int32_t group, int64_t slice,
                        ir_block outside, ir_map *renamed, bool *put_out, uint32_t n_values) {
  ir_module *m = r->m;
  ir_builder around = {m, outside, IR_NONE};
  bool *put_out_before = ARENA_COPY(r->scratch, bool, put_out, n_values);
  loop_builder l = {.r = r,
                    .number = TRIP_BODIES * (stage * r->n_groups + group),
                    .body = {m, ir_block_new(m), IR_NONE},
                    .before = &around,
                    .after = &around,
                    .stage = stage,
                    .group = group,
                    .renamed = renamed,
                    .put_out = put_out};
  l.halos = look_for_halos(&l, slice, n_values);
  split_build_trip(&l, slice);
  if (l.yields.count == 0) return false;
  ir_block whole = whole_of(&l, put_out_before);
  ir_op loop = make_loop(&l);
  if (whole) ir_whole_set(m, loop, whole);
  rename_results(&l, loop, renamed);
  return true;
}

int32_t split_build_loops(split_region *r, int64_t slice) {
  ir_module *m = r->m;
  CTX_CHECK(m->ctx, !r->failed && slice >= 1 && slice <= r->extent);
  ir_block extra = ir_block_new(m);
  ir_op first = m->ops.count; /* of those that are made here */
  ir_map *renamed = ir_map_new(r->scratch, m);
  uint32_t n_values = m->values.count;
  bool *put_out = ARENA_ARRAY(r->scratch, bool, n_values);
  const uint8_t *sides = split_mask_sides(r->scratch, m, r->block);
  int32_t loops = 0;
  for (uint32_t i = 0; i < r->selecting.count; i++) mark_agreement(m, r->selecting.at[i]);
  for (int32_t stage = 0; stage < r->n_stages; stage++)
    for (int32_t group = 0; group < r->n_groups; group++)
      loops += build_group(r, stage, group, slice, extra, renamed, put_out, n_values);
  split_reorder(r->scratch, m, r->block, extra, renamed);
  split_select_masked(m, r->block, sides, first);
  split_wait_for_readers(r);
  int32_t joined = split_join_sums(m, r->block, first, r->goal.threshold_bytes);
  if (joined) ctx_log(m->ctx, 3, "%d sums are carried with others that they are added to", joined);
  return loops;
}

bool split_is_in_kernel(const ir_module *m, ir_op op) {
  for (ir_op up = ir_op_around(m, op); up; up = ir_op_around(m, up))
    if (ir_kind_of(m, up) == IR_OP_LOOP && ir_op_int(m, up, "scratch", -1) >= 0) return true;
  return false;
}
