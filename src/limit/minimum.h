/* The smallest limit that can be held: by weir's estimate, confirmed by XLA where it can be asked.
 */
#ifndef WEIR_LIMIT_MINIMUM_H
#define WEIR_LIMIT_MINIMUM_H
#include "limit/search.h"

typedef struct minimum {
  int64_t limit;     /* holds */
  bool is_sure;      /* a climb has held it */
  int64_t low;       /* nothing as small holds */
  int64_t guess;     /* may hold */
  int64_t seen;      /* XLA has said so of a candidate: may hold; 0: it was not asked */
  place seen_at;     /* where that is */
  int64_t seen_ops;  /* looked at by then, at most */
  doubts doubts;     /* what XLA has said under one limit counts under the next */
  place start;       /* of the guess, to try what is near it alone; slice_bytes 0: all is tried */
  place near;        /* where what holds the limit was found; likewise: among all */
  int64_t witness;   /* what one needs, by estimate (limit/witness.h); 0: it is no less */
  ir_module *m;      /* what runs under the limit; NULL: the program as it came */
  int64_t *left_ops; /* that searches may look at */
  int64_t given;     /* the limit that the climb did not hold; 0: it has no use for what does */
  candidate held;    /* out: holds the given limit after all, which ends the search; or no module */
} minimum;

/* The limit holds, by m, which found then has; what it had is destroyed. */
void minimum_keep(minimum *found, int64_t limit, ir_module *m);

/* A climb towards a limit that is out of reach, found->low, where the search for the smallest one
 * begins: the least that any candidate came to, and where. */
WEIR_MUST_USE weir_status minimum_climb(job *j, minimum *found);
/* found: in with a limit that holds and where to begin. First near the candidate that came to the
 * least, which is fast; then with all candidates of each limit, while the budget allows for one
 * more climb. The budget is at least a share of what the climb took; what XLA has seen is tried
 * near the candidate that it was, and if that is far less, with as much as that took, or half of a
 * search. */
WEIR_MUST_USE weir_status minimum_find(job *j, minimum *found);

#endif
