/* Grids that are kept, tables of points, and products of them: three files, product.c says what
 * they are for. Their interface to the others is in emit.h. */
#ifndef WEIR_KERNEL_PRODUCT_H
#define WEIR_KERNEL_PRODUCT_H
#include "kernel/emit.h"

/* ---- product.c ---- */
/* Which operand is kept; the other one has the points. */
uint32_t kernel_grid_operand(const kernel_nest *n, const kernel_node *x);
/* Whether that one is copied to a table first. */
bool kernel_product_has_table(const kernel_nest *n, const kernel_node *x);
int64_t kernel_padded_to_lanes(const kernel_nest *n, int64_t extent);
/* A literal mask. */
const char *kernel_first_lanes(kernel_emitter *e, int64_t count);

/* ---- kept.c ---- */
/* What makes a product's grid. */
const kernel_node *kernel_grid_node(const kernel_nest *n, const kernel_node *x);
/* NULL: it is not kept. */
kernel_kept *kernel_find_kept(kernel_emitter *e, const kernel_node *x);
int64_t kernel_grid_stride(const kernel_nest *n);

/* ---- table.c: [column of the block, or row of the chunk][points] ---- */
const kernel_table *kernel_get_table(kernel_emitter *e, ir_value v, const kernel_axes *axes,
                                     int32_t axis, bool of_rows);
/* Whether one of columns is made with the points as lanes, so that loads and stores are vectors. */
bool kernel_table_is_turned(const kernel_nest *n, ir_value v, const kernel_axes *axes,
                            int32_t axis);
const char *kernel_table_at(kernel_emitter *e, const kernel_table *t, const char *entry,
                            const char *point);

#endif
