/* Custom calls of linear algebra: which of their operands' and results' dimensions make one matrix,
 * and which are the batch (the table is lapack.def). */
#ifndef WEIR_IR_LAPACK_H
#define WEIR_IR_LAPACK_H
#include "ir/ir.h"

enum {
  IR_LAPACK_ROWS = 0
#define LAPACK(name, types, operands, results, eval) +1
#include "ir/lapack.def"
#undef LAPACK
};

typedef struct ir_lapack_row {
  const char *name, *types;       /* see the table */
  const char *operands, *results; /* a digit each: dimensions behind the batch */
} ir_lapack_row;

extern const ir_lapack_row ir_lapack_rows[IR_LAPACK_ROWS];

/* The row of a custom call by its target, NULL if it says none; -1 if the table has none. */
int ir_lapack_find(const char *target);
/* How many leading dimensions of all operands and results count matrices, as the row has it. -1:
 * not in the table, operands and results are not as the row says, or a system's not of one size. */
int32_t ir_lapack_batch_rank(const ir_module *m, ir_op op);
/* The call says of its first operand that it lies row by row: the routine finds its transpose
 * there, so `uplo` is of the other triangle. */
bool ir_lapack_is_by_rows(const ir_module *m, ir_op op);

#endif
