#include "split/trip.h"

#include "base/ints.h"
#include "ir/fold.h"
#include "split/chunks.h"
#include "split/closure.h"
#include "split/held.h"
#include "split/instances.h"
#include "split/masked.h"
#include "split/monoid.h"
#include "split/prefix.h"
#include "split/repeats.h"
#include "split/sorts.h"
#include "split/spans.h"
#include "split/stages.h"
#include "split/stream.h"
#include "split/window.h"

enum {
  DEEP_REGION = 2000,
  MOST_BEHIND = 4 /* slices; prefix sums that are read farther behind are made again there */
};

static void reduce_inside(loop_builder *l, const split_member *member);

static ir_value emit(loop_builder *l, ir_value v, split_pos pos);
static ir_value add_carry(loop_builder *l, ir_value initial);
static void add_result(loop_builder *l, ir_value source, split_pos pos, ir_value yield,
                       bool is_window);

/* ---- getting values inside ---- */
static ir_value add_input(loop_builder *l, ir_value v, split_pos pos) {
  split_region *r = l->r;
  CTX_CHECK(r->m->ctx, !pos.mirrored); /* windows are taken of what is whole */
  VEC_PUSH(r->scratch, &l->inputs, ir_map_get(l->renamed, v));
  VEC_PUSH(r->scratch, &l->in_dims, pos.dim);
  VEC_PUSH(r->scratch, &l->in_units, pos.unit);
  ir_value arg = ir_block_arg(r->m, l->body.block,
                              split_tile_type(r->m, ir_type_of(r->m, v), pos, l->trip.slice));
  VEC_PUSH(r->scratch, &l->input_args, arg);
  return arg;
}

static bool is_slice(const loop_builder *l, ir_value v, split_pos pos) {
  return pos.dim < 0 || split_window_is_slice(&l->trip, pos, ir_type_at(l->r->m, v)->dims[pos.dim]);
}

/* ---- states that the loop writes over ---- */
/* All that a trip reads of it, as it was before the loop; made for the first that asks. */
static ir_value state_window(loop_builder *l, split_halo *h) {
  if (h->window) return h->window;
  ir_value state = ir_map_get(l->renamed, h->state),
           old = split_halo_begin(l->before, h, &l->trip, state);
  h->carry = add_carry(l, state);
  h->result = l->yields.count;
  add_result(l, h->next, SPLIT_ABSENT, IR_NONE, true); /* next_state() */
  if (old) old = add_carry(l, old);
  h->window = split_halo_step(&l->body, h, &l->trip, &old);
  if (old) add_result(l, IR_NONE, SPLIT_ABSENT, old, false);
  return h->window;
}

static void next_state(loop_builder *l, split_halo *h, ir_value carry) {
  CTX_CHECK(l->r->m->ctx, h->window && !l->yields.at[h->result]);
  l->yields.at[h->result] = carry;
}

/* Settled as the body was looked at: what is next of the state is written, once, over what all
 * read. */
static void check_written(const loop_builder *l, const split_halo *h) {
  if (l->looks) return;
  CTX_CHECK(l->r->m->ctx, h->window && l->yields.at[h->result]);
  CTX_CHECK(l->r->m->ctx, l->sources.at[h->result] == h->next && l->windows.at[h->result]);
}

static ir_value get_of_state(loop_builder *l, split_halo *h, split_pos pos) {
  if (!l->looks) return split_window_part(&l->body, &l->trip, state_window(l, h), h->read, pos);
  split_halo_reads(h, pos);
  pos.mirrored = false;
  return add_input(l, h->state, pos);
}

static ir_value get_input(loop_builder *l, ir_value v, split_pos pos) {
  split_halo *h = split_halo_of_state(&l->halos, v);
  if (h) return get_of_state(l, h, pos);
  if (is_slice(l, v, pos)) return add_input(l, v, pos);
  return split_window_take(&l->body, &l->trip, emit(l, v, SPLIT_ABSENT), pos);
}

static void remember(loop_builder *l, ir_value v, split_pos pos, ir_value emitted) {
  split_instance *i = split_instance_get(l->r, v, pos);
  i->emitted = emitted;
  i->emitted_in = l->number;
}

/* ---- sums that a while makes beside what it has sliced ---- */
static bool wants_out(loop_builder *l, ir_value v);

