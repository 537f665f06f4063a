#include "ir/frozen.h"

#include "ir/attrs.h"

/* What is known of all elements of a value. Zero counts as false in integers, too. */
typedef enum truth { UNKNOWN, ALL_FALSE, ALL_TRUE } truth;

typedef struct proof {
  const ir_module *m;
  ir_block condition, body;
  ir_op loop;
  const int32_t *rows_at; /* by carry */
  truth *known;           /* by value */
  bool *of_rows;          /* by value of the condition: sliced carries go into it */
  ir_value *twin;         /* by value of both: one of the condition that is the same; else none */
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

static bool is_invariant(const proof *p, uint32_t i) {
  return ir_yielded(p->m, p->body, i) == carry_of(p, i);
}

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

/* What sliced carries have gone into: the factor is at one place of it, in the body as well. */
static void find_rows(proof *p) {
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  for (uint32_t i = 0; i < b->args.count; i++) p->of_rows[b->args.at[i]] = is_sliced(p, i);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) {
    const ir_op_data *d = ir_op_get(p->m, b->ops.at[i]);
    for (uint32_t j = 0; j < d->n_results; j++)
      for (uint32_t k = 0; k < d->n_operands; k++)
        p->of_rows[d->first_result + j] |= p->of_rows[d->operands[k]];
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
static bool is_twin(const proof *p, ir_op mine, ir_op other) {
  const ir_op_data *a = ir_op_get(p->m, mine), *b = ir_op_get(p->m, other);
  if (a->kind != b->kind || a->kind == IR_OP_UNKNOWN || a->n_operands != b->n_operands ||
      a->n_results != 1 || b->n_results != 1 || a->n_regions != b->n_regions ||
      ir_type_of(p->m, a->first_result) != ir_type_of(p->m, b->first_result))
    return false;
  for (uint32_t i = 0; i < a->n_operands; i++)
    if (p->twin[a->operands[i]] != p->twin[b->operands[i]] || !p->twin[b->operands[i]])
      return false;
  for (uint32_t i = 0; i < a->n_regions; i++)
    if (ir_reducer_kind(p->m, a->regions[i]) == IR_OP_UNKNOWN ||
        ir_reducer_kind(p->m, a->regions[i]) != ir_reducer_kind(p->m, b->regions[i]))
      return false;
  return ir_attrs_equal(p->m, mine, other);
}

static void find_twin(proof *p, ir_op op) {
  const ir_block_data *b = ir_block_get(p->m, p->condition);
  for (uint32_t i = 0; i < b->ops.count; i++) {
    if (!is_twin(p, op, b->ops.at[i])) continue;
    ir_value v = ir_result(p->m, op, 0);
    p->twin[v] = ir_result(p->m, b->ops.at[i], 0);
    if (p->of_rows[p->twin[v]]) p->known[v] = p->known[p->twin[v]];
    return;
  }
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

static bool is_integer(const proof *p, ir_value v) {
  ir_dtype_class c = ir_dtype_class_of(ir_type_at(p->m, v)->dtype);
  return c == IR_CLASS_INT || c == IR_CLASS_UINT;
}

/* The carry that the op's result is as, where all is done: what a select leaves, a count to which
 * nothing is added. */
static ir_value as_which(const proof *p, ir_op op) {
  const ir_op_data *d = ir_op_get(p->m, op);
  if (d->kind == IR_OP_SELECT) return p->is_as[selected(p, op)];
  if (d->kind != IR_OP_ADD || !is_integer(p, d->first_result)) return IR_NONE;
  for (uint32_t i = 0; i < 2; i++)
    if (p->known[d->operands[i]] == ALL_FALSE) return p->is_as[d->operands[1 - i]];
  return IR_NONE;
}

static void look_at(proof *p, ir_op op) {
  if (ir_op_get(p->m, op)->n_results != 1) return;
  find_twin(p, op);
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
  for (uint32_t i = 0; i + 1 < condition->ops.count; i++) {
    const ir_op_data *d = ir_op_get(p->m, condition->ops.at[i]);
    for (uint32_t j = 0; j < d->n_results; j++) p->twin[d->first_result + j] = d->first_result + j;
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
                 .twin = ARENA_ARRAY(scratch, ir_value, n),
                 .is_as = ARENA_ARRAY(scratch, ir_value, n)};
}

bool ir_rows_freeze(arena *scratch, const ir_module *m, ir_op loop, ir_op vote,
                    const int32_t *rows_at) {
  proof p = proof_of(scratch, m, loop, rows_at);
  const ir_block_data *body = ir_block_get(m, p.body);
  if (!depends_on_rows_alone(scratch, &p, ir_operand(m, vote, 0))) return false;
  if (!assume_done(&p, vote)) return false;
  find_rows(&p);
  match_values(&p);
  for (uint32_t i = 0; i + 1 < body->ops.count; i++) look_at(&p, body->ops.at[i]);
  for (uint32_t i = 0; i < body->args.count; i++)
    if (is_sliced(&p, i) && !is_left(&p, i)) return false;
  return true;
}
