/* Elementwise ops. Float arithmetic is done in double and rounded by the store: for + - * / sqrt of
 * f32 and narrower that equals rounding once, for the others it is closer to the truth than XLA's
 * approximations. Integer edge cases as in XLA CPU: x / 0 = -1, INT_MIN / -1 = INT_MIN, x % 0 = x,
 * shifts by the width or more give 0 (or the sign). On i1, add is `or` and multiply is `and`.
 * Sources: StableHLO specification; XLA's elemental_ir_emitter. */
#include <math.h>

#include "ref/eval.h"

/* ---- one operand ---- */
static double unary_real(ir_kind kind, double x) {
  switch (kind) {
    case IR_OP_ABS: return fabs(x);
    case IR_OP_CBRT: return cbrt(x);
    case IR_OP_CEIL: return ceil(x);
    case IR_OP_COSINE: return cos(x);
    case IR_OP_EXPONENTIAL: return exp(x);
    case IR_OP_EXPM1: return expm1(x);
    case IR_OP_FLOOR: return floor(x);
    case IR_OP_LOG: return log(x);
    case IR_OP_LOG1P: return log1p(x);
    case IR_OP_LOGISTIC: return 1 / (1 + exp(-x));
    case IR_OP_NEGATE: return -x;
    case IR_OP_ROUND_AFZ: return round(x);
    case IR_OP_ROUND_EVEN: return nearbyint(x);
    case IR_OP_RSQRT: return 1 / sqrt(x);
    case IR_OP_SIGN: return isnan(x) || x == 0 ? x : copysign(1, x);
    case IR_OP_SINE: return sin(x);
    case IR_OP_SQRT: return sqrt(x);
    case IR_OP_TAN: return tan(x);
    case IR_OP_TANH: return tanh(x);
    default: return NAN;
  }
}

static ref_scalar unary_int(ir_kind kind, ir_dtype dtype, ref_scalar x) {
  bool is_unsigned = ir_dtype_class_of(dtype) == IR_CLASS_UINT;
  uint64_t pattern = ref_pattern(dtype, x);
  switch (kind) {
    case IR_OP_ABS: return (ref_scalar){.u = !is_unsigned && x.i < 0 ? -x.u : x.u};
    case IR_OP_NEGATE: return (ref_scalar){.u = -x.u};
    case IR_OP_NOT: return (ref_scalar){.u = ~x.u};
    case IR_OP_SIGN: return (ref_scalar){.i = is_unsigned ? x.u > 0 : (x.i > 0) - (x.i < 0)};
    case IR_OP_POPCNT: return (ref_scalar){.i = __builtin_popcountll(pattern)};
    case IR_OP_COUNT_LEADING_ZEROS:
      return (ref_scalar){.i = pattern ? __builtin_clzll(pattern) - (64 - ref_bits(dtype))
                                       : ref_bits(dtype)};
    default: return x; /* rounding an integer; the verifier lets nothing else in */
  }
}

static ref_scalar unary_scalar(ir_kind kind, ir_dtype dtype, ref_scalar x) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_FLOAT: return (ref_scalar){.f = unary_real(kind, x.f)};
    case IR_CLASS_COMPLEX: return (ref_scalar){.z = ref_complex_unary(kind, x.z)};
    default: return unary_int(kind, dtype, x);
  }
}

weir_status ref_unary(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  ir_kind kind = ir_kind_of(f->m, op);
  ir_dtype_class cls = ir_dtype_class_of(x->dtype);
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) {
    ref_scalar s = ref_load(x, i);
    if (kind == IR_OP_IS_FINITE) s.i = cls == IR_CLASS_FLOAT ? isfinite(s.f) : 1;
    else if (kind == IR_OP_ABS && cls == IR_CLASS_COMPLEX) s.f = hypot(creal(s.z), cimag(s.z));
    else s = unary_scalar(kind, x->dtype, s);
    ref_store(y, i, s);
  }
  return WEIR_OK;
}

