/* diagonal: where only the diagonal of a matrix is looked at, nothing but the diagonal is computed.
 *
 * Requires: a verified module, calls inlined, constant branches taken (simplify). Breaks: nothing;
 * what lost its uses stays for dce. A diagonal is looked at by
 *   a gather of the elements (i + a, i + b)                          (jnp.diagonal, jnp.diag)
 *   a sum over i or j or both of select(i + a == j + b, x, 0)        (jnp.trace, einsum 'ii->i')
 * in any two dimensions of a larger tensor. With D(x)_t = x(t + a, t + b):
 *   D(f(x, y)) = f(D(x), D(y)) for elementwise f
 *   D(broadcast, iota, constant, transpose, reshape by 1s, slice): the same of fewer elements
 *   D(x that merges blocks (i, k), (j, l)) = the diagonal in k, l of that in i, j    (jnp.kron)
 *   D(A . B)_t = sum_k A(t + a, k) B(k, t + b)
 *   D(sum_k x) = sum_k D(x)
 * down to tensors that are there anyway, where the gather or the select stays. Exact but for the
 * product, whose sum goes in another order, in f32 where it was f16 or bf16. Left alone: x * eye
 * (off the diagonal infinities and NaN make NaN), what is compared with x (pass/compared.h), other
 * reducers, indices that are not iotas, tensors that are small against the limit or below the
 * threshold. Cost: what is built is linear in the elements of the diagonal. Source: design by
 * identities above; index rules as in src/split/factors.c.
 */
#include "ir/maps.h"
#include "pass/band.h"
#include "pass/compared.h"

enum { DEEPEST = 100, MOST_TAKEN = 256 };

typedef struct taken {
  band of;
  ir_value value;
} taken;

typedef struct finder {
  pass_ctx *p;
  ir_module *m;
  bool by_gather; /* how to read tensors that are there anyway: as the program did */
  taken taken[MOST_TAKEN];
  int n_taken;
} finder;

static const ir_type_data *type_of(const finder *f, ir_value v) { return ir_type_at(f->m, v); }

/* ---- shapes ---- */
/* Where dimension d of x is in the band. */
static int32_t moved(int32_t d, const band *s) {
  if (d == s->drop) d = s->keep;
  return d - (d > s->drop);
}

static ir_type band_type(const finder *f, const band *s) {
  const ir_type_data *t = type_of(f, s->x);
  int64_t dims[IR_MAX_RANK];
  CTX_CHECK(f->m->ctx, s->keep != s->drop && s->keep < t->rank && s->drop < t->rank);
  for (int32_t d = 0; d < t->rank; d++)
    if (d != s->drop) dims[moved(d, s)] = d == s->keep ? s->length : t->dims[d];
  return ir_tensor(f->m, t->dtype, t->rank - 1, dims);
}

/* length elements of one dimension. */
static ir_value piece(finder *f, ir_builder *b, ir_value x, int32_t dim, int64_t at,
                      int64_t length) {
  const ir_type_data *t = type_of(f, x);
  CTX_CHECK(f->m->ctx, 0 <= at && 0 <= length && length <= t->dims[dim] - at);
  if (at == 0 && t->dims[dim] == length) return x;
  return ir_build_slice_dim(b, x, dim, at, length);
}

/* ---- tensors that are there anyway ---- */
static ir_value index_column(finder *f, ir_builder *b, ir_dtype dtype, int64_t at, int64_t length) {
  ir_type type = ir_tensor(f->m, dtype, 2, (int64_t[]){length, 1});
  ir_value iota = ir_build_iota(b, type, 0);
  return at ? ir_build_add(b, iota, ir_build_splat_int(b, type, at)) : iota;
}

static ir_attr gather_attr(finder *f, const band *s) {
  int64_t others[IR_MAX_RANK], low = s->keep < s->drop ? s->keep : s->drop;
  int64_t points[] = {low, s->keep + s->drop - low}, named[] = {s->keep, s->drop};
  int32_t n = 0;
  for (int32_t d = 0; d + 1 < type_of(f, s->x)->rank; d++)
    if (d != moved(s->keep, s)) others[n++] = d;
  ir_gather_numbers numbers = {.offset_dims = {n, others},
                               .collapsed_slice_dims = {2, points},
                               .start_index_map = {2, named},
                               .index_vector_dim = 1};
  return ir_gather_dims_attr(f->m, &numbers);
}

