/* columns: of a tensor with a few columns that are read one by one, each is made for itself.
 *
 *   f(x, y)[:, j]       =  f(x[:, j], y[:, j])        elementwise f
 *   concatenate, an update at a known place: the part that j is in
 *   broadcast, transpose, reversal, slice, reshape that keeps the dimension: of their operand's
 *   any_j x[:, j]       =  x[:, 0] or x[:, 1] or ..   and all, sums, extremes of integers
 *
 * Coordinates are such tensors: [n, 2] integers that are sorted by one column and then the other;
 * [n, m, 2] corners in which boxes overlap, [n, m, 3] factors of cross products.
 * What is made of columns is elementwise, and can be made in slices of n that cut rows of what it
 * is made of; a reduction can't. Vectors go along m, not along two or three numbers.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact. Left
 * alone: more than MOST_COLUMNS columns; sums of columns of floats, whose order is XLA's, and their
 * extremes, which kernels take as they are; what has another reader that wants all columns; tensors
 * that are small against the limit. Cost: MOST_STEPS ops a column.
 */
#include "pass/boxes.h"
#include "pass/build.h"
#include "pass/order.h"

enum { MOST_COLUMNS = 4, MOST_STEPS = 48 };

typedef struct made {
  ir_value v, column;
  int32_t dim;
  int64_t j;
} made;

typedef struct columns {
  pass_ctx *p;
  ir_module *m;
  ir_builder b; /* where the reader stands */
  pass_boxes boxes;
  const uint32_t *uses;
  uint32_t *column_uses;
  int64_t small_bytes;
  int32_t steps; /* left for this reader */
  VEC(made) known;
} columns;

static const ir_type_data *type_of(const columns *f, ir_value v) { return ir_type_at(f->m, v); }

static ir_type column_type(const columns *f, ir_value v, int32_t dim) {
  return ir_tensor_with_dim(f->m, ir_type_of(f->m, v), dim, 1);
}

/* ---- columns of what an op makes; IR_NONE: not known how ---- */
static ir_value column(columns *f, ir_value v, int32_t dim, int64_t j);

static ir_value of_reverse(columns *f, ir_op op, int32_t dim, int64_t j) {
  int64_t kept[IR_MAX_RANK];
  ir_ints dims = ir_op_list(f->m, op, "dimensions"), others = ir_ints_without(dims, dim, kept);
  ir_value x = ir_operand(f->m, op, 0);
  if (others.count < dims.count) j = type_of(f, x)->dims[dim] - 1 - j;
  x = column(f, x, dim, j);
  return others.count ? pass_build_reverse(&f->b, x, others) : x;
}

static ir_value of_slice(columns *f, ir_op op, int32_t dim, int64_t j) {
  ir_ints start = ir_op_list(f->m, op, "start_indices"),
          limit = ir_op_list(f->m, op, "limit_indices"), stride = ir_op_list(f->m, op, "strides");
  int64_t from[IR_MAX_RANK], to[IR_MAX_RANK];
  ir_value x = ir_operand(f->m, op, 0);
  bool cuts = false;
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    from[d] = d == dim ? 0 : start.at[d];
    to[d] = d == dim ? 1 : limit.at[d];
    cuts |= d != dim && (from[d] || to[d] != type_of(f, x)->dims[d] || stride.at[d] != 1);
  }
  x = column(f, x, dim, start.at[dim] + j * stride.at[dim]);
  return cuts ? ir_build_slice(&f->b, x, from, to, stride.at) : x;
}

/* Of whole columns, put at a known place. */
static ir_value of_update(columns *f, ir_op op, int32_t dim, int64_t j) {
  ir_value x = ir_operand(f->m, op, 0), u = ir_operand(f->m, op, 1);
  const ir_type_data *t = type_of(f, x), *part = type_of(f, u);
  int64_t start;
  for (int32_t d = 0; d < t->rank; d++)
    if (d != dim && part->dims[d] != t->dims[d]) return IR_NONE;
  if (!ir_integer_of(f->m, ir_operand(f->m, op, 2 + (uint32_t)dim), &start)) return IR_NONE;
  int64_t last = t->dims[dim] - part->dims[dim], length = part->dims[dim];
  start = start < 0 ? 0 : start > last ? last : start;
  if (j < start || j >= start + length) return column(f, x, dim, j);
  return column(f, u, dim, j - start);
}

