/* Which nodes XLA CPU fuses into their consumers, and so never writes to memory.
 *
 * In reverse post order every node takes in its operands one by one, the latest first, as long
 * as XLA's rules let it; a node that it takes in may stay behind for its other consumers (it is
 * computed twice then). What is left over has a buffer. User lists are kept exactly as XLA keeps
 * them (appended at the end, the last one filling a gap), because the default schedule follows
 * them. Source: XLA's instruction_fusion.cc, cpu_instruction_fusion.cc and
 * fusion_node_indexing_evaluation.cc; where versions differ, jaxlib 0.10.2's HLO decides. */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_graph.h"
#include "plan/peak_kept.h"

enum {
  MOST_DUPLICATION = 15, /* FusionNodeIndexingEvaluation::kAllowedCodeDuplication */
  MOST_CONCATENATED = 8, /* operands of a concatenate that fuses */
  LONG_ROW = 128,        /* elements of rows that are put together by copies, not one by one */
  LEAST_SCAN_BYTES = 4096,
  LEAST_TURNED = 8,               /* columns, and rows, that are turned in tiles */
  LEAST_TURNED_BYTES = 128 << 10, /* less is read across sooner than a kernel is launched */
  STRIP = 128,                    /* rows or columns of a product that a TPU computes at a time */
  /* bound on the work of the all-paths rule; beyond it a node counts as not fusible */
  PATH_STEPS_PER_NODE = 64,
};

/* which fused nodes index an operand anew, at most MOST_DUPLICATION + 1 of them */
typedef struct source_set {
  uint32_t count;
  uint32_t at[MOST_DUPLICATION + 1];
} source_set;

enum { AGAIN = 1, IN_WINDOWS = 2 };

struct plan_fusion {
  uint32_t room;
  uint8_t *reused; /* by operand: AGAIN some fused node reads its elements, IN_WINDOWS a scan */
  /* by operand: some fused node reads it at other indices than the root writes */
  bool *apart;
  bool moves;                /* some fused node reads other elements than its own, but for views */
  source_set *sources;       /* by operand */
  VEC(int64_t) source_count; /* by source: how often it is emitted */
};

typedef struct fuser {
  plan_graph *g;
  uint32_t *position; /* by node: in the post order */
  uint8_t *reach;     /* by node: scratch of the all-paths rule */
  int64_t steps;
  bool all_or_none; /* a node goes into all its readers or none: XLA's priority_fusion.cc */
  uint32_t *place; /* by node: where it is among the operands of the node that takes them in, + 1 */
} fuser;

/* ---- properties of kinds ---- */
bool plan_is_elementwise(const plan_node *n) {
  if (n->kind == PLAN_COPY || n->kind == IR_OP_BITCAST_CONVERT) return true;
  return n->kind < IR_OP_COUNT && ir_is_elementwise(n->kind);
}

bool plan_is_loop_fusible(const plan_node *n) {
  return (plan_traits(n->kind) & PLAN_TRAIT_F) || plan_is_elementwise(n);
}

/* Both operands are read several times: in each strip of so many rows or columns of the result. */
static bool is_wide_product(const plan_node *n) {
  const plan_shape *s = &n->shape;
  return s->rank > 1 && s->dims[s->rank - 1] > STRIP && s->dims[s->rank - 2] > STRIP;
}

/* Whether the node alone reads elements of its operands more than once. */
static uint8_t reuses(const plan_node *n) {
  if (n->kind == IR_OP_DOT_GENERAL) return is_wide_product(n) ? AGAIN : 0;
  bool is_once = (plan_traits(n->kind) & PLAN_TRAIT_O) || plan_is_elementwise(n);
  return is_once ? 0 : n->is_scan ? AGAIN | IN_WINDOWS : AGAIN;
}

/* A cumulative sum along tiles, which XLA:GPU computes anew in each reader. Small ones as well, but
 * theirs count: the estimate of small programs lacks more than these are. */
static bool is_fused_scan(const plan_graph *g, const plan_node *n) {
  return n->kind == IR_OP_REDUCE_WINDOW && n->is_scan && plan_has_libraries(g) &&
         n->shape.bytes >= LEAST_SCAN_BYTES;
}

/* As plan_is_loop_fusible(), and products and scans where they fuse, too. */
static bool may_take_part(const plan_graph *g, const plan_node *n) {
  return plan_is_loop_fusible(n) || is_fused_scan(g, n) ||
         (n->kind == IR_OP_DOT_GENERAL && g->memory && g->memory->fuses_products);
}

