#include "pass/along.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "pass/pass.h"

pass_along pass_along_new(arena *scratch, ir_module *m) {
  pass_along s = {scratch, m, m->values.count, ARENA_ARRAY(scratch, int32_t, m->values.count)};
  for (ir_value v = 0; v < s.n_values; v++) s.dims[v] = -1;
  return s;
}

bool pass_reads_along(const pass_along *s, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(s->m, op, i)); i++)
    if (pass_dim_along(s, v) >= 0) return true;
  return false;
}

static int32_t gathered_along(const pass_along *s, ir_op op) {
  ir_gather_numbers n;
  int32_t d = pass_dim_along(s, ir_operand(s->m, op, 1));
  if (d < 0 || pass_dim_along(s, ir_operand(s->m, op, 0)) >= 0 ||
      !ir_gather_dims(s->scratch, s->m, op, &n) || d == n.index_vector_dim ||
      ir_ints_have(n.start_indices_batching_dims, d))
    return IR_ALONE;
  return ir_entry_dim(&n, d);
}

int32_t pass_index_along(const pass_along *s, ir_op op) {
  int32_t at[IR_MAX_RANK], index = IR_ALONE;
  if (ir_kind_of(s->m, op) == IR_OP_GATHER) return gathered_along(s, op);
  for (ir_value v, i = 0; (v = ir_operand_at(s->m, op, i)); i++) {
    if (pass_dim_along(s, v) < 0) continue;
    if (!ir_operand_indices(s->scratch, s->m, op, i, at)) return IR_ALONE;
    CTX_CHECK(s->m->ctx, s->dims[v] < ir_type_at(s->m, v)->rank);
    int32_t here = at[s->dims[v]];
    if (here == IR_ALONE || (index != IR_ALONE && index != here)) return IR_ALONE;
    index = here;
  }
  return index;
}

static bool makes_any_number(const ir_module *m, ir_op op) {
  ir_kind k = ir_kind_of(m, op);
  return ir_op_get(m, op)->n_results == 1 && pass_is_static(m, op) &&
         (ir_is_elementwise(k) || ir_is_move(k) || k == IR_OP_CONCATENATE || k == IR_OP_SLICE ||
          k == IR_OP_PAD || k == IR_OP_REDUCE || k == IR_OP_DOT_GENERAL || k == IR_OP_GATHER);
}

int32_t pass_result_along(const pass_along *s, ir_op op) {
  int32_t index = makes_any_number(s->m, op) ? pass_index_along(s, op) : IR_ALONE;
  bool is_reduced = index != IR_ALONE && index >= ir_type_at(s->m, ir_result(s->m, op, 0))->rank;
  return is_reduced ? IR_ALONE : index;
}

int32_t pass_operand_along(const pass_along *s, ir_op op, uint32_t i, int32_t index) {
  if (ir_kind_of(s->m, op) == IR_OP_GATHER)
    return i == 1 ? pass_dim_along(s, ir_operand(s->m, op, 1)) : -1;
  return ir_operand_dim(s->scratch, s->m, op, i, index);
}

bool pass_is_alike_along(ir_module *m, ir_value v, int32_t d) {
  ir_op op = ir_maker(m, v, IR_OP_BROADCAST_IN_DIM);
  return op ? ir_moved_from(m, op, d) == IR_ALONE : ir_is_one_number(m, v);
}
