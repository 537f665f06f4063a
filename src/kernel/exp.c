/* exp as a polynomial, and tanh of the same parts. In: x.
 *
 * Idea: k = round(x / ln 2), r = x - k ln 2 in two parts, so |r| <= ln 2 / 2; exp(r) = 1 + r +
 * r^2 q(r); 2^k is added to the exponent's bits. k comes out of a sum with 1.5 * 2^52 (2^23), in
 * whose low bits it then stands: no conversion, and NaN goes through. q interpolates at Chebyshev's
 * points; its error is 1.7e-17 (f64), 3e-9 (f32), relative.
 *
 * Several vectors go step by step together: each is a chain of twenty operations that wait for
 * each other, some 70 cycles, of which a processor sees no more ahead than two or three.
 *
 * tanh(x) = m / (m + 2), where m = exp(2 |x|) - 1 = 2^k (exp(r) - 1) + (2^k - 1): nothing of what
 * is small is lost. From `saturated` on it is 1.
 *
 * Source: Muller, Elementary Functions, chapters 4 and 11.
 */
#include <math.h>

#include "kernel/elementwise.h"
#include "kernel/emit.h"

enum { MOST_TERMS = 10 };

typedef struct exp_numbers {
  double magic, log2_e, ln2_high, ln2_low, lowest, highest, saturated;
  int32_t shift, n_terms;
  double terms[MOST_TERMS];
} exp_numbers;

static const exp_numbers of_f64 = {
    0x1.8p52,
    0x1.71547652b82fep+0,
    0x1.62e42fee00000p-1,
    0x1.a39ef35793c76p-33,
    -0x1.6232bdd7abcd2p+9,
    0x1.62e42fefa39efp+9,
    20,
    52,
    10,
    {0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d05p-5, 0x1.1111111110996p-7,
     0x1.6c16c178b0646p-10, 0x1.a01a01a7da98dp-13, 0x1.a019b87f7a6e9p-16, 0x1.71de0d573888bp-19,
     0x1.28922d8c8d4fbp-22, 0x1.af39789bfd689p-26}};

static const exp_numbers of_f32 = {
    0x1.8p23,
    0x1.7154760000000p+0,
    0x1.62e4000000000p-1,
    0x1.7f7d1c0000000p-20,
    -0x1.5d58a0p+6,
    0x1.62e42ep+6,
    10,
    23,
    5,
    {0x1.0000000000000p-1, 0x1.5554dc0000000p-3, 0x1.5555180000000p-5, 0x1.120c620000000p-7,
     0x1.6d11fe0000000p-10}};

/* What an operation is done to: one result each. */
typedef struct several {
  kernel_emitter *e;
  ir_dtype dtype, integer; /* of the same width */
  int32_t lanes, count;
  const exp_numbers *numbers;
} several;

#define EACH(s) for (int32_t i = 0; i < (s)->count; i++)

static const char *number_of(const several *s, double value) {
  return kernel_number(s->e, s->dtype, s->lanes, value);
}

static const char *bits_of(const several *s, const char *x, bool back) {
  const char *real = kernel_typed(s->e, s->dtype, s->lanes),
             *bits = kernel_typed(s->e, s->integer, s->lanes);
  return kernel_line(s->e, "bitcast %s %s to %s", back ? bits : real, x, back ? real : bits);
}

/* x = x y + z, z a number */
static void multiply_add(const several *s, const char **x, const char *const *y, double z) {
  EACH(s) x[i] = kernel_fma(s->e, s->dtype, s->lanes, x[i], y[i], number_of(s, z));
}

/* t: k in its low bits; r: what is left of x. */
static void reduce(const several *s, const char *const *x, const char **t, const char **r) {
  const exp_numbers *n = s->numbers;
  const char *magic = number_of(s, n->magic), *type = kernel_typed(s->e, s->dtype, s->lanes);
  const char *k[KERNEL_MOST_AT_ONCE];
  EACH(s) t[i] = kernel_fma(s->e, s->dtype, s->lanes, x[i], number_of(s, n->log2_e), magic);
  EACH(s) k[i] = kernel_line(s->e, "fsub %s %s, %s", type, t[i], magic);
  EACH(s) r[i] = kernel_fma(s->e, s->dtype, s->lanes, k[i], number_of(s, -n->ln2_high), x[i]);
  EACH(s) r[i] = kernel_fma(s->e, s->dtype, s->lanes, k[i], number_of(s, -n->ln2_low), r[i]);
}

/* (exp(r) - 1 - r) / r^2 */
static void sum_terms(const several *s, const char *const *r, const char **q) {
  const exp_numbers *n = s->numbers;
  EACH(s) q[i] = number_of(s, n->terms[n->n_terms - 1]);
  for (int32_t k = n->n_terms - 2; k >= 0; k--) multiply_add(s, q, r, n->terms[k]);
}

/* q = 2^k q */
static void scale(const several *s, const char *const *t, const char **q) {
  const char *bits = kernel_typed(s->e, s->integer, s->lanes), *by[KERNEL_MOST_AT_ONCE];
  const char *shift = kernel_number(s->e, s->integer, s->lanes, s->numbers->shift);
  EACH(s) by[i] = kernel_line(s->e, "shl %s %s, %s", bits, bits_of(s, t[i], false), shift);
  EACH(s) {
    q[i] = kernel_line(s->e, "add %s %s, %s", bits, bits_of(s, q[i], false), by[i]);
    q[i] = bits_of(s, q[i], true);
  }
}

