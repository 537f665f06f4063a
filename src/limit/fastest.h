/* Of the program's splits that hold the limit the fastest, as predicted: with passes that let more
 * be split, and without. */
#ifndef WEIR_LIMIT_FASTEST_H
#define WEIR_LIMIT_FASTEST_H
#include "limit/search.h"

/* Under what a split is looked for. Of the ops to look at it has one in `share`; compilations by
 * XLA, 0: the estimate decides. */
typedef struct effort {
  int64_t limit_bytes;
  int32_t share, most_compiles;
  bool no_kernels, in_functions; /* limit/search.h */
  kernels_wanted kernels;
  bool asks_later;     /* likewise; set by fastest_split() itself */
  double most_time_ns; /* predicted: a split that takes longer is dropped; 0: any time */
} effort;

/* What holds, by XLA where it can be asked; out->m is NULL, and *s says why: nothing does. Mostly
 * XLA needs what the estimate says. So it is asked about the split that is settled for; where that
 * is too much, all is searched again, and it is asked about each. peak: of the program as it came.
 */
WEIR_MUST_USE weir_status fastest_split(job *j, int64_t peak, effort e, search *s, candidate *out);
/* Over how many devices the values are spread, by what XLA says that each has; the estimate counts
 * them whole. */
double fastest_devices(job *j, ir_module *m, int64_t peak);

#endif
