#include "split/checkpoint.h"

#include "base/saturate.h"

#include <math.h>

#include "machine/tuned.h"
#include "split/segments.h"
#include "split/shards.h"
#include "split/steps.h"
#include "base/ints.h"

enum { LEAST_TRIPS = 4 };

typedef VEC(ir_value) values;

typedef struct stack { /* of the forward loop, to be dissolved */
  uint32_t carry;
  split_access write;
} stack;

typedef struct stack_read {
  uint32_t stack; /* index */
  split_access access;
} stack_read;

typedef struct reader {
  split_steps loop;
  bool is_backward; /* goes through the forward loop's trips from the last to the first */
  bool is_aimed;    /* is_backward is known */
  bool *dropped;    /* by carry: it is a stack that will be gone */
  VEC(stack_read) reads;
} reader;

typedef struct checkpointing {
  ir_module *m;
  arena *scratch;
  ir_block block;
  split_steps forward;
  uint32_t n_carries;
  ir_users users;
  VEC(stack) stacks;
  VEC(reader) readers;
  bool *is_stack;              /* by carry */
  bool *saved;                 /* by carry: what the stacks depend on from trip to trip */
  bool *needed_op;             /* by op of the body: what makes the stacks */
  bool *state_op;              /* of these what makes the next trip's saved carries */
  split_levels levels;         /* of segments; the outermost: */
  int64_t segment, n_segments; /* trips in each but the last */
  ir_value *checkpoints;       /* by carry: [n_segments, ...] */
  ir_map *renamed;
  split_checkpoints *out;
} checkpointing;

static ir_block body_of(const checkpointing *c) { return c->forward.body; }

/* ---- who reads ---- */
static reader *reader_of(checkpointing *c, ir_op loop) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].loop.op == loop) return &c->readers.at[i];
  reader r = {.dropped = ARENA_ARRAY(c->scratch, bool, ir_op_get(c->m, loop)->n_operands)};
  if (loop == c->forward.op || !split_steps_of(c->m, loop, &r.loop) ||
      r.loop.trips != c->forward.trips)
    return NULL;
  VEC_PUSH(c->scratch, &c->readers, r);
  return &c->readers.at[c->readers.count - 1];
}

/* All that the loop's body does with v is read one trip's element of it; the reads. */
static bool reads_only(checkpointing *c, reader *r, ir_value v, uint32_t n_uses,
                       uint32_t stack_index, const split_access *write) {
  ir_module *m = c->m;
  const ir_block_data *b = ir_block_get(m, r->loop.body);
  for (uint32_t i = 0; i < b->ops.count && n_uses; i++) {
    stack_read x = {.stack = stack_index};
    if (!split_steps_read(&r->loop, b->ops.at[i], v, &x.access)) continue;
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
static bool reads_carry(checkpointing *c, reader *r, uint32_t i, const uint32_t *uses,
                        uint32_t stack_index, const split_access *write) {
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
static bool stacks_too(checkpointing *c, const reader *r, const uint32_t *uses) {
  split_access write;
  for (uint32_t i = 0; i < ir_op_get(c->m, r->loop.op)->n_operands; i++) {
    ir_value v = ir_result(c->m, r->loop.op, i);
    if (c->users.first[v] < c->users.first[v + 1] && split_steps_stack(&r->loop, i, uses, &write))
      return true;
  }
  return false;
}

static bool is_read_by(checkpointing *c, ir_op user, ir_value v, uint32_t stack_index,
                       const split_access *write) {
  ir_module *m = c->m;
  reader *r = reader_of(c, user);
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
  reader *readers;
} mark;

static mark mark_readers(const checkpointing *c) {
  mark k = {c->readers.count, ARENA_COPY(c->scratch, reader, c->readers.at, c->readers.count)};
  for (uint32_t i = 0; i < k.n_readers; i++) {
    uint32_t n = ir_op_get(c->m, k.readers[i].loop.op)->n_operands;
    k.readers[i].dropped = ARENA_COPY(c->scratch, bool, k.readers[i].dropped, n);
  }
  return k;
}

static void return_to(checkpointing *c, mark k) {
  c->readers.count = k.n_readers;
  for (uint32_t i = 0; i < k.n_readers; i++) c->readers.at[i] = k.readers[i];
}

static void try_stack(checkpointing *c, uint32_t carry, const uint32_t *uses) {
  stack s = {.carry = carry};
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
typedef struct need {
  checkpointing *c;
  bool *value, *op; /* by value, by op of the body */
  values todo;
} need;

static void need_value(need *n, ir_value v) {
  checkpointing *c = n->c;
  if (ir_value_block(c->m, v) != body_of(c) || n->value[v]) return;
  n->value[v] = true;
  VEC_PUSH(c->scratch, &n->todo, v);
}

static void need_operands(const ir_module *m, ir_op op, void *user) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    need_value(user, ir_operand(m, op, i));
}

static void need_op(need *n, ir_op op) {
  ir_module *m = n->c->m;
  if (n->op[op]) return;
  n->op[op] = true;
  ir_walk_op(m, op, need_operands, n);
}

static void follow(need *n, ir_value v) {
  checkpointing *c = n->c;
  const ir_value_data *d = ir_value_get(c->m, v);
  if (d->op) {
    need_op(n, d->op);
    return;
  }
  if (split_steps_keeps(&c->forward, d->index)) return;
  c->saved[d->index] = d->index != c->forward.counter;
  need_value(n, ir_yielded(c->m, body_of(c), d->index));
}

static need begin_needs(checkpointing *c) {
  need n = {c,
            ARENA_ARRAY(c->scratch, bool, c->m->values.count),
            ARENA_ARRAY(c->scratch, bool, c->m->ops.count),
            {0}};
  need_value(&n, ir_argument(c->m, body_of(c), c->forward.counter));
  return n;
}

static bool *end_needs(need *n) {
  while (n->todo.count) follow(n, n->todo.at[--n->todo.count]);
  return n->op;
}

static void find_state_ops(checkpointing *c) {
  need n = begin_needs(c);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) need_value(&n, ir_argument(c->m, body_of(c), i));
  c->state_op = end_needs(&n);
}

static void find_needed(checkpointing *c) {
  need n = begin_needs(c);
  for (uint32_t i = 0; i < c->stacks.count; i++) {
    const split_access *w = &c->stacks.at[i].write;
    for (uint32_t k = 1; k < ir_op_get(c->m, w->op)->n_operands; k++)
      if ((int32_t)k != 2 + w->dim) need_value(&n, ir_operand(c->m, w->op, k));
  }
  c->needed_op = end_needs(&n);
}

/* ---- how long a segment is ---- */
static int64_t saved_bytes(const checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i])
      sum = saturated_sum(sum, ir_value_bytes(c->m, ir_operand(c->m, c->forward.op, i)));
  return sum;
}

