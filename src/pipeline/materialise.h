/* What XLA would compute anew for many of its reads is written to memory once, where there is room.
 *
 *   y = sqrt(f(x));  z = y[1:] - y[:-1]    is    k = keep(sqrt(f(x)));  z = k[1:] - k[:-1]
 *
 * XLA CPU fuses what is cheap into each of its readers. A fusion computes an element once for each
 * index that it is read at, up to 15 times; behind a few steps of a stencil, whose readers shift,
 * that is nearly everything, and all steps become a few fusions of hundreds of ops. A call that it
 * may not inline (ir_build_kept) ends a fusion. docs/design/materialise.md. */
#ifndef WEIR_PIPELINE_MATERIALISE_H
#define WEIR_PIPELINE_MATERIALISE_H
#include "ir/ir.h"
#include "machine/machine.h"
#include "plan/peak.h"

typedef struct materialise_room {
  plan_order order;
  int64_t limit_bytes; /* of the estimated peak in this order; 0: there is none */
  double least_ns;     /* that has to be saved of a run, or nothing is written */
  int64_t peak_bytes;  /* out, under a limit: the estimate, if something is written */
  double saved_ns;     /* out: of a run, by estimate, if all is written */
} materialise_room;

/* In: no weir.loop. Puts calls behind values of the main function, its whiles and branches whose
 * making anew takes TUNED_AGAIN times as long, by estimate, as writing and reading them does.
 * Returns how many. The same ops on the same operands; XLA may contract products and sums
 * elsewhere. Under a limit the largest are left out, at most twice, then all. Cost: linear in the
 * ops and their operands, and of each block in the values; with something to be written, as many
 * copies of the module and estimates. */
int32_t materialise_repeated(ir_module *m, const machine *on, materialise_room *in_out);

#endif
