/* merged: dimensions that some ops have merged are merged in the order in which they lie.
 *
 *   x [b, t, n], y = reshape(transpose(x)) [n, t b], z = f(y) [n, t b], reshape(z) [n, t, b]
 *
 * becomes, where f treats all along the merged dimension alike, each element by itself,
 *
 *   y = reshape(transpose(x)) [n, b t], z = f(y) [n, b t], transpose(reshape(z)) [n, t, b]
 *
 * Of merged dimensions only the first is sliced (split/factors.c), and what lies outermost is the
 * batch of a whole program more often than not. JAX merges the other way round where functions
 * under two `vmap`s solve equations with one matrix: each adds its dimension behind the others.
 *
 * Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * Exact up to a library's order of sums, which may depend on a column's place. Left alone: what is
 * read before it is apart again, Gram matrices and other ops that have the merged dimension in two
 * operands, and what is small against the limit or below the threshold. Cost: linear. Source: none.
 */
#include "ir/maps.h"
#include "pass/build.h"

enum { MOST_OPS = 8 };

typedef struct merge {
  ir_op ops[MOST_OPS]; /* f, the last one first */
  uint32_t n;
  ir_op turn;           /* the transpose .. */
  ir_value whole;       /* .. and the reshape of it */
  int32_t first, count; /* the dimensions that it merges */
} merge;

static const ir_type_data *type_of(const pass_rewrite *f, ir_value v) {
  return ir_type_at(f->m, v);
}

static ir_kind kind_of_value(const pass_rewrite *f, ir_value v) {
  ir_op op = ir_value_get(f->m, v)->op;
  return op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
}

/* Both have the same dimensions, but for one in whose place the other has several: false if not. */
static bool find_merged(const ir_type_data *merged, const ir_type_data *apart, int32_t *out_dim,
                        int32_t *out_count) {
  int32_t d = 0, behind = 0, more = apart->rank - merged->rank;
  if (more < 1) return false;
  while (d < merged->rank && merged->dims[d] == apart->dims[d]) d++;
  if (d == merged->rank) return false;
  for (int32_t e = merged->rank - 1; e > d; e--, behind++)
    if (merged->dims[e] != apart->dims[e + more]) return false;
  *out_dim = d;
  *out_count = more + 1;
  assert(d + more + 1 + behind == apart->rank);
  return true;
}

/* The one operand, and its dimension, that becomes the result's dimension *dim; false: none, or
 * several have it, or a part of it is written over, which lies somewhere. */
static bool came_from(const pass_rewrite *f, ir_op op, ir_value *out_x, int32_t *dim) {
  const ir_op_data *d = ir_op_get(f->m, op);
  int32_t at[IR_MAX_RANK], of_result[IR_MAX_RANK], found = 0, from = -1;
  if (d->n_results != 1 || d->kind == IR_OP_DYNAMIC_UPDATE_SLICE || ir_has_effects(f->m, op) ||
      !ir_result_indices(f->p->scratch, f->m, op, 0, of_result) || of_result[*dim] == IR_ALONE)
    return false;
  for (uint32_t i = 0; i < d->n_operands; i++) {
    if (!ir_operand_indices(f->p->scratch, f->m, op, i, at)) return false;
    for (int32_t e = 0; e < type_of(f, d->operands[i])->rank; e++)
      if (at[e] == of_result[*dim]) found++, from = e, *out_x = d->operands[i];
  }
  *dim = from;
  return found == 1;
}

/* What is read twice is read once as it lay: of a Gram matrix one side alone is taken apart. */
static bool is_read_once(const pass_rewrite *f, const merge *g) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n; i++)
    for (ir_value x, k = 0; (x = ir_operand_at(f->m, g->ops[i], k)); k++) n += x == g->whole;
  return n == 1;
}

