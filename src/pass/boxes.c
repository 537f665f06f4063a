#include "pass/boxes.h"

#include <assert.h>

#include "ir/attrs.h"
#include "ir/maps.h"
#include "base/ints.h"

pass_boxes pass_boxes_new(arena *a, ir_module *m) {
  pass_boxes f = {a, m, ARENA_ARRAY(a, ir_type, m->values.count),
                  ARENA_ARRAY(a, int32_t **, m->ops.count)};
  for (ir_value v = 0; v < m->values.count; v++) f.type[v] = ir_type_of(m, v);
  return f;
}

/* ---- boxes ---- */
pass_box pass_box_of_all(const pass_boxes *f, const ir_type_data *t) {
  pass_box b = {ARENA_ARRAY(f->a, int64_t, t->rank + 1), ARENA_ARRAY(f->a, int64_t, t->rank + 1)};
  for (int32_t d = 0; d < t->rank; d++) b.hi[d] = t->dims[d];
  return b;
}

void pass_box_set(pass_box *b, int32_t dim, int64_t lo, int64_t hi) {
  assert(b->lo && dim >= 0 && lo <= hi);
  b->lo[dim] = lo;
  b->hi[dim] = hi;
}

bool pass_box_is_all(const ir_type_data *t, pass_box b, int32_t d) {
  return !b.lo || (b.lo[d] == 0 && b.hi[d] == t->dims[d]);
}

bool pass_box_is_cut(const ir_type_data *t, pass_box b) {
  for (int32_t d = 0; d < t->rank; d++)
    if (!pass_box_is_all(t, b, d)) return true;
  return false;
}

bool pass_box_is_empty(const ir_type_data *t, pass_box b) {
  for (int32_t d = 0; d < t->rank; d++)
    if (b.lo ? b.lo[d] >= b.hi[d] : t->dims[d] == 0) return true;
  return false;
}

bool pass_box_is_same(const ir_type_data *t, pass_box a, pass_box b) {
  for (int32_t d = 0; d < t->rank; d++)
    if (a.lo[d] != b.lo[d] || a.hi[d] != b.hi[d]) return false;
  return true;
}

ir_type pass_type_of_box(const pass_boxes *f, ir_value v, pass_box b) {
  const ir_type_data *t = pass_box_type(f, v);
  int64_t dims[IR_MAX_RANK];
  for (int32_t d = 0; d < t->rank; d++) {
    CTX_CHECK(f->m->ctx, 0 <= b.lo[d] && b.lo[d] <= b.hi[d] && b.hi[d] <= t->dims[d]);
    dims[d] = b.hi[d] - b.lo[d];
  }
  return ir_tensor(f->m, t->dtype, t->rank, dims);
}

/* ---- what of an operand makes a box of the result ---- */
static int32_t *find_indices(const pass_boxes *f, ir_op op, uint32_t i) {
  int32_t rank = pass_box_type(f, ir_operand(f->m, op, i))->rank,
          *index = ARENA_ARRAY(f->a, int32_t, (size_t)rank + 1);
  return ir_operand_indices(f->a, f->m, op, i, index) ? index : NULL;
}

/* Found when asked for first: operands and results may change their types. */
static const int32_t *indices_of(const pass_boxes *f, ir_op op, uint32_t i) {
  uint32_t n = ir_op_get(f->m, op)->n_operands;
  if (!f->index) return find_indices(f, op, i);
  if (!f->index[op]) {
    f->index[op] = ARENA_ARRAY(f->a, int32_t *, n);
    for (uint32_t k = 0; k < n; k++) f->index[op][k] = find_indices(f, op, k);
  }
  return f->index[op][i];
}

/* y is the type of the result, *out all of the operand. */
static bool box_of_mapped(const pass_boxes *f, ir_op op, uint32_t i, const ir_type_data *y,
                          pass_box of, pass_box *out) {
  const int32_t *index = indices_of(f, op, i);
  int32_t rank = pass_box_type(f, ir_operand(f->m, op, i))->rank;
  if (!index) return false;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] != IR_ALONE && index[d] < y->rank)
      pass_box_set(out, d, of.lo[index[d]], of.hi[index[d]]);
  return true;
}

/* Dimensions [from, to) as one, in row-major order. */
typedef struct group {
  int32_t to, lead; /* the first that is longer than 1; `to` if none is */
  int64_t stride;   /* of the lead, in elements */
} group;

static group group_of(const ir_type_data *t, int32_t from, int32_t to) {
  group g = {to, from, 1};
  while (g.lead < to && t->dims[g.lead] == 1) g.lead++;
  for (int32_t d = g.lead + 1; d < to; d++) g.stride *= t->dims[d];
  return g;
}

