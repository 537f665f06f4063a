/* until_last: a while that runs all rows until the last is done counts its trips first.
 *
 *   while(x) any(p(x)) { f(x) }   is   n = while(x, n) any(p(x)) { p(x) ? (f(x), n + 1) : (x, n) }
 *                                      for max(n) trips { f(x) }
 *
 * f goes on with rows that are done, so what a row comes to depends on when the last one is done,
 * and no slice can know that. In the first loop rows that are done stay as they are, so slices end
 * one by one (ir/frozen.h). The second has a number of trips. So random.poisson is written.
 *
 * Holds where a row that is done stays done. p is made of
 *
 * - flags that are carried: `done` becomes `done | ..`, `going` becomes `going & ..`;
 * - floats that never rise, x > c and x >= c, where x becomes x + y with y <= 0 (or NaN, which no
 *   comparison is true of), or never fall, the other way round; c does not change.
 *
 * Rows are all elements of what is asked; f works on them element by element. What f carries
 * beside them (keys, counters) may not depend on them: it has one value in the same trip of all
 * loops. There are at most 2^31 - 1 trips, which would take hours.
 *
 * Requires: a verified module. Breaks: nothing. Exact. Left alone: whiles whose rows freeze
 * already, with attributes or effects, rows that are small against the limit; quotients, whose sign
 * depends on the sign of zeros (the other loop of random.binomial). Cost: p and f are computed
 * twice; the pass is linear in each such while.
 */
#include <math.h>

#include "ir/frozen.h"
#include "pass/build.h"

enum { MOST_LOOKS = 64 }; /* ops that a question goes through */

typedef struct last {
  pass_rewrite *f;
  ir_module *m;
  ir_op loop;
  ir_block condition, body;
  uint32_t n_carries;
  ir_value asked; /* of the condition: by row, whether it goes on */
  bool *of_rows;  /* by value of both blocks: it depends on rows that change */
  bool *varies;   /* by value of the condition: it depends on a carry that changes */
} last;

typedef struct bounds { /* of all elements that are no NaN */
  float low, high;
} bounds;

static ir_value carry_of(const last *l, ir_block block, uint32_t i) {
  return ir_block_get(l->m, block)->args.at[i];
}

static ir_value yield_of(const last *l, uint32_t i) {
  return ir_operand(l->m, ir_terminator(l->m, l->body), i);
}

static bool has_rows(const last *l, ir_value v) {
  const ir_type_data *t = ir_type_at(l->m, v), *rows = ir_type_at(l->m, l->asked);
  if (t->rank != rows->rank) return false;
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] != rows->dims[d]) return false;
  return true;
}

static bool changes(const last *l, uint32_t i) { return yield_of(l, i) != carry_of(l, l->body, i); }

static bool is_row_state(const last *l, uint32_t i) {
  return changes(l, i) && has_rows(l, carry_of(l, l->body, i));
}

/* ---- bounds ---- */
static const bounds ANYTHING = {-INFINITY, INFINITY};

/* Random bits shifted right, under the exponent of 1: JAX's numbers from [1, 2). */
static bounds bounds_of_bits(const ir_module *m, ir_value v) {
  static const int64_t exponent_of_one = 0x3f800000, mantissa_bits = 23;
  ir_op join = ir_maker(m, v, IR_OP_OR);
  if (!join || ir_type_at(m, v)->dtype != IR_UI32) return ANYTHING;
  for (uint32_t i = 0; i < 2; i++) {
    ir_op shift = ir_maker(m, ir_operand(m, join, 1 - i), IR_OP_SHIFT_RIGHT_LOGIC);
    int64_t exponent, by;
    if (shift && ir_splat_int(m, ir_operand(m, join, i), &exponent) &&
        ir_splat_int(m, ir_operand(m, shift, 1), &by) && exponent == exponent_of_one &&
        by >= 32 - mantissa_bits && by < 32)
      return (bounds){1, nextafterf(2, 0)};
  }
  return ANYTHING;
}