static int64_t element_bytes(const checkpointing *c, uint32_t stack_index) {
  return ir_value_bytes(c->m, ir_operand(c->m, c->stacks.at[stack_index].write.op, 1));
}

static int64_t step_bytes(const checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->stacks.count; i++) sum = saturated_sum(sum, element_bytes(c, i));
  return sum;
}

static int64_t largest_step(const checkpointing *c) {
  int64_t largest = 1;
  for (uint32_t i = 0; i < c->stacks.count; i++)
    if (element_bytes(c, i) > largest) largest = element_bytes(c, i);
  return largest;
}

/* Of the states that the loop begins with, those that nobody else holds. */
static int64_t first_bytes(const checkpointing *c) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    ir_value v = ir_operand(c->m, c->forward.op, i);
    if (c->saved[i] && ir_value_get(c->m, v)->op) sum = saturated_sum(sum, ir_value_bytes(c->m, v));
  }
  return sum;
}

static bool all_are_backward(const checkpointing *c) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].reads.count && !c->readers.at[i].is_backward) return false;
  return true;
}

static void set_levels(checkpointing *c, const split_levels *levels) {
  c->levels = *levels;
  c->segment = levels->lengths[0];
  c->n_segments = ceil_div(c->forward.trips, c->segment);
  CTX_CHECK(c->m->ctx, 0 < c->segment && c->segment <= c->forward.trips);
}

/* Less is not worth it. */
static int64_t most_worth_keeping(int64_t before) { return before - before / 3 - 1; }

/* One level of segments takes more than there is room for: more of them, if there may be. What they
 * take; `shallow` without. */
static int64_t deepen(checkpointing *c, const split_room *room, int64_t shallow) {
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
static bool choose_segment(checkpointing *c, const split_room *room, int64_t *out_saved) {
  int64_t trips = c->forward.trips, state = saved_bytes(c), step = step_bytes(c);
  int64_t before = saturated_product(trips, step);
  if (step == 0) return false;
  double best = sqrt((double)trips * (double)state / (double)step);
  int64_t segment =
      clamp64((int64_t)best, clamp64(TUNED_SEGMENT_BYTES / step, 1, trips / 4), trips);
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

static bool can_save(const checkpointing *c) {
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i] &&
        !ir_is_static_tensor(c->m, ir_type_of(c->m, ir_operand(c->m, c->forward.op, i))))
      return false;
  return true;
}

/* ---- building ---- */
static ir_value add_int(ir_builder *b, ir_value x, int64_t y) {
  return y ? ir_build_binary(b, IR_OP_ADD, x, ir_build_int(b, y)) : x;
}

