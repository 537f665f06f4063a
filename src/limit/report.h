/* EXPLAIN: what was done to a program, as a table for people. */
#ifndef WEIR_LIMIT_REPORT_H
#define WEIR_LIMIT_REPORT_H
#include "limit/candidate.h"

/* The result's table: the program as it came, and as rewritten if it was. Keeps the context's
 * message. */
WEIR_MUST_USE weir_status report_explain(job *j, const climb *c);

#endif
