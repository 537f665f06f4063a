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
 * (split/chunks.h).
 *
 * What is made in which loop say phases (split/phases.h). Each has copies of what is large, so that
 * it is a region of its own. */
#ifndef WEIR_SPLIT_RESTART_H
#define WEIR_SPLIT_RESTART_H
#include "split/choose.h"

/* Rewrites the block in phases where scans depend on those of the opposite direction. Slices of
 * what they read or stack in L steps are no larger than goal->slice_bytes, if there are such that
 * divide the steps; values above goal->threshold_bytes are copied. Returns the phases that it
 * takes: where these are more than goal->most_phases, or 0, nothing is changed. Stacks of which
 * less than a third would be saved stay whole. Costs what phases make again; results are the same
 * to the bit. */
uint32_t split_restart_scans(ir_module *m, ir_block block, const split_goal *goal);

#endif
