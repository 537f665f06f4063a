/* A block again, with new ops among its own, in an order that respects the new uses. */
#ifndef WEIR_SPLIT_REORDER_H
#define WEIR_SPLIT_REORDER_H
#include "ir/ir.h"

/* Operands are renamed; the block's own ops stay in program order as far as that goes, those of
 * `extra` come where somebody reads them. What nobody needs is left behind. */
void split_reorder(arena *scratch, ir_module *m, ir_block block, ir_block extra, ir_map *renamed);

#endif
