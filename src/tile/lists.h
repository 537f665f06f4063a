/* Reductions over the columns of which a row keeps more than a number: the k largest, and several
 * values that are reduced together. topk.c, joint.c.
 */
#ifndef WEIR_TILE_LISTS_H
#define WEIR_TILE_LISTS_H
#include "tile/emit.h"

/* ---- chlo.top_k: x is the node of the values unless it says "either" ---- */
bool tile_topk_is_covered(ir_dtype dtype);
/* Bytes of scratch for each row: the list, the limit. */
int64_t tile_topk_list_bytes(const tile_nest *n, const tile_node *x);
int64_t tile_topk_limit_bytes(const tile_nest *n, const tile_node *x);
/* Nothing found yet, in the row that is bound. */
void tile_topk_clear(tile_emitter *e, const tile_node *x);
/* The tile's values, those that are in the list of their row or go there. */
void tile_topk_add(tile_emitter *e, const tile_node *x);
/* What another span found for the row: its numbers are at `other`. */
void tile_topk_merge(tile_emitter *e, const tile_node *x, const char *other);
/* The row's list in order; it takes no more values. */
void tile_topk_sort(tile_emitter *e, const tile_node *x);
/* What stands at the bound place of the sorted list; either node. */
tile_grid tile_topk_read(tile_emitter *e, const tile_node *x);

/* ---- stablehlo.reduce of several operands ---- */
/* Whether the body is of ops that tiles have, and begins from constants that may be counted any
 * number of times. */
bool tile_joint_is_covered(const ir_module *m, ir_op op);
/* sum[i] = the body's i-th result of sum and add; as many as results, of that many lanes. */
void tile_joint_combine(tile_emitter *e, const tile_node *first, int32_t lanes, const char **sum,
                        const char *const *add);
/* The lanes of each of the vectors to one number. */
void tile_joint_across_lanes(tile_emitter *e, const tile_node *first, const char **values);
/* A number that changes nothing. */
const char *tile_joint_neutral(tile_emitter *e, const tile_node *x);

#endif
