/* What holds its limit as it is may be faster all the same: with kernels, or in slices.
 * docs/design/fit.md. */
#ifndef WEIR_LIMIT_AS_IS_H
#define WEIR_LIMIT_AS_IS_H
#include "limit/candidate.h"

/* Of more nothing is split for the sake of time. */
enum { MOST_OPS_FOR_SPEED = 5000 };

/* The program holds its limit as it is, in its own order. *out: that, or what is faster. Cost: a
 * pass over the ops where no value is large; else regions are tried, and slices in a 64th of a
 * search. */
WEIR_MUST_USE weir_status as_is_hold(job *j, climb as_is, climb *out);
/* Likewise in the order that saves memory. */
WEIR_MUST_USE weir_status as_is_hold_ordered(job *j, verdict needs, climb *out);
/* The program does not hold its limit: whether it does, in either order, once XLA makes nothing
 * again and again (pipeline/materialise.h). *out: that, or slices that are faster. */
WEIR_MUST_USE weir_status as_is_hold_written(job *j, bool *holds, climb *out);

#endif
