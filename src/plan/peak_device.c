/* What a device's XLA makes of the fused graph that a CPU's does not: products that a library does
 * come as a tuple of the result and a workspace, and arrays are padded to tiles.
 *
 * A result that comes in a tuple is not written over by who reads it, for XLA's heap does not look
 * through the tuple. Sources: XLA's gemm_rewriter.cc, heap_simulator.cc; layouts that XLA:TPU
 * prints. Between plan_fuse() and plan_insert_copies(). */
#include "base/saturate.h"
#include "plan/peak_device.h"

/* ---- coefficients ---- */
/* What is moved, and not computed, of it. XLA drops a choice between the same. */
static const plan_node *moved(const plan_graph *g, const plan_node *n) {
  switch (n->kind) {
    case PLAN_BITCAST:
    case IR_OP_SLICE:
    case IR_OP_TRANSPOSE:
    case IR_OP_BROADCAST_IN_DIM: return plan_node_get(g, n->operands[0]);
    case IR_OP_SELECT:
      return n->operands[1] == n->operands[2] ? plan_node_get(g, n->operands[1]) : NULL;
    default: return NULL;
  }
}

/* A node that takes one element out of a table of constants, such as a polynomial's coefficient; it
 * may be broadcast. XLA:TPU keeps some of them, and folds others in time: it depends on the order
 * of its passes, so all count. */
bool plan_is_coefficient(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_SLICE || n->shape.elements == 0 || !(n->flags & PLAN_FLAG_LIVE))
    return false;
  int64_t share = 1; /* of the table, in the node */
  const plan_node *table = n;
  for (const plan_node *x = n; x; x = moved(g, x)) {
    if (table->kind == IR_OP_SLICE && table != x)
      share = saturated_product(share, x->shape.elements / table->shape.elements);
    table = x;
  }
  bool is_table = table->kind == IR_OP_CONSTANT && ir_is_float(table->shape.dtype);
  return is_table && table->shape.elements > 1 && share == table->shape.elements;
}

void plan_count_coefficients(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++)
    g->n_coefficients += plan_is_coefficient(g, plan_node_get(g, id));
}

/* ---- workspaces ---- */
/* The node becomes a call of (result, workspace), and who read it reads the first of these. */
static void add_workspace(plan_graph *g, uint32_t id) {
  plan_shape result = plan_node_get(g, id)->shape,
             members[2] = {result, plan_shape_make(g->arena, IR_UI8, 1, &g->memory->library_bytes)};
  plan_put_behind(g, id, (plan_node){.kind = IR_OP_GET_TUPLE_ELEMENT, .shape = result});
  plan_node *call = plan_node_get(g, id);
  call->kind = PLAN_OPAQUE;
  call->shape = plan_shape_tuple(g->arena, members, 2);
}

/* A library does it. Where some products are in parts Triton makes all that it can, for peak.c asks
 * for the library's apart. */
static bool has_workspace(const plan_graph *g, const plan_node *n) {
  ir_dtype t = n->shape.dtype;
  bool is_tritons = g->is_in_parts && (t == IR_F32 || t == IR_BF16 || t == IR_F16);
  return plan_is_librarys(g, n) && !is_tritons;
}

/* ---- sorts ---- */
/* GPUs make positions where they sort (sort_iota_fusion.cc). */
static void make_positions_inside(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  while (n->kind == IR_OP_SORT && (n->flags & PLAN_FLAG_LIVE) && n->n_operands > 1) {
    uint32_t last = n->operands[n->n_operands - 1];
    if (!plan_is_positions(plan_node_get(g, last))) return;
    n->n_operands--;
    plan_remove_user(g, last, id);
    if (plan_node_get(g, last)->n_users == 0) plan_drop(g, last);
  }
}

/* ---- siblings ---- */
static bool may_compute(const plan_node *reader) {
  return reader->kind == PLAN_FUSION || reader->kind == PLAN_BITCAST ||
         reader->kind == IR_OP_REDUCE || plan_is_loop_fusible(reader);
}