static bool is_fusible(const plan_node *n) {
  return n->kind != PLAN_PARAMETER && n->n_comps == 0 && n->kind != IR_OP_GET_TUPLE_ELEMENT &&
         n->kind != IR_OP_TUPLE;
}

static bool is_large_concatenate(const plan_node *n) {
  if (n->kind != IR_OP_CONCATENATE) return false;
  if (n->n_operands > MOST_CONCATENATED) return true;
  int32_t last = n->shape.rank - 1;
  return last > 0 && n->n_ints > 0 && n->ints[0] == last && n->shape.dims[last] >= LONG_ROW;
}

/* ---- the fusion's bookkeeping ---- */
static void add_source(source_set *s, uint32_t source) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->at[i] == source) return;
  if (s->count <= MOST_DUPLICATION) s->at[s->count++] = source;
}

static int64_t emitted(const plan_fusion *f, const source_set *s) {
  int64_t total = 0;
  for (uint32_t i = 0; i < s->count && total < INT32_MAX; i++)
    total += f->source_count.at[s->at[i]];
  return s->count > MOST_DUPLICATION ? INT32_MAX : total;
}

static void grow_operands(fuser *f, plan_node *n) {
  plan_fusion *fusion = n->fusion;
  if (n->n_operands < fusion->room) return;
  uint32_t room = fusion->room * 2 + 4;
  arena *a = f->g->arena;
  uint32_t *operands = ARENA_ARRAY(a, uint32_t, room);
  uint8_t *reused = ARENA_ARRAY(a, uint8_t, room);
  bool *apart = ARENA_ARRAY(a, bool, room);
  source_set *sources = ARENA_ARRAY(a, source_set, room);
  if (n->n_operands) memcpy(operands, n->operands, n->n_operands * sizeof *operands);
  if (fusion->room) {
    memcpy(reused, fusion->reused, fusion->room * sizeof *reused);
    memcpy(apart, fusion->apart, fusion->room * sizeof *apart);
    memcpy(sources, fusion->sources, fusion->room * sizeof *sources);
  }
  n->operands = operands;
  fusion->reused = reused;
  fusion->apart = apart;
  fusion->sources = sources;
  fusion->room = room;
}

static uint32_t add_operand(fuser *f, uint32_t node, uint32_t operand) {
  plan_node *n = plan_node_get(f->g, node);
  if (f->place[operand]) return f->place[operand] - 1;
  grow_operands(f, n);
  n->operands[n->n_operands] = operand;
  n->fusion->reused[n->n_operands] = 0;
  n->fusion->apart[n->n_operands] = false;
  n->fusion->sources[n->n_operands].count = 0;
  plan_add_user(f->g, operand, node);
  f->place[operand] = ++n->n_operands;
  return n->n_operands - 1;
}

static bool moves(const plan_graph *g, const plan_node *n) {
  bool is_of_constant =
      n->n_operands == 1 && plan_node_get(g, n->operands[0])->kind == IR_OP_CONSTANT;
  return n->n_operands && !is_of_constant && !plan_is_elementwise(n) && n->kind != PLAN_BITCAST;
}

/* What `like` reads, with `users` indexing it and `count` emissions, becomes operands of the
 * fusion. */
static void read_operands(fuser *f, uint32_t node, const plan_node *like, const source_set *users,
                          uint8_t all_reused, bool all_apart) {
  plan_fusion *fusion = plan_node_get(f->g, node)->fusion;
  uint32_t own = UINT32_MAX;
  fusion->moves |= moves(f->g, like);
  for (uint32_t i = 0; i < like->n_operands; i++) {
    uint32_t operand = like->operands[i], k = add_operand(f, node, operand);
    fusion->reused[k] |= all_reused | reuses(like);
    fusion->apart[k] |= all_apart || !plan_is_elementwise(like) ||
                        !plan_same_dims(&plan_node_get(f->g, operand)->shape, &like->shape);
    if (plan_same_dims(&plan_node_get(f->g, operand)->shape, &like->shape)) {
      for (uint32_t s = 0; s < users->count; s++) add_source(&fusion->sources[k], users->at[s]);
      continue;
    }
    if (own == UINT32_MAX) {
      own = fusion->source_count.count;
      VEC_PUSH(f->g->arena, &fusion->source_count, emitted(fusion, users));
    }
    add_source(&fusion->sources[k], own);
  }
}

