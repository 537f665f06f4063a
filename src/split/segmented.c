#include "split/segmented.h"

static ir_value add_int(ir_builder *b, ir_value x, int64_t y) {
  return y ? ir_build_add(b, x, ir_build_int(b, y)) : x;
}

static ir_builder body_builder(ir_module *m, ir_op loop, ir_str location) {
  return (ir_builder){m, ir_while_body(m, loop), location};
}

typedef struct segment { /* its trips, in the body of a loop over segments */
  ir_value low, high;
} segment;

static segment segment_at(const split_checkpointing *c, ir_builder *b, ir_value number) {
  segment s = {.low = number};
  if (c->segment > 1) s.low = ir_build_multiply(b, number, ir_build_int(b, c->segment));
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

/* ---- the forward loop, in segments ---- */
/* A trip, but for its writes to the stacks. */
static void copy_trip(const split_checkpointing *c, ir_block to, ir_map *map) {
  bool *others = ARENA_ARRAY(c->scratch, bool, c->m->ops.count);
  memset(others, true, c->m->ops.count);
  for (uint32_t i = 0; i < c->stacks.count; i++) others[c->stacks.at[i].write.op] = false;
  ir_copy_body(c->m, split_forward_body(c), to, others, map);
}

static void yield_carry(split_checkpointing *c, ir_block body, uint32_t carry, const ir_map *map,
                        ir_values *out) {
  VEC_PUSH(c->scratch, out, ir_map_get(map, ir_yielded(c->m, body, carry)));
}

enum { FIRST_STATE = 1 }; /* among the arguments of a loop over segments, behind the number */

/* One segment: the loop as it was, but for the stacks; then its end, then `place`, where in the
 * stacks of the segment the first trip reads (IR_NONE: it does not). */
static ir_op segment_loop(split_checkpointing *c, ir_builder *b, ir_block outer,
                          const split_steps *loop, const bool *dropped, ir_value end,
                          ir_value place) {
  ir_module *m = c->m;
  ir_values init = {0};
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
  ir_build_while_less(m, inner, counter, end_carry);
  return inner;
}

/* The loop's state are the arguments of `body` from `first` on. */
static ir_map *map_arguments(split_checkpointing *c, const split_steps *loop, const bool *dropped,
                             ir_block body, uint32_t first) {
  ir_map *map = ir_map_new(c->scratch, c->m);
  for (uint32_t i = 0, k = first; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i])
      ir_map_set(map, ir_argument(c->m, loop->body, i), ir_argument(c->m, body, k++));
  return map;
}

/* What one trip leaves, in the body of the loop over segments itself. */
static void yield_trip(split_checkpointing *c, const split_steps *loop, const bool *dropped,
                       const ir_map *map, ir_values *out) {
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i]) yield_carry(c, loop->body, i, map, out);
}

/* Yields of the body, then the end as it is, then the next place. */
static void end_segment(split_checkpointing *c, const split_steps *loop, const bool *dropped,
                        ir_op inner, const ir_map *map, ir_value place) {
  ir_block body = ir_while_body(c->m, inner);
  ir_builder b = {c->m, body, ir_op_get(c->m, inner)->location};
  ir_values yields = {0};
  yield_trip(c, loop, dropped, map, &yields);
  ir_value end = ir_argument(c->m, body, yields.count);
  VEC_PUSH(c->scratch, &yields, end);
  if (place) VEC_PUSH(c->scratch, &yields, place);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* What a segment leaves of the loop's state, the inner loop's results from `first` on; what no trip
 * changes no segment changes. */
static void yield_state(split_checkpointing *c, const split_steps *loop, const bool *dropped,
                        ir_block outer, ir_op inner, uint32_t first, ir_values *out) {
  for (uint32_t i = 0, k = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++) {
    if (dropped[i]) continue;
    VEC_PUSH(c->scratch, out,
             split_steps_keeps(loop, i) ? ir_argument(c->m, outer, FIRST_STATE + k)
                                        : ir_result(c->m, inner, first + k));
    k++;
  }
}

/* Number of the segment, what of the loop's state stays, and whatever `more` has. */
static ir_values initial_state(split_checkpointing *c, ir_builder *b, const split_steps *loop,
                               const bool *dropped) {
  ir_values init = {0};
  VEC_PUSH(c->scratch, &init, ir_build_int(b, 0));
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i]) VEC_PUSH(c->scratch, &init, ir_operand(c->m, loop->op, i));
  return init;
}

