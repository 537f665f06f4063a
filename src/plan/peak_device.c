/* What a device's XLA makes of the fused graph that a CPU's does not: products that a library does
 * come as a tuple of the result and a workspace, and arrays are padded to tiles.
 *
 * A result that comes in a tuple is not written over by who reads it, for XLA's heap does not look
 * through the tuple. Sources: XLA's gemm_rewriter.cc, heap_simulator.cc; layouts that XLA:TPU
 * prints. Between plan_fuse() and plan_insert_copies(). */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/floats.h"
#include "plan/peak_graph.h"

/* ---- products ---- */
static int64_t extent(const plan_shape *s, int32_t from_last) {
  return s->rank > from_last ? s->dims[s->rank - 1 - from_last] : 1;
}

/* A matrix of the batch, too small for a library (matmul_utils.cc,
 * IsMatrixMultiplicationTooSmallForRewriting). */
static bool is_small(const plan_graph *g, const plan_node *n) {
  int64_t rows = extent(&n->shape, 1), columns = extent(&n->shape, 0);
  const plan_shape *x = &plan_node_get(g, n->operands[0])->shape;
  int64_t kept = columns > 0 ? n->shape.elements / columns : 0,
          summed = kept > 0 ? x->elements / kept : 0;
  if (rows == 1 || columns == 1)
    return saturated_product(saturated_product(rows, columns), summed) <
           g->memory->least_library_products;
  return saturated_product(saturated_sum(rows, columns), summed) <
         g->memory->least_library_elements;
}

static bool is_librarys(const plan_graph *g, const plan_node *n) {
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
  bool is = n->kind == IR_OP_SLICE && is_librarys(g, plan_node_get(g, n->operands[0]));
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

static void drop(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  CTX_CHECK(g->m->ctx, n->kind != PLAN_PARAMETER && n->n_users == 0);
  n->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    plan_node *x = plan_node_get(g, n->operands[i]);
    plan_remove_user(g, n->operands[i], id);
    bool is_made_for_it = x->kind == IR_OP_BROADCAST_IN_DIM || x->kind == IR_OP_CONSTANT;
    if (is_made_for_it && x->n_users == 0 && (x->flags & PLAN_FLAG_LIVE)) drop(g, n->operands[i]);
  }
}

/* Who reads `id` reads what that is made of. */
static void skip(plan_graph *g, uint32_t id, uint32_t read) {
  plan_node n = *plan_node_get(g, id);
  plan_read_instead(g, id, read, n.users, n.n_users);
  plan_node_get(g, id)->n_users = 0;
  drop(g, id);
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
  if (ir_dtype_class_of(t) != IR_CLASS_FLOAT || t == IR_F64) return false;
  return read == IR_F32 || (ir_float_width(read) == 16 && !plan_pads_result(g, dot));
}

/* The product that `id` is, through views that nobody else reads. 0: it is none. */
static uint32_t product_of(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  if (n->n_users != 1) return 0;
  if (n->kind == PLAN_BITCAST) return product_of(g, n->operands[0]);
  return is_librarys(g, n) ? id : 0;
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
    if (!is_librarys(g, n) || ir_dtype_class_of(n->shape.dtype) != IR_CLASS_FLOAT) continue;
    take_epilogue(g, id);
    read_whole(g, id);
  }
  for (uint32_t id = 1; id < g->nodes.count && g->memory->library_bytes; id++)
    add_up_in(g, plan_node_get(g, id));
  plan_graph_sweep(g);
}

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
  bool is_table =
      table->kind == IR_OP_CONSTANT && ir_dtype_class_of(table->shape.dtype) == IR_CLASS_FLOAT;
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