/* Whether this loop is the one that sums: the member's stage, and once. */
static bool sums_here(loop_builder *l, ir_op op, const split_factor *f) {
  if (!f->sums || l->reduced[op]) return false;
  for (split_member *k = split_first_member(l->r, op); k; k = split_next_member(l->r, k))
    if (k->stage == l->stage) return l->reduced[op] = true;
  return false;
}

static bool goes_on(loop_builder *l, ir_op op, const split_factor *f, uint32_t i) {
  return f->sums[i] == SPLIT_SUM_ONTO && wants_out(l, ir_result(l->r->m, op, i));
}

/* The carries of its wanted sums. One that it adds to begins with what the slices before left. */
static ir_value *begin_sums(loop_builder *l, ir_op op, const split_factor *f, ir_value *operands) {
  split_region *r = l->r;
  const ir_op_data d = *ir_op_get(r->m, op);
  ir_value *carries = ARENA_ARRAY(r->scratch, ir_value, d.n_results);
  for (uint32_t i = 0; i < d.n_results; i++) {
    if (!f->sums[i] || !wants_out(l, d.first_result + i)) continue;
    carries[i] = add_carry(l, ir_map_get(l->renamed, d.operands[i]));
    if (goes_on(l, op, f, i)) operands[i] = carries[i];
  }
  return carries;
}

static void end_sums(loop_builder *l, ir_op op, const split_factor *f, const ir_value *carries,
                     const ir_value *results) {
  const ir_op_data d = *ir_op_get(l->r->m, op);
  for (uint32_t i = 0; i < d.n_results; i++) {
    if (!carries[i]) continue;
    ir_value sum =
        f->sums[i] == SPLIT_SUM_ONTO ? results[i] : ir_build_add(&l->body, carries[i], results[i]);
    add_result(l, d.first_result + i, SPLIT_ABSENT, sum, true);
    l->put_out[d.first_result + i] = true;
  }
}

/* ---- prefix sums ---- */
static int64_t indices_behind(split_pos pos, split_pos lead) {
  return (pos.mirrored ? pos.offset - lead.offset : lead.offset - pos.offset) / pos.unit;
}

/* Another read of the same prefix sum in this loop. */
static bool is_carried_here(loop_builder *l, const split_instance *at, split_pos pos) {
  if (!at->traced || !at->factor.carried || at->pos.dim != pos.dim || at->pos.unit != pos.unit ||
      at->pos.mirrored != pos.mirrored)
    return false;
  split_instance other = *at;
  return split_is_inside(l->r, other.value, other.pos, l->stage) &&
         split_instance_stage(l->r, other.value, other.pos) <= l->stage;
}

/* Of a result at pos, and `other` of the same op, the one that is ahead. */
static split_pos ahead_of(loop_builder *l, ir_value v, split_pos pos, split_pos lead) {
  for (uint32_t i = l->r->first_instance[v]; i; i = l->r->instances.at[i - 1].next) {
    split_pos other = l->r->instances.at[i - 1].pos;
    if (is_carried_here(l, &l->r->instances.at[i - 1], pos) && indices_behind(lead, other) > 0)
      lead = other;
  }
  return lead;
}

/* The read of the op that is ahead of all, if a carry may reach from there to this one; else this
 * one. */
static split_pos leader_of(loop_builder *l, ir_op op, split_pos pos) {
  split_pos lead = pos;
  for (uint32_t j = 0; j < ir_op_get(l->r->m, op)->n_results; j++)
    lead = ahead_of(l, ir_result(l->r->m, op, j), pos, lead);
  return indices_behind(pos, lead) <= MOST_BEHIND * l->trip.slice ? lead : pos;
}

static int64_t farthest_of(loop_builder *l, ir_value v, split_pos lead) {
  int64_t most = 0;
  ir_op op = ir_value_get(l->r->m, v)->op;
  for (uint32_t i = l->r->first_instance[v]; i; i = l->r->instances.at[i - 1].next) {
    split_pos other = l->r->instances.at[i - 1].pos;
    if (is_carried_here(l, &l->r->instances.at[i - 1], lead) &&
        split_pos_equal(leader_of(l, op, other), lead) && indices_behind(other, lead) > most)
      most = indices_behind(other, lead);
  }
  return most;
}

