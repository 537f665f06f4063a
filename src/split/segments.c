/* In: what a loop keeps of its trips and what there is room for. Out: levels of segments. A segment
 * that begins anew from the one around it costs one state and no stack: n of them in one take
 * (n - 1) / 2 passes, two at a time half of one, so that a state more doubles the trips. Those are
 * the numbers of Griewank's binomial schedule, but for a constant, as loops in loops. */
#include "split/segments.h"

#include <assert.h>
#include <math.h>

#include "base/ints.h"
#include "base/saturate.h"

static const double MOST_PASSES = 12; /* more is as good as refused */

int64_t split_levels_bytes(const split_kept_trips *k, const split_levels *l) {
  assert(l->count > 0);
  int64_t last = l->lengths[l->count - 1],
          outer = l->is_stored
                      ? saturated_product(ceil_div(k->trips, l->lengths[0]), k->state_bytes)
                      : k->first_bytes,
          inner = saturated_product(l->count - 1, k->state_bytes),
          stacks = last > 1 ? saturated_product(last, k->step_bytes) : 0;
  return saturated_sum(outer, saturated_sum(inner, stacks));
}

double split_levels_passes(const split_kept_trips *k, const split_levels *l) {
  double sum = 1;
  for (uint32_t i = l->is_stored; i < l->count; i++) {
    double whole = (double)(i ? l->lengths[i - 1] : k->trips), part = (double)l->lengths[i],
           n = ceil(whole / part);
    sum += part * n * (n - 1) / 2 / whole;
  }
  return sum;
}

/* Further levels whose lengths fall by equal factors, down to `last`. */
static bool add_levels(split_levels *l, int64_t from, int64_t last, uint32_t count) {
  for (uint32_t left = count; left; left--) {
    double share = (double)(left - 1) / left;
    int64_t length = (int64_t)ceil((double)last * pow((double)from / (double)last, share) - 1e-9);
    if (length >= from || length < last) return false;
    l->lengths[l->count++] = from = length;
  }
  return true;
}

typedef struct choice {
  split_levels levels;
  int64_t bytes;
  double passes;
  bool fits;
} choice;

static bool is_better(const choice *x, const choice *than) {
  if (!than->levels.count || x->fits != than->fits) return !than->levels.count || x->fits;
  return x->fits ? x->passes < than->passes : x->bytes < than->bytes;
}

static void weigh(const split_kept_trips *k, const split_levels *l, int64_t room, choice *best) {
  choice x = {*l, split_levels_bytes(k, l), split_levels_passes(k, l), false};
  x.fits = x.bytes <= room;
  if (x.passes <= MOST_PASSES && is_better(&x, best)) *best = x;
}

/* As many stored as there is room for beside `count` further levels down to `last` trips, or fewer:
 * lengths are whole numbers. */
static void weigh_stored(const split_kept_trips *k, uint32_t count, int64_t last, int64_t room,
                         choice *best) {
  int64_t stacks = last > 1 ? saturated_product(last, k->step_bytes) : 0,
          beside = saturated_sum(saturated_product(count, k->state_bytes), stacks),
          most = room > beside ? (room - beside) / k->state_bytes : 0;
  for (int64_t n = min64(most, k->trips); n > 1; n -= max64(1, n / 8)) {
    split_levels l = {.is_stored = true, .count = 1, .lengths = {ceil_div(k->trips, n)}};
    if (add_levels(&l, l.lengths[0], last, count)) weigh(k, &l, room, best);
  }
}

static void weigh_last(const split_kept_trips *k, int64_t last, int64_t room, choice *best) {
  for (uint32_t count = 1; count < SPLIT_MOST_LEVELS; count++) {
    split_levels anew = {0};
    if (add_levels(&anew, k->trips, last, count)) weigh(k, &anew, room, best);
    weigh_stored(k, count, last, room, best);
  }
}

bool split_choose_levels(const split_kept_trips *k, int64_t room_bytes, split_levels *out) {
  assert(k->trips > 0 && k->step_bytes > 0);
  choice best = {0};
  if (k->state_bytes <= 0) return false;
  for (int64_t last = 1; last < k->trips; last += max64(1, last / 4))
    weigh_last(k, last, room_bytes, &best);
  *out = best.levels;
  return best.levels.count > 0;
}