/* Back from the reshape that takes a dimension apart to the one that merged it. */
static bool find_merge(const pass_rewrite *f, ir_op apart, merge *out) {
  ir_value v = ir_operand(f->m, apart, 0);
  int32_t dim, count;
  const ir_type_data *t = type_of(f, ir_result(f->m, apart, 0));
  if (!find_merged(type_of(f, v), t, &dim, &count)) return false;
  const int64_t *dims = t->dims + dim;
  for (out->n = 0; kind_of_value(f, v) != IR_OP_RESHAPE; out->n++) {
    ir_op op = ir_value_get(f->m, v)->op;
    if (!op || out->n == MOST_OPS || v >= f->n_values || f->uses[v] != 1 ||
        !came_from(f, op, &v, &dim))
      return false;
    out->ops[out->n] = op;
  }
  out->whole = v;
  ir_value x = ir_operand(f->m, ir_value_get(f->m, v)->op, 0);
  if (out->n == 0 || ir_value_bytes(f->m, v) <= f->small_bytes ||
      kind_of_value(f, x) != IR_OP_TRANSPOSE ||
      !find_merged(type_of(f, v), type_of(f, x), &out->first, &out->count) || out->first != dim ||
      !is_read_once(f, out))
    return false;
  out->turn = ir_value_get(f->m, x)->op;
  return out->count == count &&
         !memcmp(type_of(f, x)->dims + dim, dims, (size_t)count * sizeof *dims);
}

/* The transpose's permutation with the merged dimensions in their own order; out_back: where those
 * that were merged are there. False: they are in order. */
static bool in_order(const pass_rewrite *f, const merge *g, int64_t *out, int64_t *out_back) {
  ir_ints from = ir_op_list(f->m, g->turn, "permutation");
  bool changed = false;
  memcpy(out, from.at, (size_t)from.count * sizeof *out);
  for (int32_t i = g->first + 1; i < g->first + g->count; i++)
    for (int32_t j = i; j > g->first && out[j - 1] > out[j]; j--) {
      int64_t lower = out[j];
      out[j] = out[j - 1];
      out[j - 1] = lower;
      changed = true;
    }
  for (int32_t i = 0; i < g->count; i++)
    for (int32_t j = 0; j < g->count; j++)
      if (out[g->first + j] == from.at[g->first + i]) out_back[i] = j;
  return changed;
}

/* z with its dimension `at` in place of which are those of `turned` from g->first on, permuted. */
static ir_value taken_apart(pass_rewrite *f, const merge *g, ir_value z, int32_t at,
                            const int64_t *turned, const int64_t *back) {
  const ir_type_data *t = type_of(f, z);
  int64_t dims[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t rank = t->rank + g->count - 1;
  for (int32_t d = 0; d < rank; d++) {
    bool inside = at <= d && d < at + g->count;
    dims[d] = inside ? turned[d - at] : t->dims[d < at ? d : d - g->count + 1];
    permutation[d] = inside ? at + back[d - at] : d;
  }
  ir_value apart = ir_build_reshape(&f->b, z, ir_tensor(f->m, t->dtype, rank, dims));
  return ir_build_transpose(&f->b, apart, permutation);
}

static bool replace(pass_rewrite *f, ir_op op) {
  merge g;
  int64_t permutation[IR_MAX_RANK], back[IR_MAX_RANK];
  int32_t at, count;
  if (ir_kind_of(f->m, op) != IR_OP_RESHAPE || !find_merge(f, op, &g) ||
      !in_order(f, &g, permutation, back))
    return false;
  ir_value turned = ir_build_transpose(&f->b, ir_operand(f->m, g.turn, 0), permutation);
  ir_value v = ir_build_reshape(&f->b, turned, ir_type_of(f->m, g.whole));
  ir_map *map = ir_map_new(f->p->scratch, f->m);
  ir_map_set(map, g.whole, v);
  for (uint32_t i = g.n; i-- > 0;)
    v = ir_result(f->m, ir_copy_op(f->m, f->b.block, g.ops[i], map), 0);
  CTX_CHECK(f->m->ctx, find_merged(type_of(f, v), type_of(f, ir_result(f->m, op, 0)), &at, &count));
  return pass_stand_in(f->m, f->map, op,
                       taken_apart(f, &g, v, at, type_of(f, turned)->dims + g.first, back));
}

const pass pass_merged = {"merged", .replace = replace};
