/* What no trip of a while changes is made before the while, where there is room.
 *
 *   while(i, x, w) { i + 1, f(x, exp(w)), w }    is    e = exp(w);  while(i, x) { i + 1, f(x, e) }
 *
 * XLA does so itself, and keeps whatever it has made: it would take what a loop makes slice by
 * slice out of the loop. So it is told not to (machine_xla_options), and this is done instead, with
 * a look at the memory it takes. docs/design/while.md. */
#ifndef WEIR_PIPELINE_HOIST_H
#define WEIR_PIPELINE_HOIST_H
#include "ir/ir.h"
#include "machine/machine.h"
#include "plan/peak.h"

typedef struct hoist_room {
  plan_order order;    /* in which XLA will run the program */
  int64_t limit_bytes; /* of the estimated peak; 0: there is none, and each value counts alone: */
  int64_t value_bytes; /* no larger one is made */
  int64_t peak_bytes;  /* out, under a limit: the estimate, if something was moved */
  int64_t moved_bytes; /* out: of all that was moved and is read in whiles */
} hoist_room;

/* In: no weir.loop. Returns how many values whiles now read that they made before. Exact: the same
 * ops on the same operands. In front of a while that never runs they are made for nobody.
 *
 * Moved is what reads nothing that a trip changes, out of as many whiles as it can be, their
 * conditions as their bodies; but not out of a branch, which may not be taken. Left where they are:
 * ops with effects and calls, custom calls but those of ir/lapack.def, barriers, what has
 * attributes of others or types that are not static tensors; what is written over in the trip; and
 * what is made faster than it is read, by estimate.
 *
 * If all of it together is over the limit by estimate, what saves the most time a byte is. Cost:
 * linear in the ops, and at most four estimates, if there is anything to be moved. */
int32_t hoist_invariants(ir_module *m, const machine *on, hoist_room *in_out);

#endif
