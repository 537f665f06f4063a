#include "ir/frozen.h"

#include <string.h>

#include "ir/attrs.h"
#include "ir/fold.h"

enum { MOST_DEPTH = 24, MOST_FACTS = 16, MOST_VISITS = 2000 };

/* What is known of all elements of a value. Zero counts as false in integers, too. */
typedef enum truth { UNKNOWN, ALL_FALSE, ALL_TRUE } truth;

typedef struct proof {
  const ir_module *m;
  ir_block condition, body;
  ir_op loop;
  const int32_t *rows_at; /* by carry */
  const bool *flags;      /* by carry */
  ir_op vote;
  truth *known;    /* by value */
  bool *of_rows;   /* by value of the condition: sliced carries go into it */
  bool *changes;   /* by value of the condition: carries that trips change go into it */
  ir_value *twin;  /* by value of both: one of the condition that is the same; else none */
  ir_value *is_as; /* by value of the body: the carry that it is equal to, where all is done */
} proof;

static ir_kind vote_kind(const ir_module *m, ir_op op) {
  return ir_reducer_kind(m, ir_body(m, op));
}

bool ir_is_vote(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_REDUCE || ir_op_get(m, op)->n_operands != 2) return false;
  ir_kind kind = vote_kind(m, op);
  return (kind == IR_OP_OR || kind == IR_OP_AND) &&
         ir_type_at(m, ir_operand(m, op, 0))->dtype == IR_I1;
}

static bool is_bool(const proof *p, ir_value v) { return ir_type_at(p->m, v)->dtype == IR_I1; }

static truth opposite(truth t) {
  return t == UNKNOWN ? UNKNOWN : t == ALL_TRUE ? ALL_FALSE : ALL_TRUE;
}

static ir_value carry_of(const proof *p, uint32_t i) { return ir_argument(p->m, p->body, i); }

static bool is_sliced(const proof *p, uint32_t i) { return p->rows_at[i] >= 0; }

static bool is_invariant(const proof *p, uint32_t i) { return ir_is_handed_on(p->m, p->body, i); }

/* ---- the condition ---- */
static void note_read(proof *p, ir_value v, bool *read) {
  if (ir_value_block(p->m, v) == p->condition) read[v] = true;
}

/* v reads sliced carries, and others that no trip changes. */
static bool depends_on_rows_alone(arena *scratch, proof *p, ir_value v) {
  bool *read = ARENA_ARRAY(scratch, bool, p->m->values.count);
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  note_read(p, v, read);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    const ir_op_data *d = ir_op_get(p->m, b->ops.at[i]);
    bool any = false;
    for (uint32_t j = 0; j < d->n_results; j++) any |= read[d->first_result + j];
    for (uint32_t j = 0; any && j < d->n_operands; j++) note_read(p, d->operands[j], read);
  }
  for (uint32_t i = 0; i < b->args.count; i++)
    if (read[b->args.at[i]] && !is_sliced(p, i) && !is_invariant(p, i)) return false;
  return true;
}

/* What sliced carries have gone into: the factor is at one place of it, in the body as well. The
 * same for what trips change. */
static void find_rows(proof *p) {
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  for (uint32_t i = 0; i < b->args.count; i++) {
    p->of_rows[b->args.at[i]] = is_sliced(p, i);
    p->changes[b->args.at[i]] = !is_invariant(p, i);
  }
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) {
    const ir_op_data *d = ir_op_get(p->m, b->ops.at[i]);
    for (uint32_t k = 0; k < d->n_operands; k++)
      for (uint32_t j = 0; j < d->n_results; j++) {
        p->of_rows[d->first_result + j] |= p->of_rows[d->operands[k]];
        p->changes[d->first_result + j] |= p->changes[d->operands[k]];
      }
  }
}

static bool moves(ir_kind kind) {
  return kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_BROADCAST || kind == IR_OP_RESHAPE ||
         kind == IR_OP_TRANSPOSE;
}