static int64_t farthest_behind(loop_builder *l, ir_op op, split_pos lead) {
  int64_t most = 0;
  for (uint32_t j = 0; j < ir_op_get(l->r->m, op)->n_results; j++)
    most = max64(most, farthest_of(l, ir_result(l->r->m, op, j), lead));
  return most;
}

/* Result v at the position is in the carry as the trip ends; IR_NONE: of places, not of a result.
 */
static void end_carry(loop_builder *l, ir_value v, split_pos pos, ir_value carry) {
  add_result(l, IR_NONE, SPLIT_ABSENT, carry, false);
  VEC_PUSH(l->r->scratch, &l->carried, ((carried_sum){v, carry, pos}));
}

/* Its result on the slice, by a carry of its own. */
static void carry_prefix(loop_builder *l, ir_op op, split_pos pos, const ir_value *operands,
                         ir_value *results) {
  ir_value initial = ir_map_get(l->renamed, ir_operand(l->r->m, op, 1));
  ir_value carry = add_carry(l, split_prefix_init(l->before, op, pos, l->trip.slice,
                                                  farthest_behind(l, op, pos), initial));
  results[0] = split_prefix_step(&l->body, op, pos, &l->trip, operands, &carry);
  end_carry(l, ir_result(l->r->m, op, 0), pos, carry);
}

static void carry_sort(loop_builder *l, ir_op op, split_pos pos, const ir_value *operands,
                       ir_value *results) {
  uint32_t n = ir_op_get(l->r->m, op)->n_operands;
  ir_value *carries = ARENA_ARRAY(l->r->scratch, ir_value, n + 1);
  split_sort_init(l->before, op, pos, l->trip.slice, farthest_behind(l, op, pos), carries);
  for (uint32_t i = 0; i <= n; i++) carries[i] = add_carry(l, carries[i]);
  split_sort_step(&l->body, op, pos, &l->trip, operands, carries, results);
  for (uint32_t i = 0; i <= n; i++)
    end_carry(l, i < n ? ir_result(l->r->m, op, i) : IR_NONE, pos, carries[i]);
}

/* The state as the next trip begins. Where that is as the slice ends, it is the result as well. */
static void end_state(loop_builder *l, ir_value v, ir_value state, bool is_result) {
  add_result(l, is_result ? v : IR_NONE, SPLIT_ABSENT, state, is_result);
  VEC_PUSH(l->r->scratch, &l->carried, ((carried_sum){.carry = state}));
  l->put_out[v] |= is_result;
}

/* The result in a carry of its own. */
static void put_out_state(loop_builder *l, ir_value v, ir_value initial, ir_value state) {
  if (!wants_out(l, v)) return;
  add_carry(l, initial);
  add_result(l, v, SPLIT_ABSENT, state, true);
  l->put_out[v] = true;
}

static void carry_state(loop_builder *l, ir_op op, const split_factor *f, const ir_value *operands,
                        ir_value *results) {
  const ir_op_data d = *ir_op_get(l->r->m, op);
  bool is_last = sums_here(l, op, f);
  ir_value *states = ARENA_ARRAY(l->r->scratch, ir_value, d.n_operands),
           *initial = ir_map_all(l->r->scratch, l->renamed, d.operands, d.n_operands);
  for (uint32_t i = 0; i < d.n_operands; i++)
    if (split_is_state(f, i)) states[i] = add_carry(l, initial[i]);
  split_chunks_step(&l->body, op, f, &l->trip, operands, states, results);
  for (ir_value v, i = 0; (v = ir_result_at(l->r->m, op, i)); i++) {
    bool ends = is_last && states[i] == results[i] && wants_out(l, v);
    if (split_is_state(f, i)) end_state(l, v, states[i], ends);
  }
  for (ir_value v, i = 0; (v = ir_result_at(l->r->m, op, i)); i++)
    if (split_is_state(f, i) && is_last) put_out_state(l, v, initial[i], results[i]);
}

static void carry_along(loop_builder *l, ir_op op, const split_factor *f, split_pos pos,
                        const ir_value *operands, ir_value *results) {
  l->before->location = l->body.location;
  if (f->chunks) carry_state(l, op, f, operands, results);
  else if (ir_kind_of(l->r->m, op) == IR_OP_SORT) carry_sort(l, op, pos, operands, results);
  else carry_prefix(l, op, pos, operands, results);
}

