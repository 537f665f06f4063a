#include "split/chunks.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "split/window.h"

struct split_chunks {
  split_scan scan;
};

/* ---- what the carries are ---- */
/* All that the body does with the carry, which no step changes, is read such elements. */
static bool is_read(const split_steps *s, uint32_t carry, const uint32_t *uses, split_access *out) {
  ir_value arg = ir_argument(s->m, s->body, carry);
  uint32_t n = uses[arg] - 1, found = 0; /* it is handed on */
  split_access x;
  if (!n || !split_steps_keeps(s, carry)) return false;
  for (ir_op op, i = 0; found < n && (op = ir_op_at(s->m, s->body, i)); i++) {
    if (!split_steps_read(s, op, arg, &x)) continue;
    if (found++ && (x.dim != out->dim || x.at.a != out->at.a)) return false;
    *out = x;
  }
  return found == n;
}

static split_carry role_of(const split_steps *s, uint32_t carry, const uint32_t *uses,
                           split_access *out) {
  if (split_steps_stack(s, carry, uses, out)) return SPLIT_STACK;
  if (is_read(s, carry, uses, out)) return SPLIT_READ;
  return split_steps_keeps(s, carry) ? SPLIT_WHOLE : SPLIT_STATE;
}

static bool is_along(split_carry x) { return x == SPLIT_READ || x == SPLIT_STACK; }

static void choose_direction(split_scan *s, uint32_t carry) {
  s->backward = s->at[carry].at.a < 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!is_along(s->roles[i]) || (s->at[i].at.a < 0) == s->backward) continue;
    s->roles[i] = s->roles[i] == SPLIT_READ ? SPLIT_WHOLE : SPLIT_STATE;
    s->is_mixed = true;
  }
}

bool split_scan_of(arena *scratch, const ir_module *m, ir_op loop, uint32_t carry,
                   split_scan *out) {
  split_steps steps;
  if (!split_steps_of(m, loop, &steps)) return false;
  uint32_t n = ir_op_get(m, loop)->n_operands, *uses = ir_count_uses(scratch, m, steps.body);
  *out = (split_scan){.steps = steps,
                      .n = n,
                      .roles = ARENA_ARRAY(scratch, split_carry, n),
                      .at = ARENA_ARRAY(scratch, split_access, n)};
  for (uint32_t i = 0; i < n; i++) out->roles[i] = role_of(&steps, i, uses, &out->at[i]);
  for (uint32_t i = 0; i < n && carry == n; i++)
    if (is_along(out->roles[i])) carry = i;
  if (carry == n || !is_along(out->roles[carry])) return false;
  choose_direction(out, carry);
  return true;
}

bool split_has_chunks(const ir_module *m, ir_op loop) {
  split_scan s;
  arena *scratch = arena_create(m->ctx);
  bool found = split_scan_of(scratch, m, loop, ir_op_get(m, loop)->n_operands, &s);
  arena_destroy(scratch);
  return found;
}

/* ---- states that begin anew ---- */
typedef struct restarts { /* in each step t in which t + ahead is a multiple of the period */
  int64_t period, ahead;  /* 0: there are none */
} restarts;

static restarts restarts_if(const split_scan *s, ir_value is_first) {
  const ir_module *m = s->steps.m;
  ir_direction direction;
  ir_op test = ir_comparison(m, is_first, &direction), left;
  int64_t zero;
  restarts r;
  if (test && direction == IR_EQ && ir_integer_of(m, ir_operand(m, test, 1), &zero) && zero == 0 &&
      (left = ir_maker(m, ir_operand(m, test, 0), IR_OP_REMAINDER)) &&
      ir_integer_of(m, ir_operand(m, left, 1), &r.period) && r.period > 0 &&
      split_steps_counts(&s->steps, ir_operand(m, left, 0), &r.ahead) && r.ahead >= 0)
    return r;
  return (restarts){0};
}

/* Nothing else is done with the carry than to select it in all steps but such. */
static restarts restarts_of(const split_scan *s, uint32_t carry, const uint32_t *uses) {
  const ir_module *m = s->steps.m;
  ir_value arg = ir_argument(m, s->steps.body, carry);
  for (ir_op op, i = 0; uses[arg] == 1 && (op = ir_op_at(m, s->steps.body, i)); i++)
    if (ir_kind_of(m, op) == IR_OP_SELECT && ir_operand(m, op, 2) == arg)
      return restarts_if(s, ir_operand(m, op, 0));
  return (restarts){0};
}