static ir_builder body_builder(ir_module *m, ir_op loop, ir_str location) {
  return (ir_builder){m, ir_while_body(m, loop), location};
}

/* counter < end, both carried. */
static void set_condition(ir_module *m, ir_op loop, uint32_t counter, uint32_t end) {
  ir_block block = ir_body(m, loop);
  ir_builder b = {m, block, ir_op_get(m, loop)->location};
  ir_value more =
      ir_build_compare(&b, "LT", ir_argument(m, block, counter), ir_argument(m, block, end));
  ir_build_return(&b, IR_OP_RETURN, &more, 1);
}

typedef struct segment { /* its trips, in the body of a loop over segments */
  ir_value low, high;
} segment;

static segment segment_at(const checkpointing *c, ir_builder *b, ir_value number) {
  segment s = {.low = number};
  if (c->segment > 1)
    s.low = ir_build_binary(b, IR_OP_MULTIPLY, number, ir_build_int(b, c->segment));
  s.high = add_int(b, s.low, c->segment);
  if (c->forward.trips % c->segment)
    s.high = ir_build_binary(b, IR_OP_MINIMUM, s.high, ir_build_int(b, c->forward.trips));
  return s;
}

/* The counter of a loop when it has made this many trips. */
static ir_value counter_after(ir_builder *b, const split_steps *loop, ir_value trips) {
  ir_dtype dtype = ir_type_at(b->m, ir_operand(b->m, loop->op, loop->counter))->dtype;
  return ir_build_convert(b, add_int(b, trips, loop->first), dtype);
}

static ir_type stacked_type(ir_module *m, ir_type t, int64_t count) {
  const ir_type_data *d = ir_type_get(m, t);
  int64_t dims[IR_MAX_RANK];
  dims[0] = count;
  for (int32_t i = 0; i < d->rank; i++) dims[i + 1] = d->dims[i];
  return ir_tensor(m, d->dtype, d->rank + 1, dims);
}

static void first_starts(ir_builder *b, ir_value at, int32_t rank, ir_value *out) {
  ir_value zero = ir_build_int(b, 0);
  for (int32_t i = 0; i < rank; i++) out[i] = i ? zero : at;
}

/* ---- the forward loop, in segments ---- */
/* Ops of a body but for the terminator. */
static void copy_body(ir_module *m, ir_block from, ir_block to, const bool *only, const bool *but,
                      ir_map *map) {
  uint32_t n = ir_block_get(m, from)->ops.count;
  for (uint32_t i = 0; i + 1 < n; i++) {
    ir_op op = ir_block_get(m, from)->ops.at[i];
    if ((!only || only[op]) && !(but && but[op])) ir_copy_op(m, to, op, map);
  }
}

static bool *writes_of(const checkpointing *c) {
  bool *is = ARENA_ARRAY(c->scratch, bool, c->m->ops.count);
  for (uint32_t i = 0; i < c->stacks.count; i++) is[c->stacks.at[i].write.op] = true;
  return is;
}

static void yield_carry(checkpointing *c, ir_block body, uint32_t carry, const ir_map *map,
                        values *out) {
  VEC_PUSH(c->scratch, out, ir_map_get(map, ir_yielded(c->m, body, carry)));
}

enum { FIRST_STATE = 1 }; /* among the arguments of a loop over segments, behind the number */

/* One segment: the loop as it was, but for the stacks; then its end, then `place`, where in the
 * stacks of the segment the first trip reads (IR_NONE: it does not). */
static ir_op segment_loop(checkpointing *c, ir_builder *b, ir_block outer, const split_steps *loop,
                          const bool *dropped, ir_value end, ir_value place) {
  ir_module *m = c->m;
  values init = {0};
  uint32_t counter = 0;
  for (uint32_t i = 0; i < ir_op_get(m, loop->op)->n_operands; i++) {
    if (dropped[i]) continue;
    if (i == loop->counter) counter = init.count;
    ir_value state = ir_argument(m, outer, FIRST_STATE + init.count);
    VEC_PUSH(c->scratch, &init, state);
  }
  uint32_t end_carry = init.count;
  VEC_PUSH(c->scratch, &init, end);
  if (place) VEC_PUSH(c->scratch, &init, place);
  ir_op inner = ir_build_while(b, init.at, init.count);
  set_condition(m, inner, counter, end_carry);
  return inner;
}

/* The loop's state are the arguments of `body` from `first` on. */
static ir_map *map_arguments(checkpointing *c, const split_steps *loop, const bool *dropped,
                             ir_block body, uint32_t first) {
  ir_map *map = ir_map_new(c->scratch, c->m);
  for (uint32_t i = 0, k = first; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i])
      ir_map_set(map, ir_argument(c->m, loop->body, i), ir_argument(c->m, body, k++));
  return map;
}

