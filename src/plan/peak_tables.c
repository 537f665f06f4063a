/* Tables of pointers that XLA:GPU makes beside the results: a node of several results has one, each
 * table an allocation of its own.
 *
 * Fusions that read one array in loops of one length become one fusion with a result for each, and
 * so do a fusion and one of several that read what it makes. Only their tables are counted here:
 * which values live at once is left as it is. Where XLA sees that one of them needs another, or
 * that many together take too many registers, it makes several fusions of them: a few bytes more or
 * less. In: the fused graph. Source: XLA's multi_output_fusion.cc, gpu_fusible.cc. */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_graph.h"

enum { POINTER_BYTES = 8, MOST_LOOPS = 16 /* over one array */, MOST_STEPS = 200, WARP = 32 };

void plan_add_table(plan_graph *g, uint32_t results) {
  if (!g->memory || !g->memory->joins_results) return;
  VEC_PUSH(g->arena, &g->tables, POINTER_BYTES * (int64_t)results);
}

typedef struct maker { /* what makes one or several results */
  uint32_t joined;     /* union-find: the first of them */
  uint32_t next, last; /* of those that joined it; 0: none */
  uint32_t results;
  uint32_t seen; /* the walk that met it */
  bool is_fusion;
} maker;

typedef struct joiner {
  plan_graph *g;
  uint32_t count;
  maker *makers; /* by node */
  uint32_t walk;
  VEC(uint32_t) todo;
} joiner;

static uint32_t first_of(joiner *j, uint32_t id) {
  while (j->makers[id].joined != id)
    id = j->makers[id].joined = j->makers[j->makers[id].joined].joined;
  return id;
}

static void join(joiner *j, uint32_t a, uint32_t b) {
  a = first_of(j, a), b = first_of(j, b);
  if (a == b) return;
  j->makers[b].joined = a;
  j->makers[j->makers[a].last].next = b;
  j->makers[a].last = j->makers[b].last;
  j->makers[a].results += j->makers[b].results;
  CTX_CHECK(j->g->m->ctx, j->makers[a].results <= j->count);
  j->makers[a].is_fusion |= j->makers[b].is_fusion;
}

static void meet(joiner *j, uint32_t id) {
  if (id >= j->count || j->makers[id].seen == j->walk) return;
  j->makers[id].seen = j->walk;
  VEC_PUSH(j->g->arena, &j->todo, id);
}

/* Whether a walk back from what `from` makes comes to `to`; of long ways it is not known. */
static bool needs(joiner *j, uint32_t from, uint32_t to) {
  from = first_of(j, from), to = first_of(j, to);
  j->walk++;
  j->todo.count = 0;
  for (uint32_t id = from; id; id = j->makers[id].next) meet(j, id);
  for (uint32_t steps = 0; j->todo.count && steps < MOST_STEPS; steps++) {
    uint32_t id = j->todo.at[--j->todo.count];
    const plan_node *n = plan_node_get(j->g, id);
    if (first_of(j, id) == to) return true;
    for (uint32_t i = 0; i < n->n_operands; i++) meet(j, n->operands[i]);
  }
  return false;
}

static bool are_apart(joiner *j, uint32_t a, uint32_t b) {
  return !needs(j, a, b) && !needs(j, b, a);
}

/* Elements that a reduce sums into one: those that lie together, if any do. */
static int64_t summed_at_once(const plan_graph *g, const plan_node *n, bool *out_is_row) {
  const ir_type_data *t = ir_type_at(g->m, ir_operand(g->m, n->op, 0));
  int32_t count;
  const int64_t *dims = ir_op_ints((ir_module *)g->m, n->op, "dimensions", &count);
  int64_t row = 1, all = 1;
  *out_is_row = true;
  for (int32_t d = t->rank; d-- > 0;) {
    bool is_summed = false;
    for (int32_t i = 0; i < count; i++) is_summed |= dims[i] == d;
    if (is_summed) all = saturated_product(all, t->dims[d]);
    else if (t->dims[d] != 1) {
      if (all == 1) *out_is_row = false;
      else if (row == 1) row = all;
    }
  }
  return *out_is_row && row > 1 ? row : all;
}

/* Sums by threads together, not each by one of its own: long ones, and rows that divide a warp.
 * (IsUnnestedReductionFasterThanElemental) */
static bool is_sum(const plan_graph *g, const plan_node *n) {
  bool is_row;
  if (plan_kind_at_root(g, n) != IR_OP_REDUCE || ir_kind_of(g->m, n->op) != IR_OP_REDUCE)
    return false;
  int64_t length = summed_at_once(g, n, &is_row);
  return length >= WARP || (is_row && length > 0 && WARP % length == 0);
}

/* How often its loop goes round: a sum's over what it sums. */
static int64_t length_of_loop(const plan_graph *g, const plan_node *n) {
  if (!is_sum(g, n)) return n->shape.is_tuple ? n->shape.members[0].elements : n->shape.elements;
  if (n->kind == IR_OP_REDUCE) return plan_node_get(g, n->operands[0])->shape.elements;
  return ir_element_count(g->m, ir_type_of(g->m, ir_operand(g->m, n->op, 0)));
}

static bool may_take_in(const plan_node *n) {
  return plan_is_loop_fusible(n) || n->kind == IR_OP_REDUCE_WINDOW;
}