/* From what is known of results to what must hold of operands, backwards through the condition. */
static void note_operands(proof *p, ir_op op) {
  const ir_op_data *d = ir_op_get(p->m, op);
  if (d->n_results != 1 || p->known[d->first_result] == UNKNOWN) return;
  truth t = p->known[d->first_result];
  ir_kind kind = (ir_kind)d->kind;
  bool both = (kind == IR_OP_OR && t == ALL_FALSE) || (kind == IR_OP_AND && t == ALL_TRUE);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    if (!is_bool(p, d->operands[i])) return;
    if (both || moves(kind) || kind == IR_OP_CONVERT) p->known[d->operands[i]] = t;
    if (kind == IR_OP_NOT) p->known[d->operands[i]] = opposite(t);
  }
}

/* ---- the body, in order ---- */
/* The same of all but the operands. */
static bool is_like(const proof *p, ir_op mine, ir_op other) {
  const ir_op_data *a = ir_op_get(p->m, mine), *b = ir_op_get(p->m, other);
  if (a->kind != b->kind || a->kind == IR_OP_UNKNOWN || a->n_operands != b->n_operands ||
      a->n_results != 1 || b->n_results != 1 || a->n_regions != b->n_regions ||
      ir_type_of(p->m, a->first_result) != ir_type_of(p->m, b->first_result))
    return false;
  for (uint32_t i = 0; i < a->n_regions; i++)
    if (ir_reducer_kind(p->m, a->regions[i]) == IR_OP_UNKNOWN ||
        ir_reducer_kind(p->m, a->regions[i]) != ir_reducer_kind(p->m, b->regions[i]))
      return false;
  return ir_attrs_equal(p->m, mine, other);
}

static bool is_twin(const proof *p, ir_op mine, ir_op other) {
  if (!is_like(p, mine, other)) return false;
  for (uint32_t i = 0; i < ir_op_get(p->m, mine)->n_operands; i++) {
    ir_value a = p->twin[ir_operand(p->m, mine, i)], b = p->twin[ir_operand(p->m, other, i)];
    if (a != b || !b) return false;
  }
  return true;
}

/* The first op of the condition that is the same, among so many. */
static ir_value twin_of(const proof *p, ir_op op, uint32_t most) {
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  for (uint32_t i = 0; i < most; i++)
    if (is_twin(p, op, b->ops.at[i])) return ir_result(p->m, b->ops.at[i], 0);
  return IR_NONE;
}

static void find_twin(proof *p, ir_op op) {
  if (ir_op_get(p->m, op)->n_results != 1) return;
  ir_value v = ir_result(p->m, op, 0);
  p->twin[v] = twin_of(p, op, ir_block_get(p->m, p->condition)->ops.count);
  if (p->of_rows[p->twin[v]]) p->known[v] = p->known[p->twin[v]];
}

/* The operand that a select puts out, where that is known; else none. */
static ir_value selected(const proof *p, ir_op op) {
  truth t = p->known[ir_operand(p->m, op, 0)];
  return t == UNKNOWN ? IR_NONE : ir_operand(p->m, op, t == ALL_TRUE ? 1 : 2);
}

static truth truth_of_pair(ir_kind kind, truth x, truth y) {
  truth wins = kind == IR_OP_AND ? ALL_FALSE : ALL_TRUE;
  if (x == wins || y == wins) return wins;
  return x == y ? x : UNKNOWN;
}

static truth truth_of(const proof *p, ir_op op) {
  const ir_op_data *d = ir_op_get(p->m, op);
  ir_kind kind = (ir_kind)d->kind;
  truth x = d->n_operands ? p->known[d->operands[0]] : UNKNOWN;
  if (moves(kind)) return x;
  switch (kind) {
    case IR_OP_NOT: return is_bool(p, d->operands[0]) ? opposite(x) : UNKNOWN;
    case IR_OP_CONVERT: return x == ALL_FALSE || is_bool(p, d->first_result) ? x : UNKNOWN;
    case IR_OP_AND:
    case IR_OP_OR: return truth_of_pair(kind, x, p->known[d->operands[1]]);
    case IR_OP_SELECT: {
      ir_value v = selected(p, op);
      return v ? p->known[v] : UNKNOWN;
    }
    default: return UNKNOWN;
  }
}

