/* centre: products with a matrix of two numbers, one on the diagonal and one everywhere else.
 *
 *   X . M = (a - b) X + b (X . 1) . 1^T      M = a on its diagonal, b off it
 *
 * which is all that a centring matrix I - 1/n does (HSIC, CKA, kernel PCA), an identity, a matrix
 * of ones. Requires: a verified module, transposes folded into products. Breaks: nothing; what lost
 * its uses stays for dce. M may stand on either side and is made of constants, comparisons of two
 * counts, selects, arithmetic and conversions, which round its numbers. Not exact: sums are rounded
 * in another order, and less often; 0 . inf, which is NaN, is not done. Left alone: other element
 * types than f32 and f64, batches of M, matrices that are small against the limit or below the
 * threshold. Cost: MOST_STEPS ops a product. Source: the distributive law; Gretton et al.,
 * Measuring Statistical Dependence with Hilbert-Schmidt Norms (2005), section 3.
 */
#include <math.h>

#include "ir/floats.h"
#include "pass/build.h"

enum { MOST_STEPS = 12 }; /* of a level's expression, in depth */

typedef struct levels { /* of a matrix */
  double on, off;       /* its diagonal */
} levels;

/* ---- matrices of two numbers ---- */
static bool is_square(const ir_module *m, ir_value v) {
  const ir_type_data *t = ir_type_at(m, v);
  return ir_is_static_tensor(m, ir_type_of(m, v)) && t->rank == 2 && t->dims[0] == t->dims[1];
}

/* i == j, or i != j. */
static bool compared_levels(const pass_rewrite *f, ir_op op, levels *out) {
  ir_direction direction;
  if (!ir_comparison(f->m, ir_result(f->m, op, 0), &direction) ||
      (direction != IR_EQ && direction != IR_NE))
    return false;
  int64_t x = pass_counted_dim(f->m, ir_operand(f->m, op, 0)),
          y = pass_counted_dim(f->m, ir_operand(f->m, op, 1));
  *out = (levels){direction == IR_EQ, direction == IR_NE};
  return x >= 0 && y >= 0 && x != y;
}

/* Rounds *x as the type does; false: no integer of the type is *x (what it wraps to, or is cut to,
 * is not looked at). */
static bool make_element(ir_dtype d, double *x) {
  int bits = ir_dtype_bits(d);
  switch (ir_dtype_class_of(d)) {
    case IR_CLASS_BOOL: return *x == 0 || *x == 1;
    case IR_CLASS_INT: return *x == floor(*x) && fabs(*x) < ldexp(1, bits - 1) && bits >= 8;
    case IR_CLASS_UINT: return *x == floor(*x) && *x >= 0 && *x < ldexp(1, bits) && bits >= 8;
    case IR_CLASS_FLOAT: /* less than f32 is reached by way of it */
      if (ir_dtype_bytes(d) < 4) *x = ir_float_value(d, ir_float_bits(d, (float)*x));
      return true;
    default: return false;
  }
}

static bool find_made(const pass_rewrite *f, ir_value v, int steps, levels *out);

static bool find_levels(const pass_rewrite *f, ir_value v, int steps, levels *out) {
  if (!ir_value_get(f->m, v)->op || !steps || !is_square(f->m, v)) return false;
  ir_dtype d = ir_type_at(f->m, v)->dtype;
  if (ir_splat_real(f->m, v, &out->on)) return out->off = out->on, true;
  return find_made(f, v, steps, out) && make_element(d, &out->on) && make_element(d, &out->off);
}

