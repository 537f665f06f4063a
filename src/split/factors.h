/* Factors: the independent indices of an op's loop nest, and where each sits on the op's operands
 * and results.
 *
 * A factor is named by one position: dimension `dim` of one operand or result, `unit` consecutive
 * elements of it per index of the factor (unit > 1 where a reshape merged the factor with
 * dimensions inside it). Tracing answers where the same factor sits on all other operands and
 * results:
 *
 *   parallel   in every result: the op on a slice of its operands gives that slice of its results
 *   reduced    in no result: the op on slices gives partial results, merged by split/monoid.c
 *
 * or that the op needs it whole (false). Source: design after Shardy's op sharding rules and FFTW's
 * vrank rules.
 */
#ifndef WEIR_SPLIT_FACTORS_H
#define WEIR_SPLIT_FACTORS_H
#include "ir/ir.h"

typedef struct split_pos {
  int32_t dim;    /* -1: the factor is absent, the value is needed whole */
  bool mirrored;  /* from offset - i * unit on: reverses */
  int64_t unit;   /* elements of dim per index; 1 unless merged */
  int64_t offset; /* index i of the factor is the elements from i * unit + offset on: slices, pads,
                     parts */
  int64_t more;   /* elements behind those of the slice that a trip has, too: stencils. Windows of
                     trips overlap. Negative: so many at the slice's end are not read */
  int64_t core;   /* of these, in front of the slice: what is put out or summed begins there. Says
                     nothing of what the window has, so positions are equal without it */
} split_pos;

#define SPLIT_ABSENT ((split_pos){.dim = -1, .unit = 1})

typedef enum split_role { SPLIT_PARALLEL, SPLIT_REDUCED } split_role;

/* A result of a while that is parallel in others: the sum, over the factor, of what trips add to
 * what it begins with (split/body.h). */
typedef enum split_sum {
  SPLIT_NO_SUM,
  SPLIT_SUM_ONTO, /* what it begins with comes back with the sum added */
  SPLIT_SUM_NEW   /* begins with zeros */
} split_sum;

typedef struct split_factor {
  split_role role;
  split_pos *operands; /* one each */
  split_pos *results;
  split_sum *sums;             /* by result; NULL if there are none */
  struct split_body *inside;   /* of a while: where the factor sits in its body (split/body.c) */
  struct split_chunks *chunks; /* of a while that is carried along its own steps: split/chunks.c */
  bool shifts;    /* positions differ by more than dimension and unit, or a part of the dimension is
                     read: the op is done so only if otherwise something large is held */
  bool stencil;   /* shifts, and windows of a value may overlap (split/stencil.h) */
  bool by_rows;   /* of a while: it runs until its rows are done. Elements that are none of the
                     program's must not be among them: they may never be */
  bool carried;   /* parallel, but a slice needs what the slices before come to: split/prefix.h,
                     split/chunks.h */
  bool backwards; /* set where tracing failed but would not the other way round */
  int64_t coarsen; /* set where tracing failed but would not with units this many times larger; else
                      0 */
} split_factor;
/* Its slices make parts of this result, which are added up. */
static inline bool split_makes_sum(const split_factor *f, uint32_t result) {
  return f->role == SPLIT_REDUCED || (f->sums && f->sums[result]);
}

/* Positions are asked of operand `index`, or of result `index` if of_result. Arrays are in scratch;
 * where the answer is false there may be none. */
bool split_trace(arena *scratch, ir_module *m, ir_op op, bool of_result, uint32_t index,
                 split_pos pos, split_factor *out_factor);

/* The same where slices follow one another in the order of the factor: carried ones, too. */
bool split_trace_in_order(arena *scratch, ir_module *m, ir_op op, bool of_result, uint32_t index,
                          split_pos pos, split_factor *out_factor);

/* The op without the factor: absent everywhere. */
split_factor split_absent_factor(arena *scratch, const ir_module *m, ir_op op);

/* v is `from`, or `from` with updates. */
bool split_is_updated(const ir_module *m, ir_value v, ir_value from);

static inline bool split_pos_equal(split_pos a, split_pos b) {
  return a.dim == b.dim && (a.dim < 0 || (a.unit == b.unit && a.offset == b.offset &&
                                          a.mirrored == b.mirrored && a.more == b.more));
}
/* Elements that a trip of so many indices has. */
static inline int64_t split_window_size(split_pos pos, int64_t slice) {
  return slice * pos.unit + pos.more;
}
/* Of windows that overlap the part that is as long as the slice: so they are the dimension, each
 * element once. */
split_pos split_core(split_pos pos);
/* The window with its core at `at`, or as near as it has elements; a whole unit if it can. */
split_pos split_with_core(split_pos pos, int64_t at);
/* The window at `part` lies within that at `whole`, in every trip. */
bool split_contains(split_pos whole, split_pos part);
/* How many indices the value has at this position: all of the factor's unless it is shifted. Some
 * elements of the last may be beyond its end. */
int64_t split_extent(const ir_module *m, ir_value v, split_pos pos);

#endif