weir_status ref_real_imag(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  bool is_real = ir_kind_of(f->m, op) == IR_OP_REAL;
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) {
    ref_scalar s = ref_load(x, i);
    if (ir_dtype_class_of(x->dtype) == IR_CLASS_COMPLEX) s.f = is_real ? creal(s.z) : cimag(s.z);
    else if (!is_real) s.f = 0;
    ref_store(y, i, s);
  }
  return WEIR_OK;
}

weir_status ref_convert(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++)
    if (x->dtype == y->dtype) ref_copy_element(y, i, x, i);
    else ref_store(y, i, ref_convert_scalar(x->dtype, y->dtype, ref_load(x, i)));
  return WEIR_OK;
}

/* ---- reduce_precision: on the bits, as XLA does it; what the smaller exponent can't reach becomes
 * infinity or zero, never subnormal ---- */
typedef struct float_layout {
  int exponent_bits, mantissa_bits;
} float_layout;

static float_layout layout_of(ir_dtype dtype) {
  switch (dtype) {
    case IR_F64: return (float_layout){11, 52};
    case IR_F32: return (float_layout){8, 23};
    case IR_BF16: return (float_layout){8, 7};
    case IR_F16: return (float_layout){5, 10};
    default: return (float_layout){0, 0};
  }
}

static uint64_t reduced(uint64_t bits, float_layout from, int64_t exponent_bits,
                        int64_t mantissa_bits) {
  uint64_t one = 1, sign = bits & one << (from.exponent_bits + from.mantissa_bits), x = bits ^ sign;
  uint64_t infinity = ((one << from.exponent_bits) - 1) << from.mantissa_bits;
  if (x >= infinity) return bits;
  if (mantissa_bits < from.mantissa_bits) {
    int drop = from.mantissa_bits - (int)mantissa_bits;
    uint64_t last = x >> drop & 1;
    x = (x + last + (one << (drop - 1)) - 1) & ~((one << drop) - 1);
  }
  if (exponent_bits < from.exponent_bits) {
    int64_t bias = ((int64_t)1 << (from.exponent_bits - 1)) - 1,
            narrow = ((int64_t)1 << (exponent_bits - 1)) - 1;
    int64_t exponent = (int64_t)(x >> from.mantissa_bits);
    if (exponent > bias + narrow) x = infinity;
    else if (exponent <= bias - narrow) x = 0;
  }
  return sign | x;
}

weir_status ref_reduce_precision(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  int64_t exponent_bits = ir_op_int(f->m, op, "exponent_bits", 0),
          mantissa_bits = ir_op_int(f->m, op, "mantissa_bits", -1);
  float_layout layout = layout_of(x->dtype);
  if (!layout.exponent_bits)
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "of %s", ir_dtype_name(x->dtype));
  if (exponent_bits < 1 || mantissa_bits < 0)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "exponent_bits or mantissa_bits missing or too small");
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) {
    uint64_t bits = 0;
    size_t bytes = (size_t)ir_dtype_bytes(x->dtype);
    memcpy(&bits, (const char *)x->data + (size_t)i * bytes, bytes);
    bits = reduced(bits, layout, exponent_bits, mantissa_bits);
    memcpy((char *)y->data + (size_t)i * bytes, &bits, bytes);
  }
  return WEIR_OK;
}

