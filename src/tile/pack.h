/* Copies for the tile: what it reads in an order that registers like. pack.c. */
#ifndef WEIR_TILE_PACK_H
#define WEIR_TILE_PACK_H
#include "tile/emit.h"

/* Which values the tile reads from copies: what has columns and no rows, or rows and no columns, is
 * computed, and is read by what has both. Sets x->packed. */
void tile_mark_packed(tile_nest *n);
/* Bytes of all copies for each column; for each row. */
int64_t tile_packed_bytes(const tile_nest *n, int32_t axis);

/* v, an input or a marked node, from its copy, which is made where nobody did so far. */
tile_grid tile_read_packed(tile_emitter *e, ir_value v, const tile_axes *axes);

#endif
