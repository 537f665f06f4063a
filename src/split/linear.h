/* Linear ops: f(x + y) = f(x) + f(y), but for rounding. Infinities are not seen: where x and y are
 * of different signs, (x + y) * inf is infinite and x * inf + y * inf is NaN. Nothing is linear
 * that f16 or less is in, which overflow where parts in f32 do not. */
#ifndef WEIR_SPLIT_LINEAR_H
#define WEIR_SPLIT_LINEAR_H
#include "ir/ir.h"

typedef struct split_linearity { /* of an op in its operands [first, first + count) */
  uint32_t first, count;         /* count 0: in none */
  bool jointly;                  /* in all of them together; else in each, the others held */
} split_linearity;

split_linearity split_linearity_of(const ir_module *m, ir_op op);

/* The op on parts: what its operands are instead, those that are 16-bit floats in f32, as sums of
 * them are carried. So is its result then. */
ir_value split_build_linear(ir_builder *b, ir_op op, const ir_value *operands);

/* Whether the value may be added up from parts: a sum of 16-bit floats would be rounded once more
 * for each. */
bool split_may_add_parts(const ir_module *m, ir_value v);

#endif
