/* Lines: elements of a value along one dimension, followed back through what only moves them; and
 * permutations that a sort has made of an iota.
 */
#ifndef WEIR_PASS_LINE_H
#define WEIR_PASS_LINE_H
#include "ir/ir.h"

enum { PASS_LINE_IN_ORDER = -1 }; /* all elements of a tensor, row by row */

/* The elements of v along the dimension, at these indices of the others. */
typedef struct pass_line {
  ir_value v;
  int32_t dim;
  int64_t at[IR_MAX_RANK];
} pass_line;

/* All n > 1 elements of v, which has static dimensions. */
pass_line pass_line_whole(const ir_module *m, ir_value v, int64_t n);
bool pass_line_is_same(const ir_module *m, const pass_line *a, const pass_line *b);
/* Where the same n > 1 elements stand in the same order: back through reshapes, transposes,
 * broadcasts, concatenations, slices and reversals of other dimensions. */
pass_line pass_line_origin(ir_module *m, pass_line l, int64_t n);

/* The sort of n elements of which v, all of it, is the permutation p, or p < 0 ? p + n : p, in any
 * type that counts n elements; IR_NONE: of none. *out_places: p. */
ir_op pass_line_sort(ir_module *m, ir_value v, int64_t n, ir_value *out_places);

#endif
