/* through-gather: single elements of a large tensor, read or written one by one.
 *
 * Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * Identity: an element of f(x, y) is f of elements of x and y; of a broadcast, a transpose, a
 * reshape by ones, an iota it is the element it came from; of a product it is the sum of products
 * of a row and a column. So a gather of single elements (take_along_axis, logits[i, label]) from a
 * large tensor is made from what the tensor is made of, and the tensor may be one that nobody
 * holds. A scatter that writes at most one element at each place of the other dimensions is a
 * select where the counted index is the written one; one out of bounds is nowhere, as in scatter.
 *   Where entries name a dimension by their own index (x[arange(n), i]) it becomes a batch
 * dimension of the gather or scatter, which is split along it.
 *   A gather from a part of an argument (tables[k][i]) is one from the argument: the part is not
 * copied.
 *   Windows whose places data says along two dimensions or more are read element by element.
 *   Gather's clamping, NaNs and infinities are kept. Exact, but for products: the sum is done in
 * another order, 16-bit floats are summed up in f32. Left alone: what is compared with what it
 * is read from (pass/compared.h), other windows (whole rows),
 * ui64 indices; products where the rows read would be more than half of the product, or columns
 * that data names where arrays lie in tiles; scatters with several operands or a function of their
 * own, of one entry, into what is in memory anyway, or where two entries may meet; tensors that are
 * small against the limit or below the threshold. Cost: MOST_STEPS ops a gather. Source: XLA's
 * GatherSimplifier and ScatterExpander are the other direction; one_hot(label) in place of a
 * scatter is folklore of cross-entropy.
 */
#include "ir/maps.h"
#include "pass/build.h"
#include "pass/compared.h"
#include "pass/frame.h"

enum { MOST_STEPS = 48 };

/* Which index of a dimension an entry reads. */
typedef struct coordinate {
  bool is_own;   /* the entry's own index along its dimension `along` */
  int64_t along; /* -1: 0 */
  ir_value at;   /* of neither kind: i64, one an entry */
} coordinate;

static const coordinate AT_ZERO = {true, -1, IR_NONE};

typedef struct place { /* of every entry, in a tensor */
  coordinate at[IR_MAX_RANK];
} place;

typedef struct known {
  ir_value value, element;
  place where;
} known;

typedef struct picker {
  pass_ctx *p;
  ir_module *m;
  int64_t small_bytes;
  ir_builder b; /* where the op that is looked at stands */
  int32_t rank; /* of the entries */
  int64_t dims[IR_MAX_RANK];
  int32_t steps; /* left for this gather */
  VEC(known) found;
} picker;

static const ir_type_data *type_of(const picker *f, ir_value v) { return ir_type_at(f->m, v); }

static ir_type entries_of(const picker *f, ir_dtype dtype) {
  return ir_tensor(f->m, dtype, f->rank, f->dims);
}

/* ---- indices ---- */
/* Component c of the index vectors, which lie along dimension `along`; it is not there any more. */
static ir_value component_of(picker *f, ir_value indices, int64_t along, int64_t c) {
  ir_type_data t = *type_of(f, indices);
  ir_type type = entries_of(f, t.dtype);
  ir_op parts = ir_maker(f->m, indices, IR_OP_CONCATENATE);
  if (along == t.rank) return indices;
  if (parts && ir_op_int(f->m, parts, "dimension", -1) == along &&
      ir_op_get(f->m, parts)->n_operands == t.dims[along])
    return ir_build_reshape(&f->b, ir_operand(f->m, parts, (uint32_t)c), type);
  if (t.dims[along] > 1) indices = ir_build_slice_dim(&f->b, indices, along, c, 1);
  return ir_build_reshape(&f->b, indices, type);
}

/* The entries are those of the indices, without the dimension that vectors lie along; false: they
 * can't be read. */
static bool set_entries(picker *f, ir_value indices, int64_t along) {
  const ir_type_data *t = type_of(f, indices);
  f->rank = 0;
  for (int32_t i = 0; i < t->rank; i++)
    if (i != along) f->dims[f->rank++] = t->dims[i];
  return ir_fits_i64(t->dtype) && f->rank < IR_MAX_RANK; /* room for index vectors */
}

