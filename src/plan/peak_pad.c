/* Products of 16-bit matrices as cuBLAS has them: rows, columns and what is summed over are padded
 * to multiples of 8, in operands and results of their own.
 *
 * In: the graph with what a library adds taken in, before it is fused: what makes an operand may be
 * computed where it is padded, and what reads a result where it is cut. A matrix times a vector is
 * left alone. Source: XLA's cublas_pad_for_gemms.cc. */
#include "base/saturate.h"
#include "ir/floats.h"
#include "plan/peak_graph.h"

enum { MULTIPLE_OF = 8 };

static plan_shape padded(const plan_graph *g, const plan_shape *s) {
  int64_t *dims = ARENA_COPY(g->arena, int64_t, s->dims, s->rank);
  for (int32_t d = s->rank - 2; d < s->rank; d++)
    dims[d] = saturated_sum(dims[d], MULTIPLE_OF - 1) / MULTIPLE_OF * MULTIPLE_OF;
  return plan_shape_make(g->arena, s->dtype, s->rank, dims);
}

static bool is_matrix(const plan_shape *s) {
  return !s->is_tuple && s->rank > 1 && s->dims[s->rank - 2] > 1 && s->dims[s->rank - 1] > 1;
}

static bool is_padded(const plan_graph *g, const plan_node *n) {
  bool is = n->kind == IR_OP_DOT_GENERAL && (n->flags & PLAN_FLAG_LIVE) && is_matrix(&n->shape);
  for (uint32_t i = 0; i < 2 && is; i++) {
    const plan_shape *s = &plan_node_get(g, n->operands[i])->shape;
    is = is_matrix(s) && ir_is_float(s->dtype) && ir_float_width(s->dtype) == 16;
  }
  return is;
}

bool plan_pads_result(const plan_graph *g, const plan_node *dot) {
  if (!is_padded(g, dot)) return false;
  plan_shape whole = padded(g, &dot->shape);
  return !plan_same_dims(&whole, &dot->shape);
}

static void pad_operand(plan_graph *g, uint32_t dot, uint32_t i) {
  uint32_t id = plan_node_get(g, dot)->operands[i];
  plan_node made = {.kind = IR_OP_PAD, .n_operands = 1, .operands = &id};
  made.shape = padded(g, &plan_node_get(g, id)->shape);
  if (plan_same_dims(&made.shape, &plan_node_get(g, id)->shape)) return;
  uint32_t now = plan_node_beside(g, dot, made);
  plan_node *n = plan_node_get(g, dot);
  for (uint32_t k = 0; k < 2; k++) /* both may be the same */
    if (n->operands[k] == id) n->operands[k] = now;
  plan_put_between(g, id, now, dot); /* what is computed from it may read it as a whole */
}

static void cut_result(plan_graph *g, uint32_t dot) {
  plan_shape shape = plan_node_get(g, dot)->shape;
  plan_put_behind(g, dot, (plan_node){.kind = IR_OP_SLICE, .shape = shape});
  plan_node_get(g, dot)->shape = padded(g, &shape);
}

void plan_pad_products(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++) {
    if (!is_padded(g, plan_node_get(g, id))) continue;
    bool is_cut = plan_pads_result(g, plan_node_get(g, id));
    for (uint32_t i = 0; i < 2; i++) pad_operand(g, id, i);
    if (is_cut) cut_result(g, id);
  }
}
