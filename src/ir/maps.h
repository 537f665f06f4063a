/* Index maps: the indices of an op's loop nest, and which dimensions of its operands and results
 * count each.
 *
 *   dot_general  [b, i, k] x [b, k, j] -> [b, i, j]    k is reduced: no result has it
 *   broadcast    [i, 1] -> [i, j]                      j is the result's own
 *   concatenate  [i, -], [i, -] -> [i, -]              along its dimension none is shared
 *
 * An index is a number: dimension d of the results is index d; what is reduced comes behind, from
 * the results' rank on. All results of an op with a map have the same dimensions, but for those
 * that are alone. Two dimensions with one index are as long as each other and are walked together,
 * element for element. This is the one place that knows how ops map dimensions; units (merged
 * dimensions) and offsets (parts along a dimension) are the splitting's (split/factors.h).
 *
 * The rules are the column `factors` of ops.def. Source: MLIR's indexing maps (linalg), Shardy's op
 * sharding rules.
 */
#ifndef WEIR_IR_MAPS_H
#define WEIR_IR_MAPS_H
#include "ir/ir.h"

enum { IR_ALONE = -1 }; /* read or made otherwise: repeated, windowed, shifted, looked up */

/* out_index[d]: the index of dimension d of operand `which`, or of result `which`. False: the op
 * has no map. */
bool ir_operand_indices(arena *scratch, ir_module *m, ir_op op, uint32_t which, int32_t *out_index);
bool ir_result_indices(arena *scratch, ir_module *m, ir_op op, uint32_t which, int32_t *out_index);
/* The dimension of operand `which` that has this index; -1: none, or the op has no map. */
int32_t ir_operand_dim(arena *scratch, ir_module *m, ir_op op, uint32_t which, int32_t index);

/* Of ops that only move data (broadcast_in_dim, transpose, reshape where no dimensions merge):
 * out_to[d] is the result's dimension that operand 0's dimension d becomes; IR_ALONE: of length 1,
 * repeated or dropped. False: another op, or a reshape that merges. */
bool ir_moved_dims(ir_module *m, ir_op op, int32_t *out_to);

/* The inverse of one dimension: operand 0's that becomes the result's dimension `dim`; IR_ALONE. */
int32_t ir_moved_from(ir_module *m, ir_op op, int64_t dim);

/* A reshape, or a broadcast that adds only ones: operand 0's elements in their order. */
bool ir_keeps_order(ir_module *m, ir_op op);

/* What elements are read from, one by one or in windows: the x of a gather, and of
 * sum(where(p, x, 0)), a diagonal or one in a row where p is so; IR_NONE: by no such op. */
ir_value ir_read_from(const ir_module *m, ir_op op);
/* Likewise of a product with what may be one-hot rows, made from a mask: the other side. */
ir_value ir_multiplied_from(const ir_module *m, ir_op op);

/* Results are elements of the operands, or say where those are: maxima and minima, of groups too,
 * top-k, sorts, argmax. */
bool ir_finds_extremes(const ir_module *m, ir_op op);

#endif
