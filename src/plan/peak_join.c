/* Fusions of several results, which XLA:GPU makes of several, and their tables of pointers, each an
 * allocation of its own.
 *
 * Fusions that read one array in loops of one length become one with a result for each, and so do a
 * fusion and one that reads what it makes, if making that anew for its readers takes no longer than
 * writing and reading it. All results of one are there at the same time. In: the fused graph. Where
 * XLA sees that many together take too many registers, it makes several fusions of them: a few
 * bytes more or less. Source: XLA's multi_output_fusion.cc, gpu_fusible.cc,
 * gpu_performance_model.cc. */
#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_kept.h"

enum {
  MOST_LOOPS = 16, /* over one array */
  MOST_STEPS = 200,
  MOST_WAYS = 2000,
  MOST_OF_A_KERNEL = 96, /* operands and results: gpu_fusible.cc */
  LEAST_MERGED = 4096,   /* bytes of all results: of less only the table counts */
};

void plan_add_table(plan_graph *g, uint32_t results) {
  if (!g->memory || !g->memory->joins_results) return;
  VEC_PUSH(g->arena, &g->tables, DEVICE_POINTER_BYTES * (int64_t)results);
}

typedef struct maker { /* what makes one or several results */
  uint32_t joined;     /* union-find: the first of them */
  uint32_t next, last; /* of those that joined it; 0: none */
  uint32_t results;
  uint32_t seen;        /* the walk that met it */
  uint32_t depth;       /* more than of what it reads */
  uint32_t least, most; /* depths of those that are joined */
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
  if (j->makers[b].least < j->makers[a].least) j->makers[a].least = j->makers[b].least;
  if (j->makers[b].most > j->makers[a].most) j->makers[a].most = j->makers[b].most;
}

static void meet(joiner *j, uint32_t id) {
  if (j->makers[id].seen == j->walk) return;
  j->makers[id].seen = j->walk;
  VEC_PUSH(j->g->arena, &j->todo, id);
}

/* Whether a walk back from what is met comes to `to`; of long ways it is not known. */
static bool comes_to(joiner *j, uint32_t to) {
  uint32_t least = j->makers[to].least;
  for (uint32_t steps = 0; j->todo.count && steps < MOST_STEPS; steps++) {
    uint32_t id = j->todo.at[--j->todo.count];
    const plan_node *n = plan_node_get(j->g, id);
    if (first_of(j, id) == to) return true;
    for (uint32_t i = 0; i < n->n_operands; i++)
      if (j->makers[n->operands[i]].depth >= least) meet(j, n->operands[i]);
  }
  return false;
}

static bool needs(joiner *j, uint32_t from, uint32_t to) {
  from = first_of(j, from), to = first_of(j, to);
  if (j->makers[from].most <= j->makers[to].least) return false;
  j->walk++;
  j->todo.count = 0;
  for (uint32_t id = from; id; id = j->makers[id].next) meet(j, id);
  return comes_to(j, to);
}

/* Whether the group reads what is made of the array, not the array alone. */
static bool needs_by_others(joiner *j, uint32_t from, uint32_t to) {
  j->walk++;
  j->todo.count = 0;
  for (uint32_t id = first_of(j, from); id; id = j->makers[id].next) {
    const plan_node *n = plan_node_get(j->g, id);
    for (uint32_t i = 0; i < n->n_operands; i++)
      if (n->operands[i] != to && first_of(j, n->operands[i]) != first_of(j, from))
        meet(j, n->operands[i]);
  }
  return comes_to(j, first_of(j, to));
}