/* Of all of the state but the counter. */
static restarts common_restarts(arena *scratch, const split_scan *s) {
  const uint32_t *uses = ir_count_uses(scratch, s->steps.m, s->steps.body);
  restarts all = {0};
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->roles[i] != SPLIT_STATE || i == s->steps.counter) continue;
    restarts r = restarts_of(s, i, uses);
    if (!r.period || (all.period && (all.period != r.period || all.ahead != r.ahead)))
      return (restarts){0};
    all = r;
  }
  return all;
}

bool split_begins_anew(const ir_module *m, ir_op loop) {
  split_scan s;
  arena *scratch = arena_create(m->ctx);
  bool found = split_scan_of(scratch, m, loop, ir_op_get(m, loop)->n_operands, &s) &&
               common_restarts(scratch, &s).period > 0;
  arena_destroy(scratch);
  return found;
}

/* ---- the factor ---- */
/* Whole units from the first step on, or to that. */
static bool is_in_units(split_pos pos, int64_t trips) {
  int64_t first = pos.mirrored ? (trips - 1) / pos.unit * pos.unit : 0;
  return pos.offset == first && !pos.more;
}

/* What is left of it in the end: only slices that follow each other come to know that. */
static bool is_state_read(const split_scan *s) {
  const ir_module *m = s->steps.m;
  ir_block block = ir_op_get(m, s->steps.op)->block;
  for (ir_value v, i = 0; (v = ir_result_at(m, s->steps.op, i)); i++)
    if (s->roles[i] == SPLIT_STATE && ir_is_used_in(m, block, v)) return true;
  return false;
}

/* In the order of the steps; any order will do where slices begin as the state does. The first one
 * begins with what the while begins with. */
static bool is_in_order(arena *scratch, const split_scan *s, split_pos pos, split_factor *out) {
  restarts r = common_restarts(scratch, s);
  if (r.period && !is_state_read(s) &&
      (r.ahead + (s->backward ? s->steps.trips : 0)) % r.period == 0) {
    if (pos.unit % r.period == 0) return true;
    if (r.period % pos.unit == 0) out->coarsen = r.period / pos.unit;
    return false;
  }
  out->carried = true;
  out->backwards = pos.mirrored != s->backward;
  return !out->backwards;
}

bool split_chunks_trace(arena *scratch, ir_module *m, ir_op loop, uint32_t carry, split_pos pos,
                        split_factor *out) {
  struct split_chunks *c = ARENA_NEW(scratch, struct split_chunks);
  split_scan *s = &c->scan;
  if (!split_scan_of(scratch, m, loop, carry, s) || s->at[carry].dim != pos.dim ||
      !is_in_units(pos, s->steps.trips) || !is_in_order(scratch, s, pos, out))
    return false;
  if (out->carried) out->sums = ARENA_ARRAY(scratch, split_sum, s->n);
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->roles[i] == SPLIT_STATE && out->carried) out->sums[i] = SPLIT_SUM_ONTO;
    if (!is_along(s->roles[i])) continue;
    out->operands[i] = out->results[i] = pos;
    out->operands[i].dim = out->results[i].dim = s->at[i].dim;
  }
  out->chunks = c;
  return true;
}

bool split_is_state(const split_factor *f, uint32_t carry) {
  return f->chunks->scan.roles[carry] == SPLIT_STATE;
}

/* ---- the while on a slice ---- */
typedef struct chunk {
  const split_scan *s;
  ir_module *m;
  arena *scratch;
  const ir_value *operands;
  ir_value first; /* of the while's trips: that of the slice's first step */
  int64_t length; /* of the slice, in steps */
} chunk;

/* Carries of the inner while: which step of the slice it is, where that lies in the slice (carried,
 * because XLA computes what an index is made of for each element of a fusion), then the state and
 * the stacks, then the step that it ends before, unless that is a number. */
enum { STEP, PLACE, FIRST_CARRY };

