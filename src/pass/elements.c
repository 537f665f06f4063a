#include "pass/elements.h"

#include "ir/maps.h"

enum { MOST_STEPS = 256, DEEPEST = 100, MOST_OPERANDS = 8 };

typedef pass_coordinate coordinate;
typedef pass_place place;
typedef pass_picker picker;

static const coordinate AT_ZERO = {IR_NONE, -1, 1, 0};

static const ir_type_data *type_of(const picker *f, ir_value v) { return ir_type_at(f->m, v); }

static ir_type entries_of(const picker *f, ir_dtype dtype) {
  return ir_tensor(f->m, dtype, f->rank, f->dims);
}

picker pass_picker_at(const pass_rewrite *r, ir_op op) {
  return (picker){.p = r->p,
                  .m = r->m,
                  .small_bytes = r->small_bytes,
                  .b = {r->m, r->b.block, ir_op_get(r->m, op)->location},
                  .steps = MOST_STEPS};
}

/* ---- coordinates ---- */
static coordinate own(int64_t along) { return (coordinate){IR_NONE, along, 1, 0}; }

/* The largest index, of no data. */
static int64_t last_of(const picker *f, const coordinate *c) {
  CTX_CHECK(f->m->ctx, !c->at);
  return c->offset + (c->along < 0 ? 0 : (f->dims[c->along] - 1) * c->step);
}

bool pass_is_line(const picker *f, const coordinate *c, int64_t extent) {
  return !c->at && c->along >= 0 && !c->offset && c->step == 1 && f->dims[c->along] == extent;
}

/* The entries' own indices; the type may have a further dimension. */
static ir_value counted(picker *f, const coordinate *c, ir_type type) {
  CTX_CHECK(f->m->ctx, !c->at);
  if (c->along < 0) return ir_build_splat_int(&f->b, type, c->offset);
  ir_value x = ir_build_iota(&f->b, type, c->along);
  if (c->step != 1) x = ir_build_multiply(&f->b, x, ir_build_splat_int(&f->b, type, c->step));
  return c->offset ? ir_build_add(&f->b, x, ir_build_splat_int(&f->b, type, c->offset)) : x;
}

ir_value pass_coordinate_value(picker *f, const coordinate *c) {
  return c->at ? c->at : counted(f, c, entries_of(f, IR_I64));
}

/* In the arena, for they are large and what reads elements calls itself. */
static place *new_place(const picker *f) { return ARENA_NEW(f->p->scratch, place); }

static bool is_of_data(const picker *f, ir_value v, const place *where) {
  for (int32_t d = 0; d < type_of(f, v)->rank; d++)
    if (where->at[d].at) return true;
  return false;
}

/* Dimensions of the entries that v's count, twice: more than one does. */
static uint64_t counted_by(const picker *f, ir_value v, const place *where, uint64_t *out_twice) {
  uint64_t once = 0, twice = 0;
  for (int32_t d = 0; d < type_of(f, v)->rank; d++) {
    const coordinate *c = &where->at[d];
    if (c->at || c->along < 0) continue;
    twice |= once & 1ull << c->along;
    once |= 1ull << c->along;
  }
  if (out_twice) *out_twice = twice;
  return once;
}

