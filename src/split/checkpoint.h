/* Checkpoints: a while that stacks values of all trips for whiles that read them trip by trip is
 * run in segments, and once more, segment by segment, by who reads. docs/design/checkpoint.md. */
#ifndef WEIR_SPLIT_CHECKPOINT_H
#define WEIR_SPLIT_CHECKPOINT_H
#include "ir/ir.h"

typedef struct split_checkpoints { /* what was done */
  ir_type stack;                   /* the largest of the stacks that are gone */
  ir_str location;                 /* of the loop */
  int64_t trips;       /* also where nothing is changed; 0: it stacks nothing of the kind */
  int64_t segment;     /* the outermost */
  uint32_t levels;     /* of segments in segments */
  bool is_stored;      /* the states that the outermost begin with are kept */
  VEC(ir_op) loops;    /* over segments: the loop and those that read, in the module's arena */
  int64_t saved_bytes; /* stacks, less the checkpoints and the stacks of one segment */
  int64_t kept_bytes;  /* those, at the same time */
} split_checkpoints;

typedef struct split_room {
  int64_t free_bytes;   /* beside what there is now; negative: there is too much */
  int64_t tensor_bytes; /* a stack of one segment should not be larger */
  int64_t deep_bytes;   /* where that is too little, trips are made several times more to keep no
                           more than this; negative: they may not */
} split_room;

/* Whether the while stacks something that only other whiles read, trip by trip. Changes nothing. */
bool split_keeps_trips(const ir_module *m, ir_op loop);
/* Rewrites the while and its readers. False,
 * and nothing is changed, if the loop stacks nothing that only such loops read, or if less than a
 * third of it would be saved. Costs the loop's trips once more for each reader, or several times
 * where room->deep_bytes allows it; results stay bitwise the same. */
bool split_checkpoint(ir_module *m, ir_op loop, const split_room *room, split_checkpoints *out);

#endif
