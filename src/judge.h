/* What a program needs: XLA's number where it can be asked, else the estimate. Bytes per device;
 * arguments, results and temporaries. */
#ifndef WEIR_JUDGE_H
#define WEIR_JUDGE_H
#include "pipeline.h"

/* From now on candidates are compiled so that XLA runs them in this order; the result's options
 * are those that this takes. */
void judge_set_order(job *j, plan_order order);
typedef struct verdict {
  int64_t peak;
  bool is_xlas; /* else weir's estimate */
} verdict;

/* The candidate's total in the order that is set. m NULL: the program as it came. False if there is
 * no referee or it did not compile. Cost: a compilation by XLA. */
bool judge_ask(job *j, const ir_module *m, int64_t *out_total);
int64_t judge_estimate(job *j, const ir_module *m, plan_order order);
/* Of the program as it came in this order, which is set. */
verdict judge_as_is(job *j, plan_order order);

#endif
