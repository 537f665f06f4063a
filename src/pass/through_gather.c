/* through-gather: single elements of a large tensor, read or written one by one.
 *
 * Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * A gather of single elements (take_along_axis, logits[i, label]) from a large tensor is made from
 * what the tensor is made of (elements.h), and the tensor may be one that nobody holds.
 *   A scatter that writes at most one element at each place of the other dimensions is a
 * select where the counted index is the written one; one out of bounds is nowhere, as in scatter.
 *   Where entries name a dimension by their own index (x[arange(n), i]) it becomes a batch
 * dimension of the gather or scatter, which is split along it. So does the first one of a diagonal
 * that is compared with what it is read from.
 *   A gather from a part of an argument (tables[k][i]) is one from the argument: the part is not
 * copied.
 *   Windows whose places data says along two dimensions or more are read element by element.
 *   Gather's clamping, NaNs and infinities are kept. Exact, but for products: the sum is done in
 * another order, 16-bit floats are summed up in f32. Left alone: what is compared with what it
 * is read from (compared.h), other windows (whole rows), ui64 indices; products where the rows read
 * would be more than half of the product, or columns that data names where arrays lie in tiles;
 * scatters with several operands or a function of their own, of one entry, into what is in memory
 * anyway, or where two entries may meet; tensors that are small against the limit or below the
 * threshold. Cost: bounded ops a gather. Source: XLA's GatherSimplifier and ScatterExpander are the
 * other direction; one_hot(label) in place of a scatter is folklore of cross-entropy.
 */
#include "pass/elements.h"

#include "ir/maps.h"
#include "pass/compared.h"
#include "pass/frame.h"

typedef pass_place place;
typedef pass_picker picker;

static const ir_type_data *type_of(const picker *f, ir_value v) { return ir_type_at(f->m, v); }

/* ---- the ops ---- */
static int64_t window_along(const picker *f, ir_op gather, int64_t dim) {
  return ir_op_entry(f->m, gather, "slice_sizes", dim, 1);
}

/* Windows of several elements at places that data says along two dimensions or more: no row and no
 * column is read as a whole. */
static bool reads_windows(const picker *f, ir_op op, const ir_gather_numbers *n) {
  bool any = false;
  for (int32_t k = 0; k < n->start_index_map.count; k++)
    any |= window_along(f, op, n->start_index_map.at[k]) > 1;
  return any && n->start_index_map.count > 1 && !n->operand_batching_dims.count &&
         type_of(f, ir_result(f->m, op, 0))->rank < IR_MAX_RANK;
}

static ir_value element_of_gather(picker *f, ir_op op, const pass_entries *v) {
  place where;
  if (ir_value_bytes(f->m, v->x) <= f->small_bytes || !pass_is_made(f->m, v->x, true) ||
      ir_elements(f->m, v->part) > ir_elements(f->m, v->x) / 2)
    return IR_NONE;
  bool one_by_one = ir_ints_all(ir_op_list(f->m, op, "slice_sizes"), 1) && !v->n.offset_dims.count;
  if ((!one_by_one && !reads_windows(f, op, &v->n)) || !pass_find_place_of_gather(f, op, v, &where))
    return IR_NONE;
  return pass_elements(f, v->x, &where);
}

/* Each entry has a place of its own in the dimensions that are not indexed, and they fill them. Any
 * other that an entry's own index says (on a diagonal) becomes an indexed one. */
static bool has_own_places(picker *f, ir_value x, place *where) {
  uint64_t seen = 0;
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    pass_coordinate *c = &where->at[d];
    int64_t extent = type_of(f, x)->dims[d];
    if (c->at || (c->along < 0 && extent == 1)) continue;
    if (pass_is_line(f, c, extent) && !(seen >> c->along & 1)) seen |= 1ull << c->along;
    else *c = (pass_coordinate){.at = pass_coordinate_value(f, c)};
  }
  for (int32_t i = 0; i < f->rank; i++)
    if (!(seen >> i & 1) && f->dims[i] != 1) return false;
  return seen != 0;
}