static void become_fusion(fuser *f, uint32_t node) {
  plan_node like = *plan_node_get(f->g, node), *n = plan_node_get(f->g, node);
  CTX_CHECK(f->g->m->ctx, !n->fusion && n->n_comps == 0);
  n->fusion = ARENA_NEW(f->g->arena, plan_fusion);
  VEC_PUSH(f->g->arena, &n->fusion->source_count, 1);
  n->kind = PLAN_FUSION;
  n->cycles = plan_cycles(&like);
  n->n_operands = 0;
  n->flags &= (uint8_t)~PLAN_FLAG_KEPT;
  if (like.kind == IR_OP_DYNAMIC_UPDATE_SLICE) n->flags |= PLAN_FLAG_UPDATE;
  for (uint32_t i = 0; i < like.n_operands; i++) {
    plan_remove_user(f->g, like.operands[i], node);
    f->place[like.operands[i]] = 0;
  }
  source_set root = {.count = 1, .at = {0}};
  read_operands(f, node, &like, &root, 0, false);
  if (like.in_place) n->in_place = 1 + plan_operand_index(n, like.operands[0]);
}

static void drop_operand(fuser *f, uint32_t node, uint32_t i) {
  plan_node *n = plan_node_get(f->g, node);
  plan_fusion *fusion = n->fusion;
  CTX_CHECK(f->g->m->ctx, i < n->n_operands && f->place[n->operands[i]] == i + 1);
  plan_remove_user(f->g, n->operands[i], node);
  f->place[n->operands[i]] = 0;
  n->n_operands--;
  memmove(n->operands + i, n->operands + i + 1, (n->n_operands - i) * sizeof *n->operands);
  memmove(fusion->apart + i, fusion->apart + i + 1, (n->n_operands - i) * sizeof *fusion->apart);
  memmove(fusion->reused + i, fusion->reused + i + 1, (n->n_operands - i) * sizeof *fusion->reused);
  memmove(fusion->sources + i, fusion->sources + i + 1,
          (n->n_operands - i) * sizeof *fusion->sources);
  for (uint32_t k = i; k < n->n_operands; k++) f->place[n->operands[k]] = k + 1;
  if (n->in_place == i + 1) n->in_place = 0;
  else if (n->in_place > i + 1) n->in_place--;
}

static void remove_if_dead(fuser *f, uint32_t node) {
  plan_node *n = plan_node_get(f->g, node);
  if (n->n_users || plan_comp_get(f->g, n->comp)->root == node || n->kind == PLAN_PARAMETER) return;
  n->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  for (uint32_t i = 0; i < n->n_operands; i++) plan_remove_user(f->g, n->operands[i], node);
}

static void fuse(fuser *f, uint32_t producer, uint32_t node) {
  if (plan_node_get(f->g, node)->kind != PLAN_FUSION) become_fusion(f, node);
  plan_node *n = plan_node_get(f->g, node);
  uint32_t i = f->place[producer] - 1;
  source_set users = n->fusion->sources[i];
  uint8_t reused = n->fusion->reused[i];
  bool apart = n->fusion->apart[i];
  plan_node p = *plan_node_get(f->g, producer);
  drop_operand(f, node, i);
  n->cycles = saturated_sum(n->cycles, plan_cycles(&p));
  read_operands(f, node, &p, &users, reused, apart);
  remove_if_dead(f, producer);
}

bool plan_is_made_elementwise(const plan_node *n) {
  if (n->in_place || !n->n_operands) return false;
  return n->kind == PLAN_FUSION ? !n->fusion->moves : plan_is_elementwise(n);
}

bool plan_shares_buffer(const plan_graph *g, uint32_t node, uint32_t member, uint32_t i) {
  const plan_node *n = plan_node_get(g, node), *x = plan_node_get(g, n->operands[i]);
  if (n->in_place == i + 1) return member == 0;
  if (n->results) return n->written_over[i] == member + 1;
  bool is_tiled = g->memory && g->memory->tile_lanes;
  if (n->kind == IR_OP_SORT) return member == i && x->n_users == 1 && !is_tiled;
  if (n->kind == PLAN_COPY || n->of_rows) return false;
  if (n->shape.is_tuple || x->shape.dtype != n->shape.dtype ||
      !plan_same_dims(&x->shape, &n->shape))
    return false;
  return n->kind == PLAN_FUSION ? !n->fusion->apart[i] : plan_is_elementwise(n);
}

/* ---- may it? ---- */
static bool would_duplicate(const plan_node *p, uint32_t consumer) {
  for (uint32_t i = 0; i < p->n_users; i++)
    if (p->users[i] != consumer) return true;
  return false;
}

/* A producer that reads the array which the consumer updates in place would see the update. The
 * same slice is fine. */
