/* Splits beside those that predictions come to, which are timed where predictions are unsure:
 * without kernels, or with kernels that are only worth a try (docs/design/timed.md); with functions
 * of short steps (docs/design/functions.md). */
#ifndef WEIR_LIMIT_BESIDE_H
#define WEIR_LIMIT_BESIDE_H
#include "limit/search.h"

/* The split that holds the limit and is predicted to be the fastest, or one beside it that was
 * timed to be faster, or is now, where the search did not take long. Its module is NULL, and *s
 * says why: none holds. peak: of the program as it came. */
WEIR_MUST_USE weir_status beside_split(job *j, int64_t peak, search *s, candidate *out);

#endif