static coordinate indexed(picker *f, ir_value indices, int64_t along, int64_t component,
                          int64_t extent) {
  ir_value at = component_of(f, indices, along, component);
  int64_t dim = pass_counted_dim(f->m, at);
  if (dim >= 0 && f->dims[dim] <= extent) return (coordinate){true, dim, IR_NONE};
  return (coordinate){false, 0, ir_build_convert(&f->b, at, IR_I64)};
}

/* Where the entries of a gather or scatter are in the operand, or their windows begin; not clamped.
 */
static bool find_place(picker *f, const ir_gather_numbers *n, ir_value operand, ir_value indices,
                       place *out) {
  int64_t along = n->index_vector_dim;
  if (!set_entries(f, indices, along)) return false;
  for (int32_t d = 0; d < type_of(f, operand)->rank; d++) {
    int64_t extent = type_of(f, operand)->dims[d];
    int32_t batch = ir_ints_find(n->operand_batching_dims, d),
            component = ir_ints_find(n->start_index_map, d);
    out->at[d] = AT_ZERO;
    if (batch >= 0) {
      int64_t dim = n->start_indices_batching_dims.at[batch];
      out->at[d].along = dim > along ? dim - 1 : dim;
    } else if (component >= 0) {
      out->at[d] = indexed(f, indices, along, component, extent);
    }
  }
  return true;
}

/* ---- reads ---- */
static ir_value coordinate_value(picker *f, const coordinate *c) {
  ir_type type = entries_of(f, IR_I64);
  if (!c->is_own) return c->at;
  return c->along < 0 ? ir_build_splat_int(&f->b, type, 0) : ir_build_iota(&f->b, type, c->along);
}

/* Windows over the dimensions of `whole`, in this order, stand behind the entries' dimensions. */
typedef struct reading {
  ir_value v;
  const place *where;
  ir_ints whole;
  ir_type type;
} reading;

static reading reading_of(picker *f, ir_value v, const place *where, ir_ints whole) {
  int64_t dims[IR_MAX_RANK];
  CTX_CHECK(f->m->ctx, f->rank + whole.count <= IR_MAX_RANK);
  for (int32_t i = 0; i < f->rank; i++) dims[i] = f->dims[i];
  for (int32_t i = 0; i < whole.count; i++) dims[f->rank + i] = type_of(f, v)->dims[whole.at[i]];
  ir_type type = ir_tensor(f->m, type_of(f, v)->dtype, f->rank + whole.count, dims);
  return (reading){v, where, whole, type};
}

/* Every entry reads at its own index: a broadcast. IR_NONE: it does not. */
static ir_value broadcast(picker *f, const reading *r) {
  const ir_type_data *t = type_of(f, r->v);
  int64_t kept[IR_MAX_RANK] = {0}, to[IR_MAX_RANK], count = 0;
  uint32_t seen = 0;
  for (int32_t d = 0; d < t->rank; d++) {
    int32_t window = ir_ints_find(r->whole, d);
    const coordinate *c = &r->where->at[d];
    int64_t place = window >= 0 ? f->rank + window : c->along;
    if (window < 0 && (!c->is_own || (place < 0 && t->dims[d] != 1))) return IR_NONE;
    if (place < 0) continue;
    if (seen >> place & 1 || t->dims[d] != ir_type_get(f->m, r->type)->dims[place]) return IR_NONE;
    seen |= 1u << place;
    kept[count] = t->dims[d];
    to[count++] = place;
  }
  ir_type type = ir_tensor(f->m, t->dtype, (int32_t)count, kept);
  ir_value x = ir_build_reshape(&f->b, r->v, type);
  bool moves = ir_type_of(f->m, x) != r->type;
  for (int32_t i = 0; i < count; i++) moves |= to[i] != i;
  return moves ? ir_build_broadcast(&f->b, x, r->type, to) : x;
}