static bool in_place_allows(const plan_graph *g, const plan_node *p, const plan_node *c) {
  if (!c->in_place || plan_is_elementwise(p)) return true;
  uint32_t target = c->operands[c->in_place - 1];
  if (plan_operand_index(p, target) == UINT32_MAX) return true;
  if (p->kind != IR_OP_DYNAMIC_SLICE || p->operands[0] != target) return false;
  for (uint32_t i = 1; i < p->n_operands; i++)
    if (plan_node_get(g, p->operands[i])->kind != IR_OP_CONSTANT &&
        plan_operand_index(c, p->operands[i]) == UINT32_MAX)
      return false;
  return true;
}

static bool duplicates_code(const plan_node *p, const plan_node *c, uint32_t i) {
  if (p->kind == IR_OP_BROADCAST_IN_DIM) return false;
  int64_t count = emitted(c->fusion, &c->fusion->sources[i]);
  if (count > MOST_DUPLICATION) return true;
  bool opens_a_block = plan_traits(p->kind) & PLAN_TRAIT_B; /* OpInvalidatesCache */
  return opens_a_block && (count > 1 || p->n_users > 1);
}

/* Not with a vector, which is a sum of products there; a matrix of one column is none. */
static bool is_product_of_matrices(const plan_graph *g, const plan_node *n) {
  ir_dot_numbers dims;
  bool is = n->op && plan_is_product(g, n) && ir_kind_of(g->m, n->op) == IR_OP_DOT_GENERAL &&
            ir_dot_dims(g->m, n->op, &dims);
  for (uint32_t side = 0; side < 2 && is; side++) {
    int32_t rank = ir_type_at(g->m, ir_operand(g->m, n->op, side))->rank;
    is = rank > ir_dot_batch(&dims, side).count + ir_dot_contract(&dims, side).count;
  }
  return is;
}

/* XLA:TPU's products of matrices, and its sums, take in what makes their operands, but for sums. */
static bool is_sum_for_sum(const plan_graph *g, const plan_node *p, const plan_node *c) {
  return p->kind == IR_OP_REDUCE && g->memory && g->memory->fuses_products &&
         (plan_kind_at_root(g, c) == IR_OP_REDUCE || is_product_of_matrices(g, c));
}

/* What a scan reads again and again is computed before, but for moves and what takes little. */
static bool goes_into_windows(const plan_graph *g, uint32_t producer) {
  const plan_node *p = plan_node_get(g, producer);
  return p->kind == PLAN_BITCAST || p->kind == IR_OP_PAD || p->kind == IR_OP_TRANSPOSE ||
         p->kind == IR_OP_BROADCAST_IN_DIM || p->kind == IR_OP_IOTA || p->kind == IR_OP_CONSTANT ||
         plan_is_cheap_in_windows(g, producer);
}

/* Whether what the scan sums up is computed in its windows, not read. */
static bool scans_computed(const plan_graph *g, const plan_node *scan) {
  uint32_t x = scan->operands[0];
  for (;;) {
    const plan_node *n = plan_node_get(g, x);
    bool moves = n->kind == PLAN_BITCAST || n->kind == IR_OP_PAD || n->kind == IR_OP_TRANSPOSE;
    if (!moves) return plan_is_cheap_in_windows(g, x);
    x = n->operands[0];
  }
}

/* A scan goes into two readers at most, of which one takes the last of each tile; not where it is
 * spread. What is computed for it and fits in the cache is written before it is summed. */
static bool may_scan_in(const plan_graph *g, const plan_node *p, const plan_node *c) {
  bool is_sum = plan_kind_at_root(g, c) == IR_OP_REDUCE,
       is_cached = p->shape.bytes <= g->memory->cache_bytes;
  return p->n_users <= 2 && c->shape.elements <= p->shape.elements &&
         c->summed <= p->shape.elements && !(is_sum && is_cached && scans_computed(g, p));
}

