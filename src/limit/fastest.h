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
  bool no_kernels, is_bold, in_functions; /* limit/search.h */
  bool asks_later;                        /* likewise; fastest_split() says so itself, */
  double most_time_ns; /* and of what nothing makes fast that takes longer; 0: whatever it takes */
} effort;

/* By XLA, which is asked unless it was; out->m is NULL, and *s says why: none does. Mostly XLA
 * needs what the estimate says. So it is asked about what is settled for, not about what that was
 * better than; where it says that this is too much it is asked about each. peak: as it came. */
WEIR_MUST_USE weir_status fastest_split(job *j, int64_t peak, effort e, search *s, candidate *out);
/* Over how many devices the values are spread, by what XLA says that each has; the estimate counts
 * them whole. */
double fastest_devices(job *j, ir_module *m, int64_t peak);

#endif
