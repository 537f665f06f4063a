/* Where a library call has XLA lay out a value column by column at its source.
 *
 * The layout that a call wants of the operand that it overwrites goes back to who makes it: what is
 * computed element by element is made column by column, and its other readers get a copy by rows.
 * So is what a call reads if it is computed from what a call left (a Cholesky factor, masked). A
 * relayout whose operand is made for the call alone stays, and fuses. Source: XLA's
 * layout_assignment.cc. */
#include "plan/peak_graph.h"

#define MAX_DEPTH 4 /* selects between a factor and who reads it */

/* Whether `relayout` is read by library calls alone, and overwritten by all of them. */
static bool is_for_calls(const plan_graph *g, uint32_t relayout, bool *overwritten) {
  const plan_node *n = plan_node_get(g, relayout);
  *overwritten = true;
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *call = plan_node_get(g, n->users[i]);
    if (call->kind != PLAN_OPAQUE) return false;
    *overwritten &= call->in_place && call->operands[call->in_place - 1] == relayout;
  }
  return n->n_users > 0;
}

/* Whether x is computed element by element from what a library call left, column by column. */
static bool is_of_call(const plan_graph *g, uint32_t x, int depth) {
  const plan_node *n = plan_node_get(g, x);
  if (n->kind == IR_OP_GET_TUPLE_ELEMENT)
    return plan_node_get(g, n->operands[0])->kind == PLAN_OPAQUE;
  if (!depth || !(plan_is_elementwise(n) || n->kind == PLAN_RELAYOUT)) return false;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (is_of_call(g, n->operands[i], depth - 1)) return true;
  return false;
}

static void read_instead(plan_graph *g, uint32_t user, uint32_t old, uint32_t new) {
  plan_node *u = plan_node_get(g, user);
  for (uint32_t i = 0; i < u->n_operands; i++)
    if (u->operands[i] == old) u->operands[i] = new;
  plan_add_user(g, new, user);
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
  for (uint32_t i = 0; i < n_calls; i++) read_instead(g, calls[i], relayout, x);
  plan_add_user(g, x, relayout);
  for (uint32_t i = 0; i < n_readers; i++)
    if (readers[i] != relayout) read_instead(g, readers[i], x, relayout);
}

void plan_lay_out(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    bool overwritten;
    if (!(n->flags & PLAN_FLAG_LIVE) || n->kind != PLAN_RELAYOUT) continue;
    if (!is_for_calls(g, id, &overwritten)) continue;
    const plan_node *x = plan_node_get(g, n->operands[0]);
    bool is_root = plan_comp_get(g, n->comp)->root == n->operands[0];
    if (x->n_users > 1 && !is_root && plan_is_elementwise(x) &&
        (overwritten || is_of_call(g, n->operands[0], MAX_DEPTH)))
      turn_around(g, id);
  }
}
