/* until_last: a while that runs all rows until none goes on counts its trips first.
 *
 *   while(x) any(p(x)) { f(x) }   is   n = while(x, n, g = p(x)) any(g)
 *                                            { g ? (f(x), n + 1, p(f(x))) : (x, n, g) }
 *                                      for max(n) trips { f(x) }
 *
 * f goes on with rows that are done, so what a row comes to depends on when the last one is done,
 * and no slice can know that. In the first loop rows that are done stay as they are, so slices end
 * one by one (ir/frozen.h). The second has a number of trips. So random.poisson is written.
 *
 * That is all where a row that is done stays done. Proved where p is made of
 *
 * - flags that are carried: `done` becomes `done | ..`, `going` becomes `going & ..`;
 * - floats that never rise, x > c and x >= c, where x becomes x + y with y <= 0 (or NaN, which no
 *   comparison is true of), or never fall, the other way round; c does not change.
 *
 * Else (continued fractions of betainc, quotients in random.binomial) rows may go on again, and the
 * end is the first time at which all are done. Looks find it. Each begins at a time T before which
 * the end is not: rows run until they are done at T or later, and all of them to T + w - 1 at
 * least; of each time from T on it is known which rows were done. If none is common to all, the
 * next T is T + w, or when the last row was done first, for that one went on before. w is 1, 8, 64,
 * 64, ..
 *
 * Where rows that are done freeze (ir/frozen.h), slices end one by one as they are. But what is no
 * row's (the number of trips, the places of checkpoints), or is written on for rows that are done,
 * is for as many trips as the last row takes. Who asks for that after the loop gets it so:
 *
 *   n = while(x, k, n) any(p(x)) { f(x), k + 1, p(x) ? k + 1 : n };  for max(n) trips { f(x) }
 *
 * and what no rows go into by a loop of its own, so that slices need not wait for it.
 *
 * `not all(done)` is the same, and so is an any that the body asks and a carry hands on to the
 * condition. The condition may be that `and` something that does not depend on rows.
 *
 * Rows are all elements of what is asked; f works on them element by element. What f carries
 * beside them (keys, counters) may not depend on them: it has one value in the same trip of all
 * loops. There are at most 2^31 - 1 trips, which would take hours.
 *
 * Requires: a verified module. Breaks: nothing. Exact. Left alone: whiles whose rows freeze
 * already and of which nothing else is asked for, with attributes or effects, rows that are small
 * against the limit. Cost: p and f are computed twice, and once more for each look after the first;
 * the pass is linear in each such while.
 */
#include <math.h>
#include <string.h>

#include "ir/frozen.h"
#include "pass/build.h"

enum {
  MOST_LOOKS = 64, /* ops that a question goes through */
  BITS = 64,       /* trips that one look takes in at the most */
  WIDER = 8        /* times what the look before it took in; the first: one */
};

typedef struct last {
  pass_rewrite *f;
  ir_module *m;
  ir_op loop;
  ir_block condition, body;
  uint32_t n_carries;
  ir_value *init;  /* by carry, what it begins with */
  ir_op vote;      /* over the rows, of the condition or of the body */
  ir_value answer; /* in the vote's block: whether any row goes on */
  ir_value asked;  /* likewise, by row: whether it goes on */
  bool asks_done;  /* no: whether it is done */
  uint32_t flag;   /* the carry that hands on what the body votes; n_carries: none */
  bool *of_rows;   /* by value of both blocks: it depends on rows that change */
  bool *varies;    /* by value of the condition: it depends on a carry that changes */
  bool *is_needed; /* by value of both blocks: the condition depends on it */
} last;

typedef struct bounds { /* of all elements that are no NaN */
  float low, high;
} bounds;

static ir_value carry_of(const last *l, ir_block block, uint32_t i) {
  return ir_argument(l->m, block, i);
}

static ir_value yield_of(const last *l, uint32_t i) { return ir_yielded(l->m, l->body, i); }

static bool has_rows(const last *l, ir_value v) {
  return ir_same_dims(ir_type_at(l->m, v), ir_type_at(l->m, l->asked));
}

static bool changes(const last *l, uint32_t i) { return !ir_is_handed_on(l->m, l->body, i); }

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
static bool is_by_row(const last *l, ir_op op) {
  const ir_op_data *d = ir_op_get(l->m, op);
  if (!ir_is_elementwise(d->kind) || d->n_results != 1 || d->n_regions) return false;
  return has_rows(l, d->first_result);
}

