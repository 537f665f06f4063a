/* Arguments of the program that XLA:GPU lays out anew, as a whole, before a loop that reads them,
 * or slices of them, in the loop or in loops inside of it.
 *
 * A product wants its batches in one piece. Where they lie apart, as those of (batch, place, head),
 * XLA's layout assignment asks the same of what the operand is a slice of, and of the loop's state:
 * the transpose costs nothing then, and the argument, which lies as it came, is copied before the
 * loop. A product with a vector, which is a sum there, wants what it sums to lie together, too.
 *
 * In: the graph as lowered. Source: gpu_layout_assignment.cc, layout_assignment.cc,
 * algebraic_simplifier.cc (NormalizeDotOperandToBatchMajorAndContractingMinor). */
#include "plan/peak_graph.h"

enum { SEEN_OF_READERS = 8 }; /* slices, views and loops between an argument and products */

/* Whether batches of the product that lie apart are brought together. Of one batch as well: XLA
 * copies one operand then, the estimate both. */
static bool gathers_batches(const plan_node *transpose) {
  for (uint32_t i = 0; i + 3 < transpose->n_ints; i++)
    if (transpose->ints[i + 1] != transpose->ints[i] + 1) return true;
  return false;
}

/* A product, or one of its numbers with a vector's, which are summed up. */
static bool is_part_of_product(const plan_graph *g, const plan_node *n) {
  bool multiplies = n->kind == IR_OP_MULTIPLY && n->op;
  return plan_is_product(g, n) || (multiplies && ir_kind_of(g->m, n->op) == IR_OP_DOT_GENERAL);
}

static bool is_read_by_products(const plan_graph *g, const plan_node *n) {
  bool is = n->n_users > 0;
  for (uint32_t i = 0; i < n->n_users && is; i++) {
    const plan_node *u = plan_node_get(g, n->users[i]);
    is = plan_is_view(u) ? is_read_by_products(g, u) : is_part_of_product(g, u);
  }
  return is;
}

static bool is_for_products(const plan_graph *g, const plan_node *n) {
  return n->kind == IR_OP_TRANSPOSE && gathers_batches(n) && is_read_by_products(g, n);
}

/* A product with a vector, of matrices of several batches, whose columns are summed. */
static bool is_sum_of_columns(const plan_graph *g, const plan_node *product) {
  bool is = product->kind == IR_OP_MULTIPLY && product->n_users == 1 && product->op &&
            ir_kind_of(g->m, product->op) == IR_OP_DOT_GENERAL;
  const plan_node *sum = is ? plan_node_get(g, product->users[0]) : NULL;
  return is && sum->kind == IR_OP_REDUCE && sum->of_columns && product->shape.rank == 3 &&
         product->shape.dims[0] > 1;
}

static void sum_rows(plan_graph *g, const plan_node *product) {
  plan_node *sum = plan_node_get(g, product->users[0]);
  const int64_t *dims = product->shape.dims, last = 2;
  plan_shape turned =
      plan_shape_make(g->arena, product->shape.dtype, 3, (int64_t[]){dims[0], dims[2], dims[1]});
  sum->of_columns = false;
  sum->blocks = plan_sum_blocks(&turned, (ir_ints){1, &last}, 1);
}

static bool turn_readers(plan_graph *g, uint32_t id, int32_t depth);

/* In loops whose state the tuple is. */
static bool turn_inside(plan_graph *g, uint32_t tuple, uint32_t id, int32_t depth) {
  const plan_node *t = plan_node_get(g, tuple);
  bool found = false;
  for (uint32_t i = 0; i < t->n_users; i++) {
    if (plan_node_get(g, t->users[i])->kind != IR_OP_WHILE) continue;
    for (uint32_t k = 0; k < t->n_operands; k++) {
      uint32_t inside = t->operands[k] == id ? plan_invariant_element(g, t->users[i], k) : 0;
      found |= inside && turn_readers(g, inside, depth);
    }
  }
  return found;
}

/* What products read, of the node or of slices of it, is a view of what is turned; whether any
 * read it. */
static bool turn_readers(plan_graph *g, uint32_t id, int32_t depth) {
  bool found = false;
  for (uint32_t i = 0; i < plan_node_get(g, id)->n_users && depth > 0; i++) {
    uint32_t user = plan_node_get(g, id)->users[i];
    plan_node *u = plan_node_get(g, user);
    bool is_part = (u->kind == IR_OP_DYNAMIC_SLICE && u->operands[0] == id) || plan_is_view(u);
    if (is_for_products(g, u)) u->kind = PLAN_BITCAST, found = true;
    else if (is_sum_of_columns(g, u)) sum_rows(g, u), found = true;
    else if (is_part) found |= turn_readers(g, user, depth - 1);
    else if (u->kind == IR_OP_TUPLE) found |= turn_inside(g, user, id, depth - 1);
  }
  return found;
}

static uint32_t copy_before(plan_graph *g, uint32_t loop, uint32_t x) {
  plan_shape shape = plan_node_get(g, x)->shape;
  return plan_put_on(g, loop, x,
                     (plan_node){.kind = IR_OP_TRANSPOSE, .flags = PLAN_FLAG_HELD, .shape = shape});
}

static void turn(plan_graph *g, uint32_t loop) {
  uint32_t tuple = plan_node_get(g, loop)->operands[0],
           count = plan_node_get(g, loop)->shape.n_members;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t x = plan_node_get(g, tuple)->operands[i];
    bool is_argument = plan_node_get(g, x)->kind == PLAN_PARAMETER;
    uint32_t element = is_argument ? plan_invariant_element(g, loop, i) : 0;
    if (element && turn_readers(g, element, SEEN_OF_READERS))
      plan_pass_in(g, loop, i, copy_before(g, loop, x));
  }
}

void plan_turn_captures(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++) {
    const plan_node *n = plan_node_get(g, id);
    bool is_loop = n->kind == IR_OP_WHILE && (n->flags & PLAN_FLAG_LIVE);
    if (is_loop && n->comp == g->entry) turn(g, id);
  }
}