static void rename_results(split_checkpointing *c, const split_steps *loop, const bool *dropped,
                           ir_op outer) {
  uint32_t k = 1;
  for (uint32_t i = 0; i < ir_op_get(c->m, loop->op)->n_operands; i++)
    if (!dropped[i])
      ir_map_set(c->renamed, ir_result(c->m, loop->op, i), ir_result(c->m, outer, k++));
}

static bool is_stored(const split_checkpointing *c, uint32_t carry) {
  return c->levels.is_stored && c->saved[carry];
}

static uint32_t place_of(const split_checkpointing *c,
                         uint32_t carry) { /* in the outer loop's state */
  uint32_t at = 1;
  for (uint32_t i = 0; i < carry; i++) at += !c->is_stack[i];
  return at;
}

static void checkpoint_state(split_checkpointing *c, ir_builder *b, ir_block body, uint32_t first,
                             ir_value number, ir_values *out_yields) {
  ir_module *m = c->m;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    if (!is_stored(c, i)) continue;
    ir_value state = ir_argument(m, body, place_of(c, i)), into = ir_argument(m, body, first++);
    VEC_PUSH(c->scratch, out_yields, ir_build_with_stacked(b, into, state, number));
  }
}

static void forward_trip(split_checkpointing *c, ir_block outer, ir_values *out_yields) {
  ir_map *map = map_arguments(c, &c->forward, c->is_stack, outer, FIRST_STATE);
  copy_trip(c, outer, map);
  yield_trip(c, &c->forward, c->is_stack, map, out_yields);
}

static void forward_segment(split_checkpointing *c, ir_builder *b, ir_value number,
                            ir_values *out_yields) {
  ir_module *m = c->m;
  segment s = segment_at(c, b, number);
  ir_op inner = segment_loop(c, b, b->block, &c->forward, c->is_stack,
                             counter_after(b, &c->forward, s.high), IR_NONE);
  ir_block body = ir_while_body(m, inner);
  ir_map *map = map_arguments(c, &c->forward, c->is_stack, body, 0);
  copy_trip(c, body, map);
  end_segment(c, &c->forward, c->is_stack, inner, map, IR_NONE);
  yield_state(c, &c->forward, c->is_stack, b->block, inner, 0, out_yields);
}

static void fill_forward_body(split_checkpointing *c, ir_op outer, uint32_t first_checkpoint) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, outer);
  ir_builder b = body_builder(m, outer, ir_op_get(m, outer)->location);
  ir_value number = ir_argument(m, body, 0);
  ir_values yields = {0}, checkpoints = {0};
  checkpoint_state(c, &b, body, first_checkpoint, number, &checkpoints);
  VEC_PUSH(c->scratch, &yields, add_int(&b, number, 1));
  if (c->segment == 1) forward_trip(c, body, &yields);
  else forward_segment(c, &b, number, &yields);
  for (uint32_t i = 0; i < checkpoints.count; i++) VEC_PUSH(c->scratch, &yields, checkpoints.at[i]);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

static ir_op segments_loop(split_checkpointing *c, ir_builder *b, const ir_values *init) {
  ir_op outer = ir_build_while(b, init->at, init->count);
  ir_build_while_below(c->m, outer, c->n_segments);
  VEC_PUSH(c->m->arena, &c->out->loops, outer);
  return outer;
}

static void build_forward(split_checkpointing *c) {
  ir_module *m = c->m;
  ir_builder b = {m, c->block, ir_op_get(m, c->forward.op)->location};
  ir_values init = initial_state(c, &b, &c->forward, c->is_stack);
  uint32_t first_checkpoint = init.count;
  for (uint32_t i = 0; i < c->n_carries; i++) {
    if (!is_stored(c, i)) continue;
    ir_type t = ir_type_of(m, ir_operand(m, c->forward.op, i));
    VEC_PUSH(c->scratch, &init, ir_build_zeros(&b, ir_tensor_stacked(m, t, c->n_segments)));
  }
  ir_op outer = segments_loop(c, &b, &init);
  fill_forward_body(c, outer, first_checkpoint);
  rename_results(c, &c->forward, c->is_stack, outer);
  for (uint32_t i = 0, k = first_checkpoint; i < c->n_carries; i++)
    if (is_stored(c, i)) c->checkpoints[i] = ir_result(m, outer, k++);
}

/* ---- the trips of a segment once more, for their stacks ---- */
static ir_value checkpoint_at(split_checkpointing *c, ir_builder *b, uint32_t carry,
                              ir_value number) {
  return ir_build_stacked_at(b, c->checkpoints[carry], number,
                             ir_type_of(c->m, ir_operand(c->m, c->forward.op, carry)));
}

