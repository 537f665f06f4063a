/* Whiles whose rows end one by one: the condition asks whether any row goes on, and what is done
 * stays as it is. vmap of a while whose condition depends on the batch is
 *
 *   while(x) any(p(x)) { select(p(x), f(x), x) }
 *
 * On a slice of the rows it may stop once none of these goes on, since from then on no trip would
 * change them. Proved here, under the assumption that p is false in all of a slice:
 *
 * - the condition is false: it is the any, or an `and` with it;
 * - the body leaves each sliced carry as it was: a select by what is false where p is;
 * - p stays false: it reads sliced carries and what no trip changes.
 *
 * The answer may be carried, too, as Equinox's whiles do (optimistix, lineax):
 *
 *   while(x, flag) any(p(x)) { select(flag, f(x), x), flag & p(f(x)) }
 *
 * That a flag is set only where p is true is proved by induction. It is so of what goes into the
 * while. A row whose flag is set after a trip had it set before; of such a row the flag says what p
 * makes of the carries that the trip leaves.
 *
 * `not all(done)` is the same with everything the other way round. What the trips count (a carry
 * that is not sliced) may be read in f and in the other half of the `and`: a slice and the whole
 * have the same number in the same trip.
 */
#ifndef WEIR_IR_FROZEN_H
#define WEIR_IR_FROZEN_H
#include "ir/ir.h"

/* Whether the op is an any or an all, by its reducer: of numbers of one bit, no second operand. */
bool ir_is_vote(const ir_module *m, ir_op op);

/* vote: the one op of the condition that is reduced over the rows; rows_at: by carry, a number that
 * is the same where rows lie the same way, -1: it has none. flags: by carry, it has one truth value
 * for each row. */
bool ir_rows_freeze(arena *scratch, const ir_module *m, ir_op loop, ir_op vote,
                    const int32_t *rows_at, const bool *flags);

#endif