static bool may_fuse(const fuser *f, uint32_t consumer, uint32_t i) {
  const plan_graph *g = f->g;
  const plan_node *c = plan_node_get(g, consumer), *p = plan_node_get(g, c->operands[i]);
  if (p->kind == IR_OP_CONSTANT && (p->shape.elements != 1 || c->kind != PLAN_FUSION)) return false;
  if (p->kind != IR_OP_CONSTANT && !may_take_part(g, p)) return false;
  if (is_large_concatenate(p) || is_large_concatenate(c)) return false;
  if (is_sum_for_sum(g, p, c)) return false;
  bool is_fusion = c->kind == PLAN_FUSION;
  if (!is_fusion && !may_take_part(g, c)) return false;
  bool expensive = p->flags & PLAN_FLAG_EXPENSIVE, is_scan = is_fused_scan(g, p);
  bool again = is_scan || (g->memory && g->memory->fuses_sums && plan_is_elementwise(p));
  uint8_t reused = is_fusion ? c->fusion->reused[i] : reuses(c);
  bool in_windows = plan_has_libraries(g) && (reused & IN_WINDOWS);
  if (in_windows && !goes_into_windows(g, c->operands[i])) return false;
  if (is_scan && !may_scan_in(g, p, c)) return false;
  if (expensive && reused && !is_scan) return false;
  if (expensive && !again && would_duplicate(p, consumer)) return false;
  if (!in_place_allows(g, p, c)) return false;
  if (!is_fusion || is_scan || in_windows) return true;
  return !duplicates_code(p, c, i);
}

/* ---- nodes that must not be computed twice ---- */
static bool is_light(const plan_node *n) {
  return n->kind == IR_OP_BROADCAST_IN_DIM || n->kind == IR_OP_IOTA ||
         (n->kind == IR_OP_CONSTANT && n->shape.elements == 1);
}

/* What library calls want or give column by column is laid out anew where it meets the rest, and
 * so are the broadcasts beside it: XLA sees copies there. */
static bool meets_relayout(const plan_graph *g, const plan_node *n, int depth) {
  bool meets = n->kind == PLAN_RELAYOUT;
  for (uint32_t i = 0; i < n->n_operands && !meets && depth < 4 && plan_is_elementwise(n); i++)
    meets = meets_relayout(g, plan_node_get(g, n->operands[i]), depth + 1);
  return meets;
}

static bool at_most_unary(const plan_graph *g, const plan_node *n) {
  int32_t large = 0, spread = 0, rank = n->shape.true_rank;
  for (uint32_t i = 0; i < n->shape.n_members; i++)
    rank = n->shape.members[i].true_rank > rank ? n->shape.members[i].true_rank : rank;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    const plan_node *x = plan_node_get(g, n->operands[i]);
    large += !is_light(x) && x->shape.true_rank >= rank;
    spread += x->kind == IR_OP_BROADCAST_IN_DIM;
  }
  return large <= 1 && !(large == 1 && spread && meets_relayout(g, n, 0));
}

enum { REACHED = 1, PATHS_KNOWN = 2, PATHS_GOOD = 4, SEEN = 8 };

/* An operand that it has twice counts once. */
static bool shrinks(fuser *f, const plan_node *n) {
  int64_t in = 0, out = n->shape.elements;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint8_t *reach = &f->reach[n->operands[i]];
    if (*reach & SEEN) continue;
    *reach |= SEEN;
    in = saturated_sum(in, plan_node_get(f->g, n->operands[i])->shape.elements);
  }
  for (uint32_t i = 0; i < n->n_operands; i++) f->reach[n->operands[i]] &= (uint8_t)~SEEN;
  for (uint32_t i = 0; i < n->shape.n_members; i++)
    out = saturated_sum(out, n->shape.members[i].elements);
  return in > out;
}

/* Whether `consumer` can take in everything between it and the producer. Nodes that the producer
 * reaches are marked REACHED. */
static bool fuses_on_all_paths(fuser *f, uint32_t producer, uint32_t consumer, int depth) {
  if (consumer == producer) return true;
  if (f->reach[consumer] & PATHS_KNOWN) return f->reach[consumer] & PATHS_GOOD;
  const plan_node *c = plan_node_get(f->g, consumer);
  bool good = is_fusible(c) && depth < 500;
  for (uint32_t i = 0; i < c->n_operands && good; i++) {
    uint32_t x = c->operands[i];
    f->steps--;
    if (x != producer && !(f->reach[x] & REACHED)) continue;
    good = !(plan_node_get(f->g, x)->flags & (PLAN_FLAG_KEPT | PLAN_FLAG_HELD)) &&
           may_fuse(f, consumer, i) && fuses_on_all_paths(f, producer, x, depth + 1);
  }
  f->reach[consumer] |= PATHS_KNOWN | (good ? PATHS_GOOD : 0);
  return good;
}

