/* Floating-point operations, of regions times their trips where those are known, once where not;
 * saturates. What only moves elements takes none. */
#ifndef WEIR_IR_FLOPS_H
#define WEIR_IR_FLOPS_H
#include "ir/ir.h"

int64_t ir_op_flops(arena *scratch, const ir_module *m, ir_op op);
int64_t ir_block_flops(arena *scratch, const ir_module *m, ir_block block);
/* Of a while or a loop; 1 where they are unknown, and of other ops. */
int64_t ir_trips_or_one(const ir_module *m, ir_op op);

#endif