typedef struct rerun { /* its state: counter, end, place in the stacks, what is saved, stacks */
  ir_op loop;
  uint32_t first_stack;
} rerun;

enum { FIRST_SAVED = 3 };

/* A place in the stacks of a segment as the loops count it: in the type of the program's own
 * starts; carried, because XLA computes what an index is made of for each element of a fusion. */
static ir_value place_of_trip(const split_checkpointing *c, ir_builder *b, ir_value trip) {
  const split_access *w = &c->stacks.at[0].write;
  return ir_build_convert(b, trip, ir_type_at(c->m, ir_operand(c->m, w->op, 2 + w->dim))->dtype);
}

static ir_value next_place(ir_builder *b, ir_value place, bool backward) {
  ir_value one = ir_build_int_like(b, place, 1);
  return ir_build_binary(b, backward ? IR_OP_SUBTRACT : IR_OP_ADD, place, one);
}

static rerun start_rerun(split_checkpointing *c, ir_builder *b, const segment *s,
                         const ir_value *state) {
  ir_module *m = c->m;
  ir_values init = {0};
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, s->low));
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, s->high));
  VEC_PUSH(c->scratch, &init, place_of_trip(c, b, ir_build_int(b, 0)));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) VEC_PUSH(c->scratch, &init, state[i]);
  rerun r = {.first_stack = init.count};
  int64_t last = c->levels.lengths[c->levels.count - 1];
  for (uint32_t i = 0; i < c->stacks.count; i++) {
    const split_stack *x = &c->stacks.at[i];
    ir_type t = ir_type_of(m, ir_operand(m, c->forward.op, x->carry));
    VEC_PUSH(c->scratch, &init, ir_build_zeros(b, ir_tensor_with_dim(m, t, x->write.dim, last)));
  }
  r.loop = ir_build_while(b, init.at, init.count);
  ir_build_while_less(m, r.loop, 0, 1);
  return r;
}

/* Arguments of the forward body that the stacks need: the counter, and what is saved as state[i].
 */
static ir_map *map_rerun(split_checkpointing *c, ir_value counter, const ir_value *state) {
  ir_module *m = c->m;
  ir_map *map = ir_map_new(c->scratch, m);
  for (uint32_t i = 0; i < c->n_carries; i++) {
    ir_value arg = ir_argument(m, split_forward_body(c), i);
    if (i == c->forward.counter) ir_map_set(map, arg, counter);
    else if (c->saved[i]) ir_map_set(map, arg, state[i]);
    else if (split_steps_keeps(&c->forward, i))
      ir_map_set(map, arg, ir_operand(m, c->forward.op, i));
  }
  return map;
}

/* Such a trip in the body of a loop that carries the counter, the end, and what is saved from carry
 * `first` on. */
static ir_map *trip_again(split_checkpointing *c, ir_block body, uint32_t first, const bool *only) {
  ir_value *state = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) state[i] = ir_argument(c->m, body, first++);
  ir_map *map = map_rerun(c, ir_argument(c->m, body, 0), state);
  ir_copy_body(c->m, split_forward_body(c), body, only, map);
  return map;
}

/* The next counter, the end, the next place, if there is one, and what is saved. */
static ir_values yields_again(split_checkpointing *c, ir_block body, const ir_map *map,
                              ir_value place) {
  ir_values yields = {0};
  yield_carry(c, split_forward_body(c), c->forward.counter, map, &yields);
  VEC_PUSH(c->scratch, &yields, ir_argument(c->m, body, 1));
  if (place) VEC_PUSH(c->scratch, &yields, place);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) yield_carry(c, split_forward_body(c), i, map, &yields);
  return yields;
}

/* The access once more, of the stack of the segment: what is read, or that stack. */
static ir_value access_at(split_checkpointing *c, ir_builder *b, const split_access *x,
                          ir_value stack, ir_value place, const ir_map *map) {
  return split_build_access(b, c->scratch, x->op, x->dim, stack, place, map);
}

