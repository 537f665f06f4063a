/* Ways to make a program smaller, or simpler, without regard to what it computes: what `weir
 * reduce` tries (src/reduce.c). None is a pass: results change, and what comes out need not verify.
 *
 * Each way counts the places where it applies, in program order, and applies to a run of them. Of
 * each, a program has only finitely many steps until it applies nowhere.
 */
#ifndef WEIR_PASS_SHRINK_H
#define WEIR_PASS_SHRINK_H
#include "ir/ir.h"

typedef struct pass_shrink {
  const char *name;
  uint32_t (*count)(ir_module *m);
  void (*apply)(ir_module *m, uint32_t first, uint32_t count);
} pass_shrink;

extern const pass_shrink *const pass_shrinks[]; /* NULL-terminated, the most promising first */

/* shrink_dims.c: extents become 1, 2, half of what they are; alone, or with their multiples. */
extern const pass_shrink pass_shrink_dims_to_one, pass_shrink_dims_to_two, pass_shrink_dims_to_half,
    pass_shrink_factors_to_one, pass_shrink_factors_to_two, pass_shrink_factors_to_half;

#endif
