/* Rules for reductions, windows and dots. See peak_rules.c; sources: XLA's
 * tree_reduction_rewriter, reduce_window_rewriter, dot_decomposer, transpose_folding. */
#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "machine/cpu.h"
#include "plan/peak_kept.h"
#include "plan/peak_rules.h"

/* ---- reductions ---- */
static int64_t product_of(const plan_shape *s, ir_ints dims) {
  int64_t p = 1;
  for (int32_t i = 0; i < dims.count; i++) p = saturated_product(p, s->dims[dims.at[i]]);
  return p;
}

/* One step of the tree: windows of 32 along every reduced dimension. */
static uint32_t reduce_windows(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                               uint64_t signature) {
  plan_node n = *node_of(r, x);
  int64_t sizes[IR_MAX_RANK];
  for (int32_t d = 0; d < n.shape.rank; d++) {
    sizes[d] = n.shape.dims[d];
    if (ir_ints_have(dims, d)) sizes[d] = (sizes[d] + CPU_TREE_WINDOW - 1) / CPU_TREE_WINDOW;
  }
  return plan_rule_node(r, IR_OP_REDUCE_WINDOW,
                        plan_shape_make(r->g->arena, n.shape.dtype, n.shape.rank, sizes),
                        (uint32_t[]){x, init}, 2, signature);
}

static uint64_t reducer_hash(const plan_rule *r) {
  ir_block body = ir_op_get(r->m, r->op)->regions[0];
  ir_kind k = body ? ir_reducer_kind(r->m, body) : IR_OP_UNKNOWN;
  return k == IR_OP_UNKNOWN ? hash_mix_wide(body, 1) : (uint64_t)k;
}

/* The next dimensions of both that have the same product; false: there are none. */
static bool next_group(const plan_shape *from, const plan_shape *to, int32_t *i, int32_t *j) {
  int64_t a = 1, b = 1;
  int32_t i0 = *i, j0 = *j;
  do {
    if (a <= b && *i < from->rank && (a < b || *i == i0)) a *= from->dims[(*i)++];
    else if (*j < to->rank) b *= to->dims[(*j)++];
    else if (*i < from->rank) a *= from->dims[(*i)++];
    else break;
  } while (a != b || *j == j0);
  return a == b;
}

/* A reshape that only regroups what is reduced: the dimensions of its operand to reduce instead;
 * -1 if it does more. */
static int32_t reduced_before_reshape(const plan_shape *from, const plan_shape *to, ir_ints dims,
                                      int64_t *out) {
  int32_t n = 0;
  for (int32_t i = 0, j = 0; i < from->rank || j < to->rank;) {
    int32_t i0 = i, j0 = j;
    bool reduced = j < to->rank && ir_ints_have(dims, j);
    if (!next_group(from, to, &i, &j)) return -1;
    for (int32_t d = j0; d < j; d++)
      if (ir_ints_have(dims, d) != reduced) return -1;
    if (!reduced && (i - i0 != 1 || j - j0 != 1)) return -1;
    for (int32_t d = i0; reduced && d < i; d++) out[n++] = d;
  }
  return n;
}

/* What a reduction reads, before it became a tree. */
static uint32_t reduced_by(const plan_rule *r, const plan_node *reduce) {
  uint32_t x = reduce->operands[0];
  while (node_of(r, x)->kind == IR_OP_REDUCE_WINDOW &&
         node_of(r, x)->signature == reduce->signature)
    x = node_of(r, x)->operands[0];
  return x;
}

/* A reduction of a reduction in the same way is one over the dimensions of both, as dimensions
 * of what the inner one reads. */
static int32_t merged_dims(const plan_rule *r, const plan_node *inner, ir_ints dims, int64_t *out) {
  int32_t n = (int32_t)inner->n_ints, kept = 0, rank = node_of(r, reduced_by(r, inner))->shape.rank;
  memcpy(out, inner->ints, inner->n_ints * sizeof *out);
  for (int32_t d = 0; d < rank; d++) {
    if (ir_ints_have((ir_ints){(int32_t)inner->n_ints, inner->ints}, d)) continue;
    if (ir_ints_have(dims, kept++)) out[n++] = d;
  }
  return n;
}

/* A reduction of a view or a reduction is one of what is behind it: *out_x and its
 * dimensions. Returns how many; -1: x itself is read. */
static int32_t reduced_behind(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                              uint64_t signature, uint32_t *out_x, int64_t *out_dims) {
  plan_node n = *node_of(r, x);
  int32_t more = -1;
  *out_x = n.n_operands ? n.operands[0] : 0;
  if (plan_is_view(&n))
    more = reduced_before_reshape(&node_of(r, *out_x)->shape, &n.shape, dims, out_dims);
  else if (n.kind == IR_OP_REDUCE && n.n_operands == 2 && n.signature == signature &&
           n.operands[1] == init && n.ints) {
    *out_x = reduced_by(r, &n);
    more = merged_dims(r, &n, dims, out_dims);
  }
  return more > 0 ? more : -1;
}

static bool is_large_reduction(const plan_shape *s, ir_ints dims) {
  for (int32_t i = 0; i < dims.count; i++)
    if (s->dims[dims.at[i]] > CPU_TREE_WINDOW) return true;
  return false;
}

/* Where sums are fused with what they sum: a long one is split in two, about the root of its length
 * each, and its result is not fused into who reads it (XLA's tree_reduction_rewriter of GPUs). */
enum { LONG_ROW = 16384, LONG_COLUMN = 4096 };

/* The length of a part: from half of the root on, of the least padding; the longest of these, or a
 * power of two. */
