#include "pass/compared.h"

enum { MOST_VALUES = 1000 };

typedef struct compared {
  uint32_t n_ops;
  bool *is; /* by op */
} compared;

typedef struct cone { /* what a comparison is made of, element by element, up to reads */
  const ir_module *m;
  arena *scratch;
  uint32_t *seen, look, count; /* by value: the last look that came to it */
  ir_values pending;
  ir_ops reads;
} cone;

/* What the op reads elements from; IR_NONE: it is no such op. */
static ir_value read_from(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_GATHER) return ir_operand(m, op, 0);
  if (kind != IR_OP_REDUCE) return IR_NONE;
  ir_op convert = ir_maker(m, ir_operand(m, op, 0), IR_OP_CONVERT);
  ir_op select = ir_maker(m, ir_operand(m, convert ? convert : op, 0), IR_OP_SELECT);
  return select ? ir_operand(m, select, 1) : IR_NONE;
}

static void add(cone *c, ir_value v) {
  if (c->seen[v] == c->look) return;
  c->seen[v] = c->look;
  c->count++;
  VEC_PUSH(c->scratch, &c->pending, v);
}

static void look_behind(cone *c, ir_value v) {
  ir_op op = ir_value_get(c->m, v)->op;
  if (!op) return;
  if (read_from(c->m, op)) VEC_PUSH(c->scratch, &c->reads, op);
  else if (ir_kind_flags(ir_kind_of(c->m, op)) & (IR_FLAG_E | IR_FLAG_M))
    for (ir_value x, i = 0; (x = ir_operand_at(c->m, op, i)); i++) add(c, x);
}

/* Where that takes too long, what it has come to is compared. */
static void look_at(cone *c, ir_op compare, compared *out) {
  c->look++;
  c->count = c->reads.count = c->pending.count = 0;
  for (ir_value x, i = 0; (x = ir_operand_at(c->m, compare, i)); i++) add(c, x);
  while (c->pending.count && c->count <= MOST_VALUES)
    look_behind(c, c->pending.at[--c->pending.count]);
  for (uint32_t i = 0; i < c->reads.count; i++) {
    ir_op read = c->reads.at[i];
    out->is[read] |= c->count > MOST_VALUES || c->seen[read_from(c->m, read)] == c->look;
  }
}

bool pass_find_compared(pass_rewrite *r) {
  const ir_module *m = r->m;
  compared *out = ARENA_ARRAY(r->p->scratch, compared, 1);
  cone c = {.m = m,
            .scratch = r->p->scratch,
            .seen = ARENA_ARRAY(r->p->scratch, uint32_t, m->values.count)};
  *out = (compared){m->ops.count, ARENA_ARRAY(r->p->scratch, bool, m->ops.count)};
  for (ir_walk w = ir_walk_op(m, m->root); ir_next(&w);)
    if (ir_kind_of(m, w.op) == IR_OP_COMPARE) look_at(&c, w.op, out);
  r->own = out;
  return true;
}

bool pass_is_compared(const pass_rewrite *r, ir_op op) {
  const compared *found = r->own;
  return op < found->n_ops && found->is[op];
}