/* What one trip leaves, in the body of the loop over segments itself. */
static void yield_trip(checkpointing *c, const split_steps *loop, const bool *dropped,
                       const ir_map *map, values *out) {
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i]) yield_carry(c, loop->body, i, map, out);
}

/* Yields of the body, then the end as it is, then the next place. */
static void end_segment(checkpointing *c, const split_steps *loop, const bool *dropped, ir_op inner,
                        const ir_map *map, ir_value place) {
  ir_block body = ir_while_body(c->m, inner);
  ir_builder b = {c->m, body, ir_op_get(c->m, inner)->location};
  values yields = {0};
  yield_trip(c, loop, dropped, map, &yields);
  ir_value end = ir_argument(c->m, body, yields.count);
  VEC_PUSH(c->scratch, &yields, end);
  if (place) VEC_PUSH(c->scratch, &yields, place);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* What a segment leaves of the loop's state, the inner loop's results from `first` on; what no trip
 * changes no segment changes. */
static void yield_state(checkpointing *c, const split_steps *loop, const bool *dropped,
                        ir_block outer, ir_op inner, uint32_t first, values *out) {
  for (uint32_t i = 0, k = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++) {
    if (dropped[i]) continue;
    VEC_PUSH(c->scratch, out,
             split_steps_keeps(loop, i) ? ir_argument(c->m, outer, FIRST_STATE + k)
                                        : ir_result(c->m, inner, first + k));
    k++;
  }
}

/* Number of the segment, what of the loop's state stays, and whatever `more` has. */
static values initial_state(checkpointing *c, ir_builder *b, const split_steps *loop,
                            const bool *dropped) {
  values init = {0};
  VEC_PUSH(c->scratch, &init, ir_build_int(b, 0));
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i]) VEC_PUSH(c->scratch, &init, ir_operand(c->m, loop->op, i));
  return init;
}

static void rename_results(checkpointing *c, const split_steps *loop, const bool *dropped,
                           ir_op outer) {
  uint32_t k = 1;
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i])
      ir_map_set(c->renamed, ir_result(c->m, loop->op, i), ir_result(c->m, outer, k++));
}

static bool is_stored(const checkpointing *c, uint32_t carry) {
  return c->levels.is_stored && c->saved[carry];
}

static uint32_t place_of(const checkpointing *c, uint32_t carry) { /* in the outer loop's state */
  uint32_t at = 1;
  for (uint32_t i = 0; i < carry; i++) at += !c->is_stack[i];
  return at;
}

static void checkpoint_state(checkpointing *c, ir_builder *b, ir_block body, uint32_t first,
                             ir_value number, values *out_yields) {
  ir_module *m = c->m;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    if (!is_stored(c, i)) continue;
    ir_value state = ir_argument(m, body, place_of(c, i)), starts[IR_MAX_RANK];
    ir_type t = ir_type_of(m, state);
    first_starts(b, number, ir_type_get(m, t)->rank + 1, starts);
    ir_value part = ir_build_reshape(b, state, stacked_type(m, t, 1));
    VEC_PUSH(c->scratch, out_yields,
             ir_build_dynamic_update_slice(b, ir_argument(m, body, first++), part, starts));
  }
}

static void forward_trip(checkpointing *c, ir_block outer, values *out_yields) {
  ir_map *map = map_arguments(c, &c->forward, c->is_stack, outer, FIRST_STATE);
  copy_body(c->m, body_of(c), outer, NULL, writes_of(c), map);
  yield_trip(c, &c->forward, c->is_stack, map, out_yields);
}

static void forward_segment(checkpointing *c, ir_builder *b, ir_value number, values *out_yields) {
  ir_module *m = c->m;
  segment s = segment_at(c, b, number);
  ir_op inner = segment_loop(c, b, b->block, &c->forward, c->is_stack,
                             counter_after(b, &c->forward, s.high), IR_NONE);
  ir_block body = ir_while_body(m, inner);
  ir_map *map = map_arguments(c, &c->forward, c->is_stack, body, 0);
  copy_body(m, body_of(c), body, NULL, writes_of(c), map);
  end_segment(c, &c->forward, c->is_stack, inner, map, IR_NONE);
  yield_state(c, &c->forward, c->is_stack, b->block, inner, 0, out_yields);
}

static void fill_forward_body(checkpointing *c, ir_op outer, uint32_t first_checkpoint) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, outer);
  ir_builder b = body_builder(m, outer, ir_op_get(m, outer)->location);
  ir_value number = ir_argument(m, body, 0);
  values yields = {0}, checkpoints = {0};
  checkpoint_state(c, &b, body, first_checkpoint, number, &checkpoints);
  VEC_PUSH(c->scratch, &yields, add_int(&b, number, 1));
  if (c->segment == 1) forward_trip(c, body, &yields);
  else forward_segment(c, &b, number, &yields);
  for (uint32_t i = 0; i < checkpoints.count; i++) VEC_PUSH(c->scratch, &yields, checkpoints.at[i]);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

