/* permuted: what is gathered in the order of its own sort is what the sort has put out.
 *
 *   s, p = sort(x, iota)    x[p] = s        (x[argsort(x)]; unique, lexsort)
 *   s, p = sort(x, iota)    y[p] = t        of s, p, t = sort(x, iota, y), y computed
 *
 * x and y are lines, or the columns of a few: rows[p] are the columns put together. The gather
 * goes, and with it p, where nobody else reads it. Looked through are moves that keep a line's
 * order (reshapes, transposes, slices, reversed columns), and p < 0 ? p + n : p, which is p.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact: a sort
 * moves all its arrays by one permutation, whatever the comparison says. Left alone: sorts of more
 * than one dimension, indices too narrow to count the elements; gathers of another array that is
 * there anyway (an argument, a constant), is made behind the sort, or is small against the limit;
 * more than MOST_COLUMNS columns. Cost: linear.
 */
#include "pass/build.h"
#include "pass/line.h"
#include "pass/order.h"

enum { MOST_COLUMNS = 4, MOST_ALONG = 8 /* columns that a sort may get */ };

/* ---- rows in the order of a sort ---- */
typedef struct rows { /* x[p]: along `dim` of x, which has one dimension or two */
  ir_value x;
  int32_t dim;
  int64_t columns;
  ir_op sort;
} rows;

typedef struct sorter {
  pass_rewrite f;
  uint32_t *place; /* of ops: in the order of the program */
  uint32_t n_ops;
  VEC(rows) asked; /* what sorts are to move along */
} sorter;

/* Whole rows, one for each of as many indices as there are. */
static bool picks_rows(sorter *s, ir_op op, rows *out) {
  ir_gather_numbers n;
  ir_module *m = s->f.m;
  if (ir_kind_of(m, op) != IR_OP_GATHER || !pass_is_static(m, op)) return false;
  ir_value x = ir_operand(m, op, 0);
  const ir_type_data *t = ir_type_at(m, x);
  if (ir_type_of(m, x) != ir_type_of(m, ir_result(m, op, 0)) || t->rank < 1 || t->rank > 2 ||
      !ir_gather_dims(s->f.p->scratch, m, op, &n) || n.collapsed_slice_dims.count != 1 ||
      n.start_index_map.count != 1 || n.offset_dims.count != t->rank - 1)
    return false;
  int32_t dim = (int32_t)n.collapsed_slice_dims.at[0];
  *out = (rows){x, dim, t->rank == 2 ? t->dims[1 - dim] : 1, IR_NONE};
  return t->rank == 1 || n.offset_dims.at[0] == 1 - dim;
}

static bool find_rows(sorter *s, ir_op op, rows *out) {
  ir_value places;
  if (!picks_rows(s, op, out) || out->columns < 1 || out->columns > MOST_COLUMNS) return false;
  out->sort = pass_line_sort(s->f.m, ir_operand(s->f.m, op, 1),
                             ir_type_at(s->f.m, out->x)->dims[out->dim], &places);
  return out->sort != IR_NONE;
}

static ir_dtype dtype_of(const ir_module *m, ir_value v) { return ir_type_at(m, v)->dtype; }

static pass_line column_of(ir_module *m, const rows *r, int64_t column) {
  pass_line l = {.v = r->x, .dim = r->dim};
  if (ir_type_at(m, r->x)->rank == 2) l.at[1 - r->dim] = column;
  return pass_line_origin(m, l, ir_type_at(m, r->x)->dims[r->dim]);
}

/* The result of the sort that is this column in order; IR_NONE. */
static ir_value sorted_column(ir_module *m, const rows *r, int64_t column) {
  int64_t n = ir_type_at(m, r->x)->dims[r->dim];
  pass_line wanted = column_of(m, r, column);
  for (uint32_t i = 0; i < ir_op_get(m, r->sort)->n_operands; i++) {
    ir_value v = ir_operand(m, r->sort, i);
    pass_line l = pass_line_origin(m, pass_line_whole(m, v, n), n);
    if (pass_line_is_same(m, &l, &wanted) && dtype_of(m, v) == dtype_of(m, r->x))
      return ir_result(m, r->sort, i);
  }
  return IR_NONE;
}

static int64_t count_missing(ir_module *m, const rows *r) {
  int64_t n = 0;
  for (int64_t i = 0; i < r->columns; i++) n += !sorted_column(m, r, i);
  return n;
}

/* ---- what a sort is to move along ---- */
static void number_op(const ir_module *m, ir_op op, void *user) {
  sorter *s = user;
  (void)m;
  s->place[op] = ++s->n_ops;
}

static bool is_number(ir_dtype d) {
  return d == IR_I1 || pass_orders_float(d) || pass_orders_integer(d);
}

/* Not what is in memory anyway. */
static bool is_made(ir_module *m, const rows *r) {
  for (int64_t i = 0; i < r->columns; i++) {
    ir_op op = ir_value_get(m, column_of(m, r, i).v)->op;
    if (op && ir_kind_of(m, op) != IR_OP_CONSTANT && ir_kind_of(m, op) != IR_OP_IOTA) return true;
  }
  return false;
}

/* Made, before the sort, and large. */
static bool may_move_along(const sorter *s, const rows *r) {
  ir_module *m = s->f.m;
  ir_op op = ir_value_get(m, r->x)->op;
  return op && is_made(m, r) && is_number(dtype_of(m, r->x)) &&
         ir_op_get(m, op)->block == ir_op_get(m, r->sort)->block &&
         s->place[op] < s->place[r->sort] &&
         ir_value_bytes(m, r->x) > pass_small_bytes(s->f.p->options);
}

