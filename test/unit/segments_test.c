/* Levels of segments: each trip is reached, passes are as counted by walking the loops, and what is
 * chosen takes no more than the room where anything does. */
#include "split/segments.h"

#include <assert.h>

#include "base/ints.h"

typedef struct walk {
  const split_levels *l;
  int64_t made, kept; /* trips made; of these those that are kept for who reads them */
} walk;

static void walk_segment(walk *w, uint32_t level, int64_t low, int64_t high) {
  if (level == w->l->count) {
    assert(high - low <= w->l->lengths[level - 1]);
    w->made += high - low;
    w->kept += high - low;
    return;
  }
  int64_t length = w->l->lengths[level], n = ceil_div(high - low, length);
  assert(length > 0 && (level == 0 || length < w->l->lengths[level - 1]));
  for (int64_t i = n; i-- > 0;) {
    int64_t from = low + i * length;
    if (level || !w->l->is_stored) w->made += from - low;
    walk_segment(w, level + 1, from, min64(from + length, high));
  }
}

static void check_walk(const split_kept_trips *k, const split_levels *l) {
  walk w = {.l = l};
  walk_segment(&w, 0, 0, k->trips);
  assert(w.kept == k->trips);
  double passes = split_levels_passes(k, l) * (double)k->trips;
  assert((double)w.made <= passes * 1.3); /* the last segments are shorter */
}

static void check_rooms(split_kept_trips k) {
  double before = 1e9;
  for (int64_t room = 0; room < 4 * k.trips * (k.state_bytes + k.step_bytes);
       room += 1 + room / 3) {
    split_levels l;
    if (!split_choose_levels(&k, room, &l)) continue;
    check_walk(&k, &l);
    if (split_levels_bytes(&k, &l) > room) continue;
    double passes = split_levels_passes(&k, &l);
    assert(passes <= before * 1.1); /* more room, no more work, but for whole numbers */
    before = passes;
  }
}

/* Twenty steps of one field, which is all that a step keeps. */
static void check_numbers(void) {
  split_kept_trips k = {.trips = 20, .state_bytes = 100, .step_bytes = 100};
  split_levels l;
  assert(split_choose_levels(&k, 100, &l) && l.count == 2 && !l.is_stored && l.lengths[1] == 1);
  assert(split_levels_bytes(&k, &l) == 100 && split_levels_passes(&k, &l) == 4.5);
  assert(split_choose_levels(&k, 99, &l) && l.count == 1 && !l.is_stored && l.lengths[0] == 1);
  assert(split_levels_bytes(&k, &l) == 0 && split_levels_passes(&k, &l) == 10.5);
  assert(split_choose_levels(&k, 600, &l) && split_levels_passes(&k, &l) <= 2.5);
  k.trips = 100000; /* the fewest bytes, of those that don't take too many passes */
  assert(split_choose_levels(&k, 0, &l) && split_levels_passes(&k, &l) <= 12);
  assert(split_levels_bytes(&k, &l) <= 1200);
}

int main(void) {
  static const int64_t trips[] = {1, 2, 3, 4, 5, 7, 12, 20, 61, 128, 1000, 4001};
  for (int i = 0; i < (int)(sizeof trips / sizeof *trips); i++)
    for (int64_t step = 1; step < 40; step = 3 * step + 1)
      for (int64_t first = 0; first < 20; first += 10) {
        check_rooms((split_kept_trips){trips[i], 10, first, step});
        check_rooms((split_kept_trips){trips[i], 1, first / 10, step});
      }
  check_numbers();
  return 0;
}