static ir_op segments_loop(checkpointing *c, ir_builder *b, const values *init) {
  ir_op outer = ir_build_while(b, init->at, init->count);
  ir_build_while_below(c->m, outer, c->n_segments);
  VEC_PUSH(c->m->arena, &c->out->loops, outer);
  return outer;
}

static void build_forward(checkpointing *c) {
  ir_module *m = c->m;
  ir_builder b = {m, c->block, ir_op_get(m, c->forward.op)->location};
  values init = initial_state(c, &b, &c->forward, c->is_stack);
  uint32_t first_checkpoint = init.count;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    if (!is_stored(c, i)) continue;
    ir_type t = ir_type_of(m, ir_operand(m, c->forward.op, i));
    VEC_PUSH(c->scratch, &init, ir_build_zeros(&b, stacked_type(m, t, c->n_segments)));
  }
  ir_op outer = segments_loop(c, &b, &init);
  fill_forward_body(c, outer, first_checkpoint);
  rename_results(c, &c->forward, c->is_stack, outer);
  for (uint32_t i = 0, k = first_checkpoint; i < c->n_carries; i++)
    if (is_stored(c, i)) c->checkpoints[i] = ir_result(m, outer, k++);
}

/* ---- the trips of a segment once more, for their stacks ---- */
static ir_value checkpoint_at(checkpointing *c, ir_builder *b, uint32_t carry, ir_value number) {
  ir_module *m = c->m;
  ir_value x = ir_build_part(b, c->checkpoints[carry], 0, number, 1);
  return ir_build_reshape(b, x, ir_type_of(m, ir_operand(m, c->forward.op, carry)));
}

typedef struct rerun { /* its state: counter, end, place in the stacks, what is saved, stacks */
  ir_op loop;
  uint32_t first_stack;
} rerun;

enum { FIRST_SAVED = 3 };

/* A place in the stacks of a segment as the loops count it: in the type of the program's own
 * starts; carried, because XLA computes what an index is made of for each element of a fusion. */
static ir_value place_of_trip(const checkpointing *c, ir_builder *b, ir_value trip) {
  const split_access *w = &c->stacks.at[0].write;
  return ir_build_convert(b, trip, ir_type_at(c->m, ir_operand(c->m, w->op, 2 + w->dim))->dtype);
}

static ir_value next_place(ir_builder *b, ir_value place, bool backward) {
  ir_value one = ir_build_int_like(b, place, 1);
  return ir_build_binary(b, backward ? IR_OP_SUBTRACT : IR_OP_ADD, place, one);
}

static rerun start_rerun(checkpointing *c, ir_builder *b, const segment *s, const ir_value *state) {
  ir_module *m = c->m;
  values init = {0};
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, s->low));
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, s->high));
  VEC_PUSH(c->scratch, &init, place_of_trip(c, b, ir_build_int(b, 0)));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) VEC_PUSH(c->scratch, &init, state[i]);
  rerun r = {.first_stack = init.count};
  int64_t last = c->levels.lengths[c->levels.count - 1];
  for (uint32_t i = 0; i < c->stacks.count; i++) {
    const stack *x = &c->stacks.at[i];
    ir_type t = ir_type_of(m, ir_operand(m, c->forward.op, x->carry));
    VEC_PUSH(c->scratch, &init, ir_build_zeros(b, ir_tensor_with_dim(m, t, x->write.dim, last)));
  }
  r.loop = ir_build_while(b, init.at, init.count);
  set_condition(m, r.loop, 0, 1);
  return r;
}

/* Arguments of the forward body that the stacks need: the counter, and what is saved as state[i].
 */
static ir_map *map_rerun(checkpointing *c, ir_value counter, const ir_value *state) {
  ir_module *m = c->m;
  ir_map *map = ir_map_new(c->scratch, m);
  for (uint32_t i = 0; i < c->n_carries; i++) {
    ir_value arg = ir_argument(m, body_of(c), i);
    if (i == c->forward.counter) ir_map_set(map, arg, counter);
    else if (c->saved[i]) ir_map_set(map, arg, state[i]);
    else if (split_steps_keeps(&c->forward, i))
      ir_map_set(map, arg, ir_operand(m, c->forward.op, i));
  }
  return map;
}

