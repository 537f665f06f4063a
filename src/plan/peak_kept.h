/* What devices make once and keep in memory, though its readers could compute it. */
#ifndef WEIR_PLAN_PEAK_KEPT_H
#define WEIR_PLAN_PEAK_KEPT_H
#include "plan/peak_graph.h"

enum { PLAN_SEEN_OF_OPERANDS = 8 }; /* nodes that are looked through for what is dear */

/* What several products would compute, and that is dear: XLA:TPU makes it once. */
bool plan_is_kept_for_products(const plan_graph *g, uint32_t producer);
/* What several readers would compute from more than it is, for reading it is cheaper; what XLA:GPU
 * counts as too long for each of them; a softmax that others than Triton read. */
/* Whether XLA:GPU computes it anew in each window of a scan: from smaller arrays alone, by little.
 */
bool plan_is_cheap_in_windows(const plan_graph *g, uint32_t node);
bool plan_is_kept(const plan_graph *g, uint32_t producer);
/* Whether the reader sums it by few cores, and XLA:GPU counts that one kernel that makes it, writes
 * it and sums it takes longer than one that writes and one that sums it. */
bool plan_is_slower_in_sum(const plan_graph *g, const plan_node *reader, uint32_t node);
/* What is summed by few cores, and would take longer there than in a kernel of its own. */
bool plan_is_made_before_sums(const plan_graph *g, uint32_t node);
/* Whether XLA:GPU counts much less than a kernel's launch for so many cycles of so many elements.
 */
bool plan_is_short(const plan_graph *g, int64_t cycles, int64_t elements);

#endif