/* A gather's windows have the operand's dimensions in its order. */
static ir_value in_asked_order(picker *f, const reading *r, ir_value x) {
  int64_t permutation[IR_MAX_RANK];
  bool moves = false;
  for (int64_t i = 0; i < f->rank; i++) permutation[i] = i;
  for (int32_t i = 0; i < r->whole.count; i++) {
    int64_t before = 0;
    for (int32_t k = 0; k < r->whole.count; k++) before += r->whole.at[k] < r->whole.at[i];
    permutation[f->rank + i] = f->rank + before;
    moves |= before != i;
  }
  return moves ? ir_build_transpose(&f->b, x, permutation) : x;
}

static ir_type type_as_gathered(picker *f, const reading *r) {
  ir_type_data t = *ir_type_get(f->m, r->type);
  int64_t dims[IR_MAX_RANK], n = f->rank;
  for (int32_t i = 0; i < f->rank; i++) dims[i] = t.dims[i];
  for (int32_t d = 0; d < type_of(f, r->v)->rank; d++)
    if (ir_ints_find(r->whole, d) >= 0) dims[n++] = type_of(f, r->v)->dims[d];
  return ir_tensor(f->m, t.dtype, t.rank, dims);
}

/* The entry's own index names the dimension, and no other of this operand: a batch. */
static bool is_batch(const picker *f, const coordinate *c, int64_t extent, uint32_t seen) {
  return c->is_own && c->along >= 0 && f->dims[c->along] == extent && !(seen >> c->along & 1);
}

/* Dimensions of v that entries are of, by how. */
typedef struct named_dims {
  int64_t indexed[IR_MAX_RANK], batch[IR_MAX_RANK], along[IR_MAX_RANK];
  int32_t n_indexed, n_batch;
} named_dims;

static bool reads_data(const picker *f, ir_value v, const place *where, ir_ints whole) {
  for (int32_t d = 0; d < type_of(f, v)->rank; d++)
    if (ir_ints_find(whole, d) < 0 && !where->at[d].is_own) return true;
  return false;
}

/* A diagonal has no batches. */
static named_dims name_dims(const picker *f, ir_value v, const place *where, ir_ints whole) {
  named_dims n = {.n_indexed = 0};
  uint32_t seen = reads_data(f, v, where, whole) ? 0 : UINT32_MAX;
  for (int32_t d = 0; d < type_of(f, v)->rank; d++) {
    const coordinate *c = &where->at[d];
    if (ir_ints_find(whole, d) >= 0) continue;
    if (is_batch(f, c, type_of(f, v)->dims[d], seen)) {
      seen |= 1u << c->along;
      n.batch[n.n_batch] = d;
      n.along[n.n_batch++] = c->along;
    } else {
      n.indexed[n.n_indexed++] = d;
    }
  }
  return n;
}

/* Of single elements along these dimensions; index vectors lie behind the entries. */
static ir_gather_numbers numbers_of(const picker *f, const named_dims *n, ir_ints offset) {
  ir_ints points = {n->n_indexed, n->indexed};
  return (ir_gather_numbers){.offset_dims = offset,
                             .collapsed_slice_dims = points,
                             .operand_batching_dims = {n->n_batch, n->batch},
                             .start_indices_batching_dims = {n->n_batch, n->along},
                             .start_index_map = points,
                             .index_vector_dim = f->rank};
}

/* [entries, indexed dimensions] */
static ir_value index_vectors(picker *f, const place *where, const named_dims *n) {
  ir_value parts[IR_MAX_RANK] = {IR_NONE};
  for (int32_t i = 0; i < n->n_indexed; i++)
    parts[i] = pass_build_column(&f->b, coordinate_value(f, &where->at[n->indexed[i]]));
  if (n->n_indexed == 1) return parts[0];
  return ir_build_concatenate(&f->b, parts, (uint32_t)n->n_indexed, f->rank);
}

