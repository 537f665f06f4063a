/* through-pad: what is computed of zeros around a tensor is not computed of them.
 *
 * Requires: a verified module, dead code gone. Breaks: nothing; what lost its uses stays for dce.
 * Gradients of slices pad with zeros. With P padding, S cutting the padding away,
 *   f(P(x), P(y), c) = P'(f(x, y, c))      elementwise, c one number; P' fills with f(0, 0, c)
 *   transpose, reshape by ones, sums       the same
 *   sum_k P(x)_k y_k = sum_k x_k S(y)_k    where k is padded
 *   P(x) . y = [x . y; 0 . y]              where a free dimension is: one row of zeros for all
 * So the gradients of logits = (h w)[:, :-1] are products of h[:, :-1], as if h had been cut.
 *   NaN and infinities: 0 times infinity is NaN and stays so. The rows that zeros make are
 * computed, once; what a contraction leaves out of y is added, times 0, to the rest of y: NaN where
 * zeros met such, and else nothing changes. But for that exact; a product may sum in another order,
 * and a sum of nothing but -0 may be +0.
 *   Left alone: f(P(x), y) with a y of its own in each place, gaps (interior padding), negative
 * padding, padded batch dimensions, complex products; products with a y that is neither at hand
 * nor small against P(x), because it is read once more, or where what is cut or put together is
 * larger than P(x); tensors that are small against the limit or below the threshold. Cost: linear.
 * Source: the identities above; XLA folds pads into convolutions. See docs/design/through-slice.md.
 */
#include <math.h>

#include "ir/maps.h"
#include "pass/build.h"

enum { STEPS = 8, MUCH_SMALLER = 8 };

typedef struct padder {
  pass_ctx *p;
  ir_module *m;
  int64_t small_bytes;
  ir_builder b;
} padder;

typedef struct padding {
  ir_op op;
  ir_value x, fill;
  const int64_t *low, *high; /* by dimension */
} padding;

static const ir_type_data *type_of(const padder *f, ir_value v) { return ir_type_at(f->m, v); }

/* ---- looking ---- */
static bool find_padding(const padder *f, ir_value v, padding *out) {
  ir_op op = ir_maker(f->m, v, IR_OP_PAD);
  if (!op || !pass_is_static(f->m, op) || ir_value_bytes(f->m, v) <= f->small_bytes) return false;
  ir_ints low, high;
  if (!ir_pads_around(f->m, op, &low, &high)) return false;
  *out = (padding){op, ir_operand(f->m, op, 0), ir_operand(f->m, op, 1), low.at, high.at};
  bool any = false;
  for (int32_t d = 0; d < low.count; d++) any |= low.at[d] || high.at[d];
  return any && ir_element_count(f->m, ir_type_of(f->m, out->x)) > 0;
}

static bool is_finite(const padder *f, ir_value v) {
  double x;
  int64_t i;
  return ir_splat_int(f->m, v, &i) || (ir_splat_real(f->m, v, &x) && isfinite(x));
}

/* All elements are 0 of either sign, as far as can be told. */
static bool is_zero(const padder *f, ir_value v, int steps) {
  ir_op op = ir_value_get(f->m, v)->op;
  if (!op || !steps) return false;
  if (ir_is_zero(f->m, v)) return true;
  ir_value x = ir_op_get(f->m, op)->n_operands ? ir_operand(f->m, op, 0) : IR_NONE,
           y = ir_op_get(f->m, op)->n_operands > 1 ? ir_operand(f->m, op, 1) : IR_NONE;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_NEGATE:
    case IR_OP_ABS:
    case IR_OP_CONVERT: return is_zero(f, x, steps - 1);
    case IR_OP_ADD:
    case IR_OP_SUBTRACT: return is_zero(f, x, steps - 1) && is_zero(f, y, steps - 1);
    case IR_OP_MULTIPLY:
      return (is_zero(f, x, steps - 1) && (is_finite(f, y) || is_zero(f, y, steps - 1))) ||
             (is_finite(f, x) && is_zero(f, y, steps - 1));
    default: return false;
  }
}

/* Reading it once more costs little. */
static bool is_at_hand(const padder *f, ir_value v, const padding *pad) {
  int64_t bytes = ir_value_bytes(f->m, v);
  if (bytes <= ir_value_bytes(f->m, ir_result(f->m, pad->op, 0)) / MUCH_SMALLER) return true;
  for (int i = 0; i < STEPS; i++) {
    ir_op op = ir_value_get(f->m, v)->op;
    switch (op ? ir_kind_of(f->m, op) : IR_OP_CONSTANT) {
      case IR_OP_CONSTANT: return true;
      case IR_OP_CONVERT:
      case IR_OP_PAD:
      case IR_OP_RESHAPE:
      case IR_OP_SLICE:
      case IR_OP_TRANSPOSE: v = ir_operand(f->m, op, 0); continue;
      default: return false;
    }
  }
  return false;
}

