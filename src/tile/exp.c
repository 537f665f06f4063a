/* exp as a polynomial. In: x. Idea: k = round(x / ln 2), r = x - k ln 2 in two parts, so |r| <=
 * ln 2 / 2; exp(r) = 1 + r + r^2 q(r); 2^k is added to the exponent's bits. k comes out of a sum
 * with 1.5 * 2^52 (2^23), in whose low bits it then stands: no conversion, and NaN goes through. q
 * interpolates at Chebyshev's points; its error is 1.7e-17 (f64), 3e-9 (f32), relative.
 * Source: Muller, Elementary Functions, chapters 4 and 11.
 */
#include <math.h>

#include "tile/elementwise.h"
#include "tile/emit.h"

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

const char *tile_emit_exp(tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x) {
  const exp_numbers *n = dtype == IR_F64 ? &of_f64 : &of_f32;
  ir_dtype integer = dtype == IR_F64 ? IR_I64 : IR_I32;
  const char *type = tile_typed(e, dtype, lanes), *bits = tile_typed(e, integer, lanes);
  const char *magic = tile_number(e, dtype, lanes, n->magic);
  const char *t = tile_fma(e, dtype, lanes, x, tile_number(e, dtype, lanes, n->log2_e), magic);
  const char *k = tile_line(e, "fsub %s %s, %s", type, t, magic);
  const char *r = tile_fma(e, dtype, lanes, k, tile_number(e, dtype, lanes, -n->ln2_high), x);
  r = tile_fma(e, dtype, lanes, k, tile_number(e, dtype, lanes, -n->ln2_low), r);
  const char *q = tile_number(e, dtype, lanes, n->terms[n->n_terms - 1]);
  for (int32_t i = n->n_terms - 2; i >= 0; i--)
    q = tile_fma(e, dtype, lanes, q, r, tile_number(e, dtype, lanes, n->terms[i]));
  const char *one = tile_number(e, dtype, lanes, 1);
  q = tile_fma(e, dtype, lanes, q, r, one);
  q = tile_fma(e, dtype, lanes, q, r, one);
  const char *scale = tile_line(e, "bitcast %s %s to %s", type, t, bits);
  scale = tile_line(e, "shl %s %s, %s", bits, scale, tile_number(e, integer, lanes, n->shift));
  q = tile_line(e, "bitcast %s %s to %s", type, q, bits);
  q = tile_line(e, "add %s %s, %s", bits, q, scale);
  q = tile_line(e, "bitcast %s %s to %s", bits, q, type);
  /* Above the range infinity, below it 0; NaN is above. */
  const char *low =
      tile_line(e, "fcmp olt %s %s, %s", type, x, tile_number(e, dtype, lanes, n->lowest));
  q = tile_choose(e, dtype, lanes, low, tile_number(e, dtype, lanes, 0), q);
  const char *high =
      tile_line(e, "fcmp ugt %s %s, %s", type, x, tile_number(e, dtype, lanes, n->highest));
  const char *over =
      tile_line(e, "fadd %s %s, %s", type, x, tile_number(e, dtype, lanes, (double)INFINITY));
  return tile_choose(e, dtype, lanes, high, over, q);
}