/* Where the op begins, its first indices being operand `first`: along the stack at `place`. */
static ir_value *starts_at(checkpointing *c, ir_builder *b, const split_access *x, uint32_t first,
                           ir_value place, const ir_map *map) {
  const ir_op_data d = *ir_op_get(c->m, x->op);
  ir_value *starts = ir_map_all(c->scratch, map, d.operands + first, d.n_operands - first);
  starts[x->dim] = ir_build_convert(b, place, ir_type_at(c->m, starts[x->dim])->dtype);
  return starts;
}

/* The stack of the segment with this trip's element. */
static ir_value write_step(checkpointing *c, ir_builder *b, const stack *x, ir_value place,
                           ir_value into, const ir_map *map) {
  ir_value update = ir_map_get(map, ir_operand(c->m, x->write.op, 1));
  return ir_build_dynamic_update_slice(b, into, update, starts_at(c, b, &x->write, 2, place, map));
}

static void fill_rerun(checkpointing *c, const rerun *r) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, r->loop);
  ir_builder b = body_builder(m, r->loop, ir_op_get(m, r->loop)->location);
  ir_value *state = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0, k = FIRST_SAVED; i < c->n_carries; i++)
    if (c->saved[i]) state[i] = ir_argument(m, body, k++);
  ir_map *map = map_rerun(c, ir_argument(m, body, 0), state);
  copy_body(m, body_of(c), body, c->needed_op, NULL, map);
  values yields = {0};
  yield_carry(c, body_of(c), c->forward.counter, map, &yields);
  ir_value place = ir_argument(m, body, 2);
  VEC_PUSH(c->scratch, &yields, ir_argument(m, body, 1));
  VEC_PUSH(c->scratch, &yields, next_place(&b, place, false));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) yield_carry(c, body_of(c), i, map, &yields);
  for (uint32_t i = 0; i < c->stacks.count; i++)
    VEC_PUSH(
        c->scratch, &yields,
        write_step(c, &b, &c->stacks.at[i], place, ir_argument(m, body, r->first_stack + i), map));
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* ---- who reads, in segments ---- */
static ir_value read_step(checkpointing *c, ir_builder *b, const stack_read *x, ir_value place,
                          ir_value stacked, const ir_map *map) {
  return ir_build_dynamic_slice(b, stacked, starts_at(c, b, &x->access, 1, place, map),
                                ir_type_at(c->m, ir_result(c->m, x->access.op, 0))->dims);
}

static const stack_read *read_by(const reader *r, ir_op op) {
  for (uint32_t i = 0; i < r->reads.count; i++)
    if (r->reads.at[i].access.op == op) return &r->reads.at[i];
  return NULL;
}

/* Where a reading trip finds what was stacked. */
typedef struct source {
  const ir_map *made; /* by the forward trip beside it; NULL: it is in the stacks of the segment */
  const rerun *again;
  ir_value place;
} source;

static ir_value read_from(checkpointing *c, ir_builder *b, const stack_read *x, const source *s,
                          const ir_map *map) {
  if (s->made) return ir_map_get(s->made, ir_operand(c->m, c->stacks.at[x->stack].write.op, 1));
  ir_value stacked = ir_result(c->m, s->again->loop, s->again->first_stack + x->stack);
  return read_step(c, b, x, s->place, stacked, map);
}

static void copy_reader(checkpointing *c, const reader *r, ir_builder *b, const source *s,
                        ir_map *map) {
  uint32_t n = ir_block_get(c->m, r->loop.body)->ops.count;
  for (uint32_t i = 0; i + 1 < n; i++) {
    ir_op op = ir_block_get(c->m, r->loop.body)->ops.at[i];
    const stack_read *x = read_by(r, op);
    if (x) ir_map_set(map, ir_result(c->m, op, 0), read_from(c, b, x, s, map));
    else ir_copy_op(c->m, b->block, op, map);
  }
}

static void fill_reading(checkpointing *c, const reader *r, ir_op inner, const rerun *again) {
  ir_module *m = c->m;
  ir_builder b = body_builder(m, inner, ir_op_get(m, inner)->location);
  ir_map *map = map_arguments(c, &r->loop, r->dropped, b.block, 0);
  source s = {NULL, again, ir_argument(m, b.block, ir_op_get(m, inner)->n_operands - 1)};
  copy_reader(c, r, &b, &s, map);
  end_segment(c, &r->loop, r->dropped, inner, map, next_place(&b, s.place, r->is_backward));
}

static void reader_segment(checkpointing *c, const reader *r, ir_builder *b, const segment *s,
                           const ir_value *state, values *out_yields) {
  rerun again = start_rerun(c, b, s, state);
  fill_rerun(c, &again);
  ir_value end = s->high, first = ir_build_int(b, 0);
  if (r->is_backward) {
    end = ir_build_binary(b, IR_OP_SUBTRACT, ir_build_int(b, c->forward.trips), s->low);
    first = add_int(b, ir_build_binary(b, IR_OP_SUBTRACT, s->high, s->low), -1);
  }
  ir_op inner = segment_loop(c, b, b->block, &r->loop, r->dropped, counter_after(b, &r->loop, end),
                             place_of_trip(c, b, first));
  fill_reading(c, r, inner, &again);
  yield_state(c, &r->loop, r->dropped, b->block, inner, 0, out_yields);
}