bool pass_is_diagonal(const picker *f, ir_value v, const place *where) {
  uint64_t twice;
  counted_by(f, v, where, &twice);
  return twice && !is_of_data(f, v, where);
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

static coordinate indexed(picker *f, const pass_entries *v, int32_t component, int64_t extent) {
  int64_t along = v->n.index_vector_dim;
  ir_value at = pass_index_component(f->m, v->indices, &v->n, component);
  pass_affine a;
  if (at && pass_find_affine(f->m, at, &a) && a.offset >= 0 && a.last < extent) {
    if (a.dim >= 0 && a.dim != along)
      return (coordinate){IR_NONE, a.dim - (a.dim > along), a.step, a.offset};
    return (coordinate){IR_NONE, -1, 1, a.offset};
  }
  at = component_of(f, v->indices, along, component);
  return (coordinate){.at = ir_build_convert(&f->b, at, IR_I64)};
}

bool pass_counts_entries(const pass_entries *v) {
  pass_affine a;
  for (int32_t i = 0; i < v->n.start_index_map.count; i++) {
    ir_value at = pass_index_component(v->m, v->indices, &v->n, i);
    if (!at || !pass_find_affine(v->m, at, &a)) return false;
  }
  return true;
}

bool pass_find_place(picker *f, const pass_entries *v, place *out) {
  int64_t along = v->n.index_vector_dim;
  if (!set_entries(f, v->indices, along)) return false;
  for (int32_t d = 0; d < type_of(f, v->x)->rank; d++) {
    int32_t batch = ir_ints_find(v->n.operand_batching_dims, d),
            component = ir_ints_find(v->n.start_index_map, d);
    out->at[d] = AT_ZERO;
    if (batch >= 0) {
      int64_t dim = v->n.start_indices_batching_dims.at[batch];
      out->at[d].along = dim > along ? dim - 1 : dim;
    } else if (component >= 0) {
      out->at[d] = indexed(f, v, component, type_of(f, v->x)->dims[d]);
    }
  }
  return true;
}

/* As gather does: windows are moved so that all of each is inside. */
static void clamp_place(picker *f, ir_op op, const pass_entries *v, place *where) {
  for (int32_t k = 0; k < v->n.start_index_map.count; k++) {
    int64_t d = v->n.start_index_map.at[k];
    int64_t last = type_of(f, v->x)->dims[d] - ir_op_entry(f->m, op, "slice_sizes", d, 1);
    coordinate *c = &where->at[d];
    if (!c->at && last_of(f, c) <= last) continue;
    *c = (coordinate){.at = ir_build_clamped(&f->b, pass_coordinate_value(f, c), 0, last)};
  }
}

/* From where windows begin to where each of their elements is, which are the entries now. */
static void open_windows(picker *f, const pass_entries *v, place *where) {
  ir_type_data all = *type_of(f, v->part);
  int64_t to[IR_MAX_RANK];
  int32_t entries = 0, opened = 0;
  for (int32_t d = 0; d < all.rank; d++)
    if (!ir_ints_have(v->n.offset_dims, d)) to[entries++] = d;
  CTX_CHECK(f->m->ctx, entries == f->rank);
  f->rank = all.rank;
  memcpy(f->dims, all.dims, sizeof *f->dims * (size_t)all.rank);
  ir_type type = entries_of(f, IR_I64);
  for (int32_t d = 0; d < type_of(f, v->x)->rank; d++) {
    coordinate *c = &where->at[d];
    if (c->at) c->at = ir_build_broadcast(&f->b, c->at, type, to);
    else if (c->along >= 0) c->along = to[c->along];
    if (ir_ints_have(v->n.collapsed_slice_dims, d) || ir_ints_have(v->n.operand_batching_dims, d))
      continue;
    int64_t along = v->n.offset_dims.at[opened++];
    if (!c->at && c->along < 0) {
      c->along = along;
    } else {
      ir_value step = ir_build_iota(&f->b, type, along);
      c->at = ir_build_add(&f->b, pass_coordinate_value(f, c), step);
    }
  }
}

bool pass_find_place_of_gather(picker *f, ir_op op, const pass_entries *v, place *out) {
  if (type_of(f, v->part)->rank >= IR_MAX_RANK || !pass_find_place(f, v, out)) return false;
  clamp_place(f, op, v, out);
  if (v->n.offset_dims.count) open_windows(f, v, out);
  return true;
}

/* ---- reads ---- */
/* Windows over the dimensions of `whole`, in this order, stand behind the entries' dimensions; no
 * coordinate says where they are: AT_ZERO. */
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

/* Each entry reads at its own index, boxes of v: slices and a broadcast. IR_NONE: it does not. */
static ir_value read_box(picker *f, const reading *r) {
  const ir_type_data t = *type_of(f, r->v);
  int64_t start[IR_MAX_RANK], limit[IR_MAX_RANK], step[IR_MAX_RANK];
  int64_t kept[IR_MAX_RANK] = {0}, to[IR_MAX_RANK], count = 0;
  uint64_t seen = 0;
  bool moves = false;
  for (int32_t d = 0; d < t.rank; d++) {
    int32_t window = ir_ints_find(r->whole, d);
    const coordinate *c = &r->where->at[d];
    int64_t dim = window >= 0 ? f->rank + window : c->along;
    if (c->at || (dim >= 0 && seen >> dim & 1)) return IR_NONE;
    start[d] = c->offset;
    step[d] = c->step;
    limit[d] = window >= 0 ? t.dims[d] : last_of(f, c) + 1;
    moves |= start[d] || step[d] != 1 || limit[d] != t.dims[d];
    if (dim < 0) continue;
    seen |= 1ull << dim;
    kept[count] = ir_type_get(f->m, r->type)->dims[dim];
    to[count++] = dim;
  }
  ir_value x = moves ? ir_build_slice(&f->b, r->v, start, limit, step) : r->v;
  x = ir_build_reshape(&f->b, x, ir_tensor(f->m, t.dtype, (int32_t)count, kept));
  moves = ir_type_of(f->m, x) != r->type;
  for (int32_t i = 0; i < count; i++) moves |= to[i] != i;
  return moves ? ir_build_broadcast(&f->b, x, r->type, to) : x;
}

pass_named_dims pass_name_dims(const picker *f, ir_value v, const place *where, ir_ints whole) {
  pass_named_dims n = {.n_indexed = 0};
  uint64_t seen = is_of_data(f, v, where) ? 0 : UINT64_MAX;
  for (int32_t d = 0; d < type_of(f, v)->rank; d++) {
    const coordinate *c = &where->at[d];
    if (ir_ints_find(whole, d) >= 0) continue;
    if (pass_is_line(f, c, type_of(f, v)->dims[d]) && !(seen >> c->along & 1)) {
      seen |= 1ull << c->along;
      n.batch[n.n_batch] = d;
      n.along[n.n_batch++] = c->along;
    } else {
      n.indexed[n.n_indexed++] = d;
    }
  }
  return n;
}

ir_gather_numbers pass_numbers_of(const picker *f, const pass_named_dims *n, ir_ints offset) {
  ir_ints points = {n->n_indexed, n->indexed};
  return (ir_gather_numbers){.offset_dims = offset,
                             .collapsed_slice_dims = points,
                             .operand_batching_dims = {n->n_batch, n->batch},
                             .start_indices_batching_dims = {n->n_batch, n->along},
                             .start_index_map = points,
                             .index_vector_dim = f->rank};
}

ir_value pass_index_vectors(picker *f, const place *where, const pass_named_dims *n) {
  ir_value parts[IR_MAX_RANK] = {IR_NONE};
  int64_t dims[IR_MAX_RANK];
  ir_dtype dtype = IR_I32;
  for (int32_t i = 0; i < n->n_indexed; i++) {
    const coordinate *c = &where->at[n->indexed[i]];
    if (c->at || last_of(f, c) > INT32_MAX) dtype = IR_I64;
  }
  CTX_CHECK(f->m->ctx, f->rank < IR_MAX_RANK);
  memcpy(dims, f->dims, sizeof *dims * (size_t)f->rank);
  dims[f->rank] = 1;
  ir_type column = ir_tensor(f->m, dtype, f->rank + 1, dims);
  for (int32_t i = 0; i < n->n_indexed; i++) {
    const coordinate *c = &where->at[n->indexed[i]];
    parts[i] = c->at ? pass_build_column(&f->b, c->at) : counted(f, c, column);
  }
  if (n->n_indexed == 1) return parts[0];
  return ir_build_concatenate(&f->b, parts, (uint32_t)n->n_indexed, f->rank);
}

/* Some of the entries, in this order: the first, then the others; v's place by these. */
static picker some_entries(const picker *f, uint64_t first, uint64_t others, ir_value v,
                           place *where) {
  picker some = *f;
  int32_t to[IR_MAX_RANK] = {0};
  some.rank = 0;
  for (int turn = 0; turn < 2; turn++)
    for (int32_t e = 0; e < f->rank; e++) {
      if (!((turn ? others : first) >> e & 1)) continue;
      some.dims[some.rank] = f->dims[e];
      to[e] = some.rank++;
    }
  for (int32_t d = 0; d < type_of(f, v)->rank; d++)
    if (where->at[d].along >= 0) where->at[d].along = to[where->at[d].along];
  return some;
}

/* Dimensions that a gather reads as a whole, in the order of its result, where they stand at. */
typedef struct windows {
  int64_t of[IR_MAX_RANK], at[IR_MAX_RANK];
  int32_t n;
} windows;

/* Those that are asked for, and beside a diagonal all that entries count once. *out_points: the
 * entries that name points. */
static windows windows_of(const picker *f, const reading *r, uint64_t *out_points) {
  windows w = {.n = 0};
  uint64_t twice, once = counted_by(f, r->v, r->where, &twice) & ~twice;
  bool data = is_of_data(f, r->v, r->where);
  *out_points = (1ull << f->rank) - 1;
  for (int32_t e = 0; e < f->rank; e++)
    for (int32_t d = 0; d < type_of(f, r->v)->rank; d++) {
      const coordinate *c = &r->where->at[d];
      if (data || !(once >> e & 1) || c->along != e) continue;
      if (!pass_is_line(f, c, type_of(f, r->v)->dims[d])) continue;
      *out_points &= ~(1ull << e);
      w.of[w.n] = d;
      w.at[w.n++] = e;
    }
  for (int32_t i = 0; i < r->whole.count; i++) {
    w.of[w.n] = r->whole.at[i];
    w.at[w.n++] = f->rank + i;
  }
  return w;
}

static ir_value gathered(picker *f, const reading *r) {
  const ir_type_data t = *type_of(f, r->v), y = *ir_type_get(f->m, r->type);
  int64_t sizes[IR_MAX_RANK], dims[IR_MAX_RANK], order[IR_MAX_RANK];
  uint64_t points;
  place where = *r->where;
  windows w = windows_of(f, r, &points);
  picker some = some_entries(f, points, 0, r->v, &where);
  pass_named_dims n = pass_name_dims(&some, r->v, &where, (ir_ints){w.n, w.of});
  CTX_CHECK(f->m->ctx, n.n_indexed > 0); /* or read_box() would have it */
  for (int32_t d = 0; d < t.rank; d++) sizes[d] = 1;
  for (int32_t i = 0; i < y.rank; i++) dims[i] = y.dims[i], order[i] = i;
  for (int32_t i = 0; i < w.n; i++) { /* windows have the operand's dimensions in its order */
    int64_t before = 0;
    for (int32_t k = 0; k < w.n; k++) before += w.of[k] < w.of[i];
    order[w.at[i]] = w.at[before];
    sizes[w.of[i]] = dims[w.at[before]] = t.dims[w.of[i]];
  }
  ir_type type = ir_tensor(f->m, t.dtype, y.rank, dims);
  ir_gather_numbers numbers = pass_numbers_of(&some, &n, (ir_ints){w.n, w.at});
  ir_value indices = pass_index_vectors(&some, &where, &n);
  ir_value x = ir_build_gather(&f->b, r->v, indices, type, &numbers, sizes);
  return ir_build_transpose(&f->b, x, order);
}

/* A slice without gaps of dimensions that are read as a whole. */
static bool cuts_windows_alone(const picker *f, ir_op slice, ir_ints whole) {
  const ir_type_data *from = type_of(f, ir_operand(f->m, slice, 0)),
                     *to = type_of(f, ir_result(f->m, slice, 0));
  for (int32_t d = 0; d < to->rank; d++)
    if (from->dims[d] != to->dims[d] && !ir_ints_have(whole, d)) return false;
  return ir_ints_all(ir_op_list(f->m, slice, "strides"), 1);
}

static ir_value read_at(picker *f, ir_value v, const place *where, ir_ints whole);

/* Rows of what is sliced, then the slice of these. */
static ir_value sliced(picker *f, ir_op slice, const place *where, ir_ints whole) {
  const int64_t *start = ir_op_list(f->m, slice, "start_indices").at,
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
  ir_value x = read_box(f, &r);
  return x ? x : gathered(f, &r);
}

/* ---- elements ---- */
static ir_value plain(picker *f, ir_value v, const place *where) {
  return read_at(f, v, where, (ir_ints){0});
}

/* The same elements by other entries, of another place. */
static ir_value elements_by(picker *f, ir_value v, const place *where, int32_t rank,
                            const int64_t *dims) {
  picker inner = *f;
  inner.rank = rank;
  memcpy(inner.dims, dims, sizeof *dims * (size_t)rank);
  memset(&inner.found, 0, sizeof inner.found);
  ir_value x = pass_elements(&inner, v, where);
  f->steps = inner.steps;
  return x;
}

static ir_value of_elementwise(picker *f, ir_op op, const place *where) {
  const ir_op_data d = *ir_op_get(f->m, op);
  ir_value args[MOST_OPERANDS];
  int32_t rank = type_of(f, d.first_result)->rank;
  for (uint32_t i = 0; i < d.n_operands; i++) {
    bool alike = type_of(f, d.operands[i])->rank == rank;
    args[i] = alike ? pass_elements(f, d.operands[i], where) : plain(f, d.operands[i], where);
  }
  return pass_build_like(&f->b, op, args, entries_of(f, type_of(f, d.first_result)->dtype));
}

/* The result's dimension that each of a reshape's operand is merged into; -1: of length 1. False:
 * some are split. */
static bool find_merged(const picker *f, ir_op reshape, int32_t *out_of) {
  const ir_type_data *x = type_of(f, ir_operand(f->m, reshape, 0)),
                     *y = type_of(f, ir_result(f->m, reshape, 0));
  int64_t left = 1;
  int32_t d = -1;
  for (int32_t i = 0; i < x->rank; i++) {
    out_of[i] = -1;
    if (x->dims[i] == 1) continue;
    while (left == 1 && d + 1 < y->rank) left = y->dims[++d];
    if (!x->dims[i] || left % x->dims[i]) return false;
    left /= x->dims[i];
    out_of[i] = d;
  }
  return left == 1;
}

/* Entries whose dimensions are split as those of a reshape's operand that are merged. */
typedef struct split {
  int32_t of[IR_MAX_RANK], n[IR_MAX_RANK]; /* find_merged(); how many it merges into each */
  int32_t by[IR_MAX_RANK];       /* by entries' dimension: the result's that splits it; -1: none */
  int32_t at[IR_MAX_RANK], rank; /* its first part among all */
  int64_t dims[IR_MAX_RANK];
} split;

static bool find_split(const picker *f, ir_op op, const place *where, split *out) {
  const ir_type_data *x = type_of(f, ir_operand(f->m, op, 0));
  *out = (split){.rank = 0};
  if (ir_kind_of(f->m, op) != IR_OP_RESHAPE || !find_merged(f, op, out->of)) return false;
  for (int32_t e = 0; e < f->rank; e++) out->by[e] = -1;
  for (int32_t i = 0; i < x->rank; i++)
    if (out->of[i] >= 0 && ++out->n[out->of[i]] > 1 && where->at[out->of[i]].along >= 0)
      out->by[where->at[out->of[i]].along] = out->of[i];
  for (int32_t e = 0; e < f->rank; e++) {
    int32_t d = out->by[e], parts = d < 0 ? 1 : out->n[d];
    out->at[e] = out->rank;
    if (out->rank + parts >= IR_MAX_RANK) return false;
    if (d < 0) out->dims[out->rank++] = f->dims[e];
    for (int32_t i = 0; d >= 0 && i < x->rank; i++)
      if (out->of[i] == d) out->dims[out->rank++] = x->dims[i];
  }
  return true;
}

static bool is_same_coordinate(const coordinate *a, const coordinate *b) {
  return a->at == b->at && a->along == b->along && a->step == b->step && a->offset == b->offset;
}

/* Where the split entries are in the operand; false: a dimension is not split as another one. */
static bool find_split_place(const picker *f, ir_op op, const place *where, const split *s,
                             place *out) {
  const ir_type_data *x = type_of(f, ir_operand(f->m, op, 0));
  int32_t next[IR_MAX_RANK] = {0};
  for (int32_t i = 0; i < x->rank; i++) {
    int32_t d = s->of[i];
    const coordinate *c = &where->at[d < 0 ? 0 : d];
    out->at[i] = AT_ZERO;
    if (d < 0) continue;
    if (c->along < 0) return false;
    int32_t by = s->by[c->along], at = s->at[c->along] + next[d]++;
    if (by >= 0 && (!is_same_coordinate(c, &where->at[by]) || s->n[by] != s->n[d] ||
                    s->dims[at] != x->dims[i]))
      return false;
    out->at[i] = by < 0 ? *c : own(at);
    out->at[i].along = at;
  }
  return true;
}

/* What merges (i, k) to i n + k: by i and by k, of all there are; then of those that are asked for.
 */
static ir_value of_merged(picker *f, ir_op op, const place *where) {
  ir_value y = ir_result(f->m, op, 0);
  int64_t all[IR_MAX_RANK];
  place *from = new_place(f), *read = new_place(f);
  split s;
  if (is_of_data(f, y, where) || !find_split(f, op, where, &s) ||
      !find_split_place(f, op, where, &s, from))
    return plain(f, y, where);
  for (int32_t e = 0; e < f->rank; e++) {
    all[e] = s.by[e] < 0 ? f->dims[e] : type_of(f, y)->dims[s.by[e]];
    read->at[e] = s.by[e] < 0 ? own(e) : where->at[s.by[e]];
  }
  ir_value x = elements_by(f, ir_operand(f->m, op, 0), from, s.rank, s.dims);
  x = ir_build_reshape(&f->b, x, ir_tensor(f->m, type_of(f, y)->dtype, f->rank, all));
  return plain(f, x, read);
}

/* Of a broadcast, transpose, reshape. */
static ir_value of_moved(picker *f, ir_op op, const place *where) {
  ir_value x = ir_operand(f->m, op, 0);
  int32_t to[IR_MAX_RANK];
  place *from = new_place(f);
  if (!ir_moved_dims(f->m, op, to)) return of_merged(f, op, where);
  for (int32_t i = 0; i < type_of(f, x)->rank; i++)
    from->at[i] = type_of(f, x)->dims[i] == 1 ? AT_ZERO : where->at[to[i]];
  return pass_elements(f, x, from);
}

static ir_value of_slice(picker *f, ir_op op, const place *where) {
  place *from = new_place(f);
  *from = *where;
  ir_type type = entries_of(f, IR_I64);
  for (int32_t d = 0; d < type_of(f, ir_result(f->m, op, 0))->rank; d++) {
    int64_t start = ir_op_entry(f->m, op, "start_indices", d, 0),
            stride = ir_op_entry(f->m, op, "strides", d, 1);
    coordinate *c = &from->at[d];
    c->offset = start + c->offset * stride;
    c->step *= stride;
    if (c->at && stride != 1)
      c->at = ir_build_multiply(&f->b, c->at, ir_build_splat_int(&f->b, type, stride));
    if (c->at && start) c->at = ir_build_add(&f->b, c->at, ir_build_splat_int(&f->b, type, start));
  }
  return pass_elements(f, ir_operand(f->m, op, 0), from);
}

/* The entries have what is summed over as further dimensions. */
static ir_value of_reduce(picker *f, ir_op op, const place *where) {
  const ir_op_data d = *ir_op_get(f->m, op);
  ir_kind kind = d.n_operands == 2 ? ir_reducer_kind(f->m, d.regions[0]) : IR_OP_UNKNOWN;
  ir_ints over = ir_op_list(f->m, op, "dimensions");
  int64_t dims[IR_MAX_RANK], summed[IR_MAX_RANK];
  int32_t rank = f->rank, kept = 0;
  place *from = new_place(f);
  if (kind == IR_OP_UNKNOWN || is_of_data(f, d.first_result, where) ||
      f->rank + over.count >= IR_MAX_RANK)
    return plain(f, d.first_result, where);
  memcpy(dims, f->dims, sizeof *dims * (size_t)rank);
  for (int32_t k = 0; k < type_of(f, d.operands[0])->rank; k++) {
    if (!ir_ints_have(over, k)) {
      from->at[k] = where->at[kept++];
      continue;
    }
    summed[rank - f->rank] = rank;
    dims[rank] = type_of(f, d.operands[0])->dims[k];
    from->at[k] = own(rank++);
  }
  ir_value x = elements_by(f, d.operands[0], from, rank, dims);
  return ir_build_reduce(&f->b, kind, x, d.operands[1], summed, over.count);
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

/* Of a product's side; along what is summed it begins. */
static place *side_of(const picker *f, ir_op op, uint32_t side, const place *where) {
  int32_t index[IR_MAX_RANK], rank = type_of(f, ir_result(f->m, op, 0))->rank;
  place *from = new_place(f);
  CTX_CHECK(f->m->ctx, ir_operand_indices(f->p->scratch, f->m, op, side, index));
  for (int32_t d = 0; d < type_of(f, ir_operand(f->m, op, side))->rank; d++)
    from->at[d] = index[d] < rank ? where->at[index[d]] : AT_ZERO;
  return from;
}

/* Whether places that are data name elements along an operand's innermost dimension. Where arrays
 * lie in tiles XLA gathers such columns out of a copy of all of it, in which they lie together. */
static bool is_of_columns(const picker *f, ir_op op, const place *where) {
  const device_memory *memory = f->p->machine ? machine_memory(f->p->machine) : NULL;
  if (!memory || !memory->tile_lanes) return false;
  for (uint32_t side = 0; side < 2; side++) {
    const place *from = side_of(f, op, side, where);
    int32_t last = type_of(f, ir_operand(f->m, op, side))->rank - 1;
    if (last > 0 && from->at[last].at) return true;
  }
  return false;
}

/* What one side counts alone, the other does not: a product in batches. counted: by side. */
static ir_value of_rows(picker *f, ir_op op, const place *const *sides, const ir_dot_numbers *n,
                        const uint64_t *counted) {
  int64_t batch[IR_MAX_RANK], contract[2][IR_MAX_RANK], order[IR_MAX_RANK];
  uint64_t both = counted[0] & counted[1];
  int32_t n_both = __builtin_popcountll(both), k = n->lhs_contract.count;
  int32_t next[] = {0, n_both, __builtin_popcountll(counted[0])};
  ir_value rows[2];
  for (uint32_t s = 0; s < 2; s++) {
    place where = *sides[s];
    ir_value x = ir_operand(f->m, op, s);
    picker some = some_entries(f, both, counted[s] & ~both, x, &where);
    rows[s] = read_at(&some, x, &where, ir_dot_contract(n, s));
    for (int32_t i = 0; i < k; i++) contract[s][i] = __builtin_popcountll(counted[s]) + i;
  }
  for (int32_t i = 0; i < n_both; i++) batch[i] = i;
  for (int32_t e = 0; e < f->rank; e++)
    order[e] = next[both >> e & 1 ? 0 : counted[0] >> e & 1 ? 1 : 2]++;
  ir_dot_numbers numbers = {{n_both, batch}, {n_both, batch}, {k, contract[0]}, {k, contract[1]}};
  ir_dtype dtype = type_of(f, ir_result(f->m, op, 0))->dtype;
  ir_value made = pass_build_dot(&f->b, rows[0], rows[1], &numbers, dtype);
  pass_set_accuracy(f->m, ir_value_get(f->m, made)->op, op);
  return ir_build_transpose(&f->b, made, order);
}

/* Products of elements, and their sum. */
static ir_value sum_of_rows(picker *f, ir_op op, const place *const *sides,
                            const ir_dot_numbers *n) {
  int64_t over[IR_MAX_RANK];
  ir_value rows[2];
  ir_dtype dtype = type_of(f, ir_result(f->m, op, 0))->dtype, wide = dtype;
  if (dtype == IR_BF16 || dtype == IR_F16) wide = IR_F32;
  for (uint32_t s = 0; s < 2; s++) {
    rows[s] = read_at(f, ir_operand(f->m, op, s), sides[s], ir_dot_contract(n, s));
    rows[s] = ir_build_convert(&f->b, rows[s], wide);
  }
  for (int32_t i = 0; i < n->lhs_contract.count; i++) over[i] = f->rank + i;
  ir_value x = ir_build_multiply(&f->b, rows[0], rows[1]);
  x = ir_build_sum(&f->b, x, over, n->lhs_contract.count);
  return ir_build_convert(&f->b, x, dtype);
}

static ir_value of_dot(picker *f, ir_op op, const place *where) {
  ir_value y = ir_result(f->m, op, 0);
  bool data = is_of_data(f, y, where);
  uint64_t counted[2], all = (1ull << f->rank) - 1;
  ir_dot_numbers n;
  const place *sides[2];
  if (!ir_dot_dims(f->m, op, &n) || ir_op_attr(f->m, op, "algorithm") ||
      (data && !is_worth_rows(f, op, &n)) || is_of_columns(f, op, where) ||
      f->rank + n.lhs_contract.count > IR_MAX_RANK)
    return plain(f, y, where);
  for (uint32_t s = 0; s < 2; s++) {
    sides[s] = side_of(f, op, s, where);
    counted[s] = counted_by(f, ir_operand(f->m, op, s), sides[s], NULL);
  }
  if (data || counted[0] == counted[1]) return sum_of_rows(f, op, sides, &n);
  bool has_all = (counted[0] | counted[1]) == all;
  return has_all ? of_rows(f, op, sides, &n, counted) : plain(f, y, where);
}

static ir_value of_iota(picker *f, ir_op op, const place *where) {
  const coordinate *c = &where->at[ir_op_int(f->m, op, "iota_dimension", 0)];
  ir_dtype dtype = type_of(f, ir_result(f->m, op, 0))->dtype;
  if (!c->at && ir_is_integer(dtype)) return counted(f, c, entries_of(f, dtype));
  return ir_build_convert(&f->b, pass_coordinate_value(f, c), dtype);
}

static ir_value of_constant(picker *f, ir_op op, const place *where) {
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "value", IR_ATTR_DENSE);
  ir_value y = ir_result(f->m, op, 0);
  if (!d || !d->splat) return plain(f, y, where);
  return ir_build_constant(&f->b, entries_of(f, type_of(f, y)->dtype), d->data);
}

static bool is_elementwise(const picker *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  return ir_is_elementwise(d->kind) && d->n_results == 1 && !d->n_regions &&
         d->n_operands <= MOST_OPERANDS && !pass_has_foreign_attrs(f->m, op);
}

static ir_value made(picker *f, ir_value v, const place *where) {
  ir_op op = ir_value_get(f->m, v)->op;
  if (!op || !pass_is_static(f->m, op)) return plain(f, v, where);
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return of_moved(f, op, where);
    case IR_OP_SLICE: return of_slice(f, op, where);
    case IR_OP_REDUCE: return of_reduce(f, op, where);
    case IR_OP_DOT_GENERAL: return of_dot(f, op, where);
    case IR_OP_IOTA: return of_iota(f, op, where);
    case IR_OP_CONSTANT: return of_constant(f, op, where);
    default: return is_elementwise(f, op) ? of_elementwise(f, op, where) : plain(f, v, where);
  }
}

