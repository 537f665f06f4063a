/* Products whose algorithm is one of narrower numbers, as XLA has GPUs' libraries compute them:
 * each operand as one to three arrays that add up to it, and sums of three to nine products of
 * these.
 *
 * In: the graph before it is fused: what makes an operand makes its parts. All but the first and
 * the last product of six or nine are added where XLA has one array beside the result. Source:
 * XLA's dot_algorithm_rewriter.cc. */
#include <stdlib.h>

#include "ir/attrs.h"
#include "plan/peak_graph.h"

typedef struct parts {
  int32_t count; /* of an operand; 0: it is read as it is */
  ir_dtype dtype;
  bool adds; /* a product beside the result */
} parts;

static parts parts_of(const plan_graph *g, const plan_node *n) {
  ir_attr attr = n->op ? ir_op_attr(g->m, n->op, "algorithm") : IR_NONE;
  bool is_dot = n->kind == IR_OP_DOT_GENERAL && (n->flags & PLAN_FLAG_LIVE) && attr;
  if (!is_dot) return (parts){0};
  const char *text = ir_text(g->m, ir_attr_get(g->m, attr)->text),
             *type = ir_text_value(text, "lhs_precision_type"),
             *count_text = ir_text_value(text, "num_primitive_operations");
  long products = count_text ? strtol(count_text, NULL, 10) : 0;
  if (!type) return (parts){0};
  bool is_bf16 = starts_with(type, "bf16"), is_tf32 = starts_with(type, "tf32");
  if (!is_bf16 && !(is_tf32 && products > 1)) return (parts){0};
  int32_t count = products > 3 ? 3 : products > 1 ? 2 : 1;
  return (parts){count, is_bf16 ? IR_BF16 : IR_F32, products > 3};
}

/* The parts of `x` for the product, each after the other. */
static uint32_t split_operand(plan_graph *g, uint32_t dot, uint32_t x, parts p) {
  const plan_shape *s = &plan_node_get(g, x)->shape;
  int64_t dims[IR_MAX_RANK + 3], ints[IR_MAX_RANK + 3];
  dims[0] = p.count;
  for (int32_t d = 0; d < s->rank; d++) dims[d + 1] = s->dims[d], ints[d] = d + 1;
  plan_node made = {.kind = IR_OP_BROADCAST_IN_DIM, .flags = PLAN_FLAG_HELD};
  made.ints = ARENA_COPY(g->arena, int64_t, ints, (size_t)s->rank);
  made.n_ints = (uint32_t)s->rank;
  made.shape = plan_shape_make(g->arena, p.dtype, s->rank + 1,
                               ARENA_COPY(g->arena, int64_t, dims, (size_t)s->rank + 1));
  uint32_t id = plan_put_on(g, dot, x, made);
  plan_add_user(g, id, dot);
  return id;
}

/* A product beside the result, of the same operands. */
static void add_product(plan_graph *g, uint32_t dot) {
  plan_node n = *plan_node_get(g, dot);
  plan_node made = {.kind = PLAN_OPAQUE, .n_operands = 2, .operands = n.operands, .shape = n.shape};
  uint32_t id = plan_node_beside(g, dot, made);
  plan_add_user(g, n.operands[0], id);
  if (n.operands[1] != n.operands[0]) plan_add_user(g, n.operands[1], id);
  uint32_t *operands = ARENA_ARRAY(g->arena, uint32_t, n.n_operands + 1);
  memcpy(operands, n.operands, n.n_operands * sizeof *operands);
  operands[n.n_operands] = id;
  plan_node_get(g, dot)->operands = operands;
  plan_node_get(g, dot)->n_operands = n.n_operands + 1;
  plan_add_user(g, id, dot);
}

static void split_product(plan_graph *g, uint32_t dot, parts p) {
  uint32_t old[2];
  for (uint32_t i = 0; i < 2; i++) {
    old[i] = plan_node_get(g, dot)->operands[i];
    bool is_known = i == 1 && old[1] == old[0];
    uint32_t now = is_known ? plan_node_get(g, dot)->operands[0] : split_operand(g, dot, old[i], p);
    plan_node_get(g, dot)->operands[i] = now;
  }
  for (uint32_t i = 0; i < 2; i++) plan_remove_user(g, old[i], dot);
  const plan_node *n = plan_node_get(g, dot);
  for (uint32_t i = 2; i < n->n_operands; i++) /* read as a whole, too */
    if (n->operands[i] == old[0] || n->operands[i] == old[1]) plan_add_user(g, n->operands[i], dot);
  if (p.adds) add_product(g, dot);
}

void plan_split_products(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++) {
    parts p = parts_of(g, plan_node_get(g, id));
    if (p.count) split_product(g, id, p);
  }
}