static int64_t length_of_part(int64_t length, int64_t longest) {
  int64_t root = 1, best, least;
  while (root < longest && (root + 1) * (root + 1) <= length) root++;
  best = root;
  least = ceil_div(length, root) * root - length;
  for (int64_t i = root - 1; i > root / 2; i--) {
    int64_t padding = ceil_div(length, i) * i - length;
    if (padding > least || (padding == least && (i & (i - 1)))) continue;
    best = i;
    least = padding;
  }
  return best;
}

/* The fewer of parts and of what each sums, but where a row is read faster otherwise. */
static int64_t parts_of_sum(const plan_shape *s, ir_ints dims) {
  int64_t length = product_of(s, dims);
  bool is_row = s->rank && ir_ints_have(dims, s->rank - 1);
  int64_t longest = is_row ? LONG_ROW : LONG_COLUMN;
  if (length <= longest) return 1;
  int64_t few = length_of_part(length, longest), many = ceil_div(length, few);
  if (many > longest) return many;
  if (!is_row) return few;
  bool is_even = few % 2 == 0 && length % 2 == 0,
       has_few = is_even ? few * 2 < many || many % 2 == 0 : length % 2 == 0 || many % 2;
  return has_few ? few : many;
}

/* Sums by threads together, though what is summed is short: of rows of which several make a warp
 * (gpu_fusible.cc: IsUnnestedReductionFasterThanElemental). */
static bool is_summed_by_warps(const plan_rule *r, const plan_shape *s, ir_ints dims) {
  int64_t row = s->rank > 0 ? s->dims[s->rank - 1] : 0;
  return plan_has_libraries(r->g) && dims.count == 1 && dims.at[0] == s->rank - 1 && row > 1 &&
         DEVICE_WARP % row == 0;
}

/* The permutation of the transposes of which it is computed, element by element; NULL: there are
 * none, or several. */
static const int64_t *turned_by(const plan_rule *r, uint32_t x, int32_t depth) {
  const plan_node *n = node_of(r, x);
  const int64_t *found = NULL;
  if (n->kind == IR_OP_TRANSPOSE) return n->ints;
  for (uint32_t i = 0; i < n->n_operands && depth > 0 && plan_is_elementwise(n); i++) {
    const plan_node *from = node_of(r, n->operands[i]);
    bool lies_anyhow = from->kind == IR_OP_BROADCAST_IN_DIM || from->kind == IR_OP_CONSTANT;
    if (lies_anyhow) continue;
    const int64_t *by = turned_by(r, n->operands[i], depth - 1);
    bool is_same = by && (!found || !memcmp(by, found, (size_t)n->shape.rank * sizeof *by));
    if (!is_same) return NULL;
    found = by;
  }
  return found;
}

/* What is summed, and along which dimensions, as it lies in memory: XLA:GPU makes what is computed
 * of a transpose in the order of what that turns. Returns whether the last one is left. */
static bool as_it_lies(const plan_rule *r, uint32_t x, ir_ints dims, plan_shape *out,
                       int64_t *out_dims) {
  const plan_shape *s = &node_of(r, x)->shape;
  const int64_t *by = plan_has_libraries(r->g) ? turned_by(r, x, PLAN_SEEN_OF_OPERANDS) : NULL;
  int64_t lying[IR_MAX_RANK];
  for (int32_t d = 0; d < s->rank; d++) lying[by ? by[d] : d] = s->dims[d];
  for (int32_t i = 0; i < dims.count; i++) out_dims[i] = by ? by[dims.at[i]] : dims.at[i];
  *out = plan_shape_make(r->g->arena, s->dtype, s->rank, lying);
  return !ir_ints_have((ir_ints){dims.count, out_dims}, s->rank - 1);
}

static uint32_t fused_sum(const plan_rule *r, plan_node sum, ir_ints given) {
  plan_shape from, to = sum.shape;
  int64_t lying[IR_MAX_RANK];
  sum.of_columns = as_it_lies(r, sum.operands[0], given, &from, lying);
  ir_ints dims = {given.count, lying};
  int64_t parts = parts_of_sum(&from, dims), both[2] = {to.elements, parts};
  bool is_long = is_large_reduction(&from, dims) || is_summed_by_warps(r, &from, dims);
  uint32_t operands[2] = {sum.operands[0], sum.operands[1]};
  sum.operands = operands;
  if (is_long) {
    sum.flags |= PLAN_FLAG_HELD;
    sum.blocks = plan_sum_blocks(&from, dims, parts);
    sum.summed = from.elements;
  }
  if (parts > 1) {
    sum.shape = plan_shape_make(r->g->arena, to.dtype, 2, both);
    operands[0] = plan_rule_make(r, sum);
    sum.shape = to;
    sum.blocks = 0;
  }
  return plan_rule_make(r, sum);
}

typedef struct steps {          /* of a sum over a view: of what it views, and of the rest */
  int64_t first[IR_MAX_RANK];   /* dimensions of what is viewed */
  int64_t between[IR_MAX_RANK]; /* extents of the view then */
  int32_t n_first;
} steps;

static ir_ints viewed(const steps *s) { return (ir_ints){s->n_first, s->first}; }

/* One group of dimensions that view each other. The last ones of the view, of so many elements
 * together, are summed: so are the last ones before it that divide these. */
static void add_group(const plan_shape *from, int32_t i0, int32_t i, const plan_shape *to,
                      int32_t j0, int32_t j, ir_ints dims, steps *out) {
  int64_t summed = 1, first = 1;
  int32_t last = j;
  while (last > j0 && ir_ints_have(dims, last - 1)) summed *= to->dims[--last];
  while (i > i0 && summed % (first * from->dims[i - 1]) == 0 && last < j)
    first *= from->dims[--i], out->first[out->n_first++] = i;
  for (int32_t d = j0; d < j; d++)
    out->between[d] = d < last ? to->dims[d] : d == last ? summed / first : 1;
}

