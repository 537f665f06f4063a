/* How a transpose reads what it turns, where it is made in the order of its result. */
#ifndef WEIR_IR_TURNED_H
#define WEIR_IR_TURNED_H
#include "ir/ir.h"

typedef struct ir_turn {
  double stride; /* elements of the operand from one that is read to the next */
  double apart;  /* that are read until one beside the first is */
} ir_turn;

/* False: the op is no transpose of known sizes, or runs of elements stay as they lie. */
bool ir_is_turned(const ir_module *m, ir_op op, ir_turn *out);

#endif
