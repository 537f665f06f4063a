/* strides: gathers and scatters at every s-th index are strided slices and pads.
 *
 *   gather(x, [a + s i, b + t j] for all i, j)          =  x[a::s, b::t]
 *   scatter(x, [a + s i, b + t j], u, put)              =  select(mask, pad(u), x)
 *   scatter(x, [a + s i, b + t j], u, add)              =  x + pad(u)
 *   scatter(x, [a + s i, b + t j], u, f)                =  select(mask, f(x, pad(u)), x)
 *
 * where pad puts s - 1 elements between two of u, and the mask is where it puts none.
 * x.at[::2, 1::2].set(u), as red-black relaxation, lifting and interleaving write it, and its
 * gradients. A slice of a scatter has only one dimension that indices name, and all updates; of a
 * pad it has the updates that lie in it.
 *
 * Requires: a verified module; behind `ranges`, which takes wrapping off indices, and `counted`,
 * which has what needs neither slice nor pad. Breaks: nothing; what lost its uses stays for dce.
 * Exact: what is added beside u is -0, which changes nothing; of types without it there is a mask.
 * Left alone: batches; places beyond x's ends; two dimensions that one index counts; negative
 * steps; windows along dimensions that are counted; what is small against the limit. Cost: linear.
 */
#include "pass/build.h"

/* Of x: along each dimension `counts` elements from `starts` on, every steps-th; of one alone the
 * step is 1, whatever the indices were multiplied by. */
typedef struct grid {
  int64_t starts[IR_MAX_RANK], steps[IR_MAX_RANK], counts[IR_MAX_RANK];
  int32_t of[IR_MAX_RANK]; /* the dimension of the part that counts them; -1: none, there is one */
} grid;

static const ir_type_data *type_of(const pass_entries *v, ir_value x) {
  return ir_type_at(v->m, x);
}

/* What indices say of dimension d: where, and which dimension of them counts; window: none may. */
static bool find_line(const pass_entries *v, int32_t d, bool window, pass_affine *out) {
  *out = (pass_affine){.dim = -1, .step = 1};
  if (!ir_ints_have(v->n.start_index_map, d)) return true;
  ir_value at =
      pass_index_component(v->m, v->indices, &v->n, ir_ints_find(v->n.start_index_map, d));
  return at && pass_find_affine(v->m, at, out) && !(window && out->dim >= 0) &&
         out->dim != v->n.index_vector_dim;
}

static bool find_grid(const pass_entries *v, grid *out) {
  const ir_type_data *x = type_of(v, v->x), *part = type_of(v, v->part);
  bool counted[IR_MAX_RANK] = {false};
  int32_t offset = 0;
  if (v->n.operand_batching_dims.count) return false;
  for (int32_t d = 0; d < x->rank; d++) {
    bool window = !ir_ints_have(v->n.collapsed_slice_dims, d);
    pass_affine a;
    if (!find_line(v, d, window, &a) || a.step < 1) return false;
    out->of[d] = window       ? (int32_t)v->n.offset_dims.at[offset++]
                 : a.dim >= 0 ? ir_entry_dim(&v->n, a.dim)
                              : -1;
    out->counts[d] = out->of[d] < 0 ? 1 : part->dims[out->of[d]];
    out->starts[d] = a.offset;
    out->steps[d] = a.dim >= 0 && out->counts[d] > 1 ? a.step : 1;
    int64_t room = x->dims[d] - a.offset;
    if (a.offset < 0 || !out->counts[d] || (out->counts[d] - 1) * out->steps[d] >= room)
      return false;
    if (out->of[d] < 0) continue;
    if (counted[out->of[d]]) return false;
    counted[out->of[d]] = true;
  }
  for (int32_t d = 0; d < part->rank; d++)
    if (!counted[d] && part->dims[d] != 1) return false;
  return true;
}

/* The grid's elements in x's order of dimensions, and in the part's; a dimension of the part that
 * counts none is 1 long. */
