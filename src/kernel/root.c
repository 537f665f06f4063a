/* Square roots and reciprocals from the processor's estimates. In: x, a vector of 64 bytes. Idea:
 * AVX-512 estimates 1/sqrt(x) and 1/x to 14 bits in a few cycles, and each of Newton's steps
 * doubles them; its own root and division of 8 doubles take 32 and 16 cycles. Reciprocals are of
 * the mantissa, the exponent is put back after: neither estimate nor step leaves the range, however
 * large or small x is. f32's own roots and reciprocals are as fast as these. (n = 20,000, d = 3,
 * sums over pairs: rsqrt 3 x in f64 and 2 x in f32, sqrt 1.75 x, 1 / (1 + d^2) 1.4 x as fast.)
 * Source: Muller, Elementary Functions, chapter 5; Intel's SDM, VRSQRT14PD, VGETMANTPD, VSCALEFPD.
 */
#include "kernel/elementwise.h"
#include "kernel/emit.h"

enum { VECTOR_BYTES = 64, ROUND_AS_SET = 4, ZEROS_AND_INFINITY = 2 | 4 | 8 };

static bool has_estimates(const kernel_emitter *e, ir_dtype dtype, int32_t lanes) {
  return lanes * ir_dtype_bytes(dtype) == VECTOR_BYTES && machine_has_masks(&e->n->machine);
}

/* x, what lanes that a mask leaves out have (nothing), and the mask of all lanes. */
static const char *estimate(kernel_emitter *e, const char *name, ir_dtype dtype, int32_t lanes,
                            const char *x) {
  const char *type = kernel_typed(e, dtype, lanes),
             *full = arena_printf(e->a, "@llvm.x86.avx512.%s.p%c.512", name,
                                  dtype == IR_F64 ? 'd' : 's');
  kernel_declare(e,
                 arena_printf(e->a, "declare %s %s(%s, %s, i%d)", type, full, type, type, lanes));
  return kernel_line(e, "call %s %s(%s %s, %s poison, i%d -1)", type, full, type, x, type, lanes);
}

/* z - x y */
static const char *rest_of(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x,
                           const char *y, const char *z) {
  const char *minus = kernel_line(e, "fneg %s %s", kernel_typed(e, dtype, lanes), x);
  return kernel_fma(e, dtype, lanes, minus, y, z);
}

const char *kernel_emit_rsqrt(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  const char *type = kernel_typed(e, dtype, lanes), *half = kernel_number(e, dtype, lanes, 0.5);
  if (!has_estimates(e, dtype, lanes)) {
    const char *root = kernel_intrinsic(e, "sqrt", dtype, lanes, 1, &x);
    return kernel_line(e, "fdiv %s %s, %s", type, kernel_number(e, dtype, lanes, 1), root);
  }
  const char *first = estimate(e, "rsqrt14", dtype, lanes, x), *r = first;
  for (int32_t bits = 14; bits < (dtype == IR_F64 ? 53 : 24); bits *= 2) {
    const char *g = kernel_line(e, "fmul %s %s, %s", type, x, r),
               *h = kernel_line(e, "fmul %s %s, %s", type, r, half);
    r = kernel_fma(e, dtype, lanes, r, rest_of(e, dtype, lanes, g, h, half), r);
  }
  /* Of 0 and infinity the estimate is exact, and the steps are NaN. */
  const char *nan = kernel_line(e, "fcmp uno %s %s, %s", type, r, r);
  return kernel_choose(e, dtype, lanes, nan, first, r);
}

/* Goldschmidt's steps: g for the root, h for half of its inverse. The last one is with what g g
 * leaves of x, which makes roots of squares exact, but where the processor takes so small a rest
 * for zero. */