static ir_value gathered(finder *f, ir_builder *b, const band *s) {
  const ir_type_data *t = type_of(f, s->x);
  int64_t sizes[IR_MAX_RANK];
  for (int32_t d = 0; d < t->rank; d++) sizes[d] = d == s->keep || d == s->drop ? 1 : t->dims[d];
  int64_t longest = t->dims[s->keep] > t->dims[s->drop] ? t->dims[s->keep] : t->dims[s->drop];
  int32_t rank = t->rank;
  ir_dtype dtype = longest > INT32_MAX ? IR_I64 : IR_I32;
  ir_value columns[] = {index_column(f, b, dtype, s->at_keep, s->length),
                        index_column(f, b, dtype, s->at_drop, s->length)};
  ir_value operands[] = {s->x, ir_build_concatenate(b, columns, 2, 1)};
  ir_type type = band_type(f, s);
  ir_named_attr attrs[] = {ir_property(f->m, "dimension_numbers", gather_attr(f, s)),
                           ir_property(f->m, "indices_are_sorted", ir_attr_bool(f->m, false)),
                           ir_property(f->m, "slice_sizes", ir_attr_i64s(f->m, sizes, rank))};
  return ir_build(b, IR_OP_GATHER, 2, operands, type, 3, attrs);
}

static ir_value masked(finder *f, ir_builder *b, const band *s) {
  const ir_type_data t = *type_of(f, s->x);
  ir_type type = ir_type_of(f->m, s->x), index = ir_tensor(f->m, IR_I64, t.rank, t.dims);
  ir_value i = ir_build_iota(b, index, s->keep), j = ir_build_iota(b, index, s->drop);
  int64_t shift = s->at_drop - s->at_keep;
  if (shift) i = ir_build_add(b, i, ir_build_splat_int(b, index, shift));
  ir_value on = ir_build_compare(b, "EQ", i, j);
  ir_value x = ir_build_select(b, on, s->x, ir_build_neutral_of_sum(b, type));
  ir_value init = ir_build_neutral_of_sum(b, ir_scalar(f->m, t.dtype));
  ir_kind kind = t.dtype == IR_I1 ? IR_OP_OR : IR_OP_ADD;
  x = ir_build_reduce(b, kind, x, init, (int64_t[]){s->drop}, 1);
  return piece(f, b, x, moved(s->keep, s), s->at_keep, s->length);
}

static bool can_mask(ir_dtype d) { return ir_is_common_float(d) || ir_is_integer(d) || d == IR_I1; }

static ir_value as_it_stands(finder *f, ir_builder *b, const band *s) {
  return f->by_gather || !can_mask(type_of(f, s->x)->dtype) ? gathered(f, b, s) : masked(f, b, s);
}

/* ---- through ops ---- */
static ir_value take(finder *f, ir_builder *b, band s, int depth);

enum { MOST_OPERANDS = 8 };

static bool is_elementwise(const finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  return ir_is_elementwise(d->kind) && d->n_results == 1 && !d->n_regions &&
         d->n_operands <= MOST_OPERANDS && !pass_has_foreign_attrs(f->m, op);
}

static ir_value take_elementwise(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  ir_value operands[MOST_OPERANDS];
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_operands; i++) {
    band one = *s;
    operands[i] = one.x = ir_operand(f->m, op, i);
    if (type_of(f, one.x)->rank) operands[i] = take(f, b, one, depth);
  }
  return pass_build_like(b, op, operands, band_type(f, s));
}