static bounds rounded(float low, float high) {
  return isnan(low) || isnan(high) ? ANYTHING : (bounds){low, high};
}

/* By a power of two: exact, so that XLA may round once for this and a sum. */
static bounds bounds_of_product(const bounds *of) {
  for (uint32_t i = 0; i < 2; i++) {
    int exponent;
    float by = of[i].low;
    if (by == of[i].high && by > 0 && frexpf(by, &exponent) == 0.5f)
      return rounded(of[1 - i].low * by, of[1 - i].high * by);
  }
  return ANYTHING;
}

/* Of a value of f32, by no more than *looks ops. Rounding keeps order, so bounds are those of
 * rounded numbers; constants are not folded in more bits than XLA has. */
static bounds bounds_of(const ir_module *m, ir_value v, int *looks) {
  ir_op op = ir_value_get(m, v)->op;
  double number;
  if (!op || ir_type_at(m, v)->dtype != IR_F32 || --*looks < 0) return ANYTHING;
  if (ir_is_splat_constant(m, v) && ir_splat_real(m, v, &number))
    return rounded((float)number, (float)number);
  if (ir_kind_of(m, op) == IR_OP_BITCAST_CONVERT) return bounds_of_bits(m, ir_operand(m, op, 0));
  uint32_t n = ir_op_get(m, op)->n_operands;
  bounds of[2] = {ANYTHING, ANYTHING};
  for (uint32_t i = 0; i < n && i < 2; i++) of[i] = bounds_of(m, ir_operand(m, op, i), looks);
  bounds x = of[0], y = of[1];
  switch (ir_kind_of(m, op)) {
    case IR_OP_ADD: return rounded(x.low + y.low, x.high + y.high);
    case IR_OP_SUBTRACT: return rounded(x.low - y.high, x.high - y.low);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_RESHAPE: return x;
    case IR_OP_MULTIPLY: return bounds_of_product(of);
    case IR_OP_MAXIMUM: return (bounds){fmaxf(x.low, y.low), fmaxf(x.high, y.high)};
    case IR_OP_MINIMUM: return (bounds){fminf(x.low, y.low), fminf(x.high, y.high)};
    case IR_OP_NEGATE: return (bounds){-x.high, -x.low};
    case IR_OP_LOG: return (bounds){-INFINITY, x.high <= 1 ? 0 : INFINITY};
    case IR_OP_ABS:
    case IR_OP_EXPONENTIAL: return (bounds){0, INFINITY};
    default: return ANYTHING;
  }
}

/* ---- rows that are done stay done ---- */
static bool adds(const last *l, uint32_t carry, bool upwards) {
  ir_op op = ir_maker(l->m, yield_of(l, carry), IR_OP_ADD);
  for (uint32_t i = 0; op && i < 2; i++) {
    if (ir_operand(l->m, op, i) != carry_of(l, l->body, carry)) continue;
    int looks = MOST_LOOKS;
    bounds y = bounds_of(l->m, ir_operand(l->m, op, 1 - i), &looks);
    assert(y.low <= y.high);
    return upwards ? y.low >= 0 : y.high <= 0;
  }
  return false;
}

/* The number of the carry that v is in the condition; n_carries: none. */
static uint32_t carry_at(const last *l, ir_value v) {
  uint32_t i = 0;
  while (i < l->n_carries && carry_of(l, l->condition, i) != v) i++;
  return i;
}

/* v is carried and moves this way only, or not at all. */
static bool moves(const last *l, ir_value v, bool upwards) {
  uint32_t carry = carry_at(l, v);
  return !l->varies[v] || (carry < l->n_carries && adds(l, carry, upwards));
}

static bool compares_for_good(const last *l, ir_op op) {
  ir_direction direction;
  ir_compare_type type;
  ir_value x = ir_operand(l->m, op, 0), y = ir_operand(l->m, op, 1);
  if (ir_type_at(l->m, x)->dtype != IR_F32 || !ir_compare_kind(l->m, op, &direction, &type) ||
      type == IR_COMPARE_TOTALORDER)
    return false;
  if (direction == IR_GT || direction == IR_GE) return moves(l, x, false) && moves(l, y, true);
  return (direction == IR_LT || direction == IR_LE) && moves(l, x, true) && moves(l, y, false);
}