static const char *root_of(kernel_emitter *e, int32_t lanes, const char *x) {
  const char *type = kernel_typed(e, IR_F64, lanes), *half = kernel_number(e, IR_F64, lanes, 0.5);
  const char *r = estimate(e, "rsqrt14", IR_F64, lanes, x);
  const char *g = kernel_line(e, "fmul %s %s, %s", type, x, r),
             *h = kernel_line(e, "fmul %s %s, %s", type, r, half);
  const char *rest = rest_of(e, IR_F64, lanes, h, g, half);
  g = kernel_fma(e, IR_F64, lanes, g, rest, g);
  h = kernel_fma(e, IR_F64, lanes, h, rest, h);
  g = kernel_fma(e, IR_F64, lanes, g, rest_of(e, IR_F64, lanes, h, g, half), g);
  const char *exact = kernel_fma(e, IR_F64, lanes, rest_of(e, IR_F64, lanes, g, g, x), h, g);
  const char *least = kernel_number(e, IR_F64, lanes, 0x1p-900);
  const char *small = kernel_line(e, "fcmp olt %s %s, %s", type, x, least);
  return kernel_choose(e, IR_F64, lanes, small, g, exact);
}

const char *kernel_emit_sqrt(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  if (dtype != IR_F64 || !has_estimates(e, dtype, lanes))
    return kernel_intrinsic(e, "sqrt", dtype, lanes, 1, &x);
  kernel_declare(e, "declare <8 x i1> @llvm.x86.avx512.fpclass.pd.512(<8 x double>, i32)");
  const char *itself =
      kernel_line(e, "call <8 x i1> @llvm.x86.avx512.fpclass.pd.512(<8 x double> %s, i32 %d)", x,
                  ZEROS_AND_INFINITY);
  return kernel_choose(e, dtype, lanes, itself, x, root_of(e, lanes, x));
}

static const char *one_over_mantissa(kernel_emitter *e, int32_t lanes, const char *x) {
  const char *type = kernel_typed(e, IR_F64, lanes), *one = kernel_number(e, IR_F64, lanes, 1);
  kernel_declare(e,
                 "declare <8 x double> @llvm.x86.avx512.mask.getmant.pd.512(<8 x double>, i32, "
                 "<8 x double>, i8, i32)");
  const char *m =
      kernel_line(e,
                  "call %s @llvm.x86.avx512.mask.getmant.pd.512(%s %s, i32 0, %s poison, "
                  "i8 -1, i32 %d)",
                  type, type, x, type, ROUND_AS_SET);
  const char *r = estimate(e, "rcp14", IR_F64, lanes, m);
  for (int32_t bits = 14; bits < 53; bits *= 2)
    r = kernel_fma(e, IR_F64, lanes, r, rest_of(e, IR_F64, lanes, m, r, one), r);
  return r;
}

const char *kernel_emit_reciprocal(kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                                   const char *x) {
  const char *type = kernel_typed(e, dtype, lanes);
  if (dtype != IR_F64 || !has_estimates(e, dtype, lanes))
    return kernel_line(e, "fdiv %s %s, %s", type, kernel_number(e, dtype, lanes, 1), x);
  const char *r = one_over_mantissa(e, lanes, x);
  kernel_declare(e,
                 "declare <8 x double> @llvm.x86.avx512.mask.getexp.pd.512(<8 x double>, "
                 "<8 x double>, i8, i32)");
  kernel_declare(e,
                 "declare <8 x double> @llvm.x86.avx512.mask.scalef.pd.512(<8 x double>, "
                 "<8 x double>, <8 x double>, i8, i32)");
  const char *exponent =
      kernel_line(e, "call %s @llvm.x86.avx512.mask.getexp.pd.512(%s %s, %s poison, i8 -1, i32 %d)",
                  type, type, x, type, ROUND_AS_SET);
  exponent = kernel_line(e, "fneg %s %s", type, exponent);
  return kernel_line(
      e, "call %s @llvm.x86.avx512.mask.scalef.pd.512(%s %s, %s %s, %s poison, i8 -1, i32 %d)",
      type, type, r, type, exponent, type, ROUND_AS_SET);
}
