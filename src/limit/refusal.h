/* Rung 5: a limit that nothing holds, refused with the number to set, why no less was found, and
 * who needs as much. */
#ifndef WEIR_LIMIT_REFUSAL_H
#define WEIR_LIMIT_REFUSAL_H
#include "limit/search.h"

/* failed: the climb; ordered: what the program comes to under the memory-optimised order; sure:
 * what is held for sure and is over the limit, so that there was no climb, else 0. */
typedef struct refusal {
  const search *failed;
  int64_t peak, ordered, sure;
} refusal;

/* RESOURCE_EXHAUSTED; or OK, where the search for the number comes to what holds the limit: *out.
 * Of r.ordered 0 nobody has asked XLA yet. */
WEIR_MUST_USE weir_status refusal_make(job *j, refusal r, climb *out);

#endif