static ir_value gathered(picker *f, const reading *r) {
  const ir_type_data t = *type_of(f, r->v);
  int64_t offset[IR_MAX_RANK], sizes[IR_MAX_RANK];
  named_dims n = name_dims(f, r->v, r->where, r->whole);
  CTX_CHECK(f->m->ctx, n.n_indexed > 0); /* or broadcast() would have it */
  for (int32_t i = 0; i < r->whole.count; i++) offset[i] = f->rank + i;
  for (int32_t d = 0; d < t.rank; d++) sizes[d] = ir_ints_find(r->whole, d) >= 0 ? t.dims[d] : 1;
  ir_gather_numbers numbers = numbers_of(f, &n, (ir_ints){r->whole.count, offset});
  ir_attr attr = ir_gather_dims_attr(f->m, &numbers);
  ir_value indices = index_vectors(f, r->where, &n);
  ir_type type = type_as_gathered(f, r);
  return in_asked_order(f, r, ir_build_gather(&f->b, r->v, indices, type, attr, sizes));
}

/* A slice without gaps of dimensions that are read as a whole. */
static bool cuts_windows_alone(const picker *f, ir_op slice, ir_ints whole) {
  int32_t n;
  const int64_t *stride = ir_op_ints(f->m, slice, "strides", &n),
                *from = type_of(f, ir_operand(f->m, slice, 0))->dims,
                *to = type_of(f, ir_result(f->m, slice, 0))->dims;
  for (int32_t d = 0; d < n; d++)
    if (stride[d] != 1 || (from[d] != to[d] && ir_ints_find(whole, d) < 0)) return false;
  return true;
}

static ir_value read_at(picker *f, ir_value v, const place *where, ir_ints whole);

/* Rows of what is sliced, then the slice of these. */
static ir_value sliced(picker *f, ir_op slice, const place *where, ir_ints whole) {
  int32_t n;
  const int64_t *start = ir_op_ints(f->m, slice, "start_indices", &n),
                *dims = type_of(f, ir_result(f->m, slice, 0))->dims;
  ir_value x = read_at(f, ir_operand(f->m, slice, 0), where, whole);
  for (int32_t i = 0; i < whole.count; i++)
    if (type_of(f, x)->dims[f->rank + i] != dims[whole.at[i]])
      x = ir_build_slice_dim(&f->b, x, f->rank + i, start[whole.at[i]], dims[whole.at[i]]);
  return x;
}

static ir_value read_at(picker *f, ir_value v, const place *where, ir_ints whole) {
  ir_op slice = ir_maker(f->m, v, IR_OP_SLICE);
  if (slice && pass_is_static(f->m, slice) && cuts_windows_alone(f, slice, whole))
    return sliced(f, slice, where, whole);
  reading r = reading_of(f, v, where, whole);
  ir_value x = broadcast(f, &r);
  return x ? x : gathered(f, &r);
}

/* ---- elements ---- */
static ir_value element(picker *f, ir_value v, const place *where);

static ir_value plain(picker *f, ir_value v, const place *where) {
  return read_at(f, v, where, (ir_ints){0});
}

static ir_value of_elementwise(picker *f, ir_op op, const place *where) {
  const ir_op_data d = *ir_op_get(f->m, op);
  ir_value args[4];
  int32_t rank = type_of(f, d.first_result)->rank;
  for (uint32_t i = 0; i < d.n_operands; i++) {
    bool alike = type_of(f, d.operands[i])->rank == rank;
    args[i] = alike ? element(f, d.operands[i], where) : plain(f, d.operands[i], where);
  }
  return pass_build_like(&f->b, op, args, entries_of(f, type_of(f, d.first_result)->dtype));
}

/* Of a broadcast, transpose, reshape. */
static ir_value of_moved(picker *f, ir_op op, const place *where) {
  ir_value x = ir_operand(f->m, op, 0);
  int32_t to[IR_MAX_RANK];
  place from;
  if (!ir_moved_dims(f->m, op, to)) return plain(f, ir_result(f->m, op, 0), where);
  for (int32_t i = 0; i < type_of(f, x)->rank; i++)
    from.at[i] = type_of(f, x)->dims[i] == 1 ? AT_ZERO : where->at[to[i]];
  return element(f, x, &from);
}

