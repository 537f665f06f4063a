/* Which top-ks are calls, and which are sorts, on CPUs and TPUs.
 *
 * XLA makes a sort of each, and a call of that if all who read it take the k first of each row: it
 * has merged their slices with the sort's own by then. A slice that begins elsewhere (the k-th
 * largest alone), another number of rows, or slices of several lengths leave the sort.
 * Source: XLA's topk_decomposer.cc, topk_rewriter.cc. */
#include "ir/attrs.h"
#include "plan/peak_graph.h"

static bool is_call(const plan_graph *g, const plan_node *n) {
  return n->kind == PLAN_OPAQUE && (n->flags & PLAN_FLAG_LIVE) && n->op &&
         ir_kind_of(g->m, n->op) == IR_OP_CHLO_TOP_K;
}

/* How many of each row a node takes of a result of that shape. 0: others than the first. */
static int64_t taken_of(const plan_graph *g, const plan_node *n, const plan_shape *result) {
  int32_t last = result->rank - 1;
  if (n->kind != IR_OP_SLICE || !n->op || ir_kind_of(g->m, n->op) != IR_OP_SLICE)
    return result->dims[last];
  if (!ir_ints_all(ir_op_list(g->m, n->op, "strides"), 1))
    return result->dims[last]; /* it is merged with nothing */
  for (int32_t d = 0; d < last; d++)
    if (n->shape.dims[d] != result->dims[d]) return 0;
  return ir_ints_all(ir_op_list(g->m, n->op, "start_indices"), 0) ? n->shape.dims[last] : 0;
}

/* Whether all who read the results take as many, the first. */
static bool takes_first(const plan_graph *g, const plan_node *call) {
  int64_t taken = -1;
  for (uint32_t i = 0; i < call->n_users; i++) {
    const plan_node *x = plan_node_get(g, call->users[i]);
    for (uint32_t k = 0; k < x->n_users; k++) {
      int64_t now = taken_of(g, plan_node_get(g, x->users[k]), &x->shape);
      if (taken < 0) taken = now;
      if (now != taken || now == 0) return false;
    }
  }
  return true;
}

/* A sort of the values with their places, of which the results are slices. CPUs leave out places
 * that nobody reads. */
static void become_sort(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  uint32_t operands[2] = {n->operands[0], 0}, count = n->n_users;
  const uint32_t *elements = ARENA_COPY(g->arena, uint32_t, n->users, count);
  plan_shape x = plan_node_get(g, operands[0])->shape,
             both[2] = {x, plan_shape_make(g->arena, IR_I32, x.rank, x.dims)};
  bool has_places = g->memory;
  for (uint32_t i = 0; i < count; i++) has_places |= plan_node_get(g, elements[i])->index == 1;
  if (has_places) {
    operands[1] = plan_node_beside(g, id, (plan_node){.kind = IR_OP_IOTA, .shape = both[1]});
    plan_add_user(g, operands[1], id);
  }
  n = plan_node_get(g, id);
  n->kind = IR_OP_SORT;
  n->n_operands = has_places ? 2 : 1;
  n->operands = ARENA_COPY(g->arena, uint32_t, operands, n->n_operands);
  n->shape = has_places ? plan_shape_tuple(g->arena, both, 2) : x;
  for (uint32_t i = 0; i < count; i++) {
    plan_node *e = plan_node_get(g, elements[i]);
    plan_node slice = {.kind = IR_OP_SLICE, .shape = e->shape};
    if (has_places) {
      e->shape = both[e->index];
      plan_put_behind(g, elements[i], slice);
    } else {
      e->kind = slice.kind;
      e->index = 0;
    }
  }
}

void plan_sort_for_top_k(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++)
    if (is_call(g, plan_node_get(g, id)) && !takes_first(g, plan_node_get(g, id)))
      become_sort(g, id);
}
