/* windows: scatters of windows as scatters of their rows, where loops could slice nothing.
 *
 *   scatter(x, s, u)[s_k + i, ..] += u[k, i, ..]    windows at places that data says:
 *     entries (k)    at (s_k, ..)     windows of a x b
 *     entries (k, i) at (s_k + i, ..) windows of 1 x b
 *
 * A loop slices a dimension that places name if windows are one long there (split/indices.h): what
 * lies outside of the slice is dropped. Scatter drops a window that is not wholly inside; so all of
 * its rows are beyond the end.
 *
 * Requires: a verified module. Breaks: nothing. Exact but for the order of what is added up at one
 * place. Left alone: scatters that have a dimension of FEW or more to slice already (a batch, one
 * that windows are as long as, one along which windows of one lie where data says); several arrays;
 * what depends on the order (`.set`); ui64 places; results that are small against the limit or
 * below the threshold; places of rows that are larger than a result of which the limit has room for
 * two. Cost: a few ops on the places, of which there are as many as there are rows; slices go over
 * all of them.
 */
#include "base/saturate.h"
#include "pass/build.h"

enum { FEW = 16 }; /* slices of a dimension that is shorter hold too much of the rest */

/* The dimension whose windows are opened. */
typedef struct opened {
  int64_t dim, window; /* of the operand; how long windows are along it */
  int64_t in_updates;  /* where it is there .. */
  int64_t in_places;   /* .. and among the places, between the dimensions that these had */
} opened;

/* How long windows are along an operand's dimension. */
static int64_t window_along(const ir_module *m, ir_op op, const ir_gather_numbers *n, int64_t dim,
                            int64_t *out_in_updates) {
  int32_t at = 0;
  if (ir_ints_have(n->collapsed_slice_dims, dim) || ir_ints_have(n->operand_batching_dims, dim))
    return 1;
  for (int64_t d = 0; d < dim; d++)
    at += !ir_ints_have(n->collapsed_slice_dims, d) && !ir_ints_have(n->operand_batching_dims, d);
  *out_in_updates = n->offset_dims.at[at];
  return ir_type_at(m, ir_operand(m, op, 2))->dims[*out_in_updates];
}

/* Loops may slice the operand along the dimension, and it is worth slicing. */
static bool may_be_sliced(const ir_module *m, ir_op op, const ir_gather_numbers *n, int64_t dim) {
  int64_t extent = ir_type_at(m, ir_operand(m, op, 0))->dims[dim], in_updates;
  if (extent < FEW) return false;
  if (ir_ints_have(n->operand_batching_dims, dim)) return true;
  if (ir_ints_have(n->collapsed_slice_dims, dim)) return ir_ints_have(n->start_index_map, dim);
  return !ir_ints_have(n->start_index_map, dim) &&
         window_along(m, op, n, dim, &in_updates) == extent;
}

/* The first dimension that places name, if no dimension can be sliced as it is. */
static bool find_opened(const ir_module *m, ir_op op, const ir_gather_numbers *n, opened *out) {
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, 0));
  int64_t in_updates = 0;
  *out = (opened){.dim = -1};
  for (int32_t d = 0; d < x->rank; d++) {
    if (may_be_sliced(m, op, n, d)) return false;
    if (out->dim >= 0 || x->dims[d] < FEW || !ir_ints_have(n->start_index_map, d)) continue;
    int64_t window = window_along(m, op, n, d, &in_updates), place = 0;
    for (int64_t i = 0; i < in_updates; i++) place += !ir_ints_have(n->offset_dims, i);
    *out = (opened){d, window, in_updates, place + (place > n->index_vector_dim)};
  }
  return out->dim >= 0;
}

/* By the places of all rows, where the result is small enough to stay whole. */
static bool costs_more(const pass_rewrite *r, ir_op op, const opened *o) {
  int64_t places = ir_elements(r->m, ir_operand(r->m, op, 1)),
          bytes = saturated_product(places, o->window * ir_dtype_bytes(IR_I64)),
          result = ir_value_bytes(r->m, ir_result(r->m, op, 0));
  return bytes > result && result <= r->p->options->memory_limit_bytes / 2;
}

static bool may_open(pass_rewrite *r, ir_op op, ir_gather_numbers *n, opened *out) {
  if (ir_kind_of(r->m, op) != IR_OP_SCATTER || ir_op_get(r->m, op)->n_operands != 3 ||
      !pass_is_static(r->m, op) || pass_has_foreign_attrs(r->m, op) ||
      ir_reducer_kind(r->m, ir_body(r->m, op)) == IR_OP_UNKNOWN ||
      ir_value_bytes(r->m, ir_result(r->m, op, 0)) <= r->small_bytes)
    return false;
  const ir_type_data *places = ir_type_at(r->m, ir_operand(r->m, op, 1));
  return places->rank + 2 <= IR_MAX_RANK && ir_fits_i64(places->dtype) &&
         ir_gather_dims(r->p->scratch, r->m, op, n) && find_opened(r->m, op, n, out) &&
         !costs_more(r, op, out);
}