/* What a trip does not read of it: another component of a barrier, a sum or a state that the loop
 * carries. */
static bool is_idle(loop_builder *l, ir_op op, const split_factor *f, bool sums, uint32_t i) {
  if (f->chunks) return f->carried && split_is_state(f, i);
  bool is_barrier = ir_kind_of(l->r->m, op) == IR_OP_OPTIMIZATION_BARRIER;
  return (is_barrier && f->operands[i].dim < 0) || (sums && goes_on(l, op, f, i));
}

/* What is read behind another read of it: from that one's carry. */
static bool emit_behind(loop_builder *l, ir_value v, split_pos pos) {
  ir_op op = ir_value_get(l->r->m, v)->op;
  split_pos lead = leader_of(l, op, pos);
  if (split_pos_equal(lead, pos)) return false;
  emit(l, v, lead);
  ir_value carry = IR_NONE;
  for (uint32_t i = 0; i < l->carried.count; i++)
    if (l->carried.at[i].value == v && split_pos_equal(l->carried.at[i].pos, lead))
      carry = l->carried.at[i].carry;
  CTX_CHECK(l->r->m->ctx, carry);
  l->body.location = ir_op_get(l->r->m, op)->location;
  int64_t behind = indices_behind(pos, lead);
  remember(l, v, pos,
           ir_kind_of(l->r->m, op) == IR_OP_SORT
               ? split_sort_behind(&l->body, op, pos, &l->trip, behind, carry)
               : split_prefix_behind(&l->body, op, pos, &l->trip, behind, carry));
  return true;
}

/* The largest window of the value that the loop makes and that has this one in it. */
static split_pos widest(loop_builder *l, ir_value v, split_pos pos) {
  split_pos found = pos, own = pos;
  const split_instance *at = split_instance_get(l->r, v, pos);
  if (at->traced) own = at->factor.results[ir_value_get(l->r->m, v)->index];
  if (split_contains(own, pos)) found = own;
  for (uint32_t i = l->r->first_instance[v]; i; i = l->r->instances.at[i - 1].next) {
    split_instance other = l->r->instances.at[i - 1];
    if (other.traced && !other.factor.carried && split_contains(other.pos, found) &&
        split_is_inside(l->r, v, other.pos, l->stage) &&
        split_instance_stage(l->r, v, other.pos) <= l->stage)
      found = other.pos;
  }
  return found;
}

/* Widest as the loop found it. The body as one trip, which is made later, must not count on windows
 * that were asked for since. */
static split_pos widest_then(loop_builder *l, ir_value v, split_pos pos) {
  for (uint32_t i = 0; l->sliced && i < l->sliced->answers.count; i++) {
    const answer *a = &l->sliced->answers.at[i];
    if (a->value == v && split_pos_equal(a->pos, pos)) return a->widest;
  }
  answer made = {v, pos, widest(l, v, pos)};
  if (!l->sliced) VEC_PUSH(l->r->scratch, &l->answers, made);
  return made.widest;
}

/* The window as a part of a larger one that the loop makes anyhow. */
static bool emit_part(loop_builder *l, ir_value v, split_pos pos) {
  if (pos.dim < 0 || !l->r->may_shift) return false;
  split_pos whole = widest_then(l, v, pos);
  if (split_pos_equal(whole, pos)) return false;
  ir_value x = emit(l, v, whole);
  remember(l, v, pos, split_window_part(&l->body, &l->trip, x, whole, pos));
  return true;
}