static void note_truth(proof *p, ir_op op) {
  if (ir_op_get(p->m, op)->n_results != 1) return;
  ir_value v = ir_result(p->m, op, 0);
  if (p->known[v] == UNKNOWN) p->known[v] = truth_of(p, op);
}

/* What follows from the vote having ended it; whether the condition is then false. */
static bool assume_done(proof *p, ir_op vote) {
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  uint32_t n = b->ops.count;
  truth t = vote_kind(p->m, vote) == IR_OP_OR ? ALL_FALSE : ALL_TRUE;
  p->known[ir_result(p->m, vote, 0)] = p->known[ir_operand(p->m, vote, 0)] = t;
  for (uint32_t i = n; i-- > 0;)
    if (b->ops.at[i] != vote) note_operands(p, b->ops.at[i]);
  for (uint32_t i = 0; i + 1 < n; i++) note_truth(p, b->ops.at[i]);
  return p->known[ir_operand(p->m, b->ops.at[n - 1], 0)] == ALL_FALSE;
}

/* The carry that the op's result is as, where all is done: what a select leaves, a count to which
 * nothing is added. */
static ir_value as_which(const proof *p, ir_op op) {
  const ir_op_data *d = ir_op_get(p->m, op);
  if (d->kind == IR_OP_SELECT) return p->is_as[selected(p, op)];
  if (d->kind != IR_OP_ADD || !ir_is_integer(ir_type_at(p->m, d->first_result)->dtype))
    return IR_NONE;
  for (uint32_t i = 0; i < 2; i++)
    if (p->known[d->operands[i]] == ALL_FALSE) return p->is_as[d->operands[1 - i]];
  return IR_NONE;
}

static void look_at(proof *p, ir_op op) {
  if (ir_op_get(p->m, op)->n_results != 1) return;
  note_truth(p, op);
  p->is_as[ir_result(p->m, op, 0)] = as_which(p, op);
}

static bool is_left(const proof *p, uint32_t i) {
  ir_value arg = carry_of(p, i), yield = ir_yielded(p->m, p->body, i);
  if (p->is_as[yield] == arg) return true;
  return is_bool(p, arg) && p->known[arg] != UNKNOWN && p->known[arg] == p->known[yield];
}

/* A value that condition and body both read is carried twice by whiles of JAX. */
static bool is_same_carry(const proof *p, uint32_t i, uint32_t j) {
  return i == j || (is_invariant(p, i) && is_invariant(p, j) && p->rows_at[i] == p->rows_at[j] &&
                    ir_operand(p->m, p->loop, i) == ir_operand(p->m, p->loop, j));
}

/* What the condition has twice (the same constant, say) is known as its first. */
static void match_result(proof *p, uint32_t at) {
  ir_op op = ir_op_at(p->m, p->condition, at);
  const ir_op_data *d = ir_op_get(p->m, op);
  for (uint32_t j = 0; j < d->n_results; j++) p->twin[d->first_result + j] = d->first_result + j;
  ir_value first = d->n_results == 1 ? twin_of(p, op, at) : IR_NONE;
  if (!first) return;
  p->twin[d->first_result] = first;
  if (p->known[first] == UNKNOWN) p->known[first] = p->known[d->first_result];
}

