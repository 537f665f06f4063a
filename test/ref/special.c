/* Special functions that the C library lacks, in double, from their defining series. Poles and
 * domains as in the CHLO decompositions. */
#include <math.h>

#include "ref/eval.h"

/* B_2k */
static const double bernoulli[] = {1.0 / 6,       -1.0 / 30,      1.0 / 42, -1.0 / 30,
                                   5.0 / 66,      -691.0 / 2730,  7.0 / 6,  -3617.0 / 510,
                                   43867.0 / 798, -174611.0 / 330};
enum { N_BERNOULLI = sizeof bernoulli / sizeof *bernoulli };

/* Below 1/2 by reflection, up to 10 by recurrence, then log x - 1/2x - sum B_2k / (2k x^2k). NaN at
 * the poles 0, -1, ... */
double ref_digamma(double x) {
  if (isnan(x) || (x <= 0 && x == floor(x))) return NAN;
  if (isinf(x)) return x;
  if (x < 0.5) return ref_digamma(1 - x) - REF_PI / tan(REF_PI * (x - floor(x + 0.5)));
  double sum = 0;
  for (; x < 10; x++) sum -= 1 / x;
  double power = 1 / (x * x), factor = power;
  sum += log(x) - 0.5 / x;
  for (int k = 0; k < N_BERNOULLI; k++, factor *= power)
    sum -= bernoulli[k] / (2 * (k + 1)) * factor;
  return sum;
}

/* Hurwitz zeta by Euler-Maclaurin from the first a = q + n >= 10:
 * sum (q + j)^-s + a^(1-s) / (s - 1) + a^-s / 2 + sum B_2k / (2k)! s (s + 1) .. (s + 2k - 2) a^(1 -
 * s - 2k) */
static double zeta_sum(double s, double q) {
  enum { MOST_TERMS = 100000 };
  double sum = 0, a = q;
  for (int j = 0; a < 10 && j < MOST_TERMS; j++, a++) sum += pow(a, -s);
  double term = pow(a, -s), factor = s * term / a / 2; /* s a^(-s-1) / 2! */
  sum += term * a / (s - 1) + term / 2;
  for (int k = 0; k < N_BERNOULLI && factor != 0; k++) {
    sum += bernoulli[k] * factor;
    double m = 2 * (k + 1);
    factor *= (s + m - 1) * (s + m) / ((m + 1) * (m + 2)) / (a * a);
  }
  return sum;
}

double ref_zeta(double s, double q) {
  if (isnan(s) || isnan(q) || s < 1) return NAN;
  if (s == 1) return INFINITY;
  bool is_int = s == floor(s);
  if (q <= 0 && q == floor(q)) return is_int && fmod(s, 2) == 0 ? INFINITY : NAN;
  if (q <= 0 && !is_int) return NAN;
  if (isinf(q)) return 0;
  return zeta_sum(s, q);
}

/* The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x). */
double ref_polygamma(double n, double x) {
  if (!(n >= 0) || n != floor(n)) return NAN;
  if (n == 0) return ref_digamma(x);
  return (fmod(n, 2) == 1 ? 1 : -1) * exp(lgamma(n + 1)) * ref_zeta(n + 1, x);
}

/* exp(-|x|) I_1(x): the power series (all terms of one sign) up to 40, then the asymptotic one. */
double ref_bessel_i1e(double x) {
  double z = fabs(x), sum;
  if (isnan(x)) return x;
  if (z <= 40) {
    double term = z / 2;
    sum = term;
    for (int k = 1; term > 1e-18 * sum; k++) sum += term *= z * z / 4 / ((double)k * (k + 1));
    return copysign(sum * exp(-z), x);
  }
  double term = 1;
  sum = 1;
  for (int k = 1; k < 30 && fabs(term) > 1e-18; k++)
    sum += term *= -(4 - (2.0 * k - 1) * (2.0 * k - 1)) / (k * 8 * z);
  return copysign(sum / sqrt(2 * REF_PI * z), x);
}

/* Winitzki's approximation, then Halley's steps; on erfc where erf is flat. */
double ref_erf_inv(double x) {
  double z = fabs(x);
  if (!(z < 1)) return z == 1 ? copysign(INFINITY, x) : NAN;
  double l = log1p(-z * z), b = 2 / (REF_PI * 0.147) + l / 2, y = sqrt(sqrt(b * b - l / 0.147) - b);
  if (z < 0.1) y = z / REF_2_SQRT_PI;
  for (int i = 0; i < 4 && y > 0; i++) {
    double error = z > 0.5 ? (1 - z) - erfc(y) : erf(y) - z;
    double step = error / (REF_2_SQRT_PI * exp(-y * y));
    y -= step / (1 + y * step);
  }
  return copysign(y, x);
}