static int64_t count_asked(const sorter *s, ir_op sort) {
  int64_t n = 0;
  for (uint32_t i = 0; i < s->asked.count; i++)
    if (s->asked.at[i].sort == sort) n += s->asked.at[i].columns;
  return n;
}

static bool is_asked(const sorter *s, const rows *r) {
  for (uint32_t i = 0; i < s->asked.count; i++)
    if (s->asked.at[i].sort == r->sort && s->asked.at[i].x == r->x && s->asked.at[i].dim == r->dim)
      return true;
  return false;
}

static void ask(const ir_module *m, ir_op op, void *user) {
  sorter *s = user;
  rows r;
  (void)m;
  if (!find_rows(s, op, &r) || is_asked(s, &r) || !count_missing(s->f.m, &r)) return;
  if (may_move_along(s, &r) && count_asked(s, r.sort) + r.columns <= MOST_ALONG)
    VEC_PUSH(s->f.p->scratch, &s->asked, r);
}

/* Along its dimension, as a line or as a matrix of one row or column. */
static ir_type column_type(ir_module *m, const rows *r, int32_t rank) {
  int64_t n = ir_type_at(m, r->x)->dims[r->dim], dims[2] = {1, 1};
  dims[rank == 1 ? 0 : r->dim] = n;
  return ir_tensor(m, dtype_of(m, r->x), rank, dims);
}

static ir_value built_column(ir_builder *b, const rows *r, int64_t column) {
  if (ir_type_at(b->m, r->x)->rank == 1) return r->x;
  ir_value part = ir_build_slice_dim(b, r->x, 1 - r->dim, column, 1);
  return ir_build_reshape(b, part, column_type(b->m, r, 1));
}

/* The comparator once more, with two arguments for each array that it does not look at. */
static void copy_comparator(ir_module *m, ir_op from, ir_op to) {
  ir_block old = ir_op_get(m, from)->regions[0], body = ir_region_block(m, to, 0);
  ir_map *map = ir_map_new(m->arena, m);
  for (uint32_t i = 0; i < ir_op_get(m, to)->n_operands; i++)
    for (uint32_t side = 0; side < 2; side++) {
      ir_value arg = ir_block_arg(m, body, ir_scalar(m, dtype_of(m, ir_operand(m, to, i))));
      if (i < ir_op_get(m, from)->n_operands)
        ir_map_set(map, ir_block_get(m, old)->args.at[2 * i + side], arg);
    }
  ir_copy_block(m, old, body, map);
}

static bool extend_sort(sorter *s, ir_block block, ir_op op) {
  ir_module *m = s->f.m;
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_builder b = {m, block, ir_op_get(m, op)->location};
  ir_value *x = ARENA_ARRAY(s->f.p->scratch, ir_value, n + MOST_ALONG);
  ir_type *types = ARENA_ARRAY(s->f.p->scratch, ir_type, n + MOST_ALONG);
  for (uint32_t i = 0; i < n; i++) x[i] = ir_operand(m, op, i);
  for (uint32_t i = 0; i < s->asked.count; i++) {
    rows r = s->asked.at[i];
    if (r.sort != op) continue;
    r.x = ir_map_get(s->f.map, r.x);
    for (int64_t k = 0; k < r.columns; k++)
      if (!sorted_column(m, &r, k)) x[n++] = built_column(&b, &r, k);
  }
  if (n == ir_op_get(m, op)->n_operands) return false;
  for (uint32_t i = 0; i < n; i++) types[i] = ir_type_of(m, x[i]);
  ir_op_desc desc = ir_op_desc_of(m, op);
  desc.n_operands = desc.n_results = n;
  desc.operands = x;
  desc.result_types = types;
  ir_op sort = ir_op_new(m, block, &desc);
  copy_comparator(m, op, sort);
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    ir_map_set(s->f.map, ir_result(m, op, i), ir_result(m, sort, i));
  return s->f.changed = true;
}

/* ---- the gathers ---- */
static bool replace_gather(sorter *s, ir_block block, ir_op op) {
  ir_module *m = s->f.m;
  rows r;
  ir_value columns[MOST_COLUMNS];
  if (!find_rows(s, op, &r) || count_missing(m, &r)) return false;
  ir_builder b = {m, block, ir_op_get(m, op)->location};
  int32_t rank = ir_type_at(m, r.x)->rank;
  for (int64_t i = 0; i < r.columns; i++)
    columns[i] = ir_build_reshape(&b, sorted_column(m, &r, i), column_type(m, &r, rank));
  ir_value y = columns[0];
  if (r.columns > 1) y = ir_build_concatenate(&b, columns, (uint32_t)r.columns, 1 - r.dim);
  ir_map_set(s->f.map, ir_result(m, op, 0), y);
  return s->f.changed = true;
}

static bool replace(void *user, ir_block block, ir_op op) {
  sorter *s = user;
  if (ir_kind_of(s->f.m, op) == IR_OP_SORT) return extend_sort(s, block, op);
  return replace_gather(s, block, op);
}

static weir_status run(pass_ctx *p, ir_module *m, bool *out_changed) {
  sorter s = {.f = {p, m, ir_map_new(p->scratch, m), false},
              .place = ARENA_ARRAY(p->scratch, uint32_t, m->ops.count)};
  ir_block top = ir_op_get(m, m->root)->regions[0];
  ir_walk(m, top, number_op, &s);
  ir_walk(m, top, ask, &s);
  pass_replace_ops(m, top, s.f.map, replace, &s);
  *out_changed = s.f.changed;
  return WEIR_OK;
}

const pass pass_permuted = {"permuted", run};