static bool find_made(const pass_rewrite *f, ir_value v, int steps, levels *out) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_kind kind = ir_kind_of(f->m, op);
  levels x, y, of;
  switch (kind) {
    case IR_OP_COMPARE: return compared_levels(f, op, out);
    case IR_OP_CONVERT:
    case IR_OP_TRANSPOSE: return find_levels(f, ir_operand(f->m, op, 0), steps - 1, out);
    case IR_OP_NEGATE:
      if (!find_levels(f, ir_operand(f->m, op, 0), steps - 1, &x)) return false;
      return *out = (levels){-x.on, -x.off}, true;
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY:
    case IR_OP_DIVIDE:
      if (!find_levels(f, ir_operand(f->m, op, 0), steps - 1, &x) ||
          !find_levels(f, ir_operand(f->m, op, 1), steps - 1, &y))
        return false;
      *out = (levels){ir_folded(kind, x.on, y.on), ir_folded(kind, x.off, y.off)};
      return true;
    case IR_OP_SELECT:
      if (!is_square(f->m, ir_operand(f->m, op, 0)) ||
          !find_levels(f, ir_operand(f->m, op, 0), steps - 1, &of) ||
          !find_levels(f, ir_operand(f->m, op, 1), steps - 1, &x) ||
          !find_levels(f, ir_operand(f->m, op, 2), steps - 1, &y))
        return false;
      *out = (levels){of.on ? x.on : y.on, of.off ? x.off : y.off};
      return true;
    default: return false;
  }
}

/* ---- the product without it ---- */
static bool is_plain(const pass_rewrite *f, ir_op dot, ir_dot_numbers *n) {
  return pass_is_plain_product(f->m, dot) && ir_dot_dims(f->m, dot, n) && !n->lhs_batch.count &&
         n->lhs_contract.count == 1;
}

static ir_value scaled(ir_builder *b, ir_value x, double by) {
  if (by == 1) return x;
  return ir_build_multiply(b, x, ir_build_splat_real(b, ir_type_of(b->m, x), by));
}

/* X . 1, of the rank of X without the dimension; one number where X is such a matrix, too. */
static ir_value sums_of(const pass_rewrite *f, ir_builder *b, ir_value x, int64_t dim) {
  levels of;
  if (!find_levels(f, x, MOST_STEPS, &of)) return ir_build_sum(b, x, &dim, 1);
  const ir_type_data *t = ir_type_at(f->m, x);
  double sum = of.on + (double)(t->dims[0] - 1) * of.off;
  return ir_build_splat_real(b, ir_tensor(f->m, t->dtype, 1, t->dims), sum);
}

/* b (X . 1), for every row or column of the result. */
static ir_value spread_sums(const pass_rewrite *f, ir_builder *b, ir_value x, int64_t dim,
                            bool to_front, double by, ir_type type) {
  int64_t dims[IR_MAX_RANK];
  int32_t rank = ir_type_at(b->m, x)->rank;
  for (int32_t d = 0; d + 1 < rank; d++) dims[d] = d + to_front;
  return ir_build_broadcast(b, scaled(b, sums_of(f, b, x, dim), by), type, dims);
}

static ir_value centred(const pass_rewrite *f, ir_builder *b, ir_op dot, const ir_dot_numbers *n,
                        uint32_t side, levels of) {
  ir_module *m = b->m;
  ir_value x = ir_operand(m, dot, 1 - side);
  ir_type type = ir_type_of(m, ir_result(m, dot, 0));
  int64_t dim = ir_dot_contract(n, 1 - side).at[0];
  bool to_front = side == 0;
  int32_t last = ir_type_at(m, x)->rank - 1;
  ir_value own = IR_NONE, rest = IR_NONE;
  if (of.on != of.off)
    own = scaled(b, pass_build_moved(b, x, dim, to_front ? 0 : last), of.on - of.off);
  if (of.off != 0 || !own) rest = spread_sums(f, b, x, dim, to_front, of.off, type);
  return !rest ? own : !own ? rest : ir_build_add(b, own, rest);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_dot_numbers n;
  if (ir_kind_of(f->m, op) != IR_OP_DOT_GENERAL || !is_plain(f, op, &n)) return false;
  for (uint32_t side = 0; side < 2; side++) {
    ir_value matrix = ir_operand(f->m, op, side);
    levels of;
    if (ir_value_bytes(f->m, matrix) <= f->small_bytes ||
        !find_levels(f, matrix, MOST_STEPS, &of) || !isfinite(of.on) || !isfinite(of.off))
      continue;
    return pass_stand_in(f->m, f->map, op, centred(f, &f->b, op, &n, side, of));
  }
  return false;
}

const pass pass_centre = {"centre", .replace = replace};
