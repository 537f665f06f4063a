/* What the rewrite and the handler agree on. */
#ifndef WEIR_CALL_TILE_H
#define WEIR_CALL_TILE_H

#define TILE_CALL_TARGET "weir_tile"
/* version, vector bytes, rows, vectors, block, chunk, spans, column spans */
#define TILE_CALL_STAMP_FORMAT "weir-tile %d: %d %d %d %lld %lld %lld %lld\n"

enum { TILE_CALL_VERSION = 4, TILE_CALL_ALIGNMENT = 64 };

#endif
