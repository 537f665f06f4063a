/* counted: gathers and scatters at the digits of 0, 1, 2, ... are moves.
 *
 *   gather(x, [p / n, p % n] for all p)      = reshape(x)                x is [m, n], p < m n
 *   gather(x, p / n for all p)               = reshape(broadcast(x))     ... of m
 *   scatter(y, [p / n, p % n], u, add)       = y + reshape(u)
 *   scatter(y, p / n, u, add)                = y + the sums of reshape(u) over n
 *   scatter(y, [p / n, p % n], u, put)       = reshape(u)
 *
 * and likewise of any digits of p in mixed bases, in any order, each once. What is gathered at all
 * places of a matrix in their order (`listed`) is the matrix, which can be made by rows.
 *
 * Requires: a verified module; behind `ranges`, which takes wrapping and clamping off such indices.
 * Breaks: nothing; what lost its uses stays for dce. Exact, but for sums that a scatter adds up: in
 * another order. Left alone: digits that reach beyond x or, of scatters, less far than x; batches,
 * windows longer than 1 along a named dimension; updates that are put, not added, more than once
 * in a place; what is small against the limit. Cost: linear.
 */
#include "pass/build.h"

enum { MOST_STEPS = 16 };

typedef struct digit { /* (p / step) % base */
  int64_t step, base;
} digit;

/* p, split into bases from the outermost to the innermost. */
typedef struct places {
  int32_t n;
  int64_t dims[IR_MAX_RANK];
  int32_t named[IR_MAX_RANK]; /* by component of the index vectors: which of them it is */
} places;

static bool is_same_line(const ir_module *m, ir_op op) {
  ir_value x = ir_operand(m, op, 0), y = ir_result(m, op, 0);
  return ir_element_count(m, ir_type_of(m, x)) == ir_element_count(m, ir_type_of(m, y));
}

/* The digit before the op, made what it is behind it; false: it is none. The outermost digit can be
 * counted on in any base. */
static bool step_down(const ir_module *m, ir_op op, int64_t count, digit *d) {
  int64_t by;
  if (!ir_splat_int(m, ir_operand(m, op, 1), &by) || by <= 0) return false;
  bool outermost = d->step * d->base >= count;
  if (!outermost && d->base % by) return false;
  if (ir_kind_of(m, op) == IR_OP_REMAINDER) {
    d->base = by < d->base ? by : d->base;
    return true;
  }
  d->step *= by;
  d->base = (d->base + by - 1) / by;
  return d->base > 0;
}

/* Its type has numbers enough. */
static bool counts(const ir_module *m, ir_value v, int64_t count) {
  ir_dtype d = ir_type_at(m, v)->dtype;
  return count <= INT32_MAX && (d == IR_I32 || d == IR_I64);
}

/* The digit of the line's element number that v has; count elements. */
static bool find_digit(const ir_module *m, ir_value v, int64_t count, digit *out) {
  ir_op passed[MOST_STEPS];
  int n = 0;
  for (; n < MOST_STEPS; n++) {
    ir_op op = ir_value_get(m, v)->op;
    ir_kind k = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
    bool moves = (k == IR_OP_RESHAPE || k == IR_OP_BROADCAST_IN_DIM) && is_same_line(m, op);
    if (k == IR_OP_IOTA) break;
    if (!moves && k != IR_OP_CONVERT && k != IR_OP_DIVIDE && k != IR_OP_REMAINDER) return false;
    passed[n] = op;
    v = ir_operand(m, op, 0);
  }
  const ir_type_data *t = ir_type_at(m, v);
  int64_t dim = n < MOST_STEPS ? ir_op_int(m, ir_value_get(m, v)->op, "iota_dimension", -1) : -1;
  if (dim < 0 || !counts(m, v, count) || t->dims[dim] != count ||
      ir_element_count(m, ir_type_of(m, v)) != count)
    return false;
  *out = (digit){1, count};
  while (n-- > 0) {
    ir_kind k = ir_kind_of(m, passed[n]);
    if ((k == IR_OP_DIVIDE || k == IR_OP_REMAINDER) && !step_down(m, passed[n], count, out))
      return false;
    if (!counts(m, ir_result(m, passed[n], 0), count)) return false;
  }
  return true;
}

/* The digits cut p into bases: each begins where another ends, or where nothing is named. */
static bool cut(const digit *digits, int32_t n, int64_t count, places *out) {
  int64_t at = count;
  bool used[IR_MAX_RANK] = {false};
  out->n = 0;
  while (at > 1) {
    int32_t next = -1;
    for (int32_t i = 0; i < n; i++)
      if (!used[i] && (next < 0 || digits[i].step > digits[next].step)) next = i;
    int64_t end = next < 0 ? 1 : digits[next].step * digits[next].base;
    if (out->n + 2 > IR_MAX_RANK || at % end) return false;
    if (at > end) out->dims[out->n++] = at / end, at = end;
    if (next < 0) continue;
    if (at != end) return false;
    used[next] = true;
    out->named[next] = out->n;
    out->dims[out->n++] = digits[next].base;
    at = digits[next].step;
  }
  for (int32_t i = 0; i < n; i++)
    if (!used[i]) return false;
  return true;
}

/* Where the entries, one batch dimension in front, are; the operand is as long as the digits along
 * what they name, or longer if it may be. */
