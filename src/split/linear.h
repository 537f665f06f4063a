/* Linear ops: f(x + y) = f(x) + f(y), but for rounding. */
#ifndef WEIR_SPLIT_LINEAR_H
#define WEIR_SPLIT_LINEAR_H
#include "ir/ir.h"

typedef struct split_linearity { /* of an op in its operands [first, first + count) */
  uint32_t first, count;         /* count 0: in none */
  bool jointly;                  /* in all of them together; else in each, the others held */
} split_linearity;

split_linearity split_linearity_of(const ir_module *m, ir_op op);

#endif