/* XLA has a fusion of it: of what takes in numbers, and of what is several ops there. */
static bool is_fusion(const plan_graph *g, const plan_node *n) {
  bool is = n->kind == PLAN_FUSION || (n->kind >= IR_OP_CHLO_ACOS && n->kind <= IR_OP_CHLO_ZETA);
  for (uint32_t i = 0; i < n->n_operands && !is && may_take_in(n); i++) {
    const plan_node *x = plan_node_get(g, n->operands[i]);
    is = x->kind == IR_OP_CONSTANT && x->shape.elements == 1;
  }
  return is;
}

/* XLA's FusibleAsMultiOutputFusionRoot: fusions, sums, and single ops that are elementwise. */
static bool may_join(const plan_graph *g, const plan_node *n) {
  bool is_root = is_fusion(g, n) || n->kind == IR_OP_REDUCE || plan_is_elementwise(n);
  return is_root && (n->flags & PLAN_FLAG_LIVE) && !n->in_place && n->n_users > 0 &&
         (!n->shape.is_tuple || is_sum(g, n));
}

typedef struct loop {     /* over one array */
  int64_t length, summed; /* summed: elements of sums' results; 0: none sums */
  uint32_t first;
} loop;

typedef struct loops {
  uint32_t count;
  loop at[MOST_LOOPS];
} loops;

static int64_t results_of_sum(const plan_graph *g, const plan_node *n) {
  if (!is_sum(g, n)) return 0;
  return n->shape.is_tuple ? n->shape.members[0].elements : n->shape.elements;
}

/* Joins it to those of its length; two sums of one length are of one shape, too. */
static void join_loop(joiner *j, loops *l, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  int64_t length = length_of_loop(j->g, n), summed = results_of_sum(j->g, n);
  for (uint32_t i = 0; i < l->count; i++) {
    loop *at = &l->at[i];
    if (at->length != length || (summed && at->summed && at->summed != summed)) continue;
    if (!j->makers[first_of(j, at->first)].is_fusion && !j->makers[first_of(j, id)].is_fusion)
      continue;
    if (!are_apart(j, at->first, id)) continue;
    if (summed) at->summed = summed;
    join(j, at->first, id);
    return;
  }
  if (l->count < MOST_LOOPS) l->at[l->count++] = (loop){length, summed, id};
}

/* Those that read it; fusions come first. */
static void join_readers(joiner *j, uint32_t array) {
  const plan_node *x = plan_node_get(j->g, array);
  loops l = {0};
  if (x->shape.is_tuple || x->shape.elements == 1 || x->kind == IR_OP_CONSTANT) return;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < x->n_users; i++) {
      uint32_t u = x->users[i];
      bool is_first = u < j->count && j->makers[first_of(j, u)].is_fusion;
      if (u < j->count && is_first == (pass == 0) && may_join(j->g, plan_node_get(j->g, u)))
        join_loop(j, &l, u);
    }
}

/* Made element by element, for several readers or for a fusion of several results. */
static bool may_join_reader(joiner *j, const plan_node *n) {
  if (!may_join(j->g, n) || n->shape.is_tuple || n->shape.true_rank == 0) return false;
  if (is_sum(j->g, n) && n->kind == PLAN_FUSION) return false;
  return n->n_users > 1 || j->makers[first_of(j, n->users[0])].results > 1;
}

static bool reads(const plan_node *n, uint32_t id) {
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (n->operands[i] == id) return true;
  return false;
}

/* Whether the reader needs nothing else that is made from it. */
static bool reads_it_alone(const plan_graph *g, const plan_node *reader, uint32_t id) {
  for (uint32_t i = 0; i < reader->n_operands; i++)
    if (reads(plan_node_get(g, reader->operands[i]), id)) return false;
  return true;
}

static void join_reader(joiner *j, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  uint32_t best = 0;
  if (!may_join_reader(j, n)) return;
  for (uint32_t i = 0; i < n->n_users; i++) {
    uint32_t u = n->users[i];
    const plan_node *reader = plan_node_get(j->g, u);
    bool fits = may_join(j->g, reader) && length_of_loop(j->g, reader) == n->shape.elements &&
                reads_it_alone(j->g, reader, id);
    if (!fits) continue;
    const maker *m = &j->makers[first_of(j, u)], *b = &j->makers[first_of(j, best)];
    bool is_better = !best || m->results > b->results || (m->is_fusion && !b->is_fusion);
    if (is_better) best = u;
  }
  if (best) join(j, best, id);
}

/* Readers before what they read, as XLA goes. */
static void join_in(joiner *j, uint32_t comp) {
  const uint32_t *order = plan_post_order(j->g, comp);
  for (uint32_t k = plan_comp_get(j->g, comp)->nodes.count; k-- > 0;) {
    join_readers(j, order[k]);
    join_reader(j, order[k]);
  }
}

void plan_count_tables(plan_graph *g) {
  joiner j = {
      .g = g, .count = g->nodes.count, .makers = ARENA_ARRAY(g->arena, maker, g->nodes.count)};
  CTX_CHECK(g->m->ctx, g->memory && g->memory->joins_results);
  for (uint32_t id = 0; id < j.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    j.makers[id] = (maker){.joined = id, .last = id, .results = 1, .is_fusion = is_fusion(g, n)};
  }
  for (uint32_t c = 1; c < g->comps.count; c++) join_in(&j, c);
  for (uint32_t id = 1; id < j.count; id++)
    if (j.makers[id].joined == id && j.makers[id].results > 1)
      plan_add_table(g, j.makers[id].results);
}