/* ---- two operands ---- */
static double maximum(double x, double y) {
  if (isnan(x) || isnan(y)) return NAN;
  return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static double minimum(double x, double y) {
  if (isnan(x) || isnan(y)) return NAN;
  return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static double binary_real(ir_kind kind, double x, double y) {
  switch (kind) {
    case IR_OP_ADD: return x + y;
    case IR_OP_SUBTRACT: return x - y;
    case IR_OP_MULTIPLY: return x * y;
    case IR_OP_DIVIDE: return x / y;
    case IR_OP_REMAINDER: return fmod(x, y);
    case IR_OP_MAXIMUM: return maximum(x, y);
    case IR_OP_MINIMUM: return minimum(x, y);
    case IR_OP_POWER: return y == 2 ? x * x : pow(x, y); /* a square is rounded once, as by XLA */
    case IR_OP_ATAN2: return atan2(x, y);
    default: return NAN;
  }
}

/* By squaring, modulo 2^64; a negative exponent leaves only 1 and -1 standing. */
static uint64_t int_power(bool is_unsigned, ref_scalar x, ref_scalar y) {
  if (!is_unsigned && y.i < 0) return x.i == 1 ? 1 : x.i == -1 ? (y.i & 1 ? UINT64_MAX : 1) : 0;
  uint64_t result = 1, base = x.u;
  for (uint64_t e = y.u; e; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return result;
}

static uint64_t int_divide(bool is_unsigned, ref_scalar x, ref_scalar y) {
  if (y.u == 0) return UINT64_MAX;
  if (is_unsigned) return x.u / y.u;
  return y.i == -1 ? -x.u : (uint64_t)(x.i / y.i);
}

static uint64_t int_remainder(bool is_unsigned, ref_scalar x, ref_scalar y) {
  if (y.u == 0) return x.u;
  if (is_unsigned) return x.u % y.u;
  return y.i == -1 ? 0 : (uint64_t)(x.i % y.i);
}

static uint64_t shifted(ir_kind kind, ir_dtype dtype, ref_scalar x, ref_scalar y) {
  uint64_t by = ref_pattern(dtype, y), width = (uint64_t)ref_bits(dtype);
  switch (kind) {
    case IR_OP_SHIFT_LEFT: return by >= width ? 0 : x.u << by;
    case IR_OP_SHIFT_RIGHT_LOGIC: return by >= width ? 0 : ref_pattern(dtype, x) >> by;
    default: break; /* arithmetic, also of unsigned types: the top bit is the sign */
  }
  int64_t value = (int64_t)(x.u << (64 - width)) >> (64 - width);
  return (uint64_t)(by >= width ? value >> 63 : value >> by);
}

static uint64_t binary_int(ir_kind kind, ir_dtype dtype, ref_scalar x, ref_scalar y) {
  bool is_unsigned = ir_dtype_class_of(dtype) == IR_CLASS_UINT;
  bool less = is_unsigned ? x.u < y.u : x.i < y.i;
  switch (kind) {
    case IR_OP_ADD: return x.u + y.u;
    case IR_OP_SUBTRACT: return x.u - y.u;
    case IR_OP_MULTIPLY: return x.u * y.u;
    case IR_OP_AND: return x.u & y.u;
    case IR_OP_OR: return x.u | y.u;
    case IR_OP_XOR: return x.u ^ y.u;
    case IR_OP_MAXIMUM: return less ? y.u : x.u;
    case IR_OP_MINIMUM: return less ? x.u : y.u;
    case IR_OP_DIVIDE: return int_divide(is_unsigned, x, y);
    case IR_OP_REMAINDER: return int_remainder(is_unsigned, x, y);
    case IR_OP_POWER: return int_power(is_unsigned, x, y);
    default: return shifted(kind, dtype, x, y);
  }
}

static uint64_t binary_bool(ir_kind kind, ref_scalar x, ref_scalar y) {
  switch (kind) {
    case IR_OP_ADD:
    case IR_OP_OR:
    case IR_OP_MAXIMUM: return x.u | y.u;
    case IR_OP_MULTIPLY:
    case IR_OP_AND:
    case IR_OP_MINIMUM: return x.u & y.u;
    default: return x.u ^ y.u;
  }
}

ref_scalar ref_binary_scalar(ir_kind kind, ir_dtype dtype, ref_scalar x, ref_scalar y) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_FLOAT: return (ref_scalar){.f = binary_real(kind, x.f, y.f)};
    case IR_CLASS_COMPLEX: return (ref_scalar){.z = ref_complex_binary(kind, x.z, y.z)};
    case IR_CLASS_BOOL: return (ref_scalar){.u = binary_bool(kind, x, y)};
    default: return (ref_scalar){.u = binary_int(kind, dtype, x, y)};
  }
}

weir_status ref_binary(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *y = ref_operand(f, op, 1);
  ir_kind kind = ir_kind_of(f->m, op);
  ref_tensor *z = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++)
    ref_store(z, i, ref_binary_scalar(kind, x->dtype, ref_load(x, i), ref_load(y, i)));
  return WEIR_OK;
}