/* Elements that a reduce sums into one: those that lie together, if any do. */
static int64_t summed_at_once(const plan_graph *g, const plan_node *n, bool *out_is_row) {
  const ir_type_data *t = ir_type_at(g->m, ir_operand(g->m, n->op, 0));
  ir_ints dims = ir_op_list(g->m, n->op, "dimensions");
  int64_t row = 1, all = 1;
  *out_is_row = true;
  for (int32_t d = t->rank; d-- > 0;) {
    if (ir_ints_have(dims, d)) all = saturated_product(all, t->dims[d]);
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
  return length >= DEVICE_WARP || (is_row && length > 0 && DEVICE_WARP % length == 0);
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

static bool reads(const plan_node *n, uint32_t id) {
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (n->operands[i] == id) return true;
  return false;
}

/* A sum of rows, of nothing as large as the node but what that reads as well: it is made of the
 * same array. */
static bool is_sum_of_its_rows(const plan_graph *g, const plan_node *sum, const plan_node *n) {
  bool is_of_any = false;
  if (plan_kind_at_root(g, sum) != IR_OP_REDUCE || sum->is_read_again) return false;
  for (uint32_t i = 0; i < sum->n_operands; i++) {
    if (plan_node_get(g, sum->operands[i])->shape.elements != n->shape.elements) continue;
    if (!reads(n, sum->operands[i])) return false;
    is_of_any = true;
  }
  return is_of_any;
}

/* Whether an operand is a sum of the node's rows, or made of one. */
static bool is_made_of_rows(const plan_graph *g, const plan_node *operand, const plan_node *n) {
  if (plan_kind_at_root(g, operand) == IR_OP_REDUCE) return is_sum_of_its_rows(g, operand, n);
  for (uint32_t i = 0; i < operand->n_operands && plan_is_made_elementwise(operand); i++) {
    const plan_node *sum = plan_node_get(g, operand->operands[i]);
    if (sum->shape.elements == operand->shape.elements && is_sum_of_its_rows(g, sum, n))
      return true;
  }
  return false;
}

/* Computed from the rows of an array and from their sums: Triton does it, with nothing beside it,
 * and not over what it reads. */
static bool is_of_rows(const plan_graph *g, const plan_node *n) {
  bool may_be = plan_is_loop_fusible(n) || n->kind == PLAN_FUSION;
  if (!may_be || n->shape.is_tuple || n->shape.rank < 2 || n->shape.dtype == IR_F64) return false;
  int64_t row = n->shape.dims[n->shape.rank - 1];
  for (uint32_t k = 0; k < n->n_operands && row > 1; k++) {
    const plan_node *operand = plan_node_get(g, n->operands[k]);
    bool may_be_sums = operand->shape.elements == n->shape.elements / row;
    if (may_be_sums && !operand->shape.is_tuple && is_made_of_rows(g, operand, n)) return true;
  }
  return false;
}

/* XLA's FusibleAsMultiOutputFusionRoot: fusions, sums, and single ops that are elementwise. */
/* XLA makes where and what scatters write inside of these, before it joins fusions. */
static bool goes_into_scatters(const plan_graph *g, const plan_node *n) {
  bool goes = n->n_users > 0;
  for (uint32_t i = 0; i < n->n_users; i++)
    goes &= plan_kind_at_root(g, plan_node_get(g, n->users[i])) == IR_OP_SCATTER;
  return goes;
}

static bool may_join(const joiner *j, uint32_t id) {
  const plan_graph *g = j->g;
  const plan_node *n = plan_node_get(g, id);
  bool is_root = is_fusion(g, n) || n->kind == IR_OP_REDUCE || plan_is_elementwise(n);
  return is_root && (n->flags & PLAN_FLAG_LIVE) && !n->in_place && n->n_users > 0 &&
         (!n->shape.is_tuple || is_sum(g, n)) && !n->of_rows && !goes_into_scatters(g, n);
}

typedef struct loop { /* over one array */
  int64_t length;
  uint32_t summed; /* a sum, the first of them; 0: none sums */
  uint32_t first;
  uint32_t needs, needed_by; /* loops of which that is known, a bit each */
} loop;

typedef struct loops {
  uint32_t count;
  loop at[MOST_LOOPS];
} loops;

/* Over the same dimensions, with results of one shape. */
static bool are_alike(const plan_graph *g, uint32_t a, uint32_t b) {
  const plan_node *n = plan_node_get(g, a), *m = plan_node_get(g, b);
  int32_t n_dims, m_dims;
  const int64_t *dims = ir_op_ints((ir_module *)g->m, n->op, "dimensions", &n_dims),
                *others = ir_op_ints((ir_module *)g->m, m->op, "dimensions", &m_dims);
  const plan_shape *s = n->shape.is_tuple ? n->shape.members : &n->shape,
                   *t = m->shape.is_tuple ? m->shape.members : &m->shape;
  return n_dims >= 0 && n_dims == m_dims &&
         memcmp(dims, others, (size_t)n_dims * sizeof *dims) == 0 && s->elements == t->elements;
}

/* Two sums of one length are of one shape, too. */
static bool is_alike(joiner *j, const loop *at, const loop *new) {
  if (at->length != new->length) return false;
  if (new->summed && at->summed && !are_alike(j->g, new->summed, at->summed)) return false;
  return j->makers[first_of(j, at->first)].is_fusion ||
         j->makers[first_of(j, new->first)].is_fusion;
}

/* Whether neither needs the other; what one needs is needed by who needs that one. */
static bool is_apart(joiner *j, const loops *l, uint32_t i, loop *new) {
  const loop *at = &l->at[i];
  if ((new->needs | new->needed_by) >> i & 1) return false;
  bool is_needed = needs(j, at->first, new->first);
  if (is_needed) new->needed_by |= at->needed_by | 1u << i;
  else if (needs(j, new->first, at->first)) new->needs |= at->needs | 1u << i;
  else return true;
  return false;
}

/* What is known of a loop that is, or has joined, the i-th. */
static void note(loops *l, uint32_t i, const loop *new) {
  l->at[i].needs |= new->needs;
  l->at[i].needed_by |= new->needed_by;
  for (uint32_t k = 0; k < l->count; k++) {
    if (new->needs >> k & 1) l->at[k].needed_by |= 1u << i;
    if (new->needed_by >> k & 1) l->at[k].needs |= 1u << i;
  }
}

/* Joins it to the first of its length that is apart from it. The last is asked first: most often
 * the others come before that one, or behind it, as well. */
static void join_loop(joiner *j, loops *l, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  loop new = {.length = length_of_loop(j->g, n), .summed = is_sum(j->g, n) ? id : 0, .first = id};
  if (l->count > 0) is_apart(j, l, l->count - 1, &new);
  for (uint32_t i = 0; i < l->count; i++) {
    if (!is_alike(j, &l->at[i], &new) || !is_apart(j, l, i, &new)) continue;
    if (new.summed) l->at[i].summed = new.summed;
    note(l, i, &new);
    join(j, l->at[i].first, id);
    return;
  }
  if (l->count == MOST_LOOPS) return;
  l->at[l->count++] = new;
  note(l, l->count - 1, &new);
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
      if (u < j->count && is_first == (pass == 0) && may_join(j, u)) join_loop(j, &l, u);
    }
}

/* Made element by element, for several readers or for a fusion of several results. */
static bool may_join_reader(joiner *j, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  if (!may_join(j, id) || n->shape.is_tuple || n->shape.true_rank == 0) return false;
  if (is_sum(j->g, n) && n->kind == PLAN_FUSION) return false;
  return n->n_users > 1 || j->makers[first_of(j, n->users[0])].results > 1;
}

/* Results of its group that are as large as the array. */
static uint32_t written_by(joiner *j, uint32_t group, const plan_node *array) {
  uint32_t count = 0;
  for (uint32_t id = first_of(j, group); id; id = j->makers[id].next)
    count += plan_node_get(j->g, id)->shape.elements == array->shape.elements;
  return count;
}

static uint32_t read_by(const plan_graph *g, const plan_node *n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_operands; i++)
    count += plan_node_get(g, n->operands[i])->shape.elements == n->shape.elements;
  return count;
}