static bool is_same_place(const place *a, const place *b, int32_t rank) {
  for (int32_t i = 0; i < rank; i++)
    if (!is_same_coordinate(&a->at[i], &b->at[i])) return false;
  return true;
}

/* v is read where it lies: it is small, or each of the elements is read once. */
static bool reads_v(const picker *f, ir_value v, const place *where) {
  if (is_of_data(f, v, where)) return ir_value_bytes(f->m, v) <= f->small_bytes;
  for (int32_t d = 0; d < type_of(f, v)->rank; d++)
    if (where->at[d].along < 0 && type_of(f, v)->dims[d] != 1) return false;
  return !pass_is_diagonal(f, v, where);
}

ir_value pass_elements(picker *f, ir_value v, const place *where) {
  int32_t rank = type_of(f, v)->rank;
  for (uint32_t i = 0; i < f->found.count; i++)
    if (f->found.at[i].value == v && is_same_place(f->found.at[i].where, where, rank))
      return f->found.at[i].element;
  bool reads = reads_v(f, v, where) || f->depth == DEEPEST || f->steps-- <= 0;
  f->depth++;
  pass_known k = {v, reads ? plain(f, v, where) : made(f, v, where), where};
  f->depth--;
  CTX_CHECK(f->m->ctx, ir_type_of(f->m, k.element) == entries_of(f, type_of(f, v)->dtype));
  VEC_PUSH(f->p->scratch, &f->found, k);
  return k.element;
}

bool pass_is_made(const ir_module *m, ir_value v, bool data) {
  ir_op op = ir_value_get(m, v)->op;
  while (op && (ir_kind_of(m, op) == IR_OP_SLICE || ir_kind_of(m, op) == IR_OP_RESHAPE))
    op = ir_value_get(m, ir_operand(m, op, 0))->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
  if (kind == IR_OP_REDUCE) return !data;
  return ir_is_elementwise(kind) || ir_is_move(kind) || kind == IR_OP_CONSTANT ||
         kind == IR_OP_DOT_GENERAL || kind == IR_OP_IOTA;
}