/* ---- building ---- */
/* The scalar that the value is everywhere; IR_NONE if it is none. */
static ir_value scalar_of(padder *f, ir_value v) {
  const ir_type_data t = *type_of(f, v);
  ir_op op = ir_value_get(f->m, v)->op;
  if (t.rank == 0) return v;
  if (!op) return IR_NONE;
  if (ir_kind_of(f->m, op) == IR_OP_BROADCAST_IN_DIM && !type_of(f, ir_operand(f->m, op, 0))->rank)
    return ir_operand(f->m, op, 0);
  if (!ir_is_splat_constant(f->m, v)) return IR_NONE;
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "value", IR_ATTR_DENSE);
  return ir_build_constant(&f->b, ir_scalar(f->m, t.dtype), d->data);
}

/* ---- elementwise ops ---- */
/* Of the op's operands one at least is padded, all of these alike. */
static bool find_common_padding(padder *f, ir_op op, padding *out) {
  bool any = false;
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_operands; i++) {
    padding p;
    if (!find_padding(f, ir_operand(f->m, op, i), &p)) continue;
    if (!any) *out = p;
    int32_t rank = type_of(f, p.x)->rank;
    if (rank != type_of(f, out->x)->rank) return false;
    for (int32_t d = 0; d < rank; d++)
      if (p.low[d] != out->low[d] || p.high[d] != out->high[d]) return false;
    any = true;
  }
  return any;
}

/* The op of what is around; zeros add up to zero. */
static ir_value fill_of(padder *f, ir_op op, const ir_value *around) {
  if (ir_kind_of(f->m, op) == IR_OP_ADD && ir_is_zero(f->m, around[0]) &&
      ir_is_zero(f->m, around[1]))
    return around[0];
  ir_dtype dtype = type_of(f, ir_result(f->m, op, 0))->dtype;
  return pass_build_like(&f->b, op, around, ir_scalar(f->m, dtype));
}

static ir_value elementwise(padder *f, ir_op op) {
  enum { MOST = 4 };
  uint32_t n = ir_op_get(f->m, op)->n_operands;
  padding p;
  ir_value inside[MOST], around[MOST];
  if (n > MOST || ir_op_get(f->m, op)->n_results != 1 || !find_common_padding(f, op, &p))
    return IR_NONE;
  const ir_type_data x = *type_of(f, p.x);
  ir_dtype dtype = type_of(f, ir_result(f->m, op, 0))->dtype;
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = ir_operand(f->m, op, i);
    padding own;
    if (find_padding(f, v, &own)) {
      inside[i] = own.x;
      around[i] = own.fill;
      continue;
    }
    around[i] = inside[i] = scalar_of(f, v);
    if (!inside[i]) return IR_NONE;
    if (type_of(f, v)->rank)
      inside[i] = ir_build_broadcast(
          &f->b, inside[i], ir_tensor(f->m, type_of(f, v)->dtype, x.rank, x.dims), (int64_t[]){0});
  }
  ir_value fill = fill_of(f, op, around),
           core = pass_build_like(&f->b, op, inside, ir_tensor(f->m, dtype, x.rank, x.dims));
  return ir_build_pad(&f->b, core, fill, p.low, p.high);
}

/* ---- moves ---- */
/* Transposes, and reshapes by ones alone. */
static ir_value moved(padder *f, ir_op op) {
  padding p;
  int32_t to[IR_MAX_RANK];
  if (!find_padding(f, ir_operand(f->m, op, 0), &p) || !ir_moved_dims(f->m, op, to)) return IR_NONE;
  const ir_type_data y = *type_of(f, ir_result(f->m, op, 0));
  int64_t low[IR_MAX_RANK] = {0}, high[IR_MAX_RANK] = {0}, dims[IR_MAX_RANK];
  for (int32_t d = 0; d < y.rank; d++) dims[d] = y.dims[d];
  for (int32_t d = 0; d < type_of(f, p.x)->rank; d++) {
    if (to[d] == IR_ALONE) continue;
    low[to[d]] = p.low[d];
    high[to[d]] = p.high[d];
    dims[to[d]] -= p.low[d] + p.high[d];
  }
  ir_value core = ir_kind_of(f->m, op) == IR_OP_RESHAPE
                      ? ir_build_reshape(&f->b, p.x, ir_tensor(f->m, y.dtype, y.rank, dims))
                      : ir_build_transpose(&f->b, p.x, ir_op_list(f->m, op, "permutation").at);
  return ir_build_pad(&f->b, core, p.fill, low, high);
}