/* The rows and columns that make the elements are not more than half of the product. */
static bool is_worth_rows(const picker *f, ir_op op, const ir_dot_numbers *n) {
  int64_t entries = 1, all = ir_element_count(f->m, ir_type_of(f->m, ir_result(f->m, op, 0)));
  const ir_type_data *l = type_of(f, ir_operand(f->m, op, 0));
  for (int32_t i = 0; i < f->rank; i++)
    if (__builtin_mul_overflow(entries, f->dims[i], &entries)) return false;
  for (int32_t i = 0; i < n->lhs_contract.count; i++)
    if (__builtin_mul_overflow(entries, l->dims[n->lhs_contract.at[i]], &entries)) return false;
  return entries <= all / 2;
}

static place side_of(const picker *f, ir_op op, uint32_t side, const ir_dot_numbers *n,
                     const place *where) {
  ir_ints batch = ir_dot_batch(n, side), contract = ir_dot_contract(n, side);
  const ir_type_data *l = type_of(f, ir_operand(f->m, op, 0));
  int32_t next = side ? l->rank - n->lhs_contract.count : batch.count;
  place from = {.at = {AT_ZERO}};
  for (int32_t d = 0; d < type_of(f, ir_operand(f->m, op, side))->rank; d++) {
    int32_t i = ir_ints_find(batch, d);
    if (ir_ints_find(contract, d) < 0) from.at[d] = where->at[i >= 0 ? i : next++];
  }
  return from;
}

/* Whether places that are data name elements along an operand's innermost dimension. Where arrays
 * lie in tiles XLA gathers such columns out of a copy of all of it, in which they lie together. */
static bool is_of_columns(const picker *f, ir_op op, const ir_dot_numbers *n, const place *where) {
  const device_memory *memory = f->p->machine ? machine_memory(f->p->machine) : NULL;
  if (!memory || !memory->tile_lanes) return false;
  for (uint32_t side = 0; side < 2; side++) {
    place from = side_of(f, op, side, n, where);
    int32_t last = type_of(f, ir_operand(f->m, op, side))->rank - 1;
    if (last > 0 && from.at[last].at) return true;
  }
  return false;
}

static ir_value of_dot(picker *f, ir_op op, const place *where) {
  ir_value y = ir_result(f->m, op, 0), sides[2];
  ir_dtype dtype = type_of(f, y)->dtype, wide = dtype;
  ir_dot_numbers n;
  int64_t over[IR_MAX_RANK];
  if (!ir_dot_dims(f->m, op, &n) || !is_worth_rows(f, op, &n) || is_of_columns(f, op, &n, where) ||
      f->rank + n.lhs_contract.count > IR_MAX_RANK)
    return plain(f, y, where);
  if (dtype == IR_BF16 || dtype == IR_F16) wide = IR_F32;
  for (uint32_t side = 0; side < 2; side++) {
    place from = side_of(f, op, side, &n, where);
    ir_value rows = read_at(f, ir_operand(f->m, op, side), &from, ir_dot_contract(&n, side));
    sides[side] = ir_build_convert(&f->b, rows, wide);
  }
  for (int32_t i = 0; i < n.lhs_contract.count; i++) over[i] = f->rank + i;
  ir_value x = ir_build_multiply(&f->b, sides[0], sides[1]);
  x = ir_build_sum(&f->b, x, over, n.lhs_contract.count);
  return ir_build_convert(&f->b, x, dtype);
}

static ir_value of_iota(picker *f, ir_op op, const place *where) {
  const coordinate *c = &where->at[ir_op_int(f->m, op, "iota_dimension", 0)];
  return ir_build_convert(&f->b, coordinate_value(f, c), type_of(f, ir_result(f->m, op, 0))->dtype);
}

static ir_value made(picker *f, ir_value v, const place *where) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_kind kind = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
  if (op && !pass_is_static(f->m, op)) return plain(f, v, where);
  if (op && ir_is_elementwise(kind) && ir_op_get(f->m, op)->n_operands <= 4)
    return of_elementwise(f, op, where);
  switch (kind) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return of_moved(f, op, where);
    case IR_OP_DOT_GENERAL: return of_dot(f, op, where);
    case IR_OP_IOTA: return of_iota(f, op, where);
    default: return plain(f, v, where);
  }
}

