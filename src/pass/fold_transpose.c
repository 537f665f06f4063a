/* fold-transpose: dot_general(transpose(x), y) -> dot_general(x, y) on other dimension numbers, and the same on the right.
 *
 * Requires nothing, breaks nothing. Identity: dot_general names its dimensions, so a permutation of an operand only renames them; the free dimensions must keep
 * their order, since the result lists them in the operand's order. JAX writes x @ y.T with a transpose; a loop that needs y.T whole would hold a copy of y.
 * Source: XLA's TransposeFolding does the same for its own dots.
 */
#include "ir/attrs.h"
#include "pass/pass.h"

static bool contains(ir_ints v, int64_t x) {
  for (int32_t i = 0; i < v.count; i++)
    if (v.at[i] == x) return true;
  return false;
}

/* Free dimension i of the transpose is perm[i] of x: the order is kept if perm grows along the free ones. */
static bool keeps_free_order(const int64_t *perm, int32_t rank, ir_ints batch, ir_ints contract) {
  int64_t last = -1;
  for (int32_t d = 0; d < rank; d++) {
    if (contains(batch, d) || contains(contract, d)) continue;
    if (perm[d] < last) return false;
    last = perm[d];
  }
  return true;
}

static ir_ints renamed(arena *a, ir_ints dims, const int64_t *perm) {
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)dims.count + 1);
  for (int32_t i = 0; i < dims.count; i++) at[i] = perm[dims.at[i]];
  return (ir_ints){dims.count, at};
}

static bool fold_operand(pass_ctx *p, ir_module *m, ir_op dot, uint32_t side) {
  ir_value v = ir_operand(m, dot, side);
  ir_op transpose = ir_value_get(m, v)->op;
  if (!transpose || ir_kind_of(m, transpose) != IR_OP_TRANSPOSE) return false;
  ir_dot_numbers n;
  int32_t rank;
  const int64_t *perm = ir_op_ints(m, transpose, "permutation", &rank);
  if (!perm || !ir_dot_dims(p->scratch, m, dot, &n)) return false;
  ir_ints *batch = side ? &n.rhs_batch : &n.lhs_batch, *contract = side ? &n.rhs_contract : &n.lhs_contract;
  if (!keeps_free_order(perm, rank, *batch, *contract)) return false;
  *batch = renamed(p->scratch, *batch, perm);
  *contract = renamed(p->scratch, *contract, perm);
  ir_op_get(m, dot)->operands[side] = ir_operand(m, transpose, 0);
  ir_op_set_attr(m, dot, "dot_dimension_numbers", ir_dot_dims_attr(m, &n), true);
  return true;
}

typedef struct folding {
  pass_ctx *p;
  ir_module *m;
  bool changed;
} folding;

static void fold_op(const ir_module *m, ir_op op, void *user) {
  folding *f = user;
  if (ir_kind_of(m, op) != IR_OP_DOT_GENERAL) return;
  for (uint32_t side = 0; side < 2; side++)
    while (fold_operand(f->p, f->m, op, side)) f->changed = true;
}

static weir_status run(pass_ctx *p, ir_module *m, bool *out_changed) {
  folding f = {p, m, false};
  ir_walk(m, ir_op_get(m, m->root)->regions[0], fold_op, &f);
  *out_changed = f.changed;
  return WEIR_OK;
}

const pass pass_fold_transpose = {"fold-transpose", run};
