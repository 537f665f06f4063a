/* Complex arithmetic, in double. Products and quotients are the school formulas, as in XLA (no
 * rescue of infinities from NaN as C's own operators do); functions are the C library's. */
#include <math.h>

#include "ref/eval.h"

double complex ref_complex_mul(double complex x, double complex y) {
  double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
  return CMPLX(a * c - b * d, a * d + b * c);
}

/* Smith's division, with XLA's results for zero and infinite divisors. */
double complex ref_complex_div(double complex x, double complex y) {
  double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
  if (c == 0 && d == 0) {
    double big = copysign(INFINITY, c);
    return CMPLX(big * a, big * b);
  }
  if (fabs(d) <= fabs(c)) {
    double r = isinf(c) && isinf(d) ? copysign(1, c) * copysign(1, d) : d / c, den = c + d * r;
    return CMPLX((a + b * r) / den, (b - a * r) / den);
  }
  double r = c / d, den = d + c * r;
  return CMPLX((a * r + b) / den, (b * r - a) / den);
}

static double complex cube_root(double complex z) { return z == 0 ? z : cpow(z, 1.0 / 3); }

/* exp(z) - 1 = expm1(x) cos y - 2 sin^2(y/2) + i exp(x) sin y: no digits lost near zero. */
static double complex expm1_of(double complex z) {
  double x = creal(z), y = cimag(z), s = sin(y / 2);
  double real = expm1(x) * cos(y) - 2 * s * s;
  return CMPLX(real, y == 0 ? y : exp(x) * sin(y));
}

/* log|1 + z|^2 = log1p(x (2 + x) + y^2). */
static double complex log1p_of(double complex z) {
  double x = creal(z), y = cimag(z);
  double real =
      fabs(x) < 0.5 && fabs(y) < 0.5 ? log1p(x * (2 + x) + y * y) / 2 : creal(clog(1 + z));
  return CMPLX(real, atan2(y, 1 + x));
}

static double complex sign_of(double complex z) {
  double magnitude = hypot(creal(z), cimag(z));
  return magnitude == 0 ? 0 : CMPLX(creal(z) / magnitude, cimag(z) / magnitude);
}

double complex ref_complex_unary(ir_kind kind, double complex z) {
  switch (kind) {
    case IR_OP_CBRT: return cube_root(z);
    case IR_OP_COSINE: return ccos(z);
    case IR_OP_EXPONENTIAL: return cexp(z);
    case IR_OP_EXPM1: return expm1_of(z);
    case IR_OP_LOG: return clog(z);
    case IR_OP_LOG1P: return log1p_of(z);
    case IR_OP_LOGISTIC: return ref_complex_div(1, 1 + cexp(-z));
    case IR_OP_NEGATE: return -z;
    case IR_OP_RSQRT: return ref_complex_div(1, csqrt(z));
    case IR_OP_SIGN: return sign_of(z);
    case IR_OP_SINE: return csin(z);
    case IR_OP_SQRT: return csqrt(z);
    case IR_OP_TAN: return ctan(z);
    case IR_OP_TANH: return ctanh(z);
    default: return CMPLX(NAN, NAN);
  }
}

static double complex power(double complex x, double complex y) {
  if (y == 0) return 1;
  if (x == 0) return creal(y) > 0 && cimag(y) == 0 ? 0 : cpow(x, y);
  return cexp(ref_complex_mul(y, clog(x)));
}

/* atan2(y, x) = -i log((x + iy) / sqrt(x^2 + y^2)). */
static double complex atan2_of(double complex y, double complex x) {
  double complex norm = csqrt(ref_complex_mul(x, x) + ref_complex_mul(y, y));
  return ref_complex_mul(CMPLX(0, -1),
                         clog(ref_complex_div(x + ref_complex_mul(CMPLX(0, 1), y), norm)));
}

/* By the real part, then the imaginary one. */
static bool less(double complex x, double complex y) {
  return creal(x) == creal(y) ? cimag(x) < cimag(y) : creal(x) < creal(y);
}

double complex ref_complex_binary(ir_kind kind, double complex x, double complex y) {
  switch (kind) {
    case IR_OP_ADD: return x + y;
    case IR_OP_SUBTRACT: return x - y;
    case IR_OP_MULTIPLY: return ref_complex_mul(x, y);
    case IR_OP_DIVIDE: return ref_complex_div(x, y);
    case IR_OP_POWER: return power(x, y);
    case IR_OP_ATAN2: return atan2_of(x, y);
    case IR_OP_MAXIMUM: return less(x, y) ? y : x;
    case IR_OP_MINIMUM: return less(y, x) ? y : x;
    default: return CMPLX(NAN, NAN);
  }
}
