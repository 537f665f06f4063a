/* Products that a device's library does, and what it adds to them itself: a bias, a rectifier of
 * that, what a loop adds them to. Sources: XLA's gemm_rewriter.cc, matmul_utils.cc. */
#include "base/saturate.h"
#include "ir/floats.h"
#include "plan/peak_device.h"

/* A matrix of the batch, too small for a library (matmul_utils.cc,
 * IsMatrixMultiplicationTooSmallForRewriting). */
static bool is_small(const plan_graph *g, const plan_node *n) {
  int64_t rows = plan_extent_from_last(&n->shape, 1), columns = plan_extent_from_last(&n->shape, 0);
  const plan_shape *x = &plan_node_get(g, n->operands[0])->shape;
  int64_t kept = columns > 0 ? n->shape.elements / columns : 0,
          summed = kept > 0 ? x->elements / kept : 0;
  if (rows == 1 || columns == 1)
    return saturated_product(saturated_product(rows, columns), summed) <
           g->memory->least_library_products;
  return saturated_product(saturated_sum(rows, columns), summed) <
         g->memory->least_library_elements;
}

bool plan_is_librarys(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_DOT_GENERAL || !(n->flags & PLAN_FLAG_LIVE)) return false;
  ir_dtype t = n->shape.dtype, read = plan_node_get(g, n->operands[0])->shape.dtype;
  switch (ir_dtype_class_of(t)) {
    case IR_CLASS_COMPLEX: return true;
    case IR_CLASS_FLOAT: return t != IR_F32 || read != IR_F32 || !is_small(g, n);
    case IR_CLASS_INT: return read == IR_I8;
    default: return false;
  }
}

/* ---- what a product reads itself ---- */
/* A product of which the node is a slice, or what is computed from one and nothing else, element by
 * element; 0: it is none. */
static uint32_t sliced(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  while (plan_is_elementwise(n) || n->kind == PLAN_BITCAST || n->kind == IR_OP_TRANSPOSE) {
    if (n->n_operands != 1) return 0;
    n = plan_node_get(g, n->operands[0]);
  }
  bool is = n->kind == IR_OP_SLICE && plan_is_librarys(g, plan_node_get(g, n->operands[0]));
  return is ? n->operands[0] : 0;
}

/* Triton's products, of which f64 has none, compute such operands themselves: the array that the
 * slice is of is there until then, whoever else reads what is computed (gemm_fusion.cc,
 * priority_fusion.cc). */
static void read_whole(plan_graph *g, uint32_t dot) {
  plan_node *n = plan_node_get(g, dot);
  if (n->shape.dtype == IR_F64) return;
  uint32_t found[2] = {sliced(g, n->operands[0]), sliced(g, n->operands[1])};
  uint32_t *operands = ARENA_ARRAY(g->arena, uint32_t, n->n_operands + 2);
  memcpy(operands, n->operands, n->n_operands * sizeof *operands);
  n->operands = operands;
  for (uint32_t i = 0; i < 2; i++) {
    if (!found[i] || (i && found[1] == found[0])) continue;
    operands[n->n_operands++] = found[i];
    plan_add_user(g, found[i], dot);
  }
}

/* ---- what a library adds itself ---- */
/* The op that alone reads it, through views of it; *out_read: what it reads. 0: there is none. */
static uint32_t only_reader(const plan_graph *g, uint32_t id, uint32_t *out_read) {
  const plan_node *n = plan_node_get(g, id);
  if (n->n_users != 1) return 0;
  *out_read = id;
  return plan_node_get(g, n->users[0])->kind == PLAN_BITCAST ? only_reader(g, n->users[0], out_read)
                                                             : n->users[0];
}

static const plan_node *other_operand(const plan_graph *g, const plan_node *n, uint32_t read) {
  return plan_node_get(g, n->operands[n->operands[0] == read]);
}

/* A vector, the same for each row. */
static bool is_bias(const plan_node *x) {
  return x->kind == IR_OP_BROADCAST_IN_DIM && x->n_ints == 1 && x->ints[0] == x->shape.rank - 1;
}

static bool is_zero(const plan_graph *g, const plan_node *x) {
  if (x->kind == IR_OP_BROADCAST_IN_DIM) x = plan_node_get(g, x->operands[0]);
  return x->kind == IR_OP_CONSTANT && x->number == 0;
}