/* The forward trip and the reading one stand side by side: what was stacked is no array of one
 * element but the value itself. */
static void reader_trip(checkpointing *c, const reader *r, ir_builder *b, ir_value trip,
                        const ir_value *state, values *out_yields) {
  ir_module *m = c->m;
  ir_map *made = map_rerun(c, counter_after(b, &c->forward, trip), state);
  copy_body(m, body_of(c), b->block, c->needed_op, NULL, made);
  ir_map *map = map_arguments(c, &r->loop, r->dropped, b->block, FIRST_STATE);
  copy_reader(c, r, b, &(source){.made = made}, map);
  yield_trip(c, &r->loop, r->dropped, map, out_yields);
}

/* ---- segments of segments ---- */
enum { FIRST_SKIPPED = 2 }; /* behind counter and end */

static void fill_skipping(checkpointing *c, ir_op loop) {
  ir_module *m = c->m;
  ir_builder b = body_builder(m, loop, ir_op_get(m, loop)->location);
  ir_value *state = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  values yields = {0};
  for (uint32_t i = 0, k = FIRST_SKIPPED; i < c->n_carries; i++)
    if (c->saved[i]) state[i] = ir_argument(m, b.block, k++);
  ir_map *map = map_rerun(c, ir_argument(m, b.block, 0), state);
  copy_body(m, body_of(c), b.block, c->state_op, NULL, map);
  yield_carry(c, body_of(c), c->forward.counter, map, &yields);
  VEC_PUSH(c->scratch, &yields, ir_argument(m, b.block, 1));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) yield_carry(c, body_of(c), i, map, &yields);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* The trips from one to another, for the state that they end with. */
static ir_value *skip_trips(checkpointing *c, ir_builder *b, ir_value from, ir_value to,
                            const ir_value *state) {
  values init = {0};
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, from));
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, to));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) VEC_PUSH(c->scratch, &init, state[i]);
  ir_op loop = ir_build_while(b, init.at, init.count);
  set_condition(c->m, loop, 0, 1);
  fill_skipping(c, loop);
  ir_value *after = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0, k = FIRST_SKIPPED; i < c->n_carries; i++)
    if (c->saved[i]) after[i] = ir_result(c->m, loop, k++);
  return after;
}

/* Part `number` of a segment. */
static segment part_of(ir_builder *b, const segment *s, ir_value number, int64_t length) {
  segment p;
  ir_value before = number;
  if (length > 1) before = ir_build_binary(b, IR_OP_MULTIPLY, number, ir_build_int(b, length));
  p.low = ir_build_binary(b, IR_OP_ADD, s->low, before);
  p.high = ir_build_binary(b, IR_OP_MINIMUM, add_int(b, p.low, length), s->high);
  return p;
}

static ir_value count_parts(ir_builder *b, const segment *s, int64_t length) {
  ir_value trips = ir_build_binary(b, IR_OP_SUBTRACT, s->high, s->low);
  if (length == 1) return trips;
  return ir_build_binary(b, IR_OP_DIVIDE, add_int(b, trips, length - 1), ir_build_int(b, length));
}

static void read_segment(checkpointing *c, const reader *r, ir_builder *b, uint32_t level,
                         const segment *s, const ir_value *state, values *out_yields);

/* In a loop over the parts, from the last to the first; its state: how many are done, the reader's
 * state, how many there are. */
static void read_parts(checkpointing *c, const reader *r, ir_builder *b, uint32_t level,
                       const segment *s, const ir_value *state, values *out_yields) {
  ir_module *m = c->m;
  int64_t length = c->levels.lengths[level];
  uint32_t n = FIRST_STATE;
  values init = {0}, yields = {0};
  VEC_PUSH(c->scratch, &init, ir_build_int(b, 0));
  for (uint32_t i = 0; i < ir_op_get(m, r->loop.op)->n_operands; i++)
    if (!r->dropped[i]) VEC_PUSH(c->scratch, &init, ir_argument(m, b->block, n++));
  VEC_PUSH(c->scratch, &init, count_parts(b, s, length));
  ir_op loop = ir_build_while(b, init.at, init.count);
  set_condition(m, loop, 0, n);
  ir_builder in = body_builder(m, loop, b->location);
  ir_value done = ir_argument(m, in.block, 0), count = ir_argument(m, in.block, n);
  ir_value left = ir_build_binary(&in, IR_OP_SUBTRACT, count, done);
  segment part = part_of(&in, s, add_int(&in, left, -1), length);
  VEC_PUSH(c->scratch, &yields, add_int(&in, done, 1));
  read_segment(c, r, &in, level, &part, skip_trips(c, &in, s->low, part.low, state), &yields);
  VEC_PUSH(c->scratch, &yields, count);
  ir_build_return(&in, IR_OP_RETURN, yields.at, yields.count);
  yield_state(c, &r->loop, r->dropped, b->block, loop, FIRST_STATE, out_yields);
}

