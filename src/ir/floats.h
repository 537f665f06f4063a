/* Bit patterns of all float element types: decoding to double is exact, encoding rounds once, to
 * nearest even.
 *
 * What does not fit becomes what APFloat makes of it: infinity where the format has one, NaN where
 * it has only that (FN, FNUZ), the largest number where it has neither (f4, f6). Formats: IEEE
 * 754-2019; OCP 8-bit floating point and microscaling formats.
 */
#ifndef WEIR_IR_FLOATS_H
#define WEIR_IR_FLOATS_H
#include "ir/ir.h"

uint64_t ir_float_bits(ir_dtype dtype, double value); /* in the low bits */
double ir_float_value(ir_dtype dtype, uint64_t bits);
enum { IR_FLOAT_TEXT = 48 };
/* As MLIR prints it, but for the shortest of several texts with more than six digits; hex digits of
 * what is not finite, and of formats that no one reads as decimals. */
void ir_float_text(ir_dtype dtype, uint64_t bits, char out_text[IR_FLOAT_TEXT]);
int ir_float_width(ir_dtype dtype); /* bits that count: 4, 6, 8, 16, 32, 64 */

#endif