static bool same_place(const place *a, const place *b, int32_t rank) {
  for (int32_t i = 0; i < rank; i++)
    if (a->at[i].is_own != b->at[i].is_own || a->at[i].along != b->at[i].along ||
        a->at[i].at != b->at[i].at)
      return false;
  return true;
}

/* v's elements, by entry. */
static ir_value element(picker *f, ir_value v, const place *where) {
  int32_t rank = type_of(f, v)->rank;
  for (uint32_t i = 0; i < f->found.count; i++)
    if (f->found.at[i].value == v && same_place(&f->found.at[i].where, where, rank))
      return f->found.at[i].element;
  bool reads = ir_value_bytes(f->m, v) <= f->small_bytes || f->steps-- <= 0;
  known k = {v, reads ? plain(f, v, where) : made(f, v, where), *where};
  VEC_PUSH(f->p->scratch, &f->found, k);
  return k.element;
}

/* ---- the ops ---- */
static bool is_one_by_one(picker *f, ir_op op) {
  int32_t n;
  const int64_t *sizes = ir_op_ints(f->m, op, "slice_sizes", &n);
  for (int32_t i = 0; i < n; i++)
    if (sizes[i] != 1) return false;
  return n >= 0;
}

/* Not something that is in memory anyway: an argument, what a loop carries or reduces. */
static bool is_made(const picker *f, ir_value v) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_kind kind = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
  return ir_is_elementwise(kind) || kind == IR_OP_CONSTANT || ir_is_move(kind) ||
         kind == IR_OP_DOT_GENERAL || kind == IR_OP_IOTA;
}

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

/* As gather does: windows are moved so that all of each is inside. */
static void clamp_place(picker *f, ir_op op, const ir_gather_numbers *n, place *where) {
  for (int32_t k = 0; k < n->start_index_map.count; k++) {
    int64_t d = n->start_index_map.at[k], window = window_along(f, op, d);
    int64_t last = type_of(f, ir_operand(f->m, op, 0))->dims[d] - window;
    coordinate *c = &where->at[d];
    if (c->is_own && window == 1) continue;
    *c = (coordinate){false, 0, ir_build_clamped(&f->b, coordinate_value(f, c), 0, last)};
  }
}

/* From where windows begin to where each of their elements is, which are the entries now. */
static void open_windows(picker *f, ir_op op, const ir_gather_numbers *n, place *where) {
  ir_type_data all = *type_of(f, ir_result(f->m, op, 0));
  int64_t to[IR_MAX_RANK];
  int32_t entries = 0, opened = 0;
  for (int32_t d = 0; d < all.rank; d++)
    if (!ir_ints_have(n->offset_dims, d)) to[entries++] = d;
  CTX_CHECK(f->m->ctx, entries == f->rank);
  f->rank = all.rank;
  memcpy(f->dims, all.dims, sizeof *f->dims * (size_t)all.rank);
  ir_type type = entries_of(f, IR_I64);
  for (int32_t d = 0; d < type_of(f, ir_operand(f->m, op, 0))->rank; d++) {
    coordinate *c = &where->at[d];
    if (!c->is_own) c->at = ir_build_broadcast(&f->b, c->at, type, to);
    else if (c->along >= 0) c->along = to[c->along];
    if (ir_ints_have(n->collapsed_slice_dims, d)) continue;
    int64_t along = n->offset_dims.at[opened++];
    if (c->is_own && c->along < 0) c->along = along;
    else {
      ir_value step = ir_build_iota(&f->b, type, along);
      c->at = ir_build_add(&f->b, coordinate_value(f, c), step);
      c->is_own = false;
    }
  }
}

