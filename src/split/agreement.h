/* Values that have to be the same to the bit when they are made again.
 *
 *   m = max(x, dims = [1]);  mask = x == m          the gradient of a maximum
 *   t = top_k(x)[k];         mask = x >= t
 *   s = segment_max(x, i);   mask = x == s[i]
 *   t = x[i, k[i]];          mask = x >= t          the rank of an entry
 *   t = x[7];                mask = x == t          a row of all
 *   d = x - m;               mask = sign(d) >= 0    or another function of d (ir/compares.h)
 *   t = max(sum(x * labels, dims = [1]));  mask = x >= t
 *
 * A loop over the reduced dimension has m before it comes to the mask, and makes x again for it; so
 * does a second loop over the other dimension. A sum made again with other shapes, by other code or
 * next to other ops may be rounded elsewhere: then no element equals the maximum any more, and a
 * gradient vanishes without a word. So may a sum of two terms: where one is a product, the compiler
 * contracts them to one operation with one rounding, or doesn't, as the ops around it are. Kernels
 * compute in one order; XLA's loops do not, even where shapes and ops are the same: it depends on
 * what is fused around them. So all loops of such a region are kernels or none is; and where none
 * is, the comparison is not done by a factor along which m was selected, and what was selected for
 * each index is not read from another loop: a trip that compares selects again, from the value that
 * it compares. Functions (sin, exp) have other last bits in kernels than in XLA, but the
 * same in all of XLA's loops: where no sum is under them, loops that are all XLA's agree. Only an
 * inverse root is not: XLA's vectors and what is left of a row have other last bits.
 *
 * Within a trip XLA would make x again for each of its users: it is marked as kept.
 */
#ifndef WEIR_SPLIT_AGREEMENT_H
#define WEIR_SPLIT_AGREEMENT_H
#include "split/factors.h"

typedef enum split_selected {
  SPLIT_NOT_SELECTED,
  SPLIT_SELECTED_OF_EACH, /* for each index of the factor */
  SPLIT_SELECTED_OF_ALL   /* of all of them, or of what is compared at another */
} split_selected;

/* A value that is made again: of the same bits where? */
typedef enum split_sameness {
  SPLIT_SAME_NEVER,  /* not for sure: a sum */
  SPLIT_SAME_IN_XLA, /* in loops of XLA's, and in kernels, not in one and the other: a function */
  SPLIT_SAME_ALWAYS
} split_sameness;

/* Whether loops make it for themselves, as what they compare has to agree with others'. */
typedef enum split_again {
  SPLIT_NOT_AGAIN,
  SPLIT_MADE_AGAIN,
  SPLIT_NEEDED_WHOLE /* so all read the one from outside, whoever else would make it again */
} split_again;

typedef struct split_raised {
  ir_value v;
  split_again how;
} split_raised;

/* What is known of a comparison, done by a factor that has it and its operands at this position. */
typedef struct split_compared {
  split_pos pos;
  split_sameness enough;
  split_selected of;
  ir_op loop;                  /* that selected it; IR_NONE: none did */
  VEC(split_raised) again;     /* values, also several times */
  struct split_compared *next; /* of the same comparison; whoever keeps it sets it */
} split_compared;

/* By value: whether elements of it may have been selected from others, in the block, its loops or
 * around it. A loop may have selected what it puts out. Cost: linear in the function. */
const bool *split_find_selected(arena *a, const ir_module *m, ir_block block);

/* By op of the block: the comparison or what else has the operands that are compared
 * (ir/compares.h), of that itself and of functions of it up to their comparison; IR_NONE: of
 * others. Cost: linear in the block. */
const ir_op *split_find_comparing(arena *a, const ir_module *m, ir_block block);

/* Whether values are compared that are less the same than `enough`, with an element selected from
 * such. Where all loops are XLA's (enough: SPLIT_SAME_IN_XLA) what is selected for each index is
 * made again, from the selection on to the comparison; else functions in what is compared. by: an
 * op of split_find_comparing(). selected: of its block. a: of the list. Cost: looks at hundreds of
 * values at the most, which are counted (ctx.looked_at). */
split_compared split_compares_selected(arena *a, ir_module *m, ir_op by, split_pos pos,
                                       split_sameness enough, const bool *selected);

/* Whether a comparison of the block sees what is made of these values, by value, and an element
 * selected from such: copies of them would be rounded apart. So do comparisons in its loops, whiles
 * and branches. What a loop adds up counts as selected, and elements that a while hands out.
 * sources: NULL: all values; where that is false, it is of any. Cost: linear in the block and those
 * below. */
bool split_meets_selected(arena *scratch, const ir_module *m, ir_block block, const bool *sources);

/* Marks what is compared with an element selected from it, and what the loop puts out beside such
 * an element, for others to compare: {keep} on the op in the loop's body that makes it. In a loop
 * of XLA's its value is held in memory for all users (split_lower_loops). */
void split_keep_compared(ir_module *m, ir_op loop);

#endif
