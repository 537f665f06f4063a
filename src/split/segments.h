/* How the trips of a loop that keeps something of each are cut into segments, and these into
 * shorter ones, for the memory there is. docs/design/checkpoint.md. */
#ifndef WEIR_SPLIT_SEGMENTS_H
#define WEIR_SPLIT_SEGMENTS_H
#include <stdbool.h>
#include <stdint.h>

enum { SPLIT_MOST_LEVELS = 12 };

typedef struct split_kept_trips {
  int64_t trips;
  int64_t state_bytes; /* what a trip begins with */
  int64_t first_bytes; /* the same of the first trip, if it is held for the sake of segments */
  int64_t step_bytes;  /* what is kept of a trip */
} split_kept_trips;

/* Segments of lengths[0] trips, in each of these some of lengths[1], and so on; all of the last
 * length keep what their trips do. */
typedef struct split_levels {
  bool is_stored; /* the state that each of the outermost segments begins with is kept; else it is
                     made from the first one, as the inner ones' is from that of the segment around
                     them */
  uint32_t count;
  int64_t lengths[SPLIT_MOST_LEVELS]; /* each less than the one before */
} split_levels;

/* States and what the shortest segments keep, beside what a trip needs for itself. */
int64_t split_levels_bytes(const split_kept_trips *k, const split_levels *l);
/* How often all trips are made beside the first time; those made for nobody but the next segment
 * count, too. */
double split_levels_passes(const split_kept_trips *k, const split_levels *l);
/* Of levels that take no more than room_bytes those of the fewest passes; if there are none, those
 * of the fewest bytes. False if all take too many passes. */
bool split_choose_levels(const split_kept_trips *k, int64_t room_bytes, split_levels *out);

#endif
