/* EXPLAIN: what was done to a program, as a table for people and as numbers for scripts. */
#ifndef WEIR_REPORT_H
#define WEIR_REPORT_H
#include "pipeline.h"

/* The loops of the module (before they are lowered), and what `order` (may be NULL) had done in
 * segments, become the result's; those of an earlier candidate go. */
WEIR_MUST_USE weir_status report_loops(job *j, ir_module *m, const split_order *order);
/* The loops of the module, which will all be kernels, are added to the result's. */
WEIR_MUST_USE weir_status report_add_kernels(job *j, const ir_module *m);
/* The last candidate is not taken after all. */
void report_forget(job *j);
/* The result's table: the program as it came, and as rewritten if it was. Keeps the context's
 * message. */
WEIR_MUST_USE weir_status report_explain(job *j);

#endif