static bool find_places(const pass_entries *v, bool may_be_longer, places *out) {
  digit digits[IR_MAX_RANK];
  const ir_module *m = v->m;
  const ir_gather_numbers *n = &v->n;
  int32_t named = n->start_index_map.count;
  const ir_type_data *t = ir_type_at(m, v->x);
  int64_t count = ir_type_at(m, v->part)->dims[0];
  if (n->operand_batching_dims.count || named < 1 || n->collapsed_slice_dims.count != named ||
      count < 2 || ir_type_at(m, v->indices)->rank > 2)
    return false;
  for (int32_t i = 0; i < named; i++) {
    ir_value at = pass_index_component(m, v->indices, n, i);
    int64_t extent = t->dims[n->start_index_map.at[i]];
    if (ir_ints_find(n->collapsed_slice_dims, n->start_index_map.at[i]) < 0 || !at ||
        !find_digit(m, at, count, &digits[i]) || digits[i].base > extent ||
        (!may_be_longer && digits[i].base != extent))
      return false;
  }
  return cut(digits, named, count, out);
}

static bool has_entries_first(const ir_gather_numbers *n) {
  for (int32_t i = 0; i < n->offset_dims.count; i++)
    if (n->offset_dims.at[i] != i + 1) return false;
  return true;
}

/* The places' dimensions, then x's others; to[d]: where x's dimension d is among them. */
static ir_type tall_type(ir_module *m, ir_value x, const ir_gather_numbers *n, const places *p,
                         int64_t *to) {
  const ir_type_data *t = ir_type_at(m, x);
  int64_t dims[2 * IR_MAX_RANK];
  int32_t rank = p->n;
  for (int32_t i = 0; i < p->n; i++) dims[i] = p->dims[i];
  for (int32_t d = 0; d < t->rank; d++) {
    int32_t i = ir_ints_find(n->start_index_map, d);
    to[d] = i >= 0 ? p->named[i] : rank;
    if (i < 0) dims[rank++] = t->dims[d];
  }
  return rank <= IR_MAX_RANK ? ir_tensor(m, t->dtype, rank, dims) : IR_NONE;
}

static bool takes_all_else(ir_module *m, ir_op op, const ir_gather_numbers *n) {
  int32_t count;
  const int64_t *sizes = ir_op_ints(m, op, "slice_sizes", &count);
  for (int32_t d = 0; d < count; d++)
    if (sizes[d] != (ir_ints_find(n->start_index_map, d) >= 0
                         ? 1
                         : ir_type_at(m, ir_operand(m, op, 0))->dims[d]))
      return false;
  return count >= 0;
}

static ir_value gathered(ir_builder *b, ir_op op, const pass_entries *v) {
  ir_value x = v->x;
  const ir_gather_numbers *n = &v->n;
  places p;
  int64_t to[IR_MAX_RANK];
  if (!takes_all_else(b->m, op, n) || !find_places(v, true, &p)) return IR_NONE;
  for (int32_t i = 0; i < n->start_index_map.count; i++) {
    int64_t d = n->start_index_map.at[i], base = p.dims[p.named[i]];
    if (ir_type_at(b->m, x)->dims[d] != base) x = ir_build_slice_dim(b, x, d, 0, base);
  }
  ir_type tall = tall_type(b->m, x, n, &p, to);
  if (!tall) return IR_NONE;
  return ir_build_reshape(b, ir_build_broadcast(b, x, tall, to), ir_type_of(b->m, v->part));
}

/* Sums over what no digit names, then x's order of dimensions. */
static ir_value as_operand(ir_builder *b, ir_value u, ir_kind kind, const places *p,
                           int32_t n_named, const int64_t *to, int32_t rank) {
  int64_t over[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t n = 0, n_over = 0;
  bool kept[IR_MAX_RANK] = {false};
  for (int32_t i = 0; i < n_named; i++) kept[p->named[i]] = true;
  for (int32_t i = 0; i < p->n; i++)
    if (!kept[i]) over[n_over++] = i;
  if (n_over) {
    ir_type scalar = ir_scalar(b->m, ir_type_at(b->m, u)->dtype);
    CTX_CHECK(b->m->ctx, kind == IR_OP_ADD);
    u = ir_build_reduce(b, kind, u, ir_build_splat_int(b, scalar, 0), over, n_over);
  }
  for (; n < rank; n++) {
    int64_t before = 0;
    for (int32_t i = 0; i < n_over; i++) before += over[i] < to[n];
    permutation[n] = to[n] - before;
  }
  return ir_build_transpose(b, u, permutation);
}

static ir_value scattered(ir_builder *b, const pass_entries *v) {
  ir_module *m = b->m;
  places p;
  int64_t to[IR_MAX_RANK];
  int32_t named = v->n.start_index_map.count;
  if ((!v->puts && v->kind != IR_OP_ADD) || !find_places(v, false, &p) || (v->puts && p.n > named))
    return IR_NONE;
  ir_type tall = tall_type(m, v->x, &v->n, &p, to);
  if (!tall || ir_element_count(m, tall) != ir_element_count(m, ir_type_of(m, v->part)))
    return IR_NONE;
  ir_value u = ir_build_reshape(b, v->part, tall);
  u = as_operand(b, u, IR_OP_ADD, &p, named, to, ir_type_at(m, v->x)->rank);
  return v->puts ? u : ir_build_add(b, v->x, u);
}

static bool replace(pass_rewrite *f, ir_op op) {
  pass_entries v;
  if (!pass_find_entries(f->p->scratch, f->m, op, &v) || !pass_is_large(f, v.part) ||
      !has_entries_first(&v.n))
    return false;
  bool gathers = ir_kind_of(f->m, op) == IR_OP_GATHER;
  return pass_stand_in(f->m, f->map, op, gathers ? gathered(&f->b, op, &v) : scattered(&f->b, &v));
}

const pass pass_counted = {"counted", .replace = replace};
