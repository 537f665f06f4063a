/* Where a library call has XLA lay out a value column by column at its source.
 *
 * The layout that a call wants of an operand goes back to who makes it: what is computed element by
 * element is made column by column, and its other readers get a copy by rows. A relayout whose
 * operand is made for the call alone stays, and fuses. Source: XLA's layout_assignment.cc. */
#include "plan/peak_graph.h"

/* x and y for each other, wherever the user reads one of them. */
static void exchange(plan_graph *g, uint32_t user, uint32_t x, uint32_t y) {
  plan_node *u = plan_node_get(g, user);
  for (uint32_t *read = u->operands; read < u->operands + u->n_operands; read++)
    *read = *read == x ? y : *read == y ? x : *read;
}

/* x is made for the calls that read `relayout`; who else reads it gets what was the relayout. */
static void turn_around(plan_graph *g, uint32_t relayout) {
  plan_node *n = plan_node_get(g, relayout);
  uint32_t x = n->operands[0], *calls = n->users, n_calls = n->n_users;
  plan_node *source = plan_node_get(g, x);
  uint32_t *readers = source->users, n_readers = source->n_users;
  CTX_CHECK(g->m->ctx, n->n_operands == 1 && n_readers > 1); /* the relayout and who else reads x */
  n->users = source->users = NULL;
  n->n_users = n->users_room = source->n_users = source->users_room = 0;
  n->value = source->value;
  for (uint32_t i = 0; i < n_readers; i++) {
    if (readers[i] == relayout) continue;
    if (plan_operand_index(plan_node_get(g, readers[i]), relayout) == UINT32_MAX)
      exchange(g, readers[i], x, relayout);
    plan_add_user(g, relayout, readers[i]);
  }
  for (uint32_t i = 0; i < n_calls; i++) {
    exchange(g, calls[i], x, relayout);
    plan_add_user(g, x, calls[i]);
  }
  plan_add_user(g, x, relayout);
}

void plan_lay_out(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!(n->flags & PLAN_FLAG_LIVE) || n->kind != PLAN_RELAYOUT) continue;
    const plan_node *x = plan_node_get(g, n->operands[0]);
    bool is_root = plan_comp_get(g, n->comp)->root == n->operands[0];
    if (x->n_users > 1 && !is_root && plan_is_elementwise(x)) turn_around(g, id);
  }
}