/* How often XLA counts the array as computed for its group: once for all that reads it element by
 * element, and for each sum and what moves it. */
static uint32_t times_made(joiner *j, uint32_t group, uint32_t array) {
  uint32_t times = 0;
  bool is_read = false;
  for (uint32_t id = first_of(j, group); id; id = j->makers[id].next) {
    const plan_node *n = plan_node_get(j->g, id);
    if (!reads(n, array)) continue;
    if (is_sum(j->g, n) || !plan_is_made_elementwise(n)) times++;
    else is_read = true;
  }
  return times + is_read;
}

/* Whether making it anew for each of the group who reads it takes no longer than writing it and
 * reading it (gpu_performance_model.cc, in cycles for an element). */
static bool is_gain(joiner *j, uint32_t group, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  int64_t times = times_made(j, group, id), cycles = plan_cycles(n), read = read_by(j->g, n),
          written = written_by(j, group, n);
  if (times == 1) return true;
  if (n->shape.bytes > j->g->memory->cache_bytes) return false;
  int64_t together = max64(times * cycles, (read + 1 + written) * PLAN_PASS_CYCLES),
          apart = max64(cycles, (read + 1) * PLAN_PASS_CYCLES) + (1 + written) * PLAN_PASS_CYCLES;
  return together <= apart;
}