/* ---- sorts ---- */
/* GPUs make positions where they sort (sort_iota_fusion.cc). */
static void make_positions_inside(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  while (n->kind == IR_OP_SORT && (n->flags & PLAN_FLAG_LIVE) && n->n_operands > 1) {
    uint32_t last = n->operands[n->n_operands - 1];
    if (!plan_is_positions(plan_node_get(g, last))) return;
    n->n_operands--;
    plan_remove_user(g, last, id);
    if (plan_node_get(g, last)->n_users == 0) drop(g, last);
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
  bool is_loop =
      (ir_kind_flags(kind) & IR_FLAG_E) || kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_RESHAPE;
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

/* ---- tiles ---- */
/* A scatter of single elements, whose places are given in several dimensions: XLA:TPU makes one
 * dimension of these, and lays the array out anew for that and back. */
static bool is_flattened(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_SCATTER || !(n->flags & PLAN_FLAG_LIVE) || n->n_operands != 3) return false;
  const plan_shape *at = &plan_node_get(g, n->operands[1])->shape,
                   *updates = &plan_node_get(g, n->operands[2])->shape;
  const plan_node *into = plan_node_get(g, n->operands[0]); /* a splat is made in any layout */
  bool is_splat = into->kind == IR_OP_BROADCAST_IN_DIM &&
                  plan_node_get(g, into->operands[0])->shape.elements == 1;
  int64_t depth = at->rank > 0 ? at->dims[at->rank - 1] : 1;
  return !is_splat && !n->shape.is_tuple && n->shape.true_rank > 1 && depth > 1 &&
         saturated_product(updates->elements, depth) == at->elements;
}

static uint32_t laid_out_anew(plan_graph *g, uint32_t id, plan_shape shape) {
  plan_node made = {.kind = PLAN_OPAQUE, .n_operands = 1, .operands = &id, .shape = shape};
  return plan_node_beside(g, id, made);
}

/* The node makes `shape`, and what reads it a copy as it was. */
static void put_back(plan_graph *g, uint32_t id, plan_shape shape) {
  plan_shape before = plan_node_get(g, id)->shape;
  plan_put_behind(g, id, (plan_node){.kind = PLAN_OPAQUE, .shape = before});
  plan_node_get(g, id)->shape = shape;
}

static void flatten(plan_graph *g, uint32_t id) {
  plan_node n = *plan_node_get(g, id);
  plan_shape flat = plan_shape_make(g->arena, n.shape.dtype, 1, &n.shape.elements);
  uint32_t before = laid_out_anew(g, n.operands[0], flat);
  plan_remove_user(g, n.operands[0], id);
  plan_add_user(g, n.operands[0], before);
  plan_add_user(g, before, id);
  plan_node_get(g, id)->operands[0] = before;
  put_back(g, id, flat);
}

/* ---- random bits ---- */
/* XLA:TPU makes Philox's blocks as rows of four words, before it makes bits of them. */
static void make_blocks(plan_graph *g, uint32_t id) {
  plan_node n = *plan_node_get(g, id);
  if (!n.shape.is_tuple || n.shape.n_members != 2 || n.n_operands != 1) return;
  int64_t words = n.shape.members[1].bytes / (int64_t)sizeof(uint32_t),
          dims[2] = {(words + PLAN_PHILOX_WORDS - 1) / PLAN_PHILOX_WORDS, PLAN_PHILOX_WORDS};
  uint32_t key = n.operands[0],
           blocks = laid_out_anew(g, key, plan_shape_make(g->arena, IR_UI32, 2, dims));
  plan_node_get(g, blocks)->by_rows = true;
  plan_remove_user(g, key, id);
  plan_add_user(g, key, blocks);
  plan_add_user(g, blocks, id);
  plan_node_get(g, id)->operands[0] = blocks;
}

/* ---- convolutions ---- */
/* XLA:TPU convolves with batch and features innermost, in either order. Arguments and results lie
 * as takes least: where that is otherwise they are laid out anew, arguments of f32 as bf16. */
typedef struct conv_side {
  int32_t batch, feature; /* of a kernel: input and output features */
} conv_side;

/* In f32 the graph has images as [batch, space, features], kernels as [space, in, out]. */
static conv_side side_of(const plan_node *conv, const ir_conv_numbers *dims, uint32_t operand) {
  int32_t last = conv->shape.rank - 1;
  bool is_canonical = conv->shape.dtype == IR_F32;
  if (operand == 0)
    return is_canonical ? (conv_side){0, last}
                        : (conv_side){(int32_t)dims->input_batch, (int32_t)dims->input_feature};
  return is_canonical ? (conv_side){last - 1, last}
                      : (conv_side){(int32_t)dims->kernel_input_feature,
                                    (int32_t)dims->kernel_output_feature};
}

static conv_side result_side(const plan_node *conv, const ir_conv_numbers *dims) {
  if (conv->shape.dtype == IR_F32) return side_of(conv, dims, 0);
  return (conv_side){(int32_t)dims->output_batch, (int32_t)dims->output_feature};
}

static int64_t convolved_bytes(const plan_graph *g, const plan_shape *s, int64_t width,
                               conv_side at) {
  int64_t one = device_laid_out_bytes(g->memory, width, s->rank, s->dims,
                                      (device_layout){at.feature, at.batch}),
          other = device_laid_out_bytes(g->memory, width, s->rank, s->dims,
                                        (device_layout){at.batch, at.feature});
  return one < other ? one : other;
}

/* Made element by element of the program's arguments. */
static bool is_of_arguments(const plan_graph *g, uint32_t id, int32_t depth) {
  const plan_node *n = plan_node_get(g, id);
  if (n->kind == PLAN_PARAMETER) return n->comp == g->entry;
  bool is = depth > 0 && n->n_operands > 0 &&
            (n->kind == PLAN_FUSION || n->kind == PLAN_BITCAST || plan_is_elementwise(n));
  for (uint32_t i = 0; i < n->n_operands && is; i++) {
    bool is_scalar = plan_node_get(g, n->operands[i])->shape.elements == 1;
    is = is_scalar || is_of_arguments(g, n->operands[i], depth - 1);
  }
  return is;
}

enum { SEEN_OF_ARGUMENTS = 4 };

static bool is_only_moved(const plan_node *n) {
  return n->kind == IR_OP_TRANSPOSE && n->n_users == 1;
}

static void lay_out_operand(plan_graph *g, uint32_t conv, uint32_t i, conv_side at) {
  uint32_t id = plan_node_get(g, conv)->operands[i];
  plan_shape s = plan_node_get(g, id)->shape;
  if (s.rank < 3 || s.elements <= 0 || !is_of_arguments(g, id, SEEN_OF_ARGUMENTS)) return;
  int64_t width = s.bytes / s.elements;
  device_layout own = device_least_layout(g->memory, width, s.rank, s.dims);
  if (own.minor == at.batch || own.minor == at.feature) return;
  int64_t bytes = convolved_bytes(g, &s, s.dtype == IR_F32 ? 2 : width, at);
  plan_shape convolved = plan_shape_make(g->arena, IR_UI8, 1, &bytes);
  if (is_only_moved(plan_node_get(g, id))) { /* a copy anyway */
    plan_node_get(g, id)->shape = convolved;
    return;
  }
  uint32_t copy = laid_out_anew(g, id, convolved);
  plan_add_user(g, copy, conv);
  plan_add_user(g, id, copy);
  plan_node *n = plan_node_get(g, conv);
  n->operands[i] = copy;
  bool reads_both = n->operands[1 - i] == id;
  if (!reads_both) plan_remove_user(g, id, conv);
}

static void lay_out_result(plan_graph *g, uint32_t conv, conv_side at) {
  plan_node n = *plan_node_get(g, conv);
  bool moves = n.n_users == 1 && plan_node_get(g, n.users[0])->kind == IR_OP_TRANSPOSE;
  if (n.shape.rank < 3 || n.shape.elements <= 0 || !(moves || plan_is_output(g, conv))) return;
  int64_t width = n.shape.bytes / n.shape.elements;
  device_layout own = device_least_layout(g->memory, width, n.shape.rank, n.shape.dims);
  bool is_same = (own.minor == at.batch && own.second == at.feature) ||
                 (own.minor == at.feature && own.second == at.batch);
  if (is_same) return;
  int64_t bytes = convolved_bytes(g, &n.shape, width, at);
  plan_shape convolved = plan_shape_make(g->arena, IR_UI8, 1, &bytes);
  if (moves) plan_node_get(g, conv)->shape = convolved;
  else put_back(g, conv, convolved);
}

static void lay_out_convolution(plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  bool is_convolution = n->kind == PLAN_OPAQUE && (n->flags & PLAN_FLAG_LIVE) && n->op &&
                        ir_kind_of(g->m, n->op) == IR_OP_CONVOLUTION;
  ir_conv_numbers dims;
  if (!is_convolution || n->n_operands != 2 || n->shape.is_tuple ||
      !ir_conv_dims(g->arena, g->m, n->op, &dims))
    return;
  plan_node conv = *n;
  for (uint32_t i = 0; i < 2; i++) lay_out_operand(g, id, i, side_of(&conv, &dims, i));
  lay_out_result(g, id, result_side(&conv, &dims));
}

/* Whether a gather's windows are what is innermost of its result: moved elsewhere they may lie in
 * any layout. */
static bool has_windows_last(const plan_graph *g, const plan_node *n) {
  ir_gather_numbers at;
  if (!ir_gather_dims(g->arena, g->m, n->op, &at)) return true;
  for (int32_t i = 0; i < at.offset_dims.count; i++)
    if (at.offset_dims.at[i] < n->shape.rank - at.offset_dims.count) return false;
  return true;
}

/* What XLA:TPU's own calls and loops make, of a gather or a factorisation, lies row by row. */
static bool is_by_rows(const plan_graph *g, const plan_node *n) {
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  bool is_factor = kind == IR_OP_CHOLESKY || kind == IR_OP_TRIANGULAR_SOLVE,
       is_fused = n->kind == PLAN_FUSION && kind == IR_OP_GATHER,
       is_gather = n->kind == IR_OP_GATHER || (is_fused && has_windows_last(g, n));
  return n->by_rows || is_gather || (n->kind == PLAN_OPAQUE && is_factor);
}

/* Without dimensions of length 1 that follow what rows are made of, as a gather along the last
 * dimension of an array leaves one. */
static int32_t rank_of_rows(const plan_shape *s) {
  int32_t rank = s->rank;
  while (rank > 2 && s->dims[rank - 1] == 1) rank--;
  return rank;
}

/* Largest values that nobody reads, but their places. */
static bool is_narrowed(const plan_graph *g, uint32_t id, uint32_t member) {
  const plan_node *n = plan_node_get(g, id);
  return n->op && ir_kind_of(g->m, n->op) == IR_OP_REDUCE &&
         n->shape.members[member].dtype == IR_F32 && plan_is_left_unread(g, id, member);
}

static void pad_array(const plan_graph *g, plan_shape *s, bool by_rows, bool narrow) {
  if (s->is_tuple || s->elements <= 0) return;
  int64_t width = s->bytes / s->elements;
  if (narrow) width = width < 2 ? width : 2;
  s->bytes = by_rows ? device_row_bytes(g->memory, width, rank_of_rows(s), s->dims)
                     : device_least_bytes(g->memory, width, s->rank, s->dims);
}

enum { SORTED_ROW = 1000 }; /* at most; between 600 and 1,000 */

/* Places of the k largest that nobody reads. Short rows are sorted with their places, and of long
 * ones a call makes both row by row. */
static int64_t unread_places_bytes(const plan_graph *g, const plan_node *n, const plan_shape *s) {
  plan_shape rows =
      plan_shape_of_type(g->arena, g->m, ir_type_of(g->m, ir_op_get(g->m, n->op)->operands[0]));
  int64_t width = ir_dtype_bytes(s->dtype);
  return extent(&rows, 0) < SORTED_ROW ? device_least_bytes(g->memory, width, rows.rank, rows.dims)
                                       : device_row_bytes(g->memory, width, s->rank, s->dims);
}

static void pad_member(const plan_graph *g, uint32_t id, uint32_t i, plan_shape *s) {
  const plan_node *n = plan_node_get(g, id);
  bool is_top_k = n->op && ir_kind_of(g->m, n->op) == IR_OP_CHLO_TOP_K;
  if (is_top_k && plan_is_left_unread(g, id, i)) s->bytes = unread_places_bytes(g, n, s);
  else pad_array(g, s, is_by_rows(g, n), n->narrow || is_narrowed(g, id, i));
}

static void pad(const plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  plan_shape *s = &n->shape;
  if (s->is_tuple) {
    plan_shape *members = ARENA_COPY(g->arena, plan_shape, s->members, s->n_members);
    for (uint32_t i = 0; i < s->n_members; i++) pad_member(g, id, i, &members[i]);
    s->members = members;
    int64_t table = s->bytes;
    s->bytes = device_least_bytes(g->memory, 1, 1, &table);
  } else pad_array(g, s, is_by_rows(g, n), n->narrow);
}

/* Whether a view has other dimensions innermost than what it views, so that the elements lie in
 * other tiles. */
static bool moves_tiles(const plan_graph *g, const plan_node *n) {
  bool is_view = n->kind == PLAN_BITCAST && (n->flags & PLAN_FLAG_LIVE);
  if (!is_view || n->shape.is_tuple) return false;
  const plan_shape *from = &plan_node_get(g, n->operands[0])->shape, *to = &n->shape;
  if (from->is_tuple || from->true_rank < 1 || to->true_rank < 1) return false;
  if (from->true_rank == 1 && to->true_rank == 1) return false;
  int32_t i = from->rank - 1, k = to->rank - 1;
  while (i > 0 && from->dims[i] == 1) i--;
  while (k > 0 && to->dims[k] == 1) k--;
  return from->dims[i] != to->dims[k];
}

/* An argument in another layout than row by row, of which a view is a copy: it is copied row by row
 * first. */
static bool is_turned(const plan_graph *g, const plan_node *n) {
  const plan_node *from = plan_node_get(g, n->operands[0]);
  const plan_shape *s = &from->shape;
  if (from->kind != PLAN_PARAMETER || from->comp != g->entry || s->true_rank < 3 || !s->elements)
    return false;
  int64_t width = s->bytes / s->elements;
  return device_row_bytes(g->memory, width, s->rank, s->dims) >
         device_least_bytes(g->memory, width, s->rank, s->dims);
}

static void copy_view(plan_graph *g, uint32_t id) {
  plan_node_get(g, id)->kind = PLAN_OPAQUE;
  uint32_t from = plan_node_get(g, id)->operands[0];
  if (!is_turned(g, plan_node_get(g, id))) return;
  uint32_t copy = laid_out_anew(g, from, plan_node_get(g, from)->shape);
  plan_node_get(g, copy)->by_rows = true;
  plan_remove_user(g, from, id);
  plan_add_user(g, from, copy);
  plan_add_user(g, copy, id);
  plan_node_get(g, id)->operands[0] = copy;
}

void plan_on_device(plan_graph *g) {
  CTX_CHECK(g->m->ctx, g->memory);
  if (g->memory->fuses_siblings) fuse_siblings(g);
  for (uint32_t id = 1; id < g->nodes.count && g->memory->library_bytes; id++)
    make_positions_inside(g, id);
  plan_graph_sweep(g);
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count && g->memory->library_bytes; id++)
    if (is_librarys(g, plan_node_get(g, id))) add_workspace(g, id);
  for (uint32_t id = 1; id < count && g->memory->tile_lanes; id++)
    if (is_flattened(g, plan_node_get(g, id))) flatten(g, id);
  for (uint32_t id = 1; id < count && g->memory->tile_lanes; id++) {
    if (plan_makes_bits(g, plan_node_get(g, id), "PHILOX")) make_blocks(g, id);
    lay_out_convolution(g, id);
  }
  for (uint32_t id = 1; id < count && g->memory->tile_lanes; id++)
    if (moves_tiles(g, plan_node_get(g, id))) copy_view(g, id);
  for (uint32_t id = 1; id < g->nodes.count && g->memory->tile_lanes; id++) pad(g, id);
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
