#include "split/alike.h"

#include "ir/attrs.h"

enum { MOST_VISITS = 256 };

typedef struct search {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int32_t visits;
  ir_op loop; /* out */
} search;

static ir_op made_by(const search *s, ir_value v) {
  ir_op op = ir_value_get(s->m, v)->op;
  return op && ir_op_get(s->m, op)->block == s->block ? op : IR_NONE;
}

/* Elements of the operands as they are. */
static bool hands_on(ir_kind kind) {
  return (ir_kind_flags(kind) & IR_FLAG_M) || kind == IR_OP_CONVERT || kind == IR_OP_NEGATE ||
         kind == IR_OP_OPTIMIZATION_BARRIER;
}

static bool selects(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_CHLO_TOP_K || kind == IR_OP_SORT) return true;
  if (kind != IR_OP_REDUCE) return false;
  ir_kind by = ir_reducer_kind(m, ir_op_get(m, op)->regions[0]);
  return ir_op_get(m, op)->n_results > 1 || by == IR_OP_MAXIMUM || by == IR_OP_MINIMUM;
}

static bool is_selection(search *s, ir_op op) {
  if (ir_kind_of(s->m, op) == IR_OP_LOOP) s->loop = op;
  return ir_kind_of(s->m, op) == IR_OP_LOOP || selects(s->m, op);
}

/* Whether v is an element that was selected, or several. */
static bool is_selected(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  if (!op || s->visits++ > MOST_VISITS) return false;
  if (is_selection(s, op)) return true;
  if (!hands_on(ir_kind_of(s->m, op))) return false;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++)
    if (is_selected(s, ir_operand(s->m, op, i))) return true;
  return false;
}

static split_selected selected_at(search *s, ir_value v, split_pos pos) {
  split_factor f;
  split_selected found = SPLIT_NOT_SELECTED;
  ir_op op = made_by(s, v);
  if (!op || s->visits++ > MOST_VISITS) return found;
  if (pos.dim < 0) return is_selected(s, v) ? SPLIT_SELECTED_OF_ALL : found;
  if (is_selection(s, op)) return SPLIT_SELECTED_OF_EACH;
  if (!hands_on(ir_kind_of(s->m, op)) ||
      !split_trace(s->scratch, s->m, op, true, ir_value_get(s->m, v)->index, pos, &f))
    return found;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++) {
    split_selected one = selected_at(s, ir_operand(s->m, op, i), f.operands[i]);
    if (one > found) found = one;
  }
  return found;
}

/* Elementwise ops round the same wherever they stand. */
static bool has_sums(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  if (!op) return false;
  ir_kind kind = ir_kind_of(s->m, op);
  if (kind == IR_OP_DOT_GENERAL || kind == IR_OP_DOT || kind == IR_OP_CONVOLUTION ||
      kind == IR_OP_REDUCE || kind == IR_OP_REDUCE_WINDOW || s->visits++ > MOST_VISITS)
    return true;
  if (!(ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M))) return false;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++)
    if (has_sums(s, ir_operand(s->m, op, i))) return true;
  return false;
}

split_selected split_compares_selected(arena *scratch, ir_module *m, ir_op compare,
                                       const split_factor *f, ir_op *out_loop) {
  search s = {m, scratch, ir_op_get(m, compare)->block, 0, IR_NONE};
  split_selected found = SPLIT_NOT_SELECTED;
  for (uint32_t i = 0; i < 2; i++) {
    if (f->operands[1 - i].dim < 0 || !has_sums(&s, ir_operand(m, compare, 1 - i))) continue;
    split_selected one = selected_at(&s, ir_operand(m, compare, i), f->operands[i]);
    if (one > found) found = one;
  }
  *out_loop = s.loop;
  return found;
}
