/* The peak of a program as XLA's buffer assignment would have it: who is live when, what fusion
 * keeps out of memory, what shares a buffer. Never runs XLA: where a referee is at hand the
 * ladder (src/limit) asks XLA itself. Bytes per device. docs/design/peak-estimate.md. */
#ifndef WEIR_PLAN_PEAK_H
#define WEIR_PLAN_PEAK_H
#include "base/saturate.h"
#include "ir/ir.h"
#include "machine/device.h"

typedef struct plan_holder { /* one buffer that is live at the peak */
  ir_value value;
  /* in whose schedule it is live: the function's body, or a loop's body below it */
  ir_block block;
  int64_t bytes;
} plan_holder;

typedef struct plan_peak {
  int64_t argument_bytes, output_bytes, alias_bytes, temp_bytes;
  /* arguments + outputs - alias + temp: what the limit counts; saturates at INT64_MAX */
  int64_t total_bytes;
  ir_op at; /* the op, innermost, during which the peak is reached */
  uint32_t n_holders;
  /* temporaries live at the peak, largest first, ties in program order; in the scratch arena */
  const plan_holder *holders;
} plan_peak;

/* Of arguments and results, throughout the program. */
static inline int64_t plan_held_bytes(const plan_peak *peak) {
  return saturated_sum(peak->argument_bytes, peak->output_bytes) - peak->alias_bytes;
}

/* On devices, whose XLA takes the better one itself, both mean that. */
typedef enum plan_order {
  PLAN_ORDER_PROGRAM, /* as XLA CPU runs it by default: breadth first */
  /* CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED: depth first from the results; mostly, not always, the
   * better one; what is independent runs one after the other */
  PLAN_ORDER_MEMORY,
  PLAN_ORDER_PROGRAM_UNHOISTED, /* xla_disable_hlo_passes=while-loop-invariant-code-motion */
  PLAN_ORDER_MEMORY_UNHOISTED,
} plan_order;

static inline bool plan_is_by_memory(plan_order o) {
  return o == PLAN_ORDER_MEMORY || o == PLAN_ORDER_MEMORY_UNHOISTED;
}
static inline bool plan_hoists(plan_order o) {
  return o == PLAN_ORDER_PROGRAM || o == PLAN_ORDER_MEMORY;
}

/* Of the main function, on a device with such memory; NULL: on a CPU. Calls, whiles, cases and
 * weir.loops are followed; a module with weir.loops is taken to be compiled without loop-invariant
 * code motion, whatever the order. Cost: near linear in the ops. */
plan_peak plan_peak_of(arena *scratch, const ir_module *m, plan_order order,
                       const device_memory *memory);
/* The same for who only asks whether it is under a limit, and who holds it if not: where what is
 * live at once is over the limit, that is the total, and how it fits into memory is not found out.
 */
plan_peak plan_peak_under(arena *scratch, const ir_module *m, plan_order order,
                          const device_memory *memory, int64_t limit_bytes);

/* ---- who is live when ---- */
typedef struct plan_step {
  ir_op op;         /* IR_NONE: a copy that XLA makes, or the end of a loop's trip */
  const char *word; /* what it does */
  int32_t depth;    /* of loops and branches around it */
} plan_step;

typedef enum plan_hold { PLAN_ARGUMENT, PLAN_RESULT, PLAN_TEMPORARY } plan_hold;

typedef struct plan_span { /* a value in a buffer: a stretch of steps, both ends inclusive */
  plan_hold hold;
  ir_value value; /* IR_NONE: it has no name in the program */
  int64_t bytes;  /* of the buffer */
  uint32_t from, to;
} plan_span;

typedef struct plan_timeline {
  plan_peak peak;
  uint32_t n_steps, n_spans;
  const plan_step *steps; /* a trip of each loop stands for all of them */
  const plan_span *spans; /* arguments, results, temporaries that are no part of a result */
} plan_timeline;

/* The estimate with its schedule. A result that a donated argument holds has no span. All in the
 * scratch arena. Cost: as plan_peak_of(). */
plan_timeline plan_timeline_of(arena *scratch, const ir_module *m, plan_order order,
                               const device_memory *memory);

/* XLA's loop-invariant code motion leaves such an op in the loop, unless it goes along with another
 * that it moves. */
bool plan_stays_in_loops(ir_kind kind);

/* Whether XLA computes such an op several times rather than keep its result. */
bool plan_is_light(const ir_module *m, ir_op op);

/* Whether all readers of an op's result, of which there are some, could compute it. */
bool plan_may_fuse(const ir_module *m, ir_op op, const ir_users *users);

/* Whether XLA gives the result of an op a buffer of its own: false for what fuses into all its
 * users. users: of op's block. */
bool plan_is_materialised(const ir_module *m, ir_op op, const ir_users *users);

/* Upper bound without any model: with room for copies, conversions, expansions; on devices
 * (memory not NULL) for tiles in whatever layout, relayouts and libraries' workspaces, too.
 * INT64_MAX: there is none, for libraries decide on the card what they need. */
int64_t plan_upper_bound(const ir_module *m, const device_memory *memory);

#endif