static void match_values(proof *p) {
  const ir_block_data *condition = ir_block_get(p->m, p->condition);
  for (uint32_t i = 0; i < condition->args.count; i++) {
    uint32_t first = 0;
    while (!is_same_carry(p, i, first)) first++;
    ir_value twin = condition->args.at[first], carry = carry_of(p, i);
    p->twin[carry] = p->twin[condition->args.at[i]] = twin;
    p->is_as[carry] = carry;
    if (is_sliced(p, i)) p->known[carry] = p->known[twin];
  }
  for (uint32_t i = 0; i + 1 < condition->ops.count; i++) match_result(p, i);
  const ir_block_data *body = ir_block_get(p->m, p->body);
  for (uint32_t i = 0; i + 1 < body->ops.count; i++) find_twin(p, body->ops.at[i]);
}

/* ---- flags: the answer for each row, carried to the next trip ----
 * By induction: a row whose flag is set goes on. `of` is a proof in which what is known holds of
 * such a row alone. */
typedef struct flag {
  proof of;
  ir_value *next;             /* by value of the condition: what the body has for the next trip */
  ir_value facts[MOST_FACTS]; /* before the while: true where the flag is set */
  uint32_t n_facts;
  int visits;
} flag;

static truth going_on(const proof *p) {
  return vote_kind(p->m, p->vote) == IR_OP_OR ? ALL_TRUE : ALL_FALSE;
}

/* What a row whose flag is set gets of selects by it. */
static ir_value taken(const proof *of, ir_value v) {
  for (int i = 0; i < MOST_DEPTH && ir_is_made_in(of->m, v, of->body); i++) {
    ir_op op = ir_value_get(of->m, v)->op;
    ir_value one = ir_kind_of(of->m, op) == IR_OP_SELECT ? selected(of, op) : IR_NONE;
    if (!one) break;
    v = one;
  }
  return v;
}

/* Whether the operand of a body's op is the condition's in the next trip. */
static bool is_next(const flag *f, ir_value in_condition, ir_value in_body) {
  const proof *of = &f->of;
  if (!of->changes[in_condition])
    return of->twin[in_body] && of->twin[in_body] == of->twin[in_condition];
  return f->next[in_condition] && taken(of, in_body) == f->next[in_condition];
}

static bool is_op_next(const flag *f, ir_op in_condition, ir_op in_body) {
  if (!is_like(&f->of, in_body, in_condition)) return false;
  for (uint32_t i = 0; i < ir_op_get(f->of.m, in_body)->n_operands; i++)
    if (!is_next(f, ir_operand(f->of.m, in_condition, i), ir_operand(f->of.m, in_body, i)))
      return false;
  return true;
}

/* What the next trip's condition makes by the op, and whether it is true. */
static void look_ahead(flag *f, ir_op op) {
  const ir_block_data *body = ir_block_get(f->of.m, f->of.body);
  if (ir_op_get(f->of.m, op)->n_results != 1) return;
  ir_value v = ir_result(f->of.m, op, 0), next = IR_NONE;
  for (uint32_t i = 0; f->of.changes[v] && i + 1 < body->ops.count && !next; i++)
    if (is_op_next(f, op, body->ops.at[i])) next = ir_result(f->of.m, body->ops.at[i], 0);
  f->next[v] = next;
  if (next) f->of.known[v] = f->of.known[next];
  note_truth(&f->of, op);
}

/* The step: a row whose flag is set after the trip had it set before, and goes on. */
static bool goes_on_next(flag *f, uint32_t carry) {
  proof *of = &f->of;
  const ir_block_data *body = ir_block_get(of->m, of->body),
                      *condition = ir_block_get(of->m, of->condition);
  of->known[ir_yielded(of->m, of->body, carry)] = ALL_TRUE;
  for (uint32_t i = body->ops.count - 1; i-- > 0;) note_operands(of, body->ops.at[i]);
  if (of->known[carry_of(of, carry)] != ALL_TRUE) return false;
  for (uint32_t i = 0; i + 1 < body->ops.count; i++) note_truth(of, body->ops.at[i]);
  for (uint32_t i = 0; i < condition->args.count; i++)
    f->next[condition->args.at[i]] = taken(of, ir_yielded(of->m, of->body, i));
  for (uint32_t i = 0; i + 1 < condition->ops.count; i++) look_ahead(f, condition->ops.at[i]);
  return of->known[ir_operand(of->m, of->vote, 0)] == going_on(of);
}

