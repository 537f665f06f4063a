/* Elements of every type as ref_scalar: loads are exact, stores round once (floats to nearest even)
 * or wrap (integers). Conversions follow XLA CPU: floats to integers saturate and NaN gives 0; the
 * 16-bit floats are reached by way of f32; what f4 and f6 can't hold is clamped, NaN gives -0. */
#include <math.h>

#include "ir/floats.h"
#include "ref/eval.h"

int ref_bits(ir_dtype dtype) {
  switch (dtype) {
    case IR_I1: return 1;
    case IR_I2:
    case IR_UI2: return 2;
    case IR_I4:
    case IR_UI4: return 4;
    default:
      return ir_dtype_class_of(dtype) == IR_CLASS_FLOAT ? ir_float_width(dtype)
                                                        : (int)(8 * ir_dtype_bytes(dtype));
  }
}

/* ---- bit patterns ---- */
static uint64_t low_bits(uint64_t x, int bits) {
  return bits == 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

static int64_t sign_extended(uint64_t x, int bits) {
  uint64_t sign = (uint64_t)1 << (bits - 1);
  return (int64_t)((low_bits(x, bits) ^ sign) - sign);
}

static uint64_t f32_pattern(double x) {
  float value = (float)x;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double f32_value(uint64_t pattern) {
  uint32_t bits = (uint32_t)pattern;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double float_value(ir_dtype dtype, uint64_t bits) {
  double x;
  switch (dtype) {
    case IR_F64: return memcpy(&x, &bits, sizeof x), x;
    case IR_F32: return f32_value(bits);
    case IR_BF16: return f32_value(bits << 16);
    default: return ir_float_value(dtype, low_bits(bits, ir_float_width(dtype)));
  }
}

static uint64_t float_pattern(ir_dtype dtype, double x) {
  uint64_t bits;
  switch (dtype) {
    case IR_F64: return memcpy(&bits, &x, sizeof bits), bits;
    case IR_F32: return f32_pattern(x);
    default: return ir_float_bits(dtype, x);
  }
}

ref_scalar ref_from_pattern(ir_dtype dtype, uint64_t bits) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_BOOL: return (ref_scalar){.i = bits != 0};
    case IR_CLASS_INT: return (ref_scalar){.i = sign_extended(bits, ref_bits(dtype))};
    case IR_CLASS_UINT: return (ref_scalar){.u = low_bits(bits, ref_bits(dtype))};
    case IR_CLASS_FLOAT: return (ref_scalar){.f = float_value(dtype, bits)};
    default: return (ref_scalar){.z = CMPLX(f32_value(bits), f32_value(bits >> 32))};
  }
}

uint64_t ref_pattern(ir_dtype dtype, ref_scalar s) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_BOOL: return s.i & 1;
    case IR_CLASS_INT:
    case IR_CLASS_UINT: return low_bits(s.u, ref_bits(dtype));
    case IR_CLASS_FLOAT: return float_pattern(dtype, s.f);
    default: return f32_pattern(creal(s.z)) | f32_pattern(cimag(s.z)) << 32;
  }
}

/* ---- loads and stores ---- */
ref_scalar ref_load(const ref_tensor *t, int64_t i) {
  size_t bytes = (size_t)ir_dtype_bytes(t->dtype);
  const char *p = (const char *)t->data + (size_t)i * bytes;
  ref_scalar s = {0};
  if (t->dtype == IR_C128) return memcpy(&s.z, p, bytes), s;
  uint64_t bits = 0;
  memcpy(&bits, p, bytes); /* little-endian hosts only, as all of weir */
  return ref_from_pattern(t->dtype, bits);
}

void ref_store(ref_tensor *t, int64_t i, ref_scalar s) {
  size_t bytes = (size_t)ir_dtype_bytes(t->dtype);
  char *p = (char *)t->data + (size_t)i * bytes;
  if (t->dtype == IR_C128) {
    memcpy(p, &s.z, bytes);
    return;
  }
  uint64_t pattern = ref_pattern(t->dtype, s);
  if (ir_dtype_class_of(t->dtype) == IR_CLASS_INT)
    pattern = (uint64_t)sign_extended(pattern, ref_bits(t->dtype));
  memcpy(p, &pattern, bytes);
}

