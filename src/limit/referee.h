/* What a program needs: XLA's number where it can be asked, else the estimate. Bytes per device;
 * arguments, results and temporaries. */
#ifndef WEIR_LIMIT_REFEREE_H
#define WEIR_LIMIT_REFEREE_H
#include "limit/candidate.h"
#include "machine/cpu.h"

/* Whether XLA can be told in which order to run a program, as on CPUs. Devices' XLA saves memory.
 */
bool referee_has_orders(const job *j);

/* XLA's number for a candidate, by its module and options; the largest of the ways in which it may
 * compile it. False if there is no referee, which leaves *out alone, or it did not compile. Cost: a
 * compilation by XLA, unless it was asked of the same text before. */
bool referee_ask(job *j, const candidate *c, verdict *out);
/* The same of what is not going to run: in about half of the time, unless it is known. */
bool referee_ask_report(job *j, const candidate *c, verdict *out);
int64_t referee_estimate(job *j, const ir_module *m, plan_order order);
/* Of the program as it came: what XLA says, else the estimate. */
verdict referee_judge_as_it_came(job *j, plan_order order);
/* The same where it is not going to run. */
verdict referee_report_as_it_came(job *j, plan_order order);
/* Bytes of arguments and results, by estimate: nothing holds less. */
int64_t referee_held_throughout(job *j);

#endif
