/* Remainders of floats. In: x and y. Out: fmod's, to the bit but where the processor takes what is
 * below the smallest normal number for zero. Idea: k = trunc(|x| / |y|) is right, or one too large
 * where the quotient was rounded up to a whole number. |x| - k |y| is a multiple of the last bit
 * that x or y may have, and |y| at most: one multiply-add has it exactly, and so has the sum where
 * |y| must come back. A vector with a lane that is infinite, NaN, divided by zero, or whose
 * quotient is beyond the type's whole numbers takes fmod, lane by lane.
 * Source: Muller, Elementary Functions, chapter 11.
 */
#include <math.h>

#include "kernel/elementwise.h"
#include "kernel/emit.h"

/* Of |x| and |y|; q: their quotient. */
static const char *rest_of(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x,
                           const char *y, const char *q) {
  const char *type = kernel_typed(e, dtype, lanes), *zero = kernel_number(e, dtype, lanes, 0);
  const char *k = kernel_intrinsic(e, "trunc", dtype, lanes, 1, &q);
  const char *r = kernel_fma(e, dtype, lanes, kernel_line(e, "fneg %s %s", type, k), y, x);
  const char *low = kernel_line(e, "fcmp olt %s %s, %s", type, r, zero);
  return kernel_choose(e, dtype, lanes, low, kernel_line(e, "fadd %s %s, %s", type, r, y), r);
}

/* An i1. Lanes that do not exist may have anything. */
static const char *all_are_near(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *y,
                                const char *q) {
  const char *type = kernel_typed(e, dtype, lanes), *bits = kernel_typed(e, IR_I1, lanes);
  const char *most = kernel_number(e, dtype, lanes, dtype == IR_F64 ? 0x1p52 : 0x1p23),
             *infinity = kernel_number(e, dtype, lanes, (double)INFINITY);
  const char *near = kernel_line(e, "fcmp olt %s %s, %s", type, q, most),
             *finite = kernel_line(e, "fcmp olt %s %s, %s", type, y, infinity);
  const char *both = kernel_line(e, "and %s %s, %s", bits, near, finite),
             *known = kernel_line(e, "freeze %s %s", bits, both);
  known = kernel_line(e, "bitcast %s %s to i%d", bits, known, lanes);
  return kernel_line(e, "icmp eq i%d %s, -1", lanes, known);
}

static const char *or_by_fmod(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *near,
                              const char *fast, const char *const *args) {
  uint32_t label = e->names++;
  kernel_put(e, "br label %%begin%u", label);
  strbuf_printf(e->out, "begin%u:\n", label);
  kernel_put(e, "br i1 %s, label %%next%u, label %%far%u, !prof !1", near, label, label);
  strbuf_printf(e->out, "far%u:\n", label);
  const char *slow = kernel_emit_call(e, "fmod", dtype, lanes, 2, args);
  kernel_put(e, "br label %%next%u", label);
  strbuf_printf(e->out, "next%u:\n", label);
  kernel_forget_since(e, label);
  return kernel_line(e, "phi %s [%s, %%begin%u], [%s, %%far%u]", kernel_typed(e, dtype, lanes),
                     fast, label, slow, label);
}

const char *kernel_emit_remainder(kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                                  const char *const *args) {
  if (lanes == 1 || !machine_has_fma(&e->n->machine))
    return kernel_emit_call(e, "fmod", dtype, lanes, 2, args);
  const char *type = kernel_typed(e, dtype, lanes);
  const char *x = kernel_intrinsic(e, "fabs", dtype, lanes, 1, &args[0]),
             *y = kernel_intrinsic(e, "fabs", dtype, lanes, 1, &args[1]);
  const char *q = kernel_line(e, "fdiv %s %s, %s", type, x, y);
  const char *r = rest_of(e, dtype, lanes, x, y, q);
  r = kernel_intrinsic(e, "copysign", dtype, lanes, 2, (const char *[]){r, args[0]});
  return or_by_fmod(e, dtype, lanes, all_are_near(e, dtype, lanes, y, q), r, args);
}