static void emit_op(loop_builder *l, ir_value v, split_pos pos) {
  split_region *r = l->r;
  ir_op op = ir_value_get(r->m, v)->op;
  split_factor f = pos.dim < 0 ? split_absent_factor(r->scratch, r->m, op)
                               : split_instance_get(r, v, pos)->factor;
  uint32_t n = ir_op_get(r->m, op)->n_operands, n_results = ir_op_get(r->m, op)->n_results;
  if (f.carried && !f.chunks && pos.dim >= 0 && emit_behind(l, v, pos)) return;
  if (emit_part(l, v, pos)) return;
  ir_value *operands = ARENA_ARRAY(r->scratch, ir_value, n + 1),
           *results = ARENA_ARRAY(r->scratch, ir_value, n_results);
  bool sums = !f.chunks && sums_here(l, op, &f);
  for (uint32_t i = 0; i < n; i++)
    operands[i] =
        is_idle(l, op, &f, sums, i) ? IR_NONE : emit(l, ir_operand(r->m, op, i), f.operands[i]);
  ir_value *carries = sums ? begin_sums(l, op, &f, operands) : NULL;
  l->body.location = ir_op_get(r->m, op)->location;
  uint32_t side;
  bool selects = split_select_in_body(&l->body, op, operands, &side);
  if (selects && ir_kind_of(r->m, op) == IR_OP_MULTIPLY) results[0] = operands[1 - side];
  else if (f.carried && pos.dim >= 0) carry_along(l, op, &f, pos, operands, results);
  else split_tile_op(&l->body, op, &f, &l->trip, operands, results);
  if (sums) end_sums(l, op, &f, carries, results);
  for (uint32_t j = 0; j < n_results; j++)
    if (f.results[j].dim >= 0 || pos.dim < 0)
      remember(l, ir_result(r->m, op, j), f.results[j], results[j]);
}

static ir_value emit_constant(loop_builder *l, ir_value v, split_pos pos) {
  ir_module *m = l->r->m;
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, ir_value_get(m, v)->op, "value"));
  return ir_build_constant(&l->body, split_tile_type(m, ir_type_of(m, v), pos, l->trip.slice),
                           d->data);
}

/* A statistic that this loop computes, asked for while it does: its running value. Not one that an
 * earlier loop put out, whole, from another position. */
const split_member *split_running_statistic(loop_builder *l, ir_value v, split_pos pos) {
  ir_op op = ir_value_get(l->r->m, v)->op;
  bool is_known = pos.dim >= 0 || split_outside_stage(l->r, v) <= l->stage;
  return op && !is_known ? split_reduced_member(l->r, op, l->stage) : NULL;
}

/* Not to be had from outside yet: made here, from running statistics if need be. So is what an
 * earlier loop could put out, along another dimension, but does not. */
static bool is_made_here(loop_builder *l, ir_value v, split_pos pos) {
  return split_is_inside(l->r, v, pos, l->stage) || split_instance_stage(l->r, v, pos) > l->stage;
}

/* The statistic as sums of the trip see it; made for the first that asks. */
static ir_value running_value(loop_builder *l, const split_member *statistic, ir_value v) {
  if (!l->running[v])
    l->running[v] = stream_running_value(l->r, &l->body, statistic,
                                         split_instance_get(l->r, v, SPLIT_ABSENT)->emitted);
  return l->running[v];
}

static ir_value emit(loop_builder *l, ir_value v, split_pos pos) {
  const split_member *statistic = split_running_statistic(l, v, pos);
  if (statistic) {
    reduce_inside(l, statistic);
    return running_value(l, statistic, v);
  }
  split_instance *i = split_instance_get(l->r, v, pos);
  if (i->emitted_in == l->number) return i->emitted;
  if (ir_is_splat_constant(l->r->m, v)) remember(l, v, pos, emit_constant(l, v, pos));
  else if (is_made_here(l, v, pos)) emit_op(l, v, pos);
  else remember(l, v, pos, get_input(l, v, pos));
  return split_instance_get(l->r, v, pos)->emitted;
}

/* ---- results ---- */
static void add_result(loop_builder *l, ir_value source, split_pos pos, ir_value yield,
                       bool is_window) {
  arena *a = l->r->scratch;
  VEC_PUSH(a, &l->sources, source);
  VEC_PUSH(a, &l->out_dims, pos.dim);
  VEC_PUSH(a, &l->out_units, pos.unit);
  VEC_PUSH(a, &l->yields, yield);
  VEC_PUSH(a, &l->windows, is_window);
}

static bool wants_out(loop_builder *l, ir_value v) {
  return !l->put_out[v] && split_is_put_out(l->r, v);
}

/* Of the next carry, as the sliced loop begins with it; IR_NONE: this is that loop. */
static ir_value known_initial(const loop_builder *l) {
  if (!l->sliced) return IR_NONE;
  CTX_CHECK(l->r->m->ctx, l->initial.count < l->sliced->initial.count);
  return l->sliced->initial.at[l->initial.count];
}