/* ---- places ---- */
/* Component c of the places, once more for each row: with a dimension for the rows. */
static ir_value for_rows(ir_builder *b, ir_value places, int64_t along, int32_t c,
                         const opened *o) {
  int64_t dims[IR_MAX_RANK], to[IR_MAX_RANK];
  ir_type_data t = *ir_type_at(b->m, places);
  ir_value at = t.dims[along] == 1 ? places : ir_build_slice_dim(b, places, along, c, 1);
  for (int32_t d = 0; d < t.rank; d++) {
    to[d] = d + (d >= o->in_places);
    dims[to[d]] = d == along ? 1 : t.dims[d];
  }
  dims[o->in_places] = o->window;
  return ir_build_broadcast(b, at, ir_tensor(b->m, t.dtype, t.rank + 1, dims), to);
}

/* Where windows begin as where each of their rows is; all of them beyond the end where a window is
 * not inside. */
static ir_value of_rows(ir_builder *b, ir_value at, int64_t extent, const opened *o) {
  ir_value from = ir_build_compare(b, "GE", at, ir_build_int_like(b, at, 0)),
           to = ir_build_compare(b, "LE", at, ir_build_int_like(b, at, extent - o->window)),
           row = ir_build_iota(b, ir_type_of(b->m, at), o->in_places),
           inside = ir_build_binary(b, IR_OP_AND, from, to);
  return ir_build_select(b, inside, ir_build_add(b, at, row), ir_build_int_like(b, at, extent));
}

/* Index vectors of the rows, along dimension *out_along. */
static ir_value places_of_rows(ir_builder *b, ir_op op, const ir_gather_numbers *n, const opened *o,
                               int64_t *out_along) {
  ir_value places = ir_build_convert(b, ir_operand(b->m, op, 1), IR_I64), parts[IR_MAX_RANK];
  ir_type_data t = *ir_type_at(b->m, places);
  int64_t along = n->index_vector_dim,
          extent = ir_type_at(b->m, ir_operand(b->m, op, 0))->dims[o->dim];
  if (along == t.rank) places = pass_build_column(b, places);
  *out_along = along + (along >= o->in_places);
  for (int32_t c = 0; c < n->start_index_map.count; c++) {
    parts[c] = for_rows(b, places, along, c, o);
    if (n->start_index_map.at[c] == o->dim) parts[c] = of_rows(b, parts[c], extent, o);
  }
  uint32_t count = (uint32_t)n->start_index_map.count;
  return count == 1 ? parts[0] : ir_build_concatenate(b, parts, count, *out_along);
}

/* ---- the op ---- */
/* Dimensions of the places, with that of the rows between. */
static ir_ints behind(ir_ints list, int64_t in_places, int64_t *out) {
  for (int32_t i = 0; i < list.count; i++) out[i] = list.at[i] + (list.at[i] >= in_places);
  return (ir_ints){list.count, out};
}

static ir_ints with(ir_ints list, int64_t x, int64_t *out) {
  int32_t count = 0;
  while (count < list.count && list.at[count] < x) out[count] = list.at[count], count++;
  out[count] = x;
  for (int32_t i = count; i < list.count; i++) out[i + 1] = list.at[i];
  return (ir_ints){list.count + 1, out};
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_gather_numbers n;
  opened o;
  int64_t offset[IR_MAX_RANK], collapsed[IR_MAX_RANK], batches[IR_MAX_RANK];
  if (!may_open(r, op, &n, &o)) return false;
  ir_value places = places_of_rows(&r->b, op, &n, &o, &n.index_vector_dim);
  ir_value operands[] = {ir_operand(r->m, op, 0), places, ir_operand(r->m, op, 2)};
  n.offset_dims = ir_ints_without(n.offset_dims, o.in_updates, offset);
  n.start_indices_batching_dims = behind(n.start_indices_batching_dims, o.in_places, batches);
  n.collapsed_slice_dims = with(n.collapsed_slice_dims, o.dim, collapsed);
  ir_type type = ir_type_of(r->m, ir_result(r->m, op, 0));
  ir_op made = ir_build_again(&r->b, op, operands, &type);
  ir_set_gather_dims(r->m, made, &n);
  ir_op_drop_attr(r->m, made, "indices_are_sorted"); /* rows of windows that overlap: neither */
  ir_op_drop_attr(r->m, made, "unique_indices");
  return pass_stand_in(r->m, r->map, op, ir_result(r->m, made, 0));
}

const pass pass_windows = {"windows", .replace = replace};