static ir_value take_broadcast(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  int32_t n, kept = 0, i = ir_moved_from(f->m, op, s->keep), j = ir_moved_from(f->m, op, s->drop);
  const int64_t *dims = ir_op_ints(f->m, op, "broadcast_dimensions", &n);
  int64_t to[IR_MAX_RANK];
  ir_value x = ir_operand(f->m, op, 0);
  int32_t spare = -1; /* that goes: the second one, or one of length 1 that is repeated */
  if (i >= 0 && j >= 0) {
    x = take(f, b, (band){x, i, j, s->at_keep, s->at_drop, s->length}, depth);
    spare = j;
  } else {
    for (int32_t d = 0; d < n; d++)
      if ((dims[d] == s->keep && d != i && j >= 0) || (dims[d] == s->drop && d != j)) spare = d;
    if (i >= 0) x = piece(f, b, x, i, s->at_keep, s->length);
    if (j >= 0) x = piece(f, b, x, j, s->at_drop, s->length);
    if (spare >= 0)
      x = ir_build_reshape(b, x, ir_tensor_without_dim(f->m, ir_type_of(f->m, x), spare));
  }
  for (int32_t d = 0; d < n; d++)
    if (d != spare) to[kept++] = moved((int32_t)dims[d], s);
  CTX_CHECK(f->m->ctx, kept == type_of(f, x)->rank);
  return ir_build_broadcast(b, x, band_type(f, s), to);
}

static ir_value take_transpose(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  int32_t n;
  const int64_t *perm = ir_op_ints(f->m, op, "permutation", &n);
  band inner = *s;
  inner.x = ir_operand(f->m, op, 0);
  inner.keep = (int32_t)perm[s->keep];
  inner.drop = (int32_t)perm[s->drop];
  int64_t now[IR_MAX_RANK];
  for (int32_t d = 0; d < n; d++)
    if (d != s->drop) now[moved(d, s)] = moved((int32_t)perm[d], &inner);
  return ir_build_transpose(b, take(f, b, inner, depth), now);
}

/* The operand's dimensions that dimension dim of a reshape's result is merged from. */
static bool find_merged(const finder *f, ir_op reshape, int32_t dim, int32_t *out_first,
                        int32_t *out_count) {
  const ir_type_data *x = type_of(f, ir_operand(f->m, reshape, 0));
  const ir_type_data *y = type_of(f, ir_result(f->m, reshape, 0));
  int64_t before = 1, found = 1, elements = 1;
  int32_t i = 0, first;
  for (int32_t d = 0; d < dim; d++) before *= y->dims[d];
  while (i < x->rank && (found < before || x->dims[i] == 1)) found *= x->dims[i++];
  for (first = i; i < x->rank && elements < y->dims[dim]; i++) elements *= x->dims[i];
  *out_first = first;
  *out_count = i - first;
  return found == before && elements == y->dims[dim] && i > first;
}

/* What merges block and place (i, k) to i n + k is on the diagonal where both are: the diagonal of
 * the blocks' diagonals. The n dimensions at keep are merged, and the n at drop. */
static ir_value take_blocks(finder *f, ir_builder *b, ir_value x, const band *s, int32_t keep,
                            int32_t drop, int32_t n, int depth) {
  band whole = *s, one = {.x = x};
  if (s->at_keep != s->at_drop) return IR_NONE;
  for (int32_t i = 0; i < n; i++)
    if (type_of(f, x)->dims[keep + i] != type_of(f, x)->dims[drop + i]) return IR_NONE;
  for (int32_t i = n - 1; i >= 0; i--) {
    one.keep = keep + i - (keep > drop ? n - 1 - i : 0); /* so many before it are gone */
    one.drop = drop + i;
    one.length = type_of(f, one.x)->dims[one.keep];
    one.x = take(f, b, one, depth);
  }
  whole.at_keep = whole.at_drop = 0;
  whole.length = type_of(f, s->x)->dims[s->keep];
  x = ir_build_reshape(b, one.x, band_type(f, &whole));
  return piece(f, b, x, moved(s->keep, s), s->at_keep, s->length);
}

static ir_value take_reshape(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  int32_t n = 1, n_drop = 1;
  band inner = *s;
  inner.x = ir_operand(f->m, op, 0);
  inner.keep = ir_moved_from(f->m, op, s->keep);
  inner.drop = ir_moved_from(f->m, op, s->drop);
  if ((inner.keep < 0 || inner.drop < 0) && (!find_merged(f, op, s->keep, &inner.keep, &n) ||
                                             !find_merged(f, op, s->drop, &inner.drop, &n_drop)))
    return IR_NONE;
  if (n != n_drop) return IR_NONE;
  if (n > 1) return take_blocks(f, b, inner.x, s, inner.keep, inner.drop, n, depth);
  return ir_build_reshape(b, take(f, b, inner, depth), band_type(f, s));
}