/* ---- sums ---- */
static ir_value sum(padder *f, ir_op op) {
  padding p;
  if (!ir_adds_up(f->m, op) || !find_padding(f, ir_operand(f->m, op, 0), &p) ||
      !is_zero(f, p.fill, STEPS))
    return IR_NONE;
  ir_ints over = ir_op_list(f->m, op, "dimensions");
  int64_t low[IR_MAX_RANK], high[IR_MAX_RANK];
  int32_t kept = 0;
  bool any = false;
  for (int32_t i = 1; i < over.count; i++)
    if (over.at[i] <= over.at[i - 1]) return IR_NONE;
  for (int32_t d = 0; d < type_of(f, p.x)->rank; d++) {
    if (ir_ints_have(over, d)) continue;
    low[kept] = p.low[d];
    high[kept] = p.high[d];
    any |= low[kept] || high[kept];
    kept++;
  }
  ir_value init = ir_operand(f->m, op, 1),
           core = ir_build_reduce(&f->b, IR_OP_ADD, p.x, init, over.at, over.count);
  return any ? ir_build_pad(&f->b, core, init, low, high) : core;
}

/* ---- products ---- */
typedef struct product {
  ir_op op;
  ir_dot_numbers n;
  ir_value side[2];
  bool is_made[2]; /* here, of what is at hand */
} product;

/* Where a free dimension of a side is in the result. */
static int32_t place_of(const padder *f, const product *p, uint32_t side, int32_t dim) {
  int32_t at = side ? type_of(f, p->side[0])->rank - p->n.lhs_contract.count : p->n.lhs_batch.count;
  for (int32_t d = 0; d < dim; d++) at += ir_dot_is_free(&p->n, side, d);
  return at;
}

static ir_value multiplied(padder *f, const product *p) {
  ir_dtype dtype = type_of(f, ir_result(f->m, p->op, 0))->dtype;
  int64_t dims[2 * IR_MAX_RANK];
  int32_t rank = ir_dot_result_dims(type_of(f, p->side[0]), type_of(f, p->side[1]), &p->n, dims);
  return pass_build_like(&f->b, p->op, p->side, ir_tensor(f->m, dtype, rank, dims));
}

/* Padded like before, but for this dimension. */
static ir_value without(padder *f, const padding *p, int32_t dim) {
  int32_t rank = type_of(f, p->x)->rank;
  int64_t low[IR_MAX_RANK], high[IR_MAX_RANK];
  bool any = false;
  for (int32_t d = 0; d < rank; d++) {
    low[d] = d == dim ? 0 : p->low[d];
    high[d] = d == dim ? 0 : p->high[d];
    any |= low[d] || high[d];
  }
  return any ? ir_build_pad(&f->b, p->x, p->fill, low, high) : p->x;
}

static bool is_real(const padder *f, ir_value v) { return ir_is_float(type_of(f, v)->dtype); }

/* y + 0 times the sum over `dim` of these elements of x: NaN where one is not finite. */
static ir_value with_nans_of(padder *f, ir_value y, ir_value x, int64_t dim, int64_t at,
                             int64_t length) {
  if (!length || !is_real(f, x)) return y;
  ir_value part = ir_build_slice_dim(&f->b, x, dim, at, length),
           zero = ir_build_int_like(&f->b, part, 0);
  ir_value sum = ir_build_sum(&f->b, ir_build_multiply(&f->b, part, zero), &dim, 1);
  return ir_build_add(&f->b, y, ir_build_along(&f->b, sum, ir_type_of(f->m, y), dim));
}

/* The other side of a contraction, where this one is not padding. */
static ir_value remaining(padder *f, ir_value y, int64_t dim, int64_t low, int64_t high) {
  padding p;
  if (find_padding(f, y, &p) && p.low[dim] == low && p.high[dim] == high &&
      is_zero(f, p.fill, STEPS))
    return without(f, &p, (int32_t)dim);
  int64_t length = type_of(f, y)->dims[dim] - low - high;
  CTX_CHECK(f->m->ctx, length > 0); /* what is padded is not empty */
  ir_value x = ir_build_slice_dim(&f->b, y, dim, low, length);
  x = with_nans_of(f, x, y, dim, 0, low);
  return with_nans_of(f, x, y, dim, low + length, high);
}

static ir_value product_of(padder *f, const product *p);