static ir_value folded(ir_builder *b, ir_kind kind, ir_value x, ir_value y) {
  int64_t n, k;
  if (!ir_splat_int(b->m, x, &n) || !ir_splat_int(b->m, y, &k))
    return ir_build_binary(b, kind, x, y);
  switch (kind) {
    case IR_OP_ADD: return ir_build_int(b, n + k);
    case IR_OP_SUBTRACT: return ir_build_int(b, n - k);
    case IR_OP_MINIMUM: return ir_build_int(b, n < k ? n : k);
    default: return ir_build_binary(b, kind, x, y);
  }
}

static bool is_carried(const chunk *k, uint32_t carry) {
  return k->s->roles[carry] == SPLIT_STATE || k->s->roles[carry] == SPLIT_STACK;
}

/* The carries as step `from` begins. */
static ir_values begin(const chunk *k, ir_builder *b, ir_value from, ir_value end,
                       const ir_value *carries) {
  const split_steps *s = &k->s->steps;
  int64_t number;
  ir_values init = {0};
  ir_value place = from;
  if (k->s->backward) place = folded(b, IR_OP_SUBTRACT, ir_build_int(b, k->length - 1), from);
  VEC_PUSH(k->scratch, &init, from);
  VEC_PUSH(k->scratch, &init, place);
  for (uint32_t i = 0; i < k->s->n; i++) {
    ir_value x = carries[i];
    if (!is_carried(k, i)) continue;
    if (i == s->counter) {
      x = folded(b, IR_OP_ADD, folded(b, IR_OP_ADD, k->first, ir_build_int(b, s->first)), from);
      x = ir_build_convert(b, x, ir_type_at(k->m, ir_operand(k->m, s->op, i))->dtype);
    }
    VEC_PUSH(k->scratch, &init, x);
  }
  if (!ir_splat_int(k->m, end, &number)) VEC_PUSH(k->scratch, &init, end);
  return init;
}

static void build_condition(const chunk *k, ir_op loop, ir_value end) {
  int64_t number;
  if (ir_splat_int(k->m, end, &number)) ir_build_while_below(k->m, loop, number);
  else ir_build_while_less(k->m, loop, STEP, ir_op_get(k->m, loop)->n_operands - 1);
}

/* The carry that the op reads or stacks an element of; k->s->n: none. */
static uint32_t accessed(const chunk *k, ir_op op) {
  ir_kind kind = ir_kind_of(k->m, op);
  if (kind != IR_OP_DYNAMIC_SLICE && kind != IR_OP_DYNAMIC_UPDATE_SLICE) return k->s->n;
  const ir_value_data *d = ir_value_get(k->m, ir_operand(k->m, op, 0));
  if (d->block != k->s->steps.body) return k->s->n;
  split_carry x = k->s->roles[d->index];
  bool is = kind == IR_OP_DYNAMIC_SLICE ? x == SPLIT_READ
                                        : x == SPLIT_STACK && k->s->at[d->index].op == op;
  return is ? d->index : k->s->n;
}

static void fill_body(const chunk *k, ir_op loop, bool carries_end) {
  ir_module *m = k->m;
  ir_block from = k->s->steps.body, body = ir_while_body(m, loop);
  ir_builder b = {m, body, ir_op_get(m, loop)->location};
  ir_value step = ir_argument(m, body, STEP), place = ir_argument(m, body, PLACE);
  ir_map *map = ir_map_new(k->scratch, m);
  ir_values yields = {0};
  for (uint32_t i = 0, at = FIRST_CARRY; i < k->s->n; i++)
    ir_map_set(map, ir_argument(m, from, i),
               is_carried(k, i) ? ir_argument(m, body, at++) : k->operands[i]);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, from, i)); i++) {
    uint32_t carry = accessed(k, op);
    if (carry == k->s->n) {
      ir_copy_op(m, body, op, map);
      continue;
    }
    ir_value stack = ir_map_get(map, ir_operand(m, op, 0)); /* a slice of it */
    b.location = ir_op_get(m, op)->location;
    ir_map_set(map, ir_result(m, op, 0),
               split_build_access(&b, k->scratch, op, k->s->at[carry].dim, stack, place, map));
  }
  ir_value one = ir_build_int(&b, 1);
  VEC_PUSH(k->scratch, &yields, ir_build_add(&b, step, one));
  ir_kind to_next = k->s->backward ? IR_OP_SUBTRACT : IR_OP_ADD;
  VEC_PUSH(k->scratch, &yields, ir_build_binary(&b, to_next, place, one));
  for (uint32_t i = 0; i < k->s->n; i++)
    if (is_carried(k, i)) VEC_PUSH(k->scratch, &yields, ir_map_get(map, ir_yielded(m, from, i)));
  if (carries_end)
    VEC_PUSH(k->scratch, &yields, ir_argument(m, body, ir_op_get(m, loop)->n_operands - 1));
  ir_build_return(&b, IR_OP_RETURN, yields.at, yields.count);
}