/* Whether sums over the view are sums of what it views first, with the last dimension. */
static bool sums_before_view(const plan_shape *from, const plan_shape *to, ir_ints dims,
                             steps *out) {
  for (int32_t i = 0, j = 0; i < from->rank || j < to->rank;) {
    int32_t i0 = i, j0 = j;
    if (!next_group(from, to, &i, &j)) return false;
    add_group(from, i0, i, to, j0, j, dims, out);
  }
  return ir_ints_have(viewed(out), from->rank - 1);
}

static uint32_t reduce_one(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                           plan_shape shape, uint64_t signature);

/* XLA:TPU, where the view is a copy, sums what it views, and then the view of that; 0: it can't. */
static uint32_t reduce_before_view(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                                   plan_shape shape, uint64_t signature) {
  plan_node n = *node_of(r, x);
  steps s = {.n_first = 0};
  if (!r->g->memory || !r->g->memory->tile_lanes || !plan_is_view(&n)) return 0;
  plan_shape from = node_of(r, n.operands[0])->shape;
  if (from.elements < 1 || !sums_before_view(&from, &n.shape, dims, &s)) return 0;
  int64_t kept[IR_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < from.rank; d++)
    if (!ir_ints_have(viewed(&s), d)) kept[rank++] = from.dims[d];
  uint32_t first = reduce_one(r, n.operands[0], init, viewed(&s),
                              plan_shape_make(r->g->arena, shape.dtype, rank, kept), signature);
  plan_shape view = plan_shape_make(r->g->arena, shape.dtype, n.shape.rank, s.between);
  return reduce_one(r, plan_rule_bitcast(r, first, view), init, dims, shape, signature);
}

static uint32_t reduce_one(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                           plan_shape shape, uint64_t signature) {
  if (node_of(r, x)->shape.elements == shape.elements) return plan_rule_bitcast(r, x, shape);
  uint32_t behind;
  int64_t inner[IR_MAX_RANK];
  int32_t more = reduced_behind(r, x, init, dims, signature, &behind, inner);
  if (more > 0) return reduce_one(r, behind, init, (ir_ints){more, inner}, shape, signature);
  uint32_t before = reduce_before_view(r, x, init, dims, shape, signature);
  if (before) return before;
  bool fuses = r->g->memory && r->g->memory->fuses_sums;
  while (!fuses && is_large_reduction(&node_of(r, x)->shape, dims))
    x = reduce_windows(r, x, init, dims, signature);
  plan_node sum = {.kind = IR_OP_REDUCE,
                   .shape = shape,
                   .n_operands = 2,
                   .operands = (uint32_t[]){x, init},
                   .signature = signature,
                   .ints = ARENA_COPY(r->g->arena, int64_t, dims.at, (size_t)dims.count),
                   .n_ints = (uint32_t)dims.count};
  return fuses ? fused_sum(r, sum, dims) : plan_rule_make(r, sum);
}

/* The sum of what is negated is that of what it was, negated. */
static uint32_t reduce_negated(const plan_rule *r, uint32_t x, uint32_t init, ir_ints dims,
                               plan_shape shape) {
  uint64_t reducer = reducer_hash(r);
  plan_node n = *node_of(r, x);
  bool is_negated = n.kind == IR_OP_NEGATE && reducer == IR_OP_ADD && ir_is_float(shape.dtype) &&
                    plan_rule_number_of(r, init) == 0;
  if (is_negated) x = n.operands[0];
  uint32_t sum = reduce_one(r, x, init, dims, shape, reducer);
  return is_negated ? plan_rule_elementwise(r, IR_OP_NEGATE, shape, &sum, 1, 0) : sum;
}

static plan_shape in_parts(arena *a, const plan_shape *tuple, int64_t parts) {
  plan_shape *members = ARENA_ARRAY(a, plan_shape, tuple->n_members);
  for (uint32_t i = 0; i < tuple->n_members; i++) {
    int64_t both[2] = {tuple->members[i].elements, parts};
    members[i] = plan_shape_make(a, tuple->members[i].dtype, 2, both);
  }
  return plan_shape_tuple(a, members, tuple->n_members);
}

/* Operands and results as they are computed: 16-bit floats in 32. */
static plan_node computed_search(const plan_rule *r, uint32_t made) {
  plan_node n = *node_of(r, made);
  plan_shape *members = ARENA_COPY(r->g->arena, plan_shape, n.shape.members, n.shape.n_members);
  n.operands = ARENA_COPY(r->g->arena, uint32_t, n.operands, n.n_operands);
  for (uint32_t i = 0; i < n.n_operands; i++) {
    ir_dtype inside = plan_computed_in(node_of(r, n.operands[i])->shape.dtype);
    n.operands[i] = plan_rule_convert(r, n.operands[i], inside);
  }
  for (uint32_t i = 0; i < n.shape.n_members; i++)
    members[i] = with_dtype(members[i], plan_computed_in(members[i].dtype));
  n.shape = plan_shape_tuple(r->g->arena, members, n.shape.n_members);
  return n;
}

/* Of an op of a search's reducer, by XLA:GPU's count, as its reports of 12 argmaxes say. */
#define CYCLES_OF_SEARCH 2.6