/* A flag that is or-ed to (stays true), or and-ed to (stays false). */
static bool is_kept(const last *l, uint32_t carry, bool truth) {
  ir_op op = ir_maker(l->m, yield_of(l, carry), truth ? IR_OP_OR : IR_OP_AND);
  ir_value arg = carry_of(l, l->body, carry);
  return op && (ir_operand(l->m, op, 0) == arg || ir_operand(l->m, op, 1) == arg);
}

/* An element of v that is `truth` in one trip is so in the next. */
static bool stays(const last *l, ir_value v, bool truth, int *looks) {
  uint32_t carry = carry_at(l, v);
  if (!l->varies[v]) return true;
  if (ir_type_at(l->m, v)->dtype != IR_I1 || --*looks < 0) return false;
  if (carry < l->n_carries) return is_kept(l, carry, truth);
  ir_op op = ir_value_get(l->m, v)->op;
  switch (ir_kind_of(l->m, op)) {
    case IR_OP_NOT: return stays(l, ir_operand(l->m, op, 0), !truth, looks);
    case IR_OP_AND:
    case IR_OP_OR:
      return stays(l, ir_operand(l->m, op, 0), truth, looks) &&
             stays(l, ir_operand(l->m, op, 1), truth, looks);
    case IR_OP_COMPARE: return !truth && compares_for_good(l, op);
    default: return false;
  }
}

/* ---- what depends on rows ---- */
typedef struct search {
  const bool *of;
  bool found;
} search;

static void look(const ir_module *m, ir_op op, void *user) {
  search *s = user;
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) s->found |= s->of[d->operands[i]];
}

static bool depends(const ir_module *m, ir_op op, const bool *of) {
  search s = {of, false};
  ir_walk_op(m, op, look, &s);
  return s.found;
}

static bool is_by_row(const last *l, ir_op op) {
  const ir_op_data *d = ir_op_get(l->m, op);
  if (!(ir_kind_flags((ir_kind)d->kind) & IR_FLAG_E) || d->n_results != 1 || d->n_regions)
    return false;
  return has_rows(l, d->first_result);
}

/* Whether all that depends on rows does so row by row, but for the op `end` and those after it. */
static bool goes_by_rows(last *l, ir_block block, ir_op end) {
  const ir_block_data *b = ir_block_get(l->m, block);
  for (uint32_t i = 0; i < l->n_carries; i++) l->of_rows[b->args.at[i]] = is_row_state(l, i);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) {
    ir_op op = b->ops.at[i];
    if (op == end || !depends(l->m, op, l->of_rows)) continue;
    if (!is_by_row(l, op)) return false;
    l->of_rows[ir_result(l->m, op, 0)] = true;
  }
  return true;
}

static void find_varying(last *l) {
  const ir_block_data *b = ir_block_get(l->m, l->condition);
  for (uint32_t i = 0; i < l->n_carries; i++) l->varies[b->args.at[i]] = changes(l, i);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) {
    const ir_op_data *d = ir_op_get(l->m, b->ops.at[i]);
    for (uint32_t j = 0; j < d->n_results; j++)
      l->varies[d->first_result + j] = depends(l->m, b->ops.at[i], l->varies);
  }
}

/* An any over all elements, which is what the condition is, or its half. */
static ir_op vote_of(const ir_module *m, ir_block condition) {
  ir_value v = ir_operand(m, ir_terminator(m, condition), 0);
  ir_op both = ir_maker(m, v, IR_OP_AND);
  for (uint32_t i = 0; i < (both ? 2u : 1u); i++) {
    ir_value half = both ? ir_operand(m, both, i) : v;
    ir_op op = ir_maker(m, half, IR_OP_REDUCE);
    if (op && ir_is_vote(m, op) && ir_type_at(m, half)->rank == 0 &&
        ir_reducer_kind(m, ir_op_get(m, op)->regions[0]) == IR_OP_OR &&
        ir_value_block(m, half) == condition && ir_is_zero(m, ir_operand(m, op, 1)))
      return op;
  }
  return IR_NONE;
}

