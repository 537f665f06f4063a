/* Arguments of the program that XLA:GPU lays out anew, as a whole, before a loop that reads them,
 * or slices of them.
 *
 * A product wants its batches in one piece. Where they lie apart, as those of (batch, place, head),
 * XLA's layout assignment asks the same of what the operand is a slice of, and of the loop's state:
 * the transpose costs nothing then, and the argument, which lies as it came, is copied before the
 * loop.
 *
 * In: the graph as lowered. Source: gpu_layout_assignment.cc, layout_assignment.cc. */
#include "plan/peak_graph.h"

/* Whether batches of the product that lie apart are brought together. Of one batch as well: XLA
 * copies one operand then, the estimate both. */
static bool gathers_batches(const plan_node *transpose) {
  for (uint32_t i = 0; i + 3 < transpose->n_ints; i++)
    if (transpose->ints[i + 1] != transpose->ints[i] + 1) return true;
  return false;
}

static bool is_for_products(const plan_graph *g, const plan_node *n) {
  bool is = n->kind == IR_OP_TRANSPOSE && n->n_users > 0 && gathers_batches(n);
  for (uint32_t i = 0; i < n->n_users && is; i++)
    is = plan_is_product(g, plan_node_get(g, n->users[i]));
  return is;
}

/* Transposes for products, of the node or of slices of it, become views; whether there are any. */
static bool drop_transposes(plan_graph *g, uint32_t id, bool may_be_slices) {
  bool found = false;
  for (uint32_t i = 0; i < plan_node_get(g, id)->n_users; i++) {
    uint32_t user = plan_node_get(g, id)->users[i];
    plan_node *u = plan_node_get(g, user);
    if (is_for_products(g, u)) u->kind = PLAN_BITCAST, found = true;
    else if (may_be_slices && u->kind == IR_OP_DYNAMIC_SLICE && u->operands[0] == id)
      found |= drop_transposes(g, user, false);
  }
  return found;
}

static uint32_t copy_before(plan_graph *g, uint32_t loop, uint32_t x) {
  plan_node made = {.kind = IR_OP_TRANSPOSE, .n_operands = 1, .operands = &x};
  made.shape = plan_node_get(g, x)->shape;
  uint32_t id = plan_node_beside(g, loop, made);
  plan_node_get(g, id)->flags |= PLAN_FLAG_HELD;
  plan_add_user(g, x, id);
  return id;
}

static void turn(plan_graph *g, uint32_t loop) {
  uint32_t tuple = plan_node_get(g, loop)->operands[0],
           count = plan_node_get(g, loop)->shape.n_members;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t x = plan_node_get(g, tuple)->operands[i];
    bool is_argument = plan_node_get(g, x)->kind == PLAN_PARAMETER;
    uint32_t element = is_argument ? plan_invariant_element(g, loop, i) : 0;
    if (element && drop_transposes(g, element, true))
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