/* Of an operand what makes the column: it, or a column of it; IR_NONE: nothing. False: neither. */
static bool part_of_operand(columns *f, ir_op op, uint32_t i, pass_box of, ir_value *out) {
  pass_box want;
  ir_value x = *out = ir_operand(f->m, op, i);
  const ir_type_data *t = type_of(f, x);
  if (!pass_box_of_operand(&f->boxes, op, i, of, &want)) return false;
  if (pass_box_is_empty(t, want)) return *out = IR_NONE, true;
  int32_t cut = -1;
  for (int32_t d = 0; d < t->rank; d++) {
    if (pass_box_is_all(t, want, d)) continue;
    if (cut >= 0 || want.hi[d] - want.lo[d] != 1) return false;
    cut = d;
  }
  if (cut >= 0) *out = column(f, x, cut, want.lo[cut]);
  return true;
}

/* The op once more, on such parts. */
static ir_value of_parts(columns *f, ir_op op, int32_t dim, int64_t j) {
  ir_value y = ir_result(f->m, op, 0);
  uint32_t n = ir_op_get(f->m, op)->n_operands, count = 0;
  ir_value *parts = ARENA_ARRAY(f->p->scratch, ir_value, n + 1);
  pass_box of = pass_box_of_all(&f->boxes, type_of(f, y));
  pass_box_set(&of, dim, j, j + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (!part_of_operand(f, op, i, of, &parts[count])) return IR_NONE;
    count += parts[count] != IR_NONE;
  }
  CTX_CHECK(f->m->ctx, count || !n); /* the column is of something */
  if (ir_kind_of(f->m, op) == IR_OP_CONCATENATE && count == 1) return parts[0];
  if (ir_kind_of(f->m, op) == IR_OP_CONCATENATE)
    return ir_build_concatenate(&f->b, parts, count, ir_op_int(f->m, op, "dimension", 0));
  return pass_build_like(&f->b, op, parts, column_type(f, y, dim));
}

static ir_value of_iota(columns *f, ir_op op, int32_t dim, int64_t j) {
  ir_type type = column_type(f, ir_result(f->m, op, 0), dim);
  int64_t along = ir_op_int(f->m, op, "iota_dimension", 0);
  return along == dim ? ir_build_splat_int(&f->b, type, j) : ir_build_iota(&f->b, type, along);
}

static ir_value of_constant(columns *f, ir_op op, int32_t dim) {
  ir_value y = ir_result(f->m, op, 0);
  if (!ir_is_splat_constant(f->m, y)) return IR_NONE;
  const ir_attr_data *d = ir_attr_get(f->m, ir_op_attr(f->m, op, "value"));
  return ir_build_constant(&f->b, column_type(f, y, dim), d->data);
}

static ir_value column_of(columns *f, ir_op op, int32_t dim, int64_t j) {
  ir_kind kind = ir_kind_of(f->m, op);
  if (ir_is_elementwise(kind)) return of_parts(f, op, dim, j);
  switch (kind) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_CONCATENATE:
    case IR_OP_RESHAPE: return of_parts(f, op, dim, j);
    case IR_OP_REVERSE: return of_reverse(f, op, dim, j);
    case IR_OP_SLICE: return of_slice(f, op, dim, j);
    case IR_OP_DYNAMIC_UPDATE_SLICE: return of_update(f, op, dim, j);
    case IR_OP_IOTA: return of_iota(f, op, dim, j);
    case IR_OP_CONSTANT: return of_constant(f, op, dim);
    default: return IR_NONE;
  }
}

/* v[.., j, ..], the dimension of one element. */
static ir_value column(columns *f, ir_value v, int32_t dim, int64_t j) {
  ir_op op = ir_value_get(f->m, v)->op;
  if (type_of(f, v)->dims[dim] == 1) return v;
  for (uint32_t i = 0; i < f->known.count; i++)
    if (f->known.at[i].v == v && f->known.at[i].dim == dim && f->known.at[i].j == j)
      return f->known.at[i].column;
  bool makes = op && ir_op_get(f->m, op)->n_results == 1 && pass_is_static(f->m, op) &&
               ir_value_bytes(f->m, v) > f->small_bytes && f->steps-- > 0;
  ir_value x = makes ? column_of(f, op, dim, j) : IR_NONE;
  if (!x) x = ir_build_slice_dim(&f->b, v, dim, j, 1);
  VEC_PUSH(f->p->scratch, &f->known, ((made){v, x, dim, j}));
  return x;
}