static void join_reader(joiner *j, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  uint32_t best = 0;
  if (!may_join_reader(j, id)) return;
  for (uint32_t i = 0; i < n->n_users; i++) {
    uint32_t u = n->users[i];
    const plan_node *reader = plan_node_get(j->g, u);
    bool fits = may_join(j, u) && length_of_loop(j->g, reader) == n->shape.elements &&
                !needs_by_others(j, u, id) && is_gain(j, u, id) &&
                !plan_is_slower_in_sum(j->g, reader, id);
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

/* ---- the fusions of several results ---- */
typedef VEC(uint32_t) ids;

typedef struct several { /* members of a group that become one node */
  joiner *j;
  uint32_t group;
  ids operands, results; /* read from outside the group; read there */
} several;

static bool is_inside(const several *s, uint32_t id) {
  return id < s->j->count && first_of(s->j, id) == s->group;
}

static uint32_t depth_of_group(const several *s) {
  uint32_t depth = 0;
  for (uint32_t id = s->group; id; id = s->j->makers[id].next)
    if (s->j->makers[id].depth > depth) depth = s->j->makers[id].depth;
  return depth;
}

/* Those outside who read it and may come before one of the group. */
static void meet_readers(const several *s, const plan_node *n, uint32_t depth) {
  for (uint32_t i = 0; i < n->n_users; i++)
    if (s->j->makers[n->users[i]].depth < depth && !is_inside(s, n->users[i]))
      meet(s->j, n->users[i]);
}

/* Whether what the group makes goes, by way of others, into one of it: no fusion then. Of long ways
 * it is taken to be so. */
static bool meets_itself(const several *s) {
  joiner *j = s->j;
  uint32_t depth = depth_of_group(s);
  j->walk++;
  j->todo.count = 0;
  for (uint32_t k = 0; k < s->results.count; k++)
    meet_readers(s, plan_node_get(j->g, s->results.at[k]), depth);
  for (uint32_t steps = 0; j->todo.count; steps++) {
    const plan_node *n = plan_node_get(j->g, j->todo.at[--j->todo.count]);
    if (steps == MOST_WAYS) return true;
    for (uint32_t i = 0; i < n->n_users; i++)
      if (is_inside(s, n->users[i])) return true;
    meet_readers(s, n, depth);
  }
  return false;
}

static uint32_t least_depth(const joiner *j, uint32_t id) {
  const plan_node *n = plan_node_get(j->g, id);
  uint32_t depth = 0;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (j->makers[n->operands[i]].depth >= depth) depth = j->makers[n->operands[i]].depth + 1;
  return depth;
}

/* Makes the node, and who comes after it, as deep as it has to be. */
static void deepen(joiner *j, uint32_t id) {
  j->makers[id].depth = least_depth(j, id);
  j->todo.count = 0;
  VEC_PUSH(j->g->arena, &j->todo, id);
  while (j->todo.count) {
    uint32_t at = j->todo.at[--j->todo.count];
    const plan_node *n = plan_node_get(j->g, at);
    for (uint32_t i = 0; i < n->n_users; i++) {
      if (j->makers[n->users[i]].depth > j->makers[at].depth) continue;
      j->makers[n->users[i]].depth = j->makers[at].depth + 1;
      VEC_PUSH(j->g->arena, &j->todo, n->users[i]);
    }
  }
}

static void add_once(arena *a, ids *to, uint32_t id) {
  for (uint32_t i = 0; i < to->count; i++)
    if (to->at[i] == id) return;
  VEC_PUSH(a, to, id);
}

static bool is_read_outside(const several *s, const plan_node *n) {
  for (uint32_t i = 0; i < n->n_users; i++)
    if (!is_inside(s, n->users[i])) return true;
  return false;
}

/* Whether it is one node: of arrays alone, no more of them than XLA gives a kernel, and not so
 * small that tables are all that counts. */
static bool gather_group(several *s) {
  arena *a = s->j->g->arena;
  int64_t bytes = 0;
  for (uint32_t id = s->group; id; id = s->j->makers[id].next) {
    const plan_node *n = plan_node_get(s->j->g, id);
    if (n->shape.is_tuple || s->operands.count + s->results.count > MOST_OF_A_KERNEL) return false;
    for (uint32_t i = 0; i < n->n_operands; i++)
      if (!is_inside(s, n->operands[i])) add_once(a, &s->operands, n->operands[i]);
    if (!is_read_outside(s, n)) continue;
    VEC_PUSH(a, &s->results, id);
    bytes = saturated_sum(bytes, n->shape.bytes);
  }
  return bytes >= LEAST_MERGED;
}

/* Whether the member is made of it: read by itself, or by one of the group that it reads. */
static bool comes_from(const several *s, uint32_t id, uint32_t operand) {
  const plan_node *n = plan_node_get(s->j->g, id);
  s->j->makers[id].seen = s->j->walk;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t x = n->operands[i];
    if (x == operand) return true;
    if (is_inside(s, x) && s->j->makers[x].seen != s->j->walk && comes_from(s, x, operand))
      return true;
  }
  return false;
}

/* Sums are made first, so what they read as well may be written over; not what a second result is
 * made of (FusionCanShareBufferHint). */
static uint32_t written_over(const several *s, uint32_t operand) {
  const plan_graph *g = s->j->g;
  uint32_t over = 0;
  for (uint32_t id = s->group; id; id = s->j->makers[id].next) {
    s->j->walk++;
    if (is_sum(g, plan_node_get(g, id)) || !comes_from(s, id, operand)) continue;
    uint32_t slot = plan_operand_index(plan_node_get(g, id), operand);
    if (over || slot == UINT32_MAX || !plan_shares_buffer(g, id, 0, slot)) return 0;
    for (uint32_t k = 0; k < s->results.count; k++)
      if (s->results.at[k] == id) over = k + 1;
    if (!over) return 0;
  }
  return over;
}

static const uint32_t *all_written_over(const several *s) {
  uint32_t *over = ARENA_ARRAY(s->j->g->arena, uint32_t, s->operands.count);
  for (uint32_t i = 0; i < s->operands.count; i++) over[i] = written_over(s, s->operands.at[i]);
  return over;
}

/* The results as the program names them. */
static const ir_value *names_of(const several *s) {
  ir_value *values = ARENA_ARRAY(s->j->g->arena, ir_value, s->results.count);
  for (uint32_t i = 0; i < s->results.count; i++)
    values[i] = plan_node_get(s->j->g, s->results.at[i])->value;
  return values;
}

/* Its table is counted for itself. */
static uint32_t make_one(const several *s) {
  plan_graph *g = s->j->g;
  plan_shape *shapes = ARENA_ARRAY(g->arena, plan_shape, s->results.count);
  for (uint32_t i = 0; i < s->results.count; i++)
    shapes[i] = plan_node_get(g, s->results.at[i])->shape;
  plan_node one = {.kind = PLAN_OPAQUE,
                   .operands = s->operands.at,
                   .n_operands = s->operands.count,
                   .results = names_of(s),
                   .written_over = all_written_over(s),
                   .shape = plan_shape_tuple(g->arena, shapes, s->results.count)};
  one.shape.bytes = 0;
  return plan_node_beside(g, s->results.at[0], one);
}

static void merge_group(joiner *j, uint32_t group) {
  several s = {.j = j, .group = group};
  plan_graph *g = j->g;
  if (!gather_group(&s) || meets_itself(&s)) return;
  uint32_t one = make_one(&s);
  for (uint32_t id = group; id; id = j->makers[id].next) {
    plan_node *n = plan_node_get(g, id);
    for (uint32_t i = 0; i < n->n_operands; i++) plan_remove_user(g, n->operands[i], id);
    n->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  }
  for (uint32_t i = 0; i < s.operands.count; i++) plan_add_user(g, s.operands.at[i], one);
  for (uint32_t i = 0; i < s.results.count; i++) {
    plan_node *n = plan_node_get(g, s.results.at[i]);
    n->kind = IR_OP_GET_TUPLE_ELEMENT;
    n->flags |= PLAN_FLAG_LIVE;
    n->index = i;
    n->fusion = NULL;
    n->n_operands = 1;
    n->operands = ARENA_COPY(g->arena, uint32_t, &one, 1);
    plan_add_user(g, one, s.results.at[i]);
  }
  deepen(j, one);
}

static void find_depths(joiner *j, uint32_t comp) {
  const uint32_t *order = plan_post_order(j->g, comp);
  for (uint32_t k = 0; k < plan_comp_get(j->g, comp)->nodes.count; k++) {
    maker *m = &j->makers[order[k]];
    m->least = m->most = m->depth = least_depth(j, order[k]);
  }
}

void plan_join_results(plan_graph *g) {
  joiner j = {
      .g = g, .count = g->nodes.count, .makers = ARENA_ARRAY(g->arena, maker, 2 * g->nodes.count)};
  CTX_CHECK(g->m->ctx, g->memory && g->memory->joins_results);
  for (uint32_t id = 0; id < j.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    j.makers[id] = (maker){.joined = id, .last = id, .results = 1, .is_fusion = is_fusion(g, n)};
  }
  for (uint32_t id = 1; id < j.count; id++)
    plan_node_get(g, id)->of_rows = is_of_rows(g, plan_node_get(g, id));
  for (uint32_t c = 1; c < g->comps.count; c++) {
    find_depths(&j, c);
    join_in(&j, c);
  }
  for (uint32_t id = 1; id < j.count; id++) {
    if (j.makers[id].joined != id || j.makers[id].results == 1) continue;
    plan_add_table(g, j.makers[id].results);
    merge_group(&j, id);
  }
  plan_graph_sweep(g);
}
