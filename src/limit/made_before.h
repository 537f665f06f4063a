/* Candidates that were made before and came to more than was to be asked about: searches come to
 * the same again, under other terms for kernels or functions, or where XLA is to be asked about
 * each, or about what is in doubt. Cost: linear in their number. */
#ifndef WEIR_LIMIT_MADE_BEFORE_H
#define WEIR_LIMIT_MADE_BEFORE_H
#include "limit/search.h"

/* Whether the search's next candidate would come to the same; *order is what that was. What was
 * given up by less would be again. */
bool made_before_was(const job *j, const search *s, split_order *order);
/* s: as it was before the candidate; left_ops: what is left then, or NULL. One that was cut short
 * by the end of the search is no other's. */
void made_before_note(job *j, const search *s, const split_order *order, const int64_t *left_ops);
/* The module goes. */
void made_before_forget(job *j, const ir_module *from);

#endif