static void fill_rerun(split_checkpointing *c, const rerun *r) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, r->loop);
  ir_builder b = body_builder(m, r->loop, ir_op_get(m, r->loop)->location);
  ir_map *map = trip_again(c, body, FIRST_SAVED, c->needed_op);
  ir_value place = ir_argument(m, body, 2);
  ir_values yields = yields_again(c, body, map, next_place(&b, place, false));
  for (uint32_t i = 0; i < c->stacks.count; i++)
    VEC_PUSH(c->scratch, &yields,
             access_at(c, &b, &c->stacks.at[i].write, ir_argument(m, body, r->first_stack + i),
                       place, map));
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* ---- who reads, in segments ---- */
static const split_stack_read *read_by(const split_stack_reader *r, ir_op op) {
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

static ir_value read_from(split_checkpointing *c, ir_builder *b, const split_stack_read *x,
                          const source *s, const ir_map *map) {
  if (s->made) return ir_map_get(s->made, ir_operand(c->m, c->stacks.at[x->stack].write.op, 1));
  ir_value stacked = ir_result(c->m, s->again->loop, s->again->first_stack + x->stack);
  return access_at(c, b, &x->access, stacked, s->place, map);
}

static void copy_reader(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                        const source *s, ir_map *map) {
  for (ir_op op, i = 0; (op = ir_body_op_at(c->m, r->loop.body, i)); i++) {
    const split_stack_read *x = read_by(r, op);
    if (x) ir_map_set(map, ir_result(c->m, op, 0), read_from(c, b, x, s, map));
    else ir_copy_op(c->m, b->block, op, map);
  }
}

static void fill_reading(split_checkpointing *c, const split_stack_reader *r, ir_op inner,
                         const rerun *again) {
  ir_module *m = c->m;
  ir_builder b = body_builder(m, inner, ir_op_get(m, inner)->location);
  ir_map *map = map_arguments(c, &r->loop, r->dropped, b.block, 0);
  source s = {NULL, again, ir_argument(m, b.block, ir_op_get(m, inner)->n_operands - 1)};
  copy_reader(c, r, &b, &s, map);
  end_segment(c, &r->loop, r->dropped, inner, map, next_place(&b, s.place, r->is_backward));
}

static void reader_segment(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                           const segment *s, const ir_value *state, ir_values *out_yields) {
  rerun again = start_rerun(c, b, s, state);
  fill_rerun(c, &again);
  ir_value end = s->high, first = ir_build_int(b, 0);
  if (r->is_backward) {
    end = ir_build_subtract(b, ir_build_int(b, c->forward.trips), s->low);
    first = add_int(b, ir_build_subtract(b, s->high, s->low), -1);
  }
  ir_op inner = segment_loop(c, b, b->block, &r->loop, r->dropped, counter_after(b, &r->loop, end),
                             place_of_trip(c, b, first));
  fill_reading(c, r, inner, &again);
  yield_state(c, &r->loop, r->dropped, b->block, inner, 0, out_yields);
}

/* The forward trip and the reading one stand side by side: what was stacked is no array of one
 * element but the value itself. */
static void reader_trip(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                        ir_value trip, const ir_value *state, ir_values *out_yields) {
  ir_module *m = c->m;
  ir_map *made = map_rerun(c, counter_after(b, &c->forward, trip), state);
  ir_copy_body(m, split_forward_body(c), b->block, c->needed_op, made);
  ir_map *map = map_arguments(c, &r->loop, r->dropped, b->block, FIRST_STATE);
  copy_reader(c, r, b, &(source){.made = made}, map);
  yield_trip(c, &r->loop, r->dropped, map, out_yields);
}

/* ---- segments of segments ---- */
enum { FIRST_SKIPPED = 2 }; /* behind counter and end */

static void fill_skipping(split_checkpointing *c, ir_op loop) {
  ir_builder b = body_builder(c->m, loop, ir_op_get(c->m, loop)->location);
  ir_map *map = trip_again(c, b.block, FIRST_SKIPPED, c->state_op);
  ir_values yields = yields_again(c, b.block, map, IR_NONE);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* The trips from one to another, for the state that they end with. */
static ir_value *skip_trips(split_checkpointing *c, ir_builder *b, ir_value from, ir_value to,
                            const ir_value *state) {
  ir_values init = {0};
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, from));
  VEC_PUSH(c->scratch, &init, counter_after(b, &c->forward, to));
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i]) VEC_PUSH(c->scratch, &init, state[i]);
  ir_op loop = ir_build_while(b, init.at, init.count);
  ir_build_while_less(c->m, loop, 0, 1);
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
  if (length > 1) before = ir_build_multiply(b, number, ir_build_int(b, length));
  p.low = ir_build_add(b, s->low, before);
  p.high = ir_build_binary(b, IR_OP_MINIMUM, add_int(b, p.low, length), s->high);
  return p;
}

static ir_value count_parts(ir_builder *b, const segment *s, int64_t length) {
  ir_value trips = ir_build_subtract(b, s->high, s->low);
  if (length == 1) return trips;
  return ir_build_binary(b, IR_OP_DIVIDE, add_int(b, trips, length - 1), ir_build_int(b, length));
}

static void read_segment(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                         uint32_t level, const segment *s, const ir_value *state,
                         ir_values *out_yields);