/* Whether all that depends on rows does so row by row, but for the vote and what it decides. */
static bool goes_by_rows(last *l, ir_block block) {
  const ir_block_data *b = ir_block_get(l->m, block);
  for (uint32_t i = 0; i < l->n_carries; i++) l->of_rows[b->args.at[i]] = is_row_state(l, i);
  for (ir_op op, i = 0; (op = ir_body_op_at(l->m, block, i)); i++) {
    if (op == l->vote || !ir_reads_any(l->m, op, l->of_rows)) continue;
    if (!is_by_row(l, op)) return false;
    l->of_rows[ir_result(l->m, op, 0)] = true;
  }
  return true;
}

static void find_varying(last *l) {
  const ir_block_data *b = ir_block_get(l->m, l->condition);
  for (uint32_t i = 0; i < l->n_carries; i++) l->varies[b->args.at[i]] = changes(l, i);
  for (ir_op op, i = 0; (op = ir_body_op_at(l->m, l->condition, i)); i++)
    for (ir_value v, j = 0; (v = ir_result_at(l->m, op, j)); j++)
      l->varies[v] = ir_reads_any(l->m, op, l->varies);
}

/* ---- the vote ---- */
static bool is_read(const last *l, ir_value v, uint32_t times) {
  return v < l->f->n_values && l->f->uses[v] == times;
}

/* v is whether any element of something is true, or the opposite of: all are, which nothing else
 * reads. */
static bool read_vote(last *l, ir_block block, ir_value v) {
  ir_op no = ir_maker(l->m, v, IR_OP_NOT);
  ir_value x = no ? ir_operand(l->m, no, 0) : v;
  ir_op op = ir_maker(l->m, x, IR_OP_REDUCE);
  if (!op || !ir_is_vote(l->m, op) || ir_type_at(l->m, x)->rank || ir_value_block(l->m, v) != block)
    return false;
  if (no && !is_read(l, x, 1)) return false;
  ir_value init = ir_operand(l->m, op, 1);
  if (ir_reducer_kind(l->m, ir_body(l->m, op)) != (no ? IR_OP_AND : IR_OP_OR) ||
      !ir_is_splat_constant(l->m, init) || ir_is_zero(l->m, init) != !no)
    return false;
  l->vote = op;
  l->answer = v;
  l->asked = ir_operand(l->m, op, 0);
  l->asks_done = no != IR_NONE;
  return true;
}

/* v is carried, and nothing else reads it. */
static bool read_flag(last *l, ir_value v) {
  uint32_t i = carry_at(l, v);
  if (i == l->n_carries || !is_read(l, v, 1) || !is_read(l, carry_of(l, l->body, i), 0) ||
      !is_read(l, ir_result(l->m, l->loop, i), 0) || !is_read(l, yield_of(l, i), 1) ||
      !read_vote(l, l->body, yield_of(l, i)))
    return false;
  l->flag = i;
  return true;
}

/* The condition is a vote, or its half. */
static bool find_vote(last *l) {
  ir_value v = ir_yielded(l->m, l->condition, 0);
  ir_op both = ir_maker(l->m, v, IR_OP_AND);
  l->flag = l->n_carries;
  for (uint32_t i = 0; i < (both ? 2u : 1u); i++) {
    ir_value half = both ? ir_operand(l->m, both, i) : v;
    if (read_vote(l, l->condition, half) || read_flag(l, half)) return true;
  }
  return false;
}

static bool body_votes(const last *l) { return l->flag < l->n_carries; }

/* Its first dimensions are those of the rows. */
static bool begins_with_rows(const last *l, ir_value v) {
  const ir_type_data *t = ir_type_at(l->m, v), *rows = ir_type_at(l->m, l->asked);
  if (t->kind != IR_TYPE_TENSOR || t->rank < rows->rank) return false;
  return !memcmp(t->dims, rows->dims, (size_t)rows->rank * sizeof *t->dims);
}

static bool decides_and_begins(const last *l, ir_value v) {
  return l->is_needed[v] && begins_with_rows(l, v);
}

