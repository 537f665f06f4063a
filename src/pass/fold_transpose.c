/* fold-transpose: dot_general(transpose(x), y) -> dot_general(x, y) on other dimension numbers, the
 * same on the right, and transpose(dot_general(x, y)) -> dot_general(y, x).
 *
 * Requires nothing, breaks nothing; leaves dots behind that nobody reads. Identity: dot_general
 * names its dimensions, so a permutation of an operand only renames them; the free dimensions must
 * keep their order, since the result lists them in the operand's order: batch, free of x, free of
 * y. JAX writes x @ y.T with a transpose, and the gradient of x @ y with one behind the product: a
 * loop that needs y.T whole, or sums up the product, would hold a copy. Products that contract
 * nothing stay: XLA fuses them with what makes their sides, and which side runs in the inner loop
 * is the program's choice (an LSTM's backward pass takes twice as long the other way). Source:
 * XLA's TransposeFolding does the same for its own dots.
 */
#include "ir/attrs.h"
#include "pass/pass.h"

/* Free dimension i of the transpose is perm[i] of x: the order is kept if perm grows along the free
 * ones. */
static bool keeps_free_order(ir_ints perm, const ir_dot_numbers *n, uint32_t side) {
  int64_t last = -1;
  for (int32_t d = 0; d < perm.count; d++) {
    if (!ir_dot_is_free(n, side, d)) continue;
    if (perm.at[d] < last) return false;
    last = perm.at[d];
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
  ir_op transpose = ir_maker(m, v, IR_OP_TRANSPOSE);
  if (!transpose) return false;
  ir_dot_numbers n;
  ir_ints perm = ir_op_list(m, transpose, "permutation");
  if (!ir_dot_dims(m, dot, &n)) return false;
  ir_ints *batch = side ? &n.rhs_batch : &n.lhs_batch,
          *contract = side ? &n.rhs_contract : &n.lhs_contract;
  if (!keeps_free_order(perm, &n, side)) return false;
  *batch = renamed(p->scratch, *batch, perm.at);
  *contract = renamed(p->scratch, *contract, perm.at);
  ir_op_get(m, dot)->operands[side] = ir_operand(m, transpose, 0);
  ir_set_dot_dims(m, dot, &n);
  return true;
}

typedef struct folding {
  pass_ctx *p;
  ir_module *m;
  uint32_t *uses; /* by value */
} folding;

/* ---- transpose(dot_general(x, y)) ---- */

/* Whether dimensions [0, batch), [batch, batch + left), the rest change places to batch, rest,
 * left. */
static bool swaps_sides(ir_ints perm, int32_t batch, int32_t left) {
  int32_t right = perm.count - batch - left;
  for (int32_t i = 0; i < perm.count; i++) {
    int32_t from = i < batch ? i : i < batch + right ? i + left : i - right;
    if (perm.at[i] != from) return false;
  }
  return true;
}

/* Nothing but the dimension numbers tells the sides apart. */
static bool is_symmetric(const ir_module *m, ir_op dot) {
  const ir_op_data *d = ir_op_get(m, dot);
  if (ir_type_at(m, d->operands[0])->dtype != ir_type_at(m, d->operands[1])->dtype) return false;
  for (uint32_t i = 0; i < d->n_attrs; i++) {
    const char *name = ir_text(m, d->attrs[i].name);
    if (!strcmp(name, "dot_dimension_numbers")) continue;
    const ir_attr_data *a = ir_attr_get(m, d->attrs[i].value);
    bool same = !strcmp(name, "precision_config") && a->kind == IR_ATTR_ARRAY && a->count == 2 &&
                ir_attr_equal(m, a->items[0], a->items[1]);
    if (!same) return false;
  }
  return true;
}

/* The transpose becomes the dot, its sides exchanged. */
static void become_swapped_dot(ir_module *m, ir_op transpose, ir_op dot, ir_dot_numbers n) {
  ir_op_data *t = ir_op_get(m, transpose), *d = ir_op_get(m, dot);
  t->kind = IR_OP_DOT_GENERAL;
  t->n_operands = 2;
  t->operands = ARENA_COPY(m->arena, ir_value, ((ir_value[]){d->operands[1], d->operands[0]}), 2);
  t->n_attrs = d->n_attrs;
  t->attrs = ARENA_COPY(m->arena, ir_named_attr, d->attrs, d->n_attrs);
  t->location = d->location;
  n = (ir_dot_numbers){n.rhs_batch, n.lhs_batch, n.rhs_contract, n.lhs_contract};
  ir_set_dot_dims(m, transpose, &n);
}

static bool fold_result(folding *f, ir_op transpose) {
  ir_module *m = f->m;
  ir_value product = ir_operand(m, transpose, 0);
  ir_op dot = ir_maker(m, product, IR_OP_DOT_GENERAL);
  if (!dot || f->uses[product] != 1) return false;
  if (ir_op_get(m, dot)->block != ir_op_get(m, transpose)->block) return false;
  ir_dot_numbers n;
  ir_ints perm = ir_op_list(m, transpose, "permutation");
  if (!ir_dot_dims(m, dot, &n) || !is_symmetric(m, dot)) return false;
  if (n.lhs_contract.count == 0) return false;
  int32_t left =
      ir_type_at(m, ir_operand(m, dot, 0))->rank - n.lhs_batch.count - n.lhs_contract.count;
  if (!swaps_sides(perm, n.lhs_batch.count, left)) return false;
  CTX_CHECK(m->ctx, left >= 0 && left <= perm.count); /* of the operand's dimensions, free ones */
  become_swapped_dot(m, transpose, dot, n);
  return true;
}

static void fold_op(folding *f, ir_op op) {
  if (ir_kind_of(f->m, op) == IR_OP_TRANSPOSE && fold_result(f, op)) f->p->changed = true;
  if (ir_kind_of(f->m, op) != IR_OP_DOT_GENERAL) return;
  for (uint32_t side = 0; side < 2; side++)
    while (fold_operand(f->p, f->m, op, side)) f->p->changed = true;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  ir_block top = ir_top(m);
  folding f = {p, m, ir_count_uses(p->scratch, m, top)};
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) fold_op(&f, w.op);
  return WEIR_OK;
}

const pass pass_fold_transpose = {"fold-transpose", run};
