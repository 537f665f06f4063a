/* What the rewrite and the handler agree on. */
#ifndef WEIR_CALL_KERNEL_H
#define WEIR_CALL_KERNEL_H

#define KERNEL_CALL_TARGET "weir_tile"
/* version, machine, rows, vectors, block, chunk, spans, column spans */
#define KERNEL_CALL_STAMP_FORMAT "weir-tile %d: %s %d %d %lld %lld %lld %lld\n"

enum { KERNEL_CALL_VERSION = 9, KERNEL_CALL_ALIGNMENT = 64 };

#endif