static ir_value take_iota(finder *f, ir_builder *b, ir_op op, const band *s) {
  int32_t dim = (int32_t)ir_op_int(f->m, op, "iota_dimension", 0);
  ir_type type = band_type(f, s);
  int64_t at = dim == s->keep ? s->at_keep : dim == s->drop ? s->at_drop : 0;
  ir_value iota = ir_build_iota(b, type, moved(dim, s));
  return at ? ir_build_add(b, iota, ir_build_splat_int(b, type, at)) : iota;
}

static ir_value take_constant(finder *f, ir_builder *b, ir_op op, const band *s) {
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "value", IR_ATTR_DENSE);
  if (!d || !d->splat) return IR_NONE;
  return ir_build_constant(b, band_type(f, s), d->data);
}

/* The slice moves the band; the other dimensions are sliced afterwards. */
static ir_value take_slice(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  int32_t n;
  const int64_t *start = ir_op_ints(f->m, op, "start_indices", &n);
  const int64_t *limit = ir_op_ints(f->m, op, "limit_indices", &n);
  const int64_t *strides = ir_op_ints(f->m, op, "strides", &n);
  if (!start || !limit || !strides || strides[s->keep] != 1 || strides[s->drop] != 1)
    return IR_NONE;
  band inner = *s;
  inner.x = ir_operand(f->m, op, 0);
  inner.at_keep += start[s->keep];
  inner.at_drop += start[s->drop];
  int64_t from[IR_MAX_RANK], to[IR_MAX_RANK], by[IR_MAX_RANK];
  for (int32_t d = 0; d < n; d++) {
    if (d == s->drop) continue;
    int32_t at = moved(d, s);
    from[at] = d == s->keep ? 0 : start[d];
    to[at] = d == s->keep ? s->length : limit[d];
    by[at] = strides[d];
  }
  ir_value x = take(f, b, inner, depth);
  return ir_type_of(f->m, x) == band_type(f, s) ? x : ir_build_slice(b, x, from, to, by);
}

static ir_value take_reduce(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  const ir_op_data *d = ir_op_get(f->m, op);
  ir_kind kind = d->n_operands == 2 ? ir_reducer_kind(f->m, d->regions[0]) : IR_OP_UNKNOWN;
  if (kind == IR_OP_UNKNOWN) return IR_NONE;
  band inner = *s;
  inner.x = d->operands[0];
  ir_value init = d->operands[1];
  int32_t n, rank = type_of(f, inner.x)->rank, kept = 0;
  const int64_t *dims = ir_op_ints(f->m, op, "dimensions", &n);
  int64_t summed[IR_MAX_RANK];
  for (int32_t k = 0, i = 0; k < rank; k++) {
    if (i < n && dims[i] == k) {
      i++;
      continue;
    }
    if (kept == s->keep) inner.keep = k;
    if (kept == s->drop) inner.drop = k;
    kept++;
  }
  if (kept != rank - n) return IR_NONE; /* not in ascending order */
  for (int32_t i = 0; i < n; i++) summed[i] = moved((int32_t)dims[i], &inner);
  return ir_build_reduce(b, kind, take(f, b, inner, depth), init, summed, n);
}

/* ---- products ---- */
/* The result's dimensions by where they come from. */
typedef struct layout {
  int32_t n_batch, n_lhs, n_rhs;
  int32_t lhs[IR_MAX_RANK], rhs[IR_MAX_RANK]; /* free dimensions of the operands */
} layout;

static layout layout_of(const finder *f, ir_op dot, const ir_dot_numbers *n) {
  layout l = {.n_batch = n->lhs_batch.count};
  for (int32_t d = 0; d < type_of(f, ir_operand(f->m, dot, 0))->rank; d++)
    if (ir_dot_is_free(n, 0, d)) l.lhs[l.n_lhs++] = d;
  for (int32_t d = 0; d < type_of(f, ir_operand(f->m, dot, 1))->rank; d++)
    if (ir_dot_is_free(n, 1, d)) l.rhs[l.n_rhs++] = d;
  return l;
}

static ir_ints with(arena *a, ir_ints v, int64_t x) {
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)v.count + 1);
  for (int32_t i = 0; i < v.count; i++) at[i] = v.at[i];
  at[v.count] = x;
  return (ir_ints){v.count + 1, at};
}