/* Without what lies between, which takes long to find: no path ends well where this is false. */
static bool fuses_into_each(const fuser *f, uint32_t producer) {
  const plan_node *p = plan_node_get(f->g, producer);
  bool fuses = is_fusible(p) && !(p->flags & PLAN_FLAG_HELD);
  for (uint32_t i = 0; i < p->n_users && fuses; i++) {
    const plan_node *u = plan_node_get(f->g, p->users[i]);
    fuses = is_fusible(u);
    for (uint32_t k = 0; k < u->n_operands && fuses; k++)
      fuses = u->operands[k] != producer || may_fuse(f, p->users[i], k);
  }
  return fuses;
}

static bool fuses_into_all(fuser *f, uint32_t producer, const uint32_t *order, uint32_t count) {
  const plan_node *p = plan_node_get(f->g, producer);
  uint32_t first = f->position[producer], last = first;
  for (uint32_t i = 0; i < p->n_users; i++)
    if (f->position[p->users[i]] > last) last = f->position[p->users[i]];
  if (!fuses_into_each(f, producer)) return false;
  f->steps -= last - first;
  if (f->steps < 0) return false;
  CTX_CHECK(f->g->m->ctx, last < count);
  /* what the producer reaches, up to its last user */
  for (uint32_t k = first + 1; k <= last; k++) {
    const plan_node *n = plan_node_get(f->g, order[k]);
    f->reach[order[k]] = 0;
    for (uint32_t i = 0; i < n->n_operands; i++) {
      uint32_t at = f->position[n->operands[i]];
      if (n->operands[i] == producer ||
          (at > first && at < k && (f->reach[n->operands[i]] & REACHED)))
        f->reach[order[k]] = REACHED;
    }
  }
  bool good = true;
  for (uint32_t i = 0; i < p->n_users && good; i++)
    good = fuses_on_all_paths(f, producer, p->users[i], 0);
  for (uint32_t k = first + 1; k <= last; k++) f->reach[order[k]] = 0;
  return good;
}

/* Whether somebody who fuses with nobody reads it through views. */
static bool is_read_as_it_is(const fuser *f, uint32_t view) {
  const plan_node *n = plan_node_get(f->g, view);
  if (n->kind != PLAN_BITCAST) return false;
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *u = plan_node_get(f->g, n->users[i]);
    bool fuses = is_fusible(u) && (u->kind == PLAN_FUSION || may_take_part(f->g, u));
    if (!fuses || is_read_as_it_is(f, n->users[i])) return true;
  }
  return n->n_users == 0;
}

bool plan_is_product(const plan_graph *g, const plan_node *n) {
  return plan_kind_at_root(g, n) == IR_OP_DOT_GENERAL;
}

/* Arrays behind it that are dear to compute and at least as large. */
static int32_t dear_behind(const plan_graph *g, uint32_t node, int64_t bytes, int32_t depth) {
  const plan_node *n = plan_node_get(g, node);
  int32_t count = 0;
  if (depth == 0 || (n->flags & PLAN_FLAG_HELD) || !plan_is_loop_fusible(n)) return 0;
  if (n->flags & PLAN_FLAG_EXPENSIVE) return n->shape.bytes >= bytes;
  for (uint32_t i = 0; i < n->n_operands; i++)
    count += dear_behind(g, n->operands[i], bytes, depth - 1);
  return count;
}

/* Several readers that read elements several times: none takes in what is dear. Of two such arrays
 * and what is computed from both, that is less. */
static bool is_less_than_dear(const fuser *f, uint32_t producer) {
  const plan_node *p = plan_node_get(f->g, producer);
  if (p->n_users < 2 || !plan_is_elementwise(p)) return false;
  for (uint32_t i = 0; i < p->n_users; i++) {
    const plan_node *u = plan_node_get(f->g, p->users[i]);
    uint32_t slot = plan_operand_index(u, producer);
    if (!(u->kind == PLAN_FUSION ? u->fusion->reused[slot] : reuses(u))) return false;
  }
  return dear_behind(f->g, producer, p->shape.bytes, PLAN_SEEN_OF_OPERANDS) > 1;
}

/* Whether every reader takes it in. What several readers would compute from more than it is stays,
 * for reading it is cheaper. Marks what stays for products as narrow. */
static bool fuses_into_readers(const fuser *f, uint32_t producer) {
  const plan_node *p = plan_node_get(f->g, producer);
  if (plan_is_kept_for_products(f->g, producer)) {
    plan_node_get(f->g, producer)->narrow = true;
    return false;
  }
  if (is_less_than_dear(f, producer) || plan_is_kept(f->g, producer)) return false;
  for (uint32_t i = 0; i < p->n_users; i++) {
    const plan_node *u = plan_node_get(f->g, p->users[i]);
    uint32_t slot = plan_operand_index(u, producer);
    CTX_CHECK(f->g->m->ctx, slot != UINT32_MAX); /* a user reads it */
    if (!is_fusible(u) || !may_fuse(f, p->users[i], slot)) return false;
    if (p->n_users > 1 && is_read_as_it_is(f, p->users[i])) return false;
  }
  return true;
}

