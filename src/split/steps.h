/* Loops that count: how often a while runs, which integers of its body follow from the trip alone,
 * and what it writes and reads trip by trip.
 *
 *   while(i = 0, S = zeros) { i < T } { S' = dynamic_update_slice(S, u, i, 0...); i + 1, S' }
 *
 * runs T times and stacks u; S[a t + b] = u of trip t. */
#ifndef WEIR_SPLIT_STEPS_H
#define WEIR_SPLIT_STEPS_H
#include "ir/ir.h"

typedef struct split_affine { /* a * t + b in trip t = 0, 1, ... */
  int64_t a, b;
} split_affine;

typedef struct split_steps {
  const ir_module *m;
  ir_op op;
  ir_block body;
  uint32_t counter; /* the carry that the condition looks at; it grows by 1 */
  int64_t first;    /* its initial value */
  int64_t trips;
} split_steps;

/* False if op is no while whose trips are known, or one with attributes, which may list something
 * per carry. */
bool split_steps_of(const ir_module *m, ir_op op, split_steps *out);
/* The same value in every trip. */
bool split_steps_keeps(const split_steps *s, uint32_t carry);
/* The integer is t + *out_ahead in trip t. */
bool split_steps_counts(const split_steps *s, ir_value v, int64_t *out_ahead);

typedef struct split_access { /* one element of dimension `dim` a trip, all of the others */
  ir_op op;                   /* the dynamic_update_slice or dynamic_slice */
  int32_t dim;
  split_affine at; /* at.a is 1 or -1; the trips cover the dimension */
} split_access;

/* Carry `carry` is written like that and not touched otherwise. uses: of the body's values, by
 * ir_count_uses(). */
bool split_steps_stack(const split_steps *s, uint32_t carry, const uint32_t *uses,
                       split_access *out);
/* Whether op, of the body, reads v like that. */
bool split_steps_read(const split_steps *s, ir_op op, ir_value v, split_access *out);

/* The op of an access once more, of this stack; along `dim` it begins at `place`, and where the map
 * has what it was elsewhere. */
ir_value split_build_access(ir_builder *b, arena *scratch, ir_op op, int32_t dim, ir_value stack,
                            ir_value place, const ir_map *map);

/* What making values of the body takes: of the trip, and of those before. */
typedef struct split_needed {
  const split_steps *s;
  bool *op;    /* by op of the body */
  bool *carry; /* by carry, but for the counter, which is, and those that no trip changes */
  arena *scratch;
} split_needed;
/* The counter's, and what is in `carry` already. */
split_needed split_needed_of(arena *scratch, const split_steps *s, bool *carry);
void split_need(split_needed *n, ir_value v); /* and those of v */

#endif
