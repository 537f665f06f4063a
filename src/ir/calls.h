/* What calls run, and what becomes of a program without them. */
#ifndef WEIR_IR_CALLS_H
#define WEIR_IR_CALLS_H
#include "ir/ir.h"

/* What a func.call or stablehlo.composite runs; IR_NONE where that is not in the module. */
ir_block ir_callee_body(const ir_module *m, ir_op op);

/* A call of two values that gives the first of them back, as ir_build_after() makes one. */
bool ir_gives_first_of_two(const ir_module *m, ir_op op);

/* What such calls were made of, one of another's result: the value but for what it waits for. */
ir_value ir_that_waits(const ir_module *m, ir_value v);

/* INVALID_ARGUMENT if there is no main function. */
WEIR_MUST_USE weir_status ir_check_main(const ir_module *m);

enum { IR_DEEPEST = 2000 }; /* regions and calls in each other: whoever walks has a stack */

/* Ops of the main function if each call were its callee's body, regions included; INT64_MAX where
 * that is too many to count, a function calls itself, or it gets deeper than IR_DEEPEST. Cost:
 * linear in the program as it stands. */
int64_t ir_count_inlined(const ir_module *m);

/* Whether all that the main function does is to hand on arguments and constants, reshaped perhaps:
 * loading data, whose bytes no rewriting changes. */
bool ir_only_moves(const ir_module *m);

/* More ops than this a program must not become by inlining: every later step is about linear in
 * them, while calls that call twice double with each level. */
int64_t ir_most_inlined(int64_t ops_as_read);

#endif
