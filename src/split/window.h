/* Windows: what a trip has of a value at a position, and how it comes from and goes to the whole.
 *
 * A trip has `slice` indices of the factor; a value's window is where they lie on it. If the value
 * is shifted (a slice of something that starts at 0), or shorter or longer than the factor, windows
 * may lie beyond its ends. What stands there is some element or other, of no meaning: whoever sums
 * over the factor masks it, whoever puts the value out leaves it.
 */
#ifndef WEIR_SPLIT_WINDOW_H
#define WEIR_SPLIT_WINDOW_H
#include "split/monoid.h"

/* Elements [first, last) of a window, counted from its start, i64; IR_NONE: no bound. */
typedef struct split_interval {
  ir_value first, last;
} split_interval;

/* Where the window begins on the value, i64, in elements; may be negative. */
ir_value split_window_start(ir_builder *b, const split_trip *trip, split_pos pos);
/* Every trip's window lies in a dimension of this size. */
bool split_window_fits(const split_trip *trip, split_pos pos, int64_t size);
/* ... and together they are the dimension, in order: a weir.loop's own slices. */
bool split_window_is_slice(const split_trip *trip, split_pos pos, int64_t size);

/* How many elements of the window, on the side of the trips before, those have counted; i64. */
ir_value split_window_counted(ir_builder *b, const split_trip *trip, split_pos pos);

/* Of a window of n elements from `at` on, those that lie in a dimension of this size; without a
 * bound that a known `at` says to hold of all. */
split_interval split_window_inside(ir_builder *b, ir_value at, int64_t size, int64_t n);
/* The elements that lie in a dimension of this size and that no earlier trip has counted; without
 * bounds: all. */
split_interval split_window_fresh(ir_builder *b, const split_trip *trip, split_pos pos,
                                  int64_t size);
/* i1, shape of `type`: whether the element's index along dim is in the interval; IR_NONE if it is
 * unbounded. */
ir_value split_window_mask(ir_builder *b, ir_type type, int64_t dim, split_interval interval);

/* Elements [at, at + size) of x along dim; beyond its ends what stands at the end. */
ir_value split_window_read(ir_builder *b, ir_value x, int64_t dim, ir_value at, int64_t size);
/* x with `window` as its elements from `at` on along dim; what lies beyond x is left out. */
ir_value split_window_write(ir_builder *b, ir_value x, ir_value window, int64_t dim, ir_value at);
/* The trip's window of the whole value. */
ir_value split_window_take(ir_builder *b, const split_trip *trip, ir_value whole, split_pos pos);
/* Of a value's window at `whole` that at `part`, which it contains. */
ir_value split_window_part(ir_builder *b, const split_trip *trip, ir_value x, split_pos whole,
                           split_pos part);
/* The whole value with the trip's window put in its place. */
ir_value split_window_put(ir_builder *b, const split_trip *trip, ir_value whole, ir_value window,
                          split_pos pos);

/* Types of numbers, in which 0 to SPLIT_COUNTED are there. */
enum { SPLIT_COUNTED = 100 };
bool split_counts_in(ir_dtype dtype);

/* What a result begins with that trips overwrite from end to end: any number will do, that of
 * `which` among many. The same in two loops would be one buffer to XLA, made before the first,
 * copied for each and kept to the last. */
ir_value split_overwritten(ir_builder *b, ir_type t, int64_t which);

#endif
