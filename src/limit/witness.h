/* Candidates that were made for other limits than the one that is asked for, each known by its
 * peak.
 *
 * Limits that hold do not lie side by side: slices follow from the limit, so that a search under
 * one limit may miss what a search under another comes to. What was made for one limit and needs no
 * more than another holds that, too: it is its witness. Which limits are tried, in which order and
 * how far, follows from the program and the settings alone. So what a witness holds, every larger
 * limit holds. They are looked for once for a job, as far as they are asked for, by estimate; XLA
 * is asked about those that are taken. Cost: a small share of a search. */
#ifndef WEIR_LIMIT_WITNESS_H
#define WEIR_LIMIT_WITNESS_H
#include "limit/search.h"

/* For a limit that a search has not held. out->found: a witness that holds it, or no module;
 * out->reported: the least that XLA said of one. most_compiles 0: the estimate decides. */
WEIR_MUST_USE weir_status witness_hold(job *j, int64_t limit, int32_t most_compiles, search *out);
/* *out_peak: what the witness needs that needs the least, by estimate; 0: there is none. *out_low:
 * the largest limit below that at which a whole search has found nothing; 0: likewise. */
WEIR_MUST_USE weir_status witness_find_least(job *j, int64_t *out_peak, int64_t *out_low);

#endif
