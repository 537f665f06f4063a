/* All cost formulas, with their units. Rates are of the machine that the program will run on. */
#ifndef WEIR_PLAN_COST_H
#define WEIR_PLAN_COST_H
#include "ir/ir.h"
#include "machine/machine.h"

/* Floating-point operations of the main function, regions times their trips where those are known,
 * once where not; saturates. */
int64_t plan_flops(ir_module *m);
/* Predicted run time of the main function on CPU in nanoseconds: dots at the GEMM rate of their
 * slice shapes, elementwise by bytes and transcendental rates, a fixed overhead per op execution
 * inside loops (so that tiny slices are not free). For comparing variants of one program, not
 * absolute. */
double plan_time_ns(ir_module *m, const machine *on);
/* What a run takes besides for so many bytes of temporaries: XLA has them in one piece, which goes
 * back to the system after each run if it is large, and is touched anew in the next. */
double plan_pages_ns(int64_t temporary_bytes, const machine *on);
/* Whether what XLA fuses is made faster by several threads, all in all: a second one is dear, and
 * in slices most ops are short. The times above are of the better way. */
bool plan_is_shared(ir_module *m, const machine *on);
/* As plan_time_ns, of a program that XLA runs as it came: with several threads. */
double plan_time_as_it_came_ns(ir_module *m, const machine *on);
/* Of that one loop (IR_OP_LOOP, IR_OP_WHILE), in all trips of what is around it. */
double plan_loop_time_ns(ir_module *m, ir_op loop, const machine *on);
/* Of that only the arithmetic: no way of splitting takes less. */
double plan_arithmetic_ns(ir_module *m, const machine *on);
/* The same for XLA as it comes, with fusions that reductions and several users take part in: what a
 * program costs that is not split. Rather too fast than too slow. Calls of others' code take no
 * time. */
double plan_stock_time_ns(ir_module *m, const machine *on);
/* Of making an op's results once, in a fusion or as an op of its own, its operands at hand. */
double plan_making_ns(ir_module *m, ir_op op, const machine *on);
/* Whether the result of an op goes through memory then. users: of op's block. */
bool plan_stock_keeps(const ir_module *m, ir_op op, const ir_users *users);

#endif
