/* CHLO ops that JAX emits: functions that XLA expands into polynomials, here from the C library and
 * special.c in double. */
#include <math.h>

#include "ref/eval.h"

double ref_chlo_unary_real(ir_kind kind, double x) {
  switch (kind) {
    case IR_OP_CHLO_ACOS: return acos(x);
    case IR_OP_CHLO_ACOSH: return acosh(x);
    case IR_OP_CHLO_ASIN: return asin(x);
    case IR_OP_CHLO_ASINH: return asinh(x);
    case IR_OP_CHLO_ATAN: return atan(x);
    case IR_OP_CHLO_ATANH: return atanh(x);
    case IR_OP_CHLO_BESSEL_I1E: return ref_bessel_i1e(x);
    case IR_OP_CHLO_CONJ: return x;
    case IR_OP_CHLO_COSH: return cosh(x);
    case IR_OP_CHLO_DIGAMMA: return ref_digamma(x);
    case IR_OP_CHLO_ERF: return erf(x);
    case IR_OP_CHLO_ERF_INV: return ref_erf_inv(x);
    case IR_OP_CHLO_ERFC: return erfc(x);
    case IR_OP_CHLO_LGAMMA: return lgamma(x);
    case IR_OP_CHLO_SINH: return sinh(x);
    case IR_OP_CHLO_SQUARE: return x * x;
    case IR_OP_CHLO_TAN: return tan(x);
    default: return NAN;
  }
}

static double complex unary_complex(ir_kind kind, double complex z) {
  switch (kind) {
    case IR_OP_CHLO_ACOS: return cacos(z);
    case IR_OP_CHLO_ACOSH: return cacosh(z);
    case IR_OP_CHLO_ASIN: return casin(z);
    case IR_OP_CHLO_ASINH: return casinh(z);
    case IR_OP_CHLO_ATAN: return catan(z);
    case IR_OP_CHLO_ATANH: return catanh(z);
    case IR_OP_CHLO_CONJ: return conj(z);
    case IR_OP_CHLO_COSH: return ccosh(z);
    case IR_OP_CHLO_SINH: return csinh(z);
    case IR_OP_CHLO_SQUARE: return ref_complex_mul(z, z);
    case IR_OP_CHLO_TAN: return ctan(z);
    default: return CMPLX(NAN, NAN);
  }
}

static bool tests_infinity(ir_kind kind, double x, bool *out) {
  switch (kind) {
    case IR_OP_CHLO_IS_INF: return *out = isinf(x), true;
    case IR_OP_CHLO_IS_NEG_INF: return *out = isinf(x) && x < 0, true;
    case IR_OP_CHLO_IS_POS_INF: return *out = isinf(x) && x > 0, true;
    default: return false;
  }
}

weir_status ref_chlo_unary(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  ir_kind kind = ir_kind_of(f->m, op);
  ir_dtype_class cls = ir_dtype_class_of(x->dtype);
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) {
    ref_scalar s = ref_load(x, i);
    bool answer = false;
    if (cls == IR_CLASS_FLOAT && tests_infinity(kind, s.f, &answer)) s.i = answer;
    else if (cls == IR_CLASS_FLOAT) s.f = ref_chlo_unary_real(kind, s.f);
    else if (cls == IR_CLASS_COMPLEX) s.z = unary_complex(kind, s.z);
    else if (kind == IR_OP_CHLO_SQUARE) s.u *= s.u;
    else return ref_error(f, op, WEIR_UNIMPLEMENTED, "of %s", ir_dtype_name(x->dtype));
    ref_store(y, i, s);
  }
  return WEIR_OK;
}

/* The next number of x's own type towards y. */
static ref_scalar next_after(ir_dtype dtype, ref_scalar x, ref_scalar y) {
  if (isnan(x.f) || isnan(y.f)) return (ref_scalar){.f = NAN};
  if (x.f == y.f) return y;
  uint64_t sign = (uint64_t)1 << (ref_bits(dtype) - 1);
  if (x.f == 0) return ref_from_pattern(dtype, (signbit(y.f) ? sign : 0) | 1);
  uint64_t bits = ref_pattern(dtype, x);
  bool away_from_zero = (x.f > 0) == (y.f > x.f);
  return ref_from_pattern(dtype, away_from_zero ? bits + 1 : bits - 1);
}

