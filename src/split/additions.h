/* What a trip adds to a carry, and how it adds the same to a part of another one.
 *
 *   A + x                                        C with C[0] + x at 0
 *   while(i, A) { A with A[i] + x at i }   ->    while(i, C) { C with C[0, i] + x at [0, i] }
 */
#ifndef WEIR_SPLIT_ADDITIONS_H
#define WEIR_SPLIT_ADDITIONS_H
#include "split/box.h"

/* An op that adds to a carry. */
typedef struct split_step {
  ir_op op, slice;   /* slice: of the block that op puts back; IR_NONE: op is no such */
  uint32_t carry;    /* of op, a while */
  bool is_in_blocks; /* and nothing but blocks is read of the carry */
} split_step;

/* Ops of a body that add to a carry, one after the other. */
typedef struct split_addition {
  split_step by[4];
  uint32_t count;
  ir_value arg, sum; /* as the body begins, and as it ends */
  ir_type type;
  bool is_in_blocks; /* all of them */
} split_addition;

/* Whether what the body yields is its argument with something added to it, and nobody else sees it
 * meanwhile: by an addition, by a weir.loop slice by slice, or block by block as products are
 * (split/monoid.h). uses: as of ir_count_uses(). */
bool split_find_addition(ir_module *m, const uint32_t *uses, ir_block body, ir_value arg,
                         ir_value yielded, split_addition *out);

/* The first op that reads what the body begins with; the one that makes the sum. */
ir_op split_addition_begins(const split_addition *a);
ir_op split_addition_ends(const split_addition *a);

/* One body being made again, op by op, with such additions to parts of *now, which is what the
 * whole came to so far. */
typedef struct split_adding {
  ir_builder b; /* at the end of the body */
  const uint32_t *uses;
  ir_map *renamed;
} split_adding;

/* box: the part that the argument stands for. The op is one of the addition's: it is appended, or
 * what does the same to the part. The map names what others of the body read instead. */
void split_add_to_part(split_adding *s, const split_addition *a, ir_op op, const split_box *box,
                       ir_value *now);

#endif