/* Of carries that are `of` the rows. */
static bool freezes(const last *l, bool of(const last *, ir_value)) {
  int32_t *rows_at = ARENA_ARRAY(l->f->p->scratch, int32_t, l->n_carries);
  bool *flags = ARENA_ARRAY(l->f->p->scratch, bool, l->n_carries);
  for (uint32_t i = 0; i < l->n_carries; i++) {
    const ir_type_data *type = ir_type_at(l->m, carry_of(l, l->body, i));
    rows_at[i] = of(l, carry_of(l, l->body, i)) ? 0 : -1;
    flags[i] = rows_at[i] == 0 && type->rank == 1 && type->dtype == IR_I1;
  }
  return ir_rows_freeze(l->f->p->scratch, l->m, l->loop, l->vote, rows_at, flags);
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
static bool is_legal(last *l) {
  if (largest_bytes(l) <= l->f->small_bytes || (!body_votes(l) && freezes(l, has_rows)))
    return false;
  if (!goes_by_rows(l, l->condition) || !goes_by_rows(l, l->body)) return false;
  for (uint32_t i = 0; i < l->n_carries; i++)
    if (l->of_rows[yield_of(l, i)] && changes(l, i) && !is_row_state(l, i)) return false;
  return true;
}

/* What ops of the block make that is needed needs what they, and those below, read. */
static void need_operands(last *l, ir_block block) {
  const ir_block_data *b = ir_block_get(l->m, block);
  for (uint32_t i = b->ops.count - 1; i-- > 0;) {
    bool needed = false;
    for (ir_value v, j = 0; (v = ir_result_at(l->m, b->ops.at[i], j)); j++)
      needed |= l->is_needed[v];
    for (ir_walk w = ir_walk_op(l->m, b->ops.at[i]); needed && ir_next(&w);)
      for (ir_value v, j = 0; (v = ir_operand_at(l->m, w.op, j)); j++) l->is_needed[v] = true;
  }
}

static void find_needed(last *l) {
  l->is_needed[ir_yielded(l->m, l->condition, 0)] = true;
  need_operands(l, l->condition);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < l->n_carries; i++) {
      ir_value arg = carry_of(l, l->body, i);
      l->is_needed[arg] |= l->is_needed[carry_of(l, l->condition, i)];
      changed |= l->is_needed[arg] && !l->is_needed[yield_of(l, i)];
      l->is_needed[yield_of(l, i)] |= l->is_needed[arg];
    }
    need_operands(l, l->body);
  }
}

/* Rows that decide freeze, and what goes on with all trips is asked for behind the loop. */
static bool is_asked_beside(last *l) {
  bool is_asked = false, is_large = false;
  if (body_votes(l)) return false;
  find_needed(l);
  for (uint32_t i = 0; i < l->n_carries; i++) {
    ir_value v = ir_result(l->m, l->loop, i);
    if (!changes(l, i)) continue;
    if (begins_with_rows(l, v)) is_large |= ir_value_bytes(l->m, v) > l->f->small_bytes;
    else is_asked |= !is_read(l, v, 0);
  }
  return is_large && freezes(l, decides_and_begins) && (is_asked || !freezes(l, begins_with_rows));
}

/* By value of the body: rows go into it. */
static void find_of_rows(last *l) {
  bool changed = true;
  for (uint32_t i = 0; i < l->n_carries; i++)
    l->of_rows[carry_of(l, l->body, i)] = begins_with_rows(l, carry_of(l, l->body, i));
  while (changed) {
    changed = false;
    for (ir_op op, i = 0; (op = ir_body_op_at(l->m, l->body, i)); i++)
      for (ir_value v, j = 0; ir_reads_any(l->m, op, l->of_rows) && (v = ir_result_at(l->m, op, j));
           j++)
        l->of_rows[v] = true;
    for (uint32_t i = 0; i < l->n_carries; i++) {
      if (!l->of_rows[yield_of(l, i)] || l->of_rows[carry_of(l, l->body, i)]) continue;
      l->of_rows[carry_of(l, l->body, i)] = changed = true;
    }
  }
}

/* Of rows that the body asks nothing is proved. */
static bool is_for_good(last *l) {
  int looks = MOST_LOOKS;
  if (body_votes(l)) return false;
  find_varying(l);
  return stays(l, l->asked, l->asks_done, &looks);
}

/* ---- the loops ---- */
/* The ops of one of the while's blocks but the last, on these carries; `answer` stands for the
 * vote's where it is voted there. */
