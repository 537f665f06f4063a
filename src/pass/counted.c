/* counted: gathers and scatters at places that are counted are moves, strided slices and pads.
 *
 *   gather(x, [a + s i, b + t j] for all i, j)          =  x[a::s, b::t]
 *   scatter(x, [a + s i, b + t j], u, put)              =  select(mask, pad(u), x)
 *   scatter(x, [a + s i, b + t j], u, add)              =  x + pad(u)
 *   scatter(x, [a + s i, b + t j], u, f)                =  select(mask, f(x, pad(u)), x)
 *
 * where pad puts s - 1 elements between two of u, and the mask is where it puts none. What counts
 * is an index of the entries or a digit of one, in any base, each once:
 *
 *   gather(x, [p / n, p % n] for all p)  =  reshape(x)              x is [m, n], p counts m n
 *   gather(x, p / n for all p)           =  reshape(broadcast(x))   x is [m], p counts m n
 *   scatter(x, p / n, u, add)            =  x + the sums of reshape(u) over n
 *
 * x.at[::2, 1::2].set(u), as red-black relaxation, lifting and interleaving write it, and its
 * gradients; and what is gathered at all places of a matrix in their order (`listed`). A slice of a
 * scatter has only one dimension that indices name, and all updates; of a pad it has the updates
 * that lie in it.
 *
 * Requires: a verified module; behind `ranges`, which takes wrapping and clamping off indices.
 * Breaks: nothing; what lost its uses stays for dce. Exact, but for sums that a scatter adds up: in
 * another order. What is added beside u is -0, which changes nothing; of types without it there is
 * a mask. Left alone: batches; places beyond x's ends; two dimensions that one index counts;
 * negative steps; windows along dimensions that are counted; updates that are not added, more than
 * once in a place; what is small against the limit. Cost: linear.
 */
#include "pass/build.h"

/* Of x: along each dimension `counts` elements from `starts` on, every steps-th; of one alone the
 * step is 1, whatever the indices were multiplied by. The part's elements are those of a tensor
 * `dims`: its dimensions, cut into the digits that count and what lies between them. */
typedef struct grid {
  int64_t starts[IR_MAX_RANK], steps[IR_MAX_RANK], counts[IR_MAX_RANK];
  int32_t of[IR_MAX_RANK]; /* which of `dims` counts them; -1: none, there is one */
  int32_t rank;
  int64_t dims[IR_MAX_RANK];
} grid;

static const ir_type_data *type_of(const pass_entries *v, ir_value x) {
  return ir_type_at(v->m, x);
}

/* ---- where ---- */
/* What indices say of dimension d: where, and which dimension of them counts; window: none may. */
static bool find_line(const pass_entries *v, int32_t d, bool window, pass_affine *out) {
  *out = (pass_affine){.dim = -1, .step = 1, .unit = 1, .base = 1};
  if (!ir_ints_have(v->n.start_index_map, d)) return true;
  ir_value at =
      pass_index_component(v->m, v->indices, &v->n, ir_ints_find(v->n.start_index_map, d));
  return at && pass_find_digit(v->m, at, out) && !(window && out->base > 1);
}

/* Along all dimensions of x: by which dimension of the part, and its digit, elements are counted.
 */
static bool find_lines(const pass_entries *v, pass_affine *lines, grid *out) {
  const ir_type_data *x = type_of(v, v->x), *part = type_of(v, v->part);
  for (int32_t d = 0, offset = 0; d < x->rank; d++) {
    bool window = !ir_ints_have(v->n.collapsed_slice_dims, d);
    pass_affine *a = &lines[d];
    if (!find_line(v, d, window, a)) return false;
    if (window) {
      a->dim = (int32_t)v->n.offset_dims.at[offset++];
      a->base = part->dims[a->dim];
      a->last = a->offset + a->base - 1;
    } else if (a->base > 1) {
      a->dim = ir_entry_dim(&v->n, a->dim);
    }
    if (a->offset < 0 || a->last >= x->dims[d]) return false;
    out->of[d] = -1;
    out->starts[d] = a->offset;
    out->counts[d] = a->base;
    out->steps[d] = a->base > 1 ? a->step : 1;
  }
  return true;
}

/* The next digit of the part's dimension that is below `at`. */
static int32_t next_digit(const pass_affine *lines, int32_t rank, int32_t dim, int64_t at) {
  int32_t next = -1;
  for (int32_t d = 0; d < rank; d++)
    if (lines[d].base > 1 && lines[d].dim == dim && lines[d].unit < at &&
        (next < 0 || lines[d].unit > lines[next].unit))
      next = d;
  return next;
}

/* A dimension of the part, cut from the outermost digit to the innermost: each begins where another
 * ends, or where nothing counts. */
static bool cut(const pass_entries *v, const pass_affine *lines, int32_t dim, grid *out) {
  for (int64_t at = type_of(v, v->part)->dims[dim]; at > 1;) {
    int32_t d = next_digit(lines, type_of(v, v->x)->rank, dim, at);
    int64_t end = d < 0 ? 1 : lines[d].unit * lines[d].base;
    if (out->rank + 2 > IR_MAX_RANK || at % end) return false;
    if (at > end) out->dims[out->rank++] = at / end;
    if (d < 0) return true;
    out->of[d] = out->rank;
    out->dims[out->rank++] = lines[d].base;
    at = lines[d].unit;
  }
  return true;
}