static void keep_unfusible(fuser *f, const uint32_t *order, uint32_t count) {
  f->steps = (int64_t)count * PATH_STEPS_PER_NODE + 100000;
  for (uint32_t k = count; k-- > 0;) {
    plan_node *p = plan_node_get(f->g, order[k]);
    if (!plan_is_loop_fusible(p) || at_most_unary(f->g, p) || !shrinks(f, p)) continue;
    if (p->n_users == 1) {
      uint32_t i = plan_operand_index(plan_node_get(f->g, p->users[0]), order[k]);
      CTX_CHECK(f->g->m->ctx, i != UINT32_MAX); /* a user reads it */
      if (is_fusible(plan_node_get(f->g, p->users[0])) && may_fuse(f, p->users[0], i)) continue;
    } else if (fuses_into_all(f, order[k], order, count)) continue;
    p->flags |= PLAN_FLAG_KEPT;
  }
}

/* ---- the pass ---- */
typedef struct candidate {
  uint32_t position, operand;
} candidate;

typedef struct candidates { /* a node's operands, the latest in post order first, each once */
  uint32_t count, room;
  candidate *at;
} candidates;

static void add_candidate(const fuser *f, candidates *c, uint32_t operand) {
  uint32_t position = f->position[operand], k = c->count;
  while (k > 0 && c->at[k - 1].position < position) k--;
  if (k > 0 && c->at[k - 1].operand == operand) return;
  if (c->count == c->room) {
    candidate *old = c->at;
    c->at = ARENA_ARRAY(f->g->arena, candidate, c->room = 2 * c->room + 8);
    if (c->count) memcpy(c->at, old, c->count * sizeof *old);
  }
  memmove(c->at + k + 1, c->at + k, (c->count++ - k) * sizeof *c->at);
  c->at[k] = (candidate){position, operand};
}

static void remove_candidate(candidates *c, uint32_t k) {
  memmove(c->at + k, c->at + k + 1, (--c->count - k) * sizeof *c->at);
}

/* Takes in the first operand that may be; what it reads becomes candidates. */
static bool fuse_one(fuser *f, uint32_t node, candidates *c) {
  for (uint32_t k = 0; k < c->count; k++) {
    uint32_t producer = c->at[k].operand;
    const plan_node *p = plan_node_get(f->g, producer);
    if (!is_fusible(p) || (p->flags & (PLAN_FLAG_KEPT | PLAN_FLAG_HELD)) ||
        !may_fuse(f, node, f->place[producer] - 1) ||
        (f->all_or_none && !fuses_into_readers(f, producer)))
      continue;
    fuse(f, producer, node);
    remove_candidate(c, k);
    p = plan_node_get(f->g, producer);
    for (uint32_t i = 0; i < p->n_operands; i++) add_candidate(f, c, p->operands[i]);
    return true;
  }
  return false;
}

static void fuse_comp(fuser *f, uint32_t comp) {
  uint32_t *order = plan_post_order(f->g, comp), count = plan_comp_get(f->g, comp)->nodes.count;
  candidates c = {0};
  for (uint32_t k = 0; k < count; k++) f->position[order[k]] = k;
  if (!f->all_or_none) keep_unfusible(f, order, count);
  for (uint32_t k = count; k-- > 0;) {
    const plan_node *n = plan_node_get(f->g, order[k]);
    bool takes = n->kind == PLAN_FUSION || may_take_part(f->g, n);
    if (!(n->flags & PLAN_FLAG_LIVE) || !is_fusible(n) || !takes) continue;
    c.count = 0;
    for (uint32_t i = n->n_operands; i-- > 0;) {
      f->place[n->operands[i]] = i + 1;
      add_candidate(f, &c, n->operands[i]);
    }
    while (fuse_one(f, order[k], &c)) continue;
    n = plan_node_get(f->g, order[k]);
    for (uint32_t i = 0; i < n->n_operands; i++) f->place[n->operands[i]] = 0;
  }
}

/* Before anything is fused: whether several read it, or what is made of it alone, of as many
 * elements or broadcast (softmax_rewriter_triton.cc: "More than one use of broadcast or reduce").
 */
