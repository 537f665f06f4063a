/* The order in which XLA CPU runs the nodes of each computation.
 *
 * PLAN_ORDER_PROGRAM is XLA's default scheduler: breadth first, from the nodes without operands
 * on. PLAN_ORDER_MEMORY is the memory-optimised one, which is depth first from the results: of a
 * node's operands the one with the most uses beyond the first below it goes first, then the one
 * with the most bytes below it. Neither is always the better one; what XLA:GPU makes of them and a
 * third: schedule_gpu.c. Source: XLA's
 * hlo_memory_scheduler.cc (BFScheduler, DFSMemoryScheduler). */
#include "plan/peak_graph.h"

#include <stdlib.h>

typedef VEC(uint32_t) list;

/* True once for each operand of a reader, however often it reads it. read_by: by node, its last
 * reader. */
static bool is_another(uint32_t *read_by, uint32_t operand, uint32_t reader) {
  bool another = read_by[operand] != reader;
  read_by[operand] = reader;
  return another;
}

/* ---- breadth first ---- */
static uint32_t *breadth_first(plan_graph *g, uint32_t comp, uint32_t *waits, uint32_t *read_by) {
  const plan_comp *c = plan_comp_get(g, comp);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1), count = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    uint32_t id = c->nodes.at[i];
    const plan_node *n = plan_node_get(g, id);
    for (uint32_t k = 0; k < n->n_operands; k++)
      waits[id] += is_another(read_by, n->operands[k], id);
    if (waits[id] == 0) order[count++] = id;
  }
  for (uint32_t k = 0; k < count; k++) {
    const plan_node *n = plan_node_get(g, order[k]);
    for (uint32_t i = 0; i < n->n_users; i++) {
      CTX_CHECK(g->m->ctx, waits[n->users[i]] > 0); /* a user is told once by each operand */
      if (--waits[n->users[i]] == 0) order[count++] = n->users[i];
    }
  }
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

/* ---- depth first ---- */
/* Views and what is not in the program's own memory define no bytes. */
static int64_t defined_bytes(const plan_graph *g, const plan_node *n) {
  switch (n->kind) {
    case PLAN_PARAMETER:
    case IR_OP_CONSTANT:
    case PLAN_BITCAST:
    case IR_OP_GET_TUPLE_ELEMENT: return 0;
    default: break;
  }
  int64_t bytes = n->shape.bytes;
  for (uint32_t i = 0; i < n->shape.n_members && n->kind != IR_OP_TUPLE; i++) {
    if (n->kind == IR_OP_WHILE && !plan_is_carried(g, n->comps[1], i)) continue;
    if (__builtin_add_overflow(bytes, n->shape.members[i].bytes, &bytes)) return INT64_MAX / 4;
  }
  return bytes < INT64_MAX / 4 ? bytes : INT64_MAX / 4;
}

typedef struct weight {
  int64_t extra_users, bytes;
} weight;

static void weigh(const plan_graph *g, const uint32_t *post, uint32_t count, uint32_t *read_by,
                  weight *w) {
  int64_t all_bytes = 0;
  for (uint32_t k = 0; k < count; k++) {
    const plan_node *n = plan_node_get(g, post[k]);
    weight x = {0};
    if (n->kind != PLAN_PARAMETER && n->kind != IR_OP_CONSTANT) {
      x.extra_users = n->n_users ? n->n_users - 1 : 0;
      x.bytes = defined_bytes(g, n);
      if (__builtin_add_overflow(all_bytes, x.bytes, &all_bytes)) all_bytes = INT64_MAX / 4;
      for (uint32_t i = 0; i < n->n_operands; i++) {
        if (!is_another(read_by, n->operands[i], post[k])) continue;
        x.extra_users += w[n->operands[i]].extra_users;
        if (__builtin_add_overflow(x.bytes, w[n->operands[i]].bytes, &x.bytes)) x.bytes = all_bytes;
        if (x.extra_users > count) x.extra_users = count;
        if (x.bytes > all_bytes) x.bytes = all_bytes;
      }
    }
    w[post[k]] = x;
  }
}

/* qsort has no argument for it; set and used in one call. */
static _Thread_local const weight *sorting;

/* The first to visit comes last. */
static int by_weight(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const weight *v = &sorting[a], *w = &sorting[b];
  if (v->extra_users != w->extra_users) return v->extra_users > w->extra_users ? 1 : -1;
  if (v->bytes != w->bytes) return v->bytes > w->bytes ? 1 : -1;
  return a < b ? 1 : -(a > b);
}

static void push_operands(const plan_graph *g, const plan_node *n, const uint8_t *state,
                          const weight *w, list *todo) {
  uint32_t from = todo->count;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (state[n->operands[i]] == 0) VEC_PUSH(g->arena, todo, n->operands[i]);
  sorting = w;
  if (todo->count > from) qsort(todo->at + from, todo->count - from, sizeof *todo->at, by_weight);
}

static uint32_t *depth_first(plan_graph *g, uint32_t comp, uint32_t *read_by, weight *w) {
  uint32_t *post = plan_post_order(g, comp), count = 0;
  const plan_comp *c = plan_comp_get(g, comp);
  weigh(g, post, c->nodes.count, read_by, w);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1);
  if (c->nodes.count == 0) return order; /* dead code's */
  uint8_t *state = g->state;
  for (uint32_t i = 0; i < c->nodes.count; i++) state[c->nodes.at[i]] = 0;
  list todo = {0};
  /* the root first, then whatever nobody uses */
  for (uint32_t r = 0; r < c->nodes.count + 1; r++) {
    uint32_t root = r == 0 ? c->root : c->nodes.at[r - 1];
    if (r && plan_node_get(g, root)->n_users) continue;
    VEC_PUSH(g->arena, &todo, root);
    while (todo.count) {
      uint32_t id = todo.at[todo.count - 1];
      if (state[id] == 0) {
        state[id] = 1;
        push_operands(g, plan_node_get(g, id), state, w, &todo);
        continue;
      }
      todo.count--;
      if (state[id] == 1) order[count++] = id;
      state[id] = 2;
    }
  }
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

void plan_schedule(plan_graph *g, plan_order order) {
  uint32_t *waits = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count),
           *read_by = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count);
  weight *w = ARENA_ARRAY(g->arena, weight, g->nodes.count);
  for (uint32_t c = 1; c < g->comps.count; c++)
    plan_comp_get(g, c)->order = plan_is_by_memory(order) ? depth_first(g, c, read_by, w)
                                                          : breadth_first(g, c, waits, read_by);
}
