/* What the rewrite and the handler agree on. */
#ifndef WEIR_CALL_TILE_H
#define WEIR_CALL_TILE_H

#define TILE_CALL_TARGET "weir_tile"
/* version, machine, rows, vectors, block, chunk, spans, column spans */
#define TILE_CALL_STAMP_FORMAT "weir-tile %d: %s %d %d %lld %lld %lld %lld\n"

enum { TILE_CALL_VERSION = 6, TILE_CALL_ALIGNMENT = 64 };

#endif