static bool is_read_by_several(const plan_graph *g, const plan_node *sum) {
  const plan_node *n = sum;
  for (int32_t steps = 0; n->n_users == 1 && steps < PLAN_SEEN_OF_OPERANDS; steps++) {
    n = plan_node_get(g, n->users[0]);
    bool is_made_of_it = n->kind == IR_OP_BROADCAST_IN_DIM || n->kind == PLAN_BITCAST ||
                         (plan_is_elementwise(n) && n->shape.elements == sum->shape.elements);
    if (!is_made_of_it) return false;
  }
  return n->n_users > 1;
}

static void mark_sums(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    plan_node *n = plan_node_get(g, id);
    if (n->kind == IR_OP_REDUCE) n->is_read_again = is_read_by_several(g, n);
  }
}

/* The user becomes a fusion, which is the sum with another result. */
static void become_sum(fuser *f, uint32_t sum, uint32_t user) {
  const plan_node s = *plan_node_get(f->g, sum);
  f->place[sum] = 1;
  fuse(f, sum, user);
  plan_node *n = plan_node_get(f->g, user);
  n->op = s.op;
  n->flags |= PLAN_FLAG_HELD;
  n->blocks = s.blocks;
  n->summed = s.summed;
  n->of_columns = s.of_columns;
  n->is_read_again = s.is_read_again;
  for (uint32_t i = 0; i < n->n_operands; i++) f->place[n->operands[i]] = 0;
}

/* XLA:GPU takes ops of one operand into what ends with a sum, and nothing else
 * (hlo_fusion_analysis.cc: FindNonTrivialHero). Where it makes the result narrower that counts. */
static void narrow_sums(fuser *f) {
  for (uint32_t id = 1; id < f->g->nodes.count; id++) {
    const plan_node *n = plan_node_get(f->g, id);
    if (n->kind != IR_OP_REDUCE || !(n->flags & PLAN_FLAG_HELD) || n->n_users != 1) continue;
    const plan_node *user = plan_node_get(f->g, n->users[0]);
    if (user->kind == IR_OP_CONVERT && user->shape.bytes < n->shape.bytes)
      become_sum(f, id, n->users[0]);
  }
}

/* Rows become columns; not where a scan goes along columns, which XLA does as they lie. */
static bool is_turned(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_TRANSPOSE || n->shape.bytes < LEAST_TURNED_BYTES) return false;
  if (n->op && ir_kind_of(g->m, n->op) == IR_OP_REDUCE_WINDOW) return false;
  const plan_shape *from = &plan_node_get(g, n->operands[0])->shape;
  bool is = n->ints[plan_innermost_dim(&n->shape)] != plan_innermost_dim(from);
  return is && plan_innermost(&n->shape) >= LEAST_TURNED && plan_innermost(from) >= LEAST_TURNED;
}

static bool is_made_of_turned(const plan_graph *g, const plan_node *n, int32_t depth) {
  if (n->flags & PLAN_FLAG_HELD) return false;
  bool is = is_turned(g, n);
  for (uint32_t i = 0; i < n->n_operands && !is && depth > 0 && plan_is_elementwise(n); i++)
    is = is_made_of_turned(g, plan_node_get(g, n->operands[i]), depth - 1);
  return is;
}

/* Who moves or spreads elements would read across rows, which XLA:GPU counts as slow: what is
 * turned is written first. Gathers and slices at places that data names are taken before it is
 * turned. */
static bool reads_across(const plan_node *n) {
  return n->kind == IR_OP_PAD || n->kind == IR_OP_SLICE || n->kind == IR_OP_CONCATENATE ||
         n->kind == IR_OP_BROADCAST_IN_DIM;
}

static void hold_turned(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    for (uint32_t i = 0; i < n->n_operands && reads_across(n); i++) {
      plan_node *x = plan_node_get(g, n->operands[i]);
      while (x->kind == PLAN_BITCAST) x = plan_node_get(g, x->operands[0]);
      if (is_made_of_turned(g, x, PLAN_SEEN_OF_OPERANDS)) x->flags |= PLAN_FLAG_HELD;
    }
  }
}

void plan_fuse(plan_graph *g) {
  fuser f = {.g = g,
             .all_or_none = g->memory && g->memory->fuses_sums,
             .position = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count),
             .reach = ARENA_ARRAY(g->arena, uint8_t, g->nodes.count),
             .place = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count)};
  if (plan_has_libraries(g)) hold_turned(g), mark_sums(g), narrow_sums(&f);
  for (uint32_t c = 1; c < g->comps.count; c++) fuse_comp(&f, c);
  plan_graph_sweep(g);
}
