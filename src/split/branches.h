/* Large results of a case or if: what reads them moves into the branches, until what crosses the
 * border is small. Each op still runs once. docs/design/splitting.md, "Large results of branches".
 */
#ifndef WEIR_SPLIT_BRANCHES_H
#define WEIR_SPLIT_BRANCHES_H
#include "ir/ir.h"

/* The case or if that v crosses the border of: v is one of its results, or a branch ends with v as
 * one. IR_NONE if there is none. */
ir_op split_branching_of(const ir_module *m, ir_value v);

/* Bytes of its results above the threshold, together. */
int64_t split_branching_bytes(const ir_module *m, ir_op branching, int64_t threshold_bytes);

/* Moves the readers of its results above the threshold into its branches. False, and nothing is
 * changed, if no such result would vanish from the border, or an op would have to move that must
 * not. Costs text, once per branch, and no computation. */
bool split_sink_users(ir_module *m, ir_op branching, int64_t threshold_bytes);

#endif
