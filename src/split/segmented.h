/* What checkpoint.c has found out about a loop whose stacks go, and what segmented.c makes of it.
 */
#ifndef WEIR_SPLIT_SEGMENTED_H
#define WEIR_SPLIT_SEGMENTED_H
#include "split/checkpoint.h"
#include "split/segments.h"
#include "split/steps.h"

typedef struct split_stack { /* of the forward loop, to be dissolved */
  uint32_t carry;
  split_access write;
} split_stack;

typedef struct split_stack_read {
  uint32_t stack; /* index */
  split_access access;
} split_stack_read;

typedef struct split_stack_reader {
  split_steps loop;
  bool is_backward; /* goes through the forward loop's trips from the last to the first */
  bool is_aimed;    /* is_backward is known */
  bool *dropped;    /* by carry: it is a stack that will be gone */
  VEC(split_stack_read) reads;
} split_stack_reader;

typedef struct split_checkpointing {
  ir_module *m;
  arena *scratch;
  ir_block block;
  split_steps forward;
  uint32_t n_carries;
  ir_users users;
  VEC(split_stack) stacks;
  VEC(split_stack_reader) readers;
  bool *is_stack;              /* by carry */
  bool *saved;                 /* by carry: what the stacks depend on from trip to trip */
  bool *needed_op;             /* by op of the body: what makes the stacks */
  bool *state_op;              /* of these what makes the next trip's saved carries */
  split_levels levels;         /* of segments; the outermost: */
  int64_t segment, n_segments; /* trips in each but the last */
  ir_value *checkpoints;       /* by carry: [n_segments, ...] */
  ir_map *renamed;
  split_checkpoints *out;
} split_checkpointing;

static inline ir_block split_forward_body(const split_checkpointing *c) { return c->forward.body; }

/* The block again: the loop in segments, which keeps what it has between them, and those that read
 * its stacks in segments, too, each of which makes the trips' elements once more. */
void split_build_segmented(split_checkpointing *c);

#endif
