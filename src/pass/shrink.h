/* Ways to make a program smaller, or simpler, without regard to what it computes: what `weir
 * reduce` tries (src/reduce.c). None is a pass: results change, and what comes out need not verify.
 *
 * Each way counts the places where it applies, in program order, and applies to a run of them. Of
 * each, a program has only finitely many steps until it applies nowhere.
 */
#ifndef WEIR_PASS_SHRINK_H
#define WEIR_PASS_SHRINK_H
#include "ir/ir.h"

typedef uint32_t pass_shrink_count(ir_module *m);
typedef void pass_shrink_apply(ir_module *m, uint32_t first, uint32_t count);

typedef struct pass_shrink {
  const char *name; /* NULL: the end */
  pass_shrink_count *count;
  pass_shrink_apply *apply;
} pass_shrink;

extern const pass_shrink pass_shrinks[]; /* the most promising first */

/* shrink_dims.c: extents become 1, 2, half of what they are; alone, or with their multiples. */
pass_shrink_count pass_count_lengths;
pass_shrink_apply pass_dims_to_one, pass_dims_to_two, pass_dims_to_half, pass_factors_to_one,
    pass_factors_to_two, pass_factors_to_half;

#endif