static ir_map *copied(const last *l, ir_block from, ir_block to, const ir_value *carries,
                      ir_value answer) {
  ir_map *map = ir_map_new(l->f->p->scratch, l->m);
  for (uint32_t i = 0; i < l->n_carries; i++) ir_map_set(map, carry_of(l, from, i), carries[i]);
  ir_op voted = ir_value_get(l->m, l->answer)->op;
  ir_map_set(map, l->answer, answer);
  for (ir_op op, i = 0; (op = ir_body_op_at(l->m, from, i)); i++) {
    if (op == l->vote && !answer) break;
    if (op != voted) ir_copy_op(l->m, to, op, map);
  }
  return map;
}

/* A while that carries what this one does and `extra` more; a copy of its arguments, by block. */
static ir_op wider_while(const last *l, ir_builder *b, const ir_value *extra, uint32_t n_extra,
                         ir_value **out_args) {
  uint32_t n = l->n_carries + n_extra;
  ir_value *init = ARENA_ARRAY(l->f->p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++)
    init[i] = i < l->n_carries ? l->init[i] : extra[i - l->n_carries];
  ir_op loop = ir_build_while(b, init, n);
  for (uint32_t r = 0; r < 2; r++)
    out_args[r] =
        arena_copy(l->f->p->scratch, ir_block_get(l->m, ir_op_get(l->m, loop)->regions[r])->args.at,
                   n * sizeof(ir_value));
  return loop;
}

/* What the body makes of these carries; the flag stays. */
static ir_map *stepped(const last *l, ir_builder *b, const ir_value *carries, ir_value *out_next) {
  ir_value flag = body_votes(l) ? carries[l->flag] : IR_NONE;
  ir_map *map = copied(l, l->body, b->block, carries, flag);
  for (uint32_t i = 0; i < l->n_carries; i++) out_next[i] = ir_map_get(map, yield_of(l, i));
  return map;
}

static ir_value plus_one(ir_builder *b, ir_value x) {
  return ir_build_add(b, x, ir_build_int_like(b, x, 1));
}

/* and of bits, or of flags, maximum of what is not negative */
static ir_value over_all(ir_builder *b, ir_kind kind, ir_value x) {
  int64_t neutral = kind == IR_OP_AND ? -1 : 0;
  ir_value init = ir_build_splat_int(b, ir_scalar(b->m, ir_type_at(b->m, x)->dtype), neutral);
  return ir_build_reduce(b, kind, x, init, ir_all_dims, ir_type_at(b->m, x)->rank);
}

/* By row, whether it goes on with these carries: in `map`, where the body asks. */
static ir_value goes_on(const last *l, ir_builder *b, ir_map *map, const ir_value *carries) {
  if (!body_votes(l)) map = copied(l, l->condition, b->block, carries, IR_NONE);
  ir_value go = ir_map_get(map, l->asked);
  return l->asks_done ? ir_build_unary(b, IR_OP_NOT, go) : go;
}

/* The same before the first trip. */
static ir_value starts(const last *l, ir_builder *b) {
  if (!body_votes(l)) return goes_on(l, b, NULL, l->init);
  return ir_build_broadcast(b, l->init[l->flag], ir_type_of(l->m, l->asked), NULL);
}

/* What the first loop carries beside the while's carries: by row, the trips and whether it goes on;
 * where rows may go on again, bit i whether it was done `from` + i trips on, and as scalars `from`
 * and the number of trips that all rows make. */
enum { TRIPS, GOES, COUNTED, DONE = COUNTED, FROM, ALL_MAKE, N_COUNTED };

/* Whether any row goes on, as the condition has it. */
static void ask_rows(const last *l, ir_builder *b, ir_value *args) {
  ir_value any = over_all(b, IR_OP_OR, args[l->n_carries + GOES]);
  if (body_votes(l)) args[l->flag] = any;
  ir_map *map = copied(l, l->condition, b->block, args, any);
  ir_value goes = ir_map_get(map, ir_yielded(l->m, l->condition, 0));
  ir_build_return(b, IR_OP_RETURN, &goes, 1);
}

static ir_value as_rows(ir_builder *b, ir_value scalar, ir_value rows) {
  ir_type type =
      ir_tensor_with_dtype(b->m, ir_type_of(b->m, rows), ir_type_at(b->m, scalar)->dtype);
  return ir_build_broadcast(b, scalar, type, NULL);
}