/* A segment of the level, whose first trip begins with `state`. */
static void read_segment(checkpointing *c, const reader *r, ir_builder *b, uint32_t level,
                         const segment *s, const ir_value *state, values *out_yields) {
  if (level + 1 < c->levels.count) read_parts(c, r, b, level + 1, s, state, out_yields);
  else if (c->levels.lengths[level] == 1) reader_trip(c, r, b, s->low, state, out_yields);
  else reader_segment(c, r, b, s, state, out_yields);
}

static ir_value *state_at(checkpointing *c, ir_builder *b, const segment *s, ir_value number) {
  ir_value *state = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i])
      state[i] =
          is_stored(c, i) ? checkpoint_at(c, b, i, number) : ir_operand(c->m, c->forward.op, i);
  return c->levels.is_stored ? state : skip_trips(c, b, ir_build_int(b, 0), s->low, state);
}

static void fill_reader_body(checkpointing *c, const reader *r, ir_op outer) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, outer);
  ir_builder b = body_builder(m, outer, ir_op_get(m, outer)->location);
  ir_value done = ir_argument(m, body, 0), number = done;
  if (r->is_backward)
    number = ir_build_binary(&b, IR_OP_SUBTRACT, ir_build_int(&b, c->n_segments - 1), done);
  values yields = {0};
  VEC_PUSH(c->scratch, &yields, add_int(&b, done, 1));
  segment s = segment_at(c, &b, number);
  read_segment(c, r, &b, 0, &s, state_at(c, &b, &s, number), &yields);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

static void build_reader(checkpointing *c, const reader *r) {
  ir_module *m = c->m;
  ir_builder b = {m, c->block, ir_op_get(m, r->loop.op)->location};
  values init = initial_state(c, &b, &r->loop, r->dropped);
  ir_op outer = segments_loop(c, &b, &init);
  fill_reader_body(c, r, outer);
  rename_results(c, &r->loop, r->dropped, outer);
}

static const reader *reader_at(const checkpointing *c, ir_op op) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].loop.op == op && c->readers.at[i].reads.count) return &c->readers.at[i];
  return NULL;
}

static void rebuild_block(checkpointing *c) {
  ir_module *m = c->m;
  ir_ops old = ir_take_ops(m, c->block);
  c->renamed = ir_map_new(c->scratch, m);
  c->checkpoints = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0; i < old.count; i++) {
    ir_op op = old.at[i];
    const reader *r = reader_at(c, op);
    if (op == c->forward.op) build_forward(c);
    else if (r) build_reader(c, r);
    else ir_block_append(m, c->block, op);
  }
  ir_replace_uses(m, c->block, c->renamed);
}

/* ---- as a whole ---- */
static void describe(const checkpointing *c) {
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

static bool analyse(checkpointing *c, ir_op loop, const split_room *room) {
  ir_module *m = c->m;
  if (!split_steps_of(m, loop, &c->forward) || c->forward.trips < LEAST_TRIPS ||
      ir_has_effects(m, loop) || split_is_spread(m, c->block))
    return false;
  c->n_carries = ir_op_get(m, loop)->n_operands;
  c->users = ir_users_of_block(c->scratch, m, c->block);
  c->is_stack = ARENA_ARRAY(c->scratch, bool, c->n_carries);
  c->saved = ARENA_ARRAY(c->scratch, bool, c->n_carries);
  uint32_t *uses = ir_count_uses(c->scratch, m, body_of(c));
  for (uint32_t i = 0; i < c->n_carries; i++) try_stack(c, i, uses);
  if (c->stacks.count == 0) return false;
  c->out->trips = c->forward.trips;
  find_needed(c);
  find_state_ops(c);
  if (!can_save(c) || !choose_segment(c, room, &c->out->saved_bytes)) return false;
  describe(c);
  return true;
}

bool split_checkpoint(ir_module *m, ir_op loop, const split_room *room, split_checkpoints *out) {
  checkpointing c = {
      .m = m, .scratch = arena_create(m->ctx), .block = ir_op_get(m, loop)->block, .out = out};
  *out = (split_checkpoints){0};
  bool found = analyse(&c, loop, room);
  if (found) rebuild_block(&c);
  arena_destroy(c.scratch);
  return found;
}
