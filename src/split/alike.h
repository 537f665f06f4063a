/* Values that have to be the same to the bit when they are made again.
 *
 *   m = max(x, dims = [1]);  mask = x == m          the gradient of a maximum
 *   t = top_k(x)[k];         mask = x >= t
 *
 * A loop over the reduced dimension has m before it comes to the mask, and makes x again for it; so
 * does a second loop over the other dimension. A sum made again with other shapes, by other code or
 * next to other ops may be rounded elsewhere: then no element equals the maximum any more, and a
 * gradient vanishes without a word. Kernels sum in one order, XLA's loops do where shapes and ops
 * are the same. So all loops of such a region are kernels or none is; and where none is, the
 * comparison is not done by a factor along which m was selected.
 */
#ifndef WEIR_SPLIT_ALIKE_H
#define WEIR_SPLIT_ALIKE_H
#include "split/factors.h"

typedef enum split_selected {
  SPLIT_NOT_SELECTED,
  SPLIT_SELECTED_OF_EACH, /* for each index of the factor */
  SPLIT_SELECTED_OF_ALL   /* of all of them */
} split_selected;

/* Whether the comparison, done by this factor, is of sums with an element selected from such.
 * *out_loop: IR_NONE, or the loop that selected it. */
split_selected split_compares_selected(arena *scratch, ir_module *m, ir_op compare,
                                       const split_factor *f, ir_op *out_loop);

#endif