static bool freezes(const last *l, ir_op vote) {
  int32_t *rows_at = ARENA_ARRAY(l->f->p->scratch, int32_t, l->n_carries);
  for (uint32_t i = 0; i < l->n_carries; i++)
    rows_at[i] = has_rows(l, carry_of(l, l->body, i)) ? 0 : -1;
  return ir_rows_freeze(l->f->p->scratch, l->m, l->loop, vote, rows_at);
}

static int64_t largest_bytes(const last *l) {
  int64_t most = 0;
  for (uint32_t i = 0; i < l->n_carries; i++) {
    int64_t bytes = ir_value_bytes(l->m, carry_of(l, l->body, i));
    if (is_row_state(l, i) && bytes > most) most = bytes;
  }
  return most;
}

/* The whole of what the head asks for. */
static bool is_legal(last *l, ir_op vote) {
  if (largest_bytes(l) <= pass_small_bytes(l->f->p->options) || freezes(l, vote)) return false;
  if (!goes_by_rows(l, l->condition, vote) || !goes_by_rows(l, l->body, IR_NONE)) return false;
  for (uint32_t i = 0; i < l->n_carries; i++)
    if (l->of_rows[yield_of(l, i)] && changes(l, i) && !is_row_state(l, i)) return false;
  find_varying(l);
  int looks = MOST_LOOKS;
  return stays(l, l->asked, false, &looks);
}

/* ---- the two loops ---- */
/* The ops of one of the while's blocks but the last, on these carries. */
static ir_map *copied(const last *l, ir_block from, ir_block to, const ir_value *carries) {
  ir_map *map = ir_map_new(l->f->p->scratch, l->m);
  for (uint32_t i = 0; i < l->n_carries; i++) ir_map_set(map, carry_of(l, from, i), carries[i]);
  for (uint32_t i = 0; i + 1 < ir_block_get(l->m, from)->ops.count; i++)
    ir_copy_op(l->m, to, ir_block_get(l->m, from)->ops.at[i], map);
  return map;
}

/* A while that carries what this one does and `extra` more; a copy of its arguments, by block. */
static ir_op wider_while(const last *l, ir_builder *b, const ir_value *extra, uint32_t n_extra,
                         ir_value **out_args) {
  uint32_t n = l->n_carries + n_extra;
  ir_value *init = ARENA_ARRAY(l->f->p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++)
    init[i] = i < l->n_carries ? ir_operand(l->m, l->loop, i) : extra[i - l->n_carries];
  ir_op loop = ir_build_while(b, init, n);
  for (uint32_t r = 0; r < 2; r++)
    out_args[r] =
        arena_copy(l->f->p->scratch, ir_block_get(l->m, ir_op_get(l->m, loop)->regions[r])->args.at,
                   n * sizeof(ir_value));
  return loop;
}

static ir_value plus_one(ir_builder *b, ir_value x) {
  return ir_build_binary(b, IR_OP_ADD, x, ir_build_splat_int(b, ir_type_of(b->m, x), 1));
}

