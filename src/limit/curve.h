/* What limits between the smallest and the peak cost in time, by weir's estimates. */
#ifndef WEIR_LIMIT_CURVE_H
#define WEIR_LIMIT_CURVE_H
#include "limit/candidate.h"

typedef struct curve_point {
  int64_t limit, peak, flops, time_ns, trips; /* trips: of the loop that has most; 0: no loop */
  int32_t loops;
} curve_point;

typedef VEC(curve_point) curve;

/* From the smallest limit known to hold (the minimum, else the limit in force) to the peak, in
 * equal ratios, and what was taken; empty where neither is known. Ends early where programs are so
 * large that the search is dear. After the climb, which it leaves as it is. */
WEIR_MUST_USE weir_status curve_find(job *j, arena *a, const climb *c, curve *out);

#endif