/* One number that is broadcast, before that. */
static ir_value unspread(const ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_BROADCAST_IN_DIM);
  return op && ir_type_at(m, ir_operand(m, op, 0))->rank == 0 ? ir_operand(m, op, 0) : v;
}

static void note_facts(flag *f, ir_value v) {
  const ir_module *m = f->of.m;
  f->facts[f->n_facts++] = v;
  for (uint32_t at = 0; at < f->n_facts; at++) {
    f->facts[at] = unspread(m, f->facts[at]);
    ir_op op = ir_maker(m, f->facts[at], IR_OP_AND);
    if (!op || f->n_facts + 2 > MOST_FACTS) continue;
    for (uint32_t i = 0; i < 2; i++) f->facts[f->n_facts++] = ir_operand(m, op, i);
  }
}

/* The integer, or truth value, that all elements are. */
static bool whole_number(const ir_module *m, ir_value v, int64_t *out) {
  const ir_attr_data *d = ir_splat_element(m, v, MOST_DEPTH);
  return d && ir_load_int(ir_type_get(m, d->type)->dtype, d->data, out);
}

static bool is_same_number(const ir_module *m, ir_value a, ir_value b) {
  const ir_attr_data *x = ir_splat_element(m, a, MOST_DEPTH),
                     *y = ir_splat_element(m, b, MOST_DEPTH);
  if (!x || !y || ir_type_at(m, a)->dtype != ir_type_at(m, b)->dtype) return false;
  return !memcmp(x->data, y->data, (size_t)ir_dtype_bytes(ir_type_at(m, a)->dtype));
}

/* A value of the condition, or what goes into the while in its place. */
static ir_value at_first(const proof *p, ir_value v) {
  v = unspread(p->m, v);
  const ir_value_data *d = ir_value_get(p->m, v);
  return d->block == p->condition ? unspread(p->m, ir_operand(p->m, p->loop, d->index)) : v;
}

static bool is_first(flag *f, ir_value in_condition, ir_value before, int depth);

static bool are_operands_first(flag *f, ir_op x, ir_op y, bool by_element, int depth) {
  const ir_module *m = f->of.m;
  for (ir_value a, i = 0; (a = ir_operand_at(m, x, i)); i++) {
    ir_value b = ir_operand(m, y, i);
    if (!by_element && ir_type_of(m, a) != ir_type_of(m, b)) return false;
    if (!is_first(f, a, b, depth)) return false;
  }
  return true;
}

/* Whether a value of the condition is, before the first trip, the same element by element as one
 * from before the while, which may be one number for all. */
static bool is_first(flag *f, ir_value in_condition, ir_value before, int depth) {
  const ir_module *m = f->of.m;
  ir_value a = at_first(&f->of, in_condition), b = unspread(m, before);
  if (a == b || is_same_number(m, a, b)) return true;
  ir_op x = ir_value_get(m, a)->op, y = ir_value_get(m, b)->op;
  if (depth == 0 || f->visits++ > MOST_VISITS || !x || !y) return false;
  ir_kind kind = ir_kind_of(m, x);
  if (kind != ir_kind_of(m, y)) return false;
  if (ir_is_elementwise(kind))
    return ir_type_at(m, a)->dtype == ir_type_at(m, b)->dtype && ir_attrs_equal(m, x, y) &&
           are_operands_first(f, x, y, true, depth - 1);
  bool is_known =
      ir_kind_flags(kind) & IR_FLAG_M || kind == IR_OP_REDUCE || kind == IR_OP_DOT_GENERAL;
  return is_known && is_like(&f->of, x, y) && are_operands_first(f, x, y, false, depth - 1);
}