static ir_value element_of_gather(picker *f, ir_op op, const pass_entries *v) {
  place where;
  if (ir_value_bytes(f->m, v->x) <= f->small_bytes || !is_made(f, v->x) ||
      ir_elements(f->m, v->part) > ir_elements(f->m, v->x) / 2)
    return IR_NONE;
  bool one_by_one = is_one_by_one(f, op) && !v->n.offset_dims.count;
  if ((!one_by_one && !reads_windows(f, op, &v->n)) ||
      !find_place(f, &v->n, v->x, v->indices, &where))
    return IR_NONE;
  clamp_place(f, op, &v->n, &where);
  if (!one_by_one) open_windows(f, op, &v->n, &where);
  return element(f, v->x, &where);
}

/* Each entry has a place of its own in the dimensions that are not indexed, and they fill them. Any
 * other that an entry's own index says (on a diagonal) becomes an indexed one. */
static bool has_own_places(picker *f, ir_value x, place *where) {
  uint32_t seen = 0;
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    coordinate *c = &where->at[d];
    int64_t along = c->along, extent = type_of(f, x)->dims[d];
    if (!c->is_own || (along < 0 && extent == 1)) continue;
    if (along >= 0 && !(seen >> along & 1) && f->dims[along] == extent) seen |= 1u << along;
    else *c = (coordinate){false, 0, coordinate_value(f, c)};
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
      if (where->at[d].is_own && where->at[d].along == i) kept[n] = f->dims[i], to[n++] = d;
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
    if (where->at[d].is_own) continue;
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
  if (ir_value_bytes(f->m, v->x) <= f->small_bytes || !is_made(f, v->x) ||
      (v->kind == IR_OP_UNKNOWN && !v->puts) || v->n.offset_dims.count ||
      !find_place(f, &v->n, v->x, v->indices, &where) || !has_own_places(f, v->x, &where))
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

/* Before anything is built: of the indices put together some are counts, some data. */
static bool has_counts(const picker *f, ir_value indices, int64_t along) {
  ir_op parts = ir_maker(f->m, indices, IR_OP_CONCATENATE);
  if (!parts || ir_op_int(f->m, parts, "dimension", -1) != along) return false;
  uint32_t counts = 0, n = ir_op_get(f->m, parts)->n_operands;
  for (uint32_t i = 0; i < n; i++)
    counts += pass_counted_dim(f->m, ir_operand(f->m, parts, i)) >= 0;
  return counts && counts < n;
}

/* x[arange(n), i]: what is named by a count of the entries is a batch dimension of the same op. */
static ir_value batched(picker *f, ir_op op, const pass_entries *v) {
  int64_t dims[IR_MAX_RANK];
  place where;
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  if (!names_points(&v->n) || !has_counts(f, v->indices, v->n.index_vector_dim) ||
      (ir_value_bytes(f->m, v->x) <= f->small_bytes &&
       ir_type_bytes(f->m, type) <= f->small_bytes) ||
      !find_place(f, &v->n, v->x, v->indices, &where))
    return IR_NONE;
  named_dims named = name_dims(f, v->x, &where, windows_of(f, v->x, &v->n, dims));
  if (named.n_batch <= v->n.operand_batching_dims.count || !named.n_indexed) return IR_NONE;
  ir_value operands[] = {v->x, index_vectors(f, &where, &named), v->part};
  ir_op made = ir_build_again(&f->b, op, operands, &type);
  ir_gather_numbers numbers = numbers_of(f, &named, v->n.offset_dims);
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
  picker f = {.p = r->p,
              .m = r->m,
              .small_bytes = r->small_bytes,
              .b = {r->m, r->b.block, ir_op_get(r->m, op)->location},
              .steps = MOST_STEPS};
  bool gathers = ir_kind_of(r->m, op) == IR_OP_GATHER;
  ir_value y = IR_NONE;
  if (!gathers) y = select_for_scatter(&f, &v);
  else if (!pass_is_compared(r, op)) y = element_of_gather(&f, op, &v);
  if (!y) y = batched(&f, op, &v);
  if (!y) y = from_whole(&f, op);
  return pass_stand_in(r->m, r->map, op, y);
}

const pass pass_through_gather = {"through-gather", .replace = replace,
                                  .begin = pass_find_compared};