/* In what the product is summed. */
static ir_dtype sum_dtype(ir_dtype result) {
  return result == IR_F16 || result == IR_BF16 ? IR_F32 : result;
}

/* x as [batch.., contracted..]. */
static ir_value rows(ir_builder *b, ir_value x, ir_ints batch, ir_ints contract, ir_dtype d) {
  int64_t order[2 * IR_MAX_RANK];
  for (int32_t i = 0; i < batch.count; i++) order[i] = batch.at[i];
  for (int32_t i = 0; i < contract.count; i++) order[batch.count + i] = contract.at[i];
  return ir_build_convert(b, ir_build_transpose(b, x, order), d);
}

/* All free dimensions are batch dimensions: a product of elements and a sum. */
static ir_value sum_of_products(ir_builder *b, ir_value lhs, ir_value rhs, const ir_dot_numbers *n,
                                ir_dtype result) {
  ir_dtype dtype = sum_dtype(result);
  int64_t summed[IR_MAX_RANK];
  for (int32_t i = 0; i < n->lhs_contract.count; i++) summed[i] = n->lhs_batch.count + i;
  ir_value x = rows(b, lhs, n->lhs_batch, n->lhs_contract, dtype);
  ir_value y = rows(b, rhs, n->rhs_batch, n->rhs_contract, dtype);
  ir_value xy = ir_build_multiply(b, x, y);
  return ir_build_convert(b, ir_build_sum(b, xy, summed, n->lhs_contract.count), result);
}

static ir_value product(finder *f, ir_builder *b, ir_op dot, ir_value lhs, ir_value rhs,
                        const ir_dot_numbers *n) {
  ir_dtype dtype = type_of(f, ir_result(f->m, dot, 0))->dtype;
  ir_value made = pass_build_dot(b, lhs, rhs, n, dtype);
  pass_set_accuracy(f->m, ir_value_get(f->m, made)->op, dot);
  return made;
}

/* From [batch.., t, free of lhs.., free of rhs..] to the order of the band. */
static ir_value in_band_order(ir_builder *b, ir_value x, const layout *l, const band *s) {
  int64_t order[IR_MAX_RANK];
  int32_t n = 0, rank = l->n_batch + l->n_lhs + l->n_rhs;
  for (int32_t d = 0; d < l->n_batch; d++) order[moved(d, s)] = n++;
  order[moved(s->keep, s)] = n++;
  for (int32_t d = l->n_batch; d < rank; d++)
    if (d != s->keep && d != s->drop) order[moved(d, s)] = n++;
  CTX_CHECK(b->m->ctx, n == rank - 1 && n == ir_type_at(b->m, x)->rank);
  return ir_build_transpose(b, x, order);
}

static ir_value take_dot(finder *f, ir_builder *b, ir_op op, const band *s) {
  ir_dot_numbers n;
  if (!ir_dot_dims(f->m, op, &n) || ir_op_attr(f->m, op, "algorithm")) return IR_NONE;
  layout l = layout_of(f, op, &n);
  int32_t first = s->keep < s->drop ? s->keep : s->drop, second = s->keep + s->drop - first;
  if (first < l.n_batch || first >= l.n_batch + l.n_lhs || second < l.n_batch + l.n_lhs)
    return IR_NONE;
  int32_t i = l.lhs[first - l.n_batch], j = l.rhs[second - l.n_batch - l.n_lhs];
  int64_t at_lhs = first == s->keep ? s->at_keep : s->at_drop,
          at_rhs = first == s->keep ? s->at_drop : s->at_keep;
  ir_dtype result = type_of(f, s->x)->dtype;
  ir_value lhs = piece(f, b, ir_operand(f->m, op, 0), i, at_lhs, s->length);
  ir_value rhs = piece(f, b, ir_operand(f->m, op, 1), j, at_rhs, s->length);
  n.lhs_batch = with(f->p->scratch, n.lhs_batch, i);
  n.rhs_batch = with(f->p->scratch, n.rhs_batch, j);
  bool vectors = l.n_lhs == 1 && l.n_rhs == 1;
  ir_value x = vectors ? sum_of_products(b, lhs, rhs, &n, result) : product(f, b, op, lhs, rhs, &n);
  return in_band_order(b, x, &l, s);
}

