/* Two products of one operand as one, as XLA:GPU has it where one of them is small: a b and a c are
 * slices of a [b c], which stands in memory until both have been read.
 *
 * In: the graph as lowered, users filled. Neither product may need the other, of one at least all
 * operands and the result together are MOST_BYTES, and both are computed alike, from operands that
 * stand alike. Source: XLA's dot_merger.cc, gpu_compiler.cc. */
#include "base/saturate.h"
#include "plan/peak_graph.h"

enum {
  MOST_BYTES = 32 << 20, /* xla_gpu_dot_merger_threshold_mb */
  MOST_PRODUCTS = 64,    /* of one operand that are looked at: pairs of them are */
  STEPS_PER_NODE = 64,   /* bound on the work of all searches; beyond it products stay apart */
};

typedef struct merger {
  plan_graph *g;
  VEC(uint32_t) walked; /* by node: the search that has seen it */
  uint32_t search;
  int64_t steps; /* left */
} merger;

/* ---- which ---- */
/* Of the program; one that is transposed belongs to the transpose. */
static bool is_product(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_DOT_GENERAL || !(n->flags & PLAN_FLAG_LIVE) || !n->op) return false;
  ir_kind kind = ir_kind_of(g->m, n->op);
  bool is_of_program = kind == IR_OP_DOT_GENERAL || kind == IR_OP_DOT || kind == IR_OP_TRANSPOSE;
  return is_of_program && n->shape.rank > 1;
}

static bool is_small(const plan_graph *g, const plan_node *n) {
  int64_t bytes = n->shape.bytes;
  for (uint32_t i = 0; i < 2; i++)
    bytes = saturated_sum(bytes, plan_node_get(g, n->operands[i])->shape.bytes);
  return bytes <= MOST_BYTES;
}

static const plan_shape *operand_shape(const plan_graph *g, const plan_node *n, uint32_t side) {
  return &plan_node_get(g, n->operands[side])->shape;
}

static bool are_alike(const plan_graph *g, const plan_node *a, const plan_node *b) {
  static const char *const names[] = {"precision_config", "algorithm"};
  for (uint32_t i = 0; i < 2; i++) {
    ir_attr x = ir_op_attr(g->m, a->op, names[i]), y = ir_op_attr(g->m, b->op, names[i]);
    if (x != y && !(x && y && ir_attr_equal(g->m, x, y))) return false;
    if (operand_shape(g, a, i)->dtype != operand_shape(g, b, i)->dtype) return false;
  }
  return a->comp == b->comp && a->shape.dtype == b->shape.dtype && a->shape.rank == b->shape.rank;
}

/* Rows or columns that it alone has: a matrix, in batches or not, no vector. */
static bool is_matrix(const plan_graph *g, const plan_node *n, uint32_t side) {
  return operand_shape(g, n, side)->rank == n->shape.rank &&
         n->shape.dims[n->shape.rank - 2 + (int32_t)side] > 1;
}

/* How operands of the same side stand: as the program has them, or once transposes are folded in,
 * for XLA tries again then. 0: in neither way alike. */
static uint8_t standing_alike(const plan_node *a, const plan_node *b) {
  static const uint8_t ways[] = {PLAN_DOT_FOLDED, PLAN_DOT_GIVEN};
  if ((a->stands ^ b->stands) & PLAN_DOT_SWAPPED) return 0;
  for (uint32_t i = 0; i < 2; i++)
    if (!((a->stands ^ b->stands) & ways[i])) return ways[i];
  return 0;
}

static bool is_turned(const plan_node *n, uint8_t way, uint32_t side) {
  return n->stands & way & PLAN_DOT_SIDE(side);
}

/* Whether the node is made of `of`; so, too, if that would take too long to find out. */
static bool needs(merger *k, uint32_t node, uint32_t of) {
  const plan_node *n = plan_node_get(k->g, node);
  if (node == of) return true;
  if (k->walked.at[node] == k->search) return false;
  k->walked.at[node] = k->search;
  if (--k->steps < 0) return true;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (needs(k, n->operands[i], of)) return true;
  return false;
}

static bool are_independent(merger *k, uint32_t a, uint32_t b) {
  while (k->walked.count < k->g->nodes.count) VEC_PUSH(k->g->arena, &k->walked, 0);
  k->search++;
  if (needs(k, a, b)) return false;
  k->search++;
  return !needs(k, b, a);
}

/* ---- how ---- */
/* Rows as columns, on behalf of a product. */
static uint32_t transposed(plan_graph *g, uint32_t x, uint32_t product) {
  plan_shape s = plan_node_get(g, x)->shape;
  int64_t dims[IR_MAX_RANK], perm[IR_MAX_RANK];
  for (int32_t d = 0; d < s.rank; d++) perm[d] = d;
  perm[s.rank - 1] = s.rank - 2;
  perm[s.rank - 2] = s.rank - 1;
  for (int32_t d = 0; d < s.rank; d++) dims[d] = s.dims[perm[d]];
  plan_node made = {.kind = IR_OP_TRANSPOSE,
                    .shape = plan_shape_make(g->arena, s.dtype, s.rank, dims),
                    .ints = ARENA_COPY(g->arena, int64_t, perm, (size_t)s.rank),
                    .n_ints = (uint32_t)s.rank};
  return plan_put_on(g, product, x, made);
}

static uint32_t operand_as(plan_graph *g, uint32_t product, uint8_t way, uint32_t side) {
  const plan_node *n = plan_node_get(g, product);
  bool stands = is_turned(n, PLAN_DOT_FOLDED, side) == is_turned(n, way, side);
  return stands ? n->operands[side] : transposed(g, n->operands[side], product);
}

