/* Splits beside those that predictions come to, which are timed where predictions are unsure:
 * without kernels, or with kernels that are only worth a try. docs/design/timed.md. */
#ifndef WEIR_LIMIT_BESIDE_H
#define WEIR_LIMIT_BESIDE_H
#include "limit/candidate.h"

/* *out: what was timed to be faster than what predictions come to; its module is NULL: nothing. */
WEIR_MUST_USE weir_status beside_find_known(job *j, int64_t peak, candidate *out);
/* Where it is in doubt that *found gains by its kernels, or would by some, the timer decides; not
 * where the search took long. compiles: that it took; peak: of the program as it came. */
WEIR_MUST_USE weir_status beside_time(job *j, int64_t peak, int32_t compiles, candidate *found);

#endif
