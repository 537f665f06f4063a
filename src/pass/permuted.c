/* permuted: what is gathered in the order of its own sort is what the sort has put out.
 *
 *   s, p = sort(x, iota)          x[p] = s        (x[argsort(x)]; unique, lexsort)
 *   s, t, p = sort(x, y, iota)    rows[p] = s, t put together, of rows with the columns x and y
 *
 * The gather goes, and with it p, where nobody else reads it: the sort then moves one array, not
 * two. Looked through are moves that keep a line's order (reshapes, transposes, slices, reversed
 * columns), and p < 0 ? p + n : p, which is p.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact: a sort
 * moves all its arrays by one permutation, whatever the comparison says. Left alone: sorts of more
 * than one dimension, indices too narrow to count the elements; more than MOST_COLUMNS columns;
 * gathers of another array, or of rows with another column: were they moved along, all of them
 * would have to be there at once, where a gather makes what it reads. Cost: linear.
 */
#include "pass/build.h"
#include "pass/line.h"

enum { MOST_COLUMNS = 4 };

typedef struct rows { /* x[p]: along `dim` of x, which has one dimension or two */
  ir_value x;
  int32_t dim;
  int64_t columns;
  ir_op sort;
} rows;

/* Whole rows, one for each of as many indices as there are. */
static bool picks_rows(pass_rewrite *f, ir_op op, rows *out) {
  ir_gather_numbers n;
  ir_module *m = f->m;
  if (ir_kind_of(m, op) != IR_OP_GATHER || !pass_is_static(m, op)) return false;
  ir_value x = ir_operand(m, op, 0);
  const ir_type_data *t = ir_type_at(m, x);
  if (ir_type_of(m, x) != ir_type_of(m, ir_result(m, op, 0)) || t->rank < 1 || t->rank > 2 ||
      !ir_gather_dims(f->p->scratch, m, op, &n) || n.collapsed_slice_dims.count != 1 ||
      n.start_index_map.count != 1 || n.offset_dims.count != t->rank - 1)
    return false;
  int32_t dim = (int32_t)n.collapsed_slice_dims.at[0];
  *out = (rows){x, dim, t->rank == 2 ? t->dims[1 - dim] : 1, IR_NONE};
  return t->rank == 1 || n.offset_dims.at[0] == 1 - dim;
}

static bool find_rows(pass_rewrite *f, ir_op op, rows *out) {
  ir_value places;
  if (!picks_rows(f, op, out) || out->columns < 1 || out->columns > MOST_COLUMNS) return false;
  out->sort = pass_line_sort(f->m, ir_operand(f->m, op, 1),
                             ir_type_at(f->m, out->x)->dims[out->dim], &places);
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
  for (ir_value v, i = 0; (v = ir_operand_at(m, r->sort, i)); i++) {
    pass_line l = pass_line_origin(m, pass_line_whole(m, v, n), n);
    if (pass_line_is_same(m, &l, &wanted) && dtype_of(m, v) == dtype_of(m, r->x))
      return ir_result(m, r->sort, i);
  }
  return IR_NONE;
}

static bool has_all(ir_module *m, const rows *r) {
  for (int64_t i = 0; i < r->columns; i++)
    if (!sorted_column(m, r, i)) return false;
  return true;
}

/* Along its dimension, as a line or as a matrix of one row or column. */
static ir_type column_type(ir_module *m, const rows *r, int32_t rank) {
  int64_t n = ir_type_at(m, r->x)->dims[r->dim], dims[2] = {1, 1};
  dims[rank == 1 ? 0 : r->dim] = n;
  return ir_tensor(m, dtype_of(m, r->x), rank, dims);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  rows r;
  ir_value columns[MOST_COLUMNS];
  if (!find_rows(f, op, &r) || !has_all(m, &r)) return false;
  int32_t rank = ir_type_at(m, r.x)->rank;
  for (int64_t i = 0; i < r.columns; i++)
    columns[i] = ir_build_reshape(&f->b, sorted_column(m, &r, i), column_type(m, &r, rank));
  ir_value y = columns[0];
  if (r.columns > 1) y = ir_build_concatenate(&f->b, columns, (uint32_t)r.columns, 1 - r.dim);
  return pass_stand_in(m, f->map, op, y);
}

const pass pass_permuted = {"permuted", .replace = replace};