/* The largest and its place, of a GPU: divided as sums are. */
static uint32_t fused_search(const plan_rule *r, uint32_t made, ir_ints given) {
  plan_node search = computed_search(r, made);
  plan_shape from, to = search.shape;
  int64_t lying[IR_MAX_RANK];
  search.of_columns = as_it_lies(r, search.operands[0], given, &from, lying);
  ir_ints dims = {given.count, lying};
  int64_t parts = parts_of_sum(&from, dims);
  if (!is_large_reduction(&from, dims)) return made;
  search.flags |= PLAN_FLAG_HELD;
  search.blocks = plan_sum_blocks(&from, dims, parts);
  search.summed = from.elements;
  search.cycles = (int64_t)(CYCLES_OF_SEARCH * (double)ir_count_below(r->m, r->op));
  search.signature = hash_mix_wide(search.signature, (uint64_t)parts);
  if (parts == 1) return plan_rule_make(r, search);
  search.shape = in_parts(r->g->arena, &to, parts);
  uint32_t first = plan_rule_make(r, search);
  for (uint32_t i = 0; i < to.n_members; i++)
    search.operands[i] = plan_element(r->l, r->s, first, i);
  search.shape = to;
  search.blocks = 0;
  return plan_rule_make(r, search);
}

/* A result of a node, in the type that the program says. */
static uint32_t as_result(const plan_rule *r, uint32_t made, uint32_t i) {
  uint32_t x = node_of(r, made)->shape.is_tuple ? plan_element(r->l, r->s, made, i) : made;
  return plan_rule_convert(r, x, result_shape(r, i).dtype);
}

void plan_lower_reduce(const plan_rule *r) {
  ir_ints dims = ir_op_list(r->m, r->op, "dimensions");
  if (n_operands(r) != 2) {
    uint32_t made = plan_rule_generic(r, IR_OP_REDUCE);
    bool is_divided = plan_has_libraries(r->g) && node_of(r, made)->shape.is_tuple;
    if (is_divided) made = fused_search(r, made, dims);
    for (uint32_t i = 0; i < ir_op_get(r->m, r->op)->n_results; i++)
      plan_bind(r->l, r->op, i, as_result(r, made, i));
    return;
  }
  plan_shape shape = result_shape(r, 0);
  ir_dtype inside = plan_computed_in(shape.dtype);
  uint32_t x = plan_rule_convert(r, operand(r, 0), inside),
           init = plan_rule_convert(r, operand(r, 1), inside);
  uint32_t reduced = reduce_negated(r, x, init, dims, with_dtype(shape, inside));
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, reduced, shape.dtype));
}

/* ---- dots ---- */
/* an operand as the dot wants it: batch, then rows and columns in either order */
typedef struct dot_side {
  uint32_t node;
  bool folded;    /* a transpose is left to the dot */
  bool moved;     /* the operand is transposed first */
  uint8_t stands; /* bits of PLAN_DOT_SIDE(0) */
  int64_t batch, free, contract;
} dot_side;

static ir_ints free_dims(const plan_shape *s, ir_ints batch, ir_ints contract, int64_t *out) {
  int32_t n = 0;
  for (int32_t d = 0; d < s->rank; d++)
    if (!ir_ints_have(batch, d) && !ir_ints_have(contract, d)) out[n++] = d;
  return (ir_ints){n, out};
}

static int32_t append(int64_t *to, int32_t at, ir_ints from) {
  memcpy(to + at, from.at, (size_t)from.count * sizeof *to);
  return at + from.count;
}

/* dims of length 1 may stand anywhere */
static bool is_identity(const int64_t *perm, const plan_shape *s) {
  int64_t last = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    if (s->dims[perm[d]] == 1) continue;
    if (perm[d] < last) return false;
    last = perm[d];
  }
  return true;
}

/* A transpose of the operand that only swaps rows and columns is the dot's own business. */
static uint32_t look_through(const plan_rule *r, uint32_t x, ir_ints *batch, ir_ints *contract) {
  plan_node n = *node_of(r, x);
  if (n.kind != IR_OP_TRANSPOSE || n.shape.rank - batch->count != 2 || contract->count != 1)
    return x;
  int64_t *mapped = ARENA_ARRAY(r->g->arena, int64_t, (size_t)batch->count + 1);
  for (int32_t i = 0; i < batch->count; i++) {
    mapped[i] = n.ints[batch->at[i]];
    if (mapped[i] != i) return x;
  }
  mapped[batch->count] = n.ints[contract->at[0]];
  *batch = (ir_ints){batch->count, mapped};
  *contract = (ir_ints){1, mapped + batch->count};
  return n.operands[0];
}

/* An operand with rows and columns the other way round, each in one dimension, is the dot's own
 * business; on GPUs with them in several, too, but for batches. */
static bool may_fold(const plan_rule *r, const dot_side *side, int32_t n_rest, int32_t n_contract) {
  bool as_matrix = n_rest <= 1 && n_contract <= 1;
  return as_matrix || (plan_has_libraries(r->g) && side->batch == 1);
}

static dot_side dot_operand(const plan_rule *r, uint32_t x, ir_ints batch, ir_ints contract,
                            bool contract_last) {
  /* of one dimension each: whether what is summed lies first */
  bool given = contract.count == 1 && contract.at[0] == batch.count;
  x = look_through(r, x, &batch, &contract);
  plan_shape s = node_of(r, x)->shape;
  int64_t room[IR_MAX_RANK], perm[IR_MAX_RANK], swapped[IR_MAX_RANK];
  ir_ints rest = free_dims(&s, batch, contract, room);
  ir_ints first = contract_last ? rest : contract, second = contract_last ? contract : rest;
  append(perm, append(perm, append(perm, 0, batch), first), second);
  append(swapped, append(swapped, append(swapped, 0, batch), second), first);
  CTX_CHECK(r->m->ctx, batch.count + contract.count + rest.count == s.rank); /* each once */
  dot_side side = {.batch = product_of(&s, batch),
                   .free = product_of(&s, rest),
                   .contract = product_of(&s, contract)};
  bool folds = is_identity(swapped, &s) && may_fold(r, &side, rest.count, contract.count);
  side.folded = folds && !is_identity(perm, &s);
  side.stands = (uint8_t)(side.folded | (given == contract_last) << 2);
  side.moved = !is_identity(perm, &s) && !folds;
  side.node = side.moved ? plan_rule_transpose(r, x, perm) : x;
  return side;
}

