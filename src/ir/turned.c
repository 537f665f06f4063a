#include "ir/turned.h"

#include <assert.h>

#include "ir/attrs.h"

/* The last dimension of more than one element; -1: there is none. */
static int32_t last_long(const ir_type_data *t) {
  int32_t d = t->rank - 1;
  while (d >= 0 && t->dims[d] == 1) d--;
  return d;
}

bool ir_is_turned(const ir_module *m, ir_op op, ir_turn *out) {
  if (!op || ir_kind_of(m, op) != IR_OP_TRANSPOSE) return false;
  ir_value from = ir_operand(m, op, 0), to = ir_result(m, op, 0);
  const int64_t *permutation = ir_op_list(m, op, "permutation").at;
  if (!permutation || !ir_is_static_tensor(m, ir_type_of(m, from)) ||
      !ir_is_static_tensor(m, ir_type_of(m, to)))
    return false;
  const ir_type_data *x = ir_type_at(m, from), *y = ir_type_at(m, to);
  int32_t last = last_long(y), adjacent = last_long(x);
  if (last < 0 || permutation[last] == adjacent) return false;
  *out = (ir_turn){1, 1};
  for (int32_t d = adjacent; d > permutation[last]; d--) out->stride *= (double)x->dims[d];
  for (int32_t d = last; permutation[d] != adjacent; d--) out->apart *= (double)y->dims[d];
  assert(out->stride > 0 || !ir_elements(m, to));
  return true;
}