/* ---- the recursion ---- */
static ir_value take_op(finder *f, ir_builder *b, ir_op op, const band *s, int depth) {
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_BROADCAST_IN_DIM: return take_broadcast(f, b, op, s, depth);
    case IR_OP_TRANSPOSE: return take_transpose(f, b, op, s, depth);
    case IR_OP_RESHAPE: return take_reshape(f, b, op, s, depth);
    case IR_OP_IOTA: return take_iota(f, b, op, s);
    case IR_OP_CONSTANT: return take_constant(f, b, op, s);
    case IR_OP_SLICE: return take_slice(f, b, op, s, depth);
    case IR_OP_REDUCE: return take_reduce(f, b, op, s, depth);
    case IR_OP_DOT_GENERAL: return take_dot(f, b, op, s);
    default: return is_elementwise(f, op) ? take_elementwise(f, b, op, s, depth) : IR_NONE;
  }
}

static bool is_same(const band *x, const band *y) {
  return x->x == y->x && x->keep == y->keep && x->drop == y->drop && x->at_keep == y->at_keep &&
         x->at_drop == y->at_drop && x->length == y->length;
}

static ir_value take(finder *f, ir_builder *b, band s, int depth) {
  for (int i = 0; i < f->n_taken; i++)
    if (is_same(&f->taken[i].of, &s)) return f->taken[i].value;
  bool goes_on = depth < DEEPEST && f->n_taken < MOST_TAKEN;
  ir_op op = goes_on ? ir_value_get(f->m, s.x)->op : IR_NONE;
  ir_value made = op && (ir_op_get(f->m, op)->n_results == 1 && pass_is_static(f->m, op))
                      ? take_op(f, b, op, &s, depth + 1)
                      : IR_NONE;
  if (!made) made = as_it_stands(f, b, &s);
  CTX_CHECK(f->m->ctx, ir_type_of(f->m, made) == band_type(f, &s));
  if (f->n_taken < MOST_TAKEN) {
    f->taken[f->n_taken].of = s;
    f->taken[f->n_taken++].value = made;
  }
  return made;
}

/* Whether the tensor need not be there: it is made by an op that we see through. */
static bool can_go(const finder *f, ir_value x) {
  ir_op op = ir_value_get(f->m, x)->op;
  if (!op || !(ir_op_get(f->m, op)->n_results == 1 && pass_is_static(f->m, op)) ||
      ir_value_bytes(f->m, x) <= pass_small_bytes(f->p->options))
    return false;
  while (op && (ir_kind_of(f->m, op) == IR_OP_SLICE || ir_kind_of(f->m, op) == IR_OP_RESHAPE))
    op = ir_value_get(f->m, ir_operand(f->m, op, 0))->op;
  switch (op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN) {
    case IR_OP_UNKNOWN: return false;
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_DOT_GENERAL:
    case IR_OP_REDUCE: return true;
    default: return is_elementwise(f, op);
  }
}

static ir_value diagonal(finder *f, ir_builder *b, const band *s, bool by_gather) {
  f->n_taken = 0;
  f->by_gather = by_gather;
  return take(f, b, *s, 0);
}

/* ---- gathers ---- */
static ir_value replace_gather(finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  int32_t at;
  band s;
  if (!can_go(f, d->operands[0]) || !band_of_gather(f->p->scratch, f->m, op, &s, &at))
    return IR_NONE;
  int32_t rank = type_of(f, d->first_result)->rank, own = moved(s.keep, &s);
  ir_builder b = {f->m, d->block, d->location};
  int64_t order[IR_MAX_RANK];
  for (int32_t i = 0, k = 0; i < rank; i++) {
    if (i == at) {
      order[i] = own;
      continue;
    }
    if (k == own) k++;
    order[i] = k++;
  }
  return ir_build_transpose(&b, diagonal(f, &b, &s, true), order);
}