/* Nothing to sum over: a product of broadcasts, which fuses. */
static uint32_t outer_product(const plan_rule *r, const dot_side *a, const dot_side *b,
                              plan_shape shape) {
  int64_t dims[3] = {a->batch, a->free, b->free};
  plan_shape full = plan_shape_make(r->g->arena, shape.dtype, 3, dims),
             x = plan_shape_make(r->g->arena, shape.dtype, 2, dims);
  plan_shape y = plan_shape_make(r->g->arena, shape.dtype, 2, (int64_t[]){a->batch, b->free});
  uint32_t left = plan_rule_broadcast(r, plan_rule_bitcast(r, a->node, x), full, (int64_t[]){0, 1}),
           right =
               plan_rule_broadcast(r, plan_rule_bitcast(r, b->node, y), full, (int64_t[]){0, 2});
  return plan_rule_bitcast(
      r, plan_rule_elementwise(r, IR_OP_MULTIPLY, full, (uint32_t[]){left, right}, 2, 0), shape);
}

/* One row times one column, maybe in batches: a product and a sum. */
static uint32_t inner_product(const plan_rule *r, const dot_side *a, const dot_side *b,
                              plan_shape shape) {
  int32_t rank = a->batch > 1 ? 2 : 1;
  int64_t both[2] = {a->batch, a->contract}, last = rank - 1;
  const int64_t *dims = rank == 2 ? both : both + 1;
  plan_shape full = plan_shape_make(r->g->arena, shape.dtype, rank, dims);
  uint32_t zero = plan_rule_number(r, shape.dtype, 0);
  uint32_t product = plan_rule_elementwise(
      r, IR_OP_MULTIPLY, full,
      (uint32_t[]){plan_rule_bitcast(r, a->node, full), plan_rule_bitcast(r, b->node, full)}, 2, 0);
  return plan_rule_bitcast(
      r,
      reduce_one(r, product, zero, (ir_ints){1, &last},
                 plan_shape_make(r->g->arena, shape.dtype, rank - 1, dims), IR_OP_ADD),
      shape);
}

/* A matrix times a vector, as products that are summed up: fuses with what makes the matrix.
 * `first`: what is summed lies before what stays. */
static uint32_t summed_rows(const plan_rule *r, const dot_side *matrix, const dot_side *vector,
                            bool first, plan_shape shape) {
  int64_t dims[3] = {matrix->batch, first ? matrix->contract : matrix->free,
                     first ? matrix->free : matrix->contract};
  int64_t summed = first ? 1 : 2, short_dims[2] = {vector->batch, vector->contract},
          rest[2] = {matrix->batch, matrix->free};
  plan_shape full = plan_shape_make(r->g->arena, shape.dtype, 3, dims),
             few = plan_shape_make(r->g->arena, shape.dtype, 2, short_dims);
  uint32_t spread =
      plan_rule_broadcast(r, plan_rule_bitcast(r, vector->node, few), full, (int64_t[]){0, summed});
  uint32_t operands[2] = {plan_rule_bitcast(r, matrix->node, full), spread};
  uint32_t product = plan_rule_elementwise(r, IR_OP_MULTIPLY, full, operands, 2, 0);
  plan_shape rows = plan_shape_make(r->g->arena, shape.dtype, 2, rest);
  return plan_rule_bitcast(r,
                           reduce_one(r, product, plan_rule_number(r, shape.dtype, 0),
                                      (ir_ints){1, &summed}, rows, IR_OP_ADD),
                           shape);
}

/* Elements of a matrix and a vector, of each batch (IsMatrixMultiplicationTooSmallForRewriting). */
enum { LEAST_WITH_VECTOR = 10000000 };

/* GPUs' libraries are not asked for the product of a matrix and a vector in f64, nor for small ones
 * of matrices as they lie. */
static bool is_summed_by_rows(const plan_rule *r, const dot_side *a, const dot_side *b,
                              ir_dtype dtype) {
  bool by_vector = plan_has_libraries(r->g) && (a->free == 1 || b->free == 1),
       is_in_place = (!a->moved && !b->moved) || node_of(r, a->node)->comp != r->g->entry;
  int64_t elements = saturated_product(saturated_sum(a->free, b->free), a->contract);
  bool is_small = ir_is_float(dtype) && is_in_place && elements < LEAST_WITH_VECTOR;
  return by_vector && (dtype == IR_F64 || is_small);
}

/* Batch dimensions of length 1 are left out; the others stay as they are. */
static uint32_t without_unit_batch(const plan_rule *r, uint32_t x, int32_t n_batch) {
  plan_shape s = node_of(r, x)->shape;
  int64_t dims[IR_MAX_RANK];
  int32_t n = 0;
  for (int32_t d = 0; d < s.rank; d++)
    if (d >= n_batch || s.dims[d] != 1) dims[n++] = s.dims[d];
  return n == s.rank ? x : plan_rule_bitcast(r, x, plan_shape_make(r->g->arena, s.dtype, n, dims));
}

static bool leads_with(const plan_shape *s, const plan_shape *batch, int32_t n_batch) {
  return s->rank >= n_batch &&
         (n_batch == 0 || memcmp(s->dims, batch->dims, (size_t)n_batch * sizeof *s->dims) == 0);
}

