#include "split/checkpoint.h"

#include "base/saturate.h"

#include <math.h>

#include "machine/tuned.h"
#include "split/segmented.h"
#include "split/shards.h"
#include "base/ints.h"

enum { LEAST_TRIPS = 2 };
enum { FEW_TRIPS = 4 }; /* below, states are not made again: levels of segments keep such few */

/* ---- who reads ---- */
static split_stack_reader *reader_of(split_checkpointing *c, ir_op loop) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].loop.op == loop) return &c->readers.at[i];
  split_stack_reader r = {.dropped =
                              ARENA_ARRAY(c->scratch, bool, ir_op_get(c->m, loop)->n_operands)};
  if (loop == c->forward.op || !split_steps_of(c->m, loop, &r.loop) ||
      r.loop.trips != c->forward.trips)
    return NULL;
  VEC_PUSH(c->scratch, &c->readers, r);
  return &c->readers.at[c->readers.count - 1];
}

/* All that the loop's body does with v is read one trip's element of it; the reads. */
static bool reads_only(split_checkpointing *c, split_stack_reader *r, ir_value v, uint32_t n_uses,
                       uint32_t stack_index, const split_access *write) {
  ir_module *m = c->m;
  for (ir_op op, i = 0; n_uses && (op = ir_op_at(m, r->loop.body, i)); i++) {
    split_stack_read x = {.stack = stack_index};
    if (!split_steps_read(&r->loop, op, v, &x.access)) continue;
    bool backward = x.access.at.a != write->at.a;
    if (x.access.dim != write->dim || (r->is_aimed && r->is_backward != backward)) return false;
    r->is_backward = backward;
    r->is_aimed = true;
    n_uses--;
    VEC_PUSH(c->scratch, &r->reads, x);
  }
  return n_uses == 0;
}

/* Carry i of the reader has the stack, and nobody else looks at it. */
static bool reads_carry(split_checkpointing *c, split_stack_reader *r, uint32_t i,
                        const uint32_t *uses, uint32_t stack_index, const split_access *write) {
  ir_module *m = c->m;
  ir_op loop = r->loop.op;
  ir_value arg = ir_argument(m, r->loop.body, i), result = ir_result(m, loop, i);
  ir_block condition = ir_body(m, loop);
  if (!split_steps_keeps(&r->loop, i) || c->users.first[result] != c->users.first[result + 1] ||
      ir_is_used_in(m, condition, ir_argument(m, condition, i)))
    return false;
  r->dropped[i] = true;
  return reads_only(c, r, arg, uses[arg] - 1, stack_index, write);
}

/* The next layer of a network, say: what it stacks is better taken for checkpoints of its own, and
 * a loop is made into segments only once. */
static bool stacks_too(split_checkpointing *c, const split_stack_reader *r, const uint32_t *uses) {
  split_access write;
  for (uint32_t i = 0; i < ir_op_get(c->m, r->loop.op)->n_operands; i++) {
    ir_value v = ir_result(c->m, r->loop.op, i);
    if (c->users.first[v] < c->users.first[v + 1] && split_steps_stack(&r->loop, i, uses, &write))
      return true;
  }
  return false;
}

static bool is_read_by(split_checkpointing *c, ir_op user, ir_value v, uint32_t stack_index,
                       const split_access *write) {
  ir_module *m = c->m;
  split_stack_reader *r = reader_of(c, user);
  if (!r || ir_is_used_in(m, ir_body(m, user), v)) return false;
  uint32_t *uses = ir_count_uses(c->scratch, m, r->loop.body);
  if (uses[v] && !reads_only(c, r, v, uses[v], stack_index, write)) return false;
  for (uint32_t i = 0; i < ir_op_get(m, user)->n_operands; i++)
    if (ir_operand(m, user, i) == v && !reads_carry(c, r, i, uses, stack_index, write))
      return false;
  return r->is_backward || !stacks_too(c, r, uses);
}

/* ---- which stacks go ---- */
/* What trying one stack has added is taken back if somebody else reads it. */
typedef struct mark {
  uint32_t n_readers;
  split_stack_reader *readers;
} mark;

static mark mark_readers(const split_checkpointing *c) {
  mark k = {c->readers.count,
            ARENA_COPY(c->scratch, split_stack_reader, c->readers.at, c->readers.count)};
  for (uint32_t i = 0; i < k.n_readers; i++) {
    uint32_t n = ir_op_get(c->m, k.readers[i].loop.op)->n_operands;
    k.readers[i].dropped = ARENA_COPY(c->scratch, bool, k.readers[i].dropped, n);
  }
  return k;
}