/* The box is a range of the group's elements: nothing but its lead is cut. */
static bool range_of_box(const ir_type_data *t, group g, pass_box b, int64_t *out_lo,
                         int64_t *out_hi) {
  for (int32_t d = g.lead + 1; d < g.to; d++)
    if (!pass_box_is_all(t, b, d)) return false;
  *out_lo = g.lead < g.to ? b.lo[g.lead] * g.stride : 0;
  *out_hi = g.lead < g.to ? b.hi[g.lead] * g.stride : 1;
  return true;
}

static bool box_of_range(group g, int64_t lo, int64_t hi, pass_box *out) {
  assert(g.stride > 0 && lo <= hi); /* of a shape without dimensions of 0 */
  if (lo % g.stride || hi % g.stride) return false;
  if (g.lead < g.to) pass_box_set(out, g.lead, lo / g.stride, hi / g.stride);
  return true;
}

static bool box_of_reshape(const ir_type_data *x, const ir_type_data *y, pass_box of,
                           pass_box *out) {
  for (int32_t i = 0, j = 0; i < x->rank || j < y->rank;) {
    int32_t from_x = i, from_y = j;
    int64_t nx = i < x->rank ? x->dims[i++] : 1, ny = j < y->rank ? y->dims[j++] : 1, lo, hi;
    while (nx != ny)
      if (nx < ny) nx *= x->dims[i++];
      else ny *= y->dims[j++];
    if (!range_of_box(y, group_of(y, from_y, j), of, &lo, &hi) ||
        !box_of_range(group_of(x, from_x, i), lo, hi, out))
      return false;
  }
  return true;
}

static bool box_of_slice(const pass_boxes *f, ir_op op, const ir_type_data *y, pass_box of,
                         pass_box *out) {
  const int64_t *start = ir_op_list(f->m, op, "start_indices").at,
                *stride = ir_op_list(f->m, op, "strides").at;
  for (int32_t d = 0; d < y->rank; d++) {
    if (stride[d] != 1) return false;
    pass_box_set(out, d, start[d] + (of.lo ? of.lo[d] : 0),
                 start[d] + (of.lo ? of.hi[d] : y->dims[d]));
  }
  return true;
}

/* What falls into the operand; it may be nothing. */
static void box_of_concatenate(const pass_boxes *f, ir_op op, uint32_t i, pass_box of,
                               pass_box *out) {
  const ir_type_data *x = pass_box_type(f, ir_operand(f->m, op, i));
  int32_t along = (int32_t)ir_op_int(f->m, op, "dimension", 0);
  int64_t before = 0;
  for (uint32_t k = 0; k < i; k++) before += pass_box_type(f, ir_operand(f->m, op, k))->dims[along];
  for (int32_t d = 0; d < x->rank; d++) pass_box_set(out, d, of.lo[d], of.hi[d]);
  pass_box_set(out, along, clamp64(of.lo[along] - before, 0, x->dims[along]),
               clamp64(of.hi[along] - before, 0, x->dims[along]));
}

/* Of what is scattered into, the first elements: along others a window would be cut, or begin at
 * another index. Indices and updates stay whole. */
static bool box_of_scatter(const pass_boxes *f, ir_op op, uint32_t i, const ir_type_data *y,
                           pass_box of, pass_box *out) {
  ir_gather_numbers n;
  if (!ir_gather_dims(f->a, f->m, op, &n)) return false;
  for (int32_t d = 0; d < y->rank; d++) {
    if (pass_box_is_all(y, of, d)) continue;
    if (of.lo[d] || !ir_ints_have(n.collapsed_slice_dims, d)) return false;
    if (i == 0) pass_box_set(out, d, of.lo[d], of.hi[d]);
  }
  return true;
}

bool pass_box_of_operand(const pass_boxes *f, ir_op op, uint32_t i, pass_box of, pass_box *out) {
  const ir_type_data *x = pass_box_type(f, ir_operand(f->m, op, i)),
                     *y = pass_box_type(f, ir_result(f->m, op, 0));
  assert(i < ir_op_get(f->m, op)->n_operands);
  *out = pass_box_of_all(f, x);
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_RESHAPE: return box_of_reshape(x, y, of, out);
    case IR_OP_SLICE: return box_of_slice(f, op, y, of, out);
    case IR_OP_CONCATENATE: box_of_concatenate(f, op, i, of, out); return true;
    case IR_OP_SCATTER: return box_of_scatter(f, op, i, y, of, out);
    default: return box_of_mapped(f, op, i, y, of, out);
  }
}
