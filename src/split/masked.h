/* Products with masks that loops part from their converts: they select (ir/masks.h).
 *
 *   %m = convert %p                          %m = convert %p
 *   %y = multiply %x, %m          ->         loop(%x, %m) { select(%m' != 0, %x', 0) }
 *
 * A loop may read a mask as numbers, whole or in slices, for it is there anyhow; or put it out for
 * others, in loops or not. Neither XLA nor a kernel knows it again there. Products beside their
 * converts stay as they are: XLA selects, and so does a kernel (ir/masks.h). It is done where loops
 * are made, and not to the program before: passes and regions see the products that were written,
 * and numbers that a loop would hold as i1 would be other seeds and members.
 */
#ifndef WEIR_SPLIT_MASKED_H
#define WEIR_SPLIT_MASKED_H
#include "ir/ir.h"

/* In the block, and in those of its weir.loops that are not older than the op `first`. Linear time.
 */
void split_select_masked(ir_module *m, ir_block block, ir_op first);

#endif