/* Above the range infinity, below it 0; NaN is above. */
static void bound(const several *s, const char *const *x, const char **q) {
  const char *type = kernel_typed(s->e, s->dtype, s->lanes), *zero = number_of(s, 0);
  const char *lowest = number_of(s, s->numbers->lowest),
             *highest = number_of(s, s->numbers->highest);
  EACH(s) {
    const char *low = kernel_line(s->e, "fcmp olt %s %s, %s", type, x[i], lowest);
    q[i] = kernel_choose(s->e, s->dtype, s->lanes, low, zero, q[i]);
  }
  EACH(s) {
    const char *high = kernel_line(s->e, "fcmp ugt %s %s, %s", type, x[i], highest);
    const char *over =
        kernel_line(s->e, "fadd %s %s, %s", type, x[i], number_of(s, (double)INFINITY));
    q[i] = kernel_choose(s->e, s->dtype, s->lanes, high, over, q[i]);
  }
}

static several of_type(kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count) {
  bool is_double = dtype == IR_F64;
  CTX_CHECK(arena_ctx(e->a), count <= KERNEL_MOST_AT_ONCE);
  return (several){e,     dtype, is_double ? IR_I64 : IR_I32,
                   lanes, count, is_double ? &of_f64 : &of_f32};
}

void kernel_emit_exps(kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                      const char *const *x, const char **out) {
  several s = of_type(e, dtype, lanes, count);
  const char *t[KERNEL_MOST_AT_ONCE] = {NULL}, *r[KERNEL_MOST_AT_ONCE] = {NULL},
             *q[KERNEL_MOST_AT_ONCE] = {NULL};
  reduce(&s, x, t, r);
  sum_terms(&s, r, q);
  multiply_add(&s, q, r, 1);
  multiply_add(&s, q, r, 1);
  scale(&s, t, q);
  bound(&s, x, q);
  memcpy(out, q, (size_t)count * sizeof *out);
}

const char *kernel_emit_exp(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  const char *y;
  kernel_emit_exps(e, dtype, lanes, 1, &x, &y);
  return y;
}

/* ---- tanh ---- */
/* 2 |x|, where that is not saturated; NaN stays. */
static void double_sizes(const several *s, const char *const *x, const char **out) {
  const char *type = kernel_typed(s->e, s->dtype, s->lanes),
             *most = number_of(s, s->numbers->saturated);
  EACH(s) {
    const char *size = kernel_intrinsic(s->e, "fabs", s->dtype, s->lanes, 1, &x[i]);
    const char *over = kernel_line(s->e, "fcmp olt %s %s, %s", type, most, size);
    size = kernel_choose(s->e, s->dtype, s->lanes, over, most, size);
    out[i] = kernel_line(s->e, "fadd %s %s, %s", type, size, size);
  }
}

/* exp(x) - 1 for x that is not negative and in range. */
static void exps_less_one(const several *s, const char *const *x, const char **out) {
  const char *type = kernel_typed(s->e, s->dtype, s->lanes), *one = number_of(s, 1);
  const char *t[KERNEL_MOST_AT_ONCE] = {NULL}, *r[KERNEL_MOST_AT_ONCE] = {NULL},
             *q[KERNEL_MOST_AT_ONCE] = {NULL}, *power[KERNEL_MOST_AT_ONCE];
  reduce(s, x, t, r);
  sum_terms(s, r, q);
  EACH(s) q[i] = kernel_line(s->e, "fmul %s %s, %s", type, q[i], r[i]);
  EACH(s) q[i] = kernel_fma(s->e, s->dtype, s->lanes, q[i], r[i], r[i]);
  EACH(s) power[i] = one;
  scale(s, t, power);
  EACH(s) {
    const char *less = kernel_line(s->e, "fsub %s %s, %s", type, power[i], one);
    out[i] = kernel_fma(s->e, s->dtype, s->lanes, power[i], q[i], less);
  }
}

void kernel_emit_tanhs(kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                       const char *const *x, const char **out) {
  several s = of_type(e, dtype, lanes, count);
  const char *type = kernel_typed(e, dtype, lanes), *two = number_of(&s, 2);
  const char *sizes[KERNEL_MOST_AT_ONCE] = {NULL}, *m[KERNEL_MOST_AT_ONCE] = {NULL};
  double_sizes(&s, x, sizes);
  exps_less_one(&s, sizes, m);
  for (int32_t i = 0; i < count; i++) {
    const char *below = kernel_line(e, "fadd %s %s, %s", type, m[i], two);
    const char *y[] = {kernel_line(e, "fdiv %s %s, %s", type, m[i], below), x[i]};
    out[i] = kernel_intrinsic(e, "copysign", dtype, lanes, 2, y);
  }
}

const char *kernel_emit_tanh(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  const char *y;
  kernel_emit_tanhs(e, dtype, lanes, 1, &x, &y);
  return y;
}