/* What padding makes of a result: rows that are all alike, [.., 1, ..]. */
static ir_value row_of_padding(padder *f, const product *p, uint32_t side, ir_value fill) {
  const ir_type_data x = *type_of(f, p->side[side]);
  int64_t dims[IR_MAX_RANK];
  for (int32_t d = 0; d < x.rank; d++) dims[d] = ir_dot_is_free(&p->n, side, d) ? 1 : x.dims[d];
  product row = *p;
  row.side[side] =
      ir_build_broadcast(&f->b, fill, ir_tensor(f->m, x.dtype, x.rank, dims), (int64_t[]){0});
  row.is_made[side] = true;
  return product_of(f, &row);
}

static ir_value beside_padding(padder *f, const product *p, uint32_t side, const padding *pad,
                               int32_t dim) {
  int32_t along = place_of(f, p, side, dim), n = 0;
  product rest = *p;
  rest.side[side] = without(f, pad, dim);
  ir_value row = row_of_padding(f, p, side, pad->fill), parts[3], core = product_of(f, &rest);
  int64_t lengths[2] = {pad->low[dim], pad->high[dim]};
  const ir_type type = ir_type_of(f->m, core);
  for (int i = 0; i < 2; i++) {
    if (i == 1) parts[n++] = core;
    if (lengths[i])
      parts[n++] = ir_build_broadcast(&f->b, row, ir_tensor_with_dim(f->m, type, along, lengths[i]),
                                      ir_all_dims);
  }
  CTX_CHECK(f->m->ctx, n > 1); /* or nothing would be padded along it */
  return ir_build_concatenate(&f->b, parts, (uint32_t)n, along);
}

/* IR_NONE: no padding of this side goes. */
static ir_value without_padding(padder *f, const product *p, uint32_t side) {
  padding pad;
  ir_value y = p->side[1 - side];
  if (!find_padding(f, p->side[side], &pad) || !(p->is_made[1 - side] || is_at_hand(f, y, &pad)))
    return IR_NONE;
  for (int32_t d = 0; d < type_of(f, pad.x)->rank; d++) {
    int32_t k = ir_ints_find(ir_dot_contract(&p->n, side), d);
    if ((!pad.low[d] && !pad.high[d]) || ir_ints_have(ir_dot_batch(&p->n, side), d)) continue;
    int64_t bytes = ir_value_bytes(f->m, p->side[side]); /* against a copy of result or y */
    if (k < 0 && ir_value_bytes(f->m, ir_result(f->m, p->op, 0)) <= bytes)
      return beside_padding(f, p, side, &pad, d);
    if (k < 0 || !is_zero(f, pad.fill, STEPS) || ir_value_bytes(f->m, y) > bytes) continue;
    product rest = *p;
    rest.side[side] = without(f, &pad, d);
    rest.side[1 - side] =
        remaining(f, y, ir_dot_contract(&p->n, 1 - side).at[k], pad.low[d], pad.high[d]);
    rest.is_made[1 - side] = true;
    return product_of(f, &rest);
  }
  return IR_NONE;
}

static ir_value product_of(padder *f, const product *p) {
  ir_value v = without_padding(f, p, 0);
  if (!v) v = without_padding(f, p, 1);
  return v ? v : multiplied(f, p);
}

static ir_value dot(padder *f, ir_op op) {
  product p = {.op = op, .side = {ir_operand(f->m, op, 0), ir_operand(f->m, op, 1)}};
  ir_dtype_class c = ir_dtype_class_of(type_of(f, ir_result(f->m, op, 0))->dtype);
  if (c == IR_CLASS_COMPLEX || !ir_dot_dims(f->m, op, &p.n) || !pass_is_static(f->m, op))
    return IR_NONE;
  ir_value v = without_padding(f, &p, 0);
  return v ? v : without_padding(f, &p, 1);
}

/* ---- all ops ---- */
static bool replace(pass_rewrite *r, ir_op op) {
  padder of = {r->p, r->m, r->small_bytes, {r->m, r->b.block, ir_op_get(r->m, op)->location}},
         *f = &of;
  ir_kind kind = ir_kind_of(r->m, op);
  ir_value v = IR_NONE;
  if (ir_is_elementwise(kind)) v = elementwise(f, op);
  else if (kind == IR_OP_TRANSPOSE || kind == IR_OP_RESHAPE) v = moved(f, op);
  else if (kind == IR_OP_REDUCE) v = sum(f, op);
  else if (kind == IR_OP_DOT_GENERAL) v = dot(f, op);
  return pass_stand_in(r->m, r->map, op, v);
}

const pass pass_through_pad = {"through-pad", .replace = replace};
