/* 16-bit floats as f32. widen.c */
#ifndef WEIR_TILE_WIDEN_H
#define WEIR_TILE_WIDEN_H
#include "ir/ir.h"

/* Rewrites the loop's body: what is bf16 or f16 in it is f32, from converts of what it reads to
 * converts of its results. A body that rounding decides about stays as it is. */
void tile_widen(ir_module *m, ir_op loop);

#endif