/* Steps from one to before another; carries: as they begin, then as they end. */
static void run(const chunk *k, ir_builder *b, ir_value from, ir_value end, ir_value *carries) {
  int64_t number;
  ir_values init = begin(k, b, from, end, carries);
  ir_op loop = ir_build_while(b, init.at, init.count);
  build_condition(k, loop, end);
  fill_body(k, loop, !ir_splat_int(k->m, end, &number));
  for (uint32_t i = 0, at = FIRST_CARRY; i < k->s->n; i++)
    if (is_carried(k, i)) carries[i] = ir_result(k->m, loop, at++);
}

/* Of the slice the steps that there are: windows may reach beyond both ends. */
static split_interval steps_inside(const chunk *k, ir_builder *b, const split_trip *trip,
                                   split_pos pos, ir_value start) {
  int64_t size = k->s->steps.trips;
  ir_value none = ir_build_int(b, 0), all = ir_build_int(b, k->length);
  if (split_window_fits(trip, pos, size)) return (split_interval){none, all};
  split_interval in = split_window_inside(b, start, size, k->length);
  if (!in.first) in.first = none;
  if (!in.last) in.last = all;
  if (!k->s->backward) return in;
  return (split_interval){folded(b, IR_OP_SUBTRACT, all, in.last),
                          folded(b, IR_OP_SUBTRACT, all, in.first)};
}

/* The step of the slice that the next trip's begins with; 0 in the last trip. */
static ir_value next_first(ir_builder *b, const split_trip *trip, split_pos pos) {
  ir_value next = ir_build_add(b, trip->lo, ir_build_int(b, trip->slice)),
           last = ir_build_int(b, trip->extent - trip->slice);
  next = ir_build_subtract(b, ir_build_binary(b, IR_OP_MINIMUM, next, last), trip->start);
  return ir_build_multiply(b, next, ir_build_int(b, pos.unit));
}

static split_pos position_along(const split_factor *f) {
  uint32_t i = 0;
  while (f->operands[i].dim < 0) i++;
  return f->operands[i];
}

static chunk chunk_of(ir_builder *b, const split_factor *f, const split_trip *trip, split_pos pos,
                      ir_value start, const ir_value *operands) {
  const split_scan *s = &f->chunks->scan;
  chunk k = {s, b->m, arena_create(b->m->ctx), operands, start, trip->slice * pos.unit};
  if (s->backward)
    k.first = folded(b, IR_OP_SUBTRACT, ir_build_int(b, s->steps.trips - k.length), start);
  return k;
}

void split_chunks_step(ir_builder *b, ir_op loop, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *states, ir_value *out_results) {
  split_pos pos = position_along(f);
  ir_value start = split_window_start(b, trip, pos);
  chunk k = chunk_of(b, f, trip, pos, start, operands);
  split_interval in = steps_inside(&k, b, trip, pos, start);
  bool overlaps = f->carried && trip->extent % trip->slice;
  CTX_CHECK(b->m->ctx, k.s->steps.op == loop);
  for (uint32_t i = 0; i < k.s->n; i++)
    out_results[i] = f->carried && split_is_state(f, i) ? states[i] : operands[i];
  if (overlaps) {
    ir_value next = next_first(b, trip, pos);
    run(&k, b, in.first, folded(b, IR_OP_MINIMUM, next, in.last), out_results);
    for (uint32_t i = 0; i < k.s->n; i++) states[i] = out_results[i];
    in.first = ir_build_binary(b, IR_OP_MAXIMUM, in.first, next);
  }
  run(&k, b, in.first, in.last, out_results);
  for (uint32_t i = 0; i < k.s->n && f->carried && !overlaps; i++) states[i] = out_results[i];
  arena_destroy(k.scratch);
}
