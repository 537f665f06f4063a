/* Programs that fit: regions that run faster as kernels. docs/design/fit.md. */
#ifndef WEIR_FIT_H
#define WEIR_FIT_H
#include "limit/candidate.h"

/* *out: the program with the regions that gain as calls of kernels, all else as it came but for
 * what exact passes tidied up; its module is NULL: none gains. Which order it runs in and what it
 * needs is for the caller to say. Cost: a pass over the ops, and where one has a large result, a
 * clone per region that is tried. */
WEIR_MUST_USE weir_status fit_with_kernels(job *j, candidate *out);

#endif