/* An operand with several dimensions of rows or of what is summed is read as a matrix: a view, with
 * which XLA fuses what makes the operand, even if others read that in its own shape. */
static uint32_t as_matrices(const plan_rule *r, const dot_side *side, const int64_t *batch,
                            int32_t n_batch, int64_t rows, int64_t columns) {
  const plan_shape *s = &node_of(r, side->node)->shape;
  int64_t dims[IR_MAX_RANK + 2];
  if (s->rank <= n_batch + 2) return side->node;
  bool turned = side->folded && plan_has_libraries(r->g);
  int32_t rank = append(dims, 0, (ir_ints){n_batch, batch});
  dims[rank++] = turned ? columns : rows;
  dims[rank++] = turned ? rows : columns;
  return plan_rule_bitcast(r, side->node, plan_shape_make(r->g->arena, s->dtype, rank, dims));
}

/* Matrices, in batches or not: XLA's canonical dot. `out`: batch dimensions first. */
static uint32_t batched_product(const plan_rule *r, dot_side a, dot_side b, int32_t n_batch,
                                plan_shape out) {
  int64_t dims[IR_MAX_RANK + 2];
  int32_t rank = 0;
  for (int32_t d = 0; d < n_batch; d++)
    if (out.dims[d] != 1) dims[rank++] = out.dims[d];
  dims[rank++] = a.free;
  dims[rank++] = b.free;
  dot_side *sides[2] = {&a, &b};
  for (int k = 0; k < 2; k++)
    if (leads_with(&node_of(r, sides[k]->node)->shape, &out, n_batch))
      sides[k]->node = without_unit_batch(r, sides[k]->node, n_batch);
  a.node = as_matrices(r, &a, dims, rank - 2, a.free, a.contract);
  b.node = as_matrices(r, &b, dims, rank - 2, b.contract, b.free);
  plan_node dot = {.kind = IR_OP_DOT_GENERAL,
                   .shape = plan_shape_make(r->g->arena, out.dtype, rank, dims),
                   .n_operands = 2,
                   .operands = (uint32_t[]){a.node, b.node},
                   .signature = hash_mix_wide(plan_attrs_hash(r->m, r->op), 0),
                   .folded = a.folded || b.folded,
                   .stands = (uint8_t)(a.stands | b.stands << 1)};
  return plan_rule_bitcast(r, plan_rule_make(r, dot), out);
}

/* Integers on GPUs: their libraries take bytes, rows times rows are sums of products, and for
 * others both operands are converted. */
static bool is_converted(const plan_rule *r, uint32_t x, uint32_t y, const ir_dot_numbers *n,
                         ir_dtype inside) {
  const plan_shape *left = &node_of(r, x)->shape, *right = &node_of(r, y)->shape;
  bool by_rows = n->lhs_contract.count == 1 && n->lhs_contract.at[0] == left->rank - 1 &&
                 n->rhs_contract.count == 1 && n->rhs_contract.at[0] == right->rank - 1;
  return ir_is_integer(inside) && left->dtype != IR_I8 && !by_rows;
}

/* What XLA's library on CPUs (YNN) multiplies as it comes: bytes into i32, bf16 into f32. */
static bool has_narrow_products(const plan_rule *r, uint32_t x, uint32_t y, ir_dtype out) {
  ir_dtype left = node_of(r, x)->shape.dtype, right = node_of(r, y)->shape.dtype;
  return !r->g->memory && left == right &&
         ((left == IR_I8 && out == IR_I32) || (left == IR_BF16 && out == IR_F32));
}

/* Of such, matrices: neither vectors nor tiny ones, some extent is NARROW_LONGEST or more, and the
 * left one has its rows in order. */
enum { NARROW_TERMS = 4, NARROW_SIDE = 4, NARROW_LONGEST = 8 };

static bool is_narrow_product(const dot_side *a, const dot_side *b) {
  int64_t longer = a->free > b->free ? a->free : b->free;
  return !a->folded && a->contract >= NARROW_TERMS && a->free > 1 && b->free > 1 &&
         longer >= NARROW_SIDE && (a->contract >= NARROW_LONGEST || longer >= NARROW_LONGEST);
}

ir_dtype plan_multiplied_in(const plan_rule *r, ir_dtype t) {
  if (r->g->memory && r->g->memory->narrow_floats) return t;
  return t == IR_F16 ? IR_F32 : plan_computed_in(t);
}

void plan_lower_dot(const plan_rule *r) {
  ir_dot_numbers n = {0};
  plan_shape shape = result_shape(r, 0);
  static const int64_t zero_dim = 0;
  int64_t last = node_of(r, operand(r, 0))->shape.rank - 1;
  if (ir_kind_of(r->m, r->op) == IR_OP_DOT) {
    n = (ir_dot_numbers){{0, &zero_dim}, {0, &zero_dim}, {1, &last}, {1, &zero_dim}};
  } else if (!ir_dot_dims(r->m, r->op, &n)) {
    plan_rule_bind(r, plan_rule_generic(r, PLAN_OPAQUE));
    return;
  }
  bool narrow = r->g->memory && r->g->memory->narrow_floats;
  ir_dtype inside = plan_multiplied_in(r, shape.dtype);
  uint32_t x = operand(r, 0), y = operand(r, 1);
  bool may_be_narrow = has_narrow_products(r, x, y, shape.dtype);
  if (narrow ? is_converted(r, x, y, &n, inside) : !may_be_narrow)
    x = plan_rule_convert(r, x, inside), y = plan_rule_convert(r, y, inside);
  dot_side a = dot_operand(r, x, n.lhs_batch, n.lhs_contract, true);
  dot_side b = dot_operand(r, y, n.rhs_batch, n.rhs_contract, false);
  if (may_be_narrow && !is_narrow_product(&a, &b)) {
    x = plan_rule_convert(r, x, inside), y = plan_rule_convert(r, y, inside);
    a = dot_operand(r, x, n.lhs_batch, n.lhs_contract, true);
    b = dot_operand(r, y, n.rhs_batch, n.rhs_contract, false);
  }
  plan_shape out = with_dtype(shape, inside);
  uint32_t made;
  if (a.contract == 1) made = outer_product(r, &a, &b, out);
  else if (a.free == 1 && b.free == 1) made = inner_product(r, &a, &b, out);
  else if (is_summed_by_rows(r, &a, &b, inside))
    made = b.free == 1 ? summed_rows(r, &a, &b, a.folded, out)
                       : summed_rows(r, &b, &a, !b.folded, out);
  else made = batched_product(r, a, b, n.lhs_batch.count, out);
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, made, shape.dtype));
}

