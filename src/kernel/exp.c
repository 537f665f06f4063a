/* exp as a polynomial, tanh as a quotient of two. In: x.
 *
 * Idea: k = round(x / ln 2), r = x - k ln 2 in two parts, so |r| <= ln 2 / 2; exp(r) = 1 + r +
 * r^2 q(r); 2^k is added to the exponent's bits. k comes out of a sum with 1.5 * 2^52 (2^23), in
 * whose low bits it then stands: no conversion, and NaN goes through. q interpolates at Chebyshev's
 * points; its error is 1.7e-17 (f64), 3e-9 (f32), relative.
 *
 * Several vectors go step by step together: each is a chain of twenty operations that wait for
 * each other, some 70 cycles, of which a processor sees no more ahead than two or three.
 *
 * tanh is XLA's, operation by operation: programs count which activations are 1, and that begins
 * elsewhere with each approximation.
 *
 * Source: Muller, Elementary Functions, chapters 4 and 11; XLA's llvm_ir/math_ops.cc, which has
 * Eigen's generic_fast_tanh_float.
 */
#include <math.h>

#include "kernel/elementwise.h"
#include "kernel/emit.h"

enum { MOST_TERMS = 10 };

typedef struct exp_numbers {
  double magic, log2_e, ln2_high, ln2_low, lowest, highest;
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
typedef struct tanh_numbers { /* of x p(x^2) / q(x^2), the highest powers first */
  double most, most_unfused;
  int32_t n_above, n_below;
  double above[MOST_TERMS], below[MOST_TERMS];
} tanh_numbers;

static const tanh_numbers tanh_f64 = {
    0x1.1b6d58f246197p+4,
    0x1.1b6d58f246197p+4,
    10,
    10,
    {0x1.f9f82e5d782dfp-76, 0x1.c3c836c04b4c8p-61, 0x1.c3379f905e662p-49, 0x1.29aff6c8edd96p-38,
     0x1.525a389dce7c2p-29, 0x1.708819be51cd9p-21, 0x1.8996f4026a7fap-14, 0x1.87f80b957edp-8,
     0x1.36fba9b450e5ap-3, 1},
    {0x1.e8630cf90325p-68, 0x1.0aabca9a5feap-54, 0x1.232981aa2bba8p-43, 0x1.ee2f015ea8065p-34,
     0x1.81f1947c52304p-25, 0x1.26c82ab46d14p-17, 0x1.b2e7c4d488c04p-11, 0x1.1998830265b5p-5,
     0x1.f0d32a2f7dc79p-2, 1}};
static const tanh_numbers tanh_f32 = {
    0x1.ffec88p+2,
    0x1.f9f09ep+2,
    7,
    4,
    {-0x1.3e4b8p-52, 0x1.c266fcp-43, -0x1.7a6ffep-34, 0x1.b80082p-25, 0x1.f28694p-17,
     0x1.4e1bdap-11, 0x1.40b3b8p-8},
    {0x1.41a7bp-20, 0x1.f12bacp-14, 0x1.29540ap-9, 0x1.40b3bap-8}};

/* Between -most and most; NaN stays. */
static void clamp_to(const several *s, double most, const char *const *x, const char **out) {
  const char *type = kernel_typed(s->e, s->dtype, s->lanes);
  for (int32_t side = -1; side <= 1; side += 2) {
    const char *end = number_of(s, side * most);
    EACH(s) {
      const char *from = side < 0 ? x[i] : out[i];
      const char *beyond =
          kernel_line(s->e, "fcmp %s %s %s, %s", side < 0 ? "olt" : "ogt", type, from, end);
      out[i] = kernel_choose(s->e, s->dtype, s->lanes, beyond, end, from);
    }
  }
}

static void polynomial(const several *s, const double *terms, int32_t n, const char *const *x,
                       const char **out) {
  EACH(s) out[i] = number_of(s, terms[0]);
  for (int32_t k = 1; k < n; k++) multiply_add(s, out, x, terms[k]);
}

/* y; in f32 x where it is tiny, in f64 1 or -1 from 20 on. */
static const char *bounded(const several *s, const char *x, const char *y) {
  const char *type = kernel_typed(s->e, s->dtype, s->lanes);
  const char *size = kernel_intrinsic(s->e, "fabs", s->dtype, s->lanes, 1, &x);
  bool is_double = s->dtype == IR_F64;
  const char *test = kernel_line(s->e, "fcmp %s %s %s, %s", is_double ? "oge" : "olt", type, size,
                                 number_of(s, is_double ? 20 : 0x1.a36e2ep-12));
  const char *one[] = {number_of(s, 1), x};
  if (is_double) x = kernel_intrinsic(s->e, "copysign", s->dtype, s->lanes, 2, one);
  return kernel_choose(s->e, s->dtype, s->lanes, test, x, y);
}

void kernel_emit_tanhs(kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                       const char *const *x, const char **out) {
  several s = of_type(e, dtype, lanes, count);
  const tanh_numbers *n = dtype == IR_F64 ? &tanh_f64 : &tanh_f32;
  const char *type = kernel_typed(e, dtype, lanes);
  const char *inside[KERNEL_MOST_AT_ONCE] = {NULL}, *square[KERNEL_MOST_AT_ONCE] = {NULL},
             *above[KERNEL_MOST_AT_ONCE] = {NULL}, *below[KERNEL_MOST_AT_ONCE] = {NULL};
  clamp_to(&s, machine_has_fma(&e->n->machine) ? n->most : n->most_unfused, x, inside);
  EACH(&s) square[i] = kernel_line(e, "fmul %s %s, %s", type, inside[i], inside[i]);
  polynomial(&s, n->above, n->n_above, square, above);
  polynomial(&s, n->below, n->n_below, square, below);
  EACH(&s) above[i] = kernel_line(e, "fmul %s %s, %s", type, inside[i], above[i]);
  EACH(&s) {
    const char *y = kernel_line(e, "fdiv %s %s, %s", type, above[i], below[i]);
    out[i] = bounded(&s, x[i], y);
  }
}

const char *kernel_emit_tanh(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  const char *y;
  kernel_emit_tanhs(e, dtype, lanes, 1, &x, &y);
  return y;
}