int64_t ref_load_index(const ref_tensor *t, int64_t i) {
  ref_scalar s = ref_load(t, i);
  return ir_dtype_class_of(t->dtype) == IR_CLASS_UINT && s.u > INT64_MAX ? INT64_MAX : s.i;
}

void ref_copy_element(ref_tensor *to, int64_t i, const ref_tensor *from, int64_t j) {
  size_t bytes = (size_t)ir_dtype_bytes(to->dtype);
  memcpy((char *)to->data + (size_t)i * bytes, (const char *)from->data + (size_t)j * bytes, bytes);
}

ref_scalar *ref_unpack(arena *a, const ref_tensor *t) {
  int64_t n = ref_element_count(t);
  ref_scalar *s = ARENA_ARRAY(a, ref_scalar, (size_t)n);
  for (int64_t i = 0; i < n; i++) s[i] = ref_load(t, i);
  return s;
}

void ref_pack(ref_tensor *t, const ref_scalar *s) {
  int64_t n = ref_element_count(t);
  for (int64_t i = 0; i < n; i++) ref_store(t, i, s[i]);
}

/* ---- conversions ---- */
static int64_t int_from_real(ir_dtype to, double x) {
  int bits = ref_bits(to);
  if (isnan(x)) return 0;
  if (ir_dtype_class_of(to) == IR_CLASS_UINT) {
    if (x <= -1) return 0;
    return (int64_t)(x >= ldexp(1, bits) ? low_bits(UINT64_MAX, bits) : (uint64_t)(x < 0 ? 0 : x));
  }
  if (x >= ldexp(1, bits - 1)) return (int64_t)low_bits(UINT64_MAX, bits - 1);
  if (x <= -ldexp(1, bits - 1)) return sign_extended((uint64_t)1 << (bits - 1), bits);
  return (int64_t)x;
}

/* In the format that XLA takes on the way to `to`. */
static double real_from_int(ir_dtype to, bool is_unsigned, ref_scalar s) {
  if (to == IR_F64 || to == IR_C128) return is_unsigned ? (double)s.u : (double)s.i;
  return is_unsigned ? (float)s.u : (float)s.i;
}

static double real_from_real(ir_dtype to, double x) {
  switch (to) {
    case IR_BF16:
    case IR_F16: return (float)x;
    case IR_F4E2M1FN:
    case IR_F6E2M3FN:
    case IR_F6E3M2FN: return isnan(x) ? -0.0 : x;
    case IR_F8E8M0FNU: return x > 0 ? x : NAN; /* it has neither zero nor signs */
    default: return x;
  }
}

ref_scalar ref_convert_scalar(ir_dtype from, ir_dtype to, ref_scalar s) {
  ir_dtype_class cls = ir_dtype_class_of(from);
  double real = 0, imag = 0;
  if (cls == IR_CLASS_FLOAT) real = s.f;
  else if (cls == IR_CLASS_COMPLEX) real = creal(s.z), imag = cimag(s.z);
  bool is_real = cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX;
  switch (ir_dtype_class_of(to)) {
    case IR_CLASS_BOOL: return (ref_scalar){.i = is_real ? real != 0 || imag != 0 : s.i != 0};
    case IR_CLASS_INT:
    case IR_CLASS_UINT: return is_real ? (ref_scalar){.i = int_from_real(to, real)} : s;
    default: break;
  }
  if (!is_real) real = real_from_int(to, cls == IR_CLASS_UINT, s);
  if (ir_dtype_class_of(to) == IR_CLASS_COMPLEX) return (ref_scalar){.z = CMPLX(real, imag)};
  return (ref_scalar){.f = real_from_real(to, real)};
}
