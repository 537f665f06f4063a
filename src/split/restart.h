/* Scans that others read in the opposite direction, made in two passes.
 *
 *   F:   for t in 0..T:    S[t] = r(h);  h = f(h, a[t])
 *   B:   for t in T-1..0:  g = b(g, S[t], a[t])
 * becomes
 *   F':  for t in 0..T:    h = f(h, a'[t]);  E[t / L] = h
 *   W:   for t in 0..T:    h = t % L ? h : C[t / L];  S[t] = r(h);  h = f(h, a[t])
 *   B:   for t in T-1..0:  g = b(g, S[t], a[t])
 *
 * C is E behind the state that F begins with. W needs nothing of what it did more than L steps ago:
 * its slices of L steps can be made in any order, so it goes into the loop over slices of B's
 * (split/chunks.h). F' has copies of what it reads, for a loop of its own. */
#ifndef WEIR_SPLIT_RESTART_H
#define WEIR_SPLIT_RESTART_H
#include "ir/ir.h"

/* Rewrites the block's scans in the direction of its first one that scans in the opposite direction
 * depend on. Slices of what they read or stack in L steps are no larger than slice_bytes, if there
 * are such that divide the steps; values above the threshold are copied. False, and nothing is
 * changed, if there are none, or if less than a third of the stacks would be saved. Costs F's steps
 * once more, and once more what it reads; results are the same to the bit. */
bool split_restart_scans(ir_module *m, ir_block block, int64_t slice_bytes,
                         int64_t threshold_bytes);

#endif