/* An array that is computed element by element for readers that can't compute it themselves. */
static bool may_be_sibling(const plan_graph *g, const plan_node *n) {
  ir_kind kind = plan_kind_at_root(g, n);
  bool is_loop = ir_is_elementwise(kind) || kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_RESHAPE;
  for (uint32_t i = 0; i < n->n_users && is_loop; i++)
    is_loop = !may_compute(plan_node_get(g, n->users[i]));
  return is_loop && (n->flags & PLAN_FLAG_LIVE) && !n->shape.is_tuple && !n->in_place &&
         n->n_users > 0 && n->shape.true_rank > 0;
}

typedef VEC(uint32_t) ids;

enum { MOST_SIBLINGS = 1000 };

typedef struct family { /* by node; those that merging makes are left out */
  plan_graph *g;
  uint32_t count;
  uint32_t *depth;  /* the longest way from what has no operands: equal ones don't meet */
  uint32_t *walked; /* the first sibling for whom its readers were looked at */
  uint8_t *taken;
} family;

static void find_depths(family *f, const uint32_t *order, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    const plan_node *n = plan_node_get(f->g, order[k]);
    for (uint32_t i = 0; i < n->n_operands; i++)
      if (f->depth[n->operands[i]] >= f->depth[order[k]])
        f->depth[order[k]] = f->depth[n->operands[i]] + 1;
  }
}

static bool joins(const family *f, uint32_t id, uint32_t first) {
  if (id >= f->count || f->taken[id] || f->depth[id] != f->depth[first]) return false;
  const plan_node *n = plan_node_get(f->g, id), *of = plan_node_get(f->g, first);
  return n->comp == of->comp && n->shape.elements == of->shape.elements && may_be_sibling(f->g, n);
}

static void add_readers(family *f, uint32_t array, ids *out) {
  uint32_t first = out->at[0];
  const plan_node *x = plan_node_get(f->g, array);
  if (array >= f->count || f->walked[array] == first ||
      x->shape.elements != plan_node_get(f->g, first)->shape.elements)
    return;
  f->walked[array] = first;
  for (uint32_t u = 0; u < x->n_users && out->count < MOST_SIBLINGS; u++) {
    if (!joins(f, x->users[u], first)) continue;
    f->taken[x->users[u]] = 1;
    VEC_PUSH(f->g->arena, out, x->users[u]);
  }
}

/* Those that read an array as large as they are which a member reads, and so on. */
static void gather_siblings(family *f, uint32_t first, ids *out) {
  out->count = 0;
  VEC_PUSH(f->g->arena, out, first);
  f->taken[first] = 1;
  for (uint32_t k = 0; k < out->count; k++) {
    const plan_node *n = plan_node_get(f->g, out->at[k]);
    for (uint32_t i = 0; i < n->n_operands; i++) add_readers(f, n->operands[i], out);
  }
}

/* They become elements of what one node makes, which reads what they read. */
static uint32_t parent_of(plan_graph *g, const ids *siblings) {
  plan_node all = *plan_node_get(g, siblings->at[0]);
  plan_shape *shapes = ARENA_ARRAY(g->arena, plan_shape, siblings->count);
  ids operands = {0};
  for (uint32_t k = 0; k < siblings->count; k++) {
    const plan_node *n = plan_node_get(g, siblings->at[k]);
    shapes[k] = n->shape;
    for (uint32_t i = 0; i < n->n_operands; i++) {
      VEC_PUSH(g->arena, &operands, n->operands[i]);
      plan_remove_user(g, n->operands[i], siblings->at[k]);
    }
  }
  all.kind = PLAN_OPAQUE;
  all.operands = operands.at;
  all.n_operands = operands.count;
  all.users = NULL;
  all.n_users = all.users_room = 0;
  all.shape = plan_shape_tuple(g->arena, shapes, siblings->count);
  return plan_node_new(g, &all);
}

