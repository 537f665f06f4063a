/* What is known of a value's elements without running the program: the number that all of them are,
 * or that none is negative.
 *
 * Looked through are moves (broadcasts, reshapes, transposes) and, for real numbers, the four
 * operations of arithmetic; a bounded number of ops, so each question costs O(1).
 */
#ifndef WEIR_IR_FOLD_H
#define WEIR_IR_FOLD_H
#include "ir/ir.h"

/* A constant that is kept as one element. */
bool ir_is_splat_constant(const ir_module *m, ir_value v);
/* Such a one, or a scalar that is broadcast. */
bool ir_is_one_number(const ir_module *m, ir_value v);

/* The one element of the constant that v is moved or broadcast from, by less than so many ops;
 * NULL: none, or several different ones. */
const ir_attr_data *ir_splat_element(const ir_module *m, ir_value v, int steps);

/* The number that all elements of an f32 or f64 tensor are; false: several, or not known. */
bool ir_splat_real(const ir_module *m, ir_value v, double *out_number);
/* They are x, to the bit but for the sign of a zero. */
bool ir_is_splat_real(const ir_module *m, ir_value v, double x);

/* The integer, or truth value, of this type at `data`, as constants have it; false: none, or beyond
 * int64. */
bool ir_load_int(ir_dtype dtype, const void *data, int64_t *out_number);
/* Of any float or integer, as a double; NAN: it is of another type, or beyond int64. */
double ir_load_number(ir_dtype dtype, const void *data);
/* The same of integers, from one constant. */
bool ir_splat_int(const ir_module *m, ir_value v, int64_t *out_number);

/* No element of a float tensor has its sign set unless it is NaN: -0.0 is none of them either.
 * However sums are rounded and contracted, and where small numbers are flushed to zeros. */
bool ir_is_never_negative(const ir_module *m, ir_value v);

/* All elements are 0 (floats: with the sign of +0). */
bool ir_is_zero(const ir_module *m, ir_value v);

/* A reduction, or one over windows, that adds up one array from 0. */
bool ir_adds_up(const ir_module *m, ir_op op);

/* Arithmetic on numbers, y of ops with two operands; NAN of other ops. */
double ir_folded(ir_kind kind, double x, double y);

#endif
