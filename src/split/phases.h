/* In which order scans of both directions are made, where each is made in slices of its steps.
 *
 *   F, R:  scans, forward and backward; y = g(F, R);  B = back(F, y);  C = forth(R, y)
 *
 *   phase    0: forward    1: backward     2: forward
 *   makes    F             F*, R, y, B     F, R*, y, C
 *
 * A phase goes along the steps in one direction. A scan is first made in the first phase of its own
 * direction that has what it reads. From then on it is there in phases of both: in those of the
 * other by states that were kept (*; split/restart.h). What is large is made anew in each phase
 * that needs it; what is whole is made once. */
#ifndef WEIR_SPLIT_PHASES_H
#define WEIR_SPLIT_PHASES_H
#include "ir/ir.h"

enum { SPLIT_MOST_PHASES = 32 };

typedef struct split_phases {
  const ir_module *m;
  ir_block block;
  const int8_t *direction; /* by op: of scans that of even phases, 0, or of odd ones, 1; else -1 */
  const bool *is_whole;    /* by value: held for the phases after the one that makes it */
  /* out */
  uint32_t n;
  uint32_t *home; /* by op: the phase that makes what is whole of its results, and what the block
                     puts out; of scans the first one */
  uint32_t *made; /* by op: the phases that make it, a bit each */
} split_phases;

/* What ops with effects make is to be whole. False: there are too many phases, or ops in them, or
 * such an op, which is made in the last, is read before. Arrays are in scratch. */
bool split_find_phases(arena *scratch, split_phases *p);

static inline bool split_is_made_in(const split_phases *p, ir_op op, uint32_t phase) {
  return p->made[op] >> phase & 1;
}

#endif