/* By row, the trips until it is done. */
static ir_value count_trips(const last *l, ir_builder *b) {
  ir_module *m = l->m;
  const ir_type_data *rows = ir_type_at(m, l->asked);
  ir_value zeros = ir_build_splat_int(b, ir_tensor(m, IR_I32, rows->rank, rows->dims), 0);
  ir_value *args[2];
  uint32_t n = l->n_carries;
  ir_op loop = wider_while(l, b, &zeros, 1, args);
  ir_builder of_condition = {m, ir_op_get(m, loop)->regions[0], b->location},
             of_body = {m, ir_op_get(m, loop)->regions[1], b->location};
  ir_map *condition = copied(l, l->condition, of_condition.block, args[0]);
  ir_value goes_on = ir_map_get(condition, ir_operand(m, ir_terminator(m, l->condition), 0));
  ir_build_return(&of_condition, IR_OP_RETURN, &goes_on, 1);
  ir_value go = ir_map_get(copied(l, l->condition, of_body.block, args[1]), l->asked);
  ir_map *body = copied(l, l->body, of_body.block, args[1]);
  ir_value *yields = ARENA_ARRAY(l->f->p->scratch, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    yields[i] = ir_map_get(body, yield_of(l, i));
    if (is_row_state(l, i)) yields[i] = ir_build_select(&of_body, go, yields[i], args[1][i]);
  }
  yields[n] = ir_build_select(&of_body, go, plus_one(&of_body, args[1][n]), args[1][n]);
  ir_build_return(&of_body, IR_OP_RETURN, yields, n + 1);
  return ir_result(m, loop, n);
}

/* The while once more, for this number of trips. */
static ir_op run_trips(const last *l, ir_builder *b, ir_value trips) {
  ir_module *m = l->m;
  ir_value extra[2] = {ir_build_splat_int(b, ir_type_of(m, trips), 0), trips}, *args[2];
  uint32_t n = l->n_carries;
  ir_op loop = wider_while(l, b, extra, 2, args);
  ir_builder of_condition = {m, ir_op_get(m, loop)->regions[0], b->location},
             of_body = {m, ir_op_get(m, loop)->regions[1], b->location};
  ir_value below = ir_build_compare(&of_condition, "LT", args[0][n], args[0][n + 1]);
  ir_build_return(&of_condition, IR_OP_RETURN, &below, 1);
  ir_map *body = copied(l, l->body, of_body.block, args[1]);
  ir_value *yields = ARENA_ARRAY(l->f->p->scratch, ir_value, n + 2);
  for (uint32_t i = 0; i < n; i++) yields[i] = ir_map_get(body, yield_of(l, i));
  yields[n] = plus_one(&of_body, args[1][n]);
  yields[n + 1] = args[1][n + 1];
  ir_build_return(&of_body, IR_OP_RETURN, yields, n + 2);
  return loop;
}

static ir_value largest(ir_builder *b, ir_value x) {
  int64_t dims[IR_MAX_RANK];
  int32_t rank = ir_type_at(b->m, x)->rank;
  for (int32_t d = 0; d < rank; d++) dims[d] = d;
  ir_value zero = ir_build_splat_int(b, ir_scalar(b->m, IR_I32), 0);
  return pass_build_reduce(b, IR_OP_MAXIMUM, x, zero, dims, rank);
}

static bool replace(void *user, ir_block block, ir_op op) {
  pass_rewrite *f = user;
  ir_module *m = f->m;
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind != IR_OP_WHILE || d->n_attrs || !pass_is_static(m, op) || ir_has_effects(m, op))
    return false;
  ir_op vote = vote_of(m, d->regions[0]);
  if (!vote) return false;
  last l = {.f = f,
            .m = m,
            .loop = op,
            .condition = d->regions[0],
            .body = d->regions[1],
            .n_carries = d->n_operands,
            .asked = ir_operand(m, vote, 0),
            .of_rows = ARENA_ARRAY(f->p->scratch, bool, m->values.count),
            .varies = ARENA_ARRAY(f->p->scratch, bool, m->values.count)};
  if (!is_legal(&l, vote)) return false;
  ir_builder b = {m, block, d->location};
  ir_op run = run_trips(&l, &b, largest(&b, count_trips(&l, &b)));
  for (uint32_t i = 0; i < l.n_carries; i++) {
    assert(ir_type_of(m, ir_result(m, op, i)) == ir_type_of(m, ir_result(m, run, i)));
    ir_map_set(f->map, ir_result(m, op, i), ir_result(m, run, i));
  }
  return f->changed = true;
}

static weir_status run(pass_ctx *p, ir_module *m, bool *out_changed) {
  return pass_rewrite_ops(p, m, replace, out_changed);
}

const pass pass_until_last = {"until-last", run};