static bool find_grid(const pass_entries *v, grid *out) {
  pass_affine lines[IR_MAX_RANK];
  out->rank = 0;
  if (v->n.operand_batching_dims.count || !find_lines(v, lines, out)) return false;
  for (int32_t i = 0; i < type_of(v, v->part)->rank; i++)
    if (!cut(v, lines, i, out)) return false;
  for (int32_t d = 0; d < type_of(v, v->x)->rank; d++)
    if (out->of[d] < 0 && out->counts[d] > 1) return false;
  return true;
}

static bool is_whole(const pass_entries *v, const grid *g) {
  return !memcmp(g->counts, type_of(v, v->x)->dims,
                 sizeof *g->counts * (size_t)type_of(v, v->x)->rank);
}

static ir_type tall_type(const pass_entries *v, const grid *g) {
  return ir_tensor(v->m, type_of(v, v->part)->dtype, g->rank, g->dims);
}

/* ---- reads ---- */
static ir_value taken(ir_builder *b, const pass_entries *v, const grid *g) {
  int64_t limits[IR_MAX_RANK], dims[IR_MAX_RANK], permutation[IR_MAX_RANK], to[IR_MAX_RANK];
  int32_t rank = type_of(v, v->x)->rank, n = 0, n_moved = 0, at[IR_MAX_RANK];
  ir_value y = v->x;
  for (int32_t d = 0; d < rank; d++) {
    limits[d] = g->starts[d] + (g->counts[d] - 1) * g->steps[d] + 1;
    if (g->of[d] >= 0) at[d] = n, dims[n++] = g->counts[d];
  }
  for (int32_t i = 0; i < g->rank; i++)
    for (int32_t d = 0; d < rank; d++)
      if (g->of[d] == i) permutation[n_moved] = at[d], to[n_moved++] = i;
  if (!is_whole(v, g)) y = ir_build_slice(b, y, g->starts, limits, g->steps);
  y = ir_build_reshape(b, y, ir_tensor(v->m, type_of(v, y)->dtype, n, dims));
  y = ir_build_transpose(b, y, permutation);
  y = ir_build_broadcast(b, y, tall_type(v, g), to);
  return ir_build_reshape(b, y, ir_type_of(v->m, v->part));
}

/* ---- writes ---- */
/* The part as the grid's elements, in x's order of dimensions; what nothing counts is added up. */
static ir_value as_grid(ir_builder *b, const pass_entries *v, const grid *g) {
  int64_t over[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t rank = type_of(v, v->x)->rank, n_over = 0, n = 0, at[IR_MAX_RANK] = {0};
  for (int32_t d = 0; d < rank; d++)
    if (g->of[d] >= 0) at[g->of[d]] = 1;
  for (int32_t i = 0; i < g->rank; i++) {
    if (!at[i]) over[n_over++] = i;
    at[i] = i - n_over;
  }
  if (n_over && (v->puts || v->kind != IR_OP_ADD)) return IR_NONE;
  for (int32_t d = 0; d < rank; d++)
    if (g->of[d] >= 0) permutation[n++] = at[g->of[d]];
  ir_value u = ir_build_reshape(b, v->part, tall_type(v, g));
  u = ir_build_transpose(b, ir_build_sum(b, u, over, n_over), permutation);
  return ir_build_reshape(b, u, ir_tensor(v->m, type_of(v, u)->dtype, rank, g->counts));
}

/* u at its places in a tensor like x. */
static ir_value spread(ir_builder *b, const pass_entries *v, const grid *g, ir_value u,
                       ir_value fill) {
  const ir_type_data x = *type_of(v, v->x);
  if (is_whole(v, g)) return u;
  int64_t high[IR_MAX_RANK], gaps[IR_MAX_RANK];
  for (int32_t d = 0; d < x.rank; d++) {
    gaps[d] = g->steps[d] - 1;
    high[d] = x.dims[d] - g->starts[d] - (g->counts[d] + (g->counts[d] - 1) * gaps[d]);
  }
  return ir_build_pad_with_gaps(b, u, fill, g->starts, high, gaps);
}

/* Which indices of dimension d the grid has; IR_NONE: all. It may end up to a step behind x. */
static ir_value line_mask(ir_builder *b, const pass_entries *v, const grid *g, int32_t d) {
  int64_t size = type_of(v, v->x)->dims[d];
  if (g->counts[d] == size) return IR_NONE;
  ir_type line = ir_tensor(v->m, size <= INT32_MAX / 2 ? IR_I32 : IR_I64, 1, &size);
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

/* -0, which not all floats of a byte have. */
static bool has_neutral(ir_dtype dtype) {
  return ir_is_common_float(dtype) || !(ir_is_float(dtype) || ir_is_complex(dtype));
}

static ir_value combined(ir_builder *b, const pass_entries *v, const grid *g) {
  static const char zero[16];
  ir_value u = as_grid(b, v, g);
  if (!u) return IR_NONE;
  ir_dtype dtype = type_of(v, v->x)->dtype;
  ir_type scalar = ir_scalar(v->m, dtype);
  bool adds = !v->puts && v->kind == IR_OP_ADD && has_neutral(dtype);
  ir_value fill = adds ? ir_build_neutral_of_sum(b, scalar) : ir_build_constant(b, scalar, zero);
  u = spread(b, v, g, u, fill);
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

const pass pass_counted = {"counted", .replace = replace};