/* ---- sums of what a mask lets through ---- */
static bool find_masked(const finder *f, ir_value v, band *out) {
  ir_op op = ir_maker(f->m, v, IR_OP_SELECT);
  if (!op || type_of(f, ir_operand(f->m, op, 0))->rank == 0) return false;
  ir_value pred = ir_operand(f->m, op, 0);
  for (uint32_t i = 0; i < 2; i++) {
    ir_value x = ir_operand(f->m, op, 1 + i), other = ir_operand(f->m, op, 2 - i);
    if (!ir_is_zero(f->m, other) || !can_go(f, x) ||
        !band_of_mask(f->m, pred, i ? IR_NE : IR_EQ, out))
      continue;
    out->x = x;
    return true;
  }
  return false;
}

/* The rows that have no element of the diagonal: nothing but the initial value. */
static ir_value padded(finder *f, ir_builder *b, ir_value x, int32_t dim, int64_t before,
                       int64_t length, ir_value init) {
  const ir_type_data *t = type_of(f, x);
  int64_t after = length - before - t->dims[dim];
  ir_type low = ir_tensor_with_dim(f->m, ir_type_of(f->m, x), dim, before);
  ir_type high = ir_tensor_with_dim(f->m, ir_type_of(f->m, x), dim, after);
  ir_value parts[3];
  uint32_t n = 0;
  if (before) parts[n++] = ir_build_broadcast(b, init, low, (int64_t[]){0});
  parts[n++] = x;
  if (after) parts[n++] = ir_build_broadcast(b, init, high, (int64_t[]){0});
  return n == 1 ? x : ir_build_concatenate(b, parts, n, dim);
}

/* One of the two dimensions is summed over: keep is the other. */
static ir_value sum_rows(finder *f, ir_builder *b, const band *s, ir_value x, ir_value init,
                         const int64_t *dims, int32_t n) {
  int64_t summed[IR_MAX_RANK];
  int32_t count = 0, at = moved(s->keep, s);
  for (int32_t i = 0; i < n; i++)
    if (dims[i] != s->drop) summed[count++] = moved((int32_t)dims[i], s);
  if (count) x = ir_build_reduce(b, IR_OP_ADD, x, init, summed, count);
  else x = ir_build_add(b, ir_build_broadcast(b, init, ir_type_of(f->m, x), (int64_t[]){0}), x);
  for (int32_t i = 0; i < count; i++) at -= summed[i] < moved(s->keep, s);
  return padded(f, b, x, at, s->at_keep, type_of(f, s->x)->dims[s->keep], init);
}

static ir_value replace_sum(finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->n_operands != 2 || ir_reducer_kind(f->m, d->regions[0]) != IR_OP_ADD) return IR_NONE;
  ir_value v = d->operands[0], init = d->operands[1];
  ir_op convert = ir_maker(f->m, v, IR_OP_CONVERT);
  band s;
  if (!find_masked(f, convert ? ir_operand(f->m, convert, 0) : v, &s)) return IR_NONE;
  ir_ints over = ir_op_list(f->m, op, "dimensions");
  for (int32_t i = 1; i < over.count; i++)
    if (over.at[i] < over.at[i - 1]) return IR_NONE;
  bool keep = ir_ints_have(over, s.keep), drop = ir_ints_have(over, s.drop);
  if (!keep && !drop) return IR_NONE;
  if (!drop) s = (band){s.x, s.drop, s.keep, s.at_drop, s.at_keep, s.length};
  ir_builder b = {f->m, d->block, d->location};
  ir_value x = ir_build_convert(&b, diagonal(f, &b, &s, false), type_of(f, v)->dtype);
  if (!keep || !drop) return sum_rows(f, &b, &s, x, init, over.at, over.count);
  int64_t summed[IR_MAX_RANK];
  int32_t count = 0;
  for (int32_t i = 0; i < over.count; i++)
    if (over.at[i] != s.drop) summed[count++] = moved((int32_t)over.at[i], &s);
  return ir_build_reduce(&b, IR_OP_ADD, x, init, summed, count);
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_kind kind = ir_kind_of(r->m, op);
  if ((kind != IR_OP_REDUCE && kind != IR_OP_GATHER) || pass_is_compared(r, op)) return false;
  finder f = {.p = r->p, .m = r->m};
  ir_value made = kind == IR_OP_REDUCE ? replace_sum(&f, op) : replace_gather(&f, op);
  return pass_stand_in(r->m, r->map, op, made);
}

const pass pass_diagonal = {"diagonal", .replace = replace, .begin = pass_find_compared};
