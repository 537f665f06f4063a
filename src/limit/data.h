/* A plan as data: what a page or a trace shows. */
#ifndef WEIR_LIMIT_DATA_H
#define WEIR_LIMIT_DATA_H
#include "limit/candidate.h"

/* The result's data, as JSON: see weir_result_data(). m: the program as it came, without calls. */
WEIR_MUST_USE weir_status data_of_plan(job *j, const climb *c, const ir_module *m);
/* trace.c: the result's trace, see weir_result_trace(). */
WEIR_MUST_USE weir_status data_of_trace(job *j, const climb *c, const ir_module *m);

#endif
