/* The smallest limit that can be held: by weir's estimate, confirmed by XLA where it can be asked.
 */
#ifndef WEIR_MINIMUM_H
#define WEIR_MINIMUM_H
#include "limit/search.h"

typedef struct minimum {
  int64_t limit; /* holds */
  int64_t low;   /* nothing as small holds */
  int64_t guess; /* may hold */
  place start;   /* of the guess, to try what is near it alone; slice_bytes 0: all is tried */
  ir_module *m;  /* what runs under the limit; NULL: the program as it came */
} minimum;

/* A climb towards a limit that is out of reach, found->low, where the search for the smallest one
 * begins: the least that any candidate came to, and where. */
WEIR_MUST_USE weir_status minimum_climb(job *j, minimum *found);
/* found: in with a limit that holds and where to begin. First near the candidate that came to the
 * least, which is fast; then with all candidates of each limit, while the budget allows for one
 * more climb. The budget is at least a share of what the climb took. */
WEIR_MUST_USE weir_status minimum_find(job *j, minimum *found);

#endif