static void return_to(split_checkpointing *c, mark k) {
  c->readers.count = k.n_readers;
  for (uint32_t i = 0; i < k.n_readers; i++) c->readers.at[i] = k.readers[i];
}

static void try_stack(split_checkpointing *c, uint32_t carry, const uint32_t *uses) {
  split_stack s = {.carry = carry};
  ir_value v = ir_result(c->m, c->forward.op, carry);
  if (c->users.first[v] == c->users.first[v + 1] ||
      !split_steps_stack(&c->forward, carry, uses, &s.write))
    return;
  mark before = mark_readers(c);
  for (uint32_t i = c->users.first[v]; i < c->users.first[v + 1]; i++)
    if (!is_read_by(c, c->users.ops[i], v, c->stacks.count, &s.write)) {
      return_to(c, before);
      return;
    }
  VEC_PUSH(c->scratch, &c->stacks, s);
  c->is_stack[carry] = true;
}

/* ---- what the stacks are made of ---- */
static void find_state_ops(split_checkpointing *c) {
  split_needed n = split_needed_of(c->scratch, &c->forward, c->saved);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) split_need(&n, ir_yielded(c->m, split_forward_body(c), i));
  c->state_op = n.op;
}

/* Nothing is saved yet: what is, is not looked into. */
static void find_needed(split_checkpointing *c) {
  split_needed n = split_needed_of(c->scratch, &c->forward, c->saved);
  for (uint32_t i = 0; i < c->stacks.count; i++) {
    const split_access *w = &c->stacks.at[i].write;
    for (uint32_t k = 1; k < ir_op_get(c->m, w->op)->n_operands; k++)
      if ((int32_t)k != 2 + w->dim) split_need(&n, ir_operand(c->m, w->op, k));
  }
  c->needed_op = n.op;
}

/* ---- how long a segment is ---- */
static int64_t saved_bytes(const split_checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i])
      sum = saturated_sum(sum, ir_value_bytes(c->m, ir_operand(c->m, c->forward.op, i)));
  return sum;
}

static int64_t element_bytes(const split_checkpointing *c, uint32_t stack_index) {
  return ir_value_bytes(c->m, ir_operand(c->m, c->stacks.at[stack_index].write.op, 1));
}

static int64_t step_bytes(const split_checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->stacks.count; i++) sum = saturated_sum(sum, element_bytes(c, i));
  return sum;
}

static int64_t largest_step(const split_checkpointing *c) {
  int64_t largest = 1;
  for (uint32_t i = 0; i < c->stacks.count; i++)
    if (element_bytes(c, i) > largest) largest = element_bytes(c, i);
  return largest;
}

/* Of the states that the loop begins with, those that nobody else holds. */
static int64_t first_bytes(const split_checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    ir_value v = ir_operand(c->m, c->forward.op, i);
    if (c->saved[i] && ir_value_get(c->m, v)->op) sum = saturated_sum(sum, ir_value_bytes(c->m, v));
  }
  return sum;
}

static bool all_are_backward(const split_checkpointing *c) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].reads.count && !c->readers.at[i].is_backward) return false;
  return true;
}

static void set_levels(split_checkpointing *c, const split_levels *levels) {
  c->levels = *levels;
  c->segment = levels->lengths[0];
  c->n_segments = ceil_div(c->forward.trips, c->segment);
  CTX_CHECK(c->m->ctx, 0 < c->segment && c->segment <= c->forward.trips);
}

/* Less is not worth it. */
static int64_t most_worth_keeping(int64_t before) { return before - before / 3 - 1; }

/* One level of segments takes more than there is room for: more of them, if there may be. What they
 * take; `shallow` without. */
static int64_t deepen(split_checkpointing *c, const split_room *room, int64_t shallow) {
  split_kept_trips k = {c->forward.trips, saved_bytes(c), first_bytes(c), step_bytes(c)};
  split_levels levels;
  int64_t before = saturated_product(k.trips, k.step_bytes),
          free_bytes = saturated_sum(room->free_bytes, before),
          deep_bytes = min64(room->deep_bytes, most_worth_keeping(before));
  if (room->deep_bytes < 0 || shallow <= min64(free_bytes, deep_bytes) || !all_are_backward(c) ||
      !split_choose_levels(&k, deep_bytes, &levels))
    return shallow;
  int64_t bytes = split_levels_bytes(&k, &levels);
  if (bytes >= shallow) return shallow;
  set_levels(c, &levels);
  return bytes;
}

