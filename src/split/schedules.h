/* Schedules of spans that were made before, of all candidates of a search: of one program these are
 * largely the same regions. */
#ifndef WEIR_SPLIT_SCHEDULES_H
#define WEIR_SPLIT_SCHEDULES_H
#include "base/arena.h"

/* Of all that a schedule follows from, but for the room that it has. */
typedef struct split_schedule_key {
  uint64_t h[2];
} split_schedule_key;

typedef struct split_scheduled { /* a span of the region's op of that number, in program order */
  uint32_t op;
  int32_t from, to;
} split_scheduled;

typedef struct split_schedule {
  const split_scheduled *spans;
  uint32_t n;
  double work;                  /* of all loops */
  double least_room, over_room; /* in bytes: from the least on and below the other it is the same */
} split_schedule;

typedef struct split_schedules split_schedules;

/* In memory of the arena, like all that is kept there. */
split_schedules *split_schedules_new(arena *a);
/* NULL: there is none. */
const split_schedule *split_schedules_find(const split_schedules *all, split_schedule_key key,
                                           double room);
/* Copies the spans. Of very many schedules the later ones are not kept. */
void split_schedules_keep(split_schedules *all, split_schedule_key key, split_schedule one);

#endif