/* The bits of `counted`, and that of now where the row is done. */
static ir_value with_bit(ir_builder *b, const ir_value *counted, ir_value trips, ir_value go) {
  ir_value behind = ir_build_subtract(b, trips, as_rows(b, counted[FROM], trips));
  ir_value bits = counted[DONE], at = ir_build_convert(b, behind, IR_UI32); /* below: large */
  ir_value is_one = ir_build_compare(b, "LT", at, ir_build_int_like(b, at, BITS));
  is_one = ir_build_binary(b, IR_OP_AND, is_one, ir_build_unary(b, IR_OP_NOT, go));
  ir_value bit = ir_build_binary(b, IR_OP_SHIFT_LEFT, ir_build_int_like(b, bits, 1),
                                 ir_build_convert(b, at, IR_UI64));
  return ir_build_binary(b, IR_OP_OR, bits,
                         ir_build_select(b, is_one, bit, ir_build_int_like(b, bits, 0)));
}

/* A row that may go on again does so until it was seen done, and all trips are made that all make.
 */
static void count_again(ir_builder *b, const ir_value *counted, ir_value *next) {
  next[DONE] = with_bit(b, counted, next[TRIPS], next[GOES]);
  ir_value unseen = ir_build_compare(b, "EQ", next[DONE], ir_build_int_like(b, next[DONE], 0));
  ir_value early =
      ir_build_compare(b, "LT", next[TRIPS], as_rows(b, counted[ALL_MAKE], next[TRIPS]));
  ir_value waits = ir_build_binary(b, IR_OP_AND, next[GOES], unseen);
  next[GOES] = ir_build_binary(b, IR_OP_OR, early, waits);
}

/* A trip of the rows that go on. */
static void step_rows(const last *l, ir_builder *b, const ir_value *args, uint32_t n_counted) {
  uint32_t n = l->n_carries;
  const ir_value *counted = args + n;
  ir_value *next = ARENA_ARRAY(l->f->p->scratch, ir_value, n + N_COUNTED);
  ir_map *map = stepped(l, b, args, next);
  next[n + TRIPS] = plus_one(b, counted[TRIPS]);
  next[n + GOES] = goes_on(l, b, map, next);
  if (n_counted == N_COUNTED) count_again(b, counted, next + n);
  for (uint32_t i = 0; i < n + n_counted; i++) {
    if (i < n ? is_row_state(l, i) : i < n + FROM)
      next[i] = ir_build_select(b, counted[GOES], next[i], args[i]);
    else if (i >= n) next[i] = args[i];
  }
  ir_build_return(b, IR_OP_RETURN, next, n + n_counted);
}

/* The loop of the rows one by one; the number of the first of `counted` among its results is that
 * of the while's carries. */
static ir_op count_trips(const last *l, ir_builder *b, const ir_value *counted,
                         uint32_t n_counted) {
  ir_module *m = l->m;
  ir_value *args[2];
  ir_op loop = wider_while(l, b, counted, n_counted, args);
  ir_builder of_condition = {m, ir_body(m, loop), b->location},
             of_body = {m, ir_while_body(m, loop), b->location};
  ask_rows(l, &of_condition, args[0]);
  step_rows(l, &of_body, args[1], n_counted);
  return loop;
}

static ir_value counted_result(const last *l, ir_op loop, uint32_t i) {
  return ir_result(l->m, loop, l->n_carries + i);
}

static ir_type type_of_rows(const last *l, ir_dtype dtype) {
  return ir_tensor_with_dtype(l->m, ir_type_of(l->m, l->asked), dtype);
}

/* The trips until all rows are done, of rows that stay done. */
static ir_value find_last(const last *l, ir_builder *b) {
  ir_value counted[] = {ir_build_splat_int(b, type_of_rows(l, IR_I32), 0), starts(l, b)};
  ir_op loop = count_trips(l, b, counted, COUNTED);
  return over_all(b, IR_OP_MAXIMUM, counted_result(l, loop, TRIPS));
}