/* ---- convolutions ---- */
/* [first, spatial..., second] of dimension numbers. */
static int32_t conv_order(int64_t *perm, int64_t first, ir_ints spatial, int64_t second,
                          bool first_leads) {
  int32_t n = 0;
  if (first_leads) perm[n++] = first;
  n = append(perm, n, spatial);
  if (!first_leads) perm[n++] = first;
  perm[n++] = second;
  return n;
}

/* The library takes the image as [batch, space, features], the kernel as [space, in, out], in
 * f32; other types are computed as they come. */
/* x with one dimension as `groups` by the rest, and the groups before dimension `to`: a copy. */
static uint32_t regrouped(const plan_rule *r, uint32_t x, int32_t from, int64_t groups,
                          int32_t to) {
  plan_shape s = node_of(r, x)->shape;
  int64_t dims[IR_MAX_RANK + 1], perm[IR_MAX_RANK + 1];
  int32_t n = 0;
  for (int32_t d = 0; d < s.rank; d++) {
    if (d == from) dims[n++] = groups;
    dims[n++] = d == from ? s.dims[d] / groups : s.dims[d];
  }
  for (int32_t d = 0, i = 0; i < n; d++) {
    if (d == from) continue; /* the groups' own place */
    if (d - (d > from) == to) perm[i++] = from;
    perm[i++] = d;
  }
  return plan_rule_transpose(
      r, plan_rule_bitcast(r, x, plan_shape_make(r->g->arena, s.dtype, n, dims)), perm);
}

/* Source: XLA's ConvolutionGroupConverter. A batch in groups becomes a spatial dimension of them,
 * beside the features. */
static void group_batch(const plan_rule *r, uint32_t *x, uint32_t *kernel) {
  int64_t groups = ir_op_int(r->m, r->op, "batch_group_count", 1);
  int32_t last = node_of(r, *x)->shape.rank - 1;
  if (groups == 1 || node_of(r, *x)->shape.rank >= IR_MAX_RANK) return;
  *x = regrouped(r, *x, 0, groups, last);
  *kernel = regrouped(r, *kernel, last, groups, last - 1);
}

static bool is_line(const plan_shape *s) {
  int32_t n_long = 0;
  for (int32_t d = 0; d < s->rank; d++) n_long += s->dims[d] > 1;
  return n_long <= 1;
}

/* In the entry, where XLA turns them itself, a copy even where extents of 1 alone change places. */
static uint32_t put_in_order(const plan_rule *r, uint32_t x, const int64_t *perm) {
  uint32_t made = plan_rule_transpose(r, x, perm);
  plan_node n = *node_of(r, made);
  bool is_view = made == x || n.kind != PLAN_BITCAST || r->g->memory || r->s->outer;
  return is_view || is_line(&n.shape) ? made : plan_rule_make1(r, PLAN_COPY, n.shape, made);
}

void plan_lower_convolution(const plan_rule *r) {
  ir_conv_numbers n;
  plan_shape shape = result_shape(r, 0);
  ir_dtype inside = shape.dtype == IR_F16 ? IR_F32 : plan_computed_in(shape.dtype);
  bool is_on_gpu = plan_has_libraries(r->g);
  if (is_on_gpu && plan_lower_library_convolution(r)) return;
  if (inside != IR_F32 || !ir_conv_dims(r->g->arena, r->m, r->op, &n) ||
      n.input_spatial.count + 2 != shape.rank) {
    plan_rule_bind(r, plan_rule_generic(r, PLAN_OPAQUE));
    return;
  }
  int64_t perm[IR_MAX_RANK], back[IR_MAX_RANK], dims[IR_MAX_RANK];
  conv_order(perm, n.input_batch, n.input_spatial, n.input_feature, true);
  uint32_t x = put_in_order(r, plan_rule_convert(r, operand(r, 0), inside), perm);
  conv_order(perm, n.kernel_input_feature, n.kernel_spatial, n.kernel_output_feature, false);
  uint32_t kernel = put_in_order(r, plan_rule_convert(r, operand(r, 1), inside), perm);
  group_batch(r, &x, &kernel);
  conv_order(perm, n.output_batch, n.output_spatial, n.output_feature, true);
  for (int32_t d = 0; d < shape.rank; d++) dims[d] = shape.dims[perm[d]], back[perm[d]] = d;
  uint32_t operands[2] = {x, kernel}, made;
  plan_shape result = plan_shape_make(r->g->arena, inside, shape.rank, dims);
  if (is_on_gpu)
    made = plan_element(r->l, r->s, plan_rule_opaque(r, operands, 2, &result, 1, 0), 0);
  else made = plan_rule_node(r, PLAN_OPAQUE, result, operands, 2, plan_attrs_hash(r->m, r->op));
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, plan_rule_transpose(r, made, back), shape.dtype));
}

