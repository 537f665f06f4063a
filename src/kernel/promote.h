/* 16-bit floats as f32. promote.c */
#ifndef WEIR_KERNEL_PROMOTE_H
#define WEIR_KERNEL_PROMOTE_H
#include "ir/ir.h"

/* Rewrites the loop's body: what is bf16 or f16 in it is f32, from converts of what it reads to
 * converts of its results, and each op's result is rounded to what the program has there:
 *
 *   y = weir.round(x) {format = bf16}      the nearest of bf16 (f16), as f32
 *
 * A reduction to an extreme that was bf16 says so (KERNEL_WAS_BF16 = true): XLA is slow at these.
 * A body with an op that can't be rewritten so stays as it is. */
#define KERNEL_WAS_BF16 "was_bf16"
void kernel_promote(ir_module *m, ir_op loop);

#endif