/* The trips of the while, by the last in which each row goes on. */
static ir_value find_last_going(const last *l, ir_builder *b) {
  ir_module *m = l->m;
  uint32_t n = l->n_carries;
  ir_value extra[2] = {ir_build_splat_int(b, ir_scalar(m, IR_I32), 0),
                       ir_build_splat_int(b, type_of_rows(l, IR_I32), 0)},
           *args[2], *next = ARENA_ARRAY(l->f->p->scratch, ir_value, n + 2);
  ir_op loop = wider_while(l, b, extra, 2, args);
  ir_map *map = ir_map_new(l->f->p->scratch, m);
  for (uint32_t i = 0; i < n; i++) ir_map_set(map, carry_of(l, l->condition, i), args[0][i]);
  ir_copy_block(m, l->condition, ir_body(m, loop), map);
  ir_builder of_body = {m, ir_while_body(m, loop), b->location};
  stepped(l, &of_body, args[1], next);
  ir_value go = goes_on(l, &of_body, NULL, args[1]), trips = args[1][n + 1];
  next[n] = plus_one(&of_body, args[1][n]);
  next[n + 1] = ir_build_select(&of_body, go, as_rows(&of_body, next[n], trips), trips);
  ir_build_return(&of_body, IR_OP_RETURN, next, n + 2);
  return over_all(b, IR_OP_MAXIMUM, ir_result(m, loop, n + 1));
}

/* v made once more in this block, by row, so that nothing whole is read from outside; v itself
 * where that takes more than elementwise ops. */
static ir_value made_here(const last *l, ir_block to, ir_value v, ir_map *map, int depth) {
  ir_op op = ir_value_get(l->m, v)->op;
  if (!op || ir_map_has(map, v) || depth == 0) return ir_map_get(map, v);
  const ir_op_data *d = ir_op_get(l->m, op);
  bool cheap = ir_is_elementwise(d->kind) || d->kind == IR_OP_BROADCAST_IN_DIM ||
               d->kind == IR_OP_CONSTANT || d->kind == IR_OP_IOTA;
  if (!cheap || d->n_regions || d->n_results != 1) return v;
  for (uint32_t i = 0; i < d->n_operands; i++)
    made_here(l, to, ir_operand(l->m, op, i), map, depth - 1);
  ir_copy_op(l->m, to, op, map);
  return ir_map_get(map, v);
}

/* The loop that counts from `from` on, where `width` trips are looked at of each row. */
static ir_op look_from(const last *l, ir_builder *b, ir_value from, ir_value width) {
  last inner = *l;
  ir_map *map = ir_map_new(l->f->p->scratch, l->m);
  inner.init = ARENA_ARRAY(l->f->p->scratch, ir_value, l->n_carries);
  for (uint32_t i = 0; i < l->n_carries; i++)
    inner.init[i] = made_here(l, b->block, l->init[i], map, MOST_LOOKS);
  ir_value next[N_COUNTED],
      counted[N_COUNTED] = {[TRIPS] = ir_build_splat_int(b, type_of_rows(l, IR_I32), 0),
                            [DONE] = ir_build_splat_int(b, type_of_rows(l, IR_UI64), 0),
                            [FROM] = from};
  ir_value to = ir_build_add(b, from, width);
  counted[ALL_MAKE] = ir_build_subtract(b, to, ir_build_int_like(b, to, 1));
  next[TRIPS] = counted[TRIPS], next[GOES] = starts(&inner, b);
  count_again(b, counted, next);
  counted[GOES] = next[GOES], counted[DONE] = next[DONE];
  return count_trips(&inner, b, counted, N_COUNTED);
}

/* The place of the lowest bit of a scalar of ui64 that is not 0. */
static ir_value lowest_bit(ir_builder *b, ir_value bits) {
  ir_value lowest = ir_build_binary(b, IR_OP_AND, bits, ir_build_unary(b, IR_OP_NEGATE, bits));
  ir_value below = ir_build_subtract(b, lowest, ir_build_int_like(b, bits, 1));
  return ir_build_convert(b, ir_build_unary(b, IR_OP_POPCNT, below), IR_I32);
}

/* Where the next look begins, how many trips it takes in, and the end: -1 if it is not known. If no
 * row was seen done when all others were, but the loop ended with some going on, the other half of
 * the condition has ended it. */