static ir_value add_carry(loop_builder *l, ir_value initial) {
  split_region *r = l->r;
  if (l->sliced) initial = known_initial(l);
  VEC_PUSH(r->scratch, &l->initial, initial);
  ir_value arg = ir_block_arg(r->m, l->body.block, ir_type_of(r->m, initial));
  VEC_PUSH(r->scratch, &l->carry_args, arg);
  return arg;
}

/* The numbers of results that are made of slices are counted from 0. */
static int64_t which_window(const loop_builder *l) {
  enum { FIRST = 50 };
  return FIRST + (l->number / TRIP_BODIES + (int64_t)l->initial.count) % FIRST;
}

static void put_out_windows(loop_builder *l, ir_value v, split_pos pos, ir_value x) {
  ir_value initial = known_initial(l);
  l->before->location = l->body.location;
  if (!initial) initial = split_overwritten(l->before, ir_type_of(l->r->m, v), which_window(l));
  ir_value carry = add_carry(l, initial);
  add_result(l, v, SPLIT_ABSENT, split_window_put(&l->body, &l->trip, carry, x, pos), true);
}

/* What is written over a state by which it is not made: XLA would copy the state, as it does not
 * know that it is read before. */
static ir_value written_after_read(loop_builder *l, split_halo *h, ir_value x) {
  ir_value read = state_window(l, h);
  if (!l->r->goal.may_call || ir_is_made_of(l->r->scratch, l->r->m, l->body.block, x, read))
    return x;
  return ir_build_after(&l->body, x, read);
}

static void put_over_state(loop_builder *l, split_halo *h, ir_value x, split_pos pos) {
  x = written_after_read(l, h, x);
  next_state(l, h, split_window_put(&l->body, &l->trip, h->carry, x, pos));
}

/* Result j at its place by the member's own factor: asked from there, a while may not be traced. */
static ir_value emit_result(loop_builder *l, const split_member *member, uint32_t j) {
  ir_value v = ir_result(l->r->m, member->op, j);
  split_instance *i = split_instance_get(l->r, v, member->factor.results[j]);
  if (!i->traced) i->factor = member->factor;
  i->traced = true;
  return emit(l, v, member->factor.results[j]);
}

static void put_out_result(loop_builder *l, const split_member *member, uint32_t j) {
  ir_value v = ir_result(l->r->m, member->op, j), x = emit_result(l, member, j);
  split_pos whole = member->factor.results[j], pos = split_core(whole);
  if (!split_pos_equal(whole, pos)) x = split_window_part(&l->body, &l->trip, x, whole, pos);
  split_halo *h = split_halo_of_next(l->r->m, &l->halos, v);
  if (h && l->looks) split_halo_writes(h, v, pos);
  if (h && !l->looks) put_over_state(l, h, x, pos);
  else if (is_slice(l, v, pos)) add_result(l, v, pos, x, false);
  else put_out_windows(l, v, pos, x);
  l->put_out[v] = true;
}

static void put_out_slices(loop_builder *l, const split_member *member) {
  if (split_is_partial(l->r, member)) return;
  for (ir_value v, j = 0; (v = ir_result_at(l->r->m, member->op, j)); j++)
    if (!member->is_idle && member->factor.results[j].dim >= 0 && wants_out(l, v))
      put_out_result(l, member, j);
}

/* Cuts that were there before, or that earlier stages made first: later loops read what is put out
 * last. */
static void put_out_again(loop_builder *l) {
  split_region *r = l->r;
  for (uint32_t i = 0; r->is_cut && l->group == 0 && i < r->spans.count; i++) {
    const split_span *s = &r->spans.at[i];
    if (s->from != l->stage || !split_is_put_out_again(r, s)) continue;
    const split_member *member = split_first_member(r, ir_value_get(r->m, s->value)->op);
    put_out_result(l, member, ir_value_get(r->m, s->value)->index);
  }
}

static void put_out_sums(loop_builder *l, const split_member *member) {
  const split_factor *f = &member->factor;
  bool wanted = false;
  uint32_t n = ir_op_get(l->r->m, member->op)->n_results, sliced = n;
  for (uint32_t j = 0; f->sums && j < n; j++) {
    wanted |= f->sums[j] && wants_out(l, ir_result(l->r->m, member->op, j));
    if (f->results[j].dim >= 0) sliced = j;
  }
  if (wanted && sliced < n && !l->reduced[member->op]) emit_result(l, member, sliced);
}

