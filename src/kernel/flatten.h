/* Whiles inside of a loop's body, as ops without regions. */
#ifndef WEIR_KERNEL_FLATTEN_H
#define WEIR_KERNEL_FLATTEN_H
#include "ir/ir.h"

enum { KERNEL_MOST_CARRIES = 7 };

/* Whether the while can be opened: few values carried, none of 16 bits, and nothing inside that
 * kernels have no rule for. What it does along which axes, the nest finds out. */
bool kernel_can_flatten(const ir_module *m, ir_op loop);

/* In: the loop's body. Out: the same with the ops of each while that can be opened in its place:
 *
 *   c_j   = weir.carry(init_j)                           for each value that changes
 *   ...                                                  the condition's ops, of c
 *   ...                                                  the body's
 *   r_j.. = weir.repeat(c_j.., next_j.., condition)      next_j: what the body returns
 *
 * As long as the condition of c holds, c becomes next; then r is c. Both ops have `turns`, how
 * often what lies between runs (where that depends on data: a guess), and `depth`, in how many
 * whiles (of a carry: 1 and more; of a repeat: those around it). */
void kernel_flatten_whiles(ir_module *m, ir_op loop);

#endif
