/* Products with masks that loops part from their converts: they select (ir/masks.h).
 *
 *   %m = convert %p                          %m = convert %p
 *   %y = multiply %x, %m          ->         loop(%x, %m) { select(%m' != 0, %x', 0) }
 *
 * A loop may read a mask as numbers, whole or in slices, for it is there anyhow; or put it out for
 * others, in loops or not. Neither XLA nor a kernel knows it again there. Products beside their
 * converts stay as they are: XLA selects, and so does a kernel (ir/masks.h). It is done where loops
 * are made, and not to the program before: passes and regions see the products that were written,
 * and numbers that a loop would hold as i1 would be other seeds and members. Which products select
 * is asked of the program before: those with slices or gathers of masks multiply, as XLA's do.
 */
#ifndef WEIR_SPLIT_MASKED_H
#define WEIR_SPLIT_MASKED_H
#include "ir/masks.h"

/* Of a product outside of a loop, made again in its body: sets operands[1 - side] to what is
 * selected of it, where the body has no convert of the mask operands[side] any more. Whether it
 * did. */
bool split_select_in_body(ir_builder *b, ir_op product, ir_value *operands, uint32_t *out_side);

/* By op: the side of its mask, of those of the block. */
const uint8_t *split_mask_sides(arena *scratch, const ir_module *m, ir_block block);
/* Products of the block, of sides as before loops were made, whose masks a loop puts out. Ops from
 * first_new on were made since. Linear time. */
void split_select_masked(ir_module *m, ir_block block, const uint8_t *sides, ir_op first_new);

#endif