/* In a loop over the parts, from the last to the first; its state: how many are done, the reader's
 * state, how many there are. */
static void read_parts(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                       uint32_t level, const segment *s, const ir_value *state,
                       ir_values *out_yields) {
  ir_module *m = c->m;
  int64_t length = c->levels.lengths[level];
  uint32_t n = FIRST_STATE;
  ir_values init = {0}, yields = {0};
  VEC_PUSH(c->scratch, &init, ir_build_int(b, 0));
  for (uint32_t i = 0; i < ir_op_get(m, r->loop.op)->n_operands; i++)
    if (!r->dropped[i]) VEC_PUSH(c->scratch, &init, ir_argument(m, b->block, n++));
  VEC_PUSH(c->scratch, &init, count_parts(b, s, length));
  ir_op loop = ir_build_while(b, init.at, init.count);
  ir_build_while_less(m, loop, 0, n);
  ir_builder in = body_builder(m, loop, b->location);
  ir_value done = ir_argument(m, in.block, 0), count = ir_argument(m, in.block, n);
  ir_value left = ir_build_subtract(&in, count, done);
  segment part = part_of(&in, s, add_int(&in, left, -1), length);
  VEC_PUSH(c->scratch, &yields, add_int(&in, done, 1));
  read_segment(c, r, &in, level, &part, skip_trips(c, &in, s->low, part.low, state), &yields);
  VEC_PUSH(c->scratch, &yields, count);
  ir_build_return(&in, IR_OP_RETURN, yields.at, yields.count);
  yield_state(c, &r->loop, r->dropped, b->block, loop, FIRST_STATE, out_yields);
}

/* A segment of the level, whose first trip begins with `state`. */
static void read_segment(split_checkpointing *c, const split_stack_reader *r, ir_builder *b,
                         uint32_t level, const segment *s, const ir_value *state,
                         ir_values *out_yields) {
  if (level + 1 < c->levels.count) read_parts(c, r, b, level + 1, s, state, out_yields);
  else if (c->levels.lengths[level] == 1) reader_trip(c, r, b, s->low, state, out_yields);
  else reader_segment(c, r, b, s, state, out_yields);
}

static ir_value *state_at(split_checkpointing *c, ir_builder *b, const segment *s,
                          ir_value number) {
  ir_value *state = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (uint32_t i = 0; i < c->n_carries; i++)
    if (c->saved[i])
      state[i] =
          is_stored(c, i) ? checkpoint_at(c, b, i, number) : ir_operand(c->m, c->forward.op, i);
  return c->levels.is_stored ? state : skip_trips(c, b, ir_build_int(b, 0), s->low, state);
}

static void fill_reader_body(split_checkpointing *c, const split_stack_reader *r, ir_op outer) {
  ir_module *m = c->m;
  ir_block body = ir_while_body(m, outer);
  ir_builder b = body_builder(m, outer, ir_op_get(m, outer)->location);
  ir_value done = ir_argument(m, body, 0), number = done;
  if (r->is_backward) number = ir_build_subtract(&b, ir_build_int(&b, c->n_segments - 1), done);
  ir_values yields = {0};
  VEC_PUSH(c->scratch, &yields, add_int(&b, done, 1));
  segment s = segment_at(c, &b, number);
  read_segment(c, r, &b, 0, &s, state_at(c, &b, &s, number), &yields);
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

static void build_reader(split_checkpointing *c, const split_stack_reader *r) {
  ir_module *m = c->m;
  ir_builder b = {m, c->block, ir_op_get(m, r->loop.op)->location};
  ir_values init = initial_state(c, &b, &r->loop, r->dropped);
  ir_op outer = segments_loop(c, &b, &init);
  fill_reader_body(c, r, outer);
  rename_results(c, &r->loop, r->dropped, outer);
}

static const split_stack_reader *reader_at(const split_checkpointing *c, ir_op op) {
  for (uint32_t i = 0; i < c->readers.count; i++)
    if (c->readers.at[i].loop.op == op && c->readers.at[i].reads.count) return &c->readers.at[i];
  return NULL;
}

void split_build_segmented(split_checkpointing *c) {
  ir_module *m = c->m;
  ir_ops old = ir_take_ops(m, c->block);
  c->renamed = ir_map_new(c->scratch, m);
  c->checkpoints = ARENA_ARRAY(c->scratch, ir_value, c->n_carries);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    const split_stack_reader *r = reader_at(c, op);
    if (op == c->forward.op) build_forward(c);
    else if (r) build_reader(c, r);
    else ir_block_append(m, c->block, op);
  }
  ir_replace_uses(m, c->block, c->renamed);
}