void plan_drop(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  CTX_CHECK(g->m->ctx, n->kind != PLAN_PARAMETER && n->n_users == 0);
  n->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    plan_node *x = plan_node_get(g, n->operands[i]);
    plan_remove_user(g, n->operands[i], id);
    bool is_made_for_it = x->kind == IR_OP_BROADCAST_IN_DIM || x->kind == IR_OP_CONSTANT;
    if (is_made_for_it && x->n_users == 0 && (x->flags & PLAN_FLAG_LIVE))
      plan_drop(g, n->operands[i]);
  }
}

/* Who reads `id` reads what that is made of. */
static void skip(plan_graph *g, uint32_t id, uint32_t read) {
  plan_node n = *plan_node_get(g, id);
  plan_read_instead(g, id, read, n.users, n.n_users);
  plan_node_get(g, id)->n_users = 0;
  plan_drop(g, id);
}

/* A bias that is added to a product, then a rectifier (gemm_rewriter.cc: FuseVectorBiasAdd,
 * FuseReluActivation; Triton's products take both in, too). */
static void take_epilogue(plan_graph *g, uint32_t dot) {
  uint32_t read = 0, next = only_reader(g, dot, &read);
  const plan_node *n = plan_node_get(g, next);
  if (next && n->kind == IR_OP_ADD && is_bias(other_operand(g, n, read))) {
    skip(g, next, read);
    next = only_reader(g, dot, &read);
    n = plan_node_get(g, next);
  }
  if (next && n->kind == IR_OP_MAXIMUM && is_zero(g, other_operand(g, n, read)))
    skip(g, next, read);
}

static bool may_add_up(const plan_graph *g, const plan_node *dot) {
  ir_dtype t = dot->shape.dtype, read = plan_node_get(g, dot->operands[0])->shape.dtype;
  if (!ir_is_float(t) || t == IR_F64) return false;
  return read == IR_F32 || (ir_float_width(read) == 16 && !plan_pads_result(g, dot));
}

/* The product that `id` is, through views that nobody else reads. 0: it is none. */
static uint32_t product_of(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  if (n->n_users != 1) return 0;
  if (n->kind == PLAN_BITCAST) return product_of(g, n->operands[0]);
  return plan_is_librarys(g, n) ? id : 0;
}

/* In a loop's body: element i of its state, which nobody but `sum` reads. */
static bool is_summed_by(const plan_graph *g, uint32_t id, const plan_comp *body, uint32_t i) {
  const plan_node *n = plan_node_get(g, id);
  return n->kind == IR_OP_GET_TUPLE_ELEMENT && n->operands[0] == body->parameter && n->index == i &&
         n->n_users == 1;
}

/* What a loop adds to its state: the call multiplies into that, and the product has no bytes of its
 * own (gemm_rewriter.cc: FuseMatrixBiasAdd; Triton's products, of which f64 has none, read what
 * they add to and write over it). */
static void add_up(plan_graph *g, const plan_comp *body, uint32_t i) {
  const plan_node *sum = plan_node_get(g, plan_node_get(g, body->root)->operands[i]);
  for (uint32_t side = 0; side < 2 && sum->kind == IR_OP_ADD; side++) {
    uint32_t id = sum->operands[1 - side], dot = product_of(g, id);
    if (!dot || !is_summed_by(g, sum->operands[side], body, i)) continue;
    if (!may_add_up(g, plan_node_get(g, dot))) continue;
    for (; id != dot; id = plan_node_get(g, id)->operands[0]) plan_node_get(g, id)->shape.bytes = 0;
    plan_node_get(g, dot)->shape.bytes = 0;
  }
}

static void add_up_in(plan_graph *g, const plan_node *loop) {
  if (loop->kind != IR_OP_WHILE || !(loop->flags & PLAN_FLAG_LIVE)) return;
  const plan_comp *body = plan_comp_get(g, loop->comps[1]);
  for (uint32_t i = 0; i < plan_node_get(g, body->root)->n_operands; i++) add_up(g, body, i);
}

void plan_take_epilogues(plan_graph *g) {
  CTX_CHECK(g->m->ctx, g->memory);
  for (uint32_t id = 1; id < g->nodes.count && g->memory->library_bytes; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!plan_is_librarys(g, n) || !ir_is_float(n->shape.dtype)) continue;
    take_epilogue(g, id);
    read_whole(g, id);
  }
  for (uint32_t id = 1; id < g->nodes.count && g->memory->library_bytes; id++)
    add_up_in(g, plan_node_get(g, id));
  plan_graph_sweep(g);
}