static bool is_fact(flag *f, ir_value v, int depth) {
  for (uint32_t i = 0; i < f->n_facts; i++)
    if (is_first(f, v, f->facts[i], depth)) return true;
  return false;
}

/* Whether a value of the condition is that before the first trip, where the flag is set. */
static bool holds_first(flag *f, ir_value v, truth t, int depth) {
  const ir_module *m = f->of.m;
  int64_t number;
  v = at_first(&f->of, v);
  if (depth == 0 || f->visits++ > MOST_VISITS || !is_bool(&f->of, v)) return false;
  if (whole_number(m, v, &number)) return (number != 0) == (t == ALL_TRUE);
  if (t == ALL_TRUE && is_fact(f, v, depth)) return true;
  ir_op op = ir_value_get(m, v)->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
  if (kind == IR_OP_NOT) return holds_first(f, ir_operand(m, op, 0), opposite(t), depth - 1);
  if (kind != IR_OP_AND && kind != IR_OP_OR) return false;
  bool x = holds_first(f, ir_operand(m, op, 0), t, depth - 1);
  bool y = holds_first(f, ir_operand(m, op, 1), t, depth - 1);
  return (kind == IR_OP_AND) == (t == ALL_TRUE) ? x && y : x || y;
}

static bool is_answer(arena *scratch, const proof *p, uint32_t carry) {
  flag f = {.of = *p};
  note_facts(&f, ir_operand(p->m, p->loop, carry));
  if (!holds_first(&f, ir_operand(p->m, p->vote, 0), going_on(p), MOST_DEPTH)) return false;
  f.next = ARENA_ARRAY(scratch, ir_value, p->m->values.count);
  f.of.known = ARENA_ARRAY(scratch, truth, p->m->values.count);
  return goes_on_next(&f, carry);
}

/* Where no row goes on, no flag is set that only rows have that do. */
static void note_flags(arena *scratch, proof *p) {
  for (uint32_t i = 0; i < ir_block_get(p->m, p->body)->args.count; i++) {
    ir_value carry = carry_of(p, i);
    if (!p->flags[i] || is_invariant(p, i) || p->known[carry] != UNKNOWN) continue;
    if (is_answer(scratch, p, i)) p->known[carry] = ALL_FALSE;
  }
}

static proof proof_of(arena *scratch, const ir_module *m, ir_op loop, const int32_t *rows_at) {
  const ir_op_data *d = ir_op_get(m, loop);
  uint32_t n = m->values.count;
  return (proof){.m = m,
                 .loop = loop,
                 .condition = d->regions[0],
                 .body = d->regions[1],
                 .rows_at = rows_at,
                 .known = ARENA_ARRAY(scratch, truth, n),
                 .of_rows = ARENA_ARRAY(scratch, bool, n),
                 .changes = ARENA_ARRAY(scratch, bool, n),
                 .twin = ARENA_ARRAY(scratch, ir_value, n),
                 .is_as = ARENA_ARRAY(scratch, ir_value, n)};
}

bool ir_rows_freeze(arena *scratch, const ir_module *m, ir_op loop, ir_op vote,
                    const int32_t *rows_at, const bool *flags) {
  proof p = proof_of(scratch, m, loop, rows_at);
  p.vote = vote, p.flags = flags;
  const ir_block_data *body = ir_block_get(m, p.body);
  if (!depends_on_rows_alone(scratch, &p, ir_operand(m, vote, 0))) return false;
  if (!assume_done(&p, vote)) return false;
  find_rows(&p);
  match_values(&p);
  note_flags(scratch, &p);
  for (uint32_t i = 0; i + 1 < body->ops.count; i++) look_at(&p, body->ops.at[i]);
  for (uint32_t i = 0; i < body->args.count; i++)
    if (is_sliced(&p, i) && !is_left(&p, i)) return false;
  return true;
}
