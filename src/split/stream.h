/* Streaming: a sum over the factor that depends on a statistic over the same factor, in one pass.
 *
 * Softmax over the split dimension:
 *
 *   m = max_j x_j,  S = sum_j exp(x_j - m),  o = sum_j exp(x_j - m) / S * v_j
 *
 * Each sum is a multiplicative function of the statistics behind it: with m' for m it is
 * exp(m - m') times as large, with S' for S it is S / S' times as large. So the loop carries
 * running values and brings what it has summed so far to the new ones before it adds a slice.
 * Nothing here knows softmax: the dependence is read off the ops between the statistic and the sum
 * (x - m is additive, exp makes it multiplicative, products, quotients and linear ops keep it).
 * Source: the break-dependency-and-correct algebra of Neptune; Rabe & Staats 2021; Milakov &
 * Gimelshein 2018.
 */
#ifndef WEIR_SPLIT_STREAM_H
#define WEIR_SPLIT_STREAM_H
#include "split/region.h"

/* Whether the member, a sum over the factor, can be done by the loop of `stage` from running
 * statistics. */
bool stream_member(split_region *r, const split_member *member, int32_t stage,
                   online_terms *out_terms);

/* What the sums of the same trip see of the statistic's new carry: the carry, but 0 for an infinite
 * extremum, so that a slice with nothing in it (all masked to -inf) sums up to nothing rather than
 * to NaN, and no sum that is close to 0 or very large: on the way it may be what it isn't in the
 * end, and a quotient by it overflow. */
ir_value stream_running_value(split_region *r, ir_builder *b, const split_member *member,
                              ir_value carry);

/* The sum so far, made with the old running value of a statistic, as the new one would have made
 * it. */
ir_value stream_correct(ir_builder *b, const split_member *member, const online_term *term,
                        ir_value sum, ir_value old_value, ir_value new_value);

/* After the loop: sums whose statistics were seen as something else are what the program would have
 * made of them. */
ir_value stream_finish(ir_builder *b, const split_member *member, const ir_map *renamed,
                       ir_value sum);

#endif
