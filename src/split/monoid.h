/* Partial results over a slice of a reduced factor, and how they merge: (initial carry, step,
 * finish) for reduce, dot_general, convolution, top_k, scatter and gather.
 *
 * The reduction's own init is folded once, into the initial carry; the slices use the neutral
 * element. Sums of bf16 and f16 are carried in f32, as wide as XLA accumulates. Where the last
 * slice overlaps the one before (extent not a multiple of the slice), what was counted already is
 * masked to the neutral element.
 */
#ifndef WEIR_SPLIT_MONOID_H
#define WEIR_SPLIT_MONOID_H
#include "split/factors.h"

/* The loop body's own indices, as seen by monoids and index-dependent ops. */
typedef struct split_trip {
  ir_value start, lo; /* tensor<i64>: first index of the slice; first index not yet counted */
  int64_t slice, extent;
  int64_t begin;      /* start and lo count from this index of the factor */
  int64_t part_bytes; /* larger parts of a product's sum are added block by block; 0: no part is */
} split_trip;

/* One trip is the loop: start and lo are 0, and nothing was counted before. */
static inline bool split_is_one_trip(const split_trip *trip) { return trip->slice == trip->extent; }

/* Whether what a slice adds to the op's sum can be made and added block by block, so that only a
 * block of it is there at a time. */
bool split_adds_in_blocks(const ir_module *m, ir_op op);
/* Whether op adds, by the monoid of the one that made it, to a sum that it reads for nothing else:
 * in any order they come to the same, but for rounding; not sums of 16-bit floats, of which more is
 * lost. */
bool split_goes_on_with(const ir_module *m, ir_op op, ir_value sum);
/* Whether the op's reduction over the factor can be merged from slices. */
bool split_can_merge(arena *scratch, ir_module *m, ir_op op, const split_factor *f);
/* Whether it is a sum, and nothing is added to it but the slices' parts. */
bool split_is_sum(arena *scratch, ir_module *m, ir_op op, const split_factor *f);
/* What a sum of such elements is carried in. */
ir_dtype split_sum_dtype(ir_dtype d);
/* The type of the op's first result, of such elements. */
ir_type split_sum_type(ir_module *m, ir_op op);
/* combine(neutral, x) == x, to the bit, where x is part of what begins with `initial`: of sums
 * -0.0, but +0.0 will do where that begins with +0.0. Whether there is one. */
ir_value split_neutral(ir_builder *b, ir_kind kind, ir_type type, ir_value initial);
bool split_has_neutral(ir_kind kind, ir_dtype d);
/* What result i of a reduce or reduce_window may count any number of times: the neutral element of
 * what its body does to it, else `initial`, the operand as it stands where b is. */
ir_value split_counts_for_nothing(ir_builder *b, ir_op op, uint32_t i, ir_value initial);
/* A reducer of elementwise ops and constants; and done on whole tensors: carries[i] is merged with
 * partials[i], which come after it. */
bool split_is_elementwise(const ir_module *m, ir_block body);
/* The block of scalar ops done on whole tensors of one shape, one for each of its arguments. */
void split_lift(ir_builder *b, ir_block body, const ir_value *args, ir_value *out_results);
void split_merge_by_body(ir_builder *b, ir_block body, uint32_t n, ir_value *carries,
                         const ir_value *partials);
/* Such an op's part of one trip, as sums are carried: what was counted in earlier trips left out.
 */
ir_value split_sum_part(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                        const ir_value *operands);
/* How many carries the op needs: one per result. */
/* The step works on slices of at least this many indices. */
int64_t split_monoid_least_slice(const ir_module *m, ir_op op, const split_factor *f);
/* The trips' slices must be the operand, in order and from end to end. */
bool split_monoid_needs_all(const ir_module *m, ir_op op);
/* Initial carries, built outside the loop by b, from the op's operands as they stand outside
 * (outside[i] for operand i). */
void split_monoid_init(ir_builder *b, ir_op op, const ir_value *outside, ir_value *out_carries);
/* One trip: operands[i] are the op's operands inside the loop (slices where the factor sits on
 * them); carries are updated in place. */
void split_monoid_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *carries);
/* From the final carries to the op's results, outside. */
void split_monoid_finish(ir_builder *b, ir_op op, const ir_value *carries, ir_value *out_results);

#endif