/* The first of those that add up in one carry. */
static const split_member *first_of(const split_region *r, const split_member *member) {
  while (member->onto) member = &r->members.at[member->onto - 1];
  return member;
}

/* From the first that the member reads on. */
static ir_value *operands_inside(loop_builder *l, const split_member *member, uint32_t first) {
  uint32_t n = ir_op_get(l->r->m, member->op)->n_operands;
  ir_value *operands = ARENA_ARRAY(l->r->scratch, ir_value, n);
  for (uint32_t i = first; i < n; i++)
    operands[i] = emit(l, ir_operand(l->r->m, member->op, i), member->factor.operands[i]);
  return operands;
}

static ir_value *initial_carries(loop_builder *l, const split_member *member) {
  split_region *r = l->r;
  const ir_op_data d = *ir_op_get(r->m, member->op);
  ir_value *carries = ARENA_ARRAY(r->scratch, ir_value, d.n_results);
  if (l->sliced) return carries; /* add_carry knows them */
  const ir_value *outside = ir_map_all(r->scratch, l->renamed, d.operands, d.n_operands);
  l->before->location = d.location;
  split_monoid_init(l->before, member->op, outside, carries);
  return carries;
}

/* What was summed so far, brought to the statistics' new values; before the first trip nothing. */
static ir_value corrected(loop_builder *l, const split_member *member, ir_value sum,
                          const ir_value *old_statistics) {
  if (split_is_one_trip(&l->trip)) return sum;
  for (int32_t i = 0; i < split_n_streams(member); i++) {
    const online_term *term = &member->streams->at[i];
    ir_value now = split_instance_get(l->r, term->statistic, SPLIT_ABSENT)->emitted;
    sum = stream_correct(&l->body, member, term, sum, old_statistics[i], now);
  }
  return sum;
}

/* The statistics' carries as the trip begins; their steps stand in front of the member's. For
 * carries, `running` has the new value seen by sums, and the instance of the statistic (never
 * emitted otherwise) the new carry. */
static ir_value *old_statistics_of(loop_builder *l, const split_member *member) {
  ir_value *old = ARENA_ARRAY(l->r->scratch, ir_value, ONLINE_MOST);
  for (int32_t i = 0; i < split_n_streams(member); i++) {
    ir_value v = member->streams->at[i].statistic;
    emit(l, v, SPLIT_ABSENT);
    old[i] = l->old_carry[v];
  }
  return old;
}

/* Before the carry is added: what the others add may have carries of its own. */
static void make_for_sum(loop_builder *l, const split_member *member) {
  while (member->onto) {
    member = &l->r->members.at[member->onto - 1];
    operands_inside(l, member, 1);
  }
}

/* Each adds what it has of the slice, the first one first. */
static void add_up(loop_builder *l, const split_member *member, ir_value *carries) {
  if (member->onto) add_up(l, &l->r->members.at[member->onto - 1], carries);
  ir_value *operands = operands_inside(l, member, 1);
  l->body.location = ir_op_get(l->r->m, member->op)->location;
  split_monoid_step(&l->body, member->op, &member->factor, &l->trip, operands, carries);
}

/* The state of which the member updates a part, trip by trip; NULL: none is. */
static split_halo *updated_state(loop_builder *l, const split_member *member) {
  split_pos written;
  ir_value next = ir_result(l->r->m, member->op, 0);
  split_halo *h = split_halo_of_next(l->r->m, &l->halos, next);
  if (!h || !split_halo_updates(l->r->m, h->state, member->op, &member->factor, &written))
    return NULL;
  if (l->looks) split_halo_writes(h, next, written);
  return h;
}

/* Initial carries outside, one step inside, the yields; the results are renamed when the loop
 * stands (rename_results). */
