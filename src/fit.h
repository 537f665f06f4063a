/* Programs that fit: regions that run faster as kernels. docs/design/fit.md. */
#ifndef WEIR_FIT_H
#define WEIR_FIT_H
#include "pipeline.h"

/* *out_m: the program with the regions that gain as calls of tiles, all else as it came but for
 * what exact passes tidied up; NULL: none gains. Fills the result's kernels, loops and times. Cost:
 * a pass over the ops, and where one has a large result, a clone per region that is tried. */
WEIR_MUST_USE weir_status fit_with_kernels(job *j, ir_module **out_m);

#endif
