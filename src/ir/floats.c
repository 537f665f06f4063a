#include "ir/floats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum extremes { IEEE, NAN_ONLY, NAN_IS_MINUS_ZERO, FINITE, EXPONENT_ONLY } extremes;

typedef struct format {
  int exponent_bits, mantissa_bits, bias;
  extremes extremes;
} format;

static const format formats[IR_DTYPE_COUNT] = {
    [IR_F4E2M1FN] = {2, 1, 1, FINITE},
    [IR_F6E2M3FN] = {2, 3, 1, FINITE},
    [IR_F6E3M2FN] = {3, 2, 3, FINITE},
    [IR_F8E3M4] = {3, 4, 3, IEEE},
    [IR_F8E4M3] = {4, 3, 7, IEEE},
    [IR_F8E4M3FN] = {4, 3, 7, NAN_ONLY},
    [IR_F8E4M3FNUZ] = {4, 3, 8, NAN_IS_MINUS_ZERO},
    [IR_F8E4M3B11FNUZ] = {4, 3, 11, NAN_IS_MINUS_ZERO},
    [IR_F8E5M2] = {5, 2, 15, IEEE},
    [IR_F8E5M2FNUZ] = {5, 2, 16, NAN_IS_MINUS_ZERO},
    [IR_F8E8M0FNU] = {8, 0, 127, EXPONENT_ONLY},
    [IR_BF16] = {8, 7, 127, IEEE},
    [IR_F16] = {5, 10, 15, IEEE},
    [IR_F32] = {8, 23, 127, IEEE},
    [IR_F64] = {11, 52, 1023, IEEE},
};

int ir_float_width(ir_dtype dtype) {
  const format *f = &formats[dtype];
  return f->exponent_bits + f->mantissa_bits + (f->extremes != EXPONENT_ONLY);
}

/* Bits of the largest number, without sign. */
static uint64_t largest(const format *f) {
  uint64_t all = ((uint64_t)1 << (f->exponent_bits + f->mantissa_bits)) - 1;
  if (f->extremes == IEEE) return all - ((uint64_t)1 << f->mantissa_bits);
  return f->extremes == NAN_ONLY || f->extremes == EXPONENT_ONLY ? all - 1 : all;
}

static uint64_t nan_bits(const format *f) {
  switch (f->extremes) {
    case IEEE: return largest(f) + 1 + ((uint64_t)1 << (f->mantissa_bits - 1));
    case NAN_IS_MINUS_ZERO: return (uint64_t)1 << (f->exponent_bits + f->mantissa_bits);
    case FINITE: return largest(f);
    default: return largest(f) + 1;
  }
}

static uint64_t overflow_bits(const format *f, uint64_t sign) {
  switch (f->extremes) {
    case IEEE: return sign | (largest(f) + 1);
    case FINITE: return sign | largest(f);
    case NAN_IS_MINUS_ZERO: return nan_bits(f);
    default: return sign | nan_bits(f);
  }
}

/* Powers of two only; what lies in the middle goes up, zero to the smallest. */
static uint64_t exponent_bits(const format *f, double value) {
  int e;
  double m = frexp(fabs(value), &e); /* [0.5, 1) */
  if (value == 0) return 0;
  int64_t field = (int64_t)e - 1 + f->bias + (m >= 0.75);
  return field < 0 ? 0 : field > (int64_t)largest(f) ? nan_bits(f) : (uint64_t)field;
}

uint64_t ir_float_bits(ir_dtype dtype, double value) {
  const format *f = &formats[dtype];
  uint64_t sign = signbit(value) ? (uint64_t)1 << (f->exponent_bits + f->mantissa_bits) : 0;
  if (isnan(value))
    return f->extremes == NAN_IS_MINUS_ZERO || f->extremes == EXPONENT_ONLY ? nan_bits(f)
                                                                            : sign | nan_bits(f);
  if (f->extremes == EXPONENT_ONLY) return isinf(value) ? nan_bits(f) : exponent_bits(f, value);
  if (isinf(value)) return overflow_bits(f, sign);
  if (value == 0) return f->extremes == NAN_IS_MINUS_ZERO ? 0 : sign;
  int e;
  frexp(value, &e);
  int scale =
      (e - 1 > 1 - f->bias ? e - 1 : 1 - f->bias) - f->mantissa_bits; /* of the last mantissa bit */
  double rounded = nearbyint(ldexp(fabs(value), -scale));
  uint64_t mantissa = (uint64_t)rounded, unit = (uint64_t)1 << f->mantissa_bits;
  uint64_t bits = mantissa < unit
                      ? mantissa
                      : ((uint64_t)(scale + f->mantissa_bits + f->bias) << f->mantissa_bits) +
                            (mantissa - unit);
  if (bits > largest(f)) return overflow_bits(f, sign);
  return bits == 0 && f->extremes == NAN_IS_MINUS_ZERO ? 0 : sign | bits;
}

double ir_float_value(ir_dtype dtype, uint64_t bits) {
  const format *f = &formats[dtype];
  int width = f->exponent_bits + f->mantissa_bits;
  uint64_t magnitude = bits & (((uint64_t)1 << width) - 1);
  if (f->extremes == EXPONENT_ONLY)
    return magnitude > largest(f) ? NAN : ldexp(1.0, (int)magnitude - f->bias);
  bool negative = bits >> width & 1;
  if (f->extremes == NAN_IS_MINUS_ZERO && negative && magnitude == 0) return NAN;
  double value;
  if (magnitude > largest(f)) {
    value = f->extremes == IEEE && magnitude == largest(f) + 1 ? INFINITY : NAN;
  } else {
    uint64_t unit = (uint64_t)1 << f->mantissa_bits, mantissa = magnitude & (unit - 1);
    int exponent = (int)(magnitude >> f->mantissa_bits);
    if (exponent > 0) mantissa += unit;
    value = ldexp((double)mantissa, (exponent > 0 ? exponent : 1) - f->bias - f->mantissa_bits);
  }
  return negative ? -value : value;
}

/* The C library writes the locale's decimal point: whatever is between the first two digits. */
static void plain_point(char *text) {
  char *s = text + (*text == '-') + 1, *rest = s;
  while (*rest < '0' || *rest > '9') rest++;
  *s = '.';
  memmove(s + 1, rest, strlen(rest) + 1);
}

void ir_float_text(ir_dtype dtype, uint64_t bits, char out_text[IR_FLOAT_TEXT]) {
  double value = ir_float_value(dtype, bits);
  bool wide = dtype == IR_F64 || dtype == IR_F32 || dtype == IR_F16 || dtype == IR_BF16;
  if (!wide || !isfinite(value)) {
    snprintf(out_text, IR_FLOAT_TEXT, "0x%0*llX", (int)ir_dtype_bytes(dtype) * 2,
             (unsigned long long)bits);
    return;
  }
  snprintf(out_text, IR_FLOAT_TEXT, "%.6e", value);
  double read = strtod(out_text, NULL);
  if (read != value && ir_float_bits(dtype, read) != bits)
    snprintf(out_text, IR_FLOAT_TEXT, dtype == IR_F64 ? "%.16e" : "%.8e", value);
  plain_point(out_text);
}
