/* Reductions over the columns of which a row keeps more than a number: the k largest, and several
 * values that are reduced together. topk.c, variadic.c.
 */
#ifndef WEIR_KERNEL_LISTS_H
#define WEIR_KERNEL_LISTS_H
#include "kernel/emit.h"

/* ---- chlo.top_k: x is the node of the values unless it says "either" ---- */
bool kernel_topk_is_covered(ir_dtype dtype);
/* Bytes of scratch for each row: the list, the limit. */
int64_t kernel_topk_list_bytes(const kernel_nest *n, const kernel_node *x);
int64_t kernel_topk_limit_bytes(const kernel_nest *n, const kernel_node *x);
/* Nothing found yet, in the row that is bound. */
void kernel_topk_clear(kernel_emitter *e, const kernel_node *x);
/* The tile's values, those that are in the list of their row or go there. */
void kernel_topk_add(kernel_emitter *e, const kernel_node *x);
/* What another span found for the row: its numbers are at `other`. */
void kernel_topk_merge(kernel_emitter *e, const kernel_node *x, const char *other);
/* The row's list in order; it takes no more values. */
void kernel_topk_sort(kernel_emitter *e, const kernel_node *x);
/* What stands at the bound place of the sorted list; either node. */
kernel_grid kernel_topk_read(kernel_emitter *e, const kernel_node *x);

/* ---- stablehlo.reduce of several operands ---- */
/* Whether the body is of ops that kernels have, and begins from constants that may be counted any
 * number of times. */
bool kernel_variadic_is_covered(const ir_module *m, ir_op op);
/* sum[i] = the body's i-th result of sum and add; as many as results, of that many lanes. */
void kernel_variadic_combine(kernel_emitter *e, const kernel_node *first, int32_t lanes,
                             const char **sum, const char *const *add);
/* The lanes of each of the vectors to one number. */
void kernel_variadic_across_lanes(kernel_emitter *e, const kernel_node *first, const char **values);
/* A number that changes nothing. */
const char *kernel_variadic_neutral(kernel_emitter *e, const kernel_node *x);

#endif
