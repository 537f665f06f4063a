/* When which cut is there: *spans*, in each of which a loop puts a value out and later ones read
 * it.
 *
 * Loops over slices make what they need for nothing that stays. So the work of a region of many
 * stages is a schedule: what is kept between its loops, and from when to when. A value may be kept
 * for some stages, go, and be put out once more by a loop that makes it anyhow:
 *
 *     stages    0  1  2  3  4 | 5  6  7  8        forward | backward
 *     h1           x==x==x                        the way forward goes on from it
 *     h2              x==x==x==x==x               kept for the way back
 *     h3                       x==x               made again of h2, by the loop that needs it first
 *
 * That is what checkpoints of several levels are: Griewank & Walther 2000 (revolve), Chen et al.
 * 2016.
 *
 * A span (v, from, to) is worth what the loops behind `from` need not make: in the loop of each
 * stage, all that is needed for v alone (what v dominates, as seen from what the loop puts out).
 * It takes the bytes of v for all its stages. Spans are taken one after the other, those first
 * whose gain is the largest against the square root of what they take: by the gain alone, long ones
 * would leave no room for short ones; by what a byte and stage gains, short ones none for long.
 */
#ifndef WEIR_SPLIT_SPANS_H
#define WEIR_SPLIT_SPANS_H
#include "split/region.h"

/* The loop of stage `from` puts the value out, those of later stages read it, up to that of `to`.
 */
void split_add_span(split_region *r, ir_value v, int32_t from, int32_t to);
void split_clear_spans(split_region *r);
/* Whether a span begins in the stage. */
bool split_begins_span(const split_region *r, ir_value v, int32_t stage);
/* The same, of a value that an earlier stage made first. */
bool split_is_put_out_again(const split_region *r, const split_span *s);
/* Whether loops of the stage put something out again. */
bool split_puts_out_again(const split_region *r, int32_t stage);

typedef struct split_plan split_plan;

/* Of a region that has its stages and no cuts yet. NULL: it is too large to be looked at. */
split_plan *split_plan_spans(split_region *r);
/* Instead of the spans that are there, if loops make less by them, or `must`. Together they take no
 * more than room_bytes at any time. Cost: some looks at each member for each stage; thoroughly,
 * some hundred. */
bool split_choose_spans(split_plan *p, int64_t room_bytes, bool must, bool thoroughly);

#endif
