/* Copies for the tile: what it reads in an order that registers like. pack.c. */
#ifndef WEIR_KERNEL_PACK_H
#define WEIR_KERNEL_PACK_H
#include "kernel/emit.h"

/* Which values the tile reads from copies: what has columns and no rows, or rows and no columns, is
 * computed, and is read by what has both. Sets x->packed. */
void kernel_mark_packed(kernel_nest *n);
/* Bytes of all copies for each column; for each row. */
int64_t kernel_packed_bytes(const kernel_nest *n, int32_t axis);
/* Of those for columns only what is written, not what is read where it lies. */
double kernel_copied_bytes(const kernel_nest *n);

/* Whether a vector of columns of an input comes from a copy, made once for many tiles. */
bool kernel_packs_input(const kernel_emitter *e, ir_value v, const kernel_axes *axes);
/* v, an input or a marked node, from its copy, which is made where nobody did so far. */
kernel_grid kernel_read_packed(kernel_emitter *e, ir_value v, const kernel_axes *axes);

#endif
