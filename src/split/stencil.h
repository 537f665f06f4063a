/* Stencils: ops whose result, along a dimension, is made of windows of their operand that overlap:
 * convolution, reduce_window, and, as windows of one element, slices with strides and pads with
 * holes.
 *
 *   element o of the result reads elements o * step - low + [0, reach) of the operand, of which
 *   element e stands at e * holes; those between and beyond count as padding
 *
 * So a trip's window of the result needs one of the operand that is longer by a margin (split_pos's
 * `more`), and the op on it needs other padding: what fills up to the first hole. In a kernel's
 * gradient the kernel is as large as the image, and summed over: the same rule with the kernel in
 * the result's place.
 */
#ifndef WEIR_SPLIT_STENCIL_H
#define WEIR_SPLIT_STENCIL_H
#include "split/factors.h"

typedef struct split_stencil {
  int32_t operand_dim;
  int32_t result_dim; /* of the kernel, operand 1, if is_sum */
  int32_t window;     /* entry of the op's attributes that are lists by dimension */
  int64_t step, reach, low, holes;
  int64_t slack; /* elements beyond the windows that make none */
  bool is_sum;
  bool may_cut; /* padding may be negative */
  bool stays;   /* the result is as large as the operand, steps counted: nothing is moved in it */
} split_stencil;

/* The stencil that dimension dim of operand `operand` (-1: of the result) takes part in. */
bool split_stencil_of(arena *scratch, ir_module *m, ir_op op, int32_t operand, int32_t dim,
                      split_stencil *out);
/* Where the result has its window the operand has this one. False: none in whole units, or in
 * larger ones (*out_coarsen, as in split_factor). */
bool split_stencil_operand(const split_stencil *s, split_pos result, split_pos *out_operand,
                           int64_t *out_coarsen);
/* A window of the result around which the operand's lies. */
bool split_stencil_result(const split_stencil *s, split_pos operand, split_pos *out_result,
                          int64_t *out_coarsen);
/* Of select_and_scatter without padding: all windows of the operand that have elements of the
 * result's window, and what these windows have. */
bool split_stencil_back(const split_stencil *s, split_pos result, split_pos *out_source,
                        split_pos *out_operand, int64_t *out_coarsen);
/* Padding of the op on the operand's window, so that it gives the result's. */
void split_stencil_padding(const split_stencil *s, split_pos operand, split_pos result,
                           int64_t *out_low, int64_t *out_high);
/* A convolution's operand without what no window reads, along its other dimensions neither: so
 * padding is never negative, which XLA's library gets wrong where it stands alone (low -1, high 2,
 * windows 3 apart; jaxlib 0.10.2). */
ir_value split_stencil_trimmed(ir_builder *b, ir_op op, const split_stencil *s, split_pos operand,
                               split_pos result, ir_value x);
/* The padding of what was trimmed, as the attribute of a convolution or reduce_window. */
void split_stencil_set_padding(ir_module *m, ir_op op, const split_stencil *s, split_pos operand,
                               split_pos result);
void split_stencil_no_padding(ir_module *m, ir_op op, const split_stencil *s);

#endif