static ir_value as_part(ir_builder *b, const pass_entries *v, const grid *g, ir_value taken) {
  int64_t dims[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t rank = type_of(v, v->x)->rank, n = 0, at[IR_MAX_RANK];
  for (int32_t d = 0; d < rank; d++)
    if (g->of[d] >= 0) at[d] = n, dims[n++] = g->counts[d];
  ir_dtype dtype = type_of(v, taken)->dtype;
  taken = ir_build_reshape(b, taken, ir_tensor(v->m, dtype, n, dims));
  n = 0;
  for (int32_t i = 0; i < type_of(v, v->part)->rank; i++)
    for (int32_t d = 0; d < rank; d++)
      if (g->of[d] == i) permutation[n++] = at[d];
  return ir_build_reshape(b, ir_build_transpose(b, taken, permutation), ir_type_of(v->m, v->part));
}

static ir_value as_grid(ir_builder *b, const pass_entries *v, const grid *g) {
  int64_t dims[IR_MAX_RANK], permutation[IR_MAX_RANK];
  const ir_type_data part = *type_of(v, v->part);
  int32_t rank = type_of(v, v->x)->rank, n = 0, n_of_x = 0, at[IR_MAX_RANK];
  bool counted[IR_MAX_RANK] = {false};
  for (int32_t d = 0; d < rank; d++)
    if (g->of[d] >= 0) counted[g->of[d]] = true;
  for (int32_t i = 0; i < part.rank; i++)
    if (counted[i]) at[i] = n, dims[n++] = part.dims[i];
  for (int32_t d = 0; d < rank; d++)
    if (g->of[d] >= 0) permutation[n_of_x++] = at[g->of[d]];
  ir_value u = ir_build_reshape(b, v->part, ir_tensor(v->m, part.dtype, n, dims));
  u = ir_build_transpose(b, u, permutation);
  return ir_build_reshape(b, u, ir_tensor(v->m, part.dtype, rank, g->counts));
}

/* u at its places in a tensor like x. */
static ir_value spread(ir_builder *b, const pass_entries *v, const grid *g, ir_value u,
                       ir_value fill) {
  const ir_type_data x = *type_of(v, v->x);
  int64_t high[IR_MAX_RANK], gaps[IR_MAX_RANK];
  for (int32_t d = 0; d < x.rank; d++) {
    gaps[d] = g->steps[d] - 1;
    high[d] = x.dims[d] - g->starts[d] - (g->counts[d] + (g->counts[d] - 1) * gaps[d]);
  }
  return ir_build_pad_with_gaps(b, u, fill, g->starts, high, gaps);
}

/* Which indices of dimension d the grid has; IR_NONE: all. */
static ir_value line_mask(ir_builder *b, const pass_entries *v, const grid *g, int32_t d) {
  int64_t size = type_of(v, v->x)->dims[d];
  if (g->counts[d] == size) return IR_NONE;
  ir_type line = ir_tensor(v->m, size <= INT32_MAX ? IR_I32 : IR_I64, 1, &size);
  ir_value start = ir_build_splat_int(b, line, g->starts[d]),
           count = ir_build_splat_int(b, line, g->counts[d] * g->steps[d]),
           zero = ir_build_splat_int(b, line, 0),
           i = ir_build_subtract(b, ir_build_iota(b, line, 0), start);
  ir_value inside = ir_build_binary(b, IR_OP_AND, ir_build_compare(b, "GE", i, zero),
                                    ir_build_compare(b, "LT", i, count));
  if (g->steps[d] == 1) return inside;
  ir_value step = ir_build_splat_int(b, line, g->steps[d]),
           rest = ir_build_binary(b, IR_OP_REMAINDER, i, step);
  return ir_build_binary(b, IR_OP_AND, inside, ir_build_compare(b, "EQ", rest, zero));
}

/* Where the grid is, else `otherwise`. */
static ir_value where_taken(ir_builder *b, const pass_entries *v, const grid *g, ir_value y,
                            ir_value otherwise) {
  ir_type type = ir_tensor_with_dtype(v->m, ir_type_of(v->m, v->x), IR_I1);
  ir_value mask = IR_NONE;
  for (int64_t d = 0; d < type_of(v, v->x)->rank; d++) {
    ir_value line = line_mask(b, v, g, (int32_t)d);
    if (!line) continue;
    line = ir_build_broadcast(b, line, type, &d);
    mask = mask ? ir_build_binary(b, IR_OP_AND, mask, line) : line;
  }
  return mask ? ir_build_select(b, mask, y, otherwise) : y;
}

static ir_value taken(ir_builder *b, const pass_entries *v, const grid *g) {
  int64_t limits[IR_MAX_RANK];
  for (int32_t d = 0; d < type_of(v, v->x)->rank; d++)
    limits[d] = g->starts[d] + (g->counts[d] - 1) * g->steps[d] + 1;
  return as_part(b, v, g, ir_build_slice(b, v->x, g->starts, limits, g->steps));
}

/* -0, which not all floats of a byte have. */
static bool has_neutral(ir_dtype dtype) {
  return ir_is_common_float(dtype) || !(ir_is_float(dtype) || ir_is_complex(dtype));
}

static ir_value combined(ir_builder *b, const pass_entries *v, const grid *g) {
  static const char zero[16];
  ir_dtype dtype = type_of(v, v->x)->dtype;
  ir_type scalar = ir_scalar(v->m, dtype);
  bool adds = !v->puts && v->kind == IR_OP_ADD && has_neutral(dtype);
  ir_value fill = adds ? ir_build_neutral_of_sum(b, scalar) : ir_build_constant(b, scalar, zero);
  ir_value u = spread(b, v, g, as_grid(b, v, g), fill);
  if (!v->puts) u = ir_build_binary(b, v->kind, v->x, u);
  return adds ? u : where_taken(b, v, g, u, v->x);
}

static bool replace(pass_rewrite *f, ir_op op) {
  pass_entries v;
  grid g;
  bool gathers = ir_kind_of(f->m, op) == IR_OP_GATHER;
  if (!pass_find_entries(f->p->scratch, f->m, op, &v) || !pass_is_large(f, v.part) ||
      (!gathers && !v.puts && v.kind == IR_OP_UNKNOWN) || !find_grid(&v, &g))
    return false;
  ir_value made = gathers ? taken(&f->b, &v, &g) : combined(&f->b, &v, &g);
  return pass_stand_in(f->m, f->map, op, made);
}

const pass pass_strides = {"strides", .replace = replace};