/* A value of the entries over all of x. */
static ir_value spread(picker *f, ir_value v, ir_value x, const place *where) {
  int64_t kept[IR_MAX_RANK], to[IR_MAX_RANK];
  int32_t n = 0;
  for (int32_t i = 0; i < f->rank; i++)
    for (int32_t d = 0; d < type_of(f, x)->rank; d++)
      if (!where->at[d].at && where->at[d].along == i) kept[n] = f->dims[i], to[n++] = d;
  ir_dtype dtype = type_of(f, v)->dtype;
  v = ir_build_reshape(&f->b, v, ir_tensor(f->m, dtype, n, kept));
  return ir_build_broadcast(&f->b, v, ir_tensor_with_dtype(f->m, ir_type_of(f->m, x), dtype), to);
}

/* i1 of x: whether an entry is there. IR_NONE: in all places. Counted in i32 where that is enough:
 * a vector has twice as many. */
static ir_value written(picker *f, ir_value x, const place *where) {
  ir_value all = IR_NONE;
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    int64_t extent = type_of(f, x)->dims[d];
    if (!where->at[d].at) continue;
    ir_dtype dtype = extent < INT32_MAX ? IR_I32 : IR_I64;
    ir_value at = ir_build_clamped(&f->b, where->at[d].at, -1, extent);
    at = spread(f, ir_build_convert(&f->b, at, dtype), x, where);
    ir_value count = ir_build_iota(&f->b, ir_type_of(f->m, at), d);
    ir_value here = ir_build_compare(&f->b, "EQ", count, at);
    all = all ? ir_build_binary(&f->b, IR_OP_AND, all, here) : here;
  }
  return all;
}

static ir_value select_for_scatter(picker *f, const pass_entries *v) {
  place where;
  if (ir_value_bytes(f->m, v->x) <= f->small_bytes || !pass_is_made(f->m, v->x, true) ||
      (v->kind == IR_OP_UNKNOWN && !v->puts) || v->n.offset_dims.count ||
      !pass_find_place(f, v, &where) || !has_own_places(f, v->x, &where))
    return IR_NONE;
  ir_value mask = written(f, v->x, &where);
  if (!mask) return IR_NONE;
  ir_value sum = spread(f, v->part, v->x, &where);
  if (v->kind != IR_OP_UNKNOWN) sum = ir_build_binary(&f->b, v->kind, v->x, sum);
  return ir_build_select(&f->b, mask, sum, v->x);
}

/* ---- entries that name a dimension by their own index ---- */
/* Dimensions of x that windows lie along. */
static ir_ints windows_of(const picker *f, ir_value x, const ir_gather_numbers *n, int64_t *dims) {
  int32_t count = 0;
  for (int32_t d = 0; d < type_of(f, x)->rank; d++)
    if (ir_ints_find(n->collapsed_slice_dims, d) < 0 &&
        ir_ints_find(n->operand_batching_dims, d) < 0)
      dims[count++] = d;
  return (ir_ints){count, dims};
}

static bool names_points(const ir_gather_numbers *n) {
  for (int32_t i = 0; i < n->start_index_map.count; i++)
    if (ir_ints_find(n->collapsed_slice_dims, n->start_index_map.at[i]) < 0) return false;
  return n->start_index_map.count == n->collapsed_slice_dims.count;
}

/* Before anything is built: of the indices put together some are counts, and some are data, or all
 * count (a diagonal). */
static bool has_counts(const picker *f, ir_value indices, int64_t along, bool all) {
  ir_op parts = ir_maker(f->m, indices, IR_OP_CONCATENATE);
  if (!parts || ir_op_int(f->m, parts, "dimension", -1) != along) return false;
  uint32_t counts = 0, n = ir_op_get(f->m, parts)->n_operands;
  for (uint32_t i = 0; i < n; i++)
    counts += pass_counted_dim(f->m, ir_operand(f->m, parts, i)) >= 0;
  return all ? counts == n : counts && counts < n;
}

/* Of a diagonal the first of its dimensions is a batch: rows are made that have an element of it.
 */
static pass_named_dims name_diagonal(const picker *f, ir_value x, const place *where) {
  pass_named_dims n = {.n_batch = 1, .along = {where->at[0].along}};
  if (!pass_is_line(f, &where->at[0], type_of(f, x)->dims[0])) n.n_batch = 0;
  for (int32_t d = 1; d < type_of(f, x)->rank; d++) n.indexed[n.n_indexed++] = d;
  return n;
}