weir_status ref_complex(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *y = ref_operand(f, op, 1);
  ref_tensor *z = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++)
    ref_store(z, i, (ref_scalar){.z = CMPLX(ref_load(x, i).f, ref_load(y, i).f)});
  return WEIR_OK;
}

/* ---- comparisons ---- */
static bool holds(ir_direction direction, bool less, bool equal, bool greater) {
  switch (direction) {
    case IR_EQ: return equal;
    case IR_NE: return !equal;
    case IR_LT: return less;
    case IR_LE: return less || equal;
    case IR_GT: return greater;
    default: return greater || equal;
  }
}

/* -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN. */
static int64_t total_order_key(ir_dtype dtype, ref_scalar x) {
  uint64_t bits = ref_pattern(dtype, x);
  int width = ref_bits(dtype);
  int64_t key = (int64_t)(bits << (64 - width)) >> (64 - width);
  return key < 0 ? key ^ INT64_MAX : key;
}

bool ref_compare_scalar(ir_dtype dtype, ir_direction direction, ir_compare_type type, ref_scalar x,
                        ref_scalar y) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_COMPLEX:
      return holds(direction, false, creal(x.z) == creal(y.z) && cimag(x.z) == cimag(y.z), false);
    case IR_CLASS_FLOAT:
      if (type != IR_COMPARE_TOTALORDER) return holds(direction, x.f<y.f, x.f == y.f, x.f> y.f);
      x.i = total_order_key(dtype, x), y.i = total_order_key(dtype, y);
      return holds(direction, x.i<y.i, x.i == y.i, x.i> y.i);
    case IR_CLASS_INT: return holds(direction, x.i<y.i, x.i == y.i, x.i> y.i);
    default: return holds(direction, x.u<y.u, x.u == y.u, x.u> y.u);
  }
}

weir_status ref_compare(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *y = ref_operand(f, op, 1);
  ir_direction direction;
  ir_compare_type type;
  if (!ir_compare_kind(f->m, op, &direction, &type))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "comparison_direction does not read");
  ref_tensor *z = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++)
    ref_store(z, i,
              (ref_scalar){.i = ref_compare_scalar(x->dtype, direction, type, ref_load(x, i),
                                                   ref_load(y, i))});
  return WEIR_OK;
}

/* ---- three operands ---- */
weir_status ref_select(ref_frame *f, ir_op op) {
  const ref_tensor *pred = ref_operand(f, op, 0), *x = ref_operand(f, op, 1),
                   *y = ref_operand(f, op, 2);
  ref_tensor *z = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++)
    ref_copy_element(z, i, ref_load(pred, pred->rank ? i : 0).i ? x : y, i);
  return WEIR_OK;
}

weir_status ref_clamp(ref_frame *f, ir_op op) {
  const ref_tensor *low = ref_operand(f, op, 0), *x = ref_operand(f, op, 1),
                   *high = ref_operand(f, op, 2);
  ref_tensor *z = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(z); i < n; i++) {
    ref_scalar s = ref_binary_scalar(IR_OP_MAXIMUM, x->dtype, ref_load(x, i),
                                     ref_load(low, low->rank ? i : 0));
    ref_store(z, i,
              ref_binary_scalar(IR_OP_MINIMUM, x->dtype, s, ref_load(high, high->rank ? i : 0)));
  }
  return WEIR_OK;
}
