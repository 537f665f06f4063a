/* Programs that fit: regions that run faster as kernels. docs/design/fit.md. */
#ifndef WEIR_LIMIT_FIT_H
#define WEIR_LIMIT_FIT_H
#include "limit/candidate.h"

/* Whether an op reads what another made and no cache holds. Cost: a pass over the ops. */
bool fit_has_large(const job *j);
/* Whether regions of the program might be worth a try at all. Cost: a pass over the ops. */
bool fit_may_gain(const job *j);
/* Gains are predicted. */
typedef enum fit_courage {
  FIT_SURE, /* each region and the program gain, whoever is wrong by a little */
  FIT_BOLD, /* they may lose a little, for who times them */
} fit_courage;
/* For who may gain. *out: the program with the regions that gain as calls of kernels, all else as
 * it came but for what exact passes tidied up; its module is NULL: none gains. Which order it runs
 * in and what it needs is for the caller to say. Cost: a clone per region that is tried. */
WEIR_MUST_USE weir_status fit_with_kernels(job *j, fit_courage courage, candidate *out);

#endif