/* x[arange(n), i]: what is named by a count of the entries is a batch dimension of the same op. */
static ir_value batched(picker *f, ir_op op, const pass_entries *v, bool is_diagonal) {
  int64_t dims[IR_MAX_RANK];
  place where;
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  if (!names_points(&v->n) || !has_counts(f, v->indices, v->n.index_vector_dim, is_diagonal) ||
      (ir_value_bytes(f->m, v->x) <= f->small_bytes &&
       ir_type_bytes(f->m, type) <= f->small_bytes) ||
      !pass_find_place(f, v, &where))
    return IR_NONE;
  ir_ints windows = windows_of(f, v->x, &v->n, dims);
  if (is_diagonal && windows.count) return IR_NONE;
  pass_named_dims named =
      is_diagonal ? name_diagonal(f, v->x, &where) : pass_name_dims(f, v->x, &where, windows);
  if (named.n_batch <= v->n.operand_batching_dims.count || !named.n_indexed) return IR_NONE;
  ir_value operands[] = {v->x, pass_index_vectors(f, &where, &named), v->part};
  ir_op made = ir_build_again(&f->b, op, operands, &type);
  ir_gather_numbers numbers = pass_numbers_of(f, &named, v->n.offset_dims);
  ir_set_gather_dims(f->m, made, &numbers);
  ir_op_drop_attr(f->m, made, "indices_are_sorted"); /* by another order of the components */
  return ir_result(f->m, made, 0);
}

/* ---- parts of what is in memory ---- */
/* The array that v is a part of, as it is or without dimensions of length one; IR_NONE: none. */
static ir_value whole_of(picker *f, ir_value v, pass_frame *out) {
  int32_t to[IR_MAX_RANK], rank = type_of(f, v)->rank, count = 0;
  ir_op move = ir_maker(f->m, v, IR_OP_RESHAPE);
  ir_op slice = ir_maker(f->m, move ? ir_operand(f->m, move, 0) : v, IR_OP_SLICE);
  if (!slice || !pass_is_static(f->m, slice)) return IR_NONE;
  pass_frame_init(f->m, ir_operand(f->m, slice, 0), out);
  memcpy(to, out->to, sizeof to);
  if (move && !ir_moved_dims(f->m, move, to)) return IR_NONE;
  for (int32_t d = 0; d < out->outer.rank; d++) {
    if (ir_op_entry(f->m, slice, "strides", d, 1) != 1) return IR_NONE;
    out->low[d] = ir_op_entry(f->m, slice, "start_indices", d, 0);
    out->inner[d] = type_of(f, ir_result(f->m, slice, 0))->dims[d];
    if (to[d] == count) out->to[count++] = d;
  }
  return count == rank ? ir_operand(f->m, slice, 0) : IR_NONE;
}

/* A gather from a part of an argument, which need not be copied: from the argument. */
static ir_value from_whole(picker *f, ir_op op) {
  pass_frame in;
  ir_value v = ir_operand(f->m, op, 0);
  if (ir_kind_of(f->m, op) != IR_OP_GATHER || ir_value_bytes(f->m, v) <= f->small_bytes)
    return IR_NONE;
  ir_value whole = whole_of(f, v, &in);
  if (!whole || ir_value_get(f->m, whole)->op || !pass_may_reframe(f->p->scratch, f->m, op, &in))
    return IR_NONE;
  return pass_build_reframed(&f->b, f->p->scratch, op, &in, whole);
}

static bool replace(pass_rewrite *r, ir_op op) {
  pass_entries v;
  if (!pass_find_entries(r->p->scratch, r->m, op, &v)) return false;
  picker f = pass_picker_at(r, op);
  bool gathers = ir_kind_of(r->m, op) == IR_OP_GATHER, is_compared = pass_is_compared(r, op);
  ir_value y = IR_NONE;
  if (!gathers) y = select_for_scatter(&f, &v);
  else if (!is_compared) y = element_of_gather(&f, op, &v);
  if (!y) y = batched(&f, op, &v, false);
  if (!y && gathers && is_compared) y = batched(&f, op, &v, true);
  if (!y) y = from_whole(&f, op);
  return pass_stand_in(r->m, r->map, op, y);
}

const pass pass_through_gather = {"through-gather", .replace = replace,
                                  .begin = pass_find_compared};