/* ---- windows ---- */
/* The dimension along which the op is a cumulative reduction (every window reaches from one end
 * to the element); -1: it is none. */
static int32_t scanned_dim(const plan_rule *r) {
  plan_shape shape = result_shape(r, 0);
  int32_t n_window, n_pad, n_strides, found = -1;
  const int64_t *window = ir_op_ints(r->m, r->op, "window_dimensions", &n_window),
                *pad = ir_op_ints(r->m, r->op, "padding", &n_pad);
  const int64_t *strides = ir_op_ints(r->m, r->op, "window_strides", &n_strides);
  if (n_window != shape.rank || n_pad != 2 * shape.rank) return -1;
  for (int32_t d = 0; d < shape.rank; d++) {
    if (n_strides == shape.rank && strides[d] != 1) return -1;
    if (window[d] == 1 && pad[2 * d] == 0 && pad[2 * d + 1] == 0) continue;
    if (found >= 0 || window[d] != shape.dims[d] || pad[2 * d] + pad[2 * d + 1] != window[d] - 1 ||
        (pad[2 * d] && pad[2 * d + 1]))
      return -1;
    found = d;
  }
  return found;
}

static uint32_t window_node(const plan_rule *r, uint32_t x, uint32_t init, plan_shape shape) {
  return plan_rule_make(r, (plan_node){.kind = IR_OP_REDUCE_WINDOW,
                                       .shape = shape,
                                       .n_operands = 2,
                                       .operands = (uint32_t[]){x, init},
                                       .is_scan = true,
                                       .signature = hash_mix_wide(r->op, 2)});
}

/* Cumulative along the last of two dimensions: tiles of 16, then what the tiles before sum up
 * to, added in. */
static uint32_t scan_tiles(const plan_rule *r, uint32_t x, uint32_t init, ir_kind combine) {
  plan_shape s = node_of(r, x)->shape;
  int64_t length = s.dims[1], tiles = (length + CPU_SCAN_TILE - 1) / CPU_SCAN_TILE,
          padded[2] = {s.dims[0], tiles * CPU_SCAN_TILE},
          tiled[3] = {s.dims[0], tiles, CPU_SCAN_TILE};
  arena *a = r->g->arena;
  if (length <= CPU_SCAN_TILE) return window_node(r, x, init, s);
  if (length != padded[1])
    x = plan_rule_make2(r, IR_OP_PAD, plan_shape_make(a, s.dtype, 2, padded), x, init);
  plan_shape kernel_shape = plan_shape_make(a, s.dtype, 3, tiled);
  uint32_t inside = window_node(r, plan_rule_bitcast(r, x, kernel_shape), init, kernel_shape);
  uint32_t last = plan_rule_make1(
      r, IR_OP_SLICE, plan_shape_make(a, s.dtype, 3, (int64_t[]){s.dims[0], tiles, 1}), inside);
  uint32_t before = scan_tiles(r, plan_rule_bitcast(r, last, plan_shape_make(a, s.dtype, 2, tiled)),
                               init, combine);
  uint32_t spread = plan_rule_broadcast(r, before, kernel_shape, (int64_t[]){0, 1});
  uint32_t sum =
      plan_rule_elementwise(r, combine, kernel_shape, (uint32_t[]){inside, spread}, 2, 0);
  sum = plan_rule_bitcast(r, sum, plan_shape_make(a, s.dtype, 2, padded));
  return length == padded[1] ? sum : plan_rule_make1(r, IR_OP_SLICE, s, sum);
}

static uint32_t cumulative(const plan_rule *r, uint32_t x, uint32_t init, int32_t dim) {
  plan_shape s = node_of(r, x)->shape, out = s;
  int64_t perm[IR_MAX_RANK], back[IR_MAX_RANK], n = s.dims[dim];
  for (int32_t d = 0, k = 0; d < s.rank; d++)
    if (d != dim) perm[k++] = d;
  perm[s.rank - 1] = dim;
  for (int32_t d = 0; d < s.rank; d++) back[perm[d]] = d;
  ir_block body = ir_op_get(r->m, r->op)->regions[0];
  ir_kind combine = body ? ir_reducer_kind(r->m, body) : IR_OP_UNKNOWN;
  x = plan_rule_transpose(r, x, perm);
  plan_shape moved = node_of(r, x)->shape;
  x = plan_rule_bitcast(r, x,
                        plan_shape_make(r->g->arena, s.dtype, 2, (int64_t[]){s.elements / n, n}));
  x = scan_tiles(r, x, init, combine == IR_OP_UNKNOWN ? IR_OP_ADD : combine);
  return plan_rule_bitcast(r, plan_rule_transpose(r, plan_rule_bitcast(r, x, moved), back), out);
}

void plan_lower_reduce_window(const plan_rule *r) {
  int32_t dim = n_operands(r) == 2 ? scanned_dim(r) : -1;
  if (n_operands(r) != 2) {
    plan_rule_bind(r, plan_rule_generic(r, IR_OP_REDUCE_WINDOW));
    return;
  }
  plan_shape shape = result_shape(r, 0);
  ir_dtype inside = plan_computed_in(shape.dtype);
  uint32_t x = plan_rule_convert(r, operand(r, 0), inside),
           init = plan_rule_convert(r, operand(r, 1), inside);
  bool tiled = dim >= 0 && shape.dims[dim] > CPU_SCAN_TILE;
  uint32_t made =
      tiled ? cumulative(r, x, init, dim) : window_node(r, x, init, with_dtype(shape, inside));
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, made, shape.dtype));
}