weir_status ref_chlo_binary(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *y = ref_operand(f, op, 1);
  ir_kind kind = ir_kind_of(f->m, op);
  ref_tensor *z = ref_result(f, op, 0);
  if (ir_dtype_class_of(x->dtype) != IR_CLASS_FLOAT)
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "of %s", ir_dtype_name(x->dtype));
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++) {
    ref_scalar a = ref_load(x, i), b = ref_load(y, i), s;
    if (kind == IR_OP_CHLO_NEXT_AFTER) s = next_after(x->dtype, a, b);
    else s.f = kind == IR_OP_CHLO_ZETA ? ref_zeta(a.f, b.f) : ref_polygamma(a.f, b.f);
    ref_store(z, i, s);
  }
  return WEIR_OK;
}

weir_status ref_constant_like(ref_frame *f, ir_op op) {
  ref_tensor *y = ref_result(f, op, 0);
  ir_attr a = ir_op_attr(f->m, op, "value");
  const ir_attr_data *d = a ? ir_attr_get(f->m, a) : NULL;
  if (!d || (d->kind != IR_ATTR_INT && d->kind != IR_ATTR_FLOAT))
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "its value is not one number");
  ref_scalar s = d->kind == IR_ATTR_INT
                     ? ref_convert_scalar(IR_I64, y->dtype, (ref_scalar){.i = d->integer})
                     : ref_convert_scalar(IR_F64, y->dtype, (ref_scalar){.f = d->real});
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) ref_store(y, i, s);
  return WEIR_OK;
}

/* ---- implicit broadcasting ---- */
/* x in the shape of `like`: along broadcast_dimensions if x has the lower rank, else aligned at the
 * last dimension; dimensions of 1 are stretched. */
static bool broadcast_to(ref_frame *f, ir_op op, const ref_tensor *x, const ref_tensor *like,
                         ref_tensor *out) {
  ir_ints dims;
  int64_t index[IR_MAX_RANK] = {0}, from[IR_MAX_RANK];
  if (!ref_ints_any(f, op, "broadcast_dimensions", &dims) || x->rank > like->rank) return false;
  bool mapped = x->rank < like->rank && dims.count == x->rank;
  *out = ref_tensor_new(f->arena, x->dtype, like->rank, like->dims);
  for (int64_t i = 0, n = ref_element_count(out); i < n;
       i++, ref_next(out->rank, out->dims, index)) {
    for (int32_t d = 0; d < x->rank; d++)
      from[d] = x->dims[d] == 1 ? 0 : index[mapped ? dims.at[d] : like->rank - x->rank + d];
    if (!ref_in_bounds(x, from)) return false;
    ref_copy_element(out, i, x, ref_offset(x, from));
  }
  return true;
}

weir_status ref_chlo_broadcast(ref_frame *f, ir_op op) {
  ref_tensor *z = ref_result(f, op, 0), x, y;
  ir_direction direction = IR_EQ;
  ir_compare_type type = IR_COMPARE_DEFAULT;
  ir_kind kind = ir_explicit_kind(ir_kind_of(f->m, op));
  bool compares = kind == IR_OP_COMPARE;
  if (compares && !ir_compare_kind(f->m, op, &direction, &type))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "comparison_direction does not read");
  if (ref_n_operands(f, op) != 2 || !broadcast_to(f, op, ref_operand(f, op, 0), z, &x) ||
      !broadcast_to(f, op, ref_operand(f, op, 1), z, &y))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "operands that can't be broadcast to the result");
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++) {
    ref_scalar a = ref_load(&x, i), b = ref_load(&y, i);
    ref_store(z, i,
              compares ? (ref_scalar){.i = ref_compare_scalar(x.dtype, direction, type, a, b)}
                       : ref_binary_scalar(kind, x.dtype, a, b));
  }
  return WEIR_OK;
}
