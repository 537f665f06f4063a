/* Gathers from a part of an array as gathers from the array, scatters into a part as scatters into
 * the array.
 *
 *   x[k][i] = x[k, i]      x[a:b][i] = x[a + clamp(i, 0, b - a - 1)]
 *
 * A scatter's place beyond the ends of the part is beyond those of the array; a gather's is the
 * nearest inside of the part.
 */
#ifndef WEIR_PASS_FRAME_H
#define WEIR_PASS_FRAME_H
#include "pass/build.h"

/* How a part lies in another array, which is larger or has more dimensions of length one. */
typedef struct pass_frame {
  int32_t to[IR_MAX_RANK]; /* the part's dimension d is that of the other; ascending */
  /* By dimension of the other: what is before the part, how long the part is, the other is. */
  int64_t low[IR_MAX_RANK], inner[IR_MAX_RANK];
  ir_type_data outer;
} pass_frame;

/* All of the value. */
void pass_frame_init(const ir_module *m, ir_value other, pass_frame *out);
/* This gather from the part, or scatter into it, can be one of the other array: without batches,
 * with windows of one along what is cut, places of 32 bits or more. What is cut and no place names
 * has length one, so that no dimension is lost that could be sliced. */
bool pass_may_reframe(arena *scratch, ir_module *m, ir_op op, const pass_frame *f);
/* It is. Cost: some ops on the places. */
ir_value pass_build_reframed(ir_builder *b, arena *scratch, ir_op op, const pass_frame *f,
                             ir_value other);

#endif
