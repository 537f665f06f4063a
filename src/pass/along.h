/* Values along one dimension, which each has as one of its own, and ops that make more of them:
 * entry k of entries k. A gather has an entry for each of its indices'; all else by ir/maps.h.
 */
#ifndef WEIR_PASS_ALONG_H
#define WEIR_PASS_ALONG_H
#include "ir/maps.h"

typedef struct pass_along {
  arena *scratch;
  ir_module *m;
  uint32_t n_values; /* that came */
  int32_t *dims;     /* by these; -1: the value is none */
} pass_along;

/* None yet. */
pass_along pass_along_new(arena *scratch, ir_module *m);

/* Of a value; -1: it is none. */
static inline int32_t pass_dim_along(const pass_along *s, ir_value v) {
  return v < s->n_values ? s->dims[v] : -1;
}

bool pass_reads_along(const pass_along *s, ir_op op);
/* The dimension's index in the op's loop nest, by the values that it reads; IR_ALONE: it has none,
 * or several. */
int32_t pass_index_along(const pass_along *s, ir_op op);
/* The same, where it is a dimension of the only result, which the op could make of any number of
 * entries; else IR_ALONE. */
int32_t pass_result_along(const pass_along *s, ir_op op);
/* The dimension of operand i that has this index; -1: none. */
int32_t pass_operand_along(const pass_along *s, ir_op op, uint32_t i, int32_t index);
/* Of a value: the same elements at each index of dimension d. */
bool pass_is_alike_along(ir_module *m, ir_value v, int32_t d);

#endif
