#include "split/box.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/maps.h"

bool split_is_addition(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  return d->kind == IR_OP_ADD && !d->n_attrs && d->operands[0] != d->operands[1];
}

/* In another shape: a part that is not all keeps its place where only ones come and go. */
static bool move_box(ir_module *m, ir_op op, split_box *b) {
  const ir_type_data *t = ir_type_at(m, ir_result(m, op, 0));
  int32_t rank = ir_type_at(m, ir_operand(m, op, 0))->rank, to[IR_MAX_RANK];
  split_box old = *b;
  if (!ir_keeps_order(m, op) || (!old.is_all && !ir_moved_dims(m, op, to))) return false;
  for (int32_t d = 0; d < t->rank; d++) b->at[d] = 0, b->dims[d] = t->dims[d];
  for (int32_t d = 0; !old.is_all && d < rank; d++)
    if (to[d] >= 0) b->at[to[d]] = old.at[d], b->dims[to[d]] = old.dims[d];
  return true;
}

static bool pad_box(ir_module *m, ir_op pad, split_box *b) {
  ir_ints low, high;
  if (!ir_is_zero(m, ir_operand(m, pad, 1)) || !ir_pads_around(m, pad, &low, &high)) return false;
  for (int32_t d = 0; d < low.count; d++) b->at[d] += low.at[d];
  b->is_all = false;
  return true;
}

static bool concatenate_box(ir_module *m, ir_op op, ir_value v, split_box *b) {
  int64_t dim = ir_op_int(m, op, "dimension", 0), at = 0;
  uint32_t times = 0;
  for (ir_value x, i = 0; (x = ir_operand_at(m, op, i)); i++) {
    times += x == v;
    if (!times) at += ir_type_at(m, x)->dims[dim];
  }
  b->at[dim] += at;
  b->is_all = false;
  return times == 1;
}

/* Whether v is added to something by the op, or a part of what it makes: where. */
static bool goes_through(ir_module *m, ir_op op, ir_value v, split_box *b) {
  if (split_is_addition(m, op)) return true;
  if (ir_op_get(m, op)->n_results != 1 ||
      !ir_is_static_tensor(m, ir_type_of(m, ir_result(m, op, 0))))
    return false;
  switch (ir_kind_of(m, op)) {
    case IR_OP_RESHAPE:
    case IR_OP_BROADCAST_IN_DIM: return move_box(m, op, b);
    case IR_OP_PAD: return pad_box(m, op, b);
    case IR_OP_CONCATENATE: return concatenate_box(m, op, v, b);
    default: return false;
  }
}

ir_op *split_runs_of_additions(arena *a, ir_module *m, const ir_users *users, ir_block block) {
  ir_op *runs = ARENA_ARRAY(a, ir_op, m->ops.count);
  for (uint32_t i = ir_block_get(m, block)->ops.count; i-- > 0;) { /* readers come first */
    ir_op op = ir_op_at(m, block, i);
    if (!split_is_addition(m, op)) continue;
    ir_value v = ir_result(m, op, 0);
    ir_op next = ir_user_at(users, v, 1) ? IR_NONE : ir_user_at(users, v, 0);
    runs[op] = next && runs[next] ? runs[next] : op;
  }
  return runs;
}

ir_op split_last_through(ir_module *m, const ir_users *users, const ir_op *runs, ir_value v,
                         split_box *out) {
  const ir_type_data *t = ir_type_at(m, v);
  ir_op last = IR_NONE;
  *out = (split_box){.is_all = true};
  for (int32_t d = 0; d < t->rank; d++) out->dims[d] = t->dims[d];
  split_box b = *out;
  for (ir_op op; (op = ir_user_at(users, v, 0)) && !ir_user_at(users, v, 1);) {
    m->ctx->looked_at++;
    if (!goes_through(m, op, v, &b)) break;
    last = runs && runs[op] ? runs[op] : op;
    v = ir_result(m, last, 0);
    *out = b;
  }
  return last;
}
