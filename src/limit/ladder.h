/* What is tried under a limit, in which order. */
#ifndef WEIR_LIMIT_LADDER_H
#define WEIR_LIMIT_LADDER_H
#include "limit/candidate.h"

/* The result becomes what was taken, all but its text and table. RESOURCE_EXHAUSTED:
 * out->is_refused, and the summary has the smallest limit found. */
WEIR_MUST_USE weir_status ladder_climb(job *j, climb *out);
/* Makes j->prepared, once. */
WEIR_MUST_USE weir_status ladder_prepare(job *j);
/* Whether the program as read stays untouched for sure. The result stays as it is. */
WEIR_MUST_USE weir_status ladder_is_untouched(job *j, bool *out_is);

#endif