/* ---- readers ---- */
/* The dimension whose few elements are reduced, or of which one is taken; -1: another op. */
static int32_t read_along(const columns *f, ir_op op) {
  ir_kind kind = ir_kind_of(f->m, op);
  if ((kind != IR_OP_REDUCE && kind != IR_OP_SLICE) || ir_op_get(f->m, op)->n_results != 1 ||
      !pass_is_static(f->m, op))
    return -1;
  const ir_type_data *x = type_of(f, ir_operand(f->m, op, 0)),
                     *y = type_of(f, ir_result(f->m, op, 0));
  int32_t found = -1;
  ir_ints dims = ir_op_list(f->m, op, "dimensions");
  for (int32_t d = 0; d < x->rank; d++) {
    bool reads = kind == IR_OP_REDUCE ? ir_ints_have(dims, d) : x->dims[d] != y->dims[d];
    if (!reads) continue;
    if (found >= 0) return -1;
    found = d;
  }
  if (found < 0 || x->dims[found] < 1 || x->dims[found] > MOST_COLUMNS) return -1;
  return kind == IR_OP_REDUCE || y->dims[found] == 1 ? found : -1;
}

/* A slice, or integers or truth values by a reducer that is one op. */
static bool is_exact(const columns *f, ir_op op) {
  ir_dtype d = type_of(f, ir_result(f->m, op, 0))->dtype;
  if (ir_kind_of(f->m, op) == IR_OP_SLICE) return true;
  return (d == IR_I1 || pass_orders_integer(d)) &&
         type_of(f, ir_operand(f->m, op, 0))->dtype == d &&
         ir_reducer_kind(f->m, ir_body(f->m, op)) != IR_OP_UNKNOWN;
}

static bool reads_columns(const columns *f, ir_op op) {
  return read_along(f, op) >= 0 && is_exact(f, op);
}

/* Moved, or made element by element: of what is in memory anyway a column is a slice. */
static bool is_made(const columns *f, ir_value v) {
  ir_op op = ir_value_get(f->m, v)->op;
  return op && ir_op_get(f->m, op)->n_results == 1 && ir_kind_of(f->m, op) != IR_OP_CONSTANT;
}

static bool may_replace(const columns *f, ir_op op) {
  ir_value x = ir_operand(f->m, op, 0);
  return reads_columns(f, op) && f->uses[x] == f->column_uses[x] && is_made(f, x) &&
         ir_value_bytes(f->m, x) > f->small_bytes;
}

/* Combined with what the reduction begins with, nothing changes. */
static bool is_neutral(const columns *f, ir_kind kind, ir_value begin) {
  if (kind == IR_OP_ADD || kind == IR_OP_OR || kind == IR_OP_XOR) return ir_is_zero(f->m, begin);
  int64_t truth;
  return kind == IR_OP_AND && type_of(f, begin)->dtype == IR_I1 &&
         ir_splat_int(f->m, begin, &truth) && truth;
}

static ir_value reduced(columns *f, ir_op op, int32_t dim) {
  ir_value x = ir_operand(f->m, op, 0), begin = ir_operand(f->m, op, 1);
  ir_kind kind = ir_reducer_kind(f->m, ir_body(f->m, op));
  ir_type type = column_type(f, x, dim);
  ir_value all =
      is_neutral(f, kind, begin) ? IR_NONE : ir_build_broadcast(&f->b, begin, type, NULL);
  for (int64_t j = 0; j < type_of(f, x)->dims[dim]; j++) {
    ir_value one = column(f, x, dim, j);
    all = all ? ir_build_binary(&f->b, kind, all, one) : one;
  }
  return ir_build_reshape(&f->b, all, ir_type_of(f->m, ir_result(f->m, op, 0)));
}

static bool replace(pass_rewrite *r, ir_op op) {
  columns *f = r->own;
  if (!ir_op_get(f->m, op)->n_operands || !may_replace(f, op)) return false;
  int32_t dim = read_along(f, op);
  ir_value x = ir_operand(f->m, op, 0);
  f->b = r->b;
  f->known.count = 0;
  f->steps = MOST_STEPS;
  ir_value y = ir_kind_of(f->m, op) == IR_OP_REDUCE
                   ? reduced(f, op, dim)
                   : column(f, x, dim, ir_op_entry(f->m, op, "start_indices", dim, 0));
  return pass_stand_in(f->m, r->map, op, y);
}

static bool begin(pass_rewrite *r) {
  columns *f = r->own = ARENA_NEW(r->p->scratch, columns);
  *f = (columns){.p = r->p,
                 .m = r->m,
                 .boxes = {.a = r->p->scratch, .m = r->m},
                 .uses = r->uses,
                 .column_uses = ARENA_ARRAY(r->p->scratch, uint32_t, r->n_values),
                 .small_bytes = r->small_bytes};
  for (ir_walk w = ir_walk_block(f->m, ir_top(f->m)); ir_next(&w);)
    if (reads_columns(f, w.op)) f->column_uses[ir_operand(f->m, w.op, 0)]++;
  return true;
}

const pass pass_columns = {"columns", .replace = replace, .begin = begin};
