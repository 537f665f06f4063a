/* erf and erfc of f32. In: x.
 *
 * erf(x) is odd, and |x| P(x^2) / Q(x^2) up to 3.92, from where on it is 1. At 4.2 the quotient
 * exceeds 1 by more than its error, so that its bound is what comes out.
 *
 * erfc(x) is 1 - x R(x^2) below 1/2; above it exp(-x^2) t S(t), where t = 1 / (1 + 3/4 |x|), and 2
 * minus that where x is negative. What rounding x^2 loses counts as often as x^2 is large. It is
 * made up for, but where there are no fused multiply-adds.
 *
 * Errors of P / Q, R, S: 1.9e-8, 1.4e-9, 1.1e-8, relative (least squares, weighted by Lawson's
 * steps). Error of erf: 6 ulp, as XLA's; of erfc 5, XLA's 64. Results below the smallest normal
 * number are 0. f64 is the C library's.
 *
 * Source: Cody, Rational Chebyshev approximations for the error function, 1969.
 */
#include "kernel/elementwise.h"
#include "kernel/emit.h"

#define COUNT(a) ((int32_t)(sizeof(a) / sizeof *(a)))

static const double
    above[] = {0x1.20dd74p+0, 0x1.85f504p-3,  0x1.b01e9ap-5,
               0x1.ed93f8p-9, 0x1.2ab882p-12, 0x1.1326bep-19},
    below[] = {1, 0x1.011062p-1, 0x1.d36502p-4, 0x1.ea844cp-7, 0x1.30c188p-10, 0x1.3f8830p-15},
    near_zero[] = {0x1.20dd74p+0, -0x1.812732p-2, 0x1.ce24f8p-4, -0x1.b663bcp-6, 0x1.35326cp-8},
    tail[] = {0x1.b15032p-2,  0x1.b0c130p-2, 0x1.3f6c14p-2,  0x1.2a187cp-9, 0x1.05f686p-3,
              -0x1.40c562p+0, 0x1.d22698p+0, -0x1.2103d2p+0, 0x1.180d20p-2};
static const double erf_is_one = 4.2, erfc_is_zero = 10.1, is_near = 0.5, tail_slope = 0.75;

typedef struct numbers { /* vectors, or single ones */
  kernel_emitter *e;
  int32_t lanes;
  const char *type;
} numbers;

static numbers of_lanes(kernel_emitter *e, int32_t lanes) {
  return (numbers){e, lanes, kernel_typed(e, IR_F32, lanes)};
}

static const char *number(const numbers *n, double value) {
  return kernel_number(n->e, IR_F32, n->lanes, value);
}

static const char *binary(const numbers *n, const char *name, const char *x, const char *y) {
  return kernel_line(n->e, "%s %s %s, %s", name, n->type, x, y);
}

static const char *multiply_add(const numbers *n, const char *x, const char *y, const char *z) {
  return kernel_fma(n->e, IR_F32, n->lanes, x, y, z);
}

static const char *chosen(const numbers *n, const char *test, const char *yes, const char *no) {
  return kernel_choose(n->e, IR_F32, n->lanes, test, yes, no);
}

static const char *negated(const numbers *n, const char *x) {
  return kernel_line(n->e, "fneg %s %s", n->type, x);
}

static const char *polynomial(const numbers *n, const char *x, const double *terms, int32_t count) {
  const char *sum = number(n, terms[count - 1]);
  for (int32_t k = count - 2; k >= 0; k--) sum = multiply_add(n, sum, x, number(n, terms[k]));
  return sum;
}

/* The smaller of x and a number; NaN stays. */
static const char *at_most(const numbers *n, const char *x, double most) {
  const char *bound = number(n, most);
  return chosen(n, binary(n, "fcmp olt", bound, x), bound, x);
}

static const char *size_of(const numbers *n, const char *x, double most) {
  return at_most(n, kernel_intrinsic(n->e, "fabs", IR_F32, n->lanes, 1, &x), most);
}

const char *kernel_emit_erf(kernel_emitter *e, int32_t lanes, const char *x) {
  numbers n = of_lanes(e, lanes);
  const char *a = size_of(&n, x, erf_is_one), *u = binary(&n, "fmul", a, a);
  const char *p = binary(&n, "fmul", a, polynomial(&n, u, above, COUNT(above))),
             *q = polynomial(&n, u, below, COUNT(below));
  const char *y[] = {at_most(&n, binary(&n, "fdiv", p, q), 1), x};
  return kernel_intrinsic(e, "copysign", IR_F32, lanes, 2, y);
}

/* erfc(a), a >= 1/2 */
static const char *far_from_zero(const numbers *n, const char *a) {
  const char *one = number(n, 1), *square = binary(n, "fmul", a, a);
  const char *lost = multiply_add(n, a, a, negated(n, square));
  const char *t = binary(n, "fdiv", one, multiply_add(n, a, number(n, tail_slope), one));
  const char *s = binary(n, "fmul", t, polynomial(n, t, tail, COUNT(tail)));
  s = multiply_add(n, negated(n, lost), s, s);
  return binary(n, "fmul", kernel_emit_exp(n->e, IR_F32, n->lanes, negated(n, square)), s);
}

const char *kernel_emit_erfc(kernel_emitter *e, int32_t lanes, const char *x) {
  numbers n = of_lanes(e, lanes);
  const char *a = size_of(&n, x, erfc_is_zero), *one = number(&n, 1);
  const char *far = far_from_zero(&n, a);
  const char *negative = binary(&n, "fcmp olt", x, number(&n, 0));
  far = chosen(&n, negative, binary(&n, "fsub", number(&n, 2), far), far);
  const char *u = binary(&n, "fmul", a, a);
  const char *r = polynomial(&n, u, near_zero, COUNT(near_zero));
  const char *near = multiply_add(&n, negated(&n, x), r, one);
  return chosen(&n, binary(&n, "fcmp olt", a, number(&n, is_near)), near, far);
}
