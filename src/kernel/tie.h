/* Which dimensions of a loop's body count the same index: slots, tied op by op, whose classes
 * become the axes of the nest. */
#ifndef WEIR_KERNEL_TIE_H
#define WEIR_KERNEL_TIE_H
#include "kernel/nest.h"

/* Slots: one per dimension of every operand and result; a forest of which the classes become axes.
 * Reads of inputs, constants and iotas have slots of their own, so that the same x can be read at
 * two places. */
struct kernel_tie {
  kernel_nest *n;
  arena *a;
  uint32_t *parent;
  int64_t *length;
  bool *is_position; /* counts what a top-k keeps */
  bool *is_bent;     /* counted otherwise on the other side of a slice, a gather */
  uint32_t n_slots;
  uint32_t *first; /* by node: its result's slots, then those of each operand */
  uint32_t now;    /* the node that a rule is asked about */
  uint32_t loop_slot;
  const char *why;
};

/* Of a value. */
static inline const ir_type_data *kernel_tensor_of(const kernel_tie *t, ir_value v) {
  return ir_type_at(t->n->m, v);
}

/* False, and says why if nothing has said so before. */
bool kernel_refuse(kernel_tie *t, const char *why);
/* NULL: kernels have none for the op. */
kernel_rule *kernel_rule_of(ir_kind kind);

uint32_t kernel_new_slots(kernel_tie *t, const ir_type_data *type); /* the first one */
uint32_t kernel_result_slot(const kernel_tie *t, uint32_t node, int64_t dim);
uint32_t kernel_operand_slot(const kernel_tie *t, uint32_t node, uint32_t operand, int64_t dim);
void kernel_tie_slots(kernel_tie *t, uint32_t a, uint32_t b);
uint32_t kernel_class_of(kernel_tie *t, uint32_t slot); /* its first slot */

#endif