static void reduce_inside(loop_builder *l, const split_member *member) {
  split_region *r = l->r;
  ir_op op = member->op;
  if (l->reduced[op]) return;
  l->reduced[op] = true;
  uint32_t n = ir_op_get(r->m, op)->n_results;
  split_halo *h = updated_state(l, member);
  ir_value *operands = operands_inside(l, member, h || member->onto ? 1 : 0),
           *old_statistics = old_statistics_of(l, member),
           *carries = initial_carries(l, first_of(r, member));
  make_for_sum(l, member);
  if (l->looks) h = NULL;
  if (h) operands[1] = written_after_read(l, h, operands[1]);
  for (uint32_t j = 0; j < n; j++) {
    carries[j] = h ? h->carry : add_carry(l, carries[j]);
    l->old_carry[ir_result(r->m, op, j)] = carries[j];
  }
  if (member->onto) add_up(l, &r->members.at[member->onto - 1], carries);
  l->body.location = ir_op_get(r->m, op)->location;
  if (split_n_streams(member)) carries[0] = corrected(l, member, carries[0], old_statistics);
  split_monoid_step(&l->body, op, &member->factor, &l->trip, operands, carries);
  for (uint32_t j = 0; j < n; j++) {
    ir_value v = ir_result(r->m, op, j);
    remember(l, v, SPLIT_ABSENT, carries[j]);
    l->put_out[v] = true;
    if (h) next_state(l, h, carries[j]);
    else add_result(l, j == 0 ? v : IR_NONE, SPLIT_ABSENT, carries[j], false);
  }
}

static bool reduces_wanted(loop_builder *l, const split_member *member) {
  bool wanted = false;
  for (uint32_t j = 0; j < ir_op_get(l->r->m, member->op)->n_results; j++)
    wanted |= wants_out(l, ir_result(l->r->m, member->op, j));
  return wanted;
}

/* Arguments in the order of the loop's operands: inputs were found among the carries. */
static void order_args(loop_builder *l) {
  ir_module *m = l->r->m;
  ir_block_data *b = ir_block_get(m, l->body.block);
  uint32_t n = 2;
  for (uint32_t i = 0; i < l->input_args.count; i++) b->args.at[n++] = l->input_args.at[i];
  for (uint32_t i = 0; i < l->carry_args.count; i++) b->args.at[n++] = l->carry_args.at[i];
  CTX_CHECK(m->ctx, n == b->args.count);
  for (uint32_t i = 0; i < n; i++) ir_value_get(m, b->args.at[i])->index = i;
}

/* emit() recurses from a result to what it is made of; where that may be deep, all that the stage
 * needs is made in program order first, and dce takes what nobody reads. */
static void emit_in_program_order(loop_builder *l) {
  split_region *r = l->r;
  const bool *is_made = split_made_in(r, l->stage);
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++) {
    for (split_member *member = split_first_member(r, op); member;
         member = split_next_member(r, member)) {
      if (member->factor.role != SPLIT_PARALLEL || member->stage > l->stage) continue;
      if (!is_made[member - r->members.at]) continue;
      for (uint32_t j = 0; j < ir_op_get(r->m, op)->n_results; j++)
        if (member->factor.results[j].dim >= 0)
          emit(l, ir_result(r->m, op, j), member->factor.results[j]);
    }
  }
}

/* ---- the body ---- */
static void begin_trip(loop_builder *l, int64_t slice) {
  ir_module *m = l->r->m;
  ir_type index = ir_scalar(m, IR_I64);
  l->trip = (split_trip){.slice = slice, .extent = l->r->extent, .begin = l->r->begin};
  if (!split_is_one_trip(&l->trip)) l->trip.part_bytes = l->r->goal.part_bytes;
  l->trip.start = ir_block_arg(m, l->body.block, index);
  l->trip.lo = ir_block_arg(m, l->body.block, index);
  if (split_is_one_trip(&l->trip))
    l->trip.start = l->trip.lo = ir_build_splat_int(&l->body, index, 0);
}

void split_build_trip(loop_builder *l, int64_t slice) {
  split_region *r = l->r;
  begin_trip(l, slice);
  l->reduced = ARENA_ARRAY(r->scratch, bool, r->m->ops.count);
  l->running = ARENA_ARRAY(r->scratch, ir_value, r->m->values.count);
  l->old_carry = ARENA_ARRAY(r->scratch, ir_value, r->m->values.count);
  if (r->members.count > DEEP_REGION) emit_in_program_order(l);
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    if (member->stage != l->stage || member->group != l->group) continue;
    if (member->factor.role == SPLIT_PARALLEL) {
      put_out_slices(l, member);
      put_out_sums(l, member);
    } else if (reduces_wanted(l, member)) reduce_inside(l, member);
  }
  put_out_again(l);
  for (uint32_t i = 0; i < l->halos.count; i++) check_written(l, &l->halos.at[i]);
  if (l->yields.count) order_args(l);
}