static void merge(plan_graph *g, const ids *siblings) {
  uint32_t made = parent_of(g, siblings);
  for (uint32_t i = 0; i < plan_node_get(g, made)->n_operands; i++) {
    uint32_t id = plan_node_get(g, made)->operands[i];
    const plan_node *x = plan_node_get(g, id);
    bool is_known = x->n_users && x->users[x->n_users - 1] == made; /* each once */
    if (!is_known) plan_add_user(g, id, made);
  }
  for (uint32_t k = 0; k < siblings->count; k++) {
    plan_node *n = plan_node_get(g, siblings->at[k]);
    n->kind = IR_OP_GET_TUPLE_ELEMENT;
    n->index = k;
    n->fusion = NULL;
    n->n_operands = 1;
    n->operands = ARENA_COPY(g->arena, uint32_t, &made, 1);
    plan_add_user(g, made, siblings->at[k]);
  }
}

static void fuse_siblings(plan_graph *g) {
  family f = {.g = g,
              .count = g->nodes.count,
              .depth = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count),
              .walked = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count),
              .taken = ARENA_ARRAY(g->arena, uint8_t, g->nodes.count)};
  ids siblings = {0};
  for (uint32_t c = 1; c < g->comps.count; c++) {
    uint32_t *order = plan_post_order(g, c), count = plan_comp_get(g, c)->nodes.count;
    find_depths(&f, order, count);
    for (uint32_t k = 0; k < count; k++) {
      if (f.taken[order[k]] || !may_be_sibling(g, plan_node_get(g, order[k]))) continue;
      gather_siblings(&f, order[k], &siblings);
      if (siblings.count > 1) merge(g, &siblings);
    }
  }
}

/* ---- as a whole ---- */
void plan_on_device(plan_graph *g) {
  CTX_CHECK(g->m->ctx, g->memory);
  if (g->memory->fuses_siblings) fuse_siblings(g);
  for (uint32_t id = 1; id < g->nodes.count && g->memory->library_bytes; id++)
    make_positions_inside(g, id);
  plan_graph_sweep(g);
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count && g->memory->library_bytes; id++)
    if (has_workspace(g, plan_node_get(g, id))) add_workspace(g, id);
  if (g->memory->tile_lanes) plan_lay_out_tiles(g);
}

/* ---- copies ---- */
/* What the node reads is there until the copy is made, too. */
static void make_with(plan_graph *g, uint32_t copy, uint32_t made) {
  const plan_node *n = plan_node_get(g, made);
  uint32_t count = n->n_operands, *operands = ARENA_ARRAY(g->arena, uint32_t, count + 1);
  operands[0] = plan_node_get(g, copy)->operands[0];
  memcpy(operands + 1, n->operands, count * sizeof *operands);
  plan_node_get(g, copy)->operands = operands;
  plan_node_get(g, copy)->n_operands = count + 1;
  for (uint32_t i = 1; i <= count; i++) {
    bool is_known = operands[i] == operands[0];
    for (uint32_t k = 1; k < i; k++) is_known |= operands[k] == operands[i];
    if (!is_known) plan_add_user(g, operands[i], copy);
  }
}

/* XLA:GPU makes a copy where it makes what is copied, if that is computed element by element, and
 * no loop's state is copied in the loop (copy_fusion.cc). */
void plan_fuse_copies(plan_graph *g) {
  uint32_t count = g->nodes.count, *copies = ARENA_ARRAY(g->arena, uint32_t, count);
  for (uint32_t id = 1; id < count; id++) {
    const plan_node *n = plan_node_get(g, id);
    bool is_copy = n->kind == PLAN_COPY && (n->flags & PLAN_FLAG_LIVE) && n->comp == g->entry;
    if (!is_copy || n->shape.is_tuple) continue;
    uint32_t made = n->operands[0];
    if (plan_node_get(g, made)->kind == PLAN_BITCAST) made = plan_node_get(g, made)->operands[0];
    copies[made] += plan_node_get(g, made)->kind == IR_OP_BROADCAST_IN_DIM;
    if (!plan_is_made_elementwise(plan_node_get(g, made))) continue;
    make_with(g, id, made);
    copies[made]++;
  }
  for (uint32_t id = 1; id < count; id++)
    if (copies[id]) plan_add_table(g, copies[id] + 1);
}