/* False if less than a third would be saved. */
static bool choose_segment(split_checkpointing *c, const split_room *room, int64_t *out_saved) {
  int64_t trips = c->forward.trips, state = saved_bytes(c), step = step_bytes(c);
  int64_t before = saturated_product(trips, step);
  if (step == 0 || (trips < FEW_TRIPS && step <= state)) return false;
  double best = sqrt((double)trips * (double)state / (double)step);
  int64_t segment =
      clamp64((int64_t)best, clamp64(TUNED_SEGMENT_BYTES / step, 1, max64(1, trips / 4)), trips);
  segment =
      clamp64(segment, 1, clamp64(saturated_sum(room->free_bytes, before) / 2 / step, 1, trips));
  segment = clamp64(segment, 1, clamp64(room->tensor_bytes / largest_step(c), 1, trips));
  segment = ceil_div(trips, ceil_div(trips, segment));
  set_levels(c, &(split_levels){.is_stored = true, .count = 1, .lengths = {segment}});
  int64_t after =
      saturated_sum(saturated_product(c->n_segments, state), saturated_product(c->segment, step));
  after = deepen(c, room, after);
  c->out->kept_bytes = after;
  *out_saved = before - after;
  return after <= most_worth_keeping(before);
}

static bool can_save(const split_checkpointing *c) {
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i] &&
        !ir_is_static_tensor(c->m, ir_type_of(c->m, ir_operand(c->m, c->forward.op, i))))
      return false;
  return true;
}

/* ---- as a whole ---- */
static void describe(const split_checkpointing *c) {
  split_checkpoints *out = c->out;
  for (uint32_t i = 0; i < c->stacks.count; i++) {
    ir_type t = ir_type_of(c->m, ir_operand(c->m, c->forward.op, c->stacks.at[i].carry));
    if (!out->stack || ir_type_bytes(c->m, t) > ir_type_bytes(c->m, out->stack)) out->stack = t;
  }
  out->location = ir_op_get(c->m, c->forward.op)->location;
  out->segment = c->segment;
  out->levels = c->levels.count;
  out->is_stored = c->levels.is_stored;
}

static bool find_stacks(split_checkpointing *c, ir_op loop) {
  ir_module *m = c->m;
  if (!split_steps_of(m, loop, &c->forward) || c->forward.trips < LEAST_TRIPS ||
      ir_has_effects(m, loop) || split_is_spread(m, c->block))
    return false;
  c->n_carries = ir_op_get(m, loop)->n_operands;
  c->users = ir_users_of_block(c->scratch, m, c->block);
  c->is_stack = ARENA_ARRAY(c->scratch, bool, c->n_carries);
  c->saved = ARENA_ARRAY(c->scratch, bool, c->n_carries);
  uint32_t *uses = ir_count_uses(c->scratch, m, split_forward_body(c));
  for (uint32_t i = 0; i < c->n_carries; i++) try_stack(c, i, uses);
  return c->stacks.count > 0;
}

static bool analyse(split_checkpointing *c, ir_op loop, const split_room *room) {
  if (!find_stacks(c, loop)) return false;
  c->out->trips = c->forward.trips;
  find_needed(c);
  find_state_ops(c);
  if (!can_save(c) || !choose_segment(c, room, &c->out->saved_bytes)) return false;
  describe(c);
  return true;
}

bool split_keeps_trips(const ir_module *m, ir_op loop) {
  split_checkpointing c = {.m = (ir_module *)m, /* find_stacks() changes nothing */
                           .scratch = arena_create(m->ctx),
                           .block = ir_op_get(m, loop)->block};
  bool found = find_stacks(&c, loop);
  arena_destroy(c.scratch);
  return found;
}

bool split_checkpoint(ir_module *m, ir_op loop, const split_room *room, split_checkpoints *out) {
  split_checkpointing c = {
      .m = m, .scratch = arena_create(m->ctx), .block = ir_op_get(m, loop)->block, .out = out};
  *out = (split_checkpoints){0};
  bool found = analyse(&c, loop, room);
  if (found) split_build_segmented(&c);
  arena_destroy(c.scratch);
  return found;
}