static void look_on(const last *l, ir_builder *b, const ir_value *args, ir_op loop) {
  ir_value from = args[0], width = args[1], next[3];
  ir_value common = over_all(b, IR_OP_AND, counted_result(l, loop, DONE)),
           latest = over_all(b, IR_OP_MAXIMUM, counted_result(l, loop, TRIPS)),
           cut = over_all(b, IR_OP_OR, counted_result(l, loop, GOES));
  ir_value to = ir_build_add(b, from, width);
  next[0] = ir_build_binary(b, IR_OP_MAXIMUM, to, latest);
  next[1] = ir_build_binary(b, IR_OP_MINIMUM, ir_build_int_like(b, width, BITS),
                            ir_build_multiply(b, width, ir_build_int_like(b, width, WIDER)));
  ir_value is_seen = ir_build_compare(b, "NE", common, ir_build_int_like(b, common, 0));
  ir_value seen = ir_build_add(b, from, lowest_bit(b, common));
  next[2] = ir_build_select(b, is_seen, seen,
                            ir_build_select(b, cut, latest, ir_build_int_like(b, latest, -1)));
  ir_build_return(b, IR_OP_RETURN, next, 3);
}

/* The first time at which no row goes on, of rows that may go on again. */
static ir_value find_end(const last *l, ir_builder *b) {
  ir_module *m = l->m;
  ir_type type = ir_scalar(m, IR_I32);
  ir_value init[3] = {ir_build_splat_int(b, type, 0), ir_build_splat_int(b, type, 1),
                      ir_build_splat_int(b, type, -1)};
  ir_op loop = ir_build_while(b, init, 3);
  ir_block regions[2] = {ir_body(m, loop), ir_while_body(m, loop)};
  ir_builder of_condition = {m, regions[0], b->location}, of_body = {m, regions[1], b->location};
  ir_value end = ir_argument(m, regions[0], 2);
  ir_value unknown =
      ir_build_compare(&of_condition, "LT", end, ir_build_int_like(&of_condition, end, 0));
  ir_build_return(&of_condition, IR_OP_RETURN, &unknown, 1);
  ir_value args[2] = {ir_argument(m, regions[1], 0), ir_argument(m, regions[1], 1)};
  look_on(l, &of_body, args, look_from(l, &of_body, args[0], args[1]));
  return ir_result(m, loop, 2);
}

/* The while once more, for this number of trips. */
static ir_op run_trips(const last *l, ir_builder *b, ir_value trips) {
  ir_module *m = l->m;
  ir_value extra[2] = {ir_build_int_like(b, trips, 0), trips}, *args[2];
  uint32_t n = l->n_carries;
  ir_op loop = wider_while(l, b, extra, 2, args);
  ir_builder of_body = {m, ir_while_body(m, loop), b->location};
  ir_build_while_less(m, loop, n, n + 1);
  ir_value *yields = ARENA_ARRAY(l->f->p->scratch, ir_value, n + 2);
  stepped(l, &of_body, args[1], yields);
  yields[n] = plus_one(&of_body, args[1][n]);
  yields[n + 1] = args[1][n + 1];
  ir_build_return(&of_body, IR_OP_RETURN, yields, n + 2);
  return loop;
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind != IR_OP_WHILE || d->n_attrs || !pass_is_static(m, op) || ir_has_effects(m, op))
    return false;
  last l = {.f = f,
            .m = m,
            .loop = op,
            .condition = d->regions[0],
            .body = d->regions[1],
            .n_carries = d->n_operands,
            .init = d->operands,
            .of_rows = ARENA_ARRAY(f->p->scratch, bool, m->values.count),
            .varies = ARENA_ARRAY(f->p->scratch, bool, m->values.count),
            .is_needed = ARENA_ARRAY(f->p->scratch, bool, m->values.count)};
  if (!find_vote(&l)) return false;
  bool freezes = !is_legal(&l);
  if (freezes && !is_asked_beside(&l)) return false;
  ir_value trips = freezes           ? find_last_going(&l, &f->b)
                   : is_for_good(&l) ? find_last(&l, &f->b)
                                     : find_end(&l, &f->b);
  ir_op run = run_trips(&l, &f->b, trips), beside = run;
  if (freezes) {
    find_of_rows(&l);
    beside = run_trips(&l, &f->b, trips);
  }
  for (uint32_t i = 0; i < l.n_carries; i++) {
    ir_op of = freezes && !l.of_rows[carry_of(&l, l.body, i)] ? beside : run;
    assert(ir_type_of(m, ir_result(m, op, i)) == ir_type_of(m, ir_result(m, of, i)));
    ir_map_set(f->map, ir_result(m, op, i), ir_result(m, of, i));
  }
  return true;
}

const pass pass_until_last = {"until-last", .replace = replace};
