/* The estimate's graph: nodes, users, dead code, post order. */
#include "plan/peak_graph.h"

static int64_t times(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

plan_shape plan_shape_make(arena *a, ir_dtype dtype, int32_t rank, const int64_t *dims) {
  plan_shape s = {.dtype = dtype, .rank = rank, .elements = 1, .dims = ARENA_COPY(a, int64_t, dims, (size_t)rank)};
  for (int32_t d = 0; d < rank; d++) {
    s.elements = times(s.elements, dims[d] > 0 ? dims[d] : 0);
    s.true_rank += dims[d] != 1;
  }
  s.bytes = times(s.elements, dtype ? ir_dtype_bytes(dtype) : 0);
  return s;
}

plan_shape plan_shape_tuple(arena *a, const plan_shape *members, uint32_t count) {
  return (plan_shape){.is_tuple = true, .n_members = count, .bytes = 8 * (int64_t)count, .members = ARENA_COPY(a, plan_shape, members, count)};
}

plan_shape plan_shape_of_type(arena *a, const ir_module *m, ir_type type) {
  const ir_type_data *t = ir_type_get(m, type);
  if (t->kind == IR_TYPE_TENSOR) return plan_shape_make(a, t->dtype, t->rank, t->dims);
  if (t->kind != IR_TYPE_TUPLE) return (plan_shape){0};
  plan_shape *members = ARENA_ARRAY(a, plan_shape, (size_t)t->n_types);
  for (int32_t i = 0; i < t->n_types; i++) members[i] = plan_shape_of_type(a, m, t->types[i]);
  return plan_shape_tuple(a, members, (uint32_t)t->n_types);
}

bool plan_same_dims(const plan_shape *a, const plan_shape *b) {
  return a->is_tuple == b->is_tuple && a->rank == b->rank && (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

uint32_t plan_comp_new(plan_graph *g, ir_block block) {
  if (g->comps.count == 0) VEC_PUSH(g->arena, &g->comps, (plan_comp){0});
  VEC_PUSH(g->arena, &g->comps, (plan_comp){.block = block});
  return g->comps.count - 1;
}

uint32_t plan_node_new(plan_graph *g, const plan_node *desc) {
  if (g->nodes.count == 0) VEC_PUSH(g->arena, &g->nodes, (plan_node){0});
  VEC_PUSH(g->arena, &g->nodes, *desc);
  uint32_t id = g->nodes.count - 1;
  VEC_PUSH(g->arena, &plan_comp_get(g, desc->comp)->nodes, id);
  return id;
}

/* ---- users ---- */
void plan_add_user(plan_graph *g, uint32_t node, uint32_t user) {
  plan_node *n = plan_node_get(g, node);
  if (n->n_users == n->users_room) n->users = arena_grow(g->arena, n->users, n->n_users, &n->users_room, sizeof *n->users);
  n->users[n->n_users++] = user;
}

/* The last takes the place of the removed one, as in XLA. */
void plan_remove_user(plan_graph *g, uint32_t node, uint32_t user) {
  plan_node *n = plan_node_get(g, node);
  for (uint32_t i = n->n_users; i-- > 0;)
    if (n->users[i] == user) {
      n->users[i] = n->users[--n->n_users];
      return;
    }
}

static bool seen_before(const plan_node *n, uint32_t i) {
  for (uint32_t j = 0; j < i; j++)
    if (n->operands[j] == n->operands[i]) return true;
  return false;
}

/* ---- dead code ---- */
typedef VEC(uint32_t) stack;

static void mark(plan_graph *g, stack *todo, uint32_t node) {
  plan_node *n = plan_node_get(g, node);
  if (n->flags & PLAN_FLAG_LIVE) return;
  n->flags |= PLAN_FLAG_LIVE;
  VEC_PUSH(g->arena, todo, node);
}

static void mark_from(plan_graph *g, stack *todo) {
  while (todo->count) {
    const plan_node *n = plan_node_get(g, todo->at[--todo->count]);
    for (uint32_t i = 0; i < n->n_operands; i++) mark(g, todo, n->operands[i]);
    for (uint32_t i = 0; i < n->n_comps; i++) {
      const plan_comp *c = plan_comp_get(g, n->comps[i]);
      mark(g, todo, c->root);
      if (c->parameter) mark(g, todo, c->parameter);
    }
  }
}

static bool has_effect(const plan_graph *g, const plan_node *n) { return n->op && n->kind == PLAN_OPAQUE && ir_has_effects(g->m, n->op); }

void plan_graph_sweep(plan_graph *g) {
  for (uint32_t c = 1; c < g->comps.count; c++) {
    plan_comp *comp = plan_comp_get(g, c);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < comp->nodes.count; i++)
      if (plan_node_get(g, comp->nodes.at[i])->flags & PLAN_FLAG_LIVE) comp->nodes.at[kept++] = comp->nodes.at[i];
    comp->nodes.count = kept;
  }
}

void plan_graph_finish(plan_graph *g) {
  stack todo = {0};
  mark(g, &todo, plan_comp_get(g, g->entry)->root);
  for (uint32_t n = 1; n < g->nodes.count; n++) {
    const plan_node *node = plan_node_get(g, n);
    if (has_effect(g, node) || (node->kind == PLAN_PARAMETER && node->comp == g->entry)) mark(g, &todo, n);
  }
  mark_from(g, &todo);
  plan_graph_sweep(g);
  for (uint32_t c = 1; c < g->comps.count; c++)
    for (uint32_t i = 0; i < plan_comp_get(g, c)->nodes.count; i++) {
      uint32_t id = plan_comp_get(g, c)->nodes.at[i];
      const plan_node *n = plan_node_get(g, id);
      for (uint32_t k = 0; k < n->n_operands; k++)
        if (!seen_before(n, k)) plan_add_user(g, n->operands[k], id);
    }
}

/* ---- post order ---- */
static void visit(const plan_graph *g, uint32_t root, uint8_t *state, stack *todo, uint32_t *order, uint32_t *count) {
  VEC_PUSH(g->arena, todo, root);
  while (todo->count) {
    uint32_t id = todo->at[todo->count - 1];
    const plan_node *n = plan_node_get(g, id);
    if (state[id] == 0) {
      state[id] = 1;
      for (uint32_t i = n->n_operands; i-- > 0;)
        if (state[n->operands[i]] == 0) VEC_PUSH(g->arena, todo, n->operands[i]);
      continue;
    }
    todo->count--;
    if (state[id] == 1) order[(*count)++] = id;
    state[id] = 2;
  }
}

uint32_t *plan_post_order(plan_graph *g, uint32_t comp) {
  const plan_comp *c = plan_comp_get(g, comp);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1), count = 0;
  if (g->state_count < g->nodes.count) {
    g->state_count = g->nodes.count;
    g->state = ARENA_ARRAY(g->arena, uint8_t, g->nodes.count);
  }
  uint8_t *state = g->state;
  for (uint32_t i = 0; i < c->nodes.count; i++) state[c->nodes.at[i]] = 0;
  stack todo = {0};
  for (uint32_t i = 0; i < c->nodes.count; i++)
    if (plan_node_get(g, c->nodes.at[i])->n_users == 0) visit(g, c->nodes.at[i], state, &todo, order, &count);
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}
