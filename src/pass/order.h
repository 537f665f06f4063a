/* Comparators of sorts, and the order that they come down to: f(a_i) < f(b_i) or > in a total
 * order, of one array i of those that are sorted together, f exact.
 */
#ifndef WEIR_PASS_ORDER_H
#define WEIR_PASS_ORDER_H
#include "ir/ir.h"

/* Operands that are sorted together along `dim`. */
typedef struct pass_sorted {
  ir_op op;
  uint32_t n; /* arrays */
  int64_t dim, length;
  ir_block comparator;
  bool approximate; /* floats may be compared as floats */
} pass_sorted;

/* What a comparator comes down to. */
typedef struct pass_order {
  uint32_t key; /* the operand that is looked at */
  ir_value by;  /* f of the left argument, in the comparator */
  bool descending;
  bool as_floats;   /* zeros tie, whatever their sign */
  bool keeps_value; /* f(x) is x, but for NaNs and the sign of zeros */
  bool nans_last;   /* all of them come after all numbers where the order ascends */
  bool is_identity; /* f(x) is x */
} pass_order;

/* false: no such order, or f is not known to be exact. */
bool pass_read_order(const ir_module *m, const pass_sorted *s, pass_order *out_order);

/* f32, f64, f16, bf16; integers of 8 to 64 bits. */
bool pass_orders_integer(ir_dtype d);

/* The attribute of a constant that is a scalar; NULL: v is none. */
const ir_attr_data *pass_scalar_constant(const ir_module *m, ir_value v);

#endif