/* What two products do not share, one behind the other. */
static uint32_t joined(plan_graph *g, uint32_t a, uint32_t b, uint32_t side, uint8_t way) {
  uint32_t both[2] = {operand_as(g, a, way, side), operand_as(g, b, way, side)};
  plan_node n = *plan_node_get(g, a);
  plan_shape x = plan_node_get(g, both[0])->shape, y = plan_node_get(g, both[1])->shape;
  int64_t d = x.rank - 2 + ((int32_t)side ^ is_turned(&n, way, side));
  int64_t *dims = ARENA_COPY(g->arena, int64_t, x.dims, (size_t)x.rank);
  CTX_CHECK(g->m->ctx, x.rank == y.rank && x.rank > 1);
  dims[d] += y.dims[d];
  plan_node made = {.kind = IR_OP_CONCATENATE,
                    .n_operands = 2,
                    .operands = both,
                    .shape = plan_shape_make(g->arena, x.dtype, x.rank, dims),
                    .ints = ARENA_COPY(g->arena, int64_t, &d, 1),
                    .n_ints = 1};
  uint32_t id = plan_node_beside(g, a, made);
  plan_add_user(g, both[0], id);
  if (both[0] != both[1]) plan_add_user(g, both[1], id);
  return id;
}

/* The part of `whole` that `product` is, for who read that. */
static void read_part(plan_graph *g, uint32_t whole, uint32_t product) {
  plan_node n = *plan_node_get(g, product), part = n, *gone = plan_node_get(g, product);
  part.kind = IR_OP_SLICE;
  part.n_operands = 1;
  part.operands = ARENA_COPY(g->arena, uint32_t, &whole, 1);
  part.users = NULL;
  part.n_users = part.users_room = gone->n_users = 0;
  gone->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  uint32_t id = plan_node_new(g, &part);
  plan_add_user(g, whole, id);
  plan_read_instead(g, product, id, n.users, n.n_users);
  for (uint32_t i = 0; i < 2; i++) plan_remove_user(g, n.operands[i], product);
}

/* a and b read the same array on that side. */
static uint32_t merged(plan_graph *g, uint32_t a, uint32_t b, uint32_t side, uint8_t way) {
  plan_node n = *plan_node_get(g, a);
  uint32_t other = 1 - side, both[2] = {n.operands[side], n.operands[side]};
  both[other] = joined(g, a, b, other, way);
  int32_t d = n.shape.rank - 2 + (int32_t)other;
  int64_t *dims = ARENA_COPY(g->arena, int64_t, n.shape.dims, (size_t)n.shape.rank);
  dims[d] += plan_node_get(g, b)->shape.dims[d];
  n.shape = plan_shape_make(g->arena, n.shape.dtype, n.shape.rank, dims);
  n.operands = ARENA_COPY(g->arena, uint32_t, both, 2);
  bool turned = is_turned(&n, way, other);
  n.stands &= (uint8_t)~PLAN_DOT_SIDE(other);
  if (turned) n.stands |= PLAN_DOT_SIDE(other);
  n.users = NULL;
  n.n_users = n.users_room = 0;
  uint32_t made = plan_node_new(g, &n);
  for (uint32_t i = 0; i < 2; i++) plan_add_user(g, both[i], made);
  read_part(g, made, a);
  read_part(g, made, b);
  return made;
}

/* 0: they stay apart. */
static uint32_t try_merge(merger *k, uint32_t array, uint32_t a, uint32_t b) {
  const plan_node *m = plan_node_get(k->g, a), *n = plan_node_get(k->g, b);
  if (!(is_small(k->g, m) || is_small(k->g, n)) || !are_alike(k->g, m, n)) return 0;
  uint8_t way = standing_alike(m, n);
  for (uint32_t side = 0; side < 2 && way; side++) {
    bool same = m->operands[side] == array && n->operands[side] == array &&
                is_turned(m, PLAN_DOT_FOLDED, side) == is_turned(n, PLAN_DOT_FOLDED, side);
    if (same && is_matrix(k->g, m, 1 - side) && is_matrix(k->g, n, 1 - side) &&
        are_independent(k, a, b))
      return merged(k->g, a, b, side, way);
  }
  return 0;
}

/* ---- all ---- */
/* Those that read the array, by their ids. */
static uint32_t products_of(const plan_graph *g, uint32_t array, uint32_t *out) {
  const plan_node *x = plan_node_get(g, array);
  uint32_t count = 0;
  for (uint32_t i = 0; i < x->n_users && count < MOST_PRODUCTS; i++) {
    if (!is_product(g, plan_node_get(g, x->users[i]))) continue;
    uint32_t at = count++;
    for (; at > 0 && out[at - 1] > x->users[i]; at--) out[at] = out[at - 1];
    out[at] = x->users[i];
  }
  return count;
}

static void merge_products_of(merger *k, uint32_t array) {
  uint32_t of[MOST_PRODUCTS], count = products_of(k->g, array, of);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = i + 1; j < count && of[i]; j++) {
      uint32_t made = of[j] ? try_merge(k, array, of[i], of[j]) : 0;
      if (made) of[i] = made, of[j] = 0;
    }
}

void plan_merge_products(plan_graph *g) {
  merger k = {.g = g, .steps = (int64_t)g->nodes.count * STEPS_PER_NODE};
  for (uint32_t id = 1; id < g->nodes.count; id++)
    if (plan_node_get(g, id)->flags & PLAN_FLAG_LIVE) merge_products_of(&k, id);
  plan_graph_sweep(g);
}
